"""A Zarr tree in a ZIP archive: read as it stands, and packed from a folder by fixed rules.

A packed record has its members sorted, stored without compression, under names relative to its root, with one fixed
date, and no members for folders (chunking chapter of MolRec): the same record gives the same archive. What others
packed is read, too: compressed members, members for folders, and one leading folder.
"""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import numpy as np

from .memory import affordable
from .zarr_codecs import Octets
from .zarr_files import DOCUMENT, FolderFiles, below

DATE = (1980, 1, 1, 0, 0, 0)
HEAD, HEAD_NAME, HEAD_EXTRA = 30, 26, 28
"""The fixed size of the head of a member, and where in it the lengths of the name and of what follows it stand."""
COPIED = 1 << 20
ZIP_ERRORS = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, OverflowError, UnicodeDecodeError,
)  # fmt: skip
"""What `zipfile` raises for archives that are damaged, encrypted, or compressed in ways that it does not know."""


class ZipFiles:
    """The files of an archive."""

    is_near = True

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = Lock()
        try:
            self._archive = zipfile.ZipFile(file)
            infos = [info for info in self._archive.infolist() if not info.is_dir()]
            members = {info.filename: info for info in infos}
            if len(members) < len(infos):
                raise zipfile.BadZipFile("two members of one name")
        except (*ZIP_ERRORS, ValueError) as error:
            file.close()
            raise ValueError(f"a damaged ZIP archive ({error})") from None
        root = self._root = _root(members)
        self._members = {name.removeprefix(root): info for name, info in members.items() if name.startswith(root)}
        self._places: dict[str, int] = {}
        self._folders: dict[str, set[str]] = {}
        for name in self._members:
            folder = name
            while folder:
                folder, _, child = folder.rpartition("/")
                if folder or "/" in name:
                    self._folders.setdefault(folder, set()).add(child)

    def read(self, key: str) -> Octets | None:
        """A whole member, whose checksum is checked."""
        info = self._members.get(key)
        if info is None:
            return None
        affordable(info.file_size)
        try:
            with self._lock:
                return self._archive.read(info)
        except (*ZIP_ERRORS, ValueError) as error:
            raise ValueError(f"a damaged member of the archive ({error})") from None

    def read_part(self, key: str, first: int, size: int) -> Octets | None:
        """A part of a member, read where it lies unless it is compressed."""
        info = self._members.get(key)
        if info is None:
            return None
        first = max(0, info.file_size + first) if first < 0 else min(first, info.file_size)
        size = min(size, info.file_size - first)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            whole = self.read(key)
            assert whole is not None
            return whole[first : first + size]
        with self._lock:
            self._file.seek(self._place(info) + first)
            return np.frombuffer(bytearray(self._file.read(affordable(size))), np.uint8)

    def _place(self, info: zipfile.ZipInfo) -> int:
        """Where the data of a stored member begins."""
        place = self._places.get(info.filename)
        if place is None:
            self._file.seek(info.header_offset)
            head = self._file.read(HEAD)
            if len(head) < HEAD or head[:4] != b"PK\3\4":
                raise ValueError("a damaged member of the archive (its head is not there)")
            lengths = (int.from_bytes(head[at : at + 2], "little") for at in (HEAD_NAME, HEAD_EXTRA))
            place = self._places[info.filename] = info.header_offset + HEAD + sum(lengths)
        return place

    def folders(self, key: str) -> list[str]:
        """The names of the folders in a folder."""
        return sorted(name for name in self._folders.get(key, ()) if below(key, name) in self._folders)

    def keys(self, key: str) -> Iterator[str]:
        """The keys of all members in a folder."""
        start = f"{key}/" if key else ""
        yield from sorted(name.removeprefix(start) for name in self._members if name.startswith(start))

    def size(self, key: str) -> int | None:
        """The bytes of the members in a folder."""
        return sum(self._members[below(key, name)].file_size for name in self.keys(key) if name != DOCUMENT)

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """Members that other readers do not take."""
        infos = self._archive.infolist()
        if any(info.is_dir() for info in infos):
            yield 35, "/", "members for folders, which a packed record has none of"
        if self._root:
            yield 35, "/", f"all members lie in {self._root!r}, names are relative to the root of the record"
        packed = next((info.filename for info in infos if info.compress_type != zipfile.ZIP_STORED), None)
        if packed is not None:
            yield 35, "/", f"compressed members, such as {packed!r}: a packed record has stored ones"

    def close(self) -> None:
        """Close the archive and its file."""
        self._archive.close()
        self._file.close()


def _root(members: dict[str, zipfile.ZipInfo]) -> str:
    """The folder in which the tree lies: none, or the one that all members are in."""
    if DOCUMENT in members:
        return ""
    tops = {name.partition("/")[0] for name in members}
    top = next(iter(tops), "")
    return f"{top}/" if len(tops) == 1 and f"{top}/{DOCUMENT}" in members else ""


def is_zarr_archive(path: str | Path) -> bool:
    """Whether a file is an archive with the root of a Zarr tree; what is damaged counts where its name tells."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
    except (*ZIP_ERRORS, ValueError, OSError):
        return False
    return f"{_root(members)}{DOCUMENT}" in members


def pack(folder: str | Path, target: str | Path) -> None:
    """Pack a tree into an archive; the folder stays."""
    files = FolderFiles(folder)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for key in sorted(files.keys("")):
            info = zipfile.ZipInfo(key, DATE)
            info.create_system = 3  # or it would tell on which system the archive was made
            info.create_version = info.extract_version = 10  # that of stored members; larger ones raise it
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            path = files.path(key)
            info.file_size = os.path.getsize(path)
            with open(path, "rb") as source, archive.open(info, "w") as member:
                shutil.copyfileobj(source, member, COPIED)
