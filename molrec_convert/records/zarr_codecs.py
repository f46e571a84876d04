"""What turns bytes into bytes in a Zarr array: the compressors, the byte shuffle and the checksum.

Source: the Zarr specification, version 3, and its registry of codecs. `decode` raises ValueError for what it cannot
decode, and stops where the result would be longer than a chunk can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import google_crc32c
import numpy as np
import zstandard
from isal import isal_zlib

from molrec_convert.model.dtypes import Array
from molrec_convert.text.shuffle import shuffle, unshuffle

Octets: TypeAlias = "bytes | Array"
"""Bytes, or an array of u8 with one axis."""

GZIP_LEVEL, ZSTD_LEVEL = 1, 3
"""Those of the reference implementation."""
GZIP_WINDOW = 31
"""The window of zlib, and 16 for the envelope of gzip."""


class ByteCodec(Protocol):
    """A codec from bytes to bytes."""

    def encode(self, octets: Octets) -> Octets:
        """Encode a chunk."""

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Decode a chunk of at most `limit` bytes."""


class Crc32c:
    """Four bytes after the chunk."""

    SIZE = 4

    def encode(self, octets: Octets) -> Octets:
        """Append the checksum."""
        whole = np.empty(len(octets) + self.SIZE, np.uint8)
        whole[: -self.SIZE] = np.frombuffer(octets, np.uint8)
        return self.seal(whole)

    @staticmethod
    def seal(whole: Array) -> Array:
        """Fill in the last four bytes of an array."""
        whole[-4:].view("<u4")[0] = google_crc32c.value(whole[:-4])
        return whole

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Check and remove it."""
        del limit
        whole = np.frombuffer(octets, np.uint8) if isinstance(octets, bytes) else octets
        if len(whole) < self.SIZE:
            raise ValueError(f"a chunk of {len(whole)} bytes, which has no checksum")
        data = whole[: -self.SIZE]
        if google_crc32c.value(data) != int.from_bytes(whole[-self.SIZE :].tobytes(), "little"):
            raise ValueError("a chunk whose checksum (crc32c) is wrong")
        return data


class Gzip:
    """The DEFLATE stream of RFC 1952."""

    def encode(self, octets: Octets) -> Octets:
        """Compress, without a time in the head."""
        stream: bytes = isal_zlib.compress(octets, GZIP_LEVEL, GZIP_WINDOW)
        return stream

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Decompress one member or several."""
        parts: list[bytes] = []
        rest = octets
        try:
            while len(rest):
                inflater = isal_zlib.decompressobj(wbits=GZIP_WINDOW)
                parts.append(inflater.decompress(rest, limit + 1))
                limit -= len(parts[-1])
                if limit < 0:
                    raise ValueError("a chunk that is longer than its shape")
                if not inflater.eof:
                    raise ValueError("a chunk that is cut short")
                rest = inflater.unused_data
        except isal_zlib.error as error:  # type: ignore[misc] # its stub says an instance
            raise ValueError(f"a chunk that does not inflate ({error})") from None
        return parts[0] if len(parts) == 1 else b"".join(parts)


class Zstd:
    """The frame of RFC 8878."""

    def encode(self, octets: Octets) -> Octets:
        """Compress."""
        return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(buffer_of(octets))

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Decompress a frame, whose head may say how long the result is."""
        try:
            data = buffer_of(octets)
            stated = zstandard.frame_content_size(data)
            if stated > limit:
                raise ValueError(f"a chunk of {stated} bytes, which is longer than its shape")
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=limit)
        except zstandard.ZstdError as error:
            raise ValueError(f"a chunk that zstd does not decode ({error})") from None


class Shuffle:
    """All first bytes of the items, then all second bytes, and so on."""

    def __init__(self, itemsize: int) -> None:
        self._itemsize = itemsize

    def encode(self, octets: Octets) -> Octets:
        """Put like bytes together."""
        return shuffle(buffer_of(octets), self._itemsize)

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Put the bytes of each item together."""
        del limit
        if len(octets) % self._itemsize:
            raise ValueError(f"a chunk of {len(octets)} bytes, which are no items of {self._itemsize} bytes")
        return unshuffle(buffer_of(octets), self._itemsize)


class Blosc:
    """The container of c-blosc: read where others wrote it, never written."""

    HEAD = 16

    def encode(self, octets: Octets) -> Octets:
        """Refuse: a record is not written with it."""
        raise NotImplementedError

    def decode(self, octets: Octets, limit: int) -> Octets:
        """Decompress."""
        from numcodecs import blosc  # heavy

        octets = bytes(octets)
        if len(octets) < self.HEAD or int.from_bytes(octets[4:8], "little") > limit:
            raise ValueError("a chunk that is longer than its shape, or no blosc container")
        try:
            data: bytes = blosc.decompress(octets)
        except RuntimeError as error:
            raise ValueError(f"a chunk that blosc does not decode ({error})") from None
        return data


def _shuffle_of(configuration: Mapping[str, Any]) -> ByteCodec:
    itemsize = configuration.get("elementsize", 4)  # the default of numcodecs
    if type(itemsize) is not int or not 1 <= itemsize <= 255:
        raise ValueError(f"a shuffle of items of {itemsize!r} bytes")
    return Shuffle(itemsize)


BYTE_CODECS: Mapping[str, Callable[[Mapping[str, Any]], ByteCodec]] = {
    "crc32c": lambda configuration: Crc32c(),
    "gzip": lambda configuration: Gzip(),
    "zstd": lambda configuration: Zstd(),
    "numcodecs.shuffle": _shuffle_of,
    "blosc": lambda configuration: Blosc(),
}
"""What makes a codec of its configuration, by name."""


def buffer_of(octets: Octets) -> bytes | memoryview:
    """The bytes for a library that takes no arrays."""
    return octets if isinstance(octets, bytes) else octets.data
