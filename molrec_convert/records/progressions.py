"""Steps and times of the frames: a start and a stride while they are regular, else an array.

A step is ``start + i * stride`` in exact integers; a time is ``start + f64(i) * stride`` with two roundings, to the
bit, or the times are an array. The first value that is off the progression turns all of them into an array.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import Array
from molrec_convert.rules import rule

from . import layout
from .memory import affordable
from .rows import ValuesWriter
from .tree import Group, due_array, due_rows
from .typed_json import checked_integer, from_typed_json, typed_json

T = TypeVar("T", int, float)
LEAST, MOST = -(2**63), 2**63 - 1
FRAME_BYTES = 64
"""What is kept of every frame, its step and its places in the blocks, takes about so much."""


def spread(start: Any, stride: Any, count: int, dtype: str) -> Array:
    """The values of a progression."""
    if dtype == "i64":
        return np.arange(count, dtype=np.int64) * np.int64(stride) + np.int64(start)
    products: Array = np.arange(count, dtype=np.float64) * np.float64(stride)
    return np.float64(start) + products


class Progression(Generic[T]):
    """The values of one kind, as a writer keeps them."""

    def __init__(self, name: str, attribute: str, dtype: str) -> None:
        self.name = name
        self.attribute = attribute
        self.dtype = dtype
        self.count = 0
        self.last: Any = None
        self._start: Any = None
        self._stride: Any = None
        self._stored: dict[str, Any] | None = None
        self.values: ValuesWriter | None = None

    def push(self, value: T) -> None:
        """Take the value of the next frame."""
        if self.values is None and not self._fits(value):
            self._break()
        if self.values is not None:
            self.values.push(value)
        self.count += 1
        self.last = value

    def extend(self, values: Sequence[T]) -> None:
        """Take the values of the next frames."""
        if self.values is None and self.dtype == "i64" and self.count > 1 and self._go_on(values):
            self.count += len(values)
            self.last = values[-1]
            return
        for value in values:
            self.push(value)

    def _go_on(self, values: Sequence[T]) -> bool:
        first = self._start + self.count * self._stride
        return list(values) == list(range(first, first + len(values) * self._stride, self._stride))

    def _fits(self, value: Any) -> bool:
        if self.count == 0:
            self._start = value
            return self.dtype == "i64" or (math.isfinite(value) and (value != 0.0 or math.copysign(1.0, value) > 0.0))
        if self.count == 1:
            self._stride = value - self._start
            if self.dtype == "i64":
                return bool(self._stride <= MOST)
            if not math.isfinite(self._stride):
                return False
        if self.dtype == "i64":
            return bool(value == self._start + self.count * self._stride)
        due = self._start + float(self.count) * self._stride
        return bool(due == value) and (value != 0.0 or math.copysign(1.0, due) == math.copysign(1.0, value))

    def _break(self) -> None:
        self.values = ValuesWriter(self.name, self.dtype)
        if self.count == 1:
            self.values.push(self._start)
        elif self.count:
            self.values.add(spread(self._start, self._stride, self.count, self.dtype))

    def store(self, group: Group) -> None:
        """Write the attribute, if it changed."""
        if self.values is not None or not self.count:
            return
        tag = self.dtype
        document = {"start": typed_json(self._start, tag)}
        if self._stride is not None:
            document["stride"] = typed_json(self._stride, tag)
        if document != self._stored:
            group.attributes.set_document(self.attribute, document)
            self._stored = document

    def resume(self, values: Array, group: Group) -> None:
        """Go on with the values of the frames that are there."""
        self.count = len(values)
        if not self.count:
            return
        self.last = values[-1].item()
        if self.attribute in group.attributes:
            self._start = values[0].item()
            self._stored = group.attributes.document(self.attribute)
            if self.count > 1:
                stride = self._stored["stride"] if self._stored else 0
                self._stride = from_typed_json(stride, self.dtype)
            return
        self.values = ValuesWriter(self.name, self.dtype)
        array = group.growing(self.name)
        assert array is not None
        self.values.resume(array, self.count)


def checked_step(step: Any, last: int | None) -> int:
    """A step as an integer; `RecordError` unless it is an i64 above the last one."""
    try:
        value = operator.index(step)
    except TypeError:
        raise RecordError(f"a step is an integer, not {step!r}") from None
    if isinstance(step, bool) or not LEAST <= value <= MOST:
        raise RecordError(f"a step is an i64, not {step!r}")
    if last is not None and value <= last:
        raise RecordError(f"step {value} after step {last}: steps increase strictly")
    return value


# ---------------------------------------------------------------- reading
@rule(22)
def read_nstep(group: Group) -> int:
    """How many frames are committed."""
    attributes = group.attributes
    if layout.NSTEP in attributes:
        nstep: int = attributes.scalar(layout.NSTEP, "i64")
        if nstep < 0:
            raise group.error(f"nstep is {nstep}, at least 0 is due")
        try:
            affordable(nstep * FRAME_BYTES)
        except ValueError as error:
            raise group.error(f"nstep is {nstep}: {error}") from None
        return nstep
    if layout.STEP_PROGRESSION in attributes or layout.TIME_PROGRESSION in attributes:
        raise group.error("a progression without nstep")
    return due_array(group, layout.STEP, "i64").shape[0] if group.child(layout.STEP) is not None else 0


@rule(23)
def read_steps(group: Group, nstep: int) -> Array:
    """The step of every frame."""
    found = _read_progression(group, layout.STEP_PROGRESSION, "i64", nstep)
    if found is not None:
        start, stride = found
        if nstep > 1 and stride <= 0:
            raise group.error(f"{layout.STEP_PROGRESSION}: steps increase, the stride is {stride}")
        if not LEAST <= start + max(nstep - 1, 0) * stride <= MOST:
            raise group.error(f"{layout.STEP_PROGRESSION}: the last step is beyond i64")
        return spread(start, stride, nstep, "i64")
    if group.child(layout.STEP) is None:
        if nstep:
            raise group.error("neither step nor step_progression")
        return np.zeros(0, np.int64)
    array = due_rows(due_array(group, layout.STEP, "i64"), nstep)
    steps = array.read(0, nstep)
    wrong = steps[1:] <= steps[:-1]
    if wrong.any():
        bad = int(np.argmax(wrong))
        error = array.error(f"steps increase strictly, found {steps[bad + 1]} after {steps[bad]}")
        error.frame = bad + 1
        raise error
    return steps


@rule(23)
def read_times(group: Group, nstep: int) -> Array | None:
    """The time of every frame, or None."""
    found = _read_progression(group, layout.TIME_PROGRESSION, "f64", nstep)
    if found is not None:
        if not all(map(math.isfinite, found)):
            raise group.error(f"{layout.TIME_PROGRESSION}: a progression is finite, found {found}")
        return spread(*found, nstep, "f64")
    if group.child(layout.TIME) is None:
        return None
    return due_rows(due_array(group, layout.TIME, "f64"), nstep).read(0, nstep)


def _read_progression(group: Group, name: str, dtype: str, nstep: int) -> tuple[Any, Any] | None:
    if name not in group.attributes:
        return None
    stated = group.attributes.document(name)
    if not isinstance(stated, dict) or "start" not in stated or (nstep > 1 and "stride" not in stated):
        raise group.error(f"{name}: a start is due, and a stride from the second frame on, found {stated!r}")
    try:
        if dtype == "i64":
            return checked_integer(stated["start"]), checked_integer(stated.get("stride", 1))
        return from_typed_json(stated["start"], dtype), from_typed_json(stated.get("stride", 0.0), dtype)
    except RecordError as error:
        raise group.error(f"{name}: {error.message}") from None
