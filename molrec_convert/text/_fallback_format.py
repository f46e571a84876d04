"""Printing columns with Python's own digits: the twin of the C++ printer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGERS = (np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.int32))
MOST_DECIMALS = 1000


def format_table(
    columns: list[Any], styles: list[Any], separator: bytes, terminator: bytes, widths: Sequence[int] = ()
) -> bytes:
    """Print one line a row."""
    if len(columns) != len(styles):
        raise ValueError("each column needs one style")
    if widths and len(columns) != len(widths):
        raise ValueError("each column needs one width")
    cells = [format_column(column, style) for column, style in zip(columns, styles, strict=True)]
    if widths:
        cells = [[cell.rjust(width) for cell in column] for column, width in zip(cells, widths, strict=True)]
    if len({len(column) for column in cells}) > 1:
        raise ValueError("the columns differ in length")
    return b"".join(separator.join(row) + terminator for row in zip(*cells, strict=True))


def format_column(column: Any, style: Any) -> list[bytes]:
    """Print one column."""
    if isinstance(column, tuple):
        return format_words(*column)
    dtype = column.dtype
    if dtype == np.float64:
        return format_reals(column, style)
    if dtype in INTEGERS:
        return [b"%d" % value for value in column.tolist()]
    if dtype == np.bool_:
        return [b"T" if value else b"F" for value in column.tolist()]
    raise TypeError("a column is float64, int64, uint64, int32, bool or coded words")


def format_words(codes: NDArray[Any], words: list[bytes]) -> list[bytes]:
    """Look the words up."""
    if codes.dtype != np.int32:
        raise TypeError("codes must be int32")
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(words):
        raise IndexError("a code names no word")
    return [words[code] for code in codes.tolist()]


def format_reals(column: NDArray[np.float64], style: Any) -> list[bytes]:
    """Print reals in one of the three styles."""
    values = column.tolist()
    if isinstance(style, int):
        if not 0 <= style <= MOST_DECIMALS:
            raise ValueError("decimals lie between 0 and 1000")
        return [f"{value:.{style}f}".encode() for value in values]
    if style == "r":
        return [repr(value).encode() for value in values]
    if style in (None, "g"):
        return [general(value).encode() for value in values]
    raise ValueError("a style is 'g', 'r' or an int")


def general(value: float) -> str:
    """Print the digits of repr in the layout of C's ``%g``."""
    if not math.isfinite(value):
        return repr(value)
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = len(digits) - len(fraction) - 1 + int(exponent or 0)
    digits = digits.rstrip("0")
    if power < -4 or power >= max(6, len(digits)):
        point = "." if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{point}{digits[1:]}e{power:+03d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if len(digits) > power + 1:
        return f"{sign}{digits[: power + 1]}.{digits[power + 1 :]}"
    return f"{sign}{digits}{'0' * (power + 1 - len(digits))}"
