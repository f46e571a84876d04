"""What frames that are taken together have for their own, beside their rows: by its kind, since most of it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar, overload

from .adapter import Snapshot
from .model import Box, Meta

T = TypeVar("T")


class Moment(NamedTuple):
    """What a frame of a stack has for its own, beside its rows; see `molrec_convert.adapter.Snapshot`.

    Parameters
    ----------
    step, time
        As the source states them.
    box
        The cell; the same object where it stays.
    meta
        The meta of the frame; its tags are those of all frames of the stack.
    about
        Facts of the source's layout; the same object where they stay.
    """

    step: int | None
    time: float | None
    box: Box | None
    meta: Meta
    about: Meta


def moment_of(snapshot: Snapshot) -> Moment:
    """What a frame has beside its rows."""
    return Moment(snapshot.step, snapshot.time, snapshot.frame.box, snapshot.frame.meta, snapshot.about)


class Kept(Sequence[T], Generic[T]):
    """One value in so many frames."""

    __slots__ = ("frames", "one")

    def __init__(self, one: T, frames: int) -> None:
        self.one, self.frames = one, frames

    def __len__(self) -> int:
        return self.frames

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Kept[T]: ...
    def __getitem__(self, index: int | slice) -> T | Kept[T]:
        found = range(self.frames)[index]
        return self.one if isinstance(found, int) else Kept(self.one, len(found))

    def __iter__(self) -> Iterator[T]:
        return repeat(self.one, self.frames)


def kept(values: Sequence[T]) -> Sequence[T]:
    """Values, as one where all are the same object.

    >>> len(kept([None] * 3)), kept([1, None])
    (3, [1, None])
    """
    return Kept(values[0], len(values)) if values and all(map(is_, values, repeat(values[0]))) else values


def distinct(values: Sequence[T]) -> Iterable[T]:
    """Values of frames, once where one is kept."""
    return (values.one,) if isinstance(values, Kept) else values


def mapped(function: Callable[..., T], *columns: Sequence[Any]) -> Sequence[T]:
    """What a function makes of the values of every frame; called once where all are kept."""
    if all(isinstance(values, Kept) for values in columns):
        return Kept(function(*(values[0] for values in columns)), len(columns[0]))
    return list(map(function, *columns))


@dataclass(slots=True)
class Moments:
    """What frames have for their own, each a `Moment`; every kind has one value a frame.

    Parameters
    ----------
    steps, times, boxes, metas, abouts
        See `Moment`.
    """

    steps: Sequence[int | None]
    times: Sequence[float | None]
    boxes: Sequence[Box | None]
    metas: Sequence[Meta]
    abouts: Sequence[Meta]

    @classmethod
    def of(cls, moments: Sequence[Moment]) -> Moments:
        """Those of frames, one or more, that were looked at one by one."""
        steps, *others = zip(*moments, strict=True)
        return cls(steps, *map(kept, others))

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Moment:
        return Moment(self.steps[index], self.times[index], self.boxes[index], self.metas[index], self.abouts[index])

    def __iter__(self) -> Iterator[Moment]:
        return map(Moment, self.steps, self.times, self.boxes, self.metas, self.abouts)

    def after(self, index: int) -> Moments:
        """Those of the frames after the first ones."""
        rest = slice(index, None)
        return Moments(self.steps[rest], self.times[rest], self.boxes[rest], self.metas[rest], self.abouts[rest])
