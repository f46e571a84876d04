"""Printing atom lines: what stands still is laid out once as a table of characters, the numbers in between anew.

Reference: wwPDB format 3.3, "Coordinate Section".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.model import Block, Column, ColumnSpec
from molrec_convert.stack import Tiled
from molrec_convert.text.decimals import as_printed
from molrec_convert.text.table import format_table

from ._digits import LostDigits
from ._pdb_elements import ISOTOPES, name_field
from ._pdb_numbers import hybrid36
from ._pdb_serials import Serials, Table, number_table
from ._pdb_symbols import combinations

Array = np.ndarray[Any, Any]

LEFT = ("record_type", "name", "altloc", "res_name", "chain", "res_id", "res_seq", "icode", "element", "isotope",
        "atomic_number", "formal_charge", "segid", "type", "pdb_name", "pdb_element")  # fmt: skip
"""Columns on which what stands still depends, beside the serials."""
COLUMNS = frozenset(
    (*LEFT, "id", "atom_id", "x", "y", "z", "occupancy", "b_factor", "anisou",
     "ter_after")
)  # fmt: skip
"""Columns of atoms that are written."""
OWN = {
    **dict.fromkeys(("record_type", "segid", "pdb_name", "pdb_element"), "string"),
    **dict.fromkeys(("atom_id", "res_seq", "anisou"), "i64"),
    "isotope": "u64",
    "ter_after": "bool",
}
"""Types of columns that no other format knows; another column of such a name is not what it means here."""
AXES = {"anisou": (6,)}
LETTERS = {mass: letter for letter, mass in ISOTOPES.items()}
POSITION_DECIMALS, REAL_DECIMALS = 3, 2
"""Decimals of positions, and of occupancies and B factors."""
NAME = 4
"""Characters of a name."""
BLANK, NEWLINE = ord(" "), ord("\n")


def foreign_columns(columns: Mapping[str, Column | ColumnSpec]) -> list[str]:
    """The columns that only share their name with one of the format's own."""
    return [
        name
        for name, dtype in OWN.items()
        if name in columns and (columns[name].dtype != dtype or columns[name].trailing != AXES.get(name, ()))
    ]


class LinePrinter:
    """Prints atom lines; several threads may ask."""

    def __init__(self, path: str, note: Callable[[str], None], lost: LostDigits) -> None:
        self._path = path
        self._note = note
        self._lost = lost
        self._last: tuple[tuple[Any, ...], tuple[Table, Table]] | None = None

    def atom_lines(self, atoms: Block, positions: Array, serials: Serials, rotation: Array | None, frame: int) -> bytes:
        """The lines of all atoms, with the TER and ANISOU records between them."""
        return self.stacked_lines(atoms, atoms, positions, serials, rotation, frame)[0]

    def stacked_lines(
        self, one: Block, atoms: Block, positions: Array, serials: Serials, rotation: Array | None, frame: int
    ) -> list[bytes]:
        """The lines of many frames, which differ in their reals alone.

        Parameters
        ----------
        one
            The atoms of the first frame.
        atoms, positions
            Those of all frames, and their positions: three rows.
        """
        count = one.count
        frames = atoms.count // count if count else 1
        left, right = self._still(one, serials, frame)
        lines = np.full((frames, count, 81), BLANK, np.uint8)
        lines[:, :, :30], lines[:, :, 66:80], lines[:, :, 80] = left, right, NEWLINE
        lines[:, :, 30:54] = self._position_table(positions, frame).reshape(frames, count, 24)
        for name, place, default in (("occupancy", 54, 1.0), ("b_factor", 60, 0.0)):
            column = atoms.columns.get(name)
            if column is None and "record_type" not in atoms:
                column = Column.of(np.full(count, default))
            if column is not None:
                column = column.one if isinstance(column, Tiled) else column
                table = self._real_table(column, name, frame)
                lines[:, :, place : place + 6] = table.reshape(len(table) // max(count, 1) or 1, count, 6)
        between = self._between(one, serials, rotation, left, right, frame)
        return [_with_records(lines[k], between) for k in range(frames)]

    # ------------------------------------------------------------ numbers
    def _position_table(self, positions: Array, frame: int) -> Table:
        count = positions.shape[1]
        text = format_table(list(positions), [POSITION_DECIMALS] * 3, separator=b"", terminator=b"", widths=[8] * 3)
        if len(text) != 24 * count:
            for row, values in enumerate(positions.T.tolist()):
                for axis, value in zip("xyz", values, strict=True):
                    if len(f"{value:8.{POSITION_DECIMALS}f}") > 8:
                        what = f"atom {row + 1}: {axis} = {value!r} does not fit the 8 columns of a position"
                        raise FormatError(what, path=self._path, frame=frame)
        return np.frombuffer(text, np.uint8).reshape(count, 24)

    def _real_table(self, column: Column, name: str, frame: int) -> Table:
        """Two decimals in six columns; fewer where the number is too large for them."""
        values = column.values
        read = partial(as_printed, values, REAL_DECIMALS)
        text = format_table([values], [REAL_DECIMALS], separator=b"", terminator=b"", widths=[6])
        if len(text) == 6 * len(values):
            table = np.frombuffer(text, np.uint8).reshape(-1, 6)
        else:
            words = [self._six(value, row, name, frame) for row, value in enumerate(values.tolist())]
            table = np.frombuffer("".join(words).encode(), np.uint8).reshape(-1, 6)
            read = partial(np.array, words, np.float64)
        self._lost.check(f"atoms.{name}", column, read, "occupancies and B factors have two decimals in six columns")
        return table if column.valid is None else np.where(column.valid[:, None], table, np.uint8(BLANK))

    def _six(self, value: float, row: int, name: str, frame: int) -> str:
        for decimals in range(REAL_DECIMALS, -1, -1):
            word = f"{value:6.{decimals}f}"
            if len(word) <= 6:
                return word
        raise FormatError(f"atom {row + 1}: {name} = {value!r} does not fit 6 columns", path=self._path, frame=frame)

    # ------------------------------------------------------------ what stands still
    def _still(self, atoms: Block, serials: Serials, frame: int) -> tuple[Table, Table]:
        """Columns 1 to 30 and 67 to 80."""
        key = (atoms.count, *(atoms.columns.get(name) for name in LEFT))
        last = self._last
        if last is not None and all(one is other or one == other for one, other in zip(last[0], key, strict=True)):
            left, right = last[1]
        else:
            left, right = self._laid_out(atoms, frame)
            self._last = (key, (left, right))
        left = left.copy()
        left[:, 6:11] = serials.table
        return left, right

    def _laid_out(self, atoms: Block, frame: int) -> tuple[Table, Table]:
        count = atoms.count
        own = "record_type" in atoms
        left, right = np.full((count, 30), BLANK, np.uint8), np.full((count, 14), BLANK, np.uint8)
        left[:, :6] = self._texts(atoms, "record_type", 6, frame, default="ATOM")
        left[:, 12:16] = self._names(atoms, frame)
        left[:, 16:17] = self._texts(atoms, "altloc", 1, frame)
        left[:, 17:21] = self._texts(atoms, "res_name", 4, frame, default="" if own else "UNK", right=3)
        left[:, 21:22] = self._texts(atoms, "chain", 1, frame)
        residues = atoms.columns.get("res_seq") or atoms.columns.get("res_id")
        if residues is not None:
            values = np.minimum(residues.values, np.iinfo(np.int64).max).astype(np.int64)
            left[:, 22:26] = number_table(values, residues.valid, 4, "res_id", self._path, frame)
        elif not own:
            left[:, 25:26] = ord("1")
        left[:, 26:27] = self._texts(atoms, "icode", 1, frame)
        right[:, 6:10] = self._texts(atoms, "segid", 4, frame)
        right[:, 10:12] = self._symbols(atoms, frame)
        right[:, 12:14] = self._charges(atoms, frame)
        return left, right

    def _texts(self, atoms: Block, name: str, width: int, frame: int, *, default: str = "", right: int = 0) -> Table:
        """A column of text; shorter words stand on the right of so many columns."""
        column = atoms.columns.get(name)
        if column is None:
            word = default.rjust(right).ljust(width).encode()
            return np.broadcast_to(np.frombuffer(word, np.uint8), (atoms.count, width))
        codes, words = coded(column)
        fields = [word.rjust(right).ljust(width) if word else "" for word in words]
        return self._table(codes, fields, width, name, frame)

    def _table(self, codes: Array, words: Sequence[str], width: int, name: str, frame: int) -> Table:
        for code, word in enumerate(words):
            if len(word) > width or not word.isascii() or "\n" in word:
                row = int(np.flatnonzero(codes == code)[0]) + 1
                why = f"the {width} columns of the format" if word.isascii() else "ASCII"
                what = f"atom {row}: {name} {word.strip()!r} does not fit {why}"
                raise FormatError(what, path=self._path, frame=frame)
        text = "".join(word.ljust(width) for word in words).encode()
        return np.frombuffer(text, np.uint8).reshape(-1, width)[codes] if words else np.zeros((0, width), np.uint8)

    def _names(self, atoms: Block, frame: int) -> Table:
        """Names aligned by element, or as the source has them where they are still the same."""
        elements = _symbols_of(atoms)
        codes, words = self._labels(atoms, elements)
        fields = atoms.columns.get("pdb_name")
        kept = (np.zeros(atoms.count, np.int32), [""]) if fields is None else coded(fields)
        distinct, rows = combinations(codes, elements[0], kept[0])
        found = []
        for name, element, field in distinct:
            word = words[name]
            same = fields is not None and kept[1][field].strip() == word
            found.append(kept[1][field] if same else name_field(word, elements[1][element] or None))
        return self._table(rows, found, 4, "name", frame)

    def _labels(self, atoms: Block, elements: tuple[Array, list[str]]) -> tuple[Array, list[str]]:
        """What atoms are called: by name, else by type where that fits, else by element."""
        if "name" in atoms:
            return coded(atoms.column("name"))
        if "type" in atoms:
            kinds = coded(atoms.column("type"))
            if all(0 < len(word) <= NAME for word in kinds[1]):
                return kinds
            self._note(f"types are no names of up to {NAME} characters; atoms are called by their elements")
        return elements[0], [word.upper() or "X" for word in elements[1]]

    def _symbols(self, atoms: Block, frame: int) -> Table:
        """Elements in capital letters, on the right; else what the source has in their place."""
        codes, words = _symbols_of(atoms)
        masses, other = atoms.columns.get("isotope"), atoms.columns.get("pdb_element")
        nothing = np.zeros(atoms.count, np.int32)
        kept = (nothing, [""]) if other is None else coded(other)
        heavy = nothing if masses is None else _masked(masses).astype(np.int32)
        distinct, rows = combinations(codes, heavy, kept[0])
        found = []
        for symbol, mass, text in distinct:
            word = LETTERS.get(mass, words[symbol]) if words[symbol] == "H" else words[symbol]
            found.append((kept[1][text] or word.upper()).rjust(2))
        return self._table(rows, found, 2, "element", frame)

    def _charges(self, atoms: Block, frame: int) -> Table:
        column = atoms.columns.get("formal_charge")
        if column is None:
            return np.full((atoms.count, 2), BLANK, np.uint8)
        values, codes = np.unique(column.values, return_inverse=True)
        words = [f"{abs(value)}{'+' if value > 0 else '-'}" if value else " 0" for value in values.tolist()]
        table = self._table(codes, words, 2, "formal_charge", frame)
        return table if column.valid is None else np.where(column.valid[:, None], table, np.uint8(BLANK))

    # ------------------------------------------------------------ records between the lines
    def _between(
        self, atoms: Block, serials: Serials, rotation: Array | None, left: Table, right: Table, frame: int
    ) -> dict[int, bytes]:
        """ANISOU and TER records by the row that they follow."""
        found: dict[int, bytes] = {}
        tensors = atoms.columns.get("anisou")
        if tensors is not None and tensors.trailing == (6,):
            values = tensors.values if rotation is None else turned(tensors.values, rotation)
            rows = np.arange(len(values)) if tensors.valid is None else np.flatnonzero(tensors.valid)
            for row in rows.tolist():
                text = "".join(f"{value:7d}" for value in values[row].tolist())
                if len(text) > 42:
                    raise FormatError(f"atom {row + 1}: anisou does not fit", path=self._path, frame=frame)
                ends = left[row, 6:27].tobytes(), text.encode(), right[row, 4:].tobytes()
                found[row] = b"ANISOU%b %b%b\n" % ends
        ends_after = atoms.columns.get("ter_after")
        if ends_after is not None:
            for row in np.flatnonzero(_masked(ends_after)).tolist():
                found[row] = found.get(row, b"") + _ter(serials, row, left)
        return found


def _with_records(lines: Table, between: Mapping[int, bytes]) -> bytes:
    pieces, done = [], 0
    for row in sorted(between):
        pieces += [lines[done : row + 1].tobytes(), between[row]]
        done = row + 1
    return b"".join([*pieces, lines[done:].tobytes()])


def _ter(serials: Serials, row: int, left: Table) -> bytes:
    """A TER record; it has a serial where the next atom leaves it one."""
    number, count = int(serials.values[row]) + 1, len(serials.values)
    taken = row + 1 < count and int(serials.values[row + 1]) == number
    if taken or (serials.valid is not None and not serials.valid[row]):
        return b"TER\n"
    try:
        serial = hybrid36(number, 5)
    except ValueError:
        return b"TER\n"
    return b"TER   %b      %b\n" % (serial.encode(), left[row, 17:27].tobytes().rstrip())


def turned(tensors: Array, rotation: Array) -> Array:
    """Tensors xx yy zz xy xz yz in another orientation, rounded."""
    xx, yy, zz, xy, xz, yz = (tensors[:, k].astype(np.float64) for k in range(6))
    full = np.stack([np.stack([xx, xy, xz], -1), np.stack([xy, yy, yz], -1), np.stack([xz, yz, zz], -1)], -2)
    after = rotation @ full @ rotation.T
    return np.rint(after[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]).astype(np.int64)


def coded(column: Column) -> tuple[Array, list[str]]:
    """The distinct texts of a column, and which one each row has; a null row has none."""
    values = column.values if column.valid is None else np.where(column.valid, column.values, "")
    words, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), [str(word) for word in words.tolist()]


def _symbols_of(atoms: Block) -> tuple[Array, list[str]]:
    """The element of every row, from symbols or numbers; empty where it is not known."""
    column = atoms.columns.get("element")
    if column is not None:
        return coded(column)
    numbers = atoms.columns.get("atomic_number")
    if numbers is None:
        return np.zeros(atoms.count, np.int32), [""]
    values, codes = np.unique(_masked(numbers), return_inverse=True)
    words = [SYMBOLS[number] if 0 < number < len(SYMBOLS) else "" for number in values.tolist()]
    return codes.astype(np.int32), words


def _masked(column: Column) -> Array:
    values = column.values
    return values if column.valid is None else np.where(column.valid, values, np.zeros(1, values.dtype))
