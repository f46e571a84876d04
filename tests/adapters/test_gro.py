"""GRO: what a file says and what a record holds of it."""

import gzip
import math
import re

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapters._gro_box import tenfold
from molrec_convert.adapters._gro_columns import counted_on
from molrec_convert.adapters._gro_title import Moment, kept_title, moment_of, written_title
from molrec_convert.adapters.gro import FORMAT

from ..gros import CUBE, THREE, atom, gro, pair, said, text

pytestmark = pytest.mark.filterwarnings("ignore:.*no element is stated for")


@pytest.fixture
def read(converted):
    """Convert a text to a record and read it."""
    return lambda data, **options: converted(data, "in.gro", **options)


class TestAtoms:
    def test_every_field(self, read):
        line = atom(12, (0.126, 1.624, -1.679), (0.1227, -0.058, 10.0434), name="HG11", residue="VAL", res_id=345)
        made = read(gro(line))
        expected = {
            "id": [12], "name": ["HG11"], "res_name": ["VAL"], "res_id": [345], "element": ["H"],
            "x": [1.26], "y": [16.24], "z": [-16.79], "vx": [1.227], "vy": [-0.58], "vz": [100.434],
        }  # fmt: skip
        assert {name: made.values(name) for name in made.atoms()} == expected
        assert made.record.meta["units"] == {"length": "angstrom", "time": "ps", "velocity": "angstrom/ps"}
        assert said(made.warnings) == []

    def test_numbers_are_rounded_once(self, read):
        """Ten times the decimal number, not ten times the nearest binary64 to it."""
        words = ["2.763", "0.126", "0.556", "0.783", "1.147", "1.112"]
        lines = [atom(k + 1, (float(word), 0, 0)) for k, word in enumerate(words)]
        found = read(gro(*lines)).values("x")
        assert found == [float(f"{word}e1") for word in words]
        assert found != [float(word) * 10 for word in words]

    @pytest.mark.parametrize("decimals", [1, 2, 3, 4, 5, 6, 9, 12, 15, 20])
    def test_decimals_are_told_by_the_points(self, read, decimals):
        rng = np.random.default_rng(decimals)
        positions, velocities = rng.uniform(-9, 9, (5, 3)), rng.uniform(-3, 3, (5, 3))
        rows = list(zip(positions.tolist(), velocities.tolist(), strict=True))
        made = read(
            gro(*(atom(k, position, velocity, decimals=decimals) for k, (position, velocity) in enumerate(rows)))
        )
        for names, values, places in (("xyz", positions, decimals), (("vx", "vy", "vz"), velocities, decimals + 1)):
            for axis, name in enumerate(names):
                assert made.values(name) == [tenfold(f"{value:.{places}f}".encode()) for value in values[:, axis]]
        assert made.about["gro_decimals"] == decimals
        assert made.about["gro_velocity_decimals"] == decimals + 1
        assert "gro_width" not in made.about

    def test_fields_wider_than_their_decimals_ask_for(self, read):
        line = f"{atom()[:20]}{0.5:14.3f}{-100.25:14.3f}{7:14.3f}{1:10.5f}{2:10.5f}{-3:10.5f}"
        made = read(gro(line))
        assert [made.values(name) for name in ("x", "y", "z", "vx", "vy", "vz")] == [
            [5], [-1002.5], [70], [10], [20], [-30]
        ]  # fmt: skip
        assert (made.about["gro_width"], made.about["gro_velocity_decimals"]) == (14, 5)

    def test_fields_that_touch(self, read):
        line = "12345ABCDEFGHIJ98765-100.1252000.250-300.500-10.000020.0000-30.0000"
        made = read(gro(line))
        assert [made.values(name)[0] for name in ("res_id", "res_name", "name", "id")] == [
            12345,
            "ABCDE",
            "FGHIJ",
            98765,
        ]
        assert [made.values(name)[0] for name in ("x", "y", "z")] == [-1001.25, 20002.5, -3005]
        assert made.warnings

    def test_names_of_digits_and_blanks(self, read):
        lines = [atom(1, residue="2PG", name="1H B"), atom(2, residue="A B", name="5"), atom(3, residue="", name="")]
        made = read(gro(*lines))
        assert made.values("res_name") == ["2PG", "A B", ""]
        assert made.values("name") == ["1H B", "5", ""]
        assert made.values("res_id") == [1, 1, 1]

    def test_a_missing_sign_of_minus_zero(self, read):
        made = read(gro(atom(1, (-0.0, 0.0, 0.0))))
        assert math.copysign(1, made.values("x")[0]) == -1

    def test_no_atoms(self, read):
        made = read(gro())
        assert made.atoms().count == 0
        assert {"x", "y", "z"} <= made.atoms().keys()
        assert made.box().vectors.diagonal().tolist() == [10, 12, 13]

    def test_windows_line_ends_and_blanks_at_the_end(self, read):
        plain = read(THREE)
        for data in (THREE.replace("\n", "\r\n"), THREE + "\n \n\n", THREE.replace("0.3000\n", "0.3000  \n")):
            made = read(data)
            assert said(made.warnings) == []
            assert made.record.trajectory is not None
            for k in range(3):
                assert made.record.trajectory[k].same(plain.record.trajectory[k])

    def test_tabs(self, read):
        made = read(gro(atom(1234, (0.1, 0.2, 0.3)).replace("OW ", "OW\t")))
        assert (made.values("name"), made.values("id"), made.values("x")) == (["OW"], [1234], [1])
        assert said(made.warnings) == ["in.gro (frame 0): tabs are taken for blanks up to the next eighth column"]


class TestNumbers:
    def test_they_begin_again_at_zero(self, read):
        ids, residues = [99998, 99999, 0, 1, 2], [99999, 99999, 99999, 0, 0]
        made = read(gro(*(atom(k, res_id=r) for k, r in zip(ids, residues, strict=True))))
        assert made.values("id") == [99998, 99999, 100000, 100001, 100002]
        assert made.values("res_id") == [99999, 99999, 99999, 100000, 100000]
        assert said(made.warnings) == [
            "in.gro: atom numbers begin again at 0 after 99999: they are counted on",
            "in.gro: residue numbers begin again at 0 after 99999: they are counted on",
        ]

    @pytest.mark.parametrize(
        ("numbers", "counted"),
        [
            ([], []), ([5], [5]), ([3, 2, 1], [3, 2, 1]), ([99998, 0], [99998, 0]), ([99999, 1], [99999, 1]),
            ([99999, 0, 99999, 0], [99999, 100000, 199999, 200000]), ([9, 1, 99999, 0], [9, 1, 99999, 100000]),
            ([99999, 0, 5, 1, 7], [99999, 100000, 100005, 1, 7]),
            ([99999, 0, 3, 1, 99999, 0], [99999, 100000, 100003, 1, 99999, 100000]),
        ],
    )  # fmt: skip
    def test_counting_on(self, numbers, counted):
        assert counted_on(np.array(numbers, "i8")).tolist() == counted

    def test_counting_on_among_nulls(self):
        valid = np.array([True, False, True, True])
        assert counted_on(np.array([99999, 0, 0, 1]), valid).tolist() == [99999, 0, 100000, 100001]

    def test_negative_residues(self, read):
        made = read(gro(atom(1, res_id=-5), atom(2, res_id=0), atom(3, res_id=7)))
        assert made.values("res_seq") == [-5, 0, 7]
        assert made.values("res_id") == [None, 0, 7]

    def test_stars_and_blanks_are_null(self, read):
        made = read(gro(atom(1), atom("*****", res_id=""), atom(3, res_id="*****")))
        assert made.values("id") == [1, None, 3]
        assert made.values("res_id") == [1, None, None]
        assert said(made.warnings) == [
            "in.gro: 2 atoms without a residue number",
            "in.gro: 1 atom without an atom number",
        ]

    def test_ids_that_repeat_stay(self, read):
        made = read(gro(atom(8), atom(8), atom(1)))
        assert made.values("id") == [8, 8, 1]
        assert said(made.warnings) == []


class TestVelocities:
    @pytest.mark.parametrize("lacking", [0, 1, 2])
    def test_lines_without_them_are_null(self, read, lacking):
        lines = [atom(k + 1, (0, 0, 0), (0.1 * k, 0.2, 0.3)) for k in range(3)]
        lines[lacking] = lines[lacking][:44]
        made = read(gro(*lines))
        assert made.values("vx") == [None if k == lacking else tenfold(f"{0.1 * k:.4f}".encode()) for k in range(3)]
        assert made.values("vy") == [None if k == lacking else 2 for k in range(3)]
        assert made.values("x") == [0, 0, 0]

    def test_with_decimals_of_their_own(self, read):
        line = f"{pair()[0]}{1.5:8.3f}{-2:8.3f}{0:8.3f}"
        made = read(gro(line))
        assert made.values("vx") == [15]
        assert made.about["gro_velocity_decimals"] == 3

    def test_none(self, read):
        assert not {"vx", "vy", "vz"} & read(gro(*pair())).atoms().keys()


class TestOddLines:
    """Lines that do not keep to the columns of the others."""

    NOTE = "the numbers of 1 atom line do not stand in the columns of the others; blanks and decimals tell them"

    @pytest.mark.parametrize(
        ("line", "numbers", "position"),
        [
            ("    1SOL     OW    2   0.25  0.5     0.75", (1, 2), (2.5, 5, 7.5)),
            ("    1SOL     OW    2 0.25 -1e-1 7", (1, 2), (2.5, -1, 70)),
            ("    1SOL     OW100000   0.250   0.500   0.750", (1, 100000), (2.5, 5, 7.5)),
            ("    1SOL    HW2116640   0.250   0.500   0.750", (1, 116640), (2.5, 5, 7.5)),
            ("100000SOL     OW    2   0.250   0.500   0.750", (100000, 2), (2.5, 5, 7.5)),
            ("    1SOL     OW    2-1000.250   0.500   0.750", (1, 2), (-10002.5, 5, 7.5)),
            ("    1SOL     OW    2   0.25010000.500   0.750", (1, 2), (2.5, 100005, 7.5)),
        ],
    )
    def test_they_are_told_by_blanks_and_decimals(self, read, line, numbers, position):
        made = read(gro(pair()[0], line, pair()[1]))
        assert (made.values("res_id")[1], made.values("id")[1]) == numbers
        assert tuple(made.values(axis)[1] for axis in "xyz") == position
        assert made.values("x")[::2] == [1, 4.5]
        assert said(made.warnings) == [f"in.gro:4 (frame 0): {self.NOTE}"]

    def test_text_behind_is_left_out(self, read):
        made = read(gro(*(f"{line} ; {k}" for k, line in enumerate(pair(velocities=True)))))
        assert made.values("vz") == [3, 22.5]
        assert said(made.warnings) == ["in.gro:3 (frame 0): text behind the numbers of 2 atom lines is left out"]

    def test_one_line_tells_wrong_columns(self, read):
        """Its points are evenly apart, and yet the numbers do not stand in columns that begin with the 21st."""
        made = read(gro("    1RES          1   0.125  0.250  0.375"))
        assert [made.values(name) for name in ("name", "x", "y", "z")] == [[""], [1.25], [2.5], [3.75]]
        made = read(gro("    1RES      A   1  0.25  0.50  0.75", *pair()))
        assert (made.values("x"), made.values("y")) == ([2.5, 1, 4.5], [5, 2, 5])
        assert made.about["gro_decimals"] == 3

    def test_blanks_alone(self, read):
        """Nothing tells the columns: hand-made files."""
        made = read(gro("    1SOL     OW    1 0.1 0.25 1", "    1SOL    HW1    2 0.1 0.25 1.5 1 2 3"))
        assert made.values("z") == [10, 15]
        assert made.values("vz") == [None, 30]
        assert "gro_decimals" not in made.about


BOXES = [
    (CUBE, [[10, 0, 0], [0, 12, 0], [0, 0, 13]]),
    ("1 1.2 1.3", [[10, 0, 0], [0, 12, 0], [0, 0, 13]]),
    ("1\t1.2e0\t1.3", [[10, 0, 0], [0, 12, 0], [0, 0, 13]]),
    ("   3.24290   3.24290   2.29308   0.00000   0.00000   0.00000   0.00000   1.62145   1.62145",
     [[32.429, 0, 16.2145], [0, 32.429, 16.2145], [0, 0, 22.9308]]),
    ("   1.00000   2.00000   3.00000   0.10000   0.20000   0.30000   0.40000  -0.50000   0.60000",
     [[10, 3, -5], [1, 20, 6], [2, 4, 30]]),
    ("40000.0000040000.0000050000.00000", [[400000, 0, 0], [0, 400000, 0], [0, 0, 500000]]),
    ("10000.0000010000.0000010000.00000   0.00000   0.00000-1234.50000   0.00000 500.00000-250.00000",
     [[100000, -12345, 5000], [0, 100000, -2500], [0, 0, 100000]]),
    ("    0.7822838765564372 0.7353572647182051 0.9036518515423753",
     [[7.822838765564372, 0, 0], [0, 7.353572647182051, 0], [0, 0, 9.036518515423753]]),
    ("   0.00000   0.00000   0.00000", None),
    ("0 0 0 0 0 0 0 0 0", None),
]  # fmt: skip


class TestBox:
    @pytest.mark.parametrize(("line", "vectors"), BOXES)
    def test_vectors(self, read, line, vectors):
        box = read(gro(*pair(), box=line)).box()
        if vectors is None:
            assert box is None
            return
        assert box.vectors.tolist() == vectors
        assert box.boundary.all()
        assert not box.origin.any()

    def test_a_box_that_is_no_cell(self, read):
        made = read(gro(*pair(), box="   1.00000   0.00000   1.00000"))
        assert made.box() is None
        assert said(made.warnings) == ["in.gro:5: the box 1.00000   0.00000   1.00000 is no cell"]

    def test_text_behind_it(self, read):
        made = read(gro(*pair(), box=f"{CUBE} nm"))
        assert made.box().vectors[0, 0] == 10
        assert said(made.warnings) == ["in.gro:5: 'nm' behind the box is left out"]

    def test_without_a_line_end(self, read):
        made = read(gro(*pair())[:-1])
        assert made.box().vectors[2, 2] == 13
        assert said(made.warnings) == []

    def test_cells_that_come_and_go(self, read):
        made = read(gro(*pair()) + gro(*pair(), box="0 0 0") + gro(*pair(), box="1 1 1"))
        boxes = [made.box(k) for k in range(3)]
        assert [box is not None and box.defined for box in boxes] == [True, False, True]


MOMENTS = [
    ("water t=   0.04000 step= 20", 0.04, 20), ("MD of 2 waters, t= 0.0", 0.0, None), ("t=1e-3", 0.001, None),
    ("water step= 7", None, 7), ("a t= 5 b t= 6.5 c", 6.5, None), ("t= 12.5ps", 12.5, None), ("(t= 3.)", 3.0, None),
    ("t= -0.5 step= -3", -0.5, -3), ("t=5 ps, step=10 of 20", 5.0, 10), ("T= 300", None, None),
    ("dt= 0.002", None, None), ("t= 5 ns", None, None), ("t= x", None, None), ("t= 1.2.3", None, None),
    ("", None, None), ("step= 99999999999999999999", None, None), ("step= 9223372036854775808", None, None),
    ("t= 1e999", None, None),
]  # fmt: skip


class TestTitle:
    @pytest.mark.parametrize(("title", "time", "step"), MOMENTS)
    def test_moments(self, title, time, step):
        assert moment_of(title) == (time, step)
        written = written_title(kept_title(title, moment_of(title)), Moment(time, step), counted=False)
        assert written == title or moment_of(written) == (time, step)

    @pytest.mark.parametrize("title", [title for title, _, _ in MOMENTS if title != "step= 99999999999999999999"])
    def test_titles_are_restored(self, title):
        moment = moment_of(title)
        assert written_title(kept_title(title, moment), moment, counted=moment.step is None) == title

    def test_frames(self, read):
        made = read(THREE)
        assert made.record.trajectory.step.tolist() == [0, 250, 500]
        assert made.record.trajectory.time.tolist() == [0, 0.5, 1]
        assert made.about["gro_title"] == "water t= step="
        assert "gro_title" not in made.record.trajectory.schema.meta

    def test_one_frame(self, read):
        made = read(gro(*pair(), title="two waters, t= 2.5"))
        assert made.record.trajectory is None
        assert made.record.frame.meta["time"] == 2.5
        assert made.record.frame.meta["gro_title"] == "two waters, t= 2.5"

    def test_blank_titles_and_blank_lines(self, read):
        made = read(gro(*pair(), title="") + gro(*pair(0.1), title="") + "\n" + gro(*pair(0.2), title="third"))
        assert len(made.record) == 3
        assert [frame.meta["gro_title"] for frame in made.record.trajectory] == ["", "", "third"]

    def test_a_title_that_is_a_number(self, read):
        made = read(gro(*pair(), title="2") + gro(*pair(0.1), title="17"))
        assert [frame.meta["gro_title"] for frame in made.record.trajectory] == ["2", "17"]

    def test_a_mark_of_the_byte_order_is_no_part_of_it(self, read):
        assert read("\ufeff" + gro(*pair())).about["gro_title"] == "water"

    def test_latin_1(self, read):
        assert read(gro(*pair(), title="für").encode("latin-1")).about["gro_title"] == "für"


class TestRecord:
    def test_what_stands_once(self, read):
        assert read(THREE).fixed == ["element", "id", "name", "res_id", "res_name"]

    def test_a_number_of_atoms_that_changes(self, read):
        made = read(gro(*pair()) + gro(atom()) + gro())
        assert [made.atoms(k).count for k in range(3)] == [2, 1, 0]

    def test_precision_of_the_source(self, read):
        made = read(THREE, precision="auto")
        columns = made.record.trajectory.schema.blocks["atoms"].columns
        assert columns["x"].precision == pytest.approx(1e-2)
        assert columns["vz"].precision == pytest.approx(1e-3)
        assert made.values("x") == pytest.approx([1, 4.5], abs=5e-3)

    @pytest.mark.parametrize(
        "data", [gro(*pair()), THREE, gro(title="w"), gro(*pair(), title=""), gro(title="", box="0 0 0")]
    )
    def test_it_is_recognised(self, data):
        for head in (data, data.replace("\n", "\r\n")):
            assert FORMAT.sniff(head.encode())

    @pytest.mark.parametrize(
        "data", ["", "a\n2\n", "2\nwater\nO 0 0 0\nH 0 0 1\n", "a\n2\nO 0 0 0\nH 0 0 1\n", "a\n0\nb\n"]
    )
    def test_other_files_are_not(self, data):
        assert not FORMAT.sniff(data.encode())

    def test_frames_are_chosen(self, read):
        made = read(THREE, frames="1:")
        assert made.record.trajectory.step.tolist() == [250, 500]
        assert [made.values("x", k) for k in range(2)] == [[1.5, 5], [2, 5.5]]

    def test_compressed(self, tmp_path):
        (tmp_path / "in.gro.gz").write_bytes(gzip.compress(THREE.encode()))
        assert len(mc.read(tmp_path / "in.gro.gz")) == 3


def test_text_of_the_tests_is_gro():
    assert re.fullmatch(r"    1SOL     OW    1   0\.100   0\.200   0\.300", pair()[0])
    assert text("a", "b") == "a\nb\n"
