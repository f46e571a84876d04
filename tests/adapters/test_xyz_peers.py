"""XYZ: what other programs read of what we write, and we of what they write; known numbers of real files."""

import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.model import Box, Frame

from ..compare import assert_same_records

AXES = ("x", "y", "z")
CELL = np.array([[10.0, 2, -1], [0, 9, -1.5], [0.5, 0, 8]])


@pytest.fixture(scope="module")
def frames():
    """Three frames with all that the others know, too."""
    rng = np.random.default_rng(1)
    moving = ("x", "y", "z", "fx", "fy", "fz")
    return [
        Frame(
            {
                "atoms": {
                    "element": ["Si", "O", "O", "Si", "H"],
                    "charge": rng.normal(size=5),
                    "tag": np.array([1, -2, 3, 0, 5], "i8"),
                    **{name: rng.normal(size=5) * 3 + 4 for name in moving},
                }
            },
            box=Box(CELL, boundary=[True, True, False]),
            meta={"pe": -1.25 * (k + 1), "label": "run 7", "stress": [0.1, 0.2, 0.3, 0.2, 0.5, 0.6, 0.3, 0.6, 0.9]},
        )
        for k in range(3)
    ]


@pytest.fixture
def written(frames, tmp_path):
    mc.write(tmp_path / "a.xyz", frames, step=[0, 10, 20])
    return tmp_path / "a.xyz"


def rows(frame, names=AXES):
    return np.stack([frame["atoms"][name] for name in names], axis=1)


def trajectory_of(path):
    found = mc.read(path).trajectory
    assert found is not None
    return found


class TestAse:
    def test_it_reads_the_same(self, written, frames):
        from ase.io import read

        images = read(written, index=":")
        assert len(images) == 3
        for image, frame in zip(images, frames, strict=True):
            assert image.get_chemical_symbols() == frame["atoms"]["element"].tolist()
            np.testing.assert_array_equal(image.positions, rows(frame))
            np.testing.assert_array_equal(image.cell, CELL.T)
            np.testing.assert_array_equal(image.pbc, [True, True, False])
            np.testing.assert_array_equal(image.get_forces(), rows(frame, ("fx", "fy", "fz")))
            np.testing.assert_array_equal(image.get_charges(), frame["atoms"]["charge"])
            np.testing.assert_array_equal(image.get_tags(), frame["atoms"]["tag"])
            assert image.get_potential_energy() == frame.meta["pe"]
            np.testing.assert_array_equal(image.get_stress(), [0.1, 0.5, 0.9, 0.6, 0.3, 0.2])
            assert image.info["label"] == "run 7"
        assert [image.info["step"] for image in images] == [0, 10, 20]

    def test_we_read_the_same(self, tmp_path):
        from ase import Atoms
        from ase.calculators.singlepoint import SinglePointCalculator
        from ase.io import write

        atoms = Atoms("OHH", [[0.25, 0, 0.5], [1, 0.125, 0], [0, 1, -0.75]], cell=np.diag([4, 5, 6]), pbc=[1, 0, 1])
        atoms.set_velocities([[0.5, 0, 0], [0, 0.25, 0], [0, 0, 0.125]])
        atoms.set_initial_charges([-0.5, 0.25, 0.25])
        atoms.set_masses([16, 1, 2])
        atoms.info = {"n": 3, "x": [1.5, 2.5], "flag": True, "doc": {"a": [1, 2]}, "s": "a b", "m": np.eye(3)}
        atoms.arrays["mask"] = np.array([True, False, True])
        atoms.calc = SinglePointCalculator(
            atoms, energy=-2.5, forces=np.full((3, 3), 0.5), stress=np.arange(6.0), charges=[1.0, 2, 3]
        )
        write(tmp_path / "ase.xyz", [atoms, atoms], format="extxyz")
        frame = trajectory_of(tmp_path / "ase.xyz")[1]
        columns = frame["atoms"]
        assert columns["element"].tolist() == ["O", "H", "H"]
        np.testing.assert_allclose(rows(frame), atoms.positions)
        np.testing.assert_allclose(columns["momenta"], atoms.get_momenta())
        from ase.units import fs

        np.testing.assert_allclose(rows(frame, ("vx", "vy", "vz")), atoms.get_velocities() * fs * 1000, atol=1e-6)
        assert columns["mass"].tolist() == [16, 1, 2]
        assert columns["charge"].tolist() == [1, 2, 3]
        assert columns["initial_charge"].tolist() == [-0.5, 0.25, 0.25]
        assert columns["mask"].tolist() == [True, False, True]
        assert rows(frame, ("fx", "fy", "fz")).tolist() == [[0.5] * 3] * 3
        assert frame.box is not None
        assert frame.box.boundary.tolist() == [True, False, True]
        meta = frame.meta
        assert (meta["pe"], meta["n"], meta["x"], meta["flag"], meta["s"]) == (-2.5, 3, [1.5, 2.5], True, "a b")
        assert meta["doc"] == {"a": [1, 2]}
        assert meta["m"] == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        assert meta["stress"] == (0, 5, 4, 5, 1, 3, 4, 3, 2)

    def test_plain_files_and_cell_vectors(self, tmp_path):
        from ase.build import bulk
        from ase.io import iread, write

        atoms = bulk("Cu")
        write(tmp_path / "vec.xyz", atoms, format="extxyz", vec_cell=True)
        box = trajectory_of(tmp_path / "vec.xyz")[0].box
        assert box is not None
        np.testing.assert_array_equal(box.vectors.T, atoms.cell)
        convert(tmp_path / "vec.xyz", tmp_path / "vec.h5")
        convert(tmp_path / "vec.h5", tmp_path / "back.xyz")
        np.testing.assert_array_equal(next(iread(tmp_path / "back.xyz")).cell, atoms.cell)

    def test_texts_that_would_be_taken_for_something_else(self, tmp_path, frames):
        from ase.io import iread

        texts = {"number": "12", "list": "1 2", "flag": "T", "lines": "a\nb", "quoted": 'say "x"', "zeros": "0012x"}
        atoms = {name: frames[0]["atoms"][name] for name in ("element", *AXES)}
        mc.write(tmp_path / "t.xyz", Frame({"atoms": atoms}, meta=texts))
        info = next(iread(tmp_path / "t.xyz")).info
        assert {key: info[key] for key in ("lines", "quoted", "zeros")} == {
            key: texts[key] for key in ("lines", "quoted", "zeros")
        }


def test_ovito_reads_the_same(written, frames):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        io = pytest.importorskip("ovito.io")
        pipeline = io.import_file(str(written))
        found = [pipeline.compute(k) for k in range(pipeline.source.num_frames)]
    assert len(found) == 3
    for data, frame in zip(found, frames, strict=True):
        np.testing.assert_allclose(data.particles["Position"][...], rows(frame), rtol=1e-14)
        np.testing.assert_allclose(data.particles["Force"][...], rows(frame, ("fx", "fy", "fz")), rtol=1e-14)
        np.testing.assert_allclose(data.particles["Charge"][...], frame["atoms"]["charge"], rtol=1e-14)
        np.testing.assert_array_equal(data.cell[...][:, :3], CELL)
        assert tuple(data.cell.pbc) == (True, True, False)
    assert [data.attributes["step"] for data in found] == [0, 10, 20]


def test_mdanalysis_reads_the_same(written, frames, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import MDAnalysis

        universe = MDAnalysis.Universe(str(written))
        assert universe.atoms.names.tolist() == frames[0]["atoms"]["element"].tolist()
        assert len(universe.trajectory) == 3
        for step, frame in zip(universe.trajectory, frames, strict=True):
            np.testing.assert_allclose(step.positions, rows(frame), rtol=1e-6)
        universe.atoms.write(str(tmp_path / "mda.xyz"), frames="all")
    found = trajectory_of(tmp_path / "mda.xyz")
    assert len(found) == 3
    np.testing.assert_allclose(rows(found[2]), rows(frames[2]), atol=1e-5)


def test_chemfiles_reads_the_same(written, frames):
    chemfiles = pytest.importorskip("chemfiles")
    with chemfiles.Trajectory(str(written)) as trajectory:
        assert trajectory.nsteps == 3
        for frame in frames:
            found = trajectory.read()
            np.testing.assert_allclose(np.array(found.positions), rows(frame), rtol=1e-14)
            np.testing.assert_allclose(found.cell.matrix, CELL, rtol=1e-12)
            assert [atom.name for atom in found.atoms] == frame["atoms"]["element"].tolist()


class TestRealFiles:
    FOLDERS = ("xyz", "extxyz")

    @pytest.mark.parametrize("folder", FOLDERS)
    def test_every_file_comes_back_as_it_was(self, shared, tmp_path, folder):
        for path in sorted((shared / "corpus" / folder).iterdir()):
            convert(path, tmp_path / "a.h5", force=True)
            convert(tmp_path / "a.h5", tmp_path / "a.xyz", force=True, strict=True)
            convert(tmp_path / "a.xyz", tmp_path / "b.h5", force=True)
            assert_same_records(tmp_path / "a.h5", tmp_path / "b.h5", meta=False)

    def test_known_numbers(self, shared):
        found = trajectory_of(shared / "corpus" / "xyz" / "dpdata__cp2k_pos.xyz.gz")
        assert len(found) == 30
        assert found.step.tolist() == list(range(1, 31))
        assert found[0].meta["pe"] == -12660.6289171951
        assert found[0]["atoms"]["x"][0] == 9.91856212
        assert found[29]["atoms"]["z"][532] == 36.83313531
        assert found[0]["atoms"]["element"].tolist().count("Co") == 64
