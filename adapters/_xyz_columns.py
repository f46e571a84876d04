"""Which column of an XYZ file is which column of a record: one table, and the plan that it makes of ``Properties``.

References: https://github.com/libAtoms/extxyz#extended-xyz-specification, and the names that ASE, OVITO and QUIP write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from molrec_convert.model.block import TAKEN_COLUMNS
from molrec_convert.model.dtypes import CANONICAL

SPECIES = "species"
"""The property of the labels: elements where they are, types where not."""


@dataclass(frozen=True, slots=True)
class Row:
    """A property that has a place of its own in a record.

    Parameters
    ----------
    names
        What it is called in files; the first is what is written. Of several in one file an earlier one has the place.
    letter, width
        Its type and its number of columns; any number where it is 0.
    targets
        The columns of the record, one for each of the file's, or one for all.
    """

    names: tuple[str, ...]
    letter: str
    width: int
    targets: tuple[str, ...]


def _row(names: str, letter: str, width: int, targets: str) -> Row:
    return Row(tuple(names.split()), letter, width, tuple(targets.split()))


ROWS = (
    _row("species", "S", 1, SPECIES),
    _row("pos position positions", "R", 3, "x y z"),
    _row("Z numbers atomic_number atomic_numbers", "I", 1, "atomic_number"),
    _row("velo vel velocities velocity", "R", 3, "vx vy vz"),
    _row("forces force", "R", 3, "fx fy fz"),
    _row("mass masses", "R", 1, "mass"),
    _row("charge charges", "R", 1, "charge"),
    _row("initial_charges", "R", 1, "charge"),
    _row("magmoms", "R", 0, "magmom"),
    _row("initial_magmoms", "R", 0, "initial_magmom"),
    _row("tags", "I", 1, "tag"),
    _row("id", "I", 1, "id"),
    _row("molid mol molecule mol_id", "I", 1, "mol_id"),
    _row("resid res_id", "I", 1, "res_id"),
    _row("resname res_name", "S", 1, "res_name"),
    _row("type", "S", 1, "type"),
    _row("type_id type", "I", 1, "type_id"),
)
ELSEWHERE = {"initial_charges": "initial_charge"}
"""What a property is called whose place another one has; else it keeps its name."""

BY_NAME = {(name, row.letter): row for row in reversed(ROWS) for name in row.names}
TAKE_INTEGERS = {name: row for (name, letter), row in BY_NAME.items() if letter == "R" or name == SPECIES}
"""Properties that a file may declare as integers too: reals that happen to be whole, and labels that are numbers."""
BY_TARGET = {row.targets[0]: row for row in reversed(ROWS)}

SIGNED = {
    "id": "atom_id",
    "mol_id": "molecule",
    "res_id": "res_seq",
    "type_id": "type_number",
    "atomic_number": "signed_atomic_number",
}
"""Where negative numbers are kept that their canonical column cannot hold."""

LETTERS = {"R": "f64", "I": "i64", "L": "bool", "S": "string"}
SCANNED = {"R": "d", "I": "i", "L": "s", "S": "s"}
"""The letters of the table scanner."""

WIDEST = 10_000
"""Columns that a property may have."""


class Property(NamedTuple):
    """One entry of ``Properties``: name, type and number of columns."""

    name: str
    letter: str
    width: int


@dataclass(frozen=True, slots=True)
class Field:
    """A property with its place in the lines and in the record.

    Parameters
    ----------
    source
        As the file declares it.
    start
        Its first column of the file.
    targets
        The columns of the record, one for each of the file's, or one for all.
    letter
        The type that it is read as: reals where integers stand in the place of reals, text where they are labels.
    """

    source: Property
    start: int
    targets: tuple[str, ...]
    letter: str

    @property
    def scalars(self) -> bool:
        """Whether every column of the file is one of the record."""
        return len(self.targets) == self.source.width

    def name_of(self, column: int) -> str:
        """What a column of the file is called, for messages."""
        at = column - self.start
        if self.source.width == 1:
            return self.source.name
        return self.targets[at] if self.scalars else f"{self.source.name}[{at + 1}]"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How the columns of atom lines become columns of a record; one object for the same properties."""

    fields: tuple[Field, ...]
    kinds: str

    def name_of(self, column: int) -> str:
        """What a column of the file is called, for messages."""
        field = next(field for field in reversed(self.fields) if field.start <= column)
        return field.name_of(column)

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties in their order."""
        return tuple(field.source for field in self.fields)


@lru_cache(maxsize=64)
def properties_of(text: str) -> tuple[Property, ...]:
    """Read the value of ``Properties``.

    Raises
    ------
    ValueError
        Where it is none; the message is a clause.
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) % 3:
        raise ValueError(f"name:type:columns is due for every property, not {text!r}")
    found = []
    for name, letter, width in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if letter.upper() not in LETTERS:  # GPUMD reads them in any case
            raise ValueError(f"the type of property {name!r} is one of R, I, S and L, not {letter!r}")
        if not re.fullmatch(r"[0-9]{1,5}", width) or not 1 <= int(width) <= WIDEST:
            raise ValueError(f"property {name!r} has a number of columns, not {width!r}")
        found.append(Property(name, letter.upper(), int(width)))
    return tuple(found)


def properties_text(properties: Sequence[Property]) -> str:
    """The value of ``Properties``."""
    return ":".join(f"{each.name}:{each.letter}:{each.width}" for each in properties)


def plan_of(properties: Sequence[Property], widths: dict[str, int] | None = None) -> Plan:
    """Find the columns of a record for properties, each its own.

    Parameters
    ----------
    properties
        As a file declares them.
    widths
        How many numbers a row of a column has in the frames before, for columns of several or of one; added to. A
        column of a record cannot change it, so that such a property becomes another column.
    """
    chosen = _chosen(properties)
    used = {SPECIES, *(target for targets in chosen.values() for target in targets)}
    fields, kinds, start = [], [], 0
    for place, each in enumerate(properties):
        targets = chosen.get(place)
        letter = each.letter if targets is None else BY_TARGET[targets[0]].letter
        if targets is None:
            targets = (_free(ELSEWHERE.get(each.name, each.name), each, used, widths),)
        elif len(targets) == 1 and not _is_as_before(targets[0], each, widths):
            targets = (_free(targets[0], each, used, widths),)
        if widths is not None and len(targets) == 1:
            widths[targets[0]] = each.width
        used.update(targets)
        fields.append(Field(each, start, targets, letter))
        kinds.append(SCANNED[letter] * each.width)
        start += each.width
    return Plan(tuple(fields), "".join(kinds))


def _is_as_before(target: str, each: Property, widths: dict[str, int] | None) -> bool:
    return (widths or {}).get(target, each.width) == each.width


def _chosen(properties: Sequence[Property]) -> dict[int, tuple[str, ...]]:
    """The properties that get the places of the table, by their own place in the line."""
    best: dict[tuple[str, ...], tuple[int, int]] = {}
    for place, each in enumerate(properties):
        row = BY_NAME.get((each.name, each.letter))
        if row is None and each.letter == "I":
            row = TAKE_INTEGERS.get(each.name)
        if row is None or (row.width and row.width != each.width):
            continue
        rank = ROWS.index(row) * 100 + row.names.index(each.name)
        if row.targets not in best or rank < best[row.targets][0]:
            best[row.targets] = (rank, place)
    return {place: targets for targets, (_, place) in best.items()}


def _free(name: str, each: Property, used: set[str], widths: dict[str, int] | None) -> str:
    """The name, made legal, with a suffix where it is taken or MolRec fixes it at another type or shape."""
    legal = name.replace("/", "|")
    if legal.startswith("__") or legal in ("", ".", "..", *TAKEN_COLUMNS):
        legal = f"xyz{legal}"
    found, number = legal, 1
    while found in used or not _fits(found, each) or not _is_as_before(found, each, widths):
        number += 1
        found = f"{legal}#{number}"
    return found


def _fits(name: str, each: Property) -> bool:
    due = CANONICAL.get(name)
    if due is None:
        return True
    return each.width == 1 and (due == LETTERS[each.letter] or (each.letter == "I" and due in ("u64", "i32")))


# ---------------------------------------------------------------- atom lines that nothing declares
PLAIN = (Property("species", "S", 1), Property("pos", "R", 3))
NUMBERED = (Property("id", "I", 1), *PLAIN)
"""Lines that begin with the number of the atom."""
COUNTED = (Property("col_1", "I", 1), *PLAIN)
"""Lines that begin with an integer that is not the number of the atom."""


def extra_name(column: int) -> str:
    """What an undeclared column is called: ``col_5`` for the fifth, counted from one."""
    return f"col_{column + 1}"
