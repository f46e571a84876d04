"""How the numbers of a record are brought into an XYZ file: by which factors, and how they are spelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.names import QUANTITIES
from molrec_convert.mapping.units import factor

from ._xyz_header import EXTENDED_UNITS, Header
from ._xyz_layout import UNKNOWN_VELOCITY
from ._xyz_numbers import style_of

Array = np.ndarray[Any, Any]
Style = str | int | None

WRITTEN_UNITS = {**EXTENDED_UNITS, "velocity": "angstrom/fs", "pressure": "eV/angstrom^3"}
"""What the numbers of an extended file are in."""


class Scales:
    """By what numbers of a record are multiplied on their way into a file, or what they were multiplied by.

    Parameters
    ----------
    units
        The units of the record, where numbers are brought to those of the format.
    spellings
        How the source spells the reals of its columns.
    source
        The comment line that is written again, whose own numbers are restored.
    """

    def __init__(self, units: Any, spellings: Mapping[str, Any], source: Header | None = None) -> None:
        self._units = units
        self._spellings = spellings
        self._source = source
        self.are_kept = True
        """Whether all numbers could be spelled as the source spells them."""

    @property
    def restores(self) -> bool:
        """Whether the source's own columns are written again."""
        return self._source is not None

    @property
    def velocity(self) -> str:
        """What velocities are called: QUIP's name for Å/fs, another one where the unit is not known."""
        return UNKNOWN_VELOCITY if self._factor("velocity") is None else "velo"

    def of(self, quantity: str | None) -> float:
        """The factor of a quantity."""
        return 1.0 if quantity is None else self._factor(quantity) or 1.0

    def applied(self, target: str, values: Array) -> tuple[Array, bool]:
        """The numbers of a column as they are written, and whether they are the record's own."""
        if self._source is not None:
            scaled = self._source.scale != 1.0 and target in ("x", "y", "z")
            return (undone(values, self._source.scale), False) if scaled else (values, True)
        by = self.of(QUANTITIES.get(target))
        return (values, True) if by == 1.0 else (values * by, False)

    def style(self, target: str, values: Array, part: int) -> Style:
        """How the source spells the numbers of a column; None where it is not known, or not exact."""
        if target not in self._spellings:
            return None
        style = style_of(self._spellings[target], values, part)
        self.are_kept &= style is not None
        return style

    def _factor(self, quantity: str) -> float | None:
        return None if self._units is None else factor(quantity, self._units, WRITTEN_UNITS)
