"""Column names that several formats share: what quantity they are, and whether they say how atoms move."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

POSITIONS = ("x", "y", "z")
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "length": (*POSITIONS, "radius", "diameter"),
        "velocity": ("vx", "vy", "vz"),
        "force": ("fx", "fy", "fz"),
        "charge": ("charge",),
        "mass": ("mass",),
        "energy": ("energies",),
        "pressure": ("stresses",),
        "dipole": ("mux", "muy", "muz"),
        "torque": ("tqx", "tqy", "tqz"),
        "angular velocity": ("omegax", "omegay", "omegaz"),
        "angular momentum": ("angmomx", "angmomy", "angmomz"),
    }
)
"""The columns of a quantity."""

QUANTITIES: Mapping[str, str] = MappingProxyType(
    {name: quantity for quantity, names in NAMES.items() for name in names}
)
"""The quantity of a column, by which it is converted."""

WITHOUT_UNIT = frozenset(
    (
        *("xs", "ys", "zs", "xsu", "ysu", "zsu"),
        *("ix", "iy", "iz"),
        *("quatw", "quati", "quatj", "quatk"),
        *("occupancy", "nuclear_charge", "charge_lj", "mass_lj"),
    )
)
"""Columns of fractions, counts and ratios, which are the same in all units."""

META_QUANTITIES: Mapping[str, str] = MappingProxyType(
    {"pe": "energy", "ke": "energy", "etotal": "energy", "free_energy": "energy", "virial": "energy",
     "temp": "temperature", "press": "pressure", "stress": "pressure", "dipole": "dipole"}
)  # fmt: skip
"""The quantity of a meta key."""

MOVING = frozenset(["x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz", "ix", "iy", "iz"])
"""Columns that belong to the trajectory, whatever their values."""

FIXED_REALS = frozenset(
    (
        "charge",
        "mass",
        "charge_lj",
        "mass_lj",
        "radius",
        "diameter",
        "density",
        "occupancy",
        "b_factor",
        "nuclear_charge",
    )
)
"""Columns of reals that usually hold for the whole trajectory; all other reals move."""


def may_be_fixed(name: str, dtype: str) -> bool:
    """Whether a column of atoms stands in ``system`` as long as it does not change."""
    return name in FIXED_REALS or (name not in MOVING and dtype not in ("f64", "c64", "c128"))


REDUCED: Mapping[str, str] = MappingProxyType({"charge": "charge_lj", "mass": "mass_lj"})
"""Where charges and masses stand that are ratios: under their own names they are e and amu."""
