"""Reading and writing from Python."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, LossWarning, OptionError
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT
from molrec_convert.model import Box, Frame, Meta, Record
from molrec_convert.model.trajectory import MemoryTrajectory

from .compare import assert_same_records, assert_same_trajectories
from .converting import left_behind, source_of
from .dumps import THREE, snapshot
from .records.builders import check_with_arbiter

MAP = {"1": "H", "2": "O"}


def water(shift=0.0):
    atoms = {"element": ["O", "H", "H"], "x": [shift, 0.76, -0.76], "y": [0.0, 0.59, 0.59], "z": [0.0, 0.0, 0.0]}
    return Frame({"atoms": atoms}, meta={"pe": -76.4 + shift})


def ids(*numbers):
    return np.array(numbers, "u8")


# ---------------------------------------------------------------- the package
def test_the_names_of_the_package():
    assert sorted(name for name in mc.__all__) == mc.__all__
    assert dir(mc) == mc.__all__
    for name in mc.__all__:
        assert getattr(mc, name) is not None
    with pytest.raises(AttributeError, match="module 'molrec_convert' has no attribute 'nope'"):
        mc.nope  # noqa: B018


def test_convert_is_the_function(tmp_path):
    """Even after the module of its name was imported."""
    from molrec_convert.report import Report

    assert callable(mc.convert)
    assert mc.Report is Report
    assert isinstance(mc.convert(source_of(tmp_path, THREE, "in.dump"), tmp_path / "out.h5"), Report)


# ---------------------------------------------------------------- read
def test_read_gives_what_a_record_gives(tmp_path):
    """In memory as on disk."""
    text = (
        snapshot("2 1 0 0 0; 1 2 1 1 1", step=3, time="0.5")
        + snapshot("1 2 0 0 0 9; 2 1 1 1 1 8", step=3, columns="id type x y z v_q", box="BOX BOUNDS ff pp pp")
        + snapshot("1 2 0 0 0; 2 1 1 1 1", step=5, bounds=("0 0",) * 3)
    )
    source = source_of(tmp_path, text, "in.dump")
    with pytest.warns(ConvertWarning) as caught:
        record = mc.read(source, type_map=MAP)
    report = mc.convert(source, tmp_path / "out.h5", type_map=MAP)
    assert [str(warning.message) for warning in caught] == report.warnings
    with mc.open(tmp_path / "out.h5") as stored:
        assert stored.meta["source"] == record.meta["source"]
        assert stored.system.same(record.system)
        assert len(record) == 3
        assert record.trajectory.step.tolist() == stored.trajectory.step.tolist()
        for k in range(3):
            assert record.trajectory[k].same(stored.trajectory[k]) or (
                record.trajectory[k].box is None or not record.trajectory[k].box.defined
            )
    mc.write(tmp_path / "again.h5", record)
    with mc.open(tmp_path / "out.h5") as one, mc.open(tmp_path / "again.h5") as other:
        assert one.system.same(other.system)
        assert_same_trajectories(one, other, schema=False)


def test_read_warns_of_a_file_that_is_cut_short(tmp_path):
    source = source_of(tmp_path, THREE[:-20], "in.dump")
    with pytest.warns(ConvertWarning, match="truncated: the file ends after 1 of 2 atom lines"):
        record = mc.read(source, type_map=MAP)
    assert len(record) == 2
    with pytest.raises(mc.FormatError, match="the file ends after 1 of 2 atom lines"):
        mc.read(source, type_map=MAP, strict=True)


def test_read_some_frames(tmp_path):
    source = source_of(tmp_path, THREE, "in.dump")
    record = mc.read(source, type_map=MAP, frames="::2", units="real")
    assert record.trajectory.step.tolist() == [0, 20]
    assert record.meta["units"]["time"] == "fs"
    with pytest.raises(OptionError, match=r"in\.dump: '5:' does not choose any of the 3 frames"):
        mc.read(source, frames="5:")


def test_types_by_number_and_one_guess(tmp_path):
    source = source_of(tmp_path, THREE, "in.dump")
    record = mc.read(source, type_map={1: "H", 2: "O"})
    assert record.trajectory[0]["atoms"]["element"].tolist() == ["H", "O"]
    assert mc.convert(source, tmp_path / "out.h5", type_map={1: "H", 2: "O"}).provenance["convert"]["options"] == {
        "type_map": {"1": "H", "2": "O"}
    }
    with pytest.raises(OptionError, match="--guess takes elements, not 'bonds'"):
        mc.read(source, guess="bonds")


def test_read_a_record(tmp_path):
    mc.write(tmp_path / "one.h5", water())
    record = mc.read(tmp_path / "one.h5")
    assert record.frame.same(water())
    mc.write(tmp_path / "many.h5", [water(0.0), water(0.5)], step=[3, 9], time=[0.0, 0.25])
    record = mc.read(tmp_path / "many.h5")
    assert record.trajectory.step.tolist() == [3, 9]
    assert record.trajectory.time.tolist() == [0.0, 0.25]
    assert [frame.meta["pe"] for frame in record.trajectory] == [-76.4, -75.9]
    assert record.trajectory[1].same(water(0.5))


# ---------------------------------------------------------------- write
def test_write_a_frame(tmp_path):
    mc.write(tmp_path / "out.h5", water(), units={"length": "angstrom"})
    check_with_arbiter(tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.frame.same(water())
        assert record.trajectory is None
        assert record.meta == {
            "units": {"length": "angstrom"}, "creator": {"name": "molrec-convert", "version": mc.__version__},
        }  # fmt: skip


@pytest.mark.parametrize("units", [{"length": "angstroms"}, {"lenght": "angstrom"}, {"length": "nm", "time": "h"}])
def test_units_that_are_not_known(tmp_path, units):
    """They are written, since a record may name any, and told, since nothing will convert them."""
    quantity, unit = list(units.items())[-1]
    with pytest.warns(ConvertWarning, match=f"^out.h5: nothing is known of the unit '{unit}' of {quantity}: "):
        mc.write(tmp_path / "out.h5", water(), units=units)
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["units"] == units
    mc.write(tmp_path / "known.h5", water(), units={"length": "nm", "velocity": "nm/ps", "pressure": "bar"})
    mc.write(tmp_path / "ratios.h5", water(), units=dict(DIMENSIONLESS_DOCUMENT))


def test_units_by_the_name_of_a_system(tmp_path):
    mc.write(tmp_path / "out.h5", water(), units="real")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["units"].items() >= {"length": "angstrom", "time": "fs", "energy": "kcal/mol"}.items()
    mc.write(tmp_path / "ratios.h5", water(), units="lj")
    with mc.open(tmp_path / "ratios.h5") as record:
        assert record.meta["units"] == DIMENSIONLESS_DOCUMENT
    with pytest.raises(OptionError, match="there is no unit style 'reel'"):
        mc.write(tmp_path / "other.h5", water(), units="reel")


def test_an_address_is_no_target():
    with pytest.raises(OptionError, match=r"^http://host/x\.h5: a target is a file or a folder here, not an address$"):
        mc.write("http://host/x.h5", water())


def test_write_frames(tmp_path):
    frames = [water(0.0), water(0.5)]
    mc.write(tmp_path / "out.h5", frames)
    check_with_arbiter(tmp_path / "out.h5", 2)
    with mc.open(tmp_path / "out.h5") as record:
        assert record.trajectory.step.tolist() == [0, 1]
        assert sorted(record.system["atoms"]) == ["element"]
        assert all(found.same(frame) for found, frame in zip(record.trajectory, frames, strict=True))
        mc.write(tmp_path / "part.h5", record.trajectory[1:])
    with mc.open(tmp_path / "part.h5") as record:
        assert len(record) == 1
        assert record.trajectory[0].same(frames[1])


def test_write_frames_that_differ(tmp_path):
    """Their columns and keys are the union, with nulls and fills."""
    other = water(0.5)
    other["atoms"]["charge"] = [-0.8, 0.4, 0.4]
    del other["atoms"]["z"]
    other.meta["note"] = "b"
    mc.write(tmp_path / "out.h5", [water(), other])
    with mc.open(tmp_path / "out.h5") as record:
        charge = [frame["atoms"].column("charge") for frame in record.trajectory]
        assert (charge[0].valid.tolist(), charge[1].values.tolist()) == ([False] * 3, [-0.8, 0.4, 0.4])
        assert not record.trajectory[1]["atoms"].column("z").valid.any()
        assert record.trajectory.meta("note") == [None, "b"]
    mc.write(tmp_path / "again.h5", mc.read(tmp_path / "out.h5"))
    assert_same_records(tmp_path / "out.h5", tmp_path / "again.h5")


@pytest.fixture
def run(tmp_path):
    """A record of three frames that knows units, steps, times and facts of its source."""
    text = "".join(snapshot(f"1 1 {k} 0 0 {k}.5; 2 2 1 1 1 0", step=10 * k + 5, time=f"{k}", columns="id type x y z vx")
                   for k in range(3))  # fmt: skip
    mc.convert(source_of(tmp_path, text, "run.dump"), tmp_path / "run.h5", units="real", type_map=MAP)
    with mc.open(tmp_path / "run.h5") as record:
        yield record


@pytest.mark.parametrize("chosen", [slice(None), slice(1, None), slice(None, None, 2)], ids=str)
@pytest.mark.parametrize("kind", ["trajectory", "frames"])
def test_write_frames_of_a_record(tmp_path, run, kind, chosen):
    """They keep the units, steps, times and facts that the record has for them."""
    part = run.trajectory[chosen]
    mc.write(tmp_path / "part.h5", part if kind == "trajectory" else list(part))
    with mc.open(tmp_path / "part.h5") as written:
        assert written.meta["units"] == run.meta["units"]
        assert written.trajectory.step.tolist() == [5, 15, 25][chosen]
        assert written.trajectory.time.tolist() == [0.0, 1.0, 2.0][chosen]
        assert written.system.same(run.system)
        assert all(ours.same(theirs) for ours, theirs in zip(written.trajectory, part, strict=True))


def test_write_a_frame_of_a_record(tmp_path, run):
    mc.write(tmp_path / "frame.h5", run.trajectory[1])
    with mc.open(tmp_path / "frame.h5") as written:
        assert written.meta["units"] == run.meta["units"]
        assert (written.frame.meta["timestep"], written.frame.meta["time"]) == (15, 1.0)
        assert written.frame.meta["lammps_units"] == "real"
        assert written.to_ase() == run.to_ase(1)
    mc.write(tmp_path / "back.dump", run.trajectory[1])
    assert "ITEM: UNITS\nreal\nITEM: TIME\n1\nITEM: TIMESTEP\n15\n" in (tmp_path / "back.dump").read_text()


def test_what_is_given_counts_more_than_where_a_frame_comes_from(tmp_path, run):
    other = {"length": "nm"}
    mc.write(tmp_path / "out.h5", list(run.trajectory), step=[1, 2, 3], time=[4.0, 5.0, 6.0], units=other)
    with mc.open(tmp_path / "out.h5") as written:
        assert written.meta["units"] == other
        assert (written.trajectory.step.tolist(), written.trajectory.time.tolist()) == ([1, 2, 3], [4.0, 5.0, 6.0])
    mc.write(tmp_path / "record.h5", Record(frame=water()), units=other)
    with mc.open(tmp_path / "record.h5") as written:
        assert written.meta["units"] == other


@pytest.mark.parametrize("kind", ["trajectory", "frames"])
def test_frames_in_another_order(tmp_path, run, kind):
    part = run.trajectory[::-1]
    with pytest.warns(ConvertWarning, match=r"^out\.h5: step 15 comes after step 25: frames are counted"):
        mc.write(tmp_path / "out.h5", part if kind == "trajectory" else list(part))
    with mc.open(tmp_path / "out.h5") as written:
        assert written.trajectory.step.tolist() == [0, 1, 2]
        assert written.trajectory.meta("timestep") == [25, 15, 5]


def test_frames_of_other_units(tmp_path, run):
    with pytest.raises(OptionError, match=r"^frame 1: the units of the frame are not those of the first: say units"):
        mc.write(tmp_path / "out.h5", [run.trajectory[0], water()])
    with pytest.raises(OptionError, match="the record names other units than those given"):
        mc.write(tmp_path / "out.h5", run, units={"length": "nm"})
    for data in (run, run.trajectory, run.trajectory[0]):
        with pytest.raises(OptionError, match=f"a {type(data).__name__} has its own"):
            mc.write(tmp_path / "out.h5", data, step=[1])
    assert not (tmp_path / "out.h5").exists()


def test_write_a_record(tmp_path):
    """What stands once in its system belongs to every frame."""
    moving = [
        Frame({"atoms": {"x": [k, 1.0], "y": [0.0, 1.0], "z": [0.0, 1.0]}}, box=Box.orthogonal(5)) for k in (0.0, 2.0)
    ]
    fixed = {"atoms": {"id": ids(7, 8), "element": ["C", "O"]}, "bonds": {"atomi": ids(0), "atomj": ids(1)}}
    record = Record(
        meta={"title": "carbon monoxide"},
        system=Frame(fixed, meta=Meta({"origin": "hand"})),
        trajectory=MemoryTrajectory(moving, step=[10, 20]),
    )
    mc.write(tmp_path / "out.h5", record)
    check_with_arbiter(tmp_path / "out.h5", 2)
    with mc.open(tmp_path / "out.h5") as stored:
        assert stored.meta["title"] == "carbon monoxide"
        assert stored.system.meta["origin"] == "hand"
        assert stored.trajectory.step.tolist() == [10, 20]
        frame = stored.trajectory[1]
        assert frame["atoms"]["element"].tolist() == ["C", "O"]
        assert frame["atoms"]["x"].tolist() == [2.0, 1.0]
        assert frame["bonds"]["atomj"].tolist() == [1]
    with pytest.warns(LossWarning, match=r"not carried by lammps-dump: bonds \(1\)"):
        mc.write(tmp_path / "out.dump", record)
    assert (tmp_path / "out.dump").read_text().splitlines()[-2:] == ["7 C 2 0 0", "8 O 1 1 1"]


def test_a_system_that_does_not_fit(tmp_path):
    record = Record(
        system=Frame({"atoms": {"element": ["C"]}}),
        trajectory=MemoryTrajectory([Frame({"atoms": {"x": [0.0, 1.0]}})]),
    )
    with pytest.raises(mc.RecordError, match=r"frame 0: system has 1 rows of 'atoms', the frame 2"):
        mc.write(tmp_path / "out.h5", record)
    assert not list(tmp_path.iterdir())


def test_write_to_text(tmp_path):
    frame = water()
    frame.box = Box.orthogonal(5)
    with pytest.warns(LossWarning, match="not carried by lammps-dump: pe"):
        mc.write(tmp_path / "out.txt", frame, format="lammps-dump", decimals=2)
    assert (tmp_path / "out.txt").read_text().splitlines()[-3:] == [
        "O 0.00 0.00 0.00", "H 0.76 0.59 0.00", "H -0.76 0.59 0.00",
    ]  # fmt: skip
    with pytest.raises(mc.LossError, match="lammps-dump cannot hold pe"):
        mc.write(tmp_path / "strict.dump", frame, strict=True)
    assert not left_behind(tmp_path)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(OptionError, match="there is no frame to write"):
        mc.write(tmp_path / "out.h5", [])
    with pytest.raises(OptionError, match="there is no frame to write"):
        mc.write(tmp_path / "out.dump", Record())
    with pytest.raises(mc.RecordError, match="the steps of a trajectory increase strictly"):
        mc.write(tmp_path / "out.h5", [water(), water()], step=[1, 1])
    with pytest.raises(mc.RecordError, match=r"2 values of time are due, not \(1,\)"):
        mc.write(tmp_path / "out.h5", [water(), water()], time=[1.0])
    with pytest.raises(mc.ConvertError, match="the name does not tell the format"):
        mc.write(tmp_path / "out.what", water())
    for data, name in ((7, "int"), ("abc", "str"), ({"atoms": {"x": [0.0]}}, "dict"), ([water(), {}], "dict")):
        with pytest.raises(OptionError, match=f"a Frame or several Frames are due, not {name}: from_ase and"):
            mc.write(tmp_path / "out.h5", data)
    assert not list(tmp_path.iterdir())
    mc.write(tmp_path / "out.h5", water())
    with pytest.raises(mc.ConvertError, match="the target exists; force replaces it"):
        mc.write(tmp_path / "out.h5", water())
    mc.write(tmp_path / "out.h5", water(1.0), force=True)


def test_the_frames_are_not_touched(tmp_path):
    frame = water()
    before = Frame({"atoms": dict(frame["atoms"].columns)}, meta=Meta(frame.meta))
    mc.write(tmp_path / "out.h5", [frame, water(1.0)])
    with pytest.warns(LossWarning):
        mc.write(tmp_path / "out.dump", frame)
    assert frame.same(before)


# ---------------------------------------------------------------- open
def test_open_refuses_what_is_no_record(tmp_path):
    for name, data in (("a.h5", b"text"), ("b.h5", b"\x89HDF\r\n\x1a\n" + bytes(100))):
        with pytest.raises(mc.RecordError, match=name):
            mc.open(source_of(tmp_path, data, name))
    with pytest.raises((mc.ConvertError, OSError)):
        mc.open(tmp_path / "missing.h5")


def test_the_example_of_the_readme(tmp_path):
    source = source_of(tmp_path, THREE, "run.lammpstrj")
    mc.convert(source, tmp_path / "run.h5", units="real")
    with mc.open(tmp_path / "run.h5") as record:
        frame = record.trajectory[2]
        assert frame["atoms"]["x"].tolist() == [1.75, 4.75]
        assert record.meta["units"]["length"] == "angstrom"
        assert frame.box.vectors.tolist() == [[10.0, 0, 0], [0, 10.0, 0], [0, 0, 10.0]]
        assert record.trajectory.step.tolist() == [0, 10, 20]
