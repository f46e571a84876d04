"""The lines of a cube that stand before its values: comments, origin, axes, atoms, orbitals.

References: https://gaussian.com/cubegen/, https://h5cube-spec.readthedocs.io/en/latest/cubeformat.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.faults import quote
from molrec_convert.text.numbers import parse_integer, parse_real
from molrec_convert.text.table import FORTRAN, ScanError, scan_table
from molrec_convert.text.window import Window

Array = np.ndarray[Any, Any]

GLUED = re.compile(rb"(?<=[0-9.])(?=[+-][0-9]*\.)")
"""Where a number ends and the next begins without a blank: at a sign before a point, since exponents have none."""
FIRST_INTEGER = re.compile(rb"\s*[+-]?[0-9]+(?=[\s+-])")
LAST_REAL = re.compile(rb"\.([0-9]+)(?:\s+[0-9]+)?\s*$")
"""The decimals of the last real of a line, which an integer may follow."""
INTEGER_WIDTH = 5
"""Columns of an integer that no blank follows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in a line of the header.

    Parameters
    ----------
    what
        What the line is called.
    kinds
        ``i`` an integer, ``w`` one that may be spelled as a real, ``d`` a real; one letter a number.
    spare
        How many of the last numbers may be missing.
    """

    what: str
    kinds: str
    spare: int = 0

    def read(self, line: bytes) -> tuple[Any, ...]:
        """The numbers of a line; ValueError says in a clause what is wrong."""
        first: ValueError | None = None
        for tokens in (line.split(), GLUED.sub(b" ", line).split(), cut_by_decimals(line)):
            try:
                return self._numbers(tokens)
            except ValueError as error:
                first = first or error
        assert first is not None
        raise first

    def _numbers(self, tokens: Sequence[bytes]) -> tuple[Any, ...]:
        most, found = len(self.kinds), len(tokens)
        if not most - self.spare <= found <= most:
            due = f"{most - self.spare} or {most}" if self.spare else str(most)
            raise ValueError(f"{self.what} has {due} numbers, this one {found}")
        pairs = zip(self.kinds, tokens, strict=False)
        return tuple(PARSERS[kind](token) for kind, token in pairs)


def parse_whole(token: bytes) -> int:
    """An integer, which scripts that print all numbers alike write as a real; ValueError for any other."""
    try:
        return parse_integer(token)
    except ValueError:
        if (value := _real(token)) is None or not value.is_integer():
            raise
        return int(value)


def _real(token: bytes) -> float | None:
    try:
        return parse_real(token, FORTRAN)
    except ValueError:
        return None


PARSERS: Mapping[str, Callable[[bytes], float]] = {
    "i": parse_integer,
    "w": parse_whole,
    "d": partial(parse_real, dialect=FORTRAN),
}


def cut_by_decimals(line: bytes) -> list[bytes]:
    """The numbers of a line whose reals have filled their columns: all of them have as many decimals as the last."""
    last = LAST_REAL.search(line)
    if last is None:
        return []
    first = FIRST_INTEGER.match(line)
    start = INTEGER_WIDTH if first is None else first.end()
    real = re.compile(rb"[+-]?[0-9]*\.[0-9]{%d}" % len(last[1]))
    return [line[:start].strip(), *real.findall(line, start), *real.sub(b" ", line[start:]).split()]


COUNT = Layout("the line of the number of atoms", "idddi", spare=1)
AXIS = Layout("the line of an axis", "iddd")
ATOM = Layout("an atom line", "wdddd")


@dataclass(frozen=True, slots=True)
class Header:
    """What a cube states before its values; lengths as the file has them.

    Parameters
    ----------
    comments
        The first two lines.
    encoding
        How they are encoded.
    counts
        Points along each axis.
    angstrom
        Whether the counts are negative, which says that lengths are in ångström.
    origin, voxels
        The first point, and the steps along the axes as rows.
    values
        How many values a point has, as the line of the number of atoms states it; None where it does not.
    orbitals
        The ids of the orbitals where they are listed.
    numbers, charges, positions
        The atomic numbers, the nuclear charges, and the positions as three columns.
    """

    comments: tuple[str, str]
    encoding: str
    counts: tuple[int, int, int]
    angstrom: bool
    origin: tuple[float, ...]
    voxels: tuple[tuple[float, ...], ...]
    values: int | None
    orbitals: tuple[int, ...] | None
    numbers: Array
    charges: Array
    positions: tuple[Array, Array, Array]

    @property
    def fields(self) -> int:
        """How many values a point has."""
        return len(self.orbitals) if self.orbitals is not None else self.values or 1

    @property
    def total(self) -> int:
        """How many values the grid has."""
        return math.prod(self.counts) * self.fields


class HeaderReader:
    """Reads the header of one cube from a window.

    Raises
    ------
    TruncatedError
        Where the file ends inside it.
    FormatError
        For a line that is not the one due.
    """

    def __init__(self, window: Window, path: str, ordinal: int) -> None:
        self._window = window
        self._path = path
        self._ordinal = ordinal

    def read(self) -> Header:
        """The header, the window left at the first value."""
        lines = [self._line(), self._line()]
        comments, encoding = self._comments(lines)
        atoms, *rest = self._numbers(COUNT)
        origin, values = self._finite(rest[:3], "the origin"), rest[3] if len(rest) > 3 else None
        if values is not None and values < 1:
            raise self._error(f"a point has at least one value, not {values}")
        axes = [self._axis() for _ in range(3)]
        counts = [count for count, _ in axes]
        if len({count < 0 for count in counts}) > 1:
            raise self._error(f"the numbers of points {counts} differ in sign, which tells the unit of length")
        numbers, charges, *positions = self._atoms(abs(atoms))
        orbitals = self._orbitals() if atoms < 0 else None
        if orbitals is not None and values not in (None, 1, len(orbitals)):
            raise self._error(f"the header says {values} values a point, and lists {len(orbitals)} orbitals")
        nx, ny, nz = map(abs, counts)
        return Header(
            comments=comments,
            encoding=encoding,
            counts=(nx, ny, nz),
            angstrom=counts[0] < 0,
            origin=origin,
            voxels=tuple(vector for _, vector in axes),
            values=values,
            orbitals=orbitals,
            numbers=numbers,
            charges=charges,
            positions=(positions[0], positions[1], positions[2]),
        )

    def _line(self) -> bytes:
        line = self._window.next_line()
        if line is None:
            raise self._cut()
        return line

    def _cut(self) -> TruncatedError:
        line = max(self._window.line - 1, 1)
        return TruncatedError("the file ends inside the header of a cube", line=line, frame=self._ordinal)

    def _error(self, message: str, line: int | None = None) -> FormatError:
        at = self._window.line - 1 if line is None else line
        return FormatError(message, path=self._path, line=at, frame=self._ordinal)

    def _numbers(self, layout: Layout) -> tuple[Any, ...]:
        line = self._line()
        try:
            return layout.read(line)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _finite(self, numbers: Sequence[float], what: str) -> tuple[float, ...]:
        if not all(map(math.isfinite, numbers)):
            raise self._error(f"{what} is not finite: {list(numbers)}")
        return tuple(numbers)

    def _comments(self, lines: list[bytes]) -> tuple[tuple[str, str], str]:
        for back, line in enumerate(lines):
            if b"\0" in line:
                raise self._error("a comment holds a NUL, so this is no text", self._window.line - 2 + back)
        try:
            return (lines[0].decode(), lines[1].decode()), "utf-8"
        except UnicodeDecodeError:
            return (lines[0].decode("latin-1"), lines[1].decode("latin-1")), "latin-1"

    def _axis(self) -> tuple[int, tuple[float, ...]]:
        count, *vector = self._numbers(AXIS)
        if count == 0:
            raise self._error("the grid has no points along an axis")
        return count, self._finite(vector, "the step along an axis")

    def _atoms(self, count: int) -> list[Array]:
        window, line = self._window, self._window.line
        window.mark()
        found = window.skip_lines(count)
        data = window.take()
        if found < count:
            raise TruncatedError(
                f"the file ends after {found} of {count} atom lines", line=line + found - 1, frame=self._ordinal
            )
        try:
            return scan_table(data, ATOM.kinds.replace("w", "i"), count, dialect=FORTRAN).columns
        except ScanError:
            return self._odd_atoms(data, count, line)

    def _odd_atoms(self, data: bytes, count: int, line: int) -> list[Array]:
        """Atoms of which some stand in lines without blanks between the numbers."""
        rows = []
        for at, text in enumerate(data.split(b"\n")[:count], line):
            try:
                rows.append(ATOM.read(text.removesuffix(b"\r")))
            except ValueError as error:
                raise self._error(str(error), at) from None
        numbers, *reals = zip(*rows, strict=True)
        return [np.array(numbers, np.int64), *(np.array(column, np.float64) for column in reals)]

    def _orbitals(self) -> tuple[int, ...]:
        """The record of the orbitals: their number and their ids, over as many lines as they take."""
        found: list[int] = []
        while len(found) < 1 or len(found) < found[0] + 1:
            tokens = self._line().split()
            try:
                found += map(parse_integer, tokens)
            except ValueError as error:
                raise self._error(f"the ids of the orbitals: {error}") from None
            if not tokens or found[0] < 1:
                raise self._error("the number of orbitals and their ids are due, as the number of atoms is negative")
        if len(found) > found[0] + 1:
            raise self._error(f"{found[0]} ids of orbitals are due, and there are {len(found) - 1}")
        return tuple(found[1:])


HEAD_LINES = 7
"""The lines from the first comment to the first atom, or the first values of a grid without atoms."""


def looks_like_a_cube(lines: Sequence[bytes]) -> bool:
    """Whether a text that begins with these lines is a cube."""
    if len(lines) < HEAD_LINES or not _begins_a_cube(lines):
        return False
    if COUNT.read(lines[2])[0] == 0:
        return are_numbers(lines[6])
    return _reads(ATOM, lines[6])


def may_become_a_cube(lines: Sequence[bytes]) -> bool:
    """Whether lines, the last of which may be cut, can be the beginning of a cube."""
    return len(lines) <= HEAD_LINES and _begins_a_cube(lines[:-1])


def _begins_a_cube(lines: Sequence[bytes]) -> bool:
    if any(not _reads(layout, line) for layout, line in zip((COUNT, AXIS, AXIS, AXIS), lines[2:6], strict=False)):
        return False
    counts = [AXIS.read(line)[0] for line in lines[3:6]]
    return 0 not in counts and len({count < 0 for count in counts}) < 2


def _reads(layout: Layout, line: bytes) -> bool:
    try:
        layout.read(line)
    except ValueError:
        return False
    return True


def are_numbers(line: bytes) -> bool:
    """Whether a line holds numbers and nothing else."""
    tokens = GLUED.sub(b" ", line).split()
    try:
        for token in tokens:
            parse_real(token, FORTRAN)
    except ValueError:
        return False
    return bool(tokens)


def quoted(line: bytes) -> str:
    """A line for a message."""
    return quote(line.strip().decode("utf-8", "backslashreplace"))
