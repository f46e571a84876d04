# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Frames, records and the independent reader, for the tests of records."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from molrec_convert.model import Block, Box, Column, Frame, Meta, Schema
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.meta import TAGS
from molrec_convert.records import create, open_record

SHARED = Path(__file__).resolve().parents[3] / "shared"
FIXTURES = SHARED / "molrs-stores"
if (SHARED / "tools" / "read_record.py").exists():
    sys.path.insert(0, str(SHARED / "tools"))

ALL_TAGS = {
    "bool": True, "i32": -(2**31), "i64": -(2**63), "u32": 2**32 - 1, "u64": 2**64 - 1, "f64": -0.0, "string": "é漢",
    "json": {"a": [1, None, 2.5, "x", True], "b": {}}, "bool3": (True, False, True), "i32x3": (-1, 0, 1),
    "i64x3": (-(2**63), 0, 2**63 - 1), "u32x3": (1, 2, 3), "u64x3": (0, 2**63, 2**64 - 1),
    "f64x3": (float("nan"), float("inf"), -0.0), "f64x6": (1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
    "f64x9": (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
}  # fmt: skip
assert set(ALL_TAGS) == set(TAGS)


def arbiter():
    """The independent decoder; the test is skipped where it is not at hand."""
    return pytest.importorskip("read_record", reason="the independent reader is not at hand")


def values_of(dtype, rows, seed=0, trailing=()):
    """Values that go to the edges of a type."""
    rng = np.random.default_rng(seed)
    shape = (rows, *trailing)
    if dtype == "string":
        words = ["", "C", "é", "a longer one", "漢字", " x "]
        return np.array([words[k] for k in rng.integers(0, 6, shape).ravel()], DTYPES["string"]).reshape(shape)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == "f64":
        values = rng.normal(size=shape)
        values.reshape(-1)[:4] = [np.nan, -0.0, np.inf, 5e-324][: values.size]
        return values
    if dtype in ("c64", "c128"):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(DTYPES[dtype])
    limits = np.iinfo(DTYPES[dtype])
    return rng.integers(limits.min, limits.max, shape, dtype=DTYPES[dtype], endpoint=True)


def every_dtype(rows=7, seed=0):
    """A block with a column of every type, plain, with axes, and masked."""
    block = Block(count=rows)
    for name in DTYPES:
        block[f"p_{name}"] = values_of(name, rows, seed)
        block[f"a_{name}"] = values_of(name, rows, seed + 1, (3,))
        valid = np.arange(rows) % 3 != 1
        block[f"m_{name}"] = Column(values_of(name, rows, seed + 2), valid=valid)
    block["exact"] = Column(np.linspace(-1, 1, rows), precision=1e-3)
    block["empty_axis"] = np.zeros((rows, 0))
    return block


def rich_frame(seed=0, rows=7):
    """A frame with all that a frame can hold."""
    rng = np.random.default_rng(seed)
    return Frame(
        {
            "atoms": Block({"x": rng.normal(size=rows), "element": ["C", "é", "H", "", "O", "N", "Cl"][:rows]}),
            "bonds": Block({"atomi": np.arange(3, dtype="u8"), "atomj": np.arange(1, 4, dtype="u8")}),
            "marks": Block({"row": np.array([0, 2], "u8")}, targets={"row": "atoms"}, attributes={"color": "red"}),
            "density": Block({"rho": rng.normal(size=24)}, shape=(2, 3, 4)),
            "nothing": Block(count=3),
            "types": every_dtype(rows, seed),
            "zero": Block({"x": np.zeros(0), "name": np.zeros(0, DTYPES["string"])}),
        },
        box=Box(np.array([[4.0, 1, 0], [0, 5, 2], [0, 0, 6]]), origin=[0.5, -0.0, 1], boundary=[True, False, True]),
        meta=Meta({f"k_{tag}": value for tag, value in ALL_TAGS.items()}, tags={f"k_{tag}": tag for tag in ALL_TAGS}),
    )


def write(path, frames, *, schema=None, steps=None, times=None, system=None, **options):
    """Write a trajectory and give its path."""
    with create(path) as writer:
        if system is not None:
            writer.set_section("system", system)
        trajectory = writer.begin_trajectory(schema or Schema.of(frames), **options)
        for i, frame in enumerate(frames):
            trajectory.append(frame, step=i if steps is None else steps[i], time=None if times is None else times[i])
    return path


def assert_frames(path, frames):
    """The record at `path` holds these frames, for our reader and, if it is there, for the independent one."""
    with open_record(path) as record:
        assert len(record) == len(frames)
        for i, frame in enumerate(frames):
            found = record.trajectory.stored_frame(i)
            assert found.same(frame), f"frame {i}: {found!r} is not {frame!r}"
    check_with_arbiter(path, len(frames))


def check_with_arbiter(path, frames=None):
    """The independent reader decodes the record, if it is in HDF5, and has nothing to note; gives what it read."""
    if path.suffix != ".h5":
        return None
    try:
        read_record = importlib.import_module("read_record")
    except ImportError:
        return None
    found = read_record.read(path)
    assert not found["notes"]
    if frames is not None:
        assert read_record.n_frames(found) == frames
    return found


def fixture(name):
    """The JSON of an interop fixture."""
    return json.loads((FIXTURES / f"{name}.json").read_text())
