"""Streams: every compression in several members, cut short, damaged; plain files and pipes."""

import bz2
import gzip
import io
import lzma
import os
import random
import threading

import pytest
import zstandard

from molrec_convert.text.streams import StreamError, open_stream

PACKERS = {
    "gzip": lambda data: gzip.compress(data, 6),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
EVERY = pytest.mark.parametrize("compression", PACKERS)


def text(size, seed=1):
    rng = random.Random(seed)
    return b"".join(b"%d %.6f\n" % (k, rng.random()) for k in range(size // 12))


def stored(tmp_path, data, name="data.txt"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@EVERY
@pytest.mark.parametrize("members", [1, 2, 5])
def test_members_follow_each_other(tmp_path, compression, members):
    parts = [text(400_000, seed) if seed != 1 else b"" for seed in range(members)]
    packed = b"".join(map(PACKERS[compression], parts))
    with open_stream(stored(tmp_path, packed, "lying.txt")) as stream:
        assert stream.compression == compression
        assert not stream.seekable
        assert stream.size == len(packed)
        assert stream.read() == b"".join(parts)
        assert stream.read() == b""
        assert not stream.truncated
        assert stream.position_in_file() == len(packed)
        with pytest.raises(StreamError, match=r"lying\.txt can only be read forward"):
            stream.read_at(0, 1)


@EVERY
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_small_reads(tmp_path, compression, size):
    data = text(5000)
    pack = PACKERS[compression]
    stream = open_stream(stored(tmp_path, pack(data) + pack(data)))
    pieces = []
    while piece := stream.read(size):
        assert len(piece) <= size
        pieces.append(piece)
    assert b"".join(pieces) == data + data
    assert stream.read(0) == b""
    assert stream.readinto(memoryview(bytearray(0))) == 0
    stream.close()


@EVERY
def test_one_byte_at_a_time(compression):
    class Trickle(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1))

    data = text(3000)
    packed = PACKERS[compression](data) * 2
    assert open_stream(None, file=Trickle(packed)).read() == data * 2


@EVERY
def test_a_stream_cut_short_gives_what_came_before(tmp_path, compression):
    data = text(3_000_000)
    packed = PACKERS[compression](data)
    for keep in (len(packed) - 1, len(packed) * 2 // 3, 11):
        with open_stream(stored(tmp_path, packed[:keep])) as stream:
            got = stream.read()
            assert data.startswith(got)
            assert stream.truncated
            assert stream.read() == b""
            if keep > len(packed) // 2:
                assert len(got) > len(data) // 4


@EVERY
@pytest.mark.parametrize("keep", [1, 3, 9, 20])
def test_a_second_member_cut_short(tmp_path, compression, keep):
    data = text(2000)
    pack = PACKERS[compression]
    with open_stream(stored(tmp_path, pack(data) + pack(data)[:keep])) as stream:
        assert stream.read(len(data)) == data
        stream.read()
        assert stream.truncated


@EVERY
def test_damaged_data_is_an_error(tmp_path, compression):
    data = text(300_000)
    packed = bytearray(PACKERS[compression](data))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    with (
        open_stream(stored(tmp_path, packed)) as stream,
        pytest.raises(StreamError, match=f"^the {compression} data is damaged before byte [0-9]+$"),
    ):
        stream.read()


@pytest.mark.parametrize("place", [-8, -4])
def test_gzip_checks_crc_and_length(tmp_path, place):
    packed = bytearray(gzip.compress(b"water\n" * 100))
    packed[place] ^= 1
    with (
        open_stream(stored(tmp_path, packed)) as stream,
        pytest.raises(StreamError, match="the gzip data is damaged"),
    ):
        stream.read()


@EVERY
@pytest.mark.parametrize("padding", [4, 512, 300_000])
def test_zeros_behind_a_member_are_padding(tmp_path, compression, padding):
    pack = PACKERS[compression]
    packed = pack(b"one\n") + b"\0" * padding + pack(b"two\n") + b"\0" * padding
    with open_stream(stored(tmp_path, packed)) as stream:
        assert stream.read() == b"one\ntwo\n"
        assert not stream.truncated


@EVERY
def test_other_bytes_behind_a_member_are_an_error(tmp_path, compression):
    packed = PACKERS[compression](b"one\n") + b"what is this"
    message = f"^the {compression} data is followed by bytes that are not {compression}$"
    with open_stream(stored(tmp_path, packed)) as stream:
        assert stream.read(4) == b"one\n"
        with pytest.raises(StreamError, match=message):
            stream.read()


def test_gzip_with_every_header_field(tmp_path):
    buffer = io.BytesIO()
    with gzip.GzipFile("a name.txt", "wb", fileobj=buffer, mtime=1) as file:
        file.write(b"text\n")
    with open_stream(stored(tmp_path, buffer.getvalue())) as stream:
        assert stream.read() == b"text\n"


def test_zstd_skippable_frames_and_long_runs(tmp_path):
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    data = b"0" * 50_000_000
    packed = skippable + PACKERS["zstd"](data) + skippable + PACKERS["zstd"](b"end")
    with open_stream(stored(tmp_path, packed)) as stream:
        assert stream.compression == "zstd"
        total = 0
        while piece := stream.read(1_000_000):
            assert len(piece) <= 1_000_000
            total += len(piece)
        assert total == len(data) + 3


@pytest.mark.parametrize("data", [b"", b"B", b"BZh", b"BZh9 is a name\n", b"\x1f", b"1 2\n", b"(\xb5"])
def test_plain(tmp_path, data):
    with open_stream(stored(tmp_path, data)) as stream:
        assert stream.compression is None
        assert stream.seekable
        assert stream.size == len(data)
        assert stream.read() == data
        assert stream.position_in_file() == len(data)


def test_read_at_from_threads(tmp_path):
    data = os.urandom(200_000)
    stream = open_stream(stored(tmp_path, data))
    bad = []

    def check(seed):
        rng = random.Random(seed)
        for _ in range(200):
            offset, size = rng.randrange(len(data)), rng.randrange(5000)
            if stream.read_at(offset, size) != data[offset : offset + size]:
                bad.append((offset, size))

    threads = [threading.Thread(target=check, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    assert stream.read() == data
    for thread in threads:
        thread.join()
    assert not bad
    assert stream.read_at(len(data), 10) == b""
    stream.close()


@pytest.mark.parametrize("packed", [False, True])
def test_an_open_file_begins_where_it_stands(tmp_path, packed):
    data = gzip.compress(b"rest") if packed else b"rest of it"
    path = stored(tmp_path, b"head" + data)
    with path.open("rb") as file:
        file.seek(4)
        stream = open_stream(None, file=file)
        assert stream.name == "standard input"
        assert stream.size == len(data)
        if not packed:
            assert stream.read_at(0, 4) == b"rest"
        assert stream.read() == (b"rest" if packed else data)
        assert stream.position_in_file() == len(data)


@pytest.mark.parametrize("compression", [None, *PACKERS])
def test_a_pipe(compression):
    data = text(300_000)
    packed = PACKERS[compression](data) if compression else data
    reading, writing = os.pipe()

    def feed():
        with os.fdopen(writing, "wb") as file:
            for k in range(0, len(packed), 1000):
                file.write(packed[k : k + 1000])
                file.flush()

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(reading, "rb", buffering=0) as file:
        stream = open_stream(None, file=file, name="<stdin>")
        assert stream.name == "<stdin>"
        assert stream.compression == compression
        assert stream.size is None
        assert not stream.seekable
        assert stream.read() == data
        assert stream.position_in_file() == len(packed)
    thread.join()


def test_a_short_pipe():
    stream = open_stream(None, file=io.BytesIO(b"ab\nc"))
    buffer = bytearray(3)
    assert stream.readinto(memoryview(buffer)) == 3
    assert stream.readinto(memoryview(buffer)) == 1
    assert buffer == b"cb\n"
    assert stream.readinto(memoryview(buffer)) == 0


def test_nothing_to_open(tmp_path):
    with pytest.raises(ValueError, match="path"):
        open_stream(None)
    with pytest.raises(FileNotFoundError):
        open_stream(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        open_stream(tmp_path)
