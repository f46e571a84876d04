"""Elements of PDB atoms: from their columns, and where these are blank from names that leave no doubt.

Reference: wwPDB format 3.3, "Coordinate Section": a symbol of one letter stands in column 14, one of two in 13 and 14,
and names of four characters begin in column 13. Not every writer aligns names so; hence a name counts without being
asked for only in standard residues and water, whose atoms are known, and for an ion that is a residue of its own name.
Names of anything else, beads of coarse-grained models among them, are read on request.
"""

from __future__ import annotations

from collections.abc import Iterable

from molrec_convert.mapping.elements import NUMBERS

from ._residues import element_stated, words

ISOTOPES = {"D": 2, "T": 3}
"""Hydrogen under symbols of its own, and their mass numbers."""

ONE_LETTER = frozenset("HCNOFPSKVYIWUB")
LIKELY = words("LI BE NA MG AL SI CL CA MN FE CO NI CU ZN SE BR SR AG CD PT AU HG PB")
"""Elements of two letters that are met in structures; others are more often names of carbon or hydrogen."""
SURE = words("CL BR NA MG ZN FE SI SE LI AL")
"""Those of them that are hardly names of something else, where names are not aligned."""


def element_of_columns(text: str) -> tuple[str | None, int | None]:
    """The element of columns 77 and 78, and the mass number where they name an isotope; None where they name neither.

    >>> element_of_columns("SI"), element_of_columns("d"), element_of_columns("OW")
    (('Si', None), ('H', 2), (None, None))
    """
    symbol = text.capitalize()
    if symbol in NUMBERS:
        return symbol, None
    if symbol in ISOTOPES:
        return "H", ISOTOPES[symbol]
    return None, None


def element_guessed(field: str, residue: str, *, aligned: bool) -> str | None:
    """The element that the four columns of a name suggest; None where they suggest none.

    Parameters
    ----------
    field
        Columns 13 to 16 as they stand.
    residue
        The name of the residue.
    aligned
        Whether the file seems to align names by element; otherwise column 13 means nothing.

    >>> element_guessed(" CA ", "LIG", aligned=True), element_guessed("CA  ", "LIG", aligned=True)
    ('C', 'Ca')
    >>> element_guessed("HG11", "LIG", aligned=True), element_guessed("CL1 ", "LIG", aligned=False)
    ('H', 'Cl')
    """
    stated = element_stated(field.strip(), residue)
    if stated is not None:
        return stated
    name = field.strip().upper().lstrip("0123456789")
    two, one = name[:2], name[:1]
    begins_in_14 = field[:1] in (" ", *"0123456789")
    full = len(field.strip()) == 4
    if two in LIKELY and not begins_in_14 and not (full and one == "H"):
        plain = two[1:] not in ("A", "D", "E", "O") or not full
        if aligned and plain:
            return two.capitalize()
        if not aligned and two in SURE:
            return two.capitalize()
    if one in ONE_LETTER:
        return one
    symbol = two.capitalize()
    return symbol if symbol in NUMBERS else None


def seems_aligned(fields: Iterable[str]) -> bool:
    """Whether names of a file are aligned by element: some short one begins in column 14."""
    short = [field for field in fields if 0 < len(field.strip()) < 4]
    return not short or any(field.startswith(" ") for field in short)


def name_field(name: str, element: str | None) -> str:
    """The four columns of a name, aligned by its element as the format demands.

    >>> name_field("CA", "C"), name_field("CA", "Ca"), name_field("HG11", "H")
    (' CA ', 'CA  ', 'HG11')
    """
    wide = element is not None and len(element) == 2 and name[:2].upper() == element.upper()
    return f"{name:<4}" if wide or len(name) >= 4 else f" {name:<3}"
