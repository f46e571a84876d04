"""Which update of a block, or of the cell, holds in a frame, and where its rows lie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molrec_convert.model.dtypes import Array

from . import layout
from .tree import Group, StoredArray, due_array


class Updates:
    """The frames in which something was set, ascending, and the rows of each update."""

    __slots__ = ("_count", "_each", "_offset", "_ordinals")

    def __init__(self, count: int, each: int, ordinals: Array | None, offset: Array | None) -> None:
        self._count = count
        self._each = each
        self._ordinals = ordinals
        self._offset = offset

    @classmethod
    def regular(cls, count: int, each: int) -> Updates:
        """Update j in frame j, with the same number of rows each."""
        return cls(count, each, None, None)

    @classmethod
    def indexed(cls, ordinals: Array, offset: Array | None = None) -> Updates:
        """Updates in these frames; the rows of update j lie between offsets j and j + 1."""
        return cls(len(ordinals), 1, ordinals, offset)

    def __len__(self) -> int:
        return self._count

    def at(self, frame: int) -> int:
        """The update that holds in a frame; -1 before the first."""
        if self._ordinals is None:
            return min(frame, self._count - 1)
        return int(np.searchsorted(self._ordinals, frame, side="right")) - 1

    def ordinal(self, update: int) -> int:
        """The frame of an update."""
        return update if self._ordinals is None else int(self._ordinals[update])

    def is_last_before(self, update: int, frame: int) -> bool:
        """Whether an update holds beyond a frame."""
        return update + 1 >= self._count or self.ordinal(update + 1) > frame + 1

    def rows(self, update: int) -> tuple[int, int]:
        """Where the rows of an update begin and end."""
        if self._offset is None:
            return update * self._each, (update + 1) * self._each
        return int(self._offset[update]), int(self._offset[update + 1])

    @property
    def total(self) -> int:
        """The rows of all updates."""
        return self.rows(self._count - 1)[1] if self._count else 0

    def counts(self) -> Array:
        """The number of rows of every update."""
        if self._offset is None:
            return np.full(self._count, self._each, np.int64)
        return np.diff(self._offset).astype(np.int64)

    def ordinals(self) -> Array:
        """The frame of every update."""
        return np.arange(self._count, dtype=np.int64) if self._ordinals is None else self._ordinals.astype(np.int64)


def read_ordinals(group: Group, nstep: int) -> Array:
    """The entries of ``step_index`` that lie in the first `nstep` frames."""
    array = due_array(group, layout.STEP_INDEX, "u64")
    values = array.read(0, array.shape[0])
    late = values >= np.uint64(nstep)
    used: Array = values[: int(np.argmax(late)) if late.any() else len(values)]
    if (used[1:] <= used[:-1]).any():
        raise array.error("the frames of the updates ascend strictly")
    return used


def read_updates(group: Group, columns: Mapping[str, StoredArray], nstep: int) -> Updates:
    """When a block was set, from its index arrays or its markers; both are checked, the arrays hold."""
    each = _uniform_rows(group, columns)
    index = [name for name in (layout.STEP_INDEX, layout.OFFSET) if group.child(name) is not None]
    if len(index) == 1:
        raise group.error(f"step_index and offset go together, there is only {index[0]}")
    if index:
        ordinals = read_ordinals(group, nstep)
        return Updates.indexed(ordinals, _read_offset(group, len(ordinals)))
    rows = [array.shape[0] for array in columns.values()]
    if each:
        return Updates.regular(min(min(rows) // each, nstep), each)
    if any(rows):
        raise group.error("rows without an index and without markers")
    return Updates.regular(0, 1)


def _uniform_rows(group: Group, columns: Mapping[str, StoredArray]) -> int:
    attributes = group.attributes
    marks = [name in attributes for name in (layout.UNIFORM_ROWS, layout.DENSE_UPDATES)]
    if not any(marks):
        return 0
    if not all(marks) or not columns:
        raise group.error("uniform_rows and dense_updates go together, on a block with columns")
    each: int = attributes.scalar(layout.UNIFORM_ROWS, "i64")
    if each <= 0:
        raise group.error(f"uniform_rows is {each}")
    if not attributes.scalar(layout.DENSE_UPDATES, "bool"):
        raise group.error("dense_updates is false")
    return each


def _read_offset(group: Group, updates: int) -> Array:
    array = due_array(group, layout.OFFSET, "u64")
    if array.shape[0] < updates + 1:
        raise array.error(f"{updates + 1} offsets are due, found {array.shape[0]}")
    offset = array.read(0, updates + 1)
    if offset[0] != 0:
        raise array.error(f"the first offset is {offset[0]}, not 0")
    if (offset[1:] < offset[:-1]).any():
        raise array.error("offsets never decrease")
    if offset[-1] > np.uint64(2**62):
        raise array.error(f"an offset of {offset[-1]}")
    return offset
