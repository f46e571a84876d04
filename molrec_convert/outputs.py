"""Where a conversion writes to: a file that is complete under its name, or not there at all; and a record in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .adapter import Note, Snapshot
from .errors import RecordError, TargetError
from .model import Meta
from .placement import Placement, Placer
from .registry import COMPRESSIONS

if TYPE_CHECKING:
    from .records import RecordWriter, TrajectoryWriter

if sys.platform != "win32":  # where a file that is open cannot be replaced anyway
    import fcntl

LOOK_AHEAD = 16 << 20
"""Bytes of frames that are looked at before a record is laid out."""
FRAME, COLUMN = 2 << 10, 512
"""Bytes that a frame and a column take beside their values, which count where there are many small frames."""


class PartFile:
    """A file that gets its name when it is complete: written beside it as ``<name>.part``, synced, renamed."""

    def __init__(self, target: Path, *, force: bool, replaceable: Callable[[Path], bool] | None = None) -> None:
        self.target = target.resolve() if target.is_symlink() else target
        self.path = self.target.with_name(self.target.name + ".part")
        self._force = force
        self._lock: int | None = None
        if (suffix := target.suffix.lower()) in COMPRESSIONS:
            raise TargetError(f"files are not compressed as they are written: leave {suffix} away", path=target)
        if target.is_dir():
            raise TargetError("a folder of this name exists", path=target)
        if target.exists() and not target.is_file():
            raise TargetError("the target is no regular file", path=target)
        if target.exists() and not force:
            raise TargetError("the target exists; force replaces it", path=target)
        if target.exists() and replaceable is not None and not replaceable(target):
            raise TargetError("the target exists and is no record; it is not replaced by one", path=target)
        if not target.parent.is_dir():
            raise TargetError(f"there is no folder {str(target.parent)!r}", path=target)
        self._take()

    def _take(self) -> None:
        """Keep other conversions away from this target for as long as the process lives or until the end."""
        try:
            self._lock = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise TargetError((error.strerror or str(error)).lower(), path=self.target) from None
        if sys.platform == "win32":
            self._release()
            return
        try:
            # Not flock, with which the HDF5 library locks the same file.
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            self._release()
            raise TargetError("another conversion is writing it", path=self.target) from None
        except OSError:
            return  # a file system without locks

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def commit(self) -> None:
        """Give the file its name, for good."""
        try:
            _sync(self.path)
            if self.target.exists() and not self._force:
                raise TargetError("the target has come into being meanwhile", path=self.target)
            self.path.replace(self.target)
            self._release()
            _sync(self.target.parent)
        except OSError as error:
            raise TargetError((error.strerror or str(error)).lower(), path=self.target) from None

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self._release()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Carry = Callable[["RecordWriter"], object]
"""Writes to a record, before it is closed, what does not come in frames."""


class RecordOutput:
    """A record, written once whatever its frames turn out to hold.

    Frames are taken in segments: as long as a frame fits the layout, it is appended; where one does not, the segment
    is closed and another begun under the wider layout. Several segments are joined at the end, under the last layout,
    which holds all frames: the record is the same as if it had been known from the start.
    """

    def __init__(self, part: PartFile, *, series: bool, executor: Executor, carry: Carry | None = None) -> None:
        self.takes: frozenset[str] = frozenset()
        self._part = part
        self._series = series
        self._carry = carry
        self._executor = executor
        self._placement = Placement()
        self._waiting: list[Snapshot] = []
        self._waiting_bytes = 0
        self._segments: list[tuple[Path, bool]] = []
        """Files, and whether their steps only count the frames."""
        self._writer: RecordWriter | None = None
        self._trajectory: TrajectoryWriter | None = None
        self._placer: Placer | None = None
        self._units: Any = None
        self.frames = 0

    def add(self, snapshot: Snapshot) -> None:
        """Take the next frame."""
        try:
            wider = self._placement.learn(snapshot)
        except RecordError as error:
            error.frame = self.frames if error.frame is None else error.frame
            raise
        self._units = snapshot.units if not self.frames else self._units
        self.frames += 1
        if self._writer is None:
            self._waiting.append(snapshot)
            self._waiting_bytes += _bytes_of(snapshot)
            if self._waiting_bytes >= LOOK_AHEAD and len(self._waiting) > 1:
                self._begin()
            return
        if wider:
            self._end_segment()
            self._waiting, self._waiting_bytes = [snapshot], _bytes_of(snapshot)
            return
        self._append(snapshot)

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
            self._segments[0][0].replace(self._part.path)
            self._segments.clear()

    def discard(self) -> None:
        """Close what is open and remove it."""
        with suppress(Exception):  # the error that led here is the one to tell
            if self._writer is not None:
                self._writer.close()
        for path, _ in self._segments:
            path.unlink(missing_ok=True)
        self._part.discard()

    # ------------------------------------------------------------ segments
    def _write_alone(self, document: dict[str, Any]) -> None:
        from .records import create

        path = self._part.path.with_name(f"{self._part.path.name}.0")  # the part itself is locked
        self._segments.append((path, False))
        with create(path, meta=document, executor=self._executor) as writer:
            writer.set_section("frame", self._placement.alone(self._waiting[0]))
            if self._carry is not None:
                self._carry(writer)
        self._segments.pop()[0].replace(self._part.path)

    def _begin(self, *, last: bool = False) -> None:
        path = self._part.path.with_name(f"{self._part.path.name}.{len(self._segments)}")
        self._segments.append((path, False))
        self._open(path, len(self._waiting) if last else None)
        assert self._placer is not None
        self._segments[-1] = (path, self._placer.counts)
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for snapshot in waiting:
            self._append(snapshot)

    def _open(self, path: Path, expected: int | None) -> None:
        from .records import create

        self._writer = create(path, executor=self._executor)
        self._placer = Placer(self._placement)
        if self._placer.system is not None:
            self._writer.set_section("system", self._placer.system)
        self._trajectory = self._writer.begin_trajectory(self._placer.schema, expected_frames=expected)

    def _append(self, snapshot: Snapshot) -> None:
        assert self._placer is not None
        assert self._trajectory is not None
        frame, step, time = self._placer.place(snapshot)
        self._trajectory.append(frame, step=step, time=time)

    def _end_segment(self) -> None:
        assert self._writer is not None
        self._writer.set_meta({} if self._units is None else {"units": dict(self._units)})
        self._writer.close()
        self._writer = None

    def _join(self) -> None:
        from .inputs import record_snapshots
        from .records import open_record

        count = len(self._segments)
        joined = self._part.path.with_name(f"{self._part.path.name}.{count}")  # the part itself is locked
        self._segments.append((joined, False))
        self._open(joined, self.frames)
        for _ in range(count):
            path, counts = self._segments[0]
            with open_record(path) as record:
                for snapshot in record_snapshots(record, list(range(len(record)))):
                    self._append(self._restored(snapshot, counts=counts))
            path.unlink()
            self._segments.pop(0)

    def _restored(self, snapshot: Snapshot, *, counts: bool) -> Snapshot:
        """A frame of a segment as it was taken: facts about the source that moved stand apart from its meta again."""
        if counts:
            snapshot.step = None
        about = Meta(snapshot.about)
        for key in self._placement.about_keys:
            if key in snapshot.frame.meta:
                about.set(key, snapshot.frame.meta[key], tag=snapshot.frame.meta.tag(key))
                del snapshot.frame.meta[key]
        snapshot.about = about
        return snapshot


def _bytes_of(snapshot: Snapshot) -> int:
    columns = [column.values.nbytes for block in snapshot.frame.values() for column in block.columns.values()]
    return FRAME + COLUMN * len(columns) + sum(columns)
