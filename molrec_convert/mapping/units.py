"""Units and unit systems: each unit is written once, as its size in SI, and every factor is a quotient.

The constants are CODATA 2022 (those without an uncertainty are exact by the SI of 2019). A unit's name is that of the
``units`` document of a record: ``angstrom``, ``angstrom/ps``, ``kcal/mol/angstrom``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from molrec_convert.errors import OptionError

CONSTANTS: Mapping[str, Fraction] = MappingProxyType(
    {
        "elementary charge": Fraction("1.602176634e-19"),  # C, exact
        "Avogadro": Fraction("6.02214076e23"),  # 1/mol, exact
        "speed of light": Fraction(299792458),  # m/s, exact
        "atomic mass": Fraction("1.66053906892e-27"),  # kg
        "electron mass": Fraction("9.1093837139e-31"),  # kg
        "atomic time": Fraction("2.4188843265864e-17"),  # s, the reduced Planck constant over the Hartree energy
        "Bohr radius": Fraction("5.29177210544e-11"),  # m
        "Hartree energy": Fraction("4.3597447222060e-18"),  # J
    }
)
_E, _NA, _C = (CONSTANTS[name] for name in ("elementary charge", "Avogadro", "speed of light"))
_AMU, _BOHR, _HARTREE = (CONSTANTS[name] for name in ("atomic mass", "Bohr radius", "Hartree energy"))
_KCAL_MOL = 4184 / _NA
_ANGSTROM, _FS, _PS = Fraction("1e-10"), Fraction("1e-15"), Fraction("1e-12")


def _root(square: Fraction) -> Fraction:
    """The square root, far closer than a binary64 tells."""
    fine = 10**60
    return Fraction(math.isqrt(square.numerator * fine**2 // square.denominator), fine)


# ase.units and MDAnalysis.units are built on CODATA 2014 and 2010: their own factors differ in the ninth digit.
_ASE_TIME = _ANGSTROM * _root(_AMU / _E)
_AKMA_TIME = _ANGSTROM * _root(_AMU / _KCAL_MOL)

SIMPLE: Mapping[str, Mapping[str, Fraction]] = MappingProxyType(
    {
        "length": {
            "angstrom": _ANGSTROM,
            "nm": Fraction("1e-9"),
            "bohr": _BOHR,
            "um": Fraction("1e-6"),
            "cm": Fraction("1e-2"),
            "m": Fraction(1),
        },
        "time": {
            "fs": _FS,
            "ps": _PS,
            "ns": Fraction("1e-9"),
            "us": Fraction("1e-6"),
            "s": Fraction(1),
            "akma": _AKMA_TIME,
            "angstrom*(amu/eV)^0.5": _ASE_TIME,
            "hbar/hartree": CONSTANTS["atomic time"],
        },
        "mass": {
            "amu": _AMU,
            "electron": CONSTANTS["electron mass"],
            "ag": Fraction("1e-21"),
            "pg": Fraction("1e-15"),
            "g": Fraction("1e-3"),
            "kg": Fraction(1),
        },
        "energy": {
            "eV": _E,
            "kcal/mol": _KCAL_MOL,
            "kJ/mol": 1000 / _NA,
            "hartree": _HARTREE,
            "ag*nm^2/ns^2": Fraction("1e-21"),
            "pg*um^2/us^2": Fraction("1e-15"),
            "erg": Fraction("1e-7"),
            "J": Fraction(1),
        },
        "charge": {
            "e": _E,
            "pC": Fraction("1e-12"),
            "statC": 1 / (10 * _C),
            "C": Fraction(1),
        },
        "pressure": {
            "bar": Fraction(100000),
            "atm": Fraction(101325),
            "Pa": Fraction(1),
            "dyn/cm^2": Fraction("0.1"),
            "ag/nm/ns^2": Fraction(1000000),
            "pg/um/us^2": Fraction(1000),
            "eV/angstrom^3": _E / _ANGSTROM**3,
            "hartree/bohr^3": _HARTREE / _BOHR**3,
        },
        "temperature": {"K": Fraction(1)},
    }
)
"""The size of every unit in SI, by quantity."""

COMPOSED: Mapping[str, tuple[tuple[str, int], ...]] = MappingProxyType(
    {
        "velocity": (("length", 1), ("time", -1)),
        "force": (("energy", 1), ("length", -1)),
        "torque": (("energy", 1),),
        "dipole": (("charge", 1), ("length", 1)),
        "angular velocity": (("time", -1),),
        "angular momentum": (("mass", 1), ("length", 2), ("time", -1)),
    }
)
"""Quantities whose unit is a product of powers of others."""

NAMED = (*SIMPLE, "velocity", "force")
"""The quantities that a ``units`` document names."""

Units = Mapping[str, str]


def _system(**units: str) -> Units:
    return MappingProxyType({**units, "temperature": "K"})


SYSTEMS: Mapping[str, Units] = MappingProxyType(
    {
        "molrec": _system(length="angstrom", time="ps", energy="eV", mass="amu", charge="e", pressure="bar"),
        "real": _system(length="angstrom", time="fs", energy="kcal/mol", mass="amu", charge="e", pressure="atm"),
        "metal": _system(length="angstrom", time="ps", energy="eV", mass="amu", charge="e", pressure="bar"),
        "si": _system(length="m", time="s", energy="J", mass="kg", charge="C", pressure="Pa"),
        "cgs": _system(length="cm", time="s", energy="erg", mass="g", charge="statC", pressure="dyn/cm^2"),
        # Velocities are bohr/fs as the integrator has them, not bohr per 1.03275 fs as the manual says.
        "electron": _system(length="bohr", time="fs", energy="hartree", mass="amu", charge="e", pressure="Pa"),
        "micro": _system(length="um", time="us", energy="pg*um^2/us^2", mass="pg", charge="pC", pressure="pg/um/us^2"),
        "nano": _system(length="nm", time="ns", energy="ag*nm^2/ns^2", mass="ag", charge="e", pressure="ag/nm/ns^2"),
        "gromacs": _system(length="nm", time="ps", energy="kJ/mol", mass="amu", charge="e", pressure="bar"),
        "ase": _system(
            length="angstrom",
            time="angstrom*(amu/eV)^0.5",
            energy="eV",
            mass="amu",
            charge="e",
            pressure="eV/angstrom^3",
        ),
        "mdanalysis": _system(length="angstrom", time="ps", energy="kJ/mol", mass="amu", charge="e", pressure="bar"),
        "akma": _system(length="angstrom", time="akma", energy="kcal/mol", mass="amu", charge="e", pressure="atm"),
        "atomic": _system(
            length="bohr", time="hbar/hartree", energy="hartree", mass="electron", charge="e", pressure="hartree/bohr^3"
        ),
    }
)
"""Unit systems by name."""

DIMENSIONLESS = "lj"
"""The style whose numbers are ratios to the parameters of its particles: never converted."""


def unit_of(quantity: str, units: Units) -> str | None:
    """The name of a quantity's unit in a system, or None where the system does not tell.

    A composed unit is named from its parts, unless the system names it itself.
    """
    if quantity in units:
        return units[quantity]
    parts = COMPOSED.get(quantity)
    if parts is None or any(part not in units for part, _ in parts):
        return None
    over = "*".join(_power(units[part], power) for part, power in parts if power > 0) or "1"
    return "/".join([over, *(_power(_grouped(units[part]), -power) for part, power in parts if power < 0)])


def _grouped(unit: str) -> str:
    """A unit as a divisor."""
    return f"({unit})" if set(unit) & set("*/") else unit


def _power(unit: str, power: int) -> str:
    return unit if power == 1 else f"{unit}^{power}"


def size(quantity: str, units: Units) -> Fraction | None:
    """The size in SI of a quantity's unit in a system, or None where it is not known."""
    if quantity in units:
        known = SIMPLE.get(quantity, {}).get(units[quantity])
        if known is not None:
            return known
        if unit_of(quantity, {key: unit for key, unit in units.items() if key != quantity}) != units[quantity]:
            return _composed_size(quantity, units[quantity])
    parts = COMPOSED.get(quantity)
    if parts is None:
        return None
    product = Fraction(1)
    for part, power in parts:
        factor_ = size(part, units)
        if factor_ is None:
            return None
        product *= factor_**power
    return product


def _composed_size(quantity: str, unit: str) -> Fraction | None:
    """The size of a unit such as ``angstrom/fs`` that a document names beside other parts."""
    parts = COMPOSED.get(quantity)
    if parts is None or len(parts) != 2:
        return None
    for place, sign in enumerate(unit):
        if sign != "/":
            continue
        over, under = SIMPLE[parts[0][0]].get(unit[:place]), SIMPLE[parts[1][0]].get(_ungrouped(unit[place + 1 :]))
        if over is not None and under is not None:
            return over / under
    return None


def _ungrouped(unit: str) -> str:
    return unit[1:-1] if unit.startswith("(") and unit.endswith(")") else unit


def factor(quantity: str, source: Units, target: Units) -> float | None:
    """By what a number of a quantity is multiplied from one system to another; None where it is not known."""
    sizes = size(quantity, source), size(quantity, target)
    return None if sizes[0] is None or sizes[1] is None else float(sizes[0] / sizes[1])


def system(name: str) -> Units:
    """The units of a style.

    Raises
    ------
    OptionError
        For an unknown name.
    """
    if name == DIMENSIONLESS:
        raise OptionError(f"{name} numbers have no dimension: they are not converted, and nothing is converted to them")
    if name not in SYSTEMS:
        raise OptionError(f"there is no unit style {name!r}; known are {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def document(units: Units) -> dict[str, str]:
    """The ``units`` document of a record: the unit of every quantity that the system knows."""
    return {quantity: unit for quantity in NAMED if (unit := unit_of(quantity, units)) is not None}


def stated(units: str | Units | None) -> Units | None:
    """The ``units`` document that a person states, perhaps by the name of a system."""
    if not isinstance(units, str):
        return units
    return DIMENSIONLESS_DOCUMENT if units == DIMENSIONLESS else document(system(units))


DIMENSIONLESS_DOCUMENT: Units = MappingProxyType(
    {
        "length": "sigma",
        "time": "tau",
        "energy": "epsilon",
        "mass": "m",
        "charge": "q",
        "pressure": "epsilon/sigma^3",
        "temperature": "epsilon/kB",
        "velocity": "sigma/tau",
        "force": "epsilon/sigma",
    }
)
"""What a record of dimensionless numbers states."""


def stored_system(source: Units) -> Units:
    """The units in which a record keeps numbers of a known system.

    Numbers stay the source's own where its length is in ångström; another length unit brings all of them to MolRec's.
    Masses are amu and charges e in either case.
    """
    if source.get("length") != "angstrom":
        return SYSTEMS["molrec"]
    return MappingProxyType({**source, "mass": "amu", "charge": "e"})
