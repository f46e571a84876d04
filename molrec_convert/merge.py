"""What one file says once joins every frame of another.

The rows of both are matched by id, or in their order where one of them has no ids. Columns that a frame lacks and
that hold for a whole trajectory, blocks that it lacks, and the cell where it has none come from the topology. What
comes from there is the same object in every frame, so that no later step looks at it twice.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from .adapter import Note, Snapshot
from .errors import FormatError
from .mapping.names import MOVING, may_be_fixed
from .mapping.units import DIMENSIONLESS_DOCUMENT
from .model import Block, Column, Frame, Meta
from .model.dtypes import STRING, Array
from .model.frame import references
from .steps import converted

ATOMS, ID = "atoms", "id"
TOLERANCES: Mapping[str, float] = {
    **dict.fromkeys(("type_id", "type", "element", "atomic_number"), 0.0),
    **dict.fromkeys(("mass", "mass_lj"), 1e-5),
}
"""Columns in which both must agree where they have them, and how far apart reals may be, relatively: programs print
six digits."""
CALLED: Mapping[str, str] = {"type_id": "type", "atomic_number": "atomic number", "mass_lj": "mass"}


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
        if ATOMS not in static.frame:
            raise FormatError("there are no atoms in it, so it is no topology", path=topology)
        atoms = static.frame[ATOMS]
        self._ids = distinct_ids(atoms.columns)
        self._fixed = [name for name, column in atoms.columns.items() if may_be_fixed(name, column.dtype)]
        self._last: _Joined | None = None
        self._by_order = False
        self._ready = False
        self._lock = threading.Lock()

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
        ids = None if self._ids is None else distinct_ids(frame[ATOMS].columns)
        with self._lock:
            if not self._ready:
                self._take_units(snapshot)
            joined = self._joined(frame[ATOMS], ids)
        blocks = {ATOMS: joined.atoms(frame[ATOMS])}
        blocks.update((name, block) for name, block in frame.items() if name != ATOMS)
        for name, block in joined.blocks.items():
            blocks.setdefault(name, block)
        box = frame.box
        if box is None or not box.defined:
            box = self._static.frame.box or box
        snapshot.frame = Frame.of(blocks, box, frame.meta)
        snapshot.about = self._static.about.joined(snapshot.about)
        snapshot.notes = [note for note in snapshot.notes if note.lacks is None or note.lacks not in self._fixed]
        return snapshot

    def _take_units(self, snapshot: Snapshot) -> None:
        """Bring the topology to the units of the trajectory, where both are known."""
        source, target = self._static.units, snapshot.units
        if source is not None and target is not None and dict(source) != dict(target):
            if DIMENSIONLESS_DOCUMENT in (source, target):
                raise self._error(f"its numbers and those of {self._names[0]} are not both without dimension")
            static = self._static
            copy = Snapshot(Frame.of(dict(static.frame.items()), static.frame.box, Meta()), about=static.about)
            self._static = converted(copy, source, target)
        self._ready = True

    def _joined(self, atoms: Block, ids: Array | None) -> _Joined:
        if self._last is not None and self._last.serves(ids, atoms.count):
            return self._last
        if self._ids is None or ids is None:
            self._last = _Joined(self._static.frame, self._fixed, None, self._by_row(atoms), None)
        else:
            rows = self._by_id(ids, self._ids)
            self._last = _Joined(self._static.frame, self._fixed, ids, atoms.count, rows)
        return self._last

    def _by_row(self, atoms: Block) -> int:
        """The number of atoms, which must be that of the topology."""
        self._by_order = True
        due = self._static.frame[ATOMS].count
        if atoms.count != due:
            raise self._error(f"{atoms.count} atoms, {self._names[0]} has {due}, and not all have ids to match them by")
        return due

    def _by_id(self, ids: Array, known: Array) -> Array | None:
        """The row of the topology of every atom; None where the rows are the same."""
        if np.array_equal(ids, known):
            return None
        topology, trajectory = self._names
        order = np.argsort(known)
        rows: Array = (
            order[np.searchsorted(known[order], ids).clip(max=max(len(known) - 1, 0))] if len(known) else order
        )
        here = known[rows] == ids if len(known) else np.zeros(len(ids), dtype=bool)
        if not here.all():
            raise self._error(f"{topology} has no atom of id {ids[np.argmin(here)]}")
        if len(ids) < len(known):
            missing = np.setdiff1d(known, ids)[0]
            raise self._error(
                f"{len(ids)} atoms, {topology} has {len(known)}: there is no atom of id {missing} in {trajectory}"
            )
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
        with self._lock:
            joined = self._joined(atoms, None if self._by_order else atoms[ID])
        if self._by_order:
            message = f"the atoms are matched with those of {self._names[0]} in their order, as one side has no ids"
            snapshot.notes.append(Note(message))
        for name, tolerance in TOLERANCES.items():
            column, other = atoms.columns.get(name), joined.counterpart(name, atoms)
            if column is None or other is None or column is other:
                continue
            row = _first_difference(column, other, tolerance)
            if row is not None:
                which = f"the atom of row {row}" if self._by_order else f"the atom of id {atoms[ID][row]}"
                called, topology = CALLED.get(name, name), self._names[0]
                raise self._error(f"{which} has the {called} {_shown(column, row)}, in {topology} {_shown(other, row)}")
        left = [name for name in self._static.frame[ATOMS] if name not in (*self._fixed, *MOVING)]
        if left:
            snapshot.notes.append(Note(f"{self._names[0]} also has {', '.join(left)}, which may move: left out"))
        if (snapshot.units is None) != (self._static.units is None):
            known, unknown = self._names if snapshot.units is None else self._names[::-1]
            message = f"the units of {unknown} are not known, and are taken for those of {known}: --units says them"
            snapshot.notes.append(Note(message))


class _Joined:
    """What frames with these atoms in this order get from the topology.

    Parameters
    ----------
    static
        The frame of the topology.
    fixed
        The columns of its atoms that hold for all frames.
    ids
        The ids of the atoms of the frames; None where they are matched by row.
    count
        How many atoms there are.
    rows
        The row of the topology of each; None where the rows are the same.
    """

    def __init__(self, static: Frame, fixed: list[str], ids: Array | None, count: int, rows: Array | None) -> None:
        self.ids = ids
        self._count = count
        columns = {name: static[ATOMS].column(name) for name in fixed}
        blocks = {name: block for name, block in static.items() if name != ATOMS}
        if rows is not None:
            columns = {name: column.rows(rows) for name, column in columns.items()}
            blocks = {name: _moved(block, rows) for name, block in blocks.items()}
        self.columns, self.blocks = columns, blocks
        self._numbers = _as_text(columns["type_id"]) if "type_id" in columns else None

    def serves(self, ids: Array | None, count: int) -> bool:
        """Whether it fits a frame with these ids."""
        if ids is None or self.ids is None:
            return ids is self.ids and count == self._count
        return np.array_equal(ids, self.ids)

    def atoms(self, atoms: Block) -> Block:
        """The atoms with the columns that they lack; the ids are the same object in all frames."""
        columns = dict(atoms.columns)
        for name, column in self.columns.items():
            if name not in columns or (name == ID and self.ids is not None) or self._says_more(name, columns[name]):
                columns[name] = column
        return Block.of(columns, atoms.count, shape=atoms.shape, targets=atoms.targets, attributes=atoms.attributes)

    def counterpart(self, name: str, atoms: Block) -> Column | None:
        """What a column of atoms must agree with: numbers of types may stand as text where no labels are known."""
        numbers = self.columns.get("type_id")
        if name == "type" and name not in self.columns and name in atoms and atoms.columns.get("type_id") is numbers:
            return self._numbers if bool(np.strings.isdigit(atoms[name]).all()) else None
        return self.columns.get(name)

    def _says_more(self, name: str, column: Column) -> bool:
        """Whether types as text are but the numbers of the types whose labels are known here."""
        if name != "type" or self._numbers is None or column.dtype != "string" or column.valid is not None:
            return False
        return bool(np.array_equal(column.values, self._numbers.values))


def _as_text(numbers: Column) -> Column:
    return Column.of(numbers.values.astype(STRING))


def distinct_ids(columns: Mapping[str, Column]) -> Array | None:
    """The ids of atoms; None where they have none, or not each its own."""
    column = columns.get(ID)
    if column is None or column.valid is not None or column.dtype != "u64":
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
