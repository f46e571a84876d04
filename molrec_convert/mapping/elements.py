"""The chemical elements: symbols by atomic number, and standard atomic weights.

Source: the abridged standard atomic weights of IUPAC's commission on isotopic abundances (2021), the conventional
value where it states an interval. Elements without a stable composition have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ROWS = """
H 1.008 He 4.0026
Li 6.94 Be 9.0122 B 10.81 C 12.011 N 14.007 O 15.999 F 18.998 Ne 20.180
Na 22.990 Mg 24.305 Al 26.982 Si 28.085 P 30.974 S 32.06 Cl 35.45 Ar 39.95
K 39.098 Ca 40.078 Sc 44.956 Ti 47.867 V 50.942 Cr 51.996 Mn 54.938 Fe 55.845 Co 58.933 Ni 58.693 Cu 63.546 Zn 65.38
Ga 69.723 Ge 72.630 As 74.922 Se 78.971 Br 79.904 Kr 83.798
Rb 85.468 Sr 87.62 Y 88.906 Zr 91.224 Nb 92.906 Mo 95.95 Tc - Ru 101.07 Rh 102.91 Pd 106.42 Ag 107.87 Cd 112.41
In 114.82 Sn 118.71 Sb 121.76 Te 127.60 I 126.90 Xe 131.29
Cs 132.91 Ba 137.33 La 138.91 Ce 140.12 Pr 140.91 Nd 144.24 Pm - Sm 150.36 Eu 151.96 Gd 157.25 Tb 158.93 Dy 162.50
Ho 164.93 Er 167.26 Tm 168.93 Yb 173.05 Lu 174.97 Hf 178.49 Ta 180.95 W 183.84 Re 186.21 Os 190.23 Ir 192.22 Pt 195.08
Au 196.97 Hg 200.59 Tl 204.38 Pb 207.2 Bi 208.98 Po - At - Rn -
Fr - Ra - Ac - Th 232.04 Pa 231.04 U 238.03 Np - Pu - Am - Cm - Bk - Cf - Es - Fm - Md - No - Lr - Rf - Db - Sg - Bh -
Hs - Mt - Ds - Rg - Cn - Nh - Fl - Mc - Lv - Ts - Og -
"""
_WORDS = _ROWS.split()

SYMBOLS: tuple[str, ...] = ("X", *_WORDS[::2])
"""Symbols by atomic number; 0 is an unknown or a ghost."""

NUMBERS: Mapping[str, int] = MappingProxyType({symbol: number for number, symbol in enumerate(SYMBOLS) if number})
"""Atomic numbers by symbol."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {symbol: float(weight) for symbol, weight in zip(_WORDS[::2], _WORDS[1::2], strict=True) if weight != "-"}
)
"""Standard atomic weights in amu, by symbol."""

CLOSE, CLOSE_PART = 0.005, 2e-4
"""How far a mass may be off a weight to be that of the element: older tables differ so much, united atoms more."""
ROUNDED = 0.1
"""How far it may be off where the name of the atom speaks for the element, too: masses that were rounded."""
NEAR = 1.2
"""How far the mass of an atom that is called an element may be off its weight: isotopes."""


def element_of_mass(mass: float) -> str | None:
    """The element whose weight this mass is, or None: whole numbers are as often those of beads, so they tell nothing.

    >>> element_of_mass(12.0107), element_of_mass(14.027), element_of_mass(1.0)
    ('C', None, None)
    """
    if not mass > 0.0 or mass == round(mass):
        return None
    symbol = _nearest(mass)
    weight = WEIGHTS[symbol]
    return symbol if abs(weight - mass) <= max(CLOSE, CLOSE_PART * weight) else None


def nearest_element(mass: float) -> str | None:
    """The element of the nearest weight, where it is no farther off than a rounded mass: a guess."""
    symbol = _nearest(mass)
    return symbol if abs(WEIGHTS[symbol] - mass) <= ROUNDED else None


def element_of_name(name: str, mass: float) -> str | None:
    """The element that the name of a type means where its mass bears it out, or None.

    A name that is a symbol means it; one that begins like a symbol, in any case, does with a mass as near.

    >>> element_of_name("C", 13.019), element_of_name("OT", 16.0), element_of_name("CH4", 16.0)
    ('C', 'O', None)
    """
    if name in WEIGHTS and abs(WEIGHTS[name] - mass) <= NEAR:
        return name
    symbol = _nearest(mass)
    begins = name.lower().startswith(symbol.lower()) and bool(name)
    return symbol if begins and abs(WEIGHTS[symbol] - mass) <= ROUNDED else None


def _nearest(mass: float) -> str:
    return min(WEIGHTS, key=lambda symbol: abs(WEIGHTS[symbol] - mass))
