"""Targets that another library writes by their name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .adapter import Adapter, Note, Snapshot
from .errors import OptionError, TargetError
from .foreign import ForeignOutput
from .library import Guard
from .loss import OF_THE_SERIES, Contents, Loss, losses
from .options import Options
from .part import PartFile
from .trial import changes, read_back


class LibraryOutput(ForeignOutput):
    """A foreign file that another library writes.

    What such a format holds is not declared but tried out: the first frame is written to a file of its own and read
    back, before the target is begun.
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
        self._path = self._folder / name
        self._exporter = adapter.file_exporter(options)
        self._is_open = False
        self._guard = Guard(adapter, "write", name, self.notes)
        self._guard.path = self._path

    def _measured(self, first: Snapshot) -> Iterator[Loss]:
        shutil.rmtree(self._folder, ignore_errors=True)  # of a run that was killed
        self._folder.mkdir()
        trial = self._folder / "trial" / self._path.name
        back = read_back(self._adapter, first, trial, self._options)
        if back is None:
            message = (
                f"{self._adapter.library} does not read what it writes as {self._adapter.name}: losses are not known"
            )
            self.notes.append(Note(message))
            return
        yield from changes(first, back, self._is_layout)

    def _lost(self, contents: Contents) -> Iterator[Loss]:
        """What is lost of several frames; of the first, `_measured` knows."""
        declared = losses(contents, self._adapter.carries, self._is_layout)
        yield from (loss for loss in declared if loss.item in OF_THE_SERIES)

    def _begin(self, first: Snapshot) -> None:
        with self._guard:
            self._exporter.open(self._path, first)
        self._is_open = True

    def _put(self, snapshot: Snapshot) -> None:
        self._guard.frame = self.frames
        with self._guard:
            self._exporter.add(snapshot)

    def finish(self, document: dict[str, Any]) -> None:
        """Complete the file."""
        del document
        self._is_open = False
        with self._guard:
            self._exporter.close()
        self.notes += getattr(self._exporter, "notes", ())
        if not self._path.is_file():
            raise TargetError(f"{self._adapter.library} made no such file", path=self._path.name)
        self._path.replace(self._part.path)
        shutil.rmtree(self._folder, ignore_errors=True)

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(Exception):  # the error that led here is the one to tell
            if self._is_open:
                self._exporter.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._part.discard()
