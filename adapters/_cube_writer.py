"""Writing cubes in Gaussian's layout: the source's own header where the frame still agrees with it.

Reference: https://gaussian.com/cubegen/

Numbers of the header have six decimals, or as many as are asked for; those that came from a cube have all their digits.
Digits that do not come back are a loss that is named, unless a person has asked for so many decimals.
A number that fills its columns is set off by a blank, which makes the line longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.elements import NUMBERS, SYMBOLS
from molrec_convert.mapping.inverse import undone
from molrec_convert.model import Block, Box, Column
from molrec_convert.model.box import is_regular
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options
from molrec_convert.text.decimals import as_printed
from molrec_convert.text.grid import format_grid
from molrec_convert.text.table import FORTRAN, scan_numbers

from ._cube_frame import (
    COMMENT,
    DECIMALS,
    ENCODING,
    GRID,
    MOLREC_LENGTH,
    NUMBER,
    ORBITALS,
    ORIGIN,
    UNITS,
    VALUES,
    VOXELS,
    field_names,
    field_order,
    grid_cell,
    scale_of,
)
from ._cube_values import FEWEST
from ._digits import LostDigits

Array = np.ndarray[Any, Any]

HEADER_DECIMALS, HEADER_MARGIN = 6, 6
"""Decimals of the header's reals, and what their columns hold besides."""
HEADER_REASON = f"numbers before the values have {HEADER_DECIMALS} decimals; --decimals writes more"
INTEGER_WIDTH = 5
PER_LINE = 6
IDS_PER_LINE = 10


class CubeExporter:
    """Writes cubes, one after the other; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._decimals = options.decimals
        self._lost = LostDigits()

    @property
    def losses(self) -> list[Loss]:
        """The digits that the frames showed to be lost."""
        return self._lost.losses

    def head(self, first: Snapshot) -> bytes:
        """Nothing stands before the first cube."""
        del first
        return b""

    def tail(self) -> bytes:
        """Nothing stands after the last cube."""
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """One cube."""
        return Cube(self._path, self._decimals, snapshot, ordinal, self._lost).text()


def lost(contents: Contents) -> Iterator[Loss]:
    """The periodic axes, and the names of fields, which the format does not tell, and missing values in them."""
    if contents.periodic:
        yield Loss("box.boundary", "the format does not tell which axes are periodic")
    columns = contents.schema.blocks[GRID].columns if GRID in contents.schema.blocks else {}
    names, orbitals = field_order(list(columns), contents.about.get(ORBITALS))
    kept = field_names(sum(math.prod(spec.trailing) for spec in columns.values()), orbitals)
    if any(str(snapshot.about.get(COMMENT, "")).count("\n") > 1 for snapshot in contents.snapshots):
        yield Loss(COMMENT, "the format has two lines for it, and there are more")
    if any(map(_has_other_numbers, contents.snapshots)):
        yield Loss(f"atoms.{NUMBER}", "the numbers are not those of the atoms")
    for name in names:
        if name not in kept:
            yield Loss(f"name of {GRID}.{name}", "the format names no fields but orbitals")
        if columns[name].nullable:
            yield Loss(f"nulls of {GRID}.{name}", "the format marks no missing values")


def _has_other_numbers(snapshot: Snapshot) -> bool:
    """Whether the numbers kept of a file, some of them negative, are not those that its atoms get."""
    atoms = snapshot.frame.get("atoms", Block(count=0))
    if NUMBER not in atoms or not atoms.count:
        return False
    kept, known = atoms.column(NUMBER), atoms.columns.get("atomic_number")
    if kept.dtype != "i64" or known is None or not (kept.values < 0).any():
        return True
    return not np.array_equal(np.maximum(kept.values, 0), _filled(known, 0).astype(np.int64))


class Cube:
    """One frame on its way into a cube."""

    def __init__(self, path: str, decimals: int | None, snapshot: Snapshot, ordinal: int, lost: LostDigits) -> None:
        self._path, self._ordinal = path, ordinal
        self._lost = lost
        self._decimals = decimals
        self._frame, self._about = snapshot.frame, snapshot.about
        kept = self._about.get(UNITS)
        self._unit = kept if kept in ("bohr", "angstrom") else "bohr"
        self._from_a_cube = kept is not None
        units = snapshot.units if snapshot.units and "length" in snapshot.units else MOLREC_LENGTH
        scale = scale_of(self._unit, units)
        if scale is None:
            raise self._error(f"lengths are in {units['length']}, and a cube has them in bohr")
        self._scale = scale

    def text(self) -> bytes:
        """The whole cube."""
        grid = self._grid()
        names, orbitals = field_order(list(grid), self._about.get(ORBITALS))
        fields = [field for name in names for field in self._field(name, grid.column(name))]
        lines = [*self._comments(names), *self._header(grid.shape or (), len(fields), orbitals)]
        head = "\n".join(lines) + "\n"
        decimals = self._about.get(DECIMALS, FEWEST) if self._decimals is None else self._decimals
        start = self._encoded(head)
        text = format_grid(fields, (grid.shape or (0,))[-1], decimals=decimals, per_line=PER_LINE, head=start)
        if self._decimals is None:
            self._check_fields(names, grid, memoryview(text)[len(start) :], decimals)
        return text

    def _error(self, message: str) -> FormatError:
        return FormatError(message, path=self._path, frame=self._ordinal)

    # ------------------------------------------------------------ the grid
    def _grid(self) -> Block:
        grid = self._frame.get(GRID)
        if grid is None:
            raise self._error(f"a cube holds a grid, and the frame has no block {GRID!r}")
        if grid.shape is None or len(grid.shape) != 3:
            raise self._error(f"the block {GRID!r} has no structural shape of three axes")
        if not grid.count or not len(grid):
            raise self._error(f"the block {GRID!r} holds no values")
        return grid

    def _field(self, name: str, column: Column) -> list[Array]:
        """A column as the values that it has at a point."""
        values = column.values
        if values.dtype.kind not in "fiu":
            raise self._error(f"a cube holds reals, and the column {name!r} of {GRID!r} is {column.dtype}")
        if column.valid is not None:
            rows = column.valid.reshape(-1, *(1 for _ in column.trailing))
            values = np.where(rows, values, np.nan)
        return list(values.reshape(len(values), math.prod(values.shape[1:])).T)

    def _check_fields(self, names: Sequence[str], grid: Block, text: memoryview, decimals: int) -> None:
        """Name the fields whose values do not come back."""
        reason = f"values have {decimals + 1} digits; --decimals writes more"
        read: Array | None = None
        first = 0
        for name in names:
            column = grid.column(name)
            width = math.prod(column.trailing)
            if not self._lost.knows(f"{GRID}.{name}"):
                read = scan_numbers(text, dialect=FORTRAN)[0].reshape(grid.count, -1) if read is None else read
                found = read[:, first : first + width]
                self._lost.check(f"{GRID}.{name}", column, partial(found.reshape, column.values.shape), reason)
            first += width

    def _cell(self, shape: Sequence[int]) -> tuple[Array, Array]:
        """The origin and the steps along the axes: those of the source where they still give the cell to the bit."""
        box = self._frame.box
        if box is None:
            raise self._error("a cube needs the cell of its grid, and the frame has no box")
        kept = self._kept(VOXELS, 9)
        if kept is not None and self._gives(kept.reshape(3, 3), shape, box):
            voxels = kept.reshape(3, 3)
        elif box.defined:
            voxels = box.vectors.T / self._scale / np.array(shape)[:, None]
        else:
            raise self._error("a cube needs the cell of its grid, and the box of the frame is not defined")
        origin = self._kept(ORIGIN, 3)
        if origin is None or not np.array_equal(origin * self._scale, box.origin):
            origin = self._lengths(box.origin)
        if self._decimals is None:
            self._check_cell(origin, voxels, shape, box)
        return origin, voxels

    def _check_cell(self, origin: Array, voxels: Array, shape: Sequence[int], box: Box) -> None:
        if not self._gives(self._as_read(voxels), shape, box):
            self._lost.add(Loss("digits of box", HEADER_REASON))
        if not np.array_equal(self._as_read(origin) * self._scale, box.origin):
            self._lost.add(Loss("digits of box.origin", HEADER_REASON))

    def _as_read(self, values: Array) -> Array:
        """What a reader makes of numbers of the header."""
        return values if self._from_a_cube else as_printed(values, HEADER_DECIMALS)

    def _gives(self, voxels: Array, shape: Sequence[int], box: Box) -> bool:
        vectors = grid_cell(shape, voxels, self._scale)
        return np.array_equal(vectors, box.vectors) if box.defined else not is_regular(vectors)

    def _kept(self, key: str, count: int) -> Array | None:
        value = self._about.get(key)
        return np.array(value, dtype=np.float64) if isinstance(value, tuple) and len(value) == count else None

    def _lengths(self, values: Array) -> Array:
        """Lengths in the unit of the file."""
        return undone(values, self._scale) if self._from_a_cube else values / self._scale

    # ------------------------------------------------------------ the header
    def _header(self, shape: Sequence[int], fields: int, orbitals: Sequence[int] | None) -> Iterator[str]:
        atoms = self._frame.get("atoms", Block(count=0))
        if orbitals is not None and not atoms.count:
            raise self._error("a cube without atoms cannot say which orbitals it holds")
        origin, voxels = self._cell(shape)
        stated = self._about.get(VALUES)
        if orbitals is None:
            stated = fields if fields > 1 or stated is not None else None
        elif stated not in (1, fields):
            stated = None
        yield self._line(-atoms.count if orbitals else atoms.count, origin.tolist()) + (
            "" if stated is None else _integer(stated)
        )
        for count, vector in zip(shape, voxels.tolist(), strict=True):
            yield self._line(-count if self._unit == "angstrom" else count, vector)
        if atoms.count:
            yield from self._atoms(atoms)
        if orbitals is not None:
            ids = [_integer(number) for number in (len(orbitals), *orbitals)]
            yield from ("".join(ids[k : k + IDS_PER_LINE]) for k in range(0, len(ids), IDS_PER_LINE))

    def _comments(self, names: Sequence[str]) -> list[str]:
        comment = self._about.get(COMMENT)
        if not isinstance(comment, str):
            return ["written by molrec-convert", ", ".join(names)]
        first, _, second = comment.partition("\n")
        return [first, " ".join(second.splitlines())]

    def _encoded(self, head: str) -> bytes:
        try:
            return head.encode("latin-1" if self._about.get(ENCODING) == "latin-1" else "utf-8")
        except UnicodeEncodeError:
            return head.encode()

    def _line(self, number: int, reals: Sequence[float]) -> str:
        return _integer(number) + "".join(map(self._real, reals))

    def _real(self, value: float) -> str:
        decimals = max(HEADER_DECIMALS, self._decimals or 0)
        text = f"{value:.{decimals}f}"
        if self._from_a_cube and float(text) != value and value == value:
            text = repr(value)
        width = decimals + HEADER_MARGIN
        return text.rjust(width) if len(text) < width else f" {text}"

    # ------------------------------------------------------------ the atoms
    def _atoms(self, atoms: Block) -> Iterator[str]:
        missing = [name for name in "xyz" if name not in atoms]
        if missing:
            raise self._error(f"a cube needs the positions of its atoms, and they have no {', '.join(missing)}")
        numbers = self._numbers(atoms)
        charges = numbers.astype(np.float64)
        if "nuclear_charge" in atoms:
            charges = _filled(atoms.column("nuclear_charge"), charges)
        positions = (self._lengths(_filled(atoms.column(name), np.nan)) for name in "xyz")
        reals = np.stack([charges, *positions], axis=1)
        if self._decimals is None:
            self._check_atoms(atoms, self._as_read(reals))
        for number, row in zip(numbers.tolist(), reals.tolist(), strict=True):
            yield self._line(number, row)

    def _check_atoms(self, atoms: Block, read: Array) -> None:
        for name, values in zip(("nuclear_charge", *"xyz"), read.T, strict=True):
            if name in atoms:
                scale = 1.0 if name == "nuclear_charge" else self._scale
                self._lost.check(
                    f"atoms.{name}", atoms.column(name), partial(np.multiply, values, scale), HEADER_REASON
                )

    def _numbers(self, atoms: Block) -> Array:
        """The atomic numbers; those of the source that are negative stand where none is known."""
        told = atoms.columns.get("atomic_number")
        if told is None and "element" not in atoms:
            raise self._error("a cube needs the elements of its atoms, and they have neither atomic_number nor element")
        numbers = np.zeros(atoms.count, np.int64) if told is None else _filled(told, 0).astype(np.int64)
        if "element" in atoms and (told is None or told.valid is not None):
            texts = _filled(atoms.column("element"), np.array("", dtype=STRING))
            symbols, rows = np.unique(texts, return_inverse=True)
            others = np.array([self._number(symbol, atoms) for symbol in symbols.tolist()], np.int64)[rows]
            known = None if told is None else told.valid
            numbers = others if known is None else np.where(known, numbers, others)
        if NUMBER in atoms and atoms.column(NUMBER).dtype == "i64":
            kept = atoms[NUMBER]
            numbers = np.where((kept < 0) & (numbers == 0), kept, numbers)
        return numbers

    def _number(self, symbol: str, atoms: Block) -> int:
        if symbol in NUMBERS or symbol in ("", SYMBOLS[0]):
            return NUMBERS.get(symbol, 0)
        row = int(np.flatnonzero(atoms["element"] == symbol)[0])
        raise self._error(f"a cube needs atomic numbers, and {symbol!r} of row {row} is no element")


def _integer(number: int) -> str:
    text = str(number)
    return text.rjust(INTEGER_WIDTH) if len(text) < INTEGER_WIDTH else f" {text}"


def _filled(column: Column, fill: Any) -> Array:
    """The values of a column, and others where it has none."""
    return column.values if column.valid is None else np.where(column.valid, column.values, fill)
