"""The rules between the blocks of a trajectory, for a writer: references, alignment, rows shared with ``system``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame
from molrec_convert.model.dtypes import same_bits
from molrec_convert.model.frame import check_reach, checked_target

from . import layout
from .block_writer import BlockWriter, last_rows


class BlockRules:
    """Checks updates before they are taken.

    Parameters
    ----------
    blocks
        What is known of every declared block.
    sections
        Gives the ``frame`` and ``system`` sections.
    error
        Makes an error from a message and a place in the trajectory.
    """

    def __init__(
        self,
        blocks: Mapping[str, BlockWriter],
        sections: Callable[[], Mapping[str, Frame | None]],
        error: Callable[[str, str], RecordError],
    ) -> None:
        self._blocks = blocks
        self._sections = sections
        self._error = error
        self._aligned = [(name, block.spec.aligned_with) for name, block in blocks.items() if block.spec.aligned_with]
        self._referring = [block for block in blocks.values() if block.references]

    @property
    def by_count(self) -> bool:
        """Whether the rules look at nothing but numbers of rows, which are those of all frames of a stack."""
        system = self._sections().get(layout.SYSTEM)
        fixed = {} if system is None else system
        with_ids = any("id" in block and "id" in self._blocks[name].spec.columns
                       for name, block in fixed.items() if name in self._blocks)  # fmt: skip
        return not (self._referring or self._aligned or with_ids)

    def check(self, fresh: Mapping[str, Block]) -> None:
        """Refuse updates that break a rule between blocks."""
        if not (self._referring or self._aligned or self._sections().get(layout.SYSTEM)):
            return
        for name, target in self._aligned:
            self._check_alignment(name, target or "", fresh)
        system = self._sections().get(layout.SYSTEM)
        for name, block in fresh.items():
            if system is not None and name in system:
                self._check_shared(name, block, system[name])
        for referring in self._referring:
            self._check_references(referring, fresh)

    def _check_alignment(self, name: str, target: str, fresh: Mapping[str, Block]) -> None:
        count, due = self._rows_of(name, fresh), self._rows_of(target, fresh)
        if count is not None and count != due:
            raise self._error(f"its rows are not aligned with those of {target!r}: {count}, {due or 0}", name)

    def _check_shared(self, name: str, block: Block, fixed: Block) -> None:
        if block.count != fixed.count:
            raise self._error(f"{block.count} rows, the block of that name in /system has {fixed.count}", name)
        if "id" in block and "id" in fixed and not same_bits(block["id"], fixed["id"]):
            raise self._error("the ids are not those of /system", f"{name}/id")

    def _check_references(self, referring: BlockWriter, fresh: Mapping[str, Block]) -> None:
        name = referring.name
        if name not in fresh and not any(target in fresh for target in referring.references.values()):
            return
        if not self._rows_of(name, fresh):
            return
        reached = last_rows(fresh[name], referring.references) if name in fresh else referring.reached
        for key, target in referring.references.items():
            section, block = checked_target(target, f"{name}/{key}")
            if not section:
                count = self._rows_of(target, fresh)
            elif (frame := self._sections().get(section)) is not None:
                count = frame[block].count if block in frame else None
            else:
                continue
            try:
                check_reach(reached[key], target, count, f"{name}/{key}")
            except RecordError as error:
                raise self._error(error.message, f"{name}/{key}") from None

    def _rows_of(self, name: str, fresh: Mapping[str, Block]) -> int | None:
        if name in fresh:
            return fresh[name].count
        writer = self._blocks.get(name)
        return None if writer is None or writer.last is None else writer.last.count

    def check_system(self, system: Frame) -> None:
        """Refuse a ``system`` that does not go with the frames so far."""
        for name, fixed in system.items():
            writer = self._blocks.get(name)
            if writer is None:
                continue
            if writer.spec.aligned_with is not None:
                raise self._error("an aligned block shares a name with a block of /system", name)
            if writer.last is not None:
                if writer.rows != writer.updates * fixed.count:
                    raise self._error(f"the block of that name in /system has {fixed.count} rows", name)
                self._check_shared(name, writer.last, fixed)
                if "id" in writer.last and "id" in fixed and writer.updates > 1:
                    raise self._error("the ids are in the trajectory and in a later /system", f"{name}/id")
