# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""What a writer refuses, with the place; it stays usable."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.records import create, open_record

from .builders import assert_frames

SCHEMA = Schema(
    {
        "atoms": BlockSpec({"x": ColumnSpec("f64"), "n": ColumnSpec("i32", (2,)), "q": ColumnSpec("f64", nullable=True),
                            "p": ColumnSpec("f64", precision=0.01)}),
        "types": BlockSpec({"type": ColumnSpec("string")}, aligned_with="atoms"),
        "grid": BlockSpec({"rho": ColumnSpec("f64")}, shape=(2, 2)),
        "bonds": BlockSpec({"atomi": ColumnSpec("u64"), "atomj": ColumnSpec("u64", nullable=True)}),
        "marks": BlockSpec({"row": ColumnSpec("u64")}, targets={"row": "/system/solvent"}),
    },
    {"pe": MetaSpec("f64"), "n": MetaSpec("i64", 0)},
)  # fmt: skip


def atoms(rows=3, **changed):
    columns = {"x": np.arange(float(rows)), "n": np.zeros((rows, 2), "i4"), "q": np.zeros(rows),
               "p": Column(np.zeros(rows), precision=0.01)}  # fmt: skip
    return Block({**columns, **changed})


def without(block, name):
    return Block({key: column for key, column in block.columns.items() if key != name})


def frame(meta=None, box=None, **blocks):
    return Frame({"atoms": atoms(), "types": {"type": ["a"] * 3}, **blocks}, meta=meta or {"pe": 1.0}, box=box)


def bonds(i, j, valid=None):
    return Block({"atomi": np.array(i, "u8"), "atomj": Column(np.array(j, "u8"), valid=valid)})


T = "/trajectory"
REFUSED = [
    (frame(other={"x": [1.0]}), {}, f"{T}/other (frame 1): the block is not declared"),
    (frame(atoms=without(atoms(), "x")), {}, f"{T}/atoms/x: the column is missing"),
    (frame(atoms=atoms(z=np.zeros(3))), {}, f"{T}/atoms/z: the column is not declared"),
    (frame(atoms=atoms(n=np.zeros((3, 2), "i8"))), {}, f"{T}/atoms/n: i32[N][2] is due, not i64[N][2] with 3 rows"),
    (frame(atoms=atoms(n=np.zeros((3, 3), "i4"))), {}, f"{T}/atoms/n: i32[N][2] is due, not i32[N][3] with 3 rows"),
    (frame(atoms=atoms(x=Column(np.zeros(3), valid=[True, False, True]))), {},
     f"{T}/atoms/x: null rows in a column that is not nullable"),
    (frame(atoms=atoms(p=np.zeros(3))), {}, f"{T}/atoms/p: the precision is None, declared is 0.01"),
    (frame(atoms=atoms(x=Column(np.zeros(3), precision=0.1))), {}, f"{T}/atoms/x: the precision is 0.1, declared is None"),
    (frame(atoms=Block(atoms().columns, shape=(3,))), {}, f"{T}/atoms: the structural shape is (3,), declared is None"),
    (frame(grid={"rho": np.zeros(4)}), {}, f"{T}/grid: the structural shape is None, declared is (2, 2)"),
    (frame(grid=Block({"rho": np.zeros(2)}, shape=(2, 1))), {}, f"{T}/grid: the structural shape is (2, 1), declared is (2, 2)"),
    (frame(types={"type": ["a"] * 2}), {}, f"{T}/types (frame 1): its rows are not aligned with those of 'atoms': 2, 3"),
    (Frame({"atoms": atoms(4)}, meta={"pe": 0.0}), {}, f"{T}/types (frame 1): its rows are not aligned with those of 'atoms': 3, 4"),
    (frame(bonds=bonds([0], [3])), {}, f"{T}/bonds/atomj (frame 1): row 3 of 'atoms', which has 3 rows"),
    (frame(marks=Block({"row": np.array([2], "u8")})), {}, f"{T}/marks/row (frame 1): row 2 of '/system/solvent', which has 2 rows"),
    (frame(marks=Block({"row": np.array([0], "u8")}, targets={"row": "atoms"})), {},
     f"{T}/marks: the targets are {{'row': 'atoms'}}, declared are {{'row': '/system/solvent'}}"),
    (frame(meta={"n": 1}), {}, f"{T}/meta/pe (frame 1): the key is missing, and no fill is declared"),
    (frame(meta={"pe": 1.0, "n": 1.5}), {}, f"{T}/meta/n (frame 1): the tag is f64, declared is i64"),
    (frame(meta={"pe": 1.0, "m": 1}), {}, f"{T}/meta/m (frame 1): the key is not declared"),
    (frame(), {"step": 0}, f"{T}/step (frame 1): step 0 after step 0: steps increase strictly"),
    (frame(), {"step": -4}, f"{T}/step (frame 1): step -4 after step 0: steps increase strictly"),
    (frame(), {"step": 1.0}, f"{T}/step (frame 1): a step is an integer, not 1.0"),
    (frame(), {"step": 2**63}, f"{T}/step (frame 1): a step is an i64, not {2**63}"),
    (frame(), {"time": None}, f"{T}/time (frame 1): every frame has a time, or none has"),
    (frame(), {"time": "x"}, f"{T}/time (frame 1): could not convert string to float: 'x'"),
    (frame(), {"box": None}, f"{T}/box: a frame without a box in a trajectory that has one: declare the meta key 'cell_defined' as bool with the fill true"),
    (frame(box=Box.undefined()), {}, f"{T}/box: defined and undefined cells in one trajectory: declare the meta key 'cell_defined' as bool with the fill true"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "options", "message"), REFUSED, ids=[message[:60] for *_, message in REFUSED])
def test_append(tmp_path, bad, options, message):
    path = tmp_path / "t.h5"
    good = [frame(box=Box.orthogonal(3)), frame(box=Box.orthogonal(3), bonds=bonds([0, 1], [9, 2], [False, True]))]
    if bad.box is None and "box" not in options:
        bad.box = Box.orthogonal(3)
    options = {"step": 5, "time": 1.0, **{key: value for key, value in options.items() if key != "box"}}
    if "declare the meta key" in message and "without" in message:
        bad.box = None
    with create(path) as writer:
        writer.set_section("system", Frame({"solvent": {"mass": [1.0, 2.0]}}))
        trajectory = writer.begin_trajectory(SCHEMA)
        trajectory.append(good[0], step=0, time=0.0)
        with pytest.raises(RecordError) as caught:
            trajectory.append(bad, **options)
        assert message in str(caught.value)
        trajectory.append(good[1], step=5, time=1.0)
        assert len(trajectory) == 2
    for one in good:
        one.meta.set("n", 0)
    good[1]["bonds"] = bonds([0, 1], [9, 2], [False, True])
    assert_frames(path, good)


BAD_SCHEMAS = [
    (Schema({"step": BlockSpec()}), "/trajectory/step: a block cannot be called 'step': the name is reserved"),
    (Schema({"box": BlockSpec()}), "/trajectory/box: a block cannot be called 'box': the name is reserved"),
    (Schema({"a/b": BlockSpec()}), "/trajectory/a/b: a block cannot be called 'a/b'"),
    (Schema({"a": BlockSpec({"offset": ColumnSpec("f64")})}), "/trajectory/a/offset: a column cannot be called 'offset': the name is reserved"),
    (Schema({"a": BlockSpec({"_validity": ColumnSpec("f64")})}), "/trajectory/a/_validity: a column cannot be called '_validity': the name is reserved"),
    (Schema({"a": BlockSpec({"": ColumnSpec("f64")})}), "/trajectory/a/: a column cannot be called ''"),
    (Schema({"a": BlockSpec({"v": ColumnSpec("f32")})}), "/trajectory/a/v: 'f32' is not a MolRec dtype"),
    (Schema({"a": BlockSpec({"x": ColumnSpec("f64", (3,))})}), "/trajectory/a/x: x is f64[N], not f64[N][3]"),
    (Schema({"a": BlockSpec({"v": ColumnSpec("i32", precision=1.0)})}), "/trajectory/a/v: a precision on i32, only f64 has one"),
    (Schema({"a": BlockSpec({"v": ColumnSpec("f64", precision=2.0**1001)})}), "the precision of a column lies within"),
    (Schema({"a": BlockSpec(targets={"v": "b"})}), "/trajectory/a: targets names 'v', which is no u64 column of the block"),
    (Schema({"a": BlockSpec({"v": ColumnSpec("u64")}, targets={"v": "/trajectory/b"})}), "is a block of the trajectory"),
    (Schema({"a": BlockSpec(aligned_with="a")}), "/trajectory/a: it is aligned with 'a': another declared block, not aligned itself, is due"),
    (Schema({"a": BlockSpec(aligned_with="b"), "b": BlockSpec(shape=(1,), aligned_with="c"), "c": BlockSpec()}), "/trajectory/a: it is aligned with 'b': another declared block, not aligned itself, is due"),
    (Schema({"a": BlockSpec({"v": ColumnSpec("f64")}, aligned_with="b"), "b": BlockSpec({"v": ColumnSpec("f64")})}), "/trajectory/a: it is aligned with 'b', and shares the column 'v' with it"),
    (Schema(meta={"pe": MetaSpec("i64")}), "/trajectory/meta/pe: meta 'pe' is f64, not i64"),
    (Schema(meta={"k": MetaSpec("c64")}), "'c64' is not a meta tag"),
    (Schema(meta={"k": MetaSpec("i64", 1.5)}), "/trajectory/meta/k: the fill is i64, not 1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "message"), BAD_SCHEMAS, ids=[message[-50:] for _, message in BAD_SCHEMAS])
def test_declaration(tmp_path, schema, message):
    with create(tmp_path / "t.h5") as writer:
        with pytest.raises(RecordError) as caught:
            writer.begin_trajectory(schema)
        assert message in str(caught.value)
        writer.begin_trajectory(Schema())
        with pytest.raises(RecordError, match="/trajectory: the record has a trajectory"):
            writer.begin_trajectory(Schema())


def test_sections(tmp_path):
    with create(tmp_path / "t.h5") as writer:
        for bad, message in (
            (Frame({"bonds": {"atomi": np.array([0], "u8")}}), "/frame/bonds/atomi: the block 'atoms' that it refers to is missing"),
            (Frame({"atoms": {"x": [0.0]}, "bonds": {"atomi": np.array([1], "u8")}}), "/frame/bonds/atomi: row 1 of 'atoms', which has 1 rows"),
            (Frame({"a": Block({"v": [0.0]}, targets={"v": "a"})}), "/frame/a/v: targets names what is no u64 column of the block"),
            (Frame({"a": Block({"v": np.array([0], "u8")}, targets={"v": "/a"})}), "/frame/a/v: the target '/a' is neither <block> nor /<section>/<block>"),
        ):  # fmt: skip
            with pytest.raises(RecordError) as caught:
                writer.set_section("frame", bad)
            assert str(caught.value) == message
        with pytest.raises(RecordError, match=r"/forcefield: a frame-shaped section is 'frame' or 'system'"):
            writer.set_section("forcefield", Frame())
        for document, message in (
            ({"a": float("nan")}, "/meta: 'a' is JSON, which has no nan"),
            ({"_json": 1}, "/meta: a key cannot be called '_json'"),
            ({"a/b": 1}, "/meta: a key cannot be called 'a/b'"),
        ):
            with pytest.raises(RecordError) as caught:
                writer.set_meta(document)
            assert str(caught.value) == message
        writer.set_section("frame", Frame({"atoms": {"x": [0.0]}}))
    with open_record(tmp_path / "t.h5") as record:
        assert record.frame["atoms"].count == 1


def test_system_and_trajectory_share_rows(tmp_path):
    system = Frame({"atoms": {"id": np.array([1, 2], "u8")}})
    schema = Schema({"atoms": BlockSpec({"x": ColumnSpec("f64"), "id": ColumnSpec("u64")})})
    with create(tmp_path / "t.h5") as writer:
        writer.set_section("system", system)
        trajectory = writer.begin_trajectory(schema)
        with pytest.raises(
            RecordError, match=r"/trajectory/atoms \(frame 0\): 1 rows, the block of that name in /system has 2"
        ):
            trajectory.append(Frame({"atoms": {"x": [0.0], "id": np.array([1], "u8")}}), step=0)
        with pytest.raises(RecordError, match=r"/trajectory/atoms/id \(frame 0\): the ids are not those of /system"):
            trajectory.append(Frame({"atoms": {"x": [0.0, 1.0], "id": np.array([2, 1], "u8")}}), step=0)
        trajectory.append(Frame({"atoms": {"x": [0.0, 1.0], "id": np.array([1, 2], "u8")}}), step=0)
        with pytest.raises(RecordError, match="the block of that name in /system has 3 rows"):
            writer.set_section("system", Frame({"atoms": {"mass": [1.0, 2.0, 3.0]}}))
        writer.set_section("system", Frame({"atoms": {"mass": [1.0, 2.0]}}))
    with open_record(tmp_path / "t.h5") as record:
        assert record.trajectory[0]["atoms"]["mass"].tolist() == [1.0, 2.0]


def test_an_aligned_block_is_no_block_of_the_system(tmp_path):
    with create(tmp_path / "t.h5") as writer:
        writer.set_section("system", Frame({"types": {"v": [1.0]}}))
        with pytest.raises(RecordError, match="an aligned block shares a name with a block of /system"):
            writer.begin_trajectory(SCHEMA)


def test_cell_key_that_contradicts_the_box(tmp_path):
    schema = Schema(meta={"cell_defined": MetaSpec("bool", True)})
    with create(tmp_path / "t.h5") as writer:
        trajectory = writer.begin_trajectory(schema)
        with pytest.raises(RecordError, match=r"/trajectory/meta/cell_defined \(frame 0\): True contradicts the box"):
            trajectory.append(Frame(meta=Meta({"cell_defined": True})), step=0)
        trajectory.append(Frame(meta={"cell_defined": False}), step=0)
