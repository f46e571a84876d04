"""Records of universes, whose frames are read when they are asked for; the bridge to ASE."""

import pickle
import warnings

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysis.coordinates.memory import MemoryReader
from MDAnalysis.transformations import translate
from MDAnalysisTests import datafiles

import molrec_convert as mc
from molrec_convert.errors import LossWarning, OptionError
from molrec_convert.integrations.mda_record import UniverseTrajectory
from molrec_convert.model import Box, Frame, Record

from ..compare import assert_same_trajectories
from .universes import UNITS, UNTIMED, frame, moved, record, water

COPIED_DCD = pytest.mark.filterwarnings("ignore:DCDReader currently makes independent timesteps:DeprecationWarning")
"""What MDAnalysis warns of wherever a DCD file is opened."""


@pytest.fixture
def made(tmp_path):
    """A universe of five frames."""
    return mda.Universe(record(tmp_path / "in.h5", moved()))


@pytest.fixture
def protein():
    """A real topology with a real trajectory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mda.Universe(datafiles.PSF, datafiles.DCD)


# ---------------------------------------------------------------- from MDAnalysis
def test_a_universe_becomes_a_record(made, tmp_path):
    found = mc.from_mdanalysis(made)
    assert isinstance(found, Record)
    assert isinstance(found.trajectory, UniverseTrajectory)
    assert found.system["bonds"].count == 4
    assert found.trajectory[3]["atoms"]["x"].tolist() == water(0.75)["x"].tolist()
    assert found.trajectory[3]["atoms"]["name"][0] == "OW"
    assert found.trajectory.step.tolist() == [0, 1, 2, 3, 4]
    assert found.trajectory.time.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert {key: found.meta["units"][key] for key in UNITS} == UNITS
    mc.write(tmp_path / "out.h5", found)
    with mc.open(tmp_path / "in.h5") as one, mc.open(tmp_path / "out.h5") as other:
        assert_same_trajectories(one, other)
        assert one.system.same(other.system)


def test_frames_are_read_when_they_are_asked_for(made, monkeypatch):
    """The universe stays where it is, and a frame costs the reading of one."""
    made.trajectory[1]
    found = mc.from_mdanalysis(made)
    read = []
    original = type(made.trajectory)._read_frame
    monkeypatch.setattr(type(made.trajectory), "_read_frame", lambda self, k: read.append(k) or original(self, k))
    assert found.trajectory[4]["atoms"]["x"][0] == 1.0
    assert len(found.trajectory[1:3]) == 2
    assert "5 frames of 6 atoms" in repr(found.trajectory)
    assert read == [4]
    assert made.trajectory.frame == 1
    for ts in made.trajectory[:2]:
        assert found.trajectory[3]["atoms"]["x"][0] == 0.75
        assert made.trajectory.ts.frame == ts.frame


def test_writing_reads_every_frame_once(made, tmp_path, monkeypatch):
    found = mc.from_mdanalysis(made)
    read = []
    original = type(made.trajectory)._read_frame
    monkeypatch.setattr(type(made.trajectory), "_read_frame", lambda self, k: read.append(k) or original(self, k))
    mc.write(tmp_path / "out.h5", found)
    assert read == [0, 1, 2, 3, 4]


def test_some_atoms(made):
    found = mc.from_mdanalysis(made.atoms[[5, 3]])
    assert found.system["atoms"]["id"].tolist() == [23, 21]
    assert [found.system["bonds"][end].tolist() for end in ("atomi", "atomj")] == [[1], [0]]
    assert found.trajectory[1]["atoms"]["x"].tolist() == [2.75, 1.75]


def test_transformations_act(made):
    made.trajectory.add_transformations(translate([1.0, 0.0, 0.0]))
    found = mc.from_mdanalysis(made)
    assert [each["atoms"]["x"][0] for each in found.trajectory] == [1.0, 1.25, 1.5, 1.75, 2.0]


def test_a_universe_in_memory_is_not_copied(made):
    made.transfer_to_memory()
    reader = made.trajectory
    found = mc.from_mdanalysis(made)
    assert isinstance(found.trajectory._reader, MemoryReader)
    assert np.shares_memory(found.trajectory._reader.coordinate_array, reader.coordinate_array)
    assert [each["atoms"]["x"][0] for each in found.trajectory] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert made.trajectory.frame == 0


def test_one_frame_is_taken_as_it_stands(tmp_path):
    made = mda.Universe(record(tmp_path / "in.h5", [frame()]))
    made.atoms.translate([5.0, 0.0, 0.0])
    found = mc.from_mdanalysis(made)
    assert found.trajectory is None
    assert found.frame["atoms"]["x"].tolist() == water(5.0)["x"].tolist()


def test_a_topology_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mda.Universe(datafiles.PSF)
    found = mc.from_mdanalysis(made)
    assert (found.trajectory, found.frame, found.system["bonds"].count) == (None, None, 3365)
    assert "units" not in found.meta


@COPIED_DCD
def test_a_real_trajectory(protein, tmp_path):
    found = mc.from_mdanalysis(protein)
    mc.write(tmp_path / "out.h5", found)
    again = mda.Universe(tmp_path / "out.h5")
    assert len(again.trajectory) == len(protein.trajectory) == 98
    for k in (0, 50, 97):
        assert np.array_equal(again.trajectory[k].positions, protein.trajectory[k].positions)
        assert again.trajectory.time == pytest.approx(protein.trajectory.time, abs=1e-9)
    assert again.atoms.total_mass() == pytest.approx(protein.atoms.total_mass())
    assert again.select_atoms("name CA").radius_of_gyration() == pytest.approx(
        protein.select_atoms("name CA").radius_of_gyration(), rel=1e-5
    )
    assert len(again.dihedrals) == len(protein.dihedrals)
    assert again.atoms.fragments[0].n_atoms == protein.atoms.fragments[0].n_atoms


def test_what_is_no_value_of_a_record_is_said(made):
    made.trajectory.add_transformations(lambda ts: ts.data.update(large=np.zeros(5000)) or ts)
    found = mc.from_mdanalysis(made)
    with pytest.warns(LossWarning, match="no values of a frame, left out: large") as caught:
        found.trajectory[0]
    assert [each.filename for each in caught] == [__file__]
    found.trajectory[1]  # once


@UNTIMED
def test_frames_without_step_and_time():
    made = mda.Universe.empty(2, trajectory=True)
    made.add_TopologyAttr("elements", ["H", "H"])
    made.load_new(np.zeros((3, 2, 3), np.float32))
    found = mc.from_mdanalysis(made)
    assert found.trajectory.step.tolist() == [0, 1, 2]


# ---------------------------------------------------------------- convert_to
def test_convert_to_a_record(made):
    made.trajectory[2]
    made.atoms.translate([5.0, 0.0, 0.0])
    for found in (made.atoms.convert_to("MOLREC"), made.atoms.convert_to.molrec()):
        assert isinstance(found, Record)
        assert found.trajectory is None
        assert found.frame["atoms"]["x"].tolist() == water(5.5)["x"].tolist()
        assert (found.frame.meta["timestep"], found.frame.meta["time"]) == (2, 1.0)
    assert len(made.atoms.convert_to("MOLREC", frames="all")) == 5
    assert made.atoms[:2].convert_to("molrec").frame["bonds"].count == 1
    with pytest.raises(OptionError, match="frames is 'all' or 'current', not 'some'"):
        made.atoms.convert_to("MOLREC", frames="some")
    with pytest.raises(TypeError, match="atoms of MDAnalysis are due, not int"):
        mc.from_mdanalysis(5)


# ---------------------------------------------------------------- to MDAnalysis, and the bridge
def test_there_and_back(made):
    found = mc.from_mdanalysis(made)
    again = found.to_mdanalysis()
    for one, other in zip(made.trajectory, again.trajectory, strict=True):
        assert np.array_equal(one.positions, other.positions)
    back = mc.from_mdanalysis(again)
    assert back.system.same(found.system)
    assert back.trajectory[2].same(found.trajectory[2])
    assert made.trajectory.frame == 0


def test_from_ase_to_mdanalysis():
    from ase.build import bulk, molecule

    atoms = molecule("CH3OH")
    atoms.set_cell([8.0, 9.0, 10.0])
    atoms.pbc = True
    atoms.set_momenta(np.arange(18.0).reshape(6, 3))
    made = mc.from_ase(atoms).to_mdanalysis()
    assert made.atoms.elements.tolist() == atoms.get_chemical_symbols()
    np.testing.assert_array_equal(made.atoms.positions, atoms.positions.astype("f4"))
    np.testing.assert_allclose(made.atoms.velocities, atoms.get_velocities() * 98.22694788464064, rtol=1e-6)
    assert made.dimensions.tolist() == [8, 9, 10, 90, 90, 90]
    crystal = mc.from_ase(bulk("Si")).to_mdanalysis()
    assert crystal.dimensions[3:].tolist() == pytest.approx([60, 60, 60], rel=1e-6)
    assert mda.lib.distances.calc_bonds(*crystal.atoms.positions, box=crystal.dimensions) == pytest.approx(
        2.351, abs=1e-3
    )


def test_from_mdanalysis_to_ase(made):
    with pytest.warns(LossWarning, match="ASE Atoms do not hold bonds"):
        images = mc.from_mdanalysis(made).to_ase()
    assert len(images) == 5
    assert images[3].get_chemical_symbols() == ["O", "H", "H"] * 2
    np.testing.assert_array_equal(images[3].positions[:, 0], water(0.75)["x"])
    assert images[3].get_masses().tolist() == [16.0, 1.0, 1.0] * 2
    assert images[3].cell.lengths().tolist() == [10, 11, 12]
    one = mc.from_mdanalysis(made.select_atoms("name OW")).trajectory[1]
    assert one.to_ase().positions[:, 0].tolist() == [0.25, 1.75]


@UNTIMED
def test_frames_know_the_units_of_their_record(made, tmp_path):
    """A frame alone becomes the same Atoms as among others."""
    oxygens = made.select_atoms("name OW")
    found = mc.from_mdanalysis(oxygens)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.trajectory[3].to_ase().info["time"] == 1.5
        assert mc.from_mdanalysis(oxygens, frames="current").frame.to_ase().positions.tolist() == [
            [0] * 3,
            [1.5, -1.5, 3],
        ]


@COPIED_DCD
def test_steps_of_dcd_files_are_those_of_their_header(protein):
    """MDAnalysis itself numbers the frames under the name of a step."""
    found = mc.from_mdanalysis(protein.atoms[:9])
    assert found.trajectory.step[:3].tolist() == [1000, 2000, 3000]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.trajectory.step.tolist() == mc.read(datafiles.DCD).trajectory.step.tolist()
        chain = mda.Universe(datafiles.PSF, [datafiles.DCD, datafiles.DCD2])
    steps = mc.from_mdanalysis(chain.atoms[:9]).trajectory.step
    assert steps.tolist() == list(range(98 + 102))


@UNTIMED
def test_a_trajectory_of_ase_and_back():
    from ase.build import molecule

    images = [molecule("H2O") for _ in range(3)]
    for k, image in enumerate(images):
        image.positions = np.round(image.positions * 64 + k) / 64  # binary32 holds these
    again = mc.from_mdanalysis(mc.from_ase(images).to_mdanalysis()).to_ase()
    for one, other in zip(images, again, strict=True):
        assert one.get_chemical_symbols() == other.get_chemical_symbols()
        np.testing.assert_array_equal(one.positions, other.positions)


def test_forces_change_their_unit_on_the_bridge():
    """eV/Å there, kJ/mol/Å here, and the same forces after both."""
    made = Record(
        meta={"units": {"length": "angstrom", "force": "eV/angstrom", "energy": "eV"}},
        frame=Frame(
            {"atoms": water(fx=np.ones(6), fy=np.zeros(6), fz=np.zeros(6))}, box=Box.orthogonal(5.0), meta={"pe": -2.0}
        ),
    )
    universe = made.to_mdanalysis()
    assert universe.atoms.forces[0, 0] == pytest.approx(96.48533212331)
    assert universe.trajectory.ts.data["pe"] == pytest.approx(-2.0 * 96.48533212331)
    back = mc.from_mdanalysis(universe)
    assert back.meta["units"]["force"] == "kJ/mol/angstrom"
    assert back.to_ase().get_forces()[0, 0] == pytest.approx(1.0, rel=1e-6)
    assert back.to_ase().get_potential_energy() == pytest.approx(-2.0)


@UNTIMED
def test_universes_of_records_are_pickled(made):
    """As programs do that share the frames of one among processes."""
    again = pickle.loads(pickle.dumps(mc.from_mdanalysis(made).to_mdanalysis()))
    for one, other in zip(made.trajectory, again.trajectory, strict=True):
        assert np.array_equal(one.positions, other.positions)
