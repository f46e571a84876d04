"""The command line: what it prints where, and its exit status."""

import gzip
import json
import os
import signal
import subprocess
import sys

import pytest

import molrec_convert as mc
from molrec_convert.records import create

from .converting import command_path, run, source_of
from .dumps import THREE, snapshot

TYPES = "warning: in.dump: the types are no elements; --type-map 1=Si,2=O names them (in 3 frames)\n"
CUT = (
    "warning: in.dump:33 (frame 2): truncated: the file ends inside the last of 2 atom lines; "
    "the 2 whole frames before are kept\n"
)


@pytest.fixture
def here(tmp_path):
    """A folder with a dump in it."""
    source_of(tmp_path, THREE, "in.dump")
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_conversion(here):
    done = run("in.dump", "out.h5", cwd=here)
    assert done == (0, b"", TYPES)
    assert names(here) == ["in.dump", "out.h5"]
    assert run("out.h5", "back.dump", cwd=here) == (0, b"", "")
    with mc.open(here / "out.h5") as record:
        assert len(record) == 3


@pytest.mark.parametrize("words", [("convert",), ("--quiet",), ("convert", "-q")])
def test_the_command_may_be_named(here, words):
    done = run(*words, "in.dump", "out.h5", cwd=here)
    assert done == (0, b"", "" if "q" in words[-1] else TYPES)


def test_as_a_module(here):
    assert run("in.dump", "out.h5", "--type-map", "1=Si,2=O", cwd=here, module=True) == (0, b"", "")


def test_options(here):
    done = run(
        "in.dump", "out.h5", "--from", "lammps-dump", "--to", "molrec-h5", "--frames", "0,-1", "--units", "real",
        "--to-units", "metal", "--type-map", "1=Si, 2=O", "--keep-order", "--precision", "x=1e-3, y=0.25", "--strict",
        "--quiet", cwd=here,
    )  # fmt: skip
    assert done == (0, b"", "")
    with mc.open(here / "out.h5") as record:
        assert record.meta["convert"]["options"] == {
            "units": "real", "type_map": {"1": "Si", "2": "O"}, "keep_order": True, "strict": True,
            "to_units": "metal", "precision": {"x": 1e-3, "y": 0.25}, "frames": "0,-1",
        }  # fmt: skip
        assert record.trajectory[0]["atoms"].column("y").precision == 0.25
    assert run("out.h5", "out.dump", "--decimals", "2", cwd=here).status == 0
    assert (here / "out.dump").read_text().endswith("\n2 2 4.75 5.00 6.00 O\n")


ERRORS = {
    "missing": (("nope.dump", "out.h5"), "nope.dump: no such file or directory"),
    "a folder": ((".", "out.h5"), ".: a folder, not a file"),
    "unknown": (("what.bin", "out.h5"), "what.bin: the format is not recognised (unknown): say --from, one of "),
    "empty": (("empty", "out.h5"), "empty: the format is not recognised (an empty file): say --from, one of "),
    "no format": (("in.dump", "out.h5", "--from", "lamps-dump"), "there is no format 'lamps-dump', did you mean "),
    "no target format": (("in.dump", "out.what"), "out.what: the name does not tell the format: say --to, one of "),
    "the target": (("in.dump", "there.h5"), "there.h5: the target exists; force replaces it"),
    "not a record": (
        ("in.dump", "there.h5", "--force"),
        "there.h5: the target exists and is no record; it is not replaced by one",
    ),
    "no folder": (("in.dump", "no/out.h5"), "no/out.h5: there is no folder 'no'"),
    "a fault": (("bad.dump", "out.h5"), "bad.dump:11 (frame 0): an atom line has 5 columns, this one 4"),
    "strict": (
        ("cut.dump", "out.h5", "--strict"),
        "cut.dump:33 (frame 2): the file ends inside the last of 2 atom lines",
    ),
    "precision": (
        ("in.dump", "out.h5", "--precision", "fine"),
        "--precision takes 1e-3, x=1e-3,vx=1e-6 or auto, not 'fine'",
    ),
    "precisions": (
        ("in.dump", "out.h5", "--precision", "x=fine"),
        "--precision takes 1e-3, x=1e-3,vx=1e-6 or auto, not 'x=fine'",
    ),
    "type map": (
        ("in.dump", "out.h5", "--type-map", "Si,O"),
        "--type-map takes pairs such as 1=Si,2=C, not 'Si,O'",
    ),
    "frames": (("in.dump", "out.h5", "--frames", "x"), "frames are chosen as 0,5,10:20:2,-1, not 'x'"),
    "no stream": (("in.dump", "-"), "a stream takes a foreign format: say --to; a record needs a file"),
    "no record to mend": (("repair", "in.dump"), "in.dump: not an HDF5 file"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(here, name):
    """One line, status 1, nothing left."""
    for path, data in (("what.bin", b"\x01\x02"), ("empty", b""), ("there.h5", b"text"), ("cut.dump", THREE[:-12]),
                       ("bad.dump", snapshot("1 1 1 2 3; 2 1 1 2"))):  # fmt: skip
        source_of(here, data, path)
    before = names(here)
    words, message = ERRORS[name]
    done = run(*words, cwd=here)
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr.startswith(f"molrec-convert: {message}")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    if not message.endswith((" ", "mean ")):
        assert done.stderr == f"molrec-convert: {message}\n"
    assert names(here) == before


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("in.dump",),
        ("in.dump", "run.dump", "out.h5", "more"),
        ("in.dump", "out.h5", "--nope"),
        ("in.dump", "out.h5", "--frames"),
        ("in.dump", "out.h5", "--decimals", "99"),
        ("in.dump", "out.h5", "--decimals", "x"),
        ("formats", "more"),
    ],
)
def test_wrong_usage(here, words):
    done = run(*words, cwd=here)
    assert done.status == 2
    assert "Traceback" not in done.stderr
    assert names(here) == ["in.dump"]


def test_warnings_and_losses_are_said(here):
    source_of(here, THREE[:-12], "in.dump")
    done = run("in.dump", "out.h5", cwd=here)
    assert done == (0, b"", TYPES.replace("3 frames", "2 frames") + CUT)
    frame = mc.Frame({"atoms": {"x": [0.0], "y": [0.0], "z": [0.0]}, "rings": {"n": [1, 2]}}, box=mc.Box.orthogonal(3))
    mc.write(here / "rings.h5", frame)
    done = run("rings.h5", "rings.dump", cwd=here)
    assert done == (0, b"", "not carried by lammps-dump: rings (2)\n")
    refused = (1, b"", "molrec-convert: lammps-dump cannot hold rings (2): the format has no such block\n")
    assert run("rings.h5", "strict.dump", "--strict", cwd=here) == refused
    assert names(here) == ["in.dump", "out.h5", "rings.dump", "rings.h5"]
    assert run("rings.h5", "strict.dump", "--strict", "--report", "report.json", cwd=here) == refused
    assert names(here) == ["in.dump", "out.h5", "report.json", "rings.dump", "rings.h5"]
    report = json.loads((here / "report.json").read_text())
    assert report["losses"] == [{"item": "rings", "reason": "the format has no such block", "count": 2}]
    assert (report["target"], report["frames"]) == ("strict.dump", 0)
    assert report["error"] == "lammps-dump cannot hold rings (2): the format has no such block"


def test_a_report(here):
    assert run("in.dump", "out.h5", "--report", "report.json", "--quiet", cwd=here) == (0, b"", "")
    report = json.loads((here / "report.json").read_text())
    assert {key: report[key] for key in ("source", "target", "source_format", "target_format", "frames", "losses")} == {
        "source": "in.dump", "target": "out.h5", "source_format": "lammps-dump", "target_format": "molrec-h5",
        "frames": 3, "losses": [],
    }  # fmt: skip
    assert [f"warning: {text}\n" for text in report["warnings"]] == [TYPES]
    assert report["provenance"]["source"]["size"] == len(THREE)
    done = run("in.dump", "again.h5", "--report", "no/report.json", cwd=here)
    assert (done.status, done.stderr) == (1, "molrec-convert: no/report.json: there is no folder 'no'\n")
    assert not (here / "again.h5").exists()


@pytest.mark.parametrize("place", ["in.dump", "./in.dump", "out.h5"])
def test_a_report_replaces_no_source_and_no_target(here, place):
    before = (here / "in.dump").read_bytes()
    done = run("in.dump", "out.h5", "--report", place, "--force", cwd=here)
    assert (done.status, done.stderr) == (1, f"molrec-convert: --report would replace {place.removeprefix('./')}\n")
    assert (here / "in.dump").read_bytes() == before
    assert not (here / "out.h5").exists()


def test_two_conversions_of_one_target(here):
    """One of them is refused, or comes after the other; none destroys the other's work."""
    command = [sys.executable, "-m", "molrec_convert", "in.dump", "out.h5", "-q"]
    both = [subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = sorted((each.wait(), each.communicate()[1]) for each in both)
    assert ends[0] == (0, "")
    assert ends[1][0] == 1
    assert [path.name for path in here.iterdir() if path.name.startswith("out")] == ["out.h5"]


def test_a_named_pipe_is_read_once(here):
    os.mkfifo(here / "pipe.dump")
    done = subprocess.Popen([sys.executable, "-m", "molrec_convert", "pipe.dump", "out.h5", "-q"], cwd=here)
    (here / "pipe.dump").write_text(THREE)
    assert done.wait(60) == 0


def test_streams(here):
    done = run("-", "out.h5", stdin=gzip.compress(THREE.encode()), cwd=here)
    assert done == (0, b"", TYPES.replace("in.dump", "standard input"))
    done = run("out.h5", "-", "--to", "lammps-dump", cwd=here)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(b"ITEM: TIMESTEP\n0\n")
    done = run("-", "again.h5", stdin=(here / "out.h5").read_bytes(), cwd=here)
    assert done.stderr == (
        "molrec-convert: standard input: a record cannot be read from a stream, since HDF5 jumps about in its file\n"
    )
    piped = run("-", "-", "--to", "lammps-dump", "--quiet", stdin=THREE.encode(), cwd=here)
    assert piped.stdout.decode().split() == done_words(here)


def done_words(folder):
    """The words of the dump with its bounds as we print them."""
    assert run("out.h5", "out.dump", cwd=folder).status == 0
    return (folder / "out.dump").read_text().split()


def test_a_reader_that_goes_away(here):
    source_of(here, THREE * 5000, "in.dump")
    with subprocess.Popen(
        [command_path(), "in.dump", "-", "--to", "lammps-dump", "--quiet"],
        cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_an_interrupt_leaves_nothing(here):
    """As Ctrl-C, while it waits for more of a stream."""
    with subprocess.Popen(
        [command_path(), "-", "out.h5", "--from", "lammps-dump"],
        cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        process.stdin.write((THREE * 4000).encode())
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        message = process.stderr.read()
        assert process.wait() in (1, 130, -signal.SIGINT)
        assert b"Traceback" not in message
    assert names(here) == ["in.dump"]


def test_help():
    for words in (("--help",), ("-h",)):
        done = run(*words)
        assert (done.status, done.stderr) == (0, "")
        assert all(command in done.stdout.decode() for command in ("convert", "formats", "repair"))
    text = run("convert", "--help").stdout.decode()
    for option in ("--from", "--to", "--frames", "--units", "--to-units", "--type-map", "--keep-order", "--unwrap",
                   "--precision", "--decimals", "--strict", "--report", "--force", "--quiet"):  # fmt: skip
        assert option in text
    assert all(ord(character) < 0x2600 for character in text), "a part of the help became a picture"


def test_version():
    assert run("--version") == (0, f"molrec-convert {mc.__version__}\n".encode(), "")


def test_formats():
    done = run("formats")
    assert (done.status, done.stderr) == (0, "")
    lines = done.stdout.decode().splitlines()
    assert lines[0].split()[:3] == ["molrec-h5", "rw", "*.h5"]
    assert any(line.split()[:2] == ["lammps-dump", "rw"] for line in lines)
    rows = json.loads(run("formats", "--json").stdout)
    assert [row["name"] for row in rows] == [line.split()[0] for line in lines]
    assert rows[0].keys() == {"name", "ways", "patterns", "summary"}


def test_repair(here):
    assert run("in.dump", "out.h5", "--quiet", cwd=here).status == 0
    assert run("repair", "out.h5", cwd=here) == (0, b"out.h5: nothing to repair; it holds 3 frames\n", "")


def test_repair_of_a_killed_writer(here):
    """As a machine that loses its power: the file stays marked as open."""
    frame = mc.Frame({"atoms": {"x": [0.0]}})
    writer = create(here / "killed.h5")
    trajectory = writer.begin_trajectory(mc.Schema.of([frame]))
    trajectory.append(frame, step=0)
    trajectory.commit()
    (here / "copy.h5").write_bytes((here / "killed.h5").read_bytes())
    writer.close()
    refused = run("copy.h5", "out.dump", cwd=here)
    assert refused.status == 1
    assert refused.stderr.startswith("molrec-convert: ")
    assert "copy.h5" in refused.stderr
    done = run("repair", "copy.h5", cwd=here)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(b"copy.h5: the mark of an open file was taken off; ")
    assert done.stdout.endswith(b"; 1 frame kept\n")
    assert run("copy.h5", "out.dump", "--quiet", cwd=here).status == 0
