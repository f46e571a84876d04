# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""The interop fixtures: what the reference implementation was given, through our store, is what it says is expected."""

import math

import numpy as np
import pytest

from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.schema import NO_FILL
from molrec_convert.records import create, open_record
from molrec_convert.records.typed_json import from_typed_json

from .builders import FIXTURES, check_with_arbiter, fixture

BY_FORMULA = "frame_sharded_large"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.json") if path.stem != BY_FORMULA) or [
    pytest.param("none", marks=pytest.mark.skip(reason="the fixtures are not at hand"))
]
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(value, dtype):
    if isinstance(value, list):
        return complex(*(WORDS.get(part, part) if isinstance(part, str) else part for part in value))
    if isinstance(value, str) and dtype != "string":
        return WORDS[value] if value in WORDS else int(value)
    return value


def column_of(document, precision=None):
    dtype = document["dtype"]
    values = [number(value, dtype) for value in document["values"]]
    array = np.array(values, DTYPES[dtype]).reshape(document["shape"])
    valid = document.get("validity")
    precision = document.get("precision", precision)
    return Column(array, valid=None if valid is None else np.array(valid, bool), precision=precision)


def block_of(document, spec=None):
    columns = {
        key: column_of(value, spec.columns[key].precision if spec else None)
        for key, value in document["columns"].items()
    }
    targets = document.get("targets") or (dict(spec.targets) if spec else {})
    return Block(columns, count=document["count"], shape=document.get("structural_shape"), targets=targets)


def frame_of(document, schema=None):
    blocks = {}
    for name, block in (document.get("blocks") or {}).items():
        blocks[name] = block_of(block, schema.blocks[name] if schema else None)
    box = document.get("box")
    if box is not None:
        box = Box(box["vectors"], origin=[float(n) for n in box.get("origin", [0, 0, 0])], boundary=box.get("boundary"),
                  defined=box.get("cell_defined", True))  # fmt: skip
    meta = Meta()
    for key, entry in (document.get("meta") or {}).items():
        meta.set(key, from_typed_json(entry["value"], entry["tag"]), tag=entry["tag"])
    return Frame(blocks, box=box, meta=meta)


def schema_of(document):
    blocks = {
        name: BlockSpec(
            {key: ColumnSpec(column["dtype"], tuple(column.get("trailing", ())), column.get("nullable", False),
                             column.get("precision")) for key, column in block["columns"].items()},
            tuple(block["structural_shape"]) if block.get("structural_shape") else None,
            block.get("targets") or {},
            block.get("aligned_with"),
        )
        for name, block in document["blocks"].items()
    }  # fmt: skip
    meta = {
        key: MetaSpec(entry["dtype"], from_typed_json(entry["fill"], entry["dtype"]) if "fill" in entry else NO_FILL)
        for key, entry in document["meta"].items()
    }
    return Schema(blocks, meta)


def test_large_fixture(tmp_path):
    r = np.arange(262154)
    labels = np.array(["A", "Bb", ""], DTYPES["string"])[r % 3]
    frame = Frame({"atoms": {"x": Column(0.5 * r, valid=r % 5 != 0), "y": Column(0.001 * r, precision=0.01),
                             "id": (r + 1).astype("u8"), "flag": r % 3 == 0, "label": labels}})  # fmt: skip
    path = tmp_path / "t.h5"
    with create(path) as writer:
        writer.set_section("frame", frame)
    with open_record(path) as record:
        assert record.frame.same(frame)
    check_with_arbiter(path)


@pytest.mark.parametrize("name", NAMES)
def test_fixture(tmp_path, name):
    document = fixture(name)
    expected = document["expected"]
    given = document.get("given", expected)
    path = tmp_path / "t.h5"
    schema = None
    with create(path, meta=given.get("meta")) as writer:
        for section in ("system", "frame"):
            if given.get(section) is not None:
                writer.set_section(section, frame_of(given[section]))
        if given.get("trajectory"):
            schema = schema_of(given["trajectory"]["declaration"])
            trajectory, box = writer.begin_trajectory(schema), None
            for i, frame in enumerate(given["trajectory"]["frames"]):
                time = frame.get("time")
                made = frame_of(frame, schema)
                box = made.box = made.box or box  # the reference writer carries a cell forward
                trajectory.append(made, step=int(frame.get("step", i)),
                                  time=None if time is None else number(time, "f64"))  # fmt: skip
    with open_record(path) as record:
        assert record.meta == (expected.get("meta") or {})
        for section in ("system", "frame"):
            if expected.get(section) is not None:
                assert getattr(record, section).same(frame_of(expected[section]))
            else:
                assert getattr(record, section) is None
        if schema is not None:
            assert record.trajectory.schema == schema or name.startswith("traj_ragged_everything")
            due = expected["trajectory"]
            assert record.trajectory.step.tolist() == [int(step) for step in due["step"]]
            assert len(record.trajectory) == len(due["frames"])
            for i, frame in enumerate(due["frames"]):
                assert record.trajectory.stored_frame(i).same(frame_of(frame, schema)), i
    check_with_arbiter(path)
