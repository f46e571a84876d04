"""What holds between the blocks of a stored trajectory: row references, alignment, and shared rows with ``system``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame, Schema
from molrec_convert.model.dtypes import same_bits
from molrec_convert.model.frame import check_references, references

from .tree import Group
from .updates import Updates


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

    def check(self, blocks: Mapping[str, Block], updates: Mapping[str, int], frame: int) -> None:
        """Refuse a frame whose references point at no row, or whose ids are not those of ``system``."""
        if not self._involved and not self._shared:
            return
        now = tuple((name, k) for name, k in updates.items() if name in self._involved or name in self._shared)
        if now == self._seen:
            return
        try:
            check_references(blocks, self._sections)
        except RecordError as error:
            found = self._group.error(error.message, error.place)
            found.frame = frame
            raise found from None
        self._check_ids(blocks, frame)
        self._seen = now

    def _check_ids(self, blocks: Mapping[str, Block], frame: int) -> None:
        system: Mapping[str, Block] = self._sections.get("system") or {}
        for name in self._shared:
            if name in blocks and "id" in system[name] and not same_bits(blocks[name]["id"], system[name]["id"]):
                error = self._group.error("the ids are not those of /system", f"{name}/id")
                error.frame = frame
                raise error


def check_shared_blocks(
    group: Group, schema: Schema, updates: Mapping[str, Updates], system: Mapping[str, Block] | None
) -> None:
    """Refuse blocks whose rows are not those of the block that they are aligned with, or of that of ``system``."""
    for name, spec in schema.blocks.items():
        if spec.aligned_with is not None and name in updates:
            _check_alignment(group, name, updates[name], spec.aligned_with, updates.get(spec.aligned_with))
    for name, fixed in (system or {}).items():
        if name not in schema.blocks:
            continue
        if schema.blocks[name].aligned_with is not None:
            raise group.error("an aligned block shares a name with a block of /system", name)
        counts = updates[name].counts() if name in updates else np.zeros(0, np.int64)
        if (counts != fixed.count).any():
            bad = int(np.argmax(counts != fixed.count))
            error = group.error(f"{counts[bad]} rows, the block of that name in /system has {fixed.count}", name)
            error.frame = updates[name].ordinal(bad)
            raise error


def _check_alignment(group: Group, name: str, mine: Updates, target: str, others: Updates | None) -> None:
    frames = mine.ordinals() if others is None else np.union1d(mine.ordinals(), others.ordinals())
    counts = mine.counts()
    due = others.counts() if others is not None else np.zeros(0, np.int64)
    for frame in frames.tolist():
        own, other = mine.at(frame), -1 if others is None else others.at(frame)
        if own >= 0 and (other < 0 or counts[own] != due[other]):
            error = group.error(f"its rows are not aligned with those of {target!r}", name)
            error.frame = frame
            raise error
