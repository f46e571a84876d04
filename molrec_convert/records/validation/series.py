"""The blocks of a trajectory: what holds between them, and their values, chunk by chunk and not frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import BlockSpec, Schema
from molrec_convert.model.dtypes import Array
from molrec_convert.model.frame import check_reach, checked_target, references
from molrec_convert.records import layout
from molrec_convert.records.block_reader import due_data
from molrec_convert.records.references import check_alignment, check_shared_name, check_shared_rows, other_ids
from molrec_convert.records.sections import at_place
from molrec_convert.records.tree import Group, StoredArray
from molrec_convert.records.updates import ABSENT, Updates
from molrec_convert.rules import rule

from .findings import Findings
from .section import Section, off_grid
from .values import Check, GridCheck, ReachCheck, SameIdsCheck, scan


@dataclass(slots=True)
class SeriesFacts:
    """What is known of a block of a trajectory; ``updates`` is None where it is not known when it was set."""

    group: Group
    spec: BlockSpec
    updates: Updates | None = None
    arrays: dict[str, StoredArray] = field(default_factory=dict)
    masks: dict[str, StoredArray] = field(default_factory=dict)
    reach: dict[str, Array] = field(default_factory=dict)


Series = Mapping[str, SeriesFacts]


# ---------------------------------------------------------------- between the blocks
def check_between(
    group: Group, schema: Schema, blocks: Series, sections: Mapping[str, Section], findings: Findings
) -> None:
    """Look at alignments, and at the rows that blocks share with those of ``system``."""
    known = {name: facts.updates for name, facts in blocks.items() if facts.updates is not None}
    for name, spec in schema.blocks.items():
        target = spec.aligned_with
        if target is not None and name in known and (target in known or target not in blocks):
            with findings:
                check_alignment(group, name, known[name], target, known.get(target))
    for name, fixed in sections.get(layout.SYSTEM, {}).items():
        if name in schema.blocks:
            with findings:
                check_shared_name(group, name, schema.blocks[name])
            if name in known and fixed.count is not None:
                with findings:
                    check_shared_rows(group, name, known[name], fixed.count)


# ---------------------------------------------------------------- values
def scan_block(group: Group, name: str, facts: SeriesFacts, ids: StoredArray | None, findings: Findings) -> None:
    """Read all values of a block once; `ids` are those of the block of its name in ``system``."""
    updates = facts.updates
    if updates is None:
        return
    most = int(updates.counts().max(initial=0))
    masks: dict[str, StoredArray] = {}
    for key, mask in facts.masks.items():
        with findings:
            masks[key] = due_data(mask, updates.total)
    for key, array in facts.arrays.items():
        with findings:
            due_data(array, updates.total)
        precision = facts.spec.columns[key].precision
        grid = None if precision is None else GridCheck(precision)
        reach = ReachCheck(updates) if key in references(facts.spec.columns, facts.spec.targets) else None
        same = _ids_check(ids, updates, findings) if key == "id" and ids is not None else None
        checks: list[Check] = [check for check in (grid, reach, same) if check is not None]
        rows = min(updates.total, array.shape[0])
        scan(array, rows, checks, findings, masks.get(key), at_once=most)
        if reach is not None and rows == updates.total:
            facts.reach[key] = reach.last
        if grid is not None and grid.off:
            findings.warn(13, array.place, off_grid(grid, precision), _frame_of(updates, grid.first))
        if same is not None and same.first >= 0:
            with findings:
                raise _at_frame(other_ids(group, name), _frame_of(updates, same.first))


def _ids_check(ids: StoredArray, updates: Updates, findings: Findings) -> SameIdsCheck | None:
    """A comparison with the ids of ``system``, where the rows are as many."""
    count = ids.shape[0]
    if not count or (updates.counts() != count).any():
        return None
    found = findings.tried(ids.read, 0, count)
    return None if found is None else SameIdsCheck(found)


def _frame_of(updates: Updates, row: int) -> int:
    """The frame in which a row was set."""
    return updates.ordinal(int(np.searchsorted(np.cumsum(updates.counts()), row, side="right")))


def _at_frame(error: RecordError, frame: int) -> RecordError:
    error.frame = frame
    return error


# ---------------------------------------------------------------- references
def check_block_references(
    group: Group, name: str, blocks: Series, sections: Mapping[str, Section], findings: Findings
) -> None:
    """Look where the row references of a block point, in every frame."""
    facts = blocks[name]
    for column, target in references(facts.spec.columns, facts.spec.targets).items():
        if facts.updates is None or not len(facts.updates) or column not in facts.reach:
            continue
        with findings, at_place(group.place), rule(14):
            where = f"{name}/{column}"
            found = _target_rows(facts.updates, *checked_target(target, where), blocks, sections)
            if found is not None:
                _check_frames(facts.updates, facts.reach[column], *found, target, where)


def _target_rows(
    mine: Updates, container: str, key: str, blocks: Series, sections: Mapping[str, Section]
) -> tuple[Array, Array] | None:
    """Frames in which something is set, and the rows of the target in each; None where that is not known."""
    frames = mine.ordinals()
    if container:
        section = sections.get(container)
        fixed = None if section is None else section.get(key)
        if section is None or (fixed is not None and fixed.count is None):
            return None
        return frames, np.full(len(frames), ABSENT if fixed is None else fixed.count)
    pointed = blocks.get(key)
    if pointed is None:
        return frames, np.full(len(frames), ABSENT)
    if pointed.updates is None:
        return None
    frames = np.union1d(frames, pointed.updates.ordinals())
    return frames, pointed.updates.rows_in(frames)


def _check_frames(updates: Updates, last: Array, frames: Array, due: Array, target: str, where: str) -> None:
    """Refuse the first of the frames in which a reference points at no row; `due` are the rows of its target."""
    held = updates.holding(frames)
    wrong = (updates.rows_in(frames) > 0) & ((due == ABSENT) | (last[held] >= due))
    if not wrong.any():
        return
    bad = int(np.argmax(wrong))
    try:
        check_reach(int(last[held[bad]]), target, None if due[bad] == ABSENT else int(due[bad]), where)
    except RecordError as error:
        raise _at_frame(error, int(frames[bad])) from None
