"""MDAnalysis reads records: one file is a universe, in the units and the orientation of MDAnalysis."""

import pickle
import warnings
from pathlib import Path

import h5py
import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysis.exceptions import NoDataError

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning
from molrec_convert.integrations.mdanalysis import MolRecReader
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, document
from molrec_convert.model import Box, Frame, Record
from molrec_convert.model.trajectory import MemoryTrajectory
from molrec_convert.records import create

from ..frames import ROTATED, u64
from .universes import UNGUESSED, UNITS, UNTIMED, bonds, frame, moved, record, rows, water


@pytest.fixture
def path(tmp_path):
    return record(tmp_path / "run.h5", moved())


# ---------------------------------------------------------------- one file
def test_one_file_is_a_universe(path):
    made = mda.Universe(path)
    assert (len(made.atoms), len(made.residues), len(made.trajectory)) == (6, 2, 5)
    assert made.select_atoms("resname SOL and name OW").ids.tolist() == [11, 21]
    assert made.atoms.masses.tolist() == [16.0, 1.0, 1.0] * 2
    assert made.atoms.charges.tolist() == [-0.75, 0.375, 0.375] * 2
    assert [bond.indices.tolist() for bond in made.bonds] == [[0, 1], [0, 2], [3, 4], [3, 5]]
    assert len(made.atoms.fragments) == 2
    assert [ts.time for ts in made.trajectory] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert made.trajectory.dt == 0.5
    assert made.trajectory[3].data["step"] == 3
    assert np.array_equal(made.atoms.positions, rows(water(0.75)))
    assert made.dimensions.tolist() == [10, 11, 12, 90, 90, 90]
    assert "masses" not in {attribute.attrname for attribute in made._topology.guessed_attributes}


@pytest.mark.parametrize("name", ["run.h5", "run.mrec.h5", "run.hdf5", "run.data", "run"])
def test_a_record_is_known_by_its_content_under_any_name(path, name):
    renamed = Path(path).rename(Path(path).with_name(name))
    assert len(mda.Universe(renamed).atoms) == 6
    assert len(mda.Universe(str(renamed)).trajectory) == 5


@pytest.mark.parametrize("name", ["run.mrec", "run.mrec.zip"])
def test_other_forms_are_read_as_well(path, name):
    mc.convert(path, Path(path).with_name(name))
    made = mda.Universe(Path(path).with_name(name))
    assert (len(made.atoms), len(made.trajectory), len(made.bonds)) == (6, 5, 4)
    assert np.array_equal(made.trajectory[4].positions, rows(water(1.0)))


@pytest.mark.parametrize("format_name", ["MREC", "MOLREC", "mrec"])
def test_formats_by_name(path, format_name):
    assert len(mda.Universe(path, format=format_name, topology_format=format_name).trajectory) == 5


def test_a_topology_or_frames_of_another_file(path, tmp_path):
    mda.Universe(path).atoms.write(str(tmp_path / "other.gro"))
    frames = mda.Universe(str(tmp_path / "other.gro"), path)
    assert len(frames.trajectory) == 5
    topology = mda.Universe(path, str(tmp_path / "other.gro"))
    assert (len(topology.trajectory), len(topology.bonds)) == (1, 4)


def test_a_chain_of_records(path, tmp_path):
    other = record(tmp_path / "more.h5", [frame(9.0), frame(10.0)])
    made = mda.Universe(path, [path, other])
    assert len(made.trajectory) == 7
    assert made.trajectory[6].positions[0, 0] == 10.0


def test_a_broken_record_names_itself(tmp_path, path):
    broken = tmp_path / "broken.h5"
    broken.write_bytes(Path(path).read_bytes()[:3000])
    with pytest.raises(Exception, match=r"broken\.h5"):
        mda.Universe(broken)


# ---------------------------------------------------------------- frames
def test_frames_in_any_order(path):
    made = mda.Universe(path).trajectory
    assert [made[k].positions[0, 0] for k in (4, 0, -2, 2)] == [1.0, 0.0, 0.75, 0.5]
    assert [ts.positions[0, 0] for ts in made[::-2]] == [1.0, 0.5, 0.0]
    assert [ts.frame for ts in made[[3, 1]]] == [3, 1]
    assert [ts.frame for ts in made[np.array([True, False, True, False, False])]] == [0, 2]
    with pytest.raises(IndexError):
        made[5]


def test_a_single_frame_and_its_moment(tmp_path):
    with create(tmp_path / "one.h5", meta={"units": UNITS}) as writer:
        writer.set_section("frame", frame(meta={"timestep": 7, "time": 3.5, "pe": -2.0}))
    made = mda.Universe(tmp_path / "one.h5")
    assert (len(made.trajectory), made.trajectory.time) == (1, 3.5)
    assert made.trajectory.ts.data == {"step": 7, "time": 3.5, "pe": -2.0}


@UNTIMED
def test_times_that_the_record_does_not_have(tmp_path):
    made = mda.Universe(record(tmp_path / "a.h5", moved(2), time=False))
    assert "time" not in made.trajectory[1].data
    assert made.trajectory.time == 1.0


def test_steps_that_repeat_are_the_sources(tmp_path):
    """Steps that cannot be a trajectory's stand in its meta, and are steps here."""
    frames = [frame(meta={"timestep": step}) for step in (10, 20, 10)]
    with pytest.warns(ConvertWarning, match="step 10 comes after step 20"):
        path = record(tmp_path / "a.h5", frames)
    made = mda.Universe(path)
    assert [ts.data["step"] for ts in made.trajectory] == [10, 20, 10]
    assert "timestep" not in made.trajectory.ts.data


def test_values_of_a_frame_come_and_go(tmp_path):
    frames = [frame(meta={"pe": -1.0}), frame(meta={"note": "a"}), frame()]
    memory = Record(meta={"units": UNITS}, trajectory=MemoryTrajectory(frames, time=[0.0, 1.0, 2.0])).to_mdanalysis()
    found = [{key: value for key, value in ts.data.items() if key != "dt"} for ts in memory.trajectory]
    assert found == [
        {"step": 0, "time": 0.0, "pe": -1.0},
        {"step": 1, "time": 1.0, "note": "a"},
        {"step": 2, "time": 2.0},
    ]


def test_velocities_of_some_frames(tmp_path):
    moving = {name: np.ones(6) * k for k, name in enumerate(("vx", "vy", "vz"))}
    made = mda.Universe(record(tmp_path / "a.h5", [frame(**moving), frame(), frame(**moving)]))
    assert [ts.has_velocities for ts in made.trajectory] == [True, False, True]
    made.trajectory[2]
    assert made.atoms.velocities[0].tolist() == [0, 1, 2]
    assert not made.trajectory.ts.has_forces


@UNGUESSED
def test_a_topology_alone(tmp_path):
    for name in ("top.h5", "top.mrec"):
        with create(tmp_path / name, meta={"units": UNITS}) as writer:
            writer.set_section("system", Frame({"atoms": water().rows(slice(None)), "bonds": bonds()}))
        made = mda.Universe(tmp_path / name)
        assert (len(made.atoms), len(made.bonds), len(made.trajectory)) == (6, 4, 0)
        assert list(made.trajectory) == []
        made.trajectory.rewind()
        with pytest.raises(NoDataError):
            made.atoms.positions  # noqa: B018
        with pytest.raises(IndexError):
            made.trajectory[0]


def test_a_frame_beside_a_system_is_its_own(tmp_path):
    with create(tmp_path / "a.h5", meta={"units": UNITS}) as writer:
        writer.set_section("system", Frame({"atoms": {"name": ["A", "B"]}}))
        writer.set_section("frame", frame())
    assert mda.Universe(tmp_path / "a.h5").atoms.names[:2].tolist() == ["OW", "HW1"]


def test_further_columns_are_data_where_asked_for(tmp_path):
    frames = [frame(q=np.arange(6.0) + k, tag=np.arange(6)) for k in range(3)]
    path = record(tmp_path / "a.h5", frames)
    made = mda.Universe(path, additional_columns=["q"]).trajectory
    assert made[2].data["q"].tolist() == [2, 3, 4, 5, 6, 7]
    assert made.additional_columns == ("q",)
    assert mda.Universe(path, additional_columns=True).trajectory.additional_columns == ("q",)
    assert "q" not in mda.Universe(path).trajectory.ts.data


def test_bonds_that_change_are_those_of_the_first_frame_and_said(tmp_path):
    other = {"atomi": u64(0), "atomj": u64(5)}
    frames = [frame(), Frame({"atoms": water(), "bonds": other}, box=Box.orthogonal(5.0))]
    with pytest.warns(ConvertWarning, match="bonds change between frames; those of frame 0 are taken"):
        made = mda.Universe(record(tmp_path / "a.h5", frames))
    assert len(made.bonds) == 4


# ---------------------------------------------------------------- copies
def test_a_universe_is_pickled_and_copied(path):
    made = mda.Universe(path)
    made.trajectory[3]
    for other in (pickle.loads(pickle.dumps(made)), made.copy()):
        assert other.trajectory.frame == 3
        assert np.array_equal(other.atoms.positions, made.atoms.positions)
        other.trajectory[0]
        assert made.trajectory.frame == 3
        assert next(other.trajectory).frame == 1


def test_selections_and_keywords_are_kept_in_copies(path):
    reader = MolRecReader(path, convert_units=False, select=[21, 11], additional_columns=["charge"])
    for other in (reader.copy(), pickle.loads(pickle.dumps(reader))):
        assert (other.n_atoms, other.convert_units) == (2, False)
        assert other[1].positions[:, 0].tolist() == [1.75, 0.25]
        assert other.ts.data["charge"].tolist() == [-0.75, -0.75]


def test_a_record_in_memory(path):
    with mc.open(path) as stored:
        frames = list(stored.trajectory)
    made = Record(meta={"units": UNITS}, trajectory=MemoryTrajectory(frames, time=range(5))).to_mdanalysis()
    assert np.array_equal(made.trajectory[4].positions, rows(water(1.0)))
    other = pickle.loads(pickle.dumps(made))
    assert np.array_equal(other.trajectory[4].positions, rows(water(1.0)))
    assert len(made.copy().trajectory) == 5


def test_a_universe_of_a_stored_record_has_the_file_for_itself(path):
    with mc.open(path) as stored:
        made = stored.to_mdanalysis()
    assert made.trajectory[4].positions[0, 0] == 1.0


def test_a_closed_reader_opens_the_file_again(path):
    made = mda.Universe(path).trajectory
    made.close()
    made.close()
    assert made[2].positions[0, 0] == 0.5


# ---------------------------------------------------------------- units
@pytest.mark.parametrize(("style", "length", "energy", "time"), [("real", 1, 4.184, 1e-3), ("gromacs", 10, 1, 1)])
def test_declared_units_are_converted(tmp_path, style, length, energy, time):
    moving = {name: np.ones(6) for name in ("vx", "vy", "vz", "fx", "fy", "fz")}
    frames = [frame(k, meta={"pe": 2.0}, **moving) for k in range(2)]
    path = record(tmp_path / "a.h5", frames, units=document(SYSTEMS[style]))
    made = mda.Universe(path)
    made.trajectory[1]
    np.testing.assert_allclose(made.atoms.positions, rows(water(1.0)) * length, rtol=1e-6)
    np.testing.assert_allclose(made.atoms.velocities, length / time, rtol=1e-6)
    np.testing.assert_allclose(made.atoms.forces, energy / length, rtol=1e-6)
    np.testing.assert_allclose(made.dimensions[:3], np.array([10, 11, 12]) * length, rtol=1e-6)
    assert made.trajectory.time == pytest.approx(0.5 * time)
    assert made.trajectory.dt == pytest.approx(0.5 * time)
    assert made.trajectory.ts.data["pe"] == pytest.approx(2.0 * energy)
    assert made.trajectory.units["length"] == "Angstrom"
    raw = mda.Universe(path, convert_units=False)
    assert np.array_equal(raw.atoms.positions, rows(water(0.0)))
    assert (
        raw.trajectory.units
        == {
            "real": {"length": "Angstrom", "time": "fs", "velocity": "Angstrom/fs", "force": "kcal/(mol*Angstrom)"},
            "gromacs": {"length": "nm", "time": "ps", "velocity": "nm/ps", "force": "kJ/(mol*nm)"},
        }[style]
    )


def test_unknown_units_are_handed_through_and_said(tmp_path):
    moving = {name: np.ones(6) for name in ("vx", "vy", "vz")}
    path = record(tmp_path / "a.h5", [frame(**moving), frame(1.0, **moving)], units={"length": "angstrom"})
    with pytest.warns(ConvertWarning, match=r"a\.h5: the unit of velocity, time is not known; the numbers are handed"):
        made = mda.Universe(path)
    assert made.atoms.velocities[0].tolist() == [1, 1, 1]
    assert made.trajectory.record_units == {"length": "angstrom"}


def test_ratios_are_handed_through_and_said_once(tmp_path):
    """R-13: reduced units are not forced into ångström; copies say nothing more."""
    path = record(tmp_path / "a.h5", moved(2), units=dict(DIMENSIONLESS_DOCUMENT))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = mda.Universe(path)
        made.copy()
        mc.from_mdanalysis(made)
        mda.Universe(path, convert_units=False)
    assert [(each.category, str(each.message), each.filename) for each in caught] == [
        (
            ConvertWarning,
            f"{path}: numbers without dimension are handed to MDAnalysis as they are, which takes them for "
            "Å, ps, amu and e",
            __file__,
        )
    ]
    assert made.trajectory[1].positions[0, 0] == 0.25
    assert made.trajectory.units == {"length": None, "time": None, "velocity": None, "force": None}


# ---------------------------------------------------------------- cells
def test_cells_that_come_change_and_go(tmp_path):
    boxes = [Box.orthogonal(5.0), Box.from_parameters([6, 7, 8, 70, 80, 95]), None, Box.undefined([1.0, 2.0, 3.0])]
    made_of = [Frame({"atoms": water()}, box=box) for box in boxes]
    made = mda.Universe(record(tmp_path / "a.h5", made_of))
    found = [None if ts.dimensions is None else ts.dimensions.tolist() for ts in made.trajectory]
    assert found[0] == [5, 5, 5, 90, 90, 90]
    assert found[1] == pytest.approx([6, 7, 8, 70, 80, 95], rel=1e-6)
    assert found[2:] == [None, None]
    assert made.trajectory[3].data["box_origin"].tolist() == [1, 2, 3]
    assert "box_origin" not in made.trajectory[0].data


def test_a_general_cell_is_turned_with_positions_velocities_and_forces(tmp_path):
    points = np.random.default_rng(2).uniform(-5, 5, (6, 3))
    columns = dict(zip(("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz"), np.tile(points, 3).T.copy(), strict=True))
    frames = [frame(box=Box.from_rows(np.array(ROTATED) * k), **columns) for k in (2.0, 3.0)]
    made = mda.Universe(record(tmp_path / "a.h5", frames))
    for k, ts in zip((2.0, 3.0), made.trajectory, strict=True):
        cell = ts.triclinic_dimensions.astype(float)
        fractions = points @ np.linalg.inv(np.array(ROTATED) * k)
        for found in (ts.positions, ts.velocities, ts.forces):
            np.testing.assert_allclose(found @ np.linalg.inv(cell), fractions, atol=1e-6)
    series = made.trajectory.timeseries()
    assert np.array_equal(series, [ts.positions.copy() for ts in made.trajectory])


# ---------------------------------------------------------------- timeseries
@pytest.mark.parametrize("order", ["fac", "fca", "afc", "acf", "caf", "cfa"])
@pytest.mark.parametrize("frames", [slice(None), slice(1, 4), slice(None, None, 2), slice(4, 0, -1), slice(3, 3)])
@pytest.mark.parametrize("selection", [None, "name OW", "index 5 2"])
def test_timeseries_is_what_frames_hold(path, order, frames, selection):
    made = mda.Universe(path)
    group = made.atoms if selection is None else made.select_atoms(selection)
    due = np.array([group.positions for _ in made.trajectory[frames]]).reshape(-1, len(group), 3)
    given = {"start": frames.start, "stop": frames.stop, "step": frames.step}
    found = made.trajectory.timeseries(atomgroup=None if selection is None else group, order=order, **given)
    assert found.dtype == np.float32
    assert np.array_equal(found, due.transpose(["fac".index(axis) for axis in order]))


@pytest.mark.parametrize("order", ["xyz", "ffc", "fa"])
def test_timeseries_in_no_order(path, order):
    with pytest.raises(ValueError, match="order"):
        mda.Universe(path).trajectory.timeseries(order=order)


def test_timeseries_of_transformed_frames(path):
    made = mda.Universe(path, transformations=[lambda ts: setattr(ts, "positions", ts.positions + 1) or ts])
    assert made.trajectory.timeseries()[:, 0, 0].tolist() == [1.0, 1.25, 1.5, 1.75, 2.0]


def test_in_memory(path):
    made = mda.Universe(path, in_memory=True)
    assert made.trajectory.timeseries(order="fac")[:, 0, 0].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_errors_are_of_this_project(path):
    with h5py.File(path, "r+") as file:
        file["trajectory"].attrs["nstep"] = np.int64(-1)
    with pytest.raises(ValueError, match=r"run\.h5: /trajectory: nstep is -1"):
        mda.Universe(path)
