"""What ``repair`` says: what it found, and how many frames it kept."""

import struct
import zipfile

import h5py
import numpy as np
import pytest

from molrec_convert.model import Frame, Schema
from molrec_convert.records import create, open_record
from molrec_convert.records.superblock import CHECKSUM, END_OF_FILE, FLAGS, lookup3

from .converting import run
from .records.trees import FORMS, SUFFIXES, path_of

MARK = b"the mark of an open file was taken off"


def frames(count):
    return [Frame({"few": {"x": np.arange(1.0 + i % 2)}}) for i in range(count)]


@pytest.fixture
def record(tmp_path):
    def write(form="h5", count=4):
        path = path_of(tmp_path, form, "x")
        with create(path) as writer:
            trajectory = writer.begin_trajectory(Schema.of(frames(1)))
            for i, frame in enumerate(frames(count)):
                trajectory.append(frame, step=i)
        return path

    return write


def left_open(path):
    """As a writer leaves the file that is killed: marked, and with another end."""
    data = bytearray(path.read_bytes())
    data[FLAGS] = 1
    struct.pack_into("<Q", data, END_OF_FILE, len(data) - 8)
    struct.pack_into("<I", data, CHECKSUM, lookup3(bytes(data[:CHECKSUM])))
    path.write_bytes(data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("count", "told"), [(1, "1 frame"), (4, "4 frames")])
def test_a_record_that_was_closed(record, tmp_path, form, count, told):
    path = record(form, count)
    before = path.read_bytes() if path.is_file() else None
    name = f"x{SUFFIXES[form]}"
    assert run("repair", name, cwd=tmp_path) == (0, f"{name}: nothing to repair; it holds {told}\n".encode(), "")
    assert path.is_dir() or path.read_bytes() == before


def test_a_file_that_was_left_open(record, tmp_path):
    left_open(record())
    refused = run("validate", "x.h5", cwd=tmp_path)
    assert refused.status == 1
    assert b"the file was not closed: its writer was killed, or still runs; `molrec-convert repair " in refused.stdout
    assert run("repair", "x.h5", cwd=tmp_path) == (0, b"x.h5: " + MARK + b"; 4 frames kept\n", "")
    assert run("repair", "x.h5", cwd=tmp_path) == (0, b"x.h5: nothing to repair; it holds 4 frames\n", "")
    assert run("validate", "x.h5", cwd=tmp_path) == (0, b"x.h5: valid\n", "")


def test_an_index_that_is_longer_than_what_was_written(record, tmp_path):
    path = record()
    with h5py.File(path, "r+") as file:
        file["trajectory/few/step_index"].resize((7,))
    done = run("repair", "x.h5", cwd=tmp_path)
    assert done.stdout == b"x.h5: /trajectory/few/step_index had rows that were never written; 4 frames kept\n"
    with open_record(path) as record:
        assert all(one.same(other) for one, other in zip(record.trajectory, frames(4), strict=True))


def test_an_index_without_its_partner(record, tmp_path):
    """As a kill between two names leaves it: the markers still hold."""
    path = record(count=1)
    with h5py.File(path, "r+") as file:
        file["trajectory/few/offset"] = np.array([0, 1], "u8")
    done = run("repair", "x.h5", cwd=tmp_path)
    assert done.stdout == b"x.h5: /trajectory/few/offset had no partner and was taken away; 1 frame kept\n"


def test_files_that_are_not_mended(record, tmp_path):
    """What is no record, or cannot be mended, stays as it was to the byte."""
    path = record()
    left_open(path)
    cut = path.read_bytes()[:3000]
    with h5py.File(tmp_path / "foreign.h5", "w", libver=("v110", "v110")) as file:
        file["x"] = 1
    left_open(tmp_path / "foreign.h5")
    (tmp_path / "cut.h5").write_bytes(cut)
    (tmp_path / "text.h5").write_text("text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.mrec").mkdir()
    (tmp_path / "old.mrec" / ".zgroup").write_text("{}")
    (tmp_path / "text.mrec.zip").write_text("text")
    with zipfile.ZipFile(tmp_path / "other.mrec.zip", "w") as archive:
        archive.writestr("a", "text")
    for name, words in (
        ("foreign.h5", "no record: there is no molrec_hdf5 within its first 4096 bytes"),
        ("cut.h5", ""),
        ("text.h5", "not an HDF5 file"),
        ("none.h5", "no such file or directory"),
        ("folder", "no record: there is no zarr.json in it"),
        ("old.mrec", "no record: it is Zarr of version 2, a record is of version 3"),
        ("text.mrec.zip", "a damaged ZIP archive"),
        ("other.mrec.zip", "no record: there is no zarr.json in it"),
    ):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).is_file() else None
        done = run("repair", name, cwd=tmp_path)
        assert (done.status, done.stdout) == (1, b""), name
        assert done.stderr.startswith(f"molrec-convert: {name}: "), done.stderr
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        assert before is None or (tmp_path / name).read_bytes() == before


def test_a_file_whose_writer_is_at_work(tmp_path):
    """Not even the mark is touched, which the writer would not know of."""
    path = tmp_path / "x.h5"
    with create(path, durable=True) as writer:
        trajectory = writer.begin_trajectory(Schema.of(frames(1)))
        for i, frame in enumerate(frames(4)):
            trajectory.append(frame, step=i)
        trajectory.commit()
        before = path.read_bytes()
        assert run("repair", "x.h5", cwd=tmp_path) == (1, b"", "molrec-convert: x.h5: another program is writing it\n")
        assert path.read_bytes() == before
    assert run("repair", "x.h5", cwd=tmp_path) == (0, b"x.h5: nothing to repair; it holds 4 frames\n", "")
