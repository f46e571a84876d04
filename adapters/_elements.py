"""The elements of atoms for which a source states none: what masses and standard residues tell, or names on request.

A mass in amu tells the element that it fits, as far as tables of weights differ, and one that is rounded where the name
says the same. Else the name of an atom of a standard residue, of water or of an ion tells it. Both leave no doubt, so
that they count without being asked for; any other name, and the nearest weight, are guesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.mapping.elements import element_of_mass, element_of_name, nearest_element
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING

from ._pdb_elements import element_guessed
from ._pdb_fields import counted
from ._pdb_symbols import Labels, combinations
from ._residues import element_stated

Array = np.ndarray[Any, Any]
Weights = tuple[Array, Sequence[float]]
"""Masses in amu: one code a row, and the distinct ones."""

MOST_LISTED = 6


class Elements(NamedTuple):
    """The column of elements, None where none is known; and what was noticed."""

    column: Column | None
    notes: list[Note]


def elements_of(
    names: Labels | None, residues: Labels | None, masses: Weights | None, *, given: Mapping[str, str], guess: bool
) -> Elements:
    """The elements that names, residues and masses tell.

    Parameters
    ----------
    names, residues, masses
        Of all atoms; None where a source has none.
    given
        Elements by name, as a person states them.
    guess
        Whether names and masses may be guessed at.
    """
    count = next((len(each[0]) for each in (names, residues, masses) if each is not None), 0)
    alike = np.zeros(count, np.int32)
    parts = [(alike, [""]) if each is None else each for each in (names, residues)]
    weights: Weights = (alike, [0.0]) if masses is None else masses
    distinct, rows = combinations(parts[0][0], parts[1][0], weights[0])
    symbols, sources = [], []
    for name, residue, mass in distinct:
        symbol, source = _symbol(parts[0][1][name], parts[1][1][residue], weights[1][mass], given, guess=guess)
        symbols.append(symbol)
        sources.append(source)
    counts = np.bincount(rows, minlength=len(symbols)).tolist()
    notes = _notes(symbols, sources, counts, guess=guess, named=names is not None)
    known = np.array([bool(symbol) for symbol in symbols], np.bool_)
    if not known.any():
        return Elements(None, notes)
    values = np.array(symbols, dtype=STRING)[rows]
    return Elements(Column.of(values, None if known.all() else known[rows]), notes)


def _symbol(name: str, residue: str, mass: float, given: Mapping[str, str], *, guess: bool) -> tuple[str, str]:
    """The element of atoms of one name, residue and mass, and what tells it; empty texts where nothing does."""
    if name in given:
        return given[name], "given"
    if mass > 0.0 and (symbol := element_of_name(name, mass) or element_of_mass(mass)) is not None:
        return symbol, "mass"
    if (symbol := element_stated(name, residue)) is not None:
        return symbol, "stated"
    if guess and (symbol := element_suggested(name, residue) or nearest_element(mass)) is not None:
        return symbol, "guessed"
    return "", ""


class MassElements:
    """The elements of columns of masses, of which most frames have the same few; several threads may ask."""

    def __init__(self) -> None:
        self._table: tuple[Array, Array] = np.zeros(0), np.zeros(0, STRING)

    def of(self, mass: Column) -> Elements:
        """The elements that masses in amu tell."""
        weights, symbols = self._table
        codes = np.minimum(np.searchsorted(weights, mass.values), max(len(weights) - 1, 0))
        if not len(weights) or not np.array_equal(weights[codes], mass.values):
            weights, codes = np.unique(mass.values, return_inverse=True)
            symbols = np.array([element_of_mass(weight) or "" for weight in weights.tolist()], dtype=STRING)
            self._table = weights, symbols
        known = symbols != ""
        if not len(mass) or not known.any():
            return Elements(None, [])
        found = Counter[str]()
        for symbol, count in zip(symbols.tolist(), np.bincount(codes, minlength=len(symbols)).tolist(), strict=True):
            found[symbol] += count if symbol else 0
        valid = None if known.all() else known[codes]
        return Elements(Column.of(symbols[codes], valid), [_mass_note(+found)])


def element_suggested(name: str, residue: str) -> str | None:
    """The element that a name suggests, in a residue; None where it suggests none.

    >>> element_suggested("OW", "SOL"), element_suggested("CA", "ALA"), element_suggested("CA", "CA")
    ('O', 'C', 'Ca')
    """
    return element_stated(name, residue) or element_guessed(name, residue, aligned=False)


def _notes(
    symbols: Sequence[str], sources: Sequence[str], counts: Sequence[int], *, guess: bool, named: bool
) -> list[Note]:
    found: dict[str, Counter[str]] = {}
    for symbol, source, count in zip(symbols, sources, counts, strict=True):
        found.setdefault(source, Counter())[symbol] += count
    notes = []
    if "mass" in found:
        notes.append(_mass_note(found["mass"]))
    if "stated" in found:
        atoms = counted(found["stated"].total())
        notes.append(Note(f"no element is stated for {atoms} of standard residues, water or ions; the names tell it"))
    if "guessed" in found:
        atoms = counted(found["guessed"].total())
        notes.append(Note(f"the element of {atoms} is guessed from the name: {_listed(found['guessed'])}"))
    if "" in found and named:
        hint = "the name suggests none" if guess else "--guess elements takes it from the name"
        notes.append(Note(f"{counted(found[''].total())} without an element: {hint}", lacks="element"))
    return notes


def _mass_note(found: Counter[str]) -> Note:
    return Note(f"the elements are told by the masses: {_listed(found)}")


def _listed(found: Counter[str]) -> str:
    words = [f"{symbol} {count}" for symbol, count in found.most_common(MOST_LISTED)]
    return ", ".join(words) + (" …" if len(found) > MOST_LISTED else "")
