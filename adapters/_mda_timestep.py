"""Time steps: what moves, in binary32 and in the units and the orientation of MDAnalysis, and back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import RecordError
from molrec_convert.mapping.names import META_QUANTITIES
from molrec_convert.mapping.units import SYSTEMS, Units, factor
from molrec_convert.model import Box, Column, Frame, Meta
from molrec_convert.model.dtypes import Array

from ._mda_cell import BOUNDARY, NO_CELL, ORIGIN, Cell, cell_of
from ._mda_names import UNITS, VECTORS

if TYPE_CHECKING:
    from MDAnalysis.coordinates.timestep import Timestep

STEP = "step"
OF_THE_READER = frozenset(("time", "dt", "time_offset", STEP, ORIGIN, BOUNDARY))
"""Keys of ``Timestep.data`` that have a place of their own in a frame."""
OF_ATOMS: Mapping[str, str] = MappingProxyType({"occupancy": "occupancy", "tempfactor": "b_factor"})
"""Keys under which the reader of PDB files gives a value for each atom, and their columns."""
LASTING = frozenset(("dt", "time_offset"))
"""Keys that hold for all frames."""
ARRAYS: Mapping[str, str] = MappingProxyType({"length": "positions", "velocity": "velocities", "force": "forces"})
"""What MDAnalysis calls the vectors of a quantity."""
MOST_VALUES = 4096
"""Larger arrays in ``Timestep.data`` are no values of a frame."""


# ---------------------------------------------------------------- to MDAnalysis
@dataclass(frozen=True, slots=True)
class Arrays:
    """What moves, as MDAnalysis has it.

    Parameters
    ----------
    positions, velocities, forces
        f32[N][3] in Å, Å/ps and kJ/mol/Å; None where there are none.
    dimensions
        f32[6]: a, b, c in Å and α, β, γ in degrees; None without a cell.
    time
        In ps.
    data
        The values of the frame, with ``step``, ``box_origin`` and ``box_boundary`` where there are any.
    """

    positions: Array | None = None
    velocities: Array | None = None
    forces: Array | None = None
    dimensions: Array | None = None
    time: float | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Scale:
    """By what the numbers of a record are multiplied to be in the units of MDAnalysis.

    Parameters
    ----------
    units
        The ``units`` document of the record; numbers whose unit it does not tell are handed through.
    converts
        False to hand all numbers through.
    """

    def __init__(self, units: Units | None, *, converts: bool = True) -> None:
        self._stated = units
        self._units = units if converts and units is not None else {}
        self._factors: dict[str, float] = {}
        self._last: tuple[bytes, Cell] | None = None

    def of(self, quantity: str) -> float:
        """The factor of a quantity; 1 where its unit is not known."""
        if quantity not in self._factors:
            known = factor(quantity, self._units, SYSTEMS["mdanalysis"]) if self._units else None
            self._factors[quantity] = 1.0 if known is None else known
        return self._factors[quantity]

    def knows(self, quantity: str) -> bool:
        """Whether numbers of a quantity are converted."""
        return bool(self._units) and factor(quantity, self._units, SYSTEMS["mdanalysis"]) is not None

    def document(self) -> dict[str, str] | None:
        """The ``units`` document of the numbers once multiplied; None where nothing is known."""
        if self._stated is None:
            return None
        return {key: UNITS[key] if self.knows(key) else unit for key, unit in self._stated.items()}

    def cell(self, box: Box | None) -> Cell:
        """What MDAnalysis has of a box."""
        if box is None:
            return NO_CELL
        bits = box.vectors.tobytes() + box.origin.tobytes() + box.boundary.tobytes() + bytes([box.defined])
        if self._last is None or self._last[0] != bits:
            self._last = bits, cell_of(box, by=self.of("length"))
        return self._last[1]

    def data(self, meta: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
        """The values of a frame."""
        data: dict[str, Any] = {}
        for key, value in meta.items():
            by = self.of(META_QUANTITIES[key]) if key in META_QUANTITIES else 1.0
            data[key] = value if by == 1.0 else _times(value, by)
        return {**data, **cell.data}


def _times(value: Any, by: float) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_times(item, by) for item in value)
    return value * by if isinstance(value, float) else value


def put_vectors(
    target: Array,
    columns: Mapping[str, Column],
    names: Iterable[str],
    *,
    by: float = 1.0,
    rotation: Array | None = None,
    rows: Array | None = None,
) -> None:
    """Put three columns side by side into an array, f32[N][3]; what is null becomes NaN.

    Parameters
    ----------
    target
        The array.
    columns, names
        The columns, and which of them.
    by
        What they are multiplied by.
    rotation
        f64[3][3], by which each vector is turned.
    rows
        The rows wanted, in this order; by default all.
    """
    axes = []
    for name in names:
        column = columns[name]
        values = column.values if column.valid is None else np.where(column.valid, column.values, np.nan)
        values = values if rows is None else values[rows]
        axes.append(values if by == 1.0 else values * by)
    if rotation is not None:
        np.matmul(np.stack(axes, axis=1), rotation.T, out=target, casting="same_kind")
        return
    for k, values in enumerate(axes):
        target[:, k] = values


def fill_timestep(
    timestep: Timestep,
    frame: Frame,
    scale: Scale,
    *,
    step: int | None,
    time: float | None,
    rows: Array | None = None,
) -> None:
    """Put what moves into a time step of as many atoms as there are rows."""
    atoms = frame.get("atoms")
    columns: Mapping[str, Column] = {} if atoms is None else atoms.columns
    cell = scale.cell(frame.box)
    timestep.dimensions = cell.dimensions
    for quantity, names in VECTORS.items():
        there = has_vectors(columns, names)
        setattr(timestep, f"has_{ARRAYS[quantity]}", there)
        if there:
            target = getattr(timestep, ARRAYS[quantity])
            put_vectors(target, columns, names, by=scale.of(quantity), rotation=cell.rotation, rows=rows)
    for key in [key for key in timestep.data if key not in LASTING]:
        del timestep.data[key]
    timestep.data.update(scale.data(frame.meta, cell))
    if step is not None:
        timestep.data[STEP] = step
    if time is not None:
        timestep.time = time * scale.of("time")


def has_vectors(columns: Mapping[str, Column], names: Iterable[str]) -> bool:
    """Whether a frame has all three columns, and a value in some row."""
    for name in names:
        column = columns.get(name)
        if column is None or column.trailing or column.dtype != "f64":
            return False
        if column.valid is not None and len(column) and not column.valid.any():
            return False
    return True


# ---------------------------------------------------------------- from MDAnalysis
def vectors_of(timestep: Timestep, rows: Array | None) -> dict[str, Column]:
    """The positions, velocities and forces of a time step, widened to f64."""
    columns: dict[str, Column] = {}
    for quantity, names in VECTORS.items():
        if getattr(timestep, f"has_{ARRAYS[quantity]}"):
            values = getattr(timestep, ARRAYS[quantity])
            values = values if rows is None else values[rows]
            columns |= {name: Column.of(values[:, k].astype(np.float64)) for k, name in enumerate(names)}
    return columns


def time_of(timestep: Timestep) -> float | None:
    """The time that a reader stated; None where MDAnalysis counts frames."""
    data = timestep.data
    return float(timestep.time) if "time" in data or "dt" in data else None


def step_of(timestep: Timestep) -> int | None:
    """The step that a reader stated."""
    step = timestep.data.get(STEP)
    whole = isinstance(step, int | np.integer) and not isinstance(step, bool)
    return int(step) if whole and -(2**63) <= step < 2**63 else None


def values_of(timestep: Timestep, per_atom: Collection[str], notes: list[Note]) -> Meta:
    """What else a time step holds, and its auxiliary data; what is no value of a frame is noted."""
    meta = Meta()
    auxiliary = dict(timestep.aux.items())
    data = {key: value for key, value in timestep.data.items() if key not in {*OF_THE_READER, *OF_ATOMS, *per_atom}}
    left: list[str] = []
    for key, value in (*data.items(), *((f"aux_{key}" if key in data else key, auxiliary[key]) for key in auxiliary)):
        try:
            _set(meta, str(key).replace("/", "."), value)
        except (RecordError, ValueError, TypeError):
            left.append(str(key))
    if left:
        notes.append(Note(f"no values of a frame, left out: {', '.join(left)}", loss=True))
    return meta


def _set(meta: Meta, key: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        if value.size > MOST_VALUES:
            raise ValueError("an array that is no value of a frame")
        value = value[0] if value.shape == (1,) else value
    meta[key] = value


def columns_of_data(timestep: Timestep, per_atom: Collection[str], rows: Array | None) -> dict[str, Column]:
    """Columns of values that a time step holds for each atom."""
    columns: dict[str, Column] = {}
    for key in (*per_atom, *(key for key in OF_ATOMS if key in timestep.data)):
        values = np.asarray(timestep.data[key])
        values = values.astype(np.float64) if values.dtype == np.float32 else values
        columns[OF_ATOMS.get(key, key)] = Column(values if rows is None else values[rows])
    return columns
