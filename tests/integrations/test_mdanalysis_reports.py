"""Faults that people meet with MDAnalysis today, by their numbers in the list of reports."""

import warnings

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysisTests import datafiles

import molrec_convert as mc
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT

from ..converting import source_of
from ..datafiles import WATER
from ..dumps import snapshot, snapshots
from .universes import UNTIMED, moved, record

QUIET = pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
"""Conversions tell what a person should know."""


def test_r01_bonds_of_a_part_point_at_its_own_atoms(tmp_path):
    """CONECT of a selection: the serials of the file that it stands in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(datafiles.PSF, datafiles.DCD)
        part = universe.select_atoms("resid 100:102")
        mc.write(tmp_path / "part.pdb", mc.from_mdanalysis(part).trajectory[0:1])
        again = mda.Universe(tmp_path / "part.pdb")
    names = sorted(tuple(sorted(bond.atoms.names)) for bond in part.get_connections("bonds", outside=False))
    assert len(names) > 20
    assert sorted(tuple(sorted(bond.atoms.names)) for bond in again.bonds) == names
    lengths = mda.lib.distances.calc_bonds(*(again.atoms.positions[ends] for ends in np.array(again.bonds.indices).T))
    assert lengths.max() < 2.5


def test_r03_as_many_models_as_frames(tmp_path):
    universe = mda.Universe(record(tmp_path / "in.h5", moved(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(tmp_path / "out.pdb", mc.from_mdanalysis(universe))
    lines = (tmp_path / "out.pdb").read_text().splitlines()
    assert [sum(line.startswith(word) for line in lines) for word in ("MODEL", "ENDMDL", "ATOM")] == [3, 3, 18]


@QUIET
@pytest.mark.parametrize(("style", "velocity", "ps"), [("real", 250.0, 5e-4), ("metal", 0.25, 0.5)])
def test_r11_velocities_and_times_in_the_units_that_were_said(tmp_path, style, velocity, ps):
    """Without a style MDAnalysis takes every file for one of real units, and a step for a ps."""
    text = "ITEM: TIME\n0.5\n" + snapshot("1 1 1 2 3 0.25 0 0", columns="id type x y z vx vy vz", step=1000)
    mc.convert(source_of(tmp_path, text, "in.dump"), tmp_path / "out.h5", units=style)
    universe = mda.Universe(tmp_path / "out.h5", to_guess=())
    assert universe.atoms.velocities[0, 0] == pytest.approx(velocity)
    assert universe.trajectory.time == pytest.approx(ps)
    assert universe.trajectory.ts.data["step"] == 1000


@QUIET
def test_r11_units_that_nobody_said_are_not_made_up(tmp_path):
    text = snapshot("1 1 1 2 3 0.25 0 0", columns="id type x y z vx vy vz")
    mc.convert(source_of(tmp_path, text, "in.dump"), tmp_path / "out.h5")
    with pytest.warns(mc.errors.ConvertWarning, match="the unit of length, velocity is not known"):
        universe = mda.Universe(tmp_path / "out.h5", to_guess=())
    assert universe.atoms.velocities[0, 0] == 0.25


@QUIET
@UNTIMED
def test_r13_reduced_units_are_handed_through(tmp_path):
    text = snapshots(["1 1 0.5 0.25 0 1.5 0.5", "1 1 0.75 0.25 0 1.5 0.5"], columns="id type x y z q mass", units="lj")
    mc.convert(source_of(tmp_path, text, "in.dump"), tmp_path / "out.h5")
    universe = mda.Universe(tmp_path / "out.h5")
    assert universe.trajectory[1].positions[0].tolist() == [0.75, 0.25, 0.0]
    assert (universe.atoms.charges.tolist(), universe.atoms.masses.tolist()) == ([1.5], [0.5])
    back = mc.from_mdanalysis(universe)
    assert back.meta["units"] == dict(DIMENSIONLESS_DOCUMENT)
    assert back.system["atoms"]["mass_lj"].tolist() == [0.5]


@QUIET
@UNTIMED
def test_r19_one_file_is_topology_and_trajectory(tmp_path):
    """A data file and a dump: elements, names, masses, charges, molecules and bonds of one file."""
    mc.convert(source_of(tmp_path, WATER, "in.data"), tmp_path / "out.h5", guess=["elements"])
    universe = mda.Universe(tmp_path / "out.h5", to_guess=())
    with mc.open(tmp_path / "out.h5") as found:
        atoms = found.frame["atoms"]
        assert universe.atoms.ids.tolist() == atoms["id"].tolist()
        assert universe.atoms.elements.tolist() == atoms["element"].tolist() == ["O", "H", "H"]
        assert universe.atoms.names.tolist() == ["O", "H", "H"]
        assert universe.atoms.masses.tolist() == atoms["mass"].tolist()
        assert universe.atoms.charges.tolist() == atoms["charge"].tolist()
        assert universe.residues.molnums.tolist() == atoms["mol_id"][:1].tolist()
        assert len(universe.bonds) == found.frame["bonds"].count == 2
        assert len(universe.angles) == 1
    assert universe.select_atoms("bonded element O").n_atoms == 2


@QUIET
@UNTIMED
def test_r31_nothing_is_unwrapped_and_images_are_within_reach(tmp_path):
    text = snapshots([["1 1 9 2 3 1 0 -1"], ["1 1 1 2 3 2 0 -1"]], columns="id type x y z ix iy iz")
    mc.convert(source_of(tmp_path, text, "in.dump"), tmp_path / "out.h5", units="real")
    universe = mda.Universe(tmp_path / "out.h5", to_guess=(), additional_columns=["ix", "iy", "iz"])
    assert [ts.positions[0, 0] for ts in universe.trajectory] == [9.0, 1.0]
    assert [ts.data["ix"].tolist() for ts in universe.trajectory] == [[1], [2]]


def test_r07_a_box_and_elements_in_xyz(tmp_path):
    """MDAnalysis itself writes XYZ files without a box, and to five decimals."""
    universe = mda.Universe(record(tmp_path / "in.h5", moved(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(tmp_path / "out.xyz", mc.from_mdanalysis(universe))
    back = mc.read(tmp_path / "out.xyz")
    assert back.trajectory[1]["atoms"]["element"].tolist() == ["O", "H", "H"] * 2
    assert back.trajectory[1].box.same(mc.from_mdanalysis(universe).trajectory[1].box)
    assert back.trajectory[1]["atoms"]["x"].tolist() == (np.arange(6) * 0.5 + 0.25).tolist()
