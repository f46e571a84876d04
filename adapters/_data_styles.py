"""Which columns the lines of a LAMMPS data file have: one row a style, and the styles that are made of others.

Reference: https://docs.lammps.org/read_data.html, section "Atoms"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from molrec_convert.mapping.names import QUANTITIES
from molrec_convert.model.dtypes import CANONICAL

from ._dump_columns import Row

IMAGES = ("ix", "iy", "iz")
VELOCITIES = ("vx", "vy", "vz")

COLUMNS = {
    row.source: row
    for row in (
        Row("id", "id", "u"),
        Row("type", "type_id", "u"),
        Row("mol", "mol_id", "u"),
        Row("q", "charge", quantity="charge"),
        Row("mass", "mass", quantity="mass"),
        *(Row(name, name, quantity="length") for name in ("x", "y", "z", "x0", "y0", "z0")),
        *(Row(name, name, quantity="length") for name in ("diameter", "eradius", "kradius", "cradius")),
        *(Row(name, name, quantity="dipole") for name in ("mux", "muy", "muz")),
        *(Row(name, name, quantity="velocity") for name in (*VELOCITIES, "ervel")),
        *(Row(name, name, quantity="angular velocity") for name in ("omegax", "omegay", "omegaz")),
        *(Row(name, name, quantity="angular momentum") for name in ("angmomx", "angmomy", "angmomz")),
        *(Row(name, name, "i") for name in IMAGES),
        *(Row(name, name, "i") for name in ("bodyflag", "ellipsoidflag", "lineflag", "triangleflag")),
        *(Row(name, name, "i") for name in ("template-index", "template-atom", "espin", "etag")),
    )
}
"""The columns of data files that are more than a real under its own name."""

ALIASES = {
    "atom-id": "id", "resid": "mol", "molecule-id": "mol", "mol-id": "mol", "molecule": "mol", "mol_id": "mol",
    "atom-type": "type", "type_id": "type", "charge": "q", "nx": "ix", "ny": "iy", "nz": "iz",
}  # fmt: skip
"""How the manual and other programs call columns, in lower case."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table of styles.

    Parameters
    ----------
    name
        The style's name in LAMMPS.
    columns
        The columns of its atom lines, without images.
    topology
        The blocks that its atoms may take part in.
    spin
        What stands after vx vy vz in its velocity lines.
    """

    name: str
    columns: str
    topology: tuple[str, ...] = ()
    spin: str = ""


_BONDS, _ANGLES, _ALL = ("bonds",), ("bonds", "angles"), ("bonds", "angles", "dihedrals", "impropers")
_OMEGA, _ANGMOM = "omegax omegay omegaz", "angmomx angmomy angmomz"

KINDS = (
    Kind("atomic", "id type x y z"),
    Kind("charge", "id type q x y z"),
    Kind("bond", "id mol type x y z", _BONDS),
    Kind("angle", "id mol type x y z", _ANGLES),
    Kind("molecular", "id mol type x y z", _ALL),
    Kind("full", "id mol type q x y z", _ALL),
    Kind("amoeba", "id mol type q x y z", _ALL),
    Kind("sphere", "id type diameter density x y z", spin=_OMEGA),
    Kind("bpm/sphere", "id mol type diameter density x y z", _BONDS, _OMEGA),
    Kind("dipole", "id type q x y z mux muy muz"),
    Kind("ellipsoid", "id type ellipsoidflag density x y z", spin=_ANGMOM),
    Kind("line", "id mol type lineflag density x y z", spin=_OMEGA),
    Kind("tri", "id mol type triangleflag density x y z", spin=_ANGMOM),
    Kind("body", "id type bodyflag mass x y z", spin=_ANGMOM),
    Kind("template", "id type mol template-index template-atom x y z", _ALL),
    Kind("dpd", "id type theta x y z"),
    Kind("edpd", "id type edpd_temp edpd_cv x y z"),
    Kind("mdpd", "id type rho x y z"),
    Kind("tdpd", "id type x y z"),
    Kind("peri", "id type volume density x y z"),
    Kind("smd", "id type mol volume mass kradius cradius x0 y0 z0 x y z"),
    Kind("sph", "id type rho esph cv x y z"),
    Kind("spin", "id type x y z spx spy spz sp"),
    Kind("electron", "id type q espin eradius x y z", spin="ervel"),
    Kind("wavepacket", "id type q espin eradius etag cs_re cs_im x y z", spin="ervel"),
    # The manual leaves out the molecule, the program reads one: both occur.
    Kind("dielectric", "id mol type q x y z mux muy muz area ed em epsilon curvature", _ALL),
    Kind("dielectric", "id type q x y z mux muy muz area ed em epsilon curvature", _ALL),
)
"""The styles, the more usual of those with the same columns first."""

NAMES = tuple(dict.fromkeys(kind.name for kind in KINDS))
OPEN = {"tdpd": "cc{}", "hybrid": "hybrid_{}"}
"""Styles whose lines go on after z, by as many values as an argument or the line itself says, and their names."""
REQUIRED = ("id", "type", "x", "y", "z")


@dataclass(frozen=True, slots=True)
class AtomStyle:
    """The columns of the lines of one file.

    Parameters
    ----------
    name
        As the section ``Atoms`` states it after ``#``.
    columns
        Names of its columns, without images.
    topology
        The blocks that its atoms may take part in.
    spin
        What stands after vx vy vz in velocity lines; None where it is not known.
    further
        The name of columns after these, of which there may be any number; None where there are none.
    """

    name: str
    columns: tuple[str, ...]
    topology: tuple[str, ...] = ()
    spin: tuple[str, ...] | None = ()
    further: str | None = None

    @property
    def rows(self) -> tuple[Row, ...]:
        """How its columns become columns of a record."""
        return tuple(row_of(name) for name in self.columns)

    def widened(self, width: int) -> AtomStyle:
        """The style with as many further columns as make up a width."""
        if self.further is None:
            return self
        names = [self.further.format(k + 1) for k in range(width - len(self.columns))]
        return replace(self, columns=(*self.columns, *names), further=None)


SCANNED = {"f64": "d", "i64": "i", "u64": "u", "string": "s"}


def row_of(name: str) -> Row:
    """The row of a column; a name that is not known is a real under its own name, unless MolRec fixes its type."""
    if name in COLUMNS:
        return COLUMNS[name]
    kind = SCANNED.get(CANONICAL.get(name, "f64"))
    return Row(name, name, kind, quantity=QUANTITIES.get(name)) if kind else Row(name, f"data_{name}")


def styles_named(text: str) -> tuple[AtomStyle, ...]:
    """The styles that a name, a hybrid of names or a list of columns means; none where it means nothing."""
    words = text.replace(",", " ").split()
    if not words:
        return ()
    listed = _of_columns(words, text)
    if listed is not None:
        return (listed,)
    if words[0] == "hybrid":
        return _hybrid(words[1:], " ".join(words))
    name = re.sub(r"/(kk|gpu|omp|intel|opt)$", "", words[0])
    if name == "tdpd" and len(words) <= 2:
        further = "" if len(words) == 1 else words[1]
        style = _of_kind(next(kind for kind in KINDS if kind.name == "tdpd"))
        if not further:
            return (replace(style, further=OPEN["tdpd"]),)
        if not re.fullmatch(r"\d{1,4}", further):
            return ()
        return (replace(style, name=" ".join(words), further=OPEN["tdpd"]).widened(5 + int(further)),)
    return tuple(_of_kind(kind) for kind in KINDS if kind.name == name) if len(words) == 1 else ()


def styles_hinted(hint: str) -> tuple[AtomStyle, ...]:
    """The styles that the comment of the section ``Atoms`` states, perhaps with more words after the name."""
    first = (hint.split() or [""])[0].rstrip(":,;")
    return styles_named(hint) or styles_named(hint.lower()) or styles_named(first.lower())


def _of_kind(kind: Kind) -> AtomStyle:
    return AtomStyle(kind.name, tuple(kind.columns.split()), kind.topology, tuple(kind.spin.split()))


def _of_columns(words: Sequence[str], text: str) -> AtomStyle | None:
    names = words[1:] if words[0].endswith(":") else words
    columns = tuple(ALIASES.get(name.lower(), name) for name in names)
    if not set(REQUIRED) <= set(columns) or len(set(columns)) < len(columns):
        return None
    if not all(re.fullmatch(r"[A-Za-z][^/#\s]*", name) for name in columns):
        return None
    columns = tuple(name for name in columns if name not in IMAGES)
    return AtomStyle(" ".join(text.split()), columns, _ALL, None)


def _hybrid(names: Sequence[str], text: str) -> tuple[AtomStyle, ...]:
    """Columns that every style has, then those of each in turn, every name once."""
    if not names:
        return (AtomStyle("hybrid", REQUIRED, _ALL, None, OPEN["hybrid"]),)
    parts = [[kind for kind in KINDS if kind.name == name] for name in names]
    if not all(parts) or "tdpd" in names:
        return ()
    columns, spin, topology = dict.fromkeys(REQUIRED), dict[str, None](), dict[str, None]()
    for kind, *_ in parts:
        columns.update(dict.fromkeys(kind.columns.split()))
        spin.update(dict.fromkeys(kind.spin.split()))
        topology.update(dict.fromkeys(kind.topology))
    return (AtomStyle(text, tuple(columns), tuple(topology), tuple(spin)),)
