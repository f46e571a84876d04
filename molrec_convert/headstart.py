"""The checksum of a source, begun while the program is still being loaded.

Loading takes a fifth of a second on one core. What was hashed by then need not be hashed while frames are decoded.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any

BLOCK = 1 << 24
"""Large, since between two of them the thread waits for the interpreter's lock."""


class HeadStart:
    """Hashes the beginning of a file in a thread of its own, until it is asked for what it has.

    Parameters
    ----------
    path
        The file; nothing is done unless it is a regular one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._size = 0
        self._wanted = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def taken(self, path: Path) -> tuple[Any, int]:
        """The checksum so far and how many bytes it covers; of another file, that of no bytes."""
        self._wanted = False
        self._thread.join()
        return (self._digest, self._size) if path == self._path else (hashlib.sha256(), 0)

    def _run(self) -> None:
        try:
            if not self._path.is_file():  # a pipe gives its bytes once
                return
            with self._path.open("rb", buffering=0) as file:
                block = bytearray(BLOCK)
                view = memoryview(block)
                while self._wanted and (count := file.readinto(view)):
                    self._digest.update(view[:count])
                    self._size += count
        except OSError:
            return  # whoever opens the file next says what is wrong
