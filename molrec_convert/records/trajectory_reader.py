"""Reads a trajectory, frame by frame, from the chunks that hold it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from molrec_convert.model import Block, BlockSpec, Box, Column, Frame, Meta, Schema, Trajectory
from molrec_convert.model.dtypes import Array
from molrec_convert.model.meta import TAGS

from . import layout
from .cells import CELL_KEY, CellUpdates, tells_cells_apart
from .progressions import read_nstep, read_steps, read_times
from .references import ReferenceCheck, check_shared_blocks
from .schema_json import schema_of
from .sections import checked_targets, mask_arrays, unknown_attributes
from .tree import Group, due_array, due_rows
from .typed_json import parsed_json
from .updates import read_updates


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
        self.arrays = {
            name: due_array(group, name, column.dtype, column.trailing) for name, column in spec.columns.items()
        }
        self.updates = read_updates(group, self.arrays, nstep)
        total = self.updates.total
        for array in self.arrays.values():
            due_rows(array, total)
        nullable = {name: column for name, column in spec.columns.items() if column.nullable}
        self.masks = {name: due_rows(mask, total) for name, mask in mask_arrays(group, nullable).items()}
        self._check_shape()
        checked_targets(dict(spec.targets), {name: column.dtype for name, column in spec.columns.items()}, group)
        self.attributes = unknown_attributes(group, layout.UPDATE_ATTRIBUTES)
        self._kept: tuple[int, Block] | None = None

    def _check_shape(self) -> None:
        shape = self.spec.shape
        if layout.SHAPE in self.group.attributes:
            stated = self.group.attributes.counts(layout.SHAPE)
            if stated != shape:
                raise self.group.error(f"structural_shape {list(stated)}, in the schema {shape}")
        if shape is not None:
            size = int(np.prod(shape, dtype=np.int64))
            counts = self.updates.counts()
            if (counts != size).any():
                bad = int(np.argmax(counts != size))
                error = self.group.error(f"{counts[bad]} rows for the structural shape {list(shape)}")
                error.frame = self.updates.ordinal(bad)
                raise error

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
        columns: dict[str, Column] = {}
        for name, array in self.arrays.items():
            mask = self.masks.get(name)
            valid = None if mask is None else mask.read(first, end)
            if valid is not None and valid.all():
                valid = None
            columns[name] = Column.of(array.read(first, end), valid, self.spec.columns[name].precision)
        return Block.of(
            columns,
            end - first,
            shape=self.spec.shape,
            targets=dict(self.spec.targets),
            attributes=dict(self.attributes),
        )


def frozen(block: Block) -> Block:
    """Make the arrays of a block read-only, because several frames share them."""
    for column in block.columns.values():
        column.values.flags.writeable = False
        if column.valid is not None:
            column.valid.flags.writeable = False
    return block


class MetaReader:
    """The values of a per-step key."""

    def __init__(self, group: Group, key: str, tag: str, nstep: int) -> None:
        dtype, length = TAGS[tag]
        self.tag = tag
        self._array = due_rows(due_array(group, key, dtype, () if length is None else (length,)), nstep)
        stated = self._array.attributes.text(layout.META_DTYPE)
        if stated != tag:
            raise self._array.error(f"{layout.META_DTYPE} is {stated!r}, in the schema {tag!r}")
        self._nstep = nstep
        self._first = 0
        self._values: list[Any] = []

    def at(self, frame: int) -> Any:
        """The value of a frame."""
        if not self._first <= frame < self._first + len(self._values):
            self._first = frame - frame % layout.DENSE_ROWS
            self._values = self.values(self._first, min(self._first + layout.DENSE_ROWS, self._nstep))
        return self._values[frame - self._first]

    def values(self, first: int, end: int) -> list[Any]:
        """The values of frames."""
        found: list[Any] = self._array.read(first, end).tolist()
        if self.tag == "json":
            return [self._parsed(text) for text in found]
        return found if TAGS[self.tag].length is None else [tuple(value) for value in found]

    def _parsed(self, text: str) -> Any:
        try:
            return parsed_json(text)
        except ValueError as error:
            raise self._array.error(str(error)) from None


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
    """

    def __init__(self, group: Group, system: Frame | None, frame: Frame | None, *, strict: bool = True) -> None:
        self.group = group
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
        group = self.group.group(layout.META)
        readers = {}
        for key, spec in self._schema.meta.items():
            if group is not None and group.child(key) is not None:
                readers[key] = MetaReader(group, key, spec.tag, self._nstep)
            elif self._nstep:
                raise self.group.error("a declared key without its array", f"meta/{key}")
        return readers

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
        if not self._system:
            return stored
        found = {name: stored[name] for name in stored}
        joined: dict[str, Block] = {}
        for name, fixed in self._system.items():
            if blocks is None or name in blocks:
                joined[name] = _merged(fixed, found.pop(name, None))
        return Frame.of({**joined, **found}, stored.box, stored.meta)

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
