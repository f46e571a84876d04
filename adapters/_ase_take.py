"""What is taken from Atoms: arrays and results as columns and keys of a frame, each with the memory of what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.mapping.names import may_be_fixed
from molrec_convert.model import Column, Meta
from molrec_convert.model.dtypes import STRING
from molrec_convert.model.meta import PER_STEP_F64, RESERVED_KEYS, same_value
from molrec_convert.model.schema import promoted
from molrec_convert.placement import CELL_KEY, STEP_KEY, TIME_KEY

from ._ase_columns import ColumnNames, legal_name, values_of
from ._ase_table import ARRAY_OF, CHARGE, INITIAL_CHARGE, KEYS, RESULT_OF, Array, Result
from ._ase_values import JSON, UnsupportedError, coded, encoded, is_beyond_reals, kinds_lost
from ._momenta import velocities_of

Values = np.ndarray[Any, Any]

TAKEN_KEYS = KEYS | RESERVED_KEYS | {CELL_KEY, STEP_KEY, TIME_KEY}
"""Keys of a frame that mean something else in a record."""
ELEMENTS = np.array(SYMBOLS, dtype=STRING)


@dataclass(slots=True)
class Taking:
    """A frame that is being made of Atoms.

    Parameters
    ----------
    names
        What is known from the frames before.
    count
        The number of atoms.
    columns, meta
        What the frame holds so far.
    time
        The time of the frame, where it is known.
    notes
        What a person should know.
    """

    names: ColumnNames
    count: int
    columns: dict[str, Column] = field(default_factory=dict)
    meta: Meta = field(default_factory=Meta)
    time: float | None = None
    notes: list[Note] = field(default_factory=list)

    # ------------------------------------------------------------ columns
    def array(self, name: str, array: Values) -> list[Any] | None:
        """Take an array: its name, its columns and its type; None where a record does not hold it."""
        try:
            row = ARRAY_OF.get(name)
            self._tell_kinds(f"the array {name!r}", array)
            array = np.asarray(array)
            found = None if row is None else self._by_row(row, array)
            return [coded(name), *(found or self._shared(name, array) or self._other(name, array))]
        except UnsupportedError as error:
            self.leave_out(f"the array {name!r}", error)
            return None

    def _by_row(self, row: Array, array: Values) -> list[Any] | None:
        if array.dtype.kind not in row.kinds or array.shape[1:] not in row.shapes:
            return None
        columns = row.columns
        if columns == (CHARGE,) and CHARGE in self.columns:
            columns = (INITIAL_CHARGE,)
        return self.fixed_columns(columns, array, row.name)

    def fixed_columns(self, columns: tuple[str, ...], array: Values, what: str) -> list[Any] | None:
        """Take an array under names that are its own; None where these cannot hold it."""
        if any(column in self.columns for column in columns):
            return None
        values, dtype = values_of(array)
        parts = [values] if len(columns) == 1 else list(np.array(values.T, order="C"))
        fitted = {column: self.names.fitted(column, part) for column, part in zip(columns, parts, strict=True)}
        for column, part in fitted.items():
            if part is None:
                return None
            made = Column.of(part)
            self.columns[column] = self.names.kept(column, made) if may_be_fixed(column, made.dtype) else made
        self._tell_width(what, array)
        return [list(columns), dtype]

    def _shared(self, name: str, array: Values) -> list[Any] | None:
        """The column of this name that the frame has already, where it is the same."""
        known = self.columns.get(name)
        if known is None or array.dtype != known.values.dtype or not known.same(Column.of(array)):
            return None
        return [[name], array.dtype.str]

    def _other(self, name: str, array: Values) -> list[Any]:
        found, column, dtype = self.names.column(name, array, self.columns)
        self.columns[found] = column
        self._tell_width(name, array)
        return [[found], dtype]

    def _tell_width(self, name: str, array: Values) -> None:
        if array.dtype.kind == "f" and array.dtype.itemsize < 8:
            bits = 8 * array.dtype.itemsize
            self.notes.append(
                Note(f"the array {name!r} of binary{bits} is widened to f64; as Atoms it is binary{bits} again")
            )

    # ------------------------------------------------------------ what follows from arrays
    def add_elements(self, numbers: Values) -> None:
        """Add the symbols of atomic numbers."""
        known = (numbers > 0) & (numbers < len(SYMBOLS))
        column = Column.of(ELEMENTS[np.where(known, numbers, 0).astype(np.intp)])
        self.columns["element"] = self.names.kept("element", column)

    def add_velocities(self, masses: Values) -> None:
        """Add the velocities of momenta; none for atoms without a mass."""
        velocities = velocities_of(self.columns["momenta"].values, masses)
        valid = masses != 0.0
        mask = None if valid.all() else valid
        if mask is not None:
            velocities[~valid] = 0.0
        for name, values in zip(("vx", "vy", "vz"), np.array(velocities.T, order="C"), strict=True):
            self.columns[name] = Column.of(values, mask)

    # ------------------------------------------------------------ results
    def results(self, results: Mapping[Any, Any]) -> list[list[Any]]:
        """Take results of a calculation: the name of each, where it is, and what it was."""
        found: list[list[Any]] = []
        for name, value in results.items():
            try:
                if type(name) is not str:
                    raise UnsupportedError("its name is no text")
                found.append([coded(name), *self._result(name, value, RESULT_OF.get(name))])
                self._tell_kinds(f"the result {name!r}", value)
            except UnsupportedError as error:
                self.leave_out(f"the result {name!r}", error)
        return found

    def _result(self, name: str, value: Any, row: Result | None) -> list[Any]:
        if isinstance(value, np.ndarray) and self.count and value.shape[:1] == (self.count,):
            if row is not None and row.columns and value.dtype.kind == "f" and value.shape[1:] in row.shapes:
                placed = self.fixed_columns(row.columns, value, name)
                if placed is not None:
                    return ["atoms", *placed]
            if (row is None or row.columns) and value.dtype.kind in "biufcU":
                return ["atoms", *self._other(name, value)]
        return ["meta", *self.value(row.key if row is not None and row.key else name, value)]

    # ------------------------------------------------------------ values of the frame
    def value(self, key: str, value: Any) -> list[Any]:
        """Take a value: the key under which it is, and its form.

        Raises
        ------
        UnsupportedError
            Where a record does not hold it.
        """
        found, tag, form = encoded(value)
        if self.names.mixes(key, found):
            found, tag = promoted(found, tag, JSON, key), JSON
        base = legal_name(key, ())
        used, number = base, 1
        while not self._place(used, found, tag):
            number += 1
            used = f"{base}#{number}"
        return [used, form]

    def _place(self, key: str, value: Any, tag: str) -> bool:
        """Put a value under a key, unless this has another value or means something else."""
        if key in TAKEN_KEYS:
            return False
        if key in PER_STEP_F64 and tag != "f64":
            if tag not in ("i64", "u64") or float(value) != value:
                return False
            value, tag = float(value), "f64"
        if key in self.meta:
            return self.meta.tag(key) == tag and same_value(self.meta[key], value)
        self.meta.set(key, value, tag=tag)
        return True

    def info(self, info: Mapping[Any, Any]) -> list[list[Any]]:
        """Take the values of ``info``: the key of each, where it is, and what it was."""
        found: list[list[Any]] = []
        for key, value in info.items():
            try:
                name = coded(key)
                if key == TIME_KEY and (time := _time_of(value)) is not None:
                    self.time = time
                    found.append([name, TIME_KEY, encoded(value)[2]])
                else:
                    found.append([name, *self.value(key if type(key) is str else str(key), value)])
                    self._tell_kinds(f"info {key!r}", value)
            except UnsupportedError as error:
                self.leave_out(f"info {key!r}", error)
        return found

    def _tell_kinds(self, what: str, value: Any) -> None:
        """Note types that a record does not know, whose values it has as plainer ones."""
        if np.ma.is_masked(value):
            self.notes.append(Note(f"the mask of {what} is not kept", loss=True))
        elif kinds := sorted(set(kinds_lost(value))):
            self.notes.append(Note(f"{what} comes back without its own types: {', '.join(kinds)}"))

    def leave_out(self, what: str, error: UnsupportedError) -> None:
        """Note what a record does not hold."""
        self.notes.append(Note(f"{what} is not kept: {error}", loss=True))


def _time_of(value: Any) -> float | None:
    """A time, where a value of ``info`` is a number that is exactly a real."""
    if isinstance(value, str | bool | np.ndarray) or value is None:
        return None
    number, tag, _ = encoded(value)
    if tag not in ("f64", "i64", "u64") or is_beyond_reals(number):
        return None
    return float(number)
