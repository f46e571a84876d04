"""Comparing what stands beside the frames: documents, units, sections, and what MolRec does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import BlockSpec, Column, ColumnSpec, Frame, MetaSpec, Record, Schema
from molrec_convert.model.meta import same_value
from molrec_convert.records import StoredRecord, Unknown, layout, unknown_parts
from molrec_convert.records.tree import Node, StoredArray, is_group
from molrec_convert.records.unknown import child_of

from .differences import Log
from .frames import FrameComparer
from .ignoring import PROVENANCE
from .sides import Side, units_of
from .values import mismatch_of

PIECE = 1 << 20
"""Bytes of an unknown array that are compared at once."""


def compare_documents(a: Side, b: Side, log: Log, *, provenance: bool) -> None:
    """Compare the units, and what the records say of themselves."""
    _members("units", units_of(a), units_of(b), log)
    named = {key for key in PROVENANCE if f"record.{key}" in log.ignored}  # asked before they are left out anyhow
    left_out = {"units"} | (named if provenance else PROVENANCE)
    one, other = ({key: value for key, value in side.document.items() if key not in left_out} for side in (a, b))
    _members("record", one, other, log)


def _members(name: str, a: Mapping[str, Any], b: Mapping[str, Any], log: Log) -> None:
    if name in log.ignored:
        return
    for key in {**a, **b}:
        item = f"{name}.{key}" if key else name
        if item not in log.ignored and not same_value(a.get(key), b.get(key)):
            log.add(item, "value" if key in a and key in b else "missing", a.get(key), b.get(key))


# ---------------------------------------------------------------- sections
def compare_sections(
    a: Record, b: Record, log: Log, comparers: Mapping[str, FrameComparer], *, framed: bool, seen: Set[str]
) -> None:
    """Compare the sections of two records, as far as their frames do not show them.

    Parameters
    ----------
    a, b
        The records.
    log
        Where differences go.
    comparers
        The comparers of the sections ``frame`` and ``system``.
    framed
        Whether frames of both were compared.
    seen
        The blocks and keys that some frame has.
    """
    if a.trajectory is not None and b.trajectory is not None:
        _section("frame", a.frame, b.frame, log, comparers["frame"])
        _declared(a.trajectory.schema, b.trajectory.schema, log, seen)
    if not framed:
        _section("system", a.system, b.system, log, comparers["system"])
    elif a.system is not None and b.system is not None:
        comparers["system"].box(a.system.box, b.system.box)


def _section(name: str, a: Frame | None, b: Frame | None, log: Log, comparer: FrameComparer) -> None:
    if name in log.ignored:
        return
    if a is not None and b is not None:
        comparer.contents(a, b)
    elif a is not b:
        log.add(name, "missing", *(None if each is None else "there" for each in (a, b)))


def _declared(a: Schema, b: Schema, log: Log, seen: Set[str]) -> None:
    """Compare what two trajectories declare and no frame shows: what is never set, and which rows are aligned."""
    for name in {**a.blocks, **b.blocks}:
        one, other = a.blocks.get(name), b.blocks.get(name)
        if name in log.ignored:
            continue
        if name not in seen:
            _forms(name, one, other, log)
        if one is not None and other is not None and one.aligned_with != other.aligned_with:
            log.add(name, "alignment", one.aligned_with, other.aligned_with)
    for key in {**a.meta, **b.meta}:
        if (item := f"meta.{key}") not in seen and item not in log.ignored:
            _form(item, a.meta.get(key), b.meta.get(key), log)


def _forms(name: str, a: BlockSpec | None, b: BlockSpec | None, log: Log) -> None:
    """Compare the declared columns of a block without rows."""
    if a is None or b is None:
        log.add(name, "missing", *(None if each is None else "declared" for each in (a, b)))
        return
    for key in {**a.columns, **b.columns}:
        if (item := f"{name}.{key}") not in log.ignored:
            _form(item, a.columns.get(key), b.columns.get(key), log)


def _form(item: str, a: ColumnSpec | MetaSpec | None, b: ColumnSpec | MetaSpec | None, log: Log) -> None:
    if a is None or b is None:
        log.add(item, "missing", *(None if each is None else "declared" for each in (a, b)))
    elif (one := _type(a)) != (other := _type(b)):
        log.add(item, "type", one, other)


def _type(spec: ColumnSpec | MetaSpec) -> str:
    if isinstance(spec, MetaSpec):
        return spec.tag
    return spec.dtype + "".join(f"[{n}]" for n in spec.trailing)


# ---------------------------------------------------------------- what MolRec does not know
def compare_unknown(a: StoredRecord | None, b: StoredRecord | None, log: Log) -> list[str]:
    """Compare what is carried without being known; give the places whose content cannot be compared."""
    found = [{} if each is None else {part.place: part for part in unknown_parts(each)} for each in (a, b)]
    untold: list[str] = []
    for place in {**found[0], **found[1]}:
        one, other = found[0].get(place), found[1].get(place)
        if place in log.ignored or all(part is None or _is_shown(part) for part in (one, other)):
            continue
        if one is None or other is None:
            log.add(place, "missing", *(None if each is None else "there" for each in (one, other)))
        elif one.is_attribute:
            untold += _attribute(place, one.owner, other.owner, one.name, log)
        else:
            untold += _nodes(place, _node(one), _node(other), log)
    return untold


def _is_shown(part: Unknown) -> bool:
    """Whether a part is an attribute of a block that its frames have, too."""
    names = part.owner.place.strip("/").split("/")
    if not part.is_attribute or len(names) != 2 or names[1] in (layout.BOX, layout.META) or not is_group(part.owner):
        return False
    try:
        part.owner.attributes.plain(part.name)
    except RecordError:  # a form that no block has
        return False
    return True


def _node(part: Unknown) -> Node | None:
    return child_of(part.owner, part.name)


def _nodes(place: str, a: Node | None, b: Node | None, log: Log) -> Iterator[str]:
    if a is None or b is None or is_group(a) != is_group(b):
        log.add(place, "type", *("a group" if each is not None and is_group(each) else "an array" for each in (a, b)))
        return
    for name in dict.fromkeys((*a.attributes.names(), *b.attributes.names())):
        yield from _attribute(f"{place}@{name}", a, b, name, log)
    if not is_group(a):
        yield from _arrays(place, a, b, log)  # type: ignore[arg-type]
        return
    names: tuple[list[str], list[str]] = (a.names(), b.names())  # type: ignore[attr-defined]
    for name in dict.fromkeys((*names[0], *names[1])):
        inner = f"{place}/{name}"
        if inner in log.ignored:
            continue
        if name not in names[0] or name not in names[1]:
            log.add(inner, "missing", *("there" if name in each else None for each in names))
        else:
            yield from _nodes(inner, child_of(a, name), child_of(b, name), log)


def _attribute(place: str, a: Node, b: Node, name: str, log: Log) -> Iterator[str]:
    if place in log.ignored:
        return
    there = [name in each.attributes for each in (a, b)]
    if not all(there):
        log.add(place, "missing", *("there" if each else None for each in there))
        return
    try:
        one, other = (each.attributes.plain(name) for each in (a, b))
    except RecordError:  # a form that no document has
        yield place
        return
    if not same_value(one, other):
        log.add(place, "value", one, other)


def _arrays(place: str, a: StoredArray, b: StoredArray, log: Log) -> Iterator[str]:
    try:
        types = a.dtype, b.dtype
    except RecordError:  # a type that no column has
        yield place
        return
    if types[0] != types[1] or a.shape != b.shape:
        what = "type" if types[0] != types[1] else "shape"
        log.add(place, what, *(types if what == "type" else (a.shape, b.shape)))
        return
    if not a.shape:
        yield place
        return
    width = int(np.prod(a.shape[1:], dtype=np.int64)) * 16
    step = max(1, PIECE // max(width, 1))
    for first in range(0, a.shape[0], step):
        end = min(first + step, a.shape[0])
        one, other = (Column.of(each.read(first, end)) for each in (a, b))
        mismatch = mismatch_of(one, other)
        if mismatch is not None:
            log.add_mismatch(place, mismatch)
