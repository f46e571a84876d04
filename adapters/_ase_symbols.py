"""Atomic numbers of atoms of any record: from its numbers, its elements, or labels that are elements; never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.mapping.elements import NUMBERS, SYMBOLS
from molrec_convert.model import Column

Array = np.ndarray[Any, Any]

LABELS = ("element", "type")
"""Columns of text that may name elements, the first that does holds."""
MOST_NAMES = 5


def numbers_of(columns: Mapping[str, Column], count: int) -> tuple[Array, list[Note]]:
    """Atomic numbers i64[N], 0 for atoms without a known element, and a note where there are such."""
    numbers = np.zeros(count, dtype=np.int64)
    stated = columns.get("atomic_number")
    if stated is not None:
        known = (stated.values < len(SYMBOLS)) & (True if stated.valid is None else stated.valid)
        numbers[known] = stated.values[known]
    for name in LABELS:
        column = columns.get(name)
        if column is not None and column.dtype == "string" and not numbers.all():
            numbers = np.where(numbers == 0, _by_labels(column), numbers)
    return numbers, _notes(numbers, columns)


def are_elements(column: Column) -> bool:
    """Whether a column of elements says no more than atomic numbers do."""
    return bool(((_by_labels(column) > 0) | (column.values == SYMBOLS[0])).all())


def _by_labels(column: Column) -> Array:
    # Columns that hold for all frames are one object, which nobody can write to.
    return _looked_up(column) if not column.values.flags.writeable else _looked_up.__wrapped__(column)


@lru_cache(maxsize=8)
def _looked_up(column: Column) -> Array:
    words, codes = np.unique(column.values, return_inverse=True)
    found = np.array([NUMBERS.get(word, 0) for word in words.tolist()], dtype=np.int64)
    numbers: Array = found[codes] if len(found) else np.zeros(len(codes), dtype=np.int64)
    if column.valid is not None:
        numbers[~column.valid] = 0
    return numbers


def _notes(numbers: Array, columns: Mapping[str, Column]) -> list[Note]:
    unknown = numbers == 0
    count = int(np.count_nonzero(unknown))
    labels = next((columns[name] for name in (*reversed(LABELS), "type_id") if name in columns), None)
    if not count:
        return []
    if labels is not None and labels.dtype == "string":
        names = sorted(set(labels.values[unknown].tolist()))
        if names == [SYMBOLS[0]]:
            return []  # the record itself says so
        shown = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        return [Note(f"{count} atoms have no known element and are X: {shown}")]
    return [Note(f"{count} atoms have no known element and are X")]
