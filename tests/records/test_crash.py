# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A writer that is killed loses no committed frame; the file is mended, read, and appended to."""

import importlib
import random
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Frame, Schema
from molrec_convert.records import create, open_for_append, open_record, repair

from .builders import check_with_arbiter, write

WRITER = """
import sys
from molrec_convert.records import create
from molrec_convert.model import Schema
from crash_frames import frame_of, schema
with create(sys.argv[1], durable=True) as writer:
    trajectory = writer.begin_trajectory(schema())
    for i in range(100_000):
        trajectory.append(frame_of(i), step=i if i < 700 else 2 * i, time=i * 0.5)
        if i % 37 == 0:
            trajectory.commit()
            print(len(trajectory), flush=True)
"""

FRAMES = '''
import numpy as np
from molrec_convert.model import Block, Box, Column, Frame, Schema

def frame_of(i):
    """Regular atoms, a block that stops being regular, one of varying length, a cell that changes late."""
    rng = np.random.default_rng(i)
    n = 1000
    atoms = Block({"x": rng.normal(size=n), "y": Column(rng.normal(size=n), precision=1e-3),
                   "id": rng.permutation(n).astype("u8"), "name": ["a", "é"] * (n // 2)})
    frozen = Block({"v": np.arange(50) + float(i if i < 90 else i // 60)})
    few = Block({"k": np.arange(i % 5, dtype="i4")})
    blocks = {"atoms": atoms, "frozen": frozen, "few": few}
    if i > 120:
        blocks["late"] = Block({"q": Column(np.arange(3.0) + i // 9, valid=[True, i % 18 < 9, True])})
    return Frame(blocks, box=Box.orthogonal(5 + max(0, i - 200) // 11), meta={"pe": float(i), "note": {"i": i}})

def schema():
    return Schema.of([frame_of(0), frame_of(121), frame_of(130)])
'''


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    (folder / "crash_frames.py").write_text(FRAMES)
    sys.path.insert(0, str(folder))
    yield folder, importlib.import_module("crash_frames")
    sys.path.remove(str(folder))


def killed_after(folder, path, seconds, program=WRITER):
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, *{sys.path!r}]\n" + program
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        committed = [process.stdout.readline()]
        time.sleep(seconds)
        process.kill()
        committed += process.stdout.readlines()
    return int([line for line in committed if line.endswith("\n")][-1])


@pytest.mark.parametrize("seed", range(12))
def test_killed_writer(tmp_path, frames, seed):
    folder, module = frames
    path = tmp_path / "t.h5"
    committed = killed_after(folder, path, random.Random(seed).uniform(0.01, 1.2))
    with pytest.raises(RecordError, match="molrec-convert repair"):
        open_for_append(path)
    report = repair(path)
    assert report.was_unclean
    assert report.frames >= committed
    assert not repair(path).was_unclean
    assert_holds(path, module, report.frames)
    with open_for_append(path) as writer:
        for i in range(report.frames, report.frames + 15):
            writer.trajectory.append(module.frame_of(i), step=i if i < 700 else 2 * i, time=i * 0.5)
    assert_holds(path, module, report.frames + 15)


def assert_holds(path, module, count):
    with h5py.File(path) as file:
        assert "_unfinished" not in file
    with open_record(path) as record:
        assert len(record) == count
        assert record.trajectory.time.tolist() == [i * 0.5 for i in range(count)]
        for i in {*range(0, count, 7), *range(max(0, count - 60), count)}:
            assert record.trajectory[i].same(module.frame_of(i)), i
    found = check_with_arbiter(path, count)
    if found is not None:
        assert np.array_equal(found["frames"][-1]["blocks"]["atoms"]["columns"]["x"]["values"],
                              module.frame_of(count - 1)["atoms"]["x"])  # fmt: skip


APPENDER = """
import sys
from molrec_convert.records import open_for_append
from crash_frames import frame_of
with open_for_append(sys.argv[1], durable=True) as writer:
    trajectory = writer.trajectory
    for i in range(len(trajectory), 100_000):
        trajectory.append(frame_of(i), step=i if i < 700 else 2 * i, time=i * 0.5)
        if i % 23 == 0:
            trajectory.commit()
            print(len(trajectory), flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_killed_over_and_over(tmp_path, frames, seed):
    """Appending to what repair mended is as safe as writing anew; so is a close between two kills."""
    folder, module = frames
    path = tmp_path / "t.h5"
    with create(path) as writer:
        trajectory = writer.begin_trajectory(module.schema())
        for i in range(30):
            trajectory.append(module.frame_of(i), step=i, time=i * 0.5)
    chance, count = random.Random(seed), 30
    for _ in range(5):
        committed = killed_after(folder, path, chance.uniform(0.0, 0.5), APPENDER)
        report = repair(path)
        assert report.frames >= committed > count - 1
        count = report.frames
        assert_holds(path, module, count)
        if chance.random() < 0.5:
            with open_for_append(path) as writer:
                for i in range(count, count + 3):
                    writer.trajectory.append(module.frame_of(i), step=i if i < 700 else 2 * i, time=i * 0.5)
            count += 3
            assert_holds(path, module, count)


def test_a_closed_file_needs_no_repair(tmp_path, frames):
    _, module = frames
    path = write(tmp_path / "t.h5", [module.frame_of(0)], schema=module.schema())
    before = path.read_bytes()
    report = repair(path)
    assert (report.frames, report.was_unclean, report.what) == (1, False, ())
    assert path.read_bytes() == before


def test_repair_of_what_is_no_record(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"text" * 20)
    with pytest.raises(RecordError, match=r"x\.h5: not an HDF5 file"):
        repair(path)


def test_an_exception_keeps_what_was_committed(tmp_path, frames):
    _, module = frames
    path = tmp_path / "t.h5"

    def fail():
        with create(path) as writer:
            trajectory = writer.begin_trajectory(module.schema())
            for i in range(5):
                trajectory.append(module.frame_of(i), step=i)
            trajectory.commit()
            trajectory.append(module.frame_of(5), step=5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with open_record(path) as record:
        assert len(record) == 5


def test_an_index_longer_than_what_was_written(tmp_path):
    """The library may write an array's length before the chunk that the new rows are in."""
    path = tmp_path / "t.h5"
    frames = [Frame({"few": {"x": [float(i)] * (1 + i % 2)}}) for i in range(5)]
    write(path, frames, schema=Schema.of(frames))
    with h5py.File(path, "r+") as file:
        index = file["trajectory/few/step_index"]
        index.resize((len(index) + 3,))
    message = "step_index: the frames of the updates ascend strictly"
    with pytest.raises(RecordError, match=message), open_record(path) as record:
        record.trajectory[0]
    report = repair(path)
    assert report.frames == 5
    assert report.what[-1] == "/trajectory/few/step_index had rows that were never written"
    with open_record(path) as record:
        assert all(one.same(other) for one, other in zip(record.trajectory, frames, strict=True))
