"""The lines of a LAMMPS dump that stand before the atoms of a snapshot."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.model import Box
from molrec_convert.text.lines import BOM
from molrec_convert.text.numbers import parse_integer, parse_real
from molrec_convert.text.window import Window

from ._dump_cell import bounds_of
from ._lammps import STYLES, boundary_flags, bounding_to_bounds, cell_of_bounds, checked_box

ITEM = b"ITEM:"
STEP_ITEM = b"ITEM: TIMESTEP\n"
STEP_WIDTH = 24
"""More bytes than a step that fits an integer has."""
MOST_DIGITS = 18
"""So many always fit an integer of 64 bits."""
FOREIGN = {
    b"ENTRIES": "local entries, not atoms",
    b"NUMBER OF ENTRIES": "local entries, not atoms",
    b"DIMENSION": "a grid, not atoms",
    b"GRID": "a grid, not atoms",
    b"NUMBER OF CELLS": "elements of a mesh, not atoms",
}


@dataclass(slots=True)
class Header:
    """What one snapshot states before its atoms."""

    line: int
    units: str | None = None
    time: float | None = None
    step: int | None = None
    atoms: int = -1
    tilted: bool = False
    general: bool = False
    letters: str | None = None
    bounds: tuple[tuple[float, ...], ...] = ()
    bounds_line: int = 0
    columns: bytes = b""
    columns_line: int = 0

    @property
    def cell(self) -> tuple[object, ...]:
        """What tells its cell apart from others, to the sign of a zero."""
        numbers = [number for row in self.bounds for number in row]
        return struct.pack(f"{len(numbers)}d", *numbers), self.letters, self.tilted, self.general

    def again(self, step: int | None, lines: int) -> Header:
        """The same header so many lines further down, with another step."""
        return Header(
            self.line + lines,
            self.units,
            self.time,
            step,
            self.atoms,
            self.tilted,
            self.general,
            self.letters,
            self.bounds,
            self.bounds_line + lines,
            self.columns,
            self.columns_line + lines,
        )

    def box(self, path: str) -> Box:
        """The cell, undefined where the bounds enclose no volume; `FormatError` where they run backwards."""
        flags = boundary_flags(self.letters)
        if self.general:
            rows = np.array(self.bounds)
            return checked_box(rows[:, :3].T.copy(), rows[:, 3].copy(), flags, line=self.bounds_line, path=path)
        lo, hi = [row[0] for row in self.bounds], [row[1] for row in self.bounds]
        tilt = [row[2] for row in self.bounds] if self.tilted else [0.0, 0.0, 0.0]
        if self.tilted:
            lo, hi = bounding_to_bounds(lo, hi, tilt)
        vectors, origin = cell_of_bounds(lo, hi, tilt)
        if not np.isfinite(vectors).all() or not vectors.diagonal().all():
            return Box.undefined(origin if np.isfinite(origin).all() else None)
        if (vectors.diagonal() < 0.0).any():
            axis = "xyz"[int(np.argmin(vectors.diagonal()))]
            message = f"the bounds along {axis} run backwards, to a length of {vectors.diagonal().min()}"
            raise FormatError(message, path=path, line=self.bounds_line)
        return checked_box(vectors, origin, flags, line=self.bounds_line, path=path)


class HeaderReader:
    """Reads headers from a window, one after the other."""

    def __init__(self, window: Window, path: str) -> None:
        self._window = window
        self._path = path
        self._frame = 0
        self._last: Header | None = None
        self._after_step = b""
        """What followed the step in the last header; empty where that began with another item."""
        self._items: dict[bytes, Callable[[Header, bytes, int], None]] = {
            b"UNITS": self._units,
            b"TIME": self._time,
            b"TIMESTEP": self._timestep,
            b"NUMBER OF ATOMS": self._number,
        }

    def next(self) -> Header | None:
        """The header of the next snapshot, the window left at its first atom; None at the end of the file.

        Raises
        ------
        TruncatedError
            Where the file ends inside a header.
        FormatError
            For an item that is not known, is missing, or has a wrong value.
        """
        if self._after_step and (again := self._again()) is not None:
            return again
        is_plain = self._window.peek(len(STEP_ITEM)) == STEP_ITEM
        if is_plain:
            self._window.mark()
        line = self._skip_blanks()
        if line is None:
            return None
        if self._window.line == 2:
            line = line.removeprefix(BOM)
        header = Header(self._window.line - 1)
        seen: set[bytes] = set()
        while True:
            is_item = line.startswith(ITEM)
            if not self._window.terminated and (is_item or ITEM.startswith(line)):
                self._check_end(header, line)
            if not is_item:
                raise self._error(f"ITEM: is due, not {_quoted(line)}")
            name = line[len(ITEM) :].strip()
            at = self._window.line - 1
            if name.startswith(b"ATOMS"):
                self._atoms(header, name, at)
                self._frame += 1
                self._keep(header, self._window.take() if is_plain else b"")
                return header
            key = b"BOX BOUNDS" if name.startswith(b"BOX BOUNDS") else name
            if key in seen:
                raise self._error(f"ITEM: {_text(name)} comes twice in a snapshot, before its ITEM: ATOMS")
            seen.add(key)
            if key == b"BOX BOUNDS":
                self._bounds(header, name, at)
            elif key in self._items:
                self._items[key](header, self._need(f"the value of ITEM: {_text(name)}"), at + 1)
            else:
                foreign = next((what for item, what in FOREIGN.items() if name.startswith(item)), None)
                raise self._error(f"this is a dump of {foreign}" if foreign else f"unknown item {_text(name)!r}")
            found = self._window.next_line()
            if found is None:
                raise self._cut("its header")
            line = found

    def _keep(self, header: Header, text: bytes) -> None:
        """Keep a header, with its text where that begins with the step, to compare the next one with."""
        end = text.find(b"\n", len(STEP_ITEM)) + 1
        self._after_step = text[end:] if self._window.terminated else b""
        self._last = header

    def _again(self) -> Header | None:
        """The next header, where it differs from the last in its step alone, as most do."""
        last, after = self._last, self._after_step
        assert last is not None
        text = self._window.peek(len(STEP_ITEM) + STEP_WIDTH + len(after))
        end = text.find(b"\n", len(STEP_ITEM)) + 1
        if not end or not text.startswith(STEP_ITEM) or not text.startswith(after, end):
            return None
        try:
            step = parse_integer(text[len(STEP_ITEM) : end].strip())
        except ValueError:
            return None  # which is told where each line is read
        moved = self._window.line - last.line
        self._window.skip_looked_at(end + len(after), last.columns_line - last.line + 1)
        self._frame += 1
        return last.again(step, moved)

    def repeats(self) -> Iterator[tuple[Header, int, bytes, bytes]]:
        """The next snapshots, while they are in memory and differ from the last header in step and bounds alone.

        Yields
        ------
        header, step, head, atoms
            A header that says the same, the step, the lines of the header, and those of the atoms; the window stands
            before them.
        """
        last, after = self._last, self._after_step
        if not after or last is None or not last.atoms:
            return
        before, bounds, behind = parted(after, last)
        header, lines = last, last.columns_line - last.line + 1
        for head, atoms in self._window.runs(lines, last.atoms):
            end = head.find(b"\n", len(STEP_ITEM)) + 1
            digits = head[len(STEP_ITEM) : end].rstrip()
            if not head.startswith(STEP_ITEM) or not digits.isdigit() or len(digits) > MOST_DIGITS:
                return  # a step that is none is told where each line is read
            if not head.startswith(before, end) or not head.endswith(behind):
                return
            text = head[end + len(before) : len(head) - len(behind)]
            if text != bounds:
                rows = bounds_of(text, 3 if last.tilted else 2)
                if rows is None or last.general:
                    return
                bounds, header = text, last.again(None, self._window.line - last.line)
                header.bounds = rows
            yield header, int(digits), head, atoms
            self._frame += 1  # it was taken

    def _check_end(self, header: Header, line: bytes) -> None:
        """Take the last line without its end only as the header of a single snapshot of no atoms."""
        if not line.startswith(ITEM + b" ATOMS") or header.atoms or self._frame:
            raise self._cut("an item")

    def _skip_blanks(self) -> bytes | None:
        while (line := self._window.next_line()) is not None:
            if line.strip():
                return line
        return None

    def _need(self, what: str) -> bytes:
        line = self._window.next_line()
        if line is None or not self._window.terminated:
            raise self._cut(what)
        return line

    def _cut(self, what: str) -> TruncatedError:
        message = f"the file ends inside a snapshot: {what} is cut short"
        return TruncatedError(message, line=self._window.line - 1, frame=self._frame)

    def _error(self, message: str, line: int | None = None) -> FormatError:
        line = self._window.line - 1 if line is None else line
        return FormatError(message, path=self._path, line=line, frame=self._frame)

    def _units(self, header: Header, line: bytes, at: int) -> None:
        header.units = _text(line.strip())
        if header.units not in STYLES:
            raise self._error(f"the unit style is one of {', '.join(STYLES)}, not {header.units!r}", at)

    def _time(self, header: Header, line: bytes, at: int) -> None:
        header.time = self._real(line.strip(), at, "the time")

    def _timestep(self, header: Header, line: bytes, at: int) -> None:
        header.step = self._integer(line, at, "the time step")

    def _number(self, header: Header, line: bytes, at: int) -> None:
        header.atoms = self._integer(line, at, "the number of atoms")
        if header.atoms < 0:
            raise self._error(f"the number of atoms is {header.atoms}", at)

    def _bounds(self, header: Header, name: bytes, at: int) -> None:
        words = name.split()[2:]
        header.bounds_line = at + 1
        header.tilted = words[:3] == [b"xy", b"xz", b"yz"]
        header.general = words[:2] == [b"abc", b"origin"]
        letters = words[3 if header.tilted else 2 if header.general else 0 :]
        if letters:
            if len(letters) != 3 or any(not 1 <= len(pair) <= 2 or set(pair) - set(b"pfsm") for pair in letters):
                raise self._error(f"three pairs of boundary letters are due, not {_quoted(b' '.join(letters))}", at)
            header.letters = " ".join(map(_text, letters))
        width = 4 if header.general else 3 if header.tilted else 2
        rows = []
        for axis in "xyz":
            line = self._need(f"the line of bounds along {axis}")
            tokens = line.split()
            # Old files state a tilt of 0 for a cell that they do not call tilted.
            if len(tokens) != width and not (width == 2 and len(tokens) == 3):
                raise self._error(f"a line of bounds has {width} numbers, this one {len(tokens)}")
            rows.append(tuple(self._real(token, self._window.line - 1, "a bound") for token in tokens))
        if width == 2 and any(len(row) == 3 for row in rows):
            header.tilted = all(len(row) == 3 for row in rows)
            if not header.tilted:
                raise self._error("a line of bounds has 2 numbers, some have 3", header.bounds_line)
        header.bounds = tuple(rows)

    def _atoms(self, header: Header, name: bytes, at: int) -> None:
        missing = [
            what
            for what, there in (
                ("TIMESTEP", header.step is not None),
                ("NUMBER OF ATOMS", header.atoms >= 0),
                ("BOX BOUNDS", bool(header.bounds)),
            )
            if not there
        ]
        if missing:
            raise self._error(f"ITEM: {missing[0]} is due before ITEM: ATOMS", at)
        header.columns, header.columns_line = name[len(b"ATOMS") :].strip(), at
        if header.atoms and not header.columns:
            raise self._error("ITEM: ATOMS names no columns", at)
        if b"\0" in header.columns:
            raise self._error(f"the name of a column holds a NUL: {_quoted(header.columns)}", at)

    def _integer(self, token: bytes, at: int, what: str) -> int:
        try:
            return parse_integer(token.strip())
        except ValueError as error:
            raise self._error(f"{what}: {error}", at) from None

    def _real(self, token: bytes, at: int, what: str) -> float:
        try:
            value = parse_real(token)
        except ValueError as error:
            raise self._error(f"{what}: {error}", at) from None
        return value


def parted(text: bytes, header: Header) -> tuple[bytes, bytes, bytes]:
    """The lines of a header behind its step: those before the bounds, the three of bounds, those behind."""
    lines = text.splitlines(keepends=True)
    first = len(lines) - (header.columns_line - header.bounds_line + 1)
    return b"".join(lines[:first]), b"".join(lines[first : first + 3]), b"".join(lines[first + 3 :])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _quoted(raw: bytes) -> str:
    text = _text(raw)
    return repr(text if len(text) <= 40 else text[:40] + "…")
