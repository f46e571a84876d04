"""The calculator of Atoms: its results where they belong to these atoms, its name and parameters; and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model.dtypes import same_bits

from ._ase_take import Taking
from ._ase_values import UnsupportedError, coded, uncoded

if TYPE_CHECKING:
    from ase import Atoms

NAME, PARAMETERS = "name", "parameters"
BANDS = ("kpts", "bz_kpts", "ibz_kpts", "eFermi")
"""What the readers of outputs of electronic structure programs give beside results."""
PLAIN = {NAME: "unknown"}
"""The document of a calculator of which nothing is known but its results."""
REFERENCE = ("numbers", "positions", "initial_charges", "initial_magmoms")
"""The arrays whose change makes results stale; the cell and its periodic axes do, too."""


def take_calculator(atoms: Atoms, taking: Taking) -> tuple[list[list[Any]], dict[str, Any] | None]:
    """Take the results of a calculator, and make a document of the calculator itself, where it says more than they.

    Nothing is calculated. Results that do not belong to these atoms any more are left out with a note.
    """
    calculator = atoms.calc
    if calculator is None:
        return [], None
    from ase.calculators.singlepoint import SinglePointDFTCalculator

    name = getattr(calculator, NAME, None)
    document: dict[str, Any] = {NAME: name if isinstance(name, str) else type(calculator).__name__.lower()}
    parameters = getattr(calculator, PARAMETERS, None)
    if isinstance(parameters, Mapping) and parameters:
        try:
            document[PARAMETERS] = coded(dict(parameters))
        except UnsupportedError as error:
            taking.notes.append(
                Note(f"the parameters of the calculator {document[NAME]} are not kept: {error}", loss=True)
            )
    bands = [each for each in BANDS if getattr(calculator, each, None) is not None]
    if bands and isinstance(calculator, SinglePointDFTCalculator):
        taking.notes.append(Note(f"{', '.join(bands)} of the calculator are not kept", loss=True))
    results = getattr(calculator, "results", None)
    if not isinstance(results, Mapping) or not results:
        return [], document
    if changes := _changes(calculator, atoms):
        message = f"the results of the calculator {document[NAME]} are left out: {', '.join(changes)} changed since"
        taking.notes.append(Note(message))
        return [], document
    return taking.results(results), None if document == PLAIN else document


def _changes(calculator: Any, atoms: Atoms) -> list[str]:
    """What has changed since the results were calculated."""
    from ase.calculators.calculator import Calculator, all_changes, compare_atoms

    known = getattr(calculator, "atoms", None)
    check = getattr(type(calculator), "check_state", Calculator.check_state)
    if check is not Calculator.check_state:  # one with a notion of its own
        changes = calculator.check_state(atoms)
    elif known is not None and all(_is_same(known, atoms, name) for name in all_changes):  # many times faster
        changes = []
    else:
        changes = compare_atoms(known, atoms)  # type: ignore[no-untyped-call]
    return sorted(change for change in changes if known is None or not _is_same(known, atoms, change))


def _is_same(one: Atoms, other: Atoms, name: str) -> bool:
    """Whether a part is the same to the bit, or in neither; to ASE, a NaN is always another one."""
    parts = [getattr(each, name) if name in ("cell", "pbc") else each.arrays.get(name) for each in (one, other)]
    if any(part is None for part in parts):
        return parts[0] is parts[1]
    return same_bits(*map(np.asarray, parts))


def give_calculator(atoms: Atoms, results: Mapping[str, Any], document: Any) -> None:
    """Give Atoms a calculator that has these results; before the rest is added to them, which it would copy."""
    from ase.calculators.singlepoint import SinglePointCalculator

    calculator = SinglePointCalculator(atoms)  # type: ignore[no-untyped-call]
    calculator.results.update(results)
    if isinstance(document, dict):
        if document.get(NAME) not in (None, calculator.name):
            calculator.name = document[NAME]
        if PARAMETERS in document:
            calculator.parameters.update(uncoded(document[PARAMETERS]))
    atoms.calc = calculator


def reference_arrays(arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that results belong to."""
    return {name: arrays[name] for name in REFERENCE if name in arrays}
