"""Frame-shaped sections: the reader's checks, one after another, and what only a look at all values tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from molrec_convert.model.dtypes import Array
from molrec_convert.model.frame import check_reach, checked_target, references
from molrec_convert.records import layout
from molrec_convert.records.sections import (
    BOX_FORMS,
    at_place,
    box_part,
    cell_defined,
    check_column,
    checked_box,
    due_count,
    due_flags,
    mask_array,
    mask_group,
    meta_keys,
    meta_tags,
    meta_value,
    named,
    read_count,
    read_precision,
    read_shape,
    read_targets,
    section_box,
)
from molrec_convert.records.tree import Child, Group, StoredArray, is_group
from molrec_convert.records.updates import Updates
from molrec_convert.rules import rule

from .findings import Findings
from .values import Check, GridCheck, ReachCheck, scan

IMAGES = ("ix", "iy", "iz")


@dataclass(slots=True)
class BlockFacts:
    """What is known of a block of a section.

    ``count`` is None where it is not known; ``sound`` names the columns of a type that is right; ``reach`` holds the
    greatest row that each column of references points at.
    """

    count: int | None = None
    arrays: dict[str, StoredArray] = field(default_factory=dict)
    sound: set[str] = field(default_factory=set)
    targets: dict[str, str] = field(default_factory=dict)
    reach: dict[str, int] = field(default_factory=dict)


Section = Mapping[str, BlockFacts]


def check_section(group: Group, findings: Findings) -> Section:
    """Look at everything but the row references, which may point into another section."""
    _check_meta(group, findings)
    box = findings.tried(section_box, group)
    if box is not None:
        check_box(box, findings)
    blocks: dict[str, BlockFacts] = {}
    for name, node in children_of(group, findings).items():
        if name != layout.BOX and is_group(node):
            findings.tried(named, name, "a block", node)
            blocks[name] = _check_block(node, findings)  # type: ignore[arg-type]
    return blocks


def _check_meta(group: Group, findings: Findings) -> None:
    tags, keys = {}, []
    with findings:
        keys = meta_keys(group)
        tags = meta_tags(group)
        for key in keys:
            with findings:
                meta_value(group, key, tags)
                if key not in tags:
                    findings.warn(8, f"{group.place}@{key}", f"the meta key {key!r} has no tag in {layout.META_TYPES}")
        for key in tags.keys() - set(keys):
            findings.warn(8, f"{group.place}@{layout.META_TYPES}", f"a tag for {key!r}, and no such key")


def children_of(group: Group, findings: Findings) -> dict[str, Child]:
    """The children; one that cannot be reached is noted."""
    tried = {name: findings.tried(group.child, name) for name in findings.tried(group.names) or ()}
    return {name: node for name, node in tried.items() if node is not None}


# ---------------------------------------------------------------- blocks
def _check_block(group: Group, findings: Findings) -> BlockFacts:
    facts = BlockFacts(findings.tried(read_count, group))
    for name, node in children_of(group, findings).items():
        if name != layout.VALIDITY and not is_group(node):
            facts.arrays[name] = node  # type: ignore[assignment]
    masks = check_masks(group, set(facts.arrays), findings)
    facts.targets = findings.tried(read_targets, group, _dtypes(facts.arrays, findings)) or {}
    for name, array in facts.arrays.items():
        mask = masks.get(name)
        if mask is not None and facts.count is not None:
            findings.tried(due_flags, mask, facts.count)
        _check_column(name, array, mask, facts, findings)
    if facts.count is not None:
        findings.tried(read_shape, group, facts.count)
    check_images(group.place, facts.arrays, findings)
    return facts


def _dtypes(arrays: Mapping[str, StoredArray], findings: Findings) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, array in arrays.items():
        with findings:
            found[name] = array.dtype
    return found


def check_masks(group: Group, columns: set[str], findings: Findings) -> dict[str, StoredArray]:
    """The masks of a block that are as they should be."""
    masks: dict[str, StoredArray] = {}
    with findings:
        validity = mask_group(group)
        names = [] if validity is None else validity.names()
        if validity is not None and not names:
            findings.warn(12, validity.place, "a group of masks without a mask, where no group is due")
        for name in names:
            with findings:
                assert validity is not None
                masks[name] = mask_array(validity, name, columns)
    return masks


def _check_column(
    name: str, array: StoredArray, mask: StoredArray | None, facts: BlockFacts, findings: Findings
) -> None:
    findings.tried(named, name, "a column", array)
    dtype = findings.tried(check_column, name, array)
    precision = findings.tried(read_precision, array)
    if facts.count is not None:
        findings.tried(due_count, array, facts.count)
    if dtype is None or not array.shape:
        return
    facts.sound.add(name)
    rows = array.shape[0] if mask is None else min(array.shape[0], mask.shape[0])
    grid = None if precision is None else GridCheck(precision)
    reach = None
    if name in references(facts.arrays, facts.targets) and dtype == "u64":
        reach = ReachCheck(Updates.regular(1, rows) if rows else Updates.regular(0, 1))
    checks: list[Check] = [check for check in (grid, reach) if check is not None]
    scan(array, rows, checks, findings, mask, at_once=rows)
    if reach is not None:
        facts.reach[name] = int(reach.last.max()) if rows else -1
    if grid is not None and grid.off:
        findings.warn(13, array.place, off_grid(grid, precision))


def off_grid(grid: GridCheck, precision: float | None) -> str:
    """The message for values that are off the grid of a precision."""
    rows = "1 value is" if grid.off == 1 else f"{grid.off} values are"
    return f"{rows} off the grid of the precision {precision!r}, the first in row {grid.first}: {grid.value!r}"


def check_images(place: str, columns: Mapping[str, object], findings: Findings) -> None:
    """Warn where the periodic images are not told for all three axes."""
    there = [name for name in IMAGES if name in columns]
    if 0 < len(there) < len(IMAGES):
        findings.warn(18, place, f"{', '.join(there)} without the rest of {', '.join(IMAGES)}")


# ---------------------------------------------------------------- references
def check_section_references(name: str, sections: Mapping[str, Section], findings: Findings) -> None:
    """Look where the row references of a section point."""
    section = sections[name]
    for block, facts in section.items():
        for column, target in references(facts.arrays, facts.targets).items():
            if not facts.count:
                continue
            with findings, at_place(f"/{name}"), rule(14):
                where = f"{block}/{column}"
                container, key = checked_target(target, where)
                blocks = sections.get(container) if container else section
                if blocks is not None and column in facts.reach:
                    pointed = blocks.get(key)
                    if pointed is None or pointed.count is not None:
                        check_reach(facts.reach[column], target, None if pointed is None else pointed.count, where)


# ---------------------------------------------------------------- the box
def check_box(group: Group, findings: Findings) -> None:
    """Look at the box of a frame."""
    parts: dict[str, Array | None] = {}
    defined = findings.tried(cell_defined, group)
    for name in BOX_FORMS:
        with findings:
            parts[name] = box_part(group, name)
    if defined is None or len(parts) < len(BOX_FORMS):
        return
    vectors, origin, boundary = (parts[name] for name in BOX_FORMS)
    assert vectors is not None
    findings.tried(checked_box, vectors, origin, boundary, group, defined=defined)
    warn_of_cell(group, vectors[None], findings, defined=defined, has_boundary=boundary is not None)


def warn_of_cell(group: Group, vectors: Array, findings: Findings, *, defined: bool, has_boundary: bool) -> None:
    """Warn of what a writer of an undefined cell should have done; `vectors` are those of every update."""
    if defined:
        if layout.CELL_DEFINED in group.attributes:
            findings.warn(16, group.place, "cell_defined is true, which is its default and is not written")
        return
    if (vectors != np.eye(3)).any():
        found = vectors[int(np.argmax((vectors != np.eye(3)).any(axis=(1, 2))))]
        findings.warn(16, group.place, f"the vectors of an undefined cell are the identity, found {found.T.tolist()}")
    if not has_boundary:
        findings.warn(16, group.place, "an undefined cell says explicitly that it is periodic on no axis: no boundary")
