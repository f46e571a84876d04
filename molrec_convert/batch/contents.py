"""Checksum and size of what a record is: a file, or a folder of files."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path


def checksum(path: Path) -> str:
    """The SHA-256 of a file; of a folder that of the names and checksums of its files."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for each in sorted(inner for inner in path.rglob("*") if inner.is_file()):
        digest.update(f"{each.relative_to(path).as_posix()}\0{checksum(each)}\n".encode())
    return digest.hexdigest()


def extent(path: Path) -> int:
    """The bytes of a file, or of the files of a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(inner.stat().st_size for inner in path.rglob("*") if inner.is_file())


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
