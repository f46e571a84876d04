"""Formats that go through MDAnalysis: XTC exactly, topologies, and whatever else it reads and writes."""

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysis.lib.formats.libmdaxdr import XTCFile

from molrec_convert import registry
from molrec_convert.convert import convert
from molrec_convert.errors import FormatError
from molrec_convert.model import Box, Frame
from molrec_convert.records import create, open_record
from molrec_convert.sniff import source_adapter, target_adapter

from ..converting import run

CELL = np.array([[3.0, 0, 0], [0.5, 3.1, 0], [-0.25, 0.75, 2.9]], dtype=np.float32)


def xtc(path, *, atoms=20, frames=3, precision=1000.0, largest=20_000):
    """An XTC file, and its whole numbers."""
    numbers = np.random.default_rng(7).integers(-largest, largest, (frames, atoms, 3))
    with XTCFile(str(path), "w") as file:
        for k, whole in enumerate(numbers):
            file.write((whole / precision).astype(np.float32), CELL * (1 + k), 10 * k, 0.5 * k, precision)
    return numbers


# ---------------------------------------------------------------- XTC
@pytest.mark.parametrize("precision", [10.0, 100.0, 1000.0, 10000.0])
def test_the_whole_numbers_of_xtc(tmp_path, precision):
    numbers = xtc(tmp_path / "in.xtc", precision=precision)
    report = convert(tmp_path / "in.xtc", tmp_path / "out.h5")
    assert not report.warnings
    with open_record(tmp_path / "out.h5") as record:
        assert record.trajectory.step.tolist() == [0, 10, 20]
        assert record.trajectory.time.tolist() == [0, 0.5, 1.0]
        assert record.system.meta["mda_floats"] == "binary32"
        assert record.trajectory.schema.blocks["atoms"].columns["x"].precision == 10 / (precision * 1000)
        for k, frame in enumerate(record.trajectory):
            found = np.stack([frame["atoms"][axis] for axis in "xyz"], axis=1)
            assert np.array_equal(np.rint(found * precision / 10), numbers[k])
            assert np.abs(found - numbers[k] * 10 / precision).max() <= 5 / (precision * 1000)
            assert np.array_equal(frame.box.vectors, (CELL * (1 + k)).astype(float).T * 10)


@pytest.mark.parametrize("precision", [10.0, 1000.0, 100000.0])
@pytest.mark.parametrize("atoms", [1, 9, 10, 100])
def test_xtc_comes_back_byte_for_byte(tmp_path, precision, atoms):
    xtc(tmp_path / "in.xtc", precision=precision, atoms=atoms, largest=min(20_000, int(30 * precision)))
    convert(tmp_path / "in.xtc", tmp_path / "out.h5")
    report = convert(tmp_path / "out.h5", tmp_path / "back.xtc")
    assert not report.losses
    assert (tmp_path / "back.xtc").read_bytes() == (tmp_path / "in.xtc").read_bytes()


def test_numbers_beyond_binary32_claim_no_precision(tmp_path):
    """Where the library has rounded the whole numbers, they are not found again."""
    xtc(tmp_path / "in.xtc", largest=2**27)
    convert(tmp_path / "in.xtc", tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as record, XTCFile(str(tmp_path / "in.xtc")) as file:
        assert record.trajectory.schema.blocks["atoms"].columns["x"].precision is None
        assert np.array_equal(record.trajectory[0]["atoms"]["x"], file.read().x[:, 0].astype(float) * 10)


def test_no_file_is_left_beside_the_source(tmp_path):
    (tmp_path / "in").mkdir()
    xtc(tmp_path / "in" / "in.xtc")
    convert(tmp_path / "in" / "in.xtc", tmp_path / "out.h5", frames="-1")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["in.xtc"]


@pytest.mark.parametrize("cut", [4, 60, 200])
def test_a_file_cut_short(tmp_path, cut):
    xtc(tmp_path / "in.xtc", atoms=200)
    data = (tmp_path / "in.xtc").read_bytes()
    (tmp_path / "cut.xtc").write_bytes(data[: len(data) - cut])
    report = convert(tmp_path / "cut.xtc", tmp_path / "out.h5")
    assert report.frames == 2
    assert report.warnings[0].startswith("cut.xtc (frame 2): truncated: ")
    assert report.warnings[0].endswith("the 2 whole frames before are kept")


def test_zero_cells_are_none(tmp_path):
    with XTCFile(str(tmp_path / "in.xtc"), "w") as file:
        file.write(np.zeros((10, 3), np.float32), np.zeros((3, 3), np.float32), 0, 0.0, 1000.0)
    convert(tmp_path / "in.xtc", tmp_path / "out.h5")
    with open_record(tmp_path / "out.h5") as record:
        assert record.trajectory[0].box is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [0.0]}, "there are no positions x, y, z"),
        ({}, "the format holds the same number of atoms in every frame, not 0: 0"),
        ({"x": [1e9], "y": [0.0], "z": [0.0]}, "a position or the step 0 is beyond what 32 bits hold"),
        ({"x": [np.nan], "y": [0.0], "z": [0.0]}, "a position or the step 0 is beyond what 32 bits hold"),
    ],
)
def test_what_xtc_cannot_hold(tmp_path, columns, message):
    with create(tmp_path / "in.h5") as writer:
        writer.set_section("frame", Frame({"atoms": columns}))
    with pytest.raises(FormatError) as caught:
        convert(tmp_path / "in.h5", tmp_path / "out.xtc")
    assert message in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def test_text_has_the_numbers_of_the_file(tmp_path):
    numbers = xtc(tmp_path / "in.xtc", frames=1)
    convert(tmp_path / "in.xtc", tmp_path / "out.h5")
    convert(tmp_path / "out.h5", tmp_path / "out.xyz")
    words = [line.split()[1] for line in (tmp_path / "out.xyz").read_text().splitlines()[2:]]
    assert [float(word) for word in words] == (numbers[0][:, 0] / 100).tolist()


# ---------------------------------------------------------------- topologies
PSF = """PSF

       1 !NTITLE
 REMARKS water

       3 !NATOM
       1 WAT  1    TIP3 OH2  OT    -0.834000       15.9994           0
       2 WAT  1    TIP3 H1   HT     0.417000        1.0080           0
       3 WAT  1    TIP3 H2   HT     0.417000        1.0080           0

       2 !NBOND: bonds
       1       2       1       3

       1 !NTHETA: angles
       2       1       3

       0 !NPHI: dihedrals


       0 !NIMPHI: impropers


"""


@pytest.fixture
def psf(tmp_path):
    (tmp_path / "water.psf").write_text(PSF)
    return tmp_path / "water.psf"


def test_a_topology_alone(tmp_path, psf):
    report = convert(psf, tmp_path / "out.h5")
    told = "water.psf: the elements are told by the masses: H 2, O 1"
    assert (report.source_format, report.warnings) == ("mda:psf", [told])
    with open_record(tmp_path / "out.h5") as record:
        atoms = record.frame["atoms"]
        assert atoms["id"].tolist() == [1, 2, 3]
        assert atoms["name"].tolist() == ["OH2", "H1", "H2"]
        assert atoms["element"].tolist() == ["O", "H", "H"]
        assert atoms["charge"].tolist() == [-0.834, 0.417, 0.417]
        assert atoms["mass"].tolist() == [15.9994, 1.008, 1.008]
        assert record.frame["bonds"]["atomj"].tolist() == [1, 2]
        assert record.frame["angles"]["atomj"].tolist() == [0]
        assert "x" not in atoms


def test_topology_and_trajectory(tmp_path, psf):
    numbers = xtc(tmp_path / "run.xtc", atoms=3)
    done = run(psf, tmp_path / "run.xtc", tmp_path / "out.h5")
    assert (done.status, done.stderr) == (
        0,
        "warning: water.psf: the elements are told by the masses: H 2, O 1\n"
        "warning: run.xtc: the atoms are matched with those of water.psf in their order, as one side has no ids\n",
    )
    with open_record(tmp_path / "out.h5") as record:
        assert record.system["atoms"]["name"].tolist() == ["OH2", "H1", "H2"]
        assert record.system["bonds"].count == 2
        assert np.array_equal(
            record.trajectory[2]["atoms"]["x"], (numbers[2][:, 0] / 1000).astype(np.float32).astype(float) * 10
        )
        assert record.meta["topology"]["library"]["name"] == "MDAnalysis"


def test_they_do_not_belong_together(tmp_path, psf):
    xtc(tmp_path / "run.xtc", atoms=4)
    done = run(psf, tmp_path / "run.xtc", tmp_path / "out.h5")
    assert done.status == 1
    assert done.stderr.startswith("molrec-convert: run.xtc: 4 atoms, water.psf has 3")
    assert not (tmp_path / "out.h5").exists()


# ---------------------------------------------------------------- other formats
def water(**more):
    return Frame(
        {
            "atoms": {
                "name": ["OW", "HW1", "HW2"],
                "res_name": ["SOL"] * 3,
                "res_id": np.ones(3, np.uint64),
                "x": [1.0, 2.0, 3.5],
                "y": [0.0, 0.25, 0.5],
                "z": [-1.0, 0.0, 1.0],
                **more,
            }
        },
        box=Box.orthogonal([10, 11, 12]),
    )


@pytest.fixture
def record(tmp_path):
    with create(tmp_path / "in.h5", meta={"units": {"length": "angstrom", "time": "ps"}}) as writer:
        writer.set_section("frame", water(charge=[-0.8, 0.4, 0.4]))
    return tmp_path / "in.h5"


@pytest.mark.parametrize("suffix", ["crd", "pqr", "ncdf", "coor", "pdbqt", "h5md"])
def test_written_and_read_again(tmp_path, record, suffix):
    """What a format holds is equal, what it does not is named."""
    report = convert(record, tmp_path / f"out.{suffix}")
    convert(tmp_path / f"out.{suffix}", tmp_path / "back.h5")
    with open_record(tmp_path / "back.h5") as back:
        frame = back.frame if back.trajectory is None else back.trajectory[0]
        fixed = {} if back.system is None or "atoms" not in back.system else dict(back.system["atoms"].items())
        atoms = dict(frame["atoms"].items()) | fixed
        for key, value in water(charge=[-0.8, 0.4, 0.4])["atoms"].items():
            if f"atoms.{key}" not in report.losses.losses and f"digits of atoms.{key}" not in report.losses.losses:
                assert np.array_equal(atoms[key], value), key
        assert np.array_equal(atoms["x"], [1.0, 2.0, 3.5])
        assert ("box" in report.losses.losses) == (frame.box is None)


def test_mdanalysis_reads_what_was_written(tmp_path, record):
    convert(record, tmp_path / "out.crd")
    universe = mda.Universe(str(tmp_path / "out.crd"), to_guess=())
    assert universe.atoms.names.tolist() == ["OW", "HW1", "HW2"]
    assert np.array_equal(universe.atoms.positions[:, 0], np.float32([1, 2, 3.5]))


def test_a_number_of_atoms_that_changes_is_refused_by_frame(tmp_path):
    (tmp_path / "in.xyz").write_text("1\n\nH 0 0 0\n2\n\nH 0 0 0\nH 0 0 1\n")
    with pytest.raises(FormatError) as caught:
        convert(tmp_path / "in.xyz", tmp_path / "out.ncdf")
    assert str(caught.value) == (
        "out.ncdf (frame 1): the format holds the same number of atoms in every frame: 2, 1 before"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in.xyz"]


@pytest.mark.parametrize(
    ("name", "head", "due"),
    [
        ("x.xtc", b"\0\0\x07\xcb", "mda:xtc"),
        ("noname", b"\0\0\x07\xcb\0\0\0\x0a", "mda:xtc"),
        ("x.psf.gz", b"PSF\n", "mda:psf"),
        ("x.pqr", b"ATOM      1  N   ALA A   1      11.104   6.134  -6.504  0.1 1.8\n", "mda:pqr"),
        ("x.nc", b"CDF\1" + bytes(40) + b"AMBER", "mda:ncdf"),
        ("x.nc", b"CDF\1" + bytes(40), "ase:netcdftrajectory"),
        ("x.top", b"%VERSION  VERSION_STAMP", "mda:top"),
        ("x.top", b"; GROMACS\n[ moleculetype ]\n", "mda:itp"),
        ("x.cif", b"data_1ABC\n_atom_site.id\n", "mda:mmcif"),
    ],
)
def test_found_by_content_and_name(name, head, due):
    assert source_adapter(name, head).name == due


@pytest.mark.parametrize(("name", "due"), [("x.xtc", "mda:xtc"), ("x.nc", "mda:ncdf"), ("x.mol2", "mda:mol2")])
def test_written_by_name(name, due):
    assert target_adapter(name).name == due


def test_every_format_is_described():
    family = next(each for each in registry.families() if each.name == "mda")
    found = [family.adapter(name) for name in family.formats()]
    assert len(found) > 30
    for adapter in found:
        assert adapter.reads or adapter.writes
        assert registry.by_name(adapter.name.upper().replace("MDA:", "mda:")).name == adapter.name


# ---------------------------------------------------------------- what goes wrong
@pytest.mark.parametrize("atoms", [3, 50])
@pytest.mark.parametrize("more", [1, 30, 91])
def test_a_frame_whose_head_is_cut_is_noticed(tmp_path, atoms, more):
    xtc(tmp_path / "in.xtc", atoms=atoms)
    data = (tmp_path / "in.xtc").read_bytes()
    (tmp_path / "cut.xtc").write_bytes(data + data[:more])
    for frames in (None, "-1", "1:"):
        report = convert(tmp_path / "cut.xtc", tmp_path / "out.h5", frames=frames, force=True)
        assert "truncated: the file ends inside the frame" in report.warnings[0]
    with pytest.raises(FormatError, match=r"cut\.xtc \(frame 3\)"):
        convert(tmp_path / "cut.xtc", tmp_path / "out.h5", force=True, strict=True)


@pytest.mark.parametrize("name", ["t.coor", "t.ncdf", "t.h5md", "t.inpcrd", "t.trz"])
def test_garbage_is_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x08\0\0\0abcdefgh")
    done = run(tmp_path / name, tmp_path / "out.h5")
    assert done.status == 1
    assert done.stderr.startswith(f"molrec-convert: {name}")
    assert done.stderr.count("\n") == 1


def test_no_offsets_beside_the_source(tmp_path):
    (tmp_path / "in").mkdir()
    with mda.Writer(str(tmp_path / "in" / "a.trr"), 3) as writer:
        universe = mda.Universe.empty(3, trajectory=True)
        writer.write(universe.atoms)
    convert(tmp_path / "in" / "a.trr", tmp_path / "out.h5", from_format="mda:trr")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["a.trr"]


def test_changed_elements_are_named(tmp_path):
    """The format takes names from the first frame."""
    (tmp_path / "in.xyz").write_text("1\n\nCu 0 0 0\n1\n\nAu 0 0 0\n")
    report = convert(tmp_path / "in.xyz", tmp_path / "out.pdb", to_format="mda:pdb")
    assert "atoms.element" in report.losses.losses
