"""Where a conversion reads from: a foreign file, or a record."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from . import registry
from .adapter import Adapter, Note, Snapshot, Span
from .ahead import Transform, changed, decoded, one_by_one
from .errors import FormatError, OptionError
from .forms import FORM_NAMES, HDF5, ZARR, ZIP, form_of_content, form_of_head, form_of_name
from .frames import FrameSelection
from .headstart import HeadStart
from .options import Options
from .record_frames import record_stacks
from .source import Source
from .stack import Stack

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
