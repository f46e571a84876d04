"""Appends frames to a trajectory: checks them, keeps what changed, writes chunks, commits.

A commit is: data, flush, names of new arrays and progressions, flush, ``nstep``, flush. A file whose writer was killed
at any moment holds every committed frame.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import lt
from typing import TYPE_CHECKING, Any, NamedTuple

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame, Schema
from molrec_convert.moments import distinct, mapped
from molrec_convert.stack import Stack, part_of

from . import layout
from .block_rules import BlockRules
from .block_writer import BlockWriter
from .cells import CellWriter, tells_cells_apart
from .chunks import ChunkQueue
from .meta_writer import MetaWriter
from .progressions import LEAST, MOST, Progression, checked_step
from .sections import at_place
from .tree import Group, Node, Store

if TYPE_CHECKING:
    from molrec_convert.model import Box

    from .trajectory_reader import StoredTrajectory

HELD_BYTES = 16 << 20
COMMIT_SECONDS = 5.0
COMMIT_SHARE = 0.1
"""Of its time a writer spends no more on commits that nobody asked for."""


class Taken(NamedTuple):
    """One frame, or a stack of them, as it is taken after all checks; `values` are those of each key of the meta."""

    updates: list[tuple[BlockWriter, Block]]
    boxes: Sequence[Box | None]
    values: list[list[Any]]
    steps: list[int]
    times: list[float] | None


class TrajectoryWriter:
    """Appends frames to the trajectory of a record.

    Frames are kept by reference until they are written: do not change their arrays after `append`.

    Parameters
    ----------
    store
        The open store.
    group
        The group ``trajectory``; its declaration is written already.
    schema
        The pinned declaration.
    queue
        Where chunks are compressed and written.
    sections
        Gives the ``frame`` and ``system`` sections, for row references and shared blocks.
    expected_frames
        How many frames will come, if that is known: chunks then divide them evenly.
    durable
        Commit after every chunk of frames, and every few seconds; else only `commit` and the close do.
    """

    def __init__(
        self,
        store: Store,
        group: Group,
        schema: Schema,
        queue: ChunkQueue,
        sections: Callable[[], Mapping[str, Frame | None]],
        *,
        expected_frames: int | None = None,
        durable: bool = False,
    ) -> None:
        self.schema = schema
        self._store = store
        self._group = group
        self._queue = queue
        self._expected = expected_frames
        self._durable = durable
        self._count = 0
        self._committed = -1
        self._committed_at = clock.monotonic()
        self._commit_cost = 0.0
        self._held = 0
        self._frames_per_chunk = 0
        self._hidden: list[tuple[Group, str, Node]] = []
        self._blocks = {name: BlockWriter(name, spec) for name, spec in schema.blocks.items()}
        self._rules = BlockRules(self._blocks, sections, self._error)
        self._mixed = tells_cells_apart(schema)
        self._cell = CellWriter(mixed=self._mixed)
        self._steps: Progression[int] = Progression(layout.STEP, layout.STEP_PROGRESSION, "i64")
        self._times: Progression[float] | None = None
        self._meta = MetaWriter(schema, mixed=self._mixed, error=self._error)

    def __len__(self) -> int:
        return self._count

    # ------------------------------------------------------------ taking frames
    def append(self, frame: Frame, *, step: int, time: float | None = None) -> None:
        """Append a frame.

        Parameters
        ----------
        frame
            Conforms to the schema. A declared block that it lacks stays as it is.
        step
            Above that of the frame before.
        time
            In every frame, or in none.

        Raises
        ------
        RecordError
            For all that the layout does not allow; the writer stays as it was.
        """
        if step.__class__ is not int or not (self._steps.last if self._count else LEAST - 1) < step <= MOST:
            step = self._checked("step", lambda: checked_step(step, self._steps.last))
        if (time is not None) != (self._times is not None) and self._count:
            raise self._error("every frame has a time, or none has", "time")
        if time is not None:
            time = self._checked("time", partial(float, time))
        updates = self._updates_of(frame)
        with at_place(self._group.place):
            box = self._cell.prepared(frame.box)
        values = self._meta.values_of(frame.meta, has_cell=box is not None and box.defined and frame.box is not None)
        self._take(Taken(updates, [box], [[value] for value in values], [step], None if time is None else [time]))
        if self._durable:
            self._commit_when_due()

    def append_stack(self, stack: Stack) -> None:
        """Append frames that conform to the schema; raises as `append` does, which it is the same as.

        Parameters
        ----------
        stack
            With a step in every frame, and a time in every one or in none.
        """
        taken = self._taken_together(stack)
        if taken is None:
            for each in stack:
                self.append(each.frame, step=each.step, time=each.time)  # type: ignore[arg-type]
        else:
            self._take(taken)

    def _taken_together(self, stack: Stack) -> Taken | None:
        """What `_take` needs of a stack; None where `append` has to look at every frame."""
        moments = stack.moments
        steps = [step for step in moments.steps if type(step) is int]
        boxes = moments.boxes
        last = self._steps.last if self._count else LEAST - 1
        due = self._times is not None if self._count else moments.times[0] is not None
        defined = {box is not None and box.defined for box in distinct(boxes)}
        if not (
            not self._durable
            and len(steps) == len(moments)
            and all(map(lt, (last, *steps), (*steps, MOST + 1)))
            and all((time is not None) is due for time in distinct(moments.times))
            and len({box is None for box in distinct(boxes)}) == len(defined) == 1
            and self._rules.by_count
        ):
            return None
        updates: list[tuple[BlockWriter, Block]] = []
        try:
            for name, block in stack.blocks.items():
                writer = self._blocks[name]
                writer.check(block)
                if not writer.all_differ(block, len(stack)):
                    return None
                updates.append((writer, block))
            self._rules.check({writer.name: part_of(block, 0, len(stack)) for writer, block in updates})
            prepared = mapped(self._cell.prepared, boxes)
            values = self._meta.rows_of(moments.metas, has_cell=True in defined)
        except (RecordError, KeyError):
            return None
        times = [float(time) for time in moments.times if time is not None] if due else None
        return Taken(updates, prepared, values, steps, times)

    def _updates_of(self, frame: Frame) -> list[tuple[BlockWriter, Block]]:
        updates: list[tuple[BlockWriter, Block]] = []
        for name in frame:
            block, writer = frame[name], self._blocks.get(name)
            if writer is None:
                raise self._error("the block is not declared", name)
            if block is writer.last:
                continue
            with at_place(f"{self._group.place}/{name}"):
                writer.check(block)
            if writer.differs(block):
                updates.append((writer, block))
        if updates:
            self._rules.check({writer.name: block for writer, block in updates})
        return updates

    def _take(self, taken: Taken) -> None:
        ordinal, count = self._count, len(taken.steps)
        for writer, block in taken.updates:
            if writer.push(block, ordinal, count):
                self._secure(writer)
            self._held += sum(column.values.nbytes + 128 for column in block.columns.values())
            if writer.chunk_rows and writer.group is not None and writer.pending >= writer.chunk_rows:
                writer.drain(self._queue)
        for k, box in enumerate(distinct(taken.boxes)):
            self._cell.push(box, ordinal + k)
        self._meta.push(taken.values)
        if taken.times is not None:
            if self._times is None:
                self._times = Progression(layout.TIME, layout.TIME_PROGRESSION, "f64")
            self._times.extend(taken.times)
        self._steps.extend(taken.steps)
        self._count += count
        if self._held >= HELD_BYTES:
            self._attach(final=False)

    def check_system(self, system: Frame) -> None:
        """Refuse a ``system`` that does not go with the frames so far."""
        self._rules.check_system(system)

    # ------------------------------------------------------------ writing
    def commit(self) -> None:
        """Make the frames so far last, whatever happens later."""
        self._write(final=False)

    def close(self) -> None:
        """Write what is left."""
        if self._committed != self._count or self._held:
            self._write(final=True)

    def frames_per_chunk(self, *, final: bool) -> int:
        """The number of frames in a chunk of every block that changes with each frame."""
        growing = [block.growth(self._count) for block in self._blocks.values()]
        return self._store.extents.frames_in_chunk(growing, self._count if final else self._expected)

    def _attach(self, *, final: bool) -> None:
        """Give all that waits its arrays, and write the chunks that are full."""
        if not self._count:
            return
        self._held = 0
        if not self._frames_per_chunk:
            self._frames_per_chunk = self.frames_per_chunk(final=final)
        for block in self._blocks.values():
            if block.updates:
                if not block.chunk_rows:
                    growth = block.growth(self._count)
                    block.chunk_rows = self._store.extents.rows_in_chunk(growth, self._frames_per_chunk, final=final)
                block.attach(self._group, self._hidden, final=final)
                block.drain(self._queue)
        self._cell.attach(self._group, self._hidden, final=final)
        self._meta.attach(self._group, self._hidden, final=final)
        self._meta.drain(self._queue)
        for labels in (self._steps, self._times):
            if labels is not None and labels.values is not None:
                if labels.values.array is None:
                    self._hidden.append((self._group, labels.name, labels.values.open_dense(self._group, final=final)))
                labels.values.drain(self._queue)

    def _write(self, *, final: bool) -> None:
        began = clock.monotonic()
        self._attach(final=final)
        for block in self._blocks.values():
            block.write_tails(self._queue, final=final)
        self._meta.write_tails(self._queue, final=final)
        self._cell.write_tails(self._queue, final=final)
        labels = [one for one in (self._steps, self._times) if one is not None]
        for one in labels:
            if one.values is not None:
                one.values.write_tail(self._queue, final=final)
            one.store(self._group)
        self._queue.drain()
        self._publish()
        broken = [one.attribute for one in labels if one.values is not None and one.attribute in self._group.attributes]
        for attribute in broken:  # it would hold against the array
            self._group.attributes.delete(attribute)
        if [block for block in self._blocks.values() if block.drop_markers()] or broken:
            self._store.flush()
        self._group.attributes.set_scalar(layout.NSTEP, self._count, "i64")
        self._store.flush()
        self._committed = self._count
        self._committed_at = clock.monotonic()
        self._commit_cost = self._committed_at - began

    def _publish(self) -> None:
        self._store.flush()
        if not self._hidden:
            return
        for parent, name, node in self._hidden:
            parent.publish(name, node)
        self._hidden.clear()
        for block in self._blocks.values():
            block.is_published = block.group is not None
        self._store.flush()

    def _secure(self, block: BlockWriter) -> None:
        """Publish the index of a block before rows are written that its markers would take for another frame's."""
        waiting: list[tuple[Group, str, Node]] = []
        block.attach_index(waiting, final=False)
        for writer in (block.offset, block.index):
            if writer is not None:
                writer.write_tail(self._queue, final=False)
        self._store.flush()
        for parent, name, node in waiting:
            parent.publish(name, node)
        self._store.flush()

    def _commit_when_due(self) -> None:
        if not self._frames_per_chunk:
            self._frames_per_chunk = self.frames_per_chunk(final=False)
        passed = clock.monotonic() - self._committed_at
        is_whole = self._count % self._frames_per_chunk == 0
        if (is_whole and passed * COMMIT_SHARE >= self._commit_cost) or passed > COMMIT_SECONDS:
            self.commit()

    # ------------------------------------------------------------ going on with a closed trajectory
    def resume(self, stored: StoredTrajectory) -> None:
        """Go on after the frames of `stored`, of which this trajectory is the writer."""
        self._count = self._committed = len(stored)
        if not self._count:
            return
        self._steps.resume(stored.step, self._group)
        if stored.time is not None:
            self._times = Progression(layout.TIME, layout.TIME_PROGRESSION, "f64")
            self._times.resume(stored.time, self._group)
        for name, reader in stored.readers.items():
            updates = reader.updates
            writer = self._blocks[name]
            if len(updates):
                writer.resume(reader.group, len(updates), updates.total, reader.block(len(updates) - 1))
            else:
                self._group.delete(name)
        if stored.cell is not None:
            self._cell.resume(stored.cell.group, stored.cell)
        self._meta.resume(self._group, self._count)
        self._frames_per_chunk = self.frames_per_chunk(final=False)
        self._store.flush()

    # ------------------------------------------------------------ errors
    def _error(self, message: str, name: str) -> RecordError:
        error = self._group.error(message, name)
        error.frame = self._count
        return error

    def _checked(self, name: str, check: Callable[[], Any]) -> Any:
        try:
            return check()
        except (RecordError, TypeError, ValueError) as error:
            raise self._error(getattr(error, "message", str(error)), name) from None
