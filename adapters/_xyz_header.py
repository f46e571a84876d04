"""What the comment line of a frame states: cell, columns, step, time, units and values, in whatever dialect.

References: https://github.com/libAtoms/extxyz#extended-xyz-specification, and ASE's and OVITO's reading of it.

Decisions: a line with ``Properties`` or ``Lattice`` is extended XYZ; so is one of nothing but ``key=value``. Any other
is free text, in which known programs' habits are looked for (`_xyz_dialects`). No ``Lattice`` means no cell, one
without ``pbc`` is periodic on all axes. Numbers of extended XYZ are in Å, eV and eV/Å unless the line names a unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from molrec_convert.mapping.units import SIMPLE, size
from molrec_convert.model import Box
from molrec_convert.model.meta import PER_STEP_F64

from ._xyz_cell import box_of
from ._xyz_columns import Property, properties_of
from ._xyz_comment import BARE_WORDS, Item, items_of
from ._xyz_values import LOGICAL, number, tagged_value

OWN = frozenset(("xyz_comment", "xyz_species", "xyz_columns", "xyz_vec", "xyz_title", "xyz_numbers"))
"""Facts about the source that stand beside the values of frames."""

RESERVED = frozenset(("timestep", "time", "cell_defined", "_meta_types", "_json")) | OWN
"""Keys that mean something else in a record; such a one of a file gets a prefix."""
PREFIX = "xyz_"
RENAMED = MappingProxyType({f"{PREFIX}{key.lstrip('_')}": key for key in sorted(RESERVED)})

ENERGY = {"energy": "pe"}
"""What a real of this key is called in a record."""

STEP, TIME = "/step", "/time"
"""What stands for them where keys are told apart by names, none of which has a slash."""
STEP_KEYS = ("step", "Step", "timestep", "Timestep")
TIME_KEYS = ("time", "Time")
REAL_KEYS = frozenset(("energy", "free_energy", "stress", "virial", "virials", "dipole"))
"""Keys whose numbers are reals, however they are spelled."""

UNITS = MappingProxyType({"length": "angstrom"})
EXTENDED_UNITS = MappingProxyType({**UNITS, "energy": "eV", "force": "eV/angstrom", "mass": "amu", "charge": "e"})
UNIT_KEY = re.compile(r"(?:(length|time|energy|force|velocity)|(forces|energies|velocities))[-_]units?", re.IGNORECASE)
PLURALS = {"forces": "force", "energies": "energy", "velocities": "velocity"}
UNIT_NAMES = {unit.lower(): unit for units in SIMPLE.values() for unit in units} | {"a": "angstrom", "ang": "angstrom"}

MARKED = re.compile(r"(?:^|\s)(?:properties|lattice)\s*=", re.IGNORECASE)
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(slots=True)
class Header:
    """What a comment line states.

    Parameters
    ----------
    comment
        The line.
    properties
        The columns; None where the line does not tell.
    box, step, time
        As stated.
    values, tags
        The meta of the frame.
    units
        The unit of every quantity that is known.
    triple
        The property that the three columns after the label are, in a line that does not declare them.
    scale
        By what the positions are multiplied to be in Å.
    extended
        Whether the line is extended XYZ.
    notes
        What a person should know.
    places
        Under which name of `values` the value of a key of an extended line stands, or that it is the step or time.
    """

    comment: str
    properties: tuple[Property, ...] | None = None
    box: Box | None = None
    step: int | None = None
    time: float | None = None
    values: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=lambda: dict(UNITS))
    triple: str = "pos"
    scale: float = 1.0
    extended: bool = False
    notes: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)

    def again(self, comment: str) -> Header:
        """The same header of another line, with values of its own."""
        return Header(
            comment,
            self.properties,
            self.box,
            self.step,
            self.time,
            dict(self.values),
            self.tags,
            self.units,
            self.triple,
            self.scale,
            self.extended,
            self.notes,
            self.places,
        )

    def says_same_columns(self, other: Header) -> bool:
        """Whether another line states the same columns, however it says the rest."""
        return (
            self.properties == other.properties
            and (self.triple, self.scale, self.extended) == (other.triple, other.scale, other.extended)
            and self.units == other.units
        )

    def set(self, key: str, value: Any) -> None:
        """Take a value of the frame."""
        self.values[key], self.tags[key] = tagged_value(value)


def read_extended(comment: str) -> Header | None:
    """The header of a line with ``Properties`` or ``Lattice``; None for any other.

    Raises
    ------
    ValueError
        Where ``Properties``, ``Lattice``, ``pbc`` or ``Origin`` cannot be what they are; the message is a clause.
    """
    if MARKED.search(comment) is None:
        return None
    found = items_of(comment)
    special = _special(found.items)
    if "properties" not in special and "lattice" not in special:
        return None
    header = _read(Header(comment, units=dict(EXTENDED_UNITS), extended=True), found.items, special)
    if found.loose:
        header.notes.append(f"the comment line has what is no key=value: {' '.join(found.loose)[:60]!r}")
    return header


def read_keys(comment: str) -> Header | None:
    """The header of a line of nothing but ``key=value``; None for any other. Raises as `read_extended` does."""
    if "=" not in comment:
        return None
    found = items_of(comment)
    if found.loose or not all(item.text is not None and KEY.fullmatch(item.key) for item in found.items):
        return None
    return _read(Header(comment), found.items, _special(found.items))


def _read(header: Header, items: Sequence[Item], special: dict[str, Item]) -> Header:
    if "properties" in special:
        header.properties = properties_of((special["properties"].text or "").rstrip(",;"))
    _take_cell(header, special)
    _take_items(header, [item for item in items if item.text is None or not is_special(item.key, item.text)])
    return header


def _special(items: Sequence[Item]) -> dict[str, Item]:
    """The items that describe the frame, of which the last holds; not what only shares their name."""
    return {item.key.lower(): item for item in items if item.text is not None and is_special(item.key, item.text)}


SPECIAL = frozenset(("properties", "lattice", "pbc", "origin"))


def is_special(key: str, text: str) -> bool:
    """Whether a key with this value describes the frame, and is no value of it."""
    return key.lower() in SPECIAL and _describes(key, text)


@lru_cache(maxsize=64)
def _describes(key: str, text: str) -> bool:
    if key.lower() in ("properties", "pbc"):
        return key.lower() == "pbc" or ":" in text
    words = words_of(text)
    numbers = sum(number(word) is not None for word in words)
    return numbers > 0 if key.lower() == "lattice" else key == "Origin" or numbers == len(words) == 3


def words_of(text: str) -> list[str]:
    """The words of an array, however it is written."""
    return [word for word in BARE_WORDS.split(text) if word]


# ---------------------------------------------------------------- the cell
def _take_cell(header: Header, special: dict[str, Item]) -> None:
    lattice, origin, pbc = (special.get(key) for key in ("lattice", "origin", "pbc"))
    if lattice is None and origin is None:
        if pbc is not None:
            header.set("pbc", list(flags_of(pbc.text or "")))
        return
    texts = tuple(None if item is None else item.text for item in (lattice, pbc, origin))
    header.box, note = _box(*texts)
    if lattice is None and pbc is not None:
        header.set("pbc", list(flags_of(pbc.text or "")))
    if note is not None:
        header.notes.append(note)


@lru_cache(maxsize=64)
def _box(lattice: str | None, pbc: str | None, origin: str | None) -> tuple[Box | None, str | None]:
    """The cell of the texts of three items, the same object for the same texts; a note where it is not as stated."""
    place = None if origin is None else _reals("Origin", origin, (3,))
    if place is not None and not all(map(math.isfinite, place)):
        raise ValueError(f"Origin: {origin!r} is no place")
    if lattice is None:
        return Box.undefined(place), None
    numbers = _reals("Lattice", lattice, (9, 3))
    rows = [numbers[k : k + 3] for k in (0, 3, 6)]
    if len(numbers) == 3:
        rows = [[numbers[k] if k == axis else 0.0 for k in range(3)] for axis in range(3)]
    flags = (True, True, True) if pbc is None else flags_of(pbc)
    return box_of(rows, place, flags)


def _reals(key: str, text: str, counts: tuple[int, ...]) -> list[float]:
    found = []
    for word in words_of(text):
        value = number(word)
        if value is None:
            raise ValueError(f"{key}: {word!r} is not a number")
        found.append(value)
    if len(found) not in counts:
        raise ValueError(f"{key}: {' or '.join(map(str, counts))} numbers are due, not {len(found)}")
    return found


def flags_of(text: str) -> tuple[bool, bool, bool]:
    """Three flags of ``pbc``; one holds for all axes."""
    words = words_of(text)
    known = {**LOGICAL, "1": True, "0": False}
    if len(words) not in (1, 3) or any(word not in known for word in words):
        raise ValueError(f"pbc: three of T and F are due, not {text!r}")
    flags = [known[word] for word in words] * (3 // len(words))
    return flags[0], flags[1], flags[2]


# ---------------------------------------------------------------- the rest
def _take_items(header: Header, items: Sequence[Item]) -> None:
    by_key = {item.key: item for item in items}
    if len(by_key) < len(items):
        twice = next(item.key for item in items if by_key[item.key] is not item)
        header.notes.append(f"the key {twice!r} comes twice in a comment line, the last one holds")
    step = next((by_key[key] for key in STEP_KEYS if key in by_key and _is_step(by_key[key].value)), None)
    time = next((by_key[key] for key in TIME_KEYS if key in by_key and _is_real(by_key[key].value)), None)
    header.step = None if step is None else step.value
    header.time = None if time is None else float(time.value)
    for key, item in by_key.items():
        if item is step or item is time:
            header.places[key] = STEP if item is step else TIME
            continue
        match = UNIT_KEY.fullmatch(key) if "unit" in key.lower() else None
        if match is not None and _take_unit(header, match[1] or PLURALS[match[2].lower()], item):
            continue
        value = _as_reals(item.value) if key in REAL_KEYS else item.value
        target = ENERGY.get(key, key)
        if target != key and target in by_key:
            target = f"{PREFIX}{key}"
        if target in PER_STEP_F64 and not _is_real(value):
            target = key if target != key else f"{PREFIX}{key}"
        name = _legal(target)
        while name in header.values:  # a/b and a|b in one line
            name = f"{PREFIX}{name}"
        header.set(name, float(value) if target in PER_STEP_F64 else value)
        header.places[key] = name


def _is_step(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _is_real(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= 2**53)


def _as_reals(value: Any) -> Any:
    """Integers as reals; a matrix row by row."""
    if type(value) is int:
        return float(value) if abs(value) <= 2**53 else value
    if isinstance(value, list) and value:
        if all(isinstance(row, list) and len(row) == 3 for row in value) and len(value) == 3:
            value = [item for row in value for item in row]
        if all(_is_real(item) for item in value):
            return [float(item) for item in value]
    return value


def _take_unit(header: Header, quantity: str, item: Item) -> bool:
    """Take the unit of a quantity; False where it is none that is known, and then the quantity has none."""
    quantity, parts = quantity.lower(), str(item.text or "").split("/")
    unit = "/".join(UNIT_NAMES.get(part.lower(), part) for part in parts)
    if size(quantity, {quantity: unit}) is None:
        header.units.pop(quantity, None)
        return False
    header.units[quantity] = unit
    return True


def _legal(key: str) -> str:
    """A key that a record can hold: no slash, no leading double underscore, none that means something else."""
    if key in RESERVED:
        return f"{PREFIX}{key.lstrip('_')}"
    key = key.replace("/", "|")
    return f"xyz{key}" if key.startswith("__") or key in ("", ".", "..") else key
