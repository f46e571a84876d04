"""``molrec-convert validate`` and `mc.validate`: what is printed where, the status, and how much memory it takes."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame, Schema
from molrec_convert.records import create
from molrec_convert.rules import RULES

from .converting import run
from .records.breakable import breakable
from .records.broken import REFUSED, TAKEN
from .records.builders import FIXTURES
from .records.trees import FORMS, SUFFIXES, changing, path_of

MISSING = pytest.param(FIXTURES, marks=pytest.mark.skip(reason="the fixtures are not at hand"))
STORES: list[object] = [*sorted(FIXTURES.glob("*.mrec*"))] or [MISSING]


@pytest.fixture
def made(tmp_path):
    """A record, broken in the ways that are named."""

    def make(*names, form="h5", name="x"):
        path = breakable(path_of(tmp_path, form, name))
        if names:
            with changing(path) as tree:
                for each in names:
                    {**REFUSED, **TAKEN}[each].change(tree)
        return path

    return make


@pytest.mark.parametrize("form", FORMS)
def test_a_valid_record(made, tmp_path, form):
    made(form=form)
    name = f"x{SUFFIXES[form]}"
    assert run("validate", name, cwd=tmp_path) == (0, f"{name}: valid\n".encode(), "")


def test_errors_and_warnings(made, tmp_path):
    made("an id of u32", "values off the grid", "steps that repeat")
    status, out, err = run("validate", "x.h5", cwd=tmp_path)
    assert (status, err) == (1, "")
    assert out.decode().splitlines() == [
        "x.h5: /frame/atoms/id: error: id is u64[N], not u32[N] (rule 18)",
        "x.h5: /frame/atoms/p: warning: 1 value is off the grid of the precision 0.1, the first in row 1: 0.3 "
        "(rule 13)",
        "x.h5: /trajectory/step (frame 2): error: steps increase strictly, found 10 after 10 (rule 23)",
        "x.h5: not valid (2 errors, 1 warning)",
    ]


def test_warnings_alone_are_no_failure(made, tmp_path):
    made("no document")
    status, out, _ = run("validate", "x.h5", cwd=tmp_path)
    assert status == 0
    assert out.decode().splitlines() == [
        "x.h5: /: warning: no group meta, which every writer makes (rule 36)",
        "x.h5: valid (1 warning)",
    ]


def test_json(made, tmp_path):
    made("an id of u32", form="mrec")
    made()
    status, out, err = run("validate", "--json", "x.mrec", cwd=tmp_path)
    assert (status, err) == (1, "")
    document = {
        "file": "x.mrec", "valid": False, "errors": 1, "warnings": 0,
        "findings": [{"rule": 18, "severity": "error", "place": "/frame/atoms/id", "frame": None,
                      "message": "id is u64[N], not u32[N]"}],
    }  # fmt: skip
    assert json.loads(out) == document
    many = json.loads(run("validate", "x.mrec", "x.h5", "--json", cwd=tmp_path).stdout)
    assert many == [document, {"file": "x.h5", "valid": True, "errors": 0, "warnings": 0, "findings": []}]


def test_files_that_cannot_be_read(made, tmp_path):
    made()
    (tmp_path / "text.h5").write_text("text")
    status, out, err = run("validate", "none.h5", "text.h5", "x.h5", cwd=tmp_path)
    assert status == 1
    assert err == "molrec-convert: none.h5: no such file or directory\n"
    lines = out.decode().splitlines()
    assert lines[0].startswith("text.h5: /: error: not a readable HDF5 file (")
    assert lines[1:] == ["text.h5: not valid (1 error)", "x.h5: valid"]


@pytest.mark.parametrize("words", [(), ("--json",), ("--rules", "x.h5"), ("x.h5", "--what")])
def test_usage(made, tmp_path, words):
    made()
    status, out, err = run("validate", *words, cwd=tmp_path)
    assert (status, out) == (2, b"")
    assert "Usage: molrec-convert validate" in err


def test_rules(tmp_path):
    status, out, err = run("validate", "--rules", cwd=tmp_path)
    assert (status, err) == (0, "")
    lines = out.decode().splitlines()
    assert [int(line[:2]) for line in lines if not line.startswith("   ")] == [rule.number for rule in RULES]
    assert lines[0].startswith(" 1  A column has one of thirteen element types")
    assert lines[1] == "    error: any other type"
    assert lines[lines.index("    no store shows whether it was kept") - 1].startswith(" 6  Arrays are in C order")
    rows = json.loads(run("validate", "--rules", "--json", cwd=tmp_path).stdout)
    assert [row["number"] for row in rows] == [rule.number for rule in RULES]
    assert rows[0].keys() == {"number", "chapter", "text", "refused", "warned"}


def test_from_python(made):
    assert mc.validate(made()) == []
    (finding,) = mc.validate(made("an id of u32", name="y"))
    assert isinstance(finding, mc.Finding)
    assert str(finding) == "/frame/atoms/id: error: id is u64[N], not u32[N] (rule 18)"


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.name)
def test_stores_of_the_reference_implementation(path):
    assert [str(finding) for finding in mc.validate(path) if finding.severity == "error"] == []


# ---------------------------------------------------------------- values, in pieces
def long_record(path, frames, rows=20_000):
    """Frames of random positions, with bonds and ids; the last frame is broken in three ways when it is read."""
    rng = np.random.default_rng(0)
    ids = np.arange(rows, dtype="u8")
    schema = None
    with create(path) as writer:
        writer.set_section("system", Frame({"atoms": {"id": ids}}))
        for i in range(frames):
            moving = {key: Column(rng.normal(size=rows), precision=1e-3) for key in "xyz"}
            bonds = Block(
                {"atomi": np.arange(rows - 1 - i % 2, dtype="u8"), "atomj": np.arange(rows - 1 - i % 2, dtype="u8")}
            )
            frame = Frame({"atoms": Block({**moving, "id": ids}), "bonds": bonds}, box=Box.orthogonal(9 + i % 2))
            if schema is None:
                trajectory = writer.begin_trajectory(schema := Schema.of_frame(frame))
            trajectory.append(frame, step=i)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_faults_far_into_the_values(tmp_path, form):
    path = long_record(path_of(tmp_path, form), 12, rows=3000)
    assert mc.validate(path) == []
    with changing(path) as tree:
        x = tree.values("trajectory/atoms/x")
        x[3000 * 10 + 5] = 0.3
        tree.put("trajectory/atoms/x", x)
        bonds = tree.values("trajectory/bonds/atomj")
        bonds[-1] = 3000
        tree.put("trajectory/bonds/atomj", bonds)
        ids = tree.values("trajectory/atoms/id")
        ids[3000 * 4 + 1000] += 1
        tree.put("trajectory/atoms/id", ids)
    found = [(one.place, one.frame, one.message) for one in mc.validate(path)]
    assert found == [
        (
            "/trajectory/atoms/x",
            10,
            "1 value is off the grid of the precision 0.001, the first in row 30005: 0.3",
        ),
        ("/trajectory/atoms/id", 4, "the ids are not those of /system"),
        ("/trajectory/bonds/atomj", 11, "row 3000 of 'atoms', which has 3000 rows"),
    ]


MEMORY = """
import resource, sys
import molrec_convert as mc
assert mc.validate(sys.argv[1]) == []
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("form", FORMS)
def test_memory_does_not_grow_with_the_record(tmp_path, form):
    peaks = []
    for frames in (20, 100):
        path = long_record(path_of(tmp_path, form, f"x{frames}"), frames)
        done = subprocess.run([sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 8_000, "kilobytes; the second record holds 50 MB more"


@pytest.mark.parametrize("place", ["/frame/a/v", "/trajectory/a/v"])
def test_what_claims_to_be_huge_is_not_looked_through(tmp_path, place):
    """No reader could take a frame of it."""
    rows = 2**60 if place.startswith("/frame") else 2**40
    with h5py.File(tmp_path / "x.h5", "w", libver=("v110", "v110")) as file:
        file.attrs["molrec_hdf5"] = 1
        file.create_group("meta")
        block = file.create_group(place.rpartition("/")[0])
        block.create_dataset("v", shape=(rows,), maxshape=(None,), chunks=(1000,), dtype="f8")
        if "frame" in file:
            block.attrs["count"] = rows
        else:
            block.attrs.update({"uniform_rows": rows, "dense_updates": True})
            schema = {"blocks": {"a": {"columns": {"v": {"dtype": "f64", "trailing": []}}}}, "meta": {}}
            file["trajectory"].attrs.update(
                {"nstep": 1, "step_progression": '{"start": 0, "stride": 1}', "sequence_schema": json.dumps(schema)}
            )
    found = mc.validate(tmp_path / "x.h5")
    assert [(each.severity, each.rule, each.place) for each in found] == [("error", 39, place)]
    assert found[0].message.startswith(f"{8 * rows} bytes at once, this machine has ")
