"""Targets that another library writes by their name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from .adapter import Adapter, Note, Snapshot
from .errors import OptionError, TargetError
from .foreign import ForeignOutput
from .library import Guard
from .loss import OF_THE_SERIES, Contents, Loss, losses
from .mapping.names import may_be_fixed
from .options import Options
from .part import PartFile
from .placement import signature_of
from .trial import ATOMS, changes, read_back, sample

OURS = ".molrec-convert"
"""An empty file that says that a folder is the temporary one of a conversion."""


class LibraryOutput(ForeignOutput):
    """A foreign file that another library writes.

    What such a format holds is not declared but tried out, on a part of the atoms: the first frame, and every later one
    that has other columns or keys or changes what stood still, is written to a file of its own and read back, before
    the target is begun or goes on.
    """

    def __init__(
        self,
        part: PartFile | None,
        adapter: Adapter,
        *,
        name: str,
        options: Options,
        document: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(adapter, options=options, document=document)
        if part is None:
            raise OptionError(f"{adapter.name} needs a file: {adapter.library} opens it by its name")
        assert adapter.file_exporter is not None
        self._part = part
        self._folder = part.path.with_name(part.path.name + ".d")
        self._path = self._folder / _named_for(adapter, name)
        self._exporter = adapter.file_exporter(options)
        self._is_open = False
        self._guard = Guard(adapter, "write", name, self.notes)
        self._guard.path = self._path
        self._first: Snapshot | None = None
        self._tried: set[object] = set()
        self._written = self._count = 0

    # ------------------------------------------------------------ losses
    def _measured(self, snapshot: Snapshot) -> Iterator[Loss]:
        if self._first is None:
            self._make_folder()
            self._first = snapshot
            self._count = snapshot.frame[ATOMS].count if ATOMS in snapshot.frame else 0
        elif not self._adapter.carries.frames:
            return
        news = (signature_of(snapshot.frame), self._changed(self._first, snapshot))
        if news in self._tried:
            return
        self._tried.add(news)
        frames = [self._first] if snapshot is self._first else [self._first, snapshot]
        samples = [sample(frame) for frame in frames]
        if snapshot.step == self.frames:  # which only counts the frames
            samples[-1] = replace(samples[-1], step=None)
        folder = self._folder / "trial"
        try:
            back = read_back(self._adapter, samples, folder / self._path.name, self._options, frame=self.frames)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if back is not None:
            for loss in changes(samples[-1], back, self._is_layout):
                block = snapshot.frame.get(loss.item)
                yield loss if loss.count is None or block is None else replace(loss, count=block.count)
        elif len(self._tried) == 1:
            names = f"{self._adapter.library} does not read what it writes as {self._adapter.name}"
            self.notes.append(Note(f"{names}: losses are not known"))

    @staticmethod
    def _changed(first: Snapshot, snapshot: Snapshot) -> frozenset[str]:
        """The columns of atoms that usually stand still and do not."""
        if ATOMS not in first.frame or ATOMS not in snapshot.frame:
            return frozenset()
        before, now = first.frame[ATOMS].columns, snapshot.frame[ATOMS].columns
        return frozenset(
            key
            for key, column in now.items()
            if may_be_fixed(key, column.dtype)
            and key in before
            and not (before[key] is column or before[key].same(column))
        )

    def _lost(self, contents: Contents) -> Iterator[Loss]:
        """What is lost of several frames; of each, `_measured` knows."""
        declared = losses(contents, self._adapter.carries, self._is_layout)
        yield from (loss for loss in declared if loss.item in OF_THE_SERIES)

    # ------------------------------------------------------------ writing
    def _make_folder(self) -> None:
        if self._folder.exists():
            if not (self._folder / OURS).exists():
                raise TargetError(f"a folder {self._folder.name} is in the way", path=self._part.target)
            shutil.rmtree(self._folder)  # of a run that was killed
        self._folder.mkdir()
        (self._folder / OURS).touch()

    def _begin(self, first: Snapshot) -> None:
        with self._guard:
            self._exporter.open(self._path, first)
        self._is_open = True

    def _put(self, snapshot: Snapshot) -> None:
        self._guard.frame = self.frames
        with self._guard:
            self._exporter.add(snapshot)
        self._written += 1

    def finish(self, document: dict[str, Any]) -> None:
        """Complete the file."""
        del document
        self._is_open = False
        with self._guard:
            self._exporter.close()
        self.notes += getattr(self._exporter, "notes", ())
        if not self._path.is_file():
            raise TargetError(f"{self._adapter.library} made no such file", path=self._path.name)
        self._verify()
        self._path.replace(self._part.path)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _verify(self) -> None:
        """Count the frames, where the library can without reading them: some do not notice that a disk is full."""
        if self._adapter.file_importer is None:
            return
        importer = self._adapter.file_importer(Options())
        guard = Guard(self._adapter, "read again", self._path.name, [])
        guard.path = self._path
        try:
            with guard:
                found = importer.open(self._path, atoms=self._count)
        finally:
            with suppress(Exception):
                importer.close()
        if found is not None and found != self._written:
            message = f"{self._written} frames were written, and {found} are in the file: is the disk full?"
            raise TargetError(message, path=self._part.target)

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(Exception):  # the error that led here is the one to tell
            if self._is_open:
                self._exporter.close()
        if self._first is not None and (self._folder / OURS).exists():
            shutil.rmtree(self._folder, ignore_errors=True)
        self._part.discard()


def _named_for(adapter: Adapter, name: str) -> str:
    """The name itself, with a suffix of the format where it has none of them: some libraries go by it."""
    if any(fnmatch(name, pattern) for pattern in adapter.patterns):
        return name
    return Path(name).name + adapter.patterns[0].lstrip("*")
