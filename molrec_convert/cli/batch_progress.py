"""How a migration goes, for people: a live display on a terminal, a line a file elsewhere; and as lines of JSON."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from molrec_convert.batch import Outcome, Progress

INTERVAL = 0.2
FILES_SHOWN, FAILURES_SHOWN = 6, 4


class Log:
    """A file to which outcomes are appended."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        found = {
            each.name: getattr(outcome, each.name) for each in fields(outcome) if each.name not in ("picture", "made")
        }
        line = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **found}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class Silent:
    """Tells nothing."""

    def __call__(self, progress: Progress, outcome: Outcome | None) -> None:
        """Take no notice."""

    def stop(self) -> None:
        """Nothing is shown."""

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Lines(Silent):
    """Tells of every file in a line."""

    def __call__(self, progress: Progress, outcome: Outcome | None) -> None:
        """Tell of a file that has ended."""
        if outcome is not None:
            sys.stderr.write(f"{line_of(outcome)}\n")


class Live(Silent):
    """Shows the state of things on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as Display

        self._display = Display(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._failures: list[str] = []
        self._last = 0.0
        self._display.start()

    def __call__(self, progress: Progress, outcome: Outcome | None) -> None:
        """Show how far it is."""
        if outcome is not None and outcome.state == "failed":
            self._failures = [*self._failures, outcome.error or outcome.source][-FAILURES_SHOWN:]
        now = time.monotonic()
        if now - self._last >= INTERVAL or outcome is None:
            self._last = now
            self._display.update(self._drawn(progress), refresh=True)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self._display.stop()

    def _drawn(self, progress: Progress) -> Any:
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        lines: list[Any] = [Text(line, no_wrap=True, overflow="ellipsis") for line in head_lines(progress)]
        if progress.stage == "migrating":
            bar = ProgressBar(total=max(1, progress.bytes), completed=progress.bytes_done, width=60)
            lines.insert(0, Padding(bar, 0))
        with progress.lock:
            current = list(progress.current)[:FILES_SHOWN]
        lines += [Text(f"  {source}", style="dim", no_wrap=True, overflow="ellipsis") for source in current]
        lines += [Text(text, style="red", no_wrap=True, overflow="ellipsis") for text in self._failures]
        return Group(*lines)


def watcher(*, quiet: bool) -> Silent:
    """What tells of a migration here."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Lines()


def head_lines(progress: Progress) -> list[str]:
    """Files, bytes, rate, time left."""
    from molrec_convert.batch.report.page import duration_text, size_text

    if progress.stage != "migrating":
        what = {"looking": f"looking for sources: {progress.files:,}", "reporting": "writing the report"}
        return [what[progress.stage]]
    files, size = progress.rates
    left = progress.seconds_left
    return [
        f"{progress.done + progress.failed:,} of {progress.files:,} files, {progress.failed:,} failed, "
        f"{size_text(progress.bytes_done)} of {size_text(progress.bytes)}",
        f"{files:.1f} files/s, {size_text(size)}/s, {'?' if left is None else duration_text(left)} left",
    ]


def line_of(outcome: Outcome) -> str:
    """How a file went, in a line."""
    if outcome.state == "done":
        frames = "1 frame" if outcome.frames == 1 else f"{outcome.frames} frames"
        count = len(outcome.warnings)
        warned = "" if not count else ", 1 warning" if count == 1 else f", {count} warnings"
        return f"done     {outcome.source}: {frames}{warned}, {outcome.seconds:.2f} s"
    from molrec_convert.batch.failures import without_source

    told = without_source(outcome.source, outcome.error or outcome.reason or "")
    return f"{outcome.state:8} {outcome.source}: {told}"
