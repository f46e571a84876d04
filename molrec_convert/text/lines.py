"""Counting and skipping lines at memory speed."""

from __future__ import annotations

from . import engine
from .engine import Buffer


def skip_lines(data: Buffer, start: int, count: int) -> tuple[int, int]:
    """Advance over up to `count` line ends from `start`.

    Returns
    -------
    lines
        How many line ends there were.
    end
        Offset just after the last of them; `start` where there was none.
    """
    return engine.active.skip_lines(data, start, count)


def count_lines(data: Buffer) -> int:
    """Return the number of line ends."""
    return engine.active.count_lines(data)
