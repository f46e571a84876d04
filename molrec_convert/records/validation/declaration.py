"""The declaration of a trajectory, entry by entry: what is sound of it is what the rest of the checks go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from molrec_convert.model import BlockSpec, ColumnSpec, MetaSpec, Schema
from molrec_convert.records import layout
from molrec_convert.records.schema_json import (
    block_of,
    check_block_name,
    check_column_spec,
    check_meta_spec,
    check_spec_alignment,
    check_spec_targets,
    column_entries,
    column_of,
    declared_by,
    derived_schema,
    meta_of,
    schema_entries,
)
from molrec_convert.records.tree import Group

from .findings import Findings


def check_declaration(group: Group, findings: Findings) -> Schema:
    """The sound part of the declaration."""
    if layout.SCHEMA not in group.attributes:
        findings.warn(20, group.place, f"no {layout.SCHEMA}, which a writer pins at the creation of a trajectory")
        return findings.tried(derived_schema, group) or Schema()
    blocks: Mapping[str, Any] = {}
    meta: Mapping[str, Any] = {}
    with findings, declared_by(group):
        blocks, meta = schema_entries(group)
    tried = {name: _block(group, name, entry, findings) for name, entry in blocks.items()}
    specs = {name: spec for name, spec in tried.items() if spec is not None}
    for name in list(specs):
        sound = False
        with findings, declared_by(group):
            check_spec_alignment(name, specs)
            sound = True
        if not sound:
            specs[name] = replace(specs[name], aligned_with=None)
    keys = {key: _key(group, key, entry, findings) for key, entry in meta.items()}
    return Schema(specs, {key: spec for key, spec in keys.items() if spec is not None})


def _block(group: Group, name: str, entry: Any, findings: Findings) -> BlockSpec | None:
    found: BlockSpec | None = None
    with findings, declared_by(group):
        check_block_name(name)
        columns = {}
        for key, column in column_entries(name, entry).items():
            spec = _column(group, name, key, column, findings)
            if spec is not None:
                columns[key] = spec
        found = BlockSpec(columns)  # what is left where the rest of the entry is at fault
        found = block_of(name, entry, columns)
        _check_targets(group, name, found, entry, findings)
    return found


def _check_targets(group: Group, name: str, spec: BlockSpec, entry: Any, findings: Findings) -> None:
    """A target of a column that is at fault itself is not blamed for it."""
    lost = set(entry["columns"]) - set(spec.columns)
    kept = {key: target for key, target in spec.targets.items() if key not in lost}
    with findings, declared_by(group):
        check_spec_targets(name, replace(spec, targets=kept))


def _column(group: Group, name: str, key: str, entry: Any, findings: Findings) -> ColumnSpec | None:
    with findings, declared_by(group):
        spec = column_of(f"{name}/{key}", entry)
        check_column_spec(name, key, spec)
        return spec
    return None


def _key(group: Group, key: str, entry: Any, findings: Findings) -> MetaSpec | None:
    with findings, declared_by(group):
        spec = meta_of(key, entry)
        check_meta_spec(key, spec)
        return spec
    return None
