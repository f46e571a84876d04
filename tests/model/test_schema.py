"""Schemas: the union of what frames need, and frames made to conform."""

import math

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.schema import NO_FILL, joined_dtype, joined_tag, optional_meta, promoted, promoted_array


def frames(*columns):
    return [Frame({"atoms": each}) for each in columns]


def union(*made):
    return Schema.of(made)


# ---------------------------------------------------------------- types
@pytest.mark.parametrize(
    ("one", "other", "due"),
    [
        ("i8", "i64", "i64"), ("u8", "i8", "i16"), ("u32", "i32", "i64"), ("u8", "u16", "u16"), ("i8", "f64", "f64"),
        ("u64", "f64", "f64"), ("i64", "string", "string"), ("f64", "string", "string"), ("bool", "string", "string"),
        ("f64", "c128", "c128"), ("i8", "c64", "c128"), ("c64", "c128", "c128"), ("bool", "i8", "string"),
        ("bool", "f64", "string"), ("u64", "u8", "u64"), ("c128", "string", "string"),
    ],
)  # fmt: skip
def test_joined_types(one, other, due):
    assert joined_dtype(one, other, "") == joined_dtype(other, one, "") == due


@pytest.mark.parametrize("name", DTYPES)
def test_a_type_joined_with_itself(name):
    assert joined_dtype(name, name, "") == name


@pytest.mark.parametrize("signed", ["i8", "i16", "i32", "i64"])
def test_no_integer_holds_both(signed):
    with pytest.raises(RecordError) as caught:
        joined_dtype("u64", signed, "atoms/n")
    assert str(caught.value) == ("atoms/n: u64 in some frames, signed integers in others: no integer type holds both")


@pytest.mark.parametrize(
    ("one", "other", "due"),
    [
        ("i32", "i64", "i64"), ("u32", "i32", "i64"), ("i64", "f64", "f64"), ("u64", "i64", "json"),
        ("u64", "f64", "json"), ("bool", "i64", "json"), ("string", "f64", "json"), ("i64x3", "f64x3", "f64x3"),
        ("i32x3", "u32x3", "i64x3"), ("f64x3", "f64x6", "json"), ("f64", "f64x3", "json"), ("json", "f64", "json"),
        ("bool3", "i64x3", "json"), ("string", "json", "json"),
    ],
)  # fmt: skip
def test_joined_tags(one, other, due):
    assert joined_tag(one, other) == joined_tag(other, one) == due


@pytest.mark.parametrize(
    ("tag", "spec"),
    [
        ("f64", "MetaSpec(tag='f64', fill=nan)"), ("f64x3", "MetaSpec(tag='f64x3', fill=(nan, nan, nan))"),
        ("i64", "MetaSpec(tag='json', fill=None)"), ("string", "MetaSpec(tag='json', fill=None)"),
        ("bool3", "MetaSpec(tag='json', fill=None)"), ("json", "MetaSpec(tag='json', fill=None)"),
    ],
)  # fmt: skip
def test_keys_that_some_frames_lack(tag, spec):
    assert repr(optional_meta(tag)) == spec


# ---------------------------------------------------------------- promotions
@pytest.mark.parametrize(
    ("values", "due", "found"),
    [
        (np.array([1, 2], "i1"), "i64", [1, 2]), (np.array([1], "u4"), "f64", [1.0]), ([1], "string", ["1"]),
        ([0.5, -0.0, math.nan], "string", ["0.5", "-0.0", "nan"]), ([True, False], "string", ["true", "false"]),
        ([2**53, -(2**53)], "f64", [2.0**53, -(2.0**53)]), ([1.5], "c128", [1.5 + 0j]), ([1j], "string", ["1j"]),
        ([[1, 2]], "string", [["1", "2"]]), (np.zeros((0, 3), "i8"), "f64", []),
    ],
)  # fmt: skip
def test_arrays_under_a_wider_type(values, due, found):
    made = promoted_array(Column(values).values, due, "a/b")
    assert made.dtype == DTYPES[due]
    assert made.tolist() == found


@pytest.mark.parametrize("values", [[2**53 + 1], [-(2**53) - 1], [2**62], [2**63]])
@pytest.mark.parametrize("due", ["f64", "c128"])
def test_integers_that_no_real_holds(values, due):
    with pytest.raises(RecordError) as caught:
        promoted_array(Column(values).values, due, "a/b")
    assert str(caught.value) == "a/b: an integer beyond 2^53 does not become a real exactly"


@pytest.mark.parametrize(
    ("value", "tag", "due", "found"),
    [
        (3, "i64", "f64", 3.0), (3, "i32", "i64", 3), ((1, 2, 3), "i64x3", "f64x3", (1.0, 2.0, 3.0)),
        ((1.0, math.inf, -math.inf), "f64x3", "json", [1.0, "Infinity", "-Infinity"]), (math.nan, "f64", "json", "NaN"),
        (True, "bool", "json", True), ("x", "string", "json", "x"), ((True,) * 3, "bool3", "json", [True] * 3),
    ],
)  # fmt: skip
def test_values_under_a_wider_tag(value, tag, due, found):
    assert repr(promoted(value, tag, due, "key")) == repr(found)


def test_a_value_that_no_real_holds():
    with pytest.raises(RecordError, match="meta 'key' is f64, and 9007199254740993 is not exactly one"):
        promoted(2**53 + 1, "i64", "f64", "key")


@pytest.mark.parametrize(
    ("value", "tag", "due"),
    [
        ("2.5", "string", "f64"), (True, "bool", "f64"), (1.0, "f64", "i64"), (-0.0, "f64", "i64"), (-1, "i64", "u64"),
        ((1.0, 2.0, 3.0), "f64x3", "f64"), (1.0, "f64", "f64x3"), ((1.0,) * 6, "f64x6", "f64x9"), ({}, "json", "f64"),
        ([1.0, 2.0], "json", "f64x3"), (3, "i64", "string"), (None, "json", "f64"), ((1, 2, 3), "i64x3", "f64"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_a_tag(value, tag, due):
    """They are never changed into some that would."""
    with pytest.raises(RecordError, match=f"meta 'key' is {due}|meta 'key' is text"):
        promoted(value, tag, due, "key")


# ---------------------------------------------------------------- unions
def test_of_a_frame():
    frame = Frame(
        {"atoms": {"x": [1.0], "v": np.zeros((1, 3)), "q": Column([1.0], valid=[False], precision=0.5)},
         "grid": Block({"rho": np.zeros(4)}, shape=[2, 2]),
         "marks": Block({"row": np.zeros(1, "u8")}, targets={"row": "atoms"})},
        meta={"n": 1},
    )  # fmt: skip
    schema = Schema.of_frame(frame)
    assert schema.blocks["atoms"].columns == {
        "x": ColumnSpec("f64"), "v": ColumnSpec("f64", (3,)), "q": ColumnSpec("f64", (), nullable=True, precision=0.5),
    }  # fmt: skip
    assert schema.blocks["grid"].shape == (2, 2)
    assert schema.blocks["marks"].targets == {"row": "atoms"}
    assert schema.meta == {"n": MetaSpec("i64")}
    assert schema.describe() == "atoms(x, v, q); grid(rho); marks(row); meta: n"
    assert Schema().describe() == "nothing declared"
    assert Schema.of([]) == Schema()


def test_columns_that_some_frames_lack_are_nullable():
    schema = union(*frames({"x": [1.0]}, {"x": [1.0], "q": [1]}))
    assert schema.blocks["atoms"].columns == {"x": ColumnSpec("f64"), "q": ColumnSpec("i64", nullable=True)}


def test_blocks_that_some_frames_lack():
    schema = union(Frame({"a": {"n": [1]}}), Frame({"b": {"n": [1]}}))
    assert schema.blocks == {"a": BlockSpec({"n": ColumnSpec("i64")}), "b": BlockSpec({"n": ColumnSpec("i64")})}


@pytest.mark.parametrize(
    ("precisions", "due"), [((0.5, 0.5), 0.5), ((0.5, 0.25), 0.25), ((0.5, None), None), ((None, None), None)]
)
def test_precisions(precisions, due):
    """Multiples of the coarser quantum are those of the finer; what has none may be any number."""
    made = [Frame({"atoms": {"x": Column([0.5], precision=each)}}) for each in precisions]
    assert union(*made).blocks["atoms"].columns["x"].precision == due


def test_a_precision_beside_words():
    schema = union(*frames({"q": Column([0.5], precision=0.5)}, {"q": ["a"]}))
    assert schema.blocks["atoms"].columns["q"] == ColumnSpec("string")


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (({"v": np.zeros((1, 2))}, {"v": np.zeros((1, 3))}),
         "a/v: a row has the axes [2] in some frames, [3] in others"),
        ((Block({"r": np.zeros(4)}, shape=[2, 2]), Block({"r": np.zeros(4)}, shape=[4, 1])),
         "block 'a' has the shape (2, 2) in some frames, (4, 1) in others"),
        ((Block({"r": np.zeros(1, "u8")}, targets={"r": "b"}), Block({"r": np.zeros(1, "u8")}, targets={"r": "c"})),
         "the references of block 'a' change between frames: {'r': 'b'}, {'r': 'c'}"),
    ],
)  # fmt: skip
def test_frames_that_no_schema_holds(blocks, message):
    with pytest.raises(RecordError) as caught:
        union(*[Frame({"a": block}) for block in blocks])
    assert str(caught.value) == message


def test_keys():
    def made(**values):
        return Frame(meta=values)

    schema = union(made(a=1, b=1.0, c="x"), made(a=0.5, b=2.0), made(a=1, b=3.0, d=[1, 2, 3]))
    assert repr(dict(schema.meta)) == (
        "{'a': MetaSpec(tag='f64', fill=NO_FILL), 'b': MetaSpec(tag='f64', fill=NO_FILL), "
        "'c': MetaSpec(tag='json', fill=None), 'd': MetaSpec(tag='json', fill=None)}"
    )
    assert repr(union(made(a=1), made(), made(a=0.5)).meta["a"]) == "MetaSpec(tag='json', fill=None)"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_the_order_of_frames_does_not_matter(order):
    made = [
        Frame({"a": {"n": np.array([1], "i1"), "q": ["x"]}}, meta={"k": 1.0}),
        Frame({"a": {"n": np.array([1], "u4")}}, meta={"k": 2.0, "j": "x"}),
        Frame({"b": {"n": [1.5]}}, meta={"k": 1}),
    ]
    schema = union(*(made[k] for k in order))
    assert schema.blocks == union(*made).blocks
    assert schema.meta == union(*made).meta


# ---------------------------------------------------------------- conforming
def test_conform():
    made = [
        Frame({"a": {"n": np.array([7], "i1")}}, meta={"k": 1}),
        Frame({"a": {"n": [0.5], "w": ["x"], "v": np.ones((1, 2), "i4")}}, meta={"k": 0.5, "s": "y"}),
    ]
    schema = union(*made)
    first, second = map(schema.conform, made)
    assert first["a"]["n"].tolist() == [7.0]
    assert first["a"].column("w").valid.tolist() == [False]
    assert first["a"].column("v").values.shape == (1, 2)
    assert dict(first.meta) == {"k": 1.0, "s": None}
    assert dict(second.meta) == {"k": 0.5, "s": "y"}
    assert second["a"]["w"].tolist() == ["x"]
    assert list(first["a"]) == list(second["a"]) == ["n", "w", "v"]
    assert made[0]["a"]["n"].dtype == np.int8
    for frame in (first, second):
        assert {key: ColumnSpec.of(column).dtype for key, column in frame["a"].columns.items()} == {
            key: spec.dtype for key, spec in schema.blocks["a"].columns.items()
        }


def test_conform_again_changes_nothing():
    made = [Frame({"a": {"n": [1]}}), Frame({"a": {"n": [0.5], "q": [1.0]}}, meta={"k": 1.0})]
    schema = union(*made)
    once = schema.conform(made[0])
    assert schema.conform(once).same(once)


DECLARED = Schema(
    {"a": BlockSpec({"n": ColumnSpec("i64"), "v": ColumnSpec("f64", (3,), nullable=True)})},
    {"k": MetaSpec("f64"), "j": MetaSpec("json", fill=None)},
)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Frame({"b": {"n": [1]}}, meta={"k": 1.0}), "the block 'b' is not declared"),
        (Frame({"a": {"n": [1], "m": [1]}}, meta={"k": 1.0}), "the column 'm' of 'a' is not declared"),
        (Frame({"a": {"v": np.zeros((1, 3))}}, meta={"k": 1.0}), "a/n: the column is missing"),
        (Frame({"a": {"n": [1], "v": np.zeros((1, 2))}}, meta={"k": 1.0}),
         "a/v: a row has the axes [2], declared is [3]"),
        (Frame({"a": {"n": Column([1], valid=[False])}}, meta={"k": 1.0}),
         "a/n: null rows in a column that is not nullable"),
        (Frame({"a": Block({"n": [1]}, shape=[1])}, meta={"k": 1.0}), "block 'a' has the shape (1,), declared is None"),
        (Frame({"a": {"n": [1]}}), "the meta key 'k' is missing, and no fill is declared"),
        (Frame({"a": {"n": [1]}}, meta={"k": 1.0, "x": 1}), "the meta key 'x' is not declared"),
    ],
)  # fmt: skip
def test_frames_that_do_not_conform(frame, message):
    with pytest.raises(RecordError) as caught:
        DECLARED.conform(frame)
    assert str(caught.value) == message


def test_a_block_may_be_absent():
    assert list(DECLARED.conform(Frame(meta={"k": 1.0}))) == []


def test_no_fill_shows_itself():
    assert repr(NO_FILL) == "NO_FILL"
    assert Meta({"a": 1}).tags == {"a": "i64"}
