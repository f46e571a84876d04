"""Sources that another library opens by their name, and what is common to all such formats."""

from __future__ import annotations

import hashlib
import itertools
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from .adapter import Adapter, Note, Snapshot
from .ahead import Transform
from .errors import ConvertError, FormatError, OptionError, TruncatedError
from .frames import FrameSelection
from .options import Options
from .registry import uncompressed_name
from .source import Source, cut_short


class LibraryError(FormatError):
    """A library has raised an error of its own."""


class Guard:
    """Turns what a library raises into one line, and what it warns of into notes; a context manager.

    Parameters
    ----------
    adapter
        Of the format.
    way
        ``read`` or ``write``.
    name
        The file, for the line.
    notes
        Where warnings go.
    """

    def __init__(self, adapter: Adapter, way: str, name: str, notes: list[Note]) -> None:
        self._adapter, self._way, self._name, self._notes = adapter, way, name, notes
        self._caught: Any = None
        self._found: list[warnings.WarningMessage] = []
        self._seen: set[str] = set()
        self.frame: int | None = None
        self.path: Path | None = None
        """Where the library found the file; people know it by its name."""

    def __enter__(self) -> Guard:
        self._caught = warnings.catch_warnings(record=True)
        self._found = self._caught.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._caught.__exit__(kind, error, trace)
        for found in self._found:
            text = self._text(found.message)
            if (
                not issubclass(found.category, DeprecationWarning | PendingDeprecationWarning)
                and text not in self._seen
            ):
                self._seen.add(text)
                self._notes.append(Note(f"{self._adapter.library}: {text}"))
        if isinstance(error, ConvertError):
            if error.path is None:
                error.path = self._name
            if error.frame is None:
                error.frame = self.frame
        elif isinstance(error, Exception) and not isinstance(error, MemoryError):
            text = self._text(error)
            what = type(error).__name__ + (f": {text}" if text else "")
            raise LibraryError(
                f"{self._adapter.library} cannot {self._way} it as {self._adapter.name} ({what})",
                path=self._name,
                frame=self.frame,
            ) from error

    def _text(self, message: object) -> str:
        text = " ".join(str(message).split())
        return text if self.path is None else text.replace(str(self.path), self._name)


class LibraryInput:
    """A foreign file, read by another library; see `inputs.Input`.

    The library opens the file itself where it can; a stream and a compressed file are first written to a temporary
    folder.
    """

    def __init__(self, source: Source, adapter: Adapter, options: Options) -> None:
        assert adapter.file_importer is not None
        self.name, self.format, self.series = source.name, adapter.name, adapter.series
        self.unwraps, self.takes = "unwrap" in adapter.options, adapter.options
        self.notes = source.notes
        self._source, self._adapter, self._options = source, adapter, options
        self._importer = adapter.file_importer(options)
        self._guard = Guard(adapter, "read", source.name, self.notes)
        self.atoms: int | None = None
        """How many atoms its frames have, where that is known from elsewhere."""
        self.frames: int | None = None
        """How many frames it has, where the library told that when it opened the file."""
        self._folder: TemporaryDirectory[str] | None = None
        self._digest: Future[str] | None = None
        self._read = 0
        self._total: int | None = None

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order."""
        path = self._local_path()
        if self._folder is None:
            self._digest = executor.submit(_sha256, path)
        self._guard.path = path
        with self._guard:
            self._total = self.frames = self._importer.open(path, atoms=self.atoms)
        for snapshot in self._chosen(selection):
            yield snapshot if transform is None else transform(snapshot)

    def frame(self, ordinal: int) -> Snapshot | None:
        """One more frame of a file of which frames were read."""
        return next(self._guarded([ordinal]), None)

    def _chosen(self, selection: FrameSelection) -> Iterator[Snapshot]:
        if self._total is None and selection.needs_total:
            self._total = sum(1 for _ in self._guarded(None))
        if self._total is not None:
            if not (chosen := selection.of(self._total, self.name)) and self._total:
                raise selection.none_of(self._total, self.name)
            self._total = len(chosen)
            yield from self._guarded(chosen)
            return
        last, given = selection.last(), False
        for ordinal, snapshot in enumerate(self._guarded(None)):
            if selection.picks(ordinal):
                given = True
                yield snapshot
            if given and last is not None and ordinal >= last:
                return
        if beyond := list(selection.missing(self._read)):
            raise OptionError(f"there is no frame {beyond[0]} among {self._read}", path=self.name)
        if not given and self._read and not selection.everything:
            raise selection.none_of(self._read, self.name)

    def _guarded(self, chosen: list[int] | None) -> Iterator[Snapshot]:
        self._read = 0
        with self._guard:
            frames = iter(self._importer.frames(chosen))
        for ordinal in itertools.count() if chosen is None else chosen:
            snapshot = self._next(frames, ordinal)
            if snapshot is None:
                return
            if not self._read and ("atoms" not in snapshot.frame or not snapshot.frame["atoms"].count):
                self.notes.append(Note("there are no atoms in it", frame=ordinal))
            self._read += 1
            yield snapshot
        if chosen:
            self._next(frames, chosen[-1] + 1)  # where it may say that the file ends inside a frame

    def _next(self, frames: Iterator[Snapshot], ordinal: int) -> Snapshot | None:
        """The next frame; None at the end, which a broken frame is, after whole ones."""
        self._guard.frame = ordinal
        try:
            with self._guard:
                return next(frames, None)
        except (TruncatedError, LibraryError) as error:
            if self._options.strict or not self._read:
                raise
            what = "truncated: " if isinstance(error, TruncatedError) else ""
            self.notes.append(cut_short(error, self._read, what=what))
            return None

    def _local_path(self) -> Path:
        path = self._source.path
        if not self._source.window.peek(1):
            raise FormatError("an empty file", path=self.name)
        if path is not None and not self._source.is_compressed and path.is_file():
            return path
        self._folder = TemporaryDirectory(prefix="molrec-convert-")
        suffix = "" if path is not None else self._adapter.patterns[0].lstrip("*") if self._adapter.patterns else ""
        local = Path(self._folder.name) / (uncompressed_name(self.name).replace(" ", "_") + suffix)
        with local.open("wb") as file:
            self._source.copy_to(file, strict=self._options.strict)
        return local

    def provenance(self) -> dict[str, Any]:
        """Name, size, checksum and format of the file, and the library that read it."""
        digest = self._source.sha256 if self._digest is None else self._digest.result()
        source = {"name": self.name, "size": self._source.size, "sha256": digest, "format": self.format}
        return {"source": {**source, "library": library_of(self._adapter)}}

    def progress(self) -> tuple[int, int | None]:
        """Frames read, of the frames chosen where that is known."""
        return self._read, self._total

    def close(self) -> None:
        """Close the file, and remove what was written for the library."""
        with suppress(Exception):  # the error that led here is the one to tell
            self._importer.close()
        self._source.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def library_of(adapter: Adapter) -> dict[str, str]:
    """The library that a format goes through, with its version."""
    assert adapter.library is not None
    try:
        return {"name": adapter.library, "version": version(adapter.library)}
    except PackageNotFoundError:
        return {"name": adapter.library}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
