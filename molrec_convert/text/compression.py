"""Compressed data as it comes: recognised by its first bytes, decompressed member by member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

HEAD = 10
"""How many first bytes tell every compression."""


class Decompressor(Protocol):
    """One member of a compressed file: the interface of the standard library's bz2 and lzma."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""

    @property
    def needs_input(self) -> bool:
        """Whether more compressed bytes are needed before more can come out."""

    @property
    def unused_data(self) -> bytes:
        """What was given behind the end of the member."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return up to `max_length` bytes of what is packed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A way to compress: its name, how a member begins, and how it is undone."""

    name: str
    magic: tuple[bytes, ...]
    load: Callable[[], tuple[Callable[[], Decompressor], type[Exception]]]
    """Import what is needed; return the maker of decompressors and the error of bad data."""
    full_magic: tuple[bytes, ...] = ()
    """Longer beginnings, where the magic alone could be the first word of a text."""

    def begins(self, head: bytes) -> bool:
        """Whether a file with these first bytes is of this kind."""
        return head.startswith(self.full_magic or self.magic)

    def may_begin(self, rest: bytes) -> bool:
        """Whether these bytes, perhaps cut short, may begin another member."""
        return any(rest[: len(magic)] == magic[: len(rest)] for magic in self.magic)


def load_gzip() -> tuple[Callable[[], Decompressor], type[Exception]]:
    """Prepare gzip; the library checks length and CRC of each member."""
    from isal import igzip_lib

    def member() -> Decompressor:
        decompressor: Decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        return decompressor

    # The library's stubs say it is an instance.
    return member, igzip_lib.IsalError  # type: ignore[return-value]


def load_bz2() -> tuple[Callable[[], Decompressor], type[Exception]]:
    """Prepare bz2."""
    from bz2 import BZ2Decompressor

    return BZ2Decompressor, OSError


def load_xz() -> tuple[Callable[[], Decompressor], type[Exception]]:
    """Prepare xz."""
    from lzma import FORMAT_XZ, LZMADecompressor, LZMAError

    return lambda: LZMADecompressor(FORMAT_XZ), LZMAError


def load_zstd() -> tuple[Callable[[], Decompressor], type[Exception]]:
    """Prepare zstd."""
    from zstandard import ZstdError

    return ZstdFrame, ZstdError


class ZstdFrame:
    """One zstd frame behind the interface of the others.

    The library's own object gives out all it can at once. As a block of a few bytes may stand
    for 128 KiB, it is fed small pieces to bound what one call returns.
    """

    PIECE = 1 << 13

    def __init__(self) -> None:
        from zstandard import ZstdDecompressor

        # The default window limit refuses files of `zstd --long` and `--ultra`.
        self._frame = ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        self._input = memoryview(b"")
        self._output = memoryview(b"")
        self._ended = False
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        """Whether the frame is complete and given out."""
        return self._ended and not self._output

    @property
    def needs_input(self) -> bool:
        """Whether nothing is left to work on."""
        return not self._output and not self._input and not self._ended

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return up to `max_length` bytes, fewer only where the input is used up."""
        if data:
            self._input = memoryview(data)
        parts: list[memoryview] = []
        left = max_length
        while left != 0 and (self._output or self._advance()):
            part = self._output if left < 0 else self._output[:left]
            self._output = self._output[len(part) :]
            parts.append(part)
            left -= len(part) if left > 0 else 0
        return b"".join(parts)

    def _advance(self) -> bool:
        """Work on input until something comes out; False where nothing can."""
        while self._input and not self._ended:
            self._output = memoryview(self._frame.decompress(self._input[: self.PIECE]))
            self._input = self._input[self.PIECE :]
            self._ended = self._frame.eof
            if self._ended:
                self.unused_data = self._frame.unused_data + bytes(self._input)
            if self._output:
                return True
        return False


COMPRESSIONS = (
    Compression(name="gzip", magic=(b"\x1f\x8b",), load=load_gzip),
    Compression(
        name="bz2",
        magic=(b"BZh",),
        # The digits of pi open a block, those of its square root close a stream without any.
        full_magic=tuple(
            b"BZh%d" % level + block
            for level in range(1, 10)
            for block in (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")
        ),
        load=load_bz2,
    ),
    Compression(name="xz", magic=(b"\xfd7zXZ\x00",), load=load_xz),
    Compression(
        name="zstd",
        # The second kind are frames a reader skips; parallel compressors write them first.
        magic=(b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))),
        load=load_zstd,
    ),
)


def recognise(head: bytes) -> Compression | None:
    """Return how a file with these first bytes is compressed; None for plain."""
    return next((row for row in COMPRESSIONS if row.begins(head)), None)
