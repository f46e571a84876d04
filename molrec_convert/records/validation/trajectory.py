"""Trajectories: the reader's checks one after another, each of which is noted and does not end the rest."""

from __future__ import annotations

from collections.abc import Mapping

from molrec_convert.model import BlockSpec, Schema
from molrec_convert.records import layout
from molrec_convert.records.block_reader import (
    check_shape_rows,
    check_stated_shape,
    column_array,
)
from molrec_convert.records.cells import CellUpdates
from molrec_convert.records.meta_reader import meta_reader
from molrec_convert.records.progressions import read_nstep, read_steps, read_times
from molrec_convert.records.tree import Group
from molrec_convert.records.updates import MARKS, read_updates

from .declaration import check_declaration
from .findings import Findings
from .section import Section, check_images, check_masks, warn_of_cell
from .series import SeriesFacts, check_between, check_block_references, scan_block


def check_trajectory(group: Group, sections: Mapping[str, Section], findings: Findings) -> None:
    """Look at all of a trajectory."""
    schema = check_declaration(group, findings)
    nstep = findings.tried(read_nstep, group) or 0
    _check_labels(group, nstep, findings)
    _check_meta(group, schema, nstep, findings)
    with findings:
        box = group.group(layout.BOX)
        if box is not None:
            _check_cell(box, nstep, findings)
    blocks: dict[str, SeriesFacts] = {}
    for name, spec in schema.blocks.items():
        with findings:
            node = group.group(name)
            if node is not None:
                blocks[name] = _check_block(node, spec, nstep, findings)
    check_between(group, schema, blocks, sections, findings)
    for name, facts in blocks.items():
        fixed = sections.get(layout.SYSTEM, {}).get(name)
        ids = fixed.arrays["id"] if fixed is not None and "id" in fixed.sound else None
        scan_block(group, name, facts, ids, findings)
    for name in blocks:
        check_block_references(group, name, blocks, sections, findings)


# ---------------------------------------------------------------- labels of the frames
def _check_labels(group: Group, nstep: int, findings: Findings) -> None:
    findings.tried(read_steps, group, nstep)
    findings.tried(read_times, group, nstep)
    for name, attribute in ((layout.STEP, layout.STEP_PROGRESSION), (layout.TIME, layout.TIME_PROGRESSION)):
        with findings:
            if attribute in group.attributes and group.child(name) is not None:
                findings.warn(23, f"{group.place}/{name}", f"an array beside {attribute}, which holds")


def _check_meta(group: Group, schema: Schema, nstep: int, findings: Findings) -> None:
    for key, spec in schema.meta.items():
        reader = findings.tried(meta_reader, group, key, spec.tag, nstep)
        if reader is not None:
            with findings:
                for first in range(0, nstep, layout.DENSE_ROWS):
                    reader.values(first, min(first + layout.DENSE_ROWS, nstep))


def _check_cell(group: Group, nstep: int, findings: Findings) -> None:
    with findings:
        cell = CellUpdates(group, nstep)
        for update in cell.suspects():
            if findings.tried(cell.box, update) is None:
                break
        warn_of_cell(group, cell.stored_vectors, findings, defined=cell.defined, has_boundary=cell.has_boundary)


# ---------------------------------------------------------------- blocks
def _check_block(group: Group, spec: BlockSpec, nstep: int, findings: Findings) -> SeriesFacts:
    facts = SeriesFacts(group, spec)
    for name, column in spec.columns.items():
        with findings:
            facts.arrays[name] = column_array(group, name, column)
    facts.masks = check_masks(group, spec.nullable, findings)
    with findings:
        if facts.arrays or not spec.columns:
            facts.updates = read_updates(group, facts.arrays, nstep)
    findings.tried(check_stated_shape, group, spec.shape)
    _warn_of_attributes(group, facts, findings)
    check_images(group.place, spec.columns, findings)
    if facts.updates is not None:
        findings.tried(check_shape_rows, group, spec.shape, facts.updates)
        _warn_of_markers(group, facts, nstep, findings)
    return facts


def _warn_of_attributes(group: Group, facts: SeriesFacts, findings: Findings) -> None:
    for array in facts.arrays.values():
        with findings:
            if layout.PRECISION in array.attributes:
                findings.warn(13, array.place, f"a precision as an attribute; on a trajectory {layout.SCHEMA} has it")
    with findings:
        if layout.TARGETS in group.attributes:
            findings.warn(14, group.place, f"targets as an attribute; on a trajectory {layout.SCHEMA} has them")


def _warn_of_markers(group: Group, facts: SeriesFacts, nstep: int, findings: Findings) -> None:
    if not any(name in group.attributes for name in MARKS):
        return
    if group.child(layout.STEP_INDEX) is not None:
        findings.warn(27, group.place, "uniform_rows and dense_updates beside step_index and offset, which hold")
        return
    each = int(group.attributes.scalar(layout.UNIFORM_ROWS, "i64"))
    for array in facts.arrays.values():
        rows, used = array.shape[0], len(facts.updates or ()) * each
        if min(rows, nstep * each) != used:
            message = f"{rows} rows, of which {used} are updates that every column has"
            findings.warn(27, array.place, message)
