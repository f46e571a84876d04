"""Residues whose atoms are known by their names: amino acids, nucleotides, water, and ions of one atom.

A name counts there without being asked for: the residues are standard, whatever format states them.
"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """Each word of a text."""
    return frozenset(text.split())


AMINO_ACIDS = words(
    "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL ASX GLX SEC PYL "
    "HID HIE HIP HSD HSE HSP HISA HISB HISH CYX CYM CYS2 CYSH ASH ASPH GLH GLUH LYN LYSH ACE NME NMA NH2"
)
NUCLEOTIDES = words(
    "A C G U T I DA DC DG DT DU DI RA RC RG RU ADE CYT GUA URA THY "
    "DA3 DA5 DC3 DC5 DG3 DG5 DT3 DT5 RA3 RA5 RC3 RC5 RG3 RG5 RU3 RU5 A3 A5 C3 C5 G3 G5 U3 U5"
)
WATERS = words("HOH WAT H2O DOD D2O TIP3 TIP4 TIP5 TIP SPC SPCE T3P T4P SOL OH2")
SYMBOLS_OF_IONS = words("LI NA K RB CS MG CA SR BA MN FE CO NI CU ZN CD HG AG PB AL F CL BR I")
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

CHARGED = re.compile(r"[0-9]*[+-]+[0-9]*$")


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
