"""What `info` tells of files of every format, of large ones, and on the command line."""

import gzip
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError, OptionError
from molrec_convert.model import Box, Frame
from molrec_convert.summary import foreign, info_text, picture

from .converting import ROOT, command_path, left_behind, run, source_of
from .dumps import GROWING, TEN, THREE, snapshot
from .frames import fitted, frame
from .round_trips import trip
from .water import SUFFIXES, trajectory

READERS = [adapter for adapter in registry.adapters() if adapter.reads]
BOTH = [adapter for adapter in READERS if adapter.writes]
SAMPLES = sorted(path for path in (ROOT / "sample_data").rglob("*.*") if path.suffix != ".md")


def tiny(frames, atoms=1):
    """An XYZ file of so many frames."""
    rows = "".join(f"H {k} 0 0\n" for k in range(atoms))
    return "".join(f"{atoms}\nstep={10 * k}\n{rows}" for k in range(frames))


def columns_of(found):
    """The names of all columns that are told."""
    blocks = [block for section in found.sections for block in section.blocks]
    return {(block.name, column.name) for block in blocks for column in block.columns}


# ---------------------------------------------------------------- every format
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_file_and_its_record_tell_the_same(path, tmp_path):
    """What is told of a foreign file is what a record of it holds."""
    report = mc.convert(path, tmp_path / "out.h5")
    before, after = mc.info(path), mc.info(tmp_path / "out.h5")
    assert before.format == report.source_format
    assert before.frames == after.frames == report.frames
    assert before.exact
    assert before.elements == after.elements
    assert before.types == after.types
    assert before.units == after.units
    assert (before.cell is None) == (after.cell is None)
    if before.cell is not None and after.cell is not None:
        assert before.cell.lengths == after.cell.lengths
        assert before.cell.angles == after.cell.angles
        assert before.cell.boundary == after.cell.boundary
    assert columns_of(before) <= columns_of(after)
    assert info_text(before)
    json.dumps(before.as_json(), allow_nan=False)


@pytest.mark.parametrize("adapter", BOTH, ids=lambda adapter: adapter.name)
def test_what_every_format_writes_is_told(adapter, tmp_path):
    cell = Box.orthogonal((11.0, 12.0, 13.0))
    frames = [fitted(frame(3, box=cell, id=np.array([1, 2, 3], "u8")), adapter) for _ in range(2)]
    path = trip(tmp_path, adapter, frames if adapter.carries.frames else frames[0]).path
    found = mc.info(path)
    assert found.format == adapter.name
    assert found.frames == (2 if adapter.carries.frames else 1)
    assert (found.atoms.least, found.atoms.most) == (3, 3)
    assert found.size == path.stat().st_size
    if adapter.carries.box:
        assert np.allclose(found.cell.lengths, (11.0, 12.0, 13.0), atol=1e-3)


def test_real_files(shared):
    """Each of the corpus is told, or refused as a conversion refuses it."""
    told = 0
    for path in sorted((shared / "corpus").rglob("*.*"))[::7]:
        if "expect" in path.parts or path.suffix in (".tsv", ".md") or path.stat().st_size > 2_000_000:
            continue
        try:
            found = mc.info(path)
        except (ConvertError, OSError):
            continue
        told += 1
        json.dumps(found.as_json(), allow_nan=False)
        assert info_text(found)
    assert told > 10


# ---------------------------------------------------------------- how many frames
def test_frames_behind_the_first_many_are_reckoned(tmp_path):
    """Frames of one size are reckoned right; `count` counts them."""
    path = source_of(tmp_path, tiny(12_000), "many.xyz")
    found = mc.info(path)
    assert not found.exact
    assert abs(found.frames - 12_000) < 120
    assert (found.step.first, found.step.last, found.step.stride) == (0, None, 10)
    assert "  frames    about 12,000 (--count counts them), step 0 by 10\n" in info_text(found)
    counted = mc.info(path, count=True)
    assert (counted.exact, counted.frames) == (True, 12_000)
    assert (counted.step.first, counted.step.last, counted.step.stride) == (0, 119_990, 10)


def test_a_file_of_exactly_so_many_is_counted(tmp_path):
    found = mc.info(source_of(tmp_path, tiny(foreign.MOST_FRAMES), "many.xyz"))
    assert (found.exact, found.frames) == (True, foreign.MOST_FRAMES)


def test_large_frames_are_reckoned_by_their_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "MOST_BYTES", 5_000)
    path = source_of(tmp_path, tiny(100, atoms=40), "large.xyz")
    found = mc.info(path)
    assert not found.exact
    assert abs(found.frames - 100) <= 2
    assert mc.info(path, count=True).frames == 100


def test_compressed_frames_are_reckoned_by_what_was_read(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = ["".join(f"H {x} {y} {z}\n" for x, y, z in rng.normal(size=(100, 3)).tolist()) for _ in range(2000)]
    path = source_of(tmp_path, gzip.compress("".join(f"100\n\n{text}" for text in rows).encode()), "in.xyz.gz")
    monkeypatch.setattr(foreign, "MOST_FRAMES", 1000)
    found = mc.info(path)
    assert not found.exact
    assert 1500 < found.frames < 2500
    assert mc.info(path, count=True).frames == 2000


def test_a_stream_is_counted(tmp_path):
    with source_of(tmp_path, TEN, "in.dump").open("rb") as stream:
        found = mc.info(stream)
    assert (found.file, found.size, found.frames) == ("standard input", None, 10)
    done = run("info", "-", "--json", stdin=tiny(12_000).encode())
    assert done.status == 0
    told = json.loads(done.stdout)
    assert (told["file"], told["size"], told["frames"], told["exact"]) == ("standard input", None, 12_000, True)


def test_the_last_frame_is_looked_at(tmp_path):
    """The number of atoms and the steps at the end, where all frames were counted."""
    found = mc.info(source_of(tmp_path, GROWING, "in.dump"))
    assert (found.atoms.least, found.atoms.most) == (1, 3)
    assert (found.step.first, found.step.last, found.step.stride) == (0, 50, 10)
    jumps = snapshot("1 1 0 0 0", step=0) + snapshot("1 1 0 0 0", step=1) + snapshot("1 1 0 0 0", step=9)
    assert mc.info(source_of(tmp_path, jumps, "in.dump")).step.stride is None


def test_a_file_cut_short(tmp_path):
    found = mc.info(source_of(tmp_path, THREE[:-12], "cut.dump"))
    assert found.frames == 2
    assert found.notes[-1] == (
        "line 33 (frame 2): truncated: the file ends inside the last of 2 atom lines; "
        "the 2 whole frames before are kept"
    )


@pytest.mark.parametrize(("name", "elements"), [("in.traj", {"H": 1, "O": 1}), ("in.xtc", None)])
def test_formats_of_other_libraries(tmp_path, name, elements):
    """The number of frames is the library's, or that of what it gave."""
    frames = [Frame({"atoms": {"element": ["O", "H"], **{key: [0.0, 1.0 + k] for key in "xyz"}}}) for k in range(30)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc.write(tmp_path / name, frames)
    found = mc.info(tmp_path / name)
    assert (found.frames, found.exact, found.elements) == (30, True, elements)
    assert (found.atoms.least, found.atoms.most) == (2, 2)


def test_options_of_a_source(tmp_path):
    path = source_of(tmp_path, THREE, "in.dump")
    assert mc.info(path, units="real").units["energy"] == "kcal/mol"
    assert mc.info(path, format="lammps-dump").frames == 3
    with pytest.raises(OptionError, match="--atom-style means nothing to lammps-dump"):
        mc.info(path, atom_style="full")
    mc.write(tmp_path / "water.h5", trajectory())
    with pytest.raises(OptionError, match="--units means nothing to molrec-h5"):
        mc.info(tmp_path / "water.h5", units="real")


# ---------------------------------------------------------------- large records
def test_a_large_record_is_told_from_its_headers(tmp_path):
    """In the time and the memory of a small one."""
    frames = [frame(50_000, id=np.arange(50_000, dtype="u8")) for _ in range(40)]
    for k, each in enumerate(frames):
        each["atoms"]["x"] = each["atoms"]["x"] + k
        each["atoms"]["y"] = each["atoms"]["y"] + k
        each["atoms"]["z"] = each["atoms"]["z"] + k
    path = tmp_path / "large.h5"
    mc.write(path, frames)
    assert path.stat().st_size > 48_000_000
    code = (
        "import sys, resource\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "import time, molrec_convert as mc, molrec_convert.summary, h5py\nbegun = time.perf_counter()\n"
        "found = mc.info(sys.argv[1])\nprint(time.perf_counter() - begun, found.frames)\n"
        "import tracemalloc\ntracemalloc.start()\nmc.info(sys.argv[1])\nprint(tracemalloc.get_traced_memory()[1])\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code, path], capture_output=True, text=True, check=True)
    seconds, count, peak = done.stdout.split()
    assert int(count) == 40
    assert float(seconds) < 1.0
    assert int(peak) < 12_000_000  # of which most are the elements, as a list


def test_nothing_heavy_is_loaded_for_a_foreign_file(tmp_path):
    path = source_of(tmp_path, THREE, "in.dump")
    code = (
        "import sys, molrec_convert as mc\nmc.info(sys.argv[1])\n"
        "print([name for name in ('h5py', 'zarr', 'ase', 'MDAnalysis', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---------------------------------------------------------------- the command line
def test_the_command_prints_the_text(tmp_path):
    path = tmp_path / "water.h5"
    mc.write(path, trajectory())
    done = run("info", "water.h5", cwd=tmp_path)
    assert done == (0, (info_text(mc.info(path)).replace(str(path), "water.h5") + "\n").encode(), "")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_json_of_one_and_of_several(tmp_path, suffix):
    mc.write(tmp_path / f"water{suffix}", trajectory())
    source_of(tmp_path, THREE, "in.dump")
    one = run("info", f"water{suffix}", "--json", cwd=tmp_path)
    assert json.loads(one.stdout)["file"] == f"water{suffix}"
    several = run("info", "--json", f"water{suffix}", "in.dump", cwd=tmp_path)
    assert [each["file"] for each in json.loads(several.stdout)] == [f"water{suffix}", "in.dump"]
    assert (one.status, one.stderr, several.status, several.stderr) == (0, "", 0, "")


def test_several_files_for_people(tmp_path):
    source_of(tmp_path, THREE, "one.dump")
    source_of(tmp_path, TEN, "two.dump")
    done = run("info", "one.dump", "two.dump", cwd=tmp_path)
    assert done.status == 0
    titles = [line for line in done.stdout.decode().split("\n") if ": lammps-dump" in line]
    assert [title.partition(":")[0] for title in titles] == ["one.dump", "two.dump"]


BAD = {
    "nope.h5": "nope.h5: no such file or directory",
    "empty": "empty: the format is not recognised (an empty file): say --from, one of ",
    "bad.dump": "bad.dump:11 (frame 0): an atom line has 5 columns, this one 4",
    ".": ".: a folder, not a file",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path, name):
    """One line and status 1, and the others are told all the same."""
    source_of(tmp_path, b"", "empty")
    source_of(tmp_path, snapshot("1 1 1 2 3; 2 1 1 2"), "bad.dump")
    source_of(tmp_path, THREE, "good.dump")
    done = run("info", name, cwd=tmp_path)
    assert (done.status, done.stdout, done.stderr.count("\n")) == (1, b"", 1)
    assert done.stderr.startswith(f"molrec-convert: {BAD[name]}")
    done = run("info", "--json", name, "good.dump", cwd=tmp_path)
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert [each["file"] for each in json.loads(done.stdout)] == ["good.dump"]


def test_a_reader_that_goes_away(tmp_path):
    source_of(tmp_path, THREE, "in.dump")
    command = f"{command_path()} info {'in.dump ' * 200} | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout.startswith(b"in.dump: lammps-dump")
    assert done.stderr == b""


# ---------------------------------------------------------------- pictures
def series(count, **values):
    """An extended XYZ file with values of every frame and a cell that grows."""
    frames = []
    for k in range(count):
        pairs = " ".join(f"{key}={value(k)}" for key, value in values.items())
        frames.append(f'1\nLattice="{5 + k} 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 {pairs}\nH 0 0 0\n')
    return "".join(frames)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture(tmp_path, suffix):
    source = source_of(tmp_path, series(5, energy=lambda k: -k), "in.xyz")
    mc.convert(source, tmp_path / "in.h5")
    labels = ["energy / eV", "cell / angstrom", "volume / angstrom^3"]
    begins = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    for name in ("in.xyz", "in.h5"):
        assert mc.plot(tmp_path / name, tmp_path / f"{name}{suffix}") == labels
        assert (tmp_path / f"{name}{suffix}").read_bytes().startswith(begins)
    assert left_behind(tmp_path) == []


def test_a_record_and_its_source_give_the_same_lines(tmp_path):
    """The numbers of a record come from its small arrays, those of a file frame by frame."""
    text = series(6, energy=lambda k: -1.5 * k, temp=lambda k: 300 + k).replace("1\nLattice", "1\nLattice", 1)
    source = source_of(tmp_path, text + tiny(2, atoms=3), "in.xyz")
    mc.convert(source, tmp_path / "in.h5")
    from molrec_convert.inputs import open_input
    from molrec_convert.options import Options
    from molrec_convert.summary.track import foreign_track, record_track

    found = open_input(source, stream=None, format_name=None, options=Options())
    one = foreign_track(found)
    found.close()
    with mc.open(tmp_path / "in.h5") as record:
        other = record_track(record)
    assert one.values.keys() == other.values.keys() == {"pe", "temp"}
    for a, b in ((one.lengths, other.lengths), (one.volume, other.volume), (one.atoms, other.atoms)):
        assert np.allclose(a, b, rtol=1e-12, equal_nan=True)
    for key, values in one.values.items():
        assert np.array_equal(values, other.values[key], equal_nan=True)
        assert np.isfinite(values).sum() == 6
    assert one.atoms.tolist() == [1] * 6 + [3] * 2
    assert [panel.label for panel in picture.panels_of(one)] == [
        panel.label for panel in picture.panels_of(other)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tiny(1), "in.xyz: there is nothing to plot: it takes two frames"),
        (
            tiny(3),
            "in.xyz: there is nothing to plot: no energy, temperature or pressure, and cell and atoms do not change",
        ),
    ],
)
def test_nothing_to_plot(tmp_path, text, message):
    source = source_of(tmp_path, text, "in.xyz")
    with pytest.raises(OptionError) as caught:
        mc.plot(source, tmp_path / "out.png")
    assert str(caught.value) == message
    assert not (tmp_path / "out.png").exists()
    assert left_behind(tmp_path) == []


def test_pictures_of_the_command_line(tmp_path):
    source_of(tmp_path, series(3, energy=lambda k: k), "in.xyz")
    done = run("info", "in.xyz", "--plot", "out.png", cwd=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(b"in.xyz: xyz")
    assert (tmp_path / "out.png").stat().st_size > 1000
    for words, message in (
        (("--plot", "out.png"), "out.png: the target exists; force replaces it"),
        (("--plot", "out.txt"), "out.txt: a picture is written as .png, .svg, .pdf"),
        (("in.xyz", "--plot", "new.png"), "--plot takes one file, and no stream"),
    ):
        done = run("info", "in.xyz", *words, cwd=tmp_path)
        assert (done.status, done.stderr) == (1, f"molrec-convert: {message}\n")
    assert run("info", "in.xyz", "--plot", "out.png", "--force", cwd=tmp_path).status == 0


def test_a_terminal_gets_bold_titles(tmp_path):
    """And no colour where that is unwanted; a pipe gets neither."""
    pty = pytest.importorskip("pty")
    path = source_of(tmp_path, THREE, "in.dump")
    shown = {}
    for name, extra in (("plain", {"NO_COLOR": "1"}), ("bold", {})):
        parent, child = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | extra
        process = subprocess.Popen([command_path(), "info", path], stdout=child, env=environment)
        os.close(child)
        data = b""
        begun = time.monotonic()
        while time.monotonic() - begun < 60:
            try:
                piece = os.read(parent, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            data += piece
        process.wait(timeout=60)
        os.close(parent)
        shown[name] = data
    assert b"\x1b[1m" in shown["bold"]
    assert b"\x1b" not in shown["plain"]
