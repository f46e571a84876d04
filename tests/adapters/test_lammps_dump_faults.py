"""LAMMPS dump: what is refused, and with which words; files cut short."""

import bz2
import gzip
import lzma

import pytest
import zstandard

from molrec_convert.errors import ConvertError, OptionError, TruncatedError

from ..converting import left_behind
from ..dumps import THREE, snapshot

GOOD = snapshot("1 1 1 2 3")
INSIDE = "the file ends inside a snapshot"
TYPES_NOTE = "in.dump: the types are no elements; --type-map 1=Si,2=O names them"


def changed(old, new, count=1):
    assert old in GOOD
    return GOOD.replace(old, new, count)


FAULTS = {
    "empty": ("", "in.dump: there is no frame in it"),
    "blank": ("\n \n", "in.dump: there is no frame in it"),
    "no item": (b"\x00\x01\n", "in.dump:1 (frame 0): ITEM: is due, not '\\x00\\x01'"),
    "long line": ("x" * 99, "in.dump:1 (frame 0): ITEM: is due, not '" + "x" * 40 + "…'"),
    "text after": (GOOD + "hello\n", "in.dump:11 (frame 1): ITEM: is due, not 'hello'"),
    "unknown item": (changed("NUMBER OF ATOMS", "FOO"), "in.dump:3 (frame 0): unknown item 'FOO'"),
    "item twice": (
        "ITEM: TIMESTEP\n0\nITEM: TIMESTEP\n0\n",
        "in.dump:3 (frame 0): ITEM: TIMESTEP comes twice in a snapshot, before its ITEM: ATOMS",
    ),
    "no step": (GOOD[len("ITEM: TIMESTEP\n0\n") :], "in.dump:7 (frame 0): ITEM: TIMESTEP is due before ITEM: ATOMS"),
    "no number": (
        changed("ITEM: NUMBER OF ATOMS\n1\n", ""),
        "in.dump:7 (frame 0): ITEM: NUMBER OF ATOMS is due before ITEM: ATOMS",
    ),
    "no bounds": (
        changed("ITEM: BOX BOUNDS pp pp pp\n0 10\n0 10\n0 10\n", ""),
        "in.dump:5 (frame 0): ITEM: BOX BOUNDS is due before ITEM: ATOMS",
    ),
    "no columns": (changed(" id type x y z", ""), "in.dump:9 (frame 0): ITEM: ATOMS names no columns"),
    "step": (changed("\n0\n", "\nx\n"), "in.dump:2 (frame 0): the time step: 'x' is not an integer"),
    "step of a real": (changed("\n0\n", "\n1.5\n"), "in.dump:2 (frame 0): the time step: '1.5' is not an integer"),
    "step too large": (
        changed("\n0\n", f"\n{2**63}\n"),
        "in.dump:2 (frame 0): the time step: '9223372036854775808' does not fit a signed 64-bit integer",
    ),
    "number": (changed("\n1\n", "\n1_0\n"), "in.dump:4 (frame 0): the number of atoms: '1_0' is not an integer"),
    "negative number": (changed("\n1\n", "\n-1\n"), "in.dump:4 (frame 0): the number of atoms is -1"),
    "time": (snapshot("", time="1,5"), "in.dump:2 (frame 0): the time: '1,5' is not a number"),
    "units": (
        snapshot("", units="foo"),
        "in.dump:2 (frame 0): the unit style is one of real, metal, si, cgs, electron, micro, nano, lj, not 'foo'",
    ),
    "letters": (
        changed("pp pp pp", "pp pp"),
        "in.dump:5 (frame 0): three pairs of boundary letters are due, not 'pp pp'",
    ),
    "other letters": (
        changed("pp pp pp", "pp pp qq"),
        "in.dump:5 (frame 0): three pairs of boundary letters are due, not 'pp pp qq'",
    ),
    "a bound too many": (
        changed("0 10", "0 10 0 0"),
        "in.dump:6 (frame 0): a line of bounds has 2 numbers, this one 4",
    ),
    "a tilt of one axis": (
        changed("0 10", "0 10 0"),
        "in.dump:6 (frame 0): a line of bounds has 2 numbers, some have 3",
    ),
    "no tilt": (
        changed("BOUNDS", "BOUNDS xy xz yz"),
        "in.dump:6 (frame 0): a line of bounds has 3 numbers, this one 2",
    ),
    "no vectors": (
        changed("BOUNDS", "BOUNDS abc origin"),
        "in.dump:6 (frame 0): a line of bounds has 4 numbers, this one 2",
    ),
    "bound": (changed("0 10\n", "0 1O\n"), "in.dump:6 (frame 0): a bound: '1O' is not a number"),
    "backwards": (
        changed("0 10\n", "0 -10\n"),
        "in.dump:6 (frame 0): the bounds along x run backwards, to a length of -10.0",
    ),
    "flat": (
        snapshot("", box="BOX BOUNDS abc origin pp pp pp", bounds=("1 0 0 0", "2 0 0 0", "0 0 1 0")),
        "in.dump:6 (frame 0): the cell vectors [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]] do not span space",
    ),
    "local": (
        changed("NUMBER OF ATOMS", "NUMBER OF ENTRIES"),
        "in.dump:3 (frame 0): this is a dump of local entries, not atoms",
    ),
    "grid": (changed("NUMBER OF ATOMS", "DIMENSION"), "in.dump:3 (frame 0): this is a dump of a grid, not atoms"),
    "a column too few": (
        snapshot("1 1 1 2 3; 2 1 1 2"),
        "in.dump:11 (frame 0): an atom line has 5 columns, this one 4",
    ),
    "a column too many": (
        snapshot("1 1 1 2 3; 2 1 1 2 3 4"),
        "in.dump:11 (frame 0): an atom line has 5 columns, this one 6",
    ),
    "a blank line": (
        snapshot(["1 1 1 2 3", "", "3 1 1 2 3"]),
        "in.dump:11 (frame 0): an atom line has 5 columns, this one 0",
    ),
    "one column": (snapshot(["1", "2 3"], columns="id"), "in.dump:11 (frame 0): an atom line has 1 column, this one 2"),
    "too few lines": (
        changed("\n1\n", "\n2\n") + GOOD,
        "in.dump:11 (frame 0): the snapshot has 1 of 2 atom lines",
    ),
    "too many lines": (
        snapshot("1 1 1 2 3; 2 1 1 2 3").replace("\n2\n", "\n1\n"),
        "in.dump:11 (frame 1): ITEM: is due, not '2 1 1 2 3'",
    ),
    "a word": (snapshot("1 1 1 2 3; 2 1 1 a 3"), "in.dump:11 (frame 0): column y: 'a' is not a number"),
    "stars": (snapshot("1 1 1 2 3; 2 1 1 2 ****"), "in.dump:11 (frame 0): column z: '****' is not a number"),
    "a comma": (snapshot("1 1 1,5 2 3"), "in.dump:10 (frame 0): column x: '1,5' is not a number"),
    "an underscore": (snapshot("1 1 1 2 1_0"), "in.dump:10 (frame 0): column z: '1_0' is not a number"),
    "an exponent of Fortran": (
        snapshot("1 1 1.0D+01 2 3"),
        "in.dump:10 (frame 0): column x: '1.0D+01' is not a number",
    ),
    "a label after numbers": (
        snapshot("1 1 1 2 3; 2 C 1 2 3"),
        "in.dump:11 (frame 0): column type: 'C' is not an unsigned integer",
    ),
    "an id of a real": (snapshot("1.5 1 1 2 3"), "in.dump:10 (frame 0): column id: '1.5' is not an unsigned integer"),
    "an id too large": (
        snapshot(f"{2**64} 1 1 2 3"),
        "in.dump:10 (frame 0): column id: '18446744073709551616' does not fit an unsigned 64-bit integer",
    ),
    "an image of a real": (
        snapshot("1 1 1 2 3 0.5", columns="id type x y z ix"),
        "in.dump:10 (frame 0): column ix: '0.5' is not an integer",
    ),
    "an image too large": (
        snapshot(f"1 1 1 2 3 {2**31}", columns="id type x y z ix"),
        "in.dump:10 (frame 0): column ix: an image flag is a 32-bit integer, not 2147483648",
    ),
    "a later frame": (THREE.replace("4.75", "oops"), "in.dump:33 (frame 2): column x: 'oops' is not a number"),
    "cut in an item": (
        "ITEM: TIMESTEP\n",
        f"in.dump:1 (frame 0): {INSIDE}: the value of ITEM: TIMESTEP is cut short",
    ),
    "cut in bounds": (
        GOOD[: GOOD.index("0 10") + 3],
        "in.dump:6 (frame 0): the file ends inside a snapshot: the line of bounds along x is cut short",
    ),
    "cut in the header": (
        "ITEM: TIMESTEP\n0\n",
        "in.dump:2 (frame 0): the file ends inside a snapshot: its header is cut short",
    ),
    "cut in the atoms": (
        changed("\n1\n", "\n3\n"),
        "in.dump:11 (frame 0): the file ends after 1 of 3 atom lines",
    ),
    "cut in the last line": (
        snapshot("1 1 1 2 3; 2 1 1 2 3")[:-3],
        "in.dump:11 (frame 0): the file ends inside the last of 2 atom lines",
    ),
    "a number that no file holds": (
        changed("\n1\n", "\n1000000000000\n"),
        "in.dump:11 (frame 0): the file ends after 1 of 1000000000000 atom lines",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(converted, tmp_path, name):
    text, message = FAULTS[name]
    with pytest.raises(ConvertError) as caught:
        converted(text, from_format="lammps-dump")
    assert str(caught.value) == message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]


def test_a_type_without_an_element(converted):
    with pytest.raises(OptionError) as caught:
        converted(snapshot("1 1 0 0 0; 2 2 0 0 0; 3 3 0 0 0"), type_map={"2": "O"})
    assert str(caught.value) == "in.dump: --type-map names no element for type 1, 3"


CUTS = [
    (22, 3, 23, f"{INSIDE}: an item is cut short"),
    (22, 6, 23, f"{INSIDE}: an item is cut short"),
    (22, 14, 23, f"{INSIDE}: an item is cut short"),
    (23, 0, 23, f"{INSIDE}: the value of ITEM: TIMESTEP is cut short"),
    (24, 0, 24, f"{INSIDE}: its header is cut short"),
    (28, 2, 29, f"{INSIDE}: the line of bounds along y is cut short"),
    (30, 9, 31, f"{INSIDE}: an item is cut short"),
    (31, 0, 32, "the file ends after 0 of 2 atom lines"),
    (32, 0, 33, "the file ends after 1 of 2 atom lines"),
    (32, 3, 33, "the file ends inside the last of 2 atom lines"),
    (32, 12, 33, "the file ends inside the last of 2 atom lines"),
]


@pytest.mark.parametrize(("lines", "characters", "line", "message"), CUTS)
def test_a_file_cut_short_keeps_its_whole_snapshots(converted, tmp_path, lines, characters, line, message):
    whole = THREE.splitlines(keepends=True)
    text = "".join(whole[:lines]) + whole[lines][:characters]
    made = converted(text)
    assert made.warnings[1:] == [f"in.dump:{line} (frame 2): truncated: {message}; the 2 whole frames before are kept"]
    assert [made.values("x", k) for k in range(2)] == [[1.0, 4.0], [1.5, 4.5]]
    made.path.unlink()
    with pytest.raises(TruncatedError) as caught:
        converted(text, strict=True)
    assert str(caught.value) == f"in.dump:{line} (frame 2): {message}"
    assert not made.path.exists()
    assert not left_behind(tmp_path)


def test_one_whole_snapshot_before_the_cut(converted):
    made = converted(THREE[: len(THREE) // 3 + 30])
    assert made.report.frames == 1
    assert made.warnings[-1].endswith("is cut short; the whole frame before is kept")


@pytest.mark.parametrize("frames", [None, "0", "-1", "::2"])
def test_one_snapshot_without_a_last_line_end(converted, frames):
    """Its last number may be cut, which cannot be known; `--strict` does not take it."""
    text = snapshot("1 1 1 2 3; 2 1 4 5 6")[:-1]
    made = converted(text, frames=frames)
    assert made.values("z") == [3.0, 6.0]
    assert "in.dump:11 (frame 0): the last line has no line end, its last number may be cut short" in made.warnings
    with pytest.raises(TruncatedError, match=r"in\.dump:11 \(frame 0\): the file ends inside the last of 2 atom lines"):
        converted(text, strict=True, frames=frames)


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ("1 1 0 0 0.5;2 1 0 0 1", True),
        ("1 1 0 0 10.25;2 1 0 0 3;3 1 0 0 1", True),
        ("1 1 0 0 0.25;2 1 0 0 0.75;3 1 0 0 1.25", True),
        ("1 1 0 0 0.25;2 1 0 0 0.75;3 1 0 0 1.2", False),
        ("1 1 0 0 0.25;2 1 0 0 0.75;3 1 0 0", False),
    ],
)
def test_which_last_lines_without_an_end_are_cut_for_certain(converted, rows, taken):
    """Too few numbers, or fewer decimals than all others have."""
    text = snapshot(rows)[:-1]
    if taken:
        assert converted(text).values("z")[-1] == float(rows.split()[-1])
    else:
        with pytest.raises(TruncatedError):
            converted(text)


def test_a_last_empty_snapshot(converted):
    assert converted(snapshot("")[:-1]).report.frames == 1
    assert converted(GOOD + snapshot("", step=1)).report.frames == 2
    assert converted(GOOD + snapshot("", step=1)[:-1]).report.frames == 1  # the columns may be cut


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_files_of_several_members(converted, suffix):
    pack = PACKERS[suffix]
    third = len(THREE) // 3 + 5
    data = b"".join(pack(THREE[k : k + third].encode()) for k in range(0, len(THREE), third))
    made = converted(data, f"in.dump.{suffix}")
    assert [made.values("x", k) for k in range(3)] == [[1.0, 4.0], [1.5, 4.5], [1.75, 4.75]]
    assert converted(data, "lying name").report.frames == 3


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_files_cut_short(converted, suffix):
    data = PACKERS[suffix](GOOD.encode()) + PACKERS[suffix](GOOD.replace("\n0\n", "\n1\n", 1).encode())[:-3]
    name = f"in.dump.{suffix}"
    made = converted(data, name)
    packing = {"gz": "gzip", "zst": "zstd"}.get(suffix, suffix)
    assert f"{name}: the {packing} data ends early: the file is cut short" in made.warnings
    with pytest.raises(TruncatedError):
        converted(data, name, strict=True)


def test_damaged_compressed_data(converted):
    data = bytearray(gzip.compress((GOOD * 500).encode(), 1))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(ConvertError, match=r"in\.dump\.gz.*gzip data is damaged before byte"):
        converted(bytes(data), "in.dump.gz")
