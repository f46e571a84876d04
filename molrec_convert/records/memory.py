"""How much of a store is read at once: not more than the machine can hold, whatever the store claims to have."""

from __future__ import annotations

import os
from functools import cache

FALLBACK = 16 << 30
"""Bytes, where the system does not tell."""


@cache
def memory_of_machine() -> int:
    """The bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return FALLBACK


def affordable(size: int) -> int:
    """The size itself; ValueError where so many bytes do not fit into memory."""
    if size > memory_of_machine():
        raise ValueError(f"{size} bytes at once, this machine has {memory_of_machine()}")
    return size
