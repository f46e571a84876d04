"""The frames of a record, with the same atoms in the same order in each."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapters.mda_universe import VECTORS, Scale, fill_timestep, put_vectors
from molrec_convert.errors import LossError
from molrec_convert.mapping.names import may_be_fixed
from molrec_convert.merge import distinct_ids
from molrec_convert.model import Frame, Meta, Record, Trajectory
from molrec_convert.model.dtypes import Array
from molrec_convert.model.origin import declared_units
from molrec_convert.model.trajectory import MemoryTrajectory
from molrec_convert.placement import STEP_KEY, TIME_KEY
from molrec_convert.record_frames import record_snapshots, with_system
from molrec_convert.records import StoredTrajectory
from molrec_convert.records.block_reader import BlockReader

from ._atoms import ATOMS, ID, Select, chosen, ids_of, rows_of, selected_ids

if TYPE_CHECKING:
    from MDAnalysis.coordinates.timestep import Timestep

MOVING = tuple(name for names in VECTORS.values() for name in names)
BATCH = 8 << 20
"""Bytes of a column that are read at once."""


class Frames:
    """Reads the frames of a record into time steps.

    Parameters
    ----------
    record
        The record; what stands still of one without frames is its ``system``.
    select
        ``"common"`` for the atoms that are in all frames, or ids; by default all atoms, which must be the same in
        every frame.
    additional
        Further columns of atoms, handed out as data of time steps; True for all that move.

    Raises
    ------
    LossError
        If the number of atoms changes and nothing is selected.
    """

    def __init__(self, record: Record, *, select: Select = None, additional: Collection[str] | bool = ()) -> None:
        self.record = record
        self._alone = None if record.trajectory is not None else next(record_snapshots(record, [0]), None)
        alone = [] if self._alone is None else [self._alone.frame]
        self.trajectory: Trajectory = MemoryTrajectory(alone) if record.trajectory is None else record.trajectory
        self.n_frames = len(self.trajectory)
        self._select = select
        self.additional = self._moving() if additional is True else tuple(additional or ())
        self._columns = {ATOMS: (*MOVING, ID, *self.additional)}
        self._wanted = selected_ids(self.trajectory, select) if self.n_frames else None
        self._last: tuple[Any, Array | None] | None = None
        if self.n_frames and select is None:
            self._check_counts()
            self._wanted = ids_of(self.trajectory, 0)
        self.n_atoms = self._count()

    def _moving(self) -> tuple[str, ...]:
        """The columns of atoms that move, besides positions, velocities and forces."""
        schema = self.trajectory.schema.blocks.get(ATOMS)
        columns = {} if schema is None else schema.columns
        return tuple(name for name, spec in columns.items()
                     if name not in (*MOVING, ID) and not may_be_fixed(name, spec.dtype))  # fmt: skip

    def _check_counts(self) -> None:
        counts = self.trajectory.counts(ATOMS)
        if (counts != counts[0]).any():
            frame = int(np.argmax(counts != counts[0]))
            raise LossError(
                f"{max(counts[frame], 0)} atoms, {max(counts[0], 0)} in frame 0: MDAnalysis holds the same atoms in "
                "every frame; select='common' takes those that all frames have",
                frame=frame,
            )

    def _count(self) -> int:
        if self._select is not None and self._wanted is not None:
            return len(self._wanted)
        if self.n_frames:
            return max(int(self.trajectory.counts(ATOMS)[0]), 0)
        system = self.record.system
        return system[ATOMS].count if system is not None and ATOMS in system else 0

    # ------------------------------------------------------------ what stands still
    def first(self) -> Frame:
        """The first frame of the atoms wanted, or what a record without frames has."""
        if not self.n_frames:
            return self.record.system or Frame()
        frame = self.trajectory.frame(0)
        if self._alone is None:
            frame = with_system(frame, self.record.system, 0)
        rows = self._rows(frame, 0)
        return frame if rows is None else chosen(frame, rows)

    def changing(self, name: str) -> bool:
        """Whether a block is known to change between frames."""
        reader = self.trajectory.readers.get(name) if isinstance(self.trajectory, StoredTrajectory) else None
        return reader is not None and len(reader.updates) > 1

    def moves(self, quantity: str) -> bool:
        """Whether the first frame has the vectors of a quantity."""
        if not self.n_frames:
            return False
        frame = self.trajectory.part(0, {ATOMS: VECTORS[quantity]})
        return ATOMS in frame and all(name in frame[ATOMS] for name in VECTORS[quantity])

    # ------------------------------------------------------------ what moves
    def read_into(self, timestep: Timestep, index: int, scale: Scale) -> None:
        """Read a frame into a time step."""
        frame = self.trajectory.part(index, self._columns)
        rows = self._rows(frame, index)
        step, time = self.moment(index)
        if STEP_KEY in frame.meta or TIME_KEY in frame.meta:
            meta = Meta(frame.meta)
            step, own = meta.pop(STEP_KEY, step), meta.pop(TIME_KEY, None)
            time = own if time is None and own is not None and math.isfinite(own) else time
            frame = Frame.of(dict(frame.items()), frame.box, meta)
        fill_timestep(timestep, frame, scale, step=step, time=time, rows=rows)
        for name in self.additional:
            if name in frame[ATOMS]:
                values = frame[ATOMS][name]
                timestep.data[name] = values if rows is None else values[rows]

    def moment(self, index: int) -> tuple[int | None, float | None]:
        """The step and the time of a frame, as far as the record states them."""
        return self.trajectory.moment(index) if self._alone is None else (self._alone.step, self._alone.time)

    @property
    def times(self) -> Array | None:
        """The time of every frame; None where the record does not state them."""
        if self._alone is None:
            return self.trajectory.time
        return None if self._alone.time is None else np.array([self._alone.time])

    @property
    def units(self) -> dict[str, str] | None:
        """The unit of every quantity that is known, by the record, or else by the frames; None where none is."""
        parts = (self.record.meta, *(part.meta for part in (self.record.system, self.record.frame) if part is not None))
        return next((units for units in map(declared_units, parts) if units is not None), None)

    def _rows(self, frame: Frame, index: int) -> Array | None:
        """The rows of the atoms wanted; None where these are all rows in their order."""
        if self._wanted is None or ATOMS not in frame:
            return None
        column = frame[ATOMS].columns.get(ID)
        if self._last is None or self._last[0] is not column:
            ids = distinct_ids(frame[ATOMS].columns)
            if ids is None:
                raise LossError("atoms have no ids, each its own, to tell them by", frame=index)
            self._last = column, rows_of(self._wanted, ids, index)
        return self._last[1]

    def positions_into(self, target: Array, indices: range, scale: Scale, atoms: Array | None) -> None:
        """Read positions of several frames.

        Parameters
        ----------
        target
            f32[frames][atoms][3].
        indices
            The frames.
        scale
            The units.
        atoms
            The atoms wanted; by default all.
        """
        if indices.step == 1 and (reader := self._dense()) is not None:
            self._read_rows(reader, target, indices, scale, atoms)
            return
        columns = {ATOMS: (*VECTORS["length"], ID)}
        for place, index in enumerate(indices):
            frame = self.trajectory.part(index, columns)
            rows = self._rows(frame, index)
            rows = atoms if rows is None else rows if atoms is None else rows[atoms]
            rotation = scale.cell(frame.box).rotation
            put_vectors(
                target[place],
                frame[ATOMS].columns,
                VECTORS["length"],
                by=scale.of("length"),
                rotation=rotation,
                rows=rows,
            )

    def _dense(self) -> BlockReader | None:
        """The atoms on disk, where those of one frame follow those of the one before, all in the same order."""
        if not isinstance(self.trajectory, StoredTrajectory):
            return None
        reader = self.trajectory.readers.get(ATOMS)
        if reader is None or len(reader.updates) != self.n_frames or ID in reader.arrays or self._select is not None:
            return None
        there = all(name in reader.arrays and name not in reader.masks for name in VECTORS["length"])
        return reader if there else None

    def _read_rows(self, reader: BlockReader, target: Array, indices: range, scale: Scale, atoms: Array | None) -> None:
        count, by = max(self.n_atoms, 1), scale.of("length")
        batch = max(1, BATCH // (8 * count))
        for first in range(0, len(indices), batch):
            some = indices[first : first + batch]
            place = target[first : first + len(some)]
            for axis, name in enumerate(VECTORS["length"]):
                values = reader.arrays[name].read(some.start * count, some.stop * count).reshape(len(some), -1)
                values = values if atoms is None else values[:, atoms]
                place[:, :, axis] = values if by == 1.0 else values * by
        cell = self.trajectory.cell if isinstance(self.trajectory, StoredTrajectory) else None
        if cell is None:
            return
        for place, index in zip(target, indices, strict=True):
            rotation = scale.cell(self.trajectory.part(index, {}).box).rotation
            if rotation is None and len(cell.updates) == 1:
                return
            if rotation is not None:
                np.matmul(place.astype(np.float64), rotation.T, out=place, casting="same_kind")
