"""Comparing files of every format with each other and with records; what is changed is always found."""

import bz2
import subprocess
import sys
import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError
from molrec_convert.model import Block, Box, Column, Frame, Record
from molrec_convert.model.trajectory import MemoryTrajectory

from .converting import ROOT, source_of
from .dumps import many, snapshot
from .frames import fitted, frame
from .records.builders import every_dtype, rich_frame
from .round_trips import trip
from .water import SUFFIXES

SAMPLES = sorted(path for path in (ROOT / "sample_data").rglob("*.*") if path.suffix != ".md")
BOTH = [adapter for adapter in registry.adapters() if adapter.reads and adapter.writes]


def by_sample(test):
    return pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)(test)


# ---------------------------------------------------------------- the same
@by_sample
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_is_its_record(path, suffix, tmp_path):
    """To the bit, both ways, for every file of the project; and each is itself."""
    report = mc.convert(path, tmp_path / f"out{suffix}")
    for a, b in ((path, path), (path, tmp_path / f"out{suffix}"), (tmp_path / f"out{suffix}", path)):
        found = mc.diff(a, b)
        assert found.same, found.first
        assert found.a.frames == found.b.frames == report.frames


def test_real_files_are_their_records(shared, tmp_path):
    """A part of the corpus each time the tests run; all of it was tried."""
    compared = 0
    for path in sorted((shared / "corpus").rglob("*.*"))[::9]:
        if "expect" in path.parts or path.suffix in (".tsv", ".md") or path.stat().st_size > 500_000:
            continue
        try:
            mc.convert(path, tmp_path / "out.h5", force=True)
        except (ConvertError, OSError):
            continue
        compared += 1
        assert mc.diff(path, path).same, path
        found = mc.diff(path, tmp_path / "out.h5")
        assert found.same, (path, found.first)
    assert compared > 8


@pytest.mark.parametrize("adapter", BOTH, ids=lambda adapter: adapter.name)
def test_every_format_is_read_and_compared(adapter, tmp_path):
    """A file of each format is itself, and is not one whose atoms have moved."""
    cell = Box.orthogonal((11.0, 12.0, 13.0))
    made = fitted(frame(3, box=cell, id=np.array([1, 2, 3], "u8")), adapter)
    path = trip(tmp_path, adapter, made).path
    assert mc.diff(path, path).same
    moved = tmp_path / f"moved{path.suffix}"
    values = made["atoms"]["x"].copy()
    values[1] += 0.25
    made["atoms"]["x"] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(moved, made, format=adapter.name, units={"length": "angstrom"})
    found = mc.diff(path, moved)
    assert (found.first.item, found.first.frame, found.first.row) == ("atoms.x", 0, 1)
    assert abs(found.first.largest - 0.25) < 1e-5
    assert mc.diff(path, moved, tol=0.26).same


def test_formats_are_compared_by_what_they_mean(tmp_path):
    """How a file is laid out is no part of that: neither the order of columns nor what a format notes of itself."""
    one = source_of(tmp_path, snapshot("1 1 0 1 2; 2 2 3 4 5", units="real"), "one.dump")
    other = source_of(
        tmp_path, snapshot("5 4 3 2 2; 2 1 0 1 1", columns="z y x type id", units="real"), "other.dump.bz2.plain"
    )
    packed = tmp_path / "other.dump.bz2"
    packed.write_bytes(bz2.compress(other.read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mc.diff(one, packed).same
        found = mc.diff(one, packed, provenance=True)
    assert found.first.item == "meta.lammps_columns"


# ---------------------------------------------------------------- types of a text
FRAME = '2\nProperties=species:S:1:pos:R:3:{columns} {keys} pbc="F F F"\nH 0 0 0 {one}\nO 1 1 1 {two}\n'


def xyz(*frames):
    """Frames of an extended XYZ file: columns, keys, and the rest of both rows."""
    return "".join(FRAME.format(columns=columns, keys=keys, one=one, two=two) for columns, keys, one, two in frames)


MIXED = {
    "integers and reals": xyz(("n:I:1", "k=1", 1, 2), ("n:R:1", "k=1.5", 1.5, 2.0)),
    "a column that comes": xyz(("n:I:1", "", 1, 2), ("n:I:1:m:R:1", "", "1 0.5", "2 1.5")),
    "a key that goes": xyz(("n:I:1", "k=1 r=0.5 s=text", 1, 2), ("n:I:1", "", 1, 2)),
    "types and text": xyz(("n:I:1", "k=1", 1, 2), ("n:S:1", "k=word", "one", "2")),
    "not a number": xyz(("n:R:1", "energy=nan", "nan", 2), ("n:R:1", "", 1, 2)),
}


@pytest.mark.parametrize("name", MIXED)
def test_frames_of_different_columns(tmp_path, name):
    """A record holds their union, which says no more and no less."""
    path = source_of(tmp_path, MIXED[name], "in.xyz")
    mc.convert(path, tmp_path / "out.h5")
    found = mc.diff(path, tmp_path / "out.h5")
    assert found.same, found.first
    for line in (4, 8):  # the last atom of each frame
        lines = MIXED[name].split("\n")
        lines[line - 1] = lines[line - 1].replace("O 1 1", "O 1 3")
        changed = mc.diff(source_of(tmp_path, "\n".join(lines), "changed.xyz"), tmp_path / "out.h5")
        assert [(each.item, each.frame, each.row) for each in changed.differences] == [("atoms.y", line // 8, 1)]


def test_atoms_that_vanish(tmp_path):
    text = snapshot("1 1 0 0 0", step=0) + snapshot("", step=1) + snapshot("1 1 0 0 0; 2 1 1 1 1", step=2)
    path = source_of(tmp_path, text, "in.dump")
    mc.convert(path, tmp_path / "out.h5")
    assert mc.diff(path, tmp_path / "out.h5").same
    other = source_of(tmp_path, text.replace("2 1 1 1 1", "2 1 1 1 2"), "other.dump")
    assert mc.diff(other, tmp_path / "out.h5").first.frame == 2


def test_what_only_a_record_has(tmp_path):
    path = source_of(tmp_path, "1\n\nH 0 0 0\n", "in.xyz")
    record = mc.read(path)
    meta = {**record.meta, "title": "water"}
    mc.write(tmp_path / "out.h5", Record(meta=meta, system=record.system, trajectory=record.trajectory))
    found = mc.diff(path, tmp_path / "out.h5")
    assert [(each.item, each.what, each.a, each.b) for each in found.differences] == [
        ("record.title", "missing", None, "water")
    ]


def test_units_of_a_foreign_file(tmp_path):
    path = source_of(tmp_path, snapshot("1 1 0 0 0", units="real"), "in.dump")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.convert(path, tmp_path / "out.h5", to_units="metal")
        found = mc.diff(path, tmp_path / "out.h5")
    assert ("units.time", "fs", "ps") in [(each.item, each.a, each.b) for each in found.differences]


def test_warnings_of_both_sides(tmp_path):
    text = "1\n\nH 0 0 0\n" * 3
    whole, cut = source_of(tmp_path, text, "whole.xyz"), source_of(tmp_path, text[:-10], "cut.xyz")
    found = mc.diff(whole, cut)
    assert [(each.item, each.a, each.b) for each in found.differences] == [("frames", 3, 2)]
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("cut.xyz:")
    assert "the 2 whole frames before are kept" in found.warnings[0]


# ---------------------------------------------------------------- whatever is changed is found
def changed_value(rng, values):
    """The place of one value, and an array in which it is another."""
    made = values.copy()
    place = tuple(int(rng.integers(n)) for n in made.shape)
    old = made[place]
    if made.dtype.kind == "b":
        made[place] = not old
    elif made.dtype.kind in "iu":
        made[place] = old ^ made.dtype.type(1 << int(rng.integers(made.dtype.itemsize * 8 - 1)))
    elif made.dtype.kind == "f":
        made[place] = np.nextafter(old, np.inf) if np.isfinite(old) else 0.5
    elif made.dtype.kind == "c":
        made[place] = old + made.dtype.type(1 + 1j)
    else:
        made[place] = f"{old}x"
    return place, made


def places_of(frame):
    """The columns of a frame that have values."""
    return [(name, key) for name, block in frame.items() for key in block if block[key].size]


@pytest.mark.parametrize(("seed", "suffix"), [*((k, ".h5") for k in range(6)), *((9, each) for each in SUFFIXES[1:])])
def test_a_changed_value_of_any_type(tmp_path, seed, suffix):
    """In frames with columns of every type, with axes, masks and precisions."""
    rng = np.random.default_rng(seed)
    frames = [rich_frame(seed=k) for k in range(3)]
    mc.write(tmp_path / f"a{suffix}", frames)
    for name, key in places_of(frames[0]):
        k = int(rng.integers(3))
        block = frames[k][name]
        column = block.column(key)
        if column.precision is not None or key in ("atomi", "atomj", "row") or rng.random() < 0.85:
            continue
        place, values = changed_value(rng, column.values)
        if column.valid is not None and not column.valid[place[0]]:
            continue
        columns = {**block.columns, key: Column(values, valid=column.valid)}
        made = [Frame(dict(each), box=each.box, meta=each.meta) for each in frames]
        made[k][name] = Block(columns, shape=block.shape, targets=block.targets, attributes=block.attributes)
        mc.write(tmp_path / f"b{suffix}", made, force=True)
        found = mc.diff(tmp_path / f"a{suffix}", tmp_path / f"b{suffix}")
        [each] = found.differences
        assert (each.item, each.frame, each.row, each.index) == (f"{name}.{key}", k, place[0], place[1:])
        assert (each.values, each.frames) == (1, 1)


@by_sample
def test_a_changed_value_of_a_real_file(path, tmp_path):
    """One value of the frames of a file, and the file is not the record of it any more."""
    rng = np.random.default_rng(len(path.name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = mc.read(path)
    frames = [record.frame] if record.trajectory is None else list(record.trajectory)
    k = int(rng.integers(len(frames)))
    name, key = places_of(frames[k])[int(rng.integers(len(places_of(frames[k]))))]
    place, values = changed_value(rng, frames[k][name][key])
    block = frames[k][name]
    columns = {**block.columns, key: Column.of(values, block.column(key).valid)}
    frames[k] = Frame({**frames[k], name: Block.of(columns, block.count, shape=block.shape, targets=block.targets)},
                      box=frames[k].box, meta=frames[k].meta)  # fmt: skip
    made = Record(meta=record.meta, frame=frames[0])
    if record.trajectory is not None:
        series = record.trajectory
        made = Record(meta=record.meta, system=record.system,
                      trajectory=MemoryTrajectory(frames, step=series.step, time=series.time))  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(tmp_path / "out.h5", made)
    found = mc.diff(path, tmp_path / "out.h5")
    each = next(each for each in found.differences if each.item == f"{name}.{key}")
    assert (each.frame, each.row, each.index) == (k, place[0], place[1:])


def test_every_dtype_is_itself(tmp_path):
    """NaN, infinities, nulls, empty strings and axes included."""
    mc.write(tmp_path / "a.h5", Frame({"types": every_dtype()}))
    mc.write(tmp_path / "b.h5", Frame({"types": every_dtype()}))
    assert mc.diff(tmp_path / "a.h5", tmp_path / "b.h5").same


# ---------------------------------------------------------------- memory
def test_memory_does_not_grow_with_the_files(tmp_path):
    """Both sides are read frame by frame."""
    path = source_of(tmp_path, many(60, 10_000), "in.dump")
    assert path.stat().st_size > 30_000_000
    mc.convert(path, tmp_path / "out.h5", units="real")
    code = (
        "import sys, resource, molrec_convert as mc, h5py, molrec_convert.comparison\n"
        "mc.diff(sys.argv[1], sys.argv[2], units='real')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert mc.diff(sys.argv[3], sys.argv[4], units='real').same\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    small = source_of(tmp_path, many(3, 10_000), "small.dump")
    mc.convert(small, tmp_path / "small.h5", units="real")
    files = [small, tmp_path / "small.h5", path, tmp_path / "out.h5"]
    done = subprocess.run([sys.executable, "-P", "-c", code, *files], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64
