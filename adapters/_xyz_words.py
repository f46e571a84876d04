"""Text columns as codes into their words, which is how they are printed; kept as long as a column stays the same."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from molrec_convert.model import Column
from molrec_convert.model.dtypes import same_bits

from ._xyz_labels import elements_of, text_column

Array = np.ndarray[Any, Any]
Coded = tuple[Array, list[str]]


class WordTable:
    """Remembers the words of the last column of every name."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._coded: dict[str, tuple[Array, Coded]] = {}
        self._elements: tuple[Array, Column, bool] | None = None

    def coded(self, name: str, values: Array) -> Coded:
        """The words of a column, each once, and the code of every row."""
        with self._lock:
            last = self._coded.get(name)
            if last is None or (last[0] is not values and not same_bits(last[0], values)):
                codes: dict[str, int] = {}
                found = (codes.setdefault(word, len(codes)) for word in values.ravel().tolist())
                last = (values, (np.fromiter(found, np.int32, values.size).reshape(values.shape), list(codes)))
                self._coded[name] = last
            return last[1]

    def are_words(self, name: str, values: Array, *, several: bool = False) -> bool:
        """Whether every text of a column is one word, or none, as an atom line can have it; or several on one line."""
        words = self.coded(name, values)[1]
        if several:
            return all(len(word.splitlines()) <= 1 and word == word.strip() for word in words)
        return all(not word or word.split() == [word] for word in words)

    def give_elements(self, name: str, labels: Column, element: Column) -> bool:
        """Whether a column of elements is what reading the labels gives."""
        last = self._elements
        if last is not None and last[0] is labels.values and last[1].same(element):
            return last[2]
        codes, words = self.coded(name, labels.values)
        symbols = elements_of(words)[0]
        given = symbols is not None and text_column(symbols, codes).same(element)
        self._elements = (labels.values, element, given)
        return given
