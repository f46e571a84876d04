"""The declaration of a trajectory, ``sequence_schema``, as JSON and back, with all that a declaration may not say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model import BlockSpec, ColumnSpec, MetaSpec, Schema
from molrec_convert.model.block import check_canonical
from molrec_convert.model.dtypes import DTYPES, checked_name
from molrec_convert.model.frame import checked_target
from molrec_convert.model.meta import checked_tag, tagged
from molrec_convert.model.precision import checked_precision
from molrec_convert.model.schema import NO_FILL

from . import layout
from .tree import Group, arrays_of, groups_of
from .typed_json import from_typed_json, typed_json


# ---------------------------------------------------------------- writing
def schema_document(schema: Schema) -> dict[str, Any]:
    """The JSON of a declaration."""
    blocks = {name: _block_document(spec) for name, spec in schema.blocks.items()}
    meta = {}
    for key, spec in schema.meta.items():
        meta[key] = {"dtype": spec.tag}
        if spec.fill is not NO_FILL:
            meta[key]["fill"] = typed_json(spec.fill, spec.tag)
    return {"blocks": blocks, "meta": meta}


def _block_document(spec: BlockSpec) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, column in spec.columns.items():
        columns[name] = {"dtype": column.dtype, "trailing": list(column.trailing)}
        if column.nullable:
            columns[name]["nullable"] = True
        if column.precision is not None:
            columns[name]["precision"] = column.precision
    document: dict[str, Any] = {"columns": columns}
    if spec.shape is not None:
        document["structural_shape"] = list(spec.shape)
    if spec.targets:
        document["targets"] = dict(spec.targets)
    if spec.aligned_with is not None:
        document["aligned_with"] = spec.aligned_with
    return document


# ---------------------------------------------------------------- reading
def schema_of(group: Group) -> Schema:
    """The declaration of a stored trajectory; derived from its groups where it has none."""
    if layout.SCHEMA not in group.attributes:
        return _derived(group)
    document = group.attributes.document(layout.SCHEMA)
    try:
        return checked_schema(_parsed(document))
    except RecordError as error:
        where = f"{error.place}: " if error.place else ""
        raise group.error(f"{layout.SCHEMA}: {where}{error.message}") from None


def _parsed(document: Any) -> Schema:
    if not isinstance(document, dict):
        raise RecordError("a JSON object is due")
    blocks, meta = document.get("blocks", {}), document.get("meta", {})
    if not isinstance(blocks, dict) or not isinstance(meta, dict):
        raise RecordError("blocks and meta are maps")
    return Schema(
        {name: _parsed_block(entry, f"block {name!r}") for name, entry in blocks.items()},
        {key: _parsed_meta(entry, key) for key, entry in meta.items()},
    )


def _parsed_block(entry: Any, where: str) -> BlockSpec:
    if not isinstance(entry, dict) or not isinstance(entry.get("columns"), dict):
        raise RecordError("a map with columns is due", place=where)
    columns = {name: _parsed_column(column, f"{where}, column {name!r}") for name, column in entry["columns"].items()}
    shape, targets, aligned = (entry.get(key) for key in ("structural_shape", "targets", "aligned_with"))
    if shape is not None and not shape:
        raise RecordError("a structural shape is a list of counts, not []", place=where)
    if targets is not None and not isinstance(targets, dict):
        raise RecordError("targets is a map from column to target", place=where)
    if aligned is not None and not isinstance(aligned, str):
        raise RecordError(f"aligned_with is the name of a block, not {aligned!r}", place=where)
    return BlockSpec(columns, None if shape is None else _counts(shape, where), targets or {}, aligned)


def _parsed_column(entry: Any, where: str) -> ColumnSpec:
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
        raise RecordError(f"no dtype in {entry!r}", place=where)
    nullable = entry.get("nullable", False)
    if not isinstance(nullable, bool):
        raise RecordError(f"nullable is true or false, not {nullable!r}", place=where)
    trailing = _counts(entry.get("trailing", []), where)
    precision = entry.get("precision")
    if precision is not None:
        precision = checked_precision(precision, what=where)
    return ColumnSpec(entry["dtype"], trailing, nullable, precision)


def _parsed_meta(entry: Any, key: str) -> MetaSpec:
    if not isinstance(entry, dict):
        raise RecordError("a map with dtype is due", place=f"meta {key!r}")
    tag = checked_tag(entry.get("dtype"), key)
    if "fill" not in entry:
        return MetaSpec(tag)
    try:
        return MetaSpec(tag, from_typed_json(entry["fill"], tag))
    except RecordError as error:
        raise RecordError(f"the fill: {error.message}", place=f"meta {key!r}") from None


def _counts(value: Any, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(n) is int and n >= 0 for n in value):
        raise RecordError(f"a list of counts is due, found {value!r}", place=where)
    return tuple(value)


def _derived(group: Group) -> Schema:
    blocks: dict[str, BlockSpec] = {}
    for name, node in groups_of(group).items():
        if name in layout.RESERVED_BLOCKS:
            continue
        validity = node.group(layout.VALIDITY)
        masked = set(validity.names()) if validity is not None else set()
        columns = {
            key: ColumnSpec(array.dtype, array.shape[1:], key in masked)
            for key, array in arrays_of(node).items()
            if key not in layout.RESERVED_COLUMNS
        }
        attributes = node.attributes
        shape = attributes.counts(layout.SHAPE) if layout.SHAPE in attributes else None
        targets = attributes.document(layout.TARGETS) if layout.TARGETS in attributes else {}
        if not isinstance(targets, dict):
            raise node.error("targets is a map from column to target")
        blocks[name] = BlockSpec(columns, shape, targets)
    meta_group = group.group(layout.META)
    meta = {}
    for key, array in (arrays_of(meta_group) if meta_group is not None else {}).items():
        tag = array.attributes.text(layout.META_DTYPE)
        try:
            meta[key] = MetaSpec(checked_tag(tag, key))
        except RecordError as error:
            raise array.error(error.message) from None
    try:
        return checked_schema(Schema(blocks, meta))
    except RecordError as error:
        where = f"{error.place}: " if error.place else ""
        raise group.error(f"{where}{error.message}") from None


# ---------------------------------------------------------------- what a declaration may not say
def checked_schema(schema: Schema) -> Schema:
    """The schema itself; `RecordError` where no trajectory may be declared so."""
    for name, block in schema.blocks.items():
        _check_block(name, block)
    for name, block in schema.blocks.items():
        if block.aligned_with is not None:
            _check_alignment(name, block, schema.blocks.get(block.aligned_with), block.aligned_with)
    for key, spec in schema.meta.items():
        with _at(f"meta {key!r}"):
            checked_name(key, "a meta key")
            checked_tag(spec.tag, key)
            if spec.fill is not NO_FILL:
                tagged(spec.fill, spec.tag, what="the fill")
    return schema


def _check_block(name: str, block: BlockSpec) -> None:
    where = f"block {name!r}"
    if name in layout.RESERVED_BLOCKS:
        raise RecordError("the name is reserved", place=where)
    with _at(where):
        checked_name(name, "a block")
    for key, column in block.columns.items():
        with _at(f"{where}, column {key!r}"):
            if key in layout.RESERVED_COLUMNS:
                raise RecordError("the name is reserved")
            checked_name(key, "a column")
            if column.dtype not in DTYPES:
                raise RecordError(f"{column.dtype!r} is not a MolRec dtype")
            check_canonical(key, column.dtype, column.trailing)
            if column.precision is not None:
                if column.dtype != "f64":
                    raise RecordError(f"a precision on {column.dtype}")
                checked_precision(column.precision)
    for key, target in block.targets.items():
        with _at(where):
            if key not in block.columns or block.columns[key].dtype != "u64":
                raise RecordError(f"targets names {key!r}, which is no u64 column of the block")
            checked_target(target, where)


def _check_alignment(name: str, block: BlockSpec, target: BlockSpec | None, target_name: str) -> None:
    where = f"block {name!r} aligned with {target_name!r}"
    if target is None or target_name == name or target.aligned_with is not None:
        raise RecordError("the target is another declared block that is not aligned itself", place=where)
    if set(block.columns) & set(target.columns) or block.shape is not None:
        raise RecordError("it shares a column with its target, or has a structural shape", place=where)


@contextmanager
def _at(where: str) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        error.place = where
        raise
