"""Reads the per-step meta of a trajectory."""

from __future__ import annotations

from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model.meta import TAGS
from molrec_convert.rules import rule

from . import layout
from .tree import Group, due_array, due_rows, within
from .typed_json import parsed_json


class MetaReader:
    """The values of a per-step key."""

    @rule(25)
    def __init__(self, group: Group, key: str, tag: str, nstep: int) -> None:
        dtype, length = TAGS[tag]
        self.tag = tag
        self._array = due_rows(due_array(group, key, dtype, () if length is None else (length,)), nstep)
        stated = self._array.attributes.text(layout.META_DTYPE)
        if stated != tag:
            raise self._array.error(f"{layout.META_DTYPE} is {stated!r}, in the schema {tag!r}")
        self._nstep = nstep
        self._first = 0
        self._values: list[Any] = []

    def at(self, frame: int) -> Any:
        """The value of a frame."""
        if not self._first <= frame < self._first + len(self._values):
            self._first = frame - frame % layout.DENSE_ROWS
            self._values = self.values(self._first, min(self._first + layout.DENSE_ROWS, self._nstep))
        return self._values[frame - self._first]

    @rule(19)
    def values(self, first: int, end: int) -> list[Any]:
        """The values of frames."""
        found: list[Any] = self._array.read(first, end).tolist()
        if self.tag == "json":
            return [self._parsed(text, first + i) for i, text in enumerate(found)]
        return found if TAGS[self.tag].length is None else [tuple(value) for value in found]

    def _parsed(self, text: str, frame: int) -> Any:
        try:
            with within(self._array):
                return parsed_json(text)
        except RecordError as error:
            error.frame = frame
            raise


@rule(25)
def meta_reader(trajectory: Group, key: str, tag: str, nstep: int) -> MetaReader | None:
    """What reads a declared key; None where there is nothing yet, which is an error once there are frames."""
    group = trajectory.group(layout.META)
    if group is not None and group.child(key) is not None:
        return MetaReader(group, key, tag, nstep)
    if nstep:
        raise trajectory.error("a declared key without its array", f"{layout.META}/{key}")
    return None
