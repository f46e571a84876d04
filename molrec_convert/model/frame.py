"""A frame: named blocks, a typed meta document, and perhaps a box."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule

from .block import Block
from .box import Box
from .column import Column
from .dtypes import ENDPOINTS, checked_name
from .meta import Meta
from .origin import Origin

if TYPE_CHECKING:
    from ase import Atoms

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

    __slots__ = ("_blocks", "_box", "meta", "origin")

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
        self.origin: Origin | None = None
        """What the trajectory that it comes from says of it, besides."""

    @classmethod
    def of(cls, blocks: dict[str, Block], box: Box | None, meta: Meta) -> Frame:
        """Wrap parts that are known to be right."""
        made = object.__new__(cls)
        made._blocks, made._box, made.meta, made.origin = blocks, box, meta, None
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

    def __contains__(self, name: object) -> bool:
        return name in self._blocks

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def items(self) -> ItemsView[str, Block]:
        """Names and blocks, as those of a dictionary."""
        return self._blocks.items()

    def to_ase(self, *, units: str | Mapping[str, str] | None = None) -> Atoms:
        """Make ASE Atoms, the same to the last bit where the frame came from Atoms.

        Numbers are converted to the units of ASE (Å, eV, eV/Å, amu, e; velocities become momenta). Elements are those
        of the frame, else the labels of ``type`` that are elements, else X. Energies, forces and stress are results of
        a calculator, columns that ASE does not know are in ``arrays``, values of the frame in ``info``.

        Parameters
        ----------
        units
            The unit of every quantity, as ``{"length": "nm"}``, or the name of a system such as ``real``; by default
            what the record of the frame says. Where nothing is known, numbers are handed through.

        Warns
        -----
        LossWarning
            For what Atoms cannot hold: bonds and other blocks, rows without a value.
        ConvertWarning
            For atoms without a known element, and for units that are not known.
        """
        from molrec_convert.integrations.ase_record import frame_to_ase

        return frame_to_ase(self, units)

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


@rule(14)
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
            section, key = checked_target(target, where)
            blocks = sections.get(section) if section else frame
            if blocks is not None:
                pointed = blocks.get(key)
                last = greatest_row(block.column(column))
                check_reach(last, target, None if pointed is None else pointed.count, where)


def greatest_row(column: Column) -> int:
    """The greatest row that a column of references points at; -1 if it points at none."""
    rows = column.values if column.valid is None else column.values[column.valid]
    return int(rows.max()) if rows.size else -1


@rule(14)
def check_reach(last: int, target: str, rows: int | None, where: str) -> None:
    """Refuse references of which the greatest, `last`, is none of the `rows` of the target; None for no target."""
    if rows is None:
        raise RecordError(f"the block {target!r} that it refers to is missing", place=where)
    if last >= rows:
        raise RecordError(f"row {last} of {target!r}, which has {rows} rows", place=where)


@rule(14)
def checked_target(target: Any, where: str | None) -> tuple[str, str]:
    """Split a target into section (empty for one of the same container) and block."""
    if not isinstance(target, str):
        raise RecordError(f"a target is text, not {target!r}", place=where)
    parts = target.split("/")
    if len(parts) == 1 and parts[0]:
        return "", target
    if len(parts) != 3 or parts[0] or not parts[1] or not parts[2]:
        raise RecordError(f"the target {target!r} is neither <block> nor /<section>/<block>", place=where)
    if parts[1] == "trajectory":
        raise RecordError(f"the target {target!r} is a block of the trajectory", place=where)
    return parts[1], parts[2]
