"""The members of archives, in order, one at a time; nothing is written under a name that an archive states."""

from __future__ import annotations

import calendar
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from posixpath import normpath
from tarfile import (  # type: ignore[attr-defined]
    EmptyHeaderError,
    InvalidHeaderError,
    TruncatedHeaderError,
)
from typing import IO, Any, BinaryIO

from molrec_convert.errors import FormatError
from molrec_convert.text.faults import StreamError
from molrec_convert.text.streams import ByteStream, open_stream

from .names import printable
from .settings import Limits

FAULTS = (tarfile.TarError, zipfile.BadZipFile, StreamError, EOFError, zlib.error, NotImplementedError, RuntimeError)
"""What reading damaged archives raises; `RuntimeError` is for members that are encrypted."""
TAR_BLOCK, USTAR = 512, slice(257, 262)
ZIP = (b"PK\3\4", b"PK\5\6")
PIECE = 1 << 16
KEPT = 4 << 20
"""Bytes at the beginning of a member that can be read once more, which is what recognising it takes."""
LATEST = 9e9
"""The last second whose nanoseconds a database holds."""
OTHERS = ((b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07", "RAR"))
"""Archives that nothing here reads."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive.

    Parameters
    ----------
    ordinal
        Its number.
    place
        Its path in the archive, as text that can be printed.
    key
        What tells it from all others: its path, with a number where another before it has the same.
    size, modified
        Bytes when unpacked, and the time of its last change in nanoseconds.
    refused, skipped
        As for `walk.Entry`.
    opened
        Opens it, until the next member is asked for.
    target
        The path in the archive to which a link leads.
    """

    ordinal: int
    place: str
    size: int
    modified: int | None
    refused: str | None
    skipped: str | None
    opened: Callable[[], BinaryIO]
    key: str = ""
    target: str | None = None


def archive_kind(name: str, head: bytes) -> str | None:
    """What kind of archive a file is that begins so when decompressed: ``tar``, ``zip``, another's name, or None."""
    lower = name.lower()
    if head.startswith(ZIP):  # many programs pack their own formats so
        return "zip" if lower.endswith(".zip") else None
    if (other := next((kind for magic, kind in OTHERS if head.startswith(magic)), None)) is not None:
        return other
    if head[USTAR] == b"ustar" or (".tar" in lower or lower.endswith((".tgz", ".tbz2", ".txz", ".tzst"))):
        try:
            tarfile.TarInfo.frombuf(head[:TAR_BLOCK], "utf-8", "surrogateescape")
        except tarfile.TarError:
            return None
        return "tar"
    return None


def members(kind: str, file: BinaryIO, name: str, limits: Limits) -> Iterator[Member]:
    """The members of an archive.

    Parameters
    ----------
    kind
        ``tar`` or ``zip``.
    file
        The archive at its first byte; a compressed tar is recognised.
    name
        What to call it.
    limits
        What it may expand to.

    Raises
    ------
    FormatError
        Where the archive is damaged or cut short, or expands to more than it may; the members before were yielded.
    """
    seen: dict[str, int] = {}
    try:
        for member in _tar(file, name, limits) if kind == "tar" else _zip(file, name, limits):
            place = member.place
            seen[place] = seen.get(place, 0) + 1
            yield replace(member, key=place if seen[place] == 1 else f"{place}#{seen[place]}")
    except FAULTS as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(f"the archive is damaged or cut short: {said}", path=name) from None


class _Forward(io.RawIOBase, BinaryIO):
    """A member that is read from its first byte to its last; no file of the system.

    Parameters
    ----------
    packed
        The member.
    read
        What was read of it before, where it cannot be read twice; what is read is added.
    """

    def __init__(self, packed: IO[bytes] | None, read: bytearray | None = None) -> None:
        assert packed is not None
        self._packed, self._kept = packed, read
        self._again = b"" if read is None else bytes(read)

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read what is next."""
        if self._again:
            end = len(self._again) if size < 0 else size
            data, self._again = self._again[:end], self._again[end:]
            return data if size >= 0 else data + self._more(-1)
        return self._more(size)

    def _more(self, size: int) -> bytes:
        data = self._packed.read(size)
        if self._kept is not None:
            self._kept += data[: KEPT + 1 - len(self._kept)]
        return data

    def readinto(self, buffer: Any) -> int:
        """Fill what can be filled."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the member, not the archive."""
        super().close()


# ---------------------------------------------------------------- tar
class Watched:
    """A decompressed stream that refuses to become far larger than what it comes from."""

    def __init__(self, stream: ByteStream, name: str, limits: Limits) -> None:
        self._stream, self._name, self._limits = stream, name, limits
        self._given = 0

    def read(self, size: int) -> bytes:
        """Read what is next; `FormatError` where that is too much."""
        data = self._stream.read(size)
        self._given += len(data)
        if self._stream.compression is not None:
            _check_ratio(self._given, self._stream.position_in_file(), self._name, self._limits)
        return data


def _check_ratio(expanded: int, stored: int, name: str, limits: Limits) -> None:
    if limits.ratio and expanded > limits.SMALL and expanded > limits.ratio * stored:
        message = f"it expands to more than {limits.ratio:g} times its size, as a bomb does; --max-ratio allows it"
        raise FormatError(message, path=name)


class _Header(tarfile.TarInfo):
    """A header that is an error where it is damaged; the library takes it for the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _Header:
        """Read the next one."""
        try:
            return super().fromtarfile(archive)
        except EmptyHeaderError:
            raise tarfile.ReadError("there is no end mark") from None
        except (InvalidHeaderError, TruncatedHeaderError) as error:
            raise tarfile.ReadError(str(error)) from None


def _tar(file: BinaryIO, name: str, limits: Limits) -> Iterator[Member]:
    stream = open_stream(None, file=file, name=name)
    watched: Any = Watched(stream, name, limits)
    opened = partial(tarfile.open, fileobj=watched, mode="r|", encoding="utf-8", errors="surrogateescape")
    with opened(tarinfo=_Header) as archive:
        listed: list[object] = archive.members  # type: ignore[attr-defined]
        for ordinal, info in enumerate(archive):
            listed.clear()  # or an archive of many files would fill the memory
            if not info.isdir():
                yield _of_tar(archive, info, ordinal)
        rest: Any = archive.fileobj
        while data := rest.read(PIECE):
            if data.strip(b"\0"):
                raise tarfile.ReadError("there is more behind its end mark")
    if stream.truncated:
        raise tarfile.ReadError(f"the {stream.compression} data ends early")


def _of_tar(archive: tarfile.TarFile, info: tarfile.TarInfo, ordinal: int) -> Member:
    refused, skipped, led = place_fault(info.name), None, None
    if refused is None and (info.issym() or info.islnk()):
        refused, skipped, led = link_fault(info.name, info.linkname, is_symbolic=info.issym())
    elif refused is None and not info.isreg():
        refused = "a device or a pipe, not a file"

    files: list[IO[bytes] | None] = []
    read = bytearray()

    def opened() -> BinaryIO:
        if not files:
            files.append(archive.extractfile(info))
        if len(read) > KEPT:
            raise tarfile.StreamError("a member that was read on cannot be read once more")
        return _Forward(files[0], read)

    modified = int(info.mtime * 1e9) if abs(info.mtime) < LATEST else None
    return Member(ordinal, tidy(info.name), info.size, modified, refused, skipped, opened, target=led)


# ---------------------------------------------------------------- zip
def _zip(file: BinaryIO, name: str, limits: Limits) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        listed = archive.infolist()
        end = file.seek(0, 2)
        _check_ratio(sum(info.file_size for info in listed), end, name, limits)
        for ordinal, info in enumerate(listed):
            if not info.is_dir():
                yield _of_zip(archive, info, ordinal)


def _of_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, ordinal: int) -> Member:
    refused, skipped, led = place_fault(info.orig_filename), None, None
    mode = info.external_attr >> 16
    if refused is None and stat.S_ISLNK(mode):
        try:
            target = archive.read(info)[:4096].decode("utf-8", "backslashreplace")
            refused, skipped, led = link_fault(info.filename, target, is_symbolic=True)
        except FAULTS as error:
            refused = f"a link that cannot be read: {error}"
    elif refused is None and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        refused = "a device or a pipe, not a file"
    elif refused is None and info.flag_bits & 1:
        refused = "it is encrypted: unpack the archive first"
    try:
        modified = calendar.timegm((*info.date_time, 0, 0, 0)) * 10**9
    except ValueError:  # some programs write a month 0
        modified = None

    def opened() -> BinaryIO:
        return _Forward(archive.open(info))

    place = tidy(info.orig_filename.replace("\\", "/"))
    return Member(ordinal, place, info.file_size, modified, refused, skipped, opened, target=led)


# ---------------------------------------------------------------- names in archives
def place_fault(name: str) -> str | None:
    """Why a path in an archive is none that a member may have."""
    if not name.strip("/\\") or "\0" in name:
        return "a member without a name"
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:[/\\]", name):
        return "an absolute path in an archive"
    return "a path with .. in an archive" if ".." in re.split(r"[/\\]", name) else None


def link_fault(name: str, target: str, *, is_symbolic: bool) -> tuple[str | None, str | None, str | None]:
    """Why a link is refused; or else why it is skipped, and where it leads."""
    folder = name.rpartition("/")[0] if is_symbolic else ""
    led = normpath(f"{folder}/{target}" if folder else target)
    if target.startswith(("/", "\\")) or led == ".." or led.startswith("../"):
        return f"a link out of the archive, to {printable(target)}", None, None
    return None, f"a link to {printable(led)} of the same archive, which is migrated itself", tidy(led)


def tidy(name: str) -> str:
    """The path of a member without needless parts, as text that can be printed."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "/".join(printable(part) for part in parts) or printable(name)
