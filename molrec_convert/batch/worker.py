"""The program of a worker process: jobs come line by line on its input, outcomes go line by line to its output.

It is a process of its own, so that what ends it costs one file. It ends at once when its input does: nobody waits for
it any more then.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

MORE_LIKELY = b"800"
"""How the kernel is told that this process, and not the one that keeps the journal, is to go where memory ends."""


def main() -> None:
    """Work until the input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    with suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(MORE_LIKELY)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(jobs,), daemon=True).start()
    from .job import Job, perform, prepare  # heavy

    prepare()
    os.write(answers, b"\n")
    while True:
        outcome = perform(Job.decode(jobs.get()))
        _answer(answers, outcome.encode())


def _listen(jobs: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(0)


def _answer(answers: int, data: bytes) -> None:
    while data:
        data = data[os.write(answers, data) :]


if __name__ == "__main__":
    main()
