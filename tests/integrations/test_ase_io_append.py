"""Adding Atoms to a record that exists, through `ase.io.write(…, append=True)`."""

import os

import ase.io
import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.calculators.singlepoint import SinglePointCalculator
from ase.constraints import FixAtoms

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, OptionError
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, document
from molrec_convert.model import Block, Frame

from ..atoms import assert_same_atoms, random_atoms
from ..compare import assert_same_frames
from ..converting import left_behind
from ..records.builders import check_with_arbiter

FORMS = ("x.h5", "x.mrec.zip", "x.mrec")


def images(count=4, first=0):
    made = []
    for k in range(first, first + count):
        atoms = bulk("Cu", cubic=True)
        atoms.rattle(0.1, seed=k)
        atoms.info["k"] = k
        atoms.calc = SinglePointCalculator(atoms, energy=float(k), forces=atoms.positions * 2)
        made.append(atoms)
    return made


def append(path, atoms):
    ase.io.write(path, atoms, format="molrec", append=True)


def assert_holds(path, due):
    found = ase.io.read(path, ":", format="molrec")
    for k, (one, other) in enumerate(zip(due, found, strict=True)):
        assert_same_atoms(one, other, f"image {k}")
    with mc.open(path) as record:
        assert record.trajectory.step.tolist() == list(range(len(due)))
    if path.suffix == ".h5":
        check_with_arbiter(path, len(due))
    assert left_behind(path.parent) == []


@pytest.mark.parametrize("name", FORMS)
def test_one_by_one(tmp_path, name):
    """From nothing on, as a loop of molecular dynamics does it."""
    due = images(5)
    for k in range(5):
        append(tmp_path / name, due[k])
        assert_holds(tmp_path / name, due[: k + 1])


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("begun", [1, 3])
def test_several_at_once(tmp_path, name, begun):
    """To a record of one frame, which becomes a trajectory, and to a trajectory."""
    due = images(6)
    ase.io.write(tmp_path / name, due[:begun], format="molrec")
    append(tmp_path / name, due[begun:])
    assert_holds(tmp_path / name, due)


def test_frames_that_fit_are_added_in_place(tmp_path):
    """So that adding does not take longer the more there is."""
    path, due = tmp_path / "x.h5", images(40)
    append(path, due[0])
    before = os.stat(path).st_ino
    for atoms in due[1:]:
        append(path, atoms)
    assert os.stat(path).st_ino == before
    assert_holds(path, due)


def with_tags(atoms):
    atoms.set_tags(range(len(atoms)))


def with_constraint(atoms):
    atoms.set_constraint(FixAtoms([0]))


CHANGES = {
    "another number of atoms": lambda atoms: atoms.pop(),
    "other elements": lambda atoms: atoms.set_atomic_numbers([29, 29, 29, 79]),
    "a new array": lambda atoms: atoms.arrays.update(foo=np.arange(4.0)),
    "a new value": lambda atoms: atoms.info.update(new="text"),
    "a value less": lambda atoms: atoms.info.clear(),
    "a cell of NaN": lambda atoms: atoms.set_cell(np.full((3, 3), np.nan)),
    "text of no columns": lambda atoms: atoms.arrays.update(foo=np.zeros((4, 0), "U3")),
    "a value of another type": lambda atoms: atoms.info.update(k="text"),
    "a value that no real equals": lambda atoms: atoms.info.update(k=2**60 + 1),
    "no cell": lambda atoms: atoms.set_cell(None),
    "a slab": lambda atoms: (atoms.set_cell([5, 5, 0]), atoms.set_pbc([True, True, False])),
    "a displaced cell": lambda atoms: atoms.set_celldisp([1.0, 2.0, 3.0]),
    "another cell": lambda atoms: atoms.set_cell([5, 6, 7]),
    "momenta": lambda atoms: atoms.set_momenta(np.ones((4, 3))),
    "no results": lambda atoms: setattr(atoms, "calc", None),
    "tags": with_tags,
    "a constraint": with_constraint,
    "a time": lambda atoms: atoms.info.update(time=2.5),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
def test_frames_that_do_not_fit(tmp_path, change):
    """They make the record anew, under a declaration that holds all of them; the next one may fit again."""
    path, due = tmp_path / "x.h5", images(4)
    ase.io.write(path, due[:2])
    CHANGES[change](due[2])
    if due[2].calc is not None and due[2].calc.check_state(due[2]):
        due[2].calc = SinglePointCalculator(due[2], energy=1.0)
    for atoms in due[2:]:
        append(path, atoms)
    assert_holds(path, due)


KINDS = (
    1.5,
    3,
    -0.0,
    float("nan"),
    2**60 + 1,
    True,
    "2.5",
    "nan",
    b"ab",
    {"a": 1.0},
    [True, False, True],
    np.arange(3.0),
    np.array([1, 2, 3]),
    [float("nan"), 1.0, 2.0],
    np.arange(6.0),
    np.eye(3),
)


@pytest.mark.parametrize("begun", [1, 2])
@pytest.mark.parametrize("first", range(len(KINDS)))
def test_values_of_another_kind_under_the_same_key(tmp_path, first, begun):
    """What the declared tag of a key does not hold exactly makes the record anew, and every value comes back."""
    for k, value in enumerate(KINDS):
        due = [Atoms("H", info={"k": each}) for each in (*[KINDS[first]] * begun, value)]
        ase.io.write(tmp_path / f"{k}.h5", due[:begun])
        append(tmp_path / f"{k}.h5", due[begun:])
        for one, other in zip(due, ase.io.read(tmp_path / f"{k}.h5", ":"), strict=True):
            assert_same_atoms(one, other, f"{KINDS[first]!r}, then {value!r}")


def test_arrays_of_other_axes(tmp_path):
    path, due = tmp_path / "x.h5", images(3)
    for atoms, array in zip(due, (np.zeros(4), np.zeros((4, 2)), np.array(["a"] * 4)), strict=True):
        atoms.arrays["foo"] = array
        append(path, atoms)
    assert_holds(path, due)


@pytest.mark.parametrize("seed", range(300, 340, 5))
@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
def test_anything_to_anything(tmp_path, seed):
    due = [random_atoms(seed + k) for k in range(5)]
    for atoms in due:
        atoms.info.pop("time", None)
        append(tmp_path / "x.h5", atoms)
    found = ase.io.read(tmp_path / "x.h5", ":")
    for k, (one, other) in enumerate(zip(due, found, strict=True)):
        assert_same_atoms(one, other, f"image {k}")


def test_the_record_is_that_of_one_write(tmp_path):
    """As far as reading tells: the same frames, the same parts that stand once."""
    due = [fcc111("Cu", (2, 2, 2), vacuum=5.0) for _ in range(4)]
    for k, atoms in enumerate(due):
        atoms.rattle(0.1, seed=k)
        append(tmp_path / "x.h5", atoms)
    ase.io.write(tmp_path / "y.h5", due)
    with mc.open(tmp_path / "x.h5") as one, mc.open(tmp_path / "y.h5") as other:
        assert one.meta == other.meta
        assert_same_frames(one.system, other.system, "system")
        for k in range(4):
            assert_same_frames(one.trajectory[k], other.trajectory[k], f"frame {k}")


def test_a_frame_that_becomes_a_trajectory_keeps_what_stands_once(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(1))
    append(tmp_path / "x.h5", images(1, 1))
    with mc.open(tmp_path / "x.h5") as record:
        assert record.frame is None
        assert "ase_map" in record.system.meta
        assert list(record.trajectory.schema.meta) == ["pe", "k"]


# ---------------------------------------------------------------- records that do not come from Atoms
def foreign(path, units, count=2, bonds=False):
    atoms = {
        "element": ["O", "H"],
        "y": [0.0, 0.0],
        "z": [0.0, 0.0],
        "fx": [1.0, 1.0],
        "fy": [0.0] * 2,
        "fz": [0.0] * 2,
    }
    blocks = {"bonds": Block({"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")})} if bonds else {}
    frames = [Frame({"atoms": {**atoms, "x": [0.0, 1.0 + k]}, **blocks}) for k in range(count)]
    mc.write(path, frames, step=[10 * k for k in range(count)], units=units)


def oh(**results):
    atoms = Atoms("OH", positions=[[0.0, 0.0, 0.0], [2.5, 0.0, 0.0]])
    atoms.calc = SinglePointCalculator(atoms, forces=[[2.0, 0.0, 0.0]] * 2, **results)
    return atoms


def test_atoms_are_converted_to_the_units_of_the_record(tmp_path):
    path = tmp_path / "x.h5"
    foreign(path, {**document(SYSTEMS["gromacs"]), "mass": "amu"})
    append(path, oh(energy=1.0))
    with mc.open(path) as record:
        assert record.trajectory.step.tolist() == [0, 10, 11]
        last = record.trajectory[2]
        assert last["atoms"]["x"].tolist() == pytest.approx([0.0, 0.25])
        assert last.meta["pe"] == pytest.approx(96.485332)
    assert ase.io.read(path).positions[1, 0] == pytest.approx(2.5)
    assert ase.io.read(path).get_forces()[0, 0] == pytest.approx(2.0)
    assert ase.io.read(path, 0).positions[1, 0] == pytest.approx(10.0)


def test_atoms_are_no_ratios(tmp_path):
    foreign(tmp_path / "x.h5", dict(DIMENSIONLESS_DOCUMENT))
    before = (tmp_path / "x.h5").read_bytes()
    with pytest.raises(OptionError, match="the numbers of the record have no dimension, those of ASE Atoms do"):
        append(tmp_path / "x.h5", oh())
    assert (tmp_path / "x.h5").read_bytes() == before


def test_units_that_are_not_known_are_told(tmp_path):
    foreign(tmp_path / "x.h5", None)
    with pytest.warns(ConvertWarning, match="the units of the record are not known, and are taken for those of ASE"):
        append(tmp_path / "x.h5", oh())


def test_bonds_do_not_hold_for_atoms_that_have_none(tmp_path):
    path = tmp_path / "x.h5"
    foreign(path, {"length": "angstrom"}, bonds=True)
    append(path, oh())
    with mc.open(path) as record:
        assert [frame["bonds"].count for frame in record.trajectory] == [1, 1, 0]


def test_nothing_to_add(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(1))
    with pytest.raises(OptionError, match="there are no ASE Atoms to add"):
        append(tmp_path / "x.h5", [])


def test_another_file_is_not_added_to(tmp_path):
    (tmp_path / "x.h5").write_text("three years of work")
    with pytest.raises(mc.ConvertError):
        append(tmp_path / "x.h5", molecule("H2"))
    assert (tmp_path / "x.h5").read_text() == "three years of work"
