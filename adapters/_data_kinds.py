"""The types that a data file gives the rows of a block: the numbers they have, or numbers for their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.mapping.inverse import undone
from molrec_convert.model import Block, Column
from molrec_convert.model.dtypes import STRING

from ._data_types import Masses, Types, elements_told

Array = np.ndarray[Any, Any]

LABEL = re.compile(r"[^\d#*\s][^\s]*")
"""A label begins with no digit, ``#`` or ``*``, and is one word."""
ORDINAL = re.compile(r"[1-9]\d{0,8}")
UNKNOWN = "X"
"""The label of atoms whose element is not known."""
MOST = 10_000_000


class Kinds:
    """The types of the rows of a block.

    Parameters
    ----------
    kind
        ``atom``, ``bond``, ``angle``, ``dihedral`` or ``improper``.
    block
        The rows; its ``type_id``, else its ``type``, else of atoms the element is what they are told apart by.
    about
        What is known of the source: its types that no row has, and their labels.
    """

    def __init__(self, kind: str, block: Block, about: Mapping[str, Any]) -> None:
        self.kind = kind
        labels = _document(_document(about.get("lammps_type_labels")).get(kind))
        self.labels = {int(number): str(label) for number, label in labels.items() if ORDINAL.fullmatch(number)}
        self.numbers = self._numbers(block)
        kept = _document(_document(about.get("lammps_header")).get("types")).get(kind, 0)
        highest = int(self.numbers.max()) if len(self.numbers) else 0
        self.count = max(highest, kept if isinstance(kept, int) else 0, *self.labels, 0)
        if self.count > MOST:
            raise FormatError(f"{kind} types go up to {self.count}, and a data file lists all of them")
        if len(self.numbers) and not self.numbers.all():
            raise FormatError(f"there are {kind} types of number 0, and LAMMPS's types begin at 1")
        self.labels = {number: label for number, label in self.labels.items() if LABEL.fullmatch(label)}

    def _numbers(self, block: Block) -> Array:
        words = block.columns.get("type")
        if "type_id" in block:
            numbers = block["type_id"]
            if words is not None:
                self._take_labels(numbers, words)
            return numbers
        if words is None and self.kind == "atom":
            words = elements_of(block)
        if words is None:
            return np.ones(block.count, dtype=np.uint64)
        texts = words.values if words.valid is None else np.where(words.valid, words.values, np.array("", dtype=STRING))
        found, first, codes = np.unique(texts, return_index=True, return_inverse=True)
        names = [name or UNKNOWN for name in found.tolist()]
        if all(ORDINAL.fullmatch(name) for name in names):
            table = [int(name) for name in names]
        else:
            known = {label: number for number, label in self.labels.items()}
            for place in np.argsort(first).tolist():
                known.setdefault(names[place], max(known.values(), default=0) + 1)
            self.labels = {number: label for label, number in known.items()}
            table = [known[name] for name in names]
        return np.array(table, dtype=np.uint64)[codes] if len(found) else np.zeros(0, dtype=np.uint64)

    def _take_labels(self, numbers: Array, words: Column) -> None:
        """The labels beside the numbers, where they are more than the numbers as text."""
        there = np.ones(len(words), dtype=bool) if words.valid is None else words.valid
        kinds, first, codes = np.unique(numbers[there], return_index=True, return_inverse=True)
        texts = words.values[there]
        names = texts[first].tolist() if len(kinds) else []
        if len(kinds) and not np.array_equal(texts[first][codes], texts):
            raise FormatError(f"{self.kind} types of one number have several labels")
        for number, name in zip(kinds.tolist(), names, strict=True):
            if name != str(number):
                self.labels[number] = name
            else:
                self.labels.pop(number, None)

    def words(self) -> tuple[Array, list[bytes]]:
        """The labels of the rows, as codes and words."""
        table = self.table()
        kinds, codes = np.unique(self.numbers, return_inverse=True)
        return codes.astype(np.int32), [table[kind].encode() for kind in kinds.tolist()]

    def table(self) -> dict[int, str]:
        """The label of every type, its number's where it has none; empty where no type has one."""
        if not self.labels:
            return {}
        names = {number: self.labels.get(number, f"{self.kind}_{number}") for number in range(1, self.count + 1)}
        if len(set(names.values())) < len(names):
            raise FormatError(f"several {self.kind} types have the same label")
        return names


def _document(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def elements_of(atoms: Block) -> Column | None:
    """The elements of atoms, which their atomic numbers tell as well; None where nothing does."""
    if "element" in atoms:
        return atoms.column("element")
    if "atomic_number" not in atoms:
        return None
    symbols, column = np.array(SYMBOLS, dtype=STRING), atoms.column("atomic_number")
    known = column.values < len(SYMBOLS)
    return Column.of(symbols[np.where(known, column.values, 0).astype(np.intp)], column.valid)


def masses_of(kinds: Kinds, atoms: Block, about: Mapping[str, Any], scale: float) -> Masses:
    """The mass of every type with the comment beside it: the source's own numbers where they still are the atoms'.

    Raises
    ------
    FormatError
        Where the atoms of a type differ in their mass.
    """
    masses = Masses(
        {int(kind): float(mass) for kind, mass in _document(about.get("lammps_type_masses")).items()},
        {int(kind): str(text) for kind, text in _document(about.get("lammps_mass_comments")).items()},
    )
    column = atoms.columns.get("mass") or atoms.columns.get("mass_lj")
    if column is not None and len(column):
        _take_masses(masses, kinds.numbers, column, scale)
    if masses.values:
        for kind in range(1, kinds.count + 1):
            masses.values.setdefault(kind, 1.0)
    if masses.values and "element" in atoms:
        _take_elements(masses, kinds, atoms.column("element"), scale)
    return masses


def _take_masses(masses: Masses, numbers: Array, column: Column, scale: float) -> None:
    there = np.ones(len(numbers), dtype=bool) if column.valid is None else column.valid
    found, first, codes = np.unique(numbers[there], return_index=True, return_inverse=True)
    values = column.values[there]
    table = values[first]
    if len(found) and not np.array_equal(table[codes], values):
        row = int(np.nonzero(table[codes] != values)[0][0])
        kind, pair = int(found[codes[row]]), sorted((float(table[codes[row]]), float(values[row])))
        message = f"atoms of type {kind} have the masses {pair[0]!r} and {pair[1]!r}; a data file has one a type"
        raise FormatError(message)
    for kind, mass in zip(found.tolist(), table.tolist(), strict=True):
        if masses.values.get(kind, np.nan) * scale != mass:
            masses.values[kind] = float(undone(np.array([mass]), scale)[0])


def _take_elements(masses: Masses, kinds: Kinds, column: Column, scale: float) -> None:
    """Write an element beside a mass that does not tell it."""
    types = Types("atom", kinds.count, dict(kinds.labels))
    told = elements_told(types, masses, scale)
    found, first, codes = np.unique(kinds.numbers, return_index=True, return_inverse=True)
    if not len(found) or not np.array_equal(column.values[first][codes], column.values):
        return
    for kind, symbol in zip(found.tolist(), column.values[first].tolist(), strict=True):
        if symbol and told.get(kind) != symbol and kind not in masses.comments:
            masses.comments[kind] = symbol
