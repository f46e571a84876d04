"""Where the frames of an XYZ file lie: count line, comment line, as many atom lines, and what may stand between frames.

Decisions: blank lines between frames are nothing. ``VEC1 x y z`` lines after the atoms are cell vectors (ASE, ADF).
Lines after a whole frame that are no frame are left out with a note; a frame may follow them. But a line that looks
like one more atom is an error, since the number of atoms is wrong then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.faults import quote
from molrec_convert.text.lines import BOM, decoded
from molrec_convert.text.window import Window

from ._xyz_values import number

COUNT = re.compile(rb"\s*\+?([0-9]{1,18})(?:\s+([^\0]*\S))?\s*")
VECTOR = re.compile(rb"[ \t]*VEC[123][ \t]")
LOOK = (1 << 12, 1 << 16)
"""How many bytes after a line are looked at to tell whether a frame begins with it: these, else those."""


@dataclass(slots=True)
class FrameText:
    """A frame of the file, not yet looked into.

    Parameters
    ----------
    ordinal, line
        Its number, and the line of its first atom.
    count, title, comment
        The number of atoms, what stands behind it, and the comment line.
    offset, size
        Where the atom lines are.
    data
        The atom lines.
    terminated
        Whether the last of them has a line end.
    vectors
        The cell vectors behind the atoms.
    notes
        What was found behind the frame.
    """

    ordinal: int
    line: int
    count: int
    title: str
    comment: bytes
    offset: int = 0
    size: int = 0
    data: bytes = b""
    terminated: bool = True
    vectors: list[tuple[float, ...]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class Head:
    """A line with a number of atoms, and what stands behind it."""

    count: int
    title: bytes | None
    line: bytes


class FrameWalk:
    """Walks through a file frame by frame.

    Parameters
    ----------
    window
        The file, from its first byte.
    path
        Its name.
    width_of
        How many columns an atom line of a frame has at least.
    strict
        Whether lines that are no frame are refused.
    """

    def __init__(self, window: Window, path: str, width_of: Callable[[FrameText], int], *, strict: bool) -> None:
        self._window = window
        self._path = path
        self._width_of = width_of
        self._strict = strict
        self._ordinal = 0

    def frames(self) -> Iterator[FrameText]:
        """The frames in order.

        Raises
        ------
        TruncatedError
            Where the file ends inside a frame.
        FormatError
            Where a number of atoms is due and none stands.
        """
        head = self._first()
        while head is not None:
            yield from self._repeats(head)
            frame = self._frame(head, self._ordinal)
            self._ordinal += 1
            try:
                head = self._next(frame)
            except FormatError:
                yield frame  # what is wrong in it comes first
                raise
            yield frame

    def _repeats(self, head: Head) -> Iterator[FrameText]:
        """The next frames, while they are in memory as a whole and the same number of atoms follows them."""
        if not head.count or head.title is not None:
            return
        window = self._window
        number = head.line + b"\n"
        for line, rows in window.runs(1, head.count + 1):
            comment = line[:-1].removesuffix(b"\r")
            if not rows.endswith(number) or rows[-len(number) - 1 : -len(number)] != b"\n" or _may_be_tinker(comment):
                return
            data = rows[: -len(number)]
            frame = FrameText(self._ordinal, window.line + 1, head.count, "", comment, window.offset + len(line))
            frame.size, frame.data = len(data), data
            self._ordinal += 1
            yield frame

    # ------------------------------------------------------------ one frame
    def _frame(self, head: Head, ordinal: int) -> FrameText:
        window = self._window
        comment = window.next_line()
        if comment is None or (head.count and not window.terminated):
            where = "before" if comment is None else "inside"
            raise self._cut(f"the file ends {where} the comment line", ordinal)
        if _is_tinker(comment.split()):
            raise self._error("a comment line is due, not an atom: this is a Tinker file, no XYZ", ordinal)
        frame = FrameText(ordinal, window.line, head.count, decoded(head.title or b""), comment, window.offset)
        if head.count:
            window.mark()
            found = window.skip_lines(head.count)
            if found < head.count:
                raise self._cut(f"the file ends after {found} of {head.count} atom lines", ordinal)
            frame.size, frame.terminated = window.offset - frame.offset, window.terminated
            frame.data = window.take()
        if not frame.terminated and _is_cut(frame.data, self._width_of(frame)):
            raise self._cut(f"the file ends inside the last of {head.count} atom lines", ordinal)
        frame.vectors = self._vectors(ordinal)
        return frame

    def _cut(self, message: str, ordinal: int) -> TruncatedError:
        return TruncatedError(message, line=self._window.line - 1, frame=ordinal)

    def _vectors(self, ordinal: int) -> list[tuple[float, ...]]:
        vectors: list[tuple[float, ...]] = []
        while VECTOR.match(self._window.peek(16)):
            line = self._window.next_line() or b""
            words = line.split()
            numbers = [number(decoded(word)) for word in words[1:]]
            vector = tuple(value for value in numbers if value is not None and math.isfinite(value))
            if words[0] != b"VEC%d" % (len(vectors) + 1) or not len(numbers) == len(vector) == 3:
                due = f"VEC{len(vectors) + 1} and three numbers"
                raise self._error(f"{due} are due, not {_quoted(line)}", ordinal)
            vectors.append(vector)
        return vectors

    # ------------------------------------------------------------ between frames
    def _first(self) -> Head | None:
        line = self._window.next_line()
        if line is not None and line.startswith(BOM):
            line = line[len(BOM) :]
        if line is not None and not line.strip():
            line = self._line()
        if line is None:
            return None
        head = head_of(line)
        if head is None:
            raise self._error(f"the number of atoms is due, not {_quoted(line)}")
        return head

    def _next(self, frame: FrameText) -> Head | None:
        """The head of the next frame; None at the end of the file. What is no frame is noted in the one before."""
        line = self._line()
        if line is None:
            return None
        head = head_of(line)
        odd = head is not None and head.title and _is_number(head.title.split(None, 1)[0])
        if head is not None and (not odd or self._begins_frame(head)):
            return head
        if _is_atom_line(line, frame):
            message = f"the number of atoms is due, not one more atom line: the frame before has {frame.count}"
            raise self._error(message)
        if self._strict:
            raise self._error(f"this is no frame: {_quoted(line)}")
        where, first, left_out, head = self._window.line - 1, _quoted(line), 1, None
        while head is None and (line := self._line()) is not None:
            head = head_of(line)
            if head is None or head.title or not self._begins_frame(head):
                left_out, head = left_out + 1, None
        what = "a line is no frame, and is" if left_out == 1 else f"{left_out} lines are no frame, and are"
        frame.notes.append(Note(f"{what} left out: {first}", line=where, frame=frame.ordinal))
        return head

    def _begins_frame(self, head: Head) -> bool:
        """Whether a frame begins with a number of atoms, by what follows it."""
        near, far = LOOK
        text = self._window.peek(near)
        return begins_frame(text if text.count(b"\n") > 1 else self._window.peek(far), head)

    def _line(self) -> bytes | None:
        """The next line that is not blank."""
        window = self._window
        line = window.next_line()
        while line is not None and not line.strip():
            while blank := _blank_lines(window.peek(BLANKS)):
                window.skip_lines(blank)
            line = window.next_line()
        return line

    def _error(self, message: str, ordinal: int | None = None) -> FormatError:
        frame = self._ordinal if ordinal is None else ordinal
        return FormatError(message, path=self._path, line=self._window.line - 1, frame=frame)


BLANKS = 1 << 16
"""How many bytes are looked at for blank lines."""


def _blank_lines(text: bytes) -> int:
    """How many blank lines a text begins with."""
    return text[: len(text) - len(text.lstrip())].count(b"\n")


def head_of(line: bytes) -> Head | None:
    """The number of atoms that a line states, and the text behind it."""
    match = COUNT.fullmatch(line)
    return Head(int(match[1]), match[2], line) if match else None


def is_origin(head: Head) -> bool:
    """Whether three numbers follow the one of atoms, as in a cube, the comments of which may be blank."""
    words = (head.title or b"").split()
    return len(words) >= 3 and all(map(_is_number, words[:3]))


def begins_frame(text: bytes, head: Head) -> bool:
    """Whether what follows a number of atoms is a comment line and atom lines, two where prose may begin with it."""
    count = head.count
    comment, _, rest = text.partition(b"\n")
    rows = [line.split() for line in rest.split(b"\n", ROWS)[:ROWS]]
    if not count:
        return not rest.strip() or head_of(rest.split(b"\n", 1)[0]) is not None
    rows = [row for row in rows[:count] if row]
    if len(rows) < min(count, 2 if head.title else 1):
        return False
    return b"Properties=" in comment or all(map(is_atom_row, rows))


ROWS = 3
"""How many atom lines are looked at to tell a frame."""


def is_atom_row(tokens: list[bytes]) -> bool:
    """Whether tokens are a label and three numbers, perhaps behind the number of the atom."""
    return (len(tokens) >= 4 and all(map(_is_place, tokens[1:4]))) or is_numbered(tokens)


def is_numbered(tokens: list[bytes]) -> bool:
    """Whether tokens are the number of an atom, its label and three numbers."""
    return len(tokens) >= 5 and tokens[0].isdigit() and not _is_number(tokens[1]) and all(map(_is_place, tokens[2:5]))


def _may_be_tinker(comment: bytes) -> bool:
    return comment.lstrip().startswith(b"1")


def _is_tinker(tokens: list[bytes]) -> bool:
    """Whether tokens are the first atom of a Tinker file: its number, label, place, type and bonded atoms."""
    return tokens[:1] == [b"1"] and len(tokens) >= 6 and is_numbered(tokens) and all(map(bytes.isdigit, tokens[5:]))


def _is_atom_line(line: bytes, frame: FrameText) -> bool:
    tokens = line.split()
    first = frame.data.split(b"\n", 1)[0].split()
    alike = len(tokens) == len(first) > 1 and all(map(_are_alike, tokens, first))
    return alike or (is_atom_row(tokens) and not _is_number(tokens[0]))


def _are_alike(one: bytes, other: bytes) -> bool:
    return _is_number(one) == _is_number(other)


def _is_number(token: bytes) -> bool:
    return number(decoded(token)) is not None


def _is_place(token: bytes) -> bool:
    """Whether a token stands for a number: it is one, or a field that was too narrow for it."""
    return _is_number(token) or not token.strip(b"*")


def _is_cut(data: bytes, width: int) -> bool:
    """Whether a last line without a line end surely lacks something: a column, or decimals that all others have."""
    lines = data.split(b"\n")
    last, others = lines[-1].split(), [line.split() for line in lines[:-1]]
    if len(last) < max(width, min(map(len, others), default=0)):
        return True
    model = others[-1] if others else [b"", b"0", b"0", b"0"]
    if len(last) == len(model) and _is_number(model[-1]) and not _is_place(last[-1]):
        return True
    widths = {len(row) for row in others}
    decimals = {_decimals(row[-1]) for row in others if row}
    fixed = len(widths) == len(decimals) == 1 < len(others) and min(decimals) >= FEWEST_DECIMALS
    return fixed and len(last) == len(others[0]) and _decimals(last[-1]) < min(decimals)


def ends_alike(data: bytes) -> bool:
    """Whether the last number has as many decimals as that of the line before, so that it is surely whole."""
    lines = data.rsplit(b"\n", 2)[-2:]
    last, before = lines[-1].split(), lines[0].split()
    return len(lines) == 2 and bool(last and before) and _decimals(last[-1]) == _decimals(before[-1]) > 0


def _decimals(token: bytes) -> int:
    return len(token.partition(b".")[2])


FEWEST_DECIMALS = 3
"""From how many decimals on a column is written with a fixed number of them, if all its numbers have as many."""


def _quoted(line: bytes) -> str:
    return quote(decoded(line.strip()))
