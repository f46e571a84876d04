"""Rows on their way to an array: held by reference until a chunk is full, then encoded and written whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from molrec_convert.model.dtypes import DTYPES, Array

from .chunks import ChunkQueue
from .layout import DENSE_ROWS
from .tree import Group, GrowingArray


class RowsWriter:
    """Collects rows of one array.

    A chunk is compressed only when it is full, or at the very end. One that is written before, because frames are
    committed, is written plain: it has its full size, is rewritten in place, and committed bytes never move.

    Parameters
    ----------
    name
        The array's name in its group.
    dtype
        MolRec's name of the element type.
    trailing
        The axes after the first.
    quantized
        Whether the values keep a declared precision.
    """

    __slots__ = ("_pending", "_pieces", "_plain", "_written", "array", "dtype", "name", "quantized", "trailing")

    def __init__(self, name: str, dtype: str, trailing: tuple[int, ...] = (), *, quantized: bool = False) -> None:
        self.name = name
        self.dtype = dtype
        self.trailing = trailing
        self.quantized = quantized
        self.array: GrowingArray | None = None
        self._pieces: deque[Array] = deque()
        self._pending = 0
        self._written = 0
        self._plain = False

    @property
    def rows(self) -> int:
        """All rows so far."""
        return self._written + self._pending

    @property
    def pending(self) -> int:
        """Rows that wait for their chunk."""
        return self._pending

    def add(self, piece: Array) -> None:
        """Take rows, by reference."""
        self._pieces.append(piece)
        self._pending += len(piece)

    def open(self, group: Group, chunk_rows: int) -> GrowingArray:
        """Make the hidden array in the store."""
        self.array = group.create_growing(
            self.name, self.dtype, self.trailing, max(1, chunk_rows), quantized=self.quantized
        )
        return self.array

    def resume(self, array: GrowingArray, rows: int) -> None:
        """Go on with an array that has `rows` rows."""
        self._plain = array.has_plain_tail(rows)
        self.array = array
        aligned = rows if array.takes_parts else rows - rows % array.chunk_rows
        self._written = aligned
        if rows > aligned:
            self.add(array.read(aligned, rows))

    def drain(self, queue: ChunkQueue) -> None:
        """Write every chunk that is full."""
        array = self.array
        if array is None:
            return
        while self._pending >= array.chunk_rows:
            room = array.chunk_rows - (self._written % array.chunk_rows if array.takes_parts else 0)
            queue.put(array, self._written, room, self._take(room), plain=self._plain)
            self._written += room
            self._plain = False

    def write_tail(self, queue: ChunkQueue, *, final: bool) -> None:
        """Write the chunk that is partly filled, and keep its rows for when it is full, unless this is the end."""
        self.drain(queue)
        if not self._pending or self.array is None:
            return
        rows = self._pending
        pieces = self._take(rows)
        self._plain = self._plain or not final
        queue.put(self.array, self._written, rows, pieces, plain=self._plain)
        if self.array.takes_parts:
            self._written += rows
        else:
            self.add(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))

    def _take(self, rows: int) -> list[Array]:
        taken: list[Array] = []
        left = rows
        while left:
            piece = self._pieces.popleft()
            if len(piece) > left:
                self._pieces.appendleft(piece[left:])
                piece = piece[:left]
            taken.append(piece)
            left -= len(piece)
        self._pending -= rows
        return taken


class ValuesWriter(RowsWriter):
    """Collects rows that come one by one as Python values."""

    __slots__ = ("_values",)

    def __init__(self, name: str, dtype: str, trailing: tuple[int, ...] = ()) -> None:
        super().__init__(name, dtype, trailing)
        self._values: list[Any] = []

    @property
    def rows(self) -> int:
        """All rows so far."""
        return super().rows + len(self._values)

    def push(self, value: Any) -> None:
        """Take one row."""
        self._values.append(value)
        if len(self._values) >= DENSE_ROWS:
            self._gather()

    def extend(self, values: Sequence[Any]) -> None:
        """Take many rows."""
        self._values.extend(values)
        if len(self._values) >= DENSE_ROWS:
            self._gather()

    def drain(self, queue: ChunkQueue) -> None:
        """Write every chunk that is full."""
        self._gather()
        super().drain(queue)

    def open_dense(self, group: Group, *, final: bool) -> GrowingArray:
        """Make the hidden array; `final`: no more rows will come."""
        self.array = group.create_dense(self.name, self.dtype, self.trailing, self.rows if final else None)
        return self.array

    def _gather(self) -> None:
        if self._values:
            self.add(np.array(self._values, DTYPES[self.dtype]).reshape(-1, *self.trailing))
            self._values = []
