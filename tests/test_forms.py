# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A record is converted from each form to each, with all that it holds, known or not, and found by its content."""

import json
import shutil
import subprocess
import sys
import warnings

import h5py
import numpy as np
import pytest
import zarr

import molrec_convert as mc
from molrec_convert.errors import ConvertError, OptionError, RecordError, TargetError
from molrec_convert.model import Block, Box, Frame, Schema
from molrec_convert.part import PartFile
from molrec_convert.records import create, open_record

from .records.builders import rich_frame, write
from .records.test_append import frames_of
from .records.trees import FORMS, path_of

NAMES = {"h5": "molrec-h5", "mrec": "molrec-zarr", "zip": "molrec-zip"}


def assert_same(one, other):
    """Two records hold the same, declarations and documents included."""
    with open_record(one) as a, open_record(other) as b:
        assert a.meta == b.meta
        for name in ("frame", "system"):
            mine, theirs = getattr(a, name), getattr(b, name)
            assert (mine is None) == (theirs is None)
            assert mine is None or mine.same(theirs)
        assert (a.trajectory is None) == (b.trajectory is None)
        if a.trajectory is not None:
            assert a.trajectory.schema == b.trajectory.schema
            assert np.array_equal(a.trajectory.step, b.trajectory.step)
            assert (a.trajectory.time is None) == (b.trajectory.time is None)
            assert a.trajectory.time is None or np.array_equal(a.trajectory.time, b.trajectory.time, equal_nan=True)
            assert len(a) == len(b)
            for k in range(len(a)):
                assert a.trajectory.stored_frame(k).same(b.trajectory.stored_frame(k)), k


def made(path, kind):
    """A record of a kind."""
    frames = frames_of(9)
    if kind == "sections":
        with create(path, meta={"creator": {"name": "someone else"}, "none": None, "list": [1, 2.5]}) as writer:
            writer.set_section("system", rich_frame(1))
            writer.set_section("frame", rich_frame())
    elif kind == "trajectory":
        write(path, frames, times=[0.1 * k * k for k in range(9)], steps=[3 * k - 5 for k in range(9)])
    elif kind == "all of it":
        with create(path, meta={"creator": {"name": "someone else"}, "convert": {"old": True}}) as writer:
            writer.set_section("system", Frame({"molecules": {"mass": [1.0, 2.0]}}, box=Box.orthogonal(9)))
            writer.set_section(
                "frame", Frame({"mark": Block({"row": np.array([1], "u8")}, targets={"row": "/system/molecules"})})
            )
            trajectory = writer.begin_trajectory(Schema.of(frames))
            for k, frame in enumerate(frames):
                trajectory.append(frame, step=k)
    else:
        write(path, [], schema=Schema.of(frames))
    return path


KINDS = ("sections", "trajectory", "all of it", "no frames")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("target", FORMS)
def test_every_direction(tmp_path, source, target, kind):
    one = made(path_of(tmp_path, source, "one"), kind)
    other = path_of(tmp_path, target, "other")
    report = mc.convert(one, other)
    assert_same(one, other)
    with open_record(one) as record:
        assert (report.source_format, report.target_format) == (NAMES[source], NAMES[target])
        assert report.frames == len(record)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((one.name, other.name))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_input_gives_the_same_bytes(tmp_path, form):
    def content(path):
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        return [(p.relative_to(path).as_posix(), p.read_bytes()) for p in files]

    one = made(path_of(tmp_path, "mrec", "one"), "all of it")
    for name in ("a", "b"):
        mc.convert(one, path_of(tmp_path, form, name))
    assert content(path_of(tmp_path, form, "a")) == content(path_of(tmp_path, form, "b"))


# ---------------------------------------------------------------- found by content, or named
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["data", "data.h5", "data.mrec", "data.mrec.zip", "data.xyz"])
def test_a_record_of_any_name_is_found(tmp_path, form, name):
    path = made(path_of(tmp_path, form, "one"), "trajectory").rename(tmp_path / name)
    with mc.open(path) as record:
        assert record.form.name == NAMES[form]
    assert mc.convert(path, tmp_path / "out.h5").source_format == NAMES[form]
    assert len(mc.read(path)) == 9


@pytest.mark.parametrize("form", FORMS)
def test_formats_by_name(tmp_path, form):
    one = made(path_of(tmp_path, form, "one"), "trajectory")
    target = tmp_path / "run-17"
    mc.convert(one, target, from_format=NAMES[form], to_format=NAMES[form])
    assert_same(one, target)
    assert target.is_dir() == (form == "mrec")
    mc.write(tmp_path / "frame", rich_frame(), format=NAMES[form])
    with open_record(tmp_path / "frame") as record:
        assert record.frame.same(rich_frame())
        assert record.form.name == NAMES[form]


def test_what_is_no_record_though_it_is_said_to_be(tmp_path):
    (tmp_path / "text").write_text("text\n")
    (tmp_path / "folder").mkdir()
    for name, message in (("text", "not a readable HDF5 file"), ("folder", "no record: there is no zarr.json in it")):
        with pytest.raises(RecordError, match=message):
            mc.convert(tmp_path / name, tmp_path / "out.h5", from_format="molrec-zarr")
    with pytest.raises(ConvertError, match="a folder, not a file"):
        mc.convert(tmp_path / "folder", tmp_path / "out.h5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "text"]


def test_what_its_name_calls_a_record_is_told_what_it_lacks(tmp_path):
    (tmp_path / "a.mrec.zip").write_bytes(b"PK\3\4 and no more")
    (tmp_path / "b.mrec").mkdir()
    for name, message in (
        ("a.mrec.zip", "a damaged ZIP archive"),
        ("b.mrec", "no record: there is no zarr.json in it"),
    ):
        with pytest.raises(RecordError, match=message):
            mc.convert(tmp_path / name, tmp_path / "out.h5")


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_is_no_place_for_a_record(tmp_path, form):
    one = made(path_of(tmp_path, form, "one"), "trajectory")
    with pytest.raises(OptionError, match="a stream takes a foreign format: say --to; a record needs a file"):
        mc.convert(one, sys.stdout.buffer, to_format=NAMES[form])
    if form != "mrec":
        with (
            one.open("rb") as stream,
            pytest.raises(ConvertError, match="a record cannot be read from a stream, since"),
        ):
            mc.convert(stream, tmp_path / "out.h5")


# ---------------------------------------------------------------- what is replaced, and what is not
@pytest.mark.parametrize("target", FORMS)
def test_an_existing_target(tmp_path, target):
    one = made(tmp_path / "one.h5", "sections")
    path = made(path_of(tmp_path, target, "there"), "trajectory")
    with pytest.raises(TargetError, match="the target exists; force replaces it"):
        mc.convert(one, path)
    with mc.open(path) as record:
        assert len(record) == 9
    mc.convert(one, path, force=True)
    assert_same(one, path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(("one.h5", path.name))


def test_a_record_in_the_place_of_one_of_another_form(tmp_path):
    one = made(tmp_path / "one.h5", "sections")
    shutil.copy(made(tmp_path / "two.h5", "trajectory"), tmp_path / "there.mrec")  # a file of a folder's name
    mc.convert(one, tmp_path / "there.mrec", force=True)
    assert (tmp_path / "there.mrec").is_dir()
    assert_same(one, tmp_path / "there.mrec")
    mc.convert(tmp_path / "there.mrec", tmp_path / "there.mrec", force=True)  # itself
    assert_same(one, tmp_path / "there.mrec")
    made(tmp_path / "folder.mrec", "sections").rename(tmp_path / "folder.h5")
    with pytest.raises(TargetError, match="a folder of this name exists"):
        mc.convert(one, tmp_path / "folder.h5", force=True)


@pytest.mark.parametrize("place", ["thesis.tex", "frame/thesis.tex", "frame/atoms/x/c/notes", "plots/a/b.png"])
def test_a_folder_with_anything_else_in_it_is_not_touched(tmp_path, place):
    one = made(tmp_path / "one.h5", "sections")
    there = made(tmp_path / "there.mrec", "sections")
    (there / place).parent.mkdir(parents=True, exist_ok=True)
    (there / place).write_text("all of it")
    before = sorted(path.relative_to(there) for path in there.rglob("*"))
    with pytest.raises(TargetError, match="the target exists and is no record; it is not replaced by one"):
        mc.convert(one, there, force=True)
    assert sorted(path.relative_to(there) for path in there.rglob("*")) == before
    shutil.rmtree(there)
    (there / place).parent.mkdir(parents=True)
    (there / place).write_text("all of it")
    with pytest.raises(TargetError, match="the target exists and is no record; it is not replaced by one"):
        mc.convert(one, there, force=True)
    assert (there / place).read_text() == "all of it"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.h5", "there.mrec"]


def test_an_empty_folder_is_replaced(tmp_path):
    one = made(tmp_path / "one.h5", "sections")
    (tmp_path / "out.mrec").mkdir()
    mc.convert(one, tmp_path / "out.mrec", force=True)
    assert_same(one, tmp_path / "out.mrec")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_where_folders_cannot_be_exchanged(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr("molrec_convert.records.zarr_folder.exchanged", lambda one, other: False)
    test_an_existing_target(tmp_path, "mrec")


@pytest.mark.parametrize("form", FORMS)
def test_an_error_leaves_nothing(tmp_path, form):
    dump = tmp_path / "in.dump"
    good = "ITEM: TIMESTEP\n{0}\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
    good += "ITEM: ATOMS id x y z\n1 {0} 0 0\n"
    dump.write_text("".join(map(good.format, range(5))) + good.format("five"))
    with pytest.raises(ConvertError, match=r"in\.dump:"):
        mc.convert(dump, path_of(tmp_path, form, "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["in.dump"]


def test_two_conversions_to_one_folder(tmp_path):
    with PartFile(tmp_path / "out.mrec", force=False, replaceable=lambda path: True) as part:
        with pytest.raises(TargetError, match="another conversion is writing it"):
            PartFile(tmp_path / "out.mrec", force=False, replaceable=lambda path: True)
        part.discard()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_conversion_left_is_in_nobodys_way(tmp_path):
    one = made(tmp_path / "one.h5", "all of it")
    for name in ("out.mrec.part", "out.mrec.part.0"):
        made(tmp_path / f"{name}.mrec", "trajectory").rename(tmp_path / name)
        (tmp_path / name / ".unfinished" / "3").mkdir(parents=True)
        (tmp_path / name / "trajectory" / "zarr.json.part").write_text("{")
    mc.convert(one, tmp_path / "out.mrec")
    assert_same(one, tmp_path / "out.mrec")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.h5", "out.mrec"]
    (tmp_path / "new.mrec.part").mkdir()
    (tmp_path / "new.mrec.part" / "thesis.tex").write_text("all of it")
    with pytest.raises(TargetError, match=r"new\.mrec\.part is in the way, and no part of a record"):
        mc.convert(one, tmp_path / "new.mrec")
    assert (tmp_path / "new.mrec.part" / "thesis.tex").exists()


# ---------------------------------------------------------------- what MolRec does not know
ARRAYS = {
    "status/state": np.array(3),
    "status/done": np.array([True, False]),
    "observables/rdf/g": np.arange(6.0).reshape(2, 3),
    "observables/rdf/single": np.arange(3, dtype="f4"),
    "observables/half": np.arange(3, dtype="f2"),
    "observables/none": np.zeros((0, 3)),
    "observables/one": np.array(1.5, "f4"),
    "observables/wide": np.array([2**64 - 1], "u8"),
    "observables/complex": np.array([1 + 2j], "c16"),
    "forcefield/bonds/pairs": np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")]),
    "metrics/label": np.array([b"ab", b"c"], "S2"),
    "frame/loose": np.arange(4),
    "frame/atoms/sub/deep": np.arange(3),
    "trajectory/extra/v": np.arange(3.0),
}
TEXTS = {"method/name": ["é", "", "long " * 50], "status/one": "a text"}
ATTRIBUTES = {
    "/": {"molrec_version": "0.9", "n": 3},
    "status": {"note": "é", "n": 7, "x": 0.1, "big": 2**63, "flag": True, "list": [1, 2, 3], "reals": [0.5, -0.0]},
    "method": {"settings": {"cutoff": 1.5, "names": ["a", None], "deep": {"empty": {}, "list": []}}, "null": None},
    "frame/atoms": {"colour": "red", "style": {"a": [1, "b"]}},
    "frame/atoms/x": {"unit": "angstrom"},
    "trajectory": {"run": {"id": 5}},
    "trajectory/atoms": {"colour": "blue"},
    "trajectory/atoms/x": {"unit": "nm"},
    "trajectory/meta/pe": {"unit": "eV"},
}


def with_unknown(path):
    """A record in a folder with sections, arrays and attributes that MolRec does not know."""
    frames = [Frame({"atoms": {"x": [float(k), 1.0]}}, meta={"pe": float(k)}) for k in range(3)]
    with create(path) as writer:
        writer.set_section("frame", Frame({"atoms": {"x": [1.0, 2.0]}}))
        trajectory = writer.begin_trajectory(Schema.of(frames))
        for k, frame in enumerate(frames):
            trajectory.append(frame, step=k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types that only zarr-python has
        root = zarr.open_group(path, mode="r+")
        for place in (
            "status",
            "method",
            "observables/rdf",
            "forcefield/bonds",
            "metrics/empty",
            "frame/atoms/sub",
            "trajectory/extra",
        ):
            root.require_group(place)
        for place, values in ARRAYS.items():
            root.create_array(place, data=values)
        for place, text in TEXTS.items():
            root.create_array(place, data=np.array(text, np.dtypes.StringDType()))
        for place, attributes in ATTRIBUTES.items():
            root[place].attrs.update(attributes) if place != "/" else root.attrs.update(attributes)
    return path


def assert_unknown(path):
    """All of it is in a folder, of the types that it had."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.open_group(path, mode="r")
        for place, values in ARRAYS.items():
            assert root[place].dtype == values.dtype, place
            assert root[place].shape == values.shape, place
            assert np.array_equal(root[place][...], values), place
        for place, text in TEXTS.items():
            assert np.asarray(root[place][...]).tolist() == text, place
        assert "empty" in root["metrics"]
        for place, attributes in ATTRIBUTES.items():
            found = dict((root[place] if place != "/" else root).attrs)
            for name, value in attributes.items():
                assert json.dumps(found[name]) == json.dumps(value), (place, name)


@pytest.mark.parametrize("way", [("mrec",), ("zip", "mrec"), ("h5", "mrec"), ("h5", "zip", "h5", "mrec")])
def test_the_unknown_is_carried(tmp_path, way):
    path = with_unknown(tmp_path / "one.mrec")
    for k, form in enumerate(way):
        target = path_of(tmp_path, form, f"way-{k}")
        mc.convert(path, target)
        assert_same(path, target)
        path = target
    assert_unknown(path)


def test_forms_that_only_hdf5_has(tmp_path):
    """What has a form in JSON is carried in it; what has none stops the conversion, and says where it is."""
    path = write(tmp_path / "one.h5", [Frame({"a": {"v": [1.0]}})])
    with h5py.File(path, "r+") as file:
        group = file.create_group("status")
        group.attrs["single"] = np.float32(0.5)
        group.attrs["ascii"] = np.bytes_(b"text")
        group.attrs["names"] = ["a", "b"]
        group.attrs["nothing"] = h5py.Empty("f8")
        group.attrs["limits"] = np.array([np.nan, np.inf])
        group.attrs["matrix"] = np.eye(2, dtype="i2")
    mc.convert(path, tmp_path / "two.mrec")
    assert json.loads((tmp_path / "two.mrec" / "status" / "zarr.json").read_text())["attributes"] == {
        "single": 0.5, "ascii": "text", "names": ["a", "b"], "nothing": None, "limits": ["NaN", "Infinity"],
        "matrix": [[1, 0], [0, 1]],
    }  # fmt: skip
    with h5py.File(path, "r+") as file:
        file["status"].attrs["link"] = file["trajectory"].ref
    with pytest.raises(RecordError, match="/status@link: an attribute that has no form in JSON"):
        mc.convert(path, tmp_path / "three.mrec")
    with h5py.File(path, "r+") as file:
        del file["status"].attrs["link"]
        file["status/links"] = np.array([file["trajectory"].ref], h5py.ref_dtype)
    with pytest.raises(RecordError, match=r"/status/links: values of a type \(object\) that Zarr has not"):
        mc.convert(path, tmp_path / "three.mrec")
    assert not (tmp_path / "three.mrec").exists()


# ---------------------------------------------------------------- the command line
def test_the_command_line(tmp_path):
    def run(*words):
        code = f"import sys; sys.path[:] = {sys.path!r}; from molrec_convert.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )

    made(tmp_path / "one.h5", "trajectory")
    for words in (("one.h5", "a.mrec"), ("a.mrec", "b.mrec.zip"), ("b.mrec.zip", "c", "--to", "molrec-zarr"),
                  ("c", "d.h5", "--from", "molrec-zarr")):  # fmt: skip
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, "")
    for name in ("a.mrec", "b.mrec.zip", "c", "d.h5"):
        assert_same(tmp_path / "one.h5", tmp_path / name)
    done = run("one.h5", "a.mrec")
    assert done.returncode == 1
    assert done.stderr.startswith("molrec-convert: a.mrec: the target exists; ")
    assert run("one.h5", "a.mrec", "--force").returncode == 0
    assert "repair" in run("repair", "--help").stdout
    assert "; it holds 9 frames" in run("repair", "a.mrec").stdout
    listed = {row["name"]: row for row in json.loads(run("formats", "--json").stdout)}
    assert [listed[name]["patterns"] for name in NAMES.values()] == ["*.h5", "*.mrec", "*.mrec.zip"]
