"""Reads Atoms from a record for `ase.io`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molrec_convert.api import open as open_record
from molrec_convert.errors import OptionError

from .ase_record import atoms_of

if TYPE_CHECKING:
    from ase import Atoms


def read_atoms(filename: str, index: int | slice, *, prefix: str | None) -> Iterator[Atoms]:
    """The Atoms of the frames chosen; see `ase_io.read_molrec`."""
    if not isinstance(index, int | slice):
        raise OptionError(f"a frame is chosen by a number or a slice such as '0:10:2', not {index!r}", path=filename)
    with open_record(filename) as record:
        total = len(record)
        if not total and index != slice(None):
            raise OptionError("there is no frame in it", path=filename)
        chosen = range(total)[index] if isinstance(index, slice) else range(total)[index : index + 1 or None]
        for atoms in atoms_of(record, chosen, who=Path(filename).name):
            if prefix is not None:
                copy_results(atoms, prefix)
            yield atoms


def copy_results(atoms: Atoms, prefix: str) -> None:
    """Copy the results of a calculator to ``arrays`` where they are per atom, else to ``info``, under other names."""
    from ase.outputs import all_outputs

    results: dict[str, Any] = {} if atoms.calc is None else atoms.calc.results
    for name, value in results.items():
        per_atom = name in all_outputs and all_outputs[name].shapespec[:1] == ("natoms",)
        place: dict[str, Any] = atoms.arrays if per_atom else atoms.info
        place.setdefault(f"{prefix}{name}", value.copy() if hasattr(value, "copy") else value)
