"""What the numbers of a DCD file are in: the format means Å and CHARMM's unit of time, and programs differ.

CHARMM, NAMD and OpenMM write the time step in AKMA units (48.888 fs). LAMMPS writes lengths and the time step in the
units of its run and does not say which. Others (VMD, MDTraj) write 1 where they do not know the time step, or an own
unit (older chemfiles), so that a title that names no program leaves the time open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from molrec_convert.mapping.units import (
    DIMENSIONLESS,
    DIMENSIONLESS_DOCUMENT,
    SYSTEMS,
    Units,
    document,
    factor,
    stored_system,
    system,
)

AKMA = "akma"
OWN_TITLE = "CREATED BY MOLREC-CONVERT, {} UNITS"
OWN = re.compile(OWN_TITLE.format("([A-Z]+)"))
AKMA_WRITERS = ("CREATED BY NAMD", "CREATED BY OPENMM")
"""What programs that write the time step in AKMA units put into the title."""
LAMMPS = "WRITTEN BY LAMMPS"
CHARMM_TITLE = "* "
"""How a title of CHARMM begins, and of no other program."""
QUANTITIES = ("length", "time", "velocity")


def style_of(title: str) -> str | None:
    """The unit style of the program that has written a file; None where the program is not known, or not its style."""
    upper = title.upper()
    if (own := OWN.search(upper)) is not None and own[1].lower() in (*SYSTEMS, DIMENSIONLESS):
        return own[1].lower()
    known = upper.startswith(CHARMM_TITLE) or any(mark in upper for mark in AKMA_WRITERS)
    return AKMA if known else None


def is_of_lammps(title: str) -> bool:
    """Whether LAMMPS has written a file, in units of its own."""
    return LAMMPS in title.upper()


def system_of(style: str) -> Units | None:
    """The units of a style; None for ratios without dimension.

    Raises
    ------
    OptionError
        For an unknown style.
    """
    return None if style == DIMENSIONLESS else system(style)


class Scales:
    """What a style's numbers are multiplied by on the way into a record, and how the record names them.

    Parameters
    ----------
    style
        The unit style; None where it is not known.
    lengths
        Whether lengths are in Å where the style is not known.
    """

    def __init__(self, style: str | None, *, lengths: bool = True) -> None:
        self.style = style
        source = None if style is None else system_of(style)
        self._factors: dict[str, float] = {}
        self.units: Mapping[str, str] | None = {"length": "angstrom"} if lengths else None
        if style == DIMENSIONLESS:
            self.units = DIMENSIONLESS_DOCUMENT
        elif source is not None:
            known = document(stored_system(source))
            if style == AKMA:  # nobody counts time so; velocities stay what they are
                known["time"] = "ps"
            self.units = {name: known[name] for name in QUANTITIES}
            self._factors = {name: factor(name, source, self.units) or 1.0 for name in QUANTITIES}

    def units_of(self, quantity: str) -> Mapping[str, str] | None:
        """The units of a file of lengths or of velocities, as a record names them."""
        if self.units is None or self.style == DIMENSIONLESS or quantity == "velocity":
            return self.units
        return {name: unit for name, unit in self.units.items() if name != "velocity"}

    @property
    def timed(self) -> bool:
        """Whether the unit of the time step is known."""
        return self.style is not None

    def of(self, quantity: str) -> float:
        """The factor of a quantity; 1 where nothing is known."""
        return self._factors.get(quantity, 1.0)
