"""What a GRO file does not hold, where that depends on more than names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.loss import Contents, Loss
from molrec_convert.model import Block, BlockSpec, Column

from ._elements import elements_of
from ._gro_box import placed
from ._gro_columns import NUMBERS, PERIOD, counted_on
from ._gro_layout import VELOCITIES
from ._gro_lines import SIGNED, foreign_columns, in_five_columns, labels_of, numbers_of
from ._gro_writer import BOX, TITLE, unit_of, velocities_of
from ._pdb_lines import coded
from ._pdb_writer import in_picoseconds

Array = np.ndarray[Any, Any]

TEXTS = ("name", "res_name")
TELLING = ("element", "name", "type", "atomic_number", "res_name")
"""Columns on which names and elements depend."""


def lost(contents: Contents) -> Iterator[Loss]:
    """What of some contents a GRO file does not hold."""
    columns = contents.schema.blocks.get("atoms", BlockSpec()).columns
    yield from (
        Loss(f"atoms.{name}", "the format has another column of this name") for name in foreign_columns(columns)
    )
    for name in TEXTS:
        if name in columns and columns[name].nullable:
            yield Loss(f"nulls of atoms.{name}", "a blank field is an empty text")
    for snapshot in contents.snapshots:
        box = snapshot.frame.box
        if box is not None and box.defined:
            cell = placed(box, snapshot.about.get(BOX))
            if cell.rotation is not None or cell.reversed:
                what = "the format fixes it; the cell is turned, together with the positions"
                yield Loss("orientation of the cell", what)
        if snapshot.time is not None and in_picoseconds(snapshot) is None:
            yield Loss("time", "the format has picoseconds, and the unit of the time is not known")
        title = snapshot.about.get(TITLE)
        if isinstance(title, str) and len(title.splitlines()) > 1:
            yield Loss(TITLE, "a title is one line")
        if "atoms" in snapshot.frame:
            atoms = snapshot.frame["atoms"]
            yield from _of_labels(atoms)
            yield from _of_elements(atoms)
            yield from _of_numbers(atoms)
            yield from _of_velocities(snapshot, atoms)


def _of_labels(atoms: Block) -> Iterator[Loss]:
    if "type" in atoms:
        written = labels_of(atoms).name == "type"
        yield Loss("name of atoms.type" if written else "atoms.type", "the format holds the names of atoms")
    for name in TEXTS:
        if name in atoms and any(word != word.strip() for word in coded(atoms.column(name))[1]):
            yield Loss(f"atoms.{name}", "blanks around a name are no part of it")


def _of_elements(atoms: Block) -> Iterator[Loss]:
    if (
        atoms.count
        and "element" in atoms
        and not _names_tell(tuple((name, atoms.columns.get(name)) for name in TELLING))
    ):
        yield Loss("atoms.element", "the format holds no elements, and the names do not tell these")


@lru_cache(maxsize=1)  # most frames have the same columns, the very objects
def _names_tell(columns: tuple[tuple[str, Column | None], ...]) -> bool:
    """Whether the elements of atoms are those that a reader finds by the names."""
    there = {name: column for name, column in columns if column is not None}
    labels = labels_of(Block.of(there, len(there["element"])))
    names = labels.codes, [word.strip() for word in labels.words]
    residues = None
    if "res_name" in there:
        codes, words = coded(there["res_name"])
        residues = codes, [word.strip() for word in words]
    found = elements_of(names, residues, None, given={}, guess=False).column
    return found is not None and found.same(there["element"])


def _of_numbers(atoms: Block) -> Iterator[Loss]:
    foreign = foreign_columns(atoms.columns)
    for name in SIGNED:
        if name in atoms and name not in foreign and not (atoms[name] < 0).any():
            yield Loss(f"name of atoms.{name}", "a reader takes it for the canonical one")
    for field in NUMBERS:
        numbers = numbers_of(atoms, field)
        if numbers is None:
            continue
        if numbers.valid is not None:
            yield Loss(f"nulls of atoms.{numbers.name}", "every line of the format has a number")
        if len(numbers.values) and numbers.values.max() >= PERIOD:
            written = counted_on(in_five_columns(numbers, np.zeros(len(numbers.values), np.int64)))
            if not np.array_equal(written.astype(numbers.values.dtype), numbers.values):
                yield Loss(f"atoms.{numbers.name}", "the format holds the last five digits of a number")


def _of_velocities(snapshot: Snapshot, atoms: Block) -> Iterator[Loss]:
    there = [name for name in VELOCITIES if name in atoms]
    if not there or not atoms.count:
        return
    values, moving = velocities_of(snapshot)
    if values is None:
        known = unit_of(snapshot, "velocity") is not None
        why = "three velocities of an atom" if known else "nm/ps, and the unit of the velocities is not known"
        yield from (Loss(f"atoms.{name}", f"the format has {why}") for name in there)
        return
    for name in there:
        valid = atoms.column(name).valid
        if moving is not None and (~moving if valid is None else valid & ~moving).any():
            yield Loss(f"atoms.{name}", "an atom has three velocities in the format, or none")
