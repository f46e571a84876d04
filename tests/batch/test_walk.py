"""What lies in a folder, and what is refused."""

import os
import socket

import pytest

from molrec_convert.batch.walk import Walk

from .trees import put


def found(folder, **options):
    """What a walk gives: places, and why some are refused or skipped."""
    return {os.fsdecode(entry.place): entry.refused or entry.skipped for entry in Walk(os.fsencode(folder), **options)}


def test_files_come_in_order(tmp_path):
    put(tmp_path, {"b/2": "", "b/1": "", "a": "12", ".hidden/x": ""})
    assert list(found(tmp_path)) == [".hidden/x", "a", "b/1", "b/2"]
    assert set(found(tmp_path).values()) == {None}
    (entry,) = [entry for entry in Walk(os.fsencode(tmp_path)) if entry.place == b"a"]
    assert (entry.size, entry.modified) == (2, (tmp_path / "a").stat().st_mtime_ns)


def test_one_folder_is_left_out(tmp_path):
    put(tmp_path, {"in/a": "", "out/b": ""})
    assert list(found(tmp_path, besides=os.fsencode(tmp_path / "out"))) == ["in/a"]


def test_links_are_not_followed(tmp_path):
    put(tmp_path, {"tree/a": "", "tree/sub/b": "", "outside": "secret"})
    tree = tmp_path / "tree"
    (tree / "file").symlink_to("a")
    (tree / "folder").symlink_to("sub")
    (tree / "out").symlink_to("../outside")
    (tree / "nowhere").symlink_to("gone")
    (tree / "sub" / "up").symlink_to("..")
    (tree / "self").symlink_to("self")
    assert found(tree) == {
        "a": None,
        "file": "a link to the file a, which is migrated itself",
        "folder": "a link to the folder sub, which is migrated itself",
        "nowhere": "a link that leads nowhere: no such file or directory",
        "out": f"a link out of the tree, to {tmp_path}/outside",
        "self": "a link that leads nowhere: too many levels of symbolic links",
        "sub/b": None,
        "sub/up": "a link to the folder ., which is migrated itself",
    }


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert found(tmp_path) == dict.fromkeys(("pipe", "socket"), "a device, a pipe or a socket, not a file")


def test_names_that_are_no_text(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9", "wb"):
        pass
    assert [entry.place for entry in Walk(os.fsencode(tmp_path))] == [b"caf\xe9"]


def test_a_folder_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    put(tmp_path, {"a/x": "", "b/y": ""})
    scan = os.scandir

    def refusing(path):
        if os.fsdecode(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert found(tmp_path) == {"a": "the folder cannot be read: permission denied", "b/y": None}


@pytest.mark.parametrize(("name", "told"), [("a", None), ("gone", "no such file or directory")])
def test_a_file_by_name(tmp_path, name, told):
    put(tmp_path, {"a": ""})
    (entry,) = Walk(os.fsencode(tmp_path)).named(name.encode())
    assert entry.refused == told


def test_a_link_that_was_named_is_followed(tmp_path):
    put(tmp_path, {"tree/a": "12"})
    (tmp_path / "link").symlink_to("tree/a")
    (entry,) = Walk(os.fsencode(tmp_path)).named(b"link")
    assert (entry.refused, entry.size) == (None, 2)
