"""What an adapter is: the description of a foreign format, with an importer and an exporter.

An importer works in two steps, so that threads, random access and progress come for free: `index` finds where the
frames lie, `decode` makes a frame of one such span. An exporter is the mirror image: `encode` makes the text of one
frame, between a head and a tail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from .model import Frame, Meta

if TYPE_CHECKING:
    from .loss import Contents, Loss
    from .options import Options
    from .text.window import Window


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a source that a person should know.

    Parameters
    ----------
    message
        One clause.
    line, frame
        Where it was noticed.
    path
        The file, where it is not the source itself.
    lacks
        The column of atoms whose absence this is about: of no interest where another file has it.
    loss
        Whether a part of the source was left out.
    """

    message: str
    line: int | None = None
    frame: int | None = None
    path: str | None = None
    lacks: str | None = None
    loss: bool = False


class Span(NamedTuple):
    """Where one frame lies in its source.

    Parameters
    ----------
    ordinal
        0-based number of the frame in the file.
    line
        1-based line at which `data` begins; 0 in a file without lines, whose errors and notes name the frame alone.
    offset, size
        The bytes of the decompressed source that `decode` needs.
    context
        What `index` has learned and `decode` needs besides the bytes; the adapter's own.
    data
        The bytes, where the index has read them on its way.
    """

    ordinal: int
    line: int
    offset: int
    size: int
    context: Any = None
    data: bytes | None = None


@dataclass(slots=True)
class Snapshot:
    """A frame with its place in a sequence.

    Parameters
    ----------
    frame
        The frame; its meta document holds what belongs to this moment.
    step, time
        As the source states them; None where it does not.
    about
        Facts of the source's own layout that an exporter of the same format restores, such as the order of columns.
        They usually hold for the whole file, and then stand in the record once.
    units
        The unit of every quantity that is known, as ``{"length": "angstrom"}``; None where nothing is known.
    notes
        What was noticed in this frame.
    decimals
        The number of decimals of columns of atoms that are written with a fixed one; only where it was asked for.
    """

    frame: Frame
    step: int | None = None
    time: float | None = None
    about: Meta = field(default_factory=Meta)
    units: Mapping[str, str] | None = None
    notes: list[Note] = field(default_factory=list)
    decimals: Mapping[str, int] = field(default_factory=dict)


class Importer(Protocol):
    """Reads one source; made anew for every conversion."""

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames in order.

        Parameters
        ----------
        window
            The source, from its first byte.
        keep
            Whether spans carry their bytes; without, they are for `decode` of bytes that are read later.

        Raises
        ------
        TruncatedError
            At the end, where the source ends inside a frame; the frames before it were yielded.
        FormatError
            Where the source breaks the format.
        """
        ...

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span with bytes; called from several threads at once."""
        ...


class Exporter(Protocol):
    """Writes one target; made anew for every conversion.

    It may have a list ``notes`` of what was noticed in writing, and a list ``losses`` of what turned out not to be
    held, which are looked at after the tail. It may have a method ``final_head()``: the bytes of `head`, as many, now
    that all frames are known; they take its place where the target is a file, while a stream keeps the first.
    """

    def head(self, first: Snapshot) -> bytes:
        """What stands before the first frame."""
        ...

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """The bytes of one frame; called from several threads at once."""
        ...

    def tail(self) -> bytes:
        """What stands after the last frame."""
        ...


class FileImporter(Protocol):
    """Reads one source through a library that opens files itself; made anew for every conversion.

    What the library raises or warns of is told to a person by whoever calls these methods.
    """

    def open(self, path: Path, *, atoms: int | None = None) -> int | None:
        """Open the file.

        Parameters
        ----------
        path
            The file.
        atoms
            How many atoms its frames have, where a topology says so: some formats do not.

        Returns
        -------
        int or None
            The number of frames, where it is known before they are read.
        """
        ...

    def frames(self, ordinals: Sequence[int] | None) -> Iterator[Snapshot]:
        """The frames of these numbers, which increase; all of them in order where None.

        Raises
        ------
        TruncatedError
            Where the file ends inside a frame; the frames before it were yielded.
        """
        ...

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        ...


class FileExporter(Protocol):
    """Writes one target through a library that opens files itself; made anew for every conversion.

    It may have a list ``notes`` of what was noticed in writing, which is looked at after the end.
    """

    def open(self, path: Path, first: Snapshot) -> None:
        """Make the file, which does not exist; the first frame is given again to `add`."""
        ...

    def add(self, snapshot: Snapshot) -> None:
        """Write the next frame."""
        ...

    def close(self) -> None:
        """Complete the file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Carries:
    """What a format can hold; the rest is a loss, known before the target is opened.

    Parameters
    ----------
    columns
        Columns of ``atoms`` by name.
    other_columns
        The types in which it holds any further scalar column of ``atoms``.
    vectors
        Whether such a column may have axes after the first.
    blocks
        Blocks besides ``atoms``.
    meta, other_meta
        Meta keys by name, and whether any other is held.
    box, origin, boundary, no_box
        A cell (its orientation included), its origin, its periodic axes, and the absence of a cell; of this, None means
        that only what a source of the format has is restored, and `lost` tells the rest.
    step, time, frames, varying
        The step and time of a frame, several frames, a number of atoms that changes.
    nulls
        Rows without a value.
    ratios
        Numbers without dimension, said to be such.
    """

    columns: frozenset[str] = frozenset()
    other_columns: frozenset[str] = frozenset()
    vectors: bool = False
    blocks: frozenset[str] = frozenset()
    meta: frozenset[str] = frozenset()
    other_meta: bool = False
    box: bool = False
    origin: bool = False
    boundary: bool = False
    no_box: bool | None = False
    step: bool = False
    time: bool = False
    frames: bool = False
    varying: bool = False
    nulls: bool = False
    ratios: bool = False


ImporterFactory = Callable[[str, "Options"], Importer]
ExporterFactory = Callable[[str, "Options"], Exporter]
FileImporterFactory = Callable[["Options"], FileImporter]
FileExporterFactory = Callable[["Options"], FileExporter]

Role = Literal["topology", "structure", "trajectory"]
"""A topology says what atoms are, and not where; a structure says both, so that it can serve as a topology; a
trajectory has frames that leave it to another file to say what the atoms are. Others stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The description of a foreign format.

    Parameters
    ----------
    name
        The name that ``--from`` and ``--to`` take.
    summary
        One line for people.
    reference
        Where the format is specified.
    patterns
        Glob patterns of file names, the first of which is the usual one.
    not_patterns
        Patterns of names under which files that look the same are of another format.
    sniff
        Whether the first bytes of a decompressed file (some 64 KiB, fewer of a short file) are of this format.
    series
        Whether a file is a sequence of frames, even when it holds one; its record has a trajectory then.
    carries
        What it can hold.
    lost
        What of some contents it cannot hold besides, where that depends on what else they hold.
    layout
        The keys of `Snapshot.about`, and the blocks, that only say how a file is laid out: no other format is to hold
        them.
    importer, exporter
        Made with the name of the file and the options; None where the format goes one way only.
    file_importer, file_exporter
        Instead of these, for a format that goes through a library that opens files itself.
    library
        The library, as people call it.
    options, export_options
        The names of the options that its importer takes, and its exporter.
    role
        What its files are to others that lie beside them; see `Role`.
    extra
        The optional dependency that it needs, as ``pip install molrec-convert[extra]`` names it.
    """

    name: str
    summary: str
    reference: str
    patterns: tuple[str, ...] = ()
    not_patterns: tuple[str, ...] = ()
    sniff: Callable[[bytes], bool] | None = None
    series: bool = True
    carries: Carries = Carries()
    lost: Callable[[Contents], Iterable[Loss]] | None = None
    layout: frozenset[str] = frozenset()
    importer: ImporterFactory | None = None
    exporter: ExporterFactory | None = None
    file_importer: FileImporterFactory | None = None
    file_exporter: FileExporterFactory | None = None
    library: str | None = None
    options: frozenset[str] = frozenset()
    export_options: frozenset[str] = frozenset()
    role: Role | None = None
    extra: str | None = None

    @property
    def reads(self) -> bool:
        """Whether files of the format can be read."""
        return self.importer is not None or self.file_importer is not None

    @property
    def writes(self) -> bool:
        """Whether files of the format can be written."""
        return self.exporter is not None or self.file_exporter is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Formats that go through one library, each an adapter of the name ``<family>:<format>``.

    They come after all adapters that have a name of their own.

    Parameters
    ----------
    name
        What stands before the colon.
    library
        The library, as people call it.
    formats
        The names of its formats.
    adapter
        The adapter of a format, None where there is none; its name has the family's before it.
    reads
        The format of a file of this name, a compression's suffix aside, that begins so; None where it is none of the
        family.
    writes
        The format of a file to be written under this name, None where it is none of the family.
    layout
        `Adapter.layout` of its formats, known without loading the library.
    order
        A family is asked before those of a higher order.
    """

    name: str
    library: str
    formats: Callable[[], Sequence[str]]
    adapter: Callable[[str], Adapter | None]
    reads: Callable[[str, bytes], str | None]
    writes: Callable[[str], str | None]
    layout: frozenset[str] = frozenset()
    order: int = 0
