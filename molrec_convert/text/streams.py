"""A file, plain or compressed, as one run of bytes read forward."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from .compression import HEAD, Compression, Decompressor, recognise
from .faults import StreamError

__all__ = ["ByteStream", "StreamError", "open_stream"]

PIECE = 1 << 17


class Source(Protocol):
    """What is asked of an open binary file."""

    def read(self, size: int, /) -> bytes | None:
        """Read up to `size` bytes."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill what can be filled."""

    def fileno(self) -> int:
        """Return the file's descriptor."""

    def close(self) -> None:
        """Close the file."""


class ByteStream:
    """The decompressed bytes of a file, read forward.

    Parameters
    ----------
    name
        What to call it in messages.
    raw
        The open binary file; closed with the stream.
    head
        Bytes already read from `raw` that belong to the stream.
    origin
        Place in the file where the stream begins.
    compression
        How it is compressed, None for plain.
    """

    def __init__(
        self,
        name: str,
        raw: Source,
        *,
        head: bytes = b"",
        origin: int = 0,
        seekable: bool = False,
        size: int | None = None,
        compression: Compression | None = None,
    ) -> None:
        self.name = name
        self.seekable = seekable
        """Whether `read_at` works: a plain regular file, on a system that has pread."""
        self.size = size
        """Bytes of the file as stored, None where that is unknown."""
        self.compression = None if compression is None else compression.name
        self.truncated = False
        """Whether the compressed data turned out to end inside a member."""
        self._raw = raw
        self._head = head
        self._origin = origin
        self._consumed = 0
        self._members = None if compression is None else Members(compression, self)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the start of `buffer`; return how many bytes, 0 only at the end."""
        if not len(buffer):
            return 0
        if self._members is None:
            return self.read_stored_into(buffer)
        data = self._members.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, fewer only at the end; all that is left by default."""
        parts: list[bytes] = []
        left = size
        while left != 0:
            piece = bytearray(PIECE if left < 0 else min(left, PIECE))
            count = self.readinto(memoryview(piece))
            if count == 0:
                break
            parts.append(bytes(piece[:count]))
            left -= count if left > 0 else 0
        return b"".join(parts)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return the bytes from `offset`, fewer only at the end; any thread may ask."""
        if not self.seekable:
            raise StreamError(f"{self.name} can only be read forward")
        parts: list[bytes] = []
        position, left = self._origin + offset, size
        while left > 0:
            part = os.pread(self._raw.fileno(), left, position)
            if not part:
                break
            parts.append(part)
            position += len(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def position_in_file(self) -> int:
        """Return how many stored bytes were read so far, to be compared with `size`."""
        return self._consumed

    def read_stored(self, size: int) -> bytes:
        """Return up to `size` bytes as they are stored; empty only at the end."""
        data, self._head = self._head[:size], self._head[size:]
        data = data or self._raw.read(size) or b""
        self._consumed += len(data)
        return data

    def read_stored_into(self, buffer: memoryview) -> int:
        """Fill the start of `buffer` with bytes as they are stored."""
        if self._head:
            data = self.read_stored(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        count = self._raw.readinto(buffer) or 0
        self._consumed += count
        return count

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Members:
    """The members of a compressed stream, one after the other."""

    def __init__(self, compression: Compression, stream: ByteStream) -> None:
        self._compression = compression
        self._stream = stream
        self._make, self._bad_data = compression.load()
        self._member: Decompressor | None = None
        self._waiting = b""  # stored bytes not yet given to a member

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none only at the end."""
        while not self._stream.truncated:
            if self._member is None and not self.find_member():
                break
            try:
                data = self.advance(size)
            except (self._bad_data, EOFError):
                place = self._stream.position_in_file()
                raise StreamError(f"the {self._compression.name} data is damaged before byte {place}") from None
            if data:
                return data
        return b""

    def find_member(self) -> bool:
        """Begin the next member, if there is one; zeros between members are padding."""
        while True:
            self._waiting = self._waiting.lstrip(b"\0")
            if self._waiting:
                break
            self._waiting = self._stream.read_stored(PIECE)
            if not self._waiting:
                return False
        if not self._compression.may_begin(self._waiting):
            name = self._compression.name
            raise StreamError(f"the {name} data is followed by bytes that are not {name}")
        self._member = self._make()
        return True

    def advance(self, size: int) -> bytes:
        """Return what the member gives next; note its end, or the early end of the file."""
        member = self._member
        assert member is not None
        if not self._waiting and member.needs_input:
            self._waiting = self._stream.read_stored(PIECE)
            if not self._waiting:
                self._stream.truncated = True
                return b""
        waiting, self._waiting = self._waiting, b""
        data = member.decompress(waiting, size)
        if member.eof:
            self._waiting = member.unused_data
            self._member = None
        return data


def open_stream(path: Path | None, *, file: Any = None, name: str | None = None) -> ByteStream:
    """Open a file to be read forward; its first bytes tell whether it is compressed.

    Parameters
    ----------
    path
        The file, which may be a pipe; None to read `file`.
    file
        An open binary file, such as standard input.
    name
        What to call it in messages: the path, or ``standard input``.
    """
    raw = file if path is None else path.open("rb", buffering=0)
    if raw is None:
        raise ValueError("either a path or an open file is needed")
    try:
        return recognise_stream(raw, name or ("standard input" if path is None else str(path)))
    except BaseException:
        if path is not None:
            raw.close()
        raise


def recognise_stream(raw: Any, name: str) -> ByteStream:
    """Look at the first bytes of an open file."""
    regular = is_regular(raw)
    origin = raw.tell() if regular else 0
    head = b""
    while len(head) < HEAD:
        more = raw.read(HEAD - len(head))
        if not more:
            break
        head += more
    compression = recognise(head)
    size = os.fstat(raw.fileno()).st_size - origin if regular else None
    if regular:
        raw.seek(origin)
        head = b""
    return ByteStream(
        name,
        raw,
        head=head,
        origin=origin,
        seekable=regular and compression is None and hasattr(os, "pread"),
        size=size,
        compression=compression,
    )


def is_regular(raw: Any) -> bool:
    """Whether the file lies on a disk, so that any place of it can be read."""
    try:
        return stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
    except OSError:  # io.UnsupportedOperation: a file without a descriptor
        return False
