"""What MDAnalysis calls what: attributes of atoms, connections, units; each name is written once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from molrec_convert.mapping.units import SYSTEMS, Units, document


class Attribute(NamedTuple):
    """An attribute of atoms, residues or segments, and the column of ``atoms`` that holds it.

    Parameters
    ----------
    name
        The attribute's name, in the plural.
    column, dtype
        The column, and its type in a record.
    signed
        The i64 column that stands beside an unsigned one for negative numbers.
    """

    name: str
    column: str
    dtype: str
    signed: str | None = None


ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("ids", "id", "u64", "atom_id"),
    Attribute("names", "name", "string"),
    Attribute("types", "type", "string"),
    Attribute("elements", "element", "string"),
    Attribute("masses", "mass", "f64"),
    Attribute("charges", "charge", "f64"),
    Attribute("formalcharges", "formal_charge", "i64"),
    Attribute("record_types", "record_type", "string"),
    Attribute("chainIDs", "chain", "string"),
    Attribute("altLocs", "altloc", "string"),
    Attribute("tempfactors", "b_factor", "f64"),
    Attribute("occupancies", "occupancy", "f64"),
    Attribute("radii", "radius", "f64"),
    Attribute("aromaticities", "is_aromatic", "bool"),
    Attribute("resids", "res_id", "u64", "res_seq"),
    Attribute("resnames", "res_name", "string"),
    Attribute("icodes", "icode", "string"),
    Attribute("resnums", "resnum", "i64"),
    Attribute("moltypes", "mol_type", "string"),
    Attribute("molnums", "mol_id", "u64", "molecule"),
    Attribute("segids", "segid", "string"),
)
"""Any further attribute has a column of its own name."""

BY_NAME: Mapping[str, Attribute] = MappingProxyType({row.name: row for row in ATTRIBUTES})
CONNECTIONS: Mapping[str, int] = MappingProxyType(
    {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4, "ureybradleys": 2, "cmaps": 5}
)
"""Blocks of connections, called as in MDAnalysis, and how many atoms each row joins."""

RESIDUE = "mda_residue"
"""The column of residues by their numbers from 0, where the attributes of atoms do not tell them apart."""
NO_SEGMENT = "SYSTEM"
"""What MDAnalysis calls the one segment of a system that has none."""

VECTORS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {"length": ("x", "y", "z"), "velocity": ("vx", "vy", "vz"), "force": ("fx", "fy", "fz")}
)
"""The columns of positions, velocities and forces, by their quantity."""

UNITS: Units = MappingProxyType(document(SYSTEMS["mdanalysis"]))
"""The ``units`` document of numbers that MDAnalysis gives."""

UNIT_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "length": {"angstrom": "Angstrom", "nm": "nm"},
        "time": {"ps": "ps", "fs": "fs", "ns": "ns", "us": "us", "s": "s", "akma": "AKMA"},
        "velocity": {
            "angstrom/ps": "Angstrom/ps",
            "angstrom/fs": "Angstrom/fs",
            "angstrom/ns": "Angstrom/ns",
            "angstrom/akma": "Angstrom/AKMA",
            "nm/ps": "nm/ps",
            "nm/ns": "nm/ns",
            "m/s": "m/s",
        },
        "force": {
            "kJ/mol/angstrom": "kJ/(mol*Angstrom)",
            "kcal/mol/angstrom": "kcal/(mol*Angstrom)",
            "kJ/mol/nm": "kJ/(mol*nm)",
        },
    }
)
"""How MDAnalysis spells the units of a record that it knows."""


def native_units(units: Units | None) -> dict[str, str | None]:
    """The units of a record as MDAnalysis spells them; None where they are unknown to either."""
    return {quantity: names.get((units or {}).get(quantity, "")) for quantity, names in UNIT_NAMES.items()}


def stated_units(native: Mapping[str, str | None]) -> dict[str, str]:
    """The ``units`` document of numbers in the units that MDAnalysis spells so."""
    known = {"mass": "amu", "charge": "e"}
    for quantity, names in UNIT_NAMES.items():
        spelled = {theirs: ours for ours, theirs in names.items()}
        if (unit := spelled.get(native.get(quantity) or "")) is not None:
            known[quantity] = unit
    return known


@cache
def attribute_classes() -> Mapping[str, Any]:
    """The classes of MDAnalysis that hold the attributes of a topology, by the attribute's name."""
    from MDAnalysis.core import topologyattrs as there

    classes: list[Any] = [
        made for made in vars(there).values() if isinstance(made, type) and issubclass(made, there.TopologyAttr)
    ]
    return MappingProxyType({made.attrname: made for made in classes})


@cache
def level_of(name: str) -> str | None:
    """Whether an attribute belongs to an ``atom``, a ``residue`` or a ``segment``; None where it holds no data."""
    from MDAnalysis.core import topologyattrs as there

    made = attribute_classes().get(name)
    if made is None or name in CONNECTIONS or name.endswith("attrs"):
        return None
    # Not by their `per_object`, which some lack.
    levels = (("atom", there.AtomAttr), ("residue", there.ResidueAttr), ("segment", there.SegmentAttr))
    return next((level for level, kind in levels if issubclass(made, kind)), None)
