"""What MolRec does not know: sections, groups, arrays and attributes that are carried from record to record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from molrec_convert.model import Schema

from . import layout
from .schema_json import schema_of
from .stored import StoredRecord
from .tree import Group, Node, StoredArray, arrays_of, groups_of, is_group
from .writer import RecordWriter

ARRAY_ATTRIBUTES = frozenset((layout.PRECISION, layout.META_DTYPE, "_zarrs"))


class Unknown(NamedTuple):
    """A child or an attribute of a node that the decoder does not decode."""

    owner: Node
    name: str
    is_attribute: bool

    @property
    def place(self) -> str:
        """Where it is, such as ``/forcefield`` or ``/frame/atoms@colour``."""
        return f"{self.owner.place}@{self.name}" if self.is_attribute else layout.joined(self.owner.place, self.name)


def unknown_parts(record: StoredRecord) -> Iterator[Unknown]:
    """What the decoder of a record does not decode; what lies within such a part is not named again."""
    root = record.root
    yield from _attributes(root, record.own_attributes)
    known = {layout.META, layout.FRAME, layout.SYSTEM, layout.TRAJECTORY}
    yield from _children(root, record.own_children | known)
    document = root.group(layout.META)
    if document is not None:
        yield from _children(document, frozenset())
    for name in (layout.FRAME, layout.SYSTEM):
        section = root.group(name)
        if section is not None:
            yield from _in_section(section)
    trajectory = root.group(layout.TRAJECTORY)
    if trajectory is not None:
        yield from _in_trajectory(trajectory, schema_of(trajectory))


def _in_section(section: Group) -> Iterator[Unknown]:
    """A frame-shaped section: its groups are blocks, its attributes the meta document; arrays are unknown."""
    blocks = groups_of(section)
    yield from _children(section, frozenset(blocks))
    for name, block in blocks.items():
        if name == layout.BOX:
            yield from _in_box(block)
        else:
            yield from _in_block(block, frozenset(arrays_of(block)), layout.BLOCK_ATTRIBUTES)


def _in_trajectory(trajectory: Group, schema: Schema) -> Iterator[Unknown]:
    yield from _attributes(trajectory, layout.TRAJECTORY_ATTRIBUTES)
    yield from _children(trajectory, layout.RESERVED_BLOCKS | set(schema.blocks))
    for name, group in groups_of(trajectory).items():
        if name == layout.BOX:
            yield from _in_box(group)
        elif name == layout.META:
            yield from _in_block(group, frozenset(schema.meta), frozenset())
        elif name in schema.blocks:
            yield from _in_block(group, frozenset(schema.blocks[name].columns), layout.UPDATE_ATTRIBUTES)


def _in_block(block: Group, arrays: frozenset[str], attributes: frozenset[str]) -> Iterator[Unknown]:
    """A group of arrays."""
    yield from _attributes(block, attributes)
    yield from _children(block, arrays | layout.RESERVED_COLUMNS)
    for name in arrays:
        array = block.child(name)
        if array is not None:
            yield from _attributes(array, ARRAY_ATTRIBUTES)


def _in_box(box: Group) -> Iterator[Unknown]:
    yield from _attributes(box, layout.BOX_PARTS)
    yield from _children(box, layout.BOX_PARTS)


def _children(group: Group, known: frozenset[str]) -> Iterator[Unknown]:
    return (Unknown(group, name, False) for name in group.names() if name not in known)


def _attributes(node: Node, known: frozenset[str]) -> Iterator[Unknown]:
    return (Unknown(node, name, True) for name in node.attributes.names() if name not in known)


# ---------------------------------------------------------------- copying
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
    for part in unknown_parts(source):
        owner = _node_at(writer.root, part.owner.place)
        if owner is not None and _copy(part, owner):
            copied.append(part.place)
    return copied


def _copy(part: Unknown, owner: Node) -> bool:
    """Copy a part to a node of another tree, unless there is one of its name; whether that was done."""
    if part.is_attribute:
        if part.name in owner.attributes:
            return False
        owner.attributes.adopt(part.name, part.owner.attributes)
        return True
    node = child_of(part.owner, part.name)
    if node is None or not is_group(owner) or child_of(owner, part.name) is not None:
        return False
    owner.adopt(part.name, node)  # type: ignore[attr-defined]
    return True


def child_of(node: Node, name: str) -> Group | StoredArray | None:
    """A child; None if there is none, or the node is an array."""
    found: Group | StoredArray | None = node.child(name) if is_group(node) else None  # type: ignore[attr-defined]
    return found


def _node_at(root: Group, place: str) -> Node | None:
    node: Node | None = root
    for name in filter(None, place.split("/")):
        node = None if node is None else child_of(node, name)
    return node
