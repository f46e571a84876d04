"""MDAnalysis writes records: the topology once, the frames, under their name when they are complete."""

import warnings

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysisTests import datafiles

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, TargetError
from molrec_convert.integrations.mdanalysis import MolRecWriter
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT
from molrec_convert.model import Box, Frame
from molrec_convert.model.precision import quantum

from ..records.builders import check_with_arbiter
from .universes import UNITS, frame, moved, record, rows, water

NAMES = ["x.mrec", "x.mrec.h5", "x.h5", "x.mrec.zip", "x"]


@pytest.fixture
def made(tmp_path):
    """A universe of five frames."""
    return mda.Universe(record(tmp_path / "in.h5", moved()))


def left_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "in.h5")


def write_two(writer, one, other):
    with writer:
        writer.write(one)
        writer.write(other)


# ---------------------------------------------------------------- ways to write
def test_the_current_frame_becomes_a_frame(made, tmp_path):
    made.trajectory[2]
    made.atoms.write(str(tmp_path / "x.mrec"))
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.trajectory is None
        assert found.frame["atoms"]["x"].tolist() == water(0.5)["x"].tolist()
        assert found.frame["atoms"]["name"][:2].tolist() == ["OW", "HW1"]
        assert found.frame["bonds"].count == 4
        assert (found.frame.meta["timestep"], found.frame.meta["time"]) == (2, 1.0)
        assert found.frame.box.same(Box.orthogonal([10.0, 11.0, 12.0]))


@pytest.mark.parametrize("name", NAMES)
def test_all_frames_become_a_trajectory(made, tmp_path, name):
    made.atoms.write(tmp_path / name, file_format="MREC", frames="all")
    written = tmp_path / name if "." in name else tmp_path / f"{name}.mrec"  # MDAnalysis puts the format's name there
    with mc.open(written) as found:
        assert set(found.system["atoms"]) == {"id", "name", "element", "mass", "charge", "res_id", "res_name"}
        assert set(found.trajectory.schema.blocks["atoms"].columns) == {"x", "y", "z"}
        assert found.trajectory.step.tolist() == [0, 1, 2, 3, 4]
        assert found.trajectory.time.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
        assert {key: found.meta["units"][key] for key in UNITS} == UNITS
    again = mda.Universe(written)
    for one, other in zip(made.trajectory, again.trajectory, strict=True):
        assert np.array_equal(one.positions, other.positions)
        assert np.array_equal(one.dimensions, other.dimensions)
    assert [bond.indices.tolist() for bond in again.bonds] == [bond.indices.tolist() for bond in made.bonds]
    assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []
    if written.suffix == ".h5":
        check_with_arbiter(written)


def test_writers_of_mdanalysis(made, tmp_path):
    with mda.Writer(str(tmp_path / "a.h5"), 6, format="MREC") as writer:
        assert isinstance(writer, MolRecWriter)
        for _ in made.trajectory[::2]:
            writer.write(made)
    with made.trajectory.Writer(str(tmp_path / "b.mrec")) as writer:
        writer.write(made.atoms)
    with made.trajectory.OtherWriter(str(tmp_path / "c.mrec")) as writer:
        writer.write(made.atoms)
    assert [len(mda.Universe(tmp_path / name).trajectory) for name in ("a.h5", "b.mrec", "c.mrec")] == [3, 1, 1]


def test_some_frames(made, tmp_path):
    made.atoms.write(str(tmp_path / "x.mrec"), frames=made.trajectory[1::2])
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.trajectory.step.tolist() == [1, 3]


def test_frames_in_another_order(made, tmp_path):
    """They are counted, their own steps are kept, and that is told."""
    with pytest.warns(
        ConvertWarning, match=r"x\.mrec: step 1 comes after step 3: frames are counted, and the steps kept"
    ):
        made.atoms.write(str(tmp_path / "x.mrec"), frames=[3, 1])
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.trajectory.step.tolist() == [0, 1]
        assert found.trajectory.meta("timestep") == [3, 1]


def test_from_the_formats_of_mdanalysis(tmp_path):
    """What an XTC file holds in binary32 comes back to the bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = mda.Universe(datafiles.TPR, datafiles.XTC)
    source.select_atoms("protein").write(str(tmp_path / "x.mrec"), frames=source.trajectory[:3])
    again = mda.Universe(tmp_path / "x.mrec")
    protein = source.select_atoms("protein")
    assert len(again.atoms.bonds) == len(protein.bonds)
    assert again.atoms.charges.tolist() == protein.charges.tolist()
    for one, other in zip(source.trajectory[:3], again.trajectory, strict=True):
        assert np.array_equal(protein.positions, other.positions)
        np.testing.assert_allclose(one.dimensions, other.dimensions, rtol=1e-7)
        assert (one.time, one.data["step"]) == (other.time, other.data["step"])
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.meta["source"]["floats"] == "binary32"
        assert found.meta["source"]["name"] == "adk_oplsaa.xtc"
        assert found.meta["source"]["library"] == {"name": "MDAnalysis", "version": mda.__version__}


# ---------------------------------------------------------------- what is changed between frames
def change_charges(universe, k):
    universe.atoms.charges = np.arange(6.0) + k


def change_names(universe, k):
    universe.atoms[0].name = f"O{k}"


def change_residue_names(universe, k):
    universe.residues[1].resname = f"R{k}"


@pytest.mark.parametrize(
    ("change", "column", "due"),
    [
        (change_charges, "charge", lambda k: [k + 0.0, k + 1.0, k + 2.0, k + 3.0, k + 4.0, k + 5.0]),
        (change_names, "name", lambda k: [f"O{k}", "HW1", "HW2", "OW", "HW1", "HW2"]),
        (change_residue_names, "res_name", lambda k: ["SOL"] * 3 + [f"R{k}"] * 3),
    ],
)
def test_attributes_that_are_set_between_frames(made, tmp_path, change, column, due):
    with mda.Writer(str(tmp_path / "x.h5"), 6, format="MREC") as writer:
        for k, _ in enumerate(made.trajectory):
            change(made, k)
            writer.write(made.atoms)
    with mc.open(tmp_path / "x.h5") as found:
        assert [each["atoms"][column].tolist() for each in found.trajectory] == [due(k) for k in range(5)]
        assert "mass" in found.system["atoms"]


def test_temperature_factors_that_are_set_between_frames(tmp_path):
    """Also where the reader has some of its own for every frame, as that of PDB files does."""
    source = mda.Universe(datafiles.PDB_multiframe)
    with mda.Writer(str(tmp_path / "x.h5"), len(source.atoms), format="MREC") as writer:
        writer.write(source.atoms)
        for k in (1, 2):
            source.trajectory[k]
            source.atoms.tempfactors = k + 0.5
            writer.write(source.atoms)
    with mc.open(tmp_path / "x.h5") as found:
        assert [set(found.trajectory[k]["atoms"]["b_factor"].tolist()) for k in (1, 2)] == [{1.5}, {2.5}]


@pytest.mark.parametrize("current", [0, 2])
def test_temperature_factors_that_were_set_before(tmp_path, current):
    source = mda.Universe(datafiles.PDB_multiframe)
    source.trajectory[current]
    source.atoms.tempfactors = 7.5
    source.atoms.write(str(tmp_path / "x.mrec"))
    assert set(mc.read(tmp_path / "x.mrec").frame["atoms"]["b_factor"].tolist()) == {7.5}
    assert set(mc.from_mdanalysis(source).trajectory[1]["atoms"]["b_factor"].tolist()) == {7.5}


def test_bonds_that_are_made_between_frames(made, tmp_path):
    writer = mda.Writer(str(tmp_path / "x.h5"), 6, format="MREC")
    writer.write(made.atoms)
    made.add_bonds([(1, 2)])
    writer.write(made.atoms)
    with pytest.warns(ConvertWarning, match="step 0 comes after step 0"):
        writer.close()
    with mc.open(tmp_path / "x.h5") as found:
        assert [each["bonds"].count for each in found.trajectory] == [4, 5]


# ---------------------------------------------------------------- some atoms
def test_some_atoms_with_their_bonds(made, tmp_path):
    """R-01: bonds are rows of what is written."""
    made.select_atoms("resid 2").write(str(tmp_path / "x.mrec"), frames="all")
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.system["atoms"]["id"].tolist() == [21, 22, 23]
        assert [found.system["bonds"][end].tolist() for end in ("atomi", "atomj")] == [[0, 0], [1, 2]]
        assert found.trajectory[4]["atoms"]["x"].tolist() == water(1.0)["x"][3:].tolist()


def test_other_atoms_in_every_frame(made, tmp_path):
    """A group that is updated: its atoms are those of each frame."""
    with MolRecWriter(tmp_path / "x.h5", n_atoms=1) as writer:
        for _ in made.trajectory:
            writer.write(made.atoms[[made.trajectory.frame]])
    with mc.open(tmp_path / "x.h5") as found:
        assert [each["atoms"]["id"].tolist() for each in found.trajectory] == [[11], [12], [13], [21], [22]]


# ---------------------------------------------------------------- values
def test_what_was_guessed_is_written_only_if_asked_for(tmp_path):
    made = mda.Universe(
        record(tmp_path / "in.h5", [Frame({"atoms": {"element": ["C"], "x": [0.0], "y": [0.0], "z": [0.0]}})])
    )
    made.atoms.write(str(tmp_path / "x.mrec"))
    made.atoms.write(str(tmp_path / "y.mrec"), guessed=True)
    with mc.open(tmp_path / "x.mrec") as found:
        assert list(found.frame["atoms"]) == ["element", "x", "y", "z"]
        assert found.meta["convert"]["warnings"] == [
            "guessed by MDAnalysis and left out: ids, masses, names, resids, resnums, segids, types"
        ]
    with mc.open(tmp_path / "y.mrec") as found:
        assert found.frame["atoms"]["mass"].tolist() == [12.011]


def test_a_precision(made, tmp_path):
    made.atoms.write(str(tmp_path / "x.mrec"), frames="all", precision=0.01)
    with mc.open(tmp_path / "x.mrec") as found:
        column = found.trajectory[3]["atoms"].column("x")
        assert column.precision == 0.01
        assert not (column.values % quantum(0.01)).any()
        assert found.system["atoms"].column("charge").precision is None


def test_values_of_frames_and_columns_asked_for(tmp_path):
    frames = [frame(q=np.arange(6.0) + k, meta={"pe": -1.5 * k}) for k in range(3)]
    made = mda.Universe(record(tmp_path / "in.h5", frames), additional_columns=["q"])
    made.atoms[::-1].write(str(tmp_path / "x.mrec"), frames="all")
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.trajectory.meta("pe") == [0.0, -1.5, -3.0]
        assert found.trajectory[2]["atoms"]["q"].tolist() == [7, 6, 5, 4, 3, 2]


def test_vectors_that_only_some_frames_have(tmp_path):
    moving = {name: np.ones(6) for name in ("vx", "vy", "vz")}
    made = mda.Universe(record(tmp_path / "in.h5", [frame(), frame(**moving)]))
    made.atoms.write(str(tmp_path / "x.mrec"), frames="all")
    again = mda.Universe(tmp_path / "x.mrec")
    assert [ts.has_velocities for ts in again.trajectory] == [False, True]


def test_cells_with_origin_and_open_axes_come_back(tmp_path):
    box = Box.orthogonal([5.0, 6.0, 7.0], origin=[-1.0, 0.5, 2.0], boundary=[True, True, False])
    made = mda.Universe(record(tmp_path / "in.h5", [frame(box=box), frame(1.0, box=box)]))
    made.atoms.write(str(tmp_path / "x.mrec"), frames="all")
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.trajectory[1].box.same(box)


def test_ratios_stay_ratios(tmp_path):
    atoms = {name: column for name, column in water().columns.items() if name not in ("mass", "charge")}
    atoms |= {"mass_lj": [1.0] * 6, "charge_lj": [0.0] * 6}
    path = record(tmp_path / "in.h5", [Frame({"atoms": atoms})] * 2, units=dict(DIMENSIONLESS_DOCUMENT))
    with pytest.warns(ConvertWarning, match="numbers without dimension are handed to MDAnalysis as they are"):
        made = mda.Universe(path)
    assert made.atoms.masses.tolist() == [1.0] * 6
    made.atoms.write(str(tmp_path / "x.mrec"), frames="all")
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.meta["units"] == dict(DIMENSIONLESS_DOCUMENT)
        assert {"mass_lj", "charge_lj"} <= found.system["atoms"].keys()
        assert "mass" not in found.system["atoms"]


def test_native_units_are_named(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mda.Universe(datafiles.GRO_velocity, convert_units=False, to_guess=())
    made.atoms.write(str(tmp_path / "x.mrec"))
    with mc.open(tmp_path / "x.mrec") as found:
        assert found.meta["units"]["length"] == "nm"
        assert np.array_equal(rows(found.frame["atoms"]).astype("f4"), made.atoms.positions)


# ---------------------------------------------------------------- whole or not at all
def test_an_exception_leaves_nothing(made, tmp_path):
    made.atoms.write(str(tmp_path / "x.mrec"))
    before = mda.Universe(tmp_path / "x.mrec").atoms.positions
    for name in ("x.mrec", "y.h5"):
        with pytest.raises(ValueError, match="5 atoms, 6 are due"):
            write_two(mda.Writer(str(tmp_path / name), 6, format="MREC"), made.atoms, made.atoms[:5])
    assert left_in(tmp_path) == ["x.mrec"]
    assert np.array_equal(mda.Universe(tmp_path / "x.mrec").atoms.positions, before)


def test_a_record_is_replaced_and_nothing_else(made, tmp_path):
    for frames in (None, "all"):
        made.atoms.write(str(tmp_path / "x.mrec"), frames=frames)
    assert len(mda.Universe(tmp_path / "x.mrec").trajectory) == 5
    (tmp_path / "thesis.h5").write_text("five years")
    with pytest.raises(TargetError, match=r"thesis\.h5: the target exists and is no record"):
        made.atoms.write(str(tmp_path / "thesis.h5"), file_format="MREC")
    assert (tmp_path / "thesis.h5").read_text() == "five years"
    with pytest.raises(OSError, match="there is no folder"):
        made.atoms.write(str(tmp_path / "no" / "x.mrec"))


def test_nothing_is_written_of_no_frames(tmp_path):
    with MolRecWriter(tmp_path / "x.mrec", n_atoms=3):
        pass
    MolRecWriter(tmp_path / "x.mrec", n_atoms=3).close()
    assert left_in(tmp_path) == []


def test_the_record_is_complete_with_the_last_of_its_writer(made, tmp_path):
    writer = MolRecWriter(tmp_path / "x.h5", n_atoms=6)
    writer.write(made)
    assert not (tmp_path / "x.h5").exists()
    del writer
    assert len(mda.Universe(tmp_path / "x.h5").atoms) == 6


@pytest.mark.parametrize(("given", "error"), [(None, TypeError), (5, TypeError), (np.zeros((6, 3)), TypeError)])
def test_what_cannot_be_written(tmp_path, given, error):
    with (
        MolRecWriter(tmp_path / "x.h5", n_atoms=6) as writer,
        pytest.raises(error, match="a record is written of atoms"),
    ):
        writer.write(given)
    assert left_in(tmp_path) == []


def test_another_number_of_atoms(made, tmp_path):
    with MolRecWriter(tmp_path / "x.h5", n_atoms=5) as writer, pytest.raises(ValueError, match="6 atoms, 5 are due"):
        writer.write(made)
    with pytest.raises(TypeError, match="give n_atoms"):
        MolRecWriter(tmp_path / "x.h5")
