"""XYZ: what is refused, and with which words; files cut short; damaged files."""

import gzip
import io

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapter import Span
from molrec_convert.adapters.xyz import FORMAT
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, TruncatedError
from molrec_convert.options import Options
from molrec_convert.text.streams import open_stream
from molrec_convert.text.window import Window

SPECIES = "Properties=species:S:1:pos:R:3"
TWO = "2\ns1\nH 0 0 0\nH 0 0 1\n"

FAULTS = {
    "empty": ("", "in.xyz: there is no frame in it"),
    "blank": ("\n \n", "in.xyz: there is no frame in it"),
    "text": ("water\n", "in.xyz:1 (frame 0): the number of atoms is due, not 'water'"),
    "a comment before": ("# c\n1\n\nH 0 0 0\n", "in.xyz:1 (frame 0): the number of atoms is due, not '# c'"),
    "negative count": ("-1\n\n", "in.xyz:1 (frame 0): the number of atoms is due, not '-1'"),
    "a NUL behind the count": ("1 a\0b\n\n", "in.xyz:1 (frame 0): the number of atoms is due, not '1 a\\x00b'"),
    "real count": ("1.0\n\nH 0 0 0\n", "in.xyz:1 (frame 0): the number of atoms is due, not '1.0'"),
    "long count": ("1" * 50 + "\n", "in.xyz:1 (frame 0): the number of atoms is due, not '" + "1" * 40 + "…'"),
    "a huge count": (
        "999999999999999999\nx\nH 0 0 0\n",
        "in.xyz:3 (frame 0): the file ends after 1 of 999999999999999999 atom lines",
    ),
    "no comment line": ("1\n", "in.xyz:1 (frame 0): the file ends before the comment line"),
    "no atoms": ("1\nx", "in.xyz:2 (frame 0): the file ends inside the comment line"),
    "too few atoms": ("3\nx\nH 0 0 0\n", "in.xyz:3 (frame 0): the file ends after 1 of 3 atom lines"),
    "too few columns": ("1\nx\nH 0 0\n", "in.xyz:3 (frame 0): an atom line has 4 columns, this one 3"),
    "a blank line": ("2\nx\nH 0 0 0\n\nH 0 0 1\n", "in.xyz:4 (frame 0): an atom line has 4 columns, this one 0"),
    "a count too large": (
        "3\nx\nH 0 0 0\nH 0 0 1\n2\ny\nH 0 0 0\nH 0 0 1\n",
        "in.xyz:5 (frame 0): the frame has 2 of 3 atom lines",
    ),
    "a count too small": (
        "1\nx\nH 0 0 0\nO 0 0 1\n1\ny\nH 0 0 0\n",
        "in.xyz:4 (frame 1): the number of atoms is due, not one more atom line: the frame before has 1",
    ),
    "stars": ("2\nx\nH 1 2 3\nH 1 ********** 3\n", "in.xyz:4 (frame 0): column y: '**********' is not a number"),
    "underscore": ("1\nx\nH 1_0 0 0\n", "in.xyz:3 (frame 0): column x: '1_0' is not a number"),
    "comma": ("1\nx\nH 0 0 1,5\n", "in.xyz:3 (frame 0): column z: '1,5' is not a number"),
    "a second frame": (TWO + "1\nx\nH 0 0 a\n", "in.xyz:7 (frame 1): column z: 'a' is not a number"),
    "short declared row": (
        f"2\n{SPECIES}:forces:R:3\nH 0 0 0 1 2 3\nH 0 0 1 1 2\n",
        "in.xyz:4 (frame 0): an atom line has 7 columns, this one 6",
    ),
    "long declared row": (f"1\n{SPECIES}\nH 0 0 0 1\n", "in.xyz:3 (frame 0): an atom line has 4 columns, this one 5"),
    "integer": (f"1\n{SPECIES}:a:I:2\nH 0 0 0 1 1.0\n", "in.xyz:3 (frame 0): column a[2]: '1.0' is not an integer"),
    "integer too large": (
        f"1\n{SPECIES}:a:I:1\nH 0 0 0 {2**64}\n",
        "in.xyz:3 (frame 0): column a: '18446744073709551616' does not fit an unsigned 64-bit integer",
    ),
    "logical": (
        f"2\n{SPECIES}:a:L:2\nH 0 0 0 T F\nH 0 0 0 T maybe\n",
        "in.xyz:4 (frame 0): column a[2]: 'maybe' is not T or F",
    ),
    "lattice": (
        '1\nLattice="1 0 0 0 1 0 0 0"\nH 0 0 0\n',
        "in.xyz:2 (frame 0): Lattice: 9 or 3 numbers are due, not 8",
    ),
    "properties": (
        TWO + "1\nProperties=species:S:1:pos:Q:3\nH 0 0 0\n",
        "in.xyz:6 (frame 1): the type of property 'pos' is one of R, I, S and L, not 'Q'",
    ),
    "a NUL in the comment line": ("1\na\0b\nH 0 0 0\n", "in.xyz:2 (frame 0): the comment line holds a NUL"),
    "a NUL in a label": ("1\nx\nH\0 0 0 0\n", "in.xyz:3 (frame 0): 'H\\x00' holds a NUL"),
    "Tinker": (
        "2 water\n1 O 0 0 0 1 2\n2 H 0 0 1 2 1\n",
        "in.xyz:2 (frame 0): a comment line is due, not an atom: this is a Tinker file, no XYZ",
    ),
    "vectors": ("1\nx\nH 0 0 0\nVEC2 1 0 0\n", "in.xyz:4 (frame 0): VEC1 and three numbers are due, not 'VEC2 1 0 0'"),
    "vector of two": (
        "1\nx\nH 0 0 0\nVEC1 1 0\n",
        "in.xyz:4 (frame 0): VEC1 and three numbers are due, not 'VEC1 1 0'",
    ),
}

CUT = {
    "atom lines": ("2\ns2\nH 0 0 0.5\n", "7 (frame 1): truncated: the file ends after 1 of 2 atom lines"),
    "a row": ("2\ns2\nH 0 0 0\nH 0", "8 (frame 1): truncated: the file ends inside the last of 2 atom lines"),
    "a number": ("2\ns2\nH 0 0 0\nH 0 0 -", "8 (frame 1): truncated: the file ends inside the last of 2 atom lines"),
    "the only row": ("1\ns2\nH 0 0", "7 (frame 1): truncated: the file ends inside the last of 1 atom lines"),
    "a declared row": (
        f"1\n{SPECIES}:forces:R:3\nH 0 0 0 1 2",
        "7 (frame 1): truncated: the file ends inside the last of 1 atom lines",
    ),
    "decimals": (
        "3\ns2\nH 0 0 0.500\nH 0 0 1.250\nH 0 0 1.2",
        "9 (frame 1): truncated: the file ends inside the last of 3 atom lines",
    ),
    "a comment line": ("2\ns", "6 (frame 1): truncated: the file ends inside the comment line"),
    "a count": ("12", "5 (frame 1): truncated: the file ends before the comment line"),
}


class TestFaults:
    @pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS.keys())
    def test_messages(self, tmp_path, text, message):
        (tmp_path / "in.xyz").write_bytes(text.encode())
        with pytest.raises(ConvertError) as error:
            convert(tmp_path / "in.xyz", tmp_path / "out.h5")
        assert str(error.value) == message
        assert [path.name for path in tmp_path.iterdir()] == ["in.xyz"]

    def test_lines_that_are_no_frame_are_refused_when_strict(self, tmp_path):
        (tmp_path / "in.xyz").write_text(TWO + "the end\n")
        with pytest.raises(ConvertError) as error:
            convert(tmp_path / "in.xyz", tmp_path / "out.h5", strict=True)
        assert str(error.value) == "in.xyz:5 (frame 1): this is no frame: 'the end'"


class TestCut:
    @pytest.mark.parametrize(("rest", "message"), CUT.values(), ids=CUT.keys())
    def test_whole_frames_are_kept(self, converted, tmp_path, rest, message):
        made = converted(TWO + rest, "in.xyz")
        assert len(made.warnings) == 1
        assert made.warnings[0].startswith(f"in.xyz:{message}; ")
        assert made.report.frames == 1
        with pytest.raises(TruncatedError) as error:
            convert(tmp_path / "in.xyz", tmp_path / "strict.h5", strict=True)
        assert str(error.value) == f"in.xyz:{message}".replace("truncated: ", "")

    def test_a_last_number_that_may_be_cut(self, converted):
        made = converted("1\na\nHe 1 2 3\n1\nb\nHe 4 5 6.5", "in.xyz")
        assert made.values("z", 1) == [6.5]
        assert made.warnings == ["in.xyz:6 (frame 1): the last line has no line end, its last number may be cut short"]
        assert converted("2\na\nHe 1 2 3.25\nHe 4 5 6.50", "in.xyz").warnings == []

    def test_compressed(self, tmp_path):
        packed = gzip.compress(TWO.encode() * 100)
        (tmp_path / "in.xyz.gz").write_bytes(packed[:-20])
        report = convert(tmp_path / "in.xyz.gz", tmp_path / "out.h5")
        assert 0 < report.frames <= 100
        assert report.warnings


def snapshots_of(text, *, keep=True):
    """All frames of a text; or the error."""
    importer = FORMAT.importer
    assert importer is not None
    made = importer("in.xyz", Options())
    window = Window(open_stream(None, file=io.BytesIO(text), name="in.xyz"))
    found = []
    try:
        for span in made.index(window, keep=keep):
            data = span.data if keep else text[span.offset : span.offset + span.size]
            found.append(made.decode(Span(span.ordinal, span.line, span.offset, span.size, span.context, data)))
    except ConvertError as error:
        return found, error
    return found, None


FUZZED = (
    f'2\nLattice="4 0 0 0 5 0 0 0 6" {SPECIES}:f:L:1:n:I:2 energy=-1.5 a="b c" j="_JSON [1]" pbc="T T F"\n'
    "O 0.5 1e-3 2 T 1 -2\nH 1.5 -.5 3 F 3 4\n"
    "1 atom\n Atoms. Timestep: 7\n 6 1.0D+00 2 3 x\nVEC1 1 0 0\n\n"
    "2\nplain\r\nH 0 0 0\r\nCL 1.25 2 3"
).encode()


class TestFuzz:
    def test_every_prefix(self):
        whole, error = snapshots_of(FUZZED)
        assert error is None
        assert len(whole) == 3
        for size in range(len(FUZZED)):
            found, error = snapshots_of(FUZZED[:size])
            assert error is None or (error.line is not None and error.line <= FUZZED[:size].count(b"\n") + 1), size
            for one, other in zip(found[:2], whole, strict=False):
                assert one.frame.same(other.frame) or (size < FUZZED.index(b"\n2\nplain") and one is found[-1]), size

    def test_mutations(self):
        rng = np.random.default_rng(5)
        for _ in range(500):
            mutate(rng)

    def test_spans_without_bytes_are_the_same(self):
        for one, other in zip(snapshots_of(FUZZED)[0], snapshots_of(FUZZED, keep=False)[0], strict=True):
            assert one.frame.same(other.frame)


PIECES = [
    *(b"\n", b" ", b"\0", b"9", b"-", b".", b'"', b"=", b"[", b"{", b"*", b"T", b"\xff", b"\r", b"\t", b"\\", b":S:2"),
    *(b"Properties=", b"Lattice=", b"VEC1 ", b"nan", b"1e999", b"\xe6\xb0\xb4", b"_JSON", b"999999999999"),
]


def mutate(rng):
    """Damage the text somewhere; it is read, or refused with a line."""
    text = bytearray(FUZZED)
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(0, len(text)))
        stop = start + int(rng.integers(0, 12))
        match rng.integers(0, 4):
            case 0:
                del text[start:stop]
            case 1:
                text[start:start] = PIECES[rng.integers(0, len(PIECES))]
            case 2:
                text[start:stop] = PIECES[rng.integers(0, len(PIECES))]
            case _:
                place = int(rng.integers(0, len(text) + 1))
                text[place:place] = text[start:stop]
    found, error = snapshots_of(bytes(text))
    assert error is None or error.line is not None, (error, bytes(text))
    for snapshot in found:
        assert snapshot.frame["atoms"].count <= len(text)
        for values in snapshot.frame["atoms"].values():
            assert len(values) == snapshot.frame["atoms"].count
        mc.Record(frame=snapshot.frame)
