"""DCD: what is refused, and with which words; files cut short; damaged files."""

import gzip
import io
import random
import struct
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from molrec_convert.errors import ConvertError, FormatError
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import open_input
from molrec_convert.options import Options

from ..binaries import COSINES, dcd, points
from ..converting import run, source_of, to_record


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned, so one engine is enough."""


WHOLE = dcd([points(3, k) for k in range(3)], cells=[COSINES] * 3)
FRAME = 56 + 3 * (3 * 4 + 8)
RUBBISH = int.from_bytes(b"rubb", "little")
HEAD = len(WHOLE) - 3 * FRAME


def changed(place, value, data=WHOLE, kind="<i"):
    made = bytearray(data)
    struct.pack_into(kind, made, place, value)
    return bytes(made)


ATOMS = HEAD - 8
FAULTS = {
    "nothing": (b"", "in.dcd: the file has 0 bytes, less than the head of a DCD file"),
    "another file": (
        b"# this is a text\n",
        "in.dcd: no DCD file: a record of 84 bytes that begins with CORD or VELD is due",
    ),
    "a head alone": (WHOLE[:50], "in.dcd: the file ends before the end of the control numbers"),
    "no title": (WHOLE[:92], "in.dcd: the file ends before the title"),
    "half a title": (WHOLE[:120], "in.dcd: the file ends before the number of atoms"),
    "no atoms": (WHOLE[: ATOMS - 4], "in.dcd: the file ends before the number of atoms"),
    "no end of the atoms": (WHOLE[: ATOMS + 4], "in.dcd: the file ends before the end of the number of atoms"),
    "no frame": (WHOLE[:HEAD], "in.dcd: there is no frame in it"),
    "an end of the control numbers": (
        changed(88, 85),
        "in.dcd: the record of the control numbers has 84 bytes, and a marker says 85",
    ),
    "an end of the title": (
        changed(92 + 4 + 84, 7),
        "in.dcd: the title of 1 lines does not end where its marker says, after 84 bytes",
    ),
    "a long title": (
        changed(96, 2**30, changed(92, 2**30)),
        "in.dcd: a title of 1073741824 bytes cannot be",
    ),
    "fewer atoms than none": (changed(ATOMS, -3), "in.dcd: -3 atoms, 0 of them fixed, cannot be"),
    "more fixed atoms than atoms": (changed(8 + 4 * 8, 4), "in.dcd: 3 atoms, 4 of them fixed, cannot be"),
    "free atoms without a record": (
        changed(8 + 4 * 8, 1),
        "in.dcd: the record of the free atoms has 8 bytes, and a marker says 48",
    ),
    "free atoms of no row": (
        dcd([points(3)], free=[0, 3]),
        "in.dcd: the free atoms are no distinct numbers from 1 to 3",
    ),
    "free atoms twice": (
        dcd([points(3)], free=[1, 1]),
        "in.dcd: the free atoms are no distinct numbers from 1 to 3",
    ),
    "10^9 atoms": (
        changed(ATOMS, 10**9),
        f"in.dcd (frame 0): the file ends after {3 * FRAME} of the 12000000080 bytes of a frame",
    ),
    "half a frame": (
        WHOLE[: HEAD + 50],
        f"in.dcd (frame 0): the file ends after 50 of the {FRAME} bytes of a frame",
    ),
    "half a marker": (
        WHOLE[: HEAD + 2],
        f"in.dcd (frame 0): the file ends after 2 of the {FRAME} bytes of a frame",
    ),
    "a first marker": (
        changed(HEAD + FRAME, 49),
        f"in.dcd (frame 1): a record of 49 bytes stands where one of 48 is due, at byte {HEAD + FRAME}",
    ),
    "an end of a cell": (
        changed(HEAD + FRAME + 52, 47),
        "in.dcd (frame 1): a marker says 47 where a record of the frame has 48 bytes",
    ),
    "a record of y": (
        changed(HEAD + 2 * FRAME + 56 + 20, 13),
        "in.dcd (frame 2): a marker says 13 where a record of the frame has 12 bytes",
    ),
    "bytes behind the frames": (
        WHOLE + b"rubbish!" * 40,
        f"in.dcd (frame 3): a record of {RUBBISH} bytes stands where one of 48 is due, at byte {len(WHOLE)}",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_refused(name, tmp_path):
    data, message = FAULTS[name]
    with pytest.raises(ConvertError) as caught:
        to_record(tmp_path, data, "in.dcd", from_format="dcd")
    assert str(caught.value) == message
    assert [path.name for path in tmp_path.iterdir()] == ["in.dcd"]


def test_the_command_says_the_same(tmp_path):
    source_of(tmp_path, FAULTS["a record of y"][0], "in.dcd")
    done = run("in.dcd", "out.h5", cwd=tmp_path)
    assert done.status == 1
    assert FAULTS["a record of y"][1] in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.h5").exists()


# ---------------------------------------------------------------- files that are cut short
def read(data):
    """The frames of a file in memory, and what was told."""
    found = open_input(None, stream=io.BytesIO(data), format_name="dcd", options=Options())
    with ThreadPoolExecutor(max_workers=1) as executor:
        frames = list(found.snapshots(FrameSelection(), executor, None))
    return frames, [*(note for frame in frames for note in frame.notes), *found.notes]


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("free", [None, [0, 2]])
def test_cut_anywhere(width, free):
    """Whole frames are kept, and it is told; before the first one there is an error."""
    whole = dcd([points(3, k) for k in range(3)], width=width, free=free, cells=[COSINES] * 3)
    frames, told = read(whole)
    assert told == []
    first = 48 + 2 * width + 3 * (12 + 2 * width)
    each = first if free is None else 48 + 2 * width + 3 * (8 + 2 * width)
    head = len(whole) - first - 2 * each
    for cut in range(len(whole)):
        kept = 0 if cut < head + first else 1 + (cut - head - first) // each
        if cut == head:
            assert read(whole[:cut])[0] == []
        elif not kept:
            with pytest.raises(ConvertError):
                read(whole[:cut])
        else:
            found, told = read(whole[:cut])
            assert len(found) == kept
            assert all(map(same, found, frames))
            rest = (cut - head - first) % each
            due = (
                f"truncated: the file ends after {rest} of"
                if rest
                else f"the header counts 3 frames, and there are {kept}"
            )
            assert len(told) == 1
            assert told[0].message.startswith(due)
            assert told[0].frame == (kept if rest else None)


def same(one, other):
    return one.frame.same(other.frame) and one.step == other.step


def test_a_cut_is_an_error_where_it_must_not_be(tmp_path):
    with pytest.raises(FormatError, match=r"^in\.dcd \(frame 2\): the file ends after 10 of the 116 bytes of a frame$"):
        to_record(tmp_path, WHOLE[: HEAD + 2 * FRAME + 10], "in.dcd", strict=True)


@pytest.mark.parametrize("counted", [2, 4, 1000])
def test_another_number_of_frames_is_an_error_where_it_must_not_be(counted, tmp_path):
    data = changed(8, counted)
    assert len(read(data)[0]) == 3
    with pytest.raises(FormatError, match=rf"^in\.dcd: the header counts {counted} frames, and there are 3$"):
        to_record(tmp_path, data, "in.dcd", strict=True)
    to_record(tmp_path, changed(8, 0), "in.dcd", strict=True)  # which streams write


def test_damaged_compressed_data_has_no_line(tmp_path):
    rng = np.random.default_rng(4)
    whole = gzip.compress(dcd([rng.random((5000, 3)).astype("f4") for _ in range(20)]), mtime=0)
    for start, stop in ((10, 60), (len(whole) - 8, len(whole) - 4)):  # the first block, the checksum
        data = whole[:start] + b"\xff" * (stop - start) + whole[stop:]
        with pytest.raises(ConvertError, match=r"^in\.dcd\.gz: the gzip data is damaged before byte \d+$"):
            to_record(tmp_path, data, "in.dcd.gz", from_format="dcd")


# ---------------------------------------------------------------- damaged files
@pytest.mark.parametrize("free", [None, [0, 2]])
def test_mutations_do_no_harm(free):
    """An error with its file, or frames; never another exception, nor memory for what is not there."""
    whole = dcd([points(3, k) for k in range(3)], free=free, cells=[COSINES] * 3, title="a\nb")
    rng = random.Random(len(whole))
    faults = set()
    tracemalloc.start()
    try:
        for _ in range(500):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 1, 2, 8))):
                place = rng.randrange(len(data))
                data[place] = rng.choice((0, 1, 255, 127, 128, rng.randrange(256)))
            if rng.random() < 0.2:
                del data[rng.randrange(len(data)) :]
            try:
                frames, _ = read(bytes(data))
            except ConvertError as error:
                faults.add((error.path, error.line))
            else:
                assert all(frame.frame["atoms"].count <= 3 for frame in frames)
        assert tracemalloc.get_traced_memory()[1] < 100e6
        assert faults == {("standard input", None)}
    finally:
        tracemalloc.stop()
