"""What a comparison leaves out, how far numbers may be apart, and the command line."""

import json

import pytest

import molrec_convert as mc
from molrec_convert.comparison import comparison_text
from molrec_convert.errors import OptionError
from molrec_convert.model import Column, Frame, Meta
from molrec_convert.records import create

from .changes import (
    INFINITY,
    NAN,
    attributes,
    cell,
    change_step,
    change_time,
    compared,
    drop,
    in_nm,
    key,
    put,
    retitled,
    shorter,
    swap,
    untitled,
    without_time,
)  # fmt: skip
from .converting import run, source_of
from .dumps import THREE, snapshot
from .gros import THREE as THREE_OF_GRO
from .water import single, trajectory, water


# ---------------------------------------------------------------- what is left out
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("atoms", put("y", 0, 1.0)),
        ("atoms.y", put("y", 0, 1.0)),
        ("atoms.*", put("y", 0, 1.0)),
        ("*.y", put("y", 0, 1.0)),
        ("bonds", drop("bonds")),
        ("bonds@hint", attributes),
        ("bonds", attributes),
        ("meta", key("pe", 1.0)),
        ("meta.pe", key("pe", 1.0)),
        ("pe", key("pe", 1.0)),
        ("box", cell(origin=[1.0, 0.0, 0.0])),
        ("box.origin", cell(origin=[1.0, 0.0, 0.0])),
    ],
)
def test_what_is_ignored(tmp_path, name, change):
    one, other = single(), single()
    change(other.frame)
    assert not compared(tmp_path, one, other).same
    found = mc.diff(tmp_path / "a.h5", tmp_path / "b.h5", ignore=[name])
    assert found.same
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("step", change_step), ("time", change_time), ("time", without_time), ("frames", shorter), ("units", in_nm),
        ("units.length", in_nm), ("record.title", retitled), ("record", untitled),
    ],
)  # fmt: skip
def test_what_is_ignored_of_the_whole(tmp_path, name, change):
    assert compared(tmp_path, trajectory(), change(trajectory()), ignore=[name]).same


@pytest.mark.parametrize(
    "name", ["step", "time", "frames", "units", "box", "record", "record.source", "provenance", "meta.gro_decimals",
             "gro_decimals", "gro_*"],
)  # fmt: skip
def test_what_does_not_differ_may_be_named(tmp_path, name):
    """Whatever `info` shows and the documents list, whether or not it would have been compared."""
    source = source_of(tmp_path, THREE_OF_GRO, "in.gro")
    mc.convert(source, tmp_path / "a.h5")
    mc.convert(source_of(tmp_path, THREE_OF_GRO, "other.gro"), tmp_path / "b.h5")
    for one, other in (("a.h5", "b.h5"), ("in.gro", "b.h5"), ("in.gro", "other.gro")):
        found = mc.diff(tmp_path / one, tmp_path / other, ignore=[name])
        assert found.same
        assert not any("nothing to ignore" in text for text in found.warnings)


@pytest.mark.parametrize("name", ["xtc_precision", "mda_floats", "lammps_columns"])
def test_keys_of_the_layout_may_be_named(tmp_path, name):
    """Between records of several formats they are left out, and are there all the same."""
    for k, about in enumerate(({name: "one"}, {name: "two"})):
        with create(tmp_path / f"{k}.h5", meta={"source": {"format": ("mda:xtc", "lammps-dump")[k]}}) as writer:
            writer.set_section("frame", Frame(dict(water()), meta=Meta(about)))
    found = mc.diff(tmp_path / "0.h5", tmp_path / "1.h5", ignore=[name])
    assert found.same
    assert found.warnings == ()


def test_a_name_that_nothing_has(tmp_path):
    found = compared(tmp_path, single(), single(), ignore=["atom.x", "atoms.x", "bond"])
    assert found.warnings == ("nothing to ignore is called 'atom.x' or 'bond'",)


def test_provenance_is_compared_when_asked(tmp_path):
    for name, creator in (("a.h5", "one"), ("b.h5", "two")):
        with create(tmp_path / name, meta={"creator": {"name": creator}, "source": {"name": name}}) as writer:
            writer.set_section("frame", water())
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5").same
    found = mc.diff(tmp_path / "a.h5", tmp_path / "b.h5", provenance=True)
    assert [each.item for each in found.differences] == ["record.creator", "record.source"]
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5", provenance=True, ignore=["provenance"]).same


# ---------------------------------------------------------------- tolerances
@pytest.mark.parametrize(
    ("change", "tol", "rtol", "equal"),
    [
        (put("y", 1, 0.5 + 1e-3), 1e-2, 0.0, True),
        (put("y", 1, 0.5 + 1e-3), 1e-4, 0.0, False),
        (put("y", 1, 0.5 + 1e-3), 0.0, 1e-2, True),
        (put("y", 1, 0.5 + 1e-3), 0.0, 1e-4, False),
        (put("y", 0, -0.0), 1e-9, 0.0, True),
        (put("y", 0, NAN), 1e9, 0.0, False),
        (put("y", 0, INFINITY), 1e300, 1.0, False),
        (put("id", 2, 7), 1e9, 1e9, False),
        (put("element", 0, "N"), 1e9, 0.0, False),
        (key("pe", -76.5 + 1e-6), 1e-5, 0.0, True),
        (key("pe", -76.5 + 1e-6), 1e-7, 0.0, False),
        (cell(origin=[0.0, 1e-6, 0.0]), 1e-5, 0.0, True),
        (cell(origin=[0.0, 1e-6, 0.0]), 1e-7, 0.0, False),
        (swap("x", Column([0.0, 0.75, -0.75])), 1e-9, 0.0, True),
    ],
)
def test_tolerances(tmp_path, change, tol, rtol, equal):
    one, other = single(), single()
    change(other.frame)
    assert not compared(tmp_path, one, other).same
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5", tol=tol, rtol=rtol).same is equal
    assert mc.diff(tmp_path / "b.h5", tmp_path / "a.h5", tol=tol, rtol=rtol).same is equal


@pytest.mark.parametrize("value", [-1.0, NAN, INFINITY])
def test_what_is_no_tolerance(tmp_path, value):
    with pytest.raises(OptionError, match="a tolerance is a number that is not negative: tol is"):
        compared(tmp_path, single(), single(), tol=value)


# ---------------------------------------------------------------- the command line
@pytest.fixture
def here(tmp_path):
    """A folder with records, one of which is different."""
    mc.write(tmp_path / "a.h5", trajectory())
    mc.write(tmp_path / "same.h5", trajectory())
    mc.write(tmp_path / "other.h5", trajectory(change=lambda frame, k: put("y", 1, 0.5 + 1e-3 * k)(frame)))
    source_of(tmp_path, THREE, "in.dump")
    source_of(tmp_path, snapshot("1 1 1 2 3; 2 1 1 2"), "bad.dump")
    return tmp_path


def test_the_status(here):
    """0 where they are the same, 1 where they differ."""
    assert run("diff", "a.h5", "same.h5", cwd=here) == (0, b"the same: 3 frames\n", "")
    done = run("diff", "a.h5", "other.h5", cwd=here)
    text = comparison_text(mc.diff(here / "a.h5", here / "other.h5")).replace(f"{here}/", "")
    assert done == (1, f"{text}\n".encode(), "")
    assert run("diff", "a.h5", "other.h5", "-q", cwd=here) == (1, b"", "")
    assert run("diff", "a.h5", "same.h5", "--quiet", cwd=here) == (0, b"", "")


def test_options_of_the_command(here):
    assert run("diff", "a.h5", "other.h5", "--tol", "0.01", cwd=here) == (0, b"the same within 0.01: 3 frames\n", "")
    assert run("diff", "a.h5", "other.h5", "--rtol", "1e-9", cwd=here).status == 1
    for ignored in (("--ignore", "atoms.y"), ("--ignore", "bonds,atoms.y"), ("--ignore", "bonds", "--ignore", "*.y")):
        assert run("diff", "a.h5", "other.h5", *ignored, cwd=here).status == 0
    done = run("diff", "a.h5", "same.h5", "--ignore", "bond", cwd=here)
    assert done == (0, b"the same: 3 frames\n", "warning: nothing to ignore is called 'bond'\n")
    told = json.loads(run("diff", "a.h5", "other.h5", "--json", cwd=here).stdout)
    assert (told["same"], told["a"]["file"], told["first"]["item"]) == (False, "a.h5", "atoms.y")


TROUBLE = {
    "missing": (("a.h5", "nope.h5"), "nope.h5: no such file or directory"),
    "bad": (("bad.dump", "a.h5"), "bad.dump:11 (frame 0): an atom line has 5 columns, this one 4"),
    "tolerance": (("a.h5", "same.h5", "--tol", "-1"), "a tolerance is a number that is not negative: tol is -1.0"),
    "option": (("a.h5", "same.h5", "--units", "real"), "--units means nothing to molrec-h5"),
    "streams": (("-", "-"), "standard input can be one of the files, not both"),
    "format": (("a.h5", "in.dump", "--from-b", "nope"), "there is no format 'nope'"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_is_told_from_a_difference(here, name):
    """Status 2 and one line."""
    words, message = TROUBLE[name]
    done = run("diff", *words, cwd=here)
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, b"", 1)
    assert done.stderr.startswith(f"molrec-convert: {message}")


def test_a_stream_and_its_record(here):
    assert run("in.dump", "out.h5", "-q", cwd=here).status == 0
    done = run("diff", "-", "out.h5", stdin=THREE.encode(), cwd=here)
    assert (done.status, done.stdout) == (0, b"the same: 3 frames\n")
    assert done.stderr == (
        "warning: standard input: the types are no elements; --type-map 1=Si,2=O names them (in 3 frames)\n"
    )


def test_options_of_sources(here):
    """Those that make a foreign file what its record is."""
    assert run("in.dump", "out.h5", "-q", "--units", "real", "--type-map", "1=H,2=O", cwd=here).status == 0
    assert run("diff", "in.dump", "out.h5", "-q", cwd=here).status == 1
    done = run(
        "diff", "in.dump", "out.h5", "--units", "real", "--type-map", "1=H,2=O", "--from-a", "lammps-dump", cwd=here
    )
    assert done == (0, b"the same: 3 frames\n", "")
