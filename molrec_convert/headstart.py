"""The checksum of a source, begun while the program is still being loaded.

Loading takes a sixth of a second on one core. What was hashed by then need not be hashed while frames are decoded.
"""

from __future__ import annotations

import hashlib
import os
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

    Attributes
    ----------
    path
        The file.
    size
        How many of its bytes were hashed so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._digest = hashlib.sha256()
        self._wanted = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def taken(self) -> tuple[Any, int]:
        """End, and give the checksum so far and how many bytes it covers."""
        self._wanted = False
        self._thread.join()
        return self._digest, self.size

    def drop(self) -> None:
        """End: nobody needs the checksum."""
        self._wanted = False

    def _run(self) -> None:
        try:
            if not self.path.is_file():  # a pipe gives its bytes once
                return
            with self.path.open("rb", buffering=0) as file:
                end = os.fstat(file.fileno()).st_size  # what is added later, its reader may not see
                view = memoryview(bytearray(BLOCK))
                while self._wanted and (count := file.readinto(view[: end - self.size])):
                    self._digest.update(view[:count])
                    self.size += count
        except OSError:
            return  # whoever opens the file next says what is wrong
