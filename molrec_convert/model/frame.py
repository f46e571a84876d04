"""A frame: named blocks, a typed meta document, and perhaps a box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError

from .block import Block
from .box import Box
from .dtypes import ENDPOINTS, checked_name
from .meta import Meta

RESERVED_BLOCK = "box"


class Frame(MutableMapping[str, Block]):
    """A snapshot of a system; a mapping from a block's name to the block.

    Parameters
    ----------
    blocks
        Blocks by name, each a `Block` or a mapping from column names to values.
    box
        The cell; none for an open system.
    meta
        Typed values that belong to the frame, a `Meta` or a mapping.

    Examples
    --------
    >>> water = Frame({"atoms": {"element": ["O", "H", "H"], "x": [0.0, 0.76, -0.76]}})
    >>> water["atoms"].count
    3
    """

    __slots__ = ("_blocks", "_box", "meta")

    def __init__(
        self,
        blocks: Mapping[str, Any] | None = None,
        *,
        box: Box | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self._blocks: dict[str, Block] = {}
        for name, block in (blocks or {}).items():
            self[name] = block
        self.box = box
        self.meta = meta if isinstance(meta, Meta) else Meta(meta)

    @classmethod
    def of(cls, blocks: dict[str, Block], box: Box | None, meta: Meta) -> Frame:
        """Wrap parts that are known to be right."""
        made = object.__new__(cls)
        made._blocks, made._box, made.meta = blocks, box, meta
        return made

    @property
    def box(self) -> Box | None:
        """The cell; None for an open system."""
        return self._box

    @box.setter
    def box(self, box: Box | None) -> None:
        if box is not None and not isinstance(box, Box):
            raise RecordError(f"the box of a frame is a Box, such as Box.orthogonal([10, 10, 10]), not {box!r}")
        self._box = box

    def __getitem__(self, name: str) -> Block:
        return self._blocks[name]

    def __setitem__(self, name: str, block: Any) -> None:
        if name == RESERVED_BLOCK:
            raise RecordError("a block cannot be called 'box': set the frame's box instead")
        checked_name(name, "a block")
        try:
            self._blocks[name] = block if isinstance(block, Block) else Block(block)
        except RecordError as error:
            raise RecordError(f"block {name!r}: {error.message}") from None

    def __delitem__(self, name: str) -> None:
        del self._blocks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def same(self, other: Frame) -> bool:
        """Whether both hold the same bits, whatever the order of blocks, columns and keys."""
        if (self.box is None) != (other.box is None) or self.keys() != other.keys():
            return False
        if self.box is not None and other.box is not None and not self.box.same(other.box):
            return False
        return self.meta.same(other.meta) and all(block.same(other[name]) for name, block in self.items())

    def __repr__(self) -> str:
        parts = [f"{name}: {block.count} × ({', '.join(block)})" for name, block in self.items()]
        if self.box is not None:
            parts.append(f"box: {self.box!r}")
        if self.meta:
            parts.append("meta: " + ", ".join(f"{key}={value!r}" for key, value in self.meta.items()))
        return "Frame(" + "; ".join(parts) + ")"

    def _repr_html_(self) -> str:
        from .view import frame_html

        return frame_html(self)


def references(block_columns: Mapping[str, Any], targets: Mapping[str, str]) -> dict[str, str]:
    """The target of every reference column: the declared ones, and ``atoms`` for the endpoints by convention."""
    return {**{end: "atoms" for end in ENDPOINTS if end in block_columns}, **targets}


def check_references(frame: Mapping[str, Block], sections: Mapping[str, Mapping[str, Block] | None]) -> None:
    """Refuse row references of a frame that point at no row.

    Parameters
    ----------
    frame
        The blocks of one container.
    sections
        The blocks of ``frame`` and ``system`` for absolute targets; a section that is absent is not checked.

    Raises
    ------
    RecordError
        With the place ``<block>/<column>``.
    """
    for name, block in frame.items():
        if not block.count:
            continue
        for column, target in references(block.columns, block.targets).items():
            where = f"{name}/{column}"
            if column not in block.columns or block.column(column).dtype != "u64":
                raise RecordError("a row reference is a u64 column of its block", place=where)
            if target.startswith("/"):
                section = sections.get(checked_target(target, where)[0])
                if section is None:
                    continue
                pointed = section.get(checked_target(target, where)[1])
            else:
                pointed = frame.get(target)
            if pointed is None:
                raise RecordError(f"the block {target!r} that it refers to is missing", place=where)
            data = block.column(column)
            rows = data.values if data.valid is None else data.values[data.valid]
            if rows.size and int(rows.max()) >= pointed.count:
                raise RecordError(f"row {int(np.max(rows))} of {target!r}, which has {pointed.count} rows", place=where)


def checked_target(target: str, where: str) -> tuple[str, str]:
    """Split a target into section (empty for one of the same container) and block."""
    parts = target.split("/")
    if len(parts) == 1 and parts[0]:
        return "", target
    if len(parts) != 3 or parts[0] or not parts[1] or not parts[2]:
        raise RecordError(f"the target {target!r} is neither <block> nor /<section>/<block>", place=where)
    if parts[1] == "trajectory":
        raise RecordError(f"the target {target!r} is a block of the trajectory", place=where)
    return parts[1], parts[2]
