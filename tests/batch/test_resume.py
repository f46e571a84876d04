"""Runs that are killed, interrupted, or run out of disk: the same command goes on, and the end is the same."""

import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import Future
from contextlib import closing, suppress

import pytest

from molrec_convert.batch import Outcome, migrate

from ..converting import command_path, run
from .trees import atoms, batch, by_source, dump, lasting, mixed, put, records, states, tree


def killed(words, cwd, *, when, with_signal):
    """Run the command and end it as soon as something is so, if it does not end before; its status, what it told."""
    process = subprocess.Popen([command_path(), "batch", *words], cwd=cwd, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: process.poll() is not None or when())
        process.send_signal(with_signal)
        process.wait(timeout=30)
        return process.returncode, process.stderr.read().decode()
    finally:
        process.stderr.close()


@pytest.mark.parametrize("with_signal", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_same_tree_whenever_it_was_killed(tmp_path, with_signal):
    mixed(tmp_path / "in", 100, seed=3)
    batch("in", "due", "-q", "-j", "2", cwd=tmp_path, status=3)
    journal, total = tmp_path / "out" / "journal.sqlite", ended(tmp_path / "due" / "journal.sqlite")
    chosen = random.Random(int(with_signal))
    for _ in range(5):
        enough = max(0, ended(journal)) + chosen.randint(1, total // 8)
        status, told = killed(
            ("in", "out", "-j", "2"),
            tmp_path,
            when=lambda least=enough: ended(journal) >= least,
            with_signal=with_signal,
        )
        assert status == {"SIGKILL": -9, "SIGINT": 130, "SIGTERM": 143}[with_signal.name]
        assert "Traceback" not in told
    assert ended(journal) < total
    batch("in", "out", "-q", "-j", "2", cwd=tmp_path, status=3)
    assert tree(tmp_path / "out") == tree(tmp_path / "due")
    assert lasting(tmp_path / "out") == lasting(tmp_path / "due")


def ended(journal):
    """How many sources a journal tells the end of; -1 before there is one."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as rows:
        return rows.execute("SELECT count(*) FROM files WHERE state IN ('done', 'failed')").fetchone()[0]
    return -1


def test_ctrl_c_is_told_and_leaves_nothing_temporary(tmp_path):
    put(tmp_path / "in", {f"{k}.dump": dump(2000) for k in range(40)})
    journal = tmp_path / "out" / "journal.sqlite"
    _, told = killed(("in", "out", "-j", "2"), tmp_path, when=lambda: ended(journal) > 0, with_signal=signal.SIGINT)
    assert "molrec-convert: stopped; the same command goes on" in told
    assert os.listdir(tmp_path / "out" / ".batch") == ["lock-all"]
    assert not [path for path in (tmp_path / "out").rglob("*") if ".part" in path.name]
    with open(tmp_path / "out" / "journal.sqlite", "rb") as file:
        assert file.read(16) == b"SQLite format 3\0"


def test_workers_end_with_the_one_that_keeps_the_journal(tmp_path):
    """Those of a killed run would write beside the next one."""
    put(tmp_path / "in", {f"{k}.dump": dump(4000) for k in range(4)})
    process = subprocess.Popen([command_path(), "batch", "in", "out", "-q", "-j", "2"], cwd=tmp_path)
    try:
        wait_for(lambda: len(children(process.pid)) == 2)
        workers = children(process.pid)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not any(map(is_alive, workers)))


def children(parent):
    """The processes that a process has begun."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(name))
    return found


def is_alive(process):
    """Whether a process runs."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(true, seconds=20):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a file system of a given size cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path, small_disk):
    put(tmp_path / "in", {f"{k}.xyz": atoms(2000, shift=k) for k in range(60)})
    done = run("batch", "in", small_disk / "out", "-j", "1", "-q", cwd=tmp_path)
    assert done.status == 1
    assert done.stderr.startswith(f"molrec-convert: {small_disk}/out")
    assert "the disk is full" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    before = states(small_disk / "out")
    assert set(before.values()) == {"done", "pending"}
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    batch("in", small_disk / "out", "-j", "1", "-q", cwd=tmp_path)
    assert set(states(small_disk / "out").values()) == {"done"}
    assert len(records(small_disk / "out")) == 60
    rows = by_source(small_disk / "out")
    assert all(rows[name]["attempts"] == 1 for name, state in before.items() if state == "done")


def without_rights(*words, cwd):
    """Run the command as somebody who may not read and write everything."""
    command = [command_path(), *map(str, words)]
    if not os.geteuid():
        if shutil.which("setpriv") is None:
            pytest.skip("an administrator may read everything, and there is no setpriv")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_what_may_not_be_read_is_told(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": atoms(), "closed/c.xyz": atoms()})
    (tmp_path / "in" / "b.xyz").chmod(0)
    (tmp_path / "in" / "closed").chmod(0)
    done = without_rights("batch", "in", "out", "-q", "-j", "1", cwd=tmp_path)
    (tmp_path / "in" / "closed").chmod(0o755)
    assert done.returncode == 3, done.stderr
    assert {name: row["error"] for name, row in by_source(tmp_path / "out").items()} == {
        "a.xyz": None,
        "b.xyz": "in/b.xyz: permission denied",
        "closed": "in/closed: the folder cannot be read: permission denied",
    }


def test_a_folder_that_may_not_be_written(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms()})
    (tmp_path / "out").mkdir(mode=0o555)
    done = without_rights("batch", "in", "out", "-q", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "molrec-convert: out: the folder of the records cannot be written: permission denied\n"


def test_a_journal_is_read_where_nothing_may_be_written(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms()})
    batch("in", "out", "-q", "-j", "1", cwd=tmp_path)
    (tmp_path / "out").chmod(0o555)
    done = without_rights("batch", "status", "--json", "out", cwd=tmp_path)
    (tmp_path / "out").chmod(0o755)
    assert [row["state"] for row in json.loads(done.stdout)] == ["done"]


class Nothing:
    """An engine that does nothing."""

    slots = 4

    def __init__(self, workers, held=()):
        pass

    def submit(self, job, began):
        began(job)
        done = Future()
        done.set_result(Outcome(source=job.source, state="skipped", reason="a test"))
        return done

    def stop(self):
        pass

    def close(self):
        pass


def test_memory_does_not_grow_with_the_number_of_files(tmp_path, monkeypatch):
    """Of the process that keeps the journal, in objects, whose number is the same on any machine."""
    monkeypatch.setattr(sys.modules["molrec_convert.batch.migrate"], "LocalEngine", Nothing)
    most = []
    for number, count in enumerate((300, 300, 3000)):  # the first imports what the others use
        source = put(tmp_path / f"in{number}", {f"{k % 7}/{k}.xyz": "1\n" for k in range(count)})
        seen = []

        def watch(progress, outcome, seen=seen):
            if progress.skipped % 100 == 0:
                gc.collect()
                seen.append(len(gc.get_objects()))

        migrate([source], tmp_path / f"out{number}", watch=watch)
        most.append(max(seen))
    assert most[2] < most[1] + 3000
