"""Records get their names, and that outlives a power cut; many at once, since each wait for the disk takes as long."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from molrec_convert.errors import ConvertError, TargetError

from .failures import FULL
from .job import Outcome

AT_ONCE = 16
"""Waits for the disk that go on together, so that it serves them together."""


class Keeper:
    """Gives records their names; a context manager.

    Parameters
    ----------
    out
        The folder of the records.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._threads = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="keeper")

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    def keep(self, outcomes: Iterable[Outcome], place: Callable[[str], tuple[str, bool]]) -> None:
        """Give the records of some outcomes their names; one that cannot have it makes its outcome a failure.

        Parameters
        ----------
        outcomes
            How some files went.
        place
            The place of the record of a source below the folder, and whether it replaces an earlier one.

        Raises
        ------
        TargetError
            Where the disk is full.
        """
        done = [each for each in outcomes if each.made is not None]
        self._sync(path for each in done for path in _tree(Path(str(each.made))))
        folders: dict[Path, None] = {}
        for each in done:
            output, replaces = place(each.source)
            target = self._out / output
            try:
                give_name(Path(str(each.made)), target, replaces=replaces)
            except OSError as error:
                if error.errno in FULL:
                    raise TargetError("the disk is full", path=self._out) from None
                _fail(each, error)
            else:
                folders[target.parent] = None
        self._sync(folders)

    def _sync(self, paths: Iterable[Path]) -> None:
        for _ in self._threads.map(_sync, paths):
            pass


def _fail(outcome: Outcome, error: OSError) -> None:
    """Turn an outcome into a failure."""
    outcome.state, outcome.error_kind = "failed", "target"
    told = str(error) if isinstance(error, ConvertError) else (error.strerror or str(error)).lower()
    outcome.error = told if isinstance(error, ConvertError) else f"{outcome.source}: the record cannot be named: {told}"
    outcome.output_sha256 = outcome.output_size = outcome.verified = outcome.picture = None


def give_name(made: Path, target: Path, *, replaces: bool) -> None:
    """Let a record be found under its name.

    Parameters
    ----------
    made
        The record.
    target
        Its name; what is there that is none of this migration is not touched.
    replaces
        Whether a record of an earlier content of the source is there.

    Raises
    ------
    TargetError
        Where something else is there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() or target.is_symlink():
        if not replaces and not _is_same_source(made, target):
            raise TargetError("something else is there already, and is not replaced", path=target)
        if target.is_dir():
            shutil.rmtree(target)
    made.replace(target)


def _is_same_source(made: Path, there: Path) -> bool:
    """Whether what is there is a record of the same source, from a run that was killed before it could note it."""
    from molrec_convert.records import open_record

    if there.is_symlink():
        return False
    try:
        with open_record(made) as one, open_record(there) as other:
            return one.meta == other.meta and bool(one.meta.get("source"))
    except (ConvertError, OSError):
        return False


def _tree(path: Path) -> Iterator[Path]:
    """A file; or the files and folders in a folder, and then itself."""
    if path.is_dir():
        for inner in path.iterdir():
            yield from _tree(inner)
    yield path


def _sync(path: Path) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
