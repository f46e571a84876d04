"""The numpy and Python twin of the C++ module: same arguments, same results, same errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._fallback_fixed import find_line, scan_again, scan_fixed
from ._fallback_format import format_table
from ._fallback_grid import format_grid
from ._fallback_scan import parse_integer, parse_real, scan_numbers, scan_table

__all__ = [
    "count_lines",
    "find_line",
    "find_runs",
    "format_grid",
    "format_table",
    "join",
    "parse_integer",
    "parse_real",
    "quantize",
    "scan_again",
    "scan_fixed",
    "scan_numbers",
    "scan_table",
    "shuffle",
    "skip_lines",
    "unshuffle",
]

Buffer = bytes | bytearray | memoryview
BLOCK = 1 << 16
MOST_QUANTA = 2.0**52
NEWLINE = ord("\n")


def count_lines(data: Buffer) -> int:
    """Count line ends."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE))


def skip_lines(data: Buffer, start: int, count: int) -> tuple[int, int]:
    """Advance over up to `count` line ends; return how many there were and where it stopped."""
    text = np.frombuffer(data, np.uint8)
    if start > len(text):
        raise ValueError("start lies behind the end of the data")
    lines, after = 0, start
    for begin in range(start, len(text), BLOCK):
        if lines == count:
            break
        ends = np.flatnonzero(text[begin : begin + BLOCK] == NEWLINE)[: count - lines]
        if len(ends):
            lines += len(ends)
            after = begin + int(ends[-1]) + 1
    return lines, after


def find_runs(data: Buffer, start: int, head: int, body: int, most: int) -> list[tuple[int, int]]:
    """Find up to so many runs of `head` and `body` lines, one after another, as where the lines of both end."""
    runs: list[tuple[int, int]] = []
    while len(runs) < most:
        found, middle = skip_lines(data, start, head)
        more, start = skip_lines(data, middle, body)
        if found < head or more < body:
            break
        runs.append((middle, start))
    return runs


def join(pieces: list[bytes]) -> bytes:
    """Put pieces one behind the other."""
    return b"".join(pieces)


def shuffle(data: Buffer, itemsize: int) -> bytes:
    """Put the first bytes of all items first, and so on; a remainder stays at the end."""
    items, rest = split_items(data, itemsize)
    return items.reshape(-1, itemsize).T.tobytes() + rest.tobytes()


def unshuffle(data: Buffer, itemsize: int) -> bytes:
    """Undo `shuffle`."""
    items, rest = split_items(data, itemsize)
    return items.reshape(itemsize, -1).T.tobytes() + rest.tobytes()


def quantize(values: NDArray[np.float64], step: float, groups: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Round half to even to multiples of a power of two, and the largest finite size in each of so many groups.

    What is not finite, or 2^52 multiples or more, stays as it is.
    """
    if not groups or values.size % groups:
        raise ValueError("the groups are not even")
    with np.errstate(over="ignore", invalid="ignore"):
        quanta = values / step
        stored = np.rint(quanta) * step
    kept = ~(np.abs(quanta) < MOST_QUANTA)
    stored[kept] = values[kept]
    sizes = np.abs(values)
    sizes[~np.isfinite(sizes)] = 0.0
    return stored, sizes.reshape(groups, -1).max(axis=1, initial=0.0)


def split_items(
    data: Buffer, itemsize: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint8]], np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """Cut off what fills no whole item."""
    if itemsize < 1:
        raise ValueError("itemsize must be at least 1")
    text = np.frombuffer(data, np.uint8)
    whole = len(text) // itemsize * itemsize
    return text[:whole], text[whole:]
