"""Snapshots as adapters give them, and the records that become of them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from molrec_convert import outputs
from molrec_convert.adapter import Snapshot
from molrec_convert.model import Frame
from molrec_convert.model.schema import promoted_array
from molrec_convert.outputs import RecordOutput
from molrec_convert.part import PartFile

from .compare import assert_same_records
from .records.builders import check_with_arbiter


def record_of(folder, snapshots, name="out.h5", *, series=True):
    """Write snapshots as the pipeline does."""
    target = folder / name
    part = PartFile(target, force=True)
    with ThreadPoolExecutor(max_workers=2) as executor:
        output = RecordOutput(part, series=series, executor=executor)
        try:
            for snapshot in snapshots:
                output.add(snapshot)
            output.finish({})
            part.commit()
        except BaseException:
            output.discard()
            raise
    assert [path.name for path in folder.iterdir() if ".part" in path.name] == []
    return target


def two_ways(folder, make, monkeypatch):
    """A record whose frames were all known, and one that was begun after two of them."""
    known = record_of(folder, make(), "known.h5")
    monkeypatch.setattr(outputs, "LOOK_AHEAD", 0)
    begun = record_of(folder, make(), "begun.h5")
    check_with_arbiter(known)
    check_with_arbiter(begun)
    assert_same_records(known, begun)
    return known


def atoms(x, **columns):
    x = np.asarray(x, float)
    return {"x": x, "y": x + 1, "z": x + 2, **columns}


def ids(*numbers):
    return np.array(numbers, "u8")


def moments(*frames, **options):
    """Snapshots of frames at the steps 0, 1, 2 …"""
    return [Snapshot(Frame(frame), step=k, **options) for k, frame in enumerate(frames)]


def assert_holds(found, frame):
    """A frame of a record holds what the source had, at the record's types, and nulls for the rest."""
    for name, block in frame.items():
        for key, column in block.columns.items():
            stored = found[name].column(key)
            due = promoted_array(column.values, stored.dtype, key)
            rows = slice(None) if column.valid is None else column.valid
            assert stored.values[rows].tolist() == due[rows].tolist(), (name, key)
            assert (stored.valid is None) == (column.valid is None), (name, key)
    for name, block in found.items():
        for key, column in block.columns.items():
            if block.count and (name not in frame or key not in frame[name]):
                assert column.valid is not None
                assert not column.valid.any()
