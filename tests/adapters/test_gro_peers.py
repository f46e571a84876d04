"""GRO: what other programs read of what we write, what we read of what they write, real files, other formats."""

import importlib.util
import json
import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.model import Box, Frame
from molrec_convert.record_frames import record_snapshots
from molrec_convert.records import open_record

from ..gros import THREE, atom, gro, pair

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no element is stated for"),
    pytest.mark.filterwarnings("ignore:.*without an element"),
]

COUNT = 24
CELL = Box.from_rows([[31.25, 0.0, 0.0], [-6.25, 32.5, 0.0], [5.0, -4.5, 33.75]])
UNITS = {"length": "angstrom", "time": "ps"}
POSITIONS, VELOCITIES = ("x", "y", "z"), ("vx", "vy", "vz")


@pytest.fixture(autouse=True)
def each_engine():
    """The engines print and scan the same, which other tests see to."""


@pytest.fixture(scope="module")
def frames():
    """Three frames of a small peptide and water."""
    rng = np.random.default_rng(4)
    fixed = {
        "id": np.arange(1, COUNT + 1, dtype="u8"),
        "name": (["N", "CA", "HB11", "C", "O", "H"] * 3 + ["OW", "HW1", "HW2"] * 2)[:COUNT],
        "res_name": (["ALA"] * 6 + ["NGLYN"] * 6 + ["2PG"] * 6 + ["SOL"] * 6)[:COUNT],
        "res_id": np.repeat(np.array([5, 6, 7, 100, 101], "u8"), [6, 6, 6, 3, 3]),
    }
    moving = [
        {name: np.round(rng.uniform(-60, 60, COUNT), 2) for name in POSITIONS}
        | {name: np.round(rng.normal(0, 4, COUNT), 3) for name in VELOCITIES}
        for _ in range(3)
    ]
    return [Frame({"atoms": {**fixed, **columns}}, box=CELL) for columns in moving]


@pytest.fixture
def written(frames, tmp_path):
    """A file of the frames, and one of the first."""
    mc.write(tmp_path / "frames.gro", frames, units=UNITS, time=[0.0, 0.5, 1.0], step=[0, 250, 500])
    mc.write(tmp_path / "one.gro", frames[0], units=UNITS)
    return tmp_path


def stacked(frame, names=POSITIONS):
    return np.stack([frame["atoms"][name] for name in names], axis=1)


def program(name):
    """A library, whose own warnings are none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            importlib.import_module(name)
            if importlib.util.find_spec(name.split(".")[0])
            else pytest.skip(f"{name} is not there")
        )


class TestWritten:
    def test_ase_reads_the_same(self, written, frames):
        image = program("ase.io").read(written / "one.gro")
        np.testing.assert_allclose(image.positions, stacked(frames[0]), atol=1e-12)
        np.testing.assert_allclose(image.cell[:], CELL.vectors.T, atol=1e-12)
        assert image.pbc.all()
        assert image.arrays["residuenumbers"].tolist() == frames[0]["atoms"]["res_id"].tolist()
        assert image.arrays["residuenames"].tolist() == frames[0]["atoms"]["res_name"].tolist()

    @pytest.mark.filterwarnings("ignore")
    def test_mdanalysis_reads_the_same(self, written, frames):
        universe = program("MDAnalysis").Universe(written / "one.gro")
        atoms = frames[0]["atoms"]
        for name, values in {"names": "name", "resnames": "res_name", "resids": "res_id", "ids": "id"}.items():
            assert getattr(universe.atoms, name).tolist() == atoms[values].tolist(), name
        np.testing.assert_allclose(universe.atoms.positions, stacked(frames[0]), atol=1e-5)
        np.testing.assert_allclose(universe.atoms.velocities, stacked(frames[0], VELOCITIES), atol=1e-5)
        np.testing.assert_allclose(universe.dimensions, CELL.parameters, rtol=1e-6)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("decimals", [4, 6])
    def test_mdanalysis_reads_other_decimals(self, frames, tmp_path, decimals):
        mc.write(tmp_path / "fine.gro", frames[0], units=UNITS, decimals=decimals)
        universe = program("MDAnalysis").Universe(tmp_path / "fine.gro")
        np.testing.assert_allclose(universe.atoms.positions, stacked(frames[0]), atol=1e-5)
        np.testing.assert_allclose(universe.atoms.velocities, stacked(frames[0], VELOCITIES), atol=1e-5)

    def test_chemfiles_reads_the_same(self, written, frames):
        with program("chemfiles").Trajectory(str(written / "frames.gro")) as trajectory:
            assert trajectory.nsteps == 3
            for frame in frames:
                found = trajectory.read()
                assert [each.name for each in found.atoms] == frame["atoms"]["name"].tolist()
                np.testing.assert_allclose(np.array(found.positions), stacked(frame), atol=1e-12)
                np.testing.assert_allclose(np.array(found.velocities), stacked(frame, VELOCITIES), atol=1e-12)
                np.testing.assert_allclose(found.cell.lengths + found.cell.angles, CELL.parameters, rtol=1e-12)

    def test_ovito_reads_the_same(self, written, frames):
        pipeline = program("ovito.io").import_file(str(written / "frames.gro"))
        assert pipeline.source.num_frames == 3
        for k, frame in enumerate(frames):
            data = pipeline.compute(k)
            origin = np.array(data.cell)[:, 3]
            np.testing.assert_allclose(np.array(data.particles.positions) - origin, stacked(frame), atol=1e-9)
            np.testing.assert_allclose(np.array(data.cell)[:, :3], CELL.vectors, atol=1e-9)

    @pytest.mark.filterwarnings("ignore")
    def test_numbers_beyond_the_columns(self, tmp_path):
        count = 100_010
        residues = np.arange(count, dtype="u8") // 3 + 99_990
        zeros = dict.fromkeys("xyz", np.zeros(count))
        mc.write(tmp_path / "big.gro", Frame({"atoms": {**zeros, "name": ["O"] * count, "res_id": residues}}))
        universe = program("MDAnalysis").Universe(tmp_path / "big.gro")
        assert len(universe.atoms) == count
        assert universe.atoms.resids.tolist() == residues.tolist()


class TestRead:
    """Files that other programs make of the same atoms."""

    def check(self, path, frames, *, velocities=True):
        record = mc.read(path)
        found = [record.frame] if record.trajectory is None else list(record.trajectory)
        assert len(found) == len(frames)
        for one, other in zip(found, frames, strict=True):
            np.testing.assert_allclose(stacked(one), stacked(other), atol=1e-9)
            np.testing.assert_allclose(one.box.parameters, CELL.parameters, atol=2e-3)
            assert one["atoms"]["name"].tolist() == other["atoms"]["name"].tolist()
            assert one["atoms"]["res_id"].tolist() == other["atoms"]["res_id"].tolist()
            if velocities:
                np.testing.assert_allclose(stacked(one, VELOCITIES), stacked(other, VELOCITIES), atol=1e-9)

    def test_ase(self, written, frames, tmp_path):
        ase = program("ase.io")
        ase.write(tmp_path / "in.gro", ase.read(written / "one.gro"))
        record = mc.read(tmp_path / "in.gro")
        np.testing.assert_allclose(stacked(record.frame), stacked(frames[0]), atol=1e-9)
        np.testing.assert_allclose(stacked(record.frame, VELOCITIES), stacked(frames[0], VELOCITIES), atol=1.1e-3)

    @pytest.mark.filterwarnings("ignore")
    def test_mdanalysis(self, written, frames, tmp_path):
        universe = program("MDAnalysis").Universe(written / "one.gro")
        universe.atoms.write(tmp_path / "in.gro")
        self.check(tmp_path / "in.gro", frames[:1])

    def test_chemfiles(self, written, frames, tmp_path):
        chemfiles = program("chemfiles")
        source = chemfiles.Trajectory(str(written / "frames.gro"))
        with source, chemfiles.Trajectory(str(tmp_path / "in.gro"), "w") as target:
            for _ in frames:
                target.write(source.read())
        self.check(tmp_path / "in.gro", frames)


class TestOtherFormats:
    def test_a_topology_of_frames(self, tmp_path):
        """Names and residues of a GRO file, frames of another format."""
        (tmp_path / "top.gro").write_text(gro(*pair(velocities=True), atom(3, (1, 1, 1), (1, 1, 1), name="HW2")))
        plain = "3\nstep one\nO 1 2 3\nH 4 5 6\nH 7 8 9.5\n3\nstep two\nO 2 2 3\nH 5 5 6\nH 8 8 9.5\n"
        (tmp_path / "run.xyz").write_text(plain)
        report = convert(tmp_path / "top.gro", tmp_path / "out.h5", trajectory=tmp_path / "run.xyz")
        with open_record(tmp_path / "out.h5") as record:
            assert len(record) == 2
            frame = record.trajectory[1]
            assert frame["atoms"]["name"].tolist() == ["OW", "HW1", "HW2"]
            assert frame["atoms"]["element"].tolist() == ["O", "H", "H"]
            assert frame["atoms"]["x"].tolist() == [2, 5, 8]
            assert "vx" not in frame["atoms"]
            assert frame.box.vectors.diagonal().tolist() == [10, 12, 13]
        assert any("matched with those of top.gro in their order" in warning for warning in report.warnings)
        convert(tmp_path / "out.h5", tmp_path / "back.gro")
        assert (tmp_path / "back.gro").read_text().splitlines()[10][
            :44
        ] == "    1SOL    HW2    3   0.800   0.800   0.950"

    def test_a_topology_by_ids(self, tmp_path):
        (tmp_path / "top.gro").write_text(gro(*(atom(k, name=f"A{k}") for k in (1, 2, 3))))
        dump = (
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n"
            "ITEM: ATOMS id x y z\n3 3 0 0\n1 1 0 0\n2 2 0 0\n"
        )
        (tmp_path / "run.dump").write_text(dump)
        convert(tmp_path / "top.gro", tmp_path / "out.h5", trajectory=tmp_path / "run.dump", keep_order=True)
        with open_record(tmp_path / "out.h5") as record:
            atoms = record.trajectory[0]["atoms"]
            assert atoms["name"].tolist() == ["A3", "A1", "A2"]
            assert atoms["x"].tolist() == [3, 1, 2]

    def test_to_pdb_and_back(self, tmp_path):
        (tmp_path / "in.gro").write_text(THREE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            convert(tmp_path / "in.gro", tmp_path / "mid.pdb")
            report = convert(tmp_path / "mid.pdb", tmp_path / "out.gro")
        lines = (tmp_path / "out.gro").read_text().splitlines()
        assert [line[:44] for line in lines[2:4]] == [line[:44] for line in THREE.splitlines()[2:4]]
        assert lines[4] == "   1.00000   1.20000   1.30000"
        assert "atoms.record_type" in report.losses.losses
        assert "atoms.element" not in report.losses.losses


class TestSamples:
    def test_water_by_gromacs(self, sample_data, tmp_path):
        source = sample_data / "gro" / "water.gro"
        record = mc.read(source)
        frame, atoms = record.frame, record.frame["atoms"]
        assert (atoms.count, atoms["res_id"][-1]) == (648, 216)
        assert [atoms[name][0] for name in (*POSITIONS, *VELOCITIES)] == [2.07, 6.42, 1.61, -0.484, 0.566, 6.546]
        assert frame.box.vectors.diagonal().tolist() == [18.6206] * 3
        mc.write(tmp_path / "out.gro", record)
        assert (tmp_path / "out.gro").read_bytes() == source.read_bytes()

    def test_frames_by_chemfiles(self, sample_data, tmp_path):
        source = sample_data / "gro" / "peptide.gro"
        record = mc.read(source)
        assert record.trajectory.time.tolist() == [0, 0.05, 0.1]
        assert record.trajectory[2]["atoms"]["res_name"].tolist() == ["ALA"] * 6 + ["GLYN"] * 6
        np.testing.assert_allclose(record.trajectory[1].box.parameters, (24.6, 26, 28.25, 82, 95.5, 101), atol=1e-3)
        convert(source, tmp_path / "1.h5")
        convert(tmp_path / "1.h5", tmp_path / "out.gro")
        assert (tmp_path / "out.gro").read_bytes() == source.read_bytes()


class TestRealFiles:
    def files(self, shared):
        return [*sorted((shared / "corpus" / "gro").glob("*.gro")), *sorted((shared / "corpus/topology").glob("*.gro"))]

    def test_what_is_written_is_the_same_record(self, shared, tmp_path):
        for source in self.files(shared):
            first, written, second = tmp_path / "1.h5", tmp_path / "2.gro", tmp_path / "3.h5"
            convert(source, first, force=True)
            report = convert(first, written, force=True)
            assert not report.losses, source
            convert(written, second, force=True)
            with open_record(first) as one, open_record(second) as other:
                assert len(one) == len(other)
                both = (record_snapshots(record, list(range(len(record)))) for record in (one, other))
                for a, b in zip(*both, strict=True):
                    assert a.frame.same(b.frame), source
                    assert a.about.same(b.about), source
                    assert (a.step, a.time) == (b.step, b.time), source

    def test_lines_are_printed_as_they_were(self, shared, tmp_path):
        for source in self.files(shared):
            convert(source, tmp_path / "1.h5", force=True)
            convert(tmp_path / "1.h5", tmp_path / "2.gro", force=True)
            before, after = (path.read_text().splitlines() for path in (source, tmp_path / "2.gro"))
            assert [line.split() for line in before] == [line.split() for line in after], source

    def test_known_numbers(self, shared):
        for path in sorted((shared / "corpus" / "expect" / "gro").glob("*.json")):
            due = json.loads(path.read_text())
            source = shared / "corpus" / due["path"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", mc.errors.ConvertWarning)
                record = mc.read(source)
            frame = record.frame if record.trajectory is None else record.trajectory[-1]
            last = due["expect"]["last"]
            np.testing.assert_allclose(stacked(frame)[-1], last["last"], atol=1e-9)
            np.testing.assert_allclose(frame.box.vectors.T, last["cell"], rtol=1e-12)
