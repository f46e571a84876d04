"""The guide is followed, command by command, as a new user would."""

import re
import shlex

import pytest

import molrec_convert as mc

from ..converting import ROOT, run
from .trees import BAD, DATA, atoms, by_source, dump, put, records, tar

GUIDE = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
PDB = "CRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1           1\n" + "".join(
    f"HETATM{k:5}  O   HOH A{k:4}    {k:8.3f}{0:8.3f}{0:8.3f}  1.00  0.00           O\n" for k in (1, 2)
)


@pytest.fixture
def legacy(tmp_path):
    """The folder of the guide."""
    put(
        tmp_path / "legacy",
        {
            "water/system.data": DATA.replace("Atoms # full", "Atoms"), "water/prod.lammpstrj": dump(8),
            "water/prod2.lammpstrj.gz": dump(2), "water/notes.txt": "what was done\n", "protein/start.pdb": PDB,
            "protein/broken.xyz": BAD, "1998/in.data": "text\n\n1 atoms\n1 atom types\n\n0 4 xlo xhi\n0 4 ylo yhi\n"
            "0 4 zlo zhi\n\nAtoms\n\n1 1 0.25 0 0 0\n",
        },
    )  # fmt: skip
    tar(tmp_path / "legacy" / "2004.tar.gz", {"a/one.xyz": atoms(), "a/two.xyz": atoms(3)})
    (tmp_path / "run.xyz").write_text(atoms() * 3)
    mc.convert(tmp_path / "run.xyz", tmp_path / "legacy/protein/run.dcd")
    return tmp_path


def commands():
    """The commands of the guide that need no cluster."""
    for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line.partition("  #")[0])
            assert words[:2] == ["molrec-convert", "batch"], line
            if "/shared/legacy" not in words:
                yield words[1:]


def test_the_guide(legacy):
    status = {"retry": 3}
    for words in commands():
        words = [word.replace("full", "charge") if word == "full" else word for word in words]
        done = run(*words, cwd=legacy)
        due = 3 if words[1] == "legacy" and "--dry-run" not in words else status.get(words[1], 0)
        assert done.status == due, (words, done.stderr)
        if "--pair" in words:
            assert b"legacy/protein/run.dcd  + legacy/protein/start.pdb" in done.stdout
    assert {source: row["state"] for source, row in by_source(legacy / "migrated").items()} == {
        "1998/in.data": "done",
        "2004.tar.gz!/a/one.xyz": "done",
        "2004.tar.gz!/a/two.xyz": "done",
        "protein/broken.xyz": "failed",
        "protein/run.dcd": "done",
        "protein/start.pdb": "done",
        "water/notes.txt": "skipped",
        "water/prod.lammpstrj": "done",
        "water/prod2.lammpstrj.gz": "done",
        "water/system.data": "done",
    }
    assert records(legacy / "migrated") == [
        "1998/in.h5", "2004.tar.gz/a/one.h5", "2004.tar.gz/a/two.h5", "protein/run.h5", "protein/start.h5",
        "water/prod.h5", "water/prod2.h5", "water/system.h5",
    ]  # fmt: skip
    with mc.open(legacy / "migrated" / "water" / "prod.h5") as record:
        assert record.trajectory[0]["bonds"].count == 1


def test_the_python_of_the_guide(legacy, inline, monkeypatch):
    monkeypatch.chdir(legacy)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names = {}
    exec(code.replace('"full"', '"charge"'), names)
    assert (names["summary"].done, names["summary"].failed) == (7, 2)
    assert by_source(legacy / "migrated")["1998/in.data"]["state"] == "done"


def test_every_option_of_the_guide_is_one():
    texts = {
        command: run("batch", command, "--help").stdout.decode() for command in ("run", "retry", "status", "check")
    }
    known = set(re.findall(r"--[a-z-]+", " ".join(texts.values())))
    assert set(re.findall(r"`(--[a-z-]+)", GUIDE)) <= known


def test_every_column_of_the_journal_is_told():
    told = GUIDE.partition("| `journal.sqlite`")[2].partition("\n")[0]
    for word in (
        "format",
        "size",
        "SHA-256",
        "state",
        "frames",
        "atoms",
        "left out",
        "warnings",
        "error",
        "line",
        "seconds",
    ):
        assert word in told
