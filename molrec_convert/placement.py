"""Where the parts of frames go in a record: what never changes to ``system`` once, what moves to ``trajectory``.

A placement learns frame by frame and only ever widens: a column that changed once is one that moves, a block whose
row count changed once is ragged. What it has learned at the end does not depend on where a file was cut into pieces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import lt
from typing import Any

from .adapter import Note, Snapshot
from .mapping.names import may_be_fixed
from .model import Block, BlockSpec, Box, Column, Frame, Meta, MetaSpec, Schema
from .model.dtypes import ENDPOINTS
from .model.meta import same_value
from .model.schema import joined_tag, optional_meta
from .moments import Moments, distinct
from .stack import Stack, repeats

ATOMS = "atoms"
CELL_KEY = "cell_defined"
"""False in a frame without a cell, in a trajectory that has one."""
STEP_KEY, TIME_KEY = "timestep", "time"
"""Where the source's own steps and times stand when they cannot be those of the trajectory."""


class Numbers:
    """Numbers that are added in order, most of them one after another."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def add(self, number: int) -> None:
        """Take a number larger than all before."""
        if self._stops and self._stops[-1] == number:
            self._stops[-1] = number + 1
        else:
            self._starts.append(number)
            self._stops.append(number + 1)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number < self._stops[place]


class Placement:
    """What the frames seen so far have in common, and so how a record of them is laid out."""

    def __init__(self) -> None:
        self.schema = Schema()
        self.ordinal_steps = False
        """Whether steps count all frames, as those of the source do not rise; else they count frames without one."""
        self.stepless = Numbers()
        """The frames whose source states no step."""
        self.timed = True
        self.notes: list[Note] = []
        self._seen = 0
        self._signature: tuple[Any, ...] = ()
        self._fixed: dict[str, dict[str, Column]] = {}
        self._counts: dict[str, int] = {}
        self._attributes: dict[str, Mapping[str, Any]] = {}
        self._ragged: set[str] = set()
        self._last_about: Meta | None = None
        self._about: dict[str, Any] = {}
        self._about_tags: dict[str, str] = {}
        self._moving_about: dict[str, None] = {}  # in the order in which they were found to move
        self._partial_about: set[str] = set()  # those that some frames lack
        self._last_step: int | None = None
        self._stepped = self._some_time = False
        self._boxed = self._undefined = False
        self._mixed_cells = False

    # ------------------------------------------------------------ learning
    def learn(self, taken: Snapshot | Stack) -> bool:
        """Take a frame in, or a stack of frames; whether a record that was begun before does not fit any more.

        Raises
        ------
        RecordError
            Where no schema holds this frame beside the others.
        """
        if isinstance(taken, Stack):
            changed = self.learn(taken[0])
            changed |= self._learn_moments(taken.moments.after(1))
            for name, block in taken.blocks.items():
                changed |= self._learn_repeats(name, block, len(taken))
            return changed
        frame = taken.frame
        changed = self._learn_schema(frame)
        for name, block in frame.items():
            changed |= self._learn_block(name, block)
        for name in [name for name in self._fixed if name not in frame]:
            changed |= self._release(name)
        changed |= self._learn_step(taken.step)
        changed |= self._learn_time(taken.time)
        changed |= self._learn_about(taken.about)
        changed |= self._learn_box(frame.box)
        self._seen += 1
        return changed

    def _learn_moments(self, moments: Moments) -> bool:
        """Take in what frames after the first have for their own."""
        changed = self._learn_steps(moments.steps)
        for time in distinct(moments.times):
            changed |= self._learn_time(time)
        for about in distinct(moments.abouts):
            changed |= self._learn_about(about)
        for box in distinct(moments.boxes):
            changed |= self._learn_box(box)
        return changed

    def _learn_box(self, box: Box | None) -> bool:
        changed = False
        defined = box is not None and box.defined
        lost = self._boxed and not defined
        if not self._mixed_cells and (lost or (self._undefined and (defined or box is None))):
            self._mixed_cells = changed = True
        self._boxed |= defined
        self._undefined |= box is not None and not defined
        return changed

    def _learn_steps(self, steps: Sequence[int | None]) -> bool:
        numbers = [step for step in (self._last_step, *steps) if step is not None]
        if not self.ordinal_steps and len(numbers) > len(steps) > 0 and all(map(lt, numbers, numbers[1:])):
            self._last_step, self._stepped = numbers[-1], True
            self._seen += len(steps)
            return False
        changed = False
        for step in steps:
            changed |= self._learn_step(step)
            self._seen += 1
        return changed

    def _learn_step(self, stated: int | None) -> bool:
        changed = False
        last = self._last_step
        step = self._seen if stated is None else stated  # writers leave out steps that only count the frames
        if not self.ordinal_steps and last is not None and step <= last:
            self.ordinal_steps = changed = True
            if stated is not None and self._seen - 1 not in self.stepless:
                message = f"step {step} comes after step {last}: frames are counted, and the steps kept as {STEP_KEY!r}"
                self.notes.append(Note(message, frame=self._seen))
        if stated is None:
            changed |= self.ordinal_steps and not self.stepless
            self.stepless.add(self._seen)
        self._last_step = step
        self._stepped |= stated is not None
        return changed

    def _learn_time(self, time: float | None) -> bool:
        changed = time is not None and not self.timed and not self._some_time
        self._some_time |= time is not None
        if self.timed and time is None:
            self.timed, changed = False, True
        return changed

    def _learn_schema(self, frame: Frame) -> bool:
        signature = signature_of(frame)
        if signature == self._signature:
            return False
        self._signature = signature
        before, needed = self.schema, Schema.of_frame(frame)
        self.schema = before.union(needed) if self._seen else needed
        return self.schema != before

    def _learn_block(self, name: str, block: Block) -> bool:
        if name not in self._counts:
            self._counts[name], self._attributes[name] = block.count, block.attributes
            if self._seen:  # the frames before have no such block
                return True
            self._fixed[name] = {
                key: column for key, column in block.columns.items() if name != ATOMS or may_be_fixed(key, column.dtype)
            }
            return False
        if name not in self._ragged and block.count != self._counts[name]:
            self._ragged.add(name)
            self._release(name)
            return True
        fixed = self._fixed.get(name)
        if not fixed:
            return False
        moved = [key for key, column in fixed.items() if key not in block or not column.same(block.column(key))]
        if name != ATOMS and (moved or len(fixed) != len(block)):
            return self._release(name)
        for key in moved:
            del fixed[key]
        return bool(moved)

    def _learn_repeats(self, name: str, block: Block, frames: int) -> bool:
        """Take the frames of a stack in after its first."""
        fixed = self._fixed.get(name)
        moved = [key for key in fixed or () if not repeats(block.column(key), frames)]
        if fixed is None or not moved:
            return False
        if name != ATOMS:
            return self._release(name)
        for key in moved:
            del fixed[key]
        return True

    def _release(self, name: str) -> bool:
        return bool(self._fixed.pop(name, None))

    def _learn_about(self, about: Meta) -> bool:
        if about is self._last_about:
            return False
        changed, last = False, self._last_about
        self._last_about = about
        if last is not None and about.same_keys(last):  # so that only values may differ
            for key in [key for key in self._about if key in about and not same_value(about[key], self._about[key])]:
                self._moving_about[key] = None
                del self._about[key]
                changed = True
            return changed
        for key in {**self._about_tags, **about.tags}:
            if self._seen and (key not in about or key not in self._about_tags) and key not in self._partial_about:
                self._partial_about.add(key)
                changed = True
            if key in about:
                tag = joined_tag(self._about_tags.get(key, about.tag(key)), about.tag(key))
                changed |= key in self._moving_about and tag != self._about_tags[key]
                self._about_tags[key] = tag
            if key in self._moving_about:
                continue
            if not self._seen:
                self._about[key] = about[key]
            elif key not in about or key not in self._about or not same_value(about[key], self._about[key]):
                self._moving_about[key] = None
                self._about.pop(key, None)
                changed = True
        return changed

    # ------------------------------------------------------------ what follows
    @property
    def about_keys(self) -> frozenset[str]:
        """The facts about the source that frames stated."""
        return frozenset(self._about_tags)

    def system(self) -> Frame | None:
        """What stands once: fixed columns, and the facts about the source that hold for every frame."""
        blocks: dict[str, Block] = {}
        for name, spec in self.schema.blocks.items():
            columns = self._in_system(name)
            if columns or (name in self._fixed and not spec.columns):
                targets, attributes = dict(spec.targets), dict(self._attributes[name])
                blocks[name] = Block.of(
                    dict(columns), self._counts[name], shape=spec.shape, targets=targets, attributes=attributes
                )
        refers = any(end in block for block in blocks.values() for end in ENDPOINTS)
        if refers and ATOMS not in blocks and ATOMS in self._counts:
            blocks[ATOMS] = Block(count=self._counts[ATOMS])
        about = Meta.of(dict(self._about), {key: self._about_tags[key] for key in self._about})
        return Frame.of(blocks, None, about) if blocks or about else None

    def trajectory(self) -> Schema:
        """The declaration of what moves."""
        blocks: dict[str, BlockSpec] = {}
        for name, spec in self.schema.blocks.items():
            fixed = self._in_system(name)
            moving = {key: column for key, column in spec.columns.items() if key not in fixed}
            if moving:
                blocks[name] = replace(spec, columns=moving)
        for name, spec in blocks.items():
            ends = {end: f"/system/{ATOMS}" for end in ENDPOINTS if end in spec.columns and ATOMS not in blocks}
            if ends:
                blocks[name] = replace(spec, targets={**ends, **spec.targets})
        return Schema(blocks, self._meta())

    def alone(self, snapshot: Snapshot) -> Frame:
        """A frame that is the whole record, the facts about its source among its meta."""
        meta = Meta({**snapshot.about, **snapshot.frame.meta}, tags={**snapshot.about.tags, **snapshot.frame.meta.tags})
        if snapshot.step is not None:
            meta.set(STEP_KEY, snapshot.step, tag="i64")
        if snapshot.time is not None:
            meta.set(TIME_KEY, snapshot.time, tag="f64")
        return Frame.of(dict(snapshot.frame.items()), snapshot.frame.box, meta)

    def _in_system(self, name: str) -> Mapping[str, Column]:
        columns = self._fixed.get(name, {})
        # References of system end at rows of system, where ragged atoms have none.
        return {} if ATOMS in self._ragged and any(end in columns for end in ENDPOINTS) else columns

    def _meta(self) -> dict[str, MetaSpec]:
        meta = dict(self.schema.meta)
        for key in self._moving_about:
            tag = self._about_tags[key]
            meta[key] = optional_meta(tag) if key in self._partial_about else MetaSpec(tag)
        if self.ordinal_steps and self._stepped:
            meta[STEP_KEY] = MetaSpec("json", None) if self.stepless else MetaSpec("i64")
        if not self.timed and self._some_time:
            meta[TIME_KEY] = optional_meta("f64")
        if self._mixed_cells:
            meta[CELL_KEY] = MetaSpec("bool", fill=True)
        return meta


def signature_of(frame: Frame) -> tuple[Any, ...]:
    """What a schema is made of, cheap to compare."""
    signature: list[Any] = [*frame.meta.tags.items()]
    for name, block in frame.items():
        signature += (name, block.shape, *block.targets.items())
        for key, column in block.columns.items():
            values = column.values
            signature += (key, values.dtype, values.shape[1:], column.valid is None, column.precision)
    return tuple(signature)
