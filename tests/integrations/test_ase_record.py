"""Records of ASE Atoms and Atoms of records, from Python."""

import copy
import pickle
import re
import types
import warnings

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.calculators.singlepoint import SinglePointCalculator

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, LossError, LossWarning, OptionError
from molrec_convert.model import Frame

from ..atoms import assert_same_atoms, water
from ..converting import source_of

XYZ = "".join(
    f'2\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:forces:R:3 energy={-k} time={k}.5\n'
    f"O 0 0 {k} 0 0 1\nH 0 1 {k} 0 0 -1\n"
    for k in range(3)
)


def run_of(count=4):
    made = []
    for k in range(count):
        atoms = water(cell=[9.0, 9.0, 9.0], pbc=True)
        atoms.positions += k
        atoms.info["k"] = k
        made.append(atoms)
    return made


# ---------------------------------------------------------------- to a record
def test_one_atoms_is_a_frame():
    record = mc.from_ase(water())
    assert record.trajectory is None
    assert record.frame["atoms"]["element"].tolist() == ["O", "H", "H"]
    assert record.meta["units"] == {
        "length": "angstrom", "mass": "amu", "energy": "eV", "charge": "e", "pressure": "eV/angstrom^3",
        "velocity": "angstrom/ps", "force": "eV/angstrom",
    }  # fmt: skip


@pytest.mark.parametrize("given", [list, tuple, iter, lambda atoms: (each for each in atoms)])
def test_several_atoms_are_a_trajectory(given):
    record = mc.from_ase(given(run_of()))
    assert record.frame is None
    assert len(record) == 4
    assert record.trajectory.step.tolist() == [0, 1, 2, 3]
    assert sorted(record.system["atoms"]) == ["atomic_number", "element"]
    assert record.trajectory.meta("k") == [0, 1, 2, 3]


def test_a_list_of_one_is_a_trajectory():
    record = mc.from_ase([water()])
    assert len(record.trajectory) == 1
    assert isinstance(record.to_ase(), list)


def test_atoms_that_are_changed_between():
    """A generator may give the same object again and again."""

    def moving():
        atoms = water()
        for k in range(3):
            atoms.positions[0, 0] = k
            yield atoms

    record = mc.from_ase(moving())
    assert [frame["atoms"]["x"][0] for frame in record.trajectory] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("given", [[], (), iter([])])
def test_no_atoms(given):
    with pytest.raises(OptionError, match="there are no ASE Atoms to make a record of"):
        mc.from_ase(given)


@pytest.mark.parametrize(
    ("given", "what"), [("water", "frame 0: ASE Atoms are due, not str"), ([water(), 5], "frame 1: .* not int")]
)
def test_what_is_no_atoms(given, what):
    with pytest.raises(OptionError, match=what):
        mc.from_ase(given)


def test_what_is_left_out():
    atoms = [water() for _ in range(3)]
    atoms[1].info["f"] = len
    atoms[2].info["f"] = len
    with pytest.warns(LossWarning, match=r"^info 'f' is not kept: it is, or holds, a builtin_.* \(in 2 frames\)$"):
        record = mc.from_ase(atoms)
    assert record.meta["convert"]["warnings"][0].startswith("info 'f' is not kept")
    with pytest.raises(LossError, match=r"^frame 1: info 'f' is not kept"):
        mc.from_ase(atoms, strict=True)


def test_results_that_are_out_of_date_are_told_and_are_no_loss():
    atoms = water()
    atoms.calc = SinglePointCalculator(atoms, energy=1.0)
    atoms.positions += 1
    with pytest.warns(ConvertWarning, match="the results of the calculator unknown are left out") as caught:
        record = mc.from_ase(atoms, strict=True)
    assert not any(issubclass(each.category, LossWarning) for each in caught)
    assert "pe" not in record.frame.meta


def test_frames_with_other_columns():
    """One declaration for all; each comes back with its own."""
    atoms = [water(), molecule("CH4"), bulk("Cu"), water()]
    atoms[1].set_tags(range(5))
    atoms[2].info["new"] = "text"
    record = mc.from_ase(atoms)
    assert record.trajectory.schema.blocks["atoms"].columns["tag"].nullable
    for one, other in zip(atoms, record.to_ase(), strict=True):
        assert_same_atoms(one, other)


# ---------------------------------------------------------------- from a record
@pytest.fixture(params=["memory", "file"])
def record(request, tmp_path):
    made = mc.from_ase(run_of())
    if request.param == "memory":
        yield made
        return
    mc.write(tmp_path / "x.h5", made)
    with mc.open(tmp_path / "x.h5") as stored:
        yield stored


def test_all_frames(record):
    found = record.to_ase()
    for one, other in zip(run_of(), found, strict=True):
        assert_same_atoms(one, other)


@pytest.mark.parametrize(
    ("index", "due"),
    [
        (0, 0),
        (-1, 3),
        (np.int64(2), 2),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -2), [3, 1]),
        ("2", 2),
        ("::2", [0, 2]),
        ("::-1", [3, 2, 1, 0]),
        ("3,0:2", [0, 1, 3]),
        ([2], [2]),
        ((0, -1), [0, 3]),
        (range(1, 3), [1, 2]),
    ],
)
def test_some_frames(record, index, due):
    found = record.to_ase(index)
    assert due == (found.info["k"] if isinstance(found, Atoms) else [atoms.info["k"] for atoms in found])
    one_by_one = [atoms.info["k"] for atoms in record.iter_ase(index)]
    assert one_by_one == (due if isinstance(due, list) else [due])


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("all", "frames are chosen as 0,5,10:20:2,-1, not 'all'"),
        (1.5, "frames are chosen by number, not by 1.5"),
        (True, "frames are chosen by number, not by True"),
        ([0, 9], "there is no frame 9 among 4"),
        ([], "no frames are chosen"),
    ],
)
def test_what_chooses_no_frames(record, index, message):
    for way in (record.to_ase, record.iter_ase):
        with pytest.raises(OptionError, match=re.escape(message)):
            way(index)


@pytest.mark.parametrize("index", [4, -5])
def test_frames_that_are_not_there(record, index):
    with pytest.raises(IndexError, match=f"frame {index} of 4"):
        record.to_ase(index)


def test_frames_one_by_one(record):
    found = record.iter_ase()
    assert isinstance(found, types.GeneratorType)
    assert next(found).info["k"] == 0
    assert [atoms.info["k"] for atoms in found] == [1, 2, 3]
    assert [atoms.info["k"] for atoms in record.iter_ase(slice(2, None))] == [2, 3]


def test_a_frame_of_a_trajectory_knows_where_it_comes_from(record):
    """It has units and what holds for all frames, though these are not its own."""
    for one, other in zip(run_of(), record.trajectory, strict=True):
        assert_same_atoms(one, other.to_ase())
    assert_same_atoms(run_of()[2], record.trajectory[1:][1].to_ase())


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda frame: pickle.loads(pickle.dumps(frame))])
def test_frames_are_copied_with_that(record, way):
    assert_same_atoms(run_of()[1], way(record.trajectory[1]).to_ase())


def test_a_frame_of_ones_own():
    frame = Frame({"atoms": {"element": ["O", "H"], "x": [0.0, 1.0], "y": [0.0, 0.0], "z": [0.0, 0.0]}})
    with pytest.warns(ConvertWarning, match="^the units are not known: numbers are handed to ASE as they are"):
        atoms = frame.to_ase()
    assert str(atoms.symbols) == "OH"
    assert atoms.positions.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_frames_of_a_file_know_their_units(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record = mc.read(source_of(tmp_path, XYZ, "in.xyz"))
        together = record.to_ase()
        alone = [frame.to_ase() for frame in record.trajectory]
    for k, (one, other) in enumerate(zip(together, alone, strict=True)):
        assert_same_atoms(one, other)
        assert one.get_potential_energy() == -k
        assert one.info["time"] == k + 0.5
        assert one.info["step"] == k


def test_a_record_of_a_file_becomes_atoms_and_a_record_again(tmp_path):
    """What was read has the same columns and values once more."""
    first = mc.read(source_of(tmp_path, XYZ, "in.xyz"))
    again = mc.from_ase(first.to_ase())
    assert again.trajectory.time.tolist() == [0.5, 1.5, 2.5]
    assert again.trajectory.meta("pe") == [0.0, -1.0, -2.0]
    for one, other in zip(first.trajectory, again.trajectory, strict=True):
        for name, column in one["atoms"].columns.items():
            assert column.same(other["atoms"].column(name)), name
        assert one.box.same(other.box)


# ---------------------------------------------------------------- on to other formats
def test_how_atoms_were_kept_is_no_loss(tmp_path):
    atoms = water(cell=[9.0, 9.0, 9.0], pbc=True)
    atoms.info["k"] = 5
    mc.write(tmp_path / "out.extxyz", mc.from_ase([atoms, atoms]))
    again = mc.read(tmp_path / "out.extxyz").to_ase(1)
    assert np.array_equal(again.positions, atoms.positions)
    assert again.info["k"] == 5
    with pytest.warns(LossWarning, match=r"^not carried by pdb: k$"):
        mc.write(tmp_path / "out.pdb", mc.from_ase([atoms, atoms]))


# ---------------------------------------------------------------- a bridge
def test_atoms_become_a_universe_and_atoms_again():
    """By way of a record, one line each way; MDAnalysis keeps binary32."""
    several = run_of()
    for atoms in several:
        atoms.calc = SinglePointCalculator(atoms, energy=-1.5, forces=np.arange(9.0).reshape(3, 3))
        atoms.arrays["residuenames"] = np.array(["SOL"] * 3)
    universe = mc.from_ase(several).to_mdanalysis()
    assert universe.atoms.elements.tolist() == ["O", "H", "H"]
    assert universe.residues.resnames.tolist() == ["SOL"]
    again = mc.from_mdanalysis(universe).to_ase()
    for one, other in zip(several, again, strict=True):
        assert str(one.symbols) == str(other.symbols)
        assert other.positions == pytest.approx(one.positions, rel=1e-6)
        assert other.get_forces() == pytest.approx(one.get_forces(), rel=1e-6)
        assert np.array(other.cell) == pytest.approx(np.array(one.cell), rel=1e-6)


def test_a_record_without_a_frame():
    record = mc.Record(system=water_system())
    with pytest.raises(OptionError, match="there is no frame to make ASE Atoms of"):
        record.to_ase()


def water_system():
    return Frame({"atoms": {"element": ["O", "H", "H"]}})
