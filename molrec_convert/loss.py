"""What a target cannot hold of a source, known before the target is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .adapter import Carries, Snapshot
from .model import Meta, Schema


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
    """What frames hold, as far as a loss depends on it."""

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
    def of(cls, snapshots: list[Snapshot]) -> Contents:
        """What some frames hold."""
        frames = [snapshot.frame for snapshot in snapshots]
        boxes = [frame.box for frame in frames]
        cells = [box for box in boxes if box is not None and box.defined]
        sizes = [frame["atoms"].count for frame in frames if "atoms" in frame]
        return cls(
            schema=Schema.of(frames),
            counts={name: block.count for name, block in frames[0].items()} if frames else {},
            about=snapshots[0].about if snapshots else Meta(),
            box=bool(cells),
            no_box=len(cells) < len(boxes),
            origin=any(bool(box.origin.any()) for box in boxes if box is not None),
            open_axes=any(not box.boundary.all() for box in cells),
            periodic=any(bool(box.boundary.any()) for box in cells),
            step=any(snapshot.step is not None for snapshot in snapshots),
            time=any(snapshot.time is not None for snapshot in snapshots),
            frames=len(frames),
            varying=len(set(sizes)) > 1,
        )


def losses(contents: Contents, carries: Carries) -> Iterator[Loss]:
    """What a format that carries so much cannot hold of such contents."""
    yield from _column_losses(contents, carries)
    for key in contents.schema.meta:
        if key not in carries.meta and not carries.other_meta:
            yield Loss(key, "the format has no place for values of a frame")
    for item, there, held in (
        ("box", contents.box, carries.box),
        ("absence of a cell", contents.no_box, carries.no_box or not carries.box),
        ("box.origin", contents.origin and carries.box, carries.origin),
        ("box.boundary", contents.open_axes and carries.box, carries.boundary),
        ("step", contents.step, carries.step),
        ("time", contents.time, carries.time),
        ("frames after the first", contents.frames > 1, carries.frames),
        ("a changing number of atoms", contents.varying, carries.varying),
    ):
        if there and not held:
            yield Loss(item, "the format has no place for it")


def _column_losses(contents: Contents, carries: Carries) -> Iterator[Loss]:
    for name, spec in contents.schema.blocks.items():
        if name != "atoms":
            if name not in carries.blocks:
                yield Loss(name, "the format has no such block", contents.counts.get(name))
            continue
        for key, column in spec.columns.items():
            held = key in carries.columns or column.dtype in carries.other_columns
            if not held:
                yield Loss(f"atoms.{key}", f"the format holds no {column.dtype} column of this name")
            elif column.trailing and not carries.vectors:
                yield Loss(f"atoms.{key}", "the format holds one value an atom")
            elif column.nullable and not carries.nulls:
                yield Loss(f"nulls of atoms.{key}", "the format marks no missing values")
