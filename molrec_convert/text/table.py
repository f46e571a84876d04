"""Tables of numbers and words in text, read into columns and printed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import engine
from .engine import Buffer, Column, Style, Words
from .faults import ScanError

__all__ = [
    "FORTRAN",
    "MATHEMATICA",
    "ScanError",
    "TableScan",
    "format_table",
    "scan_numbers",
    "scan_table",
]

FORTRAN = 1
"""Dialect bit: ``1.0D+02``, and ``1.0-101`` for an exponent of three digits."""
MATHEMATICA = 2
"""Dialect bit: ``1.5*^-5``."""


class TableScan(NamedTuple):
    """What a scan of a table found."""

    columns: list[Any]
    """One array a column; ``(codes, words)`` for tokens; None for a skipped column."""
    end: int
    """Offset just after the last row and its line end."""
    terminated: bool
    """False where the data ended before the last row's line end, maybe inside its last token."""


def scan_table(data: Buffer, kinds: str, rows: int, *, dialect: int = 0) -> TableScan:
    """Read exactly `rows` lines of tokens parted by blanks or tabs.

    Parameters
    ----------
    data
        Text that starts at the first row; what follows the last row is not looked at.
    kinds
        One letter a column: ``d`` real, ``i`` signed and ``u`` unsigned integer of 64 bits,
        ``s`` token, ``-`` a token that must be there and is not looked at.
    rows
        How many lines to read. A count the data cannot hold costs nothing.
    dialect
        Spellings of exponents to allow: `FORTRAN`, `MATHEMATICA` or both.

    Raises
    ------
    ScanError
        A line with too few or too many tokens, a token that is no such number, or too few lines.
    """
    return TableScan(*engine.active.scan_table(data, kinds, int(rows), dialect))


def scan_numbers(data: Buffer, *, dialect: int = 0, limit: int | None = None) -> tuple[NDArray[np.float64], int]:
    """Read the numbers of free layout: any number a line, parted by blanks and line ends.

    Returns
    -------
    numbers
        All of them, or the first `limit`.
    end
        Offset just after the last one; its line end is not passed.
    """
    if limit is not None and limit < 0:
        raise ValueError("limit must not be negative")
    return engine.active.scan_numbers(data, dialect, -1 if limit is None else limit)


def format_table(
    columns: Sequence[Column],
    styles: Sequence[Style] | None = None,
    *,
    separator: bytes = b" ",
    terminator: bytes = b"\n",
    widths: Sequence[int] = (),
) -> bytes:
    """Print columns as lines.

    Parameters
    ----------
    columns
        Arrays of float64, int64, uint64, int32 or bool (``T`` and ``F``), or ``(codes, words)``;
        any stride. Other integer and real widths are widened.
    styles
        One a column; only reals look at it. ``"g"`` or None: the fewest digits that read back
        exactly, laid out as C's ``%g``; ``"r"``: as repr prints it; an int: that many decimals.
    widths
        One a column: at least so wide, with blanks on the left.
    """
    ready = [prepare_column(column) for column in columns]
    chosen: list[Style] = [None] * len(ready) if styles is None else list(styles)
    return engine.active.format_table(ready, chosen, separator, terminator, list(widths))


def prepare_column(column: Column) -> Column:
    """Bring an array to one of the dtypes the engines print."""
    if isinstance(column, tuple):
        codes, words = column
        coded: Words = (native_order(np.asarray(codes)), list(words))
        return coded
    array = native_order(np.asarray(column))
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        return array.astype(np.float64)
    if array.dtype.kind == "i" and array.dtype.itemsize < 4:
        return array.astype(np.int32)
    if array.dtype.kind == "u" and array.dtype.itemsize < 8:
        return array.astype(np.uint64)
    return array


def native_order(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the machine's byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
