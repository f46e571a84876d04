"""The checksum that is begun early is that of the file, however much of it was hashed by then."""

import gzip
import hashlib
import time

import pytest

from molrec_convert import headstart
from molrec_convert.convert import convert
from molrec_convert.headstart import HeadStart
from molrec_convert.records import open_record

from .converting import run, source_of
from .dumps import THREE


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(headstart, "BLOCK", 100)


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("frames", [None, "0", "-1", "1:"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_checksum_of_a_conversion(tmp_path, wait, frames, packed):
    data = gzip.compress(THREE.encode()) if packed else THREE.encode()
    source = source_of(tmp_path, data, "in.dump")
    begun = HeadStart(source)
    if wait:
        time.sleep(0.05)  # all of it is hashed by then
    convert(source, tmp_path / "out.h5", checksum=begun, frames=frames)
    convert(source, tmp_path / "plain.h5", frames=frames)
    with open_record(tmp_path / "out.h5") as record, open_record(tmp_path / "plain.h5") as plain:
        found = record.meta["source"]["sha256"]
        assert found == plain.meta["source"]["sha256"]
        assert (found is None) == (frames == "0")
        assert found in (None, hashlib.sha256(data).hexdigest())


def test_a_checksum_of_another_file_is_not_taken(tmp_path):
    other, source = source_of(tmp_path, "other", "other"), source_of(tmp_path, THREE, "in.dump")
    convert(source, tmp_path / "out.h5", checksum=HeadStart(other))
    with open_record(tmp_path / "out.h5") as record:
        assert record.meta["source"]["sha256"] == hashlib.sha256(THREE.encode()).hexdigest()


def test_what_cannot_be_read_is_left_to_others(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        digest, size = HeadStart(path).taken()
        assert (digest.hexdigest(), size) == (hashlib.sha256().hexdigest(), 0)


def test_the_command_line_guesses_the_source_and_asks_again(tmp_path):
    """Whatever file stands first among the words, the checksum is that of the source."""
    source, other = source_of(tmp_path, THREE, "in.dump"), source_of(tmp_path, "other", "other")
    due = hashlib.sha256(THREE.encode()).hexdigest()
    for words in (("in.dump",), ("--report", "other", "--force", "in.dump"), ("convert", "in.dump")):
        other.write_text("other")
        assert run(*words, "out.h5", "--force", cwd=tmp_path).status == 0
        with open_record(tmp_path / "out.h5") as record:
            assert record.meta["source"]["sha256"] == due
    assert run("-", "out.h5", "--force", "--from", "lammps-dump", stdin=THREE.encode(), cwd=tmp_path).status == 0
    with open_record(tmp_path / "out.h5") as record:
        assert record.meta["source"]["sha256"] == due
    assert source.read_text() == THREE
