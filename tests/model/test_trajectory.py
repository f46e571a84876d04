"""Trajectories: indexing, slicing, steps and times."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Frame, MetaSpec
from molrec_convert.model.trajectory import MemoryTrajectory, Selection, Trajectory


@pytest.fixture
def ten():
    frames = [Frame({"atoms": {"x": [float(k)]}}, meta={"n": k}) for k in range(10)]
    return MemoryTrajectory(frames, step=range(0, 100, 10), time=np.arange(10) / 4)


def numbers(trajectory):
    return [frame.meta["n"] for frame in trajectory]


def test_indexing(ten):
    assert (ten[3].meta["n"], ten[-1].meta["n"], ten[np.int64(2)].meta["n"]) == (3, 9, 2)
    for index in (10, -11):
        with pytest.raises(IndexError, match=f"frame {index} of 10"):
            ten[index]
    for odd in (1.5, "a", None):
        with pytest.raises(TypeError, match="a frame is chosen by its number or a slice, not by"):
            ten[odd]


@pytest.mark.parametrize("piece", ["2:5", "::3", "::-1", "-3:", ":0", "20:", "8:2:-2", "-100:100"])
def test_slicing(ten, piece):
    index = slice(*(int(part) if part else None for part in piece.split(":")))
    found = ten[index]
    due = list(range(10))[index]
    assert isinstance(found, Selection)
    assert isinstance(found, Trajectory)
    assert (len(found), numbers(found)) == (len(due), due)
    assert found.step.tolist() == [10 * k for k in due]
    assert found.time.tolist() == [k / 4 for k in due]
    assert found.schema == ten.schema
    assert numbers(found[::2]) == due[::2]


def test_a_slice_makes_no_frames():
    class Counting(MemoryTrajectory):
        made = 0

        def frame(self, index):
            Counting.made += 1
            return super().frame(index)

    trajectory = Counting([Frame(meta={"n": k}) for k in range(10)])
    part = trajectory[2:8:2]
    assert Counting.made == 0
    assert part[1].meta["n"] == 4
    assert Counting.made == 1


def test_columns_and_keys(ten):
    assert [values.tolist() for values in ten.column("atoms", "x")] == [[float(k)] for k in range(10)]
    assert ten.meta("n") == list(range(10))
    assert ten.meta("nope") == [None] * 10


def test_steps_by_default():
    trajectory = MemoryTrajectory([Frame()] * 3)
    assert trajectory.step.tolist() == [0, 1, 2]
    assert trajectory.step.dtype == np.int64
    assert trajectory.time is None
    assert trajectory[1:].time is None
    empty = MemoryTrajectory([])
    assert (len(empty), empty.step.tolist(), empty.step.dtype) == (0, [], np.int64)
    assert MemoryTrajectory([], step=[], time=[]).time.tolist() == []


@pytest.mark.parametrize("steps", [[1, 1], [2, 1], [0, -1]])
def test_steps_that_do_not_increase(steps):
    with pytest.raises(RecordError, match="the steps of a trajectory increase strictly"):
        MemoryTrajectory([Frame()] * 2, step=steps)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": [1]}, r"2 values of step are due, not \(1,\)"),
        ({"time": [1.0, 2.0, 3.0]}, r"2 values of time are due, not \(3,\)"),
        ({"step": [[1, 2]]}, r"2 values of step are due, not \(1, 2\)"),
    ],
)
def test_steps_and_times_of_another_length(options, message):
    with pytest.raises(RecordError, match=message):
        MemoryTrajectory([Frame()] * 2, **options)


def test_steps_of_reals_are_refused():
    with pytest.raises(TypeError):
        MemoryTrajectory([Frame()] * 2, step=[0.5, 1.5])


def test_the_schema_knows_fills():
    frames = [Frame(meta={"a": 1.0}), Frame(meta={"a": 2.0})]
    fills = {"a": MetaSpec("f64", 0.0), "b": MetaSpec("f64", 0.0)}
    assert dict(MemoryTrajectory(frames, fills=fills).schema.meta) == {"a": MetaSpec("f64", 0.0)}


def test_repr(ten):
    assert repr(ten) == "MemoryTrajectory(10 frames, steps 0 to 90, time 0 to 2.25; atoms(x); meta: n)"
    assert repr(ten[5:5]) == "Selection(0 frames; atoms(x); meta: n)"
    assert repr(MemoryTrajectory([Frame()])) == "MemoryTrajectory(1 frames, steps 0 to 0; nothing declared)"
