"""Bonds, angles, dihedrals and impropers of a LAMMPS data file: from atom ids to rows, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from molrec_convert.model import Block, Column
from molrec_convert.model.dtypes import ENDPOINTS, STRING

from ._data_sections import Lines, Parts, Section
from ._data_types import Types

Array = np.ndarray[Any, Any]

MEMBERS = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4}
"""How many atoms each has."""


class Ids:
    """The ids of the atoms of a frame, to find their rows."""

    def __init__(self, ids: Array) -> None:
        self._count = len(ids)
        self._first = int(ids[0]) if len(ids) else 0
        self._running = bool(len(ids)) and bool((np.diff(ids) == 1).all())
        self._order: Array | None = None
        self._ranked = ids
        if not self._running and not (ids[1:] > ids[:-1]).all():
            self._order = np.argsort(ids, kind="stable")
            self._ranked = ids[self._order]

    @property
    def repeated(self) -> Array:
        """Ids that several atoms have."""
        found: Array = self._ranked[1:][self._ranked[1:] == self._ranked[:-1]]
        return found

    def rows(self, wanted: Array) -> tuple[Array, Array]:
        """The row of every id, and which ids there are."""
        if not self._count:
            return np.zeros(len(wanted), dtype=np.uint64), np.zeros(len(wanted), dtype=bool)
        if self._running:
            rows = wanted - np.uint64(self._first)  # a smaller id wraps to a row far beyond the last
            found = rows < np.uint64(self._count)
            return np.where(found, rows, 0), found
        places = np.minimum(np.searchsorted(self._ranked, wanted), self._count - 1)
        found = self._ranked[places] == wanted
        rows = places if self._order is None else self._order[places]
        return rows.astype(np.uint64), found


def read_block(parts: Parts, section: Section, due: int | None, types: Types, ids: Ids) -> Block:
    """The block of a section such as ``Bonds``.

    Raises
    ------
    FormatError
        With the line of an atom that there is not, or that several have the id of.
    """
    members = MEMBERS[section.name.lower()]
    ends = ENDPOINTS[:members]
    names = ("id", "type", *(f"atom {k + 1}" for k in range(members)))
    (numbers, kinds, *atoms), lines = types.scan(parts, parts.lines(section, due), "uu" + "u" * members, 1, names)
    columns = {"id": Column.of(numbers)}
    repeated = ids.repeated
    for end, wanted in zip(ends, atoms, strict=True):
        rows, found = ids.rows(wanted)
        if not found.all():
            _refuse(parts, lines, ~found, wanted, "there is no atom of id {}")
        if len(repeated) and (twice := np.isin(wanted, repeated)).any():
            _refuse(parts, lines, twice, wanted, "several atoms have the id {}")
        columns[end] = Column.of(rows)
    columns["type"] = types.column(kinds, always=True) or Column.of(np.zeros(0, dtype=STRING))
    columns["type_id"] = Column.of(kinds)
    if lines.comments is not None:
        columns["comment"] = Column.of(np.array(lines.comments, dtype=STRING))
    return Block.of(columns, lines.count)


def _refuse(parts: Parts, lines: Lines, wrong: Array, wanted: Array, message: str) -> None:
    row = int(np.argmax(wrong))
    raise parts.error(message.format(wanted[row]), lines.number(row))
