"""Small frames of one make taken together, their rows one below the other: numpy takes as long for one as for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from .adapter import Exporter, Importer, Note, Snapshot, Span
from .model import Block, Column, Frame
from .model.dtypes import Array
from .moments import Moments
from .text.lines import joined


@dataclass(slots=True)
class Stack:
    """Consecutive frames that have the same blocks, with the same columns and as many rows.

    Parameters
    ----------
    blocks
        The rows of all frames, in their order; no block has a structural shape.
    moments
        What each frame has for its own.
    units, decimals
        Those of every frame.
    notes
        What was noticed in every frame, alike and without a line.
    """

    blocks: dict[str, Block]
    moments: Moments
    units: Mapping[str, str] | None = None
    notes: list[Note] = field(default_factory=list)
    decimals: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.moments)

    def __getitem__(self, index: int) -> Snapshot:
        """One of the frames; its columns are a part of the stack's."""
        moment = self.moments[index]
        blocks = {name: part_of(block, index, len(self)) for name, block in self.blocks.items()}
        frame = Frame.of(blocks, moment.box, moment.meta.copy())
        return Snapshot(
            frame, moment.step, moment.time, moment.about, self.units, list(self.notes), dict(self.decimals)
        )

    def head(self, index: int) -> Snapshot:
        """One of the frames without its blocks."""
        moment = self.moments[index]
        return Snapshot(Frame.of({}, moment.box, moment.meta), moment.step, moment.time, moment.about, self.units)

    def after(self, index: int) -> Stack:
        """The frames after the first ones."""
        blocks = {name: _after(block, index, len(self)) for name, block in self.blocks.items()}
        return Stack(blocks, self.moments.after(index), self.units, self.notes, self.decimals)

    def __iter__(self) -> Iterator[Snapshot]:
        return map(self.__getitem__, range(len(self)))


@runtime_checkable
class StackImporter(Importer, Protocol):
    """An importer that decodes small frames together."""

    def kind(self, span: Span) -> object:
        """Frames one after another that have the same kind may be decoded together; None for one that goes alone."""
        ...

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """All frames of spans of one kind, as `decode` makes them; None, or any error, where they go one by one."""
        ...


@runtime_checkable
class StackExporter(Exporter, Protocol):
    """An exporter that prints small frames together."""

    def encode_stack(self, stack: Stack, first: int) -> bytes | None:
        """The texts of all frames, as `encode` makes them, of which the first has this number; None for one by one."""
        ...


def text_of(spans: Iterable[Span]) -> bytes:
    """The bytes of spans one behind the other."""
    return joined(span.data or b"" for span in spans)


def part_of(block: Block, index: int, frames: int) -> Block:
    """The rows of one frame of a stack."""
    count = block.count // frames
    rows = slice(index * count, (index + 1) * count)
    columns = {
        name: column.one if isinstance(column, Tiled) else column_part(column, rows)
        for name, column in block.columns.items()
    }
    return Block.of(columns, count, targets=dict(block.targets), attributes=dict(block.attributes))


def _after(block: Block, index: int, frames: int) -> Block:
    """The rows of the frames of a stack after the first ones."""
    first = index * (block.count // frames)
    columns = {
        name: Tiled(each.one, frames - index) if isinstance(each, Tiled) else column_part(each, slice(first, None))
        for name, each in block.columns.items()
    }
    return Block.of(columns, block.count - first, targets=dict(block.targets), attributes=dict(block.attributes))


def tiled_block(block: Block, frames: int) -> Block:
    """The block of a stack of frames that all have this one."""
    columns: dict[str, Column] = {name: Tiled(column, frames) for name, column in block.columns.items()}
    return Block.of(columns, block.count * frames, targets=dict(block.targets), attributes=dict(block.attributes))


def by_frame(values: Array, frames: int) -> Array:
    """The values of a stack with an axis for its frames, reals as the integers that their bits are."""
    each = values.reshape(frames, -1)
    return each.view(np.uint64) if values.dtype.kind in "fc" else each


class Tiled(Column):
    """A column of a stack whose frames all have the same one; its values are put together when they are asked for.

    Parameters
    ----------
    one
        The column of each frame, which they share.
    frames
        How many there are.
    """

    __slots__ = ("_made", "frames", "one")

    def __init__(self, one: Column, frames: int) -> None:
        self.one, self.frames = one, frames
        self.precision = one.precision
        self.valid = None if one.valid is None else np.tile(one.valid, frames)
        self._made: Array | None = None

    @property
    def values(self) -> Array:  # type: ignore[override]
        """The rows of all frames."""
        if self._made is None:
            self._made = np.concatenate([self.one.values] * self.frames)  # numpy.tile knows no text
        return self._made

    def __len__(self) -> int:
        return len(self.one) * self.frames

    @property
    def dtype(self) -> str:
        """The MolRec name of the element type."""
        return self.one.dtype

    @property
    def trailing(self) -> tuple[int, ...]:
        """The axes after the first."""
        return self.one.trailing


def repeats(column: Column, frames: int) -> bool:
    """Whether the rows of all frames of a stack are those of the first, to the bit."""
    return isinstance(column, Tiled) or (
        rows_repeat(column.values, frames) and (column.valid is None or rows_repeat(column.valid, frames))
    )


def rows_repeat(values: Array, frames: int) -> bool:
    """Whether values repeat so."""
    each = by_frame(values, frames)
    # One is enough to tell what moves.
    return bool((each[-1] == each[0]).all()) and bool((each == each[0]).all())


def one_of(column: Column, frames: int) -> Column:
    """The rows of a column of the first frame of a stack."""
    return column.one if isinstance(column, Tiled) else column_part(column, slice(len(column) // frames))


def column_part(column: Column, rows: slice) -> Column:
    """Some rows of a column, which share its memory."""
    valid = None if column.valid is None else column.valid[rows]
    return Column.of(column.values[rows], None if valid is None or valid.all() else valid, column.precision)
