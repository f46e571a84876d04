"""Changes the files of a Zarr tree in a folder: whole files appear or are replaced at once, or not at all."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
from pathlib import Path

from molrec_convert.errors import RecordError

from .typed_json import parsed_json
from .zarr_codecs import Octets, buffer_of
from .zarr_files import DOCUMENT, PART, FolderFiles

if sys.platform != "win32":
    import fcntl

HERE, EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""


class FolderWriter:
    """Writes files by their keys.

    Parameters
    ----------
    root
        The folder, which is kept from other writers until `close`.
    files
        The same folder, as it is read.
    is_synced
        Whether what is written is on the disk when it is said to be.
    """

    def __init__(self, root: str | Path, files: FolderFiles, *, is_synced: bool) -> None:
        self._root, self._files, self.is_synced = root, files, is_synced
        self._changed: set[str] = set()
        self._lock = _locked(root)

    def exists(self, key: str) -> bool:
        """Whether there is a file or a folder."""
        return os.path.lexists(self._files.path(key))

    def names(self, key: str) -> list[str]:
        """The names in a folder; none where there is no folder."""
        try:
            return sorted(os.listdir(self._files.path(key)))
        except FileNotFoundError:
            return []

    def prepared(self, key: str) -> str:
        """The path of a file that is to be made, its folder made where there is none."""
        path = self._files.path(key)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            self._changed.add(os.path.dirname(folder))
        self._changed.add(folder)
        return path

    def write(self, key: str, data: Octets) -> None:
        """Write a file, in place of one that is there."""
        path = self.prepared(key)
        with open(path + PART, "wb") as file:
            file.write(buffer_of(data))
            if self.is_synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(path + PART, path)

    def move(self, key: str, target: str) -> None:
        """Give a folder another name, which none has."""
        self._files.forget()
        self._changed.add(os.path.dirname(self._files.path(key)))
        os.rename(self._files.path(key), self.prepared(target))

    def exchange(self, key: str, other: str) -> bool:
        """Have two folders change places at once; False where the system cannot."""
        self._files.forget()
        one, two = self._files.path(key), self._files.path(other)
        self._changed.update((os.path.dirname(one), os.path.dirname(two)))
        return exchanged(one, two)

    def remove(self, key: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        self._files.forget()
        path = self._files.path(key)
        self._changed.add(os.path.dirname(path))
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def settle(self) -> None:
        """Have the names of all files on the disk."""
        if self.is_synced and os.name == "posix":
            for folder in self._changed:
                if os.path.isdir(folder):
                    sync_folder(folder)
        self._changed.clear()

    def close(self) -> None:
        """Let other writers in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sync_folder(folder: str | Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchanged(one: str | Path, other: str | Path) -> bool:
    """Have two files or folders change places at once; False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # a system that is not Linux, or an old one
        return False
    failed: int = rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)
    return not failed


def _locked(root: str | Path) -> int | None:
    """Keep other writers away for as long as the process lives, or until what this gives is closed."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RecordError("another program is writing it", path=root) from None
    except OSError:
        return descriptor  # a file system without locks
    return descriptor


def clear_folder(root: str | Path) -> None:
    """Empty a folder that holds a record and nothing else; `RecordError` for any other that is not empty."""
    names = os.listdir(root)
    if names and DOCUMENT not in names:
        raise RecordError("the folder exists and is no record; it is not replaced by one", path=root)
    if names and (strange := strange_file(root)) is not None:
        raise RecordError(f"the folder holds {strange!r}, which is no part of a record; it is not replaced", path=root)
    for name in names:
        path = os.path.join(root, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def strange_file(root: str | Path) -> str | None:
    """The key of a file in a folder that is no part of a Zarr tree; None where there is none.

    A tree has the metadata of nodes, the chunks of arrays, and what a writer that was killed left behind.
    """
    files = FolderFiles(root)
    arrays: dict[str, bool] = {}
    for key in files.keys(""):
        if key.startswith(f"{STAGE}/") or key.rpartition("/")[2] in (DOCUMENT, DOCUMENT + PART):
            continue
        folder = key
        while folder and not arrays.setdefault(folder, _is_array(files, folder)):
            folder = folder.rpartition("/")[0]
        if not folder or not CHUNK.fullmatch(key.removeprefix(f"{folder}/")):
            return key
    return None


def _is_array(files: FolderFiles, folder: str) -> bool:
    octets = files.read(f"{folder}/{DOCUMENT}")
    try:
        document = None if octets is None else parsed_json(bytes(octets).decode())
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("node_type") == "array"


STAGE = ".unfinished"
"""The folder of nodes that are not published yet."""
CHUNK = re.compile(r"(?:c|(?:c[/.])?\d+(?:[/.]\d+)*)(?:\.part)?")
"""The key of a chunk below that of its array."""
