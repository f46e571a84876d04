"""The file of a shard that chunks are added to: an index, and chunks in the order in which they were written."""

from __future__ import annotations

import io
import math
import os

import numpy as np

from molrec_convert.model.dtypes import Array

from .zarr_codecs import Crc32c, Octets, buffer_of
from .zarr_files import PART
from .zarr_pipeline import ABSENT, Shape, Shards

MOST_CHUNKS = 255
"""Chunks in a shard: 16 bytes for each and 4 for the checksum fit a page of 4096, which a system writes at once."""
MOST_BYTES = 256 << 20


def chunks_in_shard(chunk_bytes: int) -> int:
    """How many chunks of a size a shard holds."""
    return max(1, min(MOST_CHUNKS, MOST_BYTES // max(1, chunk_bytes)))


class ShardFile:
    """A shard, open for writing.

    Parameters
    ----------
    path
        The file, which is made where there is none.
    sharding
        The codec.
    shape
        The extent of the shard.
    """

    def __init__(self, path: str, sharding: Shards, shape: Shape) -> None:
        self._sharding = sharding
        self._size = sharding.index_size(shape)
        self._changed = False
        if not os.path.exists(path):
            self._index: Array = np.full((math.prod(sharding.parts(shape)), 2), ABSENT)
            self._saved = self._index.copy()
            self._file = self._made(path)
            self._end = self._floor = self._size
            return
        self._file = io.FileIO(path, "r+")
        try:
            self._index = sharding.index(self._file.read(self._size), shape)
        except ValueError:
            self._file.close()
            raise
        self._saved = self._index.copy()
        self._end = self._floor = max(self._size, self._file.seek(0, os.SEEK_END))

    def _made(self, path: str) -> io.FileIO:
        """A new shard, which has an index before it has its name: rows that nobody stored may be in it already."""
        file = io.FileIO(path + PART, "w+")
        _write(file, self._head())
        os.replace(path + PART, path)
        return file

    def _head(self) -> Octets:
        head: Octets = self._index.astype(f"{self._sharding.endian}u8").reshape(-1).view(np.uint8)
        return Crc32c().encode(head) if self._sharding.has_checksum else head

    def put(self, slot: int, payload: Octets | None) -> None:
        """Add a chunk, in place of one that has the slot; None for one that is not stored."""
        self._changed = True
        if payload is None:
            self._index[slot] = ABSENT
            return
        if self._index[slot, 0] == ABSENT:
            place = self._floor = self._end
        else:
            place = self._free(len(payload))
        self._file.seek(place)
        _write(self._file, payload)
        self._index[slot] = place, len(payload)
        self._end = max(self._end, place + len(payload))

    def _free(self, size: int) -> int:
        """Where so many bytes fit behind the floor, but for what an index tells of, that on the disk included.

        Only versions of one chunk lie behind the floor: a reader that knows the place of an old one finds a newer one
        there, or a wrong checksum, but never another chunk.
        """
        regions = {tuple(entry) for index in (self._index, self._saved) for entry in index.tolist()}
        place = self._floor
        for first, length in sorted(regions):
            if self._floor <= first < int(ABSENT):
                if first - place >= size:
                    return place
                place = max(place, first + length)
        return place

    def cut(self, slots: int) -> None:
        """Take out all chunks from a slot on."""
        if (self._index[slots:] != ABSENT).any():
            self._index[slots:] = ABSENT
            self._changed = True

    def save(self, *, sync: bool) -> None:
        """Write the index, in one piece, after the chunks that it tells of."""
        if not self._changed:
            return
        if sync:
            os.fsync(self._file.fileno())
        self._file.seek(0)
        _write(self._file, self._head())
        self._changed, self._saved = False, self._index.copy()
        if sync:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _write(file: io.FileIO, octets: Octets) -> None:
    """Write all bytes, however many the system takes at a time."""
    left = memoryview(buffer_of(octets))
    while left:
        left = left[file.write(left) :]
