"""What a file holds, as facts: what `info` gives, and the JSON of it.

The names of the fields are those of the JSON document; none is ever left out, and what is not known is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from molrec_convert.plain import plain_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """A column of a block.

    Parameters
    ----------
    name, dtype
        As MolRec calls them.
    trailing
        The axes after the rows.
    unit
        Where the file states the units, and the quantity of the column is known.
    precision
        The tolerance that is declared.
    nullable
        Whether rows may have no value.
    target
        The block whose rows it refers to.
    stored, plain
        Bytes in the file, and in memory; None where that is not told, as for text.
    ratio
        How many times larger the plain column is.
    """

    name: str
    dtype: str
    trailing: tuple[int, ...] = ()
    unit: str | None = None
    precision: float | None = None
    nullable: bool = False
    target: str | None = None
    stored: int | None = None
    plain: int | None = None
    ratio: float | None = field(init=False)

    def __post_init__(self) -> None:
        known = self.stored and self.plain
        object.__setattr__(self, "ratio", round(self.plain / self.stored, 3) if known else None)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Extent:
    """The least and the most of something."""

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFacts:
    """A block.

    Parameters
    ----------
    name
        The block's name.
    rows
        The fewest and the most of a frame; None where no frame has the block.
    updates
        How often a trajectory sets it; 1 elsewhere.
    shape
        Its structural shape.
    aligned_with
        The block whose rows are its rows, too.
    columns
        The columns.
    """

    name: str
    rows: Extent | None
    updates: int = 1
    shape: tuple[int, ...] | None = None
    aligned_with: str | None = None
    columns: tuple[ColumnFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFacts:
    """A key of a meta document.

    Parameters
    ----------
    key, tag
        The key, and the type of its value.
    unit
        As for a column.
    per_frame
        Whether every frame has a value of its own; `value` is then that of no frame in particular, and None.
    value
        The value, as JSON.
    """

    key: str
    tag: str
    unit: str | None = None
    per_frame: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFacts:
    """A section: ``frame``, ``system`` or ``trajectory`` of a record, the first ``frame`` of another file."""

    name: str
    blocks: tuple[BlockFacts, ...] = ()
    meta: tuple[ValueFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """Numbers of all frames: the first, the last (None where not all were seen), the stride if they are regular."""

    first: float
    last: float | None
    stride: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFacts:
    """The cell.

    Parameters
    ----------
    defined
        False for an origin without a cell.
    always
        Whether every frame has it, as far as frames were looked at.
    changes
        Whether it is not the same in all frames.
    lengths, angles
        Of the first that there is; angles in degrees.
    shortest, longest
        The least and the greatest lengths of the edges, where it changes.
    origin
        Of the first.
    boundary
        Which axes are periodic in the first.
    """

    defined: bool
    always: bool
    changes: bool
    lengths: tuple[float, float, float]
    angles: tuple[float, float, float]
    shortest: tuple[float, float, float] | None = None
    longest: tuple[float, float, float] | None = None
    origin: tuple[float, float, float]
    boundary: tuple[bool, bool, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What a file holds.

    Parameters
    ----------
    file
        The file as it was named.
    format
        The name of its format.
    record
        Whether it is a record.
    size
        Bytes on disk; None for a stream.
    frames
        How many there are.
    exact
        False where the frames were not counted, but reckoned from the beginning of the file.
    step, time
        The steps and times; None where the file states none.
    atoms
        The fewest and the most atoms of a frame, as far as frames were looked at.
    elements, types
        How many atoms the first frame has of each, most frequent first; None where the file states none.
    cell
        The cell; None without one.
    units
        The unit of every quantity that is known.
    sections
        Blocks and meta keys: of a record by section, of another file those of its first frame.
    unknown
        Places of a record that MolRec does not know.
    document
        What a record says of itself: where it comes from, what made it. Empty for other files.
    notes
        What a person should know.
    """

    file: str
    format: str
    record: bool
    size: int | None
    frames: int
    exact: bool = True
    step: Course | None = None
    time: Course | None = None
    atoms: Extent | None = None
    elements: Mapping[str, int] | None = None
    types: Mapping[str, int] | None = None
    cell: CellFacts | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[SectionFacts, ...] = ()
    unknown: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The facts as plain finite JSON; reals that JSON has no number for are text, as MolRec spells them."""
        made: dict[str, Any] = plain_json(self)
        return made
