"""The types of a LAMMPS data file: numbers, their labels, their masses, and the elements that these tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from molrec_convert.mapping.elements import NUMBERS, SYMBOLS, element_of_mass, element_of_name, nearest_element
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING
from molrec_convert.text.lines import decoded
from molrec_convert.text.numbers import parse_integer

from ._data_header import Header
from ._data_sections import ColumnError, Lines, Parts, Section

Array = np.ndarray[Any, Any]


@dataclass(slots=True)
class Types:
    """The types of atoms, or of one kind of bonds.

    Parameters
    ----------
    kind
        ``atom``, ``bond``, ``angle``, ``dihedral`` or ``improper``.
    count
        How many there are; None where the file does not say.
    labels
        The label of each number that has one.
    numbered
        Whether the lines that were read last have numbers where there are labels.
    """

    kind: str
    count: int | None = None
    labels: dict[int, str] = field(default_factory=dict)
    numbered: bool = False

    @classmethod
    def of(cls, kind: str, header: Header) -> Types:
        """The types that the header announces."""
        return cls(kind, header.counts.get(f"{kind} types"))

    def read_labels(self, parts: Parts, section: Section) -> None:
        """Take the section of their labels."""
        lines = parts.lines(section, self.count)
        (numbers, (codes, words)), lines = parts.scan(lines, "us", ("type", "label"))
        self._check(parts, lines, numbers)
        for row, number in enumerate(numbers.tolist()):
            label = decoded(words[codes[row]])
            if number in self.labels:
                raise parts.error(f"{self.kind} type {number} has two labels", lines.number(row))
            if label in self.labels.values():
                raise parts.error(f"two {self.kind} types have the label {label!r}", lines.number(row))
            self.labels[number] = label

    def scan(
        self, parts: Parts, lines: Lines, kinds: str, place: int, names: tuple[str, ...]
    ) -> tuple[list[Any], Lines]:
        """The columns of a section whose column `place` is the type: its numbers there, whether it has labels or not.

        Raises
        ------
        FormatError
            With the line of a type that there is not.
        """
        row = lines.first_row()
        if not self.labels or (len(row) > place and _is_integer(row[place])):
            try:
                columns, lines = parts.scan(lines, kinds, names)
            except ColumnError as error:
                if not self.labels or error.fault.column != place or error.fault.kind != "number":
                    raise
            else:
                self._check(parts, lines, columns[place])
                self.numbered = bool(self.labels)
                return columns, lines
        columns, lines = parts.scan(lines, kinds[:place] + "s" + kinds[place + 1 :], names)
        columns[place] = self._numbers(parts, lines, *columns[place])
        self.numbered = False
        self._check(parts, lines, columns[place])
        return columns, lines

    def _numbers(self, parts: Parts, lines: Lines, codes: Array, words: list[bytes]) -> Array:
        known = {label: number for number, label in self.labels.items()}
        found = np.zeros(len(words), dtype=np.uint64)
        for code, word in enumerate(words):
            label = decoded(word)
            if label in known:
                found[code] = known[label]
            elif _is_integer(word):
                found[code] = parse_integer(word)
            else:
                row = int(np.argmax(codes == code))
                raise parts.error(f"there is no {self.kind} type {label!r}", lines.number(row))
        return found[codes] if len(words) else np.zeros(0, dtype=np.uint64)

    def _check(self, parts: Parts, lines: Lines, numbers: Array) -> None:
        wrong = numbers == 0
        if self.count is not None:
            wrong |= numbers > self.count
        if wrong.any():
            row = int(np.argmax(wrong))
            there = "begin at 1" if not numbers[row] else f"go from 1 to {self.count}" if self.count else "are none"
            raise parts.error(f"{self.kind} type {numbers[row]}: the types {there}", lines.number(row))

    def column(self, numbers: Array, *, always: bool) -> Column | None:
        """The labels of some types as text, their numbers where they have none; None without any, unless `always`."""
        if not self.labels and not always:
            return None
        kinds, codes = np.unique(numbers, return_inverse=True)
        words = np.array([self.labels.get(kind, str(kind)) for kind in kinds.tolist()], dtype=STRING)
        return Column.of(words[codes] if len(kinds) else np.zeros(0, dtype=STRING))


def as_text(numbers: Array) -> Column:
    """Numbers in decimal."""
    kinds, codes = np.unique(numbers, return_inverse=True)
    words = np.array([str(kind) for kind in kinds.tolist()], dtype=STRING)
    return Column.of(words[codes] if len(kinds) else np.zeros(0, dtype=STRING))


def _is_integer(word: bytes) -> bool:
    return word.lstrip(b"+").isdigit() and len(word) < 20


@dataclass(slots=True)
class Masses:
    """The section ``Masses``: a mass a type, in the file's unit, and the comments beside them."""

    values: dict[int, float] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)

    @classmethod
    def read(cls, parts: Parts, section: Section, types: Types) -> Masses:
        """Take the section."""
        lines = parts.lines(section, types.count)
        (numbers, masses), lines = types.scan(parts, lines, "ud", 0, ("type", "mass"))
        made = cls()
        for row, (number, mass) in enumerate(zip(numbers.tolist(), masses.tolist(), strict=True)):
            if number in made.values:
                raise parts.error(f"atom type {number} has two masses", lines.number(row))
            if not np.isfinite(mass):
                raise parts.error(f"the mass of atom type {number} is {mass}", lines.number(row))
            made.values[number] = mass
            if lines.comments is not None and lines.comments[row]:
                made.comments[number] = lines.comments[row]
        return made

    def column(self, numbers: Array, scale: float) -> Column:
        """The mass of every atom; null where its type has none."""
        kinds, codes = np.unique(numbers, return_inverse=True)
        table = np.array([self.values.get(kind, 0.0) for kind in kinds.tolist()], dtype=np.float64)
        table = table if scale == 1.0 else table * scale
        known = np.array([kind in self.values for kind in kinds.tolist()], dtype=bool)
        values = table[codes] if len(kinds) else np.zeros(0)
        return Column.of(values, None if known.all() else known[codes])


def elements_told(types: Types, masses: Masses, scale: float, *, guess: bool = False) -> dict[int, str]:
    """The element of every type that the file tells: by its mass, or by its name where the mass bears it out.

    A file without masses tells elements by its labels, where all of them are symbols, or the X of an unknown one. A
    guess takes the nearest element of a rounded mass, too.
    """
    if not masses.values:
        symbols = {number: label for number, label in types.labels.items() if label != SYMBOLS[0]}
        return symbols if all(map(is_symbol, symbols.values())) else {}
    told: dict[int, str] = {}
    for number, raw in masses.values.items():
        mass = raw * scale
        names = (masses.comments.get(number, "").split() or [""])[0], types.labels.get(number, "")
        said = (element_of_name(name, mass) for name in names)
        symbol = next((each for each in said if each), None) or element_of_mass(mass)
        if symbol is None and guess:
            symbol = nearest_element(mass)
        if symbol is not None:
            told[number] = symbol
    return told


def is_symbol(label: str) -> bool:
    """Whether a label is the symbol of an element, its case as it should be."""
    return label in NUMBERS


def elements_column(numbers: Array, told: dict[int, str]) -> Column:
    """The element of every atom; null where its type tells none."""
    kinds, codes = np.unique(numbers, return_inverse=True)
    words = np.array([told.get(kind, "") for kind in kinds.tolist()], dtype=STRING)
    known = np.array([kind in told for kind in kinds.tolist()], dtype=bool)
    return Column.of(words[codes], None if known.all() else known[codes])
