# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A frame is read from the chunks that hold it, and no others; the package is light to import."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from molrec_convert.model import Column, Frame, Schema
from molrec_convert.records import create, open_record
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
    path = write(tmp_path / "t.h5", frames_of(60))
    with open_record(path) as record:
        for _ in record.trajectory:
            pass
        assert len(decoded) == len(set(decoded))
        assert len(decoded) == 2 * 20


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
