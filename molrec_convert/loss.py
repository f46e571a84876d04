"""What a target cannot hold of a source, known before the target is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .adapter import Carries, Snapshot
from .mapping.units import DIMENSIONLESS_DOCUMENT
from .model import ColumnSpec, Meta, Schema

BOOKKEEPING = frozenset(("source", "topology", "creator", "convert", "units"))
"""What the document of a record says of the record itself and of its numbers, which no other file repeats."""
OF_THE_SERIES = ("frames after the first", "a changing number of atoms")
"""Losses of several frames, not of any one."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that is not carried.

    Parameters
    ----------
    item
        Its name: a block, ``block.column``, a meta key, or a word such as ``boundary``.
    reason
        Why the target cannot hold it.
    count
        How many there are, where they are counted.
    """

    item: str
    reason: str
    count: int | None = None

    def __str__(self) -> str:
        return self.item if self.count is None else f"{self.item} ({self.count})"


@dataclass(slots=True)
class LossReport:
    """All that a target did not take; empty for a lossless conversion."""

    target: str
    losses: dict[str, Loss] = field(default_factory=dict)

    def add(self, loss: Loss) -> None:
        """Note a loss; of one item the first is kept."""
        self.losses.setdefault(loss.item, loss)

    def __bool__(self) -> bool:
        return bool(self.losses)

    def __str__(self) -> str:
        return f"not carried by {self.target}: " + ", ".join(map(str, self.losses.values()))

    def as_json(self) -> list[dict[str, Any]]:
        """The losses as plain data."""
        return [{"item": loss.item, "reason": loss.reason, "count": loss.count} for loss in self.losses.values()]


@dataclass(slots=True)
class Contents:
    """What frames hold, as far as a loss depends on it.

    Parameters
    ----------
    snapshots
        The frames themselves, for losses that depend on values.
    schema
        Their blocks, columns and keys.
    counts
        The rows of the blocks of the first.
    about
        What is known of their source.
    box, no_box, origin, open_axes, periodic
        Whether one has a cell, or none, an origin, an axis that is not periodic, or one that is.
    step, time
        Whether one has a step that does more than count the frames, or a time.
    frames, varying
        How many there are, and whether their atoms are not always as many.
    """

    snapshots: Sequence[Snapshot]
    schema: Schema
    counts: Mapping[str, int]
    about: Meta
    box: bool = False
    no_box: bool = False
    origin: bool = False
    open_axes: bool = False
    periodic: bool = False
    step: bool = False
    time: bool = False
    frames: int = 1
    varying: bool = False

    @classmethod
    def of(cls, snapshots: Sequence[Snapshot], first: int = 0) -> Contents:
        """What some frames hold, of which the first is the one of this number."""
        frames = [snapshot.frame for snapshot in snapshots]
        boxes = [frame.box for frame in frames]
        cells = [box for box in boxes if box is not None and box.defined]
        sizes = [frame["atoms"].count for frame in frames if "atoms" in frame]
        return cls(
            snapshots=snapshots,
            schema=Schema.of(frames),
            counts={name: block.count for name, block in frames[0].items()} if frames else {},
            about=snapshots[0].about if snapshots else Meta(),
            box=bool(cells),
            no_box=len(cells) < len(boxes),
            origin=any(bool(box.origin.any()) for box in boxes if box is not None),
            open_axes=any(not box.boundary.all() for box in cells),
            periodic=any(bool(box.boundary.any()) for box in cells),
            step=any(snapshot.step not in (None, k) for k, snapshot in enumerate(snapshots, first)),
            time=any(snapshot.time is not None for snapshot in snapshots),
            frames=len(frames),
            varying=len(set(sizes)) > 1,
        )


def losses(contents: Contents, carries: Carries, is_layout: Callable[[str], bool] = lambda _: False) -> Iterator[Loss]:
    """What a format that carries so much cannot hold of such contents.

    Parameters
    ----------
    is_layout
        Whether a key or a block only says how a file of some format is laid out, which no other format is to hold.
    """
    yield from _column_losses(contents, carries, is_layout)
    for key in contents.schema.meta:
        if not (key in carries.meta or carries.other_meta or is_layout(key)):
            yield Loss(key, "the format has no place for values of a frame")
    for key in contents.about:
        if contents.about[key] not in ("", [], {}) and not (
            key in contents.schema.meta or key in carries.meta or is_layout(key)
        ):
            yield Loss(key, "the format has no place for what another says of all frames")
    if not carries.ratios and any(each.units == DIMENSIONLESS_DOCUMENT for each in contents.snapshots):
        yield Loss("numbers without dimension", "the format's numbers are taken for ångström and the like")
    for item, there, held in (
        ("box", contents.box, carries.box),
        ("absence of a cell", contents.no_box, carries.no_box is not False or not carries.box),
        ("box.origin", contents.origin and carries.box, carries.origin),
        ("box.boundary", contents.open_axes and carries.box, carries.boundary),
        ("step", contents.step, carries.step),
        ("time", contents.time, carries.time),
        (OF_THE_SERIES[0], contents.frames > 1, carries.frames),
        (OF_THE_SERIES[1], contents.varying, carries.varying),
    ):
        if there and not held:
            yield Loss(item, "the format has no place for it")


def condensed(found: Iterable[Loss]) -> list[Loss]:
    """Losses without those of a part, such as ``nulls of atoms.x``, where the whole is lost."""
    losses = list(found)
    items = {loss.item for loss in losses}
    return [loss for loss in losses if loss.item.partition(" of ")[2] not in items]


def record_losses(document: Mapping[str, Any]) -> Iterator[Loss]:
    """What a record says of itself, for which no foreign format has a place."""
    for key in document:
        if key not in BOOKKEEPING:
            yield Loss(f"record.{key}", "the format has no place for what a record says of itself")


def _column_losses(contents: Contents, carries: Carries, is_layout: Callable[[str], bool]) -> Iterator[Loss]:
    for name, spec in contents.schema.blocks.items():
        if name != "atoms":
            if not (name in carries.blocks or is_layout(name) or contents.counts.get(name) == 0):
                yield Loss(name, "the format has no such block", contents.counts.get(name))
            continue
        if spec.shape is not None:
            yield Loss("shape of atoms", "the format has atoms in a row")
        if len(contents.snapshots) == 1 and contents.counts.get(name) == 0:
            continue  # of no atoms nothing is lost
        for key, column in spec.columns.items():
            yield from _losses_of_column(key, column, carries)


def _losses_of_column(key: str, column: ColumnSpec, carries: Carries) -> Iterator[Loss]:
    if key not in carries.columns and column.dtype not in carries.other_columns:
        yield Loss(f"atoms.{key}", f"the format holds no {column.dtype} column of this name")
    elif column.trailing and not carries.vectors:
        yield Loss(f"atoms.{key}", "the format holds one value an atom")
    elif 0 in column.trailing:
        yield Loss(f"atoms.{key}", "the format holds no column of no values")
    else:
        if len(column.trailing) > 1 or column.trailing == (1,):
            yield Loss(f"axes of atoms.{key}", "the format holds the values of an atom in a row")
        if column.nullable and not carries.nulls:
            yield Loss(f"nulls of atoms.{key}", "the format marks no missing values")
