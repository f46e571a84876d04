"""Printing the values of a grid with Python's own digits: the twin of the C++ printer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_DECIMALS = 1000


def format_grid(
    fields: list[NDArray[np.float64]], row: int, per_line: int, width: int, decimals: int, head: bytes
) -> bytes:
    """Print the values of all fields at a point side by side, a new line at every row of points."""
    if not 0 <= decimals <= MOST_DECIMALS:
        raise ValueError("decimals lie between 0 and 1000")
    if per_line < 1:
        raise ValueError("a line has at least one value")
    if len({len(field) for field in fields}) > 1:
        raise ValueError("the fields differ in length")
    points = len(fields[0]) if fields else 0
    if points and (row < 1 or points % row):
        raise ValueError("the points are no whole rows")
    lines = [head]
    for start in range(0, points, row or 1):
        values = np.stack([field[start : start + row] for field in fields], axis=1).reshape(-1).tolist()
        texts = [scientific(value, decimals) for value in values]
        for begin in range(0, len(texts), per_line):
            words = texts[begin : begin + per_line]
            fitted = [words[0].rjust(width), *(word.rjust(max(width, len(word) + 1)) for word in words[1:])]
            lines.append("".join(fitted).encode() + b"\n")
    return b"".join(lines)


def scientific(value: float, decimals: int) -> str:
    """Print one number as C's ``%E`` does, the special ones in small letters."""
    return f"{value:.{decimals}E}" if math.isfinite(value) else repr(value)
