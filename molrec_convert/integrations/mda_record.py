"""Records of MDAnalysis universes, whose frames are read when they are asked for, and universes of records."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert import __version__
from molrec_convert.adapter import Note, Snapshot
from molrec_convert.adapters.mda_universe import per_atom_of, snapshot_of, static_part, units_of
from molrec_convert.errors import OptionError
from molrec_convert.mapping.units import Units
from molrec_convert.model import Frame, Record, Schema, Trajectory
from molrec_convert.model.dtypes import Array
from molrec_convert.model.origin import Origin
from molrec_convert.placement import Placement

from .mda_changes import columns_set, upheld
from .user_warnings import warn_of

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup, Universe

CURRENT, ALL = "current", "all"


def from_mdanalysis(atoms: Universe | AtomGroup, *, frames: str = ALL, guessed: bool = False) -> Record:
    """Make a record of a universe or of some of its atoms.

    Parameters
    ----------
    atoms
        All atoms, or some in their order; relations among them come along.
    frames
        ``"all"``: a record with a trajectory, whose frames are read from the universe's files when they are asked for.
        ``"current"``: a record of the frame that the universe is at, as it stands. A universe of one frame makes such
        a record in either case, one without frames a record of a ``system`` alone.
    guessed
        Take attributes and bonds that MDAnalysis guessed, too.

    Returns
    -------
    Record
        ``meta["units"]`` names the units of MDAnalysis (Å, ps, Å/ps, kJ/mol/Å), ``meta["source"]`` says that its
        numbers were binary32, ``meta["convert"]["warnings"]`` what was left out.

    Notes
    -----
    Frames are read by a reader of the record's own, so that the universe stays where it is. With transformations,
    which act on the universe itself, they are read through the universe and move it.
    """
    if frames not in (ALL, CURRENT):
        raise OptionError(f"frames is {ALL!r} or {CURRENT!r}, not {frames!r}")
    if not hasattr(atoms, "atoms") or not hasattr(atoms, "universe"):
        raise TypeError(f"atoms of MDAnalysis are due, not {type(atoms).__name__}")
    chosen = atoms.atoms
    reader = getattr(chosen.universe, "trajectory", None)
    units = None if reader is None else units_of(reader)
    static = static_part(chosen, guessed=guessed, units=units)
    told = LossNotes()
    meta = document_of(chosen, units, static.notes)
    if reader is None or (frames == ALL and len(reader) != 1):
        told.add(static.notes)
    if reader is None:
        return Record(meta=meta, system=static.frame)
    if frames == ALL and len(reader) != 1:
        return Record(meta=meta, system=static.frame, trajectory=UniverseTrajectory(chosen, static, told))
    made = upheld(moment_of(chosen, reader, static), static, columns_set(chosen.universe))
    told.add(made.notes)
    placement = Placement()
    placement.learn(made)
    frame = placement.alone(made)
    frame.origin = Origin(units=units)
    return Record(meta=meta, frame=frame)


def document_of(atoms: AtomGroup, units: Units | None, notes: Collection[Note]) -> dict[str, Any]:
    """The document of a record of these atoms: the units, where they came from, what was left out."""
    trajectory = getattr(atoms.universe, "trajectory", None)
    name = getattr(trajectory, "filename", None) or atoms.universe.filename
    source: dict[str, Any] = {} if not isinstance(name, str | Path) else {"name": Path(name).name}
    source |= {"format": "mdanalysis", "library": {"name": "MDAnalysis", "version": version("MDAnalysis")}}
    document: dict[str, Any] = {"source": {**source, "floats": "binary32"}}
    if units is not None:
        document["units"] = dict(units)
    document["creator"] = {"name": "molrec-convert", "version": __version__}
    if notes:
        document["convert"] = {"warnings": [note.message for note in notes]}
    return document


def moment_of(atoms: AtomGroup, reader: Any, static: Snapshot) -> Snapshot:
    """The frame that a reader is at, of these atoms."""
    timestep = reader.ts
    rows = None if np.array_equal(atoms.ix, np.arange(timestep.n_atoms)) else atoms.ix
    made: Snapshot = snapshot_of(timestep, static=static, rows=rows, per_atom=per_atom_of(reader), units=static.units)
    made.about.clear()  # the document says it
    made.step = _true_step(reader, made.step)
    return made


def _true_step(reader: Any, stated: int | None) -> int | None:
    """The step that a reader is at: of DCD files MDAnalysis states the number of the frame, and not the header's."""
    from MDAnalysis.coordinates.DCD import DCDReader

    if not isinstance(getattr(reader, "active_reader", reader), DCDReader):
        return stated
    if not isinstance(reader, DCDReader):  # a chain of several files, each of which counts for itself
        return None
    header = reader._file.header  # noqa: SLF001 - there is no other way to it
    return int(header["istart"]) + int(reader.frame) * int(header["nsavc"])


class LossNotes:
    """Warns of what was left out, once of each."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def add(self, notes: Iterable[Note]) -> None:
        """Take the notes of a frame."""
        new = [note for note in notes if note.loss and note.message not in self._seen]
        self._seen.update(note.message for note in new)
        warn_of(new, who="MDAnalysis")


class UniverseTrajectory(Trajectory):
    """The frames of a universe, each read when it is asked for.

    `step`, `time` and `schema` need all frames, and read each once. The last frame read is kept.

    Parameters
    ----------
    atoms
        The atoms.
    static
        What stands still of them.
    told
        Where to tell what is left out.
    """

    def __init__(self, atoms: AtomGroup, static: Snapshot, told: LossNotes) -> None:
        self._atoms, self._static, self._told = atoms, static, told
        self._set = columns_set(atoms.universe)
        self._reader = own_reader(atoms.universe.trajectory)
        self._last: tuple[int, Snapshot] | None = None

    def __len__(self) -> int:
        return len(self._reader)

    def _snapshot(self, index: int) -> Snapshot:
        if self._last is None or self._last[0] != index:
            self._reader[index]
            made = upheld(moment_of(self._atoms, self._reader, self._static), self._static, self._set)
            self._told.add(made.notes)
            self._last = index, made
        return self._last[1]

    def frame(self, index: int) -> Frame:
        """Read a frame."""
        made = self._snapshot(index)
        frame = Frame.of(dict(made.frame.items()), made.frame.box, made.frame.meta)
        frame.origin = Origin(made.step, made.time, units=made.units)
        return frame

    def moment(self, index: int) -> tuple[int | None, float | None]:
        """The step and the time of a frame, None where the universe's reader does not state them."""
        made = self._snapshot(index)
        return made.step, made.time

    def counts(self, block: str) -> Array:
        """How many rows a block has in every frame; -1 where it is absent."""
        frame = self._static.frame
        return np.full(len(self), frame[block].count if block in frame else -1, np.int64)

    @cached_property
    def _scanned(self) -> tuple[list[int | None], list[float | None], Schema]:
        steps: list[int | None] = []
        times: list[float | None] = []
        schema: Schema | None = None
        for index in range(len(self)):
            needed = Schema.of_frame(self.frame(index))
            schema = needed if schema is None else schema.union(needed)
            step, time = self.moment(index)
            steps.append(step)
            times.append(time)
        return steps, times, schema or Schema()

    @property
    def step(self) -> Array:
        """The steps, or the ordinals where the reader states none, or none that increase."""
        steps = self._scanned[0]
        known = np.array([step for step in steps if step is not None], dtype=np.int64)
        stated = len(known) == len(steps) and bool((known[1:] > known[:-1]).all())
        return known if stated else np.arange(len(steps))

    @property
    def time(self) -> Array | None:
        """The times in ps; None where the reader does not state them."""
        times = [time for time in self._scanned[1] if time is not None]
        return np.array(times) if times and len(times) == len(self) else None

    @property
    def schema(self) -> Schema:
        """What the frames hold."""
        return self._scanned[2]

    @property
    def filled(self) -> Schema:
        """Nothing: frames are as the universe has them."""
        return Schema()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} frames of {len(self._atoms)} atoms, read from {self._reader!r})"


def own_reader(reader: Any) -> Any:
    """A reader of the same frames that leaves the other where it is; the same one where there can be no other."""
    from MDAnalysis.coordinates.memory import MemoryReader

    if reader.transformations:  # they act on the universe that they were made for
        return reader
    if isinstance(reader, MemoryReader):  # whose own copy would take the memory again
        return MemoryReader(
            reader.coordinate_array,
            order=reader.stored_order,
            dimensions=reader.dimensions_array,
            dt=reader.dt,
            velocities=reader.velocity_array,
            forces=reader.force_array,
        )
    try:
        return reader.copy()
    except (NotImplementedError, RuntimeError, TypeError):  # a stream
        return reader


def to_mdanalysis(
    record: Record, *, select: str | Iterable[int] | None, convert_units: bool, to_guess: Collection[str]
) -> Universe:
    """Make a universe of a record; see `Record.to_mdanalysis`."""
    import MDAnalysis as mda

    from molrec_convert.integrations.mdanalysis import source_of

    return mda.Universe(
        source_of(record),
        format="MREC",
        topology_format="MREC",
        to_guess=tuple(to_guess),
        select=select if select is None or isinstance(select, str) else list(select),
        convert_units=convert_units,
    )


__all__ = ["UniverseTrajectory", "document_of", "from_mdanalysis", "own_reader", "to_mdanalysis"]
