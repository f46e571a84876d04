"""Undoing a conversion of units: the numbers that a source wrote, from those that a record holds."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SHORTEST, EXACT = 6, 17
"""How many significant digits programs write at the least, and how many tell every binary64 from its neighbours."""


def undone(values: Array, factor: float) -> Array:
    """Numbers which, multiplied by `factor`, give `values`.

    Of the numbers that do so to the bit the one of the fewest decimal digits is taken, which is what a source has
    written unless it wrote noise; where none does, the quotient.
    """
    if factor == 1.0:
        return values
    found = values / factor
    flat, due = found.reshape(-1), values.reshape(-1)
    open_ = np.arange(flat.size)[np.isfinite(flat)]
    for digits in range(SHORTEST, EXACT + 1):
        if not open_.size:
            break
        tried = np.array([float(f"{value:.{digits - 1}e}") for value in flat[open_].tolist()])
        right = tried * factor == due[open_]
        flat[open_[right]] = tried[right]
        open_ = open_[~right]
    return found
