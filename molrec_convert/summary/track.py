"""The course of a file: a few numbers of every frame."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import Input
from molrec_convert.mapping.names import META_QUANTITIES
from molrec_convert.model.dtypes import Array
from molrec_convert.records import StoredRecord, StoredTrajectory

from .contents import stated_units
from .record import cells_held, headers_of, held

ATOMS = "atoms"


@dataclass(slots=True)
class Track:
    """Numbers of every frame.

    Parameters
    ----------
    step, time
        The steps, and the times where all frames have one.
    values
        Meta values by key; NaN where a frame has none.
    lengths, volume
        f64[n][3] and f64[n] of the cells; NaN where a frame has none.
    atoms
        The numbers of atoms.
    units
        The unit of every quantity that is known.
    """

    step: Array
    time: Array | None
    values: dict[str, Array]
    lengths: Array
    volume: Array
    atoms: Array
    units: Mapping[str, str] = field(default_factory=dict)


def foreign_track(found: Input) -> Track:
    """The numbers of a foreign file, all of which is read."""
    steps: list[int] = []
    times: list[float | None] = []
    values: dict[str, list[float]] = {}
    boxes: list[list[float]] = []
    atoms: list[int] = []
    units: Mapping[str, str] = {}
    with ThreadPoolExecutor(max_workers=2) as executor:
        for ordinal, snapshot in enumerate(found.snapshots(FrameSelection(), executor, None)):
            steps.append(ordinal if snapshot.step is None else snapshot.step)
            times.append(snapshot.time)
            meta, box = snapshot.frame.meta, snapshot.frame.box
            for key in meta:
                if key in META_QUANTITIES and meta.tag(key) == "f64":
                    line = values.setdefault(key, [])
                    line += [np.nan] * (ordinal - len(line)) + [meta[key]]
            there = box is not None and box.defined
            boxes.append([*box.parameters[:3], box.volume] if box is not None and there else [np.nan] * 4)
            atoms.append(snapshot.frame["atoms"].count if "atoms" in snapshot.frame else 0)
            units = units or snapshot.units or {}
    cells = np.array(boxes).reshape(-1, 4)
    return Track(
        step=np.array(steps),
        time=None if None in times else np.array(times, float),
        values={key: np.array(line + [np.nan] * (len(steps) - len(line))) for key, line in values.items()},
        lengths=cells[:, :3],
        volume=cells[:, 3],
        atoms=np.array(atoms, float),
        units=units,
    )


def record_track(record: StoredRecord) -> Track:
    """The numbers of a record, from its small arrays: columns of atoms are not read. None without a trajectory."""
    trajectory = headers_of(record)
    if trajectory is None:
        none = np.zeros(0)
        return Track(np.zeros(0, np.int64), None, {}, none.reshape(0, 3), none, none)
    declared = trajectory.schema.meta.items()
    keys = [key for key, spec in declared if key in META_QUANTITIES and spec.tag == "f64"]
    lengths, volume = _cells(trajectory)
    return Track(
        step=trajectory.step,
        time=trajectory.time,
        values={key: np.array(trajectory.meta(key), float) for key in keys},
        lengths=lengths,
        volume=volume,
        atoms=_atoms(trajectory),
        units=stated_units(record.meta),
    )


def _cells(trajectory: StoredTrajectory) -> tuple[Array, Array]:
    lengths, volume = np.full((len(trajectory), 3), np.nan), np.full(len(trajectory), np.nan)
    cell = trajectory.cell
    if cell is not None and cell.defined:
        updates = cells_held(trajectory)
        there = updates >= 0
        lengths[there] = np.linalg.norm(cell.vectors, axis=1)[updates[there]]
        volume[there] = np.abs(np.linalg.det(cell.vectors))[updates[there]]
    return lengths, volume


def _atoms(trajectory: StoredTrajectory) -> Array:
    reader = trajectory.readers.get(ATOMS)
    if reader is None:
        return np.zeros(len(trajectory))
    updates, counts = held(reader.updates, len(trajectory)), reader.updates.counts()
    found: Array = np.where(updates >= 0, counts[updates], 0).astype(float) if len(counts) else np.zeros(len(updates))
    return found
