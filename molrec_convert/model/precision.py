"""Declared precision: the quantum of a tolerance, and what a writer stores for a value.

Source: the containers chapter of MolRec, "Declared precision". The quantum is the largest power of two not above the
precision, and stored values are its integer multiples, so that a byte shuffle finds their empty low bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule
from molrec_convert.text import engine

from .dtypes import Array

SMALLEST, LARGEST = 2.0**-1000, 2.0**1000


@rule(13)
def checked_precision(value: Any, *, what: str = "a column") -> float:
    """Give a precision as a float; `RecordError` unless it is finite and within 2^-1000 … 2^1000."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise RecordError(f"the precision of {what} is a number, not {value!r}")
    if not SMALLEST <= float(value) <= LARGEST:
        raise RecordError(f"the precision of {what} lies within 2^-1000 … 2^1000, not at {value!r}")
    return float(value)


def quantum(precision: float) -> float:
    """The largest power of two not above the precision."""
    return math.ldexp(1.0, math.frexp(precision)[1] - 1)


def rounded(values: Array, precision: float) -> Array:
    """What a writer stores for f64 `values` of any shape: half-even multiples of the quantum.

    Values that are not finite, or at least 2^52 quanta, stay as they are; -0.0 keeps its sign.
    """
    return rounded_groups(values, precision, 1)[0]


def rounded_groups(values: Array, precision: float, groups: int) -> tuple[Array, Array]:
    """The same, and the largest finite size in each of so many groups of equally many rows."""
    flat = np.ascontiguousarray(values).reshape(-1)
    stored, largest = engine.active.quantize(flat, quantum(precision), groups)
    return stored.reshape(values.shape), largest


def decimals_of(precision: float) -> int:
    """How many decimals print a value stored under a precision of 10^-d so that it reads as it was written."""
    return max(0, math.ceil(-math.log10(precision) - 1e-9))
