"""From the fields of atom lines to the columns of a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options
from molrec_convert.text.lines import decoded

from ._pdb_atoms import AtomLines
from ._pdb_symbols import Found, elements_of
from ._repeats import Repeats

Array = np.ndarray[Any, Any]

EVEN_BLANK, UNLESS_BLANK = ("res_name",), ("altloc", "chain", "icode", "segid")
"""Fields of text that are columns of the same name: the latter only where some line has one."""
CHARGE = re.compile(r"(?P<before>[-+])?(?P<digit>[0-9])(?P<after>[-+])?")


class ColumnMaker:
    """Makes the columns of atoms of frames; several threads may ask."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._repeats = Repeats()

    def columns(self, atoms: AtomLines) -> dict[str, Column]:
        """The columns of atoms; notes go to `atoms`."""
        columns = {"record_type": self._text("record", atoms, str.upper)}
        columns |= self._signed(atoms, "serial", "id", "atom_id")
        columns["name"] = self._text("name", atoms, str.strip)
        for name in (*EVEN_BLANK, *UNLESS_BLANK):
            if name in EVEN_BLANK or any(atoms.text[name][1]):
                columns[name] = self._text(name, atoms)
        columns |= self._signed(atoms, "res_seq", "res_id", "res_seq")
        for name in ("x", "y", "z"):
            columns[name] = Column.of(atoms.numbers[name])
        for name in ("occupancy", "b_factor"):
            valid = atoms.valid[name]
            if valid is None or valid.any():
                columns[name] = self._repeats.once(name, (atoms.numbers[name], valid), Column.of)
        texts = [part for name in ("name", "res_name", "element") for part in atoms.text[name]]
        elements: Found = self._repeats.once("elements", tuple(texts), self._elements)
        charges: Found = self._repeats.once("charge", atoms.text["charge"], _formal_charges)
        atoms.notes += [*elements.notes, *charges.notes]
        return {**columns, **elements.columns, **charges.columns}

    def _text(self, name: str, atoms: AtomLines, change: Callable[[str], str] | None = None) -> Column:
        def make(codes: Array, words: Sequence[bytes]) -> Column:
            texts = texts_of(words)
            return _looked_up(codes, [change(text) for text in texts] if change else texts)

        column: Column = self._repeats.once(name, atoms.text[name], make)
        return column

    def _signed(self, atoms: AtomLines, field: str, target: str, signed: str) -> dict[str, Column]:
        """A number that a record wants unsigned; where some are negative, all stand in a signed column as well."""

        def make(values: Array, valid: Array | None) -> dict[str, Column]:
            if valid is not None and not valid.any():
                return {}
            negative = values < 0
            if not negative.any():
                return {target: Column.of(values.astype(np.uint64), valid)}
            there = ~negative if valid is None else valid & ~negative
            whole = np.where(negative, 0, values).astype(np.uint64)
            return {target: Column.of(whole, there), signed: Column.of(values, valid)}

        found: dict[str, Column] = self._repeats.once(field, (atoms.numbers[field], atoms.valid[field]), make)
        return found

    def _elements(self, *parts: Any) -> Found:
        names, residues, texts = ((parts[k], texts_of(parts[k + 1])) for k in (0, 2, 4))
        guess = "elements" in self._options.guess
        return elements_of(names, residues, texts, given=self._options.type_map, guess=guess)


def texts_of(words: Sequence[bytes]) -> list[str]:
    """Texts of a field."""
    return [decoded(word) for word in words]


def _looked_up(codes: Array, texts: Sequence[str]) -> Column:
    table = np.array(texts, dtype=STRING)
    return Column.of(table[codes] if len(table) else np.zeros(0, STRING))


def _formal_charges(codes: Array, words: Sequence[bytes]) -> Found:
    """Charges of columns 79-80, ``2-`` or ``-2``; a digit without a sign is none, unless it is 0."""
    charges: list[int | None] = []
    odd: list[bytes] = []
    for word in words:
        match = CHARGE.fullmatch(decoded(word))
        sign = match and (match["before"] or match["after"] or ("+" if match["digit"] == "0" else None))
        charges.append(int(f"{sign}{match['digit']}") if match and sign else None)
        if word and charges[-1] is None:
            odd.append(word)
    notes = [Note(f"columns 79-80 hold {decoded(odd[0])!r}, which is no charge")] if odd else []
    valid = np.array([charge is not None for charge in charges] or [False], np.bool_)[codes]
    if not valid.any():
        return Found({}, notes)
    values = np.array([charge or 0 for charge in charges], np.int64)[codes]
    return Found({"formal_charge": Column.of(values, None if valid.all() else valid)}, notes)
