"""How many decimals the columns of a table are written with."""

from __future__ import annotations

import re
from collections.abc import Sequence

SAMPLE = 2000
"""Rows that are looked at; whether the others agree is checked by their values."""

FIXED = re.compile(rb"[-+]?\d+\.(\d+)")


def fixed_decimals(data: bytes, columns: int) -> list[int | None]:
    """The number of decimals of every column, None where it varies or the column has none.

    Parameters
    ----------
    data
        Rows of tokens, the first of which are looked at.
    columns
        The tokens of a row.
    """
    rows = [line.split() for line in data.split(b"\n", SAMPLE)[:SAMPLE]]
    rows = [row for row in rows if len(row) == columns]
    return [_common([row[k] for row in rows]) for k in range(columns)]


def _common(tokens: Sequence[bytes]) -> int | None:
    found = {len(match[1]) if (match := FIXED.fullmatch(token)) else None for token in tokens}
    return found.pop() if len(found) == 1 else None
