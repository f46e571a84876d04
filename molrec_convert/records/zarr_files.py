"""Where the files of a Zarr tree lie: a folder, an archive, or somewhere on the network; see `Files`."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np

from molrec_convert.model.dtypes import Array

from .memory import affordable
from .zarr_codecs import Octets

DOCUMENT = "zarr.json"
"""The file of a node that says what it is."""
PART = ".part"
"""What the name of a file ends in until it is whole."""
MOST_OPEN = 32
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""No link is followed, and a pipe in the place of a file is not waited for."""


class Files(Protocol):
    """Reads files by their keys, such as ``frame/atoms/x/c/0``; OSError and ValueError where that fails."""

    is_near: bool
    """Whether to list a folder takes no question to a server."""

    def read(self, key: str) -> Octets | None:
        """A whole file; None where there is none."""

    def read_part(self, key: str, first: int, size: int) -> Octets | None:
        """`size` bytes from byte `first` on, or from so many before the end; fewer where the file ends; None: no file.

        An array that is given is the caller's own.
        """

    def folders(self, key: str) -> list[str]:
        """The names of the folders in a folder, sorted."""

    def keys(self, key: str) -> Iterator[str]:
        """The keys of all files in a folder and below it, in order, each below that of the folder."""

    def size(self, key: str) -> int | None:
        """The bytes of the files below a folder, but for metadata; None where they are not told."""

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """What other programs stumble over: a rule, a place and a message."""

    def close(self) -> None:
        """Close what is open."""


def below(folder: str, name: str) -> str:
    """The key of something in a folder; the root has the empty key."""
    return f"{folder}/{name}" if folder else name


class FolderFiles:
    """The files of a folder. Links are not followed: a record holds none, and they may lead anywhere."""

    is_near = True

    def __init__(self, root: str | Path) -> None:
        self._root = str(root)
        self._plain: set[str] = {""}
        self._open: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def path(self, key: str) -> str:
        """The path of a file or folder that is no link and in no linked folder."""
        folder, _, name = key.rpartition("/")
        if folder not in self._plain:
            if os.path.islink(self.path(folder)):
                raise ValueError("a link, of which a record has none")
            self._plain.add(folder)
        return os.path.join(self._root, folder, name) if folder else os.path.join(self._root, name)

    def read(self, key: str) -> Octets | None:
        """A whole file."""
        descriptor = self._opened(key)
        if descriptor is None:
            return None
        try:
            return _filled(descriptor, 0, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def read_part(self, key: str, first: int, size: int) -> Octets | None:
        """A part of a file, which stays open."""
        with self._lock:
            descriptor = self._open.get(key)
            if descriptor is None:
                descriptor = self._opened(key)
                if descriptor is None:
                    return None
                self._open[key] = descriptor
                if len(self._open) > MOST_OPEN:
                    os.close(self._open.popitem(last=False)[1])
            if first < 0:
                first = max(0, os.fstat(descriptor).st_size + first)
            return _filled(descriptor, first, size)

    def _opened(self, key: str) -> int | None:
        try:
            return os.open(self.path(key), FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            if os.path.islink(self.path(key)):
                raise ValueError("a link, of which a record has none") from None
            raise

    def folders(self, key: str) -> list[str]:
        """The names of the folders in a folder."""
        found = []
        with os.scandir(self.path(key)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found.append(entry.name)
                elif entry.is_symlink() and entry.is_dir():
                    raise ValueError(f"{entry.name!r} is a link, of which a record has none")
        return sorted(found)

    def keys(self, key: str) -> Iterator[str]:
        """The keys of all files below a folder."""
        with os.scandir(self.path(key)) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.is_symlink():
                raise ValueError(f"{entry.name!r} is a link, of which a record has none")
            if entry.is_dir():
                yield from (f"{entry.name}/{name}" for name in self.keys(below(key, entry.name)))
            else:
                yield entry.name

    def size(self, key: str) -> int | None:
        """The bytes of the files below a folder."""
        names = [name for name in self.keys(key) if name != DOCUMENT]
        return sum(os.path.getsize(self.path(below(key, name))) for name in names)

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """Nothing: a folder is what everyone reads."""
        yield from ()

    def forget(self) -> None:
        """Close the files that stay open, since they are about to change or to move."""
        while self._open:
            os.close(self._open.popitem()[1])

    def close(self) -> None:
        """Close what is open."""
        self.forget()


def _filled(descriptor: int, first: int, size: int) -> Array:
    size = min(size, max(0, os.fstat(descriptor).st_size - first))
    buffer = np.empty(affordable(size), np.uint8)
    done = 0
    while done < size:
        count = _read_into(descriptor, buffer[done:], first + done)
        if not count:
            break
        done += count
    return buffer[:done]


if hasattr(os, "preadv"):

    def _read_into(descriptor: int, buffer: Array, place: int) -> int:
        return os.preadv(descriptor, [buffer.data], place)

else:

    def _read_into(descriptor: int, buffer: Array, place: int) -> int:
        os.lseek(descriptor, place, os.SEEK_SET)
        data = os.read(descriptor, len(buffer))
        buffer[: len(data)] = np.frombuffer(data, np.uint8)
        return len(data)
