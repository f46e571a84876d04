"""What the frames of a trajectory may hold: the declaration that a record pins at its creation.

Frames of one file may differ in columns and keys. Their schema is the union: integers promote to reals exactly, a
column that some frames lack becomes nullable, a meta key that some frames lack gets a fill.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError

from .block import Block
from .column import Column
from .dtypes import DTYPES, EXACT, STRING, Array
from .frame import Frame
from .meta import TAGS, Meta, tagged
from .precision import rounded

NO_FILL: Any = type("NoFill", (), {"__repr__": lambda _: "NO_FILL", "__reduce__": lambda _: "NO_FILL"})()
"""The fill of a meta key that every frame has; pickled by its name, since it is known by being this object."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A declared column: its type, the axes after the first, whether rows may be null, its precision."""

    dtype: str
    trailing: tuple[int, ...] = ()
    nullable: bool = False
    precision: float | None = None

    @classmethod
    def of(cls, column: Column) -> ColumnSpec:
        """What a column needs."""
        return cls(column.dtype, column.trailing, column.valid is not None, column.precision)


@dataclass(frozen=True, slots=True)
class MetaSpec:
    """A declared meta key: its tag, and the value of frames that lack it."""

    tag: str
    fill: Any = NO_FILL


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """A declared block."""

    columns: Mapping[str, ColumnSpec] = field(default_factory=dict)
    shape: tuple[int, ...] | None = None
    targets: Mapping[str, str] = field(default_factory=dict)
    aligned_with: str | None = None

    @property
    def nullable(self) -> set[str]:
        """The columns whose rows may be null."""
        return {name for name, column in self.columns.items() if column.nullable}

    @classmethod
    def of(cls, block: Block) -> BlockSpec:
        """What a block needs."""
        columns = {name: ColumnSpec.of(column) for name, column in block.columns.items()}
        return cls(columns, block.shape, dict(block.targets))


@dataclass(frozen=True, slots=True)
class Schema:
    """The declared blocks and meta keys of a trajectory."""

    blocks: Mapping[str, BlockSpec] = field(default_factory=dict)
    meta: Mapping[str, MetaSpec] = field(default_factory=dict)

    @classmethod
    def of_frame(cls, frame: Frame) -> Schema:
        """What one frame needs."""
        blocks = {name: BlockSpec.of(block) for name, block in frame.items()}
        return cls(blocks, {key: MetaSpec(tag) for key, tag in frame.meta.tags.items()})

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> Schema:
        """The union of what the frames need."""
        schema: Schema | None = None
        for frame in frames:
            schema = cls.of_frame(frame) if schema is None else schema.union(cls.of_frame(frame))
        return schema or cls()

    def union(self, other: Schema) -> Schema:
        """The narrowest schema to which frames of both conform.

        Raises
        ------
        RecordError
            Where no schema holds both: other trailing axes, other structural shapes, u64 beside signed integers.
        """
        blocks = dict(self.blocks)
        for name, block in other.blocks.items():
            blocks[name] = _joined_block(blocks[name], block, name) if name in blocks else block
        meta = {key: _joined_meta(self.meta.get(key), other.meta.get(key)) for key in {**self.meta, **other.meta}}
        return Schema(blocks, meta)

    def conform(self, frame: Frame) -> Frame:
        """Give a frame every declared column and key: nulls and fills where it has none, exact promotions.

        Raises
        ------
        RecordError
            If the frame holds what the schema does not declare, or an integer that its real cannot hold.
        """
        blocks = {name: self._conform_block(name, block) for name, block in frame.items()}
        return Frame.of(blocks, frame.box, self._conform_meta(frame.meta))

    def _conform_block(self, name: str, block: Block) -> Block:
        spec = self.blocks.get(name)
        if spec is None:
            raise RecordError(f"the block {name!r} is not declared")
        undeclared = [column for column in block if column not in spec.columns]
        if undeclared:
            raise RecordError(f"the column {undeclared[0]!r} of {name!r} is not declared")
        if spec.shape != block.shape:
            raise RecordError(f"block {name!r} has the shape {block.shape}, declared is {spec.shape}")
        columns = {
            key: _conform_column(block.columns.get(key), declared, block.count, f"{name}/{key}")
            for key, declared in spec.columns.items()
        }
        return Block.of(
            columns,
            block.count,
            shape=block.shape,
            targets=dict(spec.targets),
            attributes=block.attributes,
        )

    def _conform_meta(self, meta: Meta) -> Meta:
        undeclared = [key for key in meta if key not in self.meta]
        if undeclared:
            raise RecordError(f"the meta key {undeclared[0]!r} is not declared")
        values: dict[str, Any] = {}
        for key, spec in self.meta.items():
            if key in meta:
                values[key] = promoted(meta[key], meta.tag(key), spec.tag, key)
            elif spec.fill is NO_FILL:
                raise RecordError(f"the meta key {key!r} is missing, and no fill is declared")
            else:
                values[key] = spec.fill
        return Meta.of(values, {key: spec.tag for key, spec in self.meta.items()})

    def describe(self) -> str:
        """The names in one line, as in ``atoms(x, y, z); meta: pe``."""
        parts = [f"{name}({', '.join(spec.columns)})" for name, spec in self.blocks.items()]
        if self.meta:
            parts.append("meta: " + ", ".join(self.meta))
        return "; ".join(parts) or "nothing declared"


# ---------------------------------------------------------------- unions
def _joined_block(one: BlockSpec, other: BlockSpec, name: str) -> BlockSpec:
    if one == other:
        return one
    if one.shape != other.shape:
        raise RecordError(f"block {name!r} has the shape {one.shape} in some frames, {other.shape} in others")
    columns = {
        key: _joined_column(one.columns.get(key), other.columns.get(key), f"{name}/{key}")
        for key in {**one.columns, **other.columns}
    }
    targets = {**one.targets, **other.targets}
    if targets != {**other.targets, **one.targets}:
        raise RecordError(f"the references of block {name!r} change between frames: {one.targets}, {other.targets}")
    return BlockSpec(columns, one.shape, targets, one.aligned_with)


def _joined_column(one: ColumnSpec | None, other: ColumnSpec | None, where: str) -> ColumnSpec:
    if one is None or other is None:
        present = one or other
        assert present is not None
        return replace(present, nullable=True)
    if one.trailing != other.trailing:
        raise RecordError(f"a row has the axes {list(one.trailing)} in some frames, {list(other.trailing)} in others",
                          place=where)  # fmt: skip
    dtype = joined_dtype(one.dtype, other.dtype, where)
    known = [spec.precision for spec in (one, other) if spec.precision is not None]
    # A multiple of the coarser quantum is one of the finer, both being powers of two.
    precision = min(known) if len(known) == 2 and dtype == "f64" else None
    return ColumnSpec(dtype, one.trailing, one.nullable or other.nullable, precision)


def joined_dtype(one: str, other: str, where: str) -> str:
    """The narrowest type that holds all values of both: wider integers, reals, complex, and text beside all else."""
    if one == other:
        return one
    if "string" in (one, other):
        return "string"
    kinds = {DTYPES[name].kind for name in (one, other)}
    if kinds <= {"i", "u"}:
        wide = np.promote_types(DTYPES[one], DTYPES[other])
        if wide.kind == "f":
            raise RecordError("u64 in some frames, signed integers in others: no integer type holds both", place=where)
        return next(name for name, dtype in DTYPES.items() if dtype == wide)
    if "c" in kinds:
        return "c128"
    if kinds <= {"i", "u", "f"}:
        return "f64"
    return "string"


def _joined_meta(one: MetaSpec | None, other: MetaSpec | None) -> MetaSpec:
    if one is None or other is None:
        present = one or other
        assert present is not None
        return present if present.fill is not NO_FILL else optional_meta(present.tag)
    tag = joined_tag(one.tag, other.tag)
    fills = [spec.fill for spec in (one, other) if spec.fill is not NO_FILL]
    if not fills:
        return MetaSpec(tag)
    return MetaSpec(tag, fills[0]) if tag == one.tag == other.tag else optional_meta(tag)


def optional_meta(tag: str) -> MetaSpec:
    """A key that some frames lack: NaN for reals; for all else JSON, whose null is no value of another type."""
    dtype, length = TAGS[tag]
    if dtype == "f64":
        return MetaSpec(tag, math.nan if length is None else (math.nan,) * length)
    return MetaSpec("json", None)


def joined_tag(one: str, other: str) -> str:
    """The tag that holds values of both."""
    if one == other:
        return one
    dtypes, lengths = zip(TAGS[one], TAGS[other], strict=True)
    whole = {"i32", "i64", "u32"}
    if lengths[0] == lengths[1] and "json" not in (one, other) and set(dtypes) <= {*whole, "f64"}:
        suffix = "" if lengths[0] is None else f"x{lengths[0]}"
        return ("f64" if "f64" in dtypes else "i64") + suffix
    return "json"


# ---------------------------------------------------------------- promotions
def promoted(value: Any, tag: str, due: str, key: str) -> Any:
    """A meta value under a wider tag; `RecordError` where that tag cannot hold it exactly."""
    if tag == due:
        return value
    return _plain(value) if due == "json" else tagged(value, due, what=f"meta {key!r}")


def _plain(value: Any) -> Any:
    """A tagged value as finite JSON: what JSON has no number for is text, as MolRec spells it."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _conform_column(column: Column | None, spec: ColumnSpec, count: int, where: str) -> Column:
    if column is None:
        if not spec.nullable:
            raise RecordError("the column is missing", place=where)
        return Column.of(np.zeros((count, *spec.trailing), DTYPES[spec.dtype]), np.zeros(count, bool), spec.precision)
    if column.trailing != spec.trailing:
        raise RecordError(f"a row has the axes {list(column.trailing)}, declared is {list(spec.trailing)}", place=where)
    if column.valid is not None and not spec.nullable:
        raise RecordError("null rows in a column that is not nullable", place=where)
    if column.dtype == spec.dtype and column.precision == spec.precision:
        return column
    values = promoted_array(column.values, spec.dtype, where)
    return Column.of(
        values if spec.precision is None else rounded(values, spec.precision), column.valid, spec.precision
    )


def promoted_array(values: Array, dtype: str, where: str) -> Array:
    """An array at a wider type; `RecordError` where a value would not stay exact."""
    due = DTYPES[dtype]
    if values.dtype == due:
        return values
    if dtype == "string":
        return np.array([_spelled(value) for value in values.ravel().tolist()], dtype=STRING).reshape(values.shape)
    becomes_real = values.dtype.kind in "iu" and due.kind in "fc" and values.size > 0
    if becomes_real and (int(values.max()) > EXACT or int(values.min()) < -EXACT):
        raise RecordError("an integer beyond 2^53 does not become a real exactly", place=where)
    return values.astype(due)


def _spelled(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
