# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A writer of a Zarr record that is killed loses no committed frame; the record is read and gone on with as it is."""

import random
import subprocess
import sys

import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Frame, Schema
from molrec_convert.records import create, open_for_append, open_record, repair
from molrec_convert.records.zarr_folder import STAGE, strange_file

from .test_crash import APPENDER, WRITER, frames, killed_after  # noqa: F401 - frames is a fixture


def assert_holds(path, module, count):
    with open_record(path) as record:
        assert len(record) == count
        assert record.trajectory.time.tolist() == [i * 0.5 for i in range(count)]
        for i in {*range(0, count, 7), *range(max(0, count - 60), count)}:
            assert record.trajectory[i].same(module.frame_of(i)), i


def assert_goes_on(path, module, count):
    with open_for_append(path) as writer:
        assert len(writer.trajectory) == count
        for i in range(count, count + 15):
            writer.trajectory.append(module.frame_of(i), step=i if i < 700 else 2 * i, time=i * 0.5)
    assert_holds(path, module, count + 15)
    assert not (path / STAGE).exists()
    assert strange_file(path) is None


@pytest.mark.parametrize("seed", range(8))
def test_killed_writer(tmp_path, frames, seed):  # noqa: F811
    folder, module = frames
    path = tmp_path / "t.mrec"
    committed = killed_after(folder, path, random.Random(seed).uniform(0.01, 1.2), WRITER)
    with open_record(path) as record:
        count = len(record)
    assert count >= committed
    assert_holds(path, module, count)
    if seed % 2:
        assert repair(path).frames == count
        assert not (path / STAGE).exists()
        assert not repair(path).was_unclean
    assert_goes_on(path, module, count)


@pytest.mark.parametrize("seed", range(3))
def test_killed_over_and_over(tmp_path, frames, seed):  # noqa: F811
    folder, module = frames
    path = tmp_path / "t.mrec"
    with create(path) as writer:
        trajectory = writer.begin_trajectory(module.schema())
        for i in range(30):
            trajectory.append(module.frame_of(i), step=i, time=i * 0.5)
    chance, count = random.Random(seed), 30
    for _ in range(5):
        committed = killed_after(folder, path, chance.uniform(0.0, 0.5), APPENDER)
        with open_record(path) as record:
            assert len(record) >= committed > count - 1
            count = len(record)
        assert_holds(path, module, count)
    assert_goes_on(path, module, count)


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "t.mrec"
    with create(path) as writer:
        trajectory = writer.begin_trajectory(Schema.of([Frame({"a": {"v": [0.0]}})]))
        trajectory.append(Frame({"a": {"v": [0.0]}}), step=0)
        trajectory.commit()
        with open_record(path) as record:  # reading goes on beside it
            assert len(record) == 1
        code = f"import sys; sys.path[:] = {sys.path!r}\n"
        code += f"from molrec_convert.records import open_for_append\nopen_for_append({str(path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"RecordError: {path}: another program is writing it" in done.stderr
        with pytest.raises(RecordError, match="another program is writing it"):
            create(path)
    with open_for_append(path) as writer:
        assert len(writer.trajectory) == 1


def test_a_reader_of_a_record_that_grows_sees_its_frames(tmp_path):
    """Also where the last chunk, which the reader knows the place of, is written anew."""
    path = tmp_path / "t.mrec"
    made = [Frame({"a": {"v": [float(i), 1.0 / (i + 1)]}}, meta={"pe": float(i)}) for i in range(300)]
    with create(path, durable=True) as writer:
        trajectory = writer.begin_trajectory(Schema.of(made))
        record, known = None, 0
        for i, frame in enumerate(made):
            trajectory.append(frame, step=i)
            if i % 50 == 20:
                trajectory.commit()
                if record is not None:
                    assert record.trajectory[known - 1].same(made[known - 1])
                record, known = open_record(path), i + 1
                assert len(record) == known
                assert record.trajectory[known // 2].same(made[known // 2])


def test_an_exception_keeps_what_was_committed(tmp_path):
    path = tmp_path / "t.mrec"
    frame = Frame({"a": {"v": [0.0]}})

    def fail():
        with create(path) as writer:
            trajectory = writer.begin_trajectory(Schema.of([frame]))
            for i in range(5):
                trajectory.append(frame, step=i)
            trajectory.commit()
            trajectory.append(frame, step=5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with open_record(path) as record:
        assert len(record) == 5
