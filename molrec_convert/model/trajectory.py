"""A trajectory: a lazy sequence of frames with their steps and times."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from molrec_convert.errors import RecordError

from .block import Block
from .dtypes import Array
from .frame import Frame
from .schema import MetaSpec, Schema

if TYPE_CHECKING:
    from molrec_convert.stack import Stack


class Trajectory(Sequence[Frame], ABC):
    """A sequence of frames; indexing makes one frame, slicing makes another lazy sequence.

    Subclasses give `__len__`, `frame`, `step`, `time` and `schema`.
    """

    @abstractmethod
    def __len__(self) -> int:
        """The number of frames."""

    @abstractmethod
    def frame(self, index: int) -> Frame:
        """Make frame `index`, which lies within 0 … len - 1."""

    @property
    @abstractmethod
    def step(self) -> Array:
        """i64, strictly increasing: the step of every frame."""

    @property
    @abstractmethod
    def time(self) -> Array | None:
        """f64: the time of every frame, in the unit that ``meta.units`` names; or None."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """What the frames may hold."""

    @property
    def filled(self) -> Schema:
        """The schema by which frames were given fills and nulls for what they lack."""
        return self.schema

    def meta(self, key: str) -> list[Any]:
        """A meta value of every frame; None where a frame has none."""
        return [frame.meta.get(key) for frame in self]

    def column(self, block: str, name: str) -> list[Array]:
        """A column of every frame, each ``[N]`` or ``[N][…]``."""
        return [frame[block][name] for frame in self]

    def part(self, index: int, columns: Mapping[str, Collection[str]]) -> Frame:
        """Make a frame of some columns alone, with its box and its meta.

        Parameters
        ----------
        index
            0 … len - 1.
        columns
            The columns wanted of each block; those that the frame lacks are left out, and so are its other blocks.
        """
        frame = self.frame(index)
        blocks = {name: picked(frame[name], wanted) for name, wanted in columns.items() if name in frame}
        return Frame.of(blocks, frame.box, frame.meta)

    @property
    def frame_size(self) -> int | None:
        """How many bytes the columns of a frame take, on the average; None where that is not known."""
        return None

    def stack(self, first: int, end: int) -> Stack | None:
        """The frames first … end - 1 taken together; None where they go one by one."""
        del first, end
        return None

    def counts(self, block: str) -> Array:
        """i64: how many rows a block has in every frame; -1 where it is absent."""
        return np.array([frame[block].count if block in frame else -1 for frame in self], dtype=np.int64)

    def moment(self, index: int) -> tuple[int | None, float | None]:
        """The step and the time of a frame, as far as its source states them."""
        time = self.time
        return int(self.step[index]), None if time is None else float(time[index])

    @overload
    def __getitem__(self, index: int) -> Frame: ...

    @overload
    def __getitem__(self, index: slice) -> Trajectory: ...

    def __getitem__(self, index: int | slice) -> Frame | Trajectory:
        if isinstance(index, slice):
            return Selection(self, range(len(self))[index])
        return self.frame(_ordinal(index, len(self)))

    def __iter__(self) -> Iterator[Frame]:
        for index in range(len(self)):
            yield self.frame(index)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} frames{_span(self)}; {self.schema.describe()})"


class MemoryTrajectory(Trajectory):
    """A trajectory of frames that are in memory.

    Parameters
    ----------
    frames
        The frames, or what `Frame` makes of mappings.
    step
        Strictly increasing integers; by default the ordinals.
    time
        A time of every frame, or None.
    fills
        The declaration of meta keys that some frames have only as a fill.
    """

    def __init__(
        self,
        frames: Sequence[Frame],
        *,
        step: Any = None,
        time: Any = None,
        fills: Mapping[str, MetaSpec] | None = None,
    ) -> None:
        self._frames = list(frames)
        self._fills = dict(fills or {})
        steps = np.arange(len(self._frames)) if step is None else np.asarray(step)
        self._step = steps.astype(np.int64, casting="safe") if steps.size else np.zeros(0, np.int64)
        self._time = None if time is None else np.asarray(time, dtype=np.float64)
        for name, values in (("step", self._step), ("time", self._time)):
            if values is not None and values.shape != (len(self._frames),):
                raise RecordError(f"{len(self._frames)} values of {name} are due, not {values.shape}")
        if (np.diff(self._step) <= 0).any():
            raise RecordError("the steps of a trajectory increase strictly")

    def __len__(self) -> int:
        return len(self._frames)

    def frame(self, index: int) -> Frame:
        """The frame itself, not a copy."""
        return self._frames[index]

    @property
    def step(self) -> Array:
        """The step of every frame."""
        return self._step

    @property
    def time(self) -> Array | None:
        """The time of every frame, or None."""
        return self._time

    @property
    def schema(self) -> Schema:
        """The union of what the frames hold."""
        found = Schema.of(self._frames)
        fills = {key: spec for key, spec in self._fills.items() if key in found.meta}
        return replace(found, meta={**found.meta, **fills}) if fills else found


class Selection(Trajectory):
    """Some frames of another trajectory, made when they are asked for."""

    def __init__(self, source: Trajectory, indices: range) -> None:
        self._source = source
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def frame(self, index: int) -> Frame:
        """Make a frame of the source."""
        return self._source.frame(self._indices[index])

    def part(self, index: int, columns: Mapping[str, Collection[str]]) -> Frame:
        """Make a part of a frame of the source."""
        return self._source.part(self._indices[index], columns)

    def counts(self, block: str) -> Array:
        """How many rows a block has in every frame picked; -1 where it is absent."""
        return self._source.counts(block)[np.asarray(self._indices, dtype=np.intp)]

    def moment(self, index: int) -> tuple[int | None, float | None]:
        """The step and the time of a frame of the source."""
        return self._source.moment(self._indices[index])

    @property
    def step(self) -> Array:
        """The steps of the frames picked, in the order picked."""
        return self._source.step[np.asarray(self._indices, dtype=np.intp)]

    @property
    def time(self) -> Array | None:
        """The times of the frames picked, or None."""
        time = self._source.time
        return None if time is None else time[np.asarray(self._indices, dtype=np.intp)]

    @property
    def schema(self) -> Schema:
        """The schema of the source."""
        return self._source.schema

    @property
    def filled(self) -> Schema:
        """The schema by which frames of the source were filled."""
        return self._source.filled


def picked(block: Block, wanted: Collection[str]) -> Block:
    """A block of some of its columns."""
    columns = {name: column for name, column in block.columns.items() if name in wanted}
    return Block.of(columns, block.count, shape=block.shape, targets=block.targets, attributes=block.attributes)


def _ordinal(index: Any, length: int) -> int:
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeError(f"a frame is chosen by its number or a slice, not by {index!r}") from None
    ordinal = number + length if number < 0 else number
    if not 0 <= ordinal < length:
        raise IndexError(f"frame {index} of {length}")
    return ordinal


def _span(trajectory: Trajectory) -> str:
    if not len(trajectory):
        return ""
    step, time = trajectory.step, trajectory.time
    text = f", steps {step[0]} to {step[-1]}"
    return text if time is None else f"{text}, time {time[0]:g} to {time[-1]:g}"
