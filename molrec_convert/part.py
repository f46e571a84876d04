"""A file or a folder that gets its name when it is complete, and the lock that keeps others away until then."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from .errors import TargetError
from .forms import HDF5, ZARR, ZIP, Form, form_of_name
from .registry import COMPRESSIONS
from .writeback import WriteBack

if sys.platform != "win32":  # where a file that is open cannot be replaced anyway
    import fcntl


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where a file cannot grow."""


class PartFile:
    """What a target is until it is complete: written beside it as ``<name>.part``, synced, renamed.

    Parameters
    ----------
    target
        The file, or the folder of a record that is one.
    force
        Whether a target that exists is replaced.
    replaceable
        Whether an existing file or folder may be replaced, even so; None for all files.
    form
        The form of the record that the target is to be; by default that of its name, for a record.
    sync
        Whether what was written is on the disk before it has its name; else that is left to whoever uses it.
    """

    def __init__(
        self,
        target: Path,
        *,
        force: bool,
        replaceable: Callable[[Path], bool] | None = None,
        form: Form | None = None,
        sync: bool = True,
    ) -> None:
        self.target = target.resolve() if target.is_symlink() else target
        self.path = self.target.with_name(self.target.name + ".part")
        if form is None and replaceable is not None:
            form = form_of_name(self.target) or HDF5
        self.form = form
        self._is_folder = form is ZARR
        self._force = force
        self._is_synced = sync
        self._lock: int | None = None
        self._write_back: WriteBack | None = None
        if (suffix := target.suffix.lower()) in COMPRESSIONS:
            raise TargetError(f"files are not compressed as they are written: leave {suffix} away", path=target)
        if target.is_dir() and not self._is_folder:
            raise TargetError("a folder of this name exists", path=target)
        if target.exists() and not target.is_file() and not target.is_dir():
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
            if self._is_folder:
                self.path.mkdir(exist_ok=True)
            flags = os.O_RDONLY if self._is_folder else os.O_RDWR | os.O_CREAT
            self._lock = None if self._is_folder and sys.platform == "win32" else os.open(self.path, flags, 0o666)
        except OSError as error:
            raise TargetError((error.strerror or str(error)).lower(), path=self.target) from None
        if sys.platform == "win32":
            self._release()
        elif not self._locked():
            self._release()
            raise TargetError("another conversion is writing it", path=self.target) from None
        if self._is_folder:
            self._empty()

    if sys.platform != "win32":

        def _locked(self) -> bool:
            assert self._lock is not None
            # Not flock on a file, with which the HDF5 library locks the same file; a folder takes nothing else.
            lock = fcntl.flock if self._is_folder else fcntl.lockf
            try:
                lock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                return False
            except OSError:
                return True  # a file system without locks
            return True

    def _empty(self) -> None:
        """Remove what a conversion that was killed left in the folder."""
        left = list(self.path.iterdir())
        if left:
            from .records.zarr_folder import strange_file

            if strange_file(self.path) is not None:
                self._release()
                raise TargetError(f"{self.path.name} is in the way, and no part of a record", path=self.target)
        for path in left:
            removed(path)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        if error is not None:
            self.tell(error)

    def tell(self, error: BaseException) -> None:
        """Raise `TargetError` where an error comes of a part that could not grow, which libraries tell at length."""
        seen: list[BaseException] = []
        cause: BaseException | None = error
        while cause is not None and cause not in seen:
            if isinstance(cause, OSError) and cause.errno in NO_ROOM and self._may_be(cause.filename):
                raise TargetError(os.strerror(cause.errno).lower(), path=self.target) from None
            seen.append(cause)
            cause = cause.__cause__ or cause.__context__

    def _may_be(self, name: object) -> bool:
        return name is None or self.path.name in str(name)

    @property
    def growing_form(self) -> Form:
        """The form of a record while it is written: an archive is a folder until it is packed."""
        return ZARR if self.form is ZIP else self.form or HDF5

    def beside(self, number: int) -> Path:
        """A path for something on the way to the target: the part itself is locked."""
        return self.path.with_name(f"{self.path.name}.{number}")

    def grows(self, path: Path | None = None) -> None:
        """Say that the part, or a file on the way to it, begins to grow: from now on the disk takes what it holds."""
        self._settle()
        if self._is_synced and not self._is_folder and self._lock is not None:
            descriptor = self._lock if path is None else os.open(path, os.O_RDONLY)
            self._write_back = WriteBack(descriptor, own=path is not None)

    def _settle(self) -> None:
        if self._write_back is not None:
            writing, self._write_back = self._write_back, None
            writing.close()

    def fill(self, path: Path) -> None:
        """Have a record that is written and closed be the part."""
        if self.form is ZIP:
            from .records.zarr_zip import pack

            pack(path, self.path)
            shutil.rmtree(path)
        else:
            path.replace(self.path)

    def commit(self) -> None:
        """Give the file its name, for good; it has the permissions of the one that it replaces."""
        try:
            self._settle()
            for path in _tree(self.path) if self._is_synced else ():
                _sync(path)
            if self.target.exists() and not self._force:
                raise TargetError("the target has come into being meanwhile", path=self.target)
            if self.target.exists():
                self.path.chmod(stat.S_IMODE(self.target.stat().st_mode))
            if self._is_folder and self.target.exists():
                self._exchange()
            else:
                self.path.replace(self.target)
            self._release()
            if self._is_synced:
                _sync(self.target.parent)
        except OSError as error:
            raise TargetError((error.strerror or str(error)).lower(), path=self.target) from None

    def _exchange(self) -> None:
        """Have a folder change places with what is there, which then goes."""
        from .records.zarr_folder import exchanged

        old = self.path
        if not exchanged(self.path, self.target):
            old = self.path.with_name(f"{self.path.name}.old")
            self.target.rename(old)
            self.path.rename(self.target)
        removed(old)

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._settle()
        removed(self.path)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def removed(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if it is there and can be."""
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _tree(path: Path) -> Iterator[Path]:
    """A file; or the files and folders in a folder, and then itself."""
    if path.is_dir():
        for child in path.iterdir():
            yield from _tree(child)
    yield path


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
