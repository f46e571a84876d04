"""How far a migration is, as data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .job import Job, Outcome

PER_FILE = 1 << 18
"""Bytes that take as long as what a file takes beside its bytes."""


@dataclass(slots=True)
class Progress:
    """How far a migration is.

    Parameters
    ----------
    stage
        What goes on: ``looking`` for sources, ``migrating``, ``reporting``.
    files, bytes
        How many sources there are in all, and their bytes; those that are skipped apart.
    done, failed
        How many files went well or not, those of earlier runs included.
    bytes_done
        The bytes of both.
    begun
        When work began, as `time.monotonic` has it; and how many files and bytes were done by then.
    files_before, bytes_before
        What earlier runs did.
    current
        The sources under way, with their bytes.
    """

    stage: str = "looking"
    files: int = 0
    bytes: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    bytes_done: int = 0
    files_before: int = 0
    bytes_before: int = 0
    begun: float = field(default_factory=time.monotonic)
    current: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, counts: Mapping[str, tuple[int, int]]) -> None:
        """Take over what the journal counts."""
        none = (0, 0)
        self.done, self.failed = counts.get("done", none)[0], counts.get("failed", none)[0]
        self.skipped = counts.get("skipped", none)[0]
        self.bytes_done = counts.get("done", none)[1] + counts.get("failed", none)[1]
        self.files = self.done + self.failed + counts.get("pending", none)[0]
        self.bytes = self.bytes_done + counts.get("pending", none)[1]
        self.files_before, self.bytes_before = self.done + self.failed, self.bytes_done
        self.stage, self.begun = "migrating", time.monotonic()

    def began(self, job: Job) -> None:
        """Work on a job has begun; called from any thread."""
        with self.lock:
            self.current[job.source] = job.size

    def ended(self, outcome: Outcome) -> None:
        """Work on a job has ended."""
        with self.lock:
            self.bytes_done += self.current.pop(outcome.source, 0)

    def noted(self, outcome: Outcome) -> None:
        """How a job went is noted."""
        if outcome.state == "done":
            self.done += 1
        elif outcome.state == "failed":
            self.failed += 1
        else:
            self.skipped += 1
            self.files -= 1

    @property
    def seconds(self) -> float:
        """How long the work has been going on."""
        return time.monotonic() - self.begun

    @property
    def rates(self) -> tuple[float, float]:
        """Files and bytes a second."""
        seconds = max(self.seconds, 1e-3)
        return (self.done + self.failed - self.files_before) / seconds, (self.bytes_done - self.bytes_before) / seconds

    @property
    def seconds_left(self) -> float | None:
        """How long it will take; None where that is not known yet."""
        files, size = self.rates
        rate = size + files * PER_FILE
        left = (self.bytes - self.bytes_done) + (self.files - self.done - self.failed) * PER_FILE
        return None if not rate and left else left / rate if left else 0.0


Watch = Callable[[Progress, Outcome | None], None]
"""Called with the progress, and with the outcome where a file has just ended."""


def unwatched(progress: Progress, outcome: Outcome | None) -> None:
    """Tell nobody."""
    del progress, outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a migration stands.

    Parameters
    ----------
    done, failed, skipped, pending
        How many sources are of each state.
    seconds
        How long the run took.
    report
        The path of the report.
    """

    done: int
    failed: int
    skipped: int
    pending: int
    seconds: float
    report: str | None

    @classmethod
    def of(cls, counts: Mapping[str, tuple[int, int]], *, seconds: float = 0.0, report: str | None = None) -> Summary:
        """What a journal counts."""
        found: dict[str, Any] = {
            state: counts.get(state, (0, 0))[0] for state in ("done", "failed", "skipped", "pending")
        }
        return cls(**found, seconds=seconds, report=report)

    @property
    def complete(self) -> bool:
        """Whether every source that can be migrated was."""
        return not self.failed and not self.pending
