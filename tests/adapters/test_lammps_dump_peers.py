"""LAMMPS dump: what other programs read of what we write, and known numbers of real files."""

import bz2
import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Box, Frame

AXES = ("x", "y", "z")
CELL = np.array([[10.0, 2, -1], [0, 9, -1.5], [0, 0, 8]])


@pytest.fixture(scope="module")
def frames():
    """Three frames with all that the others know, too."""
    rng = np.random.default_rng(1)
    moving = ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz")
    return [
        Frame(
            {
                "atoms": {
                    "id": np.arange(1, 6, dtype="u8"),
                    "type_id": np.array([1, 2, 2, 1, 2], "u8"),
                    "element": ["Si", "O", "O", "Si", "O"],
                    "charge": rng.normal(size=5),
                    **{name: rng.normal(size=5) * 3 + 4 for name in moving},
                }
            },
            box=Box(CELL, boundary=[True, True, False]),
        )
        for _ in range(3)
    ]


@pytest.fixture
def dump(frames, tmp_path):
    mc.write(tmp_path / "a.dump", frames, step=[0, 10, 20])
    return tmp_path / "a.dump"


def rows(frame, names=AXES):
    return np.stack([frame["atoms"][name] for name in names], axis=1)


def test_ase_reads_the_same(dump, frames):
    from ase.io import read

    images = read(dump, index=":", format="lammps-dump-text")
    assert len(images) == 3
    for image, frame in zip(images, frames, strict=True):
        assert image.get_chemical_symbols() == frame["atoms"]["element"].tolist()
        np.testing.assert_array_equal(image.positions, rows(frame))
        np.testing.assert_array_equal(image.cell, CELL.T)
        np.testing.assert_array_equal(image.pbc, [True, True, False])
        np.testing.assert_array_equal(image.get_initial_charges(), frame["atoms"]["charge"])
        np.testing.assert_array_equal(image.get_forces(), rows(frame, ("fx", "fy", "fz")))


def test_ase_reads_a_general_cell(tmp_path):
    from ase.io import read

    cell = np.array([[0.0, 4, 4], [4, 0, 4], [4, 4, 0]])
    frame = Frame({"atoms": {"id": np.array([1], "u8"), "element": ["Si"], "x": [0.5], "y": [1.0], "z": [2.0]}},
                  box=Box(cell))  # fmt: skip
    mc.write(tmp_path / "a.dump", frame)
    assert "ITEM: BOX BOUNDS abc origin pp pp pp" in (tmp_path / "a.dump").read_text()
    image = read(tmp_path / "a.dump", format="lammps-dump-text")
    np.testing.assert_array_equal(image.cell, cell.T)
    np.testing.assert_array_equal(image.positions, [[0.5, 1.0, 2.0]])


def test_mdanalysis_reads_the_same(dump, frames):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of guesses at masses and of its own deprecations
        from MDAnalysis import Universe

        universe = Universe(str(dump), format="LAMMPSDUMP", topology_format="LAMMPSDUMP")
        assert universe.atoms.ids.tolist() == [1, 2, 3, 4, 5]
        assert universe.trajectory.n_frames == 3
        for step, frame in zip(universe.trajectory, frames, strict=True):
            np.testing.assert_allclose(step.positions, rows(frame), rtol=1e-6)
            np.testing.assert_allclose(step.dimensions, frame.box.parameters, rtol=1e-5)


def test_aluminium(sample_data, tmp_path):
    """Numbers of the first lines of the file."""
    mc.convert(sample_data / "lammps-dump" / "aluminium_triclinic.lammpstrj", tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert len(record) == 4
        frame = record.trajectory[0]
        atoms = frame["atoms"]
        assert atoms.count == 108
        assert atoms["element"][[0, 6]].tolist() == ["Al", "Ni"]
        assert [atoms[name][6] for name in ("type_id", "charge", "x", "vz", "fx")] == [
            2,
            -0.5,
            4.05,
            -4.23346,
            0.0063865,
        ]
        assert atoms["y"][2] == -5.55112e-17
        assert record.meta["units"]["length"] == "angstrom"
        assert record.trajectory.time[0] == 0
        assert frame.box.parameters == pytest.approx(
            Box(np.array([[12.15, 2.835, 1.62], [0, 12.15, -2.025], [0, 0, 12.15]])).parameters
        )
        assert sorted(record.system["atoms"]) == ["charge", "element", "id", "type_id"]


def test_general_triclinic(sample_data, tmp_path):
    mc.convert(sample_data / "lammps-dump" / "general_triclinic.lammpstrj", tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        frame = record.trajectory[0]
        rows_of_cell = [[0, 5.415, 5.415], [5.415, 0, 5.415], [7.22, 7.22, 0]]
        np.testing.assert_allclose(frame.box.vectors.T, rows_of_cell, atol=1e-12)
        assert frame.box.origin.tolist() == [-1.805, 0, -1.805]
        assert rows(frame)[2].tolist() == [5.415, 10.83, 1.805]
        assert frame["atoms"]["vy"][1] == 1.9044


def test_scaled(sample_data, tmp_path):
    mc.convert(sample_data / "lammps-dump" / "scaled.lammpstrj", tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert all((frame["atoms"]["id"] == np.arange(1, 109)).all() for frame in record.trajectory)
        atoms = record.trajectory[0]["atoms"]
        row = [atoms[name][1] for name in ("xs", "ys", "zs")]
        assert row == [0.127778, 0.166667, 0.0]
        box = record.trajectory[0].box
        assert rows(record.trajectory[0])[1] == pytest.approx(box.origin + box.vectors @ row, rel=1e-14)


def test_evaporating(sample_data, tmp_path):
    source = sample_data / "lammps-dump" / "evaporating.lammpstrj.bz2"
    mc.convert(source, tmp_path / "out.h5")
    words = bz2.decompress(source.read_bytes()).decode().split("ITEM: NUMBER OF ATOMS\n")[1:]
    counts = [int(part.split("\n", 1)[0]) for part in words]
    with mc.open(tmp_path / "out.h5") as record:
        assert [frame["atoms"].count for frame in record.trajectory] == counts
        assert record.trajectory[-1].box.boundary.tolist() == [True, False, False]


def test_dipoles(sample_data, tmp_path):
    mc.convert(sample_data / "lammps-dump" / "dipoles.lammpstrj", tmp_path / "out.h5", units="lj")
    with mc.open(tmp_path / "out.h5") as record:
        atoms = record.trajectory[0]["atoms"]
        assert [atoms[name][6] for name in ("mux", "radius", "diameter", "mass_lj")] == [-0.300681, 0.6, 1.2, 0.814301]
        assert sorted(record.system["atoms"]) == ["diameter", "id", "mass_lj", "radius", "type_id"]


def test_shared_files_come_back(shared, tmp_path):
    """Whatever program wrote them: the same words, or numbers of the same value."""
    files = [path for path in sorted((shared / "corpus" / "lammpsdump").iterdir()) if path.stat().st_size < 300_000]
    assert len(files) > 20
    for path in files:
        mc.convert(path, tmp_path / "out.h5", keep_order=True, force=True)
        mc.convert(tmp_path / "out.h5", tmp_path / "back.dump", force=True)
        mc.convert(tmp_path / "back.dump", tmp_path / "again.h5", keep_order=True, force=True)
        with mc.open(tmp_path / "out.h5") as one, mc.open(tmp_path / "again.h5") as other:
            assert len(one) == len(other), path.name
            assert one.trajectory.step.tolist() == other.trajectory.step.tolist()
            for frame, again in zip(one.trajectory, other.trajectory, strict=True):
                assert frame.box.same(again.box), path.name
                assert frame["atoms"].same(again["atoms"]), path.name
