"""Whether a frame is like the last one as far as losses depend on it, so that it can lose nothing that is not told yet.

Losses depend on names and types, on text and whole numbers, on what is there and what is not: never on the reals in
columns. What only printing shows is told by exporters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from .adapter import Snapshot
from .model import Block, Box, Column, Meta
from .model.dtypes import Array, same_bits
from .moments import Moment, Moments, distinct, moment_of
from .stack import Stack, part_of, repeats

DIGITS = b"0123456789.+-"
EYE = np.eye(3, dtype=bool)
SMALL = 2**31
"""Steps below are small enough for every format."""


class LastFrame:
    """What losses depend on in the last frame; the facts about a source have the values of its frame among them."""

    def __init__(self) -> None:
        self._shared: tuple[Any, ...] = ()
        self._kept: list[Array] = []
        self._moment: tuple[Any, ...] = ()
        self._about = Meta()
        self._box: tuple[Box | None, Any] = (None, None)

    def is_like(self, snapshot: Snapshot, ordinal: int) -> bool:
        """Whether a frame is like the last one, which it is from now on."""
        shared = (_shared(snapshot.frame), snapshot.units)
        kept, moment = list(_kept(snapshot.frame.values())), self._of(moment_of(snapshot), ordinal)
        alike = (
            shared == self._shared
            and moment == self._moment
            and snapshot.about.same_keys(self._about)
            and _same(kept, self._kept)
        )
        self._shared, self._kept, self._moment, self._about = shared, kept, moment, snapshot.about
        return alike

    def are_like(self, stack: Stack, ordinal: int) -> bool:
        """Whether all frames of a stack are like the last one."""
        frames = len(stack)
        one = {name: part_of(block, 0, frames) for name, block in stack.blocks.items()}
        if (_shared(one), stack.units) != self._shared:
            return False
        columns = [column for block in stack.blocks.values() for column in block.columns.values()]
        return (
            all(repeats(column, frames) for column in columns if column.valid is not None or not _is_real(column))
            and _same(list(_kept(one.values())), self._kept)
            and self._are(stack.moments, ordinal)
        )

    def _of(self, moment: Moment, ordinal: int) -> tuple[Any, ...]:
        return (
            ordinal > 0,
            _step(moment.step, ordinal),
            moment.time is None,
            self._facts(moment.box),
            tuple(moment.meta),
            _values(moment.about),
        )

    def _are(self, moments: Moments, ordinal: int) -> bool:
        """Whether all moments are like the last one."""
        if not self._moment:
            return False
        later, step, timeless, cell, keys, values = self._moment
        return (
            later is (ordinal > 0)
            and all(_step(each, ordinal + k) == step for k, each in enumerate(moments.steps))
            and all((time is None) is timeless for time in distinct(moments.times))
            and all(self._facts(box) == cell for box in distinct(moments.boxes))
            and all(tuple(meta) == keys for meta in distinct(moments.metas))
            and all(self._says(about, values) for about in distinct(moments.abouts))
        )

    def _says(self, about: Meta, values: tuple[Any, ...]) -> bool:
        """Whether facts are like the last ones, most of which are the same objects."""
        return about.same_keys(self._about) and all(
            value is one or _value(value) == due
            for value, one, due in zip(about.values(), self._about.values(), values, strict=True)
        )

    def _facts(self, box: Box | None) -> Any:
        if box is None or box is not self._box[0]:
            self._box = (box, None if box is None else _facts(box))
        return self._box[1]


def _step(step: int | None, ordinal: int) -> Any:
    return step is None or (step == ordinal, -SMALL <= step < SMALL)


def _shared(blocks: Mapping[str, Block]) -> tuple[Any, ...]:
    found: list[Any] = []
    for name, block in blocks.items():
        found += (name, block.count, block.shape, *block.targets.items())
        for key, column in block.columns.items():
            found += (key, column.values.dtype, column.values.shape[1:], column.valid is None, column.precision)
    return tuple(found)


def _kept(blocks: Iterable[Block]) -> Iterable[Array]:
    """All values but reals."""
    for block in blocks:
        for column in block.columns.values():
            if not _is_real(column):
                yield column.values
            if column.valid is not None:
                yield column.valid


def _is_real(column: Column) -> bool:
    return column.dtype in ("f64", "c64", "c128")


def _same(some: Sequence[Array], others: Sequence[Array]) -> bool:
    return len(some) == len(others) and all(map(same_bits, some, others))


def _facts(box: Box) -> tuple[Any, ...]:
    """What the axes of a cell are like; of one that is not simply along x, y and z all."""
    vectors = box.vectors.tolist()
    along = not box.vectors[~EYE].any() and min(vectors[k][k] for k in range(3)) > 0.0
    return box.defined, any(box.origin.tolist()), box.boundary.tobytes(), along or vectors


def _values(meta: Meta) -> tuple[Any, ...]:
    return tuple(map(_value, meta.values()))


def _value(value: Any) -> Any:
    """What losses depend on in a value: of a number that it is one, of a text its words."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, int):
        return -SMALL <= value < SMALL
    if isinstance(value, str):
        return bool(value), value.encode("utf-8", "surrogatepass").translate(None, DIGITS)
    if isinstance(value, tuple):
        return tuple(map(_value, value))
    return value
