"""OVITO opens records: ``import_file("run.h5")``, found through the entry point ``OVITO.FileReader``.

Reference: https://www.ovito.org/manual/python/introduction/custom_file_readers.html

Decisions: OVITO knows no units, so numbers are handed through as the record has them; its ``units`` document stands
among the attributes. Columns with a meaning in OVITO get its standard names, all others keep theirs: what OVITO has no
type for (flags, unsigned and short integers) becomes a wider integer, what is null NaN, 0 or an empty text. Particle
types are those of ``type_id``, else the elements, else the labels, else the names; they are called as the first of
these three that there is, where all atoms of a type have the same.
A bond leads to the nearest image of its second atom along periodic axes.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ovito.io import FileReaderInterface

from molrec_convert.adapter import Snapshot
from molrec_convert.forms import form_of_content
from molrec_convert.mapping.elements import NUMBERS
from molrec_convert.mapping.names import NAMES
from molrec_convert.model import Block, Box, Column, Frame
from molrec_convert.model.dtypes import ENDPOINTS, Array
from molrec_convert.record_frames import record_snapshots

if TYPE_CHECKING:
    from ovito.data import DataCollection

    from molrec_convert.records import StoredRecord

PROPERTIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Position": ("x", "y", "z"),
        "Velocity": NAMES["velocity"],
        "Force": NAMES["force"],
        "Particle Identifier": ("id",),
        "Mass": ("mass",),
        "Charge": ("charge",),
        "Radius": ("radius",),
        "Molecule Identifier": ("mol_id",),
        "Periodic Image": ("ix", "iy", "iz"),
        "Dipole Orientation": NAMES["dipole"],
        "Torque": NAMES["torque"],
        "Angular Velocity": NAMES["angular velocity"],
        "Angular Momentum": NAMES["angular momentum"],
        "Orientation": ("quati", "quatj", "quatk", "quatw"),
    }
)
"""The standard properties of particles, and the columns of ``atoms`` that they are made of."""
TYPES = "Particle Type"
NAME = "name"
CALLED_BY = ("element", "type", NAME)
"""The columns of text that tell what a type is called, the best first; a name is never taken for an element."""
CONNECTIONS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {"bonds": ("Bond", 2), "angles": ("Angle", 3), "dihedrals": ("Dihedral", 4), "impropers": ("Improper", 4)}
)
"""Blocks of connections, what OVITO calls one, and how many atoms it joins."""
ILLEGAL = re.compile(r"[./\\]")
"""Characters that names of properties cannot have; they cannot end in a ``_`` either."""
OTHER = "column"
"""What is put behind a name that means something else in OVITO."""
STEP, TIME = "Timestep", "Time"


class MolRecFileReader(FileReaderInterface):  # type: ignore[misc] # it has no types
    """Reads records; see `ovito.io.FileReaderInterface`."""

    @staticmethod
    def detect(filename: str) -> bool:
        """Whether a file is a record."""
        return form_of_content(filename) is not None

    def scan(self, filename: str, register_frame: Callable[..., None]) -> None:
        """Tell the frames, each with its step."""
        record = self._opened(filename)
        if record.trajectory is None:
            register_frame(frame_info=0)
            return
        for index, step in enumerate(record.trajectory.step.tolist()):
            register_frame(frame_info=index, label=step)

    def parse(self, data: DataCollection, *, filename: str, frame_info: Any = None, **kwargs: Any) -> None:
        """Read a frame."""
        del kwargs
        record = self._opened(filename)
        found = next(record_snapshots(record, [int(frame_info or 0)]), None) or Snapshot(record.system or Frame())
        attributes = {STEP: found.step, TIME: found.time, "units": found.units, **found.frame.meta}
        put: set[str] = self.__dict__.setdefault("_attributes", set())
        for key in put & set(data.attributes):  # those of the frame before
            del data.attributes[key]
        for key, value in attributes.items():
            if value is not None:
                data.attributes[key] = list(value) if isinstance(value, tuple) else value
                put.add(key)
        fill(data, found.frame)

    def _opened(self, filename: str) -> StoredRecord:
        """The record, which stays open until another is asked for, or it has changed."""
        from molrec_convert.records import open_record

        there = os.stat(filename)
        key = (filename, there.st_ino, there.st_size, there.st_mtime_ns)
        kept: tuple[Any, StoredRecord] | None = self.__dict__.get("_kept")
        if kept is not None and kept[0] == key:
            return kept[1]
        self._close()
        record = open_record(filename)
        self.__dict__["_kept"] = (key, record)
        return record

    def _close(self) -> None:
        kept = self.__dict__.pop("_kept", None)
        if kept is not None:
            kept[1].close()

    def __del__(self) -> None:
        self._close()


# ---------------------------------------------------------------- a frame
def fill(data: DataCollection, frame: Frame) -> None:
    """Put a frame into a collection of data, in place of the frame before."""
    box = frame.box
    is_cell = box is not None and box.defined
    if box is not None and is_cell:
        data.create_cell(np.column_stack([box.vectors, box.origin]), pbc=tuple(map(bool, box.boundary)))
    elif data.cell is not None:
        data.objects.remove(data.cell)
    if "atoms" in frame:
        fill_particles(data, frame)
    elif data.particles is not None:
        data.objects.remove(data.particles)
    fields = {name: block for name, block in frame.items() if is_cell and block.shape and len(block.shape) == 3}
    for name in set(data.grids) - set(fields):
        data.objects.remove(data.grids[name])
    for name, block in fields.items():
        assert box is not None
        fill_grid(data, name, block, box)


def fill_particles(data: DataCollection, frame: Frame) -> None:
    """Put the atoms and their connections into a collection of data."""
    atoms = frame["atoms"]
    particles = data.create_particles(count=atoms.count)
    found: dict[str, Array] = {}
    taken = {"type_id"}
    for name, columns in PROPERTIES.items():
        if all(column in atoms and not atoms.column(column).trailing for column in columns):
            values = [_plain(atoms.column(column)) for column in columns]
            found[name] = np.stack(values, axis=1) if len(values) > 1 else values[0]
            taken.update(columns)
    mass = atoms.columns.get("mass")
    types = Types.of(atoms)
    if types is not None:
        types.put(particles, TYPES, None if mass is None or mass.valid is not None else mass.values)
    _put(particles, found | _own(atoms, taken), kept={TYPES} if types is not None else set())
    for name in CONNECTIONS:
        if name in frame and all(end in frame[name] for end in ENDPOINTS[: CONNECTIONS[name][1]]):
            fill_connections(particles, frame, name)
        else:
            setattr(particles, name, None)


def fill_connections(particles: Any, frame: Frame, name: str) -> None:
    """Put the connections of a block beside their particles; those with an end that is null are left out."""
    (called, members), block = CONNECTIONS[name], frame[name]
    ends = ENDPOINTS[:members]
    block = block.rows(np.logical_and.reduce([_valid(block.column(end)) for end in ends]))
    made = getattr(particles, f"create_{name}")(count=block.count)
    topology = np.stack([block[end].astype(np.int64) for end in ends], axis=1)
    found: dict[str, Array] = {"Topology": topology}
    if name == "bonds" and frame.box is not None and frame.box.defined and "Position" in particles:
        found["Periodic Image"] = images(particles["Position"][...], topology, frame.box)
    types = Types.of(block)
    if types is not None:
        types.put(made, f"{called} Type")
    _put(made, found | _own(block, {*ends, "type_id"}), kept={f"{called} Type"} if types is not None else set())


def images(positions: Array, topology: Array, box: Box) -> Array:
    """The periodic image of the second atom that is the nearest to the first, i32[bonds][3]."""
    apart = positions[topology[:, 1]] - positions[topology[:, 0]]
    with np.errstate(invalid="ignore"):
        fractions = np.nan_to_num(np.linalg.solve(box.vectors, apart.T).T)
    return np.where(box.boundary, -np.rint(fractions), 0.0).astype(np.int32)


def fill_grid(data: DataCollection, name: str, block: Block, box: Box) -> None:
    """Put a field on a grid into a collection of data: its points stand at the corners of its voxels."""
    from ovito.data import SimulationCell, VoxelGrid

    assert block.shape is not None
    counts = np.array(block.shape, dtype=np.float64)
    # Between n points along an axis that does not repeat there are n - 1 steps.
    reach = np.where(box.boundary, 1.0, (counts - 1.0) / counts)
    domain = SimulationCell(pbc=tuple(map(bool, box.boundary)))
    domain[...] = np.column_stack([box.vectors * reach, box.origin])
    grid = data.grids.create(identifier=name, title=name, shape=block.shape, domain=domain)
    grid.grid_type = VoxelGrid.GridType.PointData
    order = np.arange(block.count).reshape(block.shape).ravel(order="F")  # x is the fastest there
    _put(grid, {key: values[order] for key, values in _own(block, set()).items()}, kept=set())


# ---------------------------------------------------------------- types
class Types(NamedTuple):
    """The types of atoms or of connections.

    Parameters
    ----------
    numbers
        The number of each row: ``type_id``, else the atomic number of its element; None where there are only labels,
        which OVITO then numbers as it meets them.
    labels
        The label of each row, or None.
    """

    numbers: Array | None
    labels: Array | None

    @classmethod
    def of(cls, block: Block) -> Types | None:
        """The types of a block; None where nothing tells rows apart."""
        called = next((name for name in CALLED_BY if name in block and _is_text(block.column(name))), None)
        labels = None if called is None else block[called]
        if "type_id" in block and block.column("type_id").valid is None:
            return cls(block["type_id"].astype(np.int32), labels)
        if labels is None:
            return None
        symbols = {word: NUMBERS.get(word) for word in set(labels.tolist())}
        if called == NAME or None in symbols.values():
            return cls(None, labels)
        return cls(np.array([symbols[word] for word in labels.tolist()], dtype=np.int32), labels)

    def put(self, container: Any, name: str, masses: Array | None = None) -> None:
        """Make the property, with the names of the types, and the masses of those whose rows have the same."""
        if self.numbers is None:
            assert self.labels is not None
            made = container.create_property(name)
            kinds = {word: made.add_type_name(word, container) for word in sorted(set(self.labels.tolist()))}
            made[...] = [kinds[word].id for word in self.labels.tolist()]
        else:
            made = container.create_property(name, data=self.numbers)
            words = {} if self.labels is None else _common(self.numbers, self.labels)
            kinds = {
                number: made.add_type_id(
                    number, container, name="" if (word := words.get(number, "")) == str(number) else word
                )
                for number in np.unique(self.numbers).tolist()
            }
        if masses is not None:
            for number, mass in _common(np.asarray(made[...]), masses).items():
                made.type_by_id_(number).mass = mass


def _is_text(column: Column) -> bool:
    return column.dtype == "string" and not column.trailing


def _common(numbers: Array, values: Array) -> dict[int, Any]:
    """The value of each number whose rows all have the same."""
    found: dict[int, Any] = {}
    for number in np.unique(numbers).tolist():
        rows = values[numbers == number]
        if (rows == rows[0]).all():
            found[number] = rows[0].item() if isinstance(rows[0], np.generic) else rows[0]
    return found


# ---------------------------------------------------------------- values
def _put(container: Any, wanted: Mapping[str, Array], *, kept: set[str]) -> None:
    """Make these properties, and remove all others, which are those of the frame before."""
    names = {_create(container, name, values) for name, values in wanted.items()}
    for name in set(container.keys()) - names - kept:
        del container[name]


def _create(container: Any, name: str, values: Array) -> str:
    """Make a property, and give its name: another where OVITO allows it not, or means something else by it."""
    name = ILLEGAL.sub("_", name).rstrip("_") or OTHER
    if container.standard_property_type_id(name):
        made = container.create_property(name)
        if made.shape == values.shape and np.can_cast(values.dtype, made.dtype, "same_kind"):
            made[...] = values
            return name
        del container[name]
        name = f"{name} {OTHER}"
    container.create_property(name, data=values, dtype=str if values.dtype.kind == "T" else values.dtype.type)
    return name


def _own(block: Block, taken: set[str]) -> dict[str, Array]:
    """The columns under their own names, as far as OVITO can hold them: vectors of reals and integers, and text."""
    found: dict[str, Array] = {}
    for name, column in block.columns.items():
        values = _plain(column)
        if values.dtype.kind == "c":
            values = np.stack([values.real, values.imag], axis=-1)
        if name not in taken and not (values.dtype.kind == "T" and column.trailing):
            key = f"{name} {OTHER}" if name in PROPERTIES else name
            found[key] = values.reshape(len(values), math.prod(values.shape[1:])) if values.ndim > 2 else values
    return found


def _plain(column: Column) -> Array:
    """Values of a type that OVITO has; what is null as NaN, 0 or an empty text."""
    values = column.values
    if column.dtype in ("i8", "i16", "u8", "u16", "bool"):
        values = values.astype(np.int32)
    elif column.dtype in ("u32", "u64"):
        values = values.astype(np.int64)
    elif column.dtype == "c64":
        values = values.astype(np.complex128)
    if column.valid is not None:
        nothing = "" if column.dtype == "string" else np.nan if values.dtype.kind in "fc" else 0
        values = values.copy()
        values[~column.valid] = nothing
    return values


def _valid(column: Column) -> Array:
    return np.ones(len(column), bool) if column.valid is None else column.valid
