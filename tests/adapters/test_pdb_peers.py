"""PDB: what other programs read of what we write, what we read of what they write, and real files."""

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

from ..pdbs import text as lines_of

COUNT = 30
CELL = Box.from_parameters((31.25, 32.5, 33.75, 88.0, 95.5, 101.25))


@pytest.fixture(autouse=True)
def each_engine():
    """The engines print and scan the same, which other tests see to."""


@pytest.fixture(scope="module")
def frames():
    """Three frames of a small peptide's atoms, far apart."""
    rng = np.random.default_rng(4)
    names = ["N", "CA", "C", "O", "CB"] * (COUNT // 5 - 1) + ["CA", "ZN", "O", "H1", "H2"]
    elements = ["N", "C", "C", "O", "C"] * (COUNT // 5 - 1) + ["Ca", "Zn", "O", "H", "H"]
    residues = ["ALA"] * (COUNT - 5) + ["CA", "ZN", "HOH", "HOH", "HOH"]
    numbers = np.array([k // 5 + 1 for k in range(COUNT - 5)] + [100, 101, 102, 102, 102], "u8")
    fixed = {
        "record_type": ["ATOM"] * (COUNT - 5) + ["HETATM"] * 5,
        "id": np.arange(1, COUNT + 1, dtype="u8"),
        "name": names,
        "element": elements,
        "res_name": residues,
        "res_id": numbers,
        "chain": ["A"] * COUNT,
        "occupancy": np.round(rng.uniform(size=COUNT), 2),
        "b_factor": np.round(rng.uniform(0, 99, COUNT), 2),
        "formal_charge": np.array([0] * (COUNT - 5) + [2, 2, 0, 0, 0]),
    }
    bonds = {"atomi": np.array([27, 27], "u8"), "atomj": np.array([28, 29], "u8")}
    return [
        Frame(
            {
                "atoms": {**fixed, **{name: np.round(rng.uniform(-999, 999, COUNT), 3) for name in "xyz"}},
                "bonds": bonds,
            },
            box=CELL,
        )
        for _ in range(3)
    ]


@pytest.fixture
def models(frames, tmp_path):
    mc.write(tmp_path / "models.pdb", frames)
    return tmp_path / "models.pdb"


def positions(frame):
    return np.stack([frame["atoms"][name] for name in "xyz"], axis=1)


def program(name):
    """A library, whose own warnings are none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name) if importlib.util.find_spec(name) else pytest.skip(f"{name} is not there")


class TestWritten:
    def test_ase_reads_the_same(self, models, frames):
        images = program("ase.io").read(models, index=":")
        assert len(images) == 3
        for image, frame in zip(images, frames, strict=True):
            assert image.get_chemical_symbols() == frame["atoms"]["element"].tolist()
            np.testing.assert_allclose(image.positions, positions(frame), atol=5.001e-4)
            np.testing.assert_allclose(image.cell.cellpar(), CELL.parameters, atol=5e-3)
            np.testing.assert_array_equal(image.arrays["bfactor"], frame["atoms"]["b_factor"])
            assert image.arrays["residuenames"].tolist() == frame["atoms"]["res_name"].tolist()

    @pytest.mark.filterwarnings("ignore")
    def test_mdanalysis_reads_the_same(self, models, frames):
        universe = program("MDAnalysis").Universe(models)
        assert len(universe.trajectory) == 3
        atoms = frames[0]["atoms"]
        for name, values in {
            "names": "name", "elements": "element", "resnames": "res_name", "resids": "res_id", "ids": "id",
            "chainIDs": "chain", "record_types": "record_type", "formalcharges": "formal_charge",
        }.items():  # fmt: skip
            assert getattr(universe.atoms, name).tolist() == atoms[values].tolist(), name
        np.testing.assert_allclose(universe.atoms.occupancies, atoms["occupancy"], rtol=1e-6)
        np.testing.assert_allclose(universe.atoms.tempfactors, atoms["b_factor"], rtol=1e-6)
        assert sorted(map(sorted, universe.bonds.indices.tolist())) == [[27, 28], [27, 29]]
        for step, frame in zip(universe.trajectory, frames, strict=True):
            np.testing.assert_allclose(step.positions, positions(frame), atol=6e-4)
            np.testing.assert_allclose(step.dimensions, CELL.parameters, atol=5e-3)

    def test_gemmi_reads_the_same(self, models, frames):
        structure = program("gemmi").read_pdb(str(models))
        assert len(structure) == 3
        np.testing.assert_allclose(structure.cell.parameters, CELL.parameters, atol=5e-3)
        for found, frame in zip(structure, frames, strict=True):
            rows = [(residue, atom) for chain in found for residue in chain for atom in residue]
            assert [atom.element.name for _, atom in rows] == frame["atoms"]["element"].tolist()
            assert [atom.serial for _, atom in rows] == frame["atoms"]["id"].tolist()
            assert [atom.charge for _, atom in rows] == frame["atoms"]["formal_charge"].tolist()
            assert [residue.seqid.num for residue, _ in rows] == frame["atoms"]["res_id"].tolist()
            np.testing.assert_allclose([atom.pos.tolist() for _, atom in rows], positions(frame), atol=5.001e-4)

    def test_chemfiles_reads_the_same(self, models, frames):
        with program("chemfiles").Trajectory(str(models)) as trajectory:
            assert trajectory.nsteps == 3
            for frame in frames:
                found = trajectory.read()
                assert [atom.type.capitalize() for atom in found.atoms] == frame["atoms"]["element"].tolist()
                np.testing.assert_allclose(np.array(found.positions), positions(frame), atol=5.001e-4)
                np.testing.assert_allclose(found.cell.lengths + found.cell.angles, CELL.parameters, atol=5e-3)

    def test_serials_and_residues_beyond_the_columns(self, tmp_path):
        count = 100_010
        residues = np.arange(count, dtype="u8") // 10 + 1
        columns = {name: np.zeros(count) for name in "xyz"}
        mc.write(tmp_path / "big.pdb", Frame({"atoms": {**columns, "element": ["O"] * count, "res_id": residues}}))
        found = program("gemmi").read_pdb(str(tmp_path / "big.pdb"))[0]
        rows = [(residue.seqid.num, atom.serial) for chain in found for residue in chain for atom in residue]
        assert rows[-1] == (10001, 100_010)
        assert rows == list(zip(residues.tolist(), range(1, count + 1), strict=True))


class TestRead:
    """Files that other programs make of the same atoms."""

    @pytest.fixture
    def images(self, frames):
        atoms = program("ase").Atoms
        return [
            atoms(frame["atoms"]["element"].tolist(), positions=positions(frame), cell=CELL.vectors.T, pbc=True)
            for frame in frames
        ]

    def check(self, path, frames, names=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mc.errors.ConvertWarning)
            found = list(mc.read(path).trajectory)
        assert len(found) == len(frames)
        for one, other in zip(found, frames, strict=True):
            np.testing.assert_allclose(positions(one), positions(other), atol=5.001e-4)
            np.testing.assert_allclose(one.box.parameters, CELL.parameters, atol=5e-3)
            assert one["atoms"]["element"].tolist() == other["atoms"]["element"].tolist()
            if names:
                assert one["atoms"]["name"].tolist() == other["atoms"]["name"].tolist()
                assert one["atoms"]["res_id"].tolist() == other["atoms"]["res_id"].tolist()

    def test_ase(self, images, frames, tmp_path):
        program("ase.io").write(tmp_path / "in.pdb", images)
        self.check(tmp_path / "in.pdb", frames, names=False)

    @pytest.mark.filterwarnings("ignore")
    def test_mdanalysis(self, models, frames, tmp_path):
        universe = program("MDAnalysis").Universe(models)
        universe.atoms.write(tmp_path / "in.pdb", frames="all", bonds="conect")
        self.check(tmp_path / "in.pdb", frames)

    def test_gemmi(self, models, frames, tmp_path):
        structure = program("gemmi").read_pdb(str(models))
        structure.write_pdb(str(tmp_path / "in.pdb"))
        self.check(tmp_path / "in.pdb", frames)

    def test_chemfiles(self, models, frames, tmp_path):
        chemfiles = program("chemfiles")
        with chemfiles.Trajectory(str(models)) as source, chemfiles.Trajectory(str(tmp_path / "in.pdb"), "w") as target:
            for _ in frames:
                target.write(source.read())
        self.check(tmp_path / "in.pdb", frames)


class TestSamples:
    def test_models_by_ase(self, sample_data):
        record = mc.read(sample_data / "pdb" / "ethanol.pdb")
        assert len(record) == 4
        assert record.trajectory[0]["atoms"]["element"].tolist() == list("CCOHHHHHH")
        assert record.trajectory[0]["atoms"]["name"].tolist() == list("CCOHHHHHH")
        assert positions(record.trajectory[1])[2].tolist() == [2.032, 5.131, 5.463]
        np.testing.assert_allclose(record.trajectory[3].box.parameters, (9.5, 10.25, 11, 85, 95.5, 100), rtol=1e-12)

    def test_hybrid36_by_gemmi(self, sample_data, tmp_path):
        source = sample_data / "pdb" / "water_hybrid36.pdb"
        record = mc.read(source)
        assert record.frame["atoms"]["id"].tolist() == list(range(99997, 100009))
        assert record.frame["atoms"]["res_id"].tolist() == [number for number in range(9998, 10002) for _ in range(3)]
        mc.write(tmp_path / "out.pdb", record)
        before, after = (
            [line.rstrip() for line in path.read_text().splitlines()] for path in (source, tmp_path / "out.pdb")
        )
        assert before == after


REAL = 60 << 10
"""Bytes of a real file that this many tests may read."""


class TestRealFiles:
    def files(self, shared):
        return sorted((shared / "corpus" / "pdb").iterdir()) + sorted(shared.glob("cases/pdb-*/input.pdb"))

    def test_what_is_written_is_the_same_record(self, shared, tmp_path):
        for source in self.files(shared):
            if source.stat().st_size > 10 * REAL or "pdb-41" in str(source):
                continue
            first, written, second = tmp_path / "1.h5", tmp_path / "2.pdb", tmp_path / "3.h5"
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

    def test_numbers_are_printed_as_they_were(self, shared, tmp_path):
        odd = {"mdanalysis__5digitResid.pdb", "mdanalysis__elements.pdb", "mdanalysis__nucl_res.pdb"}
        for source in self.files(shared):
            if source.stat().st_size > REAL or source.suffix == ".gz" or source.name in odd or "pdb-41" in str(source):
                continue
            convert(source, tmp_path / "1.h5", force=True)
            convert(tmp_path / "1.h5", tmp_path / "2.pdb", force=True)
            before, after = (
                [line[30:66].rstrip() for line in path.read_text().splitlines() if line[:4] in ("ATOM", "HETA")]
                for path in (source, tmp_path / "2.pdb")
            )
            assert before == after, source

    def test_known_positions(self, shared, tmp_path):
        for source in self.files(shared)[:20]:
            expected = shared / "corpus" / "expect" / "pdb" / f"{source.name}.json"
            if not expected.exists() or source.stat().st_size > REAL:
                continue
            convert(source, tmp_path / "1.h5", force=True)
            due = json.loads(expected.read_text())["expect"]["first"]
            with open_record(tmp_path / "1.h5") as record:
                frame = record.frame if record.trajectory is None else record.trajectory[0]
                np.testing.assert_array_equal(positions(frame)[0], due["first"])
                np.testing.assert_array_equal(positions(frame)[-1], due["last"])

    def test_columns_shifted_by_a_residue_number(self, shared, tmp_path):
        report = convert(shared / "corpus" / "bad" / "ngl__pdb__pbc_shifted_columns.pdb.gz", tmp_path / "1.h5")
        assert report.warnings[0].endswith(
            ":42329 (frame 0): the columns of 9657 atoms are shifted by a number that outgrew its own"
        )
        with open_record(tmp_path / "1.h5") as record:
            atoms = record.frame["atoms"]
            row = atoms["id"].tolist().index(42327)
            assert [atoms[name][row] for name in ("x", "y", "z", "res_id")] == [14.195, 58.65, 112.8, 10000]


def test_speed_does_not_depend_on_the_models(tmp_path):
    """Many models of few atoms are read without a pause for each."""
    model = (
        "MODEL\n"
        + lines_of("ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00  0.00           C")
        + "ENDMDL\n"
    )
    (tmp_path / "in.pdb").write_text(model * 2000)
    report = convert(tmp_path / "in.pdb", tmp_path / "out.h5")
    assert report.frames == 2000
    assert report.seconds < 10
