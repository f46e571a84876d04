"""What is done to frames on their way, and what is said of it: precision, units, steps."""

import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.convert import convert
from molrec_convert.model import Frame
from molrec_convert.records import open_record

from .dumps import THREE, snapshot, snapshots
from .gros import THREE as GRO
from .gros import said

NOT_FIXED = "--precision auto finds no numbers of fixed decimals, and keeps them exactly"
NOT_CONVERTED = "not converted, since their quantity is not known: "


def told(report):
    """What is said, without the types of a dump and the names of a GRO file."""
    texts = [text.partition(": ")[2] for text in said(report.warnings)]
    return [text for text in texts if "the types are no elements" not in text]


# ---------------------------------------------------------------- --precision auto
class TestFixedDecimals:
    def precision(self, path):
        with open_record(path) as record:
            columns = record.trajectory.schema.blocks["atoms"].columns
            return {name: column.precision for name, column in columns.items() if column.precision is not None}

    def test_of_a_source_that_has_them(self, tmp_path):
        (tmp_path / "in.gro").write_text(GRO)
        report = convert(tmp_path / "in.gro", tmp_path / "out.h5", precision="auto")
        assert told(report) == []
        assert self.precision(tmp_path / "out.h5").keys() == {"x", "y", "z", "vx", "vy", "vz"}

    def test_of_one_that_has_none(self, tmp_path):
        (tmp_path / "in.dump").write_text(THREE)
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5", precision="auto")
        assert told(report) == [f"{NOT_FIXED} (in 3 frames)"]
        assert self.precision(tmp_path / "out.h5") == {}

    def test_of_a_record(self, tmp_path):
        (tmp_path / "in.gro").write_text(GRO)
        convert(tmp_path / "in.gro", tmp_path / "exact.h5")
        report = convert(tmp_path / "exact.h5", tmp_path / "out.h5", precision="auto")
        assert told(report) == [f"{NOT_FIXED} (in 3 frames)"]
        convert(tmp_path / "in.gro", tmp_path / "kept.h5", precision="auto")
        report = convert(tmp_path / "kept.h5", tmp_path / "again.h5", precision="auto")
        assert told(report) == []
        assert self.precision(tmp_path / "again.h5") == self.precision(tmp_path / "kept.h5")

    def test_frames_without_atoms_say_nothing(self, tmp_path):
        fixed = ["1 1 1.25 2.50 3.75"]
        (tmp_path / "in.dump").write_text(snapshots([fixed, [], fixed]))
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5", precision="auto")
        assert told(report) == []


# ---------------------------------------------------------------- --to-units
class TestUnits:
    @pytest.mark.parametrize("form", ["xs ys zs", "xsu ysu zsu"])
    def test_fractions_and_counts_need_none(self, tmp_path, form):
        text = snapshot("1 1 0.5 0.25 0.125 1 -1 0", columns=f"id type {form} ix iy iz", units="real")
        (tmp_path / "in.dump").write_text(text)
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5", to_units="metal")
        assert told(report) == []
        with open_record(tmp_path / "out.h5") as record:
            assert record.trajectory[0]["atoms"][form.split()[0]].tolist() == [0.5]

    def test_neither_do_occupancies(self, tmp_path):
        atoms = {"x": [1.0], "y": [2.0], "z": [3.0], "occupancy": [0.5], "quatw": [1.0], "nuclear_charge": [6.0]}
        mc.write(tmp_path / "in.h5", Frame({"atoms": atoms}), units={"length": "angstrom"})
        assert told(convert(tmp_path / "in.h5", tmp_path / "out.h5", to_units="gromacs")) == []

    def test_what_may_have_a_unit_is_named(self, tmp_path):
        atoms = {"x": [1.0], "y": [2.0], "z": [3.0], "b_factor": [12.5], "c_1": [0.5], "occupancy": [1.0]}
        mc.write(tmp_path / "in.h5", Frame({"atoms": atoms}), units={"length": "angstrom"})
        report = convert(tmp_path / "in.h5", tmp_path / "out.h5", to_units="gromacs")
        assert told(report) == [f"{NOT_CONVERTED}b_factor, c_1"]


# ---------------------------------------------------------------- steps that only count the frames
def moving(steps, **options):
    """A record of as many frames at these steps."""
    frames = [Frame({"atoms": {"name": ["C"], "x": [k / 4.0], "y": [0.0], "z": [0.0]}}) for k in range(len(steps))]
    return {"data": frames, "step": steps, "units": {"length": "angstrom", "time": "ps"}, **options}


@pytest.mark.parametrize("name", ["out.pdb", "out.gro", "out.xyz", "out.dump"])
@pytest.mark.parametrize(
    "steps",
    [
        [0, 750, 1500],
        [0, 1, 2],
        [0, 1, 750],
        [5, 15, 25],
        [2, 3, 900],
        [0, 1, 2, 3, 4, 9],
        list(range(0, 5000, 250)),
    ],
)
def test_steps_come_back(tmp_path, name, steps):
    made = moving(steps)
    mc.write(tmp_path / "in.h5", made.pop("data"), **made)
    report = convert(tmp_path / "in.h5", tmp_path / name)
    assert not {"step"} & report.losses.losses.keys()
    convert(tmp_path / name, tmp_path / "back.h5")
    with open_record(tmp_path / "back.h5") as record:
        assert record.trajectory.step.tolist() == steps
        assert "timestep" not in record.trajectory.schema.meta
        assert record.trajectory.time is None


@pytest.mark.parametrize("name", ["out.pdb", "out.gro"])
def test_steps_and_times_come_back(tmp_path, name):
    made = moving([0, 750, 1500], time=[0.0, 1.5, 3.0])
    mc.write(tmp_path / "in.h5", made.pop("data"), **made)
    convert(tmp_path / "in.h5", tmp_path / name)
    convert(tmp_path / name, tmp_path / "back.h5")
    with open_record(tmp_path / "back.h5") as record:
        assert record.trajectory.step.tolist() == [0, 750, 1500]
        assert record.trajectory.time.tolist() == [0.0, 1.5, 3.0]


# ---------------------------------------------------------------- no cell
@pytest.mark.parametrize("name", ["lammps-data", "lammps-dump"])
def test_lammps_has_always_a_cell(tmp_path, name):
    """What is declared, what is said, and what the table shows agree."""
    assert not registry.by_name(name).carries.no_box
    atoms = {"x": [1.0, 4.0], "y": [2.0, 5.0], "z": [3.0, 3.0], "element": ["C", "O"], "mass": [12.011, 15.999]}
    mc.write(tmp_path / "in.h5", Frame({"atoms": atoms}))
    report = convert(tmp_path / "in.h5", tmp_path / "out", to_format=name)
    assert "absence of a cell" in report.losses.losses
    reason = report.losses.losses["absence of a cell"].reason
    assert reason == "the format has always a cell; there are bounds around the atoms"


def test_bounds_without_extent_are_restored(tmp_path):
    """Some programs say so that there is no cell: their files come back as they were."""
    text = snapshot("1 1 0.5 0 0", bounds=("0 0", "0 0", "0 0"))
    (tmp_path / "in.dump").write_text(text)
    convert(tmp_path / "in.dump", tmp_path / "made.h5")
    report = convert(tmp_path / "made.h5", tmp_path / "back.dump", strict=True)
    assert not report.losses
    lines = (tmp_path / "back.dump").read_text().split("\n")
    assert [[float(word) for word in line.split()] for line in lines[5:8]] == [[0.0, 0.0]] * 3
