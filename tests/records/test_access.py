# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A frame is read from the chunks that hold it, and no others; the package is light to import."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from molrec_convert.model import Column, Frame, Schema
from molrec_convert.model.trajectory import MemoryTrajectory
from molrec_convert.records import create, open_for_append, open_record
from molrec_convert.records.hdf5_chunks import DirectChunks

from .builders import write


@pytest.fixture
def decoded(monkeypatch):
    """The chunks that are read, in order."""
    seen = []
    original = DirectChunks._chunk

    def chunk(self, index, *, keep):
        if self._last is None or self._last[0] != index:
            seen.append((self._array.place, index))
        return original(self, index, keep=keep)

    monkeypatch.setattr(DirectChunks, "_chunk", chunk)
    return seen


def frames_of(count, rows=20_000):
    rng = np.random.default_rng(0)
    return [
        Frame({"atoms": {"x": rng.normal(size=rows), "y": Column(rng.normal(size=rows), precision=1e-3)}})
        for _ in range(count)
    ]


def test_one_frame_reads_one_chunk_a_column(tmp_path, decoded):
    path = write(tmp_path / "t.h5", frames_of(60), schema=None, expected_frames=60)
    with open_record(path) as record:
        trajectory = record.trajectory
        assert not decoded
        assert trajectory.frame(31)["atoms"].count == 20_000
        assert {place for place, _ in decoded} == {"/trajectory/atoms/x", "/trajectory/atoms/y"}
        assert len(decoded) == 2
        decoded.clear()
        trajectory.frame(31, blocks=())
        assert not decoded


def test_reading_on_reads_every_chunk_once(tmp_path, decoded):
    path = write(tmp_path / "t.h5", frames_of(60, rows=2000))
    with open_record(path) as record:
        for _ in record.trajectory:
            pass
        assert len(decoded) == len(set(decoded))
        assert len(decoded) == 2 * 4  # 60 frames of 2000 rows, 16 in a chunk


@pytest.fixture
def alone(monkeypatch):
    """The bytes that are read past the library, each a part of a chunk."""
    seen = []

    def read(descriptor, buffers, offset):
        seen.append(sum(map(len, buffers)))
        return ORIGINAL(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", read)
    return seen


ORIGINAL = getattr(os, "preadv", None)


@pytest.mark.skipif(ORIGINAL is None, reason="there is no preadv")
@pytest.mark.parametrize("rows", [10, 2000])
def test_frames_at_random_are_read_without_the_rest_of_their_chunk(tmp_path, alone, decoded, rows):
    rng = np.random.default_rng(5)
    frames = [Frame({"atoms": {"x": rng.normal(size=rows), "v": rng.normal(size=(rows, 3))}}) for _ in range(60)]
    path = write(tmp_path / "t.h5", frames)
    with open_record(path) as record:
        for index in (31, 7, 52, 8, 9):  # the last two follow each other: their chunk is worth reading
            assert record.trajectory[index].same(frames[index])
    assert alone == [8 * rows, 24 * rows] * 4 if rows * 24 < 32 << 10 else [8 * rows, 24 * rows] * 4 + [24 * rows]
    assert sorted({place for place, _ in decoded}) == (
        ["/trajectory/atoms/v", "/trajectory/atoms/x"] if rows == 10 else ["/trajectory/atoms/x"]
    )


@pytest.mark.skipif(ORIGINAL is None, reason="there is no preadv")
def test_large_frames_are_read_alone_in_order_too(tmp_path, alone, decoded):
    frames = [Frame({"atoms": {"x": np.arange(5000.0) + k}}) for k in range(30)]
    path = write(tmp_path / "t.h5", frames)
    with open_record(path) as record:
        assert all(found.same(frame) for found, frame in zip(record.trajectory, frames, strict=True))
    assert alone == [40_000] * 30
    assert not decoded


def test_a_file_that_is_written_is_read_through_the_library(tmp_path, alone):
    frames = [Frame({"atoms": {"x": np.arange(5000.0) + k}}) for k in range(30)]
    path = write(tmp_path / "t.h5", frames)
    with open_for_append(path) as writer:
        writer.trajectory.append(frames[0], step=100)
    assert not alone
    with open_record(path) as record:
        assert record.trajectory[30].same(frames[0])


def test_frames_are_the_readers_own(tmp_path):
    frames = frames_of(3, rows=10)
    path = write(tmp_path / "t.h5", frames)
    with open_record(path) as record:
        record.trajectory[1]["atoms"]["x"][:] = 0
        record.trajectory[1]["atoms"]["y"][:] = 0
        assert record.trajectory[1].same(frames[1])
        assert record.trajectory[-1].same(frames[-1])
        assert [len(part) for part in (record.trajectory[::2], record.trajectory[1:])] == [2, 2]
        with pytest.raises(IndexError):
            record.trajectory[3]


def test_an_executor_of_the_caller(tmp_path):
    frames = frames_of(40, rows=30_000)
    with ThreadPoolExecutor(1) as executor:
        with create(tmp_path / "t.h5", executor=executor) as writer:
            trajectory = writer.begin_trajectory(Schema.of(frames))
            for i, frame in enumerate(frames):
                trajectory.append(frame, step=i)
        assert executor.submit(int, 5).result() == 5
    with open_record(tmp_path / "t.h5") as record:
        assert all(found.same(frame) for found, frame in zip(record.trajectory, frames, strict=True))


def test_importing_is_light():
    code = "import sys, molrec_convert.records; assert not {'h5py', 'zarr'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"], check=True)


def test_a_file_that_is_open_for_writing_says_so(tmp_path):
    from molrec_convert.errors import RecordError

    path = tmp_path / "t.h5"
    with create(path) as writer:
        writer.set_section("frame", Frame())
        code = f"import sys; sys.path[:] = {sys.path!r}\n"
        code += f"from molrec_convert.records import open_record\nopen_record({str(path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "RecordError" in done.stderr
        assert "HDF5_USE_FILE_LOCKING" in done.stderr or "molrec-convert repair" in done.stderr
    with open_record(path) as record, pytest.raises(RecordError):
        create(record.path)


def test_a_part_of_a_frame_reads_no_other_column(tmp_path, decoded):
    frames = frames_of(60)
    path = write(tmp_path / "t.h5", frames, schema=None, expected_frames=60)
    with open_record(path) as record:
        part = record.trajectory.part(31, {"atoms": ("y", "none"), "bonds": ("atomi",)})
        assert {place for place, _ in decoded} == {"/trajectory/atoms/y"}
        assert list(part) == ["atoms"]
        assert list(part["atoms"]) == ["y"]
        assert part["atoms"].column("y").same(frames[31]["atoms"].column("y"))


def test_parts_and_counts_are_those_of_whole_frames(tmp_path):
    """Of a block of system and trajectory, one that comes late and is carried on, one that is only in system."""
    system = Frame({"atoms": {"name": ["A", "B"]}, "bonds": {"atomi": np.zeros(1, "u8"), "atomj": np.ones(1, "u8")}})
    moving = [Frame({"atoms": {"x": np.arange(2.0) + k}}, meta={"pe": float(k)}) for k in range(4)]
    moving[1]["late"] = moving[2]["late"] = moving[3]["late"] = {"v": [1.0, 2.0, 3.0]}
    with create(tmp_path / "t.h5") as writer:
        writer.set_section("system", system)
        trajectory = writer.begin_trajectory(Schema.of(moving[1:]))
        for k, frame in enumerate(moving):
            trajectory.append(frame, step=k)
    with open_record(tmp_path / "t.h5") as record:
        stored = record.trajectory
        whole = MemoryTrajectory(list(stored))
        for name, due in (("atoms", [2] * 4), ("late", [-1, 3, 3, 3]), ("bonds", [1] * 4), ("none", [-1] * 4)):
            assert stored.counts(name).tolist() == whole.counts(name).tolist() == due
        assert stored[1:].counts("late").tolist() == [3, 3, 3]
        wanted = {"atoms": ("x", "name"), "late": ("v",), "bonds": ("atomj",)}
        for k in range(4):
            assert stored.part(k, wanted).same(whole.part(k, wanted))
            assert stored[k:].part(0, wanted).same(whole.part(k, wanted))
            assert stored.moment(k) == (k, None)
        assert stored.filled is stored.schema
