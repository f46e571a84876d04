"""What ``docs/record-layout.md`` tells a stranger to do is done, on records of the three forms."""

import os
import re
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import zarr

from molrec_convert.model import Box, Frame, Schema
from molrec_convert.records import create

from .records.trees import FORMS, path_of

TEXT = (Path(__file__).parent.parent / "docs" / "record-layout.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SHELL = [
    line.partition("#")[0].strip()
    for box in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in box.splitlines()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The records that the document speaks of."""
    made = tmp_path_factory.mktemp("layout")
    frames = []
    for k in range(4):
        atoms = {name: np.arange(5.0) + k for name in "xyz"}
        clusters = {"size": np.array([5, 3][: 1 + k // 2], "i8")}  # changes in frame 2
        frames.append(Frame({"atoms": atoms, "clusters": clusters}, box=Box.orthogonal(9), meta={"pe": -float(k)}))
    for form in FORMS:
        with create(path_of(made, form, "run"), meta={"units": {"length": "angstrom"}}) as writer:
            writer.set_section("system", Frame({"atoms": {"element": ["C", "H", "H", "é", ""]}}))
            trajectory = writer.begin_trajectory(Schema.of(frames))
            for k, frame in enumerate(frames):
                trajectory.append(frame, step=k)
    return made


@pytest.mark.parametrize("code", PYTHON, ids=["h5py", "zarr-python"])
def test_python(folder, code):
    names: dict = {}
    with chdir(folder):
        exec(code, names)
    assert names["nstep"] == 4
    assert names["x"].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert names["sizes"].tolist() == [5, 3]
    assert list(names["elements"]) == ["C", "H", "H", "é", ""]
    assert names["energies"].tolist() == [0.0, -1.0, -2.0, -3.0]
    assert np.array_equal(names["vectors"], 9 * np.eye(3))
    assert names["units"] == {"length": "angstrom"}


def test_a_packed_record_is_opened_so(folder):
    line = re.search(r"`(zarr\.open_group\(zarr\.storage\.ZipStore.*?)`", TEXT)
    assert line is not None
    with chdir(folder):
        root = eval(line[1], {"zarr": zarr})
        assert root["trajectory/atoms/x"][:5].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        root.store.close()


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="h5dump is not installed")
@pytest.mark.parametrize("command", SHELL)
def test_shell(folder, command):
    done = subprocess.run(command.split(), capture_output=True, text=True, cwd=folder, env=os.environ, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    expected = {"-n": "/trajectory/clusters/step_index", "-A": "angstrom", "-d": "(0): 0, 1, 2, 3, 4, 1"}
    assert expected[command.split()[1]] in done.stdout
