"""TRR written: what comes back to the byte, in both widths; what others read; what is named as lost."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import molrec_convert as mc
from molrec_convert.adapters._trr_numbers import inverse, restored, ulps_off
from molrec_convert.errors import LossError
from molrec_convert.model import Block, Box, Frame, Meta, Record
from molrec_convert.model.trajectory import MemoryTrajectory

from ..binaries import trr_frame
from ..converting import source_of
from ..frames import ROTATED, TRICLINIC, frame

FACTORS = (10.0, 0.0010364269656262174)
UNITS = {"length": "angstrom", "time": "ps", "velocity": "angstrom/ps", "force": "eV/angstrom"}
MOVING = ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz")


@pytest.fixture(autouse=True)
def each_engine():
    """No text is printed, so one engine is enough."""


def there_and_back(folder, data, between="between.h5"):
    """The bytes of a TRR file that went through another one."""
    mc.convert(source_of(folder, data, "in.trr"), folder / between, force=True)
    report = mc.convert(folder / between, folder / "back.trr", force=True)
    return (folder / "back.trr").read_bytes(), report


def written(folder, data, **options):
    """The losses and the notes of writing frames."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mc.write(folder / "out.trr", data, force=True, **options)
    texts = [str(each.message) for each in caught]
    lost = {item for text in texts if "not carried" in text for item in text.partition(": ")[2].split(", ")}
    return lost, [text for text in texts if "not carried" not in text]


def moving(count=3, seed=0, **columns):
    """A frame of vectors, and nothing else."""
    values = np.random.default_rng(seed).normal(0, 10, (9, count))
    return Frame(
        {"atoms": Block(dict(zip(MOVING, values, strict=True)) | columns)}, box=Box.orthogonal((5.0, 10.0, 20.0))
    )


# ---------------------------------------------------------------- to the last bit
@pytest.mark.parametrize("factor", FACTORS)
def test_what_rounding_takes_from_binary64_is_kept(factor):
    rng = np.random.default_rng(7)
    source = np.concatenate([rng.normal(0, 5, 50_000), rng.normal(0, 1e-3, 50_000), [0.0, -0.0, 1e-300, 5e-324]])
    values = source * factor
    ulps = ulps_off(source, values, factor)
    assert restored(values, factor, ulps).tobytes() == source.tobytes()
    assert 0.01 < (ulps != 0).mean() < 0.2  # so it is worth it
    moved = values.copy()
    moved[::2] *= 1.5
    assert np.array_equal(restored(moved, factor, ulps)[1::2], source[1::2])
    assert np.array_equal(restored(moved, factor, ulps)[::2], inverse(moved, factor)[::2])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20), st.sampled_from(FACTORS))
def test_nothing_is_taken_from_binary32(values, factor):
    source = np.array(values, np.float32)
    found = (source.astype(float) * factor) / factor
    assert found.astype(np.float32).tobytes() == source.tobytes()


@given(st.floats(-1e9, 1e9), st.sampled_from(FACTORS))
def test_an_inverse_is_found_where_there_is_one(value, factor):
    product = np.array([value * factor])
    assert inverse(product, factor)[0] * factor == product[0]


def test_numbers_that_are_none():
    source = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert ulps_off(source, source * 10.0, 10.0).tolist() == [0, 0, 0, 0]
    assert ulps_off(np.array([1e308]), np.array([np.inf]), 10.0).tolist() == [0]
    assert restored(source * 10.0, 10.0, np.zeros(4, np.int8)).tobytes() == source.tobytes()


# ---------------------------------------------------------------- there and back
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("held", ["x", "xv", "xvf", "v", "f"])
def test_a_file_comes_back_to_the_byte(tmp_path, width, held):
    rng = np.random.default_rng(len(held))
    box = np.tril(rng.uniform(2, 5, (3, 3)))
    frames = []
    for k in range(4):
        blocks = {name: rng.normal(0, 3, (6, 3)) for name in held}
        frames.append(
            trr_frame(**blocks, width=width, box=box * (1 + k / 7), step=10 * k, time=k / 3, coupling=0.1 * k)
        )
    data = b"".join(frames)
    back, report = there_and_back(tmp_path, data)
    assert back == data
    assert not report.losses
    assert report.warnings == []


def test_odd_blocks_come_back(tmp_path):
    x = np.float32([[0.5, 1.5, 2.5]])
    data = b"".join(
        [
            trr_frame(x, virial=np.arange(9), pressure=-np.arange(9), step=0, nre=7),
            trr_frame(x, box=None, step=1),
            trr_frame(x, box=np.zeros((3, 3)), step=2),
            trr_frame(x, box=np.diag([1.0, 2.0, 0.0]), step=3),
            trr_frame(x, box=[[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [7.0, 0.0, 0.0]], step=4),
            trr_frame(x.astype(float) / 3.0, width=8, step=5),
            trr_frame(x, width=8, step=6),
            trr_frame(atoms=1, step=7),
        ]
    )
    assert there_and_back(tmp_path, data)[0] == data


def test_joined_files_come_back(tmp_path):
    data = b"".join(trr_frame(np.float32([[k, 0, 0]]), step=step) for k, step in enumerate((0, 10, 0, 10)))
    assert there_and_back(tmp_path, data)[0] == data


def test_positions_that_moved_are_written_as_they_are(tmp_path):
    source = np.random.default_rng(5).normal(0, 3, (50, 3))
    mc.convert(source_of(tmp_path, trr_frame(source, width=8), "in.trr"), tmp_path / "in.h5")
    record = mc.read(tmp_path / "in.h5")
    made = record.trajectory[0]
    made["atoms"]["y"] = made["atoms"]["y"] + 1.0
    made.box = Box.orthogonal((10.0, 10.0, 10.0))
    mc.write(tmp_path / "out.trr", Record(meta=record.meta, system=record.system, trajectory=MemoryTrajectory([made])))
    again = mc.read(tmp_path / "out.trr").trajectory[0]
    assert again["atoms"]["x"].tolist() == made["atoms"]["x"].tolist()
    assert again["atoms"]["y"] == pytest.approx(made["atoms"]["y"], rel=3e-16)
    assert again.box.vectors.tolist() == made.box.vectors.tolist()


def test_what_rounding_took_is_no_loss_elsewhere(tmp_path):
    data = trr_frame(np.random.default_rng(5).normal(0, 3, (5, 3)), width=8)
    mc.convert(source_of(tmp_path, data, "in.trr"), tmp_path / "in.h5")
    assert mc.convert(tmp_path / "in.h5", tmp_path / "out.xyz").losses.losses == {}
    assert "ulps" not in (tmp_path / "out.xyz").read_text()


# ---------------------------------------------------------------- widths, units, what is lost
def width_of(path):
    """The width of the numbers of the first frame."""
    data = path.read_bytes()
    return int.from_bytes(data[32:36], "big") // 9


@pytest.mark.parametrize(
    ("x", "time", "width"),
    [
        ([2.5, 10.0], 0.5, 4),
        ([2.5, 0.1], 0.5, 8),
        ([2.5, 10.0], 0.1, 8),
        ([2.5, 1e300], 0.5, 8),
        ([2.5, 10.0], None, 4),
    ],
)
def test_binary32_where_it_holds_everything(tmp_path, x, time, width):
    zeros = [0.0, 0.0]
    made = Frame({"atoms": Block({"x": x, "y": zeros, "z": zeros})}, box=Box.orthogonal(20.0))
    written(tmp_path, [made], units=UNITS, step=[0], time=None if time is None else [time])
    assert width_of(tmp_path / "out.trr") == width
    again = mc.read(tmp_path / "out.trr").trajectory
    assert again[0]["atoms"]["x"].tolist() == x
    assert again.time.tolist() == [time or 0.0]


def test_units_are_brought_to_those_of_the_format(tmp_path):
    units = {"length": "nm", "time": "fs", "velocity": "nm/ps", "force": "kJ/mol/nm"}
    rows = {name: [0.5, 0.25] for name in MOVING}
    lost, _ = written(tmp_path, [Frame({"atoms": Block(rows)})], step=[3], time=[2500.0], units=units)
    assert lost == set()
    again = mc.read(tmp_path / "out.trr").trajectory
    assert again[0]["atoms"]["x"].tolist() == [5.0, 2.5]
    assert again[0]["atoms"]["vz"].tolist() == [5.0, 2.5]
    assert again[0]["atoms"]["fy"] == pytest.approx([0.5 * FACTORS[1], 0.25 * FACTORS[1]])
    assert (again.step.tolist(), again.time.tolist()) == ([3], [2.5])


def test_what_has_no_unit_is_not_written(tmp_path):
    lost, _ = written(tmp_path, [moving()], step=[0], time=[1.0], units={"length": "angstrom"})
    assert lost == {"time", *(f"atoms.{name}" for name in MOVING[3:])}
    assert set(mc.read(tmp_path / "out.trr").trajectory[0]["atoms"]) == {"x", "y", "z"}


def test_steps_of_more_than_32_bits_are_lost(tmp_path):
    lost, _ = written(tmp_path, [moving(), moving()], step=[5, 2**31], time=[0.0, 1.0], units=UNITS)
    assert lost == {"step"}
    with pytest.raises(LossError, match="trr cannot hold step: the format has steps of 32 bits"):
        mc.write(tmp_path / "b.trr", [moving()], step=[2**31], time=[0.0], units=UNITS, strict=True)


def test_values_of_other_types_are_lost(tmp_path):
    made = moving()
    made.meta = Meta({"lambda": "one", "trr_virial": [1.0, 2.0, 3.0]})
    assert written(tmp_path, [made], units=UNITS)[0] == {"lambda", "trr_virial"}


def test_notes(tmp_path):
    lost, told = written(tmp_path, [moving(3), moving(4)], units=UNITS)
    assert lost == set()
    assert sorted(told) == [
        "out.trr: the frames have no times, and 0 is written for all",
        "out.trr: the number of atoms changes, which few programs read",
    ]


# ---------------------------------------------------------------- cells
@pytest.mark.parametrize(
    ("rows", "turned"),
    [(TRICLINIC, False), (ROTATED, True), ([[0, 4, 0], [5, 0, 0], [0, 0, 6]], True), (-np.eye(3) * 4, True)],
)
def test_cells_have_the_orientation_of_gromacs(tmp_path, rows, turned):
    made = frame(3, box=Box.from_rows(np.array(rows, float)))
    lost, told = written(tmp_path, [made], units=UNITS)
    assert ("orientation of the cell" in lost) == turned
    again = mc.read(tmp_path / "out.trr").trajectory[0]
    assert not np.tril(again.box.vectors, -1).any()
    mirrored = np.linalg.det(np.array(rows, float)) < 0
    assert any("left-handed" in text for text in told) == mirrored
    vectors = made.box.vectors * ([1, 1, -1] if mirrored else [1, 1, 1])
    before = np.linalg.solve(vectors, [made["atoms"][axis] for axis in "xyz"])
    after = np.linalg.solve(again.box.vectors, [again["atoms"][axis] for axis in "xyz"])
    assert np.allclose(before, after, atol=1e-12)


# ---------------------------------------------------------------- what others read
@pytest.mark.parametrize("width", [4, 8])
def test_mdanalysis_reads_the_same(tmp_path, width):
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile

    frames = [moving(11, seed) for seed in range(3)]
    if width == 4:
        for made in frames:
            for name in MOVING:
                factor = FACTORS[1] if name[0] == "f" else 10.0
                made["atoms"][name] = made["atoms"][name].astype("f4").astype(float) * factor
    lost, _ = written(tmp_path, frames, step=[5, 10, 15], time=[0.5, 1.0, 1.5], units=UNITS)
    assert lost == set()
    assert width_of(tmp_path / "out.trr") == width
    with TRRFile(str(tmp_path / "out.trr")) as file:
        for made, found in zip(frames, file, strict=True):
            atoms = made["atoms"]
            for names, values, factor in (
                (MOVING[:3], found.x, 10.0),
                (MOVING[3:6], found.v, 10.0),
                (MOVING[6:], found.f, FACTORS[1]),
            ):
                due = np.array([atoms[name] for name in names]).T / factor
                assert np.array_equal(values, due.astype("f4"))
            assert np.allclose(found.box, made.box.vectors.T / 10.0)
            assert (found.hasx, found.hasv, found.hasf) == (1, 1, 1)
    with TRRFile(str(tmp_path / "out.trr")) as file:
        assert [(found.step, found.time) for found in file] == [(5, 0.5), (10, 1.0), (15, 1.5)]


def test_chemfiles_reads_the_same(tmp_path):
    chemfiles = pytest.importorskip("chemfiles")
    frames = [moving(5, seed) for seed in range(3)]
    frames[1].box = None
    written(tmp_path, frames, step=[5, 10, 15], time=[0.5, 1.0, 1.5], units=UNITS)
    with chemfiles.Trajectory(str(tmp_path / "out.trr")) as file:
        assert file.nsteps == 3
        for made in frames:
            found = file.read()
            for names, values in ((MOVING[:3], found.positions), (MOVING[3:6], found.velocities)):
                assert np.allclose(np.array(values).T, [made["atoms"][name] for name in names], rtol=1e-6)
            lengths = (0.0, 0.0, 0.0) if made.box is None else (5.0, 10.0, 20.0)
            assert tuple(found.cell.lengths) == pytest.approx(lengths, rel=1e-6)


def test_what_mdanalysis_writes_is_read(tmp_path, converted):
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile

    rng = np.random.default_rng(3)
    x, v = (rng.normal(0, 3, (2, 7, 3)).astype("f4") for _ in range(2))
    with TRRFile(str(tmp_path / "theirs.trr"), "w") as file:
        for k in range(2):
            file.write(x[k], v[k], None, np.eye(3, dtype="f4") * 3, 10 * k, 0.5 * k, 0.25, 7)
    made = converted((tmp_path / "theirs.trr").read_bytes(), "in.trr")
    for k in range(2):
        assert [made.values(axis, k) for axis in "xyz"] == (x[k].T.astype(float) * 10.0).tolist()
        assert [made.values(f"v{axis}", k) for axis in "xyz"] == (v[k].T.astype(float) * 10.0).tolist()
    assert "fx" not in made.atoms()
    assert made.record.trajectory.time.tolist() == [0.0, 0.5]


# ---------------------------------------------------------------- real files
def test_real_files_come_back_to_the_byte(tmp_path, shared):
    paths = sorted((shared / "corpus" / "trr").glob("*.trr"))
    assert paths
    for path in paths:
        back, _ = there_and_back(tmp_path, path.read_bytes())
        assert back == path.read_bytes(), path.name
