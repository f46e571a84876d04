"""Comparing frames: steps and times, blocks, columns, meta keys, cells.

Two records are compared as typed containers. Where one side is a text, whose types hold for one frame only, numbers
that a record would hold as the same are the same: an integer and the real of its value, a missing key and one that is
filled, a missing block and an empty one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.dtypes import Array
from molrec_convert.model.frame import references
from molrec_convert.model.meta import same_value
from molrec_convert.model.schema import joined_dtype, joined_tag, promoted, promoted_array

from .differences import Log
from .values import Mismatch, Tolerance, mismatch_of

SYSTEM = "/system/"


class FrameComparer:
    """Compares frames, and notes what differs.

    Parameters
    ----------
    log
        Where differences go.
    tolerance
        How far reals may be apart.
    loose
        Whether types are those of a text.
    layout
        Meta keys that only say how a file was laid out, and are left out.
    prefix
        What stands before every name.
    """

    def __init__(
        self, log: Log, tolerance: Tolerance, *, loose: bool, layout: frozenset[str] = frozenset(), prefix: str = ""
    ) -> None:
        self._log, self._tolerance, self._loose, self._layout, self._prefix = log, tolerance, loose, layout, prefix
        self._last: dict[str, tuple[Column, Column, Mismatch | None]] = {}
        self.seen: set[str] = set()
        """The blocks and keys that were compared."""

    def compare(self, a: Snapshot, b: Snapshot) -> None:
        """Compare two frames."""
        for item, one, other in (("step", a.step, b.step), ("time", a.time, b.time)):
            self._value(item, one, other)
        self.contents(a.frame, b.frame, a.about, b.about)

    def contents(self, a: Frame, b: Frame, about_a: Meta | None = None, about_b: Meta | None = None) -> None:
        """Compare what two frames hold, each with what holds for all frames of its file."""
        for name in {**a, **b}:
            if (item := f"{self._prefix}{name}") not in self._log.ignored:
                self.seen.add(item)
                self._block(item, *(self._there(frame.get(name)) for frame in (a, b)))
        self._meta(_joined(about_a, a.meta), _joined(about_b, b.meta))
        self.box(a.box, b.box)

    def _value(self, item: str, a: Any, b: Any) -> None:
        """Compare two numbers, either of which may be missing."""
        item = f"{self._prefix}{item}"
        if item in self._log.ignored or a is b:
            return
        if a is None or b is None:
            self._log.add(item, "missing", a, b)
        elif not self._agree(a, b):
            self._log.add_mismatch(item, _lone_mismatch(a, b))

    # ------------------------------------------------------------ blocks
    def _there(self, block: Block | None) -> Block | None:
        return None if block is None or (self._loose and not block.count) else block

    def _block(self, item: str, a: Block | None, b: Block | None) -> None:
        if a is None or b is None:
            if a is not b:
                self._log.add(item, "missing", *(None if each is None else f"{each.count} rows" for each in (a, b)))
            return
        self._attributes(item, a, b)
        if a.shape != b.shape:
            self._log.add(item, "shape", a.shape, b.shape)
        for name in {**a.columns, **b.columns}:
            if (place := f"{item}.{name}") not in self._log.ignored:
                self._column(place, a.columns.get(name), b.columns.get(name), same_rows=a.count == b.count)
        if a.count != b.count:
            self._log.add(item, "rows", a.count, b.count)

    def _attributes(self, item: str, a: Block, b: Block) -> None:
        targets = [_targets(block) for block in (a, b)]
        for name in a.columns.keys() & b.columns.keys():
            one, other = (each.get(name) for each in targets)
            if one != other and f"{item}.{name}" not in self._log.ignored:
                self._log.add(f"{item}.{name}", "target", one, other)
        for key in {**a.attributes, **b.attributes}:
            one, other = a.attributes.get(key), b.attributes.get(key)
            if f"{item}@{key}" not in self._log.ignored and not same_value(one, other):
                missing = key not in a.attributes or key not in b.attributes
                self._log.add(f"{item}@{key}", "missing" if missing else "value", one, other)

    def _column(self, item: str, a: Column | None, b: Column | None, *, same_rows: bool) -> None:
        if a is None or b is None:
            there = a or b
            if there is not None and not (self._loose and there.valid is not None and not there.valid.any()):
                self._log.add(item, "missing", *(None if each is None else each.describe() for each in (a, b)))
            return
        if a.dtype != b.dtype:
            joined = self._promoted(a, b)
            if joined is None:
                self._log.add(item, "type", a.dtype, b.dtype)
                return
            a, b = joined
        if a.trailing != b.trailing:
            self._log.add(item, "shape", a.trailing, b.trailing)
            return
        if a.precision != b.precision and not self._loose and self._tolerance.exact:
            self._log.add(item, "precision", a.precision, b.precision)
        if same_rows:
            mismatch = self._mismatch(item, a, b)
            if mismatch is not None:
                self._log.add_mismatch(item, mismatch)

    def _mismatch(self, item: str, a: Column, b: Column) -> Mismatch | None:
        """How two columns differ; those that stand for many frames are compared once."""
        known = self._last.get(item)
        if known is None or not (_is(known[0], a) and _is(known[1], b)):
            known = self._last[item] = (a, b, mismatch_of(a, b, self._tolerance))
        return known[2]

    def _promoted(self, a: Column, b: Column) -> tuple[Column, Column] | None:
        """Columns of two types as a record of both would hold them; None where types are not to differ."""
        if not self._loose:
            return None
        try:
            dtype = joined_dtype(a.dtype, b.dtype, "")
            one, other = (Column.of(promoted_array(each.values, dtype, ""), each.valid) for each in (a, b))
        except RecordError:
            return None
        return one, other

    # ------------------------------------------------------------ meta
    def _meta(self, a: Meta, b: Meta) -> None:
        for key in {**a, **b}:
            item = f"{self._prefix}meta.{key}"
            if item in self._log.ignored or key in self._layout:
                continue
            self.seen.add(item)
            one, other = (None if key not in meta or self._is_null(meta[key]) else meta.tag(key) for meta in (a, b))
            if one is None or other is None:
                if one is not other:
                    self._log.add(item, "missing", a.get(key), b.get(key))
            elif one != other and not self._loose:
                self._log.add(item, "type", one, other)
            else:
                self._tagged(item, a[key], b[key], one, other)

    def _tagged(self, item: str, a: Any, b: Any, one: str, other: str) -> None:
        """Compare two values under the tag that holds both."""
        try:
            tag = joined_tag(one, other)
            a, b = promoted(a, one, tag, item), promoted(b, other, tag, item)
        except RecordError:
            self._log.add(item, "type", one, other)
            return
        if not self._agree(a, b):
            self._log.add_mismatch(item, _lone_mismatch(a, b))

    def _is_null(self, value: Any) -> bool:
        """Whether a value stands for none where a frame of a text had none."""
        if not self._loose:
            return False
        values = value if isinstance(value, tuple) else (value,)
        return all(each is None or (isinstance(each, float) and math.isnan(each)) for each in values)

    def _agree(self, a: Any, b: Any) -> bool:
        """Whether two values are the same, reals within the tolerance."""
        if same_value(a, b):
            return True
        if self._tolerance.exact or type(a) is not type(b):
            return False
        if isinstance(a, tuple | list):
            return len(a) == len(b) and all(map(self._agree, a, b))
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(self._agree(item, b[key]) for key, item in a.items())
        return isinstance(a, float) and mismatch_of(*_columns(a, b), self._tolerance) is None

    # ------------------------------------------------------------ the cell
    def box(self, a: Box | None, b: Box | None) -> None:
        """Compare two cells."""
        item = f"{self._prefix}box"
        if item in self._log.ignored:
            return
        a, b = self._cell(a), self._cell(b)
        if a is None or b is None:
            if a is not b:
                self._log.add(item, "missing", *(None if each is None else repr(each) for each in (a, b)))
            return
        if a.defined != b.defined:
            self._log.add(f"{item}.defined", "value", a.defined, b.defined)
        for name in ("vectors", "origin", "boundary"):
            one, other = (Column.of(getattr(each, name)) for each in (a, b))
            if f"{item}.{name}" in self._log.ignored or (name == "vectors" and a.defined != b.defined):
                continue
            mismatch = mismatch_of(one, other, self._tolerance)
            if mismatch is not None:
                self._log.add_mismatch(f"{item}.{name}", mismatch)

    def _cell(self, box: Box | None) -> Box | None:
        """A cell; none where a text says no more than that there is none."""
        nothing = box is not None and self._loose and not box.defined and not box.origin.any()
        return None if nothing else box


def _is(one: Column, other: Column) -> bool:
    return one.values is other.values and one.valid is other.valid


def _columns(a: float, b: float) -> tuple[Column, Column]:
    return Column.of(np.array([a])), Column.of(np.array([b]))


def _lone_mismatch(a: Any, b: Any) -> Mismatch:
    """Two values of no row that differ."""
    largest = None
    numbers: list[Array] = []
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in (a, b)):
        numbers = [np.array([a], float), np.array([b], float)]
    elif all(isinstance(each, tuple) and each and isinstance(each[0], float) for each in (a, b)) and len(a) == len(b):
        numbers = [np.array(a), np.array(b)]
    if numbers:
        with np.errstate(invalid="ignore"):
            gaps = np.abs(numbers[0] - numbers[1])
        finite = gaps[np.isfinite(gaps)]
        largest = float(finite.max()) if finite.size else None
    return Mismatch(1, None, (), a, b, largest)


def _targets(block: Block) -> dict[str, str]:
    """What the columns of references refer to, in the frame as it is resolved."""
    found = references(block.columns, block.targets)
    return {name: target.removeprefix(SYSTEM) for name, target in found.items()}


def _joined(about: Meta | None, meta: Meta) -> Meta:
    if not about:
        return meta
    return about.joined(meta)
