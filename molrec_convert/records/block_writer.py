"""A block of a trajectory on its way to the store: sparse updates, and an index where they are not regular.

A block whose updates all have the same number of rows, update j in frame j, needs no index: its markers say so. The
first update that breaks this writes the index arrays with their history; where both stand, the arrays hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Column
from molrec_convert.model.dtypes import DTYPES, Array, same_bits
from molrec_convert.model.frame import greatest_row, references
from molrec_convert.stack import by_frame, part_of

from . import layout
from .chunks import ChunkQueue
from .extents import Growth
from .rows import RowsWriter, ValuesWriter
from .tree import Group, Node

HEAD = 4
"""Values at each end of a column that are compared before whole columns are."""


class BlockWriter:
    """What is known of one declared block, and what waits to be written.

    Parameters
    ----------
    name
        The block's name.
    spec
        Its declaration.
    """

    def __init__(self, name: str, spec: BlockSpec) -> None:
        self.name = name
        self.spec = spec
        self.last: Block | None = None
        self.updates = 0
        self.rows = 0
        self.each = 0
        self.chunk_rows = 0
        self.references = references(spec.columns, spec.targets)
        self.reached: dict[str, int] = {}
        self.group: Group | None = None
        self.is_published = False
        self._size = math.prod(spec.shape) if spec.shape is not None else None
        self._declared = [(key, DTYPES[column.dtype], column) for key, column in spec.columns.items()]
        self._columns = {
            key: RowsWriter(key, column.dtype, column.trailing, quantized=column.precision is not None)
            for key, column in spec.columns.items()
        }
        self._masks: dict[str, RowsWriter] = {}
        self._validity: Group | None = None
        self.index: ValuesWriter | None = None
        self.offset: ValuesWriter | None = None

    # ------------------------------------------------------------ taking updates
    def check(self, block: Block) -> None:
        """Refuse a block that is not as declared."""
        spec = self.spec
        columns = block.columns
        if block.shape != spec.shape:
            raise RecordError(f"the structural shape is {block.shape}, declared is {spec.shape}")
        if self._size is not None and block.count != self._size:
            raise RecordError(f"{block.count} rows for the structural shape {spec.shape}")
        if block.targets and block.targets != spec.targets:
            raise RecordError(f"the targets are {block.targets}, declared are {dict(spec.targets)}")
        if self.last is not None and block.attributes != self.last.attributes:
            raise RecordError("the attributes of the block change")
        count = block.count
        for key, dtype, due in self._declared:
            column = columns.get(key)
            if column is None:
                raise RecordError("the column is missing", place=key)
            values = column.values
            if values.dtype != dtype or values.shape[1:] != due.trailing or len(values) != count:
                raise RecordError(f"{_form(due.dtype, due.trailing)} is due, not {_form(column.dtype, column.trailing)}"
                                  f" with {len(values)} rows", place=key)  # fmt: skip
            if column.precision != due.precision:
                raise RecordError(f"the precision is {column.precision}, declared is {due.precision}", place=key)
            if column.valid is not None and not due.nullable and not column.valid.all():
                raise RecordError("null rows in a column that is not nullable", place=key)
        if len(columns) != len(self._declared):
            undeclared = next(key for key in columns if key not in spec.columns)
            raise RecordError("the column is not declared", place=undeclared)

    def differs(self, block: Block) -> bool:
        """Whether the block is an update: not the same bits as before."""
        last = self.last
        if last is None:
            return True
        if last is block:
            return False
        if last.count != block.count:
            return True
        pairs = [(last.column(key), block.column(key)) for key, _, _ in self._declared]
        return any(_ends_differ(*pair) for pair in pairs) or not all(_same(*pair) for pair in pairs)

    def all_differ(self, block: Block, frames: int) -> bool:
        """Whether every frame of a stack is an update, for certain."""
        if not self.differs(part_of(block, 0, frames)):
            return False
        differ = np.zeros(frames - 1, bool)
        for key, _, _ in self._declared:
            values = block.column(key).values
            if values.dtype != DTYPES["string"]:
                each = by_frame(values, frames)
                differ |= (each[1:, :HEAD] != each[:-1, :HEAD]).any(axis=1)
                if differ.all():
                    return True
        return False

    def push(self, block: Block, ordinal: int, frames: int = 1) -> bool:
        """Take an update, or a stack of them; True if the index is to be published before anything else is written."""
        count = block.count // frames
        broke = False
        if self.index is None:
            if self.updates == 0:
                self.each = count
            if self.updates != ordinal or count != self.each or not count or not self._declared:
                self._break()
                broke = self.is_published
        if self.index is not None and self.offset is not None:
            for k in range(frames):
                self.index.push(ordinal + k)
                self.offset.push(self.rows + (k + 1) * count)
        for key, _, due in self._declared:
            column = block.column(key)
            self._columns[key].add(column.values)
            if due.nullable:
                self._push_mask(key, column.valid, block.count)
        self.last = block if frames == 1 else part_of(block, frames - 1, frames)
        self.updates += frames
        self.rows += block.count
        if self.references:
            self.reached = last_rows(self.last, self.references)
        return broke

    def _push_mask(self, key: str, valid: Array | None, count: int) -> None:
        mask = self._masks.get(key)
        if mask is None:
            if valid is None or valid.all():
                return
            mask = self._masks[key] = RowsWriter(key, "bool")
            if self.rows:
                mask.add(np.broadcast_to(np.True_, self.rows))
        mask.add(np.broadcast_to(np.True_, count) if valid is None else valid)

    def _break(self) -> None:
        self.index = ValuesWriter(layout.STEP_INDEX, "u64")
        self.offset = ValuesWriter(layout.OFFSET, "u64")
        self.index.add(np.arange(self.updates, dtype=np.uint64))
        self.offset.add(np.arange(self.updates + 1, dtype=np.uint64) * np.uint64(self.each))

    # ------------------------------------------------------------ writing
    def growth(self, frames: int) -> Growth:
        """What is known of the block after so many frames."""
        sizes = tuple(dtype.itemsize * math.prod(column.trailing) for _, dtype, column in self._declared)
        quantized = any(column.precision is not None for _, _, column in self._declared)
        return Growth(self.each, self.updates, self.rows, frames, self.index is None, sizes, quantized)

    @property
    def pending(self) -> int:
        """Rows that wait for their chunk."""
        return next((column.pending for column in self._columns.values()), 0)

    def attach(self, parent: Group, hidden: list[tuple[Group, str, Node]], *, final: bool) -> None:
        """Give every array that has rows its place in the store; new ones of a published block wait in `hidden`."""
        if self.group is None:
            self.group = parent.create_group(self.name, hidden=True)
            hidden.append((parent, self.name, self.group))
            self._describe(self.group)
            for writer in self._columns.values():
                self.group.publish(writer.name, writer.open(self.group, self.chunk_rows))
        waiting = hidden if self.is_published else None
        if self._masks and self._validity is None:
            self._validity = self.group.create_group(layout.VALIDITY, hidden=True)
            _publish(self.group, layout.VALIDITY, self._validity, waiting)
        for mask in self._masks.values():
            if mask.array is None and self._validity is not None:
                _publish(self._validity, mask.name, mask.open(self._validity, self.chunk_rows), waiting)
        self.attach_index(waiting, final=final)

    def attach_index(self, waiting: list[tuple[Group, str, Node]] | None, *, final: bool) -> None:
        """Give the index arrays their place."""
        for writer in (self.offset, self.index):
            if writer is not None and writer.array is None and self.group is not None:
                _publish(self.group, writer.name, writer.open_dense(self.group, final=final), waiting)

    def _describe(self, group: Group) -> None:
        if self.spec.shape is not None:
            group.attributes.set_plain({layout.SHAPE: list(self.spec.shape)})
        if self.last is not None and self.last.attributes:
            group.attributes.set_plain(self.last.attributes)
        if self.index is None:
            group.attributes.set_scalar(layout.UNIFORM_ROWS, self.each, "i64")
            group.attributes.set_scalar(layout.DENSE_UPDATES, True, "bool")

    def drain(self, queue: ChunkQueue) -> None:
        """Write the chunks that are full."""
        for writer in self._writers():
            writer.drain(queue)

    def write_tails(self, queue: ChunkQueue, *, final: bool) -> None:
        """Write also the chunks that are not."""
        for writer in self._writers():
            writer.write_tail(queue, final=final)

    def drop_markers(self) -> bool:
        """Remove the markers of a block that has an index; True if there were any."""
        if self.group is None or self.index is None:
            return False
        attributes = self.group.attributes
        stale = [name for name in (layout.UNIFORM_ROWS, layout.DENSE_UPDATES) if name in attributes]
        for name in stale:
            attributes.delete(name)
        return bool(stale)

    def _writers(self) -> list[RowsWriter]:
        index = [writer for writer in (self.index, self.offset) if writer is not None]
        return [*self._columns.values(), *self._masks.values(), *index]

    # ------------------------------------------------------------ going on with a closed trajectory
    def resume(self, group: Group, updates: int, rows: int, last: Block) -> None:
        """Go on after `updates` updates with `rows` rows in all."""
        self.group, self.is_published = group, True
        self.updates, self.rows, self.last = updates, rows, last
        self.reached = last_rows(last, self.references)
        if group.child(layout.STEP_INDEX) is None:
            self.each = rows // updates
        else:
            self.index, self.offset = ValuesWriter(layout.STEP_INDEX, "u64"), ValuesWriter(layout.OFFSET, "u64")
            _resume(self.index, group, updates)
            _resume(self.offset, group, updates + 1)
        self._validity = group.group(layout.VALIDITY)
        for name in self._validity.names() if self._validity is not None else []:
            self._masks[name] = RowsWriter(name, "bool")
            _resume(self._masks[name], self._validity, rows)
        for column in self._columns.values():
            _resume(column, group, rows)
            if column.array is not None:
                self.chunk_rows = column.array.chunk_rows


def _resume(writer: RowsWriter, group: Group | None, rows: int) -> None:
    array = group.growing(writer.name) if group is not None else None
    if array is not None:
        writer.resume(array, rows)


def _publish(group: Group, name: str, node: Node, waiting: list[tuple[Group, str, Node]] | None) -> None:
    if waiting is None:
        group.publish(name, node)
    else:
        waiting.append((group, name, node))


def last_rows(block: Block, columns: Mapping[str, str]) -> dict[str, int]:
    """The greatest row that each reference column of a block points at."""
    return {key: greatest_row(block.column(key)) for key in columns}


def _form(dtype: str, trailing: tuple[int, ...]) -> str:
    return f"{dtype}[N]" + "".join(f"[{n}]" for n in trailing)


def _ends_differ(one: Column, other: Column) -> bool:
    """A cheap look at both ends of two columns of one type and length."""
    a, b = one.values, other.values
    if a is b or a.dtype == DTYPES["string"]:
        return False
    return bool(a[:HEAD].tobytes() != b[:HEAD].tobytes() or a[-HEAD:].tobytes() != b[-HEAD:].tobytes())


def _same(one: Column, other: Column) -> bool:
    if (one.valid is None) != (other.valid is None):
        return False
    if one.valid is not None and other.valid is not None and not np.array_equal(one.valid, other.valid):
        return False
    return same_bits(one.values, other.values)
