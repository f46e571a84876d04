"""Counting and skipping lines at memory speed."""

from __future__ import annotations

from collections.abc import Iterable

from . import engine
from .engine import Buffer

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some editors put before the first line."""


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


def joined(pieces: Iterable[bytes]) -> bytes:
    """Pieces one behind the other; other threads run meanwhile."""
    return engine.active.join(list(pieces))


def parts_of(text: bytes, lines: int) -> list[bytes]:
    """A text in parts of so many lines each; the last one may have fewer."""
    parts, start = [], 0
    while start < len(text):
        passed, end = engine.active.skip_lines(text, start, lines)
        end = end if passed == lines else len(text)
        parts.append(text[start:end])
        start = end
    return parts


def find_line(data: Buffer, start: int, marks: list[bytes]) -> tuple[int, int]:
    """Advance from `start` to a line that begins with one of `marks`, in any case.

    Returns
    -------
    lines
        How many line ends were passed.
    place
        Where that line begins; where there is none, the last one, which has no end.
    """
    return engine.active.find_line(data, start, marks)


def count_lines(data: Buffer) -> int:
    """Return the number of line ends."""
    return engine.active.count_lines(data)


def decoded(raw: bytes) -> str:
    """Text in UTF-8, else in Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
