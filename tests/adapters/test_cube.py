"""CUBE: what a record holds of a grid and its atoms, and what is refused."""

import numpy as np
import pytest

from molrec_convert import registry
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, RecordError, TruncatedError
from molrec_convert.mapping.units import CONSTANTS

from ..cubes import WATER, cube, row

BOHR = float(CONSTANTS["Bohr radius"] * 10**10)
ANGSTROM_NOTE = "in.cube:4: the numbers of points are negative: lengths are taken for ångström"


@pytest.fixture
def read(converted):
    return lambda text, **options: converted(text, "in.cube", **options)


def grid_of(made, frame=0):
    record = made.record
    return (record.frame if record.trajectory is None else record.trajectory[frame])["grid"]


def fields(frame):
    return {name: values.tolist() for name, values in frame["grid"].items()}


def fields_of(made, frame=0):
    return fields({"grid": grid_of(made, frame)})


class TestRead:
    def test_a_cube(self, read):
        made = read(cube(atoms=WATER, counts=(2, 3, 4), origin=(-1, 0.5, 2), steps=np.diag([0.5, 0.25, 2]).tolist()))
        assert made.record.trajectory is None
        assert made.warnings == []
        grid = grid_of(made)
        assert grid.shape == (2, 3, 4)
        assert {name: column.describe() for name, column in grid.columns.items()} == {"density": "f64[N]"}
        assert grid["density"].tolist() == list(range(24))
        assert {name: column.describe() for name, column in made.atoms().columns.items()} == {
            "atomic_number": "u64[N]", "element": "string[N]", "nuclear_charge": "f64[N]",
            "x": "f64[N]", "y": "f64[N]", "z": "f64[N]",
        }  # fmt: skip
        assert made.values("element") == ["O", "H", "H"]
        assert made.values("atomic_number") == [8, 1, 1]
        assert made.values("nuclear_charge") == [8, 1, 1]
        assert made.values("y") == [0, 1.430523 * BOHR, -1.430523 * BOHR]
        assert made.box().vectors.tolist() == (np.diag([1.0, 0.75, 8]) * BOHR).tolist()
        assert made.box().origin.tolist() == [-BOHR, 0.5 * BOHR, 2 * BOHR]
        assert made.box().boundary.tolist() == [False] * 3
        assert made.record.meta["units"] == {"length": "angstrom"}
        assert dict(made.about) == {
            "comment": "title\ncomment", "cube_units": "bohr", "cube_origin": (-1, 0.5, 2),
            "cube_voxels": (0.5, 0, 0, 0, 0.25, 0, 0, 0, 2),
        }  # fmt: skip
        assert made.about.tag("cube_voxels") == "f64x9"

    def test_vectors_are_columns(self, read):
        made = read(cube(steps=((1, 0, 0), (0.5, 1, 0), (0, 0.25, 1)), counts=(2, 2, 2)))
        a, b, c = made.box().vectors.T / BOHR
        np.testing.assert_allclose([a, b, c], np.array([[2, 0, 0], [1, 2, 0], [0, 0.5, 2]]), rtol=1e-15)

    def test_a_left_handed_cell(self, read):
        made = read(cube(steps=((0, 0, 1), (0, 1, 0), (1, 0, 0))))
        assert np.linalg.det(made.box().vectors) < 0

    def test_negative_counts_say_angstrom(self, read):
        made = read(cube(counts=(-2, -1, -3), origin=(1, 2, 3)))
        assert made.warnings == [ANGSTROM_NOTE]
        assert grid_of(made).shape == (2, 1, 3)
        assert made.box().origin.tolist() == [1, 2, 3]
        assert made.values("z") == [0.221098]
        assert made.about["cube_units"] == "angstrom"

    def test_no_atoms(self, read):
        made = read(cube(atoms=()))
        assert made.atoms().count == 0
        assert list(made.atoms()) == ["atomic_number", "element", "nuclear_charge", "x", "y", "z"]
        assert fields_of(made) == {"density": [0, 1, 2, 3, 4, 5]}

    def test_the_number_beside_the_atomic_number_is_no_charge(self, read):
        made = read(cube(atoms=((6, 4.0, 0, 0, 0), (14, 0.0, 1, 1, 1))))
        assert made.values("element") == ["C", "Si"]
        assert made.values("nuclear_charge") == [4, 0]
        assert "charge" not in made.atoms()

    def test_ghosts_and_numbers_that_are_no_elements(self, read):
        made = read(cube(atoms=((0, 0.0, 0, 0, 0), (-8, 8.0, 1, 1, 1), (119, 0.0, 2, 2, 2), (118, 0.0, 3, 3, 3))))
        assert made.values("element") == ["X", "X", "X", "Og"]
        assert made.values("atomic_number") == [0, 0, 119, 118]
        assert made.values("cube_atomic_number") == [0, -8, 119, 118]

    def test_values_of_a_point(self, read):
        made = read(cube(nval=4, counts=(1, 1, 2)))
        assert fields_of(made) == {"value_1": [0, 4], "value_2": [1, 5], "value_3": [2, 6], "value_4": [3, 7]}
        assert made.about["cube_nval"] == 4

    def test_one_orbital(self, read):
        made = read(cube(orbitals="    1    5"))
        assert fields_of(made) == {"mo_5": [0, 1, 2, 3, 4, 5]}
        assert made.about["cube_mo_indices"] == [5]
        assert made.atoms().count == 1

    @pytest.mark.parametrize("nval", [None, 1, 2])
    def test_orbitals(self, read, nval):
        made = read(cube(orbitals="    2    5    4", nval=nval, counts=(1, 1, 2)))
        assert fields_of(made) == {"mo_5": [0, 2], "mo_4": [1, 3]}
        assert made.about.get("cube_nval") == nval

    @pytest.mark.parametrize("layout", ["   12{}\n{}", "   12\n{}\n{}", "12{}{}"])
    def test_ids_of_orbitals_over_several_lines(self, read, layout):
        ids = "".join(f"{number:5d}" for number in range(1, 10)), "   10   11   12"
        made = read(cube(orbitals=layout.format(*ids), counts=(1, 1, 1)))
        assert list(grid_of(made)) == [f"mo_{number}" for number in range(1, 13)]
        assert [grid_of(made)[f"mo_{number}"][0] for number in range(1, 13)] == list(range(12))

    def test_ids_that_repeat_or_are_negative(self, read):
        made = read(cube(orbitals="    2    7    7", counts=(1, 1, 1)))
        assert fields_of(made) == {"value_1": [0], "value_2": [1]}
        assert made.about["cube_mo_indices"] == [7, 7]
        assert list(grid_of(read(cube(orbitals="    2    7   -7", counts=(1, 1, 1))))) == ["mo_7", "mo_-7"]

    @pytest.mark.parametrize(
        "text",
        ["0\n1\n2\n3\n4\n5\n", "0 1 2 3 4 5\n", "\n0 1\n\n 2 3 4\t5 \n\n\n", "0 1 2 3\r\n4 5\r\n", "  0 1 2 3 4\n5 \n"],
    )
    def test_values_in_any_lines(self, read, text):
        assert fields_of(read(cube(text))) == {"density": [0, 1, 2, 3, 4, 5]}

    def test_carriage_returns(self, read):
        made = read(cube().replace("\n", "\r\n"))
        assert made.about["comment"] == "title\ncomment"
        assert fields_of(made) == {"density": [0, 1, 2, 3, 4, 5]}

    def test_spellings_of_numbers(self, read):
        made = read(cube("0.1D+02 -0.33004-101 0.17557+120 1.5d-3 nan -Infinity\n"))
        np.testing.assert_array_equal(
            grid_of(made)["density"], [10, -0.33004e-101, 0.17557e120, 1.5e-3, np.nan, -np.inf]
        )

    def test_values_that_run_together(self, read):
        made = read(cube("-5.19709E-018-5.19709E-018 1.00000E+000\n-1.5-2.25-0.33-101-.5\n", counts=(1, 1, 7)))
        assert grid_of(made)["density"].tolist() == [-5.19709e-18, -5.19709e-18, 1, -1.5, -2.25, -0.33e-101, -0.5]

    def test_the_header_by_its_columns(self, read):
        text = cube(origin=(10000, -10000, 12345.678901), atoms=((79, 79.0, 99999.5, 10000, -10000), *WATER))
        assert "    410000.000000-10000.00000012345.678901\n" in text
        assert "   79   79.00000099999.50000010000.000000-10000.000000\n" in text
        made = read(text)
        assert made.about["cube_origin"] == (10000, -10000, 12345.678901)
        assert made.values("x")[0] == 99999.5 * BOHR
        assert made.values("y")[:2] == [10000 * BOHR, 0]
        assert made.values("element") == ["Au", "O", "H", "H"]

    def test_other_spellings_of_the_header(self, read):
        text = cube().replace("    1    0.000000    0.000000    0.000000", "1 0.1D+01 -0.0 .5E0 1")
        made = read(text)
        assert made.about["cube_origin"] == (1, 0, 0.5)
        assert made.about["cube_nval"] == 1

    def test_atomic_numbers_spelled_as_reals(self, read):
        made = read(cube(atoms=WATER).replace("    8    8.000000", "  8.0    8.000000"))
        assert made.values("atomic_number") == [8, 1, 1]
        assert made.values("nuclear_charge")[0] == 8
        with pytest.raises(ConvertError, match=r"^in\.cube:7 \(frame 0\): '8\.5' is not an integer$"):
            read(cube(atoms=WATER).replace("    8    8.000000", "  8.5    8.000000"))

    def test_a_plane(self, read):
        made = read(cube(counts=(2, 3, 1), steps=((1, 0, 0), (0, 1, 0), (0, 0, 0)), origin=(1, 2, 3)))
        assert made.warnings == ["in.cube:4: the axes of the grid do not span space: there is no cell"]
        assert not made.box().defined
        assert made.box().origin.tolist() == [BOHR, 2 * BOHR, 3 * BOHR]
        assert grid_of(made).shape == (2, 3, 1)

    @pytest.mark.parametrize(
        ("comments", "kept"),
        [
            ("\n", ""),
            ("a\n", "a"),
            (" a \n  b", " a \n  b"),
            ("å\nb", "å\nb"),
            ("OUTER LOOP: Z\nx", "OUTER LOOP: Z\nx"),
        ],
    )
    def test_comments(self, read, comments, kept):
        made = read(cube(comments=comments))
        assert made.about["comment"] == kept
        assert fields_of(made)["density"] == [0, 1, 2, 3, 4, 5]

    def test_comments_in_latin_1(self, read, tmp_path):
        text = cube(comments="å\nb").encode("latin-1")
        made = read(text)
        assert made.about["comment"] == "å\nb"
        convert(made.path, tmp_path / "back.cube")
        assert (tmp_path / "back.cube").read_bytes() == text

    @pytest.mark.parametrize(
        ("text", "decimals"),
        [
            ("1.00000E+00 2.00000E-10 -3.00000E+00\n", None),
            ("1.2 0.5 1e-3\n", None),
            ("1.234567E+00 2.000000E-10 -3.000000E+00\n", 6),
            ("0.12345678E+00 0.20000000E-10 -0.30000000E+00\n", 7),
            ("0.00000001 12.00000000 -0.12345678\n", 7),
            ("0 0 0.123456789\n", 8),
            ("0 0 0.1234567890123456\n", 15),
            ("0.1 0.2 0.30000000000000004\n", 16),
        ],
    )
    def test_decimals_of_the_values(self, read, text_of, text, decimals):
        made = read(cube(text, counts=(1, 1, 3)))
        assert made.about.get("cube_decimals") == decimals
        again = text_of(made, "back.cube").splitlines()[-1]
        assert [float(word) for word in again.split()] == grid_of(made)["density"].tolist()

    def test_large_grid_in_many_pieces(self, read, monkeypatch):
        monkeypatch.setattr("molrec_convert.adapters._cube_values.PIECE", 50)
        made = read(cube(counts=(7, 11, 13), orbitals="    2    1    2") * 2)
        for frame in range(2):
            assert grid_of(made, frame)["mo_1"].tolist() == list(range(0, 2002, 2))
        one_line = cube(" ".join(map(str, range(1000))), counts=(10, 10, 10))
        assert grid_of(read(one_line))["density"].tolist() == list(range(1000))


class TestSeveral:
    def test_cubes_back_to_back(self, read):
        made = read(cube(comments="one\n1") + cube([5, 4, 3, 2, 1, 0], comments="two\n2", atoms=WATER))
        trajectory = made.record.trajectory
        assert len(trajectory) == 2
        assert [frame.meta["comment"] for frame in trajectory] == ["one\n1", "two\n2"]
        assert [frame["atoms"].count for frame in trajectory] == [1, 3]
        assert [frame["grid"].shape for frame in trajectory] == [(2, 1, 3)] * 2
        assert fields_of(made, 1) == {"density": [5, 4, 3, 2, 1, 0]}

    def test_a_record_holds_grids_of_one_shape(self, read):
        with pytest.raises(RecordError, match=r"frame 1: block 'grid' has the shape \(2, 1, 3\) in some frames"):
            read(cube() + cube(counts=(1, 1, 2)))

    @pytest.mark.parametrize("blanks", [0, 1, 2, 100_000])
    def test_blank_lines_between_and_after(self, read, blanks):
        text = (cube() + "\n" * blanks) * 2
        assert len(read(text).record.trajectory) == 2

    def test_a_blank_comment_after_a_grid(self, read):
        made = read(cube() + cube(comments="\nsecond"))
        assert made.record.trajectory[1].meta["comment"] == "\nsecond"

    def test_a_comment_of_numbers_after_a_grid(self, read):
        assert len(read(cube() + cube(comments="1 2 3\n4")).record.trajectory) == 2

    def test_chosen_frames(self, read):
        text = "".join(cube([k] * 6) for k in range(4))
        made = read(text, frames="-1,1")
        assert [fields_of(made, k)["density"][0] for k in range(2)] == [1, 3]

    def test_a_cube_cut_short_after_whole_ones(self, read):
        made = read(cube() + cube()[:-40])
        assert made.record.trajectory is None
        assert made.warnings == [
            "in.cube:17 (frame 1): truncated: the file ends after 3 of the 6 values of the grid; "
            "the whole frame before is kept"
        ]
        with pytest.raises(TruncatedError, match="after 3 of the 6 values"):
            read(cube() + cube()[:-40], strict=True)


HEAD = cube("")
BAD = [
    ("", "in.cube:1 (frame 0): the file ends inside the header of a cube"),
    ("a\nb\n", "in.cube:2 (frame 0): the file ends inside the header of a cube"),
    ("a\nb\n    1    0.0", "in.cube:3 (frame 0): the line of the number of atoms has 4 or 5 numbers, this one 2"),
    ("a\nb\nc 0 0 0\n", "in.cube:3 (frame 0): 'c' is not an integer"),
    ("a\nb\n1.5 0 0 0\n", "in.cube:3 (frame 0): '1.5' is not an integer"),
    ("a\nb\n1 0 0 ******\n", "in.cube:3 (frame 0): '******' is not a number"),
    ("a\nb\n1 0 nan 0\n", "in.cube:3 (frame 0): the origin is not finite: [0.0, nan, 0.0]"),
    ("a\nb\n1 0 0 0 0\n", "in.cube:3 (frame 0): a point has at least one value, not 0"),
    ("a\nb\n1 0 0 0\n2 1 0\n", "in.cube:4 (frame 0): the line of an axis has 4 numbers, this one 3"),
    ("a\nb\n1 0 0 0\n0 1 0 0\n", "in.cube:4 (frame 0): the grid has no points along an axis"),
    ("a\nb\n1 0 0 0\n2 1 inf 0\n", "in.cube:4 (frame 0): the step along an axis is not finite: [1.0, inf, 0.0]"),
    ("a\nb\n1 0 0 0\n9223372036854775808 1 0 0\n",
     "in.cube:4 (frame 0): '9223372036854775808' does not fit a signed 64-bit integer"),
    ("a\0\nb\n", "in.cube:1 (frame 0): a comment holds a NUL, so this is no text"),
    ("a\nb\0\n", "in.cube:2 (frame 0): a comment holds a NUL, so this is no text"),
    (cube(counts=(2, -1, 3)),
     "in.cube:6 (frame 0): the numbers of points [2, -1, 3] differ in sign, which tells the unit of length"),
    (cube().replace("    8    8.000000", "    8"), "in.cube:7 (frame 0): an atom line has 5 numbers, this one 4"),
    (cube().replace("    8    8.000000", "    O    8.000000"), "in.cube:7 (frame 0): 'O' is not an integer"),
    (cube(atoms=WATER).replace("1.430523", "1.43.523", 1), "in.cube:8 (frame 0): '1.43.523' is not a number"),
    (row(3, (0, 0, 0)).join(("a\nb\n", "\n" + "\n".join(HEAD.splitlines()[3:]) + "\n")),
     "in.cube:7 (frame 0): the file ends after 1 of 3 atom lines"),
    (HEAD.replace("    1 ", "1000000000 ", 1), "in.cube:7 (frame 0): the file ends after 1 of 1000000000 atom lines"),
    (cube("", orbitals="    x    5"), "in.cube:8 (frame 0): the ids of the orbitals: 'x' is not an integer"),
    (cube("", orbitals="    2    5"), "in.cube:8 (frame 0): the file ends inside the header of a cube"),
    (cube("", orbitals="    1    5    6"), "in.cube:8 (frame 0): 1 ids of orbitals are due, and there are 2"),
    (cube("", orbitals="    0"), "in.cube:8 (frame 0): the number of orbitals and their ids are due, as the number of "
     "atoms is negative"),
    (cube(nval=3, orbitals="    2    5    6"),
     "in.cube:8 (frame 0): the header says 3 values a point, and lists 2 orbitals"),
    (cube(""), "in.cube:7 (frame 0): the file ends after 0 of the 6 values of the grid"),
    (cube("0 1 2\n3 4\n\n"), "in.cube:9 (frame 0): the file ends after 5 of the 6 values of the grid"),
    (cube("0 1 2\n3 4 5\n", counts=(10**6, 10**6, 10**6)),
     "in.cube:9 (frame 0): the file ends after 6 of the 1000000000000000000 values of the grid"),
    (cube("1.0E+00 1.0E+00 1.0E+00\n1.0E+00 1.0E+00 1.0E+"),
     "in.cube:9 (frame 0): the file ends after 5 of the 6 values of the grid"),
    (cube("1.0E+00 1.0E+00 1.0E+00\n1.0E+00 -1.0E+00 1.0E+0"),
     "in.cube:9 (frame 0): the file ends after 5 of the 6 values of the grid"),
    (cube("0 1 2\n3 x 5\n"), "in.cube:9 (frame 0): value 5 of 6: 'x' is not a number"),
    (cube("0 1 2\n3 4 *************\n"), "in.cube:9 (frame 0): value 6 of 6: '*************' is not a number"),
    (cube("0 1 2\n3 4 1,5\n"), "in.cube:9 (frame 0): value 6 of 6: '1,5' is not a number"),
    (cube("0 1 2\n3 4 5 6\n"), "in.cube:9 (frame 0): the grid has 6 values, and '6' follows the last one"),
    (cube("0 1 2\n3 4 5\n\n6 7\n"), "in.cube:11 (frame 0): the grid has 6 values, and '6 7' follows the last one"),
    (cube("0 1 2\n3 4\n") + cube(), "in.cube:10 (frame 0): value 6 of 6: 'title' is not a number"),
    (cube() + "a\nb\nc\n",
     "in.cube:10 (frame 0): another cube or the end of the file is due after a grid, not 'a'"),
    (cube() + cube().replace("    8    8.000000", "    8"),
     "in.cube:10 (frame 0): another cube or the end of the file is due after a grid, not 'title'"),
    (cube() + cube("0 1 2\n3 4 5 6\n"), "in.cube:18 (frame 1): the grid has 6 values, and '6' follows the last one"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[8:60] for _, message in BAD])
def test_a_bad_file(read, tmp_path, text, message):
    with pytest.raises(ConvertError) as caught:
        read(text, from_format="cube")
    error = caught.value
    assert str(error) == message
    assert not (tmp_path / "out.h5").exists()


def test_a_last_number_without_a_line_end(read):
    doubt = "in.cube:8: the last line has no line end, its last number may be cut short"
    assert read(cube("0 10 2 3 4 5")).warnings == [doubt]
    assert read(cube("0 1 2 3 4 5")).warnings == []
    with pytest.raises(TruncatedError, match=r"in\.cube:17 \(frame 1\): the last line has no line end"):
        read(cube() + cube("0 10 2 3 4 5"), strict=True)


class TestSniff:
    @pytest.mark.parametrize(
        "text",
        [
            cube(), cube(atoms=()), cube(orbitals="    1    5"), cube(nval=4), cube(counts=(-2, -1, -3)), cube(""),
            cube(comments="\n"), cube(atoms=WATER).replace("\n", "\r\n"), cube(origin=(10000, 10000, -10000)),
        ],
    )  # fmt: skip
    def test_a_cube_is_recognised(self, text):
        assert "cube" in [adapter.name for adapter in registry.by_content(text.encode()[: 1 << 16])]

    @pytest.mark.parametrize(
        "text",
        [
            b"", b"\n\n\n\n\n\n\n\n\n", b"1 2 3 4\n" * 20, b"10\n\n" + b"1 0.5 0.5 0.5\n" * 10,
            b"10\nAtoms. Timestep: 0\n" + b"1 0.5 0.5 0.5 1\n" * 10, b"a\nb\n" + b"1 2 3 4 5\n" * 9,
            cube(counts=(2, 0, 3)).encode(), cube(counts=(2, -1, 3)).encode(), b"\x89HDF\r\n\x1a\n" + bytes(100),
        ],
    )  # fmt: skip
    def test_other_text_is_not(self, text):
        assert "cube" not in [adapter.name for adapter in registry.by_content(text)]

    def test_by_name(self):
        for name in ("a.cube", "A.CUB", "b.cube.gz"):
            assert [adapter.name for adapter in registry.by_file_name(name)] == ["cube"]
