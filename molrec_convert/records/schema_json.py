"""The declaration of a trajectory, ``sequence_schema``, as JSON and back, with all that a declaration may not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model import BlockSpec, ColumnSpec, MetaSpec, Schema
from molrec_convert.model.block import check_canonical
from molrec_convert.model.dtypes import DTYPES, checked_name
from molrec_convert.model.meta import checked_key, checked_tag, tagged
from molrec_convert.model.precision import checked_precision
from molrec_convert.model.schema import NO_FILL
from molrec_convert.rules import rule

from . import layout
from .sections import at_place, checked_targets, read_targets
from .tree import Group, StoredArray, arrays_of, groups_of, within
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
        return derived_schema(group)
    with declared_by(group):
        blocks, meta = schema_entries(group)
        return checked_schema(
            Schema(
                {name: _block_of(name, entry) for name, entry in blocks.items()},
                {key: meta_of(key, entry) for key, entry in meta.items()},
            )
        )


class declared_by:  # noqa: N801 - reads as a word of the language: `with declared_by(group):`
    """Gives errors of a declaration the place of what they declare, and says that it is the declaration's fault."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and error.path is None:
            placed = self._group.error(f"{layout.SCHEMA}: {error.message}", error.place)
            error.args, error.message = (placed.message,), placed.message
            error.path, error.place = placed.path, placed.place


@rule(20)
def schema_entries(group: Group) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a declaration says of blocks, and of meta keys."""
    document = group.attributes.document(layout.SCHEMA)
    if not isinstance(document, dict):
        raise RecordError(f"a JSON object is due, found {document!r}")
    blocks, meta = document.get("blocks", {}), document.get("meta", {})
    if not isinstance(blocks, dict) or not isinstance(meta, dict):
        raise RecordError(f"blocks and meta are maps, found {blocks!r} and {meta!r}")
    return blocks, meta


def _block_of(name: str, entry: Any) -> BlockSpec:
    columns = column_entries(name, entry)
    return block_of(name, entry, {key: column_of(f"{name}/{key}", column) for key, column in columns.items()})


@rule(20)
def column_entries(name: str, entry: Any) -> dict[str, Any]:
    """What a declaration says of the columns of a block."""
    if not isinstance(entry, dict) or not isinstance(entry.get("columns"), dict):
        raise RecordError(f"a map with columns is due, found {entry!r}", place=name)
    columns: dict[str, Any] = entry["columns"]
    return columns


@rule(20)
def block_of(name: str, entry: dict[str, Any], columns: dict[str, ColumnSpec]) -> BlockSpec:
    """The declaration of a block with these columns."""
    shape, targets, aligned = (entry.get(key) for key in ("structural_shape", "targets", "aligned_with"))
    if shape is not None and not shape:
        raise RecordError(f"a structural shape is a list of counts, not {shape!r}", place=name, rule=5)
    if targets is not None and not isinstance(targets, dict):
        raise RecordError(f"targets is a map from column to target, not {targets!r}", place=name, rule=14)
    if aligned is not None and not isinstance(aligned, str):
        raise RecordError(f"aligned_with is the name of a block, not {aligned!r}", place=name, rule=30)
    return BlockSpec(columns, None if shape is None else _counts(shape, name), targets or {}, aligned)


@rule(20)
def column_of(where: str, entry: Any) -> ColumnSpec:
    """The declaration of a column."""
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
        raise RecordError(f"a map with a dtype is due, found {entry!r}", place=where)
    nullable = entry.get("nullable", False)
    if not isinstance(nullable, bool):
        raise RecordError(f"nullable is true or false, not {nullable!r}", place=where)
    trailing = _counts(entry.get("trailing", []), where)
    precision = entry.get("precision")
    if precision is not None:
        with _at(where):
            precision = checked_precision(precision)
    return ColumnSpec(entry["dtype"], trailing, nullable, precision)


@rule(25)
def meta_of(key: str, entry: Any) -> MetaSpec:
    """The declaration of a meta key."""
    with _at(f"{layout.META}/{key}"):
        if not isinstance(entry, dict):
            raise RecordError(f"a map with a dtype is due, found {entry!r}")
        tag = checked_tag(entry.get("dtype"), key)
        if "fill" not in entry:
            return MetaSpec(tag)
        try:
            return MetaSpec(tag, from_typed_json(entry["fill"], tag))
        except RecordError as error:
            raise RecordError(f"the fill: {error.message}") from None


def _counts(value: Any, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(n) is int and n >= 0 for n in value):
        raise RecordError(f"a list of counts is due, found {value!r}", place=where)
    return tuple(value)


def derived_schema(group: Group) -> Schema:
    """A declaration from the groups and arrays that are there."""
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
        targets = read_targets(node, {key: column.dtype for key, column in columns.items()})
        blocks[name] = BlockSpec(columns, shape, targets)
    meta_group = group.group(layout.META)
    arrays = arrays_of(meta_group) if meta_group is not None else {}
    meta = {key: MetaSpec(_stated_tag(key, array)) for key, array in arrays.items()}
    with at_place(group.place, group.error("").path):
        return checked_schema(Schema(blocks, meta))


@rule(25)
def _stated_tag(key: str, array: StoredArray) -> str:
    with within(array):
        return checked_tag(array.attributes.text(layout.META_DTYPE), key)


# ---------------------------------------------------------------- what a declaration may not say
def checked_schema(schema: Schema) -> Schema:
    """The schema itself; `RecordError` where no trajectory may be declared so."""
    for name, block in schema.blocks.items():
        check_block_name(name)
        for key, column in block.columns.items():
            check_column_spec(name, key, column)
        check_spec_targets(name, block)
    for name in schema.blocks:
        check_spec_alignment(name, schema.blocks)
    for key, spec in schema.meta.items():
        check_meta_spec(key, spec)
    return schema


@rule(21)
def check_block_name(name: str) -> None:
    """Refuse a block of a name that the layout uses, or that no store carries."""
    with _at(name):
        if name in layout.RESERVED_BLOCKS:
            raise RecordError(f"a block cannot be called {name!r}: the name is reserved")
        checked_name(name, "a block")


@rule(21)
def check_column_spec(name: str, key: str, column: ColumnSpec) -> None:
    """Refuse the declaration of a column of the block `name`."""
    with _at(f"{name}/{key}"):
        if key in layout.RESERVED_COLUMNS:
            raise RecordError(f"a column cannot be called {key!r}: the name is reserved")
        checked_name(key, "a column")
        if column.dtype not in DTYPES:
            narrow = 2 if column.dtype in ("f16", "f32") else 1
            number = 3 if column.dtype == "json" else narrow
            raise RecordError(f"{column.dtype!r} is not a MolRec dtype", rule=number)
        check_canonical(key, column.dtype, column.trailing)
        if column.precision is not None:
            if column.dtype != "f64":
                raise RecordError(f"a precision on {column.dtype}, only f64 has one", rule=13)
            checked_precision(column.precision)


def check_spec_targets(name: str, block: BlockSpec) -> None:
    """Refuse targets of no u64 column, or that are malformed."""
    with _at(name):
        checked_targets(dict(block.targets), {key: column.dtype for key, column in block.columns.items()})


@rule(30)
def check_spec_alignment(name: str, blocks: Mapping[str, BlockSpec]) -> None:
    """Refuse a block that cannot be aligned as it is declared."""
    block, due = blocks[name], blocks[name].aligned_with
    if due is None:
        return
    target = blocks.get(due)
    with _at(name):
        if target is None or due == name or target.aligned_with is not None:
            raise RecordError(f"it is aligned with {due!r}: another declared block, not aligned itself, is due")
        shared = sorted(set(block.columns) & set(target.columns))
        if shared or block.shape is not None:
            what = f"shares the column {shared[0]!r} with it" if shared else "has a structural shape"
            raise RecordError(f"it is aligned with {due!r}, and {what}")


@rule(25)
def check_meta_spec(key: str, spec: MetaSpec) -> None:
    """Refuse the declaration of a meta key."""
    with _at(f"{layout.META}/{key}"):
        checked_key(key, "a meta key")
        checked_tag(spec.tag, key)
        if spec.fill is not NO_FILL:
            tagged(spec.fill, spec.tag, what="the fill")


@contextmanager
def _at(where: str) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        error.place = error.place or where
        raise
