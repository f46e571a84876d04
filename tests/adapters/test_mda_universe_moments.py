"""MDAnalysis time steps: positions, velocities, forces, cells, times and values to a record, and back."""

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysis.coordinates.timestep import Timestep
from MDAnalysisTests import datafiles

from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.mda_universe import (
    FLOATS,
    LAYOUT,
    fill,
    per_atom_of,
    snapshot_of,
    static_part,
    to_arrays,
    units_of,
)
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, document
from molrec_convert.model import Block, Box, Column, Frame, Meta

from ..frames import ROTATED, TRICLINIC

NAMES = ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz")


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned here."""


@pytest.fixture
def timestep():
    """Three atoms with all vectors, whose numbers are no short decimals in binary64."""
    made = Timestep(3, velocities=True, forces=True)
    rng = np.random.default_rng(3)
    made.positions, made.velocities, made.forces = (rng.normal(size=(3, 3)).astype(np.float32) for _ in range(3))
    made.dimensions = [11.1, 12.2, 13.3, 75.0, 80.0, 85.0]
    made.time, made.data["step"] = 2.5, 250
    return made


def atoms(**columns):
    return {"atoms": Block({name: np.asarray(values, float) for name, values in columns.items()})}


def moved(rows, *names):
    return {name: np.asarray(rows, float)[:, k] for k, name in enumerate(names)}


# ---------------------------------------------------------------- to a record
def test_binary32_is_widened_exactly_and_said_to_be_it(timestep):
    made = snapshot_of(timestep)
    found = np.stack([made.frame["atoms"][name] for name in NAMES], axis=1)
    assert found.dtype == np.float64
    due = np.concatenate([timestep.positions, timestep.velocities, timestep.forces], axis=1)
    assert np.array_equal(found.astype(np.float32), due)
    assert found[0, 0] != float(f"{due[0, 0]:.6g}")
    assert (made.step, made.time) == (250, 2.5)
    assert made.about[FLOATS] == "binary32"
    assert frozenset(made.about) == LAYOUT - {"mda_residue"}
    assert {name: made.units[name] for name in ("length", "time", "velocity", "force", "mass", "charge")} == {
        "length": "angstrom", "time": "ps", "velocity": "angstrom/ps", "force": "kJ/mol/angstrom",
        "mass": "amu", "charge": "e",
    }  # fmt: skip


def test_memory_is_the_snapshots_own(timestep):
    made = snapshot_of(timestep)
    before = made.frame["atoms"]["x"].copy()
    timestep.positions[:] = 0.0
    assert np.array_equal(made.frame["atoms"]["x"], before)


def test_there_and_back_to_the_bit(timestep):
    found = to_arrays(snapshot_of(timestep))
    for name in ("positions", "velocities", "forces", "dimensions"):
        assert np.array_equal(getattr(found, name), getattr(timestep, name))
        assert getattr(found, name).dtype == np.float32
    assert (found.time, found.data) == (2.5, {"step": 250})


def test_some_rows_in_their_order(timestep):
    made = snapshot_of(timestep, rows=np.array([2, 0]))
    assert made.frame["atoms"]["x"].tolist() == [float(timestep.positions[2, 0]), float(timestep.positions[0, 0])]
    assert made.frame["atoms"].count == 2


@pytest.mark.parametrize("missing", ["positions", "velocities", "forces"])
def test_what_a_time_step_lacks(timestep, missing):
    setattr(timestep, f"has_{missing}", False)
    made = snapshot_of(timestep)
    assert len(made.frame["atoms"]) == 6
    assert getattr(to_arrays(made), missing) is None


def test_what_stands_still_is_the_same_in_every_frame(timestep):
    universe = mda.Universe.empty(3, trajectory=True)
    universe.add_TopologyAttr("names", ["A", "B", "C"])
    universe.add_TopologyAttr("bonds", [(0, 1)])
    static = static_part(universe)
    one, other = (snapshot_of(timestep, static=static).frame for _ in range(2))
    assert one["atoms"].column("name") is other["atoms"].column("name")
    assert one["bonds"] is other["bonds"]


def test_times_that_mdanalysis_counts_are_none():
    made = Timestep(1)
    made.frame = 3
    assert (snapshot_of(made).time, snapshot_of(made).step) == (None, None)
    made.data["dt"] = 2.0
    assert snapshot_of(made).time == 6.0


def test_values_of_a_frame(timestep):
    timestep.data.update(
        {"lambda": 0.5, "count": 3, "flag": True, "note": "a b", "dipole": np.array([1.0, 2.0, 3.0], "f4"),
         "nested/name": np.float32(0.25), "words": ["a", "b"], "large": np.zeros(5000)}
    )  # fmt: skip
    timestep.aux.pull, timestep.aux.count = np.array([1.5]), np.array([1.0, 2.0])
    made = snapshot_of(timestep)
    assert dict(made.frame.meta) == {
        "lambda": 0.5, "count": 3, "flag": True, "note": "a b", "dipole": (1.0, 2.0, 3.0), "nested.name": 0.25,
        "words": ["a", "b"], "pull": 1.5, "aux_count": [1.0, 2.0],
    }  # fmt: skip
    assert made.frame.meta.tag("dipole") == "f64x3"
    assert [note.message for note in made.notes] == ["no values of a frame, left out: large"]


def test_values_for_each_atom(timestep):
    timestep.data["q"] = np.array([0.5, 1.5, 2.5], "f4")
    made = snapshot_of(timestep, per_atom=["q"], rows=np.array([2, 1]))
    assert made.frame["atoms"]["q"].tolist() == [2.5, 1.5]
    assert "q" not in made.frame.meta


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_occupancies_of_each_frame_of_a_pdb_file():
    universe = mda.Universe(datafiles.PDB_full, to_guess=())
    made = snapshot_of(universe.trajectory.ts, static=static_part(universe))
    assert made.frame["atoms"]["b_factor"][:2].tolist() == [23.44, 23.0]
    assert not made.frame.meta


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("asked", "given"), [(True, {"p", "q"}), (["q"], {"q"}), (None, set())])
def test_columns_that_a_reader_was_asked_for(asked, given):
    files = datafiles.LAMMPSdata_additional_columns, datafiles.LAMMPSDUMP_additional_columns
    universe = mda.Universe(*files, format="LAMMPSDUMP", additional_columns=asked)
    assert set(per_atom_of(universe.trajectory)) == given


# ---------------------------------------------------------------- cells to a record
def test_a_cell_of_no_volume_is_none_and_said(timestep):
    timestep.dimensions = [10.0, 10.0, 0.0, 90.0, 90.0, 90.0]
    made = snapshot_of(timestep)
    assert made.frame.box is None
    assert [note.message for note in made.notes] == [
        "[10.0, 10.0, 0.0, 90.0, 90.0, 90.0] make no cell: the frame has none"
    ]
    timestep.dimensions = None
    assert (snapshot_of(timestep).frame.box, snapshot_of(timestep).notes) == (None, [])


def test_right_angles_are_exact(timestep):
    timestep.dimensions = [10.0, 11.0, 12.0, 90.0, 90.0, 90.0]
    box = snapshot_of(timestep).frame.box
    assert np.array_equal(box.vectors, np.diag([10.0, 11.0, 12.0]))
    assert box.boundary.all()


def test_an_origin_and_axes_that_are_not_periodic_go_round():
    box = Box.orthogonal(5.0, origin=[1.0, -2.0, 0.5], boundary=[True, False, True])
    found = to_arrays(Snapshot(Frame(atoms(x=[0.0], y=[0.0], z=[0.0]), box=box)))
    assert found.data["box_origin"].tolist() == [1.0, -2.0, 0.5]
    assert found.data["box_boundary"].tolist() == [True, False, True]
    made = Timestep(1)
    fill(made, Snapshot(Frame(atoms(x=[0.0], y=[0.0], z=[0.0]), box=box)))
    assert snapshot_of(made).frame.box.same(box)
    assert not snapshot_of(made).frame.meta
    fill(made, Snapshot(Frame(atoms(x=[0.0], y=[0.0], z=[0.0]), box=Box.undefined([1.0, 2.0, 3.0]))))
    assert made.dimensions is None
    assert snapshot_of(made).frame.box.same(Box.undefined([1.0, 2.0, 3.0]))


# ---------------------------------------------------------------- cells to MDAnalysis
def turned(rows, points, **options):
    """The time step of points in a cell, whose velocities and forces are the points as well."""
    names = [moved(points, *NAMES[k : k + 3]) for k in (0, 3, 6)]
    made = Timestep(len(points))
    fill(made, Snapshot(Frame(atoms(**names[0], **names[1], **names[2]), box=Box.from_rows(rows, **options))))
    return made


def test_a_cell_in_its_place_is_not_turned():
    points = np.array([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]])
    made = turned(TRICLINIC, points)
    assert np.array_equal(made.positions, points.astype(np.float32))
    np.testing.assert_allclose(made.triclinic_dimensions, TRICLINIC, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    "rows", [ROTATED, np.array(ROTATED) * -1.0, np.array(TRICLINIC)[[2, 0, 1]], np.diag([-4, 5, -6])]
)
def test_a_cell_of_any_orientation_is_turned_with_all_vectors(rows):
    """Fractional coordinates and the distances of images stay, whatever the cell's hand: R-05 of the reports."""
    rows = np.asarray(rows, float)
    fractions = np.random.default_rng(1).uniform(-1, 2, (20, 3))
    made = turned(rows, fractions @ rows)
    cell = np.asarray(made.triclinic_dimensions, float)
    assert cell[0, 0] > 0 < cell[1, 1]
    assert np.abs(np.triu(cell, 1)).max() < 1e-6
    hand = np.array([1.0, 1.0, np.sign(np.linalg.det(rows))])
    for found in (made.positions, made.velocities, made.forces):
        np.testing.assert_allclose(found @ np.linalg.inv(cell), fractions * hand, atol=2e-6)
    np.testing.assert_allclose(  # what turns is no mirror
        np.linalg.det(made.positions[:3].astype(float)), np.linalg.det((fractions @ rows)[:3]), rtol=1e-5
    )


def test_two_hundred_cells_keep_their_nearest_images():
    """MDAnalysis finds the same distances in the turned cell as the cell's own lattice has."""
    rng = np.random.default_rng(7)
    shifts = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T
    for _ in range(200):
        rows = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.diag(rng.uniform(8, 12, 3)) + rng.uniform(-1, 1, (3, 3))
        points = rng.uniform(0, 1, (2, 3)) @ rows
        made = turned(rows, points)
        found = mda.lib.distances.calc_bonds(*made.positions[:, None], box=made.dimensions)[0]
        due = np.linalg.norm(points[1] - points[0] + shifts @ rows, axis=1).min()
        assert found == pytest.approx(due, abs=2e-5)


def test_an_origin_is_turned_with_the_cell():
    rows, origin = np.array(ROTATED), np.array([1.0, 2.0, 3.0])
    made = turned(rows, [origin, origin + rows.sum(axis=0)], origin=origin)
    np.testing.assert_allclose(made.positions[0], made.data["box_origin"], atol=1e-6)
    left = turned(rows * [[1.0], [1.0], [-1.0]], [origin], origin=origin)
    corner = left.positions[0] - left.data["box_origin"]  # the corner that was the origin lies at c now
    np.testing.assert_allclose(corner @ np.linalg.inv(left.triclinic_dimensions), [0, 0, 1], atol=1e-6)


# ---------------------------------------------------------------- units to MDAnalysis
@pytest.mark.parametrize(
    ("style", "length", "velocity", "force", "time"),
    [("mdanalysis", 1, 1, 1, 1), ("metal", 1, 1, 96.48533212331, 1), ("real", 1, 1000, 4.184, 1e-3),
     ("gromacs", 10, 10, 0.1, 1), ("akma", 1, 20.45482948, 4.184, 0.04888821291)],
)  # fmt: skip
def test_known_units_are_converted(style, length, velocity, force, time):
    frame = Frame(atoms(**{key: [2.0] for key in NAMES}), box=Box.orthogonal(3.0), meta=Meta({"pe": 1.0}))
    found = to_arrays(Snapshot(frame, time=5.0, units=document(SYSTEMS[style])))
    assert found.positions[0, 0] == pytest.approx(2.0 * length, rel=1e-7)
    assert found.velocities[0, 0] == pytest.approx(2.0 * velocity, rel=1e-7)
    assert found.forces[0, 0] == pytest.approx(2.0 * force, rel=1e-7)
    assert found.dimensions[:3].tolist() == pytest.approx([3.0 * length] * 3, rel=1e-7)
    assert found.time == pytest.approx(5.0 * time, rel=1e-7)
    assert found.data["pe"] == pytest.approx({"metal": 96.48533212331, "real": 4.184, "akma": 4.184}.get(style, 1.0))


@pytest.mark.parametrize("units", [None, DIMENSIONLESS_DOCUMENT, {"length": "furlong"}])
def test_other_numbers_are_handed_through(units):
    """R-13 of the reports: numbers without dimension are not forced into ångström."""
    found = to_arrays(Snapshot(Frame(atoms(**{key: [2.0] for key in NAMES}), box=Box.orthogonal(3.0)), units=units))
    assert [found.positions[0, 0], found.velocities[0, 0], found.forces[0, 0], found.dimensions[0]] == [2, 2, 2, 3]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_units_that_a_reader_hands_out():
    assert units_of(mda.Universe(datafiles.GRO, to_guess=()).trajectory)["length"] == "angstrom"
    raw = mda.Universe(datafiles.GRO, to_guess=(), convert_units=False)
    assert units_of(raw.trajectory) == {"mass": "amu", "charge": "e", "length": "nm", "velocity": "nm/ps"}


def test_null_rows_are_nan_and_null_columns_none():
    some = np.array([True, False])
    given = {name: Column(np.ones(2), valid=some) for name in NAMES[:3]}
    given |= {name: Column(np.ones(2), valid=np.zeros(2, bool)) for name in NAMES[3:6]}
    found = to_arrays(Snapshot(Frame({"atoms": Block(given)})))
    assert found.positions[0].tolist() == [1, 1, 1]
    assert np.isnan(found.positions[1]).all()
    assert found.velocities is None


@pytest.mark.parametrize(
    "numbers",
    [
        [10, 10, 10, 100, 130, 131], [np.nan] * 6, [0, 1, 1, 90, 90, 90], [-1, 1, 1, 90, 90, 90],
        [1, 1, 1, 90, 270, 90], [np.inf, 1, 1, 90, 90, 90],
    ],
)  # fmt: skip
def test_numbers_that_make_no_cell_are_a_loss(numbers):
    step = Timestep(1)
    step.dimensions = numbers
    made = snapshot_of(step)
    assert made.frame.box is None
    assert [(note.loss, note.message.endswith("make no cell: the frame has none")) for note in made.notes] == [
        (True, True)
    ]
