"""Writing LAMMPS dumps: the source's own columns, bounds and letters where the frame still agrees with them.

Reference: https://docs.lammps.org/dump.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.names import QUANTITIES, REDUCED
from molrec_convert.mapping.units import DIMENSIONLESS
from molrec_convert.model import Block, Box, Column
from molrec_convert.model.dtypes import CANONICAL, STRING
from molrec_convert.model.precision import decimals_of
from molrec_convert.options import Options
from molrec_convert.stack import Stack, repeats
from molrec_convert.text.lines import parts_of
from molrec_convert.text.table import format_table

from ._dump_columns import BY_SOURCE, BY_TARGET, SCALED, SIGNED, Plan, is_number, plan_of, triple
from ._elements import MassElements
from ._lammps import (
    boundary_letters,
    bounding_to_bounds,
    bounds_to_bounding,
    cartesian,
    cell_of_bounds,
    check_style,
    is_restricted,
    scales_of,
    shrink_wrapped,
    style_to_write,
)

Array = np.ndarray[Any, Any]
Words = tuple[Array, list[bytes]]

PLAIN_ORDER = ("id", "type", "element", "mol", "q", "mass", "x", "y", "z", "ix", "iy", "iz", "vx", "vy", "vz",
               "fx", "fy", "fz")  # fmt: skip
"""The order of columns that no source has prescribed."""


FACTS = frozenset(f"lammps_{key}" for key in ("columns", "boundary", "units", "bounds", "coords"))
"""What the importer says of a source, and is restored."""


class DumpExporter:
    """Writes a dump; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self._masses = MassElements()
        self._told: tuple[Column, Column, bool] | None = None
        self._found: dict[str, Loss] = {}
        check_style(options.units)

    @property
    def losses(self) -> list[Loss]:
        """What the frames showed that is not held."""
        return list(self._found.values())

    def head(self, first: Snapshot) -> bytes:
        """The unit style, where it is known."""
        style = self._style(first)
        return b"" if style is None else f"ITEM: UNITS\n{style}\n".encode()

    def tail(self) -> bytes:
        """Nothing stands after the last snapshot."""
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """One snapshot."""
        atoms = snapshot.frame.get("atoms", Block(count=0))
        count = atoms.count
        scales = scales_of(self._style(snapshot), snapshot.units)
        box = snapshot.frame.box
        box = box if box is not None and box.defined else shrink_wrapped(atoms)
        names, columns = self._columns(atoms, box, snapshot)
        head = self._head(snapshot, ordinal, count, self._cell(snapshot, box, scales), names, scales)
        if not count:
            return head
        if not names:
            raise FormatError("the atoms have no columns, and a dump needs one", path=self._path, frame=ordinal)
        printed = [self._printed(name, column, atoms, scales) for name, column in zip(names, columns, strict=True)]
        return head + format_table([part for part, _ in printed], [style for _, style in printed])

    def encode_stack(self, stack: Stack, first: int) -> bytes | None:
        """Snapshots together; see `molrec_convert.stack.StackExporter`."""
        atoms, frames = stack.blocks.get("atoms"), len(stack)
        heads = [stack.head(k) for k in range(frames)]
        boxes = [head.frame.box for head in heads]
        if atoms is None or not atoms.count or not all(map(_stays, atoms.columns.values(), repeat(frames))):
            return None
        about = [tuple(map(head.about.get, ("lammps_columns", "lammps_coords", "lammps_units"))) for head in heads]
        if any(box is None or not box.defined for box in boxes) or any(each != about[0] for each in about):
            return None
        if about[0][1] in SCALED and any(box is not boxes[0] for box in boxes):
            return None
        box = boxes[0]
        assert box is not None
        if {"element", "mass"} <= atoms.keys() and not repeats(atoms.column("mass"), frames):
            return None  # elements that the masses tell are not written
        names, columns = self._columns(atoms, box, heads[0])
        scales = scales_of(self._style(heads[0]), stack.units)
        printed = [self._printed(name, column, atoms, scales) for name, column in zip(names, columns, strict=True)]
        count = atoms.count // frames
        texts = parts_of(format_table([part for part, _ in printed], [style for _, style in printed]), count)
        found: list[bytes] = []
        cell: list[str] = []
        last: tuple[Any, ...] | None = None
        for k, (head, text) in enumerate(zip(heads, texts, strict=True)):
            own = (head.about.get("lammps_bounds"), head.about.get("lammps_boundary"))
            if box is not boxes[k] or own != last:
                box, last = boxes[k] or box, own
                cell = self._cell(head, box, scales)
            found += (self._head(head, first + k, count, cell, names, scales), text)
        return b"".join(found)

    def _cell(self, snapshot: Snapshot, box: Box, scales: Any) -> list[str]:
        """The lines of the cell; of a box around the atoms where the frame has none."""
        kept, letters = kept_rows(snapshot.about.get("lammps_bounds")), snapshot.about.get("lammps_boundary")
        if snapshot.frame.box is not None and snapshot.frame.box.defined:
            return _bounds(box, kept, boundary_letters(box.boundary, letters), scales("length"))
        if kept is not None and not _encloses(kept):
            return _item(kept, "" if letters is None else str(letters))
        return _bounds(box, None, "ss ss ss", scales("length"))

    def _head(
        self, snapshot: Snapshot, ordinal: int, count: int, cell: list[str], names: list[str], scales: Any
    ) -> bytes:
        lines: list[str] = []
        if snapshot.time is not None:
            lines += ["ITEM: TIME", _shortest(snapshot.time, scales("time"))]
        step = snapshot.step if snapshot.step is not None else ordinal
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(count)]
        lines += [*cell, " ".join(["ITEM: ATOMS", *names])]
        return ("\n".join(lines) + "\n").encode()

    # ------------------------------------------------------------ units
    def _style(self, snapshot: Snapshot) -> str | None:
        return style_to_write(self._options.units, snapshot.about.get("lammps_units"), snapshot.units)

    # ------------------------------------------------------------ columns
    def _columns(self, atoms: Block, box: Box, snapshot: Snapshot) -> tuple[list[str], list[Column]]:
        """The names in their order, and what is printed under each."""
        wanted = snapshot.about.get("lammps_columns")
        left = _signed(atoms.columns)
        if isinstance(wanted, list) and "element" not in wanted and self._are_told(left, snapshot):
            del left["element"]
        found: list[tuple[str, Column]] = []
        if isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
            form = snapshot.about.get("lammps_coords", "x")
            tokens = ["label" if name == "type" and "type_id" not in left else "0" for name in wanted]
            plan = plan_of(wanted, tokens, dimensionless=bool(set(REDUCED.values()) & set(left)), form=form)
            found = _planned(plan, left, box)
        else:
            found = sorted(_plain(left), key=_rank)
        if isinstance(wanted, list):
            found += _plain(left)
        return [_unmistaken(*pair) for pair in found], [column for _, column in found]

    def _are_told(self, columns: Mapping[str, Column], snapshot: Snapshot) -> bool:
        """Whether elements are those that a reader finds by the masses, whose unit the dump states."""
        element, mass = columns.get("element"), columns.get("mass")
        if element is None or mass is None or self._style(snapshot) is None:
            return False
        last = self._told
        if last is None or last[0] is not element or last[1] is not mass:
            found = self._masses.of(mass).column
            last = self._told = (element, mass, found is not None and found.same(element))
        return last[2]

    def _one_word_each(self, texts: list[str], name: str, column: Column, atoms: Block) -> list[bytes]:
        """Texts of a column as they are printed; those that are not one word are noted as lost."""
        words = ["_".join(text.split()) or NULL for text in texts]
        if words != texts:
            odd = next(text for text, word in zip(texts, words, strict=True) if text != word)
            target = next((key for key, each in atoms.columns.items() if each is column), name.partition("[")[0])
            loss = Loss(f"atoms.{target}", f"{odd!r} is not one word, and blanks part the columns")
            self._found.setdefault(loss.item, loss)
        return [word.encode() for word in words]

    def _printed(self, name: str, column: Column, atoms: Block, scales: Any) -> tuple[Array | Words, str | int | None]:
        values = column.values
        if column.dtype == "string":
            if column.valid is not None:
                values = np.where(column.valid, values, np.array(NULL, dtype=STRING))
            words, codes = np.unique(values, return_inverse=True)
            return (codes.astype(np.int32), self._one_word_each(words.tolist(), name, column, atoms)), None
        if values.dtype.kind != "f":
            values = values.astype(np.int32) if values.dtype.kind == "b" else values
            return (values if column.valid is None else np.where(column.valid, values, 0)), None
        if column.valid is not None:
            values = np.where(column.valid, values, np.nan)
        base = name.removesuffix("u") if name in triple("xu") else name
        quantity = QUANTITIES.get(BY_SOURCE_TARGET.get(base, base.lower() if base in "XYZ" else base))
        if (scale := scales(quantity)) != 1.0:
            return undone(values, scale), "g"
        if self._options.decimals is not None:
            return values, self._options.decimals
        return values, "g" if column.precision is None else decimals_of(column.precision)


def _stays(column: Column, frames: int) -> bool:
    """Whether a column is written in one way in all frames of a stack: no value is missing, and texts stay."""
    return column.valid is None and (column.dtype != "string" or repeats(column, frames))


COMPLEX = ("c64", "c128")
"""Types that a dump cannot hold."""
NULL = "?"
"""The word of a row without a value."""


def _signed(columns: Mapping[str, Column]) -> dict[str, Column]:
    """The columns, with the negative numbers that their canonical ones could not hold, and with ids of all rows."""
    left = dict(columns)
    for source, target in SIGNED.items():
        canonical = BY_SOURCE[source].target
        if target in left and canonical in left and left[canonical].valid is not None:
            left[canonical] = left.pop(target)
    if "id" in left and left["id"].valid is not None:  # rows are sorted by their ids
        left["id"] = Column.of(np.arange(1, len(left["id"]) + 1, dtype=np.uint64))
    return left


BY_SOURCE_TARGET = {row.source: row.target for row in BY_TARGET.values()}


def _planned(plan: Plan, left: dict[str, Column], box: Box) -> list[tuple[str, Column]]:
    """The columns of a plan that the frame has; they leave `left`."""
    found: list[tuple[str, Column]] = []
    rescaled = _rescaled(plan, left, box)
    for row in plan.rows:
        column = rescaled.get(row.source) or left.get(row.target)
        if column is not None:
            found.append((row.source, column))
        left.pop(row.target, None)
    if plan.scaled and rescaled:
        for name in "xyz":
            left.pop(name, None)
    return found


def _rescaled(plan: Plan, left: dict[str, Column], box: Box) -> dict[str, Column]:
    """The scaled positions: the source's own where they still give the positions to the bit, else computed anew."""
    if plan.form not in SCALED or any(name not in left for name in "xyz"):
        return {}
    names = triple(plan.form)
    positions = [left[name].values for name in "xyz"]
    if all(name in left for name in names):
        derived = cartesian([left[name].values for name in names], box)
        if all(np.array_equal(one, other) for one, other in zip(derived, positions, strict=True)):
            return {name: left[name] for name in names}
    shifted = np.stack(positions) - box.origin[:, None]
    return {name: Column.of(values) for name, values in zip(names, np.linalg.solve(box.vectors, shifted), strict=True)}


def _plain(left: dict[str, Column]) -> list[tuple[str, Column]]:
    """Columns under the names that a dump gives them; what has axes becomes ``name[1]``, ``name[2]`` and so on."""
    found: list[tuple[str, Column]] = []
    for target, column in left.items():
        if column.dtype in COMPLEX:
            continue
        name = _name_of(target, left)
        if not column.trailing:
            found.append((name, column))
            continue
        flat = column.values.reshape(len(column), -1)
        found += [
            (f"{name}[{k + 1}]", Column.of(np.ascontiguousarray(flat[:, k]), column.valid))
            for k in range(flat.shape[1])
        ]
    return found


def _name_of(target: str, columns: Collection[str]) -> str:
    """What a dump calls a column."""
    if target == "type":
        return "typelabel" if "type_id" in columns else "type"
    name = BY_TARGET[target].source if target in BY_TARGET else target
    return "_".join(name.split()) or "_"


def _unmistaken(name: str, column: Column) -> str:
    """The name of a column, for labels that begin with a number another than that of numbered types."""
    if name == "type" and column.dtype == "string" and _begins_with_number(column) and not _are_type_numbers(column):
        return "typelabel"
    return name


def _begins_with_number(column: Column) -> bool:
    """Whether a reader, who goes by the first word, takes a column for one of numbers."""
    if not len(column) or column.trailing or (column.valid is not None and not column.valid[0]):
        return False
    return is_number(str(column.values[0]))


def _are_type_numbers(column: Column) -> bool:
    """Whether all words are the numbers of types, as these are written."""
    if column.valid is not None and not column.valid.all():
        return False
    return all(word.isdecimal() and word == str(int(word)) for word in np.unique(column.values).tolist())


def _lost_words(atoms: Block) -> Iterator[Loss]:
    """Words that a reader takes for numbers."""
    for target, column in atoms.columns.items():
        if column.dtype != "string" or not _begins_with_number(column):
            continue
        if target == "type":
            if "type_id" not in atoms and _are_type_numbers(column):
                yield Loss("atoms.type", "labels that are numbers are read as type_id")
        elif target not in CANONICAL and all(map(is_number, np.unique(column.values).tolist())):
            yield Loss(f"atoms.{target}", "words that are numbers are read as numbers")


def lost(contents: Contents) -> Iterator[Loss]:
    """What a reader takes for something else: names of columns, words, and columns for the axes of one."""
    for snapshot in contents.snapshots:
        yield from _lost_words(snapshot.frame.get("atoms", Block(count=0)))
    blocks = contents.schema.blocks
    columns = blocks["atoms"].columns if "atoms" in blocks else {}
    wanted = contents.about.get("lammps_columns")
    dimensionless = contents.about.get("lammps_units") == DIMENSIONLESS
    restored: set[str] = set()
    if isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
        tokens = ["label" if name == "type" and "type_id" not in columns else "0" for name in wanted]
        plan = plan_of(wanted, tokens, dimensionless=dimensionless, form=contents.about.get("lammps_coords", "x"))
        restored = {row.target for row in plan.rows}
    left = {target: spec for target, spec in columns.items() if target not in (*restored, *SIGNED.values())}
    names = {target: _name_of(target, columns) for target in left}
    tokens = ["label" if spec.dtype == "string" else "0" for spec in left.values()]
    plan = plan_of(list(names.values()), tokens, dimensionless=dimensionless)
    if "id" in left and left["id"].nullable:
        yield Loss("atoms.id", "rows are told apart by it, and are numbered from 1")
    for row, (target, spec) in zip(plan.rows, left.items(), strict=True):
        if spec.trailing and 0 not in spec.trailing:
            yield Loss(f"axes of atoms.{target}", f"a line has the columns {names[target]}[1] and so on")
        elif row.target != target:
            yield Loss(f"name of atoms.{target}", f"a reader takes it for {row.target}")
    yield from lost_absence(contents)


def lost_absence(contents: Contents) -> Iterator[Loss]:
    """The absence of a cell, unless bounds without extent are restored, by which some programs say it."""
    for snapshot in contents.snapshots:
        box, kept = snapshot.frame.box, kept_rows(snapshot.about.get("lammps_bounds"))
        if (box is None or not box.defined) and (kept is None or _encloses(kept)):
            yield Loss("absence of a cell", "the format has always a cell; there are bounds around the atoms")


def _rank(pair: tuple[str, Column]) -> int:
    return PLAIN_ORDER.index(pair[0]) if pair[0] in PLAIN_ORDER else len(PLAIN_ORDER)


# ---------------------------------------------------------------- the cell
def kept_rows(kept: Sequence[float | str] | None) -> list[list[float]] | None:
    """The bounds that a source wrote, a row for each axis: lo, hi and, in a tilted cell, the tilt."""
    if kept is None or len(kept) not in (6, 9):
        return None
    width = len(kept) // 3
    return [[float(value) for value in kept[k : k + width]] for k in range(0, len(kept), width)]


def _encloses(rows: list[list[float]]) -> bool:
    return all(0.0 < row[1] - row[0] < np.inf for row in rows)


FORMS_OF_CELL = {2: "", 3: "xy xz yz", 4: "abc origin"}
"""What the header says of a cell, by the numbers in a row."""


def _item(rows: list[list[float]], letters: str) -> list[str]:
    words = ("ITEM: BOX BOUNDS", FORMS_OF_CELL[len(rows[0])], letters)
    return [" ".join(word for word in words if word), *map(_exact, rows)]


def _bounds(box: Box, kept: list[list[float]] | None, letters: str, scale: float) -> list[str]:
    """The item of the cell: as the source wrote it, else orthogonal, restricted or general, as simple as it can be."""
    vectors, origin = undone(box.vectors, scale), undone(box.origin, scale)
    if not is_restricted(box.vectors):
        return _item([[*vectors[:, k], origin[k]] for k in range(3)], letters)
    if kept is not None and _still_holds(kept, box, scale):
        return _item(kept, letters)
    tilt = [float(vectors[0, 1]), float(vectors[0, 2]), float(vectors[1, 2])]
    lo = origin.tolist()
    hi = [low + float(edge) for low, edge in zip(lo, vectors.diagonal(), strict=True)]
    if not any(tilt):
        return _item([[a, b] for a, b in zip(lo, hi, strict=True)], letters)
    low, high = bounds_to_bounding(lo, hi, tilt)
    return _item([[a, b, t] for a, b, t in zip(low, high, tilt, strict=True)], letters)


def _still_holds(rows: list[list[float]], box: Box, scale: float) -> bool:
    """Whether bounds as the source wrote them give the cell to the bit."""
    lo, hi, tilt = ([(*row, 0.0)[k] for row in rows] for k in range(3))
    if any(tilt):
        lo, hi = bounding_to_bounds(lo, hi, tilt)
    vectors, origin = cell_of_bounds(lo, hi, tilt)
    if scale != 1.0:
        vectors, origin = vectors * scale, origin * scale
    return np.array_equal(vectors, box.vectors) and np.array_equal(origin, box.origin)


def _exact(numbers: Sequence[float]) -> str:
    return " ".join(f"{float(number):.16e}" for number in numbers)


def _shortest(value: float, scale: float) -> str:
    number = float(undone(np.array([value]), scale)[0])
    return format_table([np.array([number])], ["g"]).decode().strip()
