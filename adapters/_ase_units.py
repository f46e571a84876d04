"""From the declared units of a record to those of ASE."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, Units, factor

from ._ase_table import ASE_UNITS

Array = np.ndarray[Any, Any]

TOLD = ("length", "energy", "force", "velocity")
"""Quantities of which a person should know where their unit is not known."""


class Scales:
    """By what numbers of a record are multiplied to be in the units of ASE.

    Parameters
    ----------
    units
        The units that the record declares; None where it declares none.
    """

    def __init__(self, units: Units | None) -> None:
        self._ratios = units is not None and dict(units) == dict(DIMENSIONLESS_DOCUMENT)
        self._known = {} if units is None or self._ratios else _factors(tuple(sorted(units.items())))
        self._stated = units is not None
        self._unknown: dict[str, None] = {}

    def of(self, quantity: str | None) -> float:
        """The factor of a quantity; 1 where it is not known."""
        if quantity is None:
            return 1.0
        found = self._known.get(quantity)
        if found is None:
            self._unknown[quantity] = None
            return 1.0
        return found

    def knows(self, quantity: str) -> bool:
        """Whether numbers of a quantity are converted."""
        return quantity in self._known

    def array(self, values: Array, quantity: str | None) -> Array:
        """An array of reals in the unit of ASE; any other as it is."""
        by = self.of(quantity) if values.dtype.kind == "f" else 1.0
        return values if by == 1.0 else values * by

    def value(self, value: Any, quantity: str | None) -> Any:
        """A real, or a vector of reals, in the unit of ASE; any other value as it is."""
        items = value if isinstance(value, tuple) else (value,)
        if quantity is None or not all(isinstance(item, float) for item in items):
            return value
        by = self.of(quantity)
        if by == 1.0:
            return value
        return tuple(item * by for item in items) if isinstance(value, tuple) else value * by

    def notes(self) -> list[Note]:
        """What a person should know of the units that were asked for."""
        unknown = [quantity for quantity in TOLD if quantity in self._unknown]
        if not unknown:
            return []
        if self._ratios:
            return [Note("numbers without dimension are handed to ASE as they are, which takes them for Å, eV and amu")]
        if not self._stated:
            return [
                Note(
                    "the units are not known: numbers are handed to ASE as they are, which takes them for Å, eV and amu"
                )
            ]
        return [
            Note(f"the unit of {' and of '.join(unknown)} is not known: such numbers are handed to ASE as they are")
        ]


@lru_cache(maxsize=64)
def _factors(units: tuple[tuple[str, str], ...]) -> Mapping[str, float]:
    """The factors of all quantities whose unit is known."""
    source = dict(units)
    found = {quantity: factor(quantity, source, ASE_UNITS) for quantity in ASE_UNITS}
    return {quantity: by for quantity, by in found.items() if by is not None}
