"""Sources at an address, by way of fsspec."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from molrec_convert.errors import ConvertError, MissingExtraError, OptionError

from .walk import Entry


class RemoteFolder:
    """The files below an address, or the one file that is there.

    Parameters
    ----------
    url
        The address, such as ``s3://bucket/runs``.

    Raises
    ------
    MissingExtraError
        Where fsspec, or what it needs for such addresses, is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._base = _system_of(url)

    def entries(self) -> Iterator[tuple[Entry, Callable[[], BinaryIO]]]:
        """The files in order, each with what opens it."""
        try:
            found: dict[str, dict[str, Any]] = self._system.find(self._base, detail=True)
        except OSError as error:
            raise ConvertError(f"nothing can be read there: {error}", path=self._url) from None
        if not found:
            raise OptionError("there is no such file or folder", path=self._url)
        for path in sorted(found):
            place = path.removeprefix(self._base).strip("/") or path.rpartition("/")[2]
            modified = found[path].get("mtime")
            stamp = int(modified * 1e9) if isinstance(modified, int | float) else None
            yield Entry(os.fsencode(place), found[path].get("size") or 0, stamp), partial(self._system.open, path, "rb")


def address_of(root: str, place: bytes) -> str:
    """The address of a file below another address; that itself where it is the file's."""
    name = os.fsdecode(place)
    return root if root.rpartition("/")[2] == name and not _has(f"{root}/{name}") else f"{root}/{name}"


def _has(url: str) -> bool:
    system, path = _system_of(url)
    return bool(system.exists(path))


def fetch(url: str, target: Path) -> None:
    """Copy a file from an address."""
    system, path = _system_of(url)
    try:
        with system.open(path, "rb") as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
    except OSError as error:
        raise ConvertError(f"it cannot be read: {error}", path=url) from None


def _system_of(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # heavy

        system, path = url_to_fs(url)
    except ImportError as error:
        message = f"an address is read by way of fsspec: pip install 'molrec-convert[remote]' ({error})"
        raise MissingExtraError(message, path=url) from None
    except ValueError as error:
        raise OptionError(f"an address that cannot be read ({error})", path=url) from None
    return system, path.rstrip("/")
