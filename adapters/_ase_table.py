"""What ASE calls things, and where they stand in a record: the tables that both ways read.

Reference: https://ase-lib.org/ase/atoms.html and the readers and writers of ``ase.io``, whose names of arrays are taken
for what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from molrec_convert.mapping.units import SYSTEMS, document, unit_of

ATOMS = "atoms"
MAP, CELL, PBC, CONSTRAINTS, CALCULATOR = "ase_map", "ase_cell", "ase_pbc", "ase_constraints", "ase_calc"
KEYS = frozenset((MAP, CELL, PBC, CONSTRAINTS, CALCULATOR))
"""The facts of `Snapshot.about` from which Atoms are restored exactly.

``ase_map`` says what became of every array, result and value of ``info``, and of which type it was; ``ase_cell`` and
``ase_pbc`` are the cell where a record cannot hold it as it is; ``ase_constraints`` and ``ase_calc`` are documents.
"""
ARRAYS, RESULTS, INFO, DISPLACEMENT = "arrays", "results", "info", "celldisp"
"""The parts of ``ase_map``; the last is the shape of ``celldisp`` where it is not that of ASE itself."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array of Atoms that has a place of its own in a record.

    Parameters
    ----------
    name
        What it is called in Atoms.
    columns
        The columns of the block ``atoms``; several are the components of one array.
    kinds
        The kinds of numpy types that it may have to be what its name says.
    shapes
        What it may hold for one atom.
    always
        Whether ASE itself has such an array, so that nothing else takes its columns.
    """

    name: str
    columns: tuple[str, ...]
    kinds: str
    shapes: tuple[tuple[int, ...], ...] = ((),)
    always: bool = True


ARRAY_ROWS = (
    Array("numbers", ("atomic_number",), "iu"),
    Array("positions", ("x", "y", "z"), "f", ((3,),)),
    Array("masses", ("mass",), "f"),
    Array("momenta", ("momenta",), "f", ((3,),)),
    Array("initial_charges", ("charge",), "f"),
    Array("initial_magmoms", ("initial_magmom",), "f", ((), (3,))),
    Array("tags", ("tag",), "iu"),
    # What the readers of PDB, GRO and LAMMPS files of ASE make.
    Array("residuenames", ("res_name",), "UT", always=False),
    Array("residuenumbers", ("res_id",), "iu", always=False),
    Array("atomtypes", ("name",), "UT", always=False),
    Array("bfactor", ("b_factor",), "f", always=False),
    Array("mol-id", ("mol_id",), "iu", always=False),
    Array("type", ("type_id",), "iu", always=False),
    Array("travel", ("ix", "iy", "iz"), "iu", ((3,),), always=False),
)
CHARGE, INITIAL_CHARGE = "charge", "initial_charge"
"""``charge`` is what a calculation has found, if one has; what it was begun with is ``initial_charge`` then."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result of a calculation that has a place of its own in a record.

    Parameters
    ----------
    name
        What ASE calls it.
    columns, key
        Where it stands: columns of ``atoms``, or a key of the frame.
    quantity
        What it is, by which it is converted.
    shapes
        What it may hold, in all or for one atom.
    """

    name: str
    columns: tuple[str, ...] = ()
    key: str = ""
    quantity: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ((),)


RESULT_ROWS = (
    Result("energy", key="pe", quantity="energy"),
    Result("free_energy", key="free_energy", quantity="energy"),
    Result("forces", ("fx", "fy", "fz"), quantity="force", shapes=((3,),)),
    Result("stress", key="stress", quantity="pressure", shapes=((6,), (3, 3))),
    Result("dipole", key="dipole", quantity="dipole", shapes=((3,),)),
    Result("magmom", key="magmom"),
    Result("magmoms", ("magmom",), shapes=((), (3,))),
    Result("charges", (CHARGE,)),
    Result("energies", ("energies",), quantity="energy"),
    Result("stresses", ("stresses",), quantity="pressure", shapes=((6,), (3, 3))),
)

TAKEN = frozenset(
    (
        *("element", INITIAL_CHARGE, "vx", "vy", "vz"),
        *(column for row in ARRAY_ROWS if row.always for column in row.columns),
        *(column for result in RESULT_ROWS for column in result.columns),
    )
)
"""Columns that no other array takes, whatever it is called."""

ARRAY_OF: Mapping[str, Array] = MappingProxyType({row.name: row for row in ARRAY_ROWS})
RESULT_OF: Mapping[str, Result] = MappingProxyType({row.name: row for row in RESULT_ROWS})

VELOCITY = "angstrom/ps"
UNITS: Mapping[str, str] = MappingProxyType(
    {
        **{key: unit for key, unit in document(SYSTEMS["ase"]).items() if key not in ("time", "temperature")},
        "velocity": VELOCITY,
    }
)
"""What a record of Atoms says of its numbers: they are ASE's own, but for velocities, which derive from momenta."""

ASE_UNITS: Mapping[str, str] = MappingProxyType(
    {**UNITS, "temperature": "K", "dipole": unit_of("dipole", SYSTEMS["ase"]) or ""}
)
"""The units of numbers in Atoms; velocities become momenta from those."""
