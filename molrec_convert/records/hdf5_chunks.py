"""Chunks of an HDF5 array, encoded and decoded here and not by the filters of the library."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from h5py import h5z  # noqa: TID253 - imported by the HDF5 tree alone

from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.text.shuffle import shuffle, unshuffle

from .chunks import deflated, gathered, inflated

if TYPE_CHECKING:
    from .hdf5_arrays import Hdf5Array

PLAIN = 0b11
"""The filter mask of a chunk that passed neither the shuffle nor the deflate filter."""

READABLE: tuple[list[int], ...] = (
    [],
    [h5z.FILTER_SHUFFLE],
    [h5z.FILTER_DEFLATE],
    [h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE],
)


def encoded(pieces: Sequence[Array], rows: int, compressed: bool, *, skipped: bool = False) -> tuple[Any, int]:
    """A chunk and its filter mask."""
    data = gathered(pieces, rows)
    if compressed:
        return deflated(shuffle(data.reshape(-1).view(np.uint8).data, data.dtype.itemsize)), 0
    return data, PLAIN if skipped else 0


def stored_uncompressed(data: Array) -> tuple[bytes, int]:
    """A chunk that has passed both filters and is larger than its rows, and its filter mask."""
    return zlib.compress(shuffle(data.reshape(-1).view(np.uint8).data, data.dtype.itemsize), 0), 0


LARGE = 32 << 10
"""Bytes of a read that is worth a look at the file of its own, although its chunk may be read again soon."""


class DirectChunks:
    """Reads chunks as they stand, and keeps the last one decoded.

    Of a chunk without filters, in a file that nobody writes, a part is read alone where it is large, or where it does
    not follow what was read before: frames that are asked for at random.
    """

    def __init__(self, array: Hdf5Array, chunk_rows: int, shuffles: bool, deflates: bool) -> None:
        self._id = array.node.id
        self._array = array
        self._rows = chunk_rows
        self._shuffles, self._deflates = shuffles, deflates
        self._dtype = DTYPES[array.dtype]
        self._rest: tuple[int, ...] = array.shape[1:]
        self._zeros = (0,) * len(self._rest)
        self._size = chunk_rows * int(np.prod(self._rest, dtype=np.int64)) * self._dtype.itemsize
        self._last: tuple[int, Array] | None = None
        self._file = descriptor_of(array) if not (shuffles or deflates) else None
        self._offsets: dict[int, int] = {}
        self._expected = 0

    @classmethod
    def of(cls, array: Hdf5Array) -> DirectChunks | None:
        """A reader, or None for an array whose chunks only the library can read."""
        chunks, shape = array.node.chunks, array.shape
        plan = array.node.id.get_create_plist()
        filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
        if tuple(chunks[1:]) != shape[1:] or filters not in READABLE:
            return None
        return cls(array, int(chunks[0]), h5z.FILTER_SHUFFLE in filters, h5z.FILTER_DEFLATE in filters)

    def read(self, first: int, end: int) -> Array | None:
        """Rows as a new array; None if a chunk is not there."""
        index, start = divmod(first, self._rows)
        follows, self._expected = first == self._expected, end
        if first < end <= (index + 1) * self._rows:  # within one chunk
            whole = end - first == self._rows
            if self._file is not None and not whole and (self._last is None or self._last[0] != index):
                part = self._part(index, start, end - first, follows=follows)
                if part is not None:
                    return part
            chunk = self._chunk(index, keep=not whole)
            if chunk is None or (whole and chunk.flags.writeable):
                return chunk
            return chunk[start : start + end - first].copy()
        out = np.empty((max(end - first, 0), *self._rest), self._dtype)
        done = first
        while done < end:
            index, start = divmod(done, self._rows)
            stop = min(end, (index + 1) * self._rows)
            chunk = self._chunk(index, keep=stop == end)
            if chunk is None:
                return None
            out[done - first : stop - first] = chunk[start : start + stop - done]
            done = stop
        return out

    def _part(self, index: int, start: int, rows: int, *, follows: bool) -> Array | None:
        """Some rows of a chunk, read alone; None where that is not worth it, or did not work."""
        width = self._size // self._rows
        if self._file is None or (follows and rows * width < LARGE):
            return None
        try:
            if index not in self._offsets:
                info = self._id.get_chunk_info_by_coord((index * self._rows, *self._zeros))
                self._offsets[index] = -1 if info.byte_offset is None else int(info.byte_offset)
            part = np.empty((rows, *self._rest), self._dtype)
            offset = self._offsets[index]
            stream = part.reshape(-1).view(np.uint8).data
            if offset < 0 or os.preadv(self._file, [stream], offset + start * width) != rows * width:
                return None
        except (OSError, ValueError, RuntimeError):
            return None
        return part

    def _chunk(self, index: int, *, keep: bool) -> Array | None:
        last = self._last
        if last is not None and last[0] == index:
            return last[1].view() if keep else last[1].copy()
        try:
            if not (self._shuffles or self._deflates):
                data = np.empty((self._rows, *self._rest), self._dtype)
                stream = data.reshape(-1).view(np.uint8).data
                read = self._id.read_direct_chunk((index * self._rows, *self._zeros), out=stream)[1]
                return None if len(read) != self._size else self._kept(index, data, keep=keep)
            mask, stream = self._id.read_direct_chunk((index * self._rows, *self._zeros))
        except (OSError, ValueError, RuntimeError):
            return None
        try:
            data = self._decoded(mask, stream)
        except ValueError as error:
            raise self._array.error(str(error)) from None
        return self._kept(index, data, keep=keep)

    def _kept(self, index: int, data: Array, *, keep: bool) -> Array:
        if keep:
            self._last = (index, data)
        return data

    def _decoded(self, mask: int, stream: bytes) -> Array:
        octets = stream
        if self._deflates and not mask >> int(self._shuffles) & 1:
            octets = inflated(stream, self._size)
        elif len(octets) != self._size:
            raise ValueError(f"a chunk of {len(octets)} bytes, {self._size} are due")
        if self._shuffles and not mask & 1:
            octets = unshuffle(octets, self._dtype.itemsize)
        return np.frombuffer(octets, self._dtype).reshape(self._rows, *self._rest)


def descriptor_of(array: Hdf5Array) -> int | None:
    """The descriptor of the file, where it may be read past the library: it is one plain file, open for reading."""
    file = array.node.file
    if file.mode != "r" or file.driver != "sec2" or file.userblock_size or not hasattr(os, "preadv"):
        return None
    try:
        return int(file.id.get_vfd_handle())
    except (OSError, ValueError, RuntimeError, TypeError):
        return None
