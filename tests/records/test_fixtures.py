# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""The interop fixtures of the reference implementation: what it wrote is read, what it was given is written alike."""

import json
import math

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.schema import NO_FILL
from molrec_convert.records import create, open_record
from molrec_convert.records.typed_json import from_typed_json
from molrec_convert.records.zarr_zip import pack

from .builders import FIXTURES, check_with_arbiter, fixture
from .trees import FORMS, path_of

BY_FORMULA = "frame_sharded_large"
ABSENT = pytest.param("none", marks=pytest.mark.skip(reason="the fixtures are not at hand"))
NAMES = sorted(path.stem for path in FIXTURES.glob("*.json") if path.stem != BY_FORMULA) or [ABSENT]
STORES = sorted(path.name for path in FIXTURES.glob("*.mrec*")) or [ABSENT]
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


def large_frame():
    """What `BY_FORMULA` holds: its columns go into several chunks, of which one is a shard."""
    r = np.arange(262154)
    labels = np.array(["A", "Bb", ""], DTYPES["string"])[r % 3]
    return Frame({"atoms": {"x": Column(0.5 * r, valid=r % 5 != 0), "y": Column(0.001 * r, precision=0.01),
                            "id": (r + 1).astype("u8"), "flag": r % 3 == 0, "label": labels}})  # fmt: skip


def write_given(path, name):
    """Write what the reference writer was given."""
    if name == BY_FORMULA:
        with create(path) as writer:
            writer.set_section("frame", large_frame())
        return path
    document = fixture(name)
    given = document.get("given", document["expected"])
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
    return path


def assert_expected(path, name):
    """The record holds what a reader must return."""
    if name == BY_FORMULA:
        with open_record(path) as record:
            assert record.frame.same(large_frame())
        return
    document = fixture(name)
    expected = document["expected"]
    with open_record(path) as record:
        assert record.meta == (expected.get("meta") or {})
        for section in ("system", "frame"):
            if expected.get(section) is not None:
                assert getattr(record, section).same(frame_of(expected[section]))
            else:
                assert getattr(record, section) is None
        due = expected.get("trajectory")
        if not due:
            assert record.trajectory is None
            return
        schema = schema_of(document.get("given", expected)["trajectory"]["declaration"])
        assert record.trajectory.schema == schema or name.startswith("traj_ragged_everything")
        assert record.trajectory.step.tolist() == [int(step) for step in due["step"]]
        if due.get("time") is not None:
            assert np.array_equal(record.trajectory.time, [number(t, "f64") for t in due["time"]], equal_nan=True)
        assert len(record.trajectory) == len(due["frames"])
        for i, frame in enumerate(due["frames"]):
            assert record.trajectory.stored_frame(i).same(frame_of(frame, schema)), i


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*NAMES, BY_FORMULA])
def test_what_was_given_is_written_and_read(tmp_path, name, form):
    path = write_given(path_of(tmp_path, form), name)
    assert_expected(path, name)
    check_with_arbiter(path)


@pytest.mark.parametrize("store", STORES)
def test_what_the_reference_wrote_is_read(store):
    assert_expected(FIXTURES / store, store.partition(".")[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("store", STORES)
def test_what_the_reference_wrote_is_carried_to_every_form(tmp_path, store, form):
    path = path_of(tmp_path, form)
    mc.convert(FIXTURES / store, path)
    assert_expected(path, store.partition(".")[0])
    check_with_arbiter(path)


OF_THE_LIBRARY = "_zarrs"
"""The stamp that the library of the reference implementation leaves on arrays."""


def tree_of(folder):
    """Metadata and files of chunks of a tree, the extent of shards and the places in their files apart."""
    found = {}
    for path in folder.rglob("*"):
        key = path.relative_to(folder).as_posix()
        if path.name != "zarr.json":
            if path.is_file():
                found[key] = True
            continue
        document = json.loads(path.read_text())
        document.get("attributes", {}).pop(OF_THE_LIBRARY, None)
        if not document.get("attributes", True):
            del document["attributes"]
        codecs = document.get("codecs", [{}])
        if codecs[0].get("name") == "sharding_indexed" and codecs[0]["configuration"]["index_location"] == "start":
            assert document["chunk_grid"]["configuration"].pop("chunk_shape")
        found[key] = document
    return found


@pytest.mark.parametrize("name", [*NAMES, BY_FORMULA] if FIXTURES.is_dir() else [ABSENT])
def test_the_tree_is_that_of_the_reference(tmp_path, name):
    """Types, chunks, codecs, fill values, attributes, and which chunks have files."""
    mine, theirs = tree_of(write_given(tmp_path / "t.mrec", name)), tree_of(FIXTURES / f"{name}.mrec")
    if name == "traj_zero_frames":
        assert mine["trajectory/zarr.json"]["attributes"].pop("nstep") == 0
    if name == "traj_ragged_everything":  # a declared block that never comes needs no group
        assert theirs.pop("trajectory/never/zarr.json") == {"zarr_format": 3, "node_type": "group"}
        assert theirs.pop("trajectory/never/a/zarr.json")["shape"] == [0]
    assert mine == theirs


@pytest.mark.parametrize("name", [store for store in STORES if str(store).endswith(".zip")])
def test_a_folder_is_packed_as_the_reference_packs_it(tmp_path, name):
    pack(FIXTURES / name.removesuffix(".zip"), tmp_path / "t.zip")
    assert (tmp_path / "t.zip").read_bytes() == (FIXTURES / name).read_bytes()
