"""Takes frames apart as a placement lays them out: the part that moves, with its step and time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .adapter import Snapshot
from .errors import RecordError
from .model import Block, Column, Frame, Meta
from .model.dtypes import DTYPES
from .moments import Kept, Moment, Moments, distinct, mapped, moment_of
from .placement import CELL_KEY, STEP_KEY, TIME_KEY, Placement, signature_of
from .stack import Stack, part_of


class Placer:
    """Takes frames apart for one record, laid out by a placement as it stands.

    Parameters
    ----------
    placement
        What is known of all frames.
    first
        The number of the first frame, of all.
    """

    def __init__(self, placement: Placement, first: int = 0) -> None:
        self.schema = placement.trajectory()
        self.system = placement.system()
        self._moving = {name: tuple(spec.columns) for name, spec in self.schema.blocks.items()}
        self._conforming: tuple[Any, ...] = ()
        self._ordinal_steps = placement.ordinal_steps
        self._timed = placement.timed
        self._appeared: set[str] = set()
        self._count = first

    def place(self, snapshot: Snapshot) -> tuple[Frame, int, float | None]:
        """The part of a frame that moves, as the schema declares it, with its step and time."""
        moved = Frame.of(self._blocks(snapshot.frame), snapshot.frame.box, self._meta(moment_of(snapshot)))
        signature = signature_of(moved)
        if signature != self._conforming:
            conforming = self.schema.conform(moved)
            if signature_of(conforming) == signature:  # so it is with all frames like this one
                self._conforming = signature
            moved = conforming
        step = snapshot.step if not self._ordinal_steps and snapshot.step is not None else self._count
        self._count += 1
        return moved, step, snapshot.time if self._timed else None

    def place_stack(self, stack: Stack) -> Stack | None:
        """The part of a stack that moves, with steps, and times or none; None where its frames go one by one."""
        first, moments = self._count, stack.moments
        metas = self._metas(moments)
        if metas is None:
            return None
        blocks = self._blocks(stack.blocks)
        frame = Frame.of({name: part_of(block, 0, len(metas)) for name, block in blocks.items()}, None, metas[0])
        if (signature := signature_of(frame)) != self._conforming:
            with suppress(RecordError):
                if signature_of(self.schema.conform(frame)) == signature:
                    self._conforming = signature
            if signature != self._conforming:
                return None
        counted = range(first, first + len(moments))
        steps: Sequence[int | None] = counted if self._ordinal_steps else moments.steps
        if None in steps:
            steps = [number if step is None else step for step, number in zip(steps, counted, strict=True)]
        times = moments.times if self._timed else Kept(None, len(moments))
        self._count += len(moments)
        return Stack(blocks, Moments(steps, times, moments.boxes, metas, moments.abouts))

    def _blocks(self, frame: Mapping[str, Block]) -> dict[str, Block]:
        blocks: dict[str, Block] = {}
        for name, spec in self.schema.blocks.items():
            block = frame.get(name)
            if block is not None:
                there = block.columns
                columns = {key: there[key] for key in self._moving[name] if key in there}
                targets = dict(spec.targets)
                blocks[name] = Block.of(
                    columns, block.count, shape=block.shape, targets=targets, attributes=block.attributes
                )
                self._appeared.add(name)
            elif name in self._appeared:  # a block cannot become absent again, only empty
                blocks[name] = Block(
                    {
                        key: Column(np.zeros((0, *column.trailing), DTYPES[column.dtype]))
                        for key, column in spec.columns.items()
                    },
                    targets=spec.targets,
                )
        return blocks

    def _meta(self, moment: Moment) -> Meta:
        declared, about = self.schema.meta, moment.about
        if not declared:
            return moment.meta
        values, tags = dict(moment.meta.items()), dict(moment.meta.tags)
        for key in declared:
            if key in about:
                values[key], tags[key] = about[key], about.tag(key)
        for key, value in self._added(moment):
            values[key], tags[key] = value, declared[key].tag
        return Meta.of(values, tags)

    def _metas(self, moments: Moments) -> Sequence[Meta] | None:
        """The meta of the frames of a stack; None unless all have the same keys."""
        first = moments[0]
        for one, metas in ((first.meta, moments.metas), (first.about, moments.abouts)):
            if not all(meta.same_keys(one) for meta in distinct(metas)):
                return None
        may_add = self.schema.meta.keys() & {STEP_KEY, TIME_KEY, CELL_KEY}
        if may_add and any(next(self._added(moment), None) is not None for moment in moments):
            made = [self._meta(moment) for moment in moments]
            return made if all(meta.same_keys(made[0]) for meta in made) else None
        if not self.schema.meta:
            return moments.metas
        tags, moving = dict(self._meta(first).tags), [key for key in self.schema.meta if key in first.about]

        def joined(meta: Meta, about: Meta) -> Meta:
            values = dict(meta.items())
            for key in moving:
                values[key] = about[key]
            return Meta.of(values, tags)

        return mapped(joined, moments.metas, moments.abouts if moving else Kept(first.about, len(moments)))

    def _added(self, moment: Moment) -> Iterator[tuple[str, Any]]:
        """What stands among the values of a frame, since it has no other place, as far as that is declared."""
        declared = self.schema.meta
        if self._ordinal_steps and moment.step is not None and STEP_KEY in declared:
            yield STEP_KEY, moment.step
        if not self._timed and moment.time is not None and TIME_KEY in declared:
            yield TIME_KEY, moment.time
        if CELL_KEY in declared:
            yield CELL_KEY, moment.box is not None and moment.box.defined
