"""GROMACS's units to those of a record and back, to the bit.

A number in nm times ten is rounded, and so is a tenth of that. Of numbers in binary32 nothing is lost on the way,
since rounding to binary32 undoes it. Of numbers in binary64, up to one in ten comes back one unit in the last place
off, and several have the same product, so that no inverse can tell them apart: how many such units a number is off is
kept beside them, in a byte that is nearly always 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def inverse(values: Array, factor: float) -> Array:
    """Numbers which, multiplied by `factor`, give `values`; the nearest ones where there are none."""
    if factor == 1.0:
        return values
    found = quotient(values, factor)
    off = np.flatnonzero((found * factor != values) & np.isfinite(values))
    due = values.ravel()[off]
    for side in (-np.inf, np.inf):
        near = np.nextafter(found.ravel()[off], side)
        right = near * factor == due
        found.reshape(-1)[off[right]] = near[right]
    return found


def quotient(values: Array, factor: float) -> Array:
    """Numbers divided by a factor; infinite beyond binary64."""
    with np.errstate(over="ignore"):
        found: Array = values / factor
    return found


def ulps_off(source: Array, values: Array, factor: float) -> Array:
    """By how many units in the last place `values` divided by `factor` miss the numbers that they were made of."""
    off = source.view(np.int64) - quotient(values, factor).view(np.int64)
    found = off.astype(np.int8)
    if (beyond := found != off).any():  # products beyond binary64
        found[beyond] = 0
    return found


def restored(values: Array, factor: float, ulps: Array | None) -> Array:
    """The numbers that a source had, as far as they still give `values`; the inverse of the others."""
    if ulps is None or ulps.shape != values.shape:
        return inverse(values, factor)
    found = (quotient(values, factor).view(np.int64) + ulps).view(np.float64)
    off = (found * factor != values) & ~np.isnan(values)
    if off.any():
        found[off] = inverse(values[off], factor)
    return found
