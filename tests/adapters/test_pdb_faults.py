"""PDB: what is refused, with its place; files cut short; damaged files."""

import re

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertError, FormatError, TruncatedError

from ..pdbs import CUBE, THREE, atom, model, pair, text

GOOD = atom(1, (1, 2, 3))


def changed(column, word, line=GOOD):
    """A line with other text from a 1-based column on."""
    return line[: column - 1] + word + line[column - 1 + len(word) :]


# the smallest bad file and what is said of it
FAULTS = [
    ("", "in.pdb:1: there is no ATOM or HETATM record"),
    ("REMARK\n", "in.pdb:1: there is no ATOM or HETATM record"),
    ("REMARK\nEND\n\n", "in.pdb:3: there is no ATOM or HETATM record"),
    (text(GOOD, changed(39, "********")), "in.pdb:2 (frame 0): y in columns 39-46: '********' is not a number"),
    (text(GOOD, changed(31, "     abc")), "in.pdb:2 (frame 0): x in columns 31-38: 'abc' is not a number"),
    (text(GOOD, changed(47, "   1_000")), "in.pdb:2 (frame 0): z in columns 47-54: '1_000' is not a number"),
    (text(GOOD, changed(47, "   1 000")), "in.pdb:2 (frame 0): z in columns 47-54: '1 000' is not a number"),
    (text(GOOD, changed(39, "        ")), "in.pdb:2 (frame 0): y is blank: columns 39-46 hold it"),
    (text(GOOD, "TER", GOOD[:38]), "in.pdb:3 (frame 0): the line ends after 38 columns, the position needs 54"),
    (text(GOOD, "ATOM"), "in.pdb:2 (frame 0): the line ends after 4 columns, the position needs 54"),
    (text(GOOD, changed(55, "  1.0x")), "in.pdb:2 (frame 0): occupancy in columns 55-60: '1.0x' is not a number"),
    (text(GOOD, changed(61, "   a.0")), "in.pdb:2 (frame 0): b_factor in columns 61-67: 'a.0' is not a number"),
    (text(GOOD, changed(7, "  b!c")), "in.pdb:2 (frame 0): serial in columns 7-12: 'b!c' is not an integer"),
    (text(GOOD, changed(23, " 1.5")), "in.pdb:2 (frame 0): residue number in columns 23-26: '1.5' is not an integer"),
    (text(GOOD, changed(12, "X")), "in.pdb:2 (frame 0): serial in columns 7-12: '1X' is not an integer"),
    (THREE.replace("   5.250   5.000", "   5.250  *****"),
     "in.pdb:11 (frame 2): y in columns 39-46: '*****' is not a number"),
    ("CRYST1   10.000   abc     10.000  90.00  90.00  90.00\n" + GOOD, "in.pdb:1: CRYST1: b 'abc' is not a number"),
    ("CRYST1   10.000   10.000\n" + GOOD, "in.pdb:1: CRYST1: c is blank"),
    ("CRYST1   10.000   10.000   10.000  90.00  90.00 180.00\n" + GOOD,
     "in.pdb:1: CRYST1: 10.000 10.000 10.000 90.00 90.00 180.00 spans no cell"),
    (model(1, *pair()) + "CRYST1    x\n" + model(2, *pair()), "in.pdb:5: CRYST1: a 'x' is not a number"),
    (text(GOOD, GOOD[:-1] + "\0"), "in.pdb:2 (frame 0): a NUL stands in the text"),
    (text("REMARK \0", GOOD), "in.pdb:1: a NUL stands in the text"),
    (text(GOOD, "END", "REMARK \0"), "in.pdb:3: a NUL stands in the text"),
    (text(GOOD, GOOD)[:-25], "in.pdb:2 (frame 0): the file ends inside an atom line"),
    (text(GOOD, GOOD)[:-40], "in.pdb:2 (frame 0): the file ends inside an atom line"),
    ("MODEL        1\n", "in.pdb:1 (frame 0): the file ends inside MODEL 1"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), FAULTS)
def test_faults(tmp_path, data, message):
    (tmp_path / "in.pdb").write_text(data)
    with pytest.raises(ConvertError, match=re.escape(message)) as caught:
        mc.convert(tmp_path / "in.pdb", tmp_path / "out.h5")
    assert str(caught.value).startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["in.pdb"]


# how a file ends, how many frames of it are whole, and what is said
THREE_AND_HEAD = THREE.index("MODEL        2")
CUTS = [
    ("A   1       5.25", 2, "in.pdb:11 (frame 2): truncated: the file ends inside an atom line"),
    (
        "1.750   2.000   3.000  1.00  0.00           N  \n",
        2,
        "in.pdb:10 (frame 2): truncated: the file ends inside MODEL 3",
    ),
    ("MODEL        3\n", 2, "in.pdb:9 (frame 2): truncated: the file ends inside MODEL 3"),
    ("TITLE     t= 1\nREMA", 1, "in.pdb:6 (frame 1): truncated: the file ends before a model"),
]


class TestCutShort:
    @pytest.fixture
    def read(self, converted):
        return lambda data, **options: converted(data, "in.pdb", **options)

    @pytest.mark.parametrize(("end", "frames", "where"), CUTS)
    def test_whole_frames_are_kept(self, read, end, frames, where):
        data = THREE[: THREE.index(end) + len(end)] if end in THREE else THREE[:THREE_AND_HEAD] + end
        made = read(data)
        assert len(made.record) == frames
        assert made.values("x") == [1, 4.5]
        assert [warning.partition(";")[0] for warning in made.warnings] == [where]
        with pytest.raises(TruncatedError, match=re.escape(where.replace("truncated: ", ""))):
            read(data, strict=True)

    def test_only_the_end_is_missing(self, read):
        made = read(THREE.removesuffix("ENDMDL\nEND\n"))
        assert len(made.record) == 3
        assert made.warnings == ["in.pdb:11 (frame 2): the file ends inside MODEL 3: there is no ENDMDL"]
        assert read(THREE.removesuffix("END\n")).warnings == []

    def test_frames_parted_by_end(self, read):
        whole = text(*pair(), "END", *pair(1))
        assert len(read(whole).record) == 2
        made = read(whole.removesuffix(atom(2, (5.5, 5, -6.125)) + "\n"))
        assert made.record.trajectory is None
        assert made.warnings == [
            "in.pdb:4 (frame 1): truncated: the file ends inside a frame; the whole frame before is kept"
        ]

    def test_a_line_without_an_end_may_be_shorter(self, read):
        made = read(text(*pair()) + atom(3)[:78])
        assert made.values("element") == ["N", "C", "C"]
        assert made.warnings == []


def frames_of(record):
    return [record.frame] if record.trajectory is None else list(record.trajectory)


def outcome(tmp_path, data):
    """The frames that are read; None where the file is refused with its place."""
    path = tmp_path / "in.pdb"
    path.write_bytes(data)
    try:
        record = mc.read(path, format="pdb")
    except ConvertError as error:
        fault = error
    else:
        frames = frames_of(record)
        assert [frame["atoms"].count for frame in written(tmp_path, record) or frames] == [
            frame["atoms"].count for frame in frames
        ]
        return frames
    assert str(fault).startswith("in.pdb:"), fault
    assert isinstance(fault, FormatError)
    assert 1 <= fault.line <= data.count(b"\n") + 1
    return None


def written(tmp_path, record):
    """The frames of a record that was written and read again; None where numbers do not fit."""
    path = tmp_path / "out.pdb"
    try:
        mc.write(path, record, force=True)
    except ConvertError as error:
        fault = error
    else:
        return frames_of(mc.read(path))
    assert "does not fit" in str(fault), fault
    return None


HEAD = text("TITLE     t= 1 step= 2", CUBE)
ODD = [
    text(atom(99999), atom("A0000", number="A000"), "CONECT99999A0000", "END"),
    text(atom("*****", number="****"), atom(1, (12345.678, 1, 2)), "TER", "ANISOU    1  CA  ALA A   1     2406   1892"),
    text(GOOD, changed(27, "0"), changed(77, "ZN2+"), "END", GOOD, GOOD, GOOD, "END"),
]


@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
class TestFuzz:
    def test_every_prefix(self, tmp_path):
        data = (HEAD + THREE.replace("ENDMDL", "TER\nENDMDL")).encode()
        whole = outcome(tmp_path, data)
        assert len(whole) == 3
        for size in range(1, len(data)):
            found = outcome(tmp_path, data[:size]) or []
            for frame, due in zip(found[:-1], whole, strict=False):
                assert frame["atoms"]["x"].tolist() == due["atoms"]["x"].tolist(), size
            ends = [match.end() for match in re.finditer(rb"\nENDMDL", data)]
            assert len(found) >= sum(end <= size for end in ends), size

    @pytest.mark.parametrize("seed", range(2))
    def test_mutations(self, tmp_path, seed):
        rng = np.random.default_rng(seed)
        sources = [data.encode() for data in (HEAD + THREE, *ODD)]
        for _ in range(250):
            data = bytearray(sources[rng.integers(len(sources))])
            for _ in range(rng.integers(1, 4)):
                place = int(rng.integers(len(data)))
                if rng.random() < 0.5:
                    data[place] = b" \n\r\t0123456789.-+*AZaz_\xff\0"[rng.integers(24)]
                elif rng.random() < 0.5:
                    del data[place : place + int(rng.integers(1, 30))]
                else:
                    data[place:place] = data[place // 2 : place // 2 + int(rng.integers(1, 90))]
            outcome(tmp_path, bytes(data))
