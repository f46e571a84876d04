"""Random sequences of frames: the same record, whenever they were known."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from molrec_convert.adapter import Snapshot
from molrec_convert.model import Box, Column, Frame, Meta
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.records import open_record

from .snapshots import assert_holds, atoms, two_ways

COLUMNS = {
    "n": st.sampled_from(["i1", "i4", "i8", "f8", "string"]),
    "w": st.sampled_from(["string", "b1"]),
    "q": st.sampled_from(["f8", "c16", "null"]),
    "mass": st.just("f8"),
    "id": st.just("u8"),
}


def values_of(kind, rows, seed):
    values = (np.arange(rows) + seed) % 3
    if kind == "string":
        return np.array([f"w{value}" for value in values], DTYPES["string"])
    if kind == "null":
        return Column(values.astype(float), valid=values > 0)
    return values.astype(kind)


@st.composite
def sequences(draw):
    """Snapshots whose columns, counts, keys, cells, steps and times change now and then."""
    made = []
    rows, kinds, keys = draw(st.integers(0, 3)), {}, {}
    box, timed, step = None, draw(st.booleans()), 0
    for k in range(draw(st.integers(1, 9))):
        if draw(st.integers(0, 3)) == 0:
            rows = draw(st.integers(0, 3))
        for name, kind in COLUMNS.items():
            change = draw(st.integers(0, 9))
            if change == 0:
                kinds[name] = draw(kind)
            elif change == 1:
                kinds.pop(name, None)
        if draw(st.integers(0, 4)) == 0:
            key = draw(st.sampled_from("abcd"))
            keys[key] = draw(st.sampled_from([1, 0.5, "t", True, [1.0, 2.0, 3.0], {"j": [1]}]))
            if draw(st.booleans()):
                del keys[key]
        if draw(st.integers(0, 3)) == 0:
            box = draw(st.sampled_from([None, Box.orthogonal(3), Box.orthogonal(4), Box.undefined()]))
        seed = draw(st.sampled_from([0, 0, 0, 1]))
        columns = {name: values_of(kind, rows, seed) for name, kind in kinds.items()}
        frame = Frame({"atoms": atoms(np.arange(rows) + k, **columns)}, box=box)
        if draw(st.integers(0, 5)) == 0:
            frame["other"] = {"n": values_of("i8", draw(st.integers(0, 2)), 0)}
        meta = {key: value for key, value in keys.items() if key < "c"}
        about = {key: value for key, value in keys.items() if key >= "c"}
        step += draw(st.sampled_from([1, 1, 1, 1, 0, -1]))
        made.append(
            (frame, meta, about, step if draw(st.integers(0, 15)) else None,
             0.5 * k if timed and draw(st.integers(0, 15)) else None)
        )  # fmt: skip
    return made


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(sequences())
def test_random_sequences(tmp_path_factory, made):
    """The same record, whenever the frames were known; and every frame holds what the source had."""
    folder = tmp_path_factory.mktemp("records")

    def make():
        result = []
        for frame, meta, about, step, time in made:
            copy = Frame(dict(frame.items()), box=frame.box, meta=Meta(meta))
            result.append(Snapshot(copy, step=step, time=time, about=Meta(about)))
        return result

    with pytest.MonkeyPatch.context() as patch:
        path = two_ways(folder, make, patch)
    with open_record(path) as record:
        for moment, found in zip(make(), record.trajectory, strict=True):
            assert_holds(found, moment.frame)
