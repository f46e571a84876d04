"""The facts of a record, from its headers: what is read grows with the frames, not with what they hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molrec_convert.model import ColumnSpec, Meta
from molrec_convert.model.dtypes import Array
from molrec_convert.model.frame import references
from molrec_convert.records import StoredRecord, StoredTrajectory, layout, unknown_parts
from molrec_convert.records.block_reader import BlockReader
from molrec_convert.records.cells import CELL_KEY, tells_cells_apart
from molrec_convert.records.sections import (
    column_arrays,
    mask_arrays,
    meta_keys,
    meta_tag,
    meta_tags,
    meta_value,
    read_box,
    read_count,
    read_precision,
    read_shape,
    read_targets,
    section_box,
)
from molrec_convert.records.tree import Group, due_array, groups_of
from molrec_convert.records.updates import Updates

from .contents import (
    cell_facts,
    course_of,
    elements_of,
    plain_bytes,
    stated_units,
    types_of,
    unit_of_column,
    unit_of_key,
    value_facts,
)
from .facts import BlockFacts, CellFacts, ColumnFacts, Extent, Info, SectionFacts, ValueFacts

ATOMS = "atoms"
Units = Mapping[str, str]


def record_info(record: StoredRecord, *, file: str, format: str, size: int | None) -> Info:
    """What a record holds."""
    units = stated_units(record.meta)
    trajectory = headers_of(record)
    groups = {name: group for name in (layout.FRAME, layout.SYSTEM) if (group := record.root.group(name)) is not None}
    sections = [_section_facts(name, group, units) for name, group in groups.items()]
    if trajectory is not None:
        sections.append(_trajectory_facts(trajectory, units))
    find = _Columns(groups, trajectory)
    return Info(
        file=file,
        format=format,
        record=True,
        size=size,
        frames=int(layout.FRAME in groups) if trajectory is None else len(trajectory),
        step=course_of(None if trajectory is None else trajectory.step),
        time=course_of(None if trajectory is None else trajectory.time),
        atoms=_rows_of_atoms(sections),
        elements=elements_of(find),
        types=types_of(find),
        cell=_cell_of(groups, trajectory),
        units=units,
        sections=tuple(sections),
        unknown=tuple(part.place for part in unknown_parts(record)),
        document=record.meta,
    )


def headers_of(record: StoredRecord) -> StoredTrajectory | None:
    """The trajectory of a record by itself: the columns of other sections are not read."""
    group = record.root.group(layout.TRAJECTORY)
    return None if group is None else StoredTrajectory(group, None, None, strict=False)


# ---------------------------------------------------------------- sections
def _section_facts(name: str, group: Group, units: Units) -> SectionFacts:
    tags = meta_tags(group)
    keys = meta_keys(group)
    stated = {key: meta_tag(group, key, tags) for key in keys}
    meta = Meta.of({key: meta_value(group, key, tags) for key in keys}, stated)
    blocks = {key: node for key, node in groups_of(group).items() if key != layout.BOX}
    return SectionFacts(
        name=name,
        blocks=tuple(_block_facts(key, node, units) for key, node in blocks.items()),
        meta=value_facts(meta, units),
    )


def _block_facts(name: str, group: Group, units: Units) -> BlockFacts:
    count, arrays = read_count(group), column_arrays(group)
    masks = mask_arrays(group, arrays)
    targets = references(arrays, read_targets(group, {key: array.dtype for key, array in arrays.items()}))
    columns = [
        ColumnFacts(
            name=key,
            dtype=array.dtype,
            trailing=tuple(array.shape[1:]),
            unit=unit_of_column(key, array.dtype, units),
            precision=read_precision(array),
            nullable=key in masks,
            target=targets.get(key),
            stored=array.stored_bytes,
            plain=plain_bytes(array.dtype, array.shape[1:], count),
        )
        for key, array in arrays.items()
    ]
    return BlockFacts(name=name, rows=Extent(count, count), shape=read_shape(group, count), columns=tuple(columns))


# ---------------------------------------------------------------- the trajectory
def _trajectory_facts(trajectory: StoredTrajectory, units: Units) -> SectionFacts:
    blocks = []
    for name, spec in trajectory.schema.blocks.items():
        reader = trajectory.readers.get(name)
        targets = references(spec.columns, spec.targets)
        columns = tuple(
            _declared_facts(key, column, reader, units, targets.get(key)) for key, column in spec.columns.items()
        )
        blocks.append(
            BlockFacts(
                name=name,
                rows=None if reader is None else _rows_of(reader),
                updates=0 if reader is None else len(reader.updates),
                shape=spec.shape,
                aligned_with=spec.aligned_with,
                columns=columns,
            )
        )
    meta = tuple(
        ValueFacts(key=key, tag=spec.tag, unit=unit_of_key(key, spec.tag, units), per_frame=True)
        for key, spec in trajectory.schema.meta.items()
    )
    return SectionFacts(name=layout.TRAJECTORY, blocks=tuple(blocks), meta=meta)


def _declared_facts(
    name: str, spec: ColumnSpec, reader: BlockReader | None, units: Units, target: str | None
) -> ColumnFacts:
    array = None if reader is None else reader.arrays[name]
    return ColumnFacts(
        name=name,
        dtype=spec.dtype,
        trailing=spec.trailing,
        unit=unit_of_column(name, spec.dtype, units),
        precision=spec.precision,
        nullable=spec.nullable,
        target=target,
        stored=None if array is None else array.stored_bytes,
        plain=0 if reader is None else plain_bytes(spec.dtype, spec.trailing, reader.updates.total),
    )


def _rows_of(reader: BlockReader) -> Extent | None:
    counts = reader.updates.counts()
    return Extent(int(counts.min()), int(counts.max())) if len(counts) else None


def _rows_of_atoms(sections: list[SectionFacts]) -> Extent | None:
    """The rows of the atoms: those of the trajectory, else of the system or the frame."""
    found = {section.name: block.rows for section in sections for block in section.blocks if block.name == ATOMS}
    order = (layout.TRAJECTORY, layout.SYSTEM, layout.FRAME)
    return next((rows for name in order if (rows := found.get(name)) is not None), None)


class _Columns:
    """Finds a column of the atoms of the first frame."""

    def __init__(self, groups: Mapping[str, Group], trajectory: StoredTrajectory | None) -> None:
        self._groups = groups
        self._reader = None if trajectory is None else trajectory.readers.get(ATOMS)

    def __call__(self, name: str) -> Array | None:
        """The values of a column, None if there is none."""
        reader = self._reader
        if reader is not None and name in reader.arrays and len(reader.updates):
            return reader.arrays[name].read(*reader.updates.rows(0))
        for section in (layout.SYSTEM, layout.FRAME):
            atoms = self._groups[section].child(ATOMS) if section in self._groups else None
            array = None if atoms is None else column_arrays(atoms).get(name)  # type: ignore[arg-type]
            if array is not None:
                return array.read(0, array.shape[0])
        return None


# ---------------------------------------------------------------- the cell
def _cell_of(groups: Mapping[str, Group], trajectory: StoredTrajectory | None) -> CellFacts | None:
    if trajectory is None:
        node = section_box(groups[layout.FRAME]) if layout.FRAME in groups else None
        return None if node is None else cell_facts(read_box(node))
    cell = trajectory.cell
    if cell is None or not len(cell.updates):
        return None
    there = cells_held(trajectory)
    which = np.unique(there[there >= 0])
    if not len(which):
        return None
    vectors = cell.vectors[which]
    changes = len(which) > 1
    lengths = np.linalg.norm(vectors, axis=1) if changes else None
    return cell_facts(cell.box(int(which[0])), always=bool((there >= 0).all()), changes=changes, lengths=lengths)


def held(updates: Updates, frames: int) -> Array:
    """i64[frames]: the update that holds in a frame, -1 before the first."""
    found: Array = np.searchsorted(updates.ordinals(), np.arange(frames), side="right") - 1
    return found


def cells_held(trajectory: StoredTrajectory) -> Array:
    """i64[frames]: the update of the cell that holds in a frame, -1 in frames without a cell."""
    frames, cell, group = len(trajectory), trajectory.cell, trajectory.group.group(layout.META)
    found = np.full(frames, -1) if cell is None else held(cell.updates, frames)
    if group is not None and tells_cells_apart(trajectory.schema):
        found[~due_array(group, CELL_KEY, "bool").read(0, frames)] = -1
    return found
