"""What lies in a folder: every file once, in an order that is always the same; links are not followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from molrec_convert.forms import ZARR, form_of_content

from .names import printable


@dataclass(frozen=True, slots=True)
class Entry:
    """A file below a root.

    Parameters
    ----------
    place
        Where, below the root, as the file system has it.
    size, modified
        Bytes, and the time of the last change in nanoseconds.
    refused
        Why it cannot be migrated, although a person may want that.
    skipped
        Why there is nothing to migrate.
    is_folder
        Whether it is a record that is a folder.
    """

    place: bytes
    size: int | None = None
    modified: int | None = None
    refused: str | None = None
    skipped: str | None = None
    is_folder: bool = False


class Walk:
    """The files below a folder.

    Parameters
    ----------
    root
        The folder.
    besides
        A folder that is left out: that of the records.
    """

    def __init__(self, root: bytes, *, besides: bytes | None = None) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._besides = None if besides is None else _identity(besides)

    def __iter__(self) -> Iterator[Entry]:
        yield from self._folder(b"")

    def named(self, place: bytes) -> Iterator[Entry]:
        """One file that a person has named; a link is followed, since it was meant."""
        path = os.path.join(self._root, place)
        try:
            found = os.stat(path)
        except OSError as error:
            yield Entry(place, refused=said(error))
            return
        yield self._file(place, found) if not stat.S_ISDIR(found.st_mode) else Entry(place, skipped="a folder")

    def _folder(self, place: bytes) -> Iterator[Entry]:
        path = os.path.join(self._root, place) if place else self._root
        try:
            with os.scandir(path) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            yield Entry(place or b".", refused=f"the folder cannot be read: {said(error)}")
            return
        for entry in entries:
            inner = os.path.join(place, entry.name) if place else entry.name
            try:
                yield from self._entry(inner, entry)
            except OSError as error:
                yield Entry(inner, refused=said(error))

    def _entry(self, place: bytes, entry: os.DirEntry[bytes]) -> Iterator[Entry]:
        if entry.is_symlink():
            yield self._link(place, entry)
        elif not entry.is_dir(follow_symlinks=False):
            yield self._file(place, entry.stat(follow_symlinks=False))
        elif self._besides is not None and _identity(entry.path) == self._besides:
            return
        elif form_of_content(os.fsdecode(entry.path)) is ZARR:
            yield Entry(place, *_extent(entry.path), is_folder=True)
        else:
            yield from self._folder(place)

    def _file(self, place: bytes, found: os.stat_result) -> Entry:
        if not stat.S_ISREG(found.st_mode):
            return Entry(place, refused="a device, a pipe or a socket, not a file")
        return Entry(place, found.st_size, found.st_mtime_ns)

    def _link(self, place: bytes, entry: os.DirEntry[bytes]) -> Entry:
        try:
            target = os.path.realpath(entry.path, strict=True)
        except OSError as error:
            return Entry(place, refused=f"a link that leads nowhere: {said(error)}")
        if target != self._real and not target.startswith(self._real.rstrip(b"/") + b"/"):
            return Entry(place, refused=f"a link out of the tree, to {printable(target)}")
        inner = printable(os.path.relpath(target, self._real))
        what = "folder" if os.path.isdir(target) else "file"
        return Entry(place, skipped=f"a link to the {what} {inner}, which is migrated itself")


def _identity(path: bytes | str) -> tuple[int, int] | None:
    """What tells a folder from all others; None where there is none yet."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _extent(path: bytes) -> tuple[int, int]:
    """The bytes of the files of a folder, and its last change."""
    size = modified = 0
    for folder, _, names in os.walk(path):
        for name in names:
            found = os.lstat(os.path.join(folder, name))
            size, modified = size + found.st_size, max(modified, found.st_mtime_ns)
    return size, modified


def said(error: OSError) -> str:
    """What the system says of an error, as a clause."""
    return (error.strerror or str(error)).lower()
