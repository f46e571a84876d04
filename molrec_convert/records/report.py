"""What was found in a record whose writer was killed, and what was done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found, and what was done.

    Parameters
    ----------
    frames
        The frames that the record holds.
    was_unclean
        Whether the writer had not closed it.
    what
        What was done, one clause each.
    """

    frames: int
    was_unclean: bool
    what: tuple[str, ...]
