"""The members of archives, and what is refused of them."""

import gzip
import io
import lzma
import struct
import tarfile
import zipfile

import pytest
import zstandard

import molrec_convert as mc
from molrec_convert.batch import migrate
from molrec_convert.batch.archives import archive_kind, members
from molrec_convert.batch.settings import Limits
from molrec_convert.errors import FormatError

from .trees import atoms, by_source, header, packed, put, states, tar


def told(path, kind="tar", **limits):
    """The members of an archive: their keys, and why some are refused or skipped."""
    with path.open("rb") as file:
        return {each.key: each.refused or each.skipped for each in members(kind, file, path.name, Limits(**limits))}


def read(path, kind="tar"):
    """What the members hold."""
    found = {}
    with path.open("rb") as file:
        for each in members(kind, file, path.name, Limits()):
            with each.opened() as member:
                found[each.key] = member.read()
    return found


FILES = {"a/one.xyz": "1\n\nO 0 0 0\n", "./b//two.xyz": "22", "big": b"x" * 300_000}
TIDY = {"a/one.xyz": b"1\n\nO 0 0 0\n", "b/two.xyz": b"22", "big": b"x" * 300_000}
PACKERS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("packer", PACKERS)
def test_members_of_a_tar(tmp_path, packer):
    plain = tar(tmp_path / "plain.tar", FILES, mode="w:")
    path = tmp_path / "packed.tar"
    path.write_bytes(PACKERS[packer](plain.read_bytes()))
    assert read(path) == TIDY


def test_members_of_a_zip(tmp_path):
    (tmp_path / "a.zip").write_bytes(packed({**FILES, "folder/": ""}))
    assert read(tmp_path / "a.zip", "zip") == TIDY


def test_members_of_the_same_name_are_all_kept(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for data in (b"1", b"22"):
            info = tarfile.TarInfo("same")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    assert read(tmp_path / "a.tar") == {"same": b"1", "same#2": b"22"}


def test_what_is_refused_of_a_tar(tmp_path):
    path = tar(
        tmp_path / "a.tar.gz",
        {
            "good": "x",
            "/etc/passwd": "x",
            "../../x": "x",
            "a/../../y": "x",
            "device": header("device", tarfile.CHRTYPE),
            "pipe": header("pipe", tarfile.FIFOTYPE),
            "in": header("sub/in", tarfile.SYMTYPE, link="../good"),
            "out": header("sub/out", tarfile.SYMTYPE, link="../../good"),
            "absolute": header("absolute", tarfile.SYMTYPE, link="/etc/passwd"),
            "hard": header("hard", tarfile.LNKTYPE, link="good"),
            "hard out": header("hard out", tarfile.LNKTYPE, link="../x"),
        },
    )
    assert told(path) == {
        "good": None,
        "etc/passwd": "an absolute path in an archive",
        "../../x": "a path with .. in an archive",
        "a/../../y": "a path with .. in an archive",
        "device": "a device or a pipe, not a file",
        "pipe": "a device or a pipe, not a file",
        "sub/in": "a link to good of the same archive, which is migrated itself",
        "sub/out": "a link out of the archive, to ../../good",
        "absolute": "a link out of the archive, to /etc/passwd",
        "hard": "a link to good of the same archive, which is migrated itself",
        "hard out": "a link out of the archive, to ../x",
    }


def test_what_is_refused_of_a_zip(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("good", "/root", "../../x", r"..\..\x", r"C:\x", r"sub\y"):
            archive.writestr(name, "x")
        archive.writestr(link, "../../x")
    assert told(tmp_path / "a.zip", "zip") == {
        "good": None,
        "root": "an absolute path in an archive",
        "../../x": "a path with .. in an archive",
        "../../x#2": "a path with .. in an archive",
        "C:/x": "an absolute path in an archive",
        "sub/y": None,
        "link": "a link out of the archive, to ../../x",
    }


def test_links_that_lead_nowhere(tmp_path, inline):
    """That is known when all of an archive was seen."""
    files = {
        "early": header("early.xyz", tarfile.SYMTYPE, link="sub/a.xyz"),
        "nowhere": header("sub/nowhere.xyz", tarfile.SYMTYPE, link="../b.xyz"),
        "hard": header("hard.xyz", tarfile.LNKTYPE, link="sub/b.xyz"),
        "folder": header("folder", tarfile.SYMTYPE, link="sub"),
        "archive": header("archive", tarfile.SYMTYPE, link="inner.zip"),
        "whole": header("sub/whole", tarfile.SYMTYPE, link=".."),
        "sub/a.xyz": atoms(),
        "inner.zip": packed({"c.xyz": atoms()}),
    }
    (tmp_path / "in").mkdir()
    tar(tmp_path / "in" / "a.tar", files)
    migrate([tmp_path / "in"], tmp_path / "out")
    assert states(tmp_path / "out") == {
        "a.tar!/archive": "skipped",
        "a.tar!/early.xyz": "skipped",
        "a.tar!/folder": "skipped",
        "a.tar!/hard.xyz": "failed",
        "a.tar!/inner.zip!/c.xyz": "done",
        "a.tar!/sub/a.xyz": "done",
        "a.tar!/sub/nowhere.xyz": "failed",
        "a.tar!/sub/whole": "skipped",
    }
    row = by_source(tmp_path / "out")["a.tar!/sub/nowhere.xyz"]
    assert row["error"].endswith("nowhere.xyz: a link that leads nowhere: there is no b.xyz in the archive")
    assert (row["error_kind"], row["reason"]) == ("refused", None)


def test_a_record_that_is_a_folder_is_refused_once(tmp_path, inline):
    """Its files are no sources of their own, and it does not pass for what is of no format."""
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    mc.convert(source / "a.xyz", tmp_path / "run.mrec")
    with tarfile.open(source / "a.tar", "w") as archive:
        archive.add(tmp_path / "run.mrec", "old/run.mrec")
    with tarfile.open(source / "b.tar", "w") as archive:
        archive.add(tmp_path / "run.mrec", ".")
    for _ in range(2):
        migrate([source], tmp_path / "out")
        rows = by_source(tmp_path / "out")
        failed = [name for name, row in rows.items() if row["state"] == "failed"]
        assert failed == ["a.tar!/old/run.mrec/zarr.json", "b.tar!/zarr.json"]
        message = "a record that is a folder, in an archive: unpack it first, or pack it as *.mrec.zip"
        assert all(rows[name]["error"].endswith(f"{name}: {message}") for name in failed)
        reasons = {row["reason"] for row in rows.values() if row["state"] == "skipped"}
        assert reasons == {"a part of the record old/run.mrec", "a part of the record ."}


def test_an_encrypted_member_is_refused(tmp_path):
    data = bytearray(packed({"a": "x"}))
    for place, offset in ((data.index(b"PK\3\4"), 6), (data.index(b"PK\1\2"), 8)):
        data[place + offset] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    assert told(tmp_path / "a.zip", "zip") == {"a": "it is encrypted: unpack the archive first"}


def test_a_zip_without_a_date_is_read(tmp_path):
    data = bytearray(packed({"a": "x"}))
    place = data.index(b"PK\1\2")
    data[place + 12 : place + 16] = bytes(4)
    (tmp_path / "a.zip").write_bytes(data)
    with (tmp_path / "a.zip").open("rb") as file:
        assert [each.modified for each in members("zip", file, "a.zip", Limits())] == [None]


# ---------------------------------------------------------------- damage
def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])
    return path


def fails(path, kind="tar", **limits):
    """The members before a fault, and what is told of it."""
    found = []
    with path.open("rb") as file, pytest.raises(FormatError) as error:
        found.extend(each.key for each in members(kind, file, path.name, Limits(**limits)))
    return found, str(error.value)


def test_a_tar_that_is_cut_short(tmp_path):
    path = tar(tmp_path / "a.tar", {"a": "x", "b": b"y" * 5000, "c": "z"}, mode="w:")
    whole = path.read_bytes()
    for size, before in ((1024 + 512 + 3000, ["a", "b"]), (1024, ["a"]), (1024 + 200, ["a"])):
        path.write_bytes(whole[:size])
        names, text = fails(path)
        assert names == before
        assert text.startswith("a.tar: the archive is damaged or cut short: ")


def test_a_header_that_is_damaged_is_no_end(tmp_path):
    path = tar(tmp_path / "a.tar", {"a": "x", "b": "y"}, mode="w:")
    data = bytearray(path.read_bytes())
    data[1024 + 10] ^= 0xFF
    path.write_bytes(data)
    assert fails(path) == (["a"], "a.tar: the archive is damaged or cut short: bad checksum")


def test_archives_one_behind_the_other_are_told(tmp_path):
    one, two = (tar(tmp_path / f"{name}.tar", {name: "x"}, mode="w:") for name in "ab")
    one.write_bytes(one.read_bytes() + two.read_bytes())
    assert fails(one) == (["a"], "a.tar: the archive is damaged or cut short: there is more behind its end mark")


def test_compressed_data_that_ends_early(tmp_path):
    path = tar(tmp_path / "a.tar.gz", {name: bytes(range(256)) * 400 for name in "ab"})
    names, text = fails(cut(path, path.stat().st_size - 20))
    assert set(names) <= {"a", "b"}
    assert "a.tar.gz: the archive is damaged or cut short: " in text


def test_compressed_data_that_is_damaged(tmp_path):
    path = tar(tmp_path / "a.tar.gz", {name: bytes(range(256)) * 400 for name in "ab"})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert "is damaged" in fails(path)[1]


@pytest.mark.parametrize("size", [10, 100, -10])
def test_a_zip_that_is_cut_short(tmp_path, size):
    (tmp_path / "a.zip").write_bytes(packed(FILES)[:size])
    names, text = fails(tmp_path / "a.zip", "zip")
    assert (names, text) == ([], "a.zip: the archive is damaged or cut short: File is not a zip file")


# ---------------------------------------------------------------- bombs
@pytest.fixture
def small(monkeypatch):
    """What an archive of any size may expand to is little."""
    monkeypatch.setattr(Limits, "SMALL", 1 << 20)


BOMB = "a bomb: it expands to more than 50 times its size, as a bomb does; --max-ratio allows it"


def test_a_tar_that_expands_to_too_much(tmp_path, small):
    path = tar(tmp_path / "a bomb", {"good": "x", "zeros": bytes(8 << 20)})
    assert fails(path, ratio=50.0) == (["good", "zeros"], BOMB)
    assert told(path, ratio=0.0) == {"good": None, "zeros": None}


def test_a_zip_that_expands_to_too_much(tmp_path, small):
    path = tmp_path / "a bomb"
    path.write_bytes(packed({"zeros": bytes(8 << 20)}))
    assert fails(path, "zip", ratio=50.0) == ([], BOMB)


def test_a_zip_whose_members_share_their_bytes(tmp_path, small):
    """Many entries of the directory name one member: a file of a few kilobytes says that it is a gigabyte."""
    data = packed({"a": bytes(1 << 20)})
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entry, count = data[start:end], 1000
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entry) * count, start, 0)
    path = tmp_path / "a bomb"
    path.write_bytes(data[:start] + entry * count + last)
    assert fails(path, "zip", ratio=50.0) == ([], BOMB)


# ---------------------------------------------------------------- recognising
@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.zip", b"PK\3\4", "zip"),
        ("a.docx", b"PK\3\4", None),
        ("a.tar", b"\0" * 512, None),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "7z"),
        ("a.rar", b"Rar!\x1a\x07\0", "RAR"),
        ("a.xyz", b"1\n\nO 0 0 0\n", None),
    ],
)
def test_kinds(name, head, kind):
    assert archive_kind(name, head) == kind


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_kinds_of_tar(tmp_path, form):
    with tarfile.open(tmp_path / "a", "w", format=form) as archive:
        archive.addfile(tarfile.TarInfo("x"))
    assert archive_kind("no name of a tar", (tmp_path / "a").read_bytes()) == "tar"
    old = bytearray((tmp_path / "a").read_bytes())
    old[257:265] = bytes(8)  # as before the standard, without a magic
    old[148:156] = b"%06o\0 " % (sum(old[:148]) + sum(old[156:512]) + 8 * 32)
    assert archive_kind("old.tar", bytes(old)) == "tar"
