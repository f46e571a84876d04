"""From columns of atoms to a topology: attributes, residues, segments, connections."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.mapping.names import REDUCED
from molrec_convert.model import Block, Column, Frame
from molrec_convert.model.dtypes import STRING, Array

from ._mda_bonds import connections_of
from ._mda_names import ATTRIBUTES, BY_NAME, NO_SEGMENT, RESIDUE, attribute_classes, level_of

if TYPE_CHECKING:
    from MDAnalysis.core.topology import Topology

MOST_ID = np.uint64(2**63 - 1)
NAMED_BY = ("elements", "types")
"""What atoms are called by where they have no names."""
SEGMENTS = ("segids", "chainIDs")
"""What tells segments apart, the first that there is."""
LETTERS = ("altLocs", "chainIDs", "icodes")
"""What stands in columns of one letter in PDB files, and not in a record where no row has one."""
IN_PDB: Mapping[str, float] = MappingProxyType({"occupancies": 0.0, "tempfactors": 1.0})
"""What the parser of PDB files of MDAnalysis gives to rows without such a number."""
RECORD_TYPES = "record_types"
"""What only atoms of PDB files and their kin have."""


def topology_of(frame: Frame) -> Topology:
    """The topology of a frame.

    Raises
    ------
    RecordError
        If there are no atoms, or an id is beyond i64.
    """
    from MDAnalysis.core.topology import Topology

    atoms = frame.get("atoms")
    if atoms is None:
        raise RecordError("there are no atoms in it")
    values = _values(atoms)
    residues = Residues(values, atoms.count, _column(atoms, RESIDUE))
    classes = attribute_classes()
    # Copies: people set attributes, while columns are read-only and one may stand for several attributes.
    attributes = [classes[name](np.array(residues.picked(name, given))) for name, given in values.items()]
    attributes += [classes[name](np.array(given), guessed=True) for name, given in _made_up(values, residues).items()]
    return Topology(
        atoms.count,
        residues.count,
        residues.segments,
        attrs=[*attributes, *connections_of(frame)],
        atom_resindex=residues.of_atoms,
        residue_segindex=residues.in_segments,
    )


# ---------------------------------------------------------------- values of atoms
def _values(atoms: Block) -> dict[str, Array]:
    """The values of each attribute for every atom, as MDAnalysis takes them."""
    found: dict[str, Array] = {}
    for row in ATTRIBUTES:
        column = _column(atoms, row.signed, row.column, REDUCED.get(row.column))
        if column is not None:
            found[row.name] = _plain(column, row.column)
    if "elements" not in found and (column := _column(atoms, "atomic_number")) is not None:
        symbols = np.array(SYMBOLS, dtype=STRING)
        numbers = np.where(column.values < len(SYMBOLS), column.values, 0).astype(np.intp)
        found["elements"] = _plain(Column.of(symbols[numbers], column.valid), "element")
    if "types" not in found and (column := _column(atoms, "type_id")) is not None:
        found["types"] = _plain(Column.of(column.values.astype(STRING), column.valid), "type")
    for name in atoms:
        if name not in BY_NAME and level_of(name) is not None and (column := _column(atoms, name)) is not None:
            found[name] = _plain(column, name)
    return found


def _column(atoms: Block, *names: str | None) -> Column | None:
    """The first of these columns that there is, with one value a row."""
    for name in names:
        column = atoms.columns.get(name or "")
        if column is not None and not column.trailing:
            return column
    return None


def _plain(column: Column, name: str) -> Array:
    """Values as MDAnalysis takes them: text as objects; what is null as an empty text, NaN or 0."""
    values, valid = column.values, column.valid
    nothing: Any = np.nan if column.dtype == "f64" else 0
    if column.dtype == "string":
        values, nothing = values.astype(object), ""
    if column.dtype == "u64":
        if len(values) and values.max() > MOST_ID:
            raise RecordError(f"{name} {values.max()} is beyond what MDAnalysis holds")
        values = values.astype(np.int64)
    if valid is not None:
        values = np.where(valid, values, nothing).astype(values.dtype)
    return values


# ---------------------------------------------------------------- residues and segments
class Residues:
    """Which residue every atom is in, and which segment every residue.

    Parameters
    ----------
    values
        The values of each attribute for every atom.
    atoms
        The number of atoms.
    stated
        The residue of every atom, where the attributes do not tell it.
    """

    def __init__(self, values: Mapping[str, Array], atoms: int, stated: Column | None = None) -> None:
        of_residues = [name for name in values if level_of(name) == "residue"]
        segments = [name for name in SEGMENTS if name in values]
        self.numbered_by = next((name for name in ("resids", "molnums") if name in values), None)
        self.named_by = segments[0] if segments else None
        numbers = None if stated is None or stated.valid is not None else stated.values
        if numbers is None and of_residues == ["molnums"]:
            numbers = values["molnums"]
        if numbers is not None:  # the atoms of a residue need not stand together
            _, self._first, self.of_atoms = np.unique(numbers, return_index=True, return_inverse=True)
        else:
            self._first, self.of_atoms = _runs([values[name] for name in (*of_residues, *segments)], atoms)
        self.count = len(self._first)
        names = [values[self.named_by][self._first]] if self.named_by else []
        begins, self.in_segments = _runs(names, self.count)
        self._first_of_segments = self._first[begins]
        self.segments = len(begins)

    def picked(self, name: str, values: Array) -> Array:
        """The values of an attribute for each that it belongs to, of those for every atom."""
        level = level_of(name)
        if level == "atom":
            return values
        return values[self._first if level == "residue" else self._first_of_segments]


def residues_apart(columns: Mapping[str, Column], residues: Array) -> dict[str, Column]:
    """The residues of the atoms as a column, where the other columns alone would make others; else none."""
    there = {name: column for name, column in columns.items() if name in _of_residues() or level_of(name) == "residue"}
    _, due = np.unique(residues, return_inverse=True)
    if np.array_equal(Residues(_values(Block.of(there, len(residues))), len(residues)).of_atoms, due):
        return {}
    return {RESIDUE: Column.of(residues.astype(np.uint64))}


@cache
def _of_residues() -> frozenset[str]:
    """The columns by which residues are told apart."""
    rows = [row for row in ATTRIBUTES if level_of(row.name) == "residue" or row.name in SEGMENTS]
    return frozenset(name for row in rows for name in (row.column, row.signed) if name is not None)


def _runs(criteria: list[Array], count: int) -> tuple[Array, Array]:
    """Where the runs of equal values begin, and the run of each row."""
    begins = np.zeros(count, bool)
    begins[:1] = True
    for values in criteria:
        begins[1:] |= np.asarray(values[1:] != values[:-1], dtype=bool)
    return np.flatnonzero(begins), np.cumsum(begins) - 1


def _made_up(values: Mapping[str, Array], residues: Residues) -> dict[str, Array]:
    """What MDAnalysis cannot do without, or users do not expect to miss, where a record does not say it."""
    numbers, names = residues.numbered_by, residues.named_by
    one, atoms = np.ones(residues.count, np.int64), len(residues.of_atoms)
    made: dict[str, Array] = {
        "ids": np.arange(atoms) + 1,
        "resids": residues.picked("resids", values[numbers]) if numbers else one,
        "segids": np.full(residues.segments, NO_SEGMENT, object),
    }
    made["resnums"] = made["resids"]
    if names:
        made["segids"] = residues.picked("segids", values[names])
    source = next((name for name in NAMED_BY if name in values), None)
    if source is not None:
        made["names"] = values[source]
    if not values.keys().isdisjoint((RECORD_TYPES, *LETTERS)):  # people select by those that are blank, too
        made |= {name: residues.picked(name, np.full(atoms, "", object)) for name in LETTERS}
    if RECORD_TYPES in values:
        made |= {name: np.full(atoms, number) for name, number in IN_PDB.items()}
    return {name: given for name, given in made.items() if name not in values}
