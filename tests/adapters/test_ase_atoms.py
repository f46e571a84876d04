"""ASE Atoms as snapshots and back: what stands where, and that nothing changes on the way."""

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111
from ase.calculators.calculator import Calculator
from ase.calculators.emt import EMT
from ase.calculators.singlepoint import SinglePointCalculator
from ase.constraints import FixAtoms

from molrec_convert.adapters.ase_atoms import KEYS, ColumnNames, from_atoms, to_atoms
from molrec_convert.errors import OptionError
from molrec_convert.model import Column, Frame

from ..atoms import assert_same_atoms, round_trip, water

UNITS = {
    "length": "angstrom", "energy": "eV", "force": "eV/angstrom", "velocity": "angstrom/ps", "mass": "amu",
    "charge": "e", "pressure": "eV/angstrom^3",
}  # fmt: skip


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned here."""


# ---------------------------------------------------------------- what stands where
def test_atoms_are_columns_of_their_own_types():
    snapshot = round_trip(water())
    atoms = snapshot.frame["atoms"]
    assert {name: column.dtype for name, column in atoms.columns.items()} == {
        "atomic_number": "u64", "element": "string", "x": "f64", "y": "f64", "z": "f64",
    }  # fmt: skip
    assert atoms["element"].tolist() == ["O", "H", "H"]
    assert atoms["atomic_number"].tolist() == [8, 1, 1]
    assert atoms["z"].tolist() == [0.1, -0.5, -0.5]
    assert snapshot.frame.box is None
    assert (snapshot.step, snapshot.time) == (None, None)
    assert dict(snapshot.units) == UNITS


def test_arrays_of_ase_have_the_names_of_a_record():
    atoms = water()
    atoms.set_masses([16.0, 1.0, 2.0])
    atoms.set_initial_charges([-0.8, 0.4, 0.4])
    atoms.set_initial_magnetic_moments([[0.0, 0, 1], [0, 0, 0], [1, 0, 0]])
    atoms.set_tags([3, -1, 0])
    block = round_trip(atoms).frame["atoms"]
    assert block["mass"].tolist() == [16.0, 1.0, 2.0]
    assert block["charge"].tolist() == [-0.8, 0.4, 0.4]
    assert block["initial_magmom"].tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert block["tag"].tolist() == [3, -1, 0]
    assert block.column("tag").dtype == "i64"


def test_masses_that_nobody_set_are_not_stored():
    assert "mass" not in round_trip(water()).frame["atoms"]


def test_velocities_stand_beside_momenta():
    atoms = water()
    atoms.set_momenta(np.arange(9.0).reshape(3, 3))
    block = round_trip(atoms).frame["atoms"]
    assert block["momenta"].tolist() == np.arange(9.0).reshape(3, 3).tolist()
    # The constants of ASE are of CODATA 2014; the factor is Å/ps for an ASE unit of velocity.
    assert block["vy"] == pytest.approx(atoms.get_velocities()[:, 1] * 98.22694788464064, rel=1e-14)


def test_atoms_without_mass_have_no_velocity():
    atoms = water()
    atoms.set_masses([16.0, 0.0, 1.0])
    atoms.set_momenta(np.ones((3, 3)))
    column = round_trip(atoms).frame["atoms"].column("vx")
    assert column.valid.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("cell", "flags", "boundary", "raw"),
    [
        ([10, 11, 12], True, [True, True, True], False),
        ([[0, 4, 4], [4, 0, 4], [4, 4, 0]], [True, False, True], [True, False, True], False),
        ([10, 11, 0], [True, True, False], [True, True, False], True),
        ([0, 0, 7], [False, False, True], [False, False, True], True),
        ([10, 11, 0], True, [True, True, False], True),
    ],
)
def test_cells(cell, flags, boundary, raw):
    """Rows become columns; a cell of lower rank is completed, and kept as it was."""
    snapshot = round_trip(water(cell=cell, pbc=flags))
    box = snapshot.frame.box
    assert box.boundary.tolist() == boundary
    given = np.array(Atoms(cell=cell).cell)
    for row, vector in zip(given, box.vectors.T, strict=True):
        assert vector.tolist() == row.tolist() if row.any() else np.linalg.norm(vector) == pytest.approx(1.0)
    assert ("ase_cell" in snapshot.about) is raw


@pytest.mark.parametrize(
    "cell", [[[1, 0, 0], [2, 0, 0], [0, 0, 1]], [[np.nan, 0, 0], [0, 1, 0], [0, 0, 1]], np.zeros((3, 3))]
)
def test_cells_that_no_box_holds(cell):
    snapshot = round_trip(water(cell=cell, pbc=True))
    assert snapshot.frame.box is None
    assert snapshot.about["ase_pbc"] == (True, True, True)


@pytest.mark.parametrize("cell", [None, [5, 5, 5]])
@pytest.mark.parametrize("place", [[1.0, -2.0, 3.5], [[1.0], [-2.0], [3.5]]])
def test_displacement_of_the_cell_is_its_origin(cell, place):
    snapshot = round_trip(water(cell=cell, celldisp=place))
    assert snapshot.frame.box.origin.tolist() == [1.0, -2.0, 3.5]
    assert snapshot.frame.box.defined is (cell is not None)


def test_results_have_the_names_of_a_record():
    atoms = water(cell=[9, 9, 9], pbc=True)
    atoms.set_initial_charges([-1.0, 0.5, 0.5])
    forces, stress = np.arange(9.0).reshape(3, 3), np.arange(6.0)
    atoms.calc = SinglePointCalculator(
        atoms, energy=-1.5, free_energy=-1.6, forces=forces, stress=stress, charges=[-0.8, 0.4, 0.4],
        magmom=2.0, magmoms=[2.0, 0.0, 0.0], dipole=[0.0, 0.0, 1.0], energies=[1.0, 2.0, 3.0],
    )  # fmt: skip
    snapshot = round_trip(atoms)
    meta, block = snapshot.frame.meta, snapshot.frame["atoms"]
    assert (meta["pe"], meta["free_energy"], meta["magmom"]) == (-1.5, -1.6, 2.0)
    assert (meta["stress"], meta.tag("stress")) == (tuple(stress), "f64x6")
    assert meta["dipole"] == (0.0, 0.0, 1.0)
    assert block["fy"].tolist() == [1.0, 4.0, 7.0]
    assert block["charge"].tolist() == [-0.8, 0.4, 0.4]
    assert block["initial_charge"].tolist() == [-1.0, 0.5, 0.5]
    assert block["magmom"].tolist() == [2.0, 0.0, 0.0]
    assert block["energies"].tolist() == [1.0, 2.0, 3.0]


def test_forces_are_those_that_were_calculated():
    """Constraints change what `get_forces` gives, not what a record holds."""
    atoms = water()
    atoms.set_constraint(FixAtoms([0]))
    atoms.calc = SinglePointCalculator(atoms, forces=np.ones((3, 3)))
    assert atoms.get_forces()[0].tolist() == [0, 0, 0]
    assert round_trip(atoms).frame["atoms"]["fx"].tolist() == [1.0, 1.0, 1.0]


def test_nothing_is_calculated():
    atoms = bulk("Cu")
    atoms.calc = EMT()
    snapshot = from_atoms(atoms)
    assert "pe" not in snapshot.frame.meta
    assert atoms.calc.results == {}
    assert snapshot.about["ase_calc"]["name"] == "emt"
    atoms.get_potential_energy()
    assert from_atoms(atoms).frame.meta["pe"] == atoms.calc.results["energy"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda atoms: atoms.rattle(0.1), "positions"),
        (lambda atoms: atoms.set_cell([8, 8, 8]), "cell"),
        (lambda atoms: atoms.set_pbc([True, False, True]), "pbc"),
        (lambda atoms: atoms.set_atomic_numbers([8, 1, 3]), "numbers"),
    ],
)
def test_results_that_are_out_of_date_are_left_out(change, what):
    atoms = water(cell=[9, 9, 9], pbc=True)
    atoms.calc = SinglePointCalculator(atoms, energy=-1.5, forces=np.ones((3, 3)))
    change(atoms)
    snapshot = from_atoms(atoms)
    assert "pe" not in snapshot.frame.meta
    assert "fx" not in snapshot.frame["atoms"]
    message = f"the results of the calculator unknown are left out: {what} changed since"
    assert [note.message for note in snapshot.notes] == [message]


def test_parameters_of_a_calculator_are_kept():
    atoms = bulk("Cu")
    atoms.calc = EMT(asap_cutoff=True)
    atoms.get_potential_energy()
    assert to_atoms(from_atoms(atoms)).calc.parameters["asap_cutoff"] is True


# ---------------------------------------------------------------- manners
def test_nothing_is_shared_and_nothing_is_changed():
    atoms = Atoms("H", positions=[[1.0, 2.0, 3.0]], cell=[5, 5, 5])
    atoms.set_tags([4])
    atoms.arrays["foo"] = np.array([1.5])
    atoms.calc = SinglePointCalculator(atoms, energy=1.0, forces=[[1.0, 2.0, 3.0]])
    before = atoms.copy()
    snapshot = from_atoms(atoms)
    again = to_atoms(snapshot)
    stored = {name: column.values.copy() for name, column in snapshot.frame["atoms"].columns.items()}
    for made in (atoms, again):
        for array in (*made.arrays.values(), made.calc.results["forces"]):
            array[...] = 99
        made.cell[:] = 99
    assert {name: column.values.tolist() for name, column in snapshot.frame["atoms"].columns.items()} == {
        name: values.tolist() for name, values in stored.items()
    }
    assert_same_atoms(before, _bare(to_atoms(snapshot)))


def _bare(atoms):
    atoms.calc = None
    return atoms


def test_what_does_not_change_is_one_object():
    names, slab = ColumnNames(), fcc111("Cu", (2, 2, 2), vacuum=5)
    first = from_atoms(slab, names=names)
    slab.rattle(0.1)
    second = from_atoms(slab, names=names)
    columns = [each.frame["atoms"].columns for each in (first, second)]
    assert [name for name in columns[0] if columns[0][name] is columns[1][name]] == ["atomic_number", "tag", "element"]


def test_columns_that_change_their_axes_have_names_of_their_own():
    names = ColumnNames()
    made = []
    for array in (
        np.zeros(3),
        np.zeros((3, 2)),
        np.array(["a", "b", "c"]),
        np.array([1, 2, 3]),
        np.array([2**60, 0, 0]),
    ):
        atoms = water()
        atoms.arrays["foo"] = array
        made.append(from_atoms(atoms, names=names))
        assert_same_atoms(atoms, to_atoms(made[-1]))
    found = [[name for name in each.frame["atoms"] if name.startswith("foo")] for each in made]
    assert found == [["foo"], ["foo#2"], ["foo#3"], ["foo"], ["foo#4"]]


def test_facts_have_the_names_that_are_announced():
    atoms = water(cell=[5, 5, 0], pbc=[True, True, False])
    atoms.set_constraint(FixAtoms([0]))
    atoms.calc = Calculator()
    assert set(from_atoms(atoms).about) == KEYS


@pytest.mark.parametrize("wrong", ["H2O", 5, None, Frame(), [water()]])
def test_only_atoms_are_taken(wrong):
    with pytest.raises(OptionError, match=f"ASE Atoms are due, not {type(wrong).__name__}"):
        from_atoms(wrong)


# ---------------------------------------------------------------- changes in the record
def changed(atoms, **columns):
    snapshot = from_atoms(atoms)
    for name, values in columns.items():
        snapshot.frame["atoms"][name] = Column(values)
    return to_atoms(snapshot)


def test_changed_velocities_hold_against_momenta():
    atoms = water()
    atoms.set_momenta(np.ones((3, 3)))
    snapshot = from_atoms(atoms)
    snapshot.frame["atoms"]["vx"] = snapshot.frame["atoms"]["vx"] * 2
    again = to_atoms(snapshot)
    assert again.get_momenta()[:, 0] == pytest.approx([2.0, 2.0, 2.0])
    assert again.get_momenta()[:, 1] == pytest.approx([1.0, 1.0, 1.0])


def test_a_changed_box_holds_against_the_cell():
    snapshot = from_atoms(water(cell=[5, 5, 0], pbc=[True, True, False]))
    snapshot.frame.box.vectors[0, 0] = 6.0
    assert to_atoms(snapshot).cell.lengths().tolist() == [6.0, 5.0, 1.0]


def test_values_that_do_not_fit_their_old_type_keep_the_new_one():
    atoms = water()
    atoms.arrays["foo"] = np.array([1, 2, 3], "i1")
    again = changed(atoms, foo=[1.5, 2.5, 3.5])
    assert again.arrays["foo"].tolist() == [1.5, 2.5, 3.5]


def test_what_was_added_to_the_record_is_there():
    snapshot = from_atoms(water())
    snapshot.frame["atoms"]["fx"] = [1.0, 2.0, 3.0]
    snapshot.frame["atoms"]["label"] = ["a", "b", "c"]
    snapshot.frame.meta["pe"] = -1.5
    snapshot.frame.meta["note"] = "new"
    again = to_atoms(snapshot)
    assert again.calc.results == {"energy": -1.5}
    assert again.info == {"pe": -1.5, "note": "new"}
    assert again.arrays["label"].tolist() == ["a", "b", "c"]


def test_what_was_taken_from_the_record_is_gone():
    atoms = water()
    atoms.info["key"] = 1.5
    atoms.set_tags([1, 2, 3])
    snapshot = from_atoms(atoms)
    del snapshot.frame.meta["key"]
    del snapshot.frame["atoms"]["tag"]
    again = to_atoms(snapshot)
    assert again.info == {}
    assert not again.has("tags")


def test_k_points_are_left_out_and_named():
    from ase.calculators.singlepoint import SinglePointDFTCalculator, SinglePointKPoint

    atoms = bulk("Cu")
    atoms.calc = SinglePointDFTCalculator(atoms, efermi=1.5, energy=-3.0)
    atoms.calc.kpts = [SinglePointKPoint(1.0, 0, 0, [1.0], [2.0])]
    snapshot = from_atoms(atoms)
    assert [(note.message, note.loss) for note in snapshot.notes] == [
        ("kpts, eFermi of the calculator are not kept", True)
    ]
    assert to_atoms(snapshot).calc.results == {"energy": -3.0}
