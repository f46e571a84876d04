"""What Atoms get of a snapshot: first what became of Atoms, by the memory of it, then all else under names of ASE.

Decisions: rows without a value are NaN in reals, 0 in integers, false and empty in others, with a note. What is known
to be an energy, a force or a stress is a result of a calculator; of a record that does not come from Atoms its columns
and keys stay in ``arrays`` and ``info``, too, unless they are called as ASE calls the result: the writer of extended
XYZ of ASE refuses that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from molrec_convert import registry
from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import ConvertError
from molrec_convert.mapping.names import META_QUANTITIES, QUANTITIES, REDUCED
from molrec_convert.mapping.units import factor
from molrec_convert.model import Block, Column
from molrec_convert.placement import STEP_KEY, TIME_KEY

from ._ase_columns import array_of, fixed_width
from ._ase_symbols import are_elements, numbers_of
from ._ase_table import (
    ARRAY_ROWS,
    ARRAYS,
    ATOMS,
    CHARGE,
    INFO,
    INITIAL_CHARGE,
    KEYS,
    MAP,
    RESULT_OF,
    RESULT_ROWS,
    RESULTS,
    UNITS,
    VELOCITY,
    Result,
)
from ._ase_units import Scales
from ._ase_values import MISSING, decoded, uncoded
from ._momenta import momenta_of, velocities_of
from ._xyz_header import MARKED

Array = np.ndarray[Any, Any]

VELOCITIES, MOMENTA = ("vx", "vy", "vz"), "momenta"
COMMENT = "xyz_comment"
"""A comment line, which where it is marked as extended says only again what the frame says."""


@cache
def layout_keys() -> frozenset[str]:
    """The keys that only say how a file of some format is laid out."""
    found = {key for family in registry.families() for key in family.layout}
    for name in registry.names():
        with suppress(ConvertError):  # an adapter of others that cannot be loaded
            found |= registry.by_name(name).layout
    return frozenset(found)


class Giving:
    """Parts of Atoms that are being made of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        frame = snapshot.frame
        self.facts: dict[str, Any] = {**snapshot.about, **frame.meta}
        self.notes: list[Note] = []
        self.arrays: dict[str, Array] = {}
        self.results: dict[str, Any] = {}
        self.info: dict[Any, Any] = {}
        self.scales = Scales(snapshot.units)
        self._snapshot = snapshot
        self._block: Block = frame.get(ATOMS, Block(count=0))
        self._left = dict(self._block.columns)
        for name in [name for name, column in self._left.items() if _is_missing(column)]:
            del self._left[name]
        self._columns = dict(self._left)
        self._keys = {key: value for key, value in self.facts.items() if key not in KEYS}
        # A frame alone has them among its own values.
        self.step = snapshot.step if snapshot.step is not None else self._keys.pop(STEP_KEY, None)
        self.time = snapshot.time if snapshot.time is not None else self._keys.pop(TIME_KEY, None)
        stated = self.facts.get(MAP)
        self.map: Mapping[str, Any] = stated if isinstance(stated, dict) else {}

    @property
    def count(self) -> int:
        """The number of atoms."""
        return self._block.count

    # ------------------------------------------------------------ what became of Atoms
    def restore(self) -> None:
        """Give what the map of a snapshot that came from Atoms says."""
        for name, columns, dtype in self.map.get(ARRAYS, ()):
            values = self._restored_array(name, columns, dtype)
            if values is not None:
                self.arrays[uncoded(name)] = values
        for name, place, *how in self.map.get(RESULTS, ()):
            value = self._restored_array(name, *how) if place == ATOMS else self._restored_result(name, *how)
            if value is not None:
                self.results[uncoded(name)] = None if value is NULL else value
        for key, place, form in self.map.get(INFO, ()):
            value = self._restored_value(place, form)
            if value is not MISSING:
                self.info[uncoded(key)] = value
        if "numbers" in self.arrays:
            self._take("element")
        if self.map and not self.count:  # columns of other frames, which without rows are not seen to be null
            self._left.clear()

    def _restored_array(self, name: Any, columns: Sequence[str], dtype: str) -> Array | None:
        if not all(column in self._columns for column in columns):
            return None
        self._take(*columns)
        if name == MOMENTA and columns == [MOMENTA]:
            return array_of(self._momenta(), dtype)
        values = [self._values(column) for column in columns]
        return array_of(values[0] if len(values) == 1 else np.stack(values, axis=-1), dtype)

    def _restored_result(self, name: Any, key: str, form: Any) -> Any:
        row = RESULT_OF.get(name) if isinstance(name, str) else None
        value = decoded(self._scaled(key, None if row is None else row.quantity), form)
        self._keys.pop(key, None)
        return None if value is MISSING else NULL if value is None else value

    def _restored_value(self, place: str, form: Any) -> Any:
        if place == TIME_KEY:
            return decoded(MISSING if self.time is None else self.time, form)
        value = decoded(self._scaled(place, META_QUANTITIES.get(place)), form)
        self._keys.pop(place, None)
        return value

    def _scaled(self, key: str, quantity: str | None) -> Any:
        return self.scales.value(self.facts.get(key, MISSING), quantity)

    def _take(self, *columns: str) -> None:
        for column in columns:
            self._left.pop(column, None)

    # ------------------------------------------------------------ columns
    def _values(self, name: str, quantity: str | None = None) -> Array:
        """The values of a column in the units of ASE; rows without a value as the module says."""
        column = self._columns[name]
        values = self.scales.array(column.values, quantity or QUANTITIES.get(name))
        if column.valid is None:
            return values
        nothing: Any = {"f": np.nan, "c": np.nan, "T": ""}.get(values.dtype.kind, 0)
        filled = values.copy()
        filled[~column.valid] = nothing
        called = {"f": "NaN", "c": "NaN", "T": "empty"}.get(values.dtype.kind, "0")
        self._lose(f"the rows of {name} without a value, which are {called}")
        return filled

    def _momenta(self) -> Array:
        """The momenta as they are stored, where the velocities are still those that become of them."""
        velocities = all(name in self._columns for name in VELOCITIES)
        self._take(MOMENTA, *(VELOCITIES if velocities else ()))
        stored = self._columns.get(MOMENTA)
        usable = stored is not None and stored.dtype == "f64" and stored.trailing == (3,)
        if stored is not None and usable and not velocities:
            return stored.values
        masses = self._masses()
        there = np.stack([self._columns[name].values for name in VELOCITIES], axis=-1)
        if stored is not None and usable:
            derived = self._in_declared_unit(velocities_of(stored.values, masses))
            valid = self._columns[VELOCITIES[0]].valid
            rows = slice(None) if valid is None else valid
            if np.array_equal(derived[rows], there[rows], equal_nan=True):
                return stored.values
        given = self.scales.array(there, "velocity")
        # Numbers that nobody says the unit of are velocities of ASE itself, as they are its positions and forces.
        return momenta_of(given, masses) if self.scales.knows("velocity") else given * masses[:, None]

    def _in_declared_unit(self, velocities: Array) -> Array:
        declared = self._snapshot.units or {}
        if declared.get("velocity") == VELOCITY:
            return velocities
        # What was converted was multiplied, so that the numbers are the same only where this is done again.
        return velocities * (factor("velocity", UNITS, declared) or 1.0)

    def _masses(self) -> Array:
        """Masses of all atoms, those of ASE where the record has none."""
        if "mass" in self._columns:
            return self.scales.array(self._columns["mass"].values, "mass")
        from ase.data import atomic_masses

        return np.asarray(atomic_masses)[self._numbers()]

    def _numbers(self) -> Array:
        numbers = self.arrays.get("numbers")
        if numbers is None:
            numbers, notes = numbers_of(self._columns, self.count)
            self.arrays["numbers"] = numbers
            self.notes += notes
            element = self._left.get("element")
            if element is not None and are_elements(element):
                self._take("element")
            self._take("atomic_number")
        return numbers

    # ------------------------------------------------------------ what comes from elsewhere
    def give_the_rest(self) -> None:
        """Give what is left under the names of ASE."""
        self._call_ratios_by_their_names()
        self._numbers()
        if "positions" not in self.arrays:
            self._give_positions()
        if MOMENTA not in self.arrays and (MOMENTA in self._left or all(name in self._left for name in VELOCITIES)):
            self.arrays[MOMENTA] = self._momenta().copy()
        if self._left or self._keys or not self.map:
            self._give_columns()
            self._give_info()

    def _call_ratios_by_their_names(self) -> None:
        """Take masses and charges that are ratios for what they are, where no unit of them is known."""
        for name, ratio in REDUCED.items():
            if ratio in self._left and name not in self._columns and not self.scales.knows(name):
                self._columns[name] = self._left[name] = self._left.pop(ratio)

    def _give_columns(self) -> None:
        for row in RESULT_ROWS:
            self._give_result(row)
        if INITIAL_CHARGE in self._left and "initial_charges" not in self.arrays:
            self.arrays["initial_charges"] = self._taken((INITIAL_CHARGE,))
        for array in ARRAY_ROWS:
            taken = array.name in self.arrays or array.name in self._left
            if not taken and all(self._is_of(array.kinds, name) for name in array.columns):
                self.arrays[array.name] = self._taken(array.columns)
        for name in list(self._left):
            self.arrays[_free(name, self.arrays)] = self._taken((name,))

    def _is_of(self, kinds: str, name: str) -> bool:
        return name in self._left and self._left[name].values.dtype.kind in kinds

    def _give_positions(self) -> None:
        there = [name for name in "xyz" if name in self._columns]
        if len(there) < 3 and self.count:
            self.notes.append(Note("the frame has no positions: they are 0 in Atoms"))
        zeros = np.zeros(self.count)
        parts = [self._values(name) if name in there else zeros for name in "xyz"]
        self.arrays["positions"] = np.stack(parts, axis=-1)
        self._take(*there)

    def _taken(self, columns: Sequence[str]) -> Array:
        """Columns as an array of a type that the writers of ASE take."""
        values = [self._values(column) for column in columns]
        self._take(*columns)
        found = values[0] if len(values) == 1 else np.stack(values, axis=-1)
        if found.dtype.kind == "T":
            return fixed_width(found)
        if found.dtype.kind == "u" and (not found.size or int(found.max()) < 2**63):
            return found.astype(np.int64)
        return found.astype(np.int64) if columns == ("ix", "iy", "iz") else found.copy()

    def _give_result(self, row: Result) -> None:
        if row.name in self.results or (row.columns == (CHARGE,) and INITIAL_CHARGE not in self._left):
            return
        if row.key:
            self._give_scalar(row)
        elif all(column in self._left for column in row.columns):
            columns = [self._left[column] for column in row.columns]
            if any(column.dtype != "f64" for column in columns):
                return
            if len(columns) == 1 and columns[0].trailing not in row.shapes:
                return
            parts = [self._values(column, row.quantity) for column in row.columns]
            self.results[row.name] = np.array(parts[0]) if len(parts) == 1 else np.stack(parts, axis=-1)
            if len(parts) == 1 and row.columns[0] in (row.name, CHARGE):
                self._take(*row.columns)

    def _give_scalar(self, row: Result) -> None:
        value = self._keys.get(row.key)
        tag = self._tag(row.key)
        size = {"f64": (), "f64x3": (3,), "f64x6": (6,), "f64x9": (3, 3)}.get(tag or "")
        if size is None or size not in row.shapes or _is_nothing(value):
            return
        scaled = self.scales.value(value, row.quantity)
        self.results[row.name] = scaled if size == () else np.array(scaled).reshape(size)
        if row.key == row.name:
            del self._keys[row.key]

    def _tag(self, key: str) -> str | None:
        meta = self._snapshot.frame.meta
        return meta.tag(key) if key in meta else None

    # ------------------------------------------------------------ values of the frame
    def _give_info(self) -> None:
        for key, value in self._keys.items():
            if _is_nothing(value) or key in layout_keys() or (key == COMMENT and MARKED.search(str(value))):
                continue
            if isinstance(value, str) and "\n" in value:
                self._lose(f"{key}, a text of several lines")
                continue
            self.info[_free(key, self.info)] = _plain(self.scales.value(value, META_QUANTITIES.get(key)))
        if not self.map:
            for name, label in (("step", self.step), (TIME_KEY, self.time)):
                if not _is_nothing(label):
                    self.info.setdefault(name, label)

    # ------------------------------------------------------------ what is lost
    def tell(self) -> None:
        """Note what Atoms do not hold, and what is not known of units."""
        blocks = self._snapshot.frame.items()
        if lost := [f"{name} ({block.count})" for name, block in blocks if name != ATOMS and block.count]:
            self._lose(", ".join(lost))
        if self._block.shape is not None:
            self._lose("the shape of atoms")
        self.notes += self.scales.notes()

    def _lose(self, what: str) -> None:
        self.notes.append(Note(f"ASE Atoms do not hold {what}", loss=True))


NULL: Any = object()
"""A result that is None."""


def _is_missing(column: Column) -> bool:
    """Whether no row has a value: a column of other frames."""
    return column.valid is not None and len(column) > 0 and not column.valid.any()


def _is_nothing(value: Any) -> bool:
    """Whether a value only stands for one that the frame lacks."""
    items = value if isinstance(value, tuple) else (value,)
    return value is None or all(isinstance(item, float) and item != item for item in items)


def _plain(value: Any) -> Any:
    """Vectors as arrays, which the readers of ASE give."""
    return np.array(value) if isinstance(value, tuple) else value


def _free(name: str, used: Mapping[Any, Any]) -> str:
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name}#{number}"
    return found
