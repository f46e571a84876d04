"""Elements of PDB atoms: from their columns, and where these are blank from names that leave no doubt.

Reference: wwPDB format 3.3, "Coordinate Section": a symbol of one letter stands in column 14, one of two in 13 and 14,
and names of four characters begin in column 13. Not every writer aligns names so; hence a name counts without being
asked for only in standard residues and water, whose atoms are known, and for an ion that is a residue of its own name.
Names of anything else, beads of coarse-grained models among them, are read on request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from molrec_convert.mapping.elements import NUMBERS

ISOTOPES = {"D": 2, "T": 3}
"""Hydrogen under symbols of its own, and their mass numbers."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AMINO_ACIDS = _words(
    "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL ASX GLX SEC PYL "
    "HID HIE HIP HSD HSE HSP HISA HISB HISH CYX CYM CYS2 CYSH ASH ASPH GLH GLUH LYN LYSH ACE NME NMA NH2"
)
NUCLEOTIDES = _words(
    "A C G U T I DA DC DG DT DU DI RA RC RG RU ADE CYT GUA URA THY "
    "DA3 DA5 DC3 DC5 DG3 DG5 DT3 DT5 RA3 RA5 RC3 RC5 RG3 RG5 RU3 RU5 A3 A5 C3 C5 G3 G5 U3 U5"
)
WATERS = _words("HOH WAT H2O DOD D2O TIP3 TIP4 TIP5 TIP SPC SPCE T3P T4P SOL OH2")
SYMBOLS_OF_IONS = _words("LI NA K RB CS MG CA SR BA MN FE CO NI CU ZN CD HG AG PB AL F CL BR I")
IONS = {
    **{name: name.capitalize() for name in SYMBOLS_OF_IONS},
    "SOD": "Na", "POT": "K", "CAL": "Ca", "CLA": "Cl", "LIT": "Li", "RUB": "Rb", "CES": "Cs", "BAR": "Ba", "CAD": "Cd",
    "ZN2": "Zn", "FE2": "Fe", "CU1": "Cu", "IOD": "I",
}  # fmt: skip
"""Residues of one atom, by the name that residue and atom share."""

HYDROGEN = r"\d?[HD][A-Z0-9'*]*"
STANDARD = (
    (AMINO_ACIDS, rf"(?P<letter>[CNO])(?:[ABGDEZH]?[1-3]?|XT|[CT][12]?|H[1-3]|')|(?P<other>S)[GD]|{HYDROGEN}"),
    (NUCLEOTIDES, rf"(?P<letter>[CNO])(?:[2-9]['*M]?|1['*]?|[1-3]P|P[1-3])|(?P<other>P)[ABG]?|{HYDROGEN}"),
    (WATERS, rf"(?P<letter>O)(?:W|H2|W0)?|(?P<other>O)\d?|{HYDROGEN}"),
)
"""Residues and the names of their atoms; what is neither C, N, O, S nor P in them is hydrogen."""

ONE_LETTER = frozenset("HCNOFPSKVYIWUB")
LIKELY = _words("LI BE NA MG AL SI CL CA MN FE CO NI CU ZN SE BR SR AG CD PT AU HG PB")
"""Elements of two letters that are met in structures; others are more often names of carbon or hydrogen."""
SURE = _words("CL BR NA MG ZN FE SI SE LI AL")
"""Those of them that are hardly names of something else, where names are not aligned."""
CHARGED = re.compile(r"[0-9]*[+-]+[0-9]*$")


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


def element_stated(name: str, residue: str) -> str | None:
    """The element that a name states without doubt, for its residue is known; else None.

    >>> element_stated("CA", "ALA"), element_stated("CA", "CA"), element_stated("BB", "ALA")
    ('C', 'Ca', None)
    """
    name, residue = name.upper(), residue.upper()
    for residues, names in STANDARD:
        if residue in residues or (residues is AMINO_ACIDS and residue[1:] in residues and residue[:1] in "NC"):
            match = re.fullmatch(names, name)
            if match is not None:
                return match["letter"] or match["other"] or "H"
    ion = CHARGED.sub("", name)
    return IONS.get(ion) if ion == CHARGED.sub("", residue) else None


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
