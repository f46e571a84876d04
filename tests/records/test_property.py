# mypy: disable-error-code="assignment, union-attr, index, arg-type, list-item"
"""Random trajectories read back frame by frame, by our reader and by the independent one."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from molrec_convert.model import Block, Box, Column, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.records import create, open_for_append, open_record

from .builders import ALL_TAGS, check_with_arbiter, values_of
from .trees import path_of

BOXES = [None, Box.orthogonal(3), Box.orthogonal([3, 4, 5], origin=[1, 0, 0]), Box.undefined(),
         Box.undefined([0, 2.0, 0]), Box.orthogonal(3, boundary=[True, False, False])]  # fmt: skip


@st.composite
def trajectories(draw):
    """Frames, their steps and times, and where commits lie."""
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True, min_size=1))
    columns = {
        name: draw(st.lists(st.sampled_from([*DTYPES, "masked", "exact", "wide"]), unique=True, max_size=4))
        for name in names
    }
    tags = draw(st.lists(st.sampled_from(sorted(ALL_TAGS)), unique=True, max_size=3))
    count = draw(st.integers(0, 12))
    present = dict.fromkeys(names, False)
    frames, current = [], {}
    for _ in range(count):
        for name in names:
            change = draw(st.sampled_from(["keep", "same", "new", "new", "grow", "empty"]))
            if change == "keep" and not present[name]:
                continue
            if change in ("keep", "same") and present[name]:
                continue
            rows = {"empty": 0, "grow": draw(st.integers(0, 9))}.get(change, 4)
            current[name] = _block(columns[name], rows, draw(st.integers(0, 3)))
            present[name] = True
        box = draw(st.sampled_from(BOXES))
        values = {f"k_{tag}": ALL_TAGS[tag] for tag in tags}
        meta = Meta({**values, "pe": draw(st.sampled_from([0.0, -0.0, 1.5, float("nan")]))},
                    tags={f"k_{tag}": tag for tag in tags})  # fmt: skip
        frames.append(Frame(dict(current), box=box, meta=meta))
    steps = np.cumsum(draw(st.lists(st.sampled_from([1, 1, 1, 5]), min_size=count, max_size=count))).tolist()
    times = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 0.1]), min_size=count, max_size=count))
    if times is not None and draw(st.booleans()):
        times = [0.1 + i * 0.25 for i in range(count)]
    commits = draw(st.sets(st.integers(0, 12)))
    cuts = draw(st.sets(st.integers(1, 11), max_size=2))
    return frames, steps, times, commits, cuts


def _block(kinds, rows, seed):
    block = Block(count=rows)
    for kind in kinds:
        if kind == "masked":
            block[kind] = Column(values_of("i32", rows, seed), valid=np.arange(rows) % 2 == seed % 2)
        elif kind == "exact":
            block[kind] = Column(values_of("f64", rows, seed), precision=0.01)
        elif kind == "wide":
            block[kind] = values_of("f64", rows, seed, (2, 3))
        else:
            block[kind] = values_of(kind, rows, seed)
    return block


def _schema(frames):
    schema = Schema.of(frames)
    meta = {**schema.meta, "cell_defined": MetaSpec("bool", True)}
    return Schema(schema.blocks, meta)


def _expected(frame):
    """An undefined cell at the origin is no cell."""
    if frame.box is not None and not frame.box.defined and not frame.box.origin.any():
        return Frame({name: frame[name] for name in frame}, meta=frame.meta)
    return frame


def _expected_boxes(frames):
    """A cell cannot be undefined before there is one, but for an origin."""
    return [_expected(frame) for frame in frames]


@pytest.mark.parametrize("form", ["h5", "mrec"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(trajectories())
def test_random_trajectories_read_back(tmp_path_factory, form, given_trajectory):
    frames, steps, times, commits, cuts = given_trajectory
    path = path_of(tmp_path_factory.mktemp("random"), form)
    with create(path) as writer:
        trajectory = writer.begin_trajectory(_schema(frames))
    for i, frame in enumerate(frames):
        if i == 0 or i in cuts:
            writer.close()
            writer = open_for_append(path)
            trajectory = writer.trajectory
        trajectory.append(frame, step=steps[i], time=None if times is None else times[i])
        if i in commits:
            trajectory.commit()
    writer.close()
    with open_record(path) as record:
        stored = record.trajectory
        assert len(stored) == len(frames)
        assert stored.step.tolist() == steps
        if frames:
            assert (stored.time is None) == (times is None)
        if times is not None and frames:
            assert stored.time.tolist() == times
        for i, frame in enumerate(_expected_boxes(frames)):
            assert stored[i].same(frame), f"frame {i}: {stored[i]!r} is not {frame!r}"
    check_with_arbiter(path, len(frames))
