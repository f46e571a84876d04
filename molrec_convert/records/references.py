"""What holds between the blocks of a stored trajectory: row references, alignment, and shared rows with ``system``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Frame, Schema
from molrec_convert.model.dtypes import same_bits
from molrec_convert.model.frame import check_references, references
from molrec_convert.rules import rule

from .sections import at_place
from .tree import Group
from .updates import ABSENT, Updates


class ReferenceCheck:
    """Checks the row references of resolved frames, once for every combination of updates.

    Parameters
    ----------
    group
        The group ``trajectory``.
    schema
        Its declaration.
    sections
        The sections at which absolute references point.
    """

    def __init__(self, group: Group, schema: Schema, sections: Mapping[str, Frame | None]) -> None:
        self._group = group
        self._sections = sections
        referring = {
            name: references(spec.columns, spec.targets)
            for name, spec in schema.blocks.items()
            if references(spec.columns, spec.targets)
        }
        self._involved = {*referring, *(target for targets in referring.values() for target in targets.values())}
        system: Mapping[str, Block] = sections.get("system") or {}
        self._shared = [name for name in system if name in schema.blocks and "id" in schema.blocks[name].columns]
        self._seen: tuple[tuple[str, int], ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether there is anything to check in frames."""
        return bool(self._involved or self._shared)

    def check(self, blocks: Mapping[str, Block], updates: Mapping[str, int], frame: int) -> None:
        """Refuse a frame whose references point at no row, or whose ids are not those of ``system``."""
        if not self._involved and not self._shared:
            return
        now = tuple((name, k) for name, k in updates.items() if name in self._involved or name in self._shared)
        if now == self._seen:
            return
        try:
            with at_place(self._group.place, self._group.error("").path):
                check_references(blocks, self._sections)
            self._check_ids(blocks)
        except RecordError as error:
            error.frame = frame
            raise
        self._seen = now

    def _check_ids(self, blocks: Mapping[str, Block]) -> None:
        system: Mapping[str, Block] = self._sections.get("system") or {}
        for name in self._shared:
            if name in blocks and "id" in system[name] and not same_bits(blocks[name]["id"], system[name]["id"]):
                raise other_ids(self._group, name)


def other_ids(group: Group, name: str) -> RecordError:
    """An error for a block whose ids are not those of the block of its name in ``system``."""
    error = group.error("the ids are not those of /system", f"{name}/id")
    error.rule = 32
    return error


def check_shared_blocks(
    group: Group, schema: Schema, updates: Mapping[str, Updates], system: Mapping[str, Block] | None
) -> None:
    """Refuse blocks whose rows are not those of the block that they are aligned with, or of that of ``system``."""
    for name, spec in schema.blocks.items():
        if spec.aligned_with is not None and name in updates:
            check_alignment(group, name, updates[name], spec.aligned_with, updates.get(spec.aligned_with))
    for name, fixed in (system or {}).items():
        if name in schema.blocks:
            check_shared_name(group, name, schema.blocks[name])
            if name in updates:
                check_shared_rows(group, name, updates[name], fixed.count)


@rule(32)
def check_shared_name(group: Group, name: str, spec: BlockSpec) -> None:
    """Refuse an aligned block of the name of a block of ``system``."""
    if spec.aligned_with is not None:
        raise group.error("an aligned block shares a name with a block of /system", name)


@rule(32)
def check_shared_rows(group: Group, name: str, updates: Updates, due: int) -> None:
    """Refuse updates with another number of rows than the block of their name in ``system``."""
    counts = updates.counts()
    if (counts != due).any():
        bad = int(np.argmax(counts != due))
        error = group.error(f"{counts[bad]} rows, the block of that name in /system has {due}", name)
        error.frame = updates.ordinal(bad)
        raise error


@rule(30)
def check_alignment(group: Group, name: str, mine: Updates, target: str, others: Updates | None) -> None:
    """Refuse a frame in which a block has other rows than the block that it is aligned with, or stands alone."""
    frames = mine.ordinals() if others is None else np.union1d(mine.ordinals(), others.ordinals())
    own = mine.rows_in(frames)
    due = np.full(len(frames), ABSENT) if others is None else others.rows_in(frames)
    wrong = (own != ABSENT) & (own != due)
    if wrong.any():
        bad = int(np.argmax(wrong))
        found = "is absent" if due[bad] == ABSENT else f"has {due[bad]}"
        error = group.error(f"{own[bad]} rows, {target!r}, with which it is aligned, {found}", name)
        error.frame = int(frames[bad])
        raise error
