"""What a dump does not hold: columns, names and words that a reader takes for something else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.units import DIMENSIONLESS
from molrec_convert.model import Block
from molrec_convert.model.dtypes import CANONICAL

from ._dump_cell import encloses, kept_rows
from ._dump_columns import SIGNED, is_number, plan_of
from ._dump_writer import are_type_numbers, begins_with_number, name_of


def _lost_words(atoms: Block) -> Iterator[Loss]:
    """Words that a reader takes for numbers."""
    for target, column in atoms.columns.items():
        if column.dtype != "string" or not begins_with_number(column):
            continue
        if target == "type":
            if "type_id" not in atoms and are_type_numbers(column):
                yield Loss("atoms.type", "labels that are numbers are read as type_id")
        elif target not in CANONICAL and all(map(is_number, np.unique(column.values).tolist())):
            yield Loss(f"atoms.{target}", "words that are numbers are read as numbers")


def lost(contents: Contents) -> Iterator[Loss]:
    """What a reader takes for something else: names of columns, words, and columns for the axes of one."""
    for snapshot in contents.snapshots:
        yield from _lost_words(snapshot.frame.get("atoms", Block(count=0)))
    blocks = contents.schema.blocks
    columns = blocks["atoms"].columns if "atoms" in blocks else {}
    wanted = contents.about.get("lammps_columns")
    dimensionless = contents.about.get("lammps_units") == DIMENSIONLESS
    restored: set[str] = set()
    if isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
        tokens = ["label" if name == "type" and "type_id" not in columns else "0" for name in wanted]
        plan = plan_of(wanted, tokens, dimensionless=dimensionless, form=contents.about.get("lammps_coords", "x"))
        restored = {row.target for row in plan.rows}
    left = {target: spec for target, spec in columns.items() if target not in (*restored, *SIGNED.values())}
    names = {target: name_of(target, columns) for target in left}
    tokens = ["label" if spec.dtype == "string" else "0" for spec in left.values()]
    plan = plan_of(list(names.values()), tokens, dimensionless=dimensionless)
    if "id" in left and left["id"].nullable:
        yield Loss("atoms.id", "rows are told apart by it, and are numbered from 1")
    for row, (target, spec) in zip(plan.rows, left.items(), strict=True):
        if spec.trailing and 0 not in spec.trailing:
            yield Loss(f"axes of atoms.{target}", f"a line has the columns {names[target]}[1] and so on")
        elif row.target != target:
            yield Loss(f"name of atoms.{target}", f"a reader takes it for {row.target}")
    yield from lost_absence(contents)


def lost_absence(contents: Contents) -> Iterator[Loss]:
    """The absence of a cell, unless bounds without extent are restored, by which some programs say it."""
    for snapshot in contents.snapshots:
        box, kept = snapshot.frame.box, kept_rows(snapshot.about.get("lammps_bounds"))
        if (box is None or not box.defined) and (kept is None or encloses(kept)):
            yield Loss("absence of a cell", "the format has always a cell; there are bounds around the atoms")
