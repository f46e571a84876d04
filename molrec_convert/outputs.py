"""A record as the target of a conversion, whatever its frames turn out to hold."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .adapter import Note, Snapshot
from .ahead import one_by_one
from .errors import RecordError
from .forms import HDF5
from .model import Meta
from .moments import mapped
from .part import PartFile, removed
from .placement import Placement
from .placer import Placer
from .stack import Stack

if TYPE_CHECKING:
    from .records import RecordWriter, StoredRecord, TrajectoryWriter

LOOK_AHEAD = 16 << 20
"""Bytes of frames that are looked at before a record is laid out."""
FRAME, COLUMN = 2 << 10, 512
"""Bytes that a frame and a column take beside their values, which count where there are many small frames."""


Carry = Callable[["RecordWriter"], object]
"""Writes to a record, before it is closed, what does not come in frames."""


class RecordOutput:
    """A record, written once whatever its frames turn out to hold.

    Frames are taken in segments: as long as a frame fits the layout, it is appended; where one does not, the segment
    is closed and another begun under the wider layout. Several segments are joined at the end, under the last layout,
    which holds all frames: the record is the same as if it had been known from the start.
    """

    def __init__(self, part: PartFile, *, series: bool, executor: Executor, carry: Carry | None = None) -> None:
        from .records import load

        self.takes: frozenset[str] = frozenset()
        self._part = part
        self.form = part.form or HDF5
        load(self.form)
        self._series = series
        self._carry = carry
        self._executor = executor
        self._placement = Placement()
        self._waiting: list[Snapshot | Stack] = []
        self._waiting_bytes = 0
        self._segments: list[Path] = []
        self._writer: RecordWriter | None = None
        self._trajectory: TrajectoryWriter | None = None
        self._placer: Placer | None = None
        self._units: Any = None
        self.frames = 0

    def add(self, taken: Snapshot | Stack) -> None:
        """Take the next frame, or frames."""
        try:
            wider = self._placement.learn(taken)
        except RecordError as error:
            error.frame = self.frames if error.frame is None else error.frame
            raise
        self._units = taken.units if not self.frames else self._units
        self.frames += _count(taken)
        if self._writer is None:
            self._waiting.append(taken)
            self._waiting_bytes += _bytes_of(taken)
            if self._waiting_bytes >= LOOK_AHEAD and len(self._waiting) > 1:
                self._begin()
            return
        if wider:
            self._end_segment()
            self._waiting, self._waiting_bytes = [taken], _bytes_of(taken)
            return
        self._append(taken)

    @property
    def notes(self) -> list[Note]:
        """What a person should know about the layout."""
        return self._placement.notes

    def finish(self, document: dict[str, Any]) -> None:
        """Close the record, with its document."""
        if not self._segments and not self._series and self.frames == 1:
            self._write_alone(document)
            return
        if self._writer is None:
            self._begin(last=True)
        assert self._writer is not None
        if len(self._segments) > 1:
            self._end_segment()
            self._join()
        self._writer.set_meta(document)
        if self._carry is not None:
            self._carry(self._writer)
        self._writer.close()
        if self._segments:
            self._part.fill(self._segments[0])
            self._segments.clear()

    def copy(self, record: StoredRecord, done: Callable[[int], object]) -> None:
        """Have the record be a record that there is, in the form of the target, instead of frames that are added."""
        from .records import create, transcribe

        path = self._part.beside(0)
        self._segments.append(path)
        with create(path, executor=self._executor, form=self._part.growing_form) as writer:
            self.frames = transcribe(record, writer, done)
        self._part.fill(self._segments.pop())

    def discard(self) -> None:
        """Close what is open and remove it."""
        with suppress(Exception):  # the error that led here is the one to tell
            if self._writer is not None:
                self._writer.close()
        for path in self._segments:
            removed(path)
        self._part.discard()

    # ------------------------------------------------------------ segments
    def _write_alone(self, document: dict[str, Any]) -> None:
        from .records import create

        path = self._part.beside(0)
        self._segments.append(path)
        with create(path, meta=document, executor=self._executor, form=self._part.growing_form) as writer:
            writer.set_section("frame", self._placement.alone(next(one_by_one(self._waiting))))
            if self._carry is not None:
                self._carry(writer)
        self._part.fill(self._segments.pop())

    def _begin(self, *, last: bool = False) -> None:
        path = self._part.beside(len(self._segments))
        self._segments.append(path)
        count = sum(map(_count, self._waiting))
        self._open(path, count if last else None, first=self.frames - count)
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for taken in waiting:
            self._append(taken)

    def _open(self, path: Path, expected: int | None, *, first: int) -> None:
        from .records import create

        self._writer = create(path, executor=self._executor, form=self._part.growing_form)
        self._part.grows(path)
        self._placer = Placer(self._placement, first)
        if self._placer.system is not None:
            self._writer.set_section("system", self._placer.system)
        self._trajectory = self._writer.begin_trajectory(self._placer.schema, expected_frames=expected)

    def _append(self, taken: Snapshot | Stack) -> None:
        assert self._placer is not None
        assert self._trajectory is not None
        if isinstance(taken, Stack) and (placed := self._placer.place_stack(taken)) is not None:
            self._trajectory.append_stack(placed)
            return
        for snapshot in one_by_one([taken]):
            frame, step, time = self._placer.place(snapshot)
            self._trajectory.append(frame, step=step, time=time)

    def _end_segment(self) -> None:
        assert self._writer is not None
        self._writer.set_meta({} if self._units is None else {"units": dict(self._units)})
        self._writer.close()
        self._writer = None

    def _join(self) -> None:
        from .record_frames import record_stacks
        from .records import open_record

        count = len(self._segments)
        joined = self._part.beside(count)
        self._segments.append(joined)
        self._open(joined, self.frames, first=0)
        ordinal = 0
        for _ in range(count):
            path = self._segments[0]
            with open_record(path) as record:
                for taken in record_stacks(record, range(len(record))):
                    self._append(self._restored(taken, ordinal))
                    ordinal += _count(taken)
            removed(path)
            self._segments.pop(0)

    def _restored(self, taken: Snapshot | Stack, ordinal: int) -> Snapshot | Stack:
        """Frames of a segment as they were taken: facts about the source that moved stand apart from the meta again."""
        stepless = self._placement.stepless
        if isinstance(taken, Stack):
            own = taken.moments
            own.abouts = mapped(self._with_facts, own.abouts, own.metas)
            own.metas = mapped(self._without_facts, own.metas)
            if stepless:
                own.steps = [None if ordinal + k in stepless else step for k, step in enumerate(own.steps)]
            return taken
        meta = taken.frame.meta
        taken.about, taken.frame.meta = self._with_facts(taken.about, meta), self._without_facts(meta)
        taken.step = None if ordinal in stepless else taken.step
        return taken

    def _with_facts(self, about: Meta, meta: Meta) -> Meta:
        return about.joined(meta.picked(key for key in meta if key in self._placement.about_keys))

    def _without_facts(self, meta: Meta) -> Meta:
        return meta.picked(key for key in meta if key not in self._placement.about_keys)


def _count(taken: Snapshot | Stack) -> int:
    return len(taken) if isinstance(taken, Stack) else 1


def _bytes_of(taken: Snapshot | Stack) -> int:
    blocks = taken.blocks if isinstance(taken, Stack) else taken.frame
    columns = [column.values.nbytes for block in blocks.values() for column in block.columns.values()]
    return FRAME * _count(taken) + COLUMN * len(columns) + sum(columns)
