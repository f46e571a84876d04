"""From the fields of GRO atom lines to the columns of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options

from ._elements import Elements, elements_of
from ._gro_atoms import AtomLines
from ._gro_odd import CALLED
from ._pdb_columns import texts_of
from ._repeats import Repeats

Array = np.ndarray[Any, Any]

PERIOD = 10**5
"""Numbers of five columns begin again at 0 when they reach it."""
NUMBERS = {"number": ("id", "atom_id"), "res_seq": ("res_id", "res_seq")}
"""The columns of atom and residue numbers, and those beside them that hold negative ones too."""


class Found(NamedTuple):
    """Columns, and what was noticed."""

    columns: dict[str, Column]
    notes: list[Note]


class ColumnMaker:
    """Makes the columns of atoms of frames; several threads may ask."""

    def __init__(self, options: Options) -> None:
        self._guess = "elements" in options.guess
        self._given = options.type_map
        self._repeats = Repeats()

    def columns(self, atoms: AtomLines) -> dict[str, Column]:
        """The columns of atoms; notes go to `atoms`."""
        columns = dict(self._numbers("number", atoms))
        for name in ("name", "res_name"):
            columns[name] = self._repeats.once(name, atoms.text[name], _looked_up)
        columns |= self._numbers("res_seq", atoms)
        for name, values in atoms.reals.items():
            columns[name] = Column.of(values, atoms.moving if name.startswith("v") else None)
        parts = tuple(part for name in ("name", "res_name") for part in atoms.text[name])
        found: Elements = self._repeats.once("elements", parts, self._elements)
        columns |= {} if found.column is None else {"element": found.column}
        atoms.notes += found.notes
        return columns

    def _numbers(self, name: str, atoms: AtomLines) -> dict[str, Column]:
        target, signed = NUMBERS[name]

        def make(values: Array, valid: Array | None) -> Found:
            whole = counted_on(values, valid)
            wraps = not np.array_equal(whole, values)
            what = f"{CALLED[name]}s begin again at 0 after {PERIOD - 1}: they are counted on"
            return Found(_unsigned(whole, valid, target, signed), [Note(what)] if wraps else [])

        found: Found = self._repeats.once(name, (atoms.whole[name], atoms.known[name]), make)
        atoms.notes += found.notes
        return found.columns

    def _elements(self, names: Array, words: Sequence[bytes], residues: Array, labels: Sequence[bytes]) -> Elements:
        """Elements as a person names them, as the names of standard residues tell them, or as names suggest them."""
        texts = (names, texts_of(words)), (residues, texts_of(labels))
        return elements_of(*texts, None, given=self._given, guess=self._guess)


def counted_on(values: Array, valid: Array | None = None) -> Array:
    """Numbers of five columns that begin again at 0 after 99999, counted on; they begin anew where they fall otherwise.

    >>> counted_on(np.array([99998, 99999, 0, 1, 1, 7])).tolist(), counted_on(np.array([99998, 0, 1])).tolist()
    ([99998, 99999, 100000, 100001, 100001, 100007], [99998, 0, 1])
    """
    there = values if valid is None else values[valid]
    falls = np.flatnonzero(there[1:] < there[:-1])
    wrapped = (there[falls] == PERIOD - 1) & (there[falls + 1] == 0)
    if not wrapped.any():
        return values
    count = np.cumsum(wrapped)
    count -= np.maximum.accumulate(np.where(wrapped, 0, count))
    rounds = np.repeat(np.append(0, count), np.diff(falls + 1, prepend=0, append=len(there)))
    found: Array = values.copy()
    found[slice(None) if valid is None else valid] += PERIOD * rounds
    return found


def _unsigned(values: Array, valid: Array | None, target: str, signed: str) -> dict[str, Column]:
    """Numbers that a record wants unsigned; where some are negative, all stand in a signed column as well."""
    if valid is not None and not valid.any():
        return {}
    negative = values < 0
    if not negative.any():
        return {target: Column.of(values.astype(np.uint64), valid)}
    there = ~negative if valid is None else valid & ~negative
    return {target: Column.of(np.where(negative, 0, values).astype(np.uint64), there), signed: Column.of(values, valid)}


def _looked_up(codes: Array, words: Sequence[bytes]) -> Column:
    table = np.array(texts_of(words), dtype=STRING)
    return Column.of(table[codes] if len(table) else np.zeros(0, STRING))
