# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A closed record goes on: the result is the same as if it had been written at once."""

import h5py
import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta, MetaSpec, Schema
from molrec_convert.records import create, open_for_append, open_record

from .builders import assert_frames, rich_frame, write
from .trees import path_of


def frames_of(count):
    frames = []
    for i in range(count):
        rng = np.random.default_rng(i)
        atoms = Block(
            {
                "x": rng.normal(size=50),
                "y": Column(rng.normal(size=50), precision=1e-3),
                "id": rng.permutation(50).astype("u8"),
                "name": ["é", "b"] * 25,
                "q": Column(rng.normal(size=50), valid=np.arange(50) != (7 if i > 8 else 99)),
            }
        )
        blocks = {"atoms": atoms, "still": {"v": [1.0, 2.0 + (i > 5)]}, "few": {"k": np.arange(i % 3, dtype="i4")}}
        if i > 3:
            blocks["late"] = {"w": [float(i // 4)]}
        box = None if i < 2 else Box.orthogonal(3 + i // 5, origin=[0, 0, float(i > 6)])
        frames.append(Frame(blocks, box=box, meta={"pe": float(i), "s": f"é{i}", "j": [i]}))
    return frames  # fmt: skip


@pytest.mark.parametrize("form", ["h5", "mrec"])
@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("parts", [(1, 11), (3, 4, 5), (6, 6), (12, 0), (0, 12), (1,) * 12])
def test_in_parts(tmp_path, parts, durable, form):
    frames = frames_of(12)
    path = path_of(tmp_path, form)
    with create(path, durable=durable) as writer:
        writer.begin_trajectory(Schema.of(frames))
    done = 0
    for part in parts:
        with open_for_append(path, durable=durable) as writer:
            for i in range(done, done + part):
                writer.trajectory.append(frames[i], step=i * 10 + (i > 7), time=i * 0.25)
            done += part
    assert_frames(path, frames)
    with open_record(path) as record:
        assert record.trajectory.step.tolist() == [i * 10 + (i > 7) for i in range(12)]
        assert record.trajectory.time.tolist() == [i * 0.25 for i in range(12)]


def test_the_rules_hold_on(tmp_path):
    frames = frames_of(3)
    path = write(tmp_path / "t.h5", frames, schema=Schema.of(frames_of(12)))
    with open_for_append(path) as writer:
        with pytest.raises(RecordError, match="step 2 after step 2"):
            writer.trajectory.append(frames_of(4)[3], step=2)
        with pytest.raises(RecordError, match="every frame has a time, or none has"):
            writer.trajectory.append(frames_of(4)[3], step=3, time=1.0)
        with pytest.raises(RecordError, match="the record has a trajectory"):
            writer.begin_trajectory(Schema())
        writer.set_meta({"more": 1})
    with open_record(path) as record:
        assert len(record) == 3
        assert record.meta == {"more": 1}


def test_what_was_not_committed_is_cut_off(tmp_path):
    frames = frames_of(10)
    path = write(tmp_path / "t.h5", frames, times=[0.1 * i * i for i in range(10)])
    with h5py.File(path, "r+") as file:
        file["trajectory"].attrs.modify("nstep", np.int64(4))
    with open_record(path) as record:
        assert len(record) == 4
        assert record.trajectory[3].same(frames[3])
    with open_for_append(path) as writer:
        for i in range(4, 10):
            writer.trajectory.append(frames[i], step=i, time=0.1 * i * i)
    assert_frames(path, frames)


def test_a_record_without_a_trajectory(tmp_path):
    path = tmp_path / "t.h5"
    with create(path) as writer:
        writer.set_section("frame", rich_frame())
    with open_for_append(path) as writer:
        assert writer.trajectory is None
        trajectory = writer.begin_trajectory(Schema.of_frame(rich_frame()))
        trajectory.append(rich_frame(), step=0)
    with open_record(path) as record:
        assert record.frame.same(rich_frame())
        assert record.trajectory[0].same(rich_frame())


def test_arrays_that_cannot_grow(tmp_path):
    frames = [Frame({"a": {"v": [float(i)]}}) for i in range(3)]
    path = write(tmp_path / "t.h5", frames)
    with h5py.File(path, "r+") as file:
        del file["trajectory/a/v"]
        file["trajectory/a"].create_dataset("v", data=np.arange(3.0), track_order=True)
    with pytest.raises(
        RecordError, match=r"/trajectory/a/v: an array that cannot grow, or with filters that are not ours"
    ):
        open_for_append(path)
    assert_frames(path, frames)


def test_a_tail_that_is_as_large_plain_as_compressed(tmp_path):
    """The library keeps the old filter mask of a chunk that is replaced by one of the same size."""
    one, two = Box.orthogonal(3), Box.orthogonal([3, 4, 5], origin=[1, 0, 0])
    boxes = [one, None, one, two, None, None, Box.undefined([0, 2.0, 0]), None, one, two, None]
    frames = [Frame({}, box=box, meta=Meta({"pe": 0.0})) for box in boxes]
    schema = Schema.of(frames)
    schema = Schema(schema.blocks, {**schema.meta, "cell_defined": MetaSpec("bool", True)})
    path = tmp_path / "record.h5"
    writer = create(path)  # closed and opened again on the way
    trajectory = writer.begin_trajectory(schema)
    for step, frame in enumerate(frames):
        if step in (5, 10):
            writer.close()
            writer = open_for_append(path)
            trajectory = writer.trajectory
        trajectory.append(frame, step=step)
    writer.close()
    with open_record(path) as record:
        assert [found.same(frame) for found, frame in zip(record.trajectory, frames, strict=True)] == [True] * 11
