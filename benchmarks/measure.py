"""Measuring processes: alternately, so that a machine that drifts is fair to all; wall time and peak memory of each."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Command = Sequence[str | Path]


@dataclass(slots=True)
class Measured:
    """What one tool took for one kind of work."""

    seconds: list[float] = field(default_factory=list)
    peak: float = 0.0
    """Largest resident set, MB."""
    failed: str | None = None

    @property
    def median(self) -> float:
        """The median wall time, s."""
        return statistics.median(self.seconds)


def measure(tools: Mapping[str, Command], folder: Path, *, rounds: int, limit: float) -> dict[str, Measured]:
    """Run each tool in turn, `rounds` times after a round that warms the page cache.

    Parameters
    ----------
    tools
        A command for each, with targets in `folder`, which is emptied before each run.
    limit
        A tool that took longer than so many seconds is not run again.
    """
    found = {name: Measured() for name in tools}
    for number in range(rounds + 1):
        for name, command in tools.items():
            mine = found[name]
            if mine.failed is not None or (mine.seconds and mine.seconds[-1] > limit):
                continue
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            seconds, peak, error = run(command, folder)
            if error is not None:
                mine.failed = error
            elif number or seconds > limit:
                mine.seconds.append(seconds)
                mine.peak = max(mine.peak, peak)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def run(command: Command, folder: Path) -> tuple[float, float, str | None]:
    """Wall seconds, peak memory in MB, and the last line of what went wrong, of one process.

    It is started by a small process: the system counts the memory of whoever starts a process as its own.
    """
    starter = [sys.executable, "-S", __file__, *map(str, command)]
    done = subprocess.run(starter, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    seconds, peak, error = json.loads(done.stdout)
    return seconds, peak, error


def main(command: Sequence[str]) -> None:
    """Run a command, and print what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = errors.decode(errors="replace").strip().splitlines() or [f"exit status {process.returncode}"]
    print(json.dumps([seconds, usage.ru_maxrss / 1e3, None if process.returncode == 0 else lines[-1]]))


if __name__ == "__main__":
    main(sys.argv[1:])
