"""Reads text from an HDF5 file in which the HDF5 library would lose itself.

Text of any length lies in heaps that have no checksum, unlike all else that tells where things are. Version 2.0 of the
library follows a heap in which an entry has no size for ever (found by trial), and no signal ends it. So such text is
read by a second handle, whose file looks at each heap before the library does. Numbers do not come this way.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import h5py  # noqa: TID253 - imported by the HDF5 tree alone

SIGNATURE = b"GCOL"
HEAD, ENTRY = 16, 16
"""Bytes before the entries of a heap, and before the data of an entry (HDF5 File Format Specification 3.0, III.E)."""


class GuardedFile(io.RawIOBase):
    """A file that is read, and does not give a heap that is damaged."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - `close` closes it

    def readinto(self, buffer: Any) -> int:
        """Read, and look at a heap, which the library reads from its first byte; a damaged one loses its signature.

        The library then refuses it by itself: an exception would have to pass through it.
        """
        read = self._file.readinto(buffer) or 0
        if bytes(buffer[: len(SIGNATURE)]) == SIGNATURE and not _is_sound(bytes(buffer[:read])):
            buffer[: len(SIGNATURE)] = bytes(len(SIGNATURE))
        return read

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        return self._file.seek(place, whence)

    def tell(self) -> int:
        """The place."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _is_sound(octets: bytes) -> bool:
    """Whether the entries of a heap follow one another; it may be read in part first, to learn its size."""
    size = int.from_bytes(octets[8:16], "little")
    place = HEAD
    while place + ENTRY <= min(size, len(octets)):
        number = int.from_bytes(octets[place : place + 2], "little")
        length = int.from_bytes(octets[place + 8 : place + 16], "little")
        taken = ENTRY + (length + 7) // 8 * 8 if number else length  # entry 0 is the rest, its head included
        if taken < ENTRY or place + taken > size:
            return False
        place += taken
    return True


class GuardedText:
    """A second handle of a file, for its text; the library opens it when text is first asked for.

    Parameters
    ----------
    path
        The file, which is opened at once: another may take its name.
    """

    def __init__(self, path: str) -> None:
        self._octets = GuardedFile(path)
        self._file: h5py.File | None = None

    @property
    def file(self) -> h5py.File:
        """The handle."""
        if self._file is None:
            self._file = h5py.File(self._octets, "r")
        return self._file

    def close(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
        self._octets.close()
