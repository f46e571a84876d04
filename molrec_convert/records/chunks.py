"""The bytes of a chunk: a DEFLATE stream, made and undone outside of the store's library, in threads.

The stream has a zlib envelope, as HDF5's filter 1 wants it.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from isal import isal_zlib

from molrec_convert.cores import usable_cores
from molrec_convert.model.dtypes import Array

from .tree import GrowingArray

LEVEL = 1
"""ISA-L's level: 1 is as fast as 0 and smaller; 3 is half as fast and no smaller on coordinates (measured)."""

SMALL = 4096
"""Bytes up to which zlib works: ISA-L was seen to give two streams for the same 88 bytes, and is no faster there."""


def deflated(octets: bytes) -> bytes:
    """A zlib stream of the bytes; always the same for the same bytes."""
    if len(octets) <= SMALL:
        return zlib.compress(octets, LEVEL)
    stream: bytes = isal_zlib.compress(octets, LEVEL)
    return stream


def inflated(stream: bytes, size: int) -> bytes:
    """The bytes of a zlib stream; ValueError unless they are `size` many."""
    try:
        octets: bytes = isal_zlib.decompress(stream, bufsize=max(size, 1))
    except isal_zlib.error as error:  # type: ignore[misc] # its stub says an instance
        raise ValueError(f"a chunk that does not inflate ({error})") from None
    if len(octets) != size:
        raise ValueError(f"a chunk of {len(octets)} bytes, {size} are due")
    return octets


def gathered(pieces: Sequence[Array], rows: int) -> Array:
    """The pieces one after another, and zeros after them where they have fewer rows than are due."""
    if len(pieces) == 1 and len(pieces[0]) == rows:
        return np.ascontiguousarray(pieces[0])
    have = sum(map(len, pieces))
    whole = np.empty((rows, *pieces[0].shape[1:]), pieces[0].dtype)  # concatenate alone may choose Fortran order
    np.concatenate(pieces, out=whole[:have])
    if have < rows:
        whole[have:] = np.zeros((), whole.dtype)
    return whole


class ChunkQueue:
    """Writes chunks to their arrays; compresses them in threads, with a bounded number of them on the way.

    Parameters
    ----------
    executor
        Where chunks are compressed; by default a pool of the queue's own, made when it is first needed.
    limit
        Bytes of chunks on the way.
    """

    def __init__(self, executor: Executor | None = None, *, limit: int = 24 << 20) -> None:
        self._executor = executor
        self._own: ThreadPoolExecutor | None = None
        self._limit = limit
        self._bytes = 0
        self._waiting: deque[tuple[GrowingArray, int, int, int, Future[Any]]] = deque()

    def put(self, array: GrowingArray, first: int, rows: int, pieces: Sequence[Array], *, plain: bool = False) -> None:
        """Write a chunk of `rows` rows that begins at row `first`, now or in a while."""
        if plain or not array.is_compressed:
            array.write(first, rows, array.encode(pieces, rows, plain=plain))
            return
        size = sum(piece.nbytes for piece in pieces)
        while self._waiting and self._bytes + size > self._limit:
            self._write_first()
        future = self._pool().submit(array.encode, pieces, rows, plain=False)
        self._waiting.append((array, first, rows, size, future))
        self._bytes += size

    def drain(self) -> None:
        """Write all that waits."""
        while self._waiting:
            self._write_first()

    def close(self) -> None:
        """Drop what waits, and stop the threads of the queue's own."""
        for *_, future in self._waiting:
            future.cancel()
        self._waiting.clear()
        if self._own is not None:
            self._own.shutdown()
            self._own = None

    def _write_first(self) -> None:
        array, first, rows, size, future = self._waiting.popleft()
        self._bytes -= size
        array.write(first, rows, future.result())

    def _pool(self) -> Executor:
        if self._executor is not None:
            return self._executor
        if self._own is None:
            self._own = ThreadPoolExecutor(usable_cores(), thread_name_prefix="chunks")
        return self._own
