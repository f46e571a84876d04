"""What does the jobs: worker processes on this machine, or those of a Dask cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from molrec_convert.errors import ConvertError, MissingExtraError, OptionError

from .failures import Failure
from .isolated import Worker
from .job import Job, Outcome

LEAST = 32
"""Jobs that a cluster is given at once, as it may grow."""

Began = Callable[[Job], None]
"""Called, in some thread, when work on a job begins."""


class Engine(Protocol):
    """Does jobs, several at once."""

    slots: int
    """How many jobs it wants to have, so that none of its workers waits."""

    def submit(self, job: Job, began: Began) -> Future[Outcome]:
        """Take a job."""

    def stop(self) -> None:
        """Give up what is under way."""

    def close(self) -> None:
        """End all workers."""


class LocalEngine:
    """Worker processes on this machine, each behind a thread that waits for it.

    Parameters
    ----------
    workers
        How many.
    held
        Descriptors that they keep open.
    """

    def __init__(self, workers: int, held: Sequence[int] = ()) -> None:
        if workers < 1:
            raise OptionError(f"at least one worker is needed, not {workers}")
        self.slots = 2 * workers
        self._held = held
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="worker")
        self._own = threading.local()
        self._workers: list[Worker] = []

    def submit(self, job: Job, began: Began) -> Future[Outcome]:
        """Take a job."""
        return self._threads.submit(self._run, job, began)

    def _run(self, job: Job, began: Began) -> Outcome:
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = Worker(self._held)
            self._workers.append(worker)
        began(job)
        return worker.run(job)

    def stop(self) -> None:
        """Give up what is under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(self._workers):
            worker.stop()

    def close(self) -> None:
        """End all workers."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.close()


class DaskEngine:
    """The workers of a Dask cluster, each with a worker process beside it, so that a file can end no more than that.

    A file whose Dask worker is lost is given to another by the scheduler.

    Parameters
    ----------
    scheduler
        The address, such as ``tcp://host:8786``.

    Raises
    ------
    MissingExtraError
        Where distributed is not installed.
    ConvertError
        Where no scheduler answers there.
    """

    def __init__(self, scheduler: str) -> None:
        try:
            from distributed import Client  # heavy
        except ImportError as error:
            message = f"the engine dask needs distributed: pip install 'molrec-convert[dask]' ({error})"
            raise MissingExtraError(message) from None
        try:
            client: Any = Client
            self._client = client(scheduler, timeout=20, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConvertError(f"no scheduler answers: {str(error) or 'timed out'}", path=scheduler) from None
        self._number = 0
        self.slots = max(LEAST, 2 * sum(self._client.nthreads().values()))

    def submit(self, job: Job, began: Began) -> Future[Outcome]:
        """Take a job."""
        self._number += 1
        made: Future[Outcome] = Future()
        key = f"molrec-{self._number}-{job.source}"
        future = self._client.submit(perform_isolated, job.encode(), key=key, pure=False, retries=0)
        began(job)
        future.add_done_callback(lambda done: made.set_result(_outcome_of(job, done)))
        return made

    def stop(self) -> None:
        """Give up what is under way."""
        self._client.close(timeout=5)

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close(timeout=5)


def _outcome_of(job: Job, done: Any) -> Outcome:
    if done.status == "finished":
        return Outcome.decode(done.result())
    if done.status != "error":
        return Outcome(source=job.source, state="pending", error_kind="lost", error="the scheduler is lost")
    error = done.exception()
    told = " ".join(f"{job.source}: {type(error).__name__}: {error}".split())
    return Outcome.failed(job, Failure("lost", told))


_beside = threading.local()


def perform_isolated(line: bytes) -> bytes:
    """Do a job in a worker process beside this one; what the workers of a cluster are told to call."""
    worker: Worker | None = getattr(_beside, "worker", None)
    if worker is None:
        worker = _beside.worker = Worker()
    return worker.run(Job.decode(line)).encode()
