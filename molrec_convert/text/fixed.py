"""Lines whose fields stand in fixed columns, read into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import engine
from .engine import Buffer
from .faults import ScanError

__all__ = ["Again", "Field", "FixedScan", "ScanError", "line_of_row", "scan_again", "scan_fixed"]


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


class Again(NamedTuple):
    """What a scan of rows found that are those of another text but for some numbers."""

    columns: list[NDArray[np.float64]]
    """One array a field."""
    rows: int
    """How many rows there were: a multiple of those of the other text."""
    others: NDArray[np.int64]
    """Lines that are no rows, as in `FixedScan`."""


def scan_again(data: Buffer, like: Buffer, fields: Sequence[Field], *, marks: Iterable[bytes]) -> Again | None:
    """Read reals of rows that are like those of another text, to the byte but for these reals.

    Atoms are the same in all frames of most trajectories: what does not move need not be read again.

    Parameters
    ----------
    data
        Text that starts with a line; its rows are like those of the other text, again and again from first to last.
    like
        A text that was scanned before.
    fields
        Where the reals stand, one next to the other.
    marks
        How a row begins, in any case; other lines are listed, and may differ.

    Returns
    -------
    Again or None
        None where some row differs otherwise, or some field is no number; a scan of the whole tells how. None also
        where the last line of either text has no end, since it may be cut.
    """
    found = engine.active.scan_again(data, like, [field[:2] for field in fields], list(marks))
    return None if found is None else Again(*found)


def line_of_row(row: int, others: NDArray[np.int64]) -> int:
    """Return the 0-based line of a row, among lines that are none."""
    rows_before = others[:, 0] - np.arange(len(others))
    return row + int(np.searchsorted(rows_before, row, side="right"))
