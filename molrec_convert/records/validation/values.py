"""Checks of values, chunk by chunk: what is read once passes all checks and is let go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.model.precision import quantum
from molrec_convert.records.memory import affordable
from molrec_convert.records.tree import StoredArray
from molrec_convert.records.updates import Updates
from molrec_convert.rules import rule

from .findings import Findings

CHUNK_BYTES = 1 << 20
TEXT_ROWS = 1 << 13


class Check(Protocol):
    """Looks at pieces of a column, in order."""

    def look(self, values: Array, valid: Array | None, first: int) -> None:
        """Take the rows from `first` on, and their flags where the column may be null."""


def scan(
    array: StoredArray,
    rows: int,
    checks: Sequence[Check],
    findings: Findings,
    mask: StoredArray | None = None,
    *,
    at_once: int,
) -> None:
    """Read the first `rows` of an array in pieces and hand them to the checks; a piece that is damaged ends it.

    `at_once` is how many rows a reader takes for a frame: what no machine holds is a claim, and is not looked through.
    """
    if findings.tried(_due_affordable, array, at_once) is None:
        return
    step = _rows_at_once(array)
    for first in range(0, rows, step):
        end = min(first + step, rows)
        values = findings.tried(array.read, first, end)
        valid = None if mask is None or values is None else findings.tried(mask.read, first, end)
        if values is None or (valid is None and mask is not None):
            return
        for check in checks:
            check.look(values, valid, first)


@rule(39)
def _due_affordable(array: StoredArray, rows: int) -> int:
    """The bytes of so many rows; an error where they do not fit into memory."""
    try:
        return affordable(rows * math.prod(array.shape[1:]) * max(1, DTYPES[array.dtype].itemsize))
    except ValueError as error:
        raise array.error(str(error)) from None


def _rows_at_once(array: StoredArray) -> int:
    if array.dtype == "string":
        return TEXT_ROWS
    return max(1, CHUNK_BYTES // max(8, 8 * math.prod(array.shape[1:])))


class GridCheck:
    """Counts values that are no multiple of the quantum of a declared precision.

    Source: the containers chapter of MolRec, "Declared precision".
    """

    def __init__(self, precision: float) -> None:
        self._quantum = quantum(precision)
        self._limit = self._quantum * 2.0**52
        self.off = 0
        self.first = -1
        self.value = 0.0

    def look(self, values: Array, valid: Array | None, first: int) -> None:
        """Take the rows from `first` on."""
        flat = values.reshape(len(values), math.prod(values.shape[1:]))
        with np.errstate(over="ignore", under="ignore"):
            multiples = flat / self._quantum  # exact, unless it overflows to what is kept as it is anyway
        wrong = np.rint(multiples) != multiples  # NaN is not equal to itself
        if self._quantum > 1.0:  # a quotient may underflow
            wrong |= (multiples == 0.0) & (flat != 0.0)
        if not wrong.any():
            return
        wrong &= np.abs(flat) < self._limit
        if valid is not None:
            wrong &= valid[:, None]
        count = int(np.count_nonzero(wrong))
        if count and self.first < 0:
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            self.first, self.value = first + int(row), float(flat[row, column])
        self.off += count


class ReachCheck:
    """Finds the greatest row that each update of a column of references points at.

    Parameters
    ----------
    updates
        Where the rows of each update lie.
    """

    def __init__(self, updates: Updates) -> None:
        counts = updates.counts()
        self._filled = np.flatnonzero(counts)
        ends = np.cumsum(counts)
        self._starts = (ends - counts)[self._filled]
        self.last = np.full(len(counts), -1, np.int64)
        """The greatest row of every update; -1 where it points at none."""

    def look(self, values: Array, valid: Array | None, first: int) -> None:
        """Take the rows from `first` on."""
        rows = np.minimum(_one_a_row(values), np.uint64(2**62)).astype(np.int64)
        if valid is not None:
            rows[~valid] = -1
        begin = int(np.searchsorted(self._starts, first, side="right")) - 1
        end = int(np.searchsorted(self._starts, first + len(rows)))
        cuts = np.maximum(self._starts[begin:end] - first, 0)
        touched = self._filled[begin:end]
        self.last[touched] = np.maximum(self.last[touched], np.maximum.reduceat(rows, cuts))


def _one_a_row(values: Array) -> Array:
    """The greatest value of every row."""
    flat = values.reshape(len(values), math.prod(values.shape[1:]))
    greatest: Array = flat[:, 0] if flat.shape[1] == 1 else flat.max(axis=1, initial=0)
    return greatest


class SameIdsCheck:
    """Whether every update of a column repeats the same ids."""

    def __init__(self, ids: Array) -> None:
        self._ids = ids
        self.first = -1

    def look(self, values: Array, valid: Array | None, first: int) -> None:
        """Take the rows from `first` on."""
        del valid
        if self.first >= 0:
            return
        due = self._ids[np.arange(first, first + len(values)) % len(self._ids)]
        wrong = due != values
        if wrong.any():
            self.first = first + int(np.argmax(wrong))
