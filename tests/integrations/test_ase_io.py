"""The plug-in of `ase.io`: reading and writing records as ASE does any other format."""

import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import ase.io
import ase.io.formats
import numpy as np
import pytest
from ase.build import bulk, molecule
from ase.calculators.singlepoint import SinglePointCalculator
from ase.utils.plugins import ExternalIOFormat

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, LossError, LossWarning, OptionError, RecordError, TargetError
from molrec_convert.integrations import ase_io
from molrec_convert.model import Block, Column, Frame
from molrec_convert.model.dtypes import STRING
from molrec_convert.records import hdf5_chunks

from ..atoms import assert_same_atoms
from ..compare import assert_same_records
from ..converting import left_behind, run


def images(count=5):
    """Some atoms that move, with results and values."""
    made = []
    for k in range(count):
        atoms = bulk("Cu", cubic=True)
        atoms.rattle(0.1, seed=k)
        atoms.info["k"] = k
        atoms.calc = SinglePointCalculator(atoms, energy=float(k), forces=atoms.positions * 2)
        made.append(atoms)
    return made


def assert_same_images(found, due):
    for k, (one, other) in enumerate(zip(due, found, strict=True)):
        assert_same_atoms(one, other, f"image {k}")


NAMES = ["x.h5", "x.hdf5", "x.mrec.h5", "x.MREC.h5", "x.mrec.zip", "x.mrec", "x.dat", "x"]


# ---------------------------------------------------------------- names and forms
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 3])
def test_records_of_any_name(tmp_path, name, count):
    """By format; a folder needs it for reading, too, because ASE takes any folder for a format of its own."""
    due = images(count)
    ase.io.write(tmp_path / name, due if count > 1 else due[0], format="molrec")
    assert_same_images(ase.io.read(tmp_path / name, ":", format="molrec"), due)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("name", ["x.h5", "x.mrec.h5", "x.mrec.hdf5", "x.mrec.zip"])
def test_records_are_found_by_name_and_content(tmp_path, name):
    due = images()
    ase.io.write(tmp_path / name, due)
    assert ase.io.formats.filetype(str(tmp_path / name)) == "molrec"
    assert_same_images(ase.io.read(tmp_path / name, ":"), due)


def test_a_folder_is_written_only_where_it_is_asked_for(tmp_path):
    """Since ASE would not read it without being told the format."""
    with pytest.raises(ase.io.formats.UnknownFileTypeError):
        ase.io.write(tmp_path / "x.mrec", images(1))
    assert not (tmp_path / "x.mrec").exists()


def test_records_are_found_by_content_alone(tmp_path):
    due = images()
    ase.io.write(tmp_path / "x.h5", due)
    (tmp_path / "x.h5").rename(tmp_path / "x.data")
    assert_same_images(ase.io.read(tmp_path / "x.data", ":"), due)


@pytest.mark.parametrize("frames", [1, 400])
def test_the_marker_lies_where_ase_looks(tmp_path, frames):
    """However large the record is."""
    ase.io.write(tmp_path / "x.h5", images(frames))
    head = (tmp_path / "x.h5").read_bytes()[: ase.io.formats.PEEK_BYTES]
    assert ase.io.formats.ioformats["molrec"].match_magic(head)


def test_other_files_in_hdf5_are_not_records(tmp_path):
    import h5py

    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.zeros(3)
    assert ase.io.formats.filetype(str(tmp_path / "other.h5")) == "h5"
    with pytest.raises(RecordError, match=r"other\.h5"):
        ase.io.read(tmp_path / "other.h5")


def test_another_plug_in_may_claim_the_extension(monkeypatch, tmp_path):
    """Its own files are its, records are ours."""
    theirs = ase.io.formats.ioformats["traj"]
    monkeypatch.setitem(ase.io.formats.extension2format, "h5", theirs)
    assert ase.io.formats.filetype("new.h5", read=False) == "traj"
    ase.io.write(tmp_path / "x.h5", images(1), format="molrec")
    assert ase.io.formats.filetype(str(tmp_path / "x.h5")) == "molrec"


def test_no_extension_is_claimed():
    for each in (ase_io.molrec, ase_io.h5):
        assert isinstance(each, ExternalIOFormat)
        assert each.ext is None
    assert ase.io.formats.ioformats["molrec"].module is ase_io
    assert EntryPoint("molrec", "molrec_convert.integrations.ase_io:molrec", "ase.ioformats").load() is ase_io.molrec


# ---------------------------------------------------------------- choosing frames
@pytest.mark.parametrize(
    ("index", "due"),
    [(None, 4), (-1, 4), (0, 0), (3, 3), (-2, 3), ("2", 2)],
)
def test_one_image(tmp_path, index, due):
    ase.io.write(tmp_path / "x.h5", images())
    assert ase.io.read(tmp_path / "x.h5", index).info["k"] == due


@pytest.mark.parametrize(
    ("index", "due"),
    [
        (":", [0, 1, 2, 3, 4]), ("1:3", [1, 2]), ("-2:", [3, 4]), ("::2", [0, 2, 4]), ("::-1", [4, 3, 2, 1, 0]),
        (slice(None, None, 3), [0, 3]), ("7:", []),
    ],
)  # fmt: skip
def test_some_images(tmp_path, index, due):
    ase.io.write(tmp_path / "x.h5", images())
    assert [atoms.info["k"] for atoms in ase.io.read(tmp_path / "x.h5", index)] == due
    assert [atoms.info["k"] for atoms in ase.io.iread(tmp_path / "x.h5", index)] == due


@pytest.mark.parametrize(("end", "due"), [("@3", 3), ("@-1", 4), ("@1:3", [1, 2])])
def test_the_end_of_a_name_chooses(tmp_path, end, due):
    ase.io.write(tmp_path / "x.h5", images())
    found = ase.io.read(f"{tmp_path / 'x.h5'}{end}")
    assert due == ([each.info["k"] for each in found] if isinstance(found, list) else found.info["k"])


def test_what_is_no_choice_of_frames(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(1))
    with pytest.raises(OptionError, match="a frame is chosen by a number or a slice such as '0:10:2', not 'a=1'"):
        ase.io.read(tmp_path / "x.h5", "a=1")


def test_all_of_a_frame_is_in_the_full_output(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(2))
    found = list(ase.io.iread(tmp_path / "x.h5", ":", full_output=True))
    assert [each["atoms"].info["k"] for each in found] == [0, 1]


def test_files_are_closed(tmp_path):
    """Also where not all images are read."""
    ase.io.write(tmp_path / "x.h5", images())
    reading = ase.io.iread(tmp_path / "x.h5", ":")
    next(reading)
    reading.close()
    ase.io.read(tmp_path / "x.h5", 0)
    ase.io.write(tmp_path / "x.h5", images(1), append=True)
    assert len(ase.io.read(tmp_path / "x.h5", ":")) == 6


def test_the_last_of_many_frames_touches_one_chunk(tmp_path, monkeypatch):
    """And not the frames before it."""
    atoms = 50
    frame = {
        "atoms": {"x": np.zeros(atoms), "y": np.zeros(atoms), "z": np.arange(atoms) * 1.0, "element": ["C"] * atoms}
    }
    with mc.records.create(tmp_path / "x.h5", meta={"units": {"length": "angstrom"}}) as writer:
        trajectory = writer.begin_trajectory(mc.Schema.of_frame(Frame(frame)))
        for k in range(10_000):
            moved = {**frame["atoms"], "x": np.full(atoms, float(k))}
            trajectory.append(Frame({"atoms": moved}), step=k)
    touched = []
    of, chunk, part = hdf5_chunks.DirectChunks, hdf5_chunks.DirectChunks._chunk, hdf5_chunks.DirectChunks._part
    monkeypatch.setattr(
        of, "_chunk", lambda self, index, **how: touched.append((id(self), index)) or chunk(self, index, **how)
    )
    monkeypatch.setattr(
        of,
        "_part",
        lambda self, index, *how, **more: touched.append((id(self), index)) or part(self, index, *how, **more),
    )
    assert ase.io.read(tmp_path / "x.h5").positions[0, 0] == 9999.0
    arrays = {array for array, _ in touched}
    assert len(set(touched)) == len(arrays) <= 4
    touched.clear()
    assert len(ase.io.read(tmp_path / "x.h5", ":")) == 10_000
    assert len(set(touched)) > len(arrays) * 5


# ---------------------------------------------------------------- writing
def test_a_written_record_is_that_of_from_ase(tmp_path):
    """One Atoms is a frame, several are a trajectory; with the same provenance."""
    several = images()
    for given in (several[0], several):
        ase.io.write(tmp_path / "one.h5", given)
        mc.write(tmp_path / "other.h5", mc.from_ase(given), force=True)
        assert_same_records(tmp_path / "one.h5", tmp_path / "other.h5")
    with mc.open(tmp_path / "one.h5") as record:
        assert record.meta["creator"] == {"name": "molrec-convert", "version": mc.__version__}
        assert record.meta["source"]["format"] == "ase:atoms"
        assert record.meta["source"]["library"] == {"name": "ase", "version": ase.__version__}
        assert record.trajectory.step.tolist() == [0, 1, 2, 3, 4]
        assert record.trajectory.time is None


def test_times_in_info_are_those_of_the_trajectory(tmp_path):
    several = images()
    for k, atoms in enumerate(several):
        atoms.info["time"] = 0.5 * k
    ase.io.write(tmp_path / "x.h5", several)
    with mc.open(tmp_path / "x.h5") as record:
        assert record.trajectory.time.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert_same_images(ase.io.read(tmp_path / "x.h5", ":"), several)


def test_a_record_is_replaced_another_file_is_not(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(3))
    ase.io.write(tmp_path / "x.h5", images(2))
    assert len(ase.io.read(tmp_path / "x.h5", ":")) == 2
    (tmp_path / "thesis.mrec.h5").write_text("three years of work")
    with pytest.raises(TargetError, match="the target exists and is no record"):
        ase.io.write(tmp_path / "thesis.mrec.h5", images(1))
    assert (tmp_path / "thesis.mrec.h5").read_text() == "three years of work"


def test_a_write_that_fails_leaves_the_record_as_it_was(tmp_path):
    ase.io.write(tmp_path / "x.h5", images(3))
    before = (tmp_path / "x.h5").read_bytes()
    with pytest.raises(OptionError, match="frame 1: ASE Atoms are due, not str"):
        ase.io.write(tmp_path / "x.h5", [images(1)[0], "water"])
    assert (tmp_path / "x.h5").read_bytes() == before
    assert left_behind(tmp_path) == []


def test_nothing_to_write(tmp_path):
    with pytest.raises(OptionError, match="there are no ASE Atoms to make a record of"):
        ase.io.write(tmp_path / "x.h5", [])
    assert not (tmp_path / "x.h5").exists()


def test_names_of_compressed_files_are_refused(tmp_path):
    with pytest.raises(TargetError, match=r"leave \.gz away"):
        ase.io.write(tmp_path / "x.mrec.h5.gz", images(1))


def test_what_is_left_out_is_told_or_refused(tmp_path):
    atoms = molecule("H2")
    atoms.info["f"] = print
    with pytest.warns(LossWarning, match="info 'f' is not kept: it is, or holds, a builtin_function_or_method"):
        ase.io.write(tmp_path / "x.h5", [atoms, atoms])
    with mc.open(tmp_path / "x.h5") as record:
        assert record.meta["convert"]["warnings"] == [
            "info 'f' is not kept: it is, or holds, a builtin_function_or_method (in 2 frames)"
        ]
    with pytest.raises(LossError, match="frame 0: info 'f' is not kept"):
        ase.io.write(tmp_path / "y.h5", atoms, strict=True)
    assert not (tmp_path / "y.h5").exists()


def test_what_atoms_do_not_hold_is_told_once(tmp_path):
    """All of it in one warning, which points at the line that reads."""
    called = {"bonds": "ij", "angles": "ijk", "dihedrals": "ijkl", "impropers": "ijkl"}
    blocks = {name: Block({f"atom{k}": np.array([k == "j"], "u8") for k in ends}) for name, ends in called.items()}
    twice = {**blocks, "bonds": Block({name: np.tile(values, 2) for name, values in blocks["bonds"].items()})}
    atoms = {"element": ["H", "H"], "y": [0.0, 0.0], "z": [0.0, 0.0]}
    name = Column(np.array(["a", ""], dtype=STRING), valid=np.array([True, False]))
    frames = [
        Frame({"atoms": {**atoms, "name": name, "x": [0.0, 1.0 + k]}, **(twice if k else blocks)}) for k in range(3)
    ]
    mc.write(tmp_path / "x.h5", frames, units={"length": "angstrom"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(ase.io.read(tmp_path / "x.h5", ":")) == 3
    assert [(each.category, str(each.message), each.filename) for each in caught] == [
        (
            LossWarning,
            "x.h5: ASE Atoms do not hold the rows of name without a value, which are empty; "
            "ASE Atoms do not hold angles (1), dihedrals (1), impropers (1), bonds (1)",
            __file__,
        )
    ]


# ---------------------------------------------------------------- names for labels
def test_results_under_names_with_a_prefix(tmp_path):
    """As programs that train potentials look for them."""
    ase.io.write(tmp_path / "x.h5", images(2))
    atoms = ase.io.read(tmp_path / "x.h5", prefix="REF_")
    assert atoms.info["REF_energy"] == atoms.get_potential_energy() == 1.0
    assert atoms.arrays["REF_forces"].tolist() == atoms.get_forces().tolist()
    ase.io.write(tmp_path / "x.extxyz", atoms)
    assert "REF_forces:R:3" in (tmp_path / "x.extxyz").read_text()


def test_r16_what_extended_xyz_of_ase_loses(tmp_path):
    """Texts, a displaced cell, constraints of any class, arrays of several axes and of wide integers."""
    from ase.constraints import FixBondLengths, FixCartesian, Hookean

    atoms = molecule("CH3CH2OH", cell=[9.0, 9.0, 9.0], pbc=True)
    atoms.set_celldisp([1.0, 2.0, 3.0])
    atoms.info = {"s": "0012", "e": "", "nl": "a\nb", "b": "a\\b", "blank": "a  b "}
    atoms.arrays["tensor"] = np.arange(9.0 * len(atoms)).reshape(-1, 3, 3)
    atoms.arrays["wide"] = np.arange(len(atoms)) + 2**60
    atoms.arrays["label"] = np.array(["two words", "", *("x",) * (len(atoms) - 2)])
    atoms.set_constraint(
        [FixBondLengths([[0, 1]]), FixCartesian([0, 1, 2], [True, False, True]), Hookean(0, 1, 5.0, 1.2)]
    )
    ase.io.write(tmp_path / "x.h5", [atoms, atoms])
    for again in ase.io.read(tmp_path / "x.h5", ":"):
        assert_same_atoms(atoms, again)


# ---------------------------------------------------------------- the command line of ASE
def ase_command(*words, cwd):
    command = [str(Path(sys.executable).with_name("ase")), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=True).stdout


def test_ase_convert_and_ase_info(tmp_path):
    due = images(3)
    ase.io.write(tmp_path / "x.h5", due)
    ase_command("convert", "x.h5", "x.traj", cwd=tmp_path)
    ase_command("convert", "x.traj", "y.mrec.h5", cwd=tmp_path)
    assert_same_images(ase.io.read(tmp_path / "y.mrec.h5", ":"), due)
    assert "MolRec record" in ase_command("info", "--files", "x.h5", "y.mrec.h5", cwd=tmp_path)
    assert "molrec [rw/multi" in ase_command("info", "--formats", cwd=tmp_path)


def test_ase_gui_reads_records(tmp_path):
    """Without its window: what it does with the names of files."""
    from ase.gui.images import Images

    due = images(3)
    ase.io.write(tmp_path / "x.h5", due)
    found = Images()
    found.read([str(tmp_path / "x.h5")])
    assert len(found) == 3
    assert found[2].info["k"] == 2


def test_ase_reads_what_the_program_writes(tmp_path):
    (tmp_path / "in.xyz").write_text("2\n\nO 0 0 0\nH 0 0 1\n2\n\nO 0 0 0.5\nH 0 0 1.5\n")
    assert run("in.xyz", "out.h5", cwd=tmp_path).status == 0
    found = ase.io.read(tmp_path / "out.h5", ":")
    assert [str(atoms.symbols) for atoms in found] == ["OH", "OH"]
    assert found[1].positions.tolist() == [[0, 0, 0.5], [0, 0, 1.5]]


# ---------------------------------------------------------------- what it costs
def test_the_import_is_cheap():
    """ASE loads the plug-in with itself, so that it may load nothing else."""
    code = (
        "from __future__ import annotations\n"
        "import sys, time, ase.utils.plugins, importlib.metadata\n"
        "before = set(sys.modules)\n"
        "start = time.perf_counter()\n"
        "import molrec_convert.integrations.ase_io\n"
        "print(time.perf_counter() - start)\n"
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('_editable')))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    seconds, modules = done.stdout.splitlines()
    assert float(seconds) < 0.02
    assert set(eval(modules)) <= {"molrec_convert", "molrec_convert.integrations", "molrec_convert.integrations.ase_io"}


@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
def test_stale_results_are_not_written(tmp_path):
    atoms = images(1)[0]
    atoms.positions += 0.1
    with pytest.warns(ConvertWarning, match="the results of the calculator unknown are left out: positions changed"):
        ase.io.write(tmp_path / "x.h5", atoms)
    again = ase.io.read(tmp_path / "x.h5")
    assert again.calc is None or again.calc.results == {}
