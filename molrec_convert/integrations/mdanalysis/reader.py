"""The frames of a record, read one by one when they are asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from MDAnalysis.coordinates.base import ReaderBase
from MDAnalysis.coordinates.timestep import Timestep
from MDAnalysis.lib.util import store_init_arguments

from molrec_convert.adapters.mda_universe import ARRAYS, UNIT_NAMES, UNITS, Scale, native_units
from molrec_convert.integrations.user_warnings import warn
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, Units
from molrec_convert.model.dtypes import Array

from ._atoms import Select
from ._frames import Frames
from ._opening import FORMATS, RecordSource, close_source, is_source, open_source, opened, told
from .writer import MolRecWriter

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup

COPIED = "is_copy"
"""The keyword of a copy, which does not say again what was said of the units."""


class MolRecReader(ReaderBase):  # type: ignore[misc] # MDAnalysis has no types
    """Reads the frames of a record.

    Positions, velocities and forces are in Å, Å/ps and kJ/mol/Å wherever the record states their units. A cell of any
    orientation is turned so that a lies along x and b in the xy plane, with all vectors; positions keep their distance
    to the origin of coordinates, and a cell's own origin stands in ``ts.data["box_origin"]``. Values of a frame stand
    in ``ts.data`` under their names, energies in kJ/mol.

    Parameters
    ----------
    filename
        The path of a record.
    convert_units
        False to hand all numbers through as they stand in the record.
    select
        ``"common"`` for the atoms that are in all frames, told by their ids, or these ids; by default all atoms, which
        must be the same in every frame. Give it to `Universe`, which hands it to the topology as well.
    additional_columns
        Further columns of atoms, to be found in ``ts.data`` under their names; True for all that move.
    kwargs
        ``dt`` and ``time_offset``, and keywords of other readers.

    Raises
    ------
    RecordError
        If the file breaks MolRec.
    LossError
        With the frame, if the atoms are not the same in every frame and nothing is selected.
    """

    format = FORMATS
    units = {quantity: names[UNITS[quantity]] for quantity, names in UNIT_NAMES.items()}  # noqa: RUF012 - their name

    @store_init_arguments  # type: ignore[untyped-decorator]
    def __init__(
        self,
        filename: Any,
        convert_units: bool = True,
        select: Select = None,
        additional_columns: Collection[str] | bool = (),
        **kwargs: Any,
    ) -> None:
        is_copy = kwargs.pop(COPIED, False)
        self._kwargs[COPIED] = True  # those that copies are made with
        super().__init__(filename, convert_units=convert_units, **kwargs)
        if isinstance(filename, RecordSource):
            self.filename = filename
        self._select, self._asked = select, additional_columns
        self._opened: Frames | None = None
        self._frame = -1
        frames = self._frames
        self.n_frames, self.n_atoms = frames.n_frames, frames.n_atoms
        stated = frames.units
        self.scale = Scale(stated, converts=convert_units)
        self.units = type(self).units if convert_units and stated != DIMENSIONLESS_DOCUMENT else native_units(stated)
        there = {quantity: frames.moves(quantity) for quantity in ARRAYS}
        if not is_copy:
            self._check_units(stated, [quantity for quantity, moves in there.items() if moves])
        flags = {ARRAYS[quantity]: moves for quantity, moves in there.items()}
        self.ts = self._Timestep(self.n_atoms, reader=self, **flags, **self._ts_kwargs)
        if self.n_frames:
            self._read_frame(0)

    def _check_units(self, stated: Units | None, moving: list[str]) -> None:
        """Warn where numbers are taken for those of MDAnalysis because they are none, or nobody says what they are."""
        if self.n_frames and self._frames.times is not None:
            moving.append("time")
        unknown = [quantity for quantity in moving if not self.scale.knows(quantity)]
        if not self.convert_units or not unknown:
            return
        if stated == DIMENSIONLESS_DOCUMENT:
            warn(
                f"{self.filename}: numbers without dimension are handed to MDAnalysis as they are, "
                "which takes them for Å, ps, amu and e"
            )
        else:
            warn(f"{self.filename}: the unit of {', '.join(unknown)} is not known; the numbers are handed through")

    @staticmethod
    def _format_hint(thing: Any) -> bool:
        """Whether this is a record, whatever its name."""
        return is_source(thing)

    @staticmethod
    def parse_n_atoms(filename: Any, select: Select = None, **kwargs: Any) -> int:
        """The number of atoms."""
        del kwargs
        with opened(filename) as record:
            return Frames(record, select=select).n_atoms

    @property
    def record_units(self) -> dict[str, str] | None:
        """The ``units`` document of the numbers that are handed out; None where nothing is known."""
        units: dict[str, str] | None = self.scale.document()
        return units

    @property
    def additional_columns(self) -> tuple[str, ...]:
        """The further columns of atoms that stand in ``ts.data``."""
        return self._frames.additional

    # ------------------------------------------------------------ the file
    @property
    def _frames(self) -> Frames:
        if self._opened is None:
            record = open_source(self.filename)
            try:
                with told(self.filename):
                    self._opened = Frames(record, select=self._select, additional=self._asked)
            except BaseException:
                close_source(self.filename, record)
                raise
        return self._opened

    def close(self) -> None:
        """Close the file; it is opened again where a frame is asked for."""
        opened_here = getattr(self, "_opened", None)
        if opened_here is not None:
            self._opened = None
            close_source(self.filename, opened_here.record)

    def _reopen(self) -> None:
        self._frame = -1  # which MDAnalysis looks at as well; the time step's own number goes with its time

    def rewind(self) -> None:
        """Go to the first frame, if there is one."""
        self._reopen()
        if self.n_frames:
            self.next()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    # ------------------------------------------------------------ frames
    def _read_frame(self, frame: int) -> Timestep:
        if not 0 <= frame < self.n_frames:
            raise OSError(f"there is no frame {frame} among {self.n_frames}")
        with told(self.filename):
            self._frames.read_into(self.ts, frame, self.scale)
        self.ts.frame = self._frame = frame
        return self.ts

    def _read_next_timestep(self, ts: Timestep | None = None) -> Timestep:
        del ts
        return self._read_frame(self._frame + 1)

    def _get_dt(self) -> float:
        """The time between the first two frames in ps; `AttributeError`, as MDAnalysis wants it, if it is not known."""
        times = self._frames.times
        if times is None or len(times) < 2:
            raise AttributeError("the time between frames is not known")
        by: float = self.scale.of("time")
        return float(times[1] - times[0]) * by

    def timeseries(
        self,
        asel: AtomGroup | None = None,
        atomgroup: AtomGroup | None = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        order: str = "fac",
    ) -> Array:
        """The positions of several frames.

        Parameters
        ----------
        asel, atomgroup
            The atoms; by default all.
        start, stop, step
            The frames; by default all.
        order
            The order of the axes: ``f`` frames, ``a`` atoms, ``c`` coordinates.

        Returns
        -------
        array
            f32, of three axes.
        """
        if self.transformations:
            transformed: Array = super().timeseries(asel, atomgroup, start, stop, step, order)
            return transformed
        super().timeseries(asel, atomgroup, 0, 0, 1, order)  # refuses what is not right
        group = atomgroup if asel is None else asel
        indices = range(*self.check_slice_indices(start, stop, step))
        rows = None if group is None else group.indices
        found = np.empty((len(indices), self.n_atoms if rows is None else len(rows), 3), np.float32)
        with told(self.filename):
            self._frames.positions_into(found, indices, self.scale, rows)
        return found.transpose(["fac".index(axis) for axis in order])

    def Writer(self, filename: str, n_atoms: int | None = None, **kwargs: Any) -> MolRecWriter:  # noqa: N802
        """What writes a record of as many atoms."""
        return MolRecWriter(filename, n_atoms=self.n_atoms if n_atoms is None else n_atoms, **kwargs)
