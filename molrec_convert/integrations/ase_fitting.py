"""Whether frames fit the declaration of a trajectory that exists, and how they look under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame, Meta, Record, Schema, Trajectory
from molrec_convert.model.meta import same_value
from molrec_convert.placement import CELL_KEY, STEP_KEY, TIME_KEY


class Fitted(NamedTuple):
    """A frame as it is appended."""

    frame: Frame
    step: int
    time: float | None


def fitted(record: Record, snapshots: Sequence[Snapshot]) -> list[Fitted] | None:
    """The frames as the trajectory of the record declares them; None where one does not fit.

    What stands in ``system`` must hold for the new frames, too; what is declared must be enough for the rest.
    """
    trajectory = record.trajectory
    if trajectory is None or not len(trajectory):
        return None
    found: list[Fitted] = []
    step = int(trajectory.step[-1])
    has_cell = _has_cell(trajectory[-1])
    for snapshot in snapshots:
        step += 1
        if CELL_KEY not in trajectory.schema.meta and _has_cell(snapshot.frame) is not has_cell:
            return None
        moving = _moving(snapshot, record.system or Frame(), trajectory)
        if moving is None:
            return None
        try:
            found.append(Fitted(trajectory.schema.conform(moving), step, _time(snapshot, trajectory)))
        except RecordError:
            return None
    return found


def _has_cell(frame: Frame) -> bool | None:
    return None if frame.box is None else frame.box.defined


def _time(snapshot: Snapshot, trajectory: Trajectory) -> float | None:
    """The time of a frame; `RecordError` where the trajectory has times and the frame none, or the other way round."""
    declared = TIME_KEY in trajectory.schema.meta
    if not declared and (snapshot.time is None) is not (trajectory.time is None):
        raise RecordError("every frame has a time, or none has")
    return None if declared else snapshot.time


def _moving(snapshot: Snapshot, system: Frame, trajectory: Trajectory) -> Frame | None:
    """What of a frame does not stand in ``system``; None where it contradicts that."""
    schema, frame = trajectory.schema, snapshot.frame
    if not schema.blocks.keys() <= frame.keys() or not system.keys() <= frame.keys():
        return None
    blocks: dict[str, Block] = {}
    for name, block in frame.items():
        columns = dict(block.columns)
        for key, column in (system[name].columns if name in system else {}).items():
            if key not in columns or not columns.pop(key).same(column):
                return None
        if columns or name not in system:
            blocks[name] = Block.of(columns, block.count, shape=block.shape, targets=dict(block.targets))
        if name in system and system[name].count != block.count:
            return None
    meta = _moving_meta(snapshot, system.meta, schema)
    return None if meta is None else Frame.of(blocks, frame.box, meta)


def _moving_meta(snapshot: Snapshot, fixed: Meta, schema: Schema) -> Meta | None:
    about = snapshot.about
    values: dict[str, Any] = dict(snapshot.frame.meta)
    tags = dict(snapshot.frame.meta.tags)
    for key in about:
        if key in schema.meta:
            values[key], tags[key] = about[key], about.tag(key)
        elif key not in fixed or not same_value(about[key], fixed[key]):
            return None
    if any(key not in about for key in fixed):
        return None
    if TIME_KEY in schema.meta and snapshot.time is not None:
        values[TIME_KEY], tags[TIME_KEY] = snapshot.time, schema.meta[TIME_KEY].tag
    if CELL_KEY in schema.meta:
        values[CELL_KEY], tags[CELL_KEY] = _has_cell(snapshot.frame) is True, "bool"
    values.pop(STEP_KEY, None)
    return Meta.of(values, tags)
