"""Writing LAMMPS dumps: the source's own columns, bounds and letters where the frame still agrees with them.

Reference: https://docs.lammps.org/dump.html
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.loss import Loss
from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.names import QUANTITIES, REDUCED
from molrec_convert.model import Block, Box, Column
from molrec_convert.model.dtypes import STRING
from molrec_convert.model.precision import decimals_of
from molrec_convert.options import Options
from molrec_convert.stack import Stack, repeats
from molrec_convert.text.lines import joined, parts_of
from molrec_convert.text.table import format_table

from ._dump_cell import bounds_lines, encloses, item_of, kept_rows
from ._dump_columns import BY_SOURCE, BY_TARGET, SCALED, SIGNED, Plan, is_number, plan_of, triple
from ._elements import MassElements
from ._lammps import (
    boundary_letters,
    cartesian,
    check_style,
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
        pairs = [(name, column) for name, column in zip(names, columns, strict=True) if name[0] in "xyz"]
        if about[0][1] in SCALED and any(atoms.columns.get(name) is not column for name, column in pairs):
            return None  # scaled positions are computed anew, of each frame by itself
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
        return joined(found)

    def _cell(self, snapshot: Snapshot, box: Box, scales: Any) -> list[str]:
        """The lines of the cell; of a box around the atoms where the frame has none."""
        kept, letters = kept_rows(snapshot.about.get("lammps_bounds")), snapshot.about.get("lammps_boundary")
        if snapshot.frame.box is not None and snapshot.frame.box.defined:
            return bounds_lines(box, kept, boundary_letters(box.boundary, letters), scales("length"))
        if kept is not None and not encloses(kept):
            return item_of(kept, "" if letters is None else str(letters))
        return bounds_lines(box, None, "ss ss ss", scales("length"))

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
        name = name_of(target, left)
        if not column.trailing:
            found.append((name, column))
            continue
        flat = column.values.reshape(len(column), math.prod(column.trailing))
        found += [
            (f"{name}[{k + 1}]", Column.of(np.ascontiguousarray(flat[:, k]), column.valid))
            for k in range(flat.shape[1])
        ]
    return found


def name_of(target: str, columns: Collection[str]) -> str:
    """What a dump calls a column."""
    if target == "type":
        return "typelabel" if "type_id" in columns else "type"
    name = BY_TARGET[target].source if target in BY_TARGET else target
    return "_".join(name.split()) or "_"


def _unmistaken(name: str, column: Column) -> str:
    """The name of a column, for labels that begin with a number another than that of numbered types."""
    if name == "type" and column.dtype == "string" and begins_with_number(column) and not are_type_numbers(column):
        return "typelabel"
    return name


def begins_with_number(column: Column) -> bool:
    """Whether a reader, who goes by the first word, takes a column for one of numbers."""
    if not len(column) or column.trailing or (column.valid is not None and not column.valid[0]):
        return False
    return is_number(str(column.values[0]))


def are_type_numbers(column: Column) -> bool:
    """Whether all words are the numbers of types, as these are written."""
    if column.valid is not None and not column.valid.all():
        return False
    return all(word.isdecimal() and word == str(int(word)) for word in np.unique(column.values).tolist())


def _rank(pair: tuple[str, Column]) -> int:
    return PLAIN_ORDER.index(pair[0]) if pair[0] in PLAIN_ORDER else len(PLAIN_ORDER)


def _shortest(value: float, scale: float) -> str:
    number = float(undone(np.array([value]), scale)[0])
    return format_table([np.array([number])], ["g"]).decode().strip()
