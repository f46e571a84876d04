"""The frames of a record as a source gives them: with what stands once, with own steps and times, without fills."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from .adapter import Snapshot
from .ahead import BUNDLE, LONE, MOST
from .errors import RecordError
from .model import Block, Frame, Meta, Record, Schema
from .model.meta import same_value
from .model.origin import declared_units
from .model.schema import NO_FILL
from .moments import Kept, Moments, distinct, mapped
from .placement import CELL_KEY, STEP_KEY, TIME_KEY
from .stack import Stack


def record_snapshots(record: Record, chosen: list[int]) -> Iterator[Snapshot]:
    """Frames of a record as a source gives them: own steps and times, without the fills of keys that were missing."""
    units = declared_units(record.meta)
    if record.trajectory is None:
        if record.frame is not None and chosen:
            frame = Frame.of(dict(record.frame.items()), record.frame.box, Meta(record.frame.meta))
            step, time = frame.meta.pop(STEP_KEY, None), frame.meta.pop(TIME_KEY, None)
            yield Snapshot(frame, step, time, Meta(), units)
        return
    about = Meta(record.system.meta) if record.system is not None else Meta()
    schema = record.trajectory.filled
    for index in chosen:
        frame = with_system(record.trajectory[index], record.system, index)
        meta = _without_fills(frame.meta, schema)
        step, time = record.trajectory.moment(index)
        step = meta.pop(STEP_KEY, None) if STEP_KEY in schema.meta else step
        time = meta.pop(TIME_KEY, None) if time is None else time
        blocks = {name: _without_null_columns(name, block, schema) for name, block in frame.items()}
        yield Snapshot(Frame.of(blocks, frame.box, meta), step, time, about, units)


def record_stacks(record: Record, chosen: Sequence[int]) -> Iterator[Snapshot | Stack]:
    """Frames of a record as `record_snapshots` gives them, small ones that follow one another together."""
    trajectory = record.trajectory
    size = None if trajectory is None else trajectory.frame_size
    most = 1 if size is None or size >= LONE else min(MOST, BUNDLE // max(size, 1))
    for first, end in runs_of(chosen, most):
        stack = trajectory.stack(first, end) if trajectory is not None and end - first > 1 else None
        told = None if stack is None else _told(stack, record)
        if told is not None:
            yield told
        else:
            yield from record_snapshots(record, list(range(first, end)))


def runs_of(chosen: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Numbers that follow one another, as their first and the one behind their last, up to so many together."""
    first = 0
    for k in range(1, len(chosen) + 1):
        if k == len(chosen) or chosen[k] != chosen[k - 1] + 1 or k - first >= most:
            yield chosen[first], chosen[k - 1] + 1
            first = k


def _told(stack: Stack, record: Record) -> Stack | None:
    """A stack with own steps and times, without fills; None where its frames differ in what they lack."""
    assert record.trajectory is not None
    if any(column.valid is not None for block in stack.blocks.values() for column in block.columns.values()):
        return None
    schema, about = record.trajectory.filled, Meta(record.system.meta) if record.system is not None else Meta()
    units = declared_units(record.meta)
    filled = any(spec.fill is not NO_FILL for spec in schema.meta.values())
    own = stack.moments
    metas = mapped(partial(_without_fills, schema=schema), own.metas) if filled else own.metas
    steps, times = own.steps, own.times
    moved = {STEP_KEY} & schema.meta.keys()
    if moved:
        steps = mapped(partial(Meta.get, key=STEP_KEY), metas)
    if TIME_KEY in schema.meta and None in times:  # then no frame has a time of its own
        moved.add(TIME_KEY)
        times = mapped(partial(Meta.get, key=TIME_KEY), metas)
    if moved:
        metas = mapped(lambda meta: meta.picked(key for key in meta if key not in moved), metas)
    if not all(meta.same_keys(metas[0]) for meta in distinct(metas)):
        return None
    stack.moments, stack.units = Moments(steps, times, own.boxes, metas, Kept(about, len(own))), units
    return stack


def with_system(frame: Frame, system: Frame | None, index: int) -> Frame:
    """The frame with what stands once for all frames, unless it has it."""
    blocks = dict(frame.items())
    for name, fixed in ({} if system is None else system).items():
        block = blocks.get(name)
        if block is not None and block.count != fixed.count:
            message = f"system has {fixed.count} rows of {name!r}, the frame {block.count}"
            raise RecordError(message, frame=index)
        if block is None:
            blocks[name] = fixed
        elif not fixed.keys() <= block.keys():
            columns, targets = {**fixed.columns, **block.columns}, {**fixed.targets, **block.targets}
            blocks[name] = Block.of(
                columns, block.count, shape=block.shape, targets=targets, attributes=block.attributes
            )
    return Frame.of(blocks, frame.box, frame.meta)


def _without_null_columns(name: str, block: Block, schema: Schema) -> Block:
    """The block without columns that this frame lacked: those of the trajectory that are null in every row."""
    spec = schema.blocks.get(name)
    if spec is None or not block.count:
        return block
    missing = {
        key
        for key, declared in spec.columns.items()
        if declared.nullable and key in block and (mask := block.column(key).valid) is not None and not mask.any()
    }
    if not missing:
        return block
    columns = {key: column for key, column in block.columns.items() if key not in missing}
    return Block.of(columns, block.count, shape=block.shape, targets=block.targets, attributes=block.attributes)


def _without_fills(meta: Meta, schema: Schema) -> Meta:
    kept: list[str] = []
    for key, value in meta.items():
        spec = schema.meta.get(key)
        missing = spec is not None and spec.fill is not NO_FILL and _is_fill(value, spec.fill)
        if key != CELL_KEY and not missing:
            kept.append(key)
    return meta.picked(kept)


def _is_fill(value: Any, fill: Any) -> bool:
    if isinstance(fill, tuple):
        return isinstance(value, tuple) and all(map(_is_fill, value, fill))
    if isinstance(fill, float) and math.isnan(fill):
        return isinstance(value, float) and math.isnan(value)
    return same_value(value, fill)
