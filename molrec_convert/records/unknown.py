"""What MolRec does not know: sections, groups, arrays and attributes that are carried from record to record."""

from __future__ import annotations

from molrec_convert.model import Schema

from . import layout
from .stored import StoredRecord
from .tree import Group, Node, arrays_of, groups_of
from .writer import RecordWriter

ARRAY_ATTRIBUTES = frozenset((layout.PRECISION, layout.META_DTYPE, "_zarrs"))


def copy_unknown(source: StoredRecord, writer: RecordWriter) -> list[str]:
    """Copy what the decoder of `source` does not decode; give the places that were copied.

    Call it when the sections are set and the last frame is appended: it ends the trajectory of the target.

    Parameters
    ----------
    source
        The record that was read.
    writer
        The record that its frames were written to.
    """
    if writer.trajectory is not None:
        writer.trajectory.close()
    copied: list[str] = []
    old, new = source.root, writer.root
    _copy_attributes(old, new, source.own_attributes, copied)
    _copy_children(
        old, new, source.own_children | {layout.META, layout.FRAME, layout.SYSTEM, layout.TRAJECTORY}, copied
    )
    for name in (layout.META, layout.FRAME, layout.SYSTEM):
        mine, theirs = new.group(name), old.group(name)
        if mine is not None and theirs is not None:
            _copy_section(theirs, mine, copied)
    mine, theirs = new.group(layout.TRAJECTORY), old.group(layout.TRAJECTORY)
    if mine is not None and theirs is not None and source.trajectory is not None:
        _copy_trajectory(theirs, mine, source.trajectory.schema, copied)
    return copied


def _copy_section(old: Group, new: Group, copied: list[str]) -> None:
    """A frame-shaped section: its groups are blocks, its attributes the meta document; arrays are unknown."""
    blocks = groups_of(old)
    _copy_children(old, new, frozenset(blocks), copied)
    for name, node in blocks.items():
        mine = new.group(name)
        if mine is None:
            continue
        if name == layout.BOX:
            _copy_box(node, mine, copied)
        else:
            _copy_block(node, mine, set(arrays_of(node)), layout.BLOCK_ATTRIBUTES, copied)


def _copy_trajectory(old: Group, new: Group, schema: Schema, copied: list[str]) -> None:
    _copy_attributes(old, new, layout.TRAJECTORY_ATTRIBUTES, copied)
    _copy_children(old, new, layout.RESERVED_BLOCKS | set(schema.blocks), copied)
    for name, node in groups_of(old).items():
        mine = new.group(name)
        if mine is None:
            continue
        if name == layout.BOX:
            _copy_box(node, mine, copied)
        elif name == layout.META:
            _copy_block(node, mine, set(schema.meta), frozenset(), copied)
        elif name in schema.blocks:
            declared = set(schema.blocks[name].columns) | layout.RESERVED_COLUMNS
            _copy_block(node, mine, declared, layout.UPDATE_ATTRIBUTES, copied)


def _copy_block(old: Group, new: Group, declared: set[str], attributes: frozenset[str], copied: list[str]) -> None:
    """A group of arrays: what is declared has been written, but for the attributes of its arrays."""
    _copy_attributes(old, new, attributes, copied)
    _copy_children(old, new, frozenset(declared | layout.RESERVED_COLUMNS), copied)
    for name in declared:
        mine, theirs = new.child(name), old.child(name)
        if mine is not None and theirs is not None:
            _copy_attributes(theirs, mine, ARRAY_ATTRIBUTES, copied)


def _copy_box(old: Group, new: Group, copied: list[str]) -> None:
    _copy_attributes(old, new, layout.BOX_PARTS, copied)
    _copy_children(old, new, layout.BOX_PARTS, copied)


def _copy_children(old: Group, new: Group, known: frozenset[str], copied: list[str]) -> None:
    for name in old.names():
        node = old.child(name)
        if name not in known and node is not None and new.child(name) is None:
            new.adopt(name, node)
            copied.append(node.place)


def _copy_attributes(old: Node, new: Node, known: frozenset[str], copied: list[str]) -> None:
    for name in old.attributes.names():
        if name not in known and name not in new.attributes:
            new.attributes.adopt(name, old.attributes)
            copied.append(f"{old.place}@{name}")
