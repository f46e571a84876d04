"""A small picture of a record, as a few numbers: its atoms seen from one side, and the course of its values.

The report draws it. Whole numbers from 0 to `EXTENT` keep a row of the journal to some hundred bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from molrec_convert.mapping.elements import NUMBERS
from molrec_convert.mapping.names import POSITIONS
from molrec_convert.model import Block, Box, Frame
from molrec_convert.model.dtypes import Array
from molrec_convert.records import StoredRecord
from molrec_convert.summary.picture import Panel, panels_of
from molrec_convert.summary.track import record_track

ATOMS, POINTS = 150, 60
"""How many atoms and points of a line are shown."""
EXTENT = 999
VIEW = np.array([[0.88, -0.48, 0.0], [0.19, 0.35, 0.92], [-0.44, -0.81, 0.40]])
"""The axes of the picture and of its depth: a view from above and aside."""


def thumbnail(record: StoredRecord) -> dict[str, Any] | None:
    """Numbers of a picture; None where there is nothing to see."""
    frame = record.frame if record.trajectory is None else record.trajectory[0] if len(record) else None
    found: dict[str, Any] = {} if frame is None else _structure(frame)
    if record.trajectory is not None and len(record) > 1:
        panel = next(panels_of(record_track(record)), None)
        found |= {} if panel is None else _course(panel)
    return found or None


def _structure(frame: Frame) -> dict[str, Any]:
    atoms = frame.get("atoms")
    if atoms is None or not atoms.count or not all(name in atoms for name in POSITIONS):
        return {}
    chosen = np.unique(np.linspace(0, atoms.count - 1, min(ATOMS, atoms.count)).astype(np.int64))
    places = np.stack([np.asarray(atoms[name], np.float64)[chosen] for name in POSITIONS], axis=1)
    there = np.isfinite(places).all(axis=1)
    if not there.any():
        return {}
    places, chosen = places[there] @ VIEW.T, chosen[there]
    edges = _edges(frame.box)
    seen = places[:, :2] if edges is None else np.concatenate([places[:, :2], edges.reshape(-1, 2)])
    size = max(float(np.ptp(seen, axis=0).max()), 1e-12)
    low = (seen.min(axis=0) + seen.max(axis=0) - size) / 2
    order = np.argsort(places[:, 2], kind="stable")
    scaled = _scaled(places[order, :2], low, size)
    kinds = _kinds(atoms)[chosen][order]
    picture: dict[str, Any] = {"atoms": np.column_stack([scaled, kinds]).ravel().tolist()}
    if edges is not None:
        picture["cell"] = _scaled(edges.reshape(-1, 2), low, size).ravel().tolist()
    return picture


def _scaled(points: Array, low: Array, size: float) -> Array:
    found: Array = np.rint((points - low) / size * EXTENT).astype(np.int64)
    found[:, 1] = EXTENT - found[:, 1]
    return found


def _kinds(atoms: Block) -> Array:
    """Atomic numbers; where elements are not known, numbers of types above all of them."""
    if "element" in atoms:
        symbols, inverse = np.unique(np.asarray(atoms["element"], object).astype(str), return_inverse=True)
        return np.array([NUMBERS.get(symbol, 0) for symbol in symbols])[inverse]
    for name in ("type_id", "type", "name"):
        if name in atoms:
            values = np.asarray(atoms[name], object).astype(str)
            return 200 + np.unique(values, return_inverse=True)[1] % 12
    return np.zeros(atoms.count, np.int64)


def _edges(box: Box | None) -> Array | None:
    """The twelve edges of a cell as seen."""
    if box is None or not box.defined or not np.isfinite(box.vectors).all():
        return None
    a, b, c = box.vectors.T
    lines = [
        (start, start + along)
        for along, others in ((a, (b, c)), (b, (a, c)), (c, (a, b)))
        for start in (0 * a, others[0], others[1], others[0] + others[1])
    ]
    seen: Array = (np.array(lines) + box.origin) @ VIEW.T[:, :2]
    return seen


def _course(panel: Panel) -> dict[str, Any]:
    """The lines of a panel, each on the scale of all."""
    lines = [np.asarray(values, np.float64) for values in panel.lines.values()]
    finite = np.concatenate([values[np.isfinite(values)] for values in lines])
    if not finite.size:
        return {}
    low, size = float(finite.min()), float(np.ptp(finite)) or 1.0
    drawn = []
    for values in lines:
        chosen = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).astype(np.int64))
        drawn.append(
            [None if not np.isfinite(y) else EXTENT - round((float(y) - low) / size * EXTENT) for y in values[chosen]]
        )
    return {"lines": drawn, "label": panel.label, "low": low, "high": low + float(np.ptp(finite))}
