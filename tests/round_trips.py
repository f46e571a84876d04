"""Frames written in a format and read again: what is kept, and what the report names."""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import molrec_convert as mc
from molrec_convert.adapter import Adapter, Snapshot
from molrec_convert.errors import LossWarning
from molrec_convert.mapping.elements import NUMBERS
from molrec_convert.model import Block, Box, Column, Frame, Record
from molrec_convert.model.dtypes import ENDPOINTS
from molrec_convert.model.precision import rounded
from molrec_convert.record_frames import record_snapshots

UNITS = {"length": "angstrom"}


class Slack(NamedTuple):
    """How far numbers may be off, since a format fixes their digits.

    Parameters
    ----------
    digits
        Of columns of atoms, absolute: so far their last digits go, which a report names as lost, if a bit is.
    cell_digits
        Of the cell, the same.
    grid_digits
        Of values on a grid, the same, but relative.
    single
        Whether the format has binary32, so that a report names columns that are not binary32 anyway.
    columns, cell
        Of columns of atoms and of the cell, absolute: the last bits, which conversions cost, and no report names.
    """

    digits: Mapping[str, float] = {}
    cell_digits: float = 0.0
    grid_digits: float = 0.0
    single: bool = False
    columns: Mapping[str, float] = {}
    cell: float = 0.0


SLACK = {
    "pdb": Slack(
        {**dict.fromkeys("xyz", 5.1e-4), **dict.fromkeys(("occupancy", "b_factor"), 5.1e-3)}, cell_digits=1e-3
    ),
    "gro": Slack({**dict.fromkeys("xyz", 5.1e-3), **dict.fromkeys(("vx", "vy", "vz"), 5.1e-4)}),
    "cube": Slack(dict.fromkeys(("x", "y", "z", "nuclear_charge"), 5e-7), cell_digits=5e-6, grid_digits=5.1e-6),
    "dcd": Slack(cell=1e-12, single=True),
    "trr": Slack(columns=dict.fromkeys(("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz"), 1e-12), cell=1e-14),
}
"""By the name of the format; all others are exact."""
SHOWN = re.compile(r" \(\d+\)$")
MOMENT = ("timestep", "time")


class Trip(NamedTuple):
    """What became of frames.

    Parameters
    ----------
    path
        The file.
    before, after
        The frames as they were, and as they were read.
    documents
        What the records say of themselves, before and after.
    named
        What the report says was lost.
    warnings
        What else was said, in writing and in reading.
    """

    path: Path
    before: list[Snapshot]
    after: list[Snapshot]
    documents: tuple[dict[str, Any], dict[str, Any]]
    named: set[str]
    warnings: list[str]


def target_of(folder: Path, adapter: Adapter) -> Path:
    """A file of the usual name."""
    return folder / f"trip{adapter.patterns[0].removeprefix('*')}"


def trip(folder: Path, adapter: Adapter, data: Any, **options: Any) -> Trip:
    """Write frames, and read them again."""
    path = target_of(folder, adapter)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mc.write(path, data, format=adapter.name, force=True, units=UNITS, **options)
        record = mc.read(path, format=adapter.name)
    lost = [str(warning.message) for warning in caught if issubclass(warning.category, LossWarning)]
    said = [str(warning.message) for warning in caught if not issubclass(warning.category, LossWarning)]
    named = {SHOWN.sub("", item) for text in lost for item in text.partition(": ")[2].split(", ")}
    before = record_of(data, step=options.get("step"), time=options.get("time"))
    return Trip(path, snapshots_of(before), snapshots_of(record), (before.meta, record.meta), named, said)


def record_of(data: Any, *, step: Sequence[int] | None = None, time: Sequence[float] | None = None) -> Record:
    """Frames as a record in memory."""
    if isinstance(data, Record):
        return data
    if isinstance(data, Frame):
        return Record(frame=data)
    from molrec_convert.model.trajectory import MemoryTrajectory

    return Record(trajectory=MemoryTrajectory(list(data), step=step, time=time))


def snapshots_of(record: Record) -> list[Snapshot]:
    """The frames of a record, whole."""
    return list(record_snapshots(record, list(range(len(record)))))


# ---------------------------------------------------------------- what is not kept
def differences(there: Trip, slack: Slack) -> set[str]:
    """What of the frames before is not in those after, as a report names it."""
    found = {f"record.{key}" for key in there.documents[0] if key not in there.documents[1]}
    if len(there.after) < len(there.before):
        found.add("frames after the first")
    sizes = [{_count(snapshot.frame) for snapshot in snapshots} for snapshots in (there.before, there.after)]
    if len(sizes[0]) > 1 and sizes[0] != sizes[1]:
        found.add("a changing number of atoms")
    for ordinal, (one, other) in enumerate(zip(there.before, there.after, strict=False)):
        if one.step not in (None, ordinal, other.step):
            found.add("step")
        if one.time not in (None, other.time):
            found.add("time")
        found |= frame_differences(one.frame, other.frame, slack)
        found |= {key for key in one.about if key not in other.about and key not in other.frame.meta}
    return {item for item in found if item.partition(" of ")[2] not in found}  # of a whole, no parts


def _count(frame: Frame) -> int:
    return frame["atoms"].count if "atoms" in frame else 0


def frame_differences(one: Frame, other: Frame, slack: Slack) -> set[str]:
    """What of a frame is not in another."""
    found = {
        key
        for key, value in one.meta.items()
        if key not in MOMENT and (key not in other.meta or repr(other.meta[key]) != repr(value))
    }
    cell = _cell_differences(one.box, other.box, slack)
    one, other = _by_ids(one, other)
    for name, block in one.items():
        if not block.count:
            continue
        if name not in other:
            found.add(name)
        else:
            found |= _block_differences(name, block, other[name], slack, turned="orientation of the cell" in cell)
    return found | cell


def _cell_differences(one: Box | None, other: Box | None, slack: Slack) -> set[str]:
    found: set[str] = set()
    if one is None or not one.defined:
        if other is not None and other.defined:
            return {"absence of a cell"}
        origin = np.zeros(3) if one is None else one.origin
        return {"box.origin"} if not np.array_equal(origin, np.zeros(3) if other is None else other.origin) else found
    if other is None or not other.defined:
        return {"box"}
    if not _close(one.vectors, other.vectors, slack.cell):
        found |= _vector_differences(one.vectors, other.vectors, slack)
    if not _close(one.origin, other.origin, slack.cell):
        near = bool(slack.cell_digits) and _close(one.origin, other.origin, slack.cell_digits)
        found.add("digits of box.origin" if near else "box.origin")
    if not np.array_equal(one.boundary, other.boundary):
        found.add("box.boundary")
    return found


def _vector_differences(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], slack: Slack) -> set[str]:
    """What of cell vectors is lost: digits, their orientation, perhaps with digits of their shape, or all."""
    if slack.cell_digits and _close(one, other, slack.cell_digits):
        return {"digits of box"}
    before, after = (vectors.T @ vectors for vectors in (one, other))
    if not np.allclose(before, after, rtol=1e-3):
        return {"box"}
    exact = np.allclose(before, after, rtol=1e-9)
    return {"orientation of the cell"} | (set() if exact else {"digits of box"})


TURNED = ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz", "anisou")
"""Columns that turn with the cell."""


def _block_differences(name: str, one: Block, other: Block, slack: Slack, *, turned: bool) -> set[str]:
    if one.count != other.count:
        return {name}
    found = {f"shape of {name}"} if one.shape != other.shape else set()
    if name == "bonds":
        one, other = _by_ends(one), _by_ends(other)
    for key, column in one.columns.items():
        place = f"{name}.{key}"
        read, how = _counterpart(name, key, one, other)
        if read is None:
            found.add(place)
            continue
        if turned and name == "atoms" and key in TURNED:
            continue
        found |= {f"{how} of {place}"} if how else set()
        found |= _column_differences(place, column, read, slack, name, key)
    return found


def _by_ids(*frames: Frame) -> list[Frame]:
    """Frames whose atoms are in the order of their ids, where all have ids: the order of rows may mean nothing."""
    ids = [frame["atoms"].columns.get("id") if "atoms" in frame else None for frame in frames]
    if not all(each is not None and each.valid is None and len(np.unique(each.values)) == len(each) for each in ids):
        return list(frames)
    return [_sorted(frame) for frame in frames]


def _sorted(frame: Frame) -> Frame:
    order = np.argsort(frame["atoms"]["id"])
    place = np.argsort(order).astype("u8")
    blocks = dict(frame.items()) | {"atoms": frame["atoms"].rows(order)}
    for name, block in frame.items():
        ends = {end: Column(place[block[end].astype(int)]) for end in ENDPOINTS if end in block and name != "atoms"}
        if ends:
            blocks[name] = Block({**block.columns, **ends})
    if frame["atoms"].shape is not None:
        blocks["atoms"] = Block(blocks["atoms"].columns, shape=frame["atoms"].shape)
    return Frame.of(blocks, frame.box, frame.meta)


def _by_ends(bonds: Block) -> Block:
    """Bonds in the order of their ends, each from the lower to the higher: what they mean is the same."""
    if not {"atomi", "atomj"} <= bonds.keys():
        return bonds
    low, high = np.minimum(bonds["atomi"], bonds["atomj"]), np.maximum(bonds["atomi"], bonds["atomj"])
    order = np.lexsort((high, low))
    columns = {**bonds.columns, "atomi": Column(low), "atomj": Column(high)}
    return Block({key: column.rows(order) for key, column in columns.items()})


def _counterpart(name: str, key: str, one: Block, other: Block) -> tuple[Column | None, str | None]:
    """The column that holds what a column of a block held, and what is else about it: another name, or other axes."""
    column = one.column(key)
    if key in other:
        return other.column(key), None
    if key == "atomic_number" and "element" in other:
        numbers = [NUMBERS.get(symbol, 0) for symbol in other["element"].tolist()]
        known = _mask(other.column("element"))
        return Column(
            np.array(numbers, "u8"), valid=known & _mask(column) if known[_mask(column)].all() else known
        ), None
    parts = [other.column(part) for k in range(column.values.size) if (part := f"{key}[{k + 1}]") in other]
    if parts:
        together = np.stack([part.values for part in parts], axis=1).reshape(column.values.shape)
        return Column(together, valid=parts[0].valid), "axes"
    new = [there for there in other if there not in one]
    same = next((there for there in new if key != "element" and _same(column, other.column(there))), None)
    return (None, None) if same is None else (other.column(same), "name")


def _digits(slack: Slack, block: str, key: str) -> tuple[float, float]:
    """How far the last digits of a column go, absolute and relative."""
    if block == "grid":
        return 0.0, slack.grid_digits
    return (slack.digits.get(key, 0.0) if block == "atoms" else 0.0), 0.0


def _column_differences(place: str, one: Column, other: Column, slack: Slack, name: str, key: str) -> set[str]:
    rows = _mask(one)
    found = {f"nulls of {place}"} if one.valid is not None and not np.array_equal(rows, _mask(other)) else set()
    if other.valid is not None and not other.valid[rows].all():
        return {place}
    before, after = one.values[rows], other.values[rows]
    if one.precision is not None and after.dtype == np.float64:
        after = rounded(after, one.precision)
    bits = slack.columns.get(key, 0.0) if name == "atoms" else 0.0
    if one.trailing != other.trailing:
        if before.size != after.size or not before.size or not _close(before.ravel(), after.ravel(), bits):
            return {place}
        return found | {f"axes of {place}"}
    if _close(before, after, bits):
        return found
    near = _digits(slack, name, key)
    single = slack.single and np.array_equal(before.astype("f4"), after.astype("f4"), equal_nan=True)
    if single or (any(near) and _close(before, after, *near)):
        return found | {f"digits of {place}"}
    return found | {place}


def _mask(column: Column) -> np.ndarray[Any, Any]:
    return np.ones(len(column), bool) if column.valid is None else column.valid


def _same(one: Column, other: Column) -> bool:
    """Whether two columns hold the same values, which are not all alike."""
    rows = _mask(one)
    values = one.values[rows].ravel().tolist()
    return len(set(values)) > 1 and values == other.values[rows].ravel().tolist()


def _close(
    one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], absolute: float = 0.0, relative: float = 0.0
) -> bool:
    """Whether values are the same, whatever the width of their type; text only as text."""
    texts = [isinstance(values.dtype, np.dtypes.StringDType) for values in (one, other)]
    if one.shape != other.shape or texts[0] != texts[1]:
        return False
    if absolute or relative:
        return bool(np.allclose(one, other, rtol=relative, atol=absolute, equal_nan=True))
    return all(map(_same_value, one.ravel().tolist(), other.ravel().tolist()))


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()
    return bool(one == other)
