"""A file that grows is handed to the disk on the way, and what the disk refuses is told."""

import os
import time

import pytest

from molrec_convert import writeback
from molrec_convert.convert import convert
from molrec_convert.errors import TargetError
from molrec_convert.part import PartFile
from molrec_convert.writeback import WriteBack

from .converting import source_of
from .dumps import THREE


@pytest.fixture
def synced(monkeypatch):
    """The descriptors that were synced; every byte counts."""
    monkeypatch.setattr(writeback, "STEP", 1)
    monkeypatch.setattr(writeback, "WAIT", 0.001)
    found = []
    monkeypatch.setattr(writeback.os, "fsync", lambda descriptor: found.append(descriptor))
    return found


def until(true):
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_it_is_synced_when_it_has_grown(tmp_path, synced):
    with (tmp_path / "file").open("wb", buffering=0) as file:
        writing = WriteBack(file.fileno(), own=False)
        file.write(b"a")
        until(lambda: len(synced) == 1)
        file.write(b"b")
        until(lambda: len(synced) == 2)
        writing.close()
        file.write(b"c")
        assert synced == [file.fileno()] * 2


def test_what_the_disk_refuses_is_told_at_the_end(tmp_path, monkeypatch, synced):
    def refused(_descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(writeback.os, "fsync", refused)
    part = PartFile(tmp_path / "out", force=False)
    part.path.write_bytes(b"something")
    part.grows()
    until(lambda: part._write_back._error is not None)
    with pytest.raises(TargetError, match=r"^.*out: input/output error$"), part:
        part.commit()
    assert not list(tmp_path.iterdir())


def test_a_part_stays_locked_while_it_grows(tmp_path, synced):
    with PartFile(tmp_path / "out", force=False) as part, part.path.open("wb", buffering=0) as file:
        part.grows()
        file.write(b"something")
        until(lambda: synced)
        process = os.fork()
        if not process:  # the lock holds against others, not against this process
            try:
                PartFile(tmp_path / "out", force=False)
            except TargetError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
        part.discard()


@pytest.mark.parametrize("name", ["out.h5", "out.xyz"])
@pytest.mark.parametrize("sync", [False, True])
def test_no_thread_is_left(tmp_path, synced, name, sync):
    convert(source_of(tmp_path, THREE, "in.dump"), tmp_path / name, sync=sync)
    assert not [thread for thread in writeback.threading.enumerate() if thread.name == "write-back"]
    assert sync or not synced
