"""Formats that go through ASE: files that ASE writes come back as they are, and so do records."""

import warnings

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.singlepoint import SinglePointCalculator
from ase.io import read, write

from molrec_convert import registry
from molrec_convert.convert import convert
from molrec_convert.errors import FormatError
from molrec_convert.records import open_record
from molrec_convert.sniff import source_adapter, target_adapter

SALT = bulk("NaCl", "rocksalt", a=5.64, cubic=True)


def series(count=4):
    frames = []
    for k in range(count):
        atoms = bulk("Cu", cubic=True)
        atoms.rattle(0.1, seed=k)
        atoms.set_momenta(np.arange(12).reshape(4, 3) / 7 + k)
        atoms.info["label"] = f"step {k}"
        forces = np.arange(12.0).reshape(4, 3) / 3
        atoms.calc = SinglePointCalculator(atoms, energy=-k / 3, forces=forces)
        frames.append(atoms)
    return frames


@pytest.mark.parametrize(
    "name", ["POSCAR", "CONTCAR.relaxed", "salt.cif", "salt.xsf", "salt.gen", "salt.json", "salt.res"]
)
def test_a_structure(tmp_path, name):
    source = tmp_path / name
    write(source, SALT)
    report = convert(source, tmp_path / "out.h5")
    assert report.source_format.startswith("ase:")
    due = read(source)
    with open_record(tmp_path / "out.h5") as record:
        assert record.trajectory is None
        atoms = record.frame["atoms"]
        assert atoms["element"].tolist() == due.get_chemical_symbols()
        assert np.array_equal(np.stack([atoms[axis] for axis in "xyz"], axis=1), due.positions)
        assert np.array_equal(record.frame.box.vectors, due.cell.array.T)
        assert record.frame.box.boundary.tolist() == due.pbc.tolist()
        assert record.meta["units"]["length"] == "angstrom"
        assert record.meta["source"]["library"]["name"] == "ASE"
        assert record.meta["source"]["format"] == report.source_format


def test_a_trajectory_comes_back_to_the_last_bit(tmp_path):
    frames = series()
    write(tmp_path / "in.traj", frames)
    convert(tmp_path / "in.traj", tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as record:
        assert len(record.trajectory) == 4
        assert "element" in record.system["atoms"]
    report = convert(tmp_path / "out.h5", tmp_path / "back.traj")
    assert not report.losses
    for due, found in zip(frames, read(tmp_path / "back.traj", ":"), strict=True):
        assert np.array_equal(due.positions, found.positions)
        assert np.array_equal(due.get_momenta(), found.get_momenta())
        assert np.array_equal(due.get_forces(), found.get_forces())
        assert due.get_potential_energy() == found.get_potential_energy()
        assert due.info == found.info


@pytest.mark.parametrize("frames", ["0", "-1", "1:3", "::2"])
def test_some_frames(tmp_path, frames):
    write(tmp_path / "in.traj", series(5))
    convert(tmp_path / "in.traj", tmp_path / "out.h5", frames=frames)
    index = [0, 1, 2, 3, 4][slice(*(int(part) if part else None for part in frames.split(":")))] if ":" in frames else [
        range(5)[int(frames)]
    ]  # fmt: skip
    with open_record(tmp_path / "out.h5") as record:
        assert record.trajectory.step.tolist() == list(range(len(index)))
        energies = [frame.meta["pe"] for frame in record.trajectory]
        assert energies == [-k / 3 for k in index]


def test_what_a_format_loses_is_named(tmp_path):
    write(tmp_path / "in.traj", series(2))
    report = convert(tmp_path / "in.traj", tmp_path / "POSCAR")
    lost = report.losses.losses
    assert {"atoms.fx", "pe", "label", "frames after the first"} <= set(lost)
    assert not {"atoms.x", "atoms.element", "box"} & set(lost)
    assert np.array_equal(read(tmp_path / "POSCAR").get_chemical_symbols(), ["Cu"] * 4)


def test_rounding_is_named(tmp_path):
    write(tmp_path / "in.traj", series(1))
    report = convert(tmp_path / "in.traj", tmp_path / "out.cfg")
    assert report.losses.losses["digits of atoms.x"].reason.startswith("up to ")


def test_moved_atoms_are_named(tmp_path):
    """A CIF puts all atoms into the cell."""
    write(tmp_path / "in.traj", Atoms("H", [[-1, 0, 0]], cell=[5, 5, 5], pbc=True))
    report = convert(tmp_path / "in.traj", tmp_path / "out.cif")
    reason = "atoms are moved by whole vectors of the cell when the file is read again"
    assert report.losses.losses["images of atoms"].reason == reason


def test_a_file_that_ase_cannot_read(tmp_path):
    (tmp_path / "POSCAR").write_text("no structure\n1.0\n")
    with pytest.raises(FormatError, match=r"^POSCAR \(frame 0\): ASE cannot read it as ase:vasp \(") as caught:
        convert(tmp_path / "POSCAR", tmp_path / "out.h5")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["POSCAR"]


def test_a_name_with_an_at_sign(tmp_path):
    """To ASE what follows the sign chooses images; here it belongs to the name."""
    write(tmp_path / "run@2.traj", series(3), format="traj")
    report = convert(tmp_path / "run@2.traj", tmp_path / "out.h5")
    assert report.frames == 3


def test_molecules_without_a_cell(tmp_path):
    write(tmp_path / "in.json", molecule("CH3OH"))
    convert(tmp_path / "in.json", tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as record:
        assert record.frame.box is None or not record.frame.box.defined


def test_a_number_of_atoms_that_changes(tmp_path):
    frames = [Atoms("H", [[0, 0, 0]]), Atoms("H2", [[0, 0, 0], [0, 0, 0.7]])]
    write(tmp_path / "in.traj", frames)
    convert(tmp_path / "in.traj", tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as record:
        assert [frame["atoms"].count for frame in record.trajectory] == [1, 2]


@pytest.mark.parametrize(
    ("name", "head", "due"),
    [
        ("POSCAR", b"Si\n1.0\n", "ase:vasp"),
        ("CONTCAR.gz", b"Si\n1.0\n", "ase:vasp"),
        ("x.cif", b"data_x\n", "ase:cif"),
        ("any.name", b"- of UlmASE-Trajectory", "ase:traj"),
        ("XDATCAR_1", b"Si\n", "ase:vasp-xdatcar"),
        ("a.gen", b"2 C\nH\n1 1 0 0 0\n2 1 0 0 1\n", "ase:gen"),
    ],
)
def test_found_by_content_and_name(name, head, due):
    assert source_adapter(name, head).name == due


@pytest.mark.parametrize(("name", "due"), [("POSCAR", "ase:vasp"), ("x.cif", "ase:cif"), ("x.traj", "ase:traj")])
def test_written_by_name(name, due):
    assert target_adapter(name).name == due


def test_pictures_have_to_be_asked_for():
    assert registry.family_writer("x.png") is None
    assert registry.by_name("ase:png").writes


def test_our_own_come_first():
    for name in ("x.xyz", "x.pdb", "x.cube", "x.data", "x.lammpstrj"):
        assert ":" not in target_adapter(name).name


def test_every_format_is_described():
    family = next(each for each in registry.families() if each.name == "ase")
    found = [family.adapter(name) for name in family.formats()]
    known = [adapter for adapter in found if adapter is not None]
    assert len(known) > 60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of formats that are moving out of ASE
        for adapter in known:
            assert adapter.reads or adapter.writes
            assert adapter.patterns
            assert registry.by_name(adapter.name).name == adapter.name


def test_a_turned_cell_is_named_as_such(tmp_path):
    """A CIF knows lengths and angles: the positions are there, in another orientation."""
    write(tmp_path / "in.traj", bulk("Fe", cubic=False) * (2, 1, 1))
    report = convert(tmp_path / "in.traj", tmp_path / "out.cif")
    assert "orientation of the cell" in report.losses.losses
    assert not {"atoms.x", "atoms.y", "atoms.z", "box"} & set(report.losses.losses)


@pytest.mark.parametrize(("name", "digits"), [("out.cif", False), ("out.res", True)])
def test_atoms_that_are_put_into_the_cell_are_named_as_such(tmp_path, name, digits):
    """These formats, or ASE's writers of them, keep every atom within the cell: it is there, as another image."""
    atoms = bulk("NaCl", "rocksalt", 5.64, cubic=True)
    atoms.positions += [-0.123456789, 5.7, 0]
    write(tmp_path / "in.traj", atoms)
    lost = convert(tmp_path / "in.traj", tmp_path / name).losses.losses
    assert "whole vectors of the cell" in lost["images of atoms"].reason
    assert not {"atoms.x", "atoms.y", "atoms.z"} & set(lost)
    assert ("digits of atoms.x" in lost) == digits


def test_atoms_beside_an_open_axis_have_no_images(tmp_path):
    """Along an axis that is not periodic a vector of the cell leads to another place."""
    atoms = bulk("NaCl", "rocksalt", 5.64, cubic=True)
    atoms.pbc = (True, True, False)
    atoms.positions[0] -= [0, 0, 1.0]
    write(tmp_path / "in.traj", atoms)
    lost = convert(tmp_path / "in.traj", tmp_path / "out.cif").losses.losses
    assert "atoms.z" in lost
    assert "images of atoms" not in lost
