"""The README is followed word for word, in one folder and from top to bottom, as a new user would."""

import gzip
import os
import re
import shutil
import subprocess
import tarfile
import warnings
from contextlib import chdir
from pathlib import Path

import MDAnalysis as mda
import pytest
from ase.build import bulk

import molrec_convert as mc

from .converting import ROOT, command_path, run
from .dumps import TEN, THREE

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
WHAT_IT_DOES = README.partition("## What it does\n")[2]
COMMANDS = re.findall(r"```sh\n(.*?)```", WHAT_IT_DOES, re.DOTALL)[0].splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the README speaks of."""
    made = tmp_path_factory.mktemp("readme")
    (made / "run.lammpstrj").write_text(TEN)
    (made / "run.lammpstrj.gz").write_bytes(gzip.compress(TEN.encode()))
    shutil.copy(ROOT / "sample_data" / "gro" / "peptide.gro", made / "topol.gro")
    bulk("Si", cubic=True).write(made / "POSCAR", format="vasp")
    (made / "old").mkdir()
    (made / "old" / "one.lammpstrj").write_text(THREE)
    with tarfile.open(made / "archive.tar.gz", "w:gz") as archive:
        archive.add(made / "old" / "one.lammpstrj", "a/two.lammpstrj")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(made / "topol.gro")
        with mda.Writer(str(made / "run.xtc"), len(universe.atoms)) as writer:
            for _ in range(3):
                writer.write(universe)
    return made


@pytest.fixture(scope="module")
def followed(folder):
    """The folder after all commands, each of which has to work."""
    path = f"{Path(command_path()).parent}{os.pathsep}{os.environ['PATH']}"
    for line in COMMANDS:
        if "growing.h5" in line:
            shutil.copy(folder / "run.h5", folder / "growing.h5")
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (line, done.stderr.decode())
    return folder


def test_the_commands(followed):
    assert len(COMMANDS) >= 15
    assert mc.diff(followed / "run.lammpstrj", followed / "back.lammpstrj").same
    assert mc.diff(followed / "run.h5", followed / "piped.h5").same
    assert len(mc.open(followed / "few.h5")) == 1
    assert mc.open(followed / "real.h5").meta["units"]["time"] == "fs"
    assert len(mc.open(followed / "protein.h5")) == 3
    assert len(list((followed / "migrated").glob("**/*.h5"))) == 2


def test_the_python(followed):
    assert len(PYTHON) >= 4
    images = [bulk("Si", a=a, cubic=True) for a in (5.5, 5.75)]
    names = {"n_atoms": 8, "atoms": images[0], "images": images}
    with chdir(followed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in PYTHON:
            exec(code, names)
    assert len(mc.read(followed / "late.xyz")) == 9
    assert names["images"] is not images
    assert [atoms.cell.lengths()[0] for atoms in names["images"]] == [5.5, 5.75]
    assert [len(mc.open(followed / name)) for name in ("relaxed.mrec.h5", "copy.mrec", "last.h5")] == [1, 3, 1]
    assert mc.open(followed / "one.h5").frame.meta["pe"] == -76.4


def test_the_error(tmp_path):
    command, told = re.search(r"\$ molrec-convert (.*)\n(.*)\n", README).groups()
    broken = THREE.splitlines()
    broken[10] = "2 2 4 5"
    (tmp_path / "broken.lammpstrj").write_text("\n".join(broken))
    done = run(*command.split(), cwd=tmp_path)
    assert (done.status, done.stderr) == (1, f"{told}\n")
    assert not (tmp_path / "out.h5").exists()
