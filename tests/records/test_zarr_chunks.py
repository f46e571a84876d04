# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""Chunks of Zarr arrays: zarr-python reads what is written here, and here is read what it writes, in every layout."""

import json
import warnings

import numpy as np
import pytest
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    VLenUTF8Codec,
    ZstdCodec,
)

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES, same_bits
from molrec_convert.records.zarr_store import ZarrStore

from .builders import values_of

GZIP, ZSTD, CRC = GzipCodec(level=6), ZstdCodec(level=1, checksum=True), Crc32cCodec()
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 8}}

LAYOUTS = {
    "one chunk": {"chunks": (50, 3)},
    "chunks": {"chunks": (7, 3)},
    "chunks across the rows": {"chunks": (7, 2)},
    "a chunk larger than the array": {"chunks": (64, 5)},
    "big-endian": {"chunks": (7, 3), "serializer": BytesCodec(endian="big")},
    "gzip": {"chunks": (7, 3), "compressors": GZIP},
    "zstd": {"chunks": (7, 3), "compressors": ZSTD},
    "several": {"chunks": (7, 3), "compressors": (GZIP, ZSTD, CRC, GZIP)},
    "checksum": {"chunks": (7, 3), "compressors": CRC},
    "blosc": {"chunks": (7, 3), "compressors": BloscCodec(cname="lz4", shuffle="shuffle")},
    "transposed": {"chunks": (7, 2), "filters": TransposeCodec(order=(1, 0)), "compressors": ZSTD},
    "transposed twice": {"chunks": (7, 3), "filters": (TransposeCodec(order=(1, 0)), TransposeCodec(order=(1, 0)))},
    "shards": {"chunks": (5, 3), "shards": (20, 3), "compressors": (GZIP, CRC)},
    "shards across the rows": {"chunks": (5, 1), "shards": (10, 2), "compressors": ZSTD},
    "keys of version 2": {"chunks": (7, 3), "chunk_key_encoding": {"name": "v2", "separator": "."}},
    "keys with dots": {"chunks": (7, 2), "chunk_key_encoding": {"name": "default", "separator": "."}},
}
SHARDINGS = {
    "index at the start": ShardingCodec(chunk_shape=(5, 3), codecs=[BytesCodec(), CRC], index_location="start"),
    "index without a checksum": ShardingCodec(chunk_shape=(5, 3), codecs=[BytesCodec()], index_codecs=[BytesCodec()]),
    "big-endian index": ShardingCodec(
        chunk_shape=(5, 3), codecs=[BytesCodec(endian="big"), GZIP], index_codecs=[BytesCodec(endian="big"), CRC]
    ),
    "shards in shards": ShardingCodec(
        chunk_shape=(10, 3), codecs=[ShardingCodec(chunk_shape=(5, 1), codecs=[BytesCodec(), ZSTD])]
    ),
    "transposed within": ShardingCodec(chunk_shape=(5, 3), codecs=[TransposeCodec(order=(1, 0)), BytesCodec(), GZIP]),
}


@pytest.fixture
def tree(tmp_path):
    """A folder with the root of a tree, and what opens it here."""
    folder = tmp_path / "t.mrec"
    zarr.create_group(folder)
    return folder, lambda: ZarrStore.open(folder).root


def written(folder, values, name="a", **layout):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # text and the byte shuffle are extensions
        zarr.create_array(folder, name=name, data=values, **layout)


def assert_reads(array, values):
    assert array.shape == values.shape
    assert same_bits(array.whole(), values)
    rng = np.random.default_rng(0)
    for first in [0, *rng.integers(0, len(values), 12).tolist()]:
        end = int(rng.integers(first, len(values) + 1))
        found = array.read(first, end)
        assert same_bits(found, values[first:end])
        assert found.flags.writeable
        found[...] = np.zeros((), found.dtype)  # the reader keeps none of it
    assert same_bits(array.read(0, len(values)), values)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_what_zarr_python_writes(tree, layout):
    folder, opened = tree
    values = values_of("f64", 50, trailing=(3,))
    values[14:21] = 0  # a chunk that is not stored
    written(folder, values, **layout)
    assert_reads(opened().array("a"), values)


@pytest.mark.parametrize("sharding", SHARDINGS.values(), ids=SHARDINGS)
def test_shards_that_zarr_python_writes(tree, sharding):
    folder, opened = tree
    values = values_of("f64", 50, trailing=(3,))
    written(folder, values, chunks=(20, 3), serializer=sharding, compressors=None)
    assert_reads(opened().array("a"), values)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "string"])
@pytest.mark.parametrize("endian", ["little", "big"])
def test_every_type_that_zarr_python_writes(tree, dtype, endian):
    folder, opened = tree
    values = values_of(dtype, 50)
    written(folder, values, chunks=(8,), serializer=BytesCodec(endian=endian), compressors=(GZIP, CRC))
    assert opened().array("a").dtype == dtype
    assert_reads(opened().array("a"), values)


@pytest.mark.parametrize("fill", [0.0, 1.5, np.nan, -np.inf, -0.0])
def test_fill_values(tree, fill):
    folder, opened = tree
    zarr.create_array(folder, name="a", shape=(10,), chunks=(3,), dtype="f8", fill_value=fill)
    assert same_bits(opened().array("a").read(2, 9), np.full(7, fill))


@pytest.mark.parametrize("words", [["C", "H"], ["", "é漢", "a longer one"], ["é", "ö"], [""], ["x" * 3000, "y"]])
@pytest.mark.parametrize("layout", [{"chunks": (20,)}, {"chunks": (5,), "shards": (20,), "compressors": ZSTD}])
def test_text_that_zarr_python_writes(tree, words, layout):
    folder, opened = tree
    texts = [words[k % len(words)] for k in range(50)]
    written(folder, np.array(texts, np.dtypes.StringDType()), serializer=VLenUTF8Codec(), **layout)
    assert_reads(opened().array("a"), np.array(texts, DTYPES["string"]))


# ---------------------------------------------------------------- the other way round
def read_by_zarr_python(folder, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zarr.open_array(folder, path=name, mode="r")[...]


@pytest.mark.parametrize("rows", [0, 1, 50, 300_000])
@pytest.mark.parametrize(("dtype", "quantized"), [*((name, False) for name in DTYPES), ("f64", True)])
def test_arrays_that_are_written_at_once(tmp_path, dtype, rows, quantized):
    values = values_of(dtype, rows, trailing=() if rows > 1000 else (3,))
    store = ZarrStore.create(tmp_path / "t.mrec")
    store.root.create_array("a", values, quantized=quantized)
    store.close()
    found = read_by_zarr_python(tmp_path / "t.mrec", "a")
    assert same_bits(found.astype(DTYPES[dtype]) if dtype == "string" else found, values)
    assert same_bits(ZarrStore.open(tmp_path / "t.mrec").root.array("a").whole(), values)


@pytest.mark.parametrize("each", [8, 256])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_that_grow(tmp_path, dtype, each):
    values = values_of(dtype, 3000)  # a shard has 255 chunks
    values[512:768] = np.zeros((), DTYPES[dtype])  # chunks that are not stored
    store = ZarrStore.create(tmp_path / "t.mrec")
    array = store.root.create_growing("a", dtype, (), each)
    for first in range(0, 3000, each):
        rows = min(each, 3000 - first)
        array.write(first, rows, array.encode([values[first : first + rows]], rows, plain=False))
    store.root.publish("a", array)
    store.close()
    found = read_by_zarr_python(tmp_path / "t.mrec", "a")
    assert same_bits(found.astype(DTYPES[dtype]) if dtype == "string" else found, values)
    assert_reads(ZarrStore.open(tmp_path / "t.mrec").root.array("a"), values)


def test_what_holds_nothing_takes_no_file(tmp_path):
    store = ZarrStore.create(tmp_path / "t.mrec")
    store.root.create_array("zero", np.zeros((5, 3)))
    store.root.create_array("minus", -np.zeros((5, 3)))
    store.root.create_array("empty", np.full(4, "", DTYPES["string"]))
    store.close()
    names = sorted(path.relative_to(tmp_path / "t.mrec").as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert names == ["empty/zarr.json", "minus/c/0/0", "minus/zarr.json", "zarr.json", "zero/zarr.json"]


# ---------------------------------------------------------------- what is no such array
def edited(folder, change):
    path = folder / "a" / "zarr.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def put(key, value):
    return lambda document: document.__setitem__(key, value)


CODECS = [{"name": "bytes", "configuration": {"endian": "little"}}]
SHARD = {"chunk_shape": [5], "codecs": CODECS, "index_codecs": CODECS}
WRONG = {
    "no codecs": (put("codecs", []), "there is no codec that makes bytes of the array", 38),
    "codecs that are none": (put("codecs", "gzip"), "a list of codecs is due, found 'gzip'", 38),
    "an unknown codec": (put("codecs", [*CODECS, {"name": "numcodecs.delta"}]), "the codec 'numcodecs.delta' is none that a record uses", 34),
    "text of numbers": (put("codecs", [{"name": "vlen-utf8"}]), "the codec 'vlen-utf8' does not make bytes of float64", 38),
    "a codec without a name": (put("codecs", [{}]), "a codec with a name is due, found {}", 38),
    "no byte order": (put("codecs", [{"name": "bytes"}]), "the byte order is little or big, found None", 38),
    "no shape": (put("shape", None), "a shape is a list of integers from 0, found None", 38),
    "a negative shape": (put("shape", [-1]), "a shape is a list of integers from 0, found [-1]", 38),
    "other axes": (put("shape", [5, 2]), "chunks of 1 axes in an array of 2", 38),
    "chunks of nothing": (put("chunk_grid", {"name": "regular", "configuration": {"chunk_shape": [0]}}), "the shape of a chunk is a list of integers from 1, found [0]", 38),
    "another grid": (put("chunk_grid", {"name": "rectilinear", "configuration": {}}), "a regular grid of chunks is due, found 'rectilinear'", 38),
    "other keys": (put("chunk_key_encoding", {"name": "hashed"}), "keys of chunks of an encoding 'hashed' with '.', which is unknown", 38),
    "a fill of text": (put("fill_value", "none"), "a fill value of float64 is due, found 'none'", 38),
    "storage transformers": (put("storage_transformers", [{"name": "x"}]), "storage transformers, of which a record has none", 38),
    "shards that do not divide": (put("codecs", [{"name": "sharding_indexed", "configuration": {**SHARD, "chunk_shape": [7]}}]), "chunks of [7] do not divide a shard of [10]", 38),
    "an index of other codecs": (put("codecs", [{"name": "sharding_indexed", "configuration": {**SHARD, "index_codecs": ["gzip"]}}]), "the codecs of an index are bytes and crc32c, found ['gzip']", 38),
    "a transposition of nothing": (put("codecs", [{"name": "transpose", "configuration": {"order": [1]}}, *CODECS]), "an order of 1 axes is due, found [1]", 38),
    "a shuffle of nothing": (put("codecs", [*CODECS, {"name": "numcodecs.shuffle", "configuration": {"elementsize": 0}}]), "a shuffle of items of 0 bytes", 38),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_metadata(tree, name):
    folder, opened = tree
    written(folder, np.arange(20.0), chunks=(10,), compressors=None)
    change, message, number = WRONG[name]
    edited(folder, change)
    array = opened().array("a")
    with pytest.raises(RecordError) as caught:
        array.read(0, *array.shape[:1])
    assert str(caught.value) == f"{folder}: /a: {message}"
    assert caught.value.rule == number


def test_shards_within_shards_without_an_end(tree):
    folder, opened = tree
    written(folder, np.arange(20.0), chunks=(10,), compressors=None)
    codecs = CODECS
    for _ in range(300):
        codecs = [{"name": "sharding_indexed", "configuration": {**SHARD, "chunk_shape": [10], "codecs": codecs}}]
    edited(folder, put("codecs", codecs))
    with pytest.raises(RecordError, match=r"shards within shards without an end|does not parse as JSON"):
        opened().array("a").read(0, 20)


DAMAGED = {
    "cut": (None, lambda data: data[:-1], "a chunk of 79 bytes, 80 are due (chunk c/0)"),
    "emptied": (None, lambda data: b"", "a chunk of 0 bytes, 80 are due (chunk c/0)"),
    "a wrong checksum": (CRC, lambda data: bytes([data[0] ^ 1]) + data[1:], "a chunk whose checksum (crc32c) is wrong (chunk c/0)"),
    "cut before the checksum": (CRC, lambda data: data[:3], "a chunk of 3 bytes, which has no checksum (chunk c/0)"),
    "cut gzip": (GZIP, lambda data: data[:-9], "a chunk that is cut short (chunk c/0)"),
    "no gzip": (GZIP, lambda data: b"x" * 40, "a chunk that does not inflate ("),
    "no zstd": (ZSTD, lambda data: b"x" * 40, "a chunk that zstd does not decode ("),
    "no blosc": (BloscCodec(), lambda data: b"x" * 40, "a chunk that is longer than its shape, or no blosc container (chunk c/0)"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_chunks(tree, name):
    folder, opened = tree
    compressor, damage, message = DAMAGED[name]
    written(folder, np.arange(10.0) + 1, chunks=(10,), compressors=compressor)
    path = folder / "a" / "c" / "0"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RecordError) as caught:
        opened().array("a").read(0, 10)
    assert str(caught.value).startswith(f"{folder}: /a: {message}")
    assert str(caught.value).endswith("(chunk c/0)")
    assert caught.value.rule == 39


def test_a_bool_is_0_or_1(tree):
    folder, opened = tree
    written(folder, np.ones(4, bool), chunks=(4,), compressors=None)
    (folder / "a" / "c" / "0").write_bytes(b"\1\2\0\1")
    with pytest.raises(RecordError, match="/a: a bool that is neither 0 nor 1"):
        opened().array("a").read(0, 4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\2\0\0\0\1\0\0\0A\1\0\0\0\0", "a string with a NUL"),
        (b"\2\0\0\0\1\0\0\0A\1\0\0\0\xff", "a string that is not UTF-8"),
        (b"\2\0\0\0\1\0\0\0A\2\0\0\0\xff\xff", "a string that is not UTF-8"),
        (b"\2\0\0\0\1\0\0\0A\xff\xff\xff\xffB", "a chunk of strings that is cut short, or goes on after the last"),
        (b"\2\0\0\0\1\0\0\0A", "a chunk of strings that is cut short"),
        (b"\3\0\0\0\1\0\0\0A\1\0\0\0B", "a chunk that does not hold 2 strings"),
        (b"\2", "a chunk that does not hold 2 strings"),
    ],
)
def test_damaged_text(tree, data, message):
    folder, opened = tree
    written(folder, np.array(["A", "B"], np.dtypes.StringDType()), serializer=VLenUTF8Codec(), compressors=None)
    (folder / "a" / "c" / "0").write_bytes(data)
    with pytest.raises(RecordError, match=f"/a: {message}"):
        opened().array("a").read(0, 2)


def test_a_chunk_that_blows_up_is_refused(tree):
    folder, opened = tree
    for name, codec in (("gzip", GZIP), ("zstd", ZSTD)):
        written(folder, np.arange(10.0), name=name, chunks=(10,), compressors=codec)
        written(folder, np.ones(1 << 24, "u1"), name=f"bomb-{name}", chunks=(1 << 24,), compressors=codec)
        (folder / name / "c" / "0").write_bytes((folder / f"bomb-{name}" / "c" / "0").read_bytes())
        with pytest.raises(RecordError, match="longer than its shape"):
            opened().array(name).read(0, 10)


@pytest.mark.parametrize("chunk", [1, 1000, 10**12])
def test_a_shape_that_claims_too_much(tree, chunk):
    folder, opened = tree
    zarr.create_array(folder, name="a", shape=(4,), chunks=(4,), dtype="f8")
    edited(folder, put("shape", [10**12]))
    edited(folder, put("chunk_grid", {"name": "regular", "configuration": {"chunk_shape": [chunk]}}))
    array = opened().array("a")
    assert array.shape == (10**12,)
    with pytest.raises(RecordError, match="/a: 8000000000000 bytes at once, this machine has "):
        array.read(0, 10**12)
    assert not array.read(10**11, 10**11 + 5_000_000).any()


def test_a_shard_whose_index_claims_too_much(tree):
    folder, opened = tree
    sharding = ShardingCodec(
        chunk_shape=(5,), codecs=[BytesCodec()], index_codecs=[BytesCodec()], index_location="start"
    )
    written(folder, np.arange(10.0) + 1, chunks=(10,), serializer=sharding, compressors=None)
    path = folder / "a" / "c" / "0"
    data = path.read_bytes()
    for entry in ((32, 2**40), (2**40, 40), (2**64 - 1, 40)):
        path.write_bytes(np.array(entry, "<u8").tobytes() + data[16:])
        with pytest.raises(RecordError, match=r"/a: .*(a shard that is cut short|bytes at once)"):
            opened().array("a").read(0, 10)
    path.write_bytes(data[:20])
    with pytest.raises(RecordError, match="/a: a shard that is shorter than its index"):
        opened().array("a").read(0, 10)
