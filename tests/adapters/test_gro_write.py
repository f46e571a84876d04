"""GRO: what is written, and what comes back."""

import re

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapters._gro_box import box_line
from molrec_convert.errors import ConvertError, LossError, LossWarning, OptionError
from molrec_convert.model import Block, Box, Column, Frame, Meta

from ..gros import CUBE, THREE, atom, gro, pair, text
from .test_gro import BOXES, MOMENTS

pytestmark = pytest.mark.filterwarnings("ignore:.*no element is stated for")

UNITS = {"length": "angstrom", "time": "ps"}
WRITTEN = "Written by molrec-convert"


@pytest.fixture
def read(converted):
    return lambda data, **options: converted(data, "in.gro", **options)


@pytest.fixture
def lines(tmp_path):
    """Write frames; the lines of the file."""

    def write(data, **options):
        path = tmp_path / "out.gro"
        mc.write(path, data, force=True, **{"units": UNITS, **options})
        return path.read_text().splitlines()

    return write


def water(count=3, *, box=None, meta=None, **columns):
    fixed = {"name": (["OW", "HW1", "HW2"] * count)[:count], "res_name": ["SOL"] * count}
    rows = np.arange(count, dtype=float)
    plain = {"id": np.arange(1, count + 1, dtype="u8"), "res_id": np.ones(count, "u8")}
    return Frame({"atoms": {**plain, **fixed, "x": rows, "y": rows + 0.5, "z": -rows, **columns}}, box=box, meta=meta)


VELOCITIES = {"vx": [1.0, 2.0, -3.0], "vy": [0.5, 0.0, 0.25], "vz": [-0.125, 0.0, 99.0]}


class TestLines:
    def test_a_frame(self, lines):
        assert lines(water(box=Box.orthogonal((10, 12, 13)), **VELOCITIES), decimals=4) == [
            WRITTEN,
            "    3",
            "    1SOL     OW    1   0.0000   0.0500  -0.0000  0.10000  0.05000 -0.01250",
            "    1SOL    HW1    2   0.1000   0.1500  -0.1000  0.20000  0.00000  0.00000",
            "    1SOL    HW2    3   0.2000   0.2500  -0.2000 -0.30000  0.02500  9.90000",
            "   1.00000   1.20000   1.30000",
        ]  # fmt: skip

    def test_no_cell_no_names_no_residues(self, lines):
        bare = Frame({"atoms": {"x": [1.0, 2.0], "y": [0.0, 0.0], "z": [0.0, 0.0]}})
        assert lines(bare)[2:] == [
            "    1UNK      X    1   0.100   0.000   0.000",
            "    1UNK      X    2   0.200   0.000   0.000",
            "   0.00000   0.00000   0.00000",
        ]

    @pytest.mark.parametrize(
        ("columns", "names"),
        [
            ({"element": ["O", "Na", "H"]}, ["O", "Na", "H"]),
            ({"atomic_number": np.array([8, 11, 0], "u8")}, ["O", "Na", "X"]),
            ({"type": ["opls1", "b", "c"], "element": ["O", "H", "H"]}, ["opls1", "b", "c"]),
            ({"type": ["opls_116", "b", "c"], "element": ["O", "H", "H"]}, ["O", "H", "H"]),
            ({"type": ["a b", " b", "c"], "element": ["O", "H", "H"]}, ["O", "H", "H"]),
        ],
    )
    @pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
    def test_what_atoms_are_called(self, lines, columns, names):
        made = Frame({"atoms": {"x": np.zeros(3), "y": np.zeros(3), "z": np.zeros(3), **columns}})
        assert [line[10:15].strip() for line in lines(made)[2:-1]] == names

    def test_numbers_keep_their_last_five_digits(self, lines):
        made = water(id=np.array([99999, 100000, 100001], "u8"), res_id=np.array([99999, 99999, 200000], "u8"))
        with pytest.warns(LossWarning, match=r"not carried by gro: atoms\.res_id$"):
            found = lines(made)
        assert [(line[:5], line[15:20]) for line in found[2:5]] == [
            ("99999", "99999"), ("99999", "    0"), ("    0", "    1")
        ]  # fmt: skip

    def test_numbers_that_go_on_are_no_loss(self, lines, tmp_path):
        count = 100_010
        zeros = dict.fromkeys("xyz", np.zeros(count))
        residues = (np.arange(count) // 3 + 99_000).astype("u8")
        made = water(count, id=np.arange(1, count + 1, dtype="u8"), res_id=residues, **zeros)
        assert lines(made, strict=True)[-2][:20] == "32336SOL    HW1   10"
        with pytest.warns(mc.errors.ConvertWarning, match="counted on"):
            back = mc.read(tmp_path / "out.gro").frame["atoms"]
        assert back["id"].tolist() == list(range(1, count + 1))
        assert back["res_id"].tolist() == residues.tolist()

    def test_negative_residues(self, lines):
        made = water(res_id=Column(np.array([0, 0, 5], "u8"), valid=[False, True, True]), res_seq=np.array([-3, 0, 5]))
        assert [line[:5] for line in lines(made)[2:5]] == ["   -3", "    0", "    5"]

    def test_nulls_of_numbers_and_names(self, lines):
        valid = [True, False, True]
        made = water(
            id=Column(np.array([7, 0, 9], "u8"), valid=valid),
            res_id=Column(np.array([4, 0, 4], "u8"), valid=valid),
            name=Column(["A", "", "C"], valid=valid),
        )
        with pytest.warns(LossWarning, match=r"nulls of atoms\.name, nulls of atoms\.id, nulls of atoms\.res_id"):
            found = lines(made)
        assert [line[:20] for line in found[2:5]] == [
            "    4SOL      A    7", "    0SOL           2", "    4SOL      C    9"
        ]  # fmt: skip

    def test_velocities_of_some_atoms(self, lines):
        valid = [True, False, True]
        made = water(**{name: Column(values, valid=valid) for name, values in VELOCITIES.items()})
        found = lines(made)
        assert [len(line) for line in found[2:5]] == [68, 44, 68]

    @pytest.mark.filterwarnings("error")
    def test_numbers_that_are_rounded_are_lost(self, lines):
        with pytest.warns(LossWarning) as caught:
            lines([water(x=[1 / 3, 0, 0]), water(x=[2 / 3, 0, 0])])
        assert [str(each.message) for each in caught] == ["not carried by gro: digits of atoms.x"]
        what = r"digits of atoms\.x: the numbers have 3 decimals of nm; --decimals writes more"
        with pytest.raises(LossError, match=what):
            lines(water(x=[1 / 3, 0, 0]), strict=True)
        lines(water(x=[1 / 3, 0, 0]), decimals=3)
        lines(water(x=Column([0.33, 0.01, 0], precision=1e-2)))
        lines(water(x=[123.45, 1e4, -99.99]))

    def test_a_declared_precision_tells_the_decimals(self, lines):
        columns = {name: Column([1 / 3, 0.25, 0], precision=1e-4) for name in "xyz"}
        assert lines(water(**columns))[2][20:] == "   0.03333" * 3

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"name": ["ABCDEF", "B", "C"]}, "atom 1: name 'ABCDEF' does not fit the 5 columns of the format"),
            ({"res_name": ["A", "BBBBBB", "C"]}, "atom 2: res_name 'BBBBBB' does not fit the 5 columns of the format"),
            ({"name": ["A", "é", "C"]}, "atom 2: name 'é' does not fit ASCII"),
            ({"name": ["A", "b\tc", "C"]}, r"atom 2: name 'b\tc' does not fit ASCII"),
            ({"x": [0, 1e5, 0]}, "atom 2: x = 10000.0 nm does not fit 8 columns"),
            ({"z": [0, 0, -1e4]}, "atom 3: z = -1000.0 nm does not fit 8 columns"),
            ({**VELOCITIES, "vx": [0, 0, 1e4]}, "atom 3: vx = 1000.0 nm/ps does not fit 8 columns"),
            ({"res_seq": np.array([-3, -10000, 5])}, "atom 2: res_seq -10000 does not fit the 5 columns of the format"),
            ({"x": Column([0.0, 1.0, 2.0], valid=[True, False, True])}, "atom 2 has no x"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
    def test_what_does_not_fit(self, lines, tmp_path, columns, message):
        with pytest.raises(ConvertError, match=re.escape(message)) as caught:
            lines(water(**columns))
        assert str(caught.value).startswith("out.gro")
        assert list(tmp_path.iterdir()) == []

    def test_full_fields_touch(self, lines):
        assert lines(water(x=[99999.99, 0, 0], y=[-9999.99, 0, 0]))[2][20:36] == "9999.999-999.999"

    def test_numbers_that_are_none(self, lines, read):
        """GROMACS prints them, too, of a simulation that blew up."""
        found = lines(water(y=[float("nan"), 0, float("-inf")]))
        assert [line[28:36] for line in found[2:5]] == ["     nan", "   0.000", "    -inf"]
        assert str(read("\n".join(found) + "\n").values("y")) == "[nan, 0.0, -inf]"

    def test_decimals(self, lines, tmp_path):
        with pytest.raises(OptionError, match="--decimals is at least 1 for gro"):
            lines(water(), decimals=0)
        for decimals in (1, 2, 6, 12):
            made = water(x=[1 / 3, -2 / 3, 5], **VELOCITIES)
            assert lines(made, decimals=decimals)[3].count(".") == 6
            back = mc.read(tmp_path / "out.gro").frame["atoms"]
            np.testing.assert_allclose(back["x"], made["atoms"]["x"], atol=5.001 * 10.0**-decimals)


class TestUnits:
    def test_nanometres_and_femtoseconds(self, lines):
        made = water(x=[0.25, 1.5, 2.0], **{name: np.array(values) / 1000 for name, values in VELOCITIES.items()})
        units = {"length": "nm", "time": "fs", "velocity": "nm/fs"}
        found = lines([made], units=units, time=[2000.0])
        assert found[0] == f"{WRITTEN} t=   2.00000 step= 0"
        assert found[4][20:] == "   2.000   2.500  -2.000 -3.0000  0.2500 99.0000"

    def test_a_velocity_of_another_unit(self, lines):
        made = water(**{name: np.array(values) / 1000 for name, values in VELOCITIES.items()})
        found = lines(made, units={"length": "angstrom", "time": "fs"})
        assert found[4][44:] == " -0.3000  0.0250  9.9000"

    def test_velocities_whose_unit_is_not_known(self, lines):
        with pytest.warns(LossWarning, match=r"not carried by gro: atoms\.vx, atoms\.vy, atoms\.vz"):
            assert len(lines(water(**VELOCITIES), units={"length": "angstrom"})[2]) == 44
        with pytest.warns(mc.errors.ConvertWarning, match="the velocities are taken for angstrom/ps"):
            assert len(lines(water(**VELOCITIES), units=None, decimals=5)[2]) == 80

    def test_a_time_whose_unit_is_not_known(self, lines):
        with pytest.warns(LossWarning, match="not carried by gro: time"):
            assert "t=" not in lines([water()], units={"length": "angstrom"}, time=[5.0])[0]


class TestCells:
    @pytest.mark.parametrize(
        ("box", "line"),
        [
            (Box.orthogonal((10, 12, 13)), CUBE),
            (Box.orthogonal(1 / 3), " 0.03333333333333333" * 3),
            (Box.orthogonal(400000.0), " 40000.00000 40000.00000 40000.00000"),
            (Box.from_rows([[30, 0, 0], [5, 28, 0], [-4, 6, 25]]),
             "   3.00000   2.80000   2.50000   0.00000   0.00000   0.50000   0.00000  -0.40000   0.60000"),
            (None, "   0.00000   0.00000   0.00000"),
        ],
    )  # fmt: skip
    def test_lines(self, lines, box, line):
        assert lines(water(box=box))[-1] == line

    @pytest.mark.parametrize("seed", range(5))
    def test_cells_are_exact(self, lines, tmp_path, seed):
        rows = np.tril(np.random.default_rng(seed).uniform(1, 90, (3, 3)))
        lines(water(box=Box.from_rows(rows)))
        assert mc.read(tmp_path / "out.gro").frame.box.vectors.T.tolist() == rows.tolist()

    @pytest.mark.parametrize(
        "rows", [[[0, 4, 4], [4, 0, 4], [4, 4, 0]], [[0, 5, 0], [0, 0, 6], [7, 0, 0]], -np.eye(3) + [0, 0, 2]]
    )
    def test_other_orientations_are_turned(self, lines, tmp_path, rows):
        rng = np.random.default_rng(1)
        columns = {name: rng.uniform(-3, 3, 3) for name in ("x", "y", "z", *VELOCITIES)}
        box = Box.from_rows(np.array(rows, float))
        with pytest.raises(LossError, match="gro cannot hold orientation of the cell"):
            lines(water(box=box, **columns), strict=True, decimals=9)
        with pytest.warns(LossWarning, match="orientation of the cell"):
            lines(water(box=box, **columns), decimals=9)
        back = mc.read(tmp_path / "out.gro").frame
        assert not np.tril(back.box.vectors, -1).any()
        np.testing.assert_allclose(back.box.parameters, box.parameters, rtol=1e-12)
        for names in (("x", "y", "z"), tuple(VELOCITIES)):
            before, after = (np.stack([each[name] for name in names]) for each in (columns, back["atoms"]))
            np.testing.assert_allclose(
                np.linalg.solve(back.box.vectors, after), np.linalg.solve(box.vectors, before), atol=1e-7
            )

    def test_a_left_handed_cell(self, lines, tmp_path):
        with pytest.warns(mc.errors.ConvertWarning) as caught:
            found = lines(water(box=Box(np.diag([10.0, 12.0, -13.0]))))
        assert found[-1] == CUBE
        assert found[3][20:] == "   0.100   0.150  -0.100"
        assert any("third vector is written reversed" in str(each.message) for each in caught)


class TestSeries:
    def test_moments(self, lines):
        found = lines([water()] * 2, step=[0, 750], time=[0.0, 1.23456789])
        assert [line for line in found if "Written" in line] == [
            f"{WRITTEN} t=   0.00000 step= 0", f"{WRITTEN} t= 1.23456789 step= 750"
        ]  # fmt: skip

    def test_steps_without_times(self, lines, tmp_path):
        lines([water()] * 3, step=[0, 750, 900])
        assert mc.read(tmp_path / "out.gro").trajectory.step.tolist() == [0, 750, 900]

    def test_a_time_that_was_changed(self, read, tmp_path):
        made = read(gro(*pair(), title="two waters, t= 2.5") + gro(*pair(), title="two waters, t= 3"))
        frames = list(made.record.trajectory)
        titles = [Meta({"gro_title": "two waters, t= 2.5"}), Meta({"gro_title": "two waters"})]
        frames = [Frame.of(dict(frame.items()), frame.box, meta) for frame, meta in zip(frames, titles, strict=True)]
        mc.write(tmp_path / "new.gro", frames, units=UNITS, time=[4.0, 5.0], step=[10, 20])
        found = (tmp_path / "new.gro").read_text().splitlines()
        assert found[0] == "two waters t=   4.00000 step= 10"
        assert found[5] == "two waters t=   5.00000 step= 20"

    def test_a_title_is_one_line(self, lines):
        with pytest.warns(LossWarning, match="not carried by gro: gro_title"):
            assert lines(water(meta={"gro_title": "two\nlines"}))[0] == "two lines"

    def test_no_atoms_between(self, lines, tmp_path):
        lines([water(), Frame({"atoms": Block(count=0)}), water(1)])
        record = mc.read(tmp_path / "out.gro")
        assert [frame["atoms"].count for frame in record.trajectory] == [3, 0, 1]


SAME = [
    THREE,
    gro(*pair(), title="two waters, t= 2.5"),
    gro(*pair(), title=""),
    gro(),
    gro(atom(1, (0.1, 0.2, 0.3), (1, 2, 3)), pair()[1]),
    gro(atom(99999, res_id=99999), atom(0, res_id=0), atom(1, res_id=-7)),
    gro(*pair(), box="0 0 0 0 0 0 0 0 0") + gro(*pair(), box="   1.00000   0.00000   1.00000"),
    gro(f"{atom()[:20]}{0.5:14.3f}{-100.25:14.3f}{7:14.3f}"),
    gro(f"{pair()[0]}{1.5:8.3f}{-2:8.3f}{0:8.3f}"),
    *(gro(*pair(), title=title) for title, _, _ in MOMENTS),
    *(gro(*pair(), box=line) for line, _ in BOXES),
    *(
        gro(*(atom(k, (k / 7 - 3, k / 3, 0.1), (k / 9, -k, 0), decimals=decimals) for k in range(9)), title="w")
        for decimals in (1, 2, 4, 6, 9, 12, 14)
    ),
]


class TestRestored:
    @pytest.mark.parametrize("data", SAME, ids=range(len(SAME)))
    @pytest.mark.parametrize("precision", [None, "auto"])
    def test_the_same_text(self, read, text_of, data, precision):
        made = read(data, precision=precision)
        assert text_of(made, "back.gro") == data

    def test_a_cell_that_was_changed(self, read, tmp_path):
        made = read(gro(*pair(), box="    0.7822838765564372 0.7353572647182051 0.9036518515423753"))
        frame = made.record.frame
        frame.box = Box.orthogonal((10, 12, 13))
        mc.write(tmp_path / "new.gro", frame)
        assert (tmp_path / "new.gro").read_text().splitlines()[-1] == CUBE

    def test_in_other_units(self, read, tmp_path):
        made = read(THREE, to_units="gromacs")
        assert made.values("x") == pytest.approx([0.1, 0.45])
        mc.convert(made.path, tmp_path / "back.gro")
        found = (tmp_path / "back.gro").read_text()
        assert re.sub(r"(\.[0-9]{5})[0-9]+", r"\1", found).split() == THREE.split()

    def test_more_decimals_on_request(self, read, text_of):
        assert (
            text_of(read(gro(*pair())), "back.gro", decimals=5).splitlines()[2][20:] == "   0.10000   0.20000   0.30000"
        )

    def test_box_line(self):
        assert box_line(None) == "   0.00000   0.00000   0.00000"
        assert text(box_line(np.diag([1.0, 2.0, 3.0]), 1.0)) == "   1.00000   2.00000   3.00000\n"
