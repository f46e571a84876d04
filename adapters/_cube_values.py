"""The values of a grid, read in pieces of the file, whatever their layout in lines."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.grid import format_grid
from molrec_convert.text.lines import count_lines
from molrec_convert.text.table import FORTRAN, ScanError, scan_numbers
from molrec_convert.text.window import LONGEST_LINE, Window

from ._cube_header import GLUED, quoted

Array = np.ndarray[Any, Any]

REAL = re.compile(rb"[+-]?([0-9]*)\.?([0-9]*)((?:[eEdD]|[+-]).*)?")
"""A real as digits before and after the point, and an exponent."""
PIECE = 1 << 20
BLOCK = 1 << 16
SAMPLE, TELLING = 1 << 12, 64
"""Bytes of the first lines that are looked at, and how many numbers in them tell how all are printed."""
FEWEST, MOST = 5, 16
"""Decimals of a number in scientific notation: of Gaussian's own, and as many as tell all reals apart."""


class ValueReader:
    """Reads the values of one grid from a window.

    Parameters
    ----------
    window
        At the first value; left after the line of the last one.
    total
        How many values there are. A number that the file does not hold costs nothing.
    path, ordinal
        For messages.
    """

    def __init__(self, window: Window, total: int, path: str, ordinal: int) -> None:
        self.sample = b""
        """The first lines of the values."""
        self.in_doubt = False
        """Whether the last number has no line end and may be cut short."""
        self._window = window
        self._total = total
        self._path, self._ordinal = path, ordinal
        self._values = np.empty(min(total, PIECE))
        self._count = 0
        self._glued = False

    def read(self) -> Array:
        """The values in the file's order.

        Raises
        ------
        TruncatedError
            Where the file ends before the last one.
        FormatError
            For what is no number, or a number too many.
        """
        while self._count < self._total:
            text, at_end = whole_lines(self._window)
            self.sample = self.sample or text[:SAMPLE]
            text, numbers, end = self._scanned(text, at_end=at_end)
            self._add(numbers)
            if self._count < self._total and at_end:
                raise self._cut(text)
            self._pass(text, end)
        return self._values

    def _scanned(self, text: bytes, *, at_end: bool) -> tuple[bytes, Array, int]:
        """The numbers of a piece and where they end in it, blanks put between numbers that run together."""
        left = self._total - self._count
        if self._glued:
            text = GLUED.sub(b" ", text)
        try:
            numbers, end = scan_numbers(text, dialect=FORTRAN, limit=left)
        except ScanError as fault:
            if not self._glued and (parted := GLUED.sub(b" ", text)) != text:
                self._glued = True
                return self._scanned(parted, at_end=at_end)
            if at_end and not text[-1:].isspace():
                kept = text[: -len(text.split()[-1])]
                if kept.count(b"\n") == fault.row and len(kept.rpartition(b"\n")[2].split()) == fault.column:
                    self._add(scan_numbers(kept, dialect=FORTRAN)[0])
                    raise self._cut(text) from None
            raise self._fault(fault, text) from None
        return text, numbers, end

    def _add(self, numbers: Array) -> None:
        size = self._count + len(numbers)
        if size > len(self._values):
            self._values.resize(min(self._total, max(size, 2 * len(self._values))), refcheck=False)
        self._values[self._count : size] = numbers
        self._count = size

    def _pass(self, text: bytes, end: int) -> None:
        """Move the window behind the lines of a piece, or behind the line of the last value."""
        if self._count < self._total:
            self._window.skip_lines(count_lines(text))
            return
        stop = text.find(b"\n", end)
        rest = text[end:] if stop < 0 else text[end:stop]
        if rest.strip():
            line = self._window.line + text.count(b"\n", 0, end)
            raise self._error(f"the grid has {self._total} values, and {quoted(rest)} follows the last one", line)
        if stop < 0:
            self._check_last(text)
        self._window.skip_lines(count_lines(text[:end]) + 1)

    def _check_last(self, text: bytes) -> None:
        """Judge a last number without a line end by the others, where all of them have the same digits."""
        *others, last = (len(token.lstrip(b"+-")) for token in text.split()[-SAMPLE:])
        if len(others) < 2 or len(set(others)) > 1:
            self.in_doubt = True
        elif last < others[0]:
            self._count -= 1
            raise self._cut(text)

    def _cut(self, text: bytes) -> TruncatedError:
        last = self._window.line + text.rstrip().count(b"\n")
        return TruncatedError(
            f"the file ends after {self._count} of the {self._total} values of the grid",
            line=last if text.strip() else max(self._window.line - 1, 1),
            frame=self._ordinal,
        )

    def _fault(self, fault: ScanError, text: bytes) -> FormatError:
        lines = text.split(b"\n", fault.row + 1)
        before = b"\n".join([*lines[: fault.row], *lines[fault.row].split()[: fault.column]])
        count = self._count + len(scan_numbers(before, dialect=FORTRAN)[0]) + 1
        return self._error(f"value {count} of {self._total}: {fault.describe()}", self._window.line + fault.row)

    def _error(self, message: str, line: int) -> FormatError:
        return FormatError(message, path=self._path, line=line, frame=self._ordinal)


def whole_lines(window: Window) -> tuple[bytes, bool]:
    """Lines ahead without passing them, and whether the file ends with them."""
    size = PIECE
    while True:
        text = window.peek(size)
        if len(text) < size:
            return text, True
        end = text.rfind(b"\n") + 1
        if end:
            return text[:end], False
        if size > LONGEST_LINE:
            window.next_line()  # says that this is no text
        size *= 2


def values_of(text: bytes, total: int) -> Array:
    """The values of a grid that was read once before."""
    try:
        return scan_numbers(text, dialect=FORTRAN, limit=total)[0]
    except ScanError:
        return scan_numbers(GLUED.sub(b" ", text), dialect=FORTRAN, limit=total)[0]


def decimals_of(sample: bytes, values: Array) -> int:
    """The decimals in scientific notation that keep all digits of the text.

    Parameters
    ----------
    sample
        The first lines. Where many numbers in them have the same digits, so have the rest; else all are tried.
    values
        All numbers.
    """
    tokens = GLUED.sub(b" ", sample).split()
    if len(sample) >= SAMPLE:
        tokens.pop()  # it may be cut
    found = [match for token in tokens if (match := REAL.fullmatch(token))]
    if len(found) == len(tokens) >= TELLING:
        digits = {len(match[1] + match[2]) for match in found}
        after = {len(match[2]) for match in found}
        scientific = {match[3] is not None for match in found}
        if scientific == {True} and len(digits) == 1 and min(digits) > FEWEST:
            return within(min(digits) - 1)
        largest = max(abs(float(np.fmax.reduce(values))), abs(float(np.fmin.reduce(values))))
        if scientific == {False} and len(after) == 1 and min(after) >= FEWEST and 0.0 < largest < np.inf:
            return within(min(after) + math.floor(math.log10(largest)))
    return next((decimals for decimals in range(FEWEST, MOST) if keep_all_digits(values, decimals)), MOST)


def within(decimals: int) -> int:
    """Not fewer decimals than Gaussian's, nor more than tell all reals apart."""
    return min(max(decimals, FEWEST), MOST)


def keep_all_digits(values: Array, decimals: int) -> bool:
    """Whether numbers printed with so many decimals read back the same."""
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        again, _ = scan_numbers(format_grid([block], len(block), decimals=decimals))
        if not np.array_equal(again, block, equal_nan=True):
            return False
    return True
