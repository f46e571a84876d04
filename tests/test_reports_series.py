"""Faults that people have reported of programs like this one, by their number: many frames, streams, and a choice."""

import gzip
import io
import tracemalloc

import numpy as np
import pytest
import zstandard

import molrec_convert as mc
from molrec_convert import ahead, outputs, record_frames, registry
from molrec_convert.model import Box
from molrec_convert.options import Options

from .compare import assert_same_records
from .converting import left_behind, run, source_of
from .frames import fitted, frame
from .round_trips import snapshots_of, trip

ADAPTERS = [each for each in registry.adapters() if each.importer is not None and each.exporter is not None]
SERIES = [each for each in ADAPTERS if each.carries.frames]
XYZ = "".join(f"2\nProperties=species:S:1:pos:R:3 energy={-k}.5\nO {k} 0 0\nH 0 {k} 1\n" for k in range(3))

pytestmark = pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")


def by_adapter(adapters):
    return pytest.mark.parametrize("adapter", adapters, ids=lambda adapter: adapter.name)


def a_series(folder, adapter, count, atoms=2):
    """A file of so many frames, which differ in where their first atom is."""
    frames = []
    for k in range(count):
        made = fitted(frame(atoms, box=Box.orthogonal(50.0), id=np.arange(1, atoms + 1, dtype="u8")), adapter)
        made["atoms"]["x"] = made["atoms"]["x"] + k
        frames.append(made)
    return trip(folder, adapter, frames).path


def first_x(record):
    """Where the first atom is, to the digits of the coarsest format."""
    return [round(float(each.frame["atoms"]["x"][0]), 3) - 0.5 for each in snapshots_of(record)]


@by_adapter(SERIES)
@pytest.mark.parametrize(
    ("frames", "chosen"),
    [("0", [0]), ("-1", [4]), ("1:3", [1, 2]), ("::2", [0, 2, 4]), ("3:", [3, 4]), ("0,3:5,-1", [0, 3, 4])],
)
def test_r39_some_frames(adapter, frames, chosen, tmp_path):
    """The chosen ones, from a file and from a record of it."""
    source = a_series(tmp_path, adapter, 5)
    assert first_x(mc.read(source, format=adapter.name, frames=frames)) == chosen
    mc.convert(source, tmp_path / "all.h5", from_format=adapter.name)
    mc.convert(tmp_path / "all.h5", tmp_path / "some.h5", frames=frames)
    assert first_x(mc.read(tmp_path / "some.h5")) == chosen


@by_adapter(SERIES)
def test_r39_frames_that_are_not_there(adapter, tmp_path):
    source = a_series(tmp_path, adapter, 3)
    with pytest.raises(mc.ConvertError, match="there is no frame 7 among 3"):
        mc.convert(source, tmp_path / "out.h5", from_format=adapter.name, frames="0,7")
    assert left_behind(tmp_path) == []
    assert not (tmp_path / "out.h5").exists()


@by_adapter(SERIES)
def test_r27_only_chosen_frames_are_decoded(adapter, tmp_path, monkeypatch):
    source = a_series(tmp_path, adapter, 20)
    decoded = []
    importer = type(adapter.importer("", Options()))
    original = importer.decode

    def counted(self, span):
        decoded.append(span.ordinal)
        return original(self, span)

    def counted_together(self, spans):
        decoded.extend(span.ordinal for span in spans)
        return together(self, spans)

    monkeypatch.setattr(importer, "decode", counted)
    if (together := getattr(importer, "stacked", None)) is not None:
        monkeypatch.setattr(importer, "stacked", counted_together)
    mc.convert(source, tmp_path / "out.h5", from_format=adapter.name, frames="3,-1")
    assert sorted(decoded) == [3, 19]


@by_adapter(SERIES)
def test_r27_memory_does_not_grow_with_the_trajectory(adapter, tmp_path, monkeypatch):
    """Neither into a record nor back: four times the frames need about as much."""
    monkeypatch.setattr(outputs, "LOOK_AHEAD", 1 << 16)
    for module in (ahead, record_frames):
        monkeypatch.setattr(module, "BUNDLE", 1 << 16)
    peaks = []
    for count in (25, 100):
        source = a_series(tmp_path, adapter, count, atoms=200)
        peaks.append([])
        for given, target in ((source, tmp_path / f"{count}.h5"), (tmp_path / f"{count}.h5", source)):
            tracemalloc.start()
            mc.convert(given, target, from_format=None if given.suffix == ".h5" else adapter.name,
                       to_format=None if target.suffix == ".h5" else adapter.name, force=True)  # fmt: skip
            peaks[-1].append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    (little_in, little_out), (much_in, much_out) = peaks
    assert much_in < 1.5 * little_in + (1 << 20)
    assert much_out < 1.5 * little_out + (1 << 20)


PACKED = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@by_adapter(ADAPTERS)
@pytest.mark.parametrize("suffix", PACKED)
def test_r29_compressed_files(adapter, suffix, tmp_path):
    """They give what the plain file gives, and are read forwards only."""
    source = a_series(tmp_path, adapter, 3 if adapter.carries.frames else 1)
    packed = source_of(tmp_path, PACKED[suffix](source.read_bytes()), f"{source.name}{suffix}")
    mc.convert(source, tmp_path / "plain.h5", from_format=adapter.name)
    mc.convert(packed, tmp_path / "packed.h5")
    assert_same_records(tmp_path / "plain.h5", tmp_path / "packed.h5", meta=False)


@by_adapter(ADAPTERS)
def test_r29_streams_that_cannot_seek(adapter, tmp_path):
    source = a_series(tmp_path, adapter, 3 if adapter.carries.frames else 1)
    mc.convert(source, tmp_path / "file.h5", from_format=adapter.name)
    mc.convert(Forward(source.read_bytes()), tmp_path / "stream.h5")
    assert_same_records(tmp_path / "file.h5", tmp_path / "stream.h5", meta=False)
    written = io.BytesIO()
    mc.convert(tmp_path / "stream.h5", written, to_format=adapter.name)
    mc.convert(tmp_path / "file.h5", tmp_path / "back", to_format=adapter.name)
    back, streamed = (tmp_path / "back").read_bytes(), written.getvalue()
    if adapter.name == "dcd":  # whose head counts the frames, which a stream cannot go back to
        back, streamed = (data[:8] + data[12:20] + data[24:] for data in (back, streamed))
    assert streamed == back


class Forward(io.RawIOBase):
    """A pipe: it gives a few bytes at a time, and never those before."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._data.readinto(memoryview(buffer)[:1000])


def test_r29_the_command_in_a_pipe(tmp_path):
    """``zcat in.xyz.gz | molrec-convert - out.h5``, and what zcat would have given is found out, too."""
    for k, data in enumerate((XYZ.encode(), gzip.compress(XYZ.encode()))):
        done = run("-", f"{k}.h5", stdin=data, cwd=tmp_path)
        assert (done.status, done.stderr) == (0, "")
    assert_same_records(tmp_path / "0.h5", tmp_path / "1.h5", meta=False)
