"""Frame-shaped sections, ``frame`` and ``system``: a frame as a group of blocks, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.block import check_canonical
from molrec_convert.model.dtypes import Array, checked_name
from molrec_convert.model.frame import check_references, checked_target
from molrec_convert.model.meta import RESERVED_KEYS, checked_tag
from molrec_convert.model.precision import checked_precision

from . import layout
from .tree import Group, Node, StoredArray, arrays_of, due_array, groups_of, is_group


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
def read_section(group: Group) -> Frame:
    """Read a frame-shaped section; row references are not looked at."""
    meta = _read_meta(group)
    groups = groups_of(group)
    box_node = group.child(layout.BOX)
    if box_node is not None and not is_group(box_node):
        raise box_node.error("the box is a group")
    cell = groups.pop(layout.BOX, None)
    blocks = {named(name, "a block", group): _read_block(node) for name, node in groups.items()}
    return Frame.of(blocks, None if cell is None else _read_box(cell), meta)


def named(name: str, what: str, owner: Node) -> str:
    """A name that every store can carry."""
    try:
        return checked_name(name, what)
    except RecordError as error:
        raise owner.error(error.message) from None


def _read_meta(group: Group) -> Meta:
    attributes = group.attributes
    keys = [key for key in attributes.names() if key not in (layout.META_TYPES, *RESERVED_KEYS)]
    tags = attributes.document(layout.META_TYPES) if layout.META_TYPES in attributes else {}
    if not isinstance(tags, dict):
        raise group.error("a JSON object is due", f"@{layout.META_TYPES}")
    values: dict[str, Any] = {}
    for key in keys:
        named(key, "a meta key", group)
        if key not in tags:
            raise group.error(f"the meta key {key!r} has no tag in {layout.META_TYPES}")
        try:
            checked_tag(tags[key], key)
        except RecordError as error:
            raise group.error(error.message) from None
        values[key] = attributes.tagged(key, tags[key])
    return Meta.of(values, {key: tags[key] for key in keys})


def _read_block(group: Group) -> Block:
    attributes = group.attributes
    count = attributes.scalar(layout.COUNT, "i64")
    if count < 0:
        raise group.error(f"the count is {count}")
    arrays = arrays_of(group)
    if layout.VALIDITY in arrays:
        raise arrays[layout.VALIDITY].error("_validity is a group of masks, not a column")
    masks = read_masks(group, arrays, count)
    columns = {
        named(name, "a column", group): _read_column(name, array, count, masks.get(name))
        for name, array in arrays.items()
    }
    shape = None
    if layout.SHAPE in attributes:
        shape = attributes.counts(layout.SHAPE)
        if int(np.prod(np.array(shape, dtype=object))) != count:
            raise group.error(f"the structural shape {list(shape)} does not hold {count} rows")
    targets = read_targets(group, {name: column.dtype for name, column in columns.items()})
    extra = unknown_attributes(group, layout.BLOCK_ATTRIBUTES)
    return Block.of(columns, count, shape=shape, targets=targets, attributes=extra)


def _read_column(name: str, array: StoredArray, count: int, valid: Array | None) -> Column:
    if not array.shape or array.shape[0] != count:
        raise array.error(f"{count} rows are due, found shape {list(array.shape)}")
    dtype, precision = array.dtype, None
    canonical(name, dtype, array.shape[1:], array)
    if layout.PRECISION in array.attributes:
        if dtype != "f64":
            raise array.error(f"a precision on {dtype}")
        stated = array.attributes.scalar(layout.PRECISION, "f64")
        try:
            precision = checked_precision(stated)
        except RecordError as error:
            raise array.error(error.message) from None
    return Column.of(array.read(0, count), None if valid is None or valid.all() else valid, precision)


def canonical(name: str, dtype: str, trailing: tuple[int, ...], owner: Node) -> None:
    """Refuse a column whose name MolRec fixes at another type or shape."""
    try:
        check_canonical(name, dtype, trailing)
    except RecordError as error:
        raise owner.error(error.message) from None


def read_masks(group: Group, columns: Mapping[str, Any], count: int) -> dict[str, Array]:
    """The masks of a block of a section, each of exactly `count` flags."""
    found: dict[str, Array] = {}
    for name, array in mask_arrays(group, columns).items():
        if array.shape[0] != count:
            raise array.error(f"{count} flags are due, found {array.shape[0]}")
        found[name] = array.read(0, count)
    return found


def mask_arrays(group: Group, columns: Mapping[str, Any]) -> dict[str, StoredArray]:
    """The arrays of ``_validity``, each bool without further axes and of a column of the block."""
    validity = group.group(layout.VALIDITY)
    if validity is None:
        return {}
    for name in validity.names():
        if name not in columns:
            raise validity.error("a mask of no column, or of one that is not nullable", name)
    return {name: due_array(validity, name, "bool") for name in validity.names()}


def read_targets(group: Group, dtypes: Mapping[str, str]) -> dict[str, str]:
    """The attribute ``targets``: a map from u64 columns of the block to well-formed targets."""
    if layout.TARGETS not in group.attributes:
        return {}
    return checked_targets(group.attributes.document(layout.TARGETS), dtypes, group)


def checked_targets(targets: Any, dtypes: Mapping[str, str], owner: Node) -> dict[str, str]:
    """A ``targets`` map as a dictionary."""
    if not isinstance(targets, dict):
        raise owner.error("targets is a map from column to target")
    for name, target in targets.items():
        if dtypes.get(name) != "u64":
            raise owner.error(f"targets names {name!r}, which is no u64 column of the block")
        try:
            checked_target(target, name)
        except RecordError as error:
            raise owner.error(error.message) from None
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


def _read_box(group: Group) -> Box:
    for name in (layout.VECTORS, layout.ORIGIN, layout.BOUNDARY):
        if name in group.attributes:
            raise group.error(f"{name} is an array on a frame, never an attribute")
    vectors = _exact(group, layout.VECTORS, "f64", (3, 3))
    if vectors is None:
        raise group.error("an array f64[3][3] is due, there is none", layout.VECTORS)
    origin = _exact(group, layout.ORIGIN, "f64", (3,))
    boundary = _exact(group, layout.BOUNDARY, "bool", (3,))
    return checked_box(vectors, origin, boundary, group, defined=cell_defined(group))


def cell_defined(group: Group) -> bool:
    """The attribute of a box, true by default."""
    attributes = group.attributes
    return layout.CELL_DEFINED not in attributes or bool(attributes.scalar(layout.CELL_DEFINED, "bool"))


def checked_box(vectors: Array, origin: Array | None, boundary: Array | None, owner: Node, *, defined: bool) -> Box:
    """A box with its defaults; an undefined one is the identity whatever its vectors say."""
    try:
        return Box(vectors, origin=origin, boundary=boundary, defined=defined)
    except RecordError as error:
        raise owner.error(error.message) from None


def _exact(group: Group, name: str, dtype: str, shape: tuple[int, ...]) -> Array | None:
    array = group.array(name)
    if array is None:
        return None
    if array.shape != shape or array.dtype != dtype:
        axes = "".join(f"[{n}]" for n in shape)
        raise array.error(f"{dtype}{axes} is due, found {array.dtype} of shape {list(array.shape)}")
    return array.read(0, shape[0])
