"""Where the frames of a GRO file lie: a title, the number of atoms, as many lines, and the box; frame after frame.

A title may be blank. A blank line in front of a title is told from it by the number of atoms, which follows a title at
once; blank lines at the end of the file are nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from molrec_convert.adapter import Span
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.faults import quote
from molrec_convert.text.lines import BOM, decoded
from molrec_convert.text.window import Window

COUNT = re.compile(rb"\s*\+?([0-9]{1,18})\s*")
NUMBER_AT_END = re.compile(rb"\.([0-9]*)$")


@dataclass(frozen=True, slots=True)
class Place:
    """What the frame of a span needs besides its atom lines.

    Parameters
    ----------
    title, count
        The title line, and the number of atoms.
    box, box_line
        The box line, and where it stands.
    ended
        Whether it has a line end.
    """

    title: str
    count: int
    box: bytes
    box_line: int
    ended: bool


class FrameFinder:
    """Finds the frames of a source, one after the other."""

    def __init__(self, window: Window, path: str, *, keep: bool) -> None:
        self._window, self._path, self._keep = window, path, keep
        self._ordinal = 0

    def spans(self) -> Iterator[Span]:
        """The frames in order; see `molrec_convert.adapter.Importer.index`."""
        window, last = self._window, b""
        while (head := self._head()) is not None:
            line, offset = window.line, window.offset
            title, count = head
            data = self._atoms(count)
            place = Place(title, count, *self._box(last))
            last = place.box
            yield Span(self._ordinal, line, offset, self._size, place, data)
            self._ordinal += 1

    def _head(self) -> tuple[str, int] | None:
        """The title and the number of atoms; None at the end of the source."""
        window, blanks = self._window, 0
        while (line := window.next_line()) is not None and not line.strip():
            blanks += 1
        if line is None:
            if not self._ordinal:
                raise self._error("there is no frame in it", TruncatedError)
            return None
        if not blanks or COUNT.fullmatch(line) is None:
            if b"\0" in line:
                raise self._error("a NUL stands in the text", FormatError)
            title, line = decoded(line.removeprefix(BOM)), window.next_line()
        else:
            title = ""
        if line is None:
            raise self._error("the file ends before the number of atoms", TruncatedError)
        found = COUNT.fullmatch(line)
        if not window.terminated and (found is not None or not line.strip()):
            raise self._error("the file ends inside the number of atoms", TruncatedError)
        if found is None:
            raise self._error(f"the number of atoms is due, not {quote(decoded(line.strip()))}", FormatError)
        return title, int(found[1])

    def _atoms(self, count: int) -> bytes | None:
        """Pass the atom lines."""
        window, start = self._window, self._window.offset
        if self._keep:
            window.mark()
        found = window.skip_lines(count) if count else 0
        self._size = window.offset - start
        data = window.take() if self._keep else None
        if found < count:
            raise self._error(f"the file ends after {found} of {count} atom lines", TruncatedError)
        return data

    def _box(self, last: bytes) -> tuple[bytes, int, bool]:
        """The box line, where it stands, and whether it has a line end."""
        window = self._window
        number, line = window.line, window.next_line()
        if line is None:
            raise self._error("the file ends before the box line", TruncatedError)
        if self._ordinal and not window.terminated and is_cut(line, last):
            raise self._error("the file ends inside the box line", TruncatedError)
        return line, number, window.terminated

    def _error(self, message: str, kind: type[FormatError]) -> FormatError:
        return kind(message, path=self._path, line=max(self._window.line - 1, 1), frame=self._ordinal)


def is_cut(line: bytes, last: bytes) -> bool:
    """Whether a box line without a line end seems to lack some of its end.

    It has fewer numbers than the one of the frame before, or its last number has other decimals than the rest.
    """
    words = line.split()
    if not words or (last and len(words) != len(last.split())):
        return True
    decimals = {len(found[1]) if (found := NUMBER_AT_END.search(word)) else -1 for word in words}
    return len(decimals) > 1
