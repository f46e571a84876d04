"""The cores of the machine that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """How many there are; a queue or a container may have given the process only some."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
