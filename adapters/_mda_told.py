"""What topologies that come through MDAnalysis tell besides: the ids of their files, and elements.

Decisions: ids are those of the file. Programs count atoms from 1, some of MDAnalysis's parsers from 0; those of DMS and
MMTF are the file's own, and others count from 1 where a file has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.model import Block, Column, Frame

from ._elements import Weights, elements_of
from ._pdb_symbols import Labels

Array = np.ndarray[Any, Any]

ATOMS = "atoms"
FROM_ZERO: Mapping[str, bool] = MappingProxyType({"PSF": True, "CONFIG": False, "HISTORY": False, "TPR": False})
"""The formats whose ids MDAnalysis counts from 0: of those of the file, or else of none, where the first is 0."""


def give_own_ids(frame: Frame, format_name: str) -> None:
    """Give atoms the ids that their file has, or that its program counts."""
    atoms = frame[ATOMS]
    ids = atoms.columns.get("atom_id") or atoms.columns.get("id")
    if format_name not in FROM_ZERO or ids is None or not len(ids):
        return
    values = ids.values.astype(np.int64)
    if not FROM_ZERO[format_name] and values[0] != 0:
        return
    columns = {name: column for name, column in atoms.columns.items() if name != "atom_id"}
    columns["id"] = Column.of((values + 1).astype(np.uint64), ids.valid)
    frame[ATOMS] = _with(atoms, columns)


def add_elements(snapshot: Snapshot, *, guess: bool) -> None:
    """Add the elements that masses and standard residues tell, to atoms for which the file states none."""
    atoms = snapshot.frame[ATOMS]
    stated = atoms.columns.get("element")
    if not atoms.count or (stated is not None and stated.valid is None):
        return
    missing = np.ones(atoms.count, bool) if stated is None or stated.valid is None else ~stated.valid
    names, residues = (_labels(atoms.columns.get(name), missing) for name in ("name", "res_name"))
    masses = _weights(atoms.columns.get("mass"), missing)
    if names is None and masses is None:
        return
    told, notes = elements_of(names, residues, masses, given={}, guess=guess)
    snapshot.notes += notes
    if told is not None:
        column = told if stated is None else _filled(stated, told, missing)
        snapshot.frame[ATOMS] = _with(atoms, {**atoms.columns, "element": column})


def _with(atoms: Block, columns: Mapping[str, Column]) -> Block:
    return Block.of(dict(columns), atoms.count, targets=atoms.targets, attributes=atoms.attributes)


def _labels(column: Column | None, rows: Array) -> Labels | None:
    """The texts of some rows, each once, and which one every row has."""
    if column is None or column.dtype != "string":
        return None
    codes: dict[str, int] = {}
    values = column.values[rows].tolist()
    return np.fromiter((codes.setdefault(word, len(codes)) for word in values), np.int32, len(values)), list(codes)


def _weights(column: Column | None, rows: Array) -> Weights | None:
    if column is None:
        return None
    masses, codes = np.unique(column.values[rows], return_inverse=True)
    return codes.astype(np.int32), masses.tolist()


def _filled(stated: Column, told: Column, rows: Array) -> Column:
    """Elements with those of some rows filled in."""
    values, valid = stated.values.copy(), ~rows
    values[rows] = told.values
    valid[rows] = True if told.valid is None else told.valid
    return Column.of(values, None if valid.all() else valid)
