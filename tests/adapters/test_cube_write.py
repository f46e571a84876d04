"""Writing CUBE: the text of the source where nothing was changed, Gaussian's layout, what is refused."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, LossError, LossWarning
from molrec_convert.mapping.units import CONSTANTS
from molrec_convert.model import Block, Box, Column, Frame
from molrec_convert.records import open_record

from ..cubes import WATER, cube

BOHR = float(CONSTANTS["Bohr radius"] * 10**10)
ANGSTROM = {"length": "angstrom"}


def frame_of(values=None, *, grid=None, box=None, atoms=None, meta=None):
    """A frame of a small grid, as it may come from anywhere."""
    fields = {"density": np.arange(6.0)} if values is None else values
    blocks = {"grid": Block(fields, shape=(1, 2, 3)) if grid is None else grid}
    if atoms is not None:
        blocks["atoms"] = atoms
    return Frame(
        blocks, box=Box.orthogonal([1, 2, 3], origin=[0, 0, 1], boundary=[False] * 3) if box is None else box, meta=meta
    )


@pytest.fixture
def written(tmp_path):
    """The text of a frame, or of frames."""

    def write(data, **options):
        path = tmp_path / "out.cube"
        mc.write(path, data, force=True, **options)
        return path.read_text()

    return write


class TestSameText:
    @pytest.mark.parametrize(
        "text",
        [
            cube(),
            cube(atoms=WATER, counts=(3, 2, 13), origin=(-1.25, 0, 3.000001)),
            cube(counts=(-2, -1, -3), origin=(1, 2, 3)),
            cube(steps=((0.1, 0.2, 0.3), (-0.4, 0.5, 0.6), (0, -0.1, 0.123457))),
            cube(atoms=()),
            cube(nval=1),
            cube(nval=4),
            cube(nval=7, counts=(2, 2, 3)),
            cube(orbitals="    1    5"),
            cube(orbitals="    3    4   17    6", nval=1),
            cube(orbitals="    2    7    7"),
            cube(orbitals="    2    7   -7"),
            cube(orbitals="   12" + "".join(f"{k:5d}" for k in range(1, 10)) + "\n   10   11   12"),
            cube(atoms=((0, 0.0, 0, 0, 0), (-8, 8.0, 1, 1, 1), (119, 0.0, 2, 2, 2), (6, 4.0, -0.0, 2, 2))),
            cube(comments=" spaces \n\tand a tab "),
            cube(comments="\n"),
            cube(comments="å\nβ"),
            cube([-1.5, 0, -0.0, 1e99, -1e-99, 9.99999e-10]),
            cube(counts=(2, 3, 1), steps=((1, 0, 0), (0, 1, 0), (0, 0, 0))),
            cube() + cube(comments="a\nb", atoms=WATER),
        ],
    )
    def test_of_an_untouched_cube(self, converted, text_of, text):
        made = converted(text, "in.cube")
        assert text_of(made, "back.cube") == text

    def test_of_random_lengths(self, converted, text_of):
        rng = np.random.default_rng(5)
        atoms = [(int(z), q, *xyz) for z, q, xyz in zip(rng.integers(0, 119, 300), rng.random(300),
                                                        rng.normal(size=(300, 3)) * 50, strict=True)]  # fmt: skip
        text = cube(atoms=atoms, origin=rng.normal(size=3).tolist(), steps=rng.normal(size=(3, 3)).tolist())
        assert text_of(converted(text, "in.cube"), "back.cube") == text

    def test_from_cube_to_cube(self, tmp_path):
        source, target = tmp_path / "a.cube", tmp_path / "b.cube"
        source.write_text(cube(orbitals="    2    3    4"))
        report = convert(source, target)
        assert target.read_text() == source.read_text()
        assert not report.losses
        assert report.warnings == []


class TestExact:
    def test_a_header_of_more_digits(self, converted, text_of):
        text = cube().replace("0.000000    0.000000    0.221098", "-0.49866053383518E-015 0.5258162964755E+01 1D-7")
        made = converted(text, "in.cube")
        back = text_of(made, "back.cube")
        assert back.splitlines()[6] == "    8    8.000000 -4.9866053383518e-16 5.258162964755       1e-07"
        again = converted(back, "in.cube")
        assert again.record.frame.same(made.record.frame)

    def test_values_of_more_digits(self, converted, text_of):
        values = "1.2345678901234567e-05 2.5 -3.1\n"
        made = converted(cube(values, counts=(1, 1, 3)), "in.cube")
        back = text_of(made, "back.cube")
        assert back.splitlines()[-1] == "  1.2345678901234568E-05  2.5000000000000000E+00 -3.1000000000000001E+00"
        assert converted(back, "in.cube").record.frame.same(made.record.frame)

    def test_large_numbers_stay_apart(self, converted, text_of):
        text = cube([-1e-101, 1e101, -1e-101], origin=(10000, -10000, 123456.5), counts=(1, 1, 3))
        made = converted(
            text.replace("    110000.000000-10000.000000123456.500000", "1 10000 -10000 123456.5"), "in.cube"
        )
        lines = text_of(made, "back.cube").splitlines()
        assert lines[2] == "    1 10000.000000 -10000.000000 123456.500000"
        assert lines[7] == "-1.00000E-101 1.00000E+101 -1.00000E-101"
        assert converted(text_of(made, "back.cube"), "in.cube").record.frame.same(made.record.frame)

    def test_sample_data(self, sample_data, tmp_path):
        for source in sorted((sample_data / "cube").iterdir()):
            convert(source, tmp_path / "1.h5", force=True)
            convert(tmp_path / "1.h5", tmp_path / "2.cube", force=True)
            convert(tmp_path / "2.cube", tmp_path / "3.h5", force=True)
            with open_record(tmp_path / "1.h5") as one, open_record(tmp_path / "3.h5") as other:
                assert frames_of(one)[0].same(frames_of(other)[0])
        density, potential = (frame_in(path)[0] for path in sorted((sample_data / "cube").iterdir()))
        assert (density["grid"].shape, potential["grid"].shape) == ((12, 13, 14), (9, 18, 6))
        assert density["grid"]["density"][[0, 1, -1]].tolist() == [3.7296e-3, 3.64707e-3, 2.48713e-3]
        assert potential["grid"]["density"][:3].tolist() == [-4.8347, -0.93627, 0.17633]
        text = (sample_data / "cube" / "silicon_density.cube").read_text()
        convert(sample_data / "cube" / "silicon_density.cube", tmp_path / "same.cube")
        assert (tmp_path / "same.cube").read_text() == text

    def test_real_files(self, shared, tmp_path):
        for source in sorted((shared / "corpus" / "cube").iterdir()):
            first, text, second = tmp_path / "1.h5", tmp_path / "2.cube", tmp_path / "3.h5"
            convert(source, first, force=True)
            report = convert(first, text, force=True)
            assert set(report.losses.losses) <= {"step"}, source
            convert(text, second, force=True)
            with open_record(first) as one, open_record(second) as other:
                for a, b in zip(frames_of(one), frames_of(other), strict=True):
                    assert a.same(b), source


def frame_in(path):
    """The frame of a file of one."""
    frame = mc.read(path).frame
    assert frame is not None
    assert frame.box is not None
    return frame, frame.box


def frames_of(record):
    return [record.frame] if record.trajectory is None else list(record.trajectory)


class TestEdited:
    @pytest.fixture
    def record(self, converted):
        made = converted(cube(atoms=WATER, origin=(1, 0, 0)), "in.cube")
        frame = made.record.frame
        return mc.Record(meta={"units": ANGSTROM}, frame=Frame(dict(frame), box=frame.box, meta=frame.meta))

    def test_another_cell(self, record, written):
        box = record.frame.box
        record.frame.box = Box(box.vectors * 2, origin=box.origin, boundary=box.boundary)
        lines = written(record).splitlines()
        assert lines[2] == "    3    1.000000    0.000000    0.000000"
        assert lines[3] == "    2    2.000000    0.000000    0.000000"

    def test_another_origin(self, record, written):
        box = record.frame.box
        record.frame.box = Box(box.vectors, origin=[0, 0, 1.5 * BOHR], boundary=box.boundary)
        lines = written(record).splitlines()
        assert lines[2] == "    3    0.000000    0.000000    1.500000"
        assert lines[3] == "    2    1.000000    0.000000    0.000000"

    @pytest.mark.filterwarnings("ignore:not carried by cube. name of")
    def test_other_fields(self, record, written):
        record.frame["grid"]["spin"] = np.zeros(6)
        assert written(record).splitlines()[2].endswith("0.000000    2")

    def test_in_other_units(self, converted, tmp_path):
        made = converted(cube(atoms=WATER), "in.cube")
        convert(made.path, tmp_path / "nm.h5", to_units="gromacs")
        convert(tmp_path / "nm.h5", tmp_path / "nm.cube")
        again, box = frame_in(tmp_path / "nm.cube")
        np.testing.assert_allclose(again["atoms"]["y"], made.values("y"), rtol=1e-15)
        np.testing.assert_allclose(box.vectors, made.box().vectors, rtol=1e-15)
        assert again["grid"]["density"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore:not carried by cube. .*digits of")
class TestForeign:
    def test_a_frame_from_anywhere(self, written):
        atoms = Block({"element": ["O", "H"], "x": [0.0, 1], "y": [0.0, -1], "z": [0.25, 10]})
        text = written(frame_of(atoms=atoms))
        assert text == (
            "written by molrec-convert\ndensity\n"
            "    2    0.000000    0.000000    1.889726\n"
            "    1    1.889726    0.000000    0.000000\n"
            "    2    0.000000    1.889726    0.000000\n"
            "    3    0.000000    0.000000    1.889726\n"
            "    8    8.000000    0.000000    0.000000    0.472432\n"
            "    1    1.000000    1.889726   -1.889726   18.897261\n"
            "  0.00000E+00  1.00000E+00  2.00000E+00\n"
            "  3.00000E+00  4.00000E+00  5.00000E+00\n"
        )

    def test_decimals(self, written):
        lines = written(frame_of({"density": np.full(6, 1 / 3)}), decimals=9).splitlines()
        assert lines[2] == "    0    0.000000000    0.000000000    1.889726126"
        assert lines[6] == "  3.333333333E-01  3.333333333E-01  3.333333333E-01"
        lines = written(frame_of({"density": np.full(6, 1 / 3)}), decimals=2).splitlines()
        assert lines[2] == "    0    0.000000    0.000000    1.889726"
        assert lines[6] == "  3.33E-01  3.33E-01  3.33E-01"

    @pytest.mark.filterwarnings("ignore:not carried by cube. nulls")
    def test_columns_of_the_atoms(self, written):
        xyz = {name: [0.0, 0.0] for name in "xyz"}
        both = Block({"atomic_number": np.array([6, 0], np.uint64), "nuclear_charge": [4.0, 0.5], **xyz})
        assert [line[:17] for line in written(frame_of(atoms=both)).splitlines()[6:8]] == [
            "    6    4.000000", "    0    0.500000",
        ]  # fmt: skip
        holes = Block({"atomic_number": Column(np.array([6, 7], np.uint64), valid=[True, False]), **xyz})
        assert [line[:17] for line in written(frame_of(atoms=holes)).splitlines()[6:8]] == [
            "    6    6.000000", "    0    0.000000",
        ]  # fmt: skip
        unknown = Block({"element": ["X", ""], **xyz})
        assert [line[:17] for line in written(frame_of(atoms=unknown)).splitlines()[6:8]] == ["    0    0.000000"] * 2

    def test_many_atoms(self, written, converted):
        columns = {"element": ["He"] * 100_000, **{name: np.zeros(100_000) for name in "xyz"}}
        text = written(frame_of(atoms=Block(columns)))
        assert text.splitlines()[2].startswith(" 100000    0.000000")
        assert converted(text, "in.cube").atoms().count == 100_000

    @pytest.mark.filterwarnings("ignore:not carried by cube. name of")
    @pytest.mark.parametrize(
        ("fields", "line", "first"),
        [
            ({"esp": [0, 1, 2, 3, 4, 5.5]}, "", [0, 1, 2]),
            ({"count": np.arange(6)}, "", [0, 1, 2]),
            ({"value_10": np.full(6, 10.0), "value_9": np.full(6, 9.0)}, "    2", [9, 10, 9, 10, 9, 10]),
            ({"b": np.full(6, 1.0), "a": np.full(6, 2.0)}, "    2", [1, 2, 1, 2, 1, 2]),
            ({"density": np.zeros(6), "gradient": np.arange(18.0).reshape(6, 3)}, "    4", [0, 0, 1, 2, 0, 3]),
        ],
    )
    def test_fields(self, written, fields, line, first):
        lines = written(frame_of(fields)).splitlines()
        assert lines[2][41:] == line
        assert [float(word) for word in lines[6].split()] == first

    def test_orbitals(self, written, converted):
        atoms = Block({"element": ["O"], "x": [0.0], "y": [0.0], "z": [0.0]})
        fields = {f"mo_{k}": np.full(6, float(k)) for k in (5, 12345, 4)}
        text = written(frame_of(fields, atoms=atoms))
        assert text.splitlines()[2].startswith("   -1    0.0")
        assert text.splitlines()[7] == "    3    5 12345    4"
        made = converted(text, "in.cube")
        assert {name: column.values[0] for name, column in made.record.frame["grid"].columns.items()} == {
            "mo_5": 5, "mo_12345": 12345, "mo_4": 4,
        }  # fmt: skip

    @pytest.mark.filterwarnings("ignore:not carried by cube. nulls of grid")
    def test_nulls_and_numbers_that_are_none(self, written):
        field = Column(np.array([1, np.nan, np.inf, -np.inf, 5, 6]), valid=[False, *[True] * 5])
        lines = written(frame_of({"density": field})).splitlines()
        assert lines[6:] == ["          nan          nan          inf", "         -inf  5.00000E+00  6.00000E+00"]

    @pytest.mark.parametrize(
        ("comment", "lines"),
        [("one", ["one", ""]), ("one\ntwo\nthree", ["one", "two three"]), ("", ["", ""]), ("\r", ["\r", ""])],
    )
    @pytest.mark.filterwarnings("ignore:not carried by cube. comment")
    def test_comments(self, written, comment, lines):
        text = written(frame_of(meta={"comment": comment}))
        assert text.split("\n")[:2] == lines or comment == "\r"

    @pytest.mark.filterwarnings("ignore:not carried by cube. step")
    def test_several_frames(self, written, converted):
        text = written([frame_of(), frame_of({"density": np.ones(6)})])
        made = converted(text, "in.cube")
        assert [frame["grid"]["density"].sum() for frame in made.record.trajectory] == [15, 6]

    def test_units(self, written):
        assert "0.000000    0.000000   18.897261" in written(frame_of(), units={"length": "nm"}).splitlines()[2]
        assert "0.000000    0.000000    1.000000" in written(frame_of(), units={"length": "bohr"}).splitlines()[2]


XYZ = {name: [0.0] for name in "xyz"}
REFUSED = [
    (Frame({"atoms": {"x": [0.0]}}), "a cube holds a grid, and the frame has no block 'grid'"),
    (frame_of(grid=Block({"density": [0.0]})), "the block 'grid' has no structural shape of three axes"),
    (frame_of(grid=Block({"density": [0.0]}, shape=(1, 1))), "the block 'grid' has no structural shape of three axes"),
    (frame_of(grid=Block(count=6, shape=(1, 2, 3))), "the block 'grid' holds no values"),
    (frame_of(grid=Block({"density": np.zeros(0)}, shape=(0, 2, 3))), "the block 'grid' holds no values"),
    (frame_of({"phase": np.zeros(6, complex)}), "a cube holds reals, and the column 'phase' of 'grid' is c128"),
    (frame_of({"label": ["a"] * 6}), "a cube holds reals, and the column 'label' of 'grid' is string"),
    (Frame({"grid": frame_of()["grid"]}), "a cube needs the cell of its grid, and the frame has no box"),
    (frame_of(box=Box.undefined()), "a cube needs the cell of its grid, and the box of the frame is not defined"),
    (frame_of(atoms=Block({"element": ["O"], "x": [0.0]})),
     "a cube needs the positions of its atoms, and they have no y, z"),
    (frame_of(atoms=Block(XYZ)),
     "a cube needs the elements of its atoms, and they have neither atomic_number nor element"),
    (frame_of(atoms=Block({"element": ["O", "Ow"], **{name: [0.0, 0] for name in "xyz"}})),
     "a cube needs atomic numbers, and 'Ow' of row 1 is no element"),
    (frame_of({"mo_1": np.zeros(6)}), "a cube without atoms cannot say which orbitals it holds"),
]  # fmt: skip


class TestRefused:
    @pytest.mark.parametrize(("frame", "message"), REFUSED, ids=[message[:50] for _, message in REFUSED])
    def test_a_frame(self, tmp_path, frame, message):
        with pytest.raises(ConvertError) as caught:
            mc.write(tmp_path / "out.cube", frame)
        assert str(caught.value) == f"out.cube (frame 0): {message}"
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_unit(self, tmp_path):
        with pytest.raises(ConvertError, match="lengths are in sigma, and a cube has them in bohr"):
            mc.write(tmp_path / "out.cube", frame_of(), units={"length": "sigma"})

    def test_what_is_not_carried(self, tmp_path):
        atoms = Block({"element": ["O"], "vx": [0.0], **XYZ})
        with pytest.raises(LossError, match=r"cube cannot hold atoms\.vx"):
            mc.write(tmp_path / "out.cube", frame_of(atoms=atoms), strict=True)
        assert list(tmp_path.iterdir()) == []

    def test_losses(self, tmp_path):
        fields = {"esp": np.zeros(6), "mo_1": Column(np.zeros(6), valid=[False, *[True] * 5])}
        box = Box.orthogonal([1, 2, 3], boundary=[False, True, False])
        with pytest.warns(LossWarning) as caught:
            mc.write(tmp_path / "out.cube", frame_of(fields, box=box, meta={"pe": 1.0}))
        assert [str(warning.message) for warning in caught] == [
            "not carried by cube: pe, box.boundary, name of grid.esp, name of grid.mo_1, nulls of grid.mo_1, "
            "digits of box"
        ]

    @pytest.mark.parametrize("fields", [{"density": np.zeros(6)}, {"value_2": np.zeros(6), "value_1": np.zeros(6)}])
    def test_nothing_is_lost(self, tmp_path, fields):
        mc.write(tmp_path / "out.cube", frame_of(fields), units={"length": "bohr"}, strict=True)


class TestOtherPrograms:
    @pytest.mark.filterwarnings("ignore:not carried by cube. .*digits of")
    def test_ase(self, tmp_path, written):
        ase_cube = pytest.importorskip("ase.io.cube")
        values = np.random.default_rng(1).normal(size=6)
        atoms = Block({"element": ["C", "O"], "x": [0.5, 1], "y": [0.0, -1], "z": [0.25, 10]})
        written(
            frame_of(
                {"density": values},
                atoms=atoms,
                box=Box([[1, 0.5, 0], [0, 2, 0], [0, 0, 3]], origin=[1, 2, 3], boundary=[False] * 3),
            )
        )
        with (tmp_path / "out.cube").open() as file:
            found = ase_cube.read_cube(file)
        np.testing.assert_allclose(found["data"], values.reshape(1, 2, 3), rtol=1e-5)
        np.testing.assert_allclose(found["origin"], [1, 2, 3], atol=1e-6)
        np.testing.assert_allclose(found["atoms"].cell[:], np.array([[1, 0, 0], [0.5, 2, 0], [0, 0, 3]]), atol=1e-5)
        np.testing.assert_allclose(found["atoms"].positions, np.array([[0.5, 0, 0.25], [1, -1, 10]]), atol=1e-6)
        assert found["atoms"].get_chemical_symbols() == ["C", "O"]

    def test_ase_writes_what_we_read(self, tmp_path):
        ase = pytest.importorskip("ase")
        from ase.io.cube import write_cube

        atoms = ase.Atoms("CO", [[0, 0, 0], [1.1, 0, 0.3]], cell=[[3, 0, 0], [1, 4, 0], [0, 0, 5]])
        values = np.random.default_rng(2).normal(size=(3, 4, 5))
        with (tmp_path / "ase.cube").open("w") as file:
            write_cube(file, atoms, data=values, origin=[0.5, 0, 0])
        frame, box = frame_in(tmp_path / "ase.cube")
        np.testing.assert_allclose(frame["grid"]["density"].reshape(3, 4, 5), values, rtol=1e-6)
        np.testing.assert_allclose(box.vectors.T, atoms.cell[:], atol=1e-5)
        np.testing.assert_allclose(box.origin, [0.5, 0, 0], atol=1e-6)
        assert frame["atoms"]["element"].tolist() == ["C", "O"]

    @pytest.mark.filterwarnings("ignore:not carried by cube. .*digits of")
    def test_ovito(self, tmp_path, written):
        pytest.importorskip("ovito")
        from ovito.io import import_file

        atoms = Block({"element": ["C"], "x": [0.5], "y": [0.0], "z": [0.25]})
        written(frame_of(atoms=atoms))
        found = import_file(str(tmp_path / "out.cube")).compute()
        np.testing.assert_allclose(found.particles.positions[...], [[0.5, 0, 0.25]], atol=1e-6)
        grid = next(iter(found.grids.values()))
        assert tuple(grid.shape) == (1, 2, 3)
