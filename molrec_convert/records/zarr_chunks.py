"""Reads rows of a Zarr array from the chunks that hold them, whatever their extents, in shards or not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from molrec_convert.model.dtypes import Array

from .memory import affordable
from .zarr_files import Files, below
from .zarr_metadata import ArrayLayout
from .zarr_pipeline import ABSENT, Shape, Shards

FEW = 4096
"""Chunks that are looked for one by one; more of them are looked for among the files that are there."""


class ChunkReader:
    """Reads an array; keeps the chunk that was read last, and the indices of its shards.

    Parameters
    ----------
    files
        Where the array lies.
    key
        Gives the key of its folder.
    layout
        Its metadata.
    """

    def __init__(self, files: Files, key: str, layout: ArrayLayout) -> None:
        self._files, self._key, self._layout = files, key, layout
        self._pipeline = layout.pipeline
        self._shards: Shards | None = None
        serializer = layout.pipeline.serializer
        if isinstance(serializer, Shards) and layout.pipeline.order is None and not layout.pipeline.filters:
            self._shards, self._pipeline = serializer, serializer.inner
            self._parts = serializer.parts(layout.chunk)
        self._each = self._pipeline.shape
        self._rest = layout.shape[1:]
        self._is_flat = all(n <= each for n, each in zip(self._rest, self._each[1:], strict=True))
        self._trailing = (0,) * len(self._rest)
        self._crop = None if self._rest == self._each[1:] else tuple(slice(0, n) for n in self._rest)
        self._indices: dict[Shape, Array | None] = {}
        self._last: tuple[Shape, Array] | None = None

    def read(self, first: int, end: int) -> Array:
        """Rows of the first axis as a new array."""
        each = self._each[0]
        index = first // each
        if self._is_flat and first < end <= (index + 1) * each:  # within one chunk
            chunk = self._chunk((index, *self._trailing), keep=end - first != each)
            if chunk is not None:
                whole = end - first == len(chunk) and self._crop is None
                if whole and chunk.flags.writeable and self._last is None:
                    return chunk
                return self._cropped(chunk[first - index * each : end - index * each]).copy()
        shape = (max(0, end - first), *self._rest)
        affordable(math.prod(shape) * max(self._pipeline.dtype.itemsize, 1))
        out = self._pipeline.filled(shape)
        if out.size:
            for place in self._places(first, end):
                self._copy(place, out, first, end)
        return out

    def whole(self) -> Array:
        """All values, also of an array without axes."""
        if self._each:
            return self.read(0, self._layout.shape[0])
        chunk = self._chunk((), keep=False)
        return self._pipeline.filled(()) if chunk is None else chunk.copy()

    def _cropped(self, rows: Array) -> Array:
        return rows if self._crop is None else rows[(slice(None), *self._crop)]

    def _copy(self, place: Shape, out: Array, first: int, end: int) -> None:
        chunk = self._chunk(place, keep=(place[0] + 1) * self._each[0] > end)
        if chunk is None:
            return
        target, source = [], []
        limits = ((first, end), *((0, n) for n in self._rest))
        for k, each, (low, high) in zip(place, self._each, limits, strict=True):
            begin, stop = max(k * each, low), min((k + 1) * each, high)
            target.append(slice(begin - low, stop - low))
            source.append(slice(begin - k * each, stop - k * each))
        out[tuple(target)] = chunk[tuple(source)]

    # ------------------------------------------------------------ which chunks there are
    def _places(self, first: int, end: int) -> Iterator[Shape]:
        """The chunks that may hold rows."""
        ranges = [range(first // self._each[0], -(-end // self._each[0]))]
        ranges += [range(-(-n // each)) for n, each in zip(self._rest, self._each[1:], strict=True)]
        if math.prod(map(len, ranges)) <= FEW:
            yield from product(*ranges)
        elif self._shards is None:
            yield from self._stored(ranges)
        else:
            shards = [range(r.start // n, -(-r.stop // n)) for r, n in zip(ranges, self._parts, strict=True)]
            for shard in self._stored(shards):
                yield from self._within(shard, ranges)

    def _stored(self, ranges: Sequence[range]) -> Iterator[Shape]:
        """The keys of files in a range of places."""
        prefix = f"{self._layout.prefix}{self._layout.separator}" if self._layout.prefix else ""
        for key in self._files.keys(self._key):
            parts = key.removeprefix(prefix).split(self._layout.separator)
            if len(parts) == len(ranges) and all(part.isdecimal() for part in parts):
                place = tuple(map(int, parts))
                if self._layout.key(place) == key and all(k in r for k, r in zip(place, ranges, strict=True)):
                    yield place

    def _within(self, shard: Shape, ranges: Sequence[range]) -> Iterator[Shape]:
        index = self._index(shard)
        if index is None:
            return
        for number in np.flatnonzero((index != ABSENT).any(axis=1)).tolist():
            inner = np.unravel_index(number, self._parts)
            place = tuple(int(s * n + k) for s, n, k in zip(shard, self._parts, inner, strict=True))
            if all(k in r for k, r in zip(place, ranges, strict=True)):
                yield place

    # ------------------------------------------------------------ one chunk
    def _chunk(self, place: Shape, *, keep: bool) -> Array | None:
        """A chunk; None where there is none, which stands for the fill value."""
        if self._last is not None and self._last[0] == place:
            return self._last[1]
        try:
            chunk = self._decoded(place)
        except ValueError as error:
            if self._shards is None or not self._forget_index(place):
                raise ValueError(f"{error} (chunk {self._layout.key(place)})") from None
            chunk = self._decoded(place)
        self._last = (place, chunk) if keep and chunk is not None else None
        return chunk

    def _decoded(self, place: Shape) -> Array | None:
        if self._shards is None:
            octets = self._files.read(below(self._key, self._layout.key(place)))
            return None if octets is None else self._pipeline.decode(octets)
        shard = tuple(k // n for k, n in zip(place, self._parts, strict=True))
        index = self._index(shard)
        if index is None:
            return None
        number = 0
        for k, n in zip(place, self._parts, strict=True):
            number = number * n + k % n
        first, size = index[number].tolist()
        if first == size == int(ABSENT):
            return None
        octets = self._files.read_part(below(self._key, self._layout.key(shard)), first, size)
        if octets is None or len(octets) != size:
            raise ValueError("a shard that is cut short")
        return self._pipeline.decode(octets)

    def _index(self, shard: Shape) -> Array | None:
        if shard not in self._indices:
            assert self._shards is not None
            size = self._shards.index_size(self._layout.chunk)
            key = below(self._key, self._layout.key(shard))
            octets = self._files.read_part(key, 0 if self._shards.at_start else -size, size)
            self._indices[shard] = None if octets is None else self._shards.index(octets, self._layout.chunk)
        return self._indices[shard]

    def _forget_index(self, place: Shape) -> bool:
        """Read the index of a shard anew; True if it changed, because a writer went on meanwhile."""
        shard = tuple(k // n for k, n in zip(place, self._parts, strict=True))
        known = self._indices.pop(shard, None)
        if known is None:
            return False
        fresh = self._index(shard)
        return fresh is not None and not np.array_equal(known, fresh)
