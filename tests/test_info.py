"""What `info` tells of small files, word for word."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame, Record, Schema
from molrec_convert.model.trajectory import MemoryTrajectory
from molrec_convert.records import create
from molrec_convert.summary import info_text

from .converting import source_of
from .dumps import snapshot
from .frames import text
from .water import SUFFIXES, single, trajectory, u64, water

TRAJECTORY = """\
water.h5: molrec-h5, SIZE
  frames    3, step 0 to 20 by 10, time 0 to 1 by 0.5 ps
  atoms     3: H 2, O 1
  cell      10 × 10 × 10 angstrom, periodic along a b; it changes: 10 to 12 × 10
            × 10
  units     length angstrom, energy eV, time ps
  creator   molrec-convert VERSION
  title     water

system: what holds for all frames
  atoms: 3 rows
    id       u64     24 B  1.0:1
    element  string   3 B
    charge   f64     24 B  1.0:1
    tag      i64     24 B  1.0:1  some null
  bonds: 2 rows
    atomi  u64  16 B  1.0:1  rows of atoms
    atomj  u64  16 B  1.0:1  rows of atoms

trajectory
  atoms: 3 rows, set 3 times
    x       f64      PACK  angstrom, to 0.001
    y       f64      72 B  1.0:1  angstrom
    tensor  f64[2]  144 B  1.0:1
  values of every frame
    pe     f64     eV
    label  string"""

DUMP = """\
in.dump: lammps-dump, 376 B
  frames    2, step 5 to 7 by 2
  atoms     1 to 2 in the first two frames and the last: type 1 1, type 2 1 in
            the first
  cell      10 × 10 × 10 angstrom, periodic
  units     length angstrom, time fs, mass amu, energy kcal/mol, charge e,
            pressure atm, temperature K, velocity angstrom/fs, force
            kcal/mol/angstrom
  note      the types are no elements; --type-map 1=Si,2=O names them

the first frame, as a record holds it
  atoms: 2 rows
    id       u64
    type_id  u64
    x        f64  angstrom
    y        f64  angstrom
    z        f64  angstrom
  values
    lammps_columns   json    ["id", "type", "x", "y", "z"]
    lammps_boundary  string  "pp pp pp"
    lammps_units     string  real"""


def text_of(path, **options):
    """The text without what changes with the release, and without the folder."""
    found = mc.info(path, **options)
    text = info_text(found).replace(str(path), path.name)
    return text.replace(mc.__version__, "VERSION")


def test_a_trajectory_for_people(tmp_path):
    path = tmp_path / "water.h5"
    mc.write(path, trajectory())
    size = f"{path.stat().st_size / 1000:.1f} kB"
    x = mc.info(path).sections[1].blocks[0].columns[0]
    packed = f"{x.stored} B  {x.ratio:.1f}:1"  # by whatever compressor is at hand
    assert 20 < x.stored < 40
    assert text_of(path) == TRAJECTORY.replace("SIZE", size).replace("PACK", packed)


def test_a_foreign_file_for_people(tmp_path):
    data = snapshot("1 1 0 0 0; 2 2 1 1 1", step=5) + snapshot("1 1 0 0 0", step=7)
    path = source_of(tmp_path, data, "in.dump")
    assert text_of(path, units="real") == DUMP.replace("376 B", f"{len(data)} B")


def test_lines_fit_a_terminal(tmp_path, sample_data):
    for path in sorted(sample_data.rglob("*.*")):
        if path.suffix != ".md":
            lines = info_text(mc.info(path)).split("\n")
            assert max(map(len, lines[1:])) <= 80, path


COLUMN_KEYS = ["name", "dtype", "trailing", "unit", "precision", "nullable", "target", "stored", "plain", "ratio"]
KEYS = [
    "file", "format", "record", "size", "frames", "exact", "step", "time", "atoms", "elements", "types", "cell",
    "units", "sections", "unknown", "document", "notes",
]  # fmt: skip
CELL_KEYS = [
    "defined", "always", "changes", "lengths", "angles", "shortest", "longest", "origin", "boundary",
]  # fmt: skip


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_json_of_a_record(tmp_path, suffix):
    """Every key is there, whatever the file."""
    path = tmp_path / f"water{suffix}"
    mc.write(path, trajectory())
    found = mc.info(path).as_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == KEYS
    assert found["file"] == str(path)
    assert found["record"] is True
    assert found["frames"] == 3
    assert found["exact"] is True
    assert found["step"] == {"first": 0, "last": 20, "stride": 10}
    assert found["time"] == {"first": 0.0, "last": 1.0, "stride": 0.5}
    assert found["atoms"] == {"least": 3, "most": 3}
    assert found["elements"] == {"H": 2, "O": 1}
    assert found["types"] is None
    assert found["cell"] == {
        "defined": True, "always": True, "changes": True, "lengths": [10.0, 10.0, 10.0], "angles": [90.0, 90.0, 90.0],
        "shortest": [10.0, 10.0, 10.0], "longest": [12.0, 10.0, 10.0], "origin": [0.0, 0.0, 0.0],
        "boundary": [True, True, False],
    }  # fmt: skip
    assert list(found["cell"]) == CELL_KEYS
    assert found["units"] == {"length": "angstrom", "energy": "eV", "time": "ps"}
    assert found["document"]["title"] == "water"
    assert (found["unknown"], found["notes"]) == ([], [])
    system, moving = found["sections"]
    assert [system["name"], moving["name"]] == ["system", "trajectory"]
    assert [block["name"] for block in system["blocks"]] == ["atoms", "bonds"]
    assert [list(block) for block in moving["blocks"]] == [
        ["name", "rows", "updates", "shape", "aligned_with", "columns"]
    ]
    assert moving["blocks"][0]["rows"] == {"least": 3, "most": 3}
    assert moving["blocks"][0]["updates"] == 3
    columns = {column["name"]: column for block in moving["blocks"] for column in block["columns"]}
    assert all(list(column) == COLUMN_KEYS for column in columns.values())
    assert columns["x"]["precision"] == 1e-3
    assert columns["x"]["plain"] == 72
    assert columns["x"]["ratio"] == round(72 / columns["x"]["stored"], 3)
    assert columns["tensor"]["trailing"] == [2]
    assert moving["meta"] == [
        {"key": "pe", "tag": "f64", "unit": "eV", "per_frame": True, "value": None},
        {"key": "label", "tag": "string", "unit": None, "per_frame": True, "value": None},
    ]
    bonds = system["blocks"][1]
    assert [column["target"] for column in bonds["columns"]] == ["atoms", "atoms"]
    tag = next(column for column in system["blocks"][0]["columns"] if column["name"] == "tag")
    assert tag["nullable"] is True


def test_the_json_of_a_foreign_file(tmp_path):
    """The same keys, and null for what only a record has."""
    found = mc.info(source_of(tmp_path, snapshot("1 1 0 0 0", step=5), "in.dump")).as_json()
    assert list(found) == KEYS
    assert found["record"] is False
    assert found["step"] == {"first": 5, "last": 5, "stride": None}
    assert found["types"] == {"1": 1}
    assert found["document"] == {}
    assert found["notes"] == ["the types are no elements; --type-map 1=Si names them"]
    columns = found["sections"][0]["blocks"][0]["columns"]
    assert all(list(column) == COLUMN_KEYS for column in columns)
    assert {column["stored"] for column in columns} == {None}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_record_of_one_frame(tmp_path, suffix):
    path = tmp_path / f"one{suffix}"
    mc.write(path, single())
    found = mc.info(path)
    assert (found.frames, found.step, found.time) == (1, None, None)
    assert [section.name for section in found.sections] == ["frame"]
    assert found.elements == {"H": 2, "O": 1}
    assert found.cell is not None
    assert found.cell.lengths == (10.0, 10.0, 10.0)
    assert not found.cell.changes
    assert {value.key: value.value for value in found.sections[0].meta} == {"pe": -76.5, "label": "frame 0"}
    assert "\nframe\n" in info_text(found)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_atoms_that_come_and_go(tmp_path, suffix):
    frames = [Frame({"atoms": {"element": text(*"H" * n), "x": np.zeros(n)}}) for n in (2, 5, 0)]
    path = tmp_path / f"ragged{suffix}"
    mc.write(path, frames)
    found = mc.info(path)
    assert found.atoms == mc.info(path).atoms
    assert (found.atoms.least, found.atoms.most) == (0, 5)
    assert found.elements == {"H": 2}
    assert found.cell is None
    assert "atoms     0 to 5: H 2 in the first\n  cell      none" in info_text(found)


def test_elements_from_numbers(tmp_path):
    mc.write(tmp_path / "one.h5", Frame({"atoms": {"atomic_number": u64(8, 1, 1, 0)}}))
    assert mc.info(tmp_path / "one.h5").elements == {"H": 2, "O": 1, "X": 1}


def test_a_cell_that_some_frames_lack(tmp_path):
    frames = [water(k) for k in range(3)]
    frames[0].box = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(tmp_path / "some.h5", frames)
    cell = mc.info(tmp_path / "some.h5").cell
    assert (cell.always, cell.changes, cell.lengths) == (False, True, (11.0, 10.0, 10.0))
    assert (cell.shortest, cell.longest) == ((11.0, 10.0, 10.0), (12.0, 10.0, 10.0))
    assert "; some frames have none" in info_text(mc.info(tmp_path / "some.h5")).replace("\n            ", " ")


def test_an_origin_without_a_cell(tmp_path):
    mc.write(tmp_path / "one.h5", Frame({"atoms": {"x": [0.0]}}, box=Box.undefined([1.0, 2.0, 3.0])))
    found = mc.info(tmp_path / "one.h5")
    assert found.cell.defined is False
    assert "  cell      none, origin 1 2 3\n" in info_text(found)


def test_what_is_not_regular_has_no_stride(tmp_path):
    frames = [Frame({"atoms": {"x": [0.0]}}) for _ in range(3)]
    mc.write(tmp_path / "odd.h5", frames, step=[0, 1, 5], time=[0.0, 0.1, 0.5])
    found = mc.info(tmp_path / "odd.h5")
    assert (found.step.stride, found.time.stride) == (None, None)
    assert "  frames    3, step 0 to 5, time 0 to 0.5\n" in info_text(found)


def test_values_that_json_has_no_number_for(tmp_path):
    mc.write(
        tmp_path / "one.h5", Frame({"atoms": {"x": [0.0]}}, meta={"pe": float("nan"), "v": [np.inf, -np.inf, 0.0]})
    )
    found = mc.info(tmp_path / "one.h5").as_json()
    assert [value["value"] for value in found["sections"][0]["meta"]] == ["NaN", ["Infinity", "-Infinity", 0.0]]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_blocks_that_no_frame_has(tmp_path, suffix):
    """They are declared, and never set; a trajectory may have no frames at all."""
    path = tmp_path / f"declared{suffix}"
    schema = Schema.of([Frame({"atoms": Block({"x": [0.0]}), "late": Block({"y": Column([1.0])})})])
    with create(path) as writer:
        writer.begin_trajectory(schema)
    found = mc.info(path)
    assert (found.frames, found.step, found.atoms) == (0, None, None)
    assert [(block.name, block.rows, block.updates) for block in found.sections[0].blocks] == [
        ("atoms", None, 0),
        ("late", None, 0),
    ]
    assert "  late: never set\n    y  f64" in info_text(found)


def test_a_grid_and_its_shape(tmp_path):
    mc.write(tmp_path / "grid.h5", Frame({"grid": Block({"density": np.zeros(24)}, shape=(2, 3, 4))}))
    assert "  grid: 24 rows as 2 × 3 × 4\n" in info_text(mc.info(tmp_path / "grid.h5"))


def test_aligned_blocks(tmp_path):
    schema = Schema.of([Frame({"atoms": {"x": [0.0]}, "more": {"y": [0.0]}})])
    aligned = {**schema.blocks, "more": replace(schema.blocks["more"], aligned_with="atoms")}
    with create(tmp_path / "aligned.h5") as writer:
        with_frames = writer.begin_trajectory(Schema(aligned, {}))
        with_frames.append(Frame({"atoms": {"x": [0.0]}, "more": {"y": [0.0]}}), step=0)
    assert "  more: 1 row, set once, aligned with atoms\n" in info_text(mc.info(tmp_path / "aligned.h5"))


def test_provenance(tmp_path):
    """Where a record comes from, how it was made, and what was said of it."""
    source = source_of(tmp_path, snapshot("1 1 0 0 0"), "in.dump")
    mc.convert(source, tmp_path / "out.h5", units="real")
    text = info_text(mc.info(tmp_path / "out.h5"))
    digest = mc.info(tmp_path / "out.h5").document["source"]["sha256"][:12]
    assert f"  source    in.dump, lammps-dump, {source.stat().st_size} B, sha256 {digest}…\n" in text
    assert f"  creator   molrec-convert {mc.__version__}\n" in text
    assert "  options   units=real\n" in text
    assert "  warning   in.dump: the types are no elements;" in text


def test_a_record_that_was_made_in_memory_has_no_provenance(tmp_path):
    with create(tmp_path / "bare.h5") as writer:
        writer.set_section("frame", Frame({"atoms": {"x": [0.0]}}))
    found = mc.info(tmp_path / "bare.h5")
    assert found.document == {}
    assert found.record
    assert "creator" not in info_text(found)


def test_odd_documents_are_shown_as_they_are(tmp_path):
    """What others may write where this program keeps its own."""
    document = {
        "source": "somewhere",
        "creator": ["a", "b"],
        "convert": 3,
        "units": "metric",
        "note": {"deep": [1, None]},
    }
    with create(tmp_path / "odd.h5", meta=document) as writer:
        writer.set_section("frame", Frame({"atoms": {"x": [0.0]}}))
    found = mc.info(tmp_path / "odd.h5")
    assert found.units == {}
    assert '  note      {"deep": [1, null]}\n' in info_text(found)


def test_times_in_memory_and_on_disk(tmp_path):
    """One frame has no stride."""
    record = Record(trajectory=MemoryTrajectory([water()], step=[7], time=[2.5]))
    mc.write(tmp_path / "one.h5", record)
    found = mc.info(tmp_path / "one.h5")
    assert (found.step.first, found.step.last, found.step.stride) == (7, 7, None)
    assert "  frames    1, step 7, time 2.5\n" in info_text(found)
