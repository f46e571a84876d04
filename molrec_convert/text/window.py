"""A forward view of a stream, by lines or by bytes, in flat memory."""

from __future__ import annotations

from collections.abc import Iterator

from . import engine
from .faults import StreamError
from .streams import ByteStream

CHUNK = 1 << 22
FAR = 4
"""Chunks behind a mark from which on bytes are dropped, to be read again: copying them as they grow takes longer."""
RUNS = 256
"""Runs of lines that are looked for at a time."""
LONGEST_LINE = 1 << 26
"""Where `Window.next_line` stops looking for a line end: the file is no text."""


class Window:
    """The cursor every importer moves through a stream.

    Bytes behind the cursor are dropped, unless a mark is set: then they are kept from there on
    until they are taken, or read once more then where they are many and the stream allows it.
    So memory is that of one frame, however long the stream.

    Parameters
    ----------
    stream
        What to read.
    chunk
        How many bytes to ask for at a time.
    """

    def __init__(self, stream: ByteStream, *, chunk: int = CHUNK) -> None:
        self.stream = stream
        self.line = 1
        """1-based number of the line at the cursor."""
        self.terminated = True
        """Whether the line last passed had a line end."""
        self.lined = True
        """Whether nothing but lines was passed, so that `line` is a place."""
        self._chunk = chunk
        self._buffer = bytearray(chunk)
        self._view = memoryview(self._buffer)
        self._base = 0  # place of the buffer's first byte in the stream
        self._cursor = 0
        self._stop = 0  # end of what the buffer holds
        self._mark: int | None = None
        self._far_mark: int | None = None  # place of the mark in the stream, once the bytes behind it are dropped
        self._ended = False

    @property
    def offset(self) -> int:
        """Place of the cursor in the decompressed stream."""
        return self._base + self._cursor

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, without passing them."""
        while self._stop - self._cursor < size and self._fill():
            pass
        return bytes(self._view[self._cursor : min(self._cursor + size, self._stop)])

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._cursor == self._stop and not self._fill()

    def next_line(self) -> bytes | None:
        """Pass one line and return it without its line end; None at the end."""
        searched = 0
        while True:
            found = self._buffer.find(b"\n", self._cursor + searched, self._stop)
            if found >= 0:
                break
            searched = self._stop - self._cursor
            if searched > LONGEST_LINE:
                raise StreamError(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            if not self._fill():
                return self._last_line()
        line = bytes(self._view[self._cursor : found])
        self._cursor = found + 1
        self.line += 1
        self.terminated = True
        return line.removesuffix(b"\r")

    def skip_looked_at(self, size: int, lines: int) -> None:
        """Pass whole lines that `peek` has shown."""
        self._cursor += size
        self.line += lines
        self.terminated = True

    def skip(self, size: int) -> int:
        """Pass up to `size` bytes of a file that has no lines; return how many there were.

        Nothing is counted in `line`, and `lined` is false from here on. Memory stays flat, however many bytes are
        asked for, unless a mark is set: then it grows with the bytes that are there, not with those asked for.
        """
        self.lined = False
        passed = 0
        while True:
            step = min(size - passed, self._stop - self._cursor)
            self._cursor += step
            passed += step
            if passed == size or not self._fill():
                return passed

    def skip_lines(self, count: int) -> int:
        """Pass up to `count` lines; return how many there were.

        A last line without a line end is a line too, and `terminated` tells it.
        """
        passed = 0
        inside = False  # whether the cursor stands inside a line
        while passed < count:
            found, after = engine.active.skip_lines(self._view[: self._stop], self._cursor, count - passed)
            passed += found
            if passed == count:
                self._cursor = after
                self.terminated = True
                break
            inside = after < self._stop or (inside and found == 0)
            self._cursor = self._stop
            if not self._fill():
                if inside or passed > 0:
                    self.terminated = not inside
                passed += inside
                break
        self.line += passed
        return passed

    def runs(self, head: int, body: int) -> Iterator[tuple[bytes, bytes]]:
        """The next runs of `head` and `body` lines, as long as they are in memory; asking for another passes one.

        Whoever finds that one is none stops asking, and the cursor stands before it. No mark is set meanwhile.
        """
        view, most = self._view[: self._stop], 1
        while found := engine.active.find_runs(view, self._cursor, head, body, most):
            for middle, end in found:
                yield bytes(view[self._cursor : middle]), bytes(view[middle:end])
                self._cursor = end
                self.line += head + body
                self.terminated = True
            if len(found) < most:
                return
            most = min(2 * most, RUNS)  # those that are not asked for were looked for in vain

    def skip_until(self, marks: list[bytes]) -> int:
        """Pass lines until one begins with one of `marks`, in any case; return how many were passed.

        All lines are passed where there is none.
        """
        passed = 0
        while True:
            seen = self._base + self._stop
            found, self._cursor = engine.active.find_line(self._view[: self._stop], self._cursor, marks)
            passed += found
            self.terminated = self.terminated or found > 0
            if self.begins(marks):
                break
            if self._base + self._stop > seen:  # looking at the line has read on
                continue
            if self._stop - self._cursor > LONGEST_LINE:
                raise StreamError(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            if not self._fill():
                if self._cursor < self._stop:
                    self._cursor = self._stop
                    self.terminated = False
                    passed += 1
                break
        self.line += passed
        return passed

    def begins(self, marks: list[bytes]) -> bool:
        """Whether the line at the cursor begins with one of `marks`, in any case."""
        return self.peek(max(map(len, marks))).upper().startswith(tuple(marks))

    def mark(self) -> None:
        """Keep the bytes from the cursor on, until they are taken."""
        self._mark, self._far_mark = self._cursor, None

    def take(self) -> bytes:
        """Return the bytes from the mark to the cursor and lift the mark."""
        if self._far_mark is not None:
            return self._read_again()
        if self._mark is None:
            raise ValueError("no mark is set")
        taken = bytes(self._view[self._mark : self._cursor])
        self._mark = None
        if len(self._buffer) > 4 * self._chunk and len(taken) * 4 < len(self._buffer):
            self._resize(max(self._chunk, 2 * (self._stop - self._cursor)))
        return taken

    def _read_again(self) -> bytes:
        assert self._far_mark is not None
        place, self._far_mark = self._far_mark, None
        taken = self.stream.read_at(place, self.offset - place)
        if place + len(taken) < self.offset:
            raise StreamError("the file has become shorter while it was read")
        return taken

    def _last_line(self) -> bytes | None:
        if self._cursor == self._stop:
            return None
        line = bytes(self._view[self._cursor : self._stop])
        self._cursor = self._stop
        self.line += 1
        self.terminated = False
        return line.removesuffix(b"\r")

    def _fill(self) -> bool:
        """Read on; False at the end."""
        if self._ended:
            return False
        if self._stop == len(self._buffer) or self._kept() == self._stop:
            self._make_room()
        count = self.stream.readinto(self._view[self._stop : self._stop + self._chunk])
        self._stop += count
        self._ended = count == 0
        return count > 0

    def _kept(self) -> int:
        """Return where the bytes still needed begin."""
        return self._cursor if self._mark is None else self._mark

    def _make_room(self) -> None:
        """Have free space at the end: move what is kept to the front, or double the buffer."""
        if self._mark is not None and self.stream.seekable and self._stop - self._mark >= FAR * self._chunk:
            self._far_mark, self._mark = self._base + self._mark, None
        kept = self._kept()
        size = self._stop - kept
        if 2 * size > len(self._buffer):
            self._resize(2 * len(self._buffer))
            return
        self._view[:size] = self._view[kept : self._stop]
        self._shift(kept)

    def _resize(self, capacity: int) -> None:
        """Put what is kept into a buffer of another size."""
        kept = self._kept()
        buffer = bytearray(capacity)
        buffer[: self._stop - kept] = self._view[kept : self._stop]
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._shift(kept)

    def _shift(self, kept: int) -> None:
        self._base += kept
        self._cursor -= kept
        self._stop -= kept
        if self._mark is not None:
            self._mark -= kept
