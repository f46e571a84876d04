"""What of some frames stands in a record once, and what moves; and that it does not matter when it is known."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from molrec_convert import outputs
from molrec_convert.adapter import Snapshot
from molrec_convert.api import write
from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.schema import promoted
from molrec_convert.outputs import RecordOutput
from molrec_convert.part import PartFile
from molrec_convert.placement import Placement
from molrec_convert.records import open_record

from .snapshots import assert_holds, atoms, ids, moments, record_of, two_ways

ALWAYS = {"id": ids(1, 2), "element": ["C", "H"], "mass": [12.0, 1.0], "v": [0.5, 0.5]}


class TestWhereThingsStand:
    def test_columns_that_never_change(self, tmp_path):
        path = record_of(tmp_path, moments({"atoms": atoms([0, 1], **ALWAYS)}, {"atoms": atoms([0, 1], **ALWAYS)}))
        with open_record(path) as record:
            assert sorted(record.system["atoms"]) == ["element", "id", "mass"]
            assert sorted(record.trajectory.schema.blocks["atoms"].columns) == ["v", "x", "y", "z"]
            assert record.trajectory[1]["atoms"]["element"].tolist() == ["C", "H"]

    def test_blocks_that_never_change(self, tmp_path):
        bonds = {"atomi": ids(0), "atomj": ids(1), "length": [1.1]}
        path = record_of(tmp_path, moments(*[{"atoms": atoms([0, 1]), "bonds": bonds}] * 3))
        with open_record(path) as record:
            assert sorted(record.system) == ["atoms", "bonds"]
            assert record.system["atoms"].count == 2
            assert list(record.trajectory.schema.blocks) == ["atoms"]
            assert record.trajectory[2]["bonds"]["atomj"].tolist() == [1]

    def test_facts_about_the_source(self, tmp_path):
        frames = moments(*[{"atoms": atoms([k])} for k in range(3)])
        for k, moment in enumerate(frames):
            moment.about = Meta({"same": "x", "moves": k, "late": "y"} if k else {"same": "x", "moves": k})
        path = record_of(tmp_path, frames)
        with open_record(path) as record:
            assert dict(record.system.meta) == {"same": "x"}
            assert record.trajectory.meta("moves") == [0, 1, 2]
            assert record.trajectory.meta("late") == [None, "y", "y"]

    def test_one_frame_of_a_format_without_sequences(self, tmp_path):
        moment = Snapshot(
            Frame({"atoms": atoms([0.0])}, meta={"pe": -1.0}), step=7, time=0.5, about=Meta({"title": "t"})
        )
        path = record_of(tmp_path, [moment], series=False)
        with open_record(path) as record:
            assert (record.trajectory, record.system) == (None, None)
            assert dict(record.frame.meta) == {"title": "t", "pe": -1.0, "timestep": 7, "time": 0.5}
            assert record.frame["atoms"]["z"].tolist() == [2.0]

    def test_two_frames_of_a_format_without_sequences(self, tmp_path):
        path = record_of(tmp_path, moments({"atoms": atoms([0])}, {"atoms": atoms([1])}), series=False)
        with open_record(path) as record:
            assert record.frame is None
            assert len(record) == 2

    def test_the_order_of_the_frames_with_bonds_to_atoms_that_vary(self, tmp_path):
        bonds = {"atomi": ids(0), "atomj": ids(1)}
        path = record_of(
            tmp_path, moments({"atoms": atoms([0, 1]), "bonds": bonds}, {"atoms": atoms([0, 1, 2]), "bonds": bonds})
        )
        with open_record(path) as record:
            assert record.system is None
            assert [frame["atoms"].count for frame in record.trajectory] == [2, 3]
            assert [frame["bonds"]["atomj"].tolist() for frame in record.trajectory] == [[1], [1]]


STORIES = {
    "a column changes": lambda: moments(
        *[{"atoms": atoms([k, k], **{**ALWAYS, "element": ["C", "H" if k < 3 else "D"]})} for k in range(5)]
    ),
    "an id changes": lambda: moments(*[{"atoms": atoms([k, k], id=ids(1, 2 + k // 2))} for k in range(6)]),
    "atoms appear": lambda: moments(
        *[{"atoms": atoms(range(2 + k // 2), id=ids(*range(2 + k // 2)))} for k in range(6)]
    ),
    "atoms vanish": lambda: moments(*[{"atoms": atoms(range((2, 2, 2, 0, 2)[k]))} for k in range(5)]),
    "a column comes": lambda: moments(
        *[{"atoms": atoms([k, k], **({"q": [0.1 * k, 0.2]} if k >= 3 else {}))} for k in range(5)]
    ),
    "a column goes and comes back": lambda: moments(
        *[{"atoms": atoms([k, k], **({"word": ["a", "b"]} if k != 3 else {}))} for k in range(6)]
    ),
    "an integer, then a real": lambda: moments(
        *[{"atoms": atoms([k, k], n=np.array([k, 2], "i8") if k < 3 else [0.5, 1.5])} for k in range(5)]
    ),
    "an integer, then a word": lambda: moments(
        *[{"atoms": atoms([k, k], n=np.array([k, 2], "i4") if k < 3 else ["a", "b"])} for k in range(5)]
    ),
    "narrow, then wide": lambda: moments(
        *[{"atoms": atoms([k], n=np.array([7], f"i{1 << k // 2}"))} for k in range(8)]
    ),
    "nulls": lambda: moments(*[{"atoms": atoms([k, k], q=Column([1.0, 2.0], valid=[k < 3, True]))} for k in range(5)]),
    "a block comes": lambda: moments(
        *[
            {"atoms": atoms([k, k]), **({"bonds": {"atomi": ids(0), "atomj": ids(1)}} if k >= 3 else {})}
            for k in range(5)
        ]
    ),
    "a block goes": lambda: moments(
        *[{"atoms": atoms([k, k]), **({"sites": {"s": [1.0]}} if k < 3 else {})} for k in range(5)]
    ),
    "bonds change": lambda: moments(
        *[{"atoms": atoms([k, k, k]), "bonds": {"atomi": ids(0), "atomj": ids(1 + k // 3)}} for k in range(6)]
    ),
    "many things": lambda: moments(
        *[
            {
                "atoms": atoms(
                    range(2 + (k > 6)),
                    element=["C"] * (1 + (k > 6)) + ["H" if k < 3 else "D"],
                    **({"q": np.arange(2.0 + (k > 6))} if k > 4 else {}),
                )
            }
            for k in range(9)
        ]
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_promotion(tmp_path, monkeypatch, name):
    path = two_ways(tmp_path, STORIES[name], monkeypatch)
    with open_record(path) as record:
        for moment, found in zip(STORIES[name](), record.trajectory, strict=True):
            assert_holds(found, moment.frame)


KEYS = {
    "a key comes": [{}, {}, {}, {"pe": 1.0}, {"pe": 2.0}],
    "a key goes": [{"n": 1}, {"n": 2}, {"n": 3}, {}, {"n": 4}],
    "an integer, then a real": [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 0.5}],
    "an integer, then a word": [{"n": 1}, {"n": 2}, {"n": 3}, {"n": "a"}],
    "a vector, then another": [{"v": [1.0, 2.0, 3.0]}] * 3 + [{"v": [1.0] * 6}],
    "a truth, then none": [{"b": True}, {"b": False}, {"b": True}, {}],
    "not finite": [{"e": -float("inf")}, {"e": 1.0}, {"e": float("inf")}, {"e": "x"}],
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("about", [False, True])
def test_keys(tmp_path, monkeypatch, name, about):
    def make():
        made = moments(*[{"atoms": atoms([k])} for k in range(len(KEYS[name]))])
        for moment, values in zip(made, KEYS[name], strict=True):
            if about:
                moment.about = Meta(values)
            else:
                moment.frame.meta = Meta(values)
        return made

    path = two_ways(tmp_path, make, monkeypatch)
    with open_record(path) as record:
        for k, values in enumerate(KEYS[name]):
            found = record.trajectory[k].meta
            for key, value in Meta(values).items():
                due = promoted(value, Meta(values).tag(key), found.tag(key), key)
                assert repr(found[key]) == repr(due)


CELLS = {
    "a cell is lost": [Box.orthogonal(3)] * 3 + [None, Box.orthogonal(4)],
    "a cell is undefined later": [Box.orthogonal(3)] * 3 + [Box.undefined([1.0, 2.0, 3.0])],
    "a cell comes": [None, None, None, Box.orthogonal(3)],
    "an undefined cell comes first": [Box.undefined()] * 3 + [Box.orthogonal(3), Box.undefined()],
    "a cell moves": [Box.orthogonal(3)] * 3 + [Box.orthogonal(4, boundary=[True, False, True])],
    "an undefined cell is lost": [None, Box.undefined(), Box.undefined(), None],
    "never": [None] * 4,
    "always undefined": [Box.undefined([0.0, 0.0, 1.0])] * 4,
}


@pytest.mark.parametrize("name", CELLS)
def test_cells(tmp_path, monkeypatch, name):
    def make():
        made = moments(*[{"atoms": atoms([k])} for k in range(len(CELLS[name]))])
        for moment, box in zip(made, CELLS[name], strict=True):
            moment.frame.box = box
        return made

    path = two_ways(tmp_path, make, monkeypatch)
    with open_record(path) as record:
        for frame, box in zip(record.trajectory, CELLS[name], strict=True):
            defined = box is not None and box.defined
            assert (frame.box is not None and frame.box.defined) == defined
            assert not defined or frame.box.same(box)
            assert "cell_defined" not in frame.meta


STEPS = {
    "rising": ([0, 5, 7, 9], [0, 5, 7, 9], None),
    "repeated": ([0, 5, 5, 5, 9], [0, 1, 2, 3, 4], [0, 5, 5, 5, 9]),
    "late": ([0, 5, 7, 7], [0, 1, 2, 3], [0, 5, 7, 7]),
    "back": ([5, 6, 7, 1], [0, 1, 2, 3], [5, 6, 7, 1]),
    "none": ([None] * 4, [0, 1, 2, 3], None),
    "some": ([None, 5, None, 5], [0, 1, 2, 3], [None, 5, None, 5]),
    "lost": ([5, 6, 7, None], [0, 1, 2, 3], [5, 6, 7, None]),
    "found": ([None, None, None, 5, None], [0, 1, 2, 3, 4], [None, None, None, 5, None]),
    "the first not stated": ([None, 750, 1500, 2250], [0, 750, 1500, 2250], None),
    "counted, then stated": ([None, None, None, None, 9], [0, 1, 2, 3, 9], None),
    "those that count not stated": ([-5, None, 2, None, 700], [-5, 1, 2, 3, 700], None),
    "counted, stated, not rising": ([None, 5, 9, 9], [0, 1, 2, 3], [None, 5, 9, 9]),
    "not stated behind a larger one": ([None, 750, 1500, None], [0, 1, 2, 3], [None, 750, 1500, None]),
    "counted, then too small": ([None, None, None, 2], [0, 1, 2, 3], [None, None, None, 2]),
    "lost and back": ([7, 7, 7, None], [0, 1, 2, 3], [7, 7, 7, None]),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps(tmp_path, monkeypatch, name):
    given, due, kept = STEPS[name]

    def make():
        return [Snapshot(Frame({"atoms": atoms([k])}), step=step) for k, step in enumerate(given)]

    with open_record(two_ways(tmp_path, make, monkeypatch)) as record:
        assert record.trajectory.step.tolist() == due
        assert record.trajectory.meta("timestep") == (kept or [None] * len(given))


TIMES = {
    "all": [0.0, 0.5, 0.25, 2.0],
    "none": [None] * 4,
    "some": [0.0, None, 0.5, 1.0],
    "lost": [0.0, 0.5, 1.0, None],
    "found": [None, None, None, 0.5, None],
}


@pytest.mark.parametrize("name", TIMES)
def test_times(tmp_path, monkeypatch, name):
    def make():
        return [Snapshot(Frame({"atoms": atoms([k])}), step=k, time=time) for k, time in enumerate(TIMES[name])]

    with open_record(two_ways(tmp_path, make, monkeypatch)) as record:
        time = record.trajectory.time
        if None not in TIMES[name]:
            assert time.tolist() == TIMES[name]
        else:
            assert time is None
            kept = record.trajectory.meta("time")
            assert [None if value is None or value != value else value for value in kept] == TIMES[name]


REFUSED = {
    "u64 beside signed": (
        lambda k: {"atoms": atoms([k], n=np.array([1], "u8" if k < 3 else "i8"))},
        "frame 3: atoms/n: u64 in some frames, signed integers in others: no integer type holds both",
    ),
    "other axes": (
        lambda k: {"atoms": atoms([k], n=np.zeros((1, 2 if k < 3 else 3)))},
        "atoms/n (frame 3): a row has the axes [2] in some frames, [3] in others",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_frames_that_no_schema_holds(tmp_path, monkeypatch, name):
    make, _ = REFUSED[name]
    for ahead in (outputs.LOOK_AHEAD, 0):
        monkeypatch.setattr(outputs, "LOOK_AHEAD", ahead)
        with pytest.raises(RecordError) as caught:
            record_of(tmp_path, moments(*map(make, range(5))))
        assert caught.value.frame == 3
        assert caught.value.place == "atoms/n"
        assert not list(tmp_path.iterdir())


def test_learning_tells_whether_a_layout_still_fits():
    placement = Placement()
    made = STORIES["many things"]()
    assert [placement.learn(moment) for moment in made][1:] == [False, False, True, False, True, False, True, False]
    assert not any(placement.learn(Snapshot(moment.frame, step=100 + k)) for k, moment in enumerate(made))


def test_small_frames_do_not_wait_in_large_numbers(tmp_path):
    """Their objects take more memory than their values."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        output = RecordOutput(PartFile(tmp_path / "out.h5", force=False), series=True, executor=executor)
        for k in range(6000):
            output.add(Snapshot(Frame({"atoms": atoms([k])}), step=k))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.h5.part", "out.h5.part.0"]
        output.discard()
    assert not list(tmp_path.iterdir())


def test_attributes_of_blocks_go_with_them(tmp_path):
    """Whether a block stands once or in every frame."""
    frames = []
    for k in range(3):
        bonds = Block({"atomi": np.uint64([0]), "atomj": np.uint64([1])}, attributes={"perceived": "by hand"})
        frames.append(Frame({"atoms": {"x": [float(k), 1.0]}, "bonds": bonds}))
    write(tmp_path / "out.h5", frames)
    with open_record(tmp_path / "out.h5") as record:
        assert record.system["bonds"].attributes == {"perceived": "by hand"}
