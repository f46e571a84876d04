"""Where the fields of a PDB atom line stand, and what the rest of a line may be.

Reference: wwPDB format 3.3, "Coordinate Section". Column 21 belongs to the residue's name (CHARMM's TIP3), column 12 to
a serial of six digits, column 67 to a B factor of seven characters; columns 73 to 76 hold a segment.
"""

from __future__ import annotations

from collections.abc import Mapping

from molrec_convert.text.fixed import Field

FIELDS: Mapping[str, Field] = {
    "record": Field(0, 6, "s"),
    "serial": Field(6, 12, "i"),
    "name": Field(12, 16, "r"),
    "altloc": Field(16, 17, "s"),
    "res_name": Field(17, 21, "s"),
    "chain": Field(21, 22, "s"),
    "res_seq": Field(22, 26, "i"),
    "icode": Field(26, 27, "s"),
    "gap": Field(27, 30, "s"),
    "x": Field(30, 38, "d"),
    "y": Field(38, 46, "d"),
    "z": Field(46, 54, "d"),
    "occupancy": Field(54, 60, "d"),
    "b_factor": Field(60, 67, "d"),
    "segid": Field(72, 76, "s"),
    "element": Field(76, 78, "s"),
    "charge": Field(78, 80, "s"),
}
NAMES = tuple(FIELDS)
POSITIONS = ("x", "y", "z")
REALS = (*POSITIONS, "occupancy", "b_factor")
TEXTS = tuple(name for name, place in FIELDS.items() if place.kind in "rs")
WIDTHS = {"serial": 5, "res_seq": 4}
"""The integers, and the columns that the format gives them."""

MARKS = [b"ATOM", b"HETATM"]
"""How an atom line begins; a long serial may follow at once."""
RECORDS = frozenset((b"ATOM", b"HETATM"))

SMALLEST, LARGEST = -1e3, 1e4
"""No coordinate of three decimals in eight columns reaches them."""

BOOKKEEPING = frozenset((b"MODEL", b"ENDMDL", b"END", b"TER", b"CRYST1", b"CONECT", b"MASTER", b"NUMMDL"))
"""Records that frame a file or count its records, or stand in columns; they are made anew."""


def counted(count: int, noun: str = "atom") -> str:
    """So many of something.

    >>> counted(1), counted(2, "bond")
    ('1 atom', '2 bonds')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def columns_of(name: str) -> str:
    """Where a field stands, for people.

    >>> columns_of("x")
    'columns 31-38'
    """
    place = FIELDS[name]
    return f"columns {place.start + 1}-{place.stop}"
