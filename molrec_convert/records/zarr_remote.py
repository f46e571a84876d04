"""A Zarr tree somewhere on the network, read by way of fsspec: a folder of files, or an archive."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote, unquote

from molrec_convert.errors import MissingExtraError, RecordError
from molrec_convert.forms import HDF5, form_of_name

from .zarr_codecs import Octets
from .zarr_files import DOCUMENT, Files, below
from .zarr_zip import ZipFiles

T = TypeVar("T")


def open_remote(url: str) -> Files:
    """The files of a record at an address.

    Raises
    ------
    MissingExtraError
        Where fsspec, or what it needs for such addresses, is not installed.
    RecordError
        Where nothing can be read there.
    """
    try:
        from fsspec.core import url_to_fs  # heavy

        system, path = url_to_fs(url)
    except ImportError as error:
        raise MissingExtraError(
            f"an address is read by way of fsspec: pip install 'molrec-convert[remote]' ({error})", path=url
        ) from None
    except ValueError as error:
        raise RecordError(f"an address that cannot be read ({error})", path=url) from None
    if form_of_name(path) is HDF5:
        raise RecordError("only .mrec and .mrec.zip are read from the network: fetch an HDF5 file first", path=url)
    if not path.endswith(".zip"):
        return RemoteFiles(system, path.rstrip("/"))
    try:
        return ZipFiles(_attempted(lambda: _archive(system, path)))
    except FileNotFoundError as error:
        cause = error.__cause__  # fsspec takes a server that does not answer for a file that is not there
        is_missing = cause is None or isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) == 404
        message = "there is no such file" if is_missing else f"cannot be read from the network ({cause})"
        raise RecordError(message, path=url) from None
    except ValueError as error:
        raise RecordError(str(error), path=url) from None


class RemoteFiles:
    """The files of a folder on the network.

    Parameters
    ----------
    system
        A file system of fsspec.
    root
        The folder, as the file system calls it.
    """

    is_near = False

    def __init__(self, system: Any, root: str) -> None:
        self._system = system
        self._root = root
        self._quotes = "http" in system.protocol

    def read(self, key: str) -> Octets | None:
        """A whole file."""
        return self._found(lambda path: bytes(self._system.cat_file(path)), key)

    def read_part(self, key: str, first: int, size: int) -> Octets | None:
        """A part of a file; some servers give the whole file where a part is asked for."""
        end = None if first < 0 else first + size
        data = self._found(lambda path: bytes(self._system.cat_file(path, start=first, end=end)), key)
        if data is None or len(data) <= size:
            return data
        return data[first:end]

    def folders(self, key: str) -> list[str]:
        """The names of the folders in a folder, where the server lists them."""
        listed = self._listed(lambda path: self._system.ls(path, detail=True), key)
        names = {self._name(entry["name"]): entry["type"] for entry in listed}
        if DOCUMENT not in names:  # of a folder that holds a node
            raise ValueError(UNLISTED)
        return sorted(name for name, kind in names.items() if kind == "directory")

    def keys(self, key: str) -> Iterator[str]:
        """The keys of all files below a folder, where the server lists them."""
        listed = self._listed(lambda path: self._system.find(path), key)
        start = f"{below(self._root, key)}/"
        names = sorted(self._name(path.removeprefix(start), whole=True) for path in listed)
        if not names:
            raise ValueError(UNLISTED)
        yield from names

    def _listed(self, action: Callable[[str], Any], key: str) -> Any:
        try:
            return self._found(lambda path: action(f"{path}/"), key) or ()
        except ValueError as error:
            raise ValueError(f"{UNLISTED} ({error})") from None

    def _name(self, path: str, *, whole: bool = False) -> str:
        name = path if whole else path.rstrip("/").rpartition("/")[2]
        return unquote(name) if self._quotes else name

    def _found(self, action: Callable[[str], T], key: str) -> T | None:
        path = below(self._root, quote(key) if self._quotes else key)
        try:
            return _attempted(lambda: action(path))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def size(self, key: str) -> int | None:
        """Not told: it would take a question for each file."""
        del key
        return None

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """Nothing."""
        yield from ()

    def close(self) -> None:
        """Nothing stays open."""


UNLISTED = "the server does not list the folder, which is due; a packed record, .mrec.zip, is read from any server"


def _attempted(action: Callable[[], T]) -> T:
    """Do something on the network; ValueError where it fails, FileNotFoundError and its kin where nothing is there."""
    try:
        return action()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise
    except Exception as error:  # noqa: BLE001 - each file system of fsspec has errors of its own
        raise ValueError(f"cannot be read from the network ({str(error) or type(error).__name__})") from None


def _archive(system: Any, path: str) -> BinaryIO:
    """An archive to jump about in: fetched whole where the server gives whole files only."""
    file: BinaryIO = system.open(path, "rb")
    try:
        file.seek(-1, 2)
        file.read(1)
    except (OSError, ValueError):
        file.close()
        copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - it goes when the archive is closed
        with system.open(path, "rb", block_size=0) as source:
            shutil.copyfileobj(source, copy)
        return copy
    return file
