"""From the attributes of a topology to columns of atoms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import RecordError
from molrec_convert.model import Column
from molrec_convert.model.dtypes import DTYPES, STRING, Array

from ._mda_names import BY_NAME, NO_SEGMENT, Attribute, level_of

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup

BLANK_IS_NULL = frozenset(("element",))
"""Columns of text in which an empty one is no value."""
UNLESS_BLANK = frozenset(("altloc", "chain", "icode", "segid"))
"""Columns of text that are left away where no row has one."""


def columns_of(atoms: AtomGroup, *, guessed: bool, notes: list[Note]) -> dict[str, Column]:
    """The columns of these atoms; what was left out is added to the notes.

    Parameters
    ----------
    atoms
        The atoms.
    guessed
        Take attributes that MDAnalysis guessed, too.
    notes
        Where to name what was left out.
    """
    found: dict[str, Array] = {}
    left: list[str] = []
    for name, attribute in _attributes(atoms):
        if attribute.is_guessed and not guessed:
            left.append(name)
        else:
            found[name] = attribute.get_atoms(atoms)
    if left:
        notes.append(Note(f"guessed by MDAnalysis and left out: {', '.join(sorted(left))}"))
    columns: dict[str, Column] = {}
    for name in (*(row for row in BY_NAME if row in found), *(other for other in found if other not in BY_NAME)):
        if not _is_made_up(name, found):
            columns |= _columns(name, found[name], notes)
    return columns


def _attributes(atoms: AtomGroup) -> Iterator[tuple[str, Any]]:
    for attribute in atoms.universe._topology.attrs:  # noqa: SLF001 - whether it was guessed is told nowhere else
        if level_of(attribute.attrname) is not None:
            yield attribute.attrname, attribute


def _is_made_up(name: str, found: Mapping[str, Array]) -> bool:
    """Whether values are those that parsers give to a file that has none."""
    values = found[name]
    if name == "segids":
        alike = "chainIDs" in found and list(values) == list(found["chainIDs"])
        return alike or set(values) <= {NO_SEGMENT, ""}
    if name == "resnums":
        return "resids" in found and np.array_equal(values, found["resids"])
    if name == "resids":
        others = ("resnames", "icodes", "moltypes", "molnums")
        return not any(other in found for other in others) and bool((np.asarray(values) == 1).all())
    return False


def _columns(name: str, values: Any, notes: list[Note]) -> dict[str, Column]:
    row = BY_NAME.get(name) or Attribute(name, name, _dtype_of(values))
    try:
        column = column_of(values, row.dtype, blank_is_null=row.column in BLANK_IS_NULL)
    except (RecordError, TypeError, ValueError, OverflowError):
        notes.append(Note(f"{name} are of a type that a record cannot hold: left out", loss=True))
        return {}
    if column is None or (row.column in UNLESS_BLANK and not (column.values != "").any()):
        return {}
    if row.dtype == "u64":
        return _signed(column, row)
    if row.column == "type" and (numbers := numbers_of(column)) is not None:
        return {"type": column, "type_id": numbers}
    return {row.column: column}


def _dtype_of(values: Any) -> str:
    kind = np.asarray(values).dtype.kind
    return {"f": "f64", "i": "i64", "u": "i64", "b": "bool"}.get(kind, "string")


def column_of(values: Any, dtype: str, *, blank_is_null: bool = False) -> Column | None:
    """Values of atoms as a column of a type, unsigned ones still as i64; None where no row has a value.

    Raises
    ------
    RecordError, TypeError, ValueError, OverflowError
        If they are of another kind.
    """
    array = np.asarray(values)
    valid = None
    if array.dtype.kind == "O":
        nothing = [value is None or (blank_is_null and value == "") for value in array.tolist()]
        valid = ~np.array(nothing, dtype=bool) if any(nothing) else None
        empty: Any = "" if dtype == "string" else 0
        array = np.array([empty if no else value for no, value in zip(nothing, array.tolist(), strict=True)], object)
    if valid is not None and not valid.any():
        return None
    if dtype == "string":
        if array.dtype.kind not in "OUT":
            array = array.astype(str)
        return Column(np.array([str(text) for text in array.tolist()], dtype=STRING), valid=valid)
    whole = "i64" if dtype == "u64" else dtype
    made = array.astype(DTYPES[whole])
    if whole == "i64" and not (made == array).all():
        raise ValueError("not whole numbers")
    return Column.of(made, valid)


def _signed(column: Column, row: Attribute) -> dict[str, Column]:
    """A number that a record wants unsigned; where some are negative, all stand in a signed column as well."""
    values, valid = column.values, column.valid
    negative = values < 0
    if not negative.any():
        return {row.column: Column.of(values.astype(np.uint64), valid)}
    assert row.signed is not None
    there = ~negative if valid is None else valid & ~negative
    whole = Column.of(np.where(negative, 0, values).astype(np.uint64), there)
    return {row.column: whole, row.signed: column}


def numbers_of(texts: Column) -> Column | None:
    """Text that is numbers in every row, as u64; None for any other."""
    if not len(texts) or texts.valid is not None:
        return None
    words = set(texts.values.tolist())
    if not all(word.isascii() and word.isdecimal() and len(word) < 19 and str(int(word)) == word for word in words):
        return None
    return Column.of(texts.values.astype(np.uint64))
