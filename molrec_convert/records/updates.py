"""Which update of a block, or of the cell, holds in a frame, and where its rows lie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molrec_convert.model.dtypes import Array
from molrec_convert.rules import rule

from . import layout
from .tree import Group, StoredArray, due_array

ABSENT = -1
"""What stands for the number of rows of a block that is not there yet."""

MARKS = (layout.UNIFORM_ROWS, layout.DENSE_UPDATES)


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

    def are_even(self, first: int, end: int) -> bool:
        """Whether updates have equally many rows."""
        if self._offset is None:
            return True
        counts = np.diff(self._offset[first : end + 1])
        return bool((counts == counts[0]).all())

    @property
    def total(self) -> int:
        """The rows of all updates."""
        return self.rows(self._count - 1)[1] if self._count else 0

    def counts(self) -> Array:
        """The number of rows of every update."""
        if self._offset is None:
            return np.full(self._count, self._each, np.int64)
        return np.diff(self._offset).astype(np.int64)

    def holding(self, frames: Array) -> Array:
        """The update that holds in each of the frames; -1 before the first."""
        if self._ordinals is None:
            return np.minimum(frames, self._count - 1)
        held: Array = np.searchsorted(self._ordinals.astype(np.int64), frames, side="right") - 1
        return held

    def rows_in(self, frames: Array) -> Array:
        """The number of rows in each of the frames; `ABSENT` before the first update."""
        held = self.holding(frames)
        counts = np.append(self.counts(), ABSENT)  # -1 takes the last
        found: Array = counts[held]
        return found

    def ordinals(self) -> Array:
        """The frame of every update."""
        return np.arange(self._count, dtype=np.int64) if self._ordinals is None else self._ordinals.astype(np.int64)


@rule(24)
def read_ordinals(group: Group, nstep: int) -> Array:
    """The entries of ``step_index`` that lie in the first `nstep` frames."""
    array = due_array(group, layout.STEP_INDEX, "u64")
    values = array.read(0, array.shape[0])
    late = values >= np.uint64(nstep)
    used: Array = values[: int(np.argmax(late)) if late.any() else len(values)]
    wrong = used[1:] <= used[:-1]
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise array.error(f"the frames of the updates ascend strictly, found {used[bad + 1]} after {used[bad]}")
    return used


@rule(27)
def read_updates(group: Group, columns: Mapping[str, StoredArray], nstep: int) -> Updates:
    """When a block was set, from its index arrays or its markers; both are checked, the arrays hold."""
    each = _uniform_rows(group, columns)
    index = [name for name in (layout.STEP_INDEX, layout.OFFSET) if group.child(name) is not None]
    if len(index) == 1 and not (each and index == [layout.OFFSET]):  # a writer killed between the two leaves that
        with rule(26):
            raise group.error(f"step_index and offset go together, there is only {index[0]}")
    if len(index) == 2:
        ordinals = read_ordinals(group, nstep)
        return Updates.indexed(ordinals, _read_offset(group, len(ordinals)))
    rows = [array.shape[0] for array in columns.values()]
    if each:
        return Updates.regular(min(min(rows) // each, nstep), each)
    if any(rows):
        raise group.error(f"{max(rows)} rows without an index and without markers")
    return Updates.regular(0, 1)


def _uniform_rows(group: Group, columns: Mapping[str, StoredArray]) -> int:
    attributes = group.attributes
    marks = [name in attributes for name in MARKS]
    if not any(marks):
        return 0
    if not all(marks):
        raise group.error(f"uniform_rows and dense_updates go together, there is only {MARKS[marks.index(True)]}")
    if not columns:
        raise group.error("uniform_rows and dense_updates on a block without columns, whose index is due")
    each: int = attributes.scalar(layout.UNIFORM_ROWS, "i64")
    if each <= 0:
        raise group.error(f"uniform_rows is {each}, at least 1 is due")
    if not attributes.scalar(layout.DENSE_UPDATES, "bool"):
        raise group.error("dense_updates is false, true is due")
    return each


@rule(26)
def _read_offset(group: Group, updates: int) -> Array:
    array = due_array(group, layout.OFFSET, "u64")
    if array.shape[0] < updates + 1:
        raise array.error(f"{updates + 1} offsets are due, found {array.shape[0]}")
    offset = array.read(0, updates + 1)
    if offset[0] != 0:
        raise array.error(f"the first offset is {offset[0]}, not 0")
    wrong = offset[1:] < offset[:-1]
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise array.error(f"offsets never decrease, found {offset[bad + 1]} after {offset[bad]}")
    if offset[-1] > np.uint64(2**62):
        raise array.error(f"an offset of {offset[-1]}, beyond all data")
    return offset
