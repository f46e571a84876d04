"""Formats that go through another library: what the library is asked, and what a person is told of it."""

import gzip
import hashlib
import warnings

import numpy as np
import pytest

from molrec_convert import registry
from molrec_convert.adapter import Adapter, Carries, Family, Snapshot
from molrec_convert.api import write
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError, LossError, OptionError, TruncatedError, UnknownFormatError
from molrec_convert.model import Box, Frame
from molrec_convert.records import create, open_record

from .converting import first_x, left_behind, source_of


class Numbers:
    """One number a line, each the x of a frame of one atom; asked for a count, it knows it."""

    def __init__(self, options, *, counts):
        self.counts, self.path = counts, None
        self.notes = []

    def open(self, path, *, atoms=None):
        self.path = path
        return len(path.read_text().splitlines()) if self.counts else None

    def frames(self, ordinals):
        lines = self.path.read_text().splitlines()
        for ordinal in range(len(lines)) if ordinals is None else ordinals:
            if lines[ordinal] == "cut":
                raise TruncatedError("the file ends inside the frame")
            if lines[ordinal] == "odd":
                warnings.warn("an odd\n line", stacklevel=1)
            if lines[ordinal] == "old":
                warnings.warn("an old call", DeprecationWarning, stacklevel=1)
            x = 0.0 if lines[ordinal] in ("odd", "old") else float(lines[ordinal])
            yield Snapshot(Frame({"atoms": {"x": [x]}}))

    def close(self):
        pass

    # -------------------------------------------------------- the other way
    def add(self, snapshot):
        x = snapshot.frame["atoms"]["x"][0]
        if x == 666:
            raise ZeroDivisionError
        self.file.write(f"{x:.3f}\n")


class Writer(Numbers):
    def open(self, path, first):
        assert not path.exists()
        self.file = path.open("w")

    def close(self):
        self.file.close()


def numbers(name):
    return {
        "counted": Adapter(
            name="fake:counted", summary="numbers", reference="https://example.org", patterns=("*.num",),
            carries=Carries(frames=True), library="numpy",
            file_importer=lambda options: Numbers(options, counts=True),
            file_exporter=lambda options: Writer(options, counts=True),
        ),
        "streamed": Adapter(
            name="fake:streamed", summary="numbers", reference="https://example.org", patterns=("*.num",),
            library="numpy", file_importer=lambda options: Numbers(options, counts=False),
        ),
    }.get(name)  # fmt: skip


FAKE = Family(
    name="fake", library="numpy", formats=lambda: ["counted", "streamed"], adapter=numbers,
    reads=lambda name, head: "counted" if name.endswith(".num") and head[:1].isdigit() else None,
    writes=lambda name: "counted" if name.endswith(".num") else None,
)  # fmt: skip


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setattr(registry, "families", lambda: (FAKE,))


@pytest.fixture
def record(tmp_path):
    with create(tmp_path / "in.h5") as writer:
        writer.set_section("frame", Frame({"atoms": {"x": [1.5]}}))
    return tmp_path / "in.h5"


FIVE = "0.0\n1.0\n2.0\n3.0\n4.0\n"


# ---------------------------------------------------------------- reading
@pytest.mark.parametrize("format_name", ["fake:counted", "fake:streamed"])
@pytest.mark.parametrize(
    ("frames", "due"),
    [(None, [0, 1, 2, 3, 4]), ("1:4:2", [1, 3]), ("-1", [4]), ("0,-2", [0, 3]), ("4", [4]), ("3:", [3, 4])],
)
def test_frames(tmp_path, format_name, frames, due):
    source = source_of(tmp_path, FIVE, "in.num")
    convert(source, tmp_path / "out.h5", from_format=format_name, frames=frames)
    with open_record(tmp_path / "out.h5") as made:
        assert first_x(made) == due


@pytest.mark.parametrize("format_name", ["fake:counted", "fake:streamed"])
@pytest.mark.parametrize("frames", ["5", "-6"])
def test_a_frame_that_does_not_exist(tmp_path, format_name, frames):
    source = source_of(tmp_path, FIVE, "in.num")
    with pytest.raises(OptionError, match=f"there is no frame {frames} among 5"):
        convert(source, tmp_path / "out.h5", from_format=format_name, frames=frames)
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("packed", [False, True])
def test_provenance(tmp_path, packed):
    """The library is named, and the checksum is that of the file as it lies there."""
    data = gzip.compress(FIVE.encode()) if packed else FIVE.encode()
    source = source_of(tmp_path, data, "in.num.gz" if packed else "in.num")
    convert(source, tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as made:
        assert made.meta["source"] == {
            "name": source.name,
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "format": "fake:counted",
            "library": {"name": "numpy", "version": np.__version__},
        }
        assert first_x(made) == [0, 1, 2, 3, 4]


def test_a_stream_is_read_through_a_file(tmp_path):
    with (tmp_path / "in").open("w+b") as stream:
        stream.write(FIVE.encode())
        stream.seek(0)
        convert(stream, tmp_path / "out.h5", from_format="fake:counted")
    with open_record(tmp_path / "out.h5") as made:
        assert first_x(made) == [0, 1, 2, 3, 4]


def test_what_the_library_raises_is_one_line(tmp_path):
    source = source_of(tmp_path, "x\n", "in.num")
    with pytest.raises(FormatError) as caught:
        convert(source, tmp_path / "out.h5", from_format="fake:counted")
    assert str(caught.value) == (
        "in.num (frame 0): numpy cannot read it as fake:counted (ValueError: could not convert string to float: 'x')"
    )
    assert not (tmp_path / "out.h5").exists()
    assert not left_behind(tmp_path)


def test_what_the_library_warns_of_is_told_once(tmp_path):
    source = source_of(tmp_path, "0.0\nodd\nodd\nold\n", "in.num")
    report = convert(source, tmp_path / "out.h5")
    assert report.warnings == ["in.num: numpy: an odd line"]


def test_a_file_cut_short_keeps_its_whole_frames(tmp_path):
    source = source_of(tmp_path, "0.0\n1.0\ncut\n", "in.num")
    report = convert(source, tmp_path / "out.h5")
    assert report.warnings == [
        "in.num (frame 2): truncated: the file ends inside the frame; the 2 whole frames before are kept"
    ]
    with open_record(tmp_path / "out.h5") as made:
        assert first_x(made) == [0, 1]
    with pytest.raises(TruncatedError, match=r"in\.num \(frame 2\): the file ends inside the frame"):
        convert(source, tmp_path / "out.h5", force=True, strict=True)


@pytest.mark.parametrize("text", ["cut\n", ""])
def test_no_whole_frame(tmp_path, text):
    source = source_of(tmp_path, text, "in.num")
    with pytest.raises(FormatError):
        convert(source, tmp_path / "out.h5", from_format="fake:counted")
    assert not (tmp_path / "out.h5").exists()


def test_unknown_names():
    with pytest.raises(UnknownFormatError, match="numpy has no format 'count', did you mean 'fake:counted'"):
        registry.by_name("fake:count")
    with pytest.raises(UnknownFormatError, match="there is no format 'other:x'; before a colon stands one of fake"):
        registry.by_name("other:x")


# ---------------------------------------------------------------- writing
def test_what_is_lost_is_tried_out(tmp_path, record):
    report = convert(record, tmp_path / "out.num")
    assert (tmp_path / "out.num").read_text() == "1.500\n"
    assert not report.losses
    with create(tmp_path / "more.h5") as writer:
        frame = Frame({"atoms": {"x": [1.00049], "y": [0.0]}}, box=Box(np.eye(3)))
        frame.meta["pe"] = -1.0
        writer.set_section("frame", frame)
    report = convert(tmp_path / "more.h5", tmp_path / "more.num")
    assert {loss.item: loss.reason for loss in report.losses.losses.values()} == {
        "digits of atoms.x": "up to 4.9e-04 off when the file is read again",
        "atoms.y": "not there when the file is read again",
        "box": "not there when the file is read again",
        "pe": "not there when the file is read again",
    }
    with pytest.raises(LossError, match=r"fake:counted cannot hold digits of atoms\.x, atoms\.y, box, pe"):
        convert(tmp_path / "more.h5", tmp_path / "strict.num", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "more.h5", "more.num", "out.num"]


def test_what_the_library_cannot_write_leaves_nothing(tmp_path):
    source = source_of(tmp_path, "1.0\n666\n", "in.num")
    with pytest.raises(FormatError) as caught:
        convert(source, tmp_path / "out.num", from_format="fake:streamed")
    assert str(caught.value) == "out.num (frame 1): numpy cannot write it as fake:counted (ZeroDivisionError)"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.num"]


def test_only_a_file_can_be_the_target(tmp_path, record):
    with (tmp_path / "out").open("wb") as stream, pytest.raises(OptionError, match="fake:counted needs a file"):
        convert(record, stream, to_format="fake:counted")


def test_a_format_that_is_only_read(tmp_path, record):
    with pytest.raises(ConvertError, match="fake:streamed can be read, not written"):
        convert(record, tmp_path / "out.num", to_format="fake:streamed")


def test_a_source_is_not_its_own_target(tmp_path):
    source = source_of(tmp_path, FIVE, "in.num")
    (tmp_path / "link.num").symlink_to(source)
    for target in (source, tmp_path / "link.num", tmp_path / ".." / tmp_path.name / "in.num"):
        with pytest.raises(OptionError, match="the target is the source itself"):
            convert(source, target, force=True)
    assert source.read_text() == FIVE


@pytest.mark.parametrize(("text", "whole"), [("0.0\n1.0\nx\n", 2), ("0.0\nx\n1.0\n", 1)])
def test_whole_frames_before_a_broken_one_are_kept(tmp_path, text, whole):
    source = source_of(tmp_path, text, "in.num")
    report = convert(source, tmp_path / "out.h5", from_format="fake:streamed")
    kept = "the whole frame before is kept" if whole == 1 else f"the {whole} whole frames before are kept"
    assert report.warnings == [
        f"in.num (frame {whole}): numpy cannot read it as fake:streamed "
        f"(ValueError: could not convert string to float: 'x'); {kept}"
    ]
    with pytest.raises(FormatError):
        convert(source, tmp_path / "out.h5", from_format="fake:streamed", strict=True, force=True)


def test_a_folder_in_the_way_is_not_touched(tmp_path, record):
    (tmp_path / "out.num.part.d").mkdir()
    (tmp_path / "out.num.part.d" / "thesis").touch()
    with pytest.raises(ConvertError, match=r"a folder out\.num\.part\.d is in the way"):
        convert(record, tmp_path / "out.num")
    assert (tmp_path / "out.num.part.d" / "thesis").exists()
    assert not (tmp_path / "out.num.part").exists()


def test_what_a_later_frame_brings_is_tried_out(tmp_path):
    frames = [Frame({"atoms": {"x": [1.5]}}), Frame({"atoms": {"x": [2.5], "y": [0.0]}})]
    write(tmp_path / "in.h5", frames)
    report = convert(tmp_path / "in.h5", tmp_path / "out.num")
    assert list(report.losses.losses) == ["atoms.y"]
    with pytest.raises(LossError, match=r"atoms\.y"):
        convert(tmp_path / "in.h5", tmp_path / "strict.num", strict=True)


def test_frames_that_did_not_reach_the_disk(tmp_path, record, monkeypatch):
    def close(self):
        self.file.truncate(0)
        self.file.close()

    monkeypatch.setattr(Writer, "close", close)
    with pytest.raises(ConvertError, match="1 frames were written, and 0 are in the file: is the disk full"):
        convert(record, tmp_path / "out.num")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5"]
