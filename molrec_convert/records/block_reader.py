"""A block of a stored trajectory: its columns, and the frames in which it was set."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np

from molrec_convert.model import Block, BlockSpec, Column, ColumnSpec
from molrec_convert.rules import rule
from molrec_convert.stack import tiled_block

from . import layout
from .sections import mask_arrays, unknown_attributes
from .tree import Group, StoredArray, due_array, due_rows
from .updates import Updates, read_updates


class BlockReader:
    """A block of a stored trajectory.

    Parameters
    ----------
    group
        The block's group.
    spec
        Its declaration.
    nstep
        The number of frames.
    """

    def __init__(self, group: Group, spec: BlockSpec, nstep: int) -> None:
        self.group = group
        self.spec = spec
        self.arrays = {name: column_array(group, name, column) for name, column in spec.columns.items()}
        self.updates = read_updates(group, self.arrays, nstep)
        total = self.updates.total
        for array in self.arrays.values():
            due_data(array, total)
        self.masks = {name: due_data(mask, total) for name, mask in mask_arrays(group, spec.nullable).items()}
        check_stated_shape(group, spec.shape)
        check_shape_rows(group, spec.shape, self.updates)
        self.attributes = unknown_attributes(group, layout.UPDATE_ATTRIBUTES)
        self._kept: tuple[int, Block] | None = None

    def at(self, frame: int) -> Block | None:
        """The block in a frame; None before its first update. What holds for longer is kept, and is read-only."""
        update = self.updates.at(frame)
        if update < 0:
            return None
        if self._kept is not None and self._kept[0] == update:
            block = self._kept[1]
            return Block.of(dict(block.columns), block.count, shape=block.shape, targets=dict(block.targets),
                            attributes=dict(block.attributes))  # fmt: skip
        block = self.block(update)
        if self.updates.is_last_before(update, self.updates.ordinal(update)) or frame > self.updates.ordinal(update):
            frozen(block)
            self._kept = (update, block)
            return self.at(frame)
        return block

    def block(self, update: int) -> Block:
        """The block of an update."""
        first, end = self.updates.rows(update)
        return self._block(self._columns(self.arrays, first, end), end - first)

    def together(self, first: int, end: int) -> Block | None:
        """The rows of the block in frames, in order; None unless it has equally many in each, and no structural shape.

        What changes at all is expected to change in every one of these frames.
        """
        update, last, frames = self.updates.at(first), self.updates.at(end - 1), end - first
        if update < 0 or self.spec.shape is not None:
            return None
        if update == last:
            return tiled_block(self.block(update), frames)
        rows, stop = self.updates.rows(update)[0], self.updates.rows(last)[1]
        if last - update != frames - 1 or not self.updates.are_even(update, last + 1):
            return None
        return self._block(self._columns(self.arrays, rows, stop), stop - rows)

    def part(self, frame: int, names: Collection[str]) -> Block | None:
        """Some columns of the block in a frame; None before its first update."""
        update = self.updates.at(frame)
        if update < 0:
            return None
        first, end = self.updates.rows(update)
        return self._block(self._columns([name for name in names if name in self.arrays], first, end), end - first)

    def _columns(self, names: Iterable[str], first: int, end: int) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        for name in names:
            mask = self.masks.get(name)
            valid = None if mask is None else mask.read(first, end)
            if valid is not None and valid.all():
                valid = None
            columns[name] = Column.of(self.arrays[name].read(first, end), valid, self.spec.columns[name].precision)
        return columns

    def _block(self, columns: dict[str, Column], count: int) -> Block:
        return Block.of(
            columns,
            count,
            shape=self.spec.shape,
            targets=dict(self.spec.targets),
            attributes=dict(self.attributes),
        )


@rule(20)
def column_array(group: Group, name: str, column: ColumnSpec) -> StoredArray:
    """The array of a declared column."""
    return due_array(group, name, column.dtype, column.trailing)


@rule(26)
def due_data(array: StoredArray, rows: int) -> StoredArray:
    """A column or a mask; an error unless the rows of all updates lie within it."""
    return due_rows(array, rows)


@rule(29)
def check_stated_shape(group: Group, shape: tuple[int, ...] | None) -> None:
    """Refuse a group that says another structural shape than the declaration."""
    if layout.SHAPE in group.attributes:
        with rule(5):
            stated = group.attributes.counts(layout.SHAPE)
        if stated != shape:
            raise group.error(f"structural_shape {list(stated)}, in the schema {shape}")


@rule(29)
def check_shape_rows(group: Group, shape: tuple[int, ...] | None, updates: Updates) -> None:
    """Refuse an update that has not the rows of the structural shape."""
    counts = updates.counts()
    if shape is None or (counts == math.prod(shape)).all():
        return
    bad = int(np.argmax(counts != math.prod(shape)))
    error = group.error(f"{counts[bad]} rows for the structural shape {list(shape)}")
    error.frame = updates.ordinal(bad)
    raise error


def frozen(block: Block) -> Block:
    """Make the arrays of a block read-only, because several frames share them."""
    for column in block.columns.values():
        column.values.flags.writeable = False
        if column.valid is not None:
            column.valid.flags.writeable = False
    return block
