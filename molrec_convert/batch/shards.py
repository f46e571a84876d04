"""Parts of a migration for job arrays: which part a source belongs to depends on its name alone."""

from __future__ import annotations

import hashlib

from molrec_convert.errors import OptionError

Shard = tuple[int, int]
"""Which part, from 1, and of how many."""


def parse_shard(text: str) -> Shard:
    """Read ``2/8``; `OptionError` for anything else."""
    part, _, whole = text.partition("/")
    if not (part.isdecimal() and whole.isdecimal() and 1 <= int(part) <= int(whole)):
        raise OptionError(f"--shard takes a part such as 2/8, from 1/8 to 8/8, not {text!r}")
    return int(part), int(whole)


def is_of_shard(source: str, shard: Shard) -> bool:
    """Whether a source belongs to a part."""
    return int.from_bytes(hashlib.sha256(source.encode()).digest()[:8]) % shard[1] == shard[0] - 1


def shard_of(name: str) -> Shard | None:
    """The part that a journal of this name is of."""
    words = name.split("-")
    return (int(words[1]), int(words[3])) if len(words) == 4 else None
