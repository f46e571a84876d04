# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""The reference implementation reads what is written here, value for value, and goes on with it."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame, Meta, Schema
from molrec_convert.records import create, open_for_append, open_record
from molrec_convert.records.cells import CELL_KEY, tells_cells_apart

from .builders import ALL_TAGS, every_dtype, rich_frame, write
from .reference import molrs_python, read_by_molrs, run_molrs
from .test_append import frames_of
from .test_fixtures import frame_of, number
from .trees import path_of

FORMS = ("mrec", "zip")


@pytest.fixture(scope="module", autouse=True)
def molrs():
    molrs_python()


def without_attributes(frame):
    """The frame without attributes of blocks, of which molrs knows none."""
    blocks = {name: Block.of(dict(block.columns), block.count, shape=block.shape, targets=dict(block.targets))
              for name, block in frame.items()}  # fmt: skip
    return Frame(blocks, box=frame.box, meta=frame.meta)


def as_read(found, schema=None):
    """A frame that molrs read, the precisions and targets of the declaration joined in, which it does not hand out."""
    frame = frame_of(found)
    for name, spec in (schema.blocks if schema is not None else {}).items():
        if name in frame:
            columns = {key: Column.of(column.values, column.valid, spec.columns[key].precision)
                       for key, column in frame[name].columns.items()}  # fmt: skip
            frame[name] = Block.of(columns, frame[name].count, shape=spec.shape, targets=dict(spec.targets))
    if schema is not None and tells_cells_apart(schema) and not frame.meta.pop(CELL_KEY):
        frame.box = None  # what the key is for
    return frame


def assert_read_alike(*paths):
    """Molrs reads of records what is read here."""
    for path, found in zip(paths, read_by_molrs(*paths), strict=True):
        with open_record(path) as record:
            assert found["meta"] == record.meta
            for name in ("frame", "system"):
                mine = getattr(record, name)
                assert (mine is None) == (found[name] is None)
                assert mine is None or as_read(found[name]).same(without_attributes(mine)), name
            assert (record.trajectory is None) == (found["trajectory"] is None)
            if record.trajectory is not None:
                assert_frames_alike(found["trajectory"], record.trajectory)


def assert_frames_alike(found, trajectory):
    assert [int(step) for step in found["step"]] == trajectory.step.tolist()
    assert (found["time"] is None) == (trajectory.time is None or not len(trajectory))
    if found["time"] is not None:
        assert np.array_equal([number(time, "f64") for time in found["time"]], trajectory.time, equal_nan=True)
    assert len(found["frames"]) == len(trajectory)
    for index, frame in enumerate(found["frames"]):
        due = without_attributes(trajectory.stored_frame(index))
        assert as_read(frame, trajectory.schema).same(due), index


@pytest.mark.parametrize("form", FORMS)
def test_sections(tmp_path, form):
    """Every type, plain, with axes and masked; every tag; cells, targets, a grid; both sections and a document."""
    path = path_of(tmp_path, form)
    with create(path, meta={"a": 1, "b": [1, 2.5, None, {"c": "é"}], "none": None}) as writer:
        writer.set_section("frame", rich_frame())
        writer.set_section("system", rich_frame(1, rows=5))
    assert_read_alike(path)


BOXES = {
    "fixed": [Box.orthogonal(3)] * 4,
    "fixed off its defaults": [Box.orthogonal(3, origin=[0, -0.0, 1], boundary=[True, False, True])] * 4,
    "moving": [Box.orthogonal(3 + k) for k in range(4)],
    "triclinic": [Box(np.array([[4.0, 1, 0.5], [0, 5, 2], [0, 0, 6 + k]])) for k in range(4)],
    "origin moves late": [Box.orthogonal(3, origin=[0, 0, k // 2]) for k in range(4)],
    "boundary changes late": [Box.orthogonal(3, boundary=[True, True, k < 2]) for k in range(4)],
    "late": [None, None, Box.orthogonal(3), Box.orthogonal(4)],
    "undefined": [Box.undefined()] * 4,
    "undefined with origins": [Box.undefined([0, 0, float(k)]) for k in range(4)],
    "none": [None] * 4,
}


@pytest.mark.parametrize("form", FORMS)
def test_trajectories(tmp_path, form):
    cells = {name: [Frame({"atoms": {"x": [1.0, 2.0 + k]}}, box=box) for k, box in enumerate(boxes)]
             for name, boxes in BOXES.items()}  # fmt: skip
    tags = [Frame({"a": {"v": [0.0]}}, meta=Meta(ALL_TAGS, tags={tag: tag for tag in ALL_TAGS})) for _ in range(3)]
    types = [Frame({"types": every_dtype(4 + k % 2, seed=k)}) for k in range(5)]
    even = [Frame({"types": every_dtype(4, seed=k)}) for k in range(5)]
    grids = [Frame({"grid": Block({"rho": np.arange(6.0) + k}, shape=(1, 2, 3))}) for k in range(3)]
    bonds = [Frame({"atoms": {"x": np.arange(3.0) + k},
                    "marks": Block({"row": np.array([k], "u8")}, targets={"row": "atoms"}),
                    "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1 + k % 2], "u8")}})
             for k in range(3)]  # fmt: skip
    cases = {
        **cells,
        "tags": tags,
        "types": types,
        "even": even,
        "grids": grids,
        "bonds": bonds,
        "ragged": frames_of(12),
    }
    paths = [write(path_of(tmp_path, form, f"case-{k}"), frames) for k, frames in enumerate(cases.values())]
    times = [0.0, 0.5, 1.0, float("nan"), 1.5]
    paths.append(write(path_of(tmp_path, form, "times"), even, times=times, steps=[-5, 0, 10, 11, 2**40]))
    paths.append(write(path_of(tmp_path, form, "regular"), even, times=[0.1 + 0.25 * k for k in range(5)]))
    paths.append(write(path_of(tmp_path, form, "no-frames"), [], schema=Schema.of(even)))
    long = [
        Frame({"atoms": {"x": np.arange(90.0) * k, "n": np.full(90, k, "i2")}}, meta={"pe": float(k)})
        for k in range(1100)
    ]
    paths.append(write(path_of(tmp_path, form, "long"), long))
    assert_read_alike(*paths)


def test_what_was_converted(tmp_path, sample_data):
    sources = sorted(path for path in sample_data.rglob("*.*") if path.suffix not in (".md", ".lmp"))
    paths = [tmp_path / f"{source.name}.mrec" for source in sources]
    for source, path in zip(sources, paths, strict=True):
        mc.convert(source, path)
    assert_read_alike(*paths)


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_appended_to(tmp_path, durable):
    frames, path = frames_of(12), tmp_path / "t.mrec"
    write(path, frames[:5], schema=Schema.of(frames))
    for part in (frames[5:6], frames[6:9], frames[9:]):
        with open_for_append(path, durable=durable) as writer:
            for frame in part:
                writer.trajectory.append(frame, step=len(writer.trajectory))
    assert_read_alike(path)


def test_molrs_goes_on_with_a_record(tmp_path):
    """And its record is gone on with here."""

    def frame(k):
        return Frame({"atoms": {"x": np.arange(3.0) + k, "q": Column(np.arange(3.0) / 7, precision=1e-3)}})

    path = write(tmp_path / "t.mrec", [frame(k) for k in range(4)], times=[0.0, 1.0, 2.0, 3.0])
    run_molrs("--append", path, 3)
    with open_record(path) as record:
        assert len(record) == 7
        assert record.trajectory[2].same(frame(2))
        assert record.trajectory[6]["atoms"]["x"].tolist() == [3.0, 4.0, 5.0, 3.0, 3.0, 3.0]
    with open_for_append(path, durable=True) as writer:
        for k in range(7, 10):
            writer.trajectory.append(frame(k), step=k + 100, time=float(k))
    with open_record(path) as record:
        assert record.trajectory.step.tolist() == [0, 1, 2, 3, 4, 5, 6, 107, 108, 109]
        assert record.trajectory[9].same(frame(9))
        assert record.trajectory[6]["atoms"].count == 6
    assert_read_alike(path)
