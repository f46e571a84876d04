"""ASE Atoms of records that come from elsewhere: symbols, units, results, and what Atoms cannot hold."""

import warnings

import ase.io
import ase.units
import numpy as np
import pytest
from ase import Atoms

import molrec_convert as mc
from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.ase_atoms import CARRIES, from_atoms, to_atoms
from molrec_convert.errors import ConvertWarning, LossWarning
from molrec_convert.loss import Contents, losses
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, document
from molrec_convert.model import Block, Box, Column, Frame
from molrec_convert.steps import to_units

from ..atoms import water
from ..converting import source_of
from ..dumps import snapshot as dump_snapshot

KCAL = 4184 / 6.02214076e23 / 1.602176634e-19


@pytest.fixture(autouse=True)
def each_engine():
    """Few numbers are scanned here."""


def snapshot(columns=None, units="molrec", box=None, meta=None, **blocks):
    made = {"x": [0.0, 1.0], "y": [0.0, 0.5], "z": [0.0, 2.0], "element": ["O", "H"], **(columns or {})}
    frame = Frame(
        {"atoms": {key: value for key, value in made.items() if value is not None}, **blocks}, box=box, meta=meta
    )
    known = document(SYSTEMS[units]) if isinstance(units, str) else units
    return Snapshot(frame, units=known)


def messages(made):
    return [note.message for note in made.notes]


# ---------------------------------------------------------------- symbols
@pytest.mark.parametrize(
    ("columns", "symbols", "note"),
    [
        ({}, "OH", None),
        ({"element": None, "atomic_number": [8, 1]}, "OH", None),
        ({"element": ["C", "C"], "atomic_number": [8, 1]}, "OH", None),
        ({"element": None, "type": ["Si", "O"]}, "SiO", None),
        ({"element": ["X", "O"], "type": ["Si", "OT"]}, "SiO", None),
        ({"element": ["X", "O"]}, "XO", None),
        ({"element": None, "type": ["1", "2"]}, "XX", "2 atoms have no known element and are X: 1, 2"),
        ({"element": None, "type": ["CA", "c"]}, "XX", "2 atoms have no known element and are X: CA, c"),
        ({"element": None, "name": ["CA", "HB1"]}, "XX", "2 atoms have no known element and are X"),
        ({"element": None, "mass": [15.999, 1.008]}, "XX", "2 atoms have no known element and are X"),
        ({"element": None, "type_id": [8, 1]}, "XX", "2 atoms have no known element and are X"),
        ({"element": ["O", "D"]}, "OX", "1 atoms have no known element and are X: D"),
        ({"element": None, "atomic_number": [8, 200]}, "OX", "1 atoms have no known element and are X"),
    ],
)
def test_symbols_are_never_guessed(columns, symbols, note):
    made = snapshot(columns)
    assert "".join(to_atoms(made).symbols) == symbols
    assert messages(made) == ([note] if note else [])


def test_labels_stay_beside_the_symbols():
    atoms = to_atoms(snapshot({"type": ["OT", "HT"], "name": ["OW", "HW"]}))
    assert atoms.arrays["type"].tolist() == ["OT", "HT"]
    assert atoms.arrays["atomtypes"].tolist() == ["OW", "HW"]
    assert "element" not in atoms.arrays


def test_elements_that_ase_does_not_know_are_kept():
    assert to_atoms(snapshot({"element": ["O", "D"]})).arrays["element"].tolist() == ["O", "D"]


# ---------------------------------------------------------------- units
VECTORS = {**{f"v{k}": [1.0, 2.0] for k in "xyz"}, **{f"f{k}": [1.0, 2.0] for k in "xyz"}, "mass": [16.0, 1.0]}


@pytest.mark.parametrize(
    ("style", "length", "velocity", "force", "energy"),
    [
        ("molrec", 1.0, ase.units.Ang / ase.units.fs / 1000, 1.0, 1.0),
        ("real", 1.0, ase.units.Ang / ase.units.fs, KCAL, KCAL),
        ("gromacs", 10.0, ase.units.nm / ase.units.fs / 1000, KCAL / 41.84, KCAL / 4.184),
        ("ase", 1.0, 1.0, 1.0, 1.0),
        (
            "atomic",
            ase.units.Bohr,
            ase.units.Bohr / ase.units.AUT,
            ase.units.Hartree / ase.units.Bohr,
            ase.units.Hartree,
        ),
    ],
)
def test_known_units_become_those_of_ase(style, length, velocity, force, energy):
    """The constants of ASE are of CODATA 2014, so that the eighth digit may differ."""
    units = {**document(SYSTEMS[style]), "mass": "amu"}  # as in every record
    made = snapshot(VECTORS, units, Box.orthogonal(5.0, origin=[1.0, 0.0, 0.0]), {"pe": -2.0, "press": 3.0})
    atoms = to_atoms(made)
    assert messages(made) == []
    assert atoms.positions[1] == pytest.approx(np.array([1.0, 0.5, 2.0]) * length, rel=1e-8)
    assert atoms.cell.lengths() == pytest.approx([5.0 * length] * 3, rel=1e-8)
    assert atoms.get_celldisp().ravel() == pytest.approx([length, 0.0, 0.0], rel=1e-8)
    assert atoms.get_velocities()[1] == pytest.approx([2.0 * velocity] * 3, rel=1e-7)
    assert atoms.get_forces()[1] == pytest.approx([2.0 * force] * 3, rel=1e-7)
    assert atoms.get_potential_energy() == pytest.approx(-2.0 * energy, rel=1e-7)
    assert atoms.get_masses().tolist() == [16.0, 1.0]


def test_stress_is_in_the_unit_of_pressure():
    stress = {"stress": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)}
    atoms = to_atoms(snapshot(units={"pressure": "bar", "length": "angstrom"}, meta=stress))
    assert atoms.get_stress() == pytest.approx(np.arange(1.0, 7.0) * ase.units.bar, rel=1e-7)


@pytest.mark.parametrize("style", ["real", "metal", "gromacs", "nano"])
def test_units_of_a_record_of_atoms_may_be_others(style):
    """Converted there and back, everything is as near as binary64 allows."""
    atoms = water(cell=[9, 9, 0], pbc=[True, True, False], celldisp=[1.0, 2.0, 3.0])
    atoms.set_momenta(np.arange(9.0).reshape(3, 3))
    snapshot_ = from_atoms(atoms)
    snapshot_.notes.clear()
    again = to_atoms(to_units(style)(snapshot_))
    assert again.positions == pytest.approx(atoms.positions)
    assert np.array(again.cell) == pytest.approx(np.array(atoms.cell))
    assert again.get_celldisp() == pytest.approx(atoms.get_celldisp())
    assert again.get_momenta().tolist() == atoms.get_momenta().tolist()


def test_ratios_are_handed_through():
    ratios = {"mass_lj": [2.0, 3.0], "charge_lj": [0.5, -0.5]}
    given = {name: column for name, column in VECTORS.items() if name != "mass"}
    made = snapshot({**given, **ratios}, DIMENSIONLESS_DOCUMENT, meta={"pe": -2.0})
    atoms = to_atoms(made)
    assert messages(made) == [
        "numbers without dimension are handed to ASE as they are, which takes them for Å, eV and amu"
    ]
    assert atoms.positions[1].tolist() == [1.0, 0.5, 2.0]
    assert atoms.get_forces()[1].tolist() == [2.0, 2.0, 2.0]
    assert atoms.get_potential_energy() == -2.0
    assert atoms.get_velocities().tolist() == [[1.0] * 3, [2.0] * 3]
    assert atoms.get_masses().tolist() == [2.0, 3.0]
    assert atoms.get_initial_charges().tolist() == [0.5, -0.5]
    assert not ratios.keys() & atoms.arrays.keys()


def test_ratios_among_known_units_are_columns_as_others_are():
    atoms = to_atoms(snapshot({"mass_lj": [2.0, 3.0]}))
    assert atoms.arrays["mass_lj"].tolist() == [2.0, 3.0]
    assert not atoms.has("masses")


def test_unknown_units_are_handed_through():
    made = snapshot(VECTORS, None)
    atoms = to_atoms(made)
    assert messages(made) == [
        "the units are not known: numbers are handed to ASE as they are, which takes them for Å, eV and amu"
    ]
    assert atoms.get_forces()[1].tolist() == [2.0, 2.0, 2.0]
    assert atoms.get_velocities().tolist() == [[1.0] * 3, [2.0] * 3]


def test_units_that_are_known_in_part():
    made = snapshot(VECTORS, {"length": "nm"})
    atoms = to_atoms(made)
    assert messages(made) == [
        "the unit of force and of velocity is not known: such numbers are handed to ASE as they are"
    ]
    assert atoms.positions[1].tolist() == [10.0, 5.0, 20.0]
    assert atoms.get_velocities()[1].tolist() == [2.0, 2.0, 2.0]


def test_units_may_be_said():
    frame = snapshot(VECTORS, None).frame
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert frame.to_ase(units="real").get_forces()[0, 0] == pytest.approx(KCAL)
        assert frame.to_ase(units=document(SYSTEMS["gromacs"])).positions[1, 0] == 10.0
    with pytest.warns(ConvertWarning, match="the units are not known"):
        frame.to_ase()


# ---------------------------------------------------------------- columns
def test_columns_keep_what_they_are():
    columns = {
        "id": np.array([5, 3], "u8"), "mol_id": np.array([1, 1], "u8"), "type_id": np.array([2, 1], "u8"),
        "ix": np.array([0, -1], "i4"), "iy": np.array([0, 1], "i4"), "iz": np.array([2, 0], "i4"),
        "charge": [-1.0, 1.0], "radius": [1.5, 2.5], "flag": [True, False], "label": ["a", "b c"],
        "matrix": np.arange(8.0).reshape(2, 2, 2), "tag": np.array([1, 2]), "big": np.array([2**64 - 1, 0], "u8"),
    }  # fmt: skip
    made = snapshot(columns)
    atoms = to_atoms(made)
    assert messages(made) == []
    assert {name: array.dtype.str for name, array in atoms.arrays.items()} == {
        "numbers": "<i8", "positions": "<f8", "initial_charges": "<f8", "tags": "<i8", "mol-id": "<i8", "type": "<i8",
        "travel": "<i8", "id": "<i8", "radius": "<f8", "flag": "|b1", "label": "<U3", "matrix": "<f8", "big": "<u8",
    }  # fmt: skip
    assert atoms.arrays["travel"].tolist() == [[0, 0, 2], [-1, 1, 0]]
    assert atoms.get_initial_charges().tolist() == [-1.0, 1.0]
    assert atoms.arrays["label"].tolist() == ["a", "b c"]


def test_charges_of_a_calculation_beside_initial_ones():
    atoms = to_atoms(snapshot({"charge": [-1.0, 1.0], "initial_charge": [-2.0, 2.0]}))
    assert atoms.get_charges().tolist() == [-1.0, 1.0]
    assert atoms.get_initial_charges().tolist() == [-2.0, 2.0]


def test_rows_without_a_value():
    columns = {
        "charge": Column([1.0, 5.0], valid=[True, False]),
        "id": Column(np.array([7, 5], "u8"), valid=[True, False]),
        "name": Column(["a", "b"], valid=[True, False]),
        "free": Column([True, True], valid=[True, False]),
        "gone": Column([1.0, 2.0], valid=[False, False]),
    }
    made = snapshot(columns)
    atoms = to_atoms(made)
    assert atoms.get_initial_charges()[0] == 1.0
    assert np.isnan(atoms.get_initial_charges()[1])
    assert atoms.arrays["id"].tolist() == [7, 0]
    assert atoms.arrays["atomtypes"].tolist() == ["a", ""]
    assert atoms.arrays["free"].tolist() == [True, False]
    assert "gone" not in atoms.arrays
    assert {note.message for note in made.notes if note.loss} == {
        "ASE Atoms do not hold the rows of charge without a value, which are NaN",
        "ASE Atoms do not hold the rows of id without a value, which are 0",
        "ASE Atoms do not hold the rows of name without a value, which are empty",
        "ASE Atoms do not hold the rows of free without a value, which are 0",
    }


def test_other_blocks_are_named():
    bonds = Block({"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")})
    made = snapshot(bonds=bonds, angles=Block(count=0))
    to_atoms(made)
    assert [(note.message, note.loss) for note in made.notes] == [("ASE Atoms do not hold bonds (1)", True)]
    with pytest.warns(LossWarning, match=r"ASE Atoms do not hold bonds \(1\)"):
        snapshot(bonds=bonds).frame.to_ase(units="metal")


def test_what_is_declared_to_be_held_is():
    """As for files: what the declaration leaves out is what `to_atoms` names."""
    made = snapshot(VECTORS, box=Box.orthogonal(5.0), meta={"pe": 1.0, "note": "a"}, bonds=Block({"k": [1.0]}))
    assert [loss.item for loss in losses(Contents.of([made]), CARRIES)] == ["bonds"]


def test_frames_without_atoms_and_without_positions():
    assert len(to_atoms(Snapshot(Frame(), units={}))) == 0
    made = snapshot({"y": None})
    assert to_atoms(made).positions.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]]
    assert messages(made) == ["the frame has no positions: they are 0 in Atoms"]


# ---------------------------------------------------------------- values of the frame
def test_values_of_the_frame_are_info():
    meta = {"note": "a", "n": 5, "flag": True, "vector": (1.0, 2.0, 3.0), "doc": {"a": [1, None]}, "temp": 300.0}
    made = snapshot(meta=meta)
    made.step, made.time = 7, 2.5
    info = to_atoms(made).info
    assert info.pop("vector").tolist() == [1.0, 2.0, 3.0]
    assert info == {"note": "a", "n": 5, "flag": True, "doc": {"a": [1, None]}, "temp": 300.0, "step": 7, "time": 2.5}


def test_texts_of_several_lines_are_named():
    """They would break the files that ASE writes."""
    made = snapshot(meta={"head": "a\nb"})
    assert to_atoms(made).info == {}
    assert messages(made) == ["ASE Atoms do not hold head, a text of several lines"]


XYZ = """2
Lattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:forces:R:3:REF_forces:R:3 energy=-3.25 REF_energy=-4 \
free_energy=-3.5 stress="1 2 3 2 5 6 3 6 9" pbc="T T T" config_type=dimer
H 0 0 0 0.1 0 0 0.2 0 0
H 0 0 0.7 -0.1 0 0 -0.2 0 0
"""


def test_r15_labels_are_results_and_stay_reachable(tmp_path):
    """Energies and forces are in the calculator, and in info and arrays under their names in the record."""
    atoms = mc.read(source_of(tmp_path, XYZ, "in.xyz")).to_ase(0)
    assert atoms.get_potential_energy(force_consistent=True) == -3.5
    assert atoms.calc.results["energy"] == atoms.info["pe"] == -3.25
    assert atoms.get_forces()[:, 0].tolist() == atoms.arrays["fx"].tolist() == [0.1, -0.1]
    assert atoms.get_stress(voigt=False).tolist() == [[1, 2, 3], [2, 5, 6], [3, 6, 9]]
    assert atoms.get_stress().tolist() == [1, 5, 9, 6, 3, 2]
    assert atoms.info["REF_energy"] == -4
    assert atoms.arrays["REF_forces"].tolist() == [[0.2, 0, 0], [-0.2, 0, 0]]
    assert atoms.info["config_type"] == "dimer"


def test_r15_constraints_do_not_zero_the_forces_of_a_record(tmp_path):
    atoms = mc.read(source_of(tmp_path, XYZ, "in.xyz")).to_ase(0)
    atoms.set_constraint(ase.constraints.FixAtoms([0]))
    assert mc.from_ase(atoms).frame["atoms"]["fx"].tolist() == [0.1, -0.1]


def test_r15_a_record_of_what_was_read_has_the_same_labels(tmp_path):
    """What stands twice in Atoms stands once in a record."""
    first = mc.read(source_of(tmp_path, XYZ, "in.xyz"))
    again = mc.from_ase(first.to_ase())
    one, other = first.trajectory[0], again.trajectory[0]
    assert {"pe", "free_energy", "stress", "REF_energy", "config_type"} <= other.meta.keys()
    for key in ("pe", "free_energy", "stress", "config_type"):
        assert one.meta[key] == other.meta[key]
    for name, column in one["atoms"].columns.items():
        assert column.same(other["atoms"].column(name))


def test_r15_ase_writes_what_was_read(tmp_path):
    """Its writer refuses a result that is in info or arrays under the name of the result, too."""
    atoms = mc.read(source_of(tmp_path, XYZ, "in.xyz")).to_ase(0)
    ase.io.write(tmp_path / "out.extxyz", atoms)
    again = ase.io.read(tmp_path / "out.extxyz")
    assert again.get_potential_energy() == -3.25
    assert again.get_forces().tolist() == atoms.get_forces().tolist()


def test_a_record_that_was_atoms_has_no_more_than_they(tmp_path):
    """Its results are in the calculator alone, as they were."""
    first = mc.read(source_of(tmp_path, XYZ, "in.xyz")).to_ase(0)
    del first.arrays["fx"], first.info["pe"]
    again = mc.from_ase(first).to_ase()
    assert "fx" not in again.arrays
    assert "pe" not in again.info
    assert again.calc.results.keys() == first.calc.results.keys()


# ----------------------------------------------------------------
def test_r05_cells_of_any_orientation_keep_vectors_and_cell(tmp_path):
    """Atoms of a primitive cell, by way of files of LAMMPS, come back with the same cell, positions and forces."""
    rng = np.random.default_rng(5)
    atoms = Atoms("CuAu", positions=rng.random((2, 3)), cell=[[0, 4, 4], [4, 0, 4], [4, 4, 0]], pbc=True)
    atoms.set_masses([63.546, 196.97])
    atoms.set_momenta(rng.normal(size=(2, 3)))
    atoms.calc = ase.calculators.singlepoint.SinglePointCalculator(atoms, forces=rng.normal(size=(2, 3)))
    mc.write(tmp_path / "one.h5", mc.from_ase([atoms]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvertWarning)
        mc.convert(tmp_path / "one.h5", tmp_path / "out.lammpstrj", units="metal")
        again = mc.read(tmp_path / "out.lammpstrj").to_ase(0)
    assert np.array(again.cell) == pytest.approx(np.array(atoms.cell), abs=1e-12)
    assert again.positions == pytest.approx(atoms.positions)
    assert again.get_forces() == pytest.approx(atoms.get_forces())
    assert again.get_velocities() == pytest.approx(atoms.get_velocities(), rel=1e-7)


def test_a_dump_with_an_element_column(tmp_path):
    text = dump_snapshot("1 Si 0 0 0; 2 O 1 1 1", columns="id element x y z")
    with pytest.warns(ConvertWarning, match="the units are not known"):
        assert str(mc.read(source_of(tmp_path, text, "in.dump")).to_ase(0).symbols) == "SiO"


def test_stress_of_another_unit_is_written_as_xyz_has_it(tmp_path):
    """Whatever it was converted to on the way."""
    atoms = water(cell=[9, 9, 9], pbc=True)
    atoms.calc = ase.calculators.singlepoint.SinglePointCalculator(atoms, stress=np.arange(1.0, 7.0))
    mc.write(tmp_path / "one.h5", mc.from_ase([atoms]))
    mc.convert(tmp_path / "one.h5", tmp_path / "bar.h5", to_units="metal")
    with mc.open(tmp_path / "bar.h5") as record:
        assert record.meta["units"]["pressure"] == "bar"
        assert record.trajectory[0].meta["stress"][0] == pytest.approx(1.6021766e6)
        assert record.trajectory[0].to_ase().get_stress() == pytest.approx(np.arange(1.0, 7.0))
    mc.convert(tmp_path / "bar.h5", tmp_path / "out.extxyz")
    assert ase.io.read(tmp_path / "out.extxyz").get_stress() == pytest.approx(np.arange(1.0, 7.0))


def test_units_that_the_source_does_not_state_are_not_claimed(tmp_path):
    """Not even after all others were converted, since those numbers stay as they are."""
    mc.convert(source_of(tmp_path, XYZ, "in.xyz"), tmp_path / "out.h5", to_units="real")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["units"]["energy"] == "kcal/mol"
        assert "pressure" not in record.meta["units"]
        assert record.trajectory[0].to_ase().get_stress(voigt=False)[0, 0] == 1.0
