# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""What is written reads back, to the bit."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta, MetaSpec, Schema
from molrec_convert.records import create, open_record

from .builders import assert_frames, check_with_arbiter, rich_frame, write

HARD_DOCUMENT = {
    "text": "é", "true": True, "int": -5, "wide": 2**63, "wider": 2**70, "real": 1.5, "zero": -0.0, "null": None,
    "ints": [1, 2], "reals": [0.5, 1e300], "flags": [True, False], "mixed": [1, 1.0], "empty": [],
    "nested": {"a": [{}]}, "words": ["a", "b"], "long": list(range(5000)), "longest": "x" * 100_000,
    "with space": 1, "blank": "",
}  # fmt: skip


def test_document_of_the_record(tmp_path):
    path = tmp_path / "r.h5"
    with create(path, meta={"gone": 1}) as writer:
        writer.set_meta({"also": {"gone": 2}})
        writer.set_meta(HARD_DOCUMENT)
        writer.set_section("frame", Frame())
    with open_record(path) as record:
        found = record.meta
    assert repr(found) == repr(HARD_DOCUMENT)
    check_with_arbiter(path, 1)


@pytest.mark.parametrize("name", ["frame", "system"])
def test_section(tmp_path, name):
    path = tmp_path / "r.h5"
    with create(path) as writer:
        writer.set_section(name, Frame({"atoms": {"x": [1.0]}}))
        writer.set_section(name, rich_frame())
    with open_record(path) as record:
        assert getattr(record, name).same(rich_frame())
        assert list(getattr(record, name)) == list(rich_frame())
    check_with_arbiter(path)


def test_large_section(tmp_path):
    rng = np.random.default_rng(0)
    n = 300_000
    words = np.array(["C", "é", "Cl"], np.dtypes.StringDType())[rng.integers(0, 3, n)]
    uneven = np.array(["short"] * 200_000 + ["long" * 1000], np.dtypes.StringDType())
    frame = Frame(
        {
            "atoms": {"x": rng.normal(size=n), "id": np.arange(n, dtype="u8"), "element": words,
                      "v": rng.normal(size=(n, 3)), "charge": Column(rng.normal(size=n), precision=1e-3),
                      "free": Column(rng.integers(0, 2, n).astype(bool), valid=rng.integers(0, 9, n) > 0)},
            "notes": {"text": uneven},
        }
    )  # fmt: skip
    path = tmp_path / "r.h5"
    with create(path) as writer:
        writer.set_section("frame", frame)
    with open_record(path) as record:
        assert record.frame.same(frame)
        assert record.frame["atoms"]["x"].flags.writeable
    check_with_arbiter(path)
    assert path.stat().st_size < 22e6


@pytest.mark.parametrize("count", [1, 2, 5])
def test_trajectory_of_everything(tmp_path, count):
    frames = [rich_frame(seed) for seed in range(count)]
    for frame in frames:
        frame["bonds"] = rich_frame()["bonds"]
    assert_frames(write(tmp_path / "t.h5", frames), frames)


def test_ragged_blocks(tmp_path):
    """A block grows, is empty, comes late, and carries forward; one never comes."""
    counts = [3, 3, 5, 0, None, 2]
    frames, last = [], None
    for i, n in enumerate(counts):
        if n is not None:
            last = Block({"x": np.arange(n) + i / 8, "name": [f"é{i}"] * n} if n else
                         {"x": np.zeros(0), "name": np.zeros(0, np.dtypes.StringDType())})  # fmt: skip
        blocks = {"atoms": last}
        if i >= 2:
            blocks["late"] = Block({"a": np.array([i // 4], "i4")})
        frames.append(Frame(blocks))
    schema = Schema.of(frames).union(Schema.of([Frame({"never": {"a": [1.0]}})]))
    path = write(tmp_path / "t.h5", frames, schema=schema)
    assert_frames(path, frames)
    with open_record(path) as record:
        assert "never" not in record.trajectory[0]
        assert record.trajectory.readers["late"].updates.ordinals().tolist() == [2, 4]


def test_block_that_stays_is_written_once(tmp_path):
    bonds = {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")}
    frames = [Frame({"atoms": {"x": [0.0, i]}, "bonds": bonds}) for i in range(50)]
    path = write(tmp_path / "t.h5", frames)
    assert_frames(path, frames)
    with open_record(path) as record:
        group = record.root.group("trajectory").group("bonds")
        assert group.array("atomi").shape == (1,)
        assert group.child("step_index") is None
        assert record.trajectory.readers["atoms"].group.child("offset") is None
        with pytest.raises(ValueError, match="read-only"):
            record.trajectory[3]["bonds"]["atomi"][0] = 1
        record.trajectory[3]["atoms"]["x"][0] = 1


def test_signed_zero_and_nan_are_told_apart(tmp_path):
    values = [0.0, -0.0, float("nan"), float("nan"), 0.0]
    frames = [Frame({"atoms": {"x": [1.0, value]}}) for value in values]
    path = write(tmp_path / "t.h5", frames)
    assert_frames(path, frames)
    with open_record(path) as record:
        assert len(record.trajectory.readers["atoms"].updates) == 4


@pytest.mark.parametrize("times", [None, [0.0, 0.1, 0.2, 0.30000000000000004], [0.0, 0.1, 0.2, 0.3],
                                   [float("nan")] * 4, [-0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0],
                                   [2.0, 1.0, 0.0, -1.0], [0.0, float("inf"), 1.0, 2.0],
                                   [1e300, -1e300, 0.0, 0.0]])  # fmt: skip
@pytest.mark.parametrize(
    "steps", [[0, 1, 2, 3], [5, 10, 15, 21], [-(2**63), 0, 1, 2**63 - 1], [2**60, 2**61, 3 * 2**60, 2**62]]
)
def test_steps_and_times(tmp_path, steps, times):
    frames = [Frame({"atoms": {"x": [float(i)]}}) for i in range(4)]
    path = write(tmp_path / "t.h5", frames, steps=steps, times=times)
    with open_record(path) as record:
        assert record.trajectory.step.tolist() == steps
        found = record.trajectory.time
        assert (found is None) == (times is None)
        if times is not None:
            assert found.tobytes() == np.array(times).tobytes()
    found = check_with_arbiter(path, 4)
    assert found is None or found["step"] == steps


def test_regular_steps_need_no_array(tmp_path):
    frames = [Frame({"atoms": {"x": [float(i)]}}) for i in range(3000)]
    path = write(tmp_path / "t.h5", frames, steps=range(0, 30000, 10), times=[i * 0.5 for i in range(3000)])
    with open_record(path) as record:
        group = record.root.group("trajectory")
        assert group.child("step") is None
        assert group.child("time") is None
        assert record.trajectory.step[-1] == 29990
    path = write(tmp_path / "u.h5", frames, steps=[*range(2999), 5000], times=[*range(2999), 0.5])
    with open_record(path) as record:
        assert record.trajectory.step[-2:].tolist() == [2998, 5000]
        assert record.trajectory.time[-2:].tolist() == [2998, 0.5]
    check_with_arbiter(path, 3000)


BOXES = [Box.orthogonal(3), Box.orthogonal(4), Box.orthogonal(4, origin=[0, 0, 1]),
         Box.orthogonal(4, boundary=[True, False, True])]  # fmt: skip


@pytest.mark.parametrize(
    ("boxes", "children"),
    [
        ([BOXES[0]] * 3, []),
        ([BOXES[2]] * 3, []),
        ([Box.undefined([0, 1.0, 0])] * 3, []),
        (
            [Box.undefined([0, 1.0, 0]), Box.undefined(), Box.undefined()],
            ["step_index", "vectors", "origin", "boundary"],
        ),
        (BOXES, ["step_index", "vectors", "origin", "boundary"]),
        ([None, BOXES[0], BOXES[0]], ["step_index", "vectors"]),
        ([None, None], None),
    ],
)
def test_cell(tmp_path, boxes, children):
    frames = [Frame({"atoms": {"x": [float(i)]}}, box=box) for i, box in enumerate(boxes)]
    path = write(tmp_path / "t.h5", frames)
    with open_record(path) as record:
        group = record.root.group("trajectory").group("box")
        assert (None if group is None else group.names()) == children
    assert_frames(path, frames)


def test_cell_that_is_taken_back(tmp_path):
    boxes = [None, BOXES[0], None, Box.undefined([1.0, 0, 0]), BOXES[3], Box.undefined()]
    frames = [Frame({"atoms": {"x": [float(i)]}}, box=box, meta={"pe": 1.0}) for i, box in enumerate(boxes)]
    schema = Schema.of(frames)
    schema = Schema(schema.blocks, {**schema.meta, "cell_defined": MetaSpec("bool", True)})
    path = write(tmp_path / "t.h5", frames, schema=schema)
    frames[-1].box = None
    assert_frames(path, frames)
    found = check_with_arbiter(path, 6)
    if found is not None:
        assert [frame["meta"]["cell_defined"] for frame in found["frames"]] == [False, True, False, False, True, False]
    with open_record(path) as record:
        assert write(tmp_path / "again.h5", list(record.trajectory), schema=record.trajectory.schema)
    assert_frames(tmp_path / "again.h5", frames)


def test_no_frames(tmp_path):
    path = write(tmp_path / "t.h5", [], schema=Schema.of([rich_frame()]))
    with open_record(path) as record:
        assert len(record) == 0
        assert record.trajectory.schema == Schema.of([rich_frame()])
        assert list(record.trajectory) == []
    check_with_arbiter(path, 0)


def test_fills(tmp_path):
    schema = Schema(meta={"pe": MetaSpec("f64", float("nan")), "note": MetaSpec("json", None),
                          "n": MetaSpec("u64", 2**64 - 1),
                          "v": MetaSpec("f64x3", (0.0, float("inf"), -1.0))})  # fmt: skip
    path = write(tmp_path / "t.h5", [Frame(meta={"pe": 1.0}), Frame(meta={"note": {"a": 1}})], schema=schema)
    full = [
        Frame(meta=Meta({"pe": 1.0, "note": None, "n": 2**64 - 1, "v": (0.0, float("inf"), -1.0)},
                        tags={"n": "u64", "note": "json"})),
        Frame(meta=Meta({"pe": float("nan"), "note": {"a": 1}, "n": 2**64 - 1, "v": (0.0, float("inf"), -1.0)},
                        tags={"n": "u64"})),
    ]  # fmt: skip
    assert_frames(path, full)
    with open_record(path) as record:
        assert record.trajectory.schema.meta["v"] == schema.meta["v"]
        assert record.trajectory.meta("n") == [2**64 - 1] * 2
        assert record.trajectory.meta("unknown") == [None, None]


def test_system_is_joined_row_by_row(tmp_path):
    system = Frame({"atoms": {"id": np.array([7, 9], "u8"), "mass": [1.0, 16.0], "x": [0.0, 0.0]},
                    "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")}}, box=BOXES[0])  # fmt: skip
    frames = [Frame({"atoms": {"x": [float(i), 1.0]}}) for i in range(3)]
    path = write(tmp_path / "t.h5", frames, system=system)
    with open_record(path) as record:
        frame = record.trajectory[2]
        assert list(frame) == ["atoms", "bonds"]
        assert frame["atoms"]["x"].tolist() == [2.0, 1.0]
        assert frame["atoms"]["mass"].tolist() == [1.0, 16.0]
        assert frame.box is None
        assert list(record.trajectory.frame(1, blocks=["bonds"])) == ["bonds"]
        assert [values.tolist() for values in record.trajectory.column("atoms", "x")] == [[0, 1], [1, 1], [2, 1]]
        assert record.trajectory.column("atoms", "mass")[2].tolist() == [1.0, 16.0]
        with pytest.raises(KeyError):
            record.trajectory.column("atoms", "nothing")
    assert_frames(path, frames)


def test_targets_in_the_system(tmp_path):
    system = Frame({"atoms": {"id": np.array([7, 9], "u8")}})
    targets = {"atomi": "/system/atoms", "atomj": "/system/atoms"}
    frames = [Frame({"bonds": Block({"atomi": np.array([0], "u8"), "atomj": np.array([i], "u8")}, targets=targets)})
              for i in range(2)]  # fmt: skip
    path = write(tmp_path / "t.h5", frames, system=system)
    assert_frames(path, frames)
    beyond = Frame({"bonds": Block({"atomi": np.array([0], "u8"), "atomj": np.array([2], "u8")}, targets=targets)})
    with pytest.raises(
        RecordError, match=r"/trajectory/bonds/atomj \(frame 0\): row 2 of '/system/atoms', which has 2 rows"
    ):
        write(tmp_path / "u.h5", [beyond], system=system)


def test_precision_is_declared_once(tmp_path):
    rng = np.random.default_rng(1)
    frames = [Frame({"atoms": {"x": Column(rng.normal(size=5000), precision=1e-3)}}) for _ in range(40)]
    path = write(tmp_path / "t.h5", frames)
    assert path.stat().st_size < 40 * 5000 * 8 / 3
    assert_frames(path, frames)


def test_chunks_of_a_short_trajectory_are_as_long_as_it_is(tmp_path):
    frames = [
        Frame({"atoms": {"x": np.arange(5.0) + i, "id": np.arange(5, dtype="u8")}}, meta={"pe": 1.0}) for i in range(3)
    ]
    path = write(tmp_path / "t.h5", frames)
    with open_record(path) as record:
        atoms = record.root.group("trajectory").group("atoms")
        assert atoms.array("x").node.chunks == (15,)
        assert record.root.group("trajectory").group("meta").array("pe").node.chunks == (3,)
    assert path.stat().st_size < 20_000


def test_long_trajectory_through_many_chunks(tmp_path):
    rng = np.random.default_rng(2)
    frames = [
        Frame({"atoms": Block({"x": rng.normal(size=2000), "type": ["a", "b"] * 1000, "id": np.arange(2000, dtype="u8"),
                               "y": Column(rng.normal(size=2000), precision=1e-4)}),
               "few": Block({"v": rng.normal(size=1 + k % 3)})}, meta={"pe": float(k)})
        for k in range(600)
    ]  # fmt: skip
    path = write(tmp_path / "t.h5", frames)
    assert_frames(path, frames)
