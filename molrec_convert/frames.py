"""Choosing frames: ``0:100:10``, ``0,5,-1``."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import OptionError

Part = int | slice
Frames: TypeAlias = "str | int | slice | Sequence[int] | None"
"""How frames are chosen: ``0:100:10`` and ``0,5,-1`` as text, or what Python's indexing takes; None for all."""


@dataclass(frozen=True, slots=True)
class FrameSelection:
    """Which frames of a sequence are wanted; they come in the order of the sequence, each once.

    Parameters
    ----------
    parts
        Ordinals and slices, as Python's indexing takes them; all frames where there are none.
    """

    parts: tuple[Part, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FrameSelection:
        """Read a selection such as ``0,5,10:20:2,-1``; `OptionError` for anything else."""
        parts: list[Part] = []
        for word in text.split(","):
            try:
                numbers = [int(part) if part.strip() else None for part in word.split(":")]
            except ValueError:
                numbers = []
            if not 1 <= len(numbers) <= 3 or (len(numbers) == 1 and numbers[0] is None):
                raise OptionError(f"frames are chosen as 0,5,10:20:2,-1, not {text!r}")
            if len(numbers) == 3 and numbers[2] == 0:
                raise OptionError(f"a step of 0 chooses no frames: {text!r}")
            parts.append(numbers[0] if len(numbers) == 1 and numbers[0] is not None else slice(*numbers))
        return cls(tuple(parts))

    @classmethod
    def of_frames(cls, frames: Frames) -> FrameSelection:
        """The selection that text, a number, a slice or a sequence of numbers asks for; `OptionError` for others."""
        if frames is None:
            return cls()
        if isinstance(frames, str):
            return cls.parse(frames)
        if isinstance(frames, slice):
            return cls.parse(_slice_text(frames))
        given: Sequence[Any] = [frames] if not hasattr(frames, "__iter__") else list(frames)
        if not given:
            raise OptionError("no frames are chosen")
        return cls(tuple(_ordinal(frame) for frame in given))

    def __str__(self) -> str:
        return ",".join(_slice_text(part) if isinstance(part, slice) else str(part) for part in self.parts)

    @property
    def everything(self) -> bool:
        """Whether all frames are wanted."""
        return not self.parts

    @property
    def needs_total(self) -> bool:
        """Whether the number of frames must be known before the first can be chosen."""
        return any(
            part < 0 if isinstance(part, int) else any(edge is not None and edge < 0 for edge in _edges(part))
            for part in self.parts
        )

    def of(self, total: int, name: str | None = None) -> list[int]:
        """The ordinals among `total` frames; `OptionError` where one does not exist."""
        if self.everything:
            return list(range(total))
        chosen: set[int] = set()
        for part in self.parts:
            if isinstance(part, slice):
                chosen.update(range(total)[part])
            elif not -total <= part < total:
                raise OptionError(f"there is no frame {part} among {total}", path=name)
            else:
                chosen.add(part % total)
        return sorted(chosen)

    def picks(self, ordinal: int) -> bool:
        """Whether a frame is wanted, where no part counts from the end."""
        return self.everything or any(
            ordinal == part if isinstance(part, int) else _within(ordinal, part) for part in self.parts
        )

    def last(self) -> int | None:
        """The last ordinal that can be wanted, where no part counts from the end; None without a bound."""
        ends: list[int] = []
        for part in self.parts:
            if isinstance(part, slice):
                if part.stop is None:
                    return None
                ends.append(part.stop - 1)
            else:
                ends.append(part)
        return max(ends) if ends else None

    def none_of(self, total: int, name: str) -> OptionError:
        """The error where none of the frames of a source is wanted."""
        which = "the one frame" if total == 1 else f"any of the {total} frames"
        return OptionError(f"{str(self)!r} does not choose {which}", path=name)

    def missing(self, total: int) -> Iterable[int]:
        """The single ordinals that are wanted and lie beyond `total` frames."""
        return [part for part in self.parts if isinstance(part, int) and part >= total]


def _ordinal(frame: Any) -> int:
    if not isinstance(frame, bool):
        try:
            return operator.index(frame)
        except TypeError:
            pass
    raise OptionError(f"frames are chosen by number, not by {frame!r}")


def _slice_text(part: slice) -> str:
    edges = (part.start, part.stop) if part.step is None else (part.start, part.stop, part.step)
    return ":".join("" if edge is None else str(_ordinal(edge)) for edge in edges)


def _edges(part: slice) -> tuple[int | None, int | None, int | None]:
    return part.start, part.stop, part.step


def _within(ordinal: int, part: slice) -> bool:
    start, step = part.start or 0, part.step or 1
    stop = part.stop
    return ordinal >= start and (stop is None or ordinal < stop) and (ordinal - start) % step == 0
