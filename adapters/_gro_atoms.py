"""The atom lines of a GRO frame: all fields at once; where a line is odd, line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError
from molrec_convert.text.fixed import Field, ScanError, scan_fixed

from ._gro_box import tenfold
from ._gro_layout import LEFT, LINES, POSITIONS, VELOCITIES, Layout, Rows, layout_of, shifted
from ._gro_odd import CALLED, INTEGER, Cut, OddLineError, cut_line
from ._pdb_fields import counted

Array = np.ndarray[Any, Any]
Coded = tuple[Array, list[bytes]]
"""A field of repeated words: one code a row."""

BLANKS = re.compile(rb"[ \t]+(?=\r?(?:\n|\Z))")
BLANK = ord(" ")
NAMES = ("res_name", "name")


@dataclass(slots=True)
class AtomLines:
    """The fields of all atom lines of a frame.

    Parameters
    ----------
    text
        Residue and atom names.
    whole, known
        Residue and atom numbers as they stand; which of them are there, None where all are.
    reals
        Positions in ångström, velocities in ångström/ps where there are any.
    moving
        The rows with velocities; None where all have them, or none has.
    layout
        Where the numbers stand; None where the lines have nothing in common.
    notes
        What was noticed.
    """

    text: dict[str, Coded] = field(default_factory=dict)
    whole: dict[str, Array] = field(default_factory=dict)
    known: dict[str, Array | None] = field(default_factory=dict)
    reals: dict[str, Array] = field(default_factory=dict)
    moving: Array | None = None
    layout: Layout | None = None
    notes: list[Note] = field(default_factory=list)


class AtomReader:
    """Reads the atom lines of frames; remembers which numbers of a file are no plain integers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._spelled: frozenset[str] = frozenset()

    def read(self, data: bytes, count: int, line: int, frame: int) -> AtomLines:
        """The atom lines of a frame, which begin at a line of the file.

        Raises
        ------
        FormatError
            With the line at fault.
        """
        rows = Rows.of(data)
        last = rows.text[rows.starts + np.maximum(rows.lengths - 1, 0)] if len(data) else rows.text
        if (last == BLANK).any():
            data = BLANKS.sub(b"", data)
            rows = Rows.of(data)
        layout = layout_of(rows, 1)
        atoms = None if layout is None and count else self._at_once(data, rows, layout, count)
        if atoms is None:
            first, layout = layout, layout_of(rows, LINES)
            atoms = None if layout in (None, first) else self._at_once(data, rows, layout, count)
        if atoms is None:
            atoms = self._one_by_one(rows, layout, line, frame)
        atoms.layout = layout
        for name, what in CALLED.items():
            valid = atoms.known[name]
            if valid is not None:
                atoms.notes.append(Note(f"{counted(len(valid) - int(np.count_nonzero(valid)))} without {_a(what)}"))
        return atoms

    # ------------------------------------------------------------ all at once
    def _at_once(self, data: bytes, rows: Rows, layout: Layout | None, count: int) -> AtomLines | None:
        """The fields of lines that keep to the columns; None where some line is odd."""
        moving: Array | None = None
        if layout is not None:
            if not rows.have_points(layout.positions).all():
                return None
            longer = rows.lengths > layout.positions.end
            if layout.velocities is None:
                if longer.any():
                    return None
            else:
                moving = rows.have_points(layout.velocities)
                if (longer & ~moving).any() or (rows.lengths > layout.velocities.end).any():
                    return None
        columns = self._scanned(data, layout, count)
        if columns is None:
            return None
        atoms = AtomLines(text={name: columns[name] for name in NAMES})
        for name in CALLED:
            value = columns[name]
            atoms.whole[name], atoms.known[name] = _integers(*value) if isinstance(value, tuple) else (value, None)
        if layout is None:
            atoms.reals = {name: np.zeros(0) for name in POSITIONS}
        for triple, names in zip([] if layout is None else layout.triples, (POSITIONS, VELOCITIES), strict=False):
            for name, place in zip(names, triple.fields(), strict=True):
                values, sure = shifted(columns[name], triple.decimals)
                for row in np.flatnonzero(~sure).tolist():
                    word = rows.line(row)[place.start : place.stop].strip()
                    values[row] = tenfold(word) if word else 0.0
                atoms.reals[name] = values
        atoms.moving = None if moving is None or moving.all() else moving
        return atoms

    def _scanned(self, data: bytes, layout: Layout | None, count: int) -> dict[str, Any] | None:
        """The fields by name, residue and atom numbers as words where they are no plain integers."""
        spelled = self._spelled
        triples = [] if layout is None else layout.triples
        numbers = {
            name: place
            for triple, names in zip(triples, (POSITIONS, VELOCITIES), strict=False)
            for name, place in zip(names, triple.fields(), strict=True)
        }
        while True:
            fields = {
                name: Field(*place[:2], "s") if name in spelled else place for name, place in (LEFT | numbers).items()
            }
            names = list(fields)
            try:
                scan = scan_fixed(data, list(fields.values()), count)
            except ScanError as fault:
                if fault.kind == "end" or names[fault.column] not in CALLED:
                    return None
                spelled |= {names[fault.column]}
                continue
            blank = {name for name in CALLED if scan.valid[names.index(name)] is not None}
            if blank:
                spelled |= blank
                continue
            self._spelled = spelled
            return self._checked(dict(zip(names, scan.columns, strict=True)), spelled)

    def _checked(self, columns: dict[str, Any], spelled: frozenset[str]) -> dict[str, Any] | None:
        words = [word for name in spelled for word in columns[name][1]]
        return columns if all(INTEGER.fullmatch(word) for word in words) else None

    # ------------------------------------------------------------ line by line
    def _one_by_one(self, rows: Rows, layout: Layout | None, line: int, frame: int) -> AtomLines:
        cuts: list[Cut] = []
        for row in range(len(rows.starts)):
            try:
                cuts.append(cut_line(rows.line(row), layout))
            except OddLineError as error:
                raise FormatError(str(error), path=self._path, line=line + row, frame=frame) from None
        atoms = AtomLines()
        for name in NAMES:
            atoms.text[name] = _interned([cut.left[name] for cut in cuts])
        for name in CALLED:
            atoms.whole[name], atoms.known[name] = _integers(*_interned([cut.left[name] for cut in cuts]))
        moving = np.array([len(cut.numbers) > len(POSITIONS) for cut in cuts], np.bool_)
        names = (*POSITIONS, *VELOCITIES) if moving.any() else POSITIONS
        for k, name in enumerate(names):
            values = [tenfold(cut.numbers[k]) if k < len(cut.numbers) else 0.0 for cut in cuts]
            atoms.reals[name] = np.array(values, np.float64)
        atoms.moving = None if moving.all() or not moving.any() else moving
        for found, message in (
            ([row for row, cut in enumerate(cuts) if cut.odd],
             "the numbers of {} do not stand in the columns of the others; blanks and decimals tell them"),
            ([row for row, cut in enumerate(cuts) if cut.rest], "text behind the numbers of {} is left out"),
        ):  # fmt: skip
            if found:
                what = message.format(counted(len(found), "atom line"))
                atoms.notes.append(Note(what, line=line + found[0], frame=frame))
        return atoms


def _integers(codes: Array, words: list[bytes]) -> tuple[Array, Array | None]:
    """The numbers of a field, and where there are any: stars and blanks stand for none."""
    known = [word[:1] not in (b"", b"*") for word in words]
    table = np.array([int(word) if there else 0 for word, there in zip(words, known, strict=True)], np.int64)
    if all(known) or not len(codes):
        return table[codes] if words else np.zeros(0, np.int64), None
    valid = np.array(known, np.bool_)[codes]
    return table[codes], None if valid.all() else valid


def _interned(words: list[bytes]) -> Coded:
    codes: dict[bytes, int] = {}
    column = np.fromiter((codes.setdefault(word, len(codes)) for word in words), np.int32, len(words))
    return column, list(codes)


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
