"""Lines whose fields stand in fixed columns, read into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import engine
from .engine import Buffer
from .faults import ScanError

__all__ = ["Field", "FixedScan", "ScanError", "line_of_row", "scan_fixed"]


class Field(NamedTuple):
    """Where a field stands in a line, and what it holds.

    Parameters
    ----------
    start, stop
        0-based columns, in bytes.
    kind
        ``d`` real, ``i`` signed and ``u`` unsigned integer of 64 bits, ``s`` text without the blanks around it,
        ``r`` text as it stands.
    """

    start: int
    stop: int
    kind: str


class FixedScan(NamedTuple):
    """What a scan of fixed columns found."""

    columns: list[Any]
    """One array a field; ``(codes, words)`` for text."""
    valid: list[NDArray[np.bool_] | None]
    """False where a number is blank, its value being 0; None where none is, and for text."""
    rows: int
    """How many rows there were."""
    end: int
    """Offset just after the last line looked at."""
    terminated: bool
    """False where that line had no line end."""
    others: NDArray[np.int64]
    """Lines that are no rows: the 0-based line, and the offsets between which its text lies."""


def scan_fixed(
    data: Buffer, fields: Sequence[Field], rows: int | None = None, *, marks: Iterable[bytes] = ()
) -> FixedScan:
    """Read lines of fields in fixed columns.

    Parameters
    ----------
    data
        Text that starts with a line.
    fields
        Where the fields stand. What a line is too short for is blank.
    rows
        How many rows to read, and none of what follows; by default all of the data.
    marks
        How a row begins, in any case; all other lines are listed. Without marks every line is a row.

    Raises
    ------
    ScanError
        A field that is no number of its kind: ``row`` and ``column`` name the row and the field, ``found`` the line;
        or too few lines.
    """
    layout = [(field.start, field.stop, field.kind) for field in fields]
    return FixedScan(*engine.active.scan_fixed(data, layout, -1 if rows is None else rows, list(marks)))


def line_of_row(row: int, others: NDArray[np.int64]) -> int:
    """Return the 0-based line of a row, among lines that are none."""
    rows_before = others[:, 0] - np.arange(len(others))
    return row + int(np.searchsorted(rows_before, row, side="right"))
