"""What is done to frames between source and target: units, unwrapping, precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .adapter import Note, Snapshot
from .errors import OptionError
from .mapping.names import META_QUANTITIES, POSITIONS, QUANTITIES, WITHOUT_UNIT, may_be_fixed
from .mapping.units import DIMENSIONLESS, DIMENSIONLESS_DOCUMENT, Units, document, factor, stored_system, system
from .model import Block, Box, Column, Frame, Meta
from .model.precision import checked_precision, rounded, rounded_groups
from .stack import Stack

Step = Callable[[Snapshot], Snapshot]
IMAGES = ("ix", "iy", "iz")
SMALL = 1000
"""Columns of which no value reaches this many times the precision asked for are named to the user."""


def to_units(name: str) -> Step:
    """Convert all that has a known quantity to a unit system; masses stay amu and charges e."""
    if name == DIMENSIONLESS:
        raise OptionError(f"numbers are not made ratios: --to-units {name} does not fit")
    target = stored_system(system(name)) if system(name).get("length") == "angstrom" else system(name)
    target = {**target, "mass": "amu", "charge": "e"}

    def convert(snapshot: Snapshot) -> Snapshot:
        source = snapshot.units
        if source is None:
            raise OptionError("--to-units needs a source whose units are known: say --units")
        if source == DIMENSIONLESS_DOCUMENT:
            raise OptionError("numbers without dimension are not converted: --to-units does not fit")
        return converted(snapshot, source, target)

    return convert


def converted(snapshot: Snapshot, source: Units, target: Units) -> Snapshot:
    """A frame in other units; what has no known quantity stays as it is."""

    def scale(quantity: str | None) -> float:
        return 1.0 if quantity is None else factor(quantity, source, target) or 1.0

    frame = snapshot.frame
    blocks = {name: _scaled(block, scale) for name, block in frame.items()}
    box, length = frame.box, scale("length")
    if box is not None and length != 1.0:
        vectors = box.vectors * length if box.defined else box.vectors
        box = Box.of(vectors, box.origin * length, box.boundary, defined=box.defined)
    values = {
        key: _times(value, by) if (by := scale(META_QUANTITIES.get(key))) != 1.0 else value
        for key, value in frame.meta.items()
    }
    left = [key for key, tag in frame.meta.tags.items() if tag.startswith("f64") and key not in META_QUANTITIES]
    left += [
        name
        for block in frame.values()
        for name, column in block.columns.items()
        if column.dtype == "f64" and name not in QUANTITIES and name not in WITHOUT_UNIT
    ]
    if left:
        snapshot.notes.append(Note(f"not converted, since their quantity is not known: {', '.join(left)}"))
    snapshot.frame = Frame.of(blocks, box, Meta.of(values, dict(frame.meta.tags)))
    if snapshot.time is not None:
        snapshot.time *= scale("time")
    # What was in no known unit is in none now.
    snapshot.units = {key: unit for key, unit in document(target).items() if factor(key, source, target) is not None}
    return snapshot


def _times(value: Any, by: float) -> Any:
    return tuple(item * by for item in value) if isinstance(value, tuple) else value * by


def _scaled(block: Block, scale: Callable[[str | None], float]) -> Block:
    columns = {}
    for name, column in block.columns.items():
        by = scale(QUANTITIES.get(name)) if column.dtype == "f64" else 1.0
        columns[name] = column if by == 1.0 else Column.of(column.values * by, column.valid)
    return Block.of(columns, block.count, shape=block.shape, targets=block.targets, attributes=block.attributes)


def unwrap(snapshot: Snapshot) -> Snapshot:
    """Add the periodic images to the positions of atoms."""
    atoms = snapshot.frame.get("atoms")
    if atoms is not None:
        snapshot.frame["atoms"] = unwrapped(atoms, snapshot.frame.box)
    return snapshot


def unwrapped(atoms: Block, box: Box | None) -> Block:
    """Atoms at r + H·(ix, iy, iz), without the images.

    Raises
    ------
    OptionError
        Where there is no cell, or no images.
    """
    if not all(name in atoms for name in (*IMAGES, *POSITIONS)):
        raise OptionError("--unwrap needs positions and their images ix, iy and iz")
    if box is None or not box.defined:
        raise OptionError("--unwrap needs a cell")
    columns = {name: column for name, column in atoms.columns.items() if name not in IMAGES}
    images = [atoms[name].astype(np.float64) for name in IMAGES]
    for row, name in zip(box.vectors, POSITIONS, strict=True):
        shift = row[0] * images[0] + row[1] * images[1] + row[2] * images[2]
        columns[name] = Column.of(atoms[name] + shift)
    return Block.of(columns, atoms.count, shape=atoms.shape, targets=atoms.targets, attributes=atoms.attributes)


class Steps:
    """Steps, one after the other.

    Parameters
    ----------
    steps
        Those that have a method ``stacked`` take many frames at once.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        if all(hasattr(step, "stacked") for step in steps):
            self.stacked = self._stacked

    def __call__(self, snapshot: Snapshot) -> Snapshot:
        """Apply them to a frame."""
        for step in self._steps:
            snapshot = step(snapshot)
        return snapshot

    def _stacked(self, stack: Stack) -> Stack:
        for step in self._steps:
            stack = step.stacked(stack)  # type: ignore[attr-defined]
        return stack


class Precision:
    """Store the moving reals of atoms to a tolerance: of each column by name, of all others under ``*``."""

    def __init__(self, precision: Mapping[str, float]) -> None:
        self._wanted = {name: checked_precision(value, what=f"column {name!r}") for name, value in precision.items()}
        self._rest = self._wanted.pop("*", None)

    def __call__(self, snapshot: Snapshot) -> Snapshot:
        """Round a frame."""
        atoms = snapshot.frame.get("atoms")
        if atoms is not None:
            snapshot.frame["atoms"], notes = self._rounded(atoms, 1)
            snapshot.notes += notes
        return snapshot

    def stacked(self, stack: Stack) -> Stack:
        """Round the frames of a stack; ValueError where it has something to say of some of them alone."""
        atoms = stack.blocks.get("atoms")
        if atoms is not None:
            stack.blocks["atoms"], notes = self._rounded(atoms, len(stack))
            stack.notes += notes
        return stack

    def _rounded(self, atoms: Block, frames: int) -> tuple[Block, list[Note]]:
        columns = dict(atoms.columns)
        notes = [
            Note(f"there is no column {name} to keep to a precision") for name in self._wanted if name not in atoms
        ]
        for name, column in atoms.columns.items():
            by = self._wanted.get(name, None if may_be_fixed(name, column.dtype) else self._rest)
            if by is None or column.dtype != "f64":
                continue
            values, largest = rounded_groups(column.values, by, frames)
            columns[name] = Column.of(values, column.valid, by)
            if name in self._wanted:
                continue
            small = (largest > 0.0) & (largest < SMALL * by)
            if small.any() and not small.all():
                raise ValueError("some frames hold small values, and others do not")
            if small.any():
                notes.append(Note(f"column {name} holds small values, which a precision of {by:g} blurs"))
        made = Block.of(columns, atoms.count, shape=atoms.shape, targets=atoms.targets, attributes=atoms.attributes)
        return made, notes


def declare_fixed_decimals(snapshot: Snapshot) -> Snapshot:
    """Store the moving reals of atoms to the decimals that the source writes them with; say so where it has none.

    Raises
    ------
    OptionError
        Where a later frame has more decimals than the first ones.
    """
    atoms = snapshot.frame.get("atoms")
    if atoms is None or not atoms.count:
        return snapshot
    columns = dict(atoms.columns)
    for name, decimals in snapshot.decimals.items():
        column = atoms.columns.get(name)
        if column is None or column.dtype != "f64" or may_be_fixed(name, "f64"):
            continue
        scaled = column.values * 10.0**decimals
        if not (np.abs(scaled - np.rint(scaled)) <= 1e-15 * np.abs(scaled) + 1e-9).all():
            raise OptionError(f"column {name} has more than {decimals} decimals in some frames: say --precision")
        by = 10.0**-decimals
        columns[name] = Column.of(rounded(column.values, by), column.valid, by)
    if all(column.precision is None for column in columns.values()):
        snapshot.notes.append(Note("--precision auto finds no numbers of fixed decimals, and keeps them exactly"))
        return snapshot
    snapshot.frame["atoms"] = Block.of(
        columns, atoms.count, shape=atoms.shape, targets=atoms.targets, attributes=atoms.attributes
    )
    return snapshot
