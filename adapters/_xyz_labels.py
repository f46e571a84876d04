"""The labels in the first column of an XYZ file: elements where they are, types where they are not.

Decisions: a label is an element as a whole or not at all. Its case does not matter where all labels of a frame are
elements then; the label itself is kept as the type. Beside elements, a label that is none is the unknown element X.
Numbers are labels, never atomic numbers, unless a type map says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import OptionError
from molrec_convert.mapping.elements import NUMBERS, SYMBOLS
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING, same_bits
from molrec_convert.text.lines import decoded

Array = np.ndarray[Any, Any]
Words = tuple[Array, list[bytes]]

ISOTOPES = {"D": "H", "T": "H"}
ATOMIC_NUMBERS = frozenset(map(str, NUMBERS.values()))
FOLDED = {symbol.upper(): symbol for symbol in NUMBERS}


class Labels(NamedTuple):
    """The columns that labels become, and what a person should know of them."""

    element: Column | None
    type: Column | None
    note: str | None


class TextReader:
    """Makes columns of scanned words: the same object as long as a column stays the same, which saves making it anew.

    Parameters
    ----------
    type_map
        The element of every label, where a person has said it.
    path
        The file, for errors.
    """

    def __init__(self, type_map: Mapping[str, str], path: str) -> None:
        self._type_map = type_map
        self._path = path
        self._lock = Lock()
        self._last: dict[str, tuple[Array, list[bytes], Any]] = {}

    def labels(self, codes: Array, words: list[bytes]) -> Labels:
        """The columns of labels, given as codes into words.

        Raises
        ------
        OptionError
            Where the type map leaves a label out.
        """
        labels: Labels = self._kept("labels", codes, words, self._made_labels)
        return labels

    def texts(self, name: str, codes: Array, words: list[bytes]) -> Column:
        """A column of text."""
        column: Column = self._kept(
            f"column {name}", codes, words, lambda codes, words: text_column(cells_of(words), codes)
        )
        return column

    def elements(self, numbers: Array) -> Column | None:
        """The elements of atomic numbers; None where none has one."""
        column: Column | None = self._kept("numbers", numbers, [], lambda numbers, _: elements_of_numbers(numbers))
        return column

    def _kept(self, name: str, codes: Array, words: list[bytes], make: Callable[[Array, list[bytes]], Any]) -> Any:
        with self._lock:
            last = self._last.get(name)
            if last is None or last[1] != words or not same_bits(last[0], codes):
                last = (codes, words, make(codes, words))
                self._last[name] = last
            return last[2]

    def _made_labels(self, codes: Array, words: list[bytes]) -> Labels:
        names = texts_of(words)
        symbols, note = (self._mapped(names), None) if self._type_map else elements_of(names)
        element = None if symbols is None else text_column(symbols, codes)
        kinds = None if symbols == names else text_column(names, codes)
        return Labels(element, kinds, note)

    def _mapped(self, names: Sequence[str]) -> list[str]:
        found = [self._type_map.get(name) or exact_element(name) for name in names]
        missing = [name for name, symbol in zip(names, found, strict=True) if symbol is None]
        if missing:
            raise OptionError(f"--type-map names no element for type {', '.join(missing)}", path=self._path)
        return [symbol for symbol in found if symbol is not None]


def elements_of(names: Sequence[str]) -> tuple[list[str] | None, str | None]:
    """The element of every label, None where none is one; and a note where that is not plain."""
    exact = [exact_element(name) for name in names]
    if all(exact):
        return [symbol for symbol in exact if symbol], None
    folded = [symbol or FOLDED.get(name.upper(), "") for name, symbol in zip(names, exact, strict=True)]
    if all(folded):
        changed = [f"{name} for {symbol}" for name, symbol in zip(names, folded, strict=True) if name != symbol]
        return folded, f"labels are taken for elements whatever their case: {listed(changed)}"
    unknown = [name for name, symbol in zip(names, exact, strict=True) if symbol is None]
    example = f"{unknown[0]}={_example(unknown[0])}"
    note = f"the labels {listed(unknown)} are no elements; --type-map {example},… names them"
    return ([symbol or SYMBOLS[0] for symbol in exact] if any(exact) else None), note


def _example(label: str) -> str:
    """An element for an example: that of an atomic number, which a label may be."""
    return SYMBOLS[int(label)] if label in ATOMIC_NUMBERS else "C"


def exact_element(name: str) -> str | None:
    """The element that a label names in its own case; isotopes of hydrogen are hydrogen, X is an unknown one."""
    return name if name in NUMBERS or name == SYMBOLS[0] else ISOTOPES.get(name)


def elements_of_numbers(numbers: Array) -> Column | None:
    """The elements of atomic numbers; None where none has one."""
    known = (numbers > 0) & (numbers < len(SYMBOLS))
    if numbers.size and not known.any():
        return None
    return text_column(SYMBOLS, np.where(known, numbers, 0).astype(np.int64))


def text_column(words: Sequence[str], codes: Array) -> Column:
    """A column of words by their codes."""
    texts = np.array(words, dtype=STRING)
    return Column.of(texts[codes] if len(texts) else np.zeros(0, dtype=STRING))


def texts_of(words: Sequence[bytes]) -> list[str]:
    """Words as text; ValueError for one that no record can hold."""
    for word in words:
        if b"\0" in word:
            raise ValueError(f"{decoded(word)!r} holds a NUL")
    return [decoded(word) for word in words]


def cells_of(words: Sequence[bytes]) -> list[str]:
    """The texts of a column; see `EMPTY`."""
    return ["" if text == EMPTY else text for text in texts_of(words)]


EMPTY = '""'
"""How an empty text stands in an atom line, which cannot be without a word."""


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first names."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
