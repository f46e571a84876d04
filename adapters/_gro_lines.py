"""Printing GRO atom lines: what stands still is laid out once as a table of characters, the numbers behind it anew.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#gro
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.model import Block, Column, ColumnSpec
from molrec_convert.text.table import format_table

from ._gro_columns import NUMBERS, PERIOD
from ._gro_layout import POSITIONS, START, VELOCITIES, WIDTH
from ._pdb_lines import coded

Array = np.ndarray[Any, Any]
Table = Array
"""u8[N][width]: the characters of a field of all rows."""

STILL = ("id", "atom_id", "name", "type", "element", "atomic_number", "res_name", "res_id", "res_seq")
"""Columns on which what stands still depends."""
COLUMNS = frozenset((*STILL, *POSITIONS, *VELOCITIES)) - {"atomic_number"}
"""Columns of atoms that are written; elements as far as names tell them."""
SIGNED = tuple(signed for _, signed in NUMBERS.values())
"""Of these, those that no other format knows; another column of such a name is not what it means here."""
LEAST = -9999
"""The least number that five columns hold."""
DEFAULT_RESIDUE, NO_NAME = "UNK", "X"


class Numbers(NamedTuple):
    """Atom or residue numbers.

    Parameters
    ----------
    name
        The column that they are from.
    values
        By row.
    valid
        Where there are any; None where all are.
    """

    name: str
    values: Array
    valid: Array | None = None


class Digits(NamedTuple):
    """How numbers are printed.

    Parameters
    ----------
    positions, velocities
        Their decimals.
    width
        The columns of each.
    """

    positions: int
    velocities: int
    width: int


def foreign_columns(columns: Mapping[str, Column | ColumnSpec]) -> list[str]:
    """The columns that only share their name with one of the format's own."""
    return [name for name in SIGNED if name in columns and (columns[name].dtype != "i64" or columns[name].trailing)]


def numbers_of(atoms: Block, field: str) -> Numbers | None:
    """Atom or residue numbers; None where there are none."""
    for name in reversed(NUMBERS[field]):
        column = atoms.columns.get(name)
        if column is not None and name not in foreign_columns(atoms.columns):
            return Numbers(name, column.values, column.valid)
    return None


def in_five_columns(numbers: Numbers, instead: Array) -> Array:
    """Numbers as they are written: the last five digits, and others in the place of those that are null."""
    values = (numbers.values % PERIOD).astype(np.int64)
    if numbers.values.dtype.kind == "i":
        values = np.where(numbers.values < 0, numbers.values, values)
    return values if numbers.valid is None else np.where(numbers.valid, values, instead)


class Labels(NamedTuple):
    """What atoms are called: one code a row, the words, and the column that they are from."""

    codes: Array
    words: Sequence[str]
    name: str


def labels_of(atoms: Block) -> Labels:
    """What atoms are called: by name, else by type where that fits, else by element."""
    if "name" in atoms:
        return Labels(*coded(atoms.column("name")), "name")
    if "type" in atoms:
        codes, words = coded(atoms.column("type"))
        if all(map(is_label, words)):
            return Labels(codes, words, "type")
    if "element" in atoms:
        codes, words = coded(atoms.column("element"))
        if all(len(word) <= WIDTH for word in words):
            return Labels(codes, [word or NO_NAME for word in words], "element")
    numbers = atoms.columns.get("atomic_number")
    if numbers is None:
        return Labels(np.zeros(atoms.count, np.int32), [NO_NAME], "")
    values, codes = np.unique(np.minimum(numbers.values, len(SYMBOLS)), return_inverse=True)
    words = [SYMBOLS[value] if 0 < value < len(SYMBOLS) else NO_NAME for value in values.tolist()]
    return Labels(codes.astype(np.int32), words, "atomic_number")


def is_label(word: str) -> bool:
    """Whether a text fits the columns of a name, and is read back as it is."""
    return 0 < len(word) <= WIDTH and word == word.strip() and fits(word)


def fits(word: str) -> bool:
    """Whether a text can stand in columns: others are counted wrong by programs, or end the line."""
    return len(word) <= WIDTH and word.isascii() and (word.isprintable() or not word)


class LinePrinter:
    """Prints atom lines; several threads may ask."""

    def __init__(self, path: str, note: Callable[[str], None]) -> None:
        self._path = path
        self._note = note
        self._last: tuple[tuple[Any, ...], Table] | None = None

    def atom_lines(
        self, atoms: Block, positions: Array, velocities: Array | None, moving: Array | None, digits: Digits, frame: int
    ) -> bytes:
        """The lines of all atoms.

        Parameters
        ----------
        atoms
            What stands still.
        positions, velocities
            In nanometres and nanometres a picosecond, one row a direction.
        moving
            Which atoms have velocities; None where all have.
        digits
            How they are printed.
        frame
            For errors.
        """
        left = self._still(atoms, frame)
        parts = [left, self._table(positions, POSITIONS, digits.positions, digits.width, frame)]
        if velocities is not None:
            shown = velocities if moving is None else np.where(moving, velocities, 0.0)
            parts.append(self._table(shown, VELOCITIES, digits.velocities, digits.width, frame))
        parts.append(np.full((atoms.count, 1), ord("\n"), np.uint8))
        lines = np.concatenate(parts, axis=1)
        if velocities is None or moving is None:
            return lines.tobytes()
        end = START + 3 * digits.width
        printed = np.ones(lines.shape, bool)
        printed[~moving, end:-1] = False
        return lines[printed].tobytes()

    def _table(self, values: Array, names: Sequence[str], decimals: int, width: int, frame: int) -> Table:
        text = format_table(list(values), [decimals] * 3, separator=b"", terminator=b"", widths=[width] * 3)
        if len(text) != 3 * width * values.shape[1]:
            for row, numbers in enumerate(values.T.tolist()):
                for name, value in zip(names, numbers, strict=True):
                    if len(f"{value:{width}.{decimals}f}") > width:
                        what = f"atom {row + 1}: {name} = {value!r} nm{'/ps' * (len(name) - 1)} does not fit"
                        raise FormatError(f"{what} {width} columns", path=self._path, frame=frame)
        return np.frombuffer(text, np.uint8).reshape(-1, 3 * width)

    # ------------------------------------------------------------ what stands still
    def _still(self, atoms: Block, frame: int) -> Table:
        key = (atoms.count, *(atoms.columns.get(name) for name in STILL))
        last = self._last
        if last is not None and all(one is other or one == other for one, other in zip(last[0], key, strict=True)):
            return last[1]
        left = self._laid_out(atoms, frame)
        self._last = (key, left)
        return left

    def _laid_out(self, atoms: Block, frame: int) -> Table:
        count = atoms.count
        labels = labels_of(atoms)
        if "type" in atoms and labels.name not in ("name", "type"):
            self._note(f"types are no names of up to {WIDTH} characters; atoms are called by their elements")
        kinds = atoms.columns.get("res_name")
        codes, words = (np.zeros(count, np.int32), [DEFAULT_RESIDUE]) if kinds is None else coded(kinds)
        rows = np.arange(1, count + 1) % PERIOD
        return np.concatenate(
            [
                self._number_table(atoms, "res_seq", np.ones(count, np.int64), np.zeros(count, np.int64), frame),
                self._text_table(codes, words, "res_name", frame, str.ljust),
                self._text_table(labels.codes, labels.words, labels.name or "name", frame, str.rjust),
                self._number_table(atoms, "number", rows, rows, frame),
            ],
            axis=1,
        )

    def _number_table(self, atoms: Block, field: str, default: Array, null: Array, frame: int) -> Table:
        """Numbers in their columns: others where there are none at all, and where one is null."""
        found = numbers_of(atoms, field)
        values = default if found is None else in_five_columns(found, null)
        if found is not None and len(values) and values.min() < LEAST:
            row = int(np.argmax(values < LEAST))
            what = f"atom {row + 1}: {found.name} {values[row]} does not fit the {WIDTH} columns of the format"
            raise FormatError(what, path=self._path, frame=frame)
        text = format_table([values], separator=b"", terminator=b"", widths=[WIDTH])
        return np.frombuffer(text, np.uint8).reshape(-1, WIDTH)

    def _text_table(
        self, codes: Array, words: Sequence[str], name: str, frame: int, justify: Callable[[str, int], str]
    ) -> Table:
        for code, word in enumerate(words):
            if not fits(word):
                row = int(np.flatnonzero(codes == code)[0]) + 1
                why = f"the {WIDTH} columns of the format" if word.isascii() and word.isprintable() else "ASCII"
                raise FormatError(f"atom {row}: {name} {word!r} does not fit {why}", path=self._path, frame=frame)
        if not words:
            return np.zeros((0, WIDTH), np.uint8)
        text = "".join(justify(word, WIDTH) for word in words).encode()
        return np.frombuffer(text, np.uint8).reshape(-1, WIDTH)[codes]
