"""Comparing columns at once: to the bit, or within a tolerance.

To the bit a NaN equals a NaN, and -0.0 is not 0.0. Within a tolerance they compare as numbers do: 0.0 equals -0.0, a
NaN still a NaN, an infinity only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from molrec_convert.model import Column
from molrec_convert.model.dtypes import Array, same_bits


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far reals may be apart: |a - b| ≤ max(absolute, relative · max(|a|, |b|)); exact where both are 0."""

    absolute: float = 0.0
    relative: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether reals are compared to the bit."""
        return not (self.absolute or self.relative)


EXACT = Tolerance()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Values that differ.

    Parameters
    ----------
    values
        How many.
    row, index
        The first: its row, and its place along the further axes.
    a, b
        What stands there; None for a row without a value.
    largest, largest_row
        The biggest difference between finite numbers, and its row; None where no two finite numbers differ.
    """

    values: int
    row: int | None
    index: tuple[int, ...]
    a: Any
    b: Any
    largest: float | None = None
    largest_row: int | None = None


def mismatch_of(one: Column, other: Column, tolerance: Tolerance = EXACT) -> Mismatch | None:
    """How two columns of one type and shape differ; rows that are null in both do not."""
    a, b = one.values, other.values
    lone = None
    if one.valid is not None or other.valid is not None:
        here, there = _flags(one), _flags(other)
        lone = here != there
        if not lone.any():
            lone = None
        bad = unequal(a, b, tolerance)
        if bad is not None:
            bad[~(here & there)] = False
    else:
        bad = unequal(a, b, tolerance)
    if bad is not None and not bad.any():
        bad = None
    return None if bad is None and lone is None else _mismatch(one, other, bad, lone)


def _flags(column: Column) -> Array:
    return np.ones(len(column), bool) if column.valid is None else column.valid


def _mismatch(one: Column, other: Column, bad: Array | None, lone: Array | None) -> Mismatch:
    rows = np.zeros(len(one), bool) if bad is None else bad.reshape(len(one), -1).any(axis=1)
    if lone is not None:
        rows = rows | lone
    values = (0 if bad is None else int(np.count_nonzero(bad))) + (0 if lone is None else int(np.count_nonzero(lone)))
    row = int(np.argmax(rows))
    index: tuple[int, ...] = ()
    if lone is None or not lone[row]:
        assert bad is not None
        index = tuple(int(k) for k in np.argwhere(bad[row])[0]) if bad.ndim > 1 else ()
    a, b = (_shown(column, row, index) for column in (one, other))
    largest = None if bad is None else _largest(one.values, other.values, bad)
    return Mismatch(values, row, index, a, b, *(largest or (None, None)))


def _shown(column: Column, row: int, index: tuple[int, ...]) -> Any:
    if column.valid is not None and not column.valid[row]:
        return None
    value = column.values[(row, *index)]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def unequal(a: Array, b: Array, tolerance: Tolerance = EXACT) -> Array | None:
    """Where two arrays of one type and shape differ; None if nowhere."""
    if same_bits(a, b):
        return None
    kind = a.dtype.kind
    if kind == "c":
        real = np.dtype(f"f{a.dtype.itemsize // 2}")
        one, other = (np.ascontiguousarray(each).view(real).reshape(*each.shape, 2) for each in (a, b))
        found = unequal(one, other, tolerance)
        return None if found is None else np.asarray(found.any(axis=-1))
    if kind != "f":
        bad = np.asarray(a != b)
    elif tolerance.exact:
        words = np.dtype(f"u{a.dtype.itemsize}")
        bad = np.ascontiguousarray(a).view(words) != np.ascontiguousarray(b).view(words)
        bad &= ~(np.isnan(a) & np.isnan(b))
    else:
        bad = _apart(a, b, tolerance)
    return bad if bad.any() else None


def _apart(a: Array, b: Array, tolerance: Tolerance) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b)
        within = gap <= tolerance.absolute
        if tolerance.relative:
            within |= gap <= tolerance.relative * np.maximum(np.abs(a), np.abs(b))
        within &= np.isfinite(gap)  # an infinity is as far from any number as another
        within |= (a == b) | (np.isnan(a) & np.isnan(b))
    return np.asarray(~within)


def _largest(a: Array, b: Array, bad: Array) -> tuple[float, int] | None:
    """The biggest difference of finite numbers, and its row."""
    kind = a.dtype.kind
    if kind not in "iufc":
        return None
    rows = np.nonzero(bad)[0]
    x, y = a[bad], b[bad]
    if kind in "iu":  # the difference of two integers of w bits fits w bits without a sign
        words = np.dtype(f"u{a.dtype.itemsize}")
        gaps = (np.maximum(x, y).view(words) - np.minimum(x, y).view(words)).astype(np.float64)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = np.abs(x - y).astype(np.float64)
        finite = np.isfinite(gaps)
        if not finite.any():
            return None
        gaps, rows = gaps[finite], rows[finite]
    place = int(np.argmax(gaps))
    return float(gaps[place]), int(rows[place])
