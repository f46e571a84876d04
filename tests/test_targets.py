"""Targets that are whole or absent; sources that cannot be; threads and memory."""

import os
import subprocess
import sys

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import outputs, part
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError, OptionError, TargetError

from .compare import assert_same_records
from .converting import ROOT, first_x, left_behind, source_of
from .dumps import GROWING, many, snapshot
from .stacks import one_by_one


# ---------------------------------------------------------------- targets
@pytest.mark.parametrize("target", ["out.h5", "out.dump"])
def test_an_existing_target(ten, tmp_path, target):
    convert(ten, tmp_path / target)
    before = (tmp_path / target).read_bytes()
    with pytest.raises(TargetError) as caught:
        convert(ten, tmp_path / target, frames="0")
    assert str(caught.value) == f"{tmp_path / target}: the target exists; force replaces it"
    assert (tmp_path / target).read_bytes() == before
    convert(ten, tmp_path / target, frames="0", force=True)
    assert (tmp_path / target).read_bytes() != before


@pytest.mark.parametrize("target", ["out.h5", "out.mrec", "out.mrec.zip", "out.dump"])
def test_a_target_that_is_replaced_keeps_its_permissions(ten, tmp_path, target):
    convert(ten, tmp_path / target)
    mode = 0o700 if (tmp_path / target).is_dir() else 0o600
    (tmp_path / target).chmod(mode)
    convert(ten, tmp_path / target, force=True)
    assert (tmp_path / target).stat().st_mode & 0o777 == mode


@pytest.mark.skipif(sys.platform == "win32", reason="the size of a file is not limited there")
@pytest.mark.parametrize("target", ["out.h5", "out.mrec", "out.mrec.zip", "out.dump"])
def test_a_target_that_cannot_grow(tmp_path, target):
    """As on a disk that is full: one line, which names the target, and nothing is left."""
    code = f"""
import resource, signal
import numpy as np
import molrec_convert as mc
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
values = np.random.default_rng(0).random(50_000)
try:
    mc.write({target!r}, mc.Frame({{"atoms": {{"x": values, "y": values, "z": values}}}}))
except mc.errors.TargetError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == f"{target}: file too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"a thesis", b"\x89HDF\r\n\x1a\n" + bytes(5000)])
def test_only_a_record_is_replaced_by_a_record(ten, tmp_path, content):
    (tmp_path / "out.h5").write_bytes(content)
    for write in (
        lambda: convert(ten, tmp_path / "out.h5", force=True),
        lambda: mc.write(tmp_path / "out.h5", mc.Frame({"atoms": {"x": [0.0]}}), force=True),
    ):
        with pytest.raises(TargetError, match="the target exists and is no record; it is not replaced by one"):
            write()
        assert (tmp_path / "out.h5").read_bytes() == content
    (tmp_path / "out.h5").write_bytes(b"")
    convert(ten, tmp_path / "out.h5", force=True)


def test_targets_that_cannot_be(ten, tmp_path):
    (tmp_path / "folder.h5").mkdir()
    for force in (False, True):
        with pytest.raises(TargetError, match="a folder of this name exists"):
            convert(ten, tmp_path / "folder.h5", force=force)
    with pytest.raises(TargetError, match=r"there is no folder '.*missing'"):
        convert(ten, tmp_path / "missing" / "out.h5")
    os.mkfifo(tmp_path / "pipe.dump")
    for force in (False, True):  # nor a device, such as /dev/null
        with pytest.raises(TargetError, match="the target is no regular file"):
            convert(ten, tmp_path / "pipe.dump", force=force)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.h5", "in.dump", "pipe.dump"]


@pytest.mark.parametrize("name", ["out.dump.gz", "out.h5.zst", "out.xyz.BZ2"])
def test_a_target_is_not_compressed(ten, tmp_path, name):
    with pytest.raises(TargetError, match=r"files are not compressed as they are written: leave \.\w+ away"):
        convert(ten, tmp_path / name, to_format="lammps-dump")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


def test_a_name_that_is_too_long(ten, tmp_path):
    for target in ("a" * 300 + ".h5", "a" * 248 + ".h5", "a" * 248 + ".dump"):
        with pytest.raises(OSError, match=r"[Ff]ile name too long"):
            convert(ten, tmp_path / target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


def test_something_in_the_way_of_the_part(ten, tmp_path):
    for target in ("out.h5", "out.dump"):
        (tmp_path / f"{target}.part").mkdir()
        with pytest.raises(OSError, match=r"[Ii]s a directory"):
            convert(ten, tmp_path / target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump", "out.dump.part", "out.h5.part"]


def test_the_target_may_be_the_source(ten, tmp_path):
    """It is replaced when all of it was read."""
    convert(ten, tmp_path / "out.h5")
    convert(tmp_path / "out.h5", tmp_path / "out.h5", frames="::2", force=True)
    with mc.open(tmp_path / "out.h5") as record:
        assert first_x(record) == [0, 2, 4, 6, 8]
    before = ten.read_bytes()
    with pytest.raises(OptionError, match="the target is the source itself"):  # of a foreign file nothing else is left
        convert(ten, ten, frames="0", force=True)
    assert ten.read_bytes() == before


@pytest.mark.parametrize("target", ["out.h5", "out.dump"])
@pytest.mark.parametrize("ahead", [0, 1 << 24])
def test_an_error_leaves_nothing_and_touches_nothing(tmp_path, monkeypatch, target, ahead):
    monkeypatch.setattr(outputs, "LOOK_AHEAD", ahead)
    good = source_of(tmp_path, GROWING, "good.dump")
    bad = source_of(tmp_path, GROWING + "nonsense\n", "bad.dump")
    with pytest.raises(FormatError):
        convert(bad, tmp_path / target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.dump", "good.dump"]
    convert(good, tmp_path / target)
    before = (tmp_path / target).read_bytes()
    with pytest.raises(FormatError):
        convert(bad, tmp_path / target, force=True)
    assert (tmp_path / target).read_bytes() == before
    assert not left_behind(tmp_path)


class Stopped(BaseException):
    """As Ctrl-C."""


@pytest.mark.parametrize("target", ["out.h5", "out.dump"])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("after", [1, 5, 10])
def test_an_interrupt_leaves_nothing(ten, tmp_path, monkeypatch, target, after, together):
    monkeypatch.setattr(outputs, "LOOK_AHEAD", 0)
    if not together:
        one_by_one(monkeypatch)

    def stop(done, total, frames):
        if frames >= after:
            raise Stopped

    with pytest.raises(Stopped):
        convert(ten, tmp_path / target, progress=stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


def test_a_disk_that_is_full(ten, tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(part, "_sync", full)
    for target in ("out.h5", "out.dump"):
        with pytest.raises(TargetError, match=r": no space left on device"):
            convert(ten, tmp_path / target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


# ---------------------------------------------------------------- sources
def test_sources_that_cannot_be(tmp_path):
    for name, message in (("missing.dump", "no such file or directory"), ("", "a folder, not a file")):
        with pytest.raises(ConvertError) as caught:
            convert(tmp_path / name, tmp_path / "out.h5")
        assert str(caught.value) == f"{tmp_path / name}: {message}"
    assert not list(tmp_path.iterdir())


def test_formats_that_go_one_way_or_none(ten, tmp_path):
    with pytest.raises(ConvertError, match=r"there is no format 'lammps-dmp', did you mean 'lammps-dump'"):
        convert(ten, tmp_path / "out.h5", from_format="lammps-dmp")
    with pytest.raises(ConvertError, match=r"out\.foo: the name does not tell the format: say --to"):
        convert(ten, tmp_path / "out.foo")
    convert(ten, tmp_path / "out.foo", to_format="molrec-h5")
    convert(tmp_path / "out.foo", tmp_path / "out.h5", from_format="molrec-h5")
    assert_same_records(tmp_path / "out.foo", tmp_path / "out.h5", meta=False)


def test_options_that_mean_nothing(ten, tmp_path):
    convert(ten, tmp_path / "out.h5")
    for options in ({"keep_order": True}, {"type_map": {"1": "H"}}):
        with pytest.raises(OptionError, match=r"--\S+ means nothing to molrec-h5"):
            convert(tmp_path / "out.h5", tmp_path / "other.h5", **options)


# ---------------------------------------------------------------- threads and memory
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_does_not_matter(tmp_path, threads):
    source = source_of(tmp_path, many(2, 300) + GROWING, "in.dump")
    convert(source, tmp_path / "two.h5")
    convert(source, tmp_path / "out.h5", threads=threads)
    assert_same_records(tmp_path / "two.h5", tmp_path / "out.h5")
    convert(tmp_path / "two.h5", tmp_path / "two.dump")
    convert(tmp_path / "out.h5", tmp_path / "out.dump", threads=threads)
    assert (tmp_path / "two.dump").read_bytes() == (tmp_path / "out.dump").read_bytes()


PEAK = """
import re, sys
from molrec_convert.convert import convert
convert(sys.argv[1], sys.argv[2])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak; ru_maxrss would have that of the parent")
def test_memory_is_that_of_a_few_frames(tmp_path):
    """150 MB of text, and back."""
    rng = np.random.default_rng(0)
    atoms = 20_000
    rows = "".join(f"{k + 1} 1 {x:.5f} {y:.5f} {z:.5f}\n" for k, (x, y, z) in enumerate(rng.random((atoms, 3)) * 99))
    head = snapshot("").replace("\n0\nITEM: BOX", f"\n{atoms}\nITEM: BOX")
    with (tmp_path / "big.dump").open("w") as file:
        for k in range(150_000_000 // len(rows)):
            file.write(head.replace("TIMESTEP\n0", f"TIMESTEP\n{k}"))
            file.write(rows)
    for source, target in (("big.dump", "big.h5"), ("big.h5", "back.dump")):
        done = subprocess.run(
            [sys.executable, "-P", "-c", PEAK, tmp_path / source, tmp_path / target],
            capture_output=True, check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert int(done.stdout) < 300 << 10, f"{int(done.stdout) >> 10} MiB from {source} to {target}"
