"""GRO: what is refused, with its place; files cut short; damaged files."""

import re

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertError, FormatError, TruncatedError

from ..gros import CUBE, THREE, atom, gro, pair, said, text

pytestmark = pytest.mark.filterwarnings("ignore:.*no element is stated for")

A, B = pair()
MOVING = pair(velocities=True)


def changed(column, word, line=B):
    """A line with other text from a 1-based column on."""
    return line[: column - 1] + word + line[column - 1 + len(word) :]


# the smallest bad file and what is said of it
FAULTS = [
    ("", "in.gro:1 (frame 0): there is no frame in it"),
    ("\n \n", "in.gro:2 (frame 0): there is no frame in it"),
    ("wa\0ter\n0\n1 1 1\n", "in.gro:1 (frame 0): a NUL stands in the text"),
    ("water", "in.gro:1 (frame 0): the file ends before the number of atoms"),
    ("water\n", "in.gro:1 (frame 0): the file ends before the number of atoms"),
    ("water\n  2", "in.gro:2 (frame 0): the file ends inside the number of atoms"),
    ("water\ntwo\n", "in.gro:2 (frame 0): the number of atoms is due, not 'two'"),
    ("water\n-2\n", "in.gro:2 (frame 0): the number of atoms is due, not '-2'"),
    ("water\n2.0\n", "in.gro:2 (frame 0): the number of atoms is due, not '2.0'"),
    (text("2", A, B, CUBE),
     "in.gro:2 (frame 0): the number of atoms is due, not '1SOL     OW    1   0.100   0.200   0.300'"),
    (text("water", "2", A), "in.gro:3 (frame 0): the file ends after 1 of 2 atom lines"),
    (text("water", "1000000000", A), "in.gro:3 (frame 0): the file ends after 1 of 1000000000 atom lines"),
    (text("water", "2", A, B), "in.gro:4 (frame 0): the file ends before the box line"),
    (gro(A, B, count=1), "in.gro:4 (frame 0): the box is due, not an atom line: there are more than 1 of them"),
    (gro(A, B, count=3), "in.gro:5 (frame 0): the file ends before the box line"),
    (gro(A, B, count=3) + "\n", "in.gro:5 (frame 0): an atom line is due, not a box: the number of atoms is wrong"),
    (gro(A, B, count=4) + gro(A, B),
     "in.gro:5 (frame 0): an atom line is due, not a box: the number of atoms is wrong"),
    (gro(A, CUBE), "in.gro:4 (frame 0): an atom line is due, not a box: the number of atoms is wrong"),
    (gro(A, ""), "in.gro:4 (frame 0): the line ends after 0 columns, and positions begin in column 21"),
    (gro(A, B[:20]), "in.gro:4 (frame 0): the line ends after 20 columns, and positions begin in column 21"),
    (gro(A, B[:34]), "in.gro:4 (frame 0): the line ends after 34 columns, the positions need 44"),
    (gro(A, B[:43]), "in.gro:4 (frame 0): the line ends after 43 columns, the positions need 44"),
    (gro(A, changed(1, "  abc")), "in.gro:4 (frame 0): residue number in columns 1-5: 'abc' is not an integer"),
    (gro(A, changed(1, "  1.5")), "in.gro:4 (frame 0): residue number in columns 1-5: '1.5' is not an integer"),
    (gro(A, changed(16, "   a2")), "in.gro:4 (frame 0): atom number in columns 16-20: 'a2' is not an integer"),
    (gro(A, changed(21, "   a.450")), "in.gro:4 (frame 0): x in columns 21-28: 'a.450' is not a number"),
    (gro(A, changed(29, "   0.5_0")), "in.gro:4 (frame 0): y in columns 29-36: '0.5_0' is not a number"),
    (gro(A, changed(29, "   0. 00")), "in.gro:4 (frame 0): y in columns 29-36: '0. 00' is not a number"),
    (gro(A, changed(37, "********")), "in.gro:4 (frame 0): z in columns 37-44: '********' is not a number"),
    (gro(A, changed(29, "        ")), "in.gro:4 (frame 0): y in columns 29-36: is blank"),
    (gro(A, f"{B[:20]} 1 2 3 4"),
     "in.gro:4 (frame 0): an atom line has 3 positions, or 3 positions and 3 velocities, this one 4 numbers"),
    (gro("    1SOL     OW    1 a b c"), "in.gro:3 (frame 0): 'a' is not a number"),
    (gro(A, f"{B} 1.0"), "in.gro:4 (frame 0): an atom has 3 velocities or none, this one 1"),
    (gro(MOVING[0], MOVING[1][:60]), "in.gro:4 (frame 0): the line ends after 60 columns, the velocities need 68"),
    (gro(MOVING[0], MOVING[1][:67]), "in.gro:4 (frame 0): the line ends after 67 columns, the velocities need 68"),
    (gro(MOVING[0], changed(53, "  x.0000", MOVING[1])),
     "in.gro:4 (frame 0): vy in columns 53-60: 'x.0000' is not a number"),
    (gro(A, "100000SOL    HW2116640   0.450   0.500   0.600"),
     "in.gro:4 (frame 0): the atom line can be read in several ways, as numbers have outgrown their columns"),
    (gro(A, B, box=""), "in.gro:5 (frame 0): a box line has 3 or 9 numbers, this one 0"),
    (gro(A, B, box="1 2"), "in.gro:5 (frame 0): a box line has 3 or 9 numbers, this one 2"),
    (gro(A, B, box="1 2 3 4 5 6"), "in.gro:5 (frame 0): a box line has 3 or 9 numbers, this one 6"),
    (gro(A, B, box="1 2 3 4 5 6 7 8 9 10"), "in.gro:5 (frame 0): a box line has 3 or 9 numbers, this one 10"),
    (gro(A, B, box="1 2 x"), "in.gro:5 (frame 0): the box line: 'x' is not a number"),
    (gro(A, B, box="   1.0000001.200"), "in.gro:5 (frame 0): the box line: '1.0000001.200' is not a number"),
    (gro(A, B) + gro(A, changed(37, "   x.000")), "in.gro:9 (frame 1): z in columns 37-44: 'x.000' is not a number"),
    (gro(A, B[:-1] + "\0"), "in.gro:4 (frame 0): a NUL stands in the text"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), FAULTS)
def test_faults(tmp_path, data, message):
    (tmp_path / "in.gro").write_text(data)
    with pytest.raises(ConvertError, match=re.escape(message)) as caught:
        mc.convert(tmp_path / "in.gro", tmp_path / "out.h5", from_format="gro")
    assert str(caught.value) == message
    assert [path.name for path in tmp_path.iterdir()] == ["in.gro"]


# how the third frame ends, and what is said
CUTS = [
    ("", None), ("water", "in.gro:11 (frame 2): truncated: the file ends before the number of atoms"),
    ("water t=   1.00000 step= 500\n", "in.gro:11 (frame 2): truncated: the file ends before the number of atoms"),
    ("water\n   2", "in.gro:12 (frame 2): truncated: the file ends inside the number of atoms"),
    ("water\n   2\n", "in.gro:12 (frame 2): truncated: the file ends after 0 of 2 atom lines"),
    (f"water\n   2\n{A[:30]}", "in.gro:13 (frame 2): truncated: the file ends after 1 of 2 atom lines"),
    (f"water\n   2\n{A}\n{B[:30]}", "in.gro:14 (frame 2): truncated: the file ends before the box line"),
    (f"water\n   2\n{A}\n{B}\n", "in.gro:14 (frame 2): truncated: the file ends before the box line"),
    (f"water\n   2\n{A}\n{B}\n   ", "in.gro:15 (frame 2): truncated: the file ends inside the box line"),
    (f"water\n   2\n{A}\n{B}\n   1.00000   1.2", "in.gro:15 (frame 2): truncated: the file ends inside the box line"),
    (f"water\n   2\n{A}\n{B}\n{CUBE[:-2]}", "in.gro:15 (frame 2): truncated: the file ends inside the box line"),
]  # fmt: skip


class TestCutShort:
    @pytest.fixture
    def read(self, converted):
        return lambda data, **options: converted(data, "in.gro", **options)

    @pytest.mark.parametrize(("end", "where"), CUTS)
    def test_whole_frames_are_kept(self, read, end, where):
        data = THREE[: THREE.index("water t=   1.0")] + end
        made = read(data)
        assert len(made.record) == 2
        assert made.values("x", 1) == [1.5, 5]
        assert said(made.warnings) == ([] if where is None else [f"{where}; the 2 whole frames before are kept"])
        if where is not None:
            with pytest.raises(TruncatedError, match=re.escape(where.replace("truncated: ", ""))):
                read(data, strict=True)

    def test_a_box_that_lost_its_last_digits_may_be_whole(self, read):
        """In a file of one frame nothing tells how many digits are due."""
        made = read(gro(A, B)[:-3])
        assert made.box().vectors[2, 2] == 13
        what = "the last line has no line end, its last number may be cut short"
        assert said(made.warnings) == [f"in.gro:5 (frame 0): {what}"]

    def test_a_box_that_lost_six_numbers(self, read):
        nine = "   3.24290   3.24290   2.29308   0.00000   0.00000   0.00000   0.00000   1.62145   1.62145"
        made = read(gro(A, B, box=nine) + gro(A, B, box=nine[:30])[:-1])
        assert made.record.trajectory is None
        assert "inside the box line" in said(made.warnings)[0]


def frames_of(record):
    return [record.frame] if record.trajectory is None else list(record.trajectory)


def outcome(tmp_path, data, *, rewrite=False):
    """The frames that are read, and may be written again; None where the file is refused with its place."""
    path = tmp_path / "in.gro"
    path.write_bytes(data)
    try:
        record = mc.read(path, format="gro")
    except ConvertError as error:
        fault = error
    else:
        frames = frames_of(record)
        again = written(tmp_path, record) if rewrite else None
        if again is not None:
            assert [frame["atoms"].count for frame in again] == [frame["atoms"].count for frame in frames]
            for one, other in zip(frames, again, strict=True):
                assert_close(one, other, {} if record.system is None else record.system.meta)
        return frames
    assert str(fault).startswith("in.gro:"), fault
    assert isinstance(fault, FormatError)
    assert 1 <= fault.line <= data.count(b"\n") + 1
    return None


def assert_close(one, other, about):
    """The frames hold the same, as far as the digits of the source go."""
    assert one["atoms"].keys() == other["atoms"].keys()
    for names, key, usual in ((("x", "y", "z"), "gro_decimals", 3), (("vx", "vy", "vz"), "gro_velocity_decimals", 4)):
        decimals = one.meta.get(key) or about.get(key) or usual
        for name in set(names) & one["atoms"].keys():
            np.testing.assert_allclose(
                one["atoms"][name], other["atoms"][name], rtol=1e-14, atol=5.001 * 10.0**-decimals
            )
    assert (one.box is None or not one.box.defined) == (other.box is None or not other.box.defined)


def written(tmp_path, record):
    """The frames of a record that was written and read again; None where something does not fit."""
    path = tmp_path / "out.gro"
    try:
        mc.write(path, record, force=True)
    except ConvertError as error:
        fault = error
    else:
        return frames_of(mc.read(path, format="gro"))
    assert "does not fit" in str(fault), fault
    return None


NINE = "   3.24290   3.24290   2.29308   0.00000   0.00000   0.00000   0.00000   1.62145   1.62145"
SOURCES = [
    THREE,
    gro(A, MOVING[1], box=NINE, title="") + gro() + gro(atom("*****", res_id=-4), box="0 0 0", title="t= 5"),
    gro(atom(99999, decimals=6), atom(0, decimals=6), box="40000.0000040000.0000050000.00000"),
    gro(A, f"{B} ; text", "    1SOL     OW100000   0.250   0.500   0.750", "    1SOL     OW    2 0.25 0.5 1"),
]


@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
class TestFuzz:
    @pytest.mark.parametrize("source", range(2))
    def test_every_prefix(self, tmp_path, source):
        data = SOURCES[source].encode()
        whole = outcome(tmp_path, data)
        assert len(whole) == 3
        ends = [match.end() for match in re.finditer(rb"\n( *[0-9]+(\.[0-9]+)?){3,9}\n", data)]
        assert len(ends) == 3
        for size in range(1, len(data)):
            found = outcome(tmp_path, data[:size]) or []
            for frame, due in zip(found[:-1], whole, strict=False):
                assert frame["atoms"]["x"].tolist() == due["atoms"]["x"].tolist(), size
            assert len(found) >= sum(end <= size for end in ends), size

    @pytest.mark.parametrize("seed", range(2))
    def test_mutations(self, tmp_path, seed):
        rng = np.random.default_rng(seed)
        sources = [data.encode() for data in SOURCES]
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
            outcome(tmp_path, bytes(data), rewrite=True)
