"""What is told of a conversion: how it went, and what was noticed on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .adapter import Note
from .errors import located
from .loss import LossReport


@dataclass(slots=True)
class Report:
    """How a conversion went.

    Parameters
    ----------
    source, target
        The names as given.
    source_format, target_format
        The formats read and written.
    frames
        How many frames were written.
    seconds
        How long it took.
    warnings
        What a person should know, each with its place.
    losses
        What the target could not hold.
    left_out
        Those of the warnings that say that a part of the source was left out.
    provenance
        What the record says about its source.
    """

    source: str
    target: str
    source_format: str
    target_format: str
    frames: int = 0
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    losses: LossReport = field(default_factory=lambda: LossReport(""))
    left_out: list[str] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {**asdict(self), "losses": self.losses.as_json()}


class Notes:
    """Notes of a conversion, each told once however often it is made."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: dict[str, tuple[Note, int]] = {}

    def add(self, note: Note, frame: int | None = None, *, count: int = 1) -> None:
        """Take a note, made in a frame, or in so many from that one on."""
        first, before = self._found.get(note.message, (note, 0))
        if not before and note.frame is None and frame and note.line is not None:
            first = replace(note, frame=frame)
        self._found[note.message] = (first, before + count)

    def texts(self, *, losses: bool = False) -> list[str]:
        """The notes with their first place and their number; only those of what was left out, where asked for."""
        return [
            located(message, path=note.path or self._name, line=note.line, frame=note.frame)
            + (f" (in {count} frames)" if count > 1 else "")
            for message, (note, count) in self._found.items()
            if note.loss or not losses
        ]
