"""The atom lines of a PDB frame: all fields at once; where a line is odd, line by line.

Numbers beyond their columns are told from plain ones by the scan: it stops at the first, and only its field is read as
words from then on. A digit in column 27 after four digits of the residue number belongs to the number (CHARMM).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError
from molrec_convert.stack import rows_repeat
from molrec_convert.text.faults import quote
from molrec_convert.text.fixed import Field, FixedScan, ScanError, line_of_row, scan_again, scan_fixed
from molrec_convert.text.numbers import parse_real

from ._pdb_fields import (
    FIELDS,
    LARGEST,
    MARKS,
    NAMES,
    POSITIONS,
    REALS,
    RECORDS,
    SMALLEST,
    TEXTS,
    WIDTHS,
    columns_of,
    counted,
)
from ._pdb_numbers import STARS, Decoded, decode_column
from ._pdb_odd import LETTER, Cut, OddLineError, cut_line, is_odd, mended

Array = np.ndarray[Any, Any]
Coded = tuple[Array, list[bytes]]
"""A field of repeated words: one code a row."""

LONGEST = 1 << 12
"""Columns of an atom line that are looked at."""


@dataclass(slots=True)
class AtomLines:
    """The fields of all atom lines of a frame.

    Parameters
    ----------
    rows
        How many there are.
    text
        Fields of text, and the four columns of names as they stand.
    numbers, valid
        Fields of numbers; which of them are there, None where all are.
    others
        The lines in between, as `molrec_convert.text.fixed.FixedScan` lists them.
    styles
        How serials and residue numbers beyond their columns are spelled.
    notes
        What was noticed.
    """

    rows: int
    text: dict[str, Coded]
    numbers: dict[str, Array]
    valid: dict[str, Array | None]
    others: Array
    styles: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def repeated(self, frames: int) -> AtomLines | None:
        """The first of many frames of equally many rows, where they differ in their reals alone; else None."""
        if any(valid is not None and valid.any() for valid in self.valid.values()):
            return None
        rows = self.rows // frames
        whole = [self.numbers[name] for name in WIDTHS] + [codes for codes, _ in self.text.values()]
        if not all(rows_repeat(values, frames) for values in whole):
            return None
        text = {name: (codes[:rows], words) for name, (codes, words) in self.text.items()}
        numbers = {name: values[:rows] for name, values in self.numbers.items()}
        valid = {name: None if mask is None else mask[:rows] for name, mask in self.valid.items()}
        return AtomLines(rows, text, numbers, valid, self.others)


class Again(NamedTuple):
    """Frames whose atom lines differ in their reals alone.

    Parameters
    ----------
    one
        What all of them have, and the reals that do not move.
    moving
        The reals that do, of all frames one after another.
    others
        The lines in between, of all frames.
    """

    one: AtomLines
    moving: dict[str, Array]
    others: Array


class AtomReader:
    """Reads the atom lines of frames; remembers which fields of a file need more than plain integers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._spelled: frozenset[str] = frozenset()
        self._decoded: dict[str, tuple[Coded, Decoded]] = {}
        self._last: tuple[bytes, AtomLines] | None = None

    def read(self, data: bytes, line: int, frame: int) -> AtomLines:
        """The atom lines of a frame whose text begins at a line of the file.

        Raises
        ------
        FormatError
            With the line and the field at fault.
        """
        found = self._again(data, 1)
        if found is not None:
            one, moving, others = found
            return replace(one, numbers={**one.numbers, **moving}, others=others, notes=list(one.notes))
        return self._read(data, line, frame)

    def read_stack(self, data: bytes, frames: int) -> Again | None:
        """The atom lines of so many frames; None where they do not only move, or something is to be said of one."""
        found = self._again(data, frames)
        if found is None:
            lines = self._read(data, 0, 0, keep=False)
            one = None if lines.rows % frames or lines.notes or lines.styles else lines.repeated(frames)
            return None if one is None else Again(one, {name: lines.numbers[name] for name in REALS}, lines.others)
        one = found.one
        return None if one.notes or one.styles else found._replace(one=replace(one, notes=[]))

    def _again(self, data: bytes, frames: int) -> Again | None:
        """The atom lines of so many frames, where all of them only differ in reals from those that were kept."""
        if self._last is None:
            return None
        like, atoms = self._last
        for moving in (POSITIONS, REALS):
            found = scan_again(data, like, [FIELDS[name] for name in moving], marks=MARKS)
            if found is not None:
                numbers = dict(zip(moving, found.columns, strict=True))
                fits = found.rows == frames * atoms.rows and not any(_is_far(numbers[name]) for name in POSITIONS)
                there = replace(atoms, valid={**atoms.valid, **dict.fromkeys(moving)})
                return Again(there, numbers, found.others) if fits else None
        return None

    def _read(self, data: bytes, line: int, frame: int, *, keep: bool = True) -> AtomLines:
        scan, spelled = self._scan(data)
        atoms = None if scan is None else self._at_once(scan, spelled)
        if atoms is None:
            keep = False
            atoms = self._one_by_one(data, line, frame)
        _join_digits(atoms)
        for name, what in (("serial", "serial"), ("res_seq", "residue number")):
            valid = atoms.valid[name]
            if valid is not None:
                atoms.notes.append(Note(f"{counted(len(valid) - int(np.count_nonzero(valid)))} without a {what}"))
        parted = next((word for word in atoms.text["res_name"][1] if b" " in word), None)
        if parted is not None:
            row = int(np.flatnonzero(atoms.text["res_name"][0] == atoms.text["res_name"][1].index(parted))[0])
            what = f"{columns_of('res_name')} hold {quote(parted.decode('utf-8', 'backslashreplace'))}, a blank inside"
            at = line + line_of_row(row, atoms.others)
            atoms.notes.append(Note(f"{what}: the fields of the line may be off their columns", line=at, frame=frame))
        if keep and parted is None:  # all notes are without a line
            self._last = data, replace(atoms, notes=list(atoms.notes))
        return atoms

    def _scan(self, data: bytes) -> tuple[FixedScan | None, frozenset[str]]:
        """All fields, serials and residue numbers as words where they are no plain integers."""
        spelled = self._spelled
        while True:
            layout = [Field(*place[:2], "s") if name in spelled else place for name, place in FIELDS.items()]
            try:
                scan = scan_fixed(data, layout, marks=MARKS)
            except ScanError as fault:
                name = NAMES[fault.column]
                if name not in WIDTHS:
                    return None, spelled
                spelled |= {name}
            else:
                self._spelled = spelled
                return scan, spelled

    def _at_once(self, scan: FixedScan, spelled: frozenset[str]) -> AtomLines | None:
        """The fields of a scan; None where some line is odd."""
        columns, masks = dict(zip(NAMES, scan.columns, strict=True)), dict(zip(NAMES, scan.valid, strict=True))
        atoms = AtomLines(
            scan.rows,
            {name: columns[name] for name in TEXTS},
            {name: columns[name] for name in REALS},
            {name: masks[name] for name in REALS},
            scan.others,
        )
        if _has_odd_line(atoms):
            return None
        for name, width in WIDTHS.items():
            if name in spelled:
                found = self._decode(name, columns[name], width)
                if found.bad:
                    return None
                atoms.styles[name], atoms.numbers[name] = found.style, found.values
                atoms.valid[name] = None if found.valid.all() else found.valid
            else:
                atoms.numbers[name], atoms.valid[name] = columns[name], masks[name]
        return atoms

    def _decode(self, name: str, words: Coded, width: int) -> Decoded:
        """Numbers spelled in several ways; those of the frame before where they are the same."""
        last = self._decoded.get(name)
        if last is not None and np.array_equal(last[0][0], words[0]) and last[0][1] == words[1]:
            return last[1]
        found = decode_column(*words, width)
        self._decoded[name] = (words, found)
        return found

    # ------------------------------------------------------------ line by line
    def _one_by_one(self, data: bytes, line: int, frame: int) -> AtomLines:
        scan = scan_fixed(data, [Field(0, LONGEST, "r")], marks=MARKS)
        codes, words = scan.columns[0]

        def fault(message: str, row: int) -> FormatError:
            return FormatError(message, path=self._path, line=line + line_of_row(row, scan.others), frame=frame)

        cuts: list[Cut] = []
        shifted: list[int] = []
        for row, code in enumerate(codes.tolist()):
            cut = cut_line(words[code])
            if is_odd(cut):
                try:
                    cut, outside = mended(words[code])
                except OddLineError as error:
                    raise fault(str(error), row) from None
                if outside:
                    shifted.append(row)
            cuts.append(cut)
        atoms = AtomLines(scan.rows, {}, {}, {}, scan.others)
        if shifted:
            where = line + line_of_row(shifted[0], scan.others)
            what = f"the columns of {counted(len(shifted))} are shifted by a number that outgrew its own"
            atoms.notes.append(Note(what, line=where, frame=frame))
        for name in TEXTS:
            atoms.text[name] = _interned([cut[name] for cut in cuts])
        for name in REALS:
            atoms.numbers[name], atoms.valid[name] = self._reals(name, [cut[name] for cut in cuts], atoms)
        for name, width in WIDTHS.items():
            found = decode_column(*_interned([cut[name] for cut in cuts]), width)
            if found.bad:
                row = next(row for row, cut in enumerate(cuts) if cut[name] == found.bad[0])
                word = quote(found.bad[0].decode("utf-8", "backslashreplace"))
                what = "serial" if name == "serial" else "residue number"
                raise fault(f"{what} in {columns_of(name)}: {word} is not an integer", row)
            atoms.styles[name], atoms.numbers[name] = found.style, found.values
            atoms.valid[name] = None if found.valid.all() else found.valid
        return atoms

    def _reals(self, name: str, words: list[bytes], atoms: AtomLines) -> tuple[Array, Array | None]:
        there = np.array([bool(word) and not STARS.fullmatch(word) for word in words], np.bool_)
        values = np.array(
            [parse_real(word) if known else 0.0 for word, known in zip(words, there.tolist(), strict=True)], np.float64
        )
        stars = sum(word[:1] == b"*" for word in words)
        if stars:
            atoms.notes.append(Note(f"{name}: stars stand for the number of {counted(stars)}"))
        return values, None if there.all() else there


def _has_odd_line(atoms: AtomLines) -> bool:
    if not {word.upper() for word in atoms.text["record"][1]} <= RECORDS:
        return True
    if any(atoms.text["gap"][1]) or any(LETTER.search(word) for word in atoms.text["charge"][1]):
        return True
    if not atoms.rows:
        return False
    return any(atoms.valid[name] is not None or _is_far(atoms.numbers[name]) for name in POSITIONS)


def _is_far(values: Array) -> bool:
    """Whether some coordinate is one that its columns do not hold."""
    return bool(np.fmax.reduce(values) >= LARGEST or np.fmin.reduce(values) <= SMALLEST)


def _interned(words: list[bytes]) -> Coded:
    codes: dict[bytes, int] = {}
    column = np.fromiter((codes.setdefault(word, len(codes)) for word in words), np.int32, len(words))
    return column, list(codes)


def _join_digits(atoms: AtomLines) -> None:
    """Residue numbers of five digits, the last of which stands where insertion codes do."""
    codes, words = atoms.text["icode"]
    digits = [k for k, word in enumerate(words) if word.isdigit()]
    if not digits:
        return
    values, valid = atoms.numbers["res_seq"], atoms.valid["res_seq"]
    full = (values >= 1000) & (values < 10000) | (values <= -100) & (values > -1000)
    joined = np.isin(codes, digits) & full
    if valid is not None:
        joined &= valid
    count = int(np.count_nonzero(joined))
    if not count:
        return
    last = np.array([int(word) if word.isdigit() else 0 for word in words], np.int64)[codes]
    values = np.where(joined, values * 10 + np.where(values < 0, -last, last), values)
    words = [*words, b""] if b"" not in words else words
    codes = np.where(joined, np.int32(words.index(b"")), codes).astype(np.int32)
    used = set(np.unique(codes).tolist())
    atoms.text["icode"] = codes, [word if k in used else b"" for k, word in enumerate(words)]
    atoms.numbers["res_seq"] = values
    atoms.notes.append(Note(f"the residue numbers (resid) of {counted(count)} have five digits, the last in column 27"))
