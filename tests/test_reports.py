"""Faults that people have reported of programs like this one, by the number under which they were gathered.

R-01, R-03, R-05 and R-38 stand with the tests of their formats, R-27, R-29 and R-39 in `test_reports_series`.
"""

import fcntl
import gzip
import hashlib
import sys
import warnings

import pytest

import molrec_convert as mc
from molrec_convert import outputs, registry
from molrec_convert.errors import OptionError, RecordError
from molrec_convert.model import Box, Meta

from .converting import source_of
from .cubes import cube
from .datafiles import WATER, data_file
from .dumps import THREE, snapshot, snapshots
from .frames import fitted, frame, text
from .pdbs import THREE as THREE_MODELS
from .round_trips import trip

ADAPTERS = [each for each in registry.adapters() if each.importer is not None and each.exporter is not None]
SERIES = [each for each in ADAPTERS if each.carries.frames]
XYZ = "".join(f"2\nProperties=species:S:1:pos:R:3 energy={-k}.5\nO {k} 0 0\nH 0 {k} 1\n" for k in range(3))
QUIET = pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")


def by_adapter(adapters):
    return pytest.mark.parametrize("adapter", adapters, ids=lambda adapter: adapter.name)


# ----------------------------------------------------------------
def test_r07_xyz_keeps_cell_elements_and_digits(tmp_path):
    """Extended XYZ by default: the cell, its axes, elements beside names, all columns, the shortest exact numbers."""
    box = Box.from_rows([[10.0, 0, 0], [0, 11.0, 0], [1 / 3, 0, 12.0]], boundary=(True, True, False))
    made = frame(3, box=box, name=text("OW", "HW1", "HW2"), x=[0.1, 1 / 3, -2.5e-7], charge=[-0.8, 0.4, 0.4])
    mc.write(tmp_path / "out.xyz", made)
    first, comment, *rows = (tmp_path / "out.xyz").read_text().splitlines()
    assert first == "3"
    assert 'Lattice="10.0 0.0 0.0 0.0 11.0 0.0 0.3333333333333333 0.0 12.0"' in comment
    assert 'pbc="T T F"' in comment
    assert [row.split()[0] for row in rows] == ["O", "H", "C"]
    assert "0.3333333333333333" in rows[1].split()
    back = mc.read(tmp_path / "out.xyz").trajectory[0]
    assert back["atoms"].same(made["atoms"])
    assert back.box.same(box)


# ----------------------------------------------------------------
MIXED = """1
Properties=species:S:1:pos:R:3 energy=-10 label=a
H 0 0 0
1
Properties=species:S:1:pos:R:3:local:R:1 energy=-10.5
H 0 0 0.1 0.5
1
Properties=species:S:1:pos:R:3:local:I:1 energy=2 extra=7
H 0 0 0.2 1
"""


@pytest.mark.parametrize("look_ahead", [0, 1 << 24])
def test_r10_columns_and_keys_that_change(tmp_path, monkeypatch, look_ahead):
    """One schema for all frames, however late they differ: reals hold integers, what is missing is masked or filled."""
    monkeypatch.setattr(outputs, "LOOK_AHEAD", look_ahead)
    mc.convert(source_of(tmp_path, MIXED, "in.xyz"), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.trajectory.meta("pe") == [-10.0, -10.5, 2.0]
        local = [each["atoms"].column("local") for each in record.trajectory]
        assert [column.dtype for column in local] == ["f64"] * 3
        assert [None if column.valid is None else column.valid.tolist() for column in local] == [[False], None, None]
        assert [column.values.tolist() for column in local[1:]] == [[0.5], [1.0]]
        assert record.trajectory.meta("label") == ["a", None, None]
    mc.convert(tmp_path / "out.h5", tmp_path / "back.xyz")
    keys = [line.split(" ", 1)[1] for line in (tmp_path / "back.xyz").read_text().splitlines()[1::3]]
    assert ["label" in key for key in keys] == [True, False, False]
    assert ["extra" in key for key in keys] == [False, False, True]


# ----------------------------------------------------------------
VELOCITIES = snapshot("1 1 1 2 3 0.25 0 0", columns="id type x y z vx vy vz", step=4)


@QUIET
@pytest.mark.parametrize(
    ("style", "units", "velocity", "ps"),
    [("real", {"time": "fs", "velocity": "angstrom/fs"}, 0.25, 0.0005),
     ("metal", {"time": "ps", "velocity": "angstrom/ps"}, 0.25, 0.5)],
)  # fmt: skip
def test_r11_units_are_those_that_were_said(tmp_path, style, units, velocity, ps):
    """Numbers stay the file's, their units are named, and only then they are converted."""
    dump = source_of(tmp_path, "ITEM: TIME\n0.5\n" + VELOCITIES, "in.dump")
    record = mc.read(dump, units=style)
    assert record.trajectory[0]["atoms"]["vx"].tolist() == [velocity]
    assert units.items() <= record.meta["units"].items()
    report = mc.convert(dump, tmp_path / "out.h5", units=style, to_units="metal")
    assert report.provenance["units"]["time"] == "ps"
    with mc.open(tmp_path / "out.h5") as record:
        assert record.trajectory.time.tolist() == [ps]


@QUIET
def test_r11_unknown_units_are_not_claimed(tmp_path):
    dump = source_of(tmp_path, VELOCITIES, "in.dump")
    assert "units" not in mc.read(dump).meta
    with pytest.raises(OptionError, match="--to-units needs a source whose units are known: say --units"):
        mc.convert(dump, tmp_path / "out.h5", to_units="metal")
    assert not (tmp_path / "out.h5").exists()


@QUIET
def test_r13_reduced_numbers_stay(tmp_path):
    """Nothing is forced into ångström; the numbers are handed through, and said to have no dimension."""
    text = snapshot("1 1 0.5 0.25 0 1.5 0.5", columns="id type x y z q mass", units="lj")
    made = mc.read(source_of(tmp_path, text, "in.dump"))
    atoms = made.trajectory[0]["atoms"]
    assert [atoms[name].tolist() for name in ("x", "charge_lj", "mass_lj")] == [[0.5], [1.5], [0.5]]
    assert (made.meta["units"]["length"], made.meta["units"]["energy"]) == ("sigma", "epsilon")
    mc.convert(tmp_path / "in.dump", tmp_path / "out.h5")
    mc.convert(tmp_path / "out.h5", tmp_path / "back.dump")
    assert (tmp_path / "back.dump").read_text().splitlines()[-1] == "1 1 0.5 0.25 0 1.5 0.5"
    with pytest.raises(OptionError, match="numbers without dimension are not converted"):
        mc.convert(tmp_path / "in.dump", tmp_path / "real.h5", to_units="real")


# ----------------------------------------------------------------
LABELS = """2
Lattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:forces:R:3:REF_forces:R:3 energy=-3.25 REF_energy=-3.5 \
stress="1 2 3 2 5 6 3 6 9" pbc="T T T"
H 0.0 0.0 0.0 0.1 0.0 0.0 0.5 0.0 0.0
H 0.0 0.0 0.7 -0.1 0.0 0.0 -0.5 0.0 0.0
"""


def test_r15_labels_of_training_sets(tmp_path):
    """Energies and forces are reached by their names, those of another calculation beside them, and written again."""
    mc.convert(source_of(tmp_path, LABELS, "in.xyz"), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        made = record.trajectory[0]
        assert (made.meta["pe"], made.meta["REF_energy"]) == (-3.25, -3.5)
        assert made["atoms"]["fx"].tolist() == [0.1, -0.1]
        assert made["atoms"]["REF_forces"].tolist() == [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]]
        assert len(made.meta["stress"]) == 9
    mc.convert(tmp_path / "out.h5", tmp_path / "back.xyz")
    assert (tmp_path / "back.xyz").read_text() == LABELS


@pytest.mark.parametrize("value", ["0012", "", "a\nb", "a\\b", 'say "x"', "T", "1 2 3", " padded ", "{1}", "[2]", "ü"])
def test_r16_texts_of_a_frame(tmp_path, value):
    """Neither a number nor a flag is made of a text, no key is eaten, no line is broken."""
    made = frame(2, meta=Meta({"first": value, "second": 12}, tags={"first": "string", "second": "i64"}))
    assert trip(tmp_path, registry.by_name("xyz"), made).after[0].frame.meta == made.meta


# ----------------------------------------------------------------
def test_r23_a_record_is_read_by_several(tmp_path):
    mc.write(tmp_path / "in.h5", [frame(2), frame(2)])
    with mc.open(tmp_path / "in.h5") as one, mc.open(tmp_path / "in.h5") as other:
        assert one.trajectory[1].same(other.trajectory[1])
        mc.convert(tmp_path / "in.h5", tmp_path / "out.h5")


@pytest.mark.skipif(sys.platform != "linux", reason="flock is what HDF5 uses there")
def test_r23_a_locked_record_says_what_to_do(tmp_path):
    mc.write(tmp_path / "in.h5", frame(2))
    with (tmp_path / "in.h5").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(RecordError, match="HDF5_USE_FILE_LOCKING=FALSE opens it without"):
            mc.open(tmp_path / "in.h5")


# ----------------------------------------------------------------
@QUIET
def test_r31_nothing_is_unwrapped_unasked(tmp_path):
    """Positions stay where they are; images and the kind of positions are kept and written again."""
    wrapped = snapshots(["1 1 9 2 3 1 0 -1", "1 1 1 2 3 2 0 -1"], columns="id type x y z ix iy iz")
    mc.convert(source_of(tmp_path, wrapped, "in.dump"), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        atoms = [each["atoms"] for each in record.trajectory]
        assert [block["x"].tolist() for block in atoms] == [[9.0], [1.0]]
        assert [block["ix"].tolist() for block in atoms] == [[1], [2]]
    mc.convert(tmp_path / "out.h5", tmp_path / "back.dump")
    assert (tmp_path / "back.dump").read_text().splitlines()[-1] == "1 1 1 2 3 2 0 -1"
    mc.convert(tmp_path / "in.dump", tmp_path / "asked.h5", unwrap=True)
    with mc.open(tmp_path / "asked.h5") as record:
        assert [each["atoms"]["x"].tolist() for each in record.trajectory] == [[19.0], [21.0]]
        assert "ix" not in record.trajectory[0]["atoms"]


@QUIET
@pytest.mark.parametrize(("columns", "kind"), [("xu yu zu", "xu"), ("xs ys zs", "xs"), ("xsu ysu zsu", "xsu")])
def test_r31_the_kind_of_positions_is_known(tmp_path, columns, kind):
    source = source_of(tmp_path, snapshot("1 1 0.5 0.25 0.125", columns=f"id type {columns}"), "in.dump")
    record = mc.read(source)
    assert record.system.meta["lammps_coords"] == kind
    mc.write(tmp_path / "back.dump", record)
    assert (tmp_path / "back.dump").read_text().splitlines()[-2:] == [
        f"ITEM: ATOMS id type {columns}", "1 1 0.5 0.25 0.125",
    ]  # fmt: skip


@QUIET
def test_r31_images_of_a_data_file(tmp_path):
    mc.convert(source_of(tmp_path, WATER, "in.data"), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        atoms = record.frame["atoms"]
        assert atoms["iy"].tolist() == [-1, 0, 0]
        assert atoms["y"].tolist() == [2.0, 2.0, 2.5]


# ----------------------------------------------------------------
@pytest.mark.parametrize("orbitals", [None, "1 7"])
def test_r33_values_of_a_grid_are_those_of_the_file(tmp_path, orbitals):
    """Neither densities nor orbitals are rescaled, whatever the lengths are in."""
    numbers = [1.5e-3, -2.25, 0.0, 4.0, 1e-12, 6.0]
    for counts in ((2, 1, 3), (-2, -1, -3)):
        source = source_of(tmp_path, cube(numbers, counts=counts, orbitals=orbitals), "in.cube")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            grid = mc.read(source).frame["grid"]
        assert [values.tolist() for values in grid.values()] == [numbers]


# ----------------------------------------------------------------
@QUIET
@by_adapter(ADAPTERS)
def test_r35_where_a_record_came_from(adapter, tmp_path):
    """The name, size, checksum and format of the source, the program, what was asked for and what was noticed."""
    source = trip(tmp_path, adapter, fitted(frame(2, box=Box.orthogonal(5.0)), adapter)).path
    data = source.read_bytes()
    report = mc.convert(source, tmp_path / "out.h5", from_format=adapter.name, precision=1e-3)
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["source"] == {
            "name": source.name,
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "format": adapter.name,
        }
        assert record.meta["creator"] == {"name": "molrec-convert", "version": mc.__version__}
        assert record.meta["convert"]["options"] == {"precision": 1e-3}
        assert record.meta["convert"]["warnings"] == report.warnings
    mc.convert(tmp_path / "out.h5", tmp_path / "again.h5")
    with mc.open(tmp_path / "again.h5") as record:
        assert record.meta["source"]["sha256"] == hashlib.sha256(data).hexdigest()


def test_r35_the_checksum_is_of_the_file_as_it_lies_there(tmp_path):
    data = gzip.compress(XYZ.encode())
    mc.convert(source_of(tmp_path, data, "in.xyz.gz"), tmp_path / "out.h5")
    with mc.open(tmp_path / "out.h5") as record:
        assert record.meta["source"]["sha256"] == hashlib.sha256(data).hexdigest()
        assert record.meta["source"]["size"] == len(data)


@QUIET
@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("in.data", WATER, ["Pair Coeffs # lj/cut", "O-H 300.0 1.5", "# light", "extra bond per atom"]),
        ("in.data", data_file(sections={"Ellipsoids": "1 1 1 1 1 0 0 0"}), ["Ellipsoids"]),
        ("in.pdb", "TITLE     A TITLE\nREMARK   3 A REMARK\n" + THREE_MODELS, ["A TITLE", "A REMARK"]),
        ("in.xyz", "1\nfree text of a program\nH 0 0 0\n", ["free text of a program"]),
        ("in.cube", cube(comments="a title\nOUTER LOOP: X"), ["a title", "OUTER LOOP: X"]),
        ("in.dump", THREE, []),
    ],
)
def test_r35_notes_and_coefficients_are_kept(tmp_path, name, source, words):
    """Text that only the source's format has a place for is in the record, and in a file of the format made of it."""
    mc.convert(source_of(tmp_path, source, name), tmp_path / "out.h5")
    back = tmp_path / f"back{(tmp_path / name).suffix}"
    mc.convert(tmp_path / "out.h5", back)
    for word in words:
        assert word in back.read_text()


@QUIET
def test_r35_text_that_another_format_has_no_place_for_is_named(tmp_path):
    mc.convert(source_of(tmp_path, WATER, "in.data"), tmp_path / "out.h5")
    for source in ("in.data", "out.h5"):
        report = mc.convert(tmp_path / source, tmp_path / "out.dump", force=True)
        assert "lammps_coeffs_text" in report.losses.losses
        assert not {"lammps_atom_style", "lammps_bounds", "lammps_type_masses"} & report.losses.losses.keys()
