"""From scanned atom lines of a dump to the columns of a record, of one snapshot or of many together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError
from molrec_convert.model import Block, Box, Column
from molrec_convert.model.dtypes import STRING, same_bits
from molrec_convert.options import Options
from molrec_convert.stack import Tiled, repeats
from molrec_convert.steps import unwrapped
from molrec_convert.text.lines import decoded
from molrec_convert.text.table import TableScan

from ._dump_columns import BY_SOURCE, NARROW, SIGNED, Plan, triple
from ._dump_header import Header
from ._elements import MassElements
from ._lammps import Style, cartesian, elements_of_types, order_by_id, stacked_order_by_id, type_map_note

Array = np.ndarray[Any, Any]

TELLING = frozenset(("type_id", "type", "mass"))
"""The columns that may tell elements."""
FIRST_TYPES = (1, 2)
"""The types of an example where no atom line shows any."""
NO_IDS = "the atoms have no ids, their order may differ between snapshots"


class AtomColumns:
    """Makes the columns of atoms; several threads may ask.

    Parameters
    ----------
    path
        The file, for errors.
    options
        What was asked for.
    """

    def __init__(self, path: str, options: Options) -> None:
        self._path, self._options = path, options
        self._masses = MassElements()
        self._rising: Array = np.zeros(0, np.uint64)
        self.type_map_note = type_map_note(FIRST_TYPES)
        """What is said of types that are no elements."""

    def scanned(self, plan: Plan, scan: TableScan, header: Header, box: Box, style: Style) -> dict[str, Column]:
        """The columns of scanned atom lines; `FormatError` for what a record cannot hold."""
        columns: dict[str, Column] = {}
        for row, found in zip(plan.rows, scan.columns, strict=True):
            columns[row.target] = self._column(row.source, row.target, row.kind, row.quantity, found, header, style)
        for source, target in SIGNED.items():
            if target in columns:
                values = columns[target].values
                whole = np.where(values < 0, 0, values).astype(np.uint64)
                columns[BY_SOURCE[source].target] = Column(whole, valid=values >= 0)
        if plan.form is not None and plan.scaled:
            if not box.defined:
                message = "scaled positions need a cell, and the bounds enclose no volume"
                raise FormatError(message, path=self._path, line=header.bounds_line)
            parts = [columns[name].values for name in triple(plan.form)]
            for name, values in zip("xyz", cartesian(parts, box), strict=True):
                columns[name] = Column.of(values)
        return columns

    def add_elements(self, columns: dict[str, Column], style: Style) -> list[Note]:
        """Add the elements that types or masses tell; what a person should know of them."""
        if "element" in columns:
            return []
        kinds = columns.get("type_id") or columns.get("type")
        given: Mapping[str, str] = self._options.type_map
        if kinds is not None and given:
            columns["element"] = elements_of_types(kinds, given, path=self._path)
            return []
        if "mass" in columns and style.name is not None:  # else the unit of masses is not known
            told = self._masses.of(columns["mass"])
            if told.column is not None and told.column.valid is None:  # a dump marks no missing values
                columns["element"] = told.column
                return told.notes
        return [] if kinds is None else [Note(self.type_map_note, lacks="element")]

    def add_stacked_elements(self, columns: dict[str, Column], style: Style, frames: int) -> list[Note] | None:
        """The same for many snapshots; None where what tells elements is not the same in all of them."""
        if "element" in columns:
            return []
        told = {name: columns[name] for name in TELLING & columns.keys()}
        rows = len(next(iter(columns.values()))) // frames
        one = {name: column.rows(slice(rows)) for name, column in told.items()}
        notes = self.add_elements(one, style)
        if "mass" in told or "element" in one:
            if not all(repeats(column, frames) for column in told.values()):
                return None
            if "element" in one:
                columns["element"] = Tiled(one["element"], frames)
        return notes

    def sorted_by_id(self, columns: dict[str, Column]) -> tuple[dict[str, Column], list[Note]]:
        """The rows sorted by id, unless the file's order is to be kept, or there are no distinct ids."""
        ids = columns.get("id")
        if self._options.keep_order or (ids is not None and ids.valid is not None):
            return columns, []
        if ids is None:
            return columns, [Note(NO_IDS)]
        if same_bits(ids.values, self._rising):  # as nearly always, and numpy takes turns with other threads to see it
            return columns, []
        order, fault = order_by_id(ids.values)
        if order is None and fault is None:
            self._rising = ids.values
        if order is not None:
            columns = {name: column.rows(order) for name, column in columns.items()}
        return columns, [] if fault is None else [Note(fault)]

    def stack_sorted_by_id(self, columns: dict[str, Column], frames: int) -> tuple[dict[str, Column], list[Note]]:
        """The same for the rows of many snapshots; ValueError where ids are not distinct."""
        ids = columns.get("id")
        if self._options.keep_order or ids is None:
            return columns, [] if self._options.keep_order else [Note(NO_IDS)]
        order = stacked_order_by_id(ids.values, frames)
        if order is not None:
            columns = {name: column.rows(order) for name, column in columns.items()}
        return columns, []

    def unwrapped(self, atoms: Block, plan: Plan, box: Box) -> Block:
        """The atoms with their images added to the positions, where that is wanted."""
        if not self._options.unwrap or plan.form == "xu":
            return atoms
        atoms = unwrapped(atoms, box)
        if plan.form is not None and plan.scaled:  # the scaled numbers are of the wrapped positions
            left = {name: column for name, column in atoms.columns.items() if name not in triple(plan.form)}
            atoms = Block.of(left, atoms.count)
        return atoms

    def _column(
        self, source: str, target: str, kind: str, quantity: str | None, found: Any, header: Header, style: Style
    ) -> Column:
        if kind == "s":
            codes, words = found
            for code, word in enumerate(words):
                if b"\0" in word:
                    line = header.columns_line + 1 + int(np.argmax(codes == code))
                    raise FormatError(f"column {source}: {decoded(word)!r} holds a NUL", path=self._path, line=line)
            labels = np.array([decoded(word) for word in words], dtype=STRING)
            return Column.of(labels[codes] if len(words) else np.zeros(0, dtype=STRING))
        values: Array = found
        if target in NARROW:
            narrow = values.astype(np.int32)
            if not np.array_equal(narrow, values):
                row = int(np.argmax(narrow != values))
                message = f"column {source}: an image flag is a 32-bit integer, not {values[row]}"
                raise FormatError(message, path=self._path, line=header.columns_line + 1 + row)
            return Column.of(narrow)
        if (scale := style.factor(quantity)) != 1.0:
            values = values * scale
        return Column.of(values)
