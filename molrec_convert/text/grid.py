"""The values of a grid, printed as volumetric files have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import engine
from .table import native_order

__all__ = ["format_grid"]

MARGIN = 8
"""What a field needs beside its decimals: a blank, a sign, a digit, a point, an exponent of two digits."""


def format_grid(
    fields: Sequence[NDArray[Any]],
    row: int,
    *,
    decimals: int = 5,
    per_line: int = 6,
    width: int | None = None,
    head: bytes = b"",
) -> bytes:
    """Print the values of a grid as right-aligned numbers in scientific notation.

    Parameters
    ----------
    fields
        Arrays of reals, one a field, all of the same points; any stride. The values of a point stand side by side.
    row
        How many points a row of the grid has: each begins a new line.
    decimals
        Digits after the point; the last one is rounded half to even.
    per_line
        How many values fill a line.
    width
        Columns of a value, by default so many that a blank stands before each; one that fills them is set off by a
        blank and makes its line longer.
    head
        Text to begin with, which costs less here than joined to the result.
    """
    ready = [native_order(np.asarray(field)) for field in fields]
    if any(field.ndim != 1 for field in ready):
        raise ValueError("a field has one axis")
    ready = [field if field.dtype == np.float64 else field.astype(np.float64) for field in ready]
    columns = decimals + MARGIN if width is None else width
    return engine.active.format_grid(ready, row, per_line, columns, decimals, head)
