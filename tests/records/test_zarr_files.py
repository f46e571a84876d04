# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""The files of a Zarr record: folders with strangers and links in them, archives of every make."""

import json
import os
import shutil
import zipfile

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame, Meta
from molrec_convert.records import create, open_for_append, open_record, repair

from .builders import rich_frame, write
from .test_append import frames_of


@pytest.fixture
def made(tmp_path):
    """A record in a folder, of a frame."""
    path = tmp_path / "t.mrec"
    with create(path, meta={"a": 1}) as writer:
        writer.set_section("frame", rich_frame())
    return path


def read(path):
    with open_record(path) as record:
        return record.frame


# ---------------------------------------------------------------- folders
def test_strangers_are_no_part_of_a_record(made):
    (made / "notes.txt").write_text("mine")
    (made / "frame" / "plots").mkdir()
    (made / "frame" / "plots" / "a.png").write_bytes(b"")
    assert read(made).same(rich_frame())


LOST = {
    "a block": ("frame/atoms", "/frame/atoms: a folder of a node without zarr.json"),
    "a column": ("frame/atoms/x", "/frame/atoms/x: a folder of a node without zarr.json"),
    "the root": ("", "no record: there is no zarr.json in it"),
    "the frame": ("frame", "/frame: a folder of a node without zarr.json"),
}


@pytest.mark.parametrize("name", LOST)
def test_lost_metadata(made, name):
    place, message = LOST[name]
    (made / place / "zarr.json").unlink()
    with pytest.raises(RecordError) as caught:
        read(made)
    assert str(caught.value) == f"{made}: {message}"


DOCUMENTS = {
    "version 2": ('{"zarr_format": 2, "node_type": "group"}', "metadata of Zarr, version 3, are due"),
    "no object": ("[]", "metadata of Zarr, version 3, are due"),
    "no node": ('{"zarr_format": 3}', "a group or an array is due, found None"),
    "no JSON": ("{", "text that does not parse as JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    "nothing": ("", "text that does not parse as JSON (Expecting value: line 1 column 1 (char 0))"),
    "no text": ("\udcff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    "a number that is none": ('{"zarr_format": 3, "node_type": "group", "attributes": {"a": NaN}}', "NaN is not finite JSON"),
    "what must be understood": ('{"zarr_format": 3, "node_type": "group", "x": {"a": 1}}', "'x' in the metadata, which must be understood and is not known"),
    "depth": ("[" * 100_000, "text that does not parse as JSON (maximum recursion depth exceeded while decoding a JSON array from a unicode string)"),
    "an array": ('{"zarr_format": 3, "node_type": "array"}', "a group is due, found an array"),
    "attributes of another form": ('{"zarr_format": 3, "node_type": "group", "attributes": []}', "attributes are a JSON object, found []"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_wrong_metadata_of_a_group(made, name):
    text, message = DOCUMENTS[name]
    (made / "frame" / "zarr.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(RecordError) as caught:
        read(made)
    assert str(caught.value) == f"{made}: /frame: {message}"


def test_version_2(tmp_path):
    (tmp_path / "old.mrec").mkdir()
    (tmp_path / "old.mrec" / ".zgroup").write_text('{"zarr_format": 2}')
    with pytest.raises(RecordError, match=r"old\.mrec: no record: it is Zarr of version 2, a record is of version 3"):
        open_record(tmp_path / "old.mrec")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
@pytest.mark.parametrize(
    "place", ["frame", "frame/atoms/x", "frame/atoms/x/c", "frame/atoms/x/c/0", "frame/atoms/zarr.json"]
)
def test_links_are_not_followed(made, tmp_path, place):
    (made / place).rename(tmp_path / "elsewhere")
    (made / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordError, match="a link, of which a record has none"):
        read(made)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_a_link_to_a_record_is_followed(made, tmp_path):
    (tmp_path / "link.mrec").symlink_to(made)
    assert read(tmp_path / "link.mrec").same(rich_frame())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_the_place_of_a_chunk(made):
    path = made / "frame" / "atoms" / "x" / "c" / "0"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RecordError, match=r"/frame/atoms/x: a chunk of 0 bytes"):
        read(made)


def test_a_folder_in_the_place_of_a_chunk(made):
    path = made / "frame" / "atoms" / "x" / "c" / "0"
    path.unlink()
    path.mkdir()
    with pytest.raises(RecordError, match=r"/frame/atoms/x: a file that cannot be read or written \(is a directory\)"):
        read(made)


def test_only_a_record_is_replaced(tmp_path, made):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "x.mrec").mkdir()
    (folder / "x.mrec" / "thesis.tex").write_text("all of it")
    (made / "frame" / "thesis.tex").write_text("all of it")
    with pytest.raises(RecordError, match="the folder exists and is no record; it is not replaced by one"):
        create(folder / "x.mrec")
    with pytest.raises(RecordError, match=r"the folder holds 'frame/thesis\.tex', which is no part of a record"):
        create(made)
    (made / "frame" / "thesis.tex").unlink()
    with create(made) as writer:
        writer.set_section("system", Frame())
    assert (folder / "x.mrec" / "thesis.tex").read_text() == "all of it"
    assert read(made) is None


def test_a_section_in_the_place_of_another(made):
    other = Frame({"atoms": {"y": [1.0]}}, meta=Meta({"k": 2}))
    with open_for_append(made) as writer:
        writer.set_section("frame", other)
        writer.set_meta({"b": 2})
    with open_record(made) as record:
        assert record.frame.same(other)
        assert record.meta == {"b": 2}
    assert not (made / ".unfinished").exists()


def test_a_section_in_the_place_of_another_where_folders_cannot_be_exchanged(made, monkeypatch):
    monkeypatch.setattr("molrec_convert.records.zarr_folder.exchanged", lambda one, other: False)
    test_a_section_in_the_place_of_another(made)


def test_names_that_no_folder_has(tmp_path):
    with create(tmp_path / "t.mrec") as writer:
        for name in ("zarr.json", "é" * 200):
            with pytest.raises(RecordError, match="a node of a folder cannot be called"):
                writer.set_section("frame", Frame({name: Block({"x": [1.0]})}))
        writer.set_section("frame", Frame({"c": Block({"c": [1.0], ".x": [2.0], " é?*": [3.0]})}))
    assert sorted(read(tmp_path / "t.mrec")["c"]) == [" é?*", ".x", "c"]


def change(path, edit):
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def test_what_claims_to_be_huge_costs_nothing(tmp_path, made):
    change(made / "frame" / "zero" / "zarr.json", lambda document: document["attributes"].update(count=10**12))
    for name in ("x", "name"):
        change(made / "frame" / "zero" / name / "zarr.json", lambda document: document.update(shape=[10**12]))
    with pytest.raises(RecordError, match=r"/frame/zero/name: \d+ bytes at once, this machine has \d+"):
        read(made)
    path = write(tmp_path / "s.mrec", [Frame({"a": {"v": [1.0]}})] * 3)
    for nstep in (10**12, 2**62):
        change(path / "trajectory" / "zarr.json", lambda document, n=nstep: document["attributes"].update(nstep=n))
        with (
            open_record(path) as record,
            pytest.raises(RecordError, match=f"/trajectory: nstep is {nstep}: .* bytes at once"),
        ):
            assert record.trajectory


# ---------------------------------------------------------------- archives
def packed(folder, target, *, method=zipfile.ZIP_STORED, prefix="", folders=False, **options):
    with zipfile.ZipFile(target, "w", method, **options) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, prefix + path.relative_to(folder).as_posix())
            elif folders:
                archive.mkdir(prefix + path.relative_to(folder).as_posix())
    return target


MAKES = {
    "as it should be": {},
    "deflated": {"method": zipfile.ZIP_DEFLATED},
    "bzip2": {"method": zipfile.ZIP_BZIP2},
    "lzma": {"method": zipfile.ZIP_LZMA},
    "members for folders": {"folders": True},
    "a leading folder": {"prefix": "run.mrec/"},
    "all of it": {"method": zipfile.ZIP_DEFLATED, "folders": True, "prefix": "run.mrec/"},
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("name", ["t.mrec.zip", "t.zip", "t"])
def test_archives_of_every_make(made, tmp_path, make, name):
    path = packed(made, tmp_path / name, **make)
    assert read(path).same(rich_frame())
    trajectory = packed(write(tmp_path / "s.mrec", frames_of(9)), tmp_path / f"s-{name}", **make)
    with open_record(trajectory) as record:
        assert all(found.same(due) for found, due in zip(record.trajectory, frames_of(9), strict=True))


def test_what_is_written_is_stored_sorted_and_the_same_each_time(tmp_path, made):
    for name in ("a.mrec.zip", "b.mrec.zip"):
        with create(tmp_path / name, meta={"a": 1}) as writer:
            writer.set_section("frame", rich_frame())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mrec.zip", "b.mrec.zip", "t.mrec"]
    assert (tmp_path / "a.mrec.zip").read_bytes() == (tmp_path / "b.mrec.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.mrec.zip") as archive:
        infos = archive.infolist()
        assert archive.testzip() is None
        assert [info.filename for info in infos] == sorted(
            p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()
        )
        assert {(info.compress_type, info.date_time, info.is_dir()) for info in infos} == {
            (0, (1980, 1, 1, 0, 0, 0), False)
        }
        for info in infos:
            assert archive.read(info) == (made / info.filename).read_bytes()


def test_a_packed_record_is_closed_for_good(made, tmp_path):
    path = packed(made, tmp_path / "t.mrec.zip")
    with pytest.raises(RecordError, match=r"a packed record is closed for good: convert it to \.mrec or \.h5"):
        open_for_append(path)
    assert repair(path).what == ()


def test_a_writer_that_fails_leaves_no_folder(tmp_path):
    def fail():
        with create(tmp_path / "t.mrec.zip") as writer:
            writer.set_section("frame", Frame())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["t.mrec.zip"]
    (tmp_path / "folder.mrec.zip").mkdir()
    with pytest.raises(RecordError, match="a folder of this name exists"):
        create(tmp_path / "folder.mrec.zip")


def test_archives_that_are_none(made, tmp_path):
    good = packed(made, tmp_path / "good.zip").read_bytes()
    path = tmp_path / "t.mrec.zip"
    rng = np.random.default_rng(0)
    for content in (b"", b"PK\5\6" + bytes(18), b"text", good[:-30], good[:2000]):
        path.write_bytes(content)
        with pytest.raises(
            RecordError, match=r"t\.mrec\.zip: (a damaged ZIP archive|no record: there is no zarr\.json)"
        ):
            open_record(path)
    for _ in range(200):
        changed = bytearray(good)
        for at in rng.integers(0, len(good), 3):
            changed[at] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(changed)
        try:
            found = read(path)
        except RecordError:
            continue
        assert found is None or isinstance(found, Frame)


def test_two_members_of_one_name(made, tmp_path):
    path = packed(made, tmp_path / "t.mrec.zip")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("zarr.json", json.dumps({"zarr_format": 3, "node_type": "group"}))
    with pytest.raises(RecordError, match="two members of one name"):
        open_record(path)


def test_an_encrypted_member(made, tmp_path):
    path = packed(made, tmp_path / "t.mrec.zip")
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 1)
    path.write_bytes(data)
    with pytest.raises(RecordError, match="is encrypted, password required"):
        read(path)


def test_a_zip_of_something_else_is_no_record(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.mrec.zip", "w") as archive:
        archive.writestr("a/b.txt", "text")
    with pytest.raises(RecordError, match=r"no record: there is no zarr\.json in it"):
        open_record(tmp_path / "t.mrec.zip")


# ---------------------------------------------------------------- a torn index of another writer
def test_an_index_that_was_torn_gets_its_checksum(tmp_path):
    """As a writer that is killed leaves it whose index takes more than a page."""
    frames = [Frame({"atoms": {"x": np.arange(5000.0) + k}}) for k in range(3)]
    path = write(tmp_path / "t.mrec", frames)
    shard = path / "trajectory" / "atoms" / "x" / "c" / "0"
    data = bytearray(shard.read_bytes())
    data[4080:4084] = b"torn"
    shard.write_bytes(data)
    with pytest.raises(RecordError, match="whose checksum"), open_record(path) as record:
        assert record.trajectory[0]
    assert repair(path).what == ("the index of /trajectory/atoms/x/c/0 got its checksum",)
    with open_record(path) as record:
        assert all(found.same(due) for found, due in zip(record.trajectory, frames, strict=True))
    data[4080:4084], data[5000] = b"torn", data[5000] ^ 1  # and a chunk that is damaged: nothing to be sure of
    shard.write_bytes(data)
    assert repair(path).what == ()
    shutil.rmtree(path)
