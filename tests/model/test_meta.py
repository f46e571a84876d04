"""Meta documents: sixteen tags, exact values, finite JSON."""

import math

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Meta
from molrec_convert.model.meta import TAGS, json_text, same_value, tag_of, tagged

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "tag", "stored"),
    [
        (True, "bool", True),
        (np.True_, "bool", True),
        (1, "i64", 1),
        (-(2**63), "i64", -(2**63)),
        (2**63, "u64", 2**63),
        (np.int32(5), "i32", 5),
        (np.uint32(5), "u32", 5),
        (np.int8(5), "i64", 5),
        (np.uint64(5), "u64", 5),
        (1.5, "f64", 1.5),
        (np.float64(1.5), "f64", 1.5),
        (INF, "f64", INF),
        ("text", "string", "text"),
        ("", "string", ""),
        ([1.0, 2.0, 3.0], "f64x3", (1.0, 2.0, 3.0)),
        ((1.0,) * 6, "f64x6", (1.0,) * 6),
        (np.arange(9.0), "f64x9", tuple(map(float, range(9)))),
        ([True, False, True], "bool3", (True, False, True)),
        ([1, 2, 3], "i64x3", (1, 2, 3)),
        (np.array([1, 2, 3], "u4"), "u32x3", (1, 2, 3)),
        (np.array([1, 2, 3], "i4"), "i32x3", (1, 2, 3)),
        (np.array([True, False, True]), "bool3", (True, False, True)),
        (np.array(2.5), "f64", 2.5),
        ([1.0, 2.0], "json", [1.0, 2.0]),
        ([1, 2.0, 3], "json", [1, 2.0, 3]),
        ([2**63, 1, 2], "json", [2**63, 1, 2]),
        (np.eye(3), "json", np.eye(3).tolist()),
        (["a", "b", "c"], "json", ["a", "b", "c"]),
        ([], "json", []),
        (None, "json", None),
        ({"a": [1, (2, None)]}, "json", {"a": [1, [2, None]]}),
    ],
)
def test_the_tag_that_fits(value, tag, stored):
    assert tag_of(value) == tag
    meta = Meta({"key": value})
    assert meta.tag("key") == tag
    assert same_value(meta["key"], stored)


@pytest.mark.parametrize(
    ("value", "tag", "stored"),
    [
        (1, "f64", 1.0), (2**53, "f64", 2.0**53), (NAN, "f64", NAN), (5, "u32", 5), (5, "i32", 5),
        ([1, 2, 3], "f64x3", (1.0, 2.0, 3.0)), (1, "json", 1), (True, "json", True), (np.arange(3), "json", [0, 1, 2]),
        (np.float64(1.5), "json", 1.5), ("x", "json", "x"),
    ],
)  # fmt: skip
def test_a_tag_that_is_asked_for(value, tag, stored):
    meta = Meta()
    meta.set("key", value, tag=tag)
    assert (meta.tag("key"), repr(meta["key"])) == (tag, repr(stored))


@pytest.mark.parametrize(
    ("value", "tag", "message"),
    [
        (True, "f64", "meta 'key' is f64, and True is not exactly one"),
        (2**53 + 1, "f64", "meta 'key' is f64, and 9007199254740993 is not exactly one"),
        (10**400, "f64", "meta 'key' is f64, and 1000"),
        ("1", "f64", "meta 'key' is f64, and '1' is not exactly one"),
        (1.0, "i64", "meta 'key' is i64, not 1.0"),
        (True, "i64", "meta 'key' is i64, not True"),
        (2**31, "i32", "meta 'key' is i32, not 2147483648"),
        (-1, "u32", "meta 'key' is u32, not -1"),
        (-1, "u64", "meta 'key' is u64, not -1"),
        (2**64, "u64", "meta 'key' is u64, not 18446744073709551616"),
        (1, "bool", "meta 'key' is bool, not 1"),
        (1, "string", "meta 'key' is text, not 1"),
        ("a\0", "string", "meta 'key' 'a\\x00' holds a NUL or a lone surrogate"),
        ([1.0, 2.0], "f64x3", "meta 'key' is f64x3: 3 values are due, not [1.0, 2.0]"),
        (1.0, "f64x3", "meta 'key' is f64x3: 3 values are due, not 1.0"),
        ([1, 2, 3.5], "i64x3", "meta 'key' is i64, not 3.5"),
        ([1, 0, 1], "bool3", "meta 'key' is bool, not 1"),
        (NAN, "json", "meta 'key' is JSON, which has no nan"),
        ([INF], "json", "meta 'key' is JSON, which has no inf"),
        ({1: 2}, "json", "meta 'key' is JSON, whose keys are text: [1]"),
        ({"a": object()}, "json", "meta 'key' is JSON, which cannot hold a object"),
        (1, "i16", "meta 'key': 'i16' is not a meta tag"),
        (1, "c128", "meta 'key': 'c128' is not a meta tag"),
    ],
)
def test_what_a_tag_cannot_hold(value, tag, message):
    with pytest.raises(RecordError) as caught:
        Meta().set("key", value, tag=tag)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("_meta_types", "a meta key cannot be called '_meta_types'"),
        ("_json", "a meta key cannot be called '_json'"),
        ("", "a meta key cannot be called ''"),
        ("a/b", "a meta key cannot be called 'a/b'"),
        ("__x", "a meta key cannot be called '__x'"),
    ],
)
def test_keys_that_are_refused(key, message):
    with pytest.raises(RecordError) as caught:
        Meta({key: 1})
    assert str(caught.value) == message


def test_keys_that_are_f64_by_convention():
    meta = Meta({"pe": -3, "temp": 300})
    assert (meta.tags["pe"], meta["pe"], meta.tags["temp"]) == ("f64", -3.0, "f64")
    with pytest.raises(RecordError, match="meta 'pe' is f64, not i64"):
        meta.set("pe", 1, tag="i64")


def test_a_refused_value_leaves_the_old_one():
    meta = Meta({"n": 1})
    with pytest.raises(RecordError):
        meta.set("n", 1.5, tag="i64")
    assert (meta["n"], meta.tag("n")) == (1, "i64")


def test_copies_keep_their_tags():
    meta = Meta()
    meta.set("n", 1, tag="u32")
    meta.set("j", [1, 2, 3], tag="json")
    copy = Meta(meta)
    assert dict(copy.tags) == {"n": "u32", "j": "json"}
    assert copy.same(meta)
    del copy["n"]
    assert (list(copy), list(meta)) == (["j"], ["n", "j"])
    assert not copy.same(meta)
    with pytest.raises(TypeError):
        copy.tags["n"] = "i64"


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, True), (0.0, -0.0), ("1", 1), (None, 0), ([1], (1,)), ((1.0,), (1,)), ({"a": 1}, {"a": 1.0})],
)
def test_values_that_differ(one, other):
    assert not same_value(one, other)
    assert same_value(one, one)


def test_same_to_the_bit():
    assert same_value(NAN, float("nan"))
    assert Meta({"a": NAN, "v": [NAN, -0.0, 1.0]}).same(Meta({"v": [NAN, -0.0, 1.0], "a": NAN}))
    assert not Meta({"a": 1}).same(Meta({"a": 1}, tags={"a": "u64"}))


def test_every_tag():
    assert len(TAGS) == 16
    for tag, (dtype, length) in TAGS.items():
        one = {"bool": True, "string": "x", "f64": 1.5}.get(dtype, 1)
        value = one if length is None else [one] * length
        assert tagged(value, tag) == (value if length is None else tuple(value))


def test_json_text():
    assert json_text({"é": [1, 2.5, None, True]}) == '{"é":[1,2.5,null,true]}'
    with pytest.raises(ValueError, match="Out of range"):
        json_text(NAN)


def test_repr():
    assert repr(Meta({"pe": -1.5, "t": "x"})) == "Meta(pe: f64 = -1.5, t: string = 'x')"
