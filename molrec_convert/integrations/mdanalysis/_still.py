"""What stands still of atoms that are being written, for as long as nobody changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.mda_universe import static_part
from molrec_convert.integrations.mda_changes import columns_set, upheld
from molrec_convert.mapping.units import Units
from molrec_convert.model import Block

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup


class Still:
    """What `static_part` gives of atoms, made anew where they are others or their topology was changed meanwhile.

    Parameters
    ----------
    guessed
        Take what MDAnalysis guessed, too.
    """

    def __init__(self, *, guessed: bool) -> None:
        self._guessed = guessed
        self._state: list[Any] = []
        self._made: Snapshot | None = None
        self._set: set[str] = set()

    def of(self, atoms: AtomGroup, units: Units | None) -> Snapshot:
        """What stands still of these atoms now."""
        state = _state_of(atoms)
        if self._made is not None and _are_same(state, self._state):
            return self._made
        made: Snapshot = static_part(atoms, guessed=self._guessed, units=units)
        if self._made is None:
            self._set |= columns_set(atoms.universe)
        else:
            known = self._made.frame["atoms"]
            self._set |= {name for name, column in made.frame["atoms"].columns.items() if not _has(known, name, column)}
        self._state, self._made = state, made
        return made

    def upheld(self, moment: Snapshot) -> Snapshot:
        """The moment with the values that were set, which a reader that has its own for each frame does not undo."""
        assert self._made is not None
        return upheld(moment, self._made, self._set)


def _has(block: Block, name: str, column: Any) -> bool:
    return name in block.columns and block.columns[name].same(column)


def _state_of(atoms: AtomGroup) -> list[Any]:
    """Copies of all that `static_part` depends on."""
    found: list[Any] = [atoms.ix.copy(), atoms.resindices, atoms.segindices]
    for attribute in atoms.universe._topology.attrs:  # noqa: SLF001 - AtomGroup has no list of its attributes
        found.append(attribute.attrname)
        for part in ("values", "types", "order", "_guessed"):
            value = getattr(attribute, part, None)
            found.append(value.copy() if isinstance(value, np.ndarray | list) else value)
    return found


def _are_same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return type(one) is type(other) and bool(one == other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    # Lists ask first whether their items are the same objects.
    return one.tolist() == other.tolist() if one.dtype.kind == "O" else one.tobytes() == other.tobytes()


__all__ = ["Still"]
