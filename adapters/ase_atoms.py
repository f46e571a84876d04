"""ASE Atoms in memory: `from_atoms` makes a `Snapshot`, `to_atoms` makes Atoms of a snapshot of any origin.

Reference: https://ase-lib.org/ase/atoms.html

Decisions: what stands where is told by the tables of `_ase_table`. Momenta are kept beside the velocities that derive
from them, a cell of fewer than three vectors beside the box that it is completed to. Results of a calculator are raw:
constraints do not change forces here. A record of Atoms has the fact ``ase_map``, from which the same Atoms are
restored to the last bit; what was added or changed in the record since goes into Atoms as from any other record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Carries, Note, Snapshot
from molrec_convert.errors import OptionError
from molrec_convert.model import Block, Frame, Meta

from ._ase_calculator import give_calculator, reference_arrays, take_calculator
from ._ase_cell import cell_of_box, displacement_of, scaled, take_cell
from ._ase_columns import ColumnNames
from ._ase_constraints import constraint_of, documents_of
from ._ase_give import Giving
from ._ase_table import (
    ARRAYS,
    ATOMS,
    CALCULATOR,
    CONSTRAINTS,
    DISPLACEMENT,
    INFO,
    KEYS,
    MAP,
    RESULTS,
    UNITS,
)
from ._ase_take import Taking
from ._ase_values import UnsupportedError

if TYPE_CHECKING:
    from ase import Atoms

__all__ = ["CARRIES", "KEYS", "UNITS", "ColumnNames", "from_atoms", "to_atoms"]


def from_atoms(atoms: Atoms, *, names: ColumnNames | None = None) -> Snapshot:
    """Make a snapshot of Atoms, from which `to_atoms` makes the same Atoms to the last bit.

    Nothing is calculated: results of a calculator are taken where they are there and belong to these atoms.

    Parameters
    ----------
    atoms
        The atoms; they are not changed, and the snapshot shares no memory with them.
    names
        What the columns of the frames before were called, where several Atoms go into one record: one object
        ``ColumnNames()`` for all of them, in one thread. Columns of one name have the same axes in every frame then,
        and those that do not change are one object.

    Returns
    -------
    Snapshot
        Without a step; with a time where ``info["time"]`` is a number. ``units`` are Å, eV, eV/Å, Å/ps, amu, e and
        eV/Å³. What a record cannot hold (a function in ``info``) is left out and named in ``notes``, each such note
        with ``loss=True``.

    Raises
    ------
    OptionError
        For anything else than Atoms.
    """
    if not (hasattr(atoms, "arrays") and hasattr(atoms, "cell") and hasattr(atoms, "info")):
        raise OptionError(f"ASE Atoms are due, not {type(atoms).__name__}")
    taking = Taking(names or ColumnNames(), len(atoms))
    cell, box, displacement = take_cell(atoms)
    results, calculator = take_calculator(atoms, taking)
    constraints, notes = documents_of(atoms.constraints)
    parts = {
        ARRAYS: _take_arrays(atoms, taking),
        RESULTS: results,
        INFO: taking.info(atoms.info),
        DISPLACEMENT: displacement,
    }
    documents = {
        MAP: {name: part for name, part in parts.items() if part},
        CONSTRAINTS: constraints,
        CALCULATOR: calculator,
    }
    about = taking.names.kept_facts({key: document for key, document in documents.items() if document}, cell)
    frame = Frame.of({ATOMS: Block.of(taking.columns, taking.count)}, box, taking.meta)
    return Snapshot(frame, None, taking.time, about, UNITS, [*taking.notes, *notes])


def _take_arrays(atoms: Atoms, taking: Taking) -> list[list[Any]]:
    found = [taken for name, array in atoms.arrays.items() if (taken := taking.array(name, array)) is not None]
    numbers = atoms.arrays.get("numbers")
    if numbers is not None and numbers.dtype.kind in "iu" and numbers.ndim == 1:
        taking.add_elements(numbers)
        if any(columns == ["momenta"] for _, columns, _ in found) and "momenta" in atoms.arrays:
            taking.add_velocities(np.asarray(atoms.get_masses(), dtype=np.float64))
    return found


def to_atoms(snapshot: Snapshot) -> Atoms:
    """Make Atoms of a snapshot of any origin.

    Known units are converted to those of ASE; where they are not known, or are ratios, numbers are handed through with
    a note. Energies, forces and stress become results of a `SinglePointCalculator`; of a snapshot that does not come
    from Atoms the columns and keys of the record (``fx``, ``pe`` …) are in ``arrays`` and ``info``, too.

    Parameters
    ----------
    snapshot
        Of which only ``notes`` is changed: what Atoms cannot hold (bonds, rows without a value) is added to it, each
        such note with ``loss=True``, and what a person should know.

    Returns
    -------
    Atoms
        Which share no memory with the snapshot. Atoms without a known element are ``X``.
    """
    from ase import Atoms

    giving = Giving(snapshot)
    giving.restore()
    giving.give_the_rest()
    box = snapshot.frame.box
    if box is not None and (by := giving.scales.of("length")) != 1.0:
        box = scaled(box, by)
    cell, flags = cell_of_box(box, Meta.of(giving.facts, {}))
    atoms = Atoms(cell=cell, pbc=flags, celldisp=displacement_of(box, giving.map.get(DISPLACEMENT)))
    document = giving.facts.get(CALCULATOR)
    if giving.results or document:
        atoms.arrays = reference_arrays(giving.arrays)
        give_calculator(atoms, giving.results, document)
    atoms.arrays = giving.arrays
    atoms.info = giving.info
    atoms.constraints = _constraints(giving)
    giving.tell()
    snapshot.notes += giving.notes
    return atoms


def _constraints(giving: Giving) -> list[Any]:
    found = []
    for document in giving.facts.get(CONSTRAINTS) or ():
        try:
            found.append(constraint_of(document))
        except UnsupportedError as error:
            giving.notes.append(Note(f"the constraint {document['name']} is left out: {error}", loss=True))
    return found


CARRIES = Carries(
    columns=frozenset(("x", "y", "z", "element", "atomic_number")),
    other_columns=frozenset(
        ("f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "string", "c64", "c128")
    ),
    vectors=True,
    other_meta=True,
    box=True,
    origin=True,
    boundary=True,
    no_box=True,
    step=True,
    time=True,
    frames=True,
    varying=True,
)
"""What Atoms hold of a record."""
