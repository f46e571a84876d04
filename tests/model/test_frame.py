"""Frames and records: blocks by name, a box, typed meta, how they show themselves."""

import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Frame, Meta, Record
from molrec_convert.model.trajectory import MemoryTrajectory

ATOMS = {"element": ["O", "H", "H"], "x": [0.0, 0.76, -0.76]}


def test_a_frame_is_a_mapping_of_blocks():
    frame = Frame({"atoms": ATOMS}, box=Box.orthogonal(3), meta={"pe": -1})
    assert list(frame) == ["atoms"]
    assert isinstance(frame["atoms"], Block)
    assert (frame.meta["pe"], frame.meta.tag("pe")) == (-1.0, "f64")
    frame["rings"] = {"n": [1]}
    assert len(frame) == 2
    del frame["rings"]
    with pytest.raises(KeyError):
        frame["rings"]
    meta = Meta({"a": 1})
    assert Frame(meta=meta).meta is meta


@pytest.mark.parametrize(
    ("name", "block", "message"),
    [
        ("box", {}, "a block cannot be called 'box': set the frame's box instead"),
        ("a/b", {}, "a block cannot be called 'a/b'"),
        ("__a", {}, "a block cannot be called '__a'"),
        ("atoms", {"x": ["1"]}, "block 'atoms': column 'x': x is f64[N], not string[N]"),
        ("atoms", {"x": [1.0], "y": [1.0, 2.0]}, "block 'atoms': column 'y' has 2 rows, its block 1"),
    ],
)
def test_what_is_no_block(name, block, message):
    with pytest.raises(RecordError) as caught:
        Frame({name: block})
    assert str(caught.value) == message


def test_same():
    frame = Frame({"atoms": ATOMS, "n": {"a": [1]}}, box=Box.orthogonal(3), meta={"a": 1, "b": 2})
    assert frame.same(Frame({"n": {"a": [1]}, "atoms": ATOMS}, box=Box.orthogonal(3), meta={"b": 2, "a": 1}))
    assert not frame.same(Frame({"atoms": ATOMS, "n": {"a": [1]}}, meta={"a": 1, "b": 2}))
    assert not frame.same(Frame({"atoms": ATOMS}, box=Box.orthogonal(3), meta={"a": 1, "b": 2}))
    assert not frame.same(Frame({"atoms": ATOMS, "n": {"a": [2]}}, box=Box.orthogonal(3), meta={"a": 1, "b": 2}))
    assert not frame.same(Frame({"atoms": ATOMS, "n": {"a": [1]}}, box=Box.orthogonal(4), meta={"a": 1, "b": 2}))
    assert not frame.same(Frame({"atoms": ATOMS, "n": {"a": [1]}}, box=Box.orthogonal(3), meta={"a": 1}))


def test_repr_and_html():
    frame = Frame({"atoms": ATOMS}, box=Box.orthogonal(3), meta={"title": "<water>"})
    assert repr(frame) == ("Frame(atoms: 3 × (element, x); box: Box(3 × 3 × 3, periodic abc); meta: title='<water>')")
    assert repr(Frame()) == "Frame()"
    html = frame._repr_html_()
    assert all(part in html for part in ("atoms: 3 rows", "string[N]", "&lt;water&gt;", "periodic abc"))
    assert "<water>" not in html
    assert Frame()._repr_html_() == "<p>an empty frame</p>"


def test_a_record():
    frame = Frame({"atoms": ATOMS})
    assert len(Record()) == 0
    assert len(Record(frame=frame)) == 1
    assert len(Record(frame=frame, trajectory=MemoryTrajectory([frame] * 3))) == 3
    record = Record(meta={"title": "<t>"}, system=frame, trajectory=MemoryTrajectory([frame] * 2, time=[0, 0.5]))
    assert repr(record) == (
        "Record(meta: ['title']; system: Frame(atoms: 3 × (element, x)); "
        "trajectory: MemoryTrajectory(2 frames, steps 0 to 1, time 0 to 0.5; atoms(element, x)))"
    )
    html = record._repr_html_()
    assert all(part in html for part in ("&lt;t&gt;", "<h4>system</h4>", "<h4>trajectory</h4>", "2 frames"))
