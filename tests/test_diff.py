"""What tells two records apart: each kind of difference is found, at its first place, with both values."""

import json

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.comparison import comparison_text
from molrec_convert.model import Block, Box, Column, Frame, Record

from .changes import (
    INFINITY,
    NAN,
    add,
    attributes,
    cell,
    change_step,
    change_time,
    compared,
    drop,
    in_nm,
    key,
    put,
    retitled,
    shorter,
    swap,
    untitled,
    without_time,
)  # fmt: skip
from .water import SUFFIXES, single, trajectory, u64, water

ROW = ("item", "what", "frame", "row", "index", "a", "b", "values")
VECTORS = np.diag([10.0, 10.0, 10.25])

FRAMES = {
    "a value": (put("y", 2, 0.75), ("atoms.y", "value", 0, 2, (), 0.5, 0.75, 1)),
    "the last bit": (
        put("y", 1, np.nextafter(0.5, 1.0)),
        ("atoms.y", "value", 0, 1, (), 0.5, 0.5000000000000001, 1),
    ),
    "a sign of zero": (put("y", 0, -0.0), ("atoms.y", "value", 0, 0, (), 0.0, -0.0, 1)),
    "not a number": (put("y", 0, NAN), ("atoms.y", "value", 0, 0, (), 0.0, NAN, 1)),
    "further axes": (put("tensor", 1, 5.0, index=(1,)), ("atoms.tensor", "value", 0, 1, (1,), 1.0, 5.0, 1)),
    "text": (put("element", 0, "N"), ("atoms.element", "value", 0, 0, (), "O", "N", 1)),
    "an integer": (put("id", 2, 7), ("atoms.id", "value", 0, 2, (), 3, 7, 1)),
    "a null more": (
        swap("tag", Column(np.array([1, 2, 3]), valid=[False, False, True])),
        ("atoms.tag", "value", 0, 0, (), 1, None, 1),
    ),
    "no nulls": (swap("tag", Column(np.array([1, 2, 3]))), ("atoms.tag", "value", 0, 1, (), None, 2, 1)),
    "another type": (swap("tag", Column(np.array([1, 2, 3], "i4"), valid=[True, False, True])),
                     ("atoms.tag", "type", 0, None, (), "i64", "i32", 0)),
    "another width": (swap("tensor", Column(np.ones((3, 3)))), ("atoms.tensor", "shape", 0, None, (), (2,), (3,), 0)),
    "another precision": (
        swap("x", Column([0.0, 0.75, -0.75], precision=1e-2)),
        ("atoms.x", "precision", 0, None, (), 1e-3, 1e-2, 0),
    ),
    "no precision": (swap("x", Column([0.0, 0.75, -0.75])), ("atoms.x", "precision", 0, None, (), 1e-3, None, 0)),
    "a column less": (swap("charge", None), ("atoms.charge", "missing", 0, None, (), "f64[N]", None, 0)),
    "a column more": (
        swap("mass", Column([16.0, 1.0, 1.0])),
        ("atoms.mass", "missing", 0, None, (), None, "f64[N]", 0),
    ),
    "a block less": (drop("bonds"), ("bonds", "missing", 0, None, (), "2 rows", None, 0)),
    "a block more": (
        add("angles", Block({"atomi": u64(1), "atomj": u64(0), "atomk": u64(2)})),
        ("angles", "missing", 0, None, (), None, "1 rows", 0),
    ),
    "rows": (
        add("bonds", Block({"atomi": u64(0), "atomj": u64(1)})),
        ("bonds", "rows", 0, None, (), 2, 1, 0),
    ),
    "a shape": (
        add("bonds", Block(water()["bonds"].columns, shape=(1, 2))),
        ("bonds", "shape", 0, None, (), None, (1, 2), 0),
    ),
    "an attribute": (attributes, ("bonds@hint", "missing", 0, None, (), None, "ionic", 0)),
    "a value of the frame": (key("pe", -76.25), ("meta.pe", "value", 0, None, (), -76.5, -76.25, 1)),
    "a text of the frame": (key("label", "other"), ("meta.label", "value", 0, None, (), "frame 0", "other", 1)),
    "a key less": (key("label", None), ("meta.label", "missing", 0, None, (), "frame 0", None, 0)),
    "a key more": (key("note", "new"), ("meta.note", "missing", 0, None, (), None, "new", 0)),
    "a tag": (key("label", {"a": 1}), ("meta.label", "type", 0, None, (), "string", "json", 0)),
    "a vector": (cell(vectors=VECTORS), ("box.vectors", "value", 0, 2, (2,), 10.0, 10.25, 1)),
    "an origin": (cell(origin=[0.0, 1.0, 0.0]), ("box.origin", "value", 0, 1, (), 0.0, 1.0, 1)),
    "a periodic axis": (cell(boundary=[True, True, True]), ("box.boundary", "value", 0, 2, (), False, True, 1)),
    "no cell": (
        lambda frame: setattr(frame, "box", None),
        ("box", "missing", 0, None, (), "Box(10 × 10 × 10, periodic ab)", None, 0),
    ),
    "an undefined cell": (
        lambda frame: setattr(frame, "box", Box.undefined()),
        ("box.defined", "value", 0, None, (), True, False, 0),
    ),
}  # fmt: skip
"""A change to a frame, and the difference that it makes."""


def same(a, b):
    """Whether two values are the same, NaN included."""
    return repr(a) == repr(b)


FORMS = [(name, suffix) for suffix in SUFFIXES[1:] for name in ("a value", "a null more", "an attribute", "no cell")]
"""A few differences in the forms of a record other than the first, in which all are tried."""


@pytest.mark.parametrize(("name", "suffix"), [*((name, ".h5") for name in FRAMES), *FORMS])
def test_a_difference_of_a_frame(tmp_path, name, suffix):
    """Found both ways, as the first of all, with its place and both values."""
    change, expected = FRAMES[name]
    one, other = single(), single()
    change(other.frame)
    found = compared(tmp_path, one, other, suffix)
    due = dict(zip(ROW, expected, strict=True))
    assert not found.same
    match = [each for each in found.differences if (each.item, each.what) == expected[:2]]
    assert len(match) == 1
    assert all(same(getattr(match[0], field), value) for field, value in due.items()), match[0]
    assert match[0].frames == 1
    back = mc.diff(tmp_path / f"b{suffix}", tmp_path / f"a{suffix}")
    assert [(each.item, each.what) for each in back.differences] == [
        (each.item, each.what) for each in found.differences
    ]
    assert all(same((x.a, x.b), (y.b, y.a)) for x, y in zip(found.differences, back.differences, strict=True))


@pytest.mark.parametrize(
    "name",
    [
        "a value", "a sign of zero", "not a number", "further axes", "text", "an integer", "a null more", "no nulls",
        "a column less", "a block more", "rows", "a value of the frame", "a text of the frame",
        "a vector", "an origin", "a periodic axis", "no cell",
    ],
)  # fmt: skip
def test_a_difference_of_one_frame_of_many(tmp_path, name):
    """In that frame alone."""
    change, expected = FRAMES[name]
    found = compared(tmp_path, trajectory(5), trajectory(5, change=lambda frame, k: k == 3 and change(frame)))
    [each] = [each for each in found.differences if each.item == expected[0]]
    assert (each.frame, each.step) == (3, 30)
    assert found.first.frame == each.frame


def test_the_same_is_the_same(tmp_path):
    for record in (single(), trajectory(), Record(frame=Frame())):
        found = compared(tmp_path, record, record)
        assert found.same
        assert found.first is None
        assert found.differences == ()
        assert found.a.frames == found.b.frames == len(record)


WHOLE = {
    "a step": (change_step, ("step", "value", 2, None, (), 20, 21, 1)),
    "a time": (change_time, ("time", "value", 2, None, (), 1.0, 1.25, 1)),
    "no times": (without_time, ("time", "missing", 0, None, (), 0.0, None, 0)),
    "a frame less": (shorter, ("frames", "value", None, None, (), 3, 2, 0)),
    "a unit": (in_nm, ("units.length", "value", None, None, (), "angstrom", "nm", 0)),
    "a title": (retitled, ("record.title", "value", None, None, (), "water", "ice", 0)),
    "no title": (untitled, ("record.title", "missing", None, None, (), "water", None, 0)),
}


@pytest.mark.parametrize(
    ("name", "suffix"), [*((name, ".h5") for name in WHOLE), *(("a time", suffix) for suffix in SUFFIXES[1:])]
)
def test_a_difference_of_the_whole(tmp_path, name, suffix):
    change, expected = WHOLE[name]
    found = compared(tmp_path, trajectory(), change(trajectory()), suffix)
    assert len(found.differences) == 1
    due = dict(zip(ROW, expected, strict=True))
    assert all(same(getattr(found.first, field), value) for field, value in due.items()), found.first


def test_counts_and_the_biggest(tmp_path):
    """How many values in how many frames, and how far apart they are at most."""

    def change(frame, k):
        if k in (1, 3):
            put("y", 0, 0.25 * k)(frame)
            put("y", 2, 9.0 if k == 3 else 0.5)(frame)

    found = compared(tmp_path, trajectory(5), trajectory(5, change=change))
    [each] = found.differences
    assert (each.frame, each.step, each.row, each.a, each.b) == (1, 10, 0, 0.0, 0.25)
    assert (each.frames, each.values) == (2, 3)
    assert (each.largest, each.largest_frame, each.largest_row) == (8.5, 3, 2)


TEXT = """\
a.h5 and b.h5 differ, first in frame 1 (step 10), atoms.y, row 0: 0.0 and 0.25
  atoms.y       3 values in 2 frames, by at most 8.5 (frame 3, row 2)
                frame 1 (step 10), row 0: 0.0 and 0.25
  box.vectors   1 value in 1 frame, by at most 0.5
                frame 3 (step 30), row 1[1]: 10.0 and 10.5
  meta.label    1 value in 1 frame
                frame 3 (step 30): "frame 3" and "other"
  frames        5 and 4
  units.length  "angstrom" and "nm"
  record.title  only in a.h5"""


def test_the_text(tmp_path, monkeypatch):
    def change(frame, k):
        if k in (1, 3):
            put("y", 0, 0.25 * k)(frame)
            put("y", 2, 9.0 if k == 3 else 0.5)(frame)
        if k == 3:
            cell(vectors=np.diag([13.0, 10.5, 10.0]))(frame)
            frame.meta["label"] = "other"

    other = untitled(in_nm(trajectory(5, change=change)))
    other.trajectory = other.trajectory[:4]
    monkeypatch.chdir(tmp_path)
    mc.write("a.h5", trajectory(5))
    mc.write("b.h5", other)
    found = mc.diff("a.h5", "b.h5")
    lines = comparison_text(found).split("\n")
    assert sorted(lines) == sorted(TEXT.split("\n"))
    assert lines[:3] == TEXT.split("\n")[:3]


DIFFERENCE_KEYS = [
    "item", "what", "frame", "step", "row", "index", "a", "b", "frames", "values", "largest", "largest_frame",
    "largest_row",
]  # fmt: skip


def test_the_json(tmp_path):
    found = compared(tmp_path, trajectory(), trajectory(change=lambda frame, k: put("y", 1, INFINITY)(frame)))
    told = found.as_json()
    assert list(told) == ["same", "a", "b", "tol", "rtol", "first", "differences", "warnings"]
    assert told["a"] == {"file": str(tmp_path / "a.h5"), "format": "molrec-h5", "frames": 3}
    assert [list(each) for each in told["differences"]] == [DIFFERENCE_KEYS]
    assert told["first"] == told["differences"][0]
    assert (told["first"]["a"], told["first"]["b"], told["first"]["largest"]) == (0.5, "Infinity", None)
    json.dumps(told, allow_nan=False)
    assert compared(tmp_path, single(), single()).as_json()["first"] is None
