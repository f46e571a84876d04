"""How many decimals the columns of a table are written with, and what numbers become under so many."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLE = 2000
"""Rows that are looked at; whether the others agree is checked by their values."""

FIXED = re.compile(rb"[-+]?\d+\.(\d+)")


def fixed_decimals(data: bytes, columns: int) -> list[int | None]:
    """The number of decimals of every column, None where it varies or the column has none.

    Parameters
    ----------
    data
        Rows of tokens, the first of which are looked at.
    columns
        The tokens of a row.
    """
    rows = [line.split() for line in data.split(b"\n", SAMPLE)[:SAMPLE]]
    rows = [row for row in rows if len(row) == columns]
    return [_common([row[k] for row in rows]) for k in range(columns)]


def _common(tokens: Sequence[bytes]) -> int | None:
    found = {len(match[1]) if (match := FIXED.fullmatch(token)) else None for token in tokens}
    return found.pop() if len(found) == 1 else None


EXACT_POWER = 22
"""The greatest power of ten that a binary64 is to the bit."""
PLAIN, TIE = 2.0**40, 2.0**-11
"""Up to which size, and how far from a half, a number times a power of ten is surely rounded as its text is."""


def as_printed(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """The numbers that are read where reals are printed with so many decimals.

    >>> as_printed(np.array([1.0 / 3.0, 27.63]), 2).tolist()
    [0.33, 27.63]
    """
    if decimals > EXACT_POWER:
        return _printed(values, decimals)
    power = 10.0**decimals
    with np.errstate(over="ignore", invalid="ignore"):
        found: NDArray[np.float64] = values * power
        np.rint(found, out=found)
        found /= power  # rounded once, as a reader rounds the decimal number
        if np.array_equal(found, values):
            return found
        scaled = values * power
        sure = np.abs(np.abs(scaled - np.rint(scaled)) - 0.5) > TIE
        doubtful = ~(sure & (np.abs(scaled) < PLAIN))
    found[doubtful] = _printed(values[doubtful], decimals)
    return found


def _printed(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    texts = (f"{value:.{decimals}f}" for value in values.reshape(-1).tolist())
    return np.fromiter(map(float, texts), np.float64, values.size).reshape(values.shape)
