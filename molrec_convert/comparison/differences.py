"""What tells two files apart: each kind of difference once, with its first place and how far it goes.

The names of the fields are those of the JSON document; none is ever left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from molrec_convert.plain import plain_json

from .ignoring import Ignored
from .values import Mismatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something in which two files differ.

    Parameters
    ----------
    item
        What it is about: ``atoms.x`` (a column), ``bonds`` (a block), ``meta.pe``, ``box.vectors``, ``step``, ``time``,
        ``units.length``, ``record.title`` (a key of the record's document), ``frames``, ``/forcefield`` (a place).
    what
        How they differ: ``value``, ``missing`` (only one has it), ``type``, ``shape``, ``rows``, ``precision``,
        ``target``, ``alignment``.
    frame, step
        The first frame in which they do, and its step in the first file; None for what is not of a frame.
    row, index
        The first row, and the place along the further axes.
    a, b
        What the two have there; None where one has nothing.
    frames
        In how many frames they differ.
    values
        How many values differ, in all frames.
    largest, largest_frame, largest_row
        The biggest difference between two finite numbers, and where it is.
    """

    item: str
    what: str
    frame: int | None = None
    step: int | None = None
    row: int | None = None
    index: tuple[int, ...] = ()
    a: Any = None
    b: Any = None
    frames: int = 0
    values: int = 0
    largest: float | None = None
    largest_frame: int | None = None
    largest_row: int | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """One of two files that were compared."""

    file: str
    format: str
    frames: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of comparing two files.

    Parameters
    ----------
    a, b
        The files.
    tol, rtol
        The tolerances.
    differences
        In the order in which they were found; empty where the files are the same.
    warnings
        What a person should know, such as a file that is cut short.
    """

    a: Compared
    b: Compared
    tol: float
    rtol: float
    differences: tuple[Difference, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not self.differences

    @property
    def first(self) -> Difference | None:
        """The difference of the first frame that has one; where no frame has any, the first difference."""
        framed = [each for each in self.differences if each.frame is not None]
        return min(framed, key=lambda each: each.frame or 0) if framed else next(iter(self.differences), None)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain finite JSON."""
        return {
            "same": self.same,
            "a": plain_json(self.a),
            "b": plain_json(self.b),
            "tol": self.tol,
            "rtol": self.rtol,
            "first": plain_json(self.first),
            "differences": plain_json(self.differences),
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class Log:
    """Differences as they are found.

    Parameters
    ----------
    ignored
        What is not compared.
    frame, step
        The frame that is looked at, None between frames.
    """

    ignored: Ignored
    frame: int | None = None
    step: int | None = None
    _found: dict[tuple[str, str], Difference] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._found.values())

    def __contains__(self, item: str) -> bool:
        """Whether anything was found of an item."""
        return any(known == item for known, _ in self._found)

    def add(self, item: str, what: str, a: Any, b: Any) -> None:
        """Note that two things differ as a whole."""
        found = self._found.get((item, what))
        counted = int(self.frame is not None)
        if found is None:
            found = Difference(item=item, what=what, frame=self.frame, step=self.step, a=a, b=b)
        self._found[item, what] = replace(found, frames=found.frames + counted)

    def add_mismatch(self, item: str, mismatch: Mismatch) -> None:
        """Note that values differ."""
        known = (item, "value") in self._found
        self.add(item, "value", mismatch.a, mismatch.b)
        found = self._found[item, "value"]
        if not known:
            found = replace(found, row=mismatch.row, index=mismatch.index)
        if mismatch.largest is not None and (found.largest is None or mismatch.largest > found.largest):
            found = replace(found, largest=mismatch.largest, largest_frame=self.frame, largest_row=mismatch.largest_row)
        self._found[item, "value"] = replace(found, values=found.values + mismatch.values)
