"""The names of records: the tree of the sources, the same each time."""

import os

import pytest

from molrec_convert.batch import migrate
from molrec_convert.batch.names import candidates, mark_of, printable, stem_of
from molrec_convert.batch.plan import Plan

from .trees import atoms, by_source, put, records, states, tar


def planned(sources, out):
    """The record of every source that is to have one, and what is told of it."""
    with Plan(sources, out) as plan:
        return {each.source: (each.output, each.remark) for each in plan if each.output is not None}


def test_the_tree_is_mirrored(tmp_path):
    tree = put(tmp_path / "in", {"a/b/one.xyz": atoms(), "two.xyz.gz": b"", "POSCAR": "x"})
    outputs = {source: output for source, (output, _) in planned([tree], tmp_path / "out").items()}
    assert outputs == {"in/a/b/one.xyz": "a/b/one.h5", "in/two.xyz.gz": "two.h5", "in/POSCAR": "POSCAR.h5"}


def test_two_of_one_stem_keep_their_full_names(tmp_path):
    tree = put(tmp_path / "in", {"run.xyz": atoms(), "run.extxyz": atoms(), "Run.pdb": "x"})
    assert planned([tree], tmp_path / "out") == {
        f"in/{name}": (f"{name}.h5", f"its record is called {name}.h5, since {rival} would have the same name")
        for name, rival in (("Run.pdb", "run.extxyz"), ("run.extxyz", "Run.pdb"), ("run.xyz", "Run.pdb"))
    }


def test_names_that_differ_in_case_alone_get_marks(tmp_path):
    tree = put(tmp_path / "in", {"run.xyz": atoms(), "RUN.XYZ": atoms()})
    outputs = [output for output, _ in planned([tree], tmp_path / "out").values()]
    assert outputs == ["RUN.XYZ.h5", f"run.xyz-{mark_of('in/run.xyz')}.h5"]
    assert len({output.casefold() for output in outputs}) == 2


def test_a_folder_keeps_its_name_from_a_record(tmp_path):
    tree = put(tmp_path / "in", {"run.xyz": atoms(), "run.h5/inner.xyz": atoms()})
    outputs = {source: output for source, (output, _) in planned([tree], tmp_path / "out").items()}
    assert outputs == {"in/run.xyz": "run.xyz.h5", "in/run.h5/inner.xyz": "run.h5/inner.h5"}


def test_files_of_no_format_take_no_names(tmp_path):
    tree = put(tmp_path / "in", {"run.xyz": atoms(), "run.txt": "notes", "run.json": "{}"})
    assert planned([tree], tmp_path / "out")["in/run.xyz"] == ("run.h5", "")


def test_several_sources_get_a_folder_each(tmp_path):
    put(tmp_path, {"a/data/x.xyz": atoms(), "b/data/x.xyz": atoms(), "c/y.xyz": atoms()})
    found = planned([tmp_path / "a/data", tmp_path / "b/data", tmp_path / "c/y.xyz"], tmp_path / "out")
    assert {source: output for source, (output, _) in found.items()} == {
        "data/x.xyz": "data/x.h5",
        "data-2/x.xyz": "data-2/x.h5",
        "c/y.xyz": "c/y.h5",
    }


def test_one_archive_stands_for_its_members(tmp_path):
    path = tar(tmp_path / "legacy.tar.gz", {"a/x.xyz": atoms()})
    assert list(planned([path], tmp_path / "out").values()) == [("a/x.h5", "")]
    put(tmp_path / "both", {"y.xyz": atoms()})
    path.rename(tmp_path / "both" / "legacy.tar.gz")
    found = planned([tmp_path / "both"], tmp_path / "out")
    assert {source: output for source, (output, _) in found.items()} == {
        "both/legacy.tar.gz!/a/x.xyz": "legacy.tar.gz/a/x.h5",
        "both/y.xyz": "y.h5",
    }


def test_what_a_migration_itself_is_called_is_kept(tmp_path, inline):
    tree = put(tmp_path / "in", {"report.html/x.xyz": atoms(), ".batch/y.xyz": atoms()})
    migrate([tree], tmp_path / "out")
    assert records(tmp_path / "out") == [".batch_/y.h5", "report.html_/x.h5"]


def test_a_name_stays_when_others_come(tmp_path, inline):
    tree = put(tmp_path / "in", {"run.xyz": atoms()})
    migrate([tree], tmp_path / "out")
    put(tree, {"run.extxyz": atoms(3)})
    migrate([tree], tmp_path / "out")
    assert records(tmp_path / "out") == ["run.extxyz.h5", "run.h5"]
    assert by_source(tmp_path / "out")["run.xyz"]["output"] == "run.h5"


@pytest.mark.parametrize(
    "name", [b"caf\xe9.xyz", b"two\nlines.xyz", "Å.xyz".encode(), b"a\x1b[31m.xyz", b"x" * 240 + b".xyz"]
)
def test_names_that_are_hard_to_print(tmp_path, inline, name):
    tree = put(tmp_path / "in", {})
    tree.mkdir()
    with open(os.path.join(os.fsencode(tree), name), "w") as file:
        file.write(atoms())
    migrate([tree], tmp_path / "out", verify="full")
    assert list(states(tmp_path / "out").values()) == ["done"]
    (record,) = records(tmp_path / "out")
    assert record.isprintable()


def test_texts():
    assert printable(b"caf\xe9\n") == "caf\\xe9\\n"
    assert printable("Å b") == "Å b"
    assert [stem_of(name) for name in ("a.xyz", "a.b.xyz.gz", "POSCAR", ".x", "x.gz", "data.lmp")] == [
        "a", "a.b", "POSCAR", ".x", "x", "data",
    ]  # fmt: skip
    assert all(len(name.encode()) < 255 for name in candidates("s", "x" * 255, ".mrec.zip", alone=True))
    assert candidates("s", "a.xyz", ".h5", alone=False) == ["a.xyz.h5", f"a.xyz-{mark_of('s')}.h5"]
