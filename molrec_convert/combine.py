"""A trajectory and its topology in two files: what one file says once joins every frame of the other.

The rows of both are matched by id, or in their order where one of them has no ids. Columns that a frame lacks and
that hold for a whole trajectory, blocks that it lacks, and the cell where it has none come from the topology. What
comes from there is the same object in every frame, so that no later step looks at it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np

from .adapter import Note, Snapshot
from .errors import FormatError, OptionError
from .frames import FrameSelection
from .inputs import Input
from .mapping.names import MOVING, may_be_fixed
from .model import Block, Box, Column, Frame, Meta
from .model.dtypes import Array
from .model.frame import references
from .source import Transform
from .steps import converted

ATOMS, ID = "atoms", "id"
TOLERANCES: Mapping[str, float] = {
    **dict.fromkeys(("type_id", "type", "element", "atomic_number"), 0.0),
    **dict.fromkeys(("mass", "mass_lj"), 1e-5),
}
"""Columns in which both must agree where they have them, and how far apart reals may be, relatively: programs print
six digits."""
CALLED = {"type_id": "type", "atomic_number": "atomic number", "mass_lj": "mass"}


class Merger:
    """Joins one static frame to the frames of a trajectory.

    Parameters
    ----------
    static
        The frame of the topology.
    topology, trajectory
        The names of both files, for errors.
    """

    def __init__(self, static: Snapshot, topology: str, trajectory: str) -> None:
        self._names = topology, trajectory
        self._static = static
        frame = static.frame
        if ATOMS not in frame:
            raise FormatError("there are no atoms in it, so it is no topology", path=topology)
        self._atoms = frame[ATOMS]
        self._ids = _distinct_ids(self._atoms)
        self._columns = {
            name: column
            for name, column in self._atoms.columns.items()
            if name != ID and may_be_fixed(name, column.dtype)
        }
        self._blocks = {name: block for name, block in frame.items() if name != ATOMS}
        self._last: _Joined | None = None
        self.left_out = [name for name in self._atoms if name not in (ID, *self._columns) and name not in MOVING]

    # ------------------------------------------------------------ every frame
    def merge(self, snapshot: Snapshot) -> Snapshot:
        """Join a frame; called from several threads at once.

        Raises
        ------
        FormatError
            Where its atoms are not those of the topology.
        """
        frame = snapshot.frame
        if ATOMS not in frame:
            raise self._error("there are no atoms in a frame")
        joined = self._joined(frame[ATOMS])
        blocks = {ATOMS: joined.atoms(frame[ATOMS])}
        blocks.update((name, block) for name, block in frame.items() if name != ATOMS)
        for name, block in joined.blocks.items():
            blocks.setdefault(name, block)
        box: Box | None = frame.box
        if box is None or not box.defined:
            box = self._static.frame.box or box
        about, static = snapshot.about, self._static.about
        values, tags = {**static, **about}, {**static.tags, **about.tags}
        snapshot.frame, snapshot.about = Frame.of(blocks, box, frame.meta), Meta.of(values, tags)
        snapshot.notes = [note for note in snapshot.notes if note.lacks is None or note.lacks not in self._columns]
        return snapshot

    def _joined(self, atoms: Block) -> _Joined:
        ids = _distinct_ids(atoms)
        last = self._last
        if last is not None and last.serves(ids, atoms.count):
            return last
        if self._ids is None or ids is None:
            rows = self._by_row(atoms)
        else:
            rows = self._by_id(ids, self._ids)
        found = _Joined(self._columns, self._blocks, ids, atoms.count, rows, self._atoms.columns.get(ID))
        self._last = found
        return found

    def _by_row(self, atoms: Block) -> Array | None:
        if atoms.count != self._atoms.count:
            raise self._error(
                f"{atoms.count} atoms, {self._names[0]} has {self._atoms.count}, and without ids they cannot be matched"
            )
        return None

    def _by_id(self, ids: Array, known: Array) -> Array | None:
        """The row of the topology of every atom; None where the rows are the same."""
        if np.array_equal(ids, known):
            return None
        order = np.argsort(known)
        places = np.minimum(np.searchsorted(known[order], ids), len(known) - 1) if len(known) else np.zeros(len(ids), int)
        rows: Array = order[places] if len(known) else places
        here = known[rows] == ids if len(known) else np.zeros(len(ids), dtype=bool)
        topology, trajectory = self._names
        if not here.all():
            raise self._error(f"{topology} has no atom of id {ids[np.argmin(here)]}")
        if len(ids) < len(known):
            missing = np.setdiff1d(known, ids)[0]
            message = f"{len(ids)} atoms, {topology} has {len(known)}: {trajectory} has none of id {missing}"
            raise self._error(message)
        return rows

    def _error(self, message: str) -> FormatError:
        return FormatError(message, path=self._names[1])

    # ------------------------------------------------------------ the first frame
    def check(self, snapshot: Snapshot) -> None:
        """Refuse a trajectory whose first frame contradicts the topology, and say what is odd.

        Raises
        ------
        FormatError
            With the first atom of another type, element or mass.
        """
        atoms = snapshot.frame[ATOMS]
        joined = self._joined(atoms)
        by_row = self._ids is None or joined.ids is None
        if by_row:
            message = f"the atoms are matched with those of {self._names[0]} in their order, as one side has no ids"
            snapshot.notes.append(Note(message))
        for name, tolerance in TOLERANCES.items():
            column, other = atoms.columns.get(name), joined.columns.get(name)
            if column is None or other is None or column is other:
                continue
            row = _first_difference(column, other, tolerance)
            if row is not None:
                which = f"the atom of row {row}" if by_row else f"the atom of id {atoms[ID][row]}"
                called, topology = CALLED.get(name, name), self._names[0]
                raise self._error(
                    f"{which} has {called} {_shown(column, row)}, in {topology} it has {called} {_shown(other, row)}"
                )
        if self.left_out:
            message = f"{self._names[0]} also has {', '.join(self.left_out)}, which may move and are left out"
            snapshot.notes.append(Note(message))
        if (snapshot.units is None) != (self._static.units is None):
            known, unknown = self._names if snapshot.units is None else self._names[::-1]
            message = f"the units of {unknown} are not known, and are taken for those of {known}: --units says them"
            snapshot.notes.append(Note(message))


class _Joined:
    """What frames with these atoms in this order get from the topology."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        blocks: Mapping[str, Block],
        ids: Array | None,
        count: int,
        rows: Array | None,
        id_column: Column | None,
    ) -> None:
        self.ids = ids
        self._count = count
        self.columns = dict(columns) if rows is None else {name: column.rows(rows) for name, column in columns.items()}
        self.blocks = dict(blocks) if rows is None else {name: _moved(block, rows) for name, block in blocks.items()}
        if ids is None:
            self._id = id_column
        else:
            self._id = id_column if rows is None else Column.of(ids)

    def serves(self, ids: Array | None, count: int) -> bool:
        """Whether it fits a frame with these ids."""
        if ids is None or self.ids is None:
            return ids is self.ids and count == self._count
        return np.array_equal(ids, self.ids)

    def atoms(self, atoms: Block) -> Block:
        """The atoms with the columns that they lack; the id is the same object in all frames."""
        columns = {**atoms.columns}
        if self._id is not None and (self.ids is not None or ID not in columns):
            columns[ID] = self._id
        for name, column in self.columns.items():
            if name not in columns or (name == "type" and self._says_more(columns[name])):
                columns[name] = column
        return Block.of(columns, atoms.count, shape=atoms.shape, targets=atoms.targets, attributes=atoms.attributes)

    def _says_more(self, kinds: Column) -> bool:
        """Whether types as text are the numbers of the types whose labels are known here."""
        numbers = self.columns.get("type_id")
        if numbers is None or kinds.valid is not None or kinds.dtype != "string":
            return False
        return _first_difference(kinds, _as_text(numbers), 0.0) is None


def _as_text(numbers: Column) -> Column:
    return Column.of(numbers.values.astype(np.dtypes.StringDType()))


def _distinct_ids(atoms: Block) -> Array | None:
    """The ids of atoms, or None where they have none, or not each its own."""
    column = atoms.columns.get(ID)
    if column is None or column.valid is not None:
        return None
    values = column.values
    if (values[1:] > values[:-1]).all():
        return values
    ranked = np.sort(values)
    return values if (ranked[1:] != ranked[:-1]).all() else None


def _moved(block: Block, rows: Array) -> Block:
    """A block whose references to atoms point at the rows of another order."""
    place = np.empty(len(rows), dtype=np.uint64)
    place[rows] = np.arange(len(rows), dtype=np.uint64)
    columns = dict(block.columns)
    for name, target in references(block.columns, block.targets).items():
        if target == ATOMS:
            column = columns[name]
            columns[name] = Column.of(place[column.values.astype(np.intp)], column.valid)
    return Block.of(columns, block.count, shape=block.shape, targets=block.targets, attributes=block.attributes)


def _first_difference(one: Column, other: Column, tolerance: float) -> int | None:
    """The first row in which both hold a value, and not the same."""
    a, b = one.values, other.values
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        differs = np.abs(a - b) > tolerance * np.maximum(np.abs(a), np.abs(b))
    elif a.dtype == b.dtype:
        differs = a != b
    else:
        return None
    for column in (one, other):
        if column.valid is not None:
            differs &= column.valid
    return int(np.argmax(differs)) if differs.any() else None


def _shown(column: Column, row: int) -> str:
    value: Any = column.values[row]
    return str(value.item() if isinstance(value, np.generic) else value)


class Combined:
    """Two sources as one: the frames of a trajectory, each with what its topology says; see `inputs.Input`."""

    def __init__(self, topology: Input, trajectory: Input) -> None:
        if topology.name == trajectory.name and topology.format == trajectory.format:
            raise OptionError(f"the topology and the trajectory are both {topology.name}")
        self._topology, self._trajectory = topology, trajectory
        self.name, self.format, self.series = trajectory.name, trajectory.format, trajectory.series
        self.unwraps, self.notes = False, trajectory.notes
        self.takes = topology.takes | trajectory.takes

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order, joined and decoded in threads."""
        static = self._static(executor)
        static_units = static.units

        merger: Merger | None = None

        def join(snapshot: Snapshot) -> Snapshot:
            assert merger is not None
            merged = merger.merge(snapshot)
            return merged if transform is None else transform(merged)

        merger = Merger(static, self._topology.name, self._trajectory.name)
        del static_units
        first = True
        for snapshot in self._trajectory.snapshots(selection, executor, join):
            if first:
                merger.check(snapshot)
                snapshot.notes[:0] = self._topology_notes(static)
                first = False
            yield snapshot

    def _static(self, executor: Executor) -> Snapshot:
        first = FrameSelection() if not self._topology.series else FrameSelection((0,))
        for snapshot in self._topology.snapshots(first, executor, None):
            return snapshot
        raise FormatError("there is no frame in it", path=self._topology.name)

    def _topology_notes(self, static: Snapshot) -> list[Note]:
        return [
            Note(note.message, note.line, note.frame, note.path or self._topology.name, note.lacks)
            for note in (*static.notes, *self._topology.notes)
        ]

    def provenance(self) -> dict[str, Any]:
        """Where both came from."""
        topology = self._topology.provenance()
        return {**self._trajectory.provenance(), "topology": topology.get("source", {"name": self._topology.name})}

    def progress(self) -> tuple[int, int | None]:
        """How much of the trajectory was read."""
        return self._trajectory.progress()

    def close(self) -> None:
        """Close both files."""
        self._topology.close()
        self._trajectory.close()


__all__ = ["Combined", "Merger", "converted"]
