"""Records that are laid out in different ways, and what stands beside their frames."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame, Schema
from molrec_convert.records import create

from .changes import NAN
from .water import SUFFIXES, trajectory, u64, water


def atoms(*x, **columns):
    return Frame({"atoms": Block({"x": list(x), **columns})})


def written(path, frames=(), *, schema=None, system=None, frame=None, meta=None):
    """A record, section by section."""
    with create(path, meta=meta) as writer:
        if system is not None:
            writer.set_section("system", system)
        if frame is not None:
            writer.set_section("frame", frame)
        if frames or schema is not None:
            series = writer.begin_trajectory(schema or Schema.of(frames))
            for k, each in enumerate(frames):
                series.append(each, step=k)
    return path


@pytest.fixture
def pair(tmp_path):
    """Write two records and compare them: ``pair({"frames": …}, {"frames": …}, ignore=[…])``."""

    def compare(one, other, **options):
        return mc.diff(written(tmp_path / "a.h5", **one), written(tmp_path / "b.h5", **other), **options)

    return compare


def items(found):
    return [(each.item, each.what) for each in found.differences]


# ---------------------------------------------------------------- layouts that mean the same
def test_a_split_record_is_its_whole(pair):
    """Columns once in ``system``, or in every frame; keys of all frames, or of each."""
    fixed = Frame(
        {"atoms": Block({"id": u64(1, 2)}), "bonds": Block({"atomi": u64(0), "atomj": u64(1)})}, meta={"n": 1}
    )
    whole = [
        Frame({"atoms": Block({"id": u64(1, 2), "x": [0.0, k]}), "bonds": fixed["bonds"]}, meta={"n": 1})
        for k in (1.0, 2.0)
    ]
    split = [atoms(0.0, 1.0), atoms(0.0, 2.0)]
    assert pair({"frames": split, "system": fixed}, {"frames": whole}).same
    whole[1]["atoms"] = Block({"id": u64(1, 3), "x": [0.0, 2.0]})
    found = pair({"frames": split, "system": fixed}, {"frames": whole})
    assert items(found) == [("atoms.id", "value")]
    assert (found.first.frame, found.first.row) == (1, 1)


def test_targets_are_those_of_the_resolved_frame(pair):
    """Rows of atoms, wherever these stand."""
    bonds = Block({"atomi": u64(0), "atomj": u64(1)})
    near = [Frame({"atoms": Block({"x": [0.0, 1.0]}), "bonds": bonds})]
    far = [Frame({"bonds": Block(bonds.columns, targets=dict.fromkeys(("atomi", "atomj"), "/system/atoms"))})]
    assert pair({"frames": near}, {"frames": far, "system": atoms(0.0, 1.0)}).same


def test_another_target(pair):
    blocks = {"atoms": {"x": [0.0]}, "sites": {"y": [0.0]}}
    one, other = (Frame({**blocks, "marks": Block({"row": u64(0)}, targets={"row": to})}) for to in ("atoms", "sites"))
    found = pair({"frame": one}, {"frame": other})
    assert items(found) == [("marks.row", "target")]
    assert (found.first.a, found.first.b) == ("atoms", "sites")
    assert pair({"frame": one}, {"frame": Frame({**blocks, "marks": Block({"row": u64(0)})})}).first.b is None


def test_a_frame_and_a_trajectory_of_it(tmp_path):
    """One frame is one frame, in whichever section; its step and time are its own."""
    one, other = tmp_path / "a.h5", tmp_path / "b.h5"
    written(one, frame=Frame(dict(water()), box=water().box, meta={**water().meta, "timestep": 0}))
    written(other, [water()])
    assert mc.diff(one, other).same
    assert mc.diff(other, one).same
    written(other, [water(1)])
    assert not mc.diff(one, other).same


def test_order_does_not_matter(pair):
    one = Frame({"atoms": Block({"x": [0.0], "y": [1.0]}), "more": {"z": [2.0]}}, meta={"a": 1, "b": 2})
    other = Frame({"more": {"z": [2.0]}, "atoms": Block({"y": [1.0], "x": [0.0]})}, meta={"b": 2, "a": 1})
    assert pair({"frame": one}, {"frame": other}).same
    assert pair({"frames": [one]}, {"frames": [other]}).same


def test_a_fill_is_the_value_that_it_stands_for(pair):
    """A key that a frame lacks is its fill, whoever wrote it."""
    frames = [Frame(meta={"pe": 1.0}), Frame(meta={"pe": NAN})]
    schema = Schema.of([Frame(meta={"pe": 1.0}), Frame()])
    assert pair({"frames": frames}, {"frames": [frames[0], schema.conform(Frame())], "schema": schema}).same


def test_what_stands_under_a_null_does_not_matter(pair):
    one, other = (atoms(0.0, 1.0, tag=Column(np.array([1, under]), valid=[True, False])) for under in (2, 3))
    assert pair({"frame": one}, {"frame": other}).same


def test_carried_forward_or_written_anew(pair):
    """An update that changes nothing is none."""
    frames = [Frame({"atoms": {"x": [0.0]}, "late": {"y": [1.0]}}), Frame({"atoms": {"x": [1.0]}})]
    again = [frames[0], Frame({"atoms": {"x": [1.0]}, "late": {"y": [1.0]}})]
    schema = Schema.of(frames)
    assert pair({"frames": frames, "schema": schema}, {"frames": again, "schema": schema}).same


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("other", SUFFIXES)
def test_every_form_holds_the_same(tmp_path, suffix, other):
    mc.write(tmp_path / f"a{suffix}", trajectory())
    mc.write(tmp_path / f"b{other}", trajectory())
    assert mc.diff(tmp_path / f"a{suffix}", tmp_path / f"b{other}").same


# ---------------------------------------------------------------- what no frame shows
def test_sections_beside_a_trajectory(pair):
    frames = [atoms(0.0)]
    assert items(pair({"frames": frames, "frame": atoms(1.0)}, {"frames": frames})) == [("frame", "missing")]
    found = pair({"frames": frames, "frame": atoms(1.0)}, {"frames": frames, "frame": atoms(2.0)})
    assert items(found) == [("frame/atoms.x", "value")]
    for name in ("frame", "atoms", "atoms.x", "frame/atoms.x"):
        options = {"ignore": [name]}
        assert pair({"frames": frames, "frame": atoms(1.0)}, {"frames": frames, "frame": atoms(2.0)}, **options).same


def test_the_box_of_a_system(pair):
    """No frame takes it over."""
    frames = [atoms(0.0)]
    one, other = (Frame({"atoms": {"mass": [1.0]}}, box=Box.orthogonal(edge)) for edge in (5.0, 6.0))
    found = pair({"frames": frames, "system": one}, {"frames": frames, "system": other})
    assert items(found) == [("system/box.vectors", "value")]


def test_a_system_without_frames(pair):
    one, other = (Frame({"atoms": {"mass": [mass]}}) for mass in (1.0, 2.0))
    assert items(pair({"system": one}, {"system": other})) == [("system/atoms.mass", "value")]
    assert pair({"system": one}, {"system": one}).same
    assert items(pair({"system": one}, {"frame": one})) != []


def test_declarations_of_a_trajectory_without_frames(pair):
    one, other, third = (Schema.of([frame]) for frame in (atoms(0.0), atoms(0.0, k=[1.0]), atoms(0.0, k=u64(1))))
    assert pair({"schema": one}, {"schema": one}).same
    assert items(pair({"schema": one}, {"schema": other})) == [("atoms.k", "missing")]
    assert items(pair({"schema": other}, {"schema": third})) == [("atoms.k", "type")]
    keyed = [Schema.of([Frame(meta={"a": value})]) for value in (1, 1.0)]
    assert items(pair({"schema": keyed[0]}, {"schema": keyed[1]})) == [("meta.a", "type")]
    assert items(pair({"schema": keyed[0]}, {"schema": one})) == [("atoms", "missing"), ("meta.a", "missing")]


def test_a_block_that_is_declared_and_never_set(pair):
    frames = [atoms(0.0)]
    schema = Schema.of([Frame({"atoms": {"x": [0.0]}, "never": {"y": [0.0]}})])
    found = pair({"frames": frames}, {"frames": frames, "schema": schema})
    assert items(found) == [("never", "missing")]


def test_alignment(pair):
    frames = [Frame({"atoms": {"x": [0.0]}, "more": {"y": [0.0]}})]
    plain = Schema.of(frames)
    aligned = replace(plain, blocks={**plain.blocks, "more": replace(plain.blocks["more"], aligned_with="atoms")})
    found = pair({"frames": frames, "schema": plain}, {"frames": frames, "schema": aligned})
    assert items(found) == [("more", "alignment")]


# ---------------------------------------------------------------- what MolRec does not know
UNKNOWN = {
    "a section": (lambda file: file.create_group("status"), ("/status", "missing")),
    "an array": (lambda file: file["forcefield/pairs"].__setitem__(0, 9), ("/forcefield/pairs", "value")),
    "a shape": (
        lambda file: replaced(file, "forcefield/pairs", np.zeros(5, np.int64)),
        ("/forcefield/pairs", "shape"),
    ),
    "a type": (lambda file: replaced(file, "forcefield/pairs", np.zeros(4)), ("/forcefield/pairs", "type")),
    "an array for a group": (
        lambda file: replaced(file, "forcefield/inner", np.zeros(4)),
        ("/forcefield/inner", "type"),
    ),
    "a child": (lambda file: file["forcefield"].create_group("more"), ("/forcefield/more", "missing")),
    "an attribute": (
        lambda file: file["forcefield"].attrs.__setitem__("style", 2),
        ("/forcefield@style", "value"),
    ),
    "an attribute more": (
        lambda file: file["forcefield/pairs"].attrs.__setitem__("unit", 1),
        ("/forcefield/pairs@unit", "missing"),
    ),
    "of the root": (lambda file: file.attrs.__setitem__("version", 2), ("/@version", "missing")),
    "in a block": (lambda file: file["frame/atoms"].create_group("_x"), ("/frame/atoms/_x", "missing")),
}


def replaced(file, place, values):
    del file[place]
    file[place] = values


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_parts(tmp_path, name):
    change, expected = UNKNOWN[name]
    for path in (tmp_path / "a.h5", tmp_path / "b.h5"):
        written(path, frame=atoms(0.0))
        with h5py.File(path, "r+") as file:
            file["forcefield/pairs"] = np.arange(4)
            file["forcefield/inner/deep"] = np.arange(2)
            file["forcefield"].attrs["style"] = 1
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5").same
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        change(file)
    found = mc.diff(tmp_path / "a.h5", tmp_path / "b.h5")
    assert items(found) == [expected]
    assert found.first.frame is None
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5", ignore=[expected[0]]).same


def test_unknown_parts_of_unknown_types_are_named(tmp_path):
    """They cannot be compared, which is said."""
    for path in (tmp_path / "a.h5", tmp_path / "b.h5"):
        written(path, frame=atoms(0.0))
        with h5py.File(path, "r+") as file:
            file["forcefield/half"] = np.zeros(2, "f2")
    found = mc.diff(tmp_path / "a.h5", tmp_path / "b.h5")
    assert found.same
    assert found.warnings == ("not compared, being of types that MolRec does not have: /forcefield/half",)


def test_unknown_parts_are_told_by_info(tmp_path):
    written(tmp_path / "a.h5", frame=atoms(0.0))
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["forcefield/pairs"] = np.arange(4)
        file["frame/atoms/x"].attrs["unit"] = "nm"
    assert mc.info(tmp_path / "a.h5").unknown == ("/forcefield", "/frame/atoms/x@unit")
