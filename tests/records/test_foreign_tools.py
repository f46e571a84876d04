# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Other programs of the HDF5 world open what we write."""

import shutil
import subprocess

import numpy as np
import pytest

from molrec_convert.model import Block, Box, Column, Frame
from molrec_convert.records import create

from .builders import rich_frame

pytestmark = pytest.mark.skipif(shutil.which("h5dump") is None, reason="h5dump is not installed")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    from molrec_convert.model import Schema

    path = tmp_path_factory.mktemp("tools") / "t.h5"
    frames = [
        Frame({"atoms": Block({"x": np.arange(3000.0) + i, "id": np.arange(3000, dtype="u8") + i, "name": ["é"] * 3000,
                               "p": Column(np.arange(3000.0) + i, precision=0.1)})},
              box=Box.orthogonal(3 + i), meta={"pe": 1.5})
        for i in range(100)
    ]  # fmt: skip
    with create(path, meta={"a": {"b": None}, "c": 1}) as writer:
        writer.set_section("system", Frame({"solvent": rich_frame()["types"]}))
        writer.set_section("frame", rich_frame())
        trajectory = writer.begin_trajectory(Schema.of(frames))
        for i, frame in enumerate(frames):
            trajectory.append(frame, step=i * i)
            if i == 50:
                trajectory.commit()
    return path


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.lower()
    return done.stdout


def test_headers(path):
    text = run("h5dump", "-H", "-p", path)
    assert "PREPROCESSING SHUFFLE" in text
    assert 'GROUP "_unfinished"' not in text


def test_data(path):
    assert '"sequence_schema"' in run("h5dump", path)
    dump = run("h5dump", "-d", "/trajectory/atoms/p", "-s", "299999", "-c", "1", path)
    assert "3098" in dump


@pytest.mark.skipif(shutil.which("h5repack") is None, reason="h5repack is not installed")
def test_repacked_file_is_the_same_record(path, tmp_path):
    from molrec_convert.records import open_record

    run("h5repack", path, tmp_path / "again.h5")
    with open_record(path) as one, open_record(tmp_path / "again.h5") as other:
        assert one.frame.same(other.frame)
        assert all(a.same(b) for a, b in zip(one.trajectory, other.trajectory, strict=True))
