"""Reads a trajectory, frame by frame, from the chunks that hold it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, Meta, Schema, Trajectory
from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.model.origin import Origin
from molrec_convert.model.trajectory import picked
from molrec_convert.rules import rule
from molrec_convert.stack import Moment, Stack, tiled_block

from . import layout
from .cells import CELL_KEY, CellUpdates, tells_cells_apart
from .meta_reader import MetaReader, meta_reader
from .progressions import read_nstep, read_steps, read_times
from .references import ReferenceCheck, check_shared_blocks
from .schema_json import schema_of
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


class StoredTrajectory(Trajectory):
    """A trajectory on disk; frames are read when they are asked for.

    Parameters
    ----------
    group
        The group ``trajectory``.
    system
        The blocks that hold for all frames.
    frame
        The ``frame`` section, at which row references may point.
    strict
        Whether row references are checked.
    units
        The units that the record declares.
    """

    def __init__(
        self,
        group: Group,
        system: Frame | None,
        frame: Frame | None,
        *,
        strict: bool = True,
        units: Mapping[str, str] | None = None,
    ) -> None:
        self.group = group
        self._about = Meta() if system is None else system.meta
        self._units = units
        self._schema = schema_of(group)
        self._nstep = read_nstep(group)
        self._step = read_steps(group, self._nstep)
        self._time = read_times(group, self._nstep)
        self._system = None if system is None else {name: frozen(block) for name, block in system.items()}
        self._blocks = {
            name: BlockReader(node, spec, self._nstep)
            for name, spec in self._schema.blocks.items()
            if (node := group.group(name)) is not None
        }
        box = group.group(layout.BOX)
        self._cell = None if box is None else CellUpdates(box, self._nstep)
        self._mixed = tells_cells_apart(self._schema)
        self._meta = self._meta_readers()
        updates = {name: reader.updates for name, reader in self._blocks.items()}
        check_shared_blocks(group, self._schema, updates, self._system)
        self._references = ReferenceCheck(group, self._schema, {"system": system, "frame": frame}) if strict else None

    def _meta_readers(self) -> dict[str, MetaReader]:
        found = {key: meta_reader(self.group, key, spec.tag, self._nstep) for key, spec in self._schema.meta.items()}
        return {key: reader for key, reader in found.items() if reader is not None}

    def __len__(self) -> int:
        return self._nstep

    @property
    def step(self) -> Array:
        """The step of every frame."""
        return self._step

    @property
    def time(self) -> Array | None:
        """The time of every frame, or None."""
        return self._time

    @property
    def schema(self) -> Schema:
        """The declaration of the trajectory, without the blocks of ``system``."""
        return self._schema

    @property
    def cell(self) -> CellUpdates | None:
        """The cell as it is stored."""
        return self._cell

    @property
    def readers(self) -> dict[str, BlockReader]:
        """The declared blocks that are there."""
        return self._blocks

    def frame(self, index: int, blocks: Collection[str] | None = None) -> Frame:
        """Read a frame, the blocks of ``system`` joined in row by row.

        Parameters
        ----------
        index
            0 … len - 1.
        blocks
            The blocks to read; by default all. Row references are checked only then.
        """
        stored = self.stored_frame(index, blocks)
        stored.origin = self._origin(index)
        if not self._system:
            return stored
        found = {name: stored[name] for name in stored}
        joined: dict[str, Block] = {}
        for name, fixed in self._system.items():
            if blocks is None or name in blocks:
                joined[name] = _merged(fixed, found.pop(name, None))
        made = Frame.of({**joined, **found}, stored.box, stored.meta)
        made.origin = stored.origin
        return made

    def _origin(self, index: int) -> Origin:
        time = None if self._time is None else float(self._time[index])
        return Origin(int(self._step[index]), time, self._about, self._units)

    def stored_frame(self, index: int, blocks: Collection[str] | None = None) -> Frame:
        """Read a frame as the trajectory has it, without the blocks of ``system``."""
        if not 0 <= index < self._nstep:
            raise IndexError(f"frame {index} of {self._nstep}")
        found: dict[str, Block] = {}
        for name, reader in self._blocks.items():
            if blocks is None or name in blocks:
                block = reader.at(index)
                if block is not None:
                    found[name] = block
        if blocks is None and self._references is not None:
            self._references.check(found, {name: self._blocks[name].updates.at(index) for name in found}, index)
        values = {key: reader.at(index) for key, reader in self._meta.items()}
        tags = {key: reader.tag for key, reader in self._meta.items()}
        box = self._box(index, values)
        if self._mixed:
            del values[CELL_KEY], tags[CELL_KEY]
        return Frame.of(found, box, Meta.of(values, tags))

    @cached_property
    def frame_size(self) -> int:
        """How many bytes the columns of a frame take, on the average."""
        blocks = [(reader.spec, reader.updates.total / max(len(reader.updates), 1)) for reader in self._blocks.values()]
        size = sum(
            rows * DTYPES[column.dtype].itemsize * math.prod(column.trailing)
            for spec, rows in blocks
            for column in spec.columns.values()
        )
        fixed = [column.values.nbytes for block in (self._system or {}).values() for column in block.columns.values()]
        return int(size) + sum(fixed)

    def stack(self, first: int, end: int) -> Stack | None:
        """The frames first … end - 1 as `frame` reads them, together; None where they go one by one."""
        if self._mixed or (self._references is not None and self._references.is_due):
            return None
        frames = end - first
        found: dict[str, Block] = {}
        for name, reader in self._blocks.items():
            block = reader.together(first, end)
            if block is None:
                return None
            found[name] = block
        joined: dict[str, Block] = {}
        for name, fixed in (self._system or {}).items():
            if fixed.shape is not None:
                return None
            joined[name] = _merged(tiled_block(fixed, frames), found.pop(name, None))
        tags = {key: reader.tag for key, reader in self._meta.items()}
        values = [reader.values(first, end) for reader in self._meta.values()]
        metas = [Meta.of(dict(zip(tags, each, strict=True)), dict(tags)) for each in zip(*values, strict=True)]
        boxes = [None] * frames if self._cell is None else self._cell.of(first, end)
        times = [None] * frames if self._time is None else self._time[first:end].tolist()
        steps = self._step[first:end].tolist()
        moments = zip(steps, times, boxes, metas or [Meta() for _ in steps], repeat(self._about), strict=False)
        return Stack({**joined, **found}, [Moment(*each) for each in moments], self._units)

    def part(self, index: int, columns: Mapping[str, Collection[str]]) -> Frame:
        """Read some columns of a frame, with its box and its meta; row references are not checked."""
        frame = self.stored_frame(index, ())
        for name, wanted in columns.items():
            reader, fixed = self._blocks.get(name), (self._system or {}).get(name)
            block = None if reader is None else reader.part(index, wanted)
            if fixed is not None:
                block = _merged(picked(fixed, wanted), block)
            if block is not None:
                frame[name] = block
        return frame

    def counts(self, block: str) -> Array:
        """How many rows a block has in every frame; -1 where it is absent."""
        reader, fixed = self._blocks.get(block), (self._system or {}).get(block)
        before = -1 if fixed is None else fixed.count
        if reader is None:
            return np.full(self._nstep, before, np.int64)
        update = np.searchsorted(reader.updates.ordinals(), np.arange(self._nstep), side="right") - 1
        found: Array = np.append(reader.updates.counts(), before)[update]
        return found

    def _box(self, index: int, values: dict[str, Any]) -> Box | None:
        box = None if self._cell is None else self._cell.at(index)
        if box is not None and self._mixed and values[CELL_KEY] is False:
            return Box.undefined(box.origin) if box.origin.any() else None
        return box

    def extents(self) -> list[tuple[str, str, int]]:
        """The place, the name and the rows in use of every array that grows with the trajectory."""
        place, found = self.group.place, []
        for name, reader in self._blocks.items():
            rows, updates = reader.updates.total, len(reader.updates)
            found += [(f"{place}/{name}", key, rows) for key in reader.arrays]
            found += [(f"{place}/{name}/{layout.VALIDITY}", key, rows) for key in reader.masks]
            if reader.group.child(layout.STEP_INDEX) is not None:
                found += [
                    (f"{place}/{name}", layout.STEP_INDEX, updates),
                    (f"{place}/{name}", layout.OFFSET, updates + 1),
                ]
        found += [(f"{place}/{layout.META}", key, self._nstep) for key in self._meta]
        found += [
            (place, name, self._nstep) for name in (layout.STEP, layout.TIME) if self.group.child(name) is not None
        ]
        if self._cell is not None and not self._cell.is_fixed:
            names = [name for name in self._cell.group.names() if name in layout.BOX_PARTS]
            found += [(f"{place}/{layout.BOX}", name, len(self._cell.updates)) for name in names]
        return found

    def meta(self, key: str) -> list[Any]:
        """A meta value of every frame; None where no frame has one."""
        reader = self._meta.get(key)
        if reader is None or (self._mixed and key == CELL_KEY):
            return [None] * self._nstep
        return reader.values(0, self._nstep)

    def column(self, block: str, name: str) -> list[Array]:
        """A column of every frame, read at once; frames in which it does not change share an array."""
        reader = self._blocks.get(block)
        if reader is None or name not in reader.arrays:
            if self._system is None:
                raise KeyError(block if reader is None else name)
            return [self._system[block][name]] * self._nstep
        updates = reader.updates
        values = reader.arrays[name].read(0, updates.total)
        parts = [values[slice(*updates.rows(k))] for k in range(len(updates))]
        which: Iterable[int] = map(updates.at, range(self._nstep))
        found = [parts[k] if k >= 0 else None for k in which]
        if any(part is None for part in found):
            raise KeyError(block)
        return found  # type: ignore[return-value]


def _merged(fixed: Block, block: Block | None) -> Block:
    """A block of ``system`` and that of the trajectory: a column that both hold is the trajectory's."""
    if block is None:
        return Block.of(dict(fixed.columns), fixed.count, shape=fixed.shape, targets=dict(fixed.targets),
                        attributes=dict(fixed.attributes))  # fmt: skip
    return Block.of(
        {**fixed.columns, **block.columns},
        block.count,
        shape=block.shape,
        targets={**fixed.targets, **block.targets},
        attributes={**fixed.attributes, **block.attributes},
    )
