"""Facts that records and other files have in common: units, elements, cells, courses of steps and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.mapping.names import META_QUANTITIES, QUANTITIES
from molrec_convert.mapping.units import unit_of
from molrec_convert.model import Box, Frame, Meta
from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.model.frame import references

from .facts import BlockFacts, CellFacts, ColumnFacts, Course, Extent, SectionFacts, ValueFacts

REGULAR = 1e-6
"""How far, in parts of the stride, times may be off a regular course: those of text files are rounded."""

Find: TypeAlias = "Callable[[str], Array | None]"
"""Gives a column of the atoms of the first frame by name."""


def stated_units(document: Mapping[str, Any]) -> dict[str, str]:
    """The units that a record states."""
    units = document.get("units")
    return {key: unit for key, unit in units.items() if isinstance(unit, str)} if isinstance(units, dict) else {}


def unit_of_column(name: str, dtype: str, units: Mapping[str, str]) -> str | None:
    """The unit of a column, where its quantity and the units are known."""
    quantity = QUANTITIES.get(name)
    return None if quantity is None or dtype != "f64" else unit_of(quantity, units)


def unit_of_key(key: str, tag: str, units: Mapping[str, str]) -> str | None:
    """The unit of a meta key, where its quantity and the units are known."""
    quantity = META_QUANTITIES.get(key)
    return None if quantity is None or not tag.startswith("f64") else unit_of(quantity, units)


def plain_bytes(dtype: str, trailing: Iterable[int], rows: int) -> int | None:
    """The bytes of a column in memory; None for text, which has no fixed size."""
    if dtype == "string":
        return None
    return rows * int(np.prod(tuple(trailing), dtype=np.int64)) * DTYPES[dtype].itemsize


# ---------------------------------------------------------------- frames in memory
def frame_facts(name: str, frame: Frame, about: Meta, units: Mapping[str, str]) -> SectionFacts:
    """The blocks and keys of a frame, and what its source says of all frames."""
    blocks = tuple(
        BlockFacts(
            name=key,
            rows=Extent(block.count, block.count),
            shape=block.shape,
            columns=tuple(
                ColumnFacts(
                    name=each,
                    dtype=column.dtype,
                    trailing=column.trailing,
                    unit=unit_of_column(each, column.dtype, units),
                    precision=column.precision,
                    nullable=column.valid is not None,
                    target=references(block.columns, block.targets).get(each),
                    plain=plain_bytes(column.dtype, column.trailing, block.count),
                )
                for each, column in block.columns.items()
            ),
        )
        for key, block in frame.items()
    )
    meta = Meta({**about, **frame.meta}, tags={**about.tags, **frame.meta.tags})
    return SectionFacts(name=name, blocks=blocks, meta=value_facts(meta, units))


def value_facts(meta: Meta, units: Mapping[str, str]) -> tuple[ValueFacts, ...]:
    """The keys of a meta document, with their values."""
    return tuple(
        ValueFacts(key=key, tag=meta.tag(key), unit=unit_of_key(key, meta.tag(key), units), value=value)
        for key, value in meta.items()
    )


# ---------------------------------------------------------------- atoms
def elements_of(find: Find) -> dict[str, int] | None:
    """How many atoms there are of each element."""
    symbols = find("element")
    if symbols is not None:
        return _counted(symbols.tolist())
    numbers = find("atomic_number")
    if numbers is None:
        return None
    return _counted(SYMBOLS[number] if number < len(SYMBOLS) else str(number) for number in numbers.tolist())


def types_of(find: Find) -> dict[str, int] | None:
    """How many atoms there are of each type."""
    labels = find("type")
    labels = find("type_id") if labels is None else labels
    return None if labels is None else _counted(map(str, labels.tolist()))


def _counted(words: Iterable[str]) -> dict[str, int]:
    counts = Counter(words)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


# ---------------------------------------------------------------- cells and courses
def cell_facts(
    box: Box,
    *,
    always: bool = True,
    changes: bool = False,
    lengths: Array | None = None,
) -> CellFacts:
    """What is told of a cell: the first box, and the lengths f64[n][3] of all that there are, where it changes."""
    a, b, c, alpha, beta, gamma = box.parameters
    return CellFacts(
        defined=box.defined,
        always=always,
        changes=changes,
        lengths=(a, b, c),
        angles=(alpha, beta, gamma),
        shortest=None if lengths is None else _three(lengths.min(axis=0)),
        longest=None if lengths is None else _three(lengths.max(axis=0)),
        origin=_three(box.origin),
        boundary=_three(box.boundary),
    )


def _three(values: Array) -> Any:
    x, y, z = values.tolist()
    return x, y, z


def course_of(values: Array | None) -> Course | None:
    """The course of the steps or times of all frames."""
    if values is None or not len(values):
        return None
    return Course(values[0].item(), values[-1].item(), _stride(values))


def _stride(values: Array) -> Any:
    """The stride of a regular course; None for another."""
    if len(values) < 2:
        return None
    strides = np.diff(values)
    if values.dtype.kind == "i":
        return strides[0].item() if (strides == strides[0]).all() else None
    mean = (values[-1] - values[0]) / (len(values) - 1)
    if not np.isfinite(mean) or not (np.abs(strides - mean) <= REGULAR * abs(mean)).all():
        return None
    return float(f"{mean:.9g}")
