# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""What MolRec does not know survives: sections, groups, arrays and attributes of any type."""

import h5py
import numpy as np

from molrec_convert.model import Frame, Schema
from molrec_convert.records import copy_unknown, create, open_record

from .builders import rich_frame

UNKNOWN = {
    "forcefield/pairs/f32": np.arange(6, dtype="f4").reshape(2, 3),
    "status/big": np.arange(3, dtype=">i4"),
    "custom": np.array(5),
    "meta/array": np.zeros(2),
    "frame/loose": np.ones(3, "f2"),
    "frame/atoms/_hidden/deep": np.arange(2),
    "frame/box/extra": np.zeros(2),
    "trajectory/undeclared/x": np.zeros(4),
    "trajectory/atoms/undeclared": np.zeros(7, "u2"),
    "trajectory/box/more": np.zeros(1),
    "trajectory/meta/undeclared": np.zeros(3),
}
ATTRIBUTES = {
    "/": ("molrec_version", "0.7"),
    "forcefield": ("style", np.float32(1.5)),
    "frame/atoms": ("hint", np.array([1, 2], ">i2")),
    "frame/atoms/x": ("unit", "Å"),
    "frame/box": ("unit", "nm"),
    "trajectory": ("note", "kept"),
    "trajectory/atoms": ("half", np.float16(0.5)),
    "trajectory/atoms/x": ("unit", np.bytes_(b"A")),
    "trajectory/meta/k_f64": ("unit", "eV"),
}


def test_everything_unknown_is_carried(tmp_path):
    one, other = tmp_path / "one.h5", tmp_path / "two.h5"
    frames = [rich_frame(seed) for seed in range(3)]
    with create(one) as writer:
        writer.set_section("frame", rich_frame())
        trajectory = writer.begin_trajectory(Schema.of(frames))
        for i, frame in enumerate(frames):
            trajectory.append(frame, step=i)
    with h5py.File(one, "r+", track_order=True) as file:
        for place, values in UNKNOWN.items():
            file[place] = values
        for place, (name, value) in ATTRIBUTES.items():
            file[place].attrs[name] = value
    with open_record(one) as record:
        assert record.frame["marks"].attributes == {"color": "red"}
        with create(other, meta=record.meta) as writer:
            writer.set_section("frame", record.frame)
            trajectory = writer.begin_trajectory(record.trajectory.schema)
            for i, frame in enumerate(record.trajectory):
                trajectory.append(frame, step=i)
            copied = copy_unknown(record, writer)
    assert "/forcefield" in copied
    assert "/frame/atoms/x@unit" in copied
    with h5py.File(one) as old, h5py.File(other) as new:
        for place, values in UNKNOWN.items():
            assert new[place].dtype == values.dtype, place
            assert np.array_equal(new[place][()], values)
        for place, (name, value) in ATTRIBUTES.items():
            assert np.array_equal(new[place].attrs[name], value), place
            assert new[place].attrs.get_id(name).dtype == old[place].attrs.get_id(name).dtype
    with open_record(one) as record, open_record(other) as again:
        assert record.frame.same(again.frame)
        assert all(a.same(b) for a, b in zip(record.trajectory, again.trajectory, strict=True))


def test_a_document_of_only_unknown_sections(tmp_path):
    one, other = tmp_path / "one.h5", tmp_path / "two.h5"
    with create(one) as writer:
        writer.set_section("frame", Frame())
    with h5py.File(one, "r+") as file:
        del file["frame"]
        file["status/state"] = 1
    with open_record(one) as record:
        assert len(record) == 0
        assert record.frame is None
        with create(other, meta=record.meta) as writer:
            assert copy_unknown(record, writer) == ["/status"]
