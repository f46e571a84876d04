"""A worker process as seen from outside: it is given a job, and whatever becomes of it there is an outcome."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from .failures import Failure
from .job import Job, Outcome

STARTING = 120.0
"""Seconds in which a worker has to be ready."""
PIECE = 1 << 16
LAST_WORDS = 2000
"""Bytes of what a worker wrote before it died that are looked at."""


class Worker:
    """One worker process, begun anew where it died or was given up.

    Parameters
    ----------
    held
        Descriptors that it keeps open, such as that of a lock.
    """

    def __init__(self, held: Sequence[int] = ()) -> None:
        self._held = tuple(held)
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._rest = b""
        self._closed = False

    def run(self, job: Job) -> Outcome:
        """Let the worker do a job."""
        begun = time.monotonic()
        try:
            process = self._ready()
        except OSError as error:
            return Outcome.failed(job, Failure("crash", f"{job.source}: no worker can be started: {error}"))
        if process is None:
            return Outcome.failed(job, Failure("crash", f"{job.source}: {self._ended()}"))
        self._forget_words()
        line = self._asked(process, job.encode(), job.timeout)
        if line is not None and line.endswith(b"\n"):
            return Outcome.decode(line)
        seconds = time.monotonic() - begun
        if line is None:
            self.kill()
            told = f"{job.source}: it took more than {job.timeout:g} seconds, and was given up; --timeout gives it more"
            return Outcome.failed(job, Failure("timeout", told), seconds)
        return Outcome.failed(job, Failure("crash", f"{job.source}: {self._ended()}"), seconds)

    def kill(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def stop(self) -> None:
        """End the process for good, while another thread may wait for its answer."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self.kill()
        if self._words is not None:
            self._words.close()
            self._words = None

    # ------------------------------------------------------------ the process
    def _ready(self) -> subprocess.Popen[bytes] | None:
        """The process, begun if need be; None where it does not get ready."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.kill()
        if self._words is None:
            self._words = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        self._rest = b""
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-m", "molrec_convert.batch.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            pass_fds=self._held,
            process_group=0,  # Ctrl-C is for whoever keeps the journal
        )
        if self._closed:
            process.kill()
        return process if self._line(STARTING) == b"\n" else None

    def _asked(self, process: subprocess.Popen[bytes], question: bytes, timeout: float | None) -> bytes | None:
        """The answer; None if it does not come in time, without an end if the process died."""
        assert process.stdin is not None
        try:
            process.stdin.write(question)
            process.stdin.flush()
        except OSError:
            return b""
        return self._line(timeout)

    def _line(self, timeout: float | None) -> bytes | None:
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        end = None if timeout is None else time.monotonic() + timeout
        parts = [self._rest]
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in parts[-1]:
                left = None if end is None else end - time.monotonic()
                if left is not None and (left <= 0 or not selector.select(left)):
                    return None
                parts.append(os.read(descriptor, PIECE))
                if not parts[-1]:
                    return b"".join(parts)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line + b"\n"

    # ------------------------------------------------------------ its end
    def _ended(self) -> str:
        """How the process ended, for a person."""
        if self._closed or self._process is None:
            return "the worker was ended"
        try:
            status = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the worker fell silent"
        if status >= 0:
            how = f"the worker ended with status {status}"
        else:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            how = f"the worker was ended by {name}"
            how += " (the memory may not have sufficed)" if -status == signal.SIGKILL else ""
        words = self._last_words()
        return how + (f": {words}" if words else "")

    def _forget_words(self) -> None:
        if self._words is not None:
            self._words.seek(0)
            self._words.truncate()

    def _last_words(self) -> str:
        """The last line that the process wrote for people."""
        if self._words is None:
            return ""
        end = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, end - LAST_WORDS))
        lines = self._words.read().decode("utf-8", "replace").split("\n")
        told = [" ".join(line.split()) for line in lines if line.strip()]
        return told[-1] if told else ""
