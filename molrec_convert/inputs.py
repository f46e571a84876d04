"""Where a conversion reads from: a foreign file, or a record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from . import registry
from .adapter import Adapter, Note, Snapshot, Span
from .ahead import BUNDLE, MOST, Transform, changed, decoded, one_by_one
from .errors import FormatError, OptionError, RecordError
from .forms import FORM_NAMES, HDF5, ZARR, ZIP, form_of_content, form_of_head, form_of_name
from .frames import FrameSelection
from .headstart import HeadStart
from .model import Block, Frame, Meta, Record, Schema
from .model.meta import same_value
from .model.origin import declared_units
from .model.schema import NO_FILL
from .options import Options
from .placement import CELL_KEY, STEP_KEY, TIME_KEY
from .source import Source
from .stack import Moment, Stack

if TYPE_CHECKING:
    from .records import RecordWriter, StoredRecord


class Input(Protocol):
    """A source of frames, opened."""

    name: str
    format: str
    series: bool
    unwraps: bool
    takes: frozenset[str]
    notes: list[Note]

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order."""

    def provenance(self) -> dict[str, Any]:
        """What a record says about where it came from."""

    def progress(self) -> tuple[int, int | None]:
        """How much was read, of how much where that is known."""

    def close(self) -> None:
        """Close the file."""


def open_input(
    path: Path | str | None,
    *,
    stream: BinaryIO | None,
    format_name: str | None,
    options: Options,
    check: bool = True,
    checksum: HeadStart | None = None,
) -> Input:
    """Open a source and find its format, by content first.

    Parameters
    ----------
    path, stream
        The file or folder, or the address of a record; or else a stream.
    format_name
        Its format, where content and name do not tell.
    options
        What was asked for.
    check
        Whether to refuse options that mean nothing to this format.
    checksum
        The checksum of the file, begun before.

    Raises
    ------
    UnknownFormatError
        Where the format is not recognised.
    OptionError
        Where an option means nothing to this format.
    """
    if isinstance(path, str) or (path is not None and _is_record(path, format_name)):
        if checksum is not None:
            checksum.drop()
        found = RecordInput(path)
        if check:
            try:
                check_options(found.format, frozenset(), options)
            except BaseException:
                found.close()
                raise
        return found
    source = Source(path, stream, checksum=checksum)
    try:
        head = source.open()
        if path is None and (form := form_of_head(head)) is not None:
            what = "since HDF5 jumps about in its file" if form is HDF5 else "since it is packed"
            raise FormatError(f"a record cannot be read from a stream, {what}", path=source.name)
        adapter = registry.by_name(format_name) if format_name is not None else source.adapter(head)
        if not adapter.reads:
            raise OptionError(f"{adapter.name} can be written, not read")
        if check:
            check_options(adapter.name, adapter.options, options)
        if adapter.file_importer is not None:
            from .library import LibraryInput

            return LibraryInput(source, adapter, options)
        return ForeignInput(source, adapter, options)
    except BaseException:
        source.close()
        raise


def stacks(
    found: Input, selection: FrameSelection, executor: Executor, transform: Transform | None
) -> Iterator[Snapshot | Stack]:
    """The chosen frames in order, small ones together where the source gives them so."""
    give = found.stacks if isinstance(found, ForeignInput | RecordInput) else found.snapshots
    return give(selection, executor, transform)


def _is_record(path: Path, format_name: str | None) -> bool:
    if format_name is not None:
        return format_name in FORM_NAMES
    try:
        if form_of_content(path) is not None:
            return True
    except OSError:
        return False  # opening it as a foreign file says what is wrong
    named = form_of_name(path)  # one that is damaged is still none of another format
    return path.is_dir() if named is ZARR else named is ZIP and path.is_file()


def check_options(name: str, known: frozenset[str], options: Options) -> None:
    """Refuse options that no input takes."""
    general = {"strict", "decimals", "plain", "sample_decimals", "units", "unwrap"}
    unknown = [option for option in options.given() if option not in known | general]
    if unknown:
        raise OptionError(f"--{unknown[0].replace('_', '-')} means nothing to {name}")


def check_reading(name: str, known: frozenset[str], options: Options) -> None:
    """Refuse options that no input takes, where there is no target that might."""
    check_options(name, known, options)
    if options.units is not None and "units" not in known:
        raise OptionError(f"--units means nothing to {name}")


class ForeignInput:
    """A foreign file, read by its adapter."""

    def __init__(self, source: Source, adapter: Adapter, options: Options) -> None:
        assert adapter.importer is not None
        self.name, self.format, self.series = source.name, adapter.name, adapter.series
        self.unwraps, self.takes = "unwrap" in adapter.options, adapter.options
        self.notes = source.notes
        self._source, self._options = source, options
        self._importer = adapter.importer(source.name, options)

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order, decoded in threads."""
        return one_by_one(self.stacks(selection, executor, transform))

    def stacks(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot | Stack]:
        """The chosen frames in order, decoded in threads, small ones together."""
        spans = self._source.spans(self._importer, selection, strict=self._options.strict)
        return decoded(self._importer, spans, executor, transform)

    def spans(self) -> Iterator[Span]:
        """The places of all frames in order, each with its bytes."""
        return self._source.spans(self._importer, FrameSelection(), strict=self._options.strict)

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        return self._importer.decode(span)

    def part_before(self, span: Span) -> float | None:
        """The part of the file that lies before the end of a span just found; None where its size is not known."""
        return self._source.part_before(span)

    def provenance(self) -> dict[str, Any]:
        """Name, size, checksum and format; the checksum only where all of the file was read."""
        return {
            "source": {
                "name": self.name,
                "size": self._source.size,
                "sha256": self._source.sha256,
                "format": self.format,
            }
        }

    def progress(self) -> tuple[int, int | None]:
        """Bytes read, of the bytes of the file."""
        return self._source.position, self._source.size

    def close(self) -> None:
        """Close the file."""
        self._source.close()


class RecordInput:
    """A record, at a path or an address."""

    def __init__(self, path: Path | str) -> None:
        from .records import open_record

        self.notes: list[Note] = []
        self.record: StoredRecord = open_record(path)
        self.name, self.format = str(path).rstrip("/").rpartition("/")[2], self.record.form.name
        self.series, self.unwraps = self.record.has_trajectory, False
        self.takes: frozenset[str] = frozenset()
        self._read = 0
        self._chosen: int | None = None

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order."""
        return one_by_one(self.stacks(selection, executor, transform))

    def stacks(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot | Stack]:
        """The chosen frames in order, small ones together."""
        del executor
        chosen = selection.of(len(self.record), self.name)
        if not chosen and len(self.record):
            raise selection.none_of(len(self.record), self.name)
        self._chosen = len(chosen)
        for taken in record_stacks(self.record, chosen):
            stack = changed(taken, transform) if isinstance(taken, Stack) else None
            if stack is not None:
                self._read += len(stack)
                yield stack
                continue
            for snapshot in one_by_one([taken]):
                self._read += 1
                yield snapshot if transform is None else transform(snapshot)

    def carry(self, writer: RecordWriter) -> None:
        """Write what the frames do not hold: a frame beside the trajectory, and what MolRec does not know."""
        from .records import copy_unknown

        if self.record.trajectory is not None and self.record.frame is not None:
            writer.set_section("frame", self.record.frame)
        copy_unknown(self.record, writer)

    def provenance(self) -> dict[str, Any]:
        """The document of the record itself."""
        return dict(self.record.meta)

    def progress(self) -> tuple[int, int | None]:
        """Frames read, of the frames chosen."""
        return self._read, self._chosen

    def close(self) -> None:
        """Close the file."""
        self.record.close()


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
    most = 1 if size is None else min(MOST, BUNDLE // max(size, 1))
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
    filled = any(spec.fill is not NO_FILL for spec in schema.meta.values())
    moments: list[Moment] = []
    for moment in stack.moments:
        meta, step, time = moment.meta, moment.step, moment.time
        if filled:
            meta = _without_fills(meta, schema)
        if STEP_KEY in schema.meta:
            step = meta.pop(STEP_KEY, None)
        time = meta.pop(TIME_KEY, None) if time is None else time
        if moments and not meta.same_keys(moments[0].meta):
            return None
        moments.append(Moment(step, time, moment.box, meta, about))
    stack.moments, stack.units = moments, declared_units(record.meta)
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
    kept: dict[str, Any] = {}
    for key, value in meta.items():
        spec = schema.meta.get(key)
        missing = spec is not None and spec.fill is not NO_FILL and _is_fill(value, spec.fill)
        if key != CELL_KEY and not missing:
            kept[key] = value
    return Meta.of(kept, {key: meta.tag(key) for key in kept})


def _is_fill(value: Any, fill: Any) -> bool:
    if isinstance(fill, tuple):
        return isinstance(value, tuple) and all(map(_is_fill, value, fill))
    if isinstance(fill, float) and math.isnan(fill):
        return isinstance(value, float) and math.isnan(value)
    return same_value(value, fill)
