"""Frame-shaped sections, ``frame`` and ``system``: a frame as a group of blocks, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.block import check_canonical, checked_shape
from molrec_convert.model.dtypes import Array, checked_name
from molrec_convert.model.frame import check_references, checked_target
from molrec_convert.model.meta import checked_key, checked_tag
from molrec_convert.model.precision import checked_precision
from molrec_convert.rules import rule

from . import layout
from .tree import Group, Node, StoredArray, arrays_of, attribute_error, due_array, groups_of, is_group, within


# ---------------------------------------------------------------- writing
def write_section(parent: Group, name: str, frame: Frame, others: Mapping[str, Frame | None]) -> None:
    """Write a frame as the section `name`, in place of one that is there.

    Parameters
    ----------
    parent
        The root of the record.
    name
        ``frame`` or ``system``.
    frame
        What to write.
    others
        The sections that absolute row references may point at.
    """
    place = layout.joined(parent.place, name)
    checked_frame(frame, {**others, name: frame}, place)
    group = parent.create_group(name, hidden=True)
    _write_meta(group, frame.meta)
    for key, block in frame.items():
        _write_block(group.create_group(key), block)
    if frame.box is not None:
        _write_box(group.create_group(layout.BOX), frame.box)
    parent.publish(name, group)


def checked_frame(frame: Frame, sections: Mapping[str, Frame | None], place: str) -> None:
    """Refuse a frame whose row references point nowhere, or whose block has targets of no column."""
    with at_place(place):
        for name, block in frame.items():
            for column, target in block.targets.items():
                checked_target(target, f"{name}/{column}")
                if column not in block.columns or block.column(column).dtype != "u64":
                    raise RecordError("targets names what is no u64 column of the block", place=f"{name}/{column}")
        check_references(frame, sections)


class at_place:  # noqa: N801 - reads as a word of the language: `with at_place(…)`
    """Puts a place in front of that of a `RecordError`."""

    def __init__(self, place: str, path: str | None = None) -> None:
        self._place = place
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and not (error.place or "").startswith("/"):
            error.place = f"{self._place}/{error.place}" if error.place else self._place
            error.path = error.path or self._path


def _write_meta(group: Group, meta: Meta) -> None:
    for key, value in meta.items():
        group.attributes.set_tagged(key, value, meta.tag(key))
    if meta:
        group.attributes.set_document(layout.META_TYPES, dict(meta.tags))


def _write_block(group: Group, block: Block) -> None:
    group.attributes.set_scalar(layout.COUNT, block.count, "i64")
    if block.shape is not None:
        group.attributes.set_plain({layout.SHAPE: list(block.shape)})
    if block.targets:
        group.attributes.set_document(layout.TARGETS, dict(block.targets))
    if block.attributes:
        group.attributes.set_plain(block.attributes)
    for name, column in block.columns.items():
        array = group.create_array(name, column.values, quantized=column.precision is not None)
        if column.precision is not None:
            array.attributes.set_scalar(layout.PRECISION, column.precision, "f64")
    masks = {name: column.valid for name, column in block.columns.items() if column.valid is not None}
    if masks:
        validity = group.create_group(layout.VALIDITY)
        for name, mask in masks.items():
            validity.create_array(name, mask)


def _write_box(group: Group, box: Box) -> None:
    if not box.defined:
        group.attributes.set_scalar(layout.CELL_DEFINED, False, "bool")
    group.create_array(layout.VECTORS, box.vectors)
    if has_origin(box):
        group.create_array(layout.ORIGIN, box.origin)
    if not box.boundary.all():
        group.create_array(layout.BOUNDARY, box.boundary)


def has_origin(box: Box) -> bool:
    """Whether the origin is off its default, to the bit."""
    return bool(box.origin.any() or np.signbit(box.origin).any())


# ---------------------------------------------------------------- reading
BOX_FORMS = {layout.VECTORS: ("f64", (3, 3)), layout.ORIGIN: ("f64", (3,)), layout.BOUNDARY: ("bool", (3,))}


def read_section(group: Group) -> Frame:
    """Read a frame-shaped section; row references are not looked at."""
    tags = meta_tags(group)
    keys = meta_keys(group)
    values = {key: meta_value(group, key, tags) for key in keys}
    tags = {key: meta_tag(group, key, tags) for key in keys}
    cell = section_box(group)
    groups = {name: node for name, node in groups_of(group).items() if name != layout.BOX}
    blocks = {named(name, "a block", node): _read_block(node) for name, node in groups.items()}
    box = None if cell is None else read_box(cell)
    return Frame.of(blocks, box, Meta.of(values, tags))


def named(name: str, what: str, owner: Node) -> str:
    """A name that every store can carry."""
    with within(owner):
        return checked_name(name, what)


@rule(8)
def meta_tags(group: Group) -> dict[str, Any]:
    """The tags of the meta document, as they stand."""
    attributes = group.attributes
    tags = attributes.document(layout.META_TYPES) if layout.META_TYPES in attributes else {}
    if not isinstance(tags, dict):
        raise attribute_error(group, layout.META_TYPES, f"a JSON object is due, found {tags!r}")
    return tags


def meta_keys(group: Group) -> list[str]:
    """The keys of the meta document."""
    return [key for key in group.attributes.names() if key != layout.META_TYPES]


@rule(8)
def meta_value(group: Group, key: str, tags: Mapping[str, Any]) -> Any:
    """The value of a key, in the form of its tag."""
    return group.attributes.tagged(key, meta_tag(group, key, tags))


@rule(8)
def meta_tag(group: Group, key: str, tags: Mapping[str, Any]) -> str:
    """The tag of a key: that which is stated, or else that which its value tells."""
    tag = tags[key] if key in tags else group.attributes.untagged(key)
    try:
        checked_key(key, "a meta key")
        return checked_tag(tag, key)
    except RecordError as error:
        raise attribute_error(group, key, error.message, error.rule) from None


@rule(7)
def section_box(group: Group) -> Group | None:
    """The group of the box."""
    return group.group(layout.BOX)


def _read_block(group: Group) -> Block:
    count = read_count(group)
    arrays = column_arrays(group)
    masks = {name: due_flags(mask, count).read(0, count) for name, mask in mask_arrays(group, arrays).items()}
    columns = {
        named(name, "a column", array): _read_column(name, array, count, masks.get(name))
        for name, array in arrays.items()
    }
    shape = read_shape(group, count)
    targets = read_targets(group, {name: column.dtype for name, column in columns.items()})
    extra = unknown_attributes(group, layout.BLOCK_ATTRIBUTES)
    return Block.of(columns, count, shape=shape, targets=targets, attributes=extra)


def _read_column(name: str, array: StoredArray, count: int, valid: Array | None) -> Column:
    due_count(array, count)
    check_column(name, array)
    precision = read_precision(array)
    return Column.of(array.read(0, count), None if valid is None or valid.all() else valid, precision)


@rule(4)
def read_count(group: Group) -> int:
    """The number of rows of a block."""
    count: int = group.attributes.scalar(layout.COUNT, "i64")
    if count < 0:
        raise group.error(f"the count is {count}, at least 0 is due")
    return count


def column_arrays(group: Group) -> dict[str, StoredArray]:
    """The columns of a block."""
    return {name: array for name, array in arrays_of(group).items() if name != layout.VALIDITY}


@rule(4)
def due_count(array: StoredArray, count: int) -> StoredArray:
    """The array itself; an error unless it has exactly so many rows."""
    if not array.shape or array.shape[0] != count:
        raise array.error(f"{count} rows are due, found shape {list(array.shape)}")
    return array


def check_column(name: str, array: StoredArray) -> str:
    """The type of a column; an error where it is none, or MolRec fixes another for its name."""
    dtype = array.dtype
    with within(array):
        check_canonical(name, dtype, array.shape[1:])
    return dtype


@rule(13)
def read_precision(array: StoredArray) -> float | None:
    """The precision that a column of a section declares."""
    if layout.PRECISION not in array.attributes:
        return None
    if array.dtype != "f64":
        raise array.error(f"a precision on {array.dtype}, only f64 has one")
    with within(array):
        return checked_precision(array.attributes.scalar(layout.PRECISION, "f64"))


@rule(12)
def due_flags(array: StoredArray, count: int) -> StoredArray:
    """The mask itself; an error unless it has exactly so many flags."""
    if array.shape[0] != count:
        raise array.error(f"{count} flags are due, found {array.shape[0]}")
    return array


@rule(12)
def mask_arrays(group: Group, columns: Collection[str]) -> dict[str, StoredArray]:
    """The arrays of ``_validity``, each bool without further axes and of a column that may be null."""
    validity = mask_group(group)
    return {} if validity is None else {name: mask_array(validity, name, columns) for name in validity.names()}


@rule(12)
def mask_group(group: Group) -> Group | None:
    """The group ``_validity`` of a block."""
    validity = group.child(layout.VALIDITY)
    if validity is not None and not is_group(validity):
        raise validity.error("_validity is a group of masks, not a column")
    return group.group(layout.VALIDITY)


@rule(12)
def mask_array(validity: Group, name: str, columns: Collection[str]) -> StoredArray:
    """One array of ``_validity``."""
    if name not in columns:
        raise validity.error("a mask of no column, or of one that is not nullable", name)
    return due_array(validity, name, "bool")


@rule(5)
def read_shape(group: Group, count: int) -> tuple[int, ...] | None:
    """The structural shape of a block of a section."""
    if layout.SHAPE not in group.attributes:
        return None
    with within(group):
        return checked_shape(group.attributes.counts(layout.SHAPE), count)


@rule(14)
def read_targets(group: Group, dtypes: Mapping[str, str]) -> dict[str, str]:
    """The attribute ``targets``: a map from u64 columns of the block to well-formed targets."""
    if layout.TARGETS not in group.attributes:
        return {}
    with within(group):
        return checked_targets(group.attributes.document(layout.TARGETS), dtypes)


@rule(14)
def checked_targets(targets: Any, dtypes: Mapping[str, str]) -> dict[str, str]:
    """A ``targets`` map as a dictionary."""
    if not isinstance(targets, dict):
        raise RecordError(f"targets is a map from column to target, not {targets!r}")
    for name, target in targets.items():
        if dtypes.get(name) != "u64":
            raise RecordError(f"targets names {name!r}, which is no u64 column of the block")
        checked_target(target, None)
    return targets


def unknown_attributes(group: Group, known: frozenset[str]) -> dict[str, Any]:
    """The attributes that the layout does not know, as far as they are members of a plain document."""
    found: dict[str, Any] = {}
    for name in group.attributes.names():
        if name not in known:
            try:
                found[name] = group.attributes.plain(name)
            except RecordError:  # another form: copied as it stands, with what else is unknown
                continue
    return found


def read_box(group: Group) -> Box:
    """The box of a section."""
    vectors, origin, boundary = (box_part(group, name) for name in BOX_FORMS)
    assert vectors is not None
    return checked_box(vectors, origin, boundary, group, defined=cell_defined(group))


@rule(15)
def box_part(group: Group, name: str) -> Array | None:
    """An array of a box; None where there is none, which the vectors may not be."""
    dtype, shape = BOX_FORMS[name]
    axes = "".join(f"[{n}]" for n in shape)
    if name in group.attributes:
        raise group.error(f"{name} is an array on a frame, never an attribute")
    array = group.array(name)
    if array is None:
        if name == layout.VECTORS:
            raise group.error(f"an array {dtype}{axes} is due, there is none", name)
        return None
    if array.shape != shape or array.dtype != dtype:
        raise array.error(f"{dtype}{axes} is due, found {array.dtype} of shape {list(array.shape)}")
    return array.read(0, shape[0])


@rule(16)
def cell_defined(group: Group) -> bool:
    """The attribute of a box, true by default."""
    attributes = group.attributes
    return layout.CELL_DEFINED not in attributes or bool(attributes.scalar(layout.CELL_DEFINED, "bool"))


def checked_box(vectors: Array, origin: Array | None, boundary: Array | None, owner: Node, *, defined: bool) -> Box:
    """A box with its defaults; an undefined one is the identity whatever its vectors say."""
    with within(owner):
        return Box(vectors, origin=origin, boundary=boundary, defined=defined)
