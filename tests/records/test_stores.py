# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""Stores that are damaged, or laid out as other programs do not expect: what is refused, and what is warned of."""

import json
import shutil
import struct
import zipfile

import h5py
import numpy as np
import pytest
import zarr

import molrec_convert as mc
from molrec_convert.errors import RecordError
from molrec_convert.records.superblock import CHECKSUM, FLAGS, lookup3

from ..conformance.bench import read_all
from .breakable import breakable
from .trees import UTF8, changing, copied, pack, path_of


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A record of each form."""
    folder = tmp_path_factory.mktemp("good")
    return {form: breakable(path_of(folder, form)) for form in ("h5", "mrec", "zip")}


@pytest.fixture
def copy(good, tmp_path):
    return lambda form: copied(good[form], path_of(tmp_path, form))


# ---------------------------------------------------------------- HDF5
def links(name, link):
    def change(path):
        with h5py.File(path, "r+") as file:
            del file[name]
            file[name] = link

    return change


def elsewhere(path):
    """Values in a raw file beside the record."""
    other = path.with_name("raw.bin")
    other.write_bytes(np.arange(2.0).tobytes())
    with h5py.File(path, "r+") as file:
        del file["frame/atoms/x"]
        file.create_dataset("frame/atoms/x", (2,), "f8", external=[(str(other), 0, 16)])


def virtual(path):
    layout = h5py.VirtualLayout((2,), "f8")
    layout[:] = h5py.VirtualSource(".", "frame/atoms/p", (2,))
    with h5py.File(path, "r+") as file:
        del file["frame/atoms/x"]
        file.create_virtual_dataset("frame/atoms/x", layout)


def filtered(**options):
    def change(path):
        with h5py.File(path, "r+") as file:
            del file["frame/atoms/x"]
            file.create_dataset("frame/atoms/x", data=np.zeros(2), chunks=(2,), **options)

    return change


def marked_open(path):
    data = bytearray(path.read_bytes())
    data[FLAGS] = 1
    struct.pack_into("<I", data, CHECKSUM, lookup3(bytes(data[:CHECKSUM])))
    path.write_bytes(data)


def shortened(path):
    path.write_bytes(path.read_bytes()[:-100])


def scratched(path):
    with h5py.File(path) as file:
        at = file["trajectory/few/k"].id.get_chunk_info(0).byte_offset
    data = bytearray(path.read_bytes())
    data[at : at + 4] = b"\xff" * 4
    path.write_bytes(data)


def endless(path):
    """A heap of text in which the library would follow an entry of no size for ever."""
    data = bytearray(path.read_bytes())
    first = data.index(b"GCOL") + 16
    size = int.from_bytes(data[first + 8 : first + 16], "little")
    second = first + 16 + (size + 7) // 8 * 8
    data[second : second + 16] = bytes(16)
    path.write_bytes(data)


def rewritten(path):
    """The record as h5py lays it out by itself: an old superblock, the marker behind other things."""
    other = path.with_name("other.h5")
    with h5py.File(path) as old, h5py.File(other, "w") as new:
        new.create_dataset("aside", data=np.zeros(10_000))
        for name in old:
            old.copy(name, new)
        new.attrs.update(old.attrs)
    shutil.move(other, path)


def other_text(path):
    with h5py.File(path, "r+") as file:
        del file["frame/atoms/name"]
        file.create_dataset("frame/atoms/name", data=np.array([b"a", b"\xff"], object), dtype=UTF8)


# ---------------------------------------------------------------- Zarr
def node(path, place, **changed):
    file = path / place / "zarr.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changed}))


def nodes(place, **changed):
    return lambda path: node(path, place, **changed)


def raw(place, text):
    return lambda path: (path / place / "zarr.json").write_text(text)


def damaged_stranger(path):
    (path / "other").mkdir()
    raw("other", "{")(path)


def version_2(path):
    (path / "zarr.json").unlink()
    (path / ".zgroup").write_text('{"zarr_format": 2}')


def chunk_of(path, place):
    return next(each for each in sorted((path / place).rglob("*")) if each.is_file() and each.name != "zarr.json")


def flipped(path):
    file = chunk_of(path, "frame/atoms/p")
    data = bytearray(file.read_bytes())
    data[-6] ^= 1
    file.write_bytes(data)


def cut_chunk(path):
    file = chunk_of(path, "frame/atoms/id")
    file.write_bytes(file.read_bytes()[:-3])


def codecs(*names):
    """Another pipeline for the positions of the frame."""

    def change(path):
        shutil.rmtree(path / "frame/atoms/x")
        zarr.create_array(str(path), name="frame/atoms/x", data=np.zeros(2), zarr_format=3)
        node(path, "frame/atoms/x", codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, *names])

    return change


def blosc(path):
    shutil.rmtree(path / "frame/atoms/x")
    zarr.create_array(str(path), name="frame/atoms/x", data=np.zeros(2), compressors=zarr.codecs.BloscCodec())


# ---------------------------------------------------------------- archives
def repacked(change):
    """Pack the record anew, in another way."""

    def apply(path):
        folder = path.with_name("folder")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        change(folder, path)
        shutil.rmtree(folder)

    return apply


def with_folders(folder, path):
    with zipfile.ZipFile(path, "w") as archive:
        for each in sorted(folder.rglob("*")):
            archive.write(each, each.relative_to(folder))


def in_a_folder(folder, path):
    with zipfile.ZipFile(path, "w") as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                archive.write(each, f"x.mrec/{each.relative_to(folder)}")


def no_directory(path):
    path.write_bytes(path.read_bytes()[:-40])


REFUSED = {
    "a link into another file": ("h5", links("frame/atoms/x", h5py.ExternalLink("o.h5", "/x")), 38, "/frame/atoms/x", "a link into another file, 'o.h5'"),
    "a link that leads nowhere": ("h5", links("frame/atoms/x", h5py.SoftLink("/none")), 38, "/frame/atoms/x", "leads nowhere"),
    "a link to itself": ("h5", links("frame/atoms/x", h5py.SoftLink("/frame/atoms/x")), 39, "/frame/atoms/x", "too many links"),
    "values in another file": ("h5", elsewhere, 38, "/frame/atoms/x", "stand in another file"),
    "values of other arrays": ("h5", virtual, 38, "/frame/atoms/x", "stand in another file"),
    "a writer that was killed": ("h5", marked_open, 39, None, "the file was not closed"),
    "a file cut short": ("h5", shortened, 39, None, "not a readable HDF5 file"),
    "a damaged chunk": ("h5", scratched, 39, "/trajectory/few/k", "a chunk that does not inflate"),
    "a heap without an end": ("h5", endless, 39, "/frame@_meta_types", "bad global heap collection signature"),
    "text that is not UTF-8": ("h5", other_text, 10, "/frame/atoms/name", "not UTF-8"),
    "version 2": ("mrec", version_2, 38, None, "it is Zarr of version 2"),
    "no metadata": ("mrec", lambda path: (path / "zarr.json").unlink(), 38, None, "there is no zarr.json in it"),
    "metadata that are no JSON": ("mrec", raw("frame/atoms", "{"), 19, "/frame/atoms", "does not parse as JSON"),
    "metadata of a later version": ("mrec", nodes("frame/atoms", zarr_format=4), 38, "/frame/atoms", "version 3, are due"),
    "a node of no kind": ("mrec", nodes("frame/atoms/x", node_type="table"), 38, "/frame/atoms/x", "a group or an array is due"),
    "a shape below 0": ("mrec", nodes("frame/atoms/x", shape=[-2]), 38, "/frame/atoms/x", "a list of integers from 0"),
    "a foreign type": ("mrec", nodes("frame/atoms/x", data_type="numpy.datetime64"), 1, "/frame/atoms/x", "numpy.datetime64 is not a MolRec dtype"),
    "a wrong checksum": ("mrec", flipped, 39, "/frame/atoms/p", "checksum (crc32c) is wrong"),
    "a chunk cut short": ("mrec", cut_chunk, 39, "/frame/atoms/id", ""),
    "a lossy codec": ("mrec", codecs({"name": "numcodecs.delta", "configuration": {"dtype": "<f8"}}), 34, "/frame/atoms/x", "'numcodecs.delta' is none that a record uses"),
    "an archive cut short": ("zip", no_directory, 35, None, "a damaged ZIP archive"),
}  # fmt: skip

TAKEN = {
    "a filter of its own": ("h5", filtered(compression="lzf"), 34, "/frame/atoms/x", "the filter 32000 (lzf) needs a plug-in"),
    "an old superblock": ("h5", rewritten, 38, "/", "a superblock of version 0, 3 is due"),
    "a late marker": ("h5", rewritten, 38, "/@molrec_hdf5", "not within the first 4096 bytes"),
    "blosc": ("mrec", blosc, 34, "/frame/atoms/x", "blosc"),
    "damage in what is unknown": ("mrec", damaged_stranger, 39, "/other", "does not parse as JSON"),
    "compressed members": ("zip", repacked(lambda folder, path: pack(folder, path, zipfile.ZIP_DEFLATED)), 35, "/", "compress"),
    "members for folders": ("zip", repacked(with_folders), 35, "/", "members for folders"),
    "a leading folder": ("zip", repacked(in_a_folder), 35, "/", "all members lie in 'x.mrec/'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(copy, name):
    form, change, rule, place, words = REFUSED[name]
    path = copy(form)
    change(path)
    with pytest.raises(RecordError) as caught:
        read_all(path)
    error = caught.value
    assert (error.rule, error.place) == (rule, place), str(error)
    assert words in error.message
    assert str(error).startswith(f"{path}: ")
    found = mc.validate(path)
    assert (rule, "error", place or "/", error.message) in {
        (one.rule, one.severity, one.place, one.message) for one in found
    }


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken(copy, good, name):
    form, change, rule, place, words = TAKEN[name]
    path = copy(form)
    change(path)
    found = mc.validate(path)
    assert {one.severity for one in found} == {"warning"}
    assert [one for one in found if (one.rule, one.place) == (rule, place) and words in one.message], found
    mine, theirs = read_all(path), read_all(good[form])
    assert all(one.same(other) for one, other in zip(mine[3], theirs[3], strict=True))


def test_filters_that_every_library_has(copy):
    path = copy("h5")
    filtered(compression="gzip", shuffle=True, fletcher32=True)(path)
    assert mc.validate(path) == []


def test_what_is_no_record(tmp_path):
    with pytest.raises(FileNotFoundError):
        mc.validate(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("text")
    (one,) = mc.validate(tmp_path / "text.h5")
    assert (one.rule, one.severity, one.place) == (39, "error", "/")
    assert one.message.startswith("not a readable HDF5 file")


def test_a_node_that_is_damaged_does_not_hide_the_others(copy):
    path = copy("mrec")
    raw("frame/atoms/x", "{")(path)
    raw("frame/bonds", "[]")(path)
    with changing(path) as tree:
        tree.put("frame/atoms/id", np.zeros(2, "u4"))
        tree.set("frame/grid", "count", -1)
    assert {one.place for one in mc.validate(path) if one.severity == "error"} >= {
        "/frame/atoms/x", "/frame/bonds", "/frame/atoms/id", "/frame/grid",
    }  # fmt: skip
