"""Which columns an XYZ file is written with: the source's own as long as they hold all, else those of the table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.loss import Contents, Loss
from molrec_convert.model import Block, Column
from molrec_convert.model.dtypes import same_bits

from ._momenta import MOMENTUM
from ._xyz_columns import (
    BY_TARGET,
    ELSEWHERE,
    ROWS,
    SIGNED,
    SPECIES,
    Field,
    Plan,
    Property,
    plan_of,
    properties_of,
    properties_text,
)
from ._xyz_header import Header
from ._xyz_labels import elements_of
from ._xyz_numbers import MOST_EXACT
from ._xyz_rows import REST, base_properties, derived_columns
from ._xyz_words import WordTable

Array = np.ndarray[Any, Any]

KINDS = {"f": "R", "i": "I", "u": "I", "b": "L", "T": "S"}
"""The type of a property, by the kind of its numpy type."""
NAMES = {target: name for name, target in ELSEWHERE.items()} | {signed: name for name, signed in SIGNED.items()}
"""The property of columns that stand beside a canonical one."""
UNSAFE = re.compile(r'[:"\s=,{}\[\]\\\']')
"""What a name in ``Properties`` cannot have."""
VELOCITY = ("vx", "vy", "vz")
UNKNOWN_VELOCITY = "vel"
"""What velocities are called whose unit is not known."""
NUMBER = re.compile(r"[-+]?[0-9]+\.?[0-9]*")
INTEGER = re.compile(r"[-+]?[0-9]+")
UNDECLARED = re.compile(r"col_([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Written:
    """A property with the columns of the record that it is written from.

    Parameters
    ----------
    property
        Its name, type and number of columns.
    targets
        The columns, one for each of the property's or one for all; none where labels are put together.
    """

    property: Property
    targets: tuple[str, ...]


def present_columns(atoms: Block, about: Mapping[str, Any], words: WordTable) -> dict[str, Column]:
    """The columns that this frame has and that atom lines can have: not those that only other frames fill."""
    odd = unwritable(atoms, about, words)
    return {
        name: column
        for name, column in atoms.columns.items()
        if name not in odd and (column.valid is None or not atoms.count or column.valid.any())
    }


def unwritable(atoms: Block, about: Mapping[str, Any], words: WordTable) -> list[str]:
    """The columns of texts that are not single words; one of such texts that the source had stays at the line's end."""
    kept = REST.name if str(about.get("xyz_columns", "")).endswith(properties_text([REST])) else None
    texts = {name: column.values for name, column in atoms.columns.items() if column.dtype == "string"}
    return [name for name, values in texts.items() if not words.are_words(name, values, several=name == kept)]


_CHECKED = WordTable()


def lost(contents: Contents) -> Iterator[Loss]:
    """The columns that are left out for a text that is no word."""
    for snapshot in contents.snapshots:
        for name in unwritable(snapshot.frame.get("atoms", Block(count=0)), snapshot.about, _CHECKED):
            yield Loss(f"atoms.{name}", "a text of an atom line is one word")


def row_width(column: Column) -> int:
    """How many numbers a row of a column has."""
    width = 1
    for axis in column.trailing:
        width *= axis
    return width


# ---------------------------------------------------------------- as the source has them
def kept_layout(
    header: Header, about: Mapping[str, Any], columns: Mapping[str, Column], words: WordTable
) -> list[Written] | None:
    """The source's own columns, where they give all columns of the frame; else None."""
    layout = []
    for written in source_layout(header, about, columns):
        if written is None or any(columns[target].valid is not None for target in written.targets):
            return None
        layout.append(written)
    covered = {target: columns[target] for written in layout for target in written.targets}
    left = {name: column for name, column in columns.items() if name not in covered and len(column)}
    label = str(about.get("xyz_species", ""))
    if "element" in left and label in covered and words.give_elements(label, covered[label], left["element"]):
        del left["element"]
    return layout if _follow(left, covered) else None


def _follow(left: Mapping[str, Column], covered: Mapping[str, Column]) -> bool:
    """Whether some columns are what reading the others gives: to the bit, or as far as these are declared precise."""
    derived = derived_columns(covered) if left else {}
    if not derived.keys() >= left.keys():
        return False
    momenta, mass = covered.get("momenta"), covered.get("masses", covered.get("mass"))
    grain = 0.0
    lightest = 0.0 if mass is None or not len(mass) else float(mass.values.min())
    if momenta is not None and momenta.precision is not None and lightest > 0.0:
        grain = MOMENTUM * momenta.precision / lightest
    return all(
        column.same(derived[name])
        or (name in VELOCITY and grain and np.allclose(column.values, derived[name].values, rtol=1e-12, atol=grain))
        for name, column in left.items()
    )


def source_layout(header: Header, about: Mapping[str, Any], columns: Mapping[str, Column]) -> Iterable[Written | None]:
    """The source's columns in its order, None for each that the frame has not any more."""
    properties = header.properties
    if properties is None:
        properties = base_properties(header.triple)
        if isinstance(stated := about.get("xyz_columns"), str):
            try:
                properties = properties_of(stated)
            except ValueError:
                return [None]
    return [_written(field, columns, about) for field in _plan(properties).fields]


@lru_cache(maxsize=64)
def _plan(properties: tuple[Property, ...]) -> Plan:
    return plan_of(properties)


def _written(field: Field, columns: Mapping[str, Column], about: Mapping[str, Any]) -> Written | None:
    targets = field.targets
    signed = SIGNED.get(targets[0], f"{targets[0]}#2")
    if targets[0] == SPECIES:
        targets = (str(about.get("xyz_species", "element")),)
    elif targets[0] not in columns and signed in columns:
        targets = (signed,)
    for target in targets:
        column = columns.get(target)
        if column is None or not _has_type(column, field.source.letter):
            return None
        if row_width(column) * len(targets) != field.source.width:
            return None
    return Written(field.source, targets)


def _has_type(column: Column, letter: str) -> bool:
    """Whether a property of a type can have the values of a column; integers may have been read as reals or text."""
    kind = KINDS.get(column.values.dtype.kind)
    if letter == "I" and kind == "R":
        return _are_whole(column.values)
    if letter == "I" and kind == "S":
        return all(map(INTEGER.fullmatch, set(column.values.ravel().tolist())))
    return kind == letter


def _are_whole(values: Array) -> bool:
    """Whether reals are integers that they hold exactly."""
    return bool((np.abs(values) < MOST_EXACT).all()) and same_bits(values.astype(np.int64).astype(np.float64), values)


# ---------------------------------------------------------------- by the table
def made_layout(
    header: Header | None, about: Mapping[str, Any], columns: Mapping[str, Column], words: WordTable, *, velocity: str
) -> list[Written]:
    """All columns of a frame, under the source's names where it had some.

    Parameters
    ----------
    velocity
        What velocities are called; the source's name holds where their unit is not known.
    """
    left = {name: column for name, column in columns.items() if column.values.dtype.kind in KINDS}
    moving = {name: column for name, column in left.items() if name in VELOCITY}
    still = {name: column for name, column in left.items() if name not in VELOCITY}
    left = still if moving and _follow(moving, still) else left
    layout: list[Written] = []
    if header is not None and header.properties is not None:
        for written in source_layout(header, about, left):
            if written is not None and all(target in left for target in written.targets):
                written = _as_reals(written, left)
                if written.targets == VELOCITY and velocity != UNKNOWN_VELOCITY:
                    written = Written(Property(velocity, "R", 3), VELOCITY)
                layout.append(written)
                left = {name: column for name, column in left.items() if name not in written.targets}
    if not any(written.property.name == SPECIES for written in layout):
        species = Written(Property(SPECIES, "S", 1), ())
        layout.insert(0, species)
        for name in _said_by_labels(left, about, words):
            del left[name]
    used = {written.property.name for written in layout}
    added = [written for written in _table_rows(left, velocity) if written.property.name not in used]
    for written in added:
        left = {name: column for name, column in left.items() if name not in written.targets}
    used |= {written.property.name for written in added}
    others = []
    for name, column in left.items():
        letter = KINDS[column.values.dtype.kind]
        others.append(Written(Property(_unused(name, used), letter, row_width(column)), (name,)))
    return [*layout, *added, *(written for written in others if written.property.width)]


def _as_reals(written: Written, columns: Mapping[str, Column]) -> Written:
    """A property of integers that are reals in the record: another unit makes others of them."""
    each, target = written.property, written.targets[0]
    if each.letter != "I" or columns[target].dtype != "f64":
        return written
    return Written(Property(each.name, "R", each.width), written.targets)


def are_numbers(name: str, column: Column, about: Mapping[str, Any], words: WordTable) -> bool:
    """Whether texts are no labels: programs take numbers for atomic ones; only an XYZ source may have had them so."""
    if about.get("xyz_species") == name:
        return False
    return any(map(NUMBER.fullmatch, words.coded(name, column.values)[1]))


def _said_by_labels(columns: Mapping[str, Column], about: Mapping[str, Any], words: WordTable) -> list[str]:
    """The columns that need no property of their own, since the labels made of them say as much."""
    element, kinds = columns.get("element"), columns.get("type")
    if element is not None:
        return ["element"] if element.valid is None and _all_exact(words.coded("element", element.values)[1]) else []
    if kinds is None or kinds.valid is not None or are_numbers("type", kinds, about, words):
        return []
    return ["type"] if elements_of(words.coded("type", kinds.values)[1])[0] is None else []


def _all_exact(names: Sequence[str]) -> bool:
    return elements_of(names)[0] == list(names)


def _table_rows(columns: Mapping[str, Column], velocity: str) -> list[Written]:
    """The columns that have a place in the table."""
    found = []
    for row in ROWS:
        if row.targets[0] == SPECIES or row is not BY_TARGET[row.targets[0]] or not columns.keys() >= set(row.targets):
            continue
        parts = [columns[target] for target in row.targets]
        width = row_width(parts[0]) * len(parts)
        if all(KINDS[part.values.dtype.kind] == row.letter for part in parts) and row.width in (0, width):
            name = velocity if row.targets[0] == "vx" else row.names[0]
            found.append(Written(Property(name, row.letter, width), row.targets))
    return found


def _unused(target: str, used: set[str]) -> str:
    """A name for a property that no other has and that the grammar allows."""
    wanted = NAMES.get(target, target)
    row = BY_TARGET.get(wanted)
    wanted = UNSAFE.sub("_", row.names[0] if row is not None and row.width == 1 else wanted)
    name, number = wanted, 1
    while name in used:
        number += 1
        name = f"{wanted}_{number}"
    used.add(name)
    return name


def plain_layout(columns: Mapping[str, Column]) -> list[Written]:
    """A label, the positions, and columns that were undeclared in the source."""
    layout = [Written(Property(SPECIES, "S", 1), ())]
    if all(name in columns for name in "xyz"):
        layout.append(Written(Property("pos", "R", 3), ("x", "y", "z")))
    known = [name for name, column in columns.items() if column.values.dtype.kind in KINDS and not column.trailing]
    numbered = sorted((int(match[1]), name) for name in known if (match := UNDECLARED.fullmatch(name)))
    for number, name in numbered:
        if number != sum(written.property.width for written in layout) + 1:
            break
        layout.append(Written(Property(name, KINDS[columns[name].values.dtype.kind], 1), (name,)))
    return layout
