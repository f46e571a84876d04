"""Vectors of atoms as binary formats hold them: all three components or none, in binary32 or binary64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.names import NAMES
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, Units, factor
from molrec_convert.model import Block

Array = np.ndarray[Any, Any]
Names = tuple[tuple[str, str], ...]

POSITIONS, VELOCITIES, FORCES = ("x", "y", "z"), NAMES["velocity"], NAMES["force"]

REVERSED = "the cell is left-handed; its third vector is written reversed, which spans the same lattice"
TURNED = Loss("orientation of the cell", "the format fixes it; the cell is turned, together with the positions")


def holds(atoms: Block, names: Sequence[str]) -> bool:
    """Whether all components of a vector are there."""
    return all(name in atoms for name in names)


def stacked(atoms: Block, names: Sequence[str]) -> Array:
    """The components of a vector as f64[3][N]; NaN in rows without a value."""
    columns = [atoms.column(name) for name in names]
    return np.stack(
        [column.values if column.valid is None else np.where(column.valid, column.values, np.nan) for column in columns]
    )


def incomplete(contents: Contents, triples: Sequence[Sequence[str]]) -> Iterator[Loss]:
    """The components of vectors that lack another one."""
    for snapshot in contents.snapshots:
        atoms = snapshot.frame.get("atoms", Block(count=0))
        for names in triples:
            if not holds(atoms, names):
                reason = f"the format holds {', '.join(names)} together"
                yield from (Loss(f"atoms.{name}", reason) for name in names if name in atoms)


def scale_of(quantity: str, target: Units, units: Units | None) -> float | None:
    """By what a number in the target's unit is multiplied to be in that of a record; None where that is not known.

    Lengths whose unit is not known are in Å. Numbers without dimension are taken as they are.
    """
    if units == DIMENSIONLESS_DOCUMENT:
        return 1.0
    found = None if units is None else _factor(quantity, tuple(target.items()), tuple(units.items()))
    return factor(quantity, target, SYSTEMS["molrec"]) if found is None and quantity == "length" else found


@lru_cache(maxsize=64)  # every frame asks, and fractions take their time
def _factor(quantity: str, target: Names, units: Names) -> float | None:
    return factor(quantity, dict(target), dict(units))


def widened(values: Array, scale: float = 1.0) -> Array:
    """Numbers of a file as f64, brought to a record's unit."""
    with np.errstate(over="ignore", invalid="ignore"):  # a NaN that signals
        found = values.astype(np.float64, copy=False)
        return found if scale == 1.0 else found * scale


def narrowed(values: Array, scale: float = 1.0) -> Array:
    """The binary32 nearest to numbers, brought to a target's unit; infinite where they are beyond it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (values if scale == 1.0 else values / scale).astype(np.float32)


def gives(written: Array, values: Array, scale: float = 1.0) -> bool:
    """Whether numbers of a file give those of a record to the bit."""
    widened = written.astype(np.float64)
    found = widened if scale == 1.0 else widened * scale
    same: Array = found == values
    return bool(same.all()) or bool((same | (np.isnan(found) & np.isnan(values))).all())
