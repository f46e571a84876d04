"""The pipeline from end to end: what is known late, frames, streams, precision, strictness, provenance."""

import gzip
import hashlib
import io

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import outputs
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError, OptionError, RecordError, TruncatedError

from .compare import assert_same_records
from .converting import first_x, left_behind, source_of
from .dumps import GROWING, TEN, THREE, many, snapshot, snapshots
from .records.builders import check_with_arbiter

# ---------------------------------------------------------------- what is known late
LATE = {
    "a type changes": snapshots([f"1 {1 + k // 3} {k} 0 0" for k in range(6)]),
    "atoms come": GROWING,
    "a column comes": snapshots([f"1 1 {k} 0 0" for k in range(3)])
    + "".join(snapshot(f"1 1 {k} 0 0 0.5", step=10 * k, columns="id type x y z v_q") for k in (3, 4)),
    "a label comes": snapshots([f"1 {'1' if k < 3 else 'C'} {k} 0 0" for k in range(5)]),
    "letters change": snapshots(["1 1 0 0 0"] * 3) + snapshot("1 1 0 0 0", step=99, box="BOX BOUNDS pp ff pp"),
    "time is lost": "".join(snapshot("1 1 0 0 0", step=k, time="0.5" if k != 3 else None) for k in range(5)),
    "steps repeat": "".join(snapshot(f"1 1 {k} 0 0", step=min(k, 3)) for k in range(6)),
    "a cell is lost": "".join(snapshot("1 1 0 0 0", step=k, bounds=(f"0 {int(k != 3)}",) * 3) for k in range(5)),
    "rows are unsorted": snapshots(["2 1 0 0 0; 1 2 1 1 1", "1 2 0 0 0; 2 1 1 1 1"] * 3),
}


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("keep_order", [False, True])
def test_a_record_that_was_begun_too_early_is_the_same(tmp_path, monkeypatch, name, keep_order):
    source = source_of(tmp_path, LATE[name], "in.dump")
    convert(source, tmp_path / "known.h5", keep_order=keep_order)
    monkeypatch.setattr(outputs, "LOOK_AHEAD", 0)
    convert(source, tmp_path / "begun.h5", keep_order=keep_order)
    check_with_arbiter(tmp_path / "begun.h5")
    assert_same_records(tmp_path / "known.h5", tmp_path / "begun.h5")
    assert not left_behind(tmp_path)


# ---------------------------------------------------------------- which frames
CHOICES = {
    "0": [0], "-1": [9], "3,1": [1, 3], "0,0": [0], "0,5,-1": [0, 5, 9], ":": list(range(10)), "2:5": [2, 3, 4],
    "::4": [0, 4, 8], "1:8:3": [1, 4, 7], "-3:": [7, 8, 9], ":-8": [0, 1], "-4:-1:2": [6, 8], "::-3": [0, 3, 6, 9],
    "7:100": [7, 8, 9], "0:2,8:": [0, 1, 8, 9], " 1 , 2 ": [1, 2],
}  # fmt: skip


@pytest.mark.parametrize("frames", CHOICES)
@pytest.mark.parametrize("packed", [False, True])
def test_frames_of_a_file(converted, frames, packed):
    made = converted(gzip.compress(TEN.encode()) if packed else TEN, frames=frames)
    assert first_x(made.record) == CHOICES[frames]
    assert made.record.trajectory.step.tolist() == [10 * k for k in CHOICES[frames]]
    assert made.record.meta["convert"]["options"] == {"frames": frames}


@pytest.mark.parametrize("frames", CHOICES)
def test_frames_of_a_record(ten, tmp_path, frames):
    convert(ten, tmp_path / "all.h5")
    convert(tmp_path / "all.h5", tmp_path / "some.h5", frames=frames)
    with mc.open(tmp_path / "some.h5") as record:
        assert first_x(record) == CHOICES[frames]


@pytest.mark.parametrize("frames", ["0", "2:5", "::4", ":3,8", "7:"])
def test_frames_of_a_stream(tmp_path, frames):
    convert(io.BytesIO(TEN.encode()), tmp_path / "out.h5", frames=frames)
    with mc.open(tmp_path / "out.h5") as record:
        assert first_x(record) == CHOICES.get(frames, {":3,8": [0, 1, 2, 8], "7:": [7, 8, 9]}.get(frames))


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ("10", "in.dump: there is no frame 10 among 10"),
        ("2,12", "in.dump: there is no frame 12 among 10"),
        ("-11", "in.dump: there is no frame -11 among 10"),
        ("5:5", "in.dump: '5:5' does not choose any of the 10 frames"),
        ("50:", "in.dump: '50:' does not choose any of the 10 frames"),
        ("-1:3", "in.dump: '-1:3' does not choose any of the 10 frames"),
        ("", "frames are chosen as 0,5,10:20:2,-1, not ''"),
        ("a", "frames are chosen as 0,5,10:20:2,-1, not 'a'"),
        ("1:2:3:4", "frames are chosen as 0,5,10:20:2,-1, not '1:2:3:4'"),
        ("1,,2", "frames are chosen as 0,5,10:20:2,-1, not '1,,2'"),
        ("::0", "a step of 0 chooses no frames: '::0'"),
    ],
)
def test_frames_that_do_not_exist(ten, tmp_path, frames, message):
    with pytest.raises(ConvertError) as caught:
        convert(ten, tmp_path / "out.h5", frames=frames)
    assert str(caught.value) == message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


def test_a_stream_is_not_counted_from_its_end(tmp_path):
    with pytest.raises(OptionError, match="frames of a stream cannot be counted from its end"):
        convert(io.BytesIO(TEN.encode()), tmp_path / "out.h5", frames="-1")
    assert not list(tmp_path.iterdir())


def test_frames_before_a_fault(tmp_path):
    """What is not wanted is not read: a fault behind the last frame that is wanted is none."""
    source = source_of(tmp_path, THREE + "nonsense\n", "in.dump")
    convert(source, tmp_path / "out.h5", frames="0:2")
    with pytest.raises(FormatError):
        convert(source, tmp_path / "out.h5", frames="0:4", force=True)
    with pytest.raises(FormatError):
        convert(source, tmp_path / "out.h5", frames="-1", force=True)


def test_notes_name_the_frame_of_the_source(converted):
    text = TEN + snapshot("1 1", step=100, columns="id type")
    made = converted(text, frames="5,10", type_map={"1": "H"})
    assert made.warnings == ["in.dump:119 (frame 10): the snapshot has no columns of positions"]
    with pytest.raises(FormatError) as caught:
        converted(TEN.replace(" 7 0 0", " 7 0 x"), frames="7")
    assert str(caught.value) == "in.dump:87 (frame 7): column z: 'x' is not a number"


# ---------------------------------------------------------------- streams
def test_from_and_to_streams(ten, tmp_path):
    report = convert(io.BytesIO(gzip.compress(TEN.encode())), tmp_path / "out.h5")
    assert (report.source, report.frames) == ("standard input", 10)
    target = io.BytesIO()
    convert(tmp_path / "out.h5", target, to_format="lammps-dump")
    convert(ten, tmp_path / "direct.dump")
    assert target.getvalue() == (tmp_path / "direct.dump").read_bytes()


def test_a_stream_that_gives_little_at_a_time(tmp_path):
    class Trickle(io.RawIOBase):
        def __init__(self, data):
            self.left = data

        def readable(self):
            return True

        def readinto(self, buffer):
            piece, self.left = self.left[:7], self.left[7:]
            buffer[: len(piece)] = piece
            return len(piece)

    convert(Trickle(TEN.encode()), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert first_x(record) == list(range(10))


def test_what_streams_cannot_do(ten, tmp_path):
    for options in ({}, {"to_format": "molrec-h5"}):
        with pytest.raises(OptionError, match="a stream takes a foreign format: say --to; a record needs a file"):
            convert(ten, io.BytesIO(), **options)
    convert(ten, tmp_path / "out.h5")
    with pytest.raises(FormatError, match="standard input: a record cannot be read from a stream"):
        convert(io.BytesIO((tmp_path / "out.h5").read_bytes()), tmp_path / "other.h5")


# ---------------------------------------------------------------- precision
def test_precision(converted):
    """Moving reals are kept to the tolerance, fixed ones exactly; the file is a fraction of the exact one."""
    text = many(10, 2000)
    exact = converted(text)
    whole = {name: np.array(exact.values(name)) for name in ("x", "y", "z", "vx", "charge")}
    size = exact.path.stat().st_size
    made = converted(text, precision=1e-3)
    for name in ("x", "y", "z", "vx"):
        column = made.atoms().column(name)
        assert column.precision == 1e-3
        assert np.abs(column.values - whole[name]).max() <= 1e-3 / 2
        assert not (column.values * 1024 % 1).any()
    assert made.atoms().column("charge").precision is None
    assert made.values("charge") == whole["charge"].tolist()
    assert made.path.stat().st_size < 0.5 * size
    assert made.record.meta["convert"]["options"] == {"precision": 1e-3}


def test_precision_by_column(converted):
    made = converted(many(2, 5), precision={"x": 1e-3, "vx": 1e-6})
    assert {name: made.atoms().column(name).precision for name in ("x", "y", "vx", "charge")} == {
        "x": 1e-3, "y": None, "vx": 1e-6, "charge": None,
    }  # fmt: skip


def test_precision_and_not_a_number(converted):
    made = converted(snapshot("1 1 nan 0 0; 2 1 nan inf 0.1234"), precision=1e-2)
    assert np.isnan(made.values("x")).all()
    assert made.values("y") == [0.0, np.inf]
    assert made.values("z") == [0.0, 0.125]


@pytest.mark.parametrize("precision", [0, -1e-3, float("nan"), 1e400])
def test_precisions_that_are_none(ten, tmp_path, precision):
    with pytest.raises(RecordError, match="the precision of column "):
        convert(ten, tmp_path / "out.h5", precision=precision)
    assert not left_behind(tmp_path)


# ---------------------------------------------------------------- strictness, reports
def test_strict_refuses_what_is_cut_short(tmp_path):
    source = source_of(tmp_path, THREE[:-30], "in.dump")
    report = convert(source, tmp_path / "out.h5")
    assert report.frames == 2
    assert any("truncated" in text for text in report.warnings)
    with pytest.raises(TruncatedError):
        convert(source, tmp_path / "strict.h5", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump", "out.h5"]


def test_a_report(ten, tmp_path):
    report = convert(ten, tmp_path / "out.h5", frames="::2")
    assert (report.source, report.target) == ("in.dump", "out.h5")
    assert (report.source_format, report.target_format) == ("lammps-dump", "molrec-h5")
    assert report.frames == 5
    assert report.seconds > 0
    assert report.warnings == ["in.dump: the types are no elements; --type-map 1=Si names them (in 5 frames)"]
    plain = report.as_json()
    assert plain["losses"] == []
    assert plain["provenance"]["source"]["format"] == "lammps-dump"


def test_progress(ten, tmp_path):
    seen = []
    convert(ten, tmp_path / "out.h5", progress=lambda *words: seen.append(words))
    told = [frames for _, _, frames in seen]
    assert told == sorted(set(told))
    assert told[-1] == 10
    assert {total for _, total, _ in seen} == {len(TEN)}
    assert seen[-1][0] == len(TEN)
    seen.clear()
    convert(tmp_path / "out.h5", tmp_path / "out.dump", progress=lambda *words: seen.append(words))
    assert seen[-1] == (10, 10, 10)


# ---------------------------------------------------------------- where a record comes from
def test_provenance(converted):
    data = gzip.compress(TEN.encode())
    made = converted(data, "in.dump.gz", keep_order=True, type_map={"1": "H"}, to_units=None)
    assert made.record.meta["source"] == {
        "name": "in.dump.gz", "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "format": "lammps-dump",
    }  # fmt: skip
    assert made.record.meta["creator"] == {"name": "molrec-convert", "version": mc.__version__}
    assert made.record.meta["convert"] == {"options": {"keep_order": True, "type_map": {"1": "H"}}, "warnings": []}


def test_provenance_of_a_stream_and_of_a_part(tmp_path):
    convert(io.BytesIO(TEN.encode()), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["source"] == {
            "name": "standard input", "size": None, "sha256": hashlib.sha256(TEN.encode()).hexdigest(),
            "format": "lammps-dump",
        }  # fmt: skip
    source = source_of(tmp_path, TEN * 40, "in.dump")
    convert(source, tmp_path / "out.h5", frames="0:2", force=True)
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["source"]["sha256"] is None  # not all of it was read
    convert(source, tmp_path / "out.h5", frames="-1", force=True)
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["source"]["size"] == len(TEN) * 40


def test_warnings_are_kept(tmp_path):
    source = source_of(tmp_path, THREE[:-30], "in.dump")
    report = convert(source, tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["convert"]["warnings"] == report.warnings
        assert len(report.warnings) == 2


def test_a_record_of_a_record_says_where_the_first_came_from(ten, tmp_path):
    convert(ten, tmp_path / "one.h5", units="real")
    convert(tmp_path / "one.h5", tmp_path / "two.h5")
    with mc.open(tmp_path / "one.h5") as one, mc.open(tmp_path / "two.h5") as two:
        assert one.meta["source"] == two.meta["source"]
        assert one.meta["units"] == two.meta["units"]
    assert_same_records(tmp_path / "one.h5", tmp_path / "two.h5", meta=False)
