"""Doing the jobs: they are given to an engine as it can take them, and how they went is noted."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from queue import Empty, SimpleQueue

from molrec_convert.errors import ConvertError, TargetError

from .engines import Engine
from .feed import Fed, Feed, StoppedError
from .job import Outcome, plain_fields
from .journal import Journal
from .keeping import Keeper
from .progress import Progress, Watch

MOST = 200
"""Outcomes that are noted together."""
INTERVAL = 0.1
"""Seconds for which outcomes are gathered, so that one wait for the disk serves many small files."""


class Run:
    """Does all that waits for its turn, and notes how it went.

    Parameters
    ----------
    journal
        The journal.
    feed
        The jobs.
    engine
        What does them.
    keeper
        What gives records their names.
    progress, watch
        How far it is, and who is told.
    """

    def __init__(
        self, journal: Journal, feed: Feed, engine: Engine, keeper: Keeper, *, progress: Progress, watch: Watch
    ) -> None:
        self._journal, self._feed, self._engine, self._keeper = journal, feed, engine, keeper
        self._progress, self._watch = progress, watch
        self._ended: SimpleQueue[Outcome | BaseException | int] = SimpleQueue()
        self._slots = threading.Semaphore(engine.slots)
        self._is_stopped = False
        self._taken = 0
        self._given: int | None = None
        """How many jobs there were, once that is known."""

    def go(self) -> None:
        """Work until nothing is left.

        Raises
        ------
        ConvertError
            Where it cannot go on, such as with a full disk; what was done is noted, the rest waits.
        """
        feeder = threading.Thread(target=self._give, name="feeder", daemon=True)
        feeder.start()
        try:
            self._take()
        finally:
            self._is_stopped = True
            self._feed.stop()
            self._engine.stop()
            self._slots.release()
            feeder.join()

    # ------------------------------------------------------------ giving
    def _give(self) -> None:
        """Give jobs to the engine as it can take them; a thread of its own."""
        given = 0
        try:
            for fed in self._feed:
                self._slots.acquire()
                if self._is_stopped:
                    return
                given += 1
                self._submit(fed)
            self._ended.put(given)
        except StoppedError:
            return
        except BaseException as error:  # noqa: BLE001 - raised in the thread that takes the outcomes
            self._ended.put(error)

    def _submit(self, fed: Fed) -> None:
        if isinstance(fed, Outcome):
            self._ended.put(fed)
            return
        self._engine.submit(fed, self._progress.began).add_done_callback(self._note_end)

    def _note_end(self, done: Future[Outcome]) -> None:
        if not done.cancelled():
            self._ended.put(done.exception() or done.result())

    # ------------------------------------------------------------ taking
    def _take(self) -> None:
        """Note outcomes until there is one for every job that was given."""
        while self._given is None or self._taken < self._given:
            batch: list[Outcome] = []
            try:
                self._gather(batch)
            finally:
                self._record(batch)

    def _gather(self, batch: list[Outcome]) -> None:
        """Take what comes within a moment."""
        end: float | None = None
        while len(batch) < MOST and (self._given is None or self._taken < self._given):
            try:
                item = self._ended.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
            except Empty:
                return
            end = time.monotonic() + INTERVAL if end is None else end
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, int):
                self._given = item
                continue
            if item.error_kind == "space" or item.state == "pending":
                raise self._halt(item)
            self._taken += 1
            batch.append(item)
            self._slots.release()
            self._feed.done(item.source)
            self._progress.ended(item)

    def _halt(self, outcome: Outcome) -> ConvertError:
        """What to say where no file can be done any more."""
        left = self._progress.files - self._progress.done - self._progress.failed
        return TargetError(
            f"{outcome.error}: {left} files wait, and the same command goes on with them", path=self._journal.path
        )

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        """Name the records, then note the outcomes for good, then tell of them."""
        if not outcomes:
            return
        self._keeper.keep(outcomes, self._place)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._journal.changing():
            for each in outcomes:
                results = plain_fields(each)
                del results["source"], results["made"]
                self._journal.finish(each.source, {**results, "finished": now})
        for each in outcomes:
            self._progress.noted(each)
            self._watch(self._progress, each)

    def _place(self, source: str) -> tuple[str, bool]:
        row = self._journal.row("SELECT output, written FROM files WHERE source = ?", (source,))
        assert row is not None
        return row["output"], bool(row["written"])
