# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of frame-shaped sections: the meta document."""

import math

import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame, Meta
from molrec_convert.model.meta import TAGS

from ..frames import atoms
from ..records.builders import ALL_TAGS
from .bench import cases_of

NAN, INF = math.nan, math.inf


# ---------------------------------------------------------------- the meta document
def case_typed_meta_every_tag(bench):
    meta = Meta({f"k_{tag}": value for tag, value in ALL_TAGS.items()}, tags={f"k_{tag}": tag for tag in TAGS})
    found = bench.comes_back(Frame(meta=meta))
    assert dict(found.meta.tags) == {f"k_{tag}": tag for tag in TAGS}


def case_typed_meta_non_finite(bench):
    meta = {"nan": NAN, "inf": INF, "least": -INF, "v": (NAN, INF, -INF), "nine": (NAN,) * 9, "minus": -0.0}
    bench.comes_back(Frame(meta=meta))


def case_typed_meta_wide_integers(bench):
    meta = Meta({"i": 2**53 + 1, "least": -(2**63), "u": 2**64 - 1, "v": (2**53 + 1, 0, -(2**63))})
    bench.comes_back(Frame(meta=meta))
    if bench.form == "h5":
        return
    with bench.change() as tree:
        assert tree.get("frame", "i") == str(2**53 + 1)
        assert tree.get("frame", "u") == str(2**64 - 1)
        tree.set("frame", "i", 2**53 + 1)  # a reader takes exact JSON integers, too
    with bench.reading() as record:
        assert record.frame.meta.same(meta)


def case_typed_meta_integral_float(bench):
    frame = Frame(meta=Meta({"x": 3.0, "v": (1.0, 2.0, 3.0)}))
    found = bench.comes_back(frame).meta
    assert type(found["x"]) is float
    if bench.form != "h5":
        with bench.change() as tree:
            tree.set("frame", "x", 3)
        with bench.reading() as record:
            assert record.frame.same(frame)


def case_untyped_meta_infers(bench):
    """A document without tags is inferred from its JSON; in HDF5 tags are mandatory."""
    meta = {"b": True, "i": 3, "u": 2**63, "x": 0.5, "s": "é", "doc": {"a": 1}, "list": [1.0, 2.0, 3.0], "none": None}
    bench.write(frame=Frame())
    with bench.change() as tree:
        for key, value in meta.items():
            tree.set("frame", key, value)
    if bench.form == "h5":
        bench.is_refused("the meta key 'b' has no tag", "/frame@b")
        return
    with bench.reading() as record:
        assert dict(record.frame.meta) == meta
        assert dict(record.frame.meta.tags) == {"b": "bool", "i": "i64", "u": "u64", "x": "f64", "s": "string",
                                                "doc": "json", "list": "json", "none": "json"}  # fmt: skip


def case_stale_meta_tag_ignored(bench):
    bench.write(frame=Frame(meta={"n": 1}))
    with bench.change() as tree:
        tree.set_document("frame", "_meta_types", {"n": "i64", "gone": "f64"})
    with bench.reading() as record:
        assert record.frame.same(Frame(meta={"n": 1}))


def case_reject_meta_tag_mismatch(bench):
    for tag, value, words in (
        ("i64", 1.5, "i64"), ("f64", True, "f64"), ("bool", 1, "bool"), ("string", 1, "1"), ("i64", "abc", "'abc'"),
        ("f64x3", [1.0, 2.0], "due, found"), ("i32x3", [1.5, 2.0, 3.0], "due, found"),
        ("f32", 1.0, "'f32' is not a meta tag"), ("c128", 1.0, "'c128' is not a meta tag"),
    ):  # fmt: skip
        bench.write(frame=Frame(meta={"k": 1}))
        with bench.change() as tree:
            tree.set_document("frame", "_meta_types", {"k": tag})
            tree.set("frame", "k", value)
        bench.is_refused(words, "/frame@k")
        with pytest.raises(RecordError):
            Meta().set("k", value, tag=tag)


def case_reject_meta_out_of_range(bench):
    for tag, value in (("i32", 2**31), ("u32", -1), ("u64", -1), ("i64", 2**63), ("u32x3", [0, 1, 2**32])):
        bench.write(frame=Frame(meta={"k": 1}))
        with bench.change() as tree:
            tree.set_document("frame", "_meta_types", {"k": tag})
            tree.set("frame", "k", value)
        bench.is_refused(tag.removesuffix("x3"), "/frame@k")
        with pytest.raises(RecordError):
            Meta().set("k", value, tag=tag)


def case_reject_meta_reserved_key(bench):
    with pytest.raises(RecordError, match="a meta key cannot be called '_meta_types'"):
        Frame(meta={"_meta_types": {}})
    bench.comes_back(Frame(meta={"meta": 1, "box": 2, "count": 3}))


def case_reject_json_meta_non_finite(bench):
    with pytest.raises(RecordError, match="JSON, which has no nan"):
        Frame(meta={"doc": {"a": [NAN]}})
    bench.write(frame=Frame(meta={"doc": {"a": 1}}))
    with bench.change() as tree:
        tree.set_json_text("frame", "doc", '{"a": [NaN]}')
    bench.is_refused("NaN is not finite JSON", "/frame@doc" if bench.form == "h5" else "/frame")


def case_frame_meta_preserved(bench):
    meta = Meta({"pe": -1.5, "label": "é\n", "empty": "", "doc": {"z": 1, "a": {"b": [None, True]}}, "list": [1, "a"]})
    found = bench.comes_back(Frame({"atoms": atoms(1)}, meta=meta))
    assert list(found.meta["doc"]) == ["z", "a"]


def case_block_named_meta(bench):
    bench.comes_back(Frame({"meta": Block({"v": [1.0, 2.0]}), "atoms": atoms(1)}, meta={"meta": 1}))


CASES = cases_of(globals())
