"""Where the numbers of GRO atom lines stand, told by the distance between their points.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#gro: the positions begin in column 21
and take as many columns each as their points lie apart; velocities follow, as wide and with a decimal more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from molrec_convert.text.fixed import Field
from molrec_convert.text.numbers import parse_real

Array = np.ndarray[Any, Any]

START = 20
"""Where positions begin."""
LEFT = {
    "res_seq": Field(0, 5, "i"),
    "res_name": Field(5, 10, "s"),
    "name": Field(10, 15, "s"),
    "number": Field(15, 20, "i"),
}
"""The fields before them."""
WIDTH = 5
"""Columns of each of them."""
POSITIONS, VELOCITIES = ("x", "y", "z"), ("vx", "vy", "vz")
POINT = ord(".")
MOST_DECIMALS, MOST_DIGITS = 22, 2.0**51
"""Up to where a power of ten is exactly a real, and a product with one is less than a half away from a whole number."""
LINES = 200
"""How many lines are looked at where the first does not tell for all."""


@dataclass(frozen=True, slots=True)
class Triple:
    """Three numbers of the same width and decimals, side by side.

    Parameters
    ----------
    start, width, decimals
        The first column, the columns of each number, and its digits behind the point.
    """

    start: int
    width: int
    decimals: int

    @property
    def end(self) -> int:
        """The column behind them."""
        return self.start + 3 * self.width

    @property
    def points(self) -> list[int]:
        """The columns of the points."""
        return [self.start + k * self.width - 1 - self.decimals for k in (1, 2, 3)]

    def fields(self) -> list[Field]:
        """Where the numbers stand."""
        return [Field(self.start + k * self.width, self.start + (k + 1) * self.width, "d") for k in range(3)]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the numbers of the lines of a frame stand.

    Parameters
    ----------
    positions, velocities
        The latter None where no line has any.
    """

    positions: Triple
    velocities: Triple | None = None

    @property
    def triples(self) -> list[Triple]:
        """Those that there are."""
        return [self.positions] if self.velocities is None else [self.positions, self.velocities]


def triple_of(line: bytes, start: int) -> Triple | None:
    """The three numbers of a line from a column on; None where their points are not evenly apart.

    >>> triple_of(b"    1SOL     OW    1   0.126   1.624   1.679", 20)
    Triple(start=20, width=8, decimals=3)
    """
    points: list[int] = []
    place = line.find(b".", start)
    while place >= 0 and len(points) < 3:
        points.append(place)
        place = line.find(b".", place + 1)
    if len(points) < 3 or points[1] - points[0] != points[2] - points[1]:
        return None
    width = points[1] - points[0]
    decimals = start + width - 1 - points[0]
    found = Triple(start, width, decimals)
    if not 0 <= decimals < width - 1 or found.end > len(line):
        return None
    return found if all(is_real(line[field.start : field.stop].strip()) for field in found.fields()) else None


def is_real(word: bytes) -> bool:
    """Whether a word is a number."""
    try:
        parse_real(word)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Rows:
    """The lines of a text, by the bytes between which they lie.

    Parameters
    ----------
    text
        Its bytes.
    starts, lengths
        By line, without line ends.
    """

    text: Array
    starts: Array
    lengths: Array

    @classmethod
    def of(cls, data: bytes) -> Rows:
        """The lines of a text, the last of which may have no line end."""
        text = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        if len(text) and text[-1] != ord("\n"):
            ends = np.append(ends, len(text))
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        last = text[np.maximum(ends - 1, 0)] if len(text) else text
        return cls(text, starts, ends - starts - ((last == ord("\r")) & (ends > starts)))

    def line(self, row: int) -> bytes:
        """The text of a line."""
        start = int(self.starts[row])
        return self.text[start : start + int(self.lengths[row])].tobytes()

    def have_points(self, triple: Triple) -> Array:
        """Whether lines have the points of three numbers in their columns, and do not end before the last digit."""
        whole = self.lengths >= triple.end
        safe = np.where(whole, self.starts, 0)
        for column in triple.points:
            whole &= self.text[np.minimum(safe + column, len(self.text) - 1)] == POINT
        return whole


def layout_of(rows: Rows, most: int) -> Layout | None:
    """The layout of lines, told by most of the first ones; None where none of them tells.

    Parameters
    ----------
    rows
        The lines.
    most
        How many of them are looked at, and of those that go on behind the positions.
    """
    positions = _commonest(triple_of(rows.line(row), START) for row in range(min(most, len(rows.starts))))
    if positions is None:
        return None
    longer = np.flatnonzero(rows.lengths > positions.end)[:most].tolist()
    return Layout(positions, _commonest(triple_of(rows.line(row), positions.end) for row in longer))


def _commonest(triples: Iterable[Triple | None]) -> Triple | None:
    found = Counter(each for each in triples if each is not None)
    return found.most_common(1)[0][0] if found else None


def shifted(values: Array, decimals: int) -> tuple[Array, Array]:
    """Ten times numbers of a fixed number of decimals, each rounded once from the decimal number itself.

    Returns
    -------
    values
        The numbers.
    sure
        Where that is certain: the number has no more decimals, and not too many digits.
    """
    if decimals > MOST_DECIMALS:
        return values.copy(), np.zeros(len(values), dtype=bool)
    digits = np.rint(values * 10.0**decimals)
    with np.errstate(invalid="ignore"):
        sure = (np.abs(digits) < MOST_DIGITS) & (digits / 10.0**decimals == values)
    return digits / 10.0 ** (decimals - 1) if decimals else digits * 10.0, sure
