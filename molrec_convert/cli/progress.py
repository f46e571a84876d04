"""The progress bar of a conversion, on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

INTERVAL = 0.1


class Bar:
    """Bytes, frames, rate and time left; call it with what was read, of how much, and the frames."""

    def __init__(self) -> None:
        self._shown = Progress(
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[frames]} frames"),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._shown.add_task("", total=None, frames=0)
        self._last = 0.0

    def __call__(self, done: int, total: int | None, frames: int) -> None:
        """Show how far the conversion is."""
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            self._shown.update(self._task, completed=done, total=total, frames=frames)

    def __enter__(self) -> Bar:
        self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.stop()
