"""Reads a trajectory, frame by frame, from the chunks that hold it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from molrec_convert.model import Block, Box, Frame, Meta, Schema, Trajectory
from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.model.origin import Origin
from molrec_convert.model.trajectory import picked
from molrec_convert.moments import Kept, Moments, kept
from molrec_convert.stack import Stack, tiled_block

from . import layout
from .block_reader import BlockReader, frozen
from .cells import CELL_KEY, CellUpdates, tells_cells_apart
from .meta_reader import MetaReader, meta_reader
from .progressions import read_nstep, read_steps, read_times
from .references import ReferenceCheck, check_shared_blocks
from .schema_json import schema_of
from .tree import Group


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
        moments = Moments(
            self._step[first:end].tolist(),
            Kept(None, frames) if self._time is None else self._time[first:end].tolist(),
            Kept(None, frames) if self._cell is None else kept(self._cell.of(first, end)),
            metas or Kept(Meta(), frames),
            Kept(self._about, frames),
        )
        return Stack({**joined, **found}, moments, self._units)

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
