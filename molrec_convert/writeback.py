"""Has the disk take what a file holds while it grows, so that its last sync has little left to wait for."""

from __future__ import annotations

import os
import threading

STEP = 16 << 20
"""Bytes by which a file grows before the disk is told: each time a network file system asks its server."""
WAIT = 0.02


class WriteBack:
    """Syncs a file in a thread of its own, again and again, until it is closed.

    The system would begin after some seconds or some gigabytes, and all of that would be waited for at the end.

    Parameters
    ----------
    descriptor
        The file, open; where it is locked, this is the descriptor that locks it, since another one that is closed
        would end the lock.
    own
        Whether to close the descriptor at the end.
    """

    def __init__(self, descriptor: int, *, own: bool) -> None:
        self._descriptor, self._own = descriptor, own
        self._error: OSError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="write-back", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; OSError where the disk refused something, which it tells only once."""
        self._ended.set()
        self._thread.join()
        if self._own:
            os.close(self._descriptor)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        synced = 0
        while not self._ended.wait(WAIT):
            try:
                size = os.fstat(self._descriptor).st_size
                if size - synced >= STEP:
                    os.fsync(self._descriptor)
                    synced = size
            except OSError as error:
                self._error = error
                return
