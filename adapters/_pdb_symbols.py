"""The elements of the atoms of a PDB frame, decided once for every combination of name, residue and columns 77-78."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING

from ._pdb_elements import element_guessed, element_of_columns, name_field, seems_aligned
from ._pdb_fields import counted
from ._residues import element_stated

Array = np.ndarray[Any, Any]
Labels = tuple[Array, Sequence[str]]
"""A field of repeated texts: one code a row."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is known of the atoms of one name, residue and element field.

    Parameters
    ----------
    field
        The four columns of the name.
    element
        The element; None where it is not known.
    source
        How: ``columns``, ``given``, ``stated``, ``guessed``, or nothing.
    isotope
        The mass number that the columns state.
    other
        What stands in the columns and is no element.
    """

    field: str
    element: str | None
    source: str = ""
    isotope: int | None = None
    other: str = ""


class Found(NamedTuple):
    """The columns that follow, and what was noticed."""

    columns: dict[str, Column]
    notes: list[Note]


def elements_of(names: Labels, residues: Labels, texts: Labels, *, given: Mapping[str, str], guess: bool) -> Found:
    """Elements, isotopes, what else stands in their columns, and names that are not aligned by element.

    Parameters
    ----------
    names, residues, texts
        Columns 13-16 as they stand, the residues, columns 77-78.
    given
        Elements by name, for atoms whose columns state none.
    guess
        Whether names may be guessed at.
    """
    distinct, rows = combinations(names[0], residues[0], texts[0])
    fields = [f"{text:<4}" for text in names[1]]
    aligned = seems_aligned(fields)
    symbols = [
        _symbol(fields[name], residues[1][residue], texts[1][text], given, guess=guess, aligned=aligned)
        for name, residue, text in distinct
    ]
    counts = np.bincount(rows, minlength=len(symbols)).tolist()
    columns: dict[str, Column] = {}
    known = np.array([symbol.element is not None for symbol in symbols], np.bool_)
    if known.any():
        valid = known[rows]
        columns["element"] = Column.of(_texts((each.element or "" for each in symbols), rows),
                                       None if valid.all() else valid)  # fmt: skip
    if any(symbol.isotope for symbol in symbols):
        masses = np.array([symbol.isotope or 0 for symbol in symbols], np.uint64)[rows]
        columns["isotope"] = Column.of(masses, masses > 0)
    if any(symbol.other for symbol in symbols):
        columns["pdb_element"] = Column.of(_texts((symbol.other for symbol in symbols), rows))
    if any(symbol.field != name_field(symbol.field.strip(), symbol.element) for symbol in symbols):
        columns["pdb_name"] = Column.of(_texts((symbol.field for symbol in symbols), rows))
    return Found(columns, list(_notes(symbols, counts, guess=guess)))


def combinations(names: Array, residues: Array, texts: Array) -> tuple[list[tuple[int, int, int]], Array]:
    """The distinct combinations of three codes, and which one each row is."""
    sizes = [int(codes.max()) + 1 if len(codes) else 1 for codes in (residues, texts)]
    keys = (names.astype(np.int64) * sizes[0] + residues) * sizes[1] + texts
    distinct, rows = np.unique(keys, return_inverse=True)
    found = []
    for key in distinct.tolist():
        rest, text = divmod(key, sizes[1])
        name, residue = divmod(rest, sizes[0])
        found.append((name, residue, text))
    return found, rows


def _symbol(field: str, residue: str, text: str, given: Mapping[str, str], *, guess: bool, aligned: bool) -> Symbol:
    element, isotope = element_of_columns(text)
    if element is not None:
        return Symbol(field, element, "columns", isotope)
    other = "" if text.isdecimal() else text  # line numbers stand there in old files
    name = field.strip()
    if name in given:
        return Symbol(field, given[name], "given", other=other)
    if (element := element_stated(name, residue)) is not None:
        return Symbol(field, element, "stated", other=other)
    if guess and (element := element_guessed(field, residue, aligned=aligned)) is not None:
        return Symbol(field, element, "guessed", other=other)
    return Symbol(field, None, other=other)


def _texts(words: Iterator[str], rows: Array) -> Array:
    table = np.array(list(words), dtype=STRING)
    return table[rows] if len(table) else np.zeros(0, STRING)


def _notes(symbols: Sequence[Symbol], counts: Sequence[int], *, guess: bool) -> Iterator[Note]:
    number: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for symbol, count in zip(symbols, counts, strict=True):
        number[symbol.source] += count
        if symbol.source == "guessed" and symbol.element is not None:
            guessed[symbol.element] += count
        if symbol.other:
            other[symbol.other] += count
    if other:
        yield Note(f"columns 77-78 of {counted(other.total())} hold no element, but {_listed(other)}")
    if number["stated"]:
        atoms = counted(number["stated"])
        yield Note(f"columns 77-78 state no element for {atoms} of standard residues, water or ions; the names tell it")
    if guessed:
        yield Note(f"the element of {counted(guessed.total())} is guessed from the name: {_listed(guessed)}")
    if number[""]:
        hint = "the name suggests none" if guess else "--guess elements takes it from the name"
        yield Note(f"{counted(number[''])} without an element: {hint}", lacks="element")


def _listed(found: Counter[str], most: int = 6) -> str:
    words = [f"{text} {count}" for text, count in found.most_common(most)]
    return ", ".join(words) + (" …" if len(found) > most else "")
