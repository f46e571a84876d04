"""A foreign file as a source of frames: opened once, its bytes counted and hashed as they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .adapter import Adapter, Importer, Note, Span
from .errors import ConvertError, FormatError, OptionError, TruncatedError
from .frames import FrameSelection
from .headstart import HeadStart
from .sniff import HEAD, source_adapter
from .text.faults import StreamError
from .text.streams import ByteStream, open_stream
from .text.window import CHUNK, Window


class Hashing:
    """A binary file that hashes what is read of it.

    Parameters
    ----------
    raw
        The file, at its beginning.
    begun
        A checksum of its first bytes, which goes on until more is read than a first piece.
    """

    def __init__(self, raw: Any, begun: HeadStart | None = None) -> None:
        self._raw = raw
        self._begun = begun
        self._digest: Any = hashlib.sha256()
        self._hashed = 0
        self.size = 0

    def hexdigest(self) -> str:
        """The checksum of what was read."""
        self._take_over()
        digest: str = self._digest.hexdigest()
        return digest

    def read(self, size: int = -1, /) -> bytes:
        """Read and hash."""
        data: bytes = self._raw.read(size) or b""
        self._hash(data)
        return data

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill a buffer and hash what it got."""
        if hasattr(self._raw, "readinto"):
            count: int = self._raw.readinto(buffer) or 0
        else:
            data = self._raw.read(len(buffer))
            count = len(data)
            buffer[:count] = data
        self._hash(buffer[:count])
        return count

    def _hash(self, data: bytes | memoryview) -> None:
        first, self.size = self.size, self.size + len(data)
        if self._begun is not None:
            if first == 0 and self.size <= self._begun.size:  # looked at, before frames are read in earnest
                return
            self._take_over()
        if self._hashed < self.size:
            self._digest.update(data if self._hashed <= first else data[self._hashed - first :])
            self._hashed = self.size

    def _take_over(self) -> None:
        if self._begun is not None:
            self._digest, self._hashed = self._begun.taken()
            self._begun = None

    def fileno(self) -> int:
        """The descriptor of the file."""
        return int(self._raw.fileno())

    def tell(self) -> int:
        """Where the file stands."""
        return int(self._raw.tell())

    def seek(self, place: int, /) -> None:
        """Begin again where the checksum begins; bytes that come a second time are not hashed twice."""
        self._raw.seek(place)
        self.size = 0

    def close(self) -> None:
        """Close the file."""
        self._take_over()
        self._raw.close()


class Source:
    """A foreign file that frames are read from.

    Parameters
    ----------
    path
        The file; None for `stream`.
    stream
        A binary stream, read once from where it stands.
    checksum
        The checksum of the file, begun before.
    """

    def __init__(self, path: Path | None, stream: BinaryIO | None = None, *, checksum: HeadStart | None = None) -> None:
        self.path = path
        self.name = "standard input" if path is None else path.name
        self.notes: list[Note] = []
        self.size: int | None = None
        self.frames_seen = 0
        self._given, self._checksum = stream, checksum
        self._hashing: Hashing | None = None
        self._complete = False
        self._stream: ByteStream | None = None

    def open(self) -> bytes:
        """Open the file from its beginning and give its first bytes, decompressed."""
        self.close()
        try:
            self._stream = self._opened()
            self.window = Window(self._stream)
            return self.window.peek(HEAD)
        except (OSError, StreamError) as error:
            raise self._stream_error(error, lined=False) from None

    def _opened(self) -> ByteStream:
        if self.path is None:
            self._hashing = Hashing(self._given)
        else:
            checksum, self._checksum = self._checksum, None  # the file is opened again where frames count from its end
            begun = checksum if checksum is not None and checksum.path == self.path else None
            self._hashing = Hashing(_open(self.path), begun)
        stream = open_stream(None, file=self._hashing, name=self.name)
        self.size = stream.size
        return stream

    def adapter(self, head: bytes) -> Adapter:
        """The adapter that reads the file."""
        return source_adapter(self.name, head)

    @property
    def position(self) -> int:
        """How many bytes of the file were read, of `size`."""
        return 0 if self._stream is None else self._stream.position_in_file()

    def part_before(self, span: Span) -> float | None:
        """The part of the file before the end of a span; of a compressed one, what was read of it by then."""
        if not self.size:
            return None
        return (self.position if self.is_compressed else span.offset + span.size) / self.size

    @property
    def sha256(self) -> str | None:
        """The checksum of the file; None unless all of it was read."""
        return self._hashing.hexdigest() if self._complete and self._hashing is not None else None

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    @property
    def is_compressed(self) -> bool:
        """Whether the file is compressed."""
        return self._stream is not None and self._stream.compression is not None

    def copy_to(self, file: BinaryIO, *, strict: bool) -> None:
        """Write what the file holds, decompressed, to another file."""
        try:
            while data := self.window.peek(CHUNK):
                file.write(data)
                self.window.skip(len(data))
            self._finish(strict=strict)
        except (OSError, StreamError) as error:
            raise self._stream_error(error) from None

    # ------------------------------------------------------------ frames
    def spans(self, importer: Importer, selection: FrameSelection, *, strict: bool) -> Iterator[Span]:
        """The spans of the chosen frames, with their bytes."""
        assert self._stream is not None
        if selection.everything:
            for span in self._indexed(importer, keep=True, strict=strict):
                yield span if span.data is not None else self._with_data(span)
            return
        if selection.needs_total:
            if self.path is None:
                raise OptionError("frames of a stream cannot be counted from its end")
            total = sum(1 for _ in self._indexed(importer, keep=False, strict=strict))
            chosen = set(selection.of(total, self.name))
            self.notes.clear()
            self.open()
            wanted: Callable[[int], bool] = chosen.__contains__
            last: int | None = max(chosen, default=-1)
        else:
            wanted, last = selection.picks, selection.last()
        keep = not self._stream.seekable
        given = False
        for span in self._indexed(importer, keep=keep, strict=strict):
            if wanted(span.ordinal):
                given = True
                yield span if span.data is not None else self._with_data(span)
            if given and last is not None and span.ordinal >= last:
                return
        if not selection.needs_total and (beyond := list(selection.missing(self.frames_seen))):
            raise OptionError(f"there is no frame {beyond[0]} among {self.frames_seen}", path=self.name)
        if not given and self.frames_seen:
            raise selection.none_of(self.frames_seen, self.name)

    def _with_data(self, span: Span) -> Span:
        assert self._stream is not None
        data = self._stream.read_at(span.offset, span.size)
        return span._replace(data=data)

    def _indexed(self, importer: Importer, *, keep: bool, strict: bool) -> Iterator[Span]:
        """Index to the end; a file cut short gives its whole frames, unless that is forbidden."""
        self.frames_seen = 0
        try:
            for span in importer.index(self.window, keep=keep):
                self.frames_seen = span.ordinal + 1
                yield span
            self._finish(strict=strict)
        except TruncatedError as error:
            if strict or not self.frames_seen:
                raise self._located(error) from None
            self.notes.append(cut_short(error, self.frames_seen))
            self._finish()
        except FormatError as error:
            raise self._located(error) from None
        except (OSError, StreamError) as error:
            raise self._stream_error(error) from None

    def _finish(self, *, strict: bool = False) -> None:
        while self.window.skip_lines(1 << 40):
            pass
        assert self._stream is not None
        if self._stream.truncated:
            message = f"the {self._stream.compression} data ends early: the file is cut short"
            if strict:
                raise TruncatedError(message, path=self.name)
            self.notes.append(Note(message, loss=True))
        self._complete = True

    def _located(self, error: FormatError) -> FormatError:
        error.path = self.name if error.path is None else error.path
        return error

    def _stream_error(self, error: Exception, *, lined: bool = True) -> ConvertError:
        if isinstance(error, OSError):
            return ConvertError((error.strerror or str(error)).lower(), path=self.path or self.name)
        line = self.window.line if lined and self.window.lined else None
        return FormatError(str(error), path=self.name, line=line)


def cut_short(error: FormatError, whole: int, *, what: str = "truncated: ") -> Note:
    """What a person is told of a file that ends inside a frame, after so many whole ones."""
    kept = "the whole frame before is kept" if whole == 1 else f"the {whole} whole frames before are kept"
    return Note(f"{what}{error.message}; {kept}", line=error.line, frame=error.frame, loss=True)


def _open(path: Path) -> BinaryIO:
    if path.is_dir():
        raise ConvertError("a folder, not a file", path=path)
    return path.open("rb", buffering=0)
