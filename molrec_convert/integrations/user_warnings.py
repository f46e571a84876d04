"""Warnings that point at the user's line, however many libraries call each other in between."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

from molrec_convert.adapter import Note
from molrec_convert.errors import ConvertWarning, LossWarning

IN_BETWEEN = frozenset(("molrec_convert", "ase", "MDAnalysis", "contextlib"))
"""Packages whose lines are not the user's."""


def warn(message: str, category: type[Warning] = ConvertWarning) -> None:
    """Warn at the innermost line that belongs to none of the packages in between."""
    warnings.warn(message, category, stacklevel=_level())


def warn_of(notes: Iterable[Note], *, who: str) -> None:
    """Warn of notes: of all losses at once, of anything else one by one.

    Parameters
    ----------
    notes
        The notes.
    who
        What stands before each message: the name of a file or of a library, or nothing.
    """
    before = f"{who}: " if who else ""
    found = list(notes)
    for note in found:
        if not note.loss:
            warn(f"{before}{note.message}")
    losses = [note.message for note in found if note.loss]
    if losses:
        warn(before + "; ".join(losses), LossWarning)


def _level() -> int:
    """The `stacklevel` for the caller of this function; that of the outermost line where all are in between."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - warnings counts its levels by these
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in IN_BETWEEN:
        level, frame = level + 1, frame.f_back
    return level
