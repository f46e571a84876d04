"""The folder of a migration: who works in it, its journal, and what is temporary."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from molrec_convert.errors import OptionError, TargetError

from .journal import NAME, SUFFIX, Journal, journal_name
from .shards import Shard, shard_of
from .walk import said

if sys.platform != "win32":
    import fcntl

PATIENCE = 5.0
"""Seconds that one waits for the workers of a run that was killed to notice that."""


class Place:
    """A folder of records in which one run works at a time.

    Parameters
    ----------
    out
        The folder, made if need be.
    shard
        The part of the migration.

    Raises
    ------
    TargetError
        Where it cannot be written, or another run is at work in it.
    """

    def __init__(self, out: Path, shard: Shard | None) -> None:
        self.out = out.resolve()
        self._check_parts(shard)
        hidden = self.out / ".batch"
        name = "all" if shard is None else f"{shard[0]}-of-{shard[1]}"
        self.scratch = hidden / f"scratch-{name}" / f"{os.getpid()}-{time.time_ns()}"
        with _written(out):
            hidden.mkdir(parents=True, exist_ok=True)
            self.lock = os.open(hidden / f"lock-{name}", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._take()
            with _written(out):
                shutil.rmtree(self.scratch.parent, ignore_errors=True)
                self.scratch.mkdir(parents=True)
            self.journal = Journal(self.out / journal_name(shard), writable=True)
        except BaseException:
            os.close(self.lock)
            raise

    def _check_parts(self, shard: Shard | None) -> None:
        """Refuse to go on with a migration in parts as a whole, or in others, which would do sources twice."""
        for path in self.out.glob(f"{NAME}*{SUFFIX}"):
            known = shard_of(path.stem)
            if (known is None) != (shard is None) or (known and shard and known[1] != shard[1]):
                how = "in one part" if known is None else f"in {known[1]} parts"
                raise OptionError(f"this migration was begun {how}: go on like that, or elsewhere", path=self.out)

    def _take(self) -> None:
        """Be the only one; the lock lasts as long as this process and its workers."""
        if sys.platform == "win32":
            return
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TargetError("another run is at work in this folder", path=self.out) from None
                time.sleep(0.05)
            except OSError:
                return  # a file system without locks
            else:
                return

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
        shutil.rmtree(self.scratch.parent, ignore_errors=True)
        os.close(self.lock)


@contextmanager
def _written(out: Path) -> Iterator[None]:
    """Says what is wrong where a folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise TargetError(f"the folder of the records cannot be written: {said(error)}", path=out) from None
