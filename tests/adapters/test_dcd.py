"""DCD: every byte order and marker, fixed atoms, cells in three ways, steps and times."""

import itertools
import math

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapters._dcd_cell import read_cell
from molrec_convert.errors import UnknownFormatError
from molrec_convert.model import Box

from ..binaries import CHARMM, COSINES, NAMD, dcd, points
from ..converting import source_of


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned, so one engine is enough."""


AKMA = 0.04888821290839617
"""Of a time step in AKMA units, in ps: Å·(amu·mol/kcal)^½ of CODATA 2018, which is as close as a binary32 tells."""


def positions(made, frame=0):
    return np.array([made.values(axis, frame) for axis in "xyz"]).T


@pytest.mark.parametrize(("order", "width"), list(itertools.product("<>", (4, 8))))
@pytest.mark.parametrize("cells", [None, [COSINES] * 2])
def test_every_layout(converted, order, width, cells):
    frames = [points(5), points(5, 1)]
    made = converted(dcd(frames, order=order, width=width, cells=cells, istart=7, nsavc=3), "in.dcd")
    assert made.report.source_format == "dcd"
    for k, frame in enumerate(frames):
        assert np.array_equal(positions(made, k), frame.astype(float))
        assert (made.box(k) is None) == (cells is None)
    assert made.record.trajectory.step.tolist() == [7, 10]
    assert made.warnings == []


def test_numbers_are_widened_exactly_and_said_to_be_binary32(converted):
    values = np.float32([[0.1, 1e-30, -0.0], [3.4e38, 1.0 / 3.0, 16777216.0]])
    made = converted(dcd([values]), "in.dcd")
    assert positions(made).tolist() == values.astype(float).tolist()
    assert math.copysign(1.0, positions(made)[0][2]) == -1.0
    assert made.about["dcd_numbers"] == "binary32"
    assert made.atoms().column("x").precision is None
    assert made.record.meta["units"] == {"length": "angstrom", "time": "ps"}


# ---------------------------------------------------------------- what a header says
def test_facts_of_the_header(converted):
    title = f"{CHARMM}\n* AND ANOTHER LINE"
    made = converted(dcd([points(2)], istart=10, nsavc=5, delta=0.5, version=36, ndegf=99, title=title), "in.dcd")
    known = {key: made.about[key] for key in made.about if key.startswith("dcd_")}
    assert known == {
        "dcd_numbers": "binary32",
        "dcd_title": title,
        "dcd_nsavc": 5,
        "dcd_delta": 0.5,
        "dcd_version": 36,
        "dcd_ndegf": 99,
    }


@pytest.mark.parametrize(
    ("title", "read"),
    [
        (b"", ""),
        (b"test".ljust(80, b"\0"), "test"),
        (b"a".ljust(60) + b"\0\1\2rubbish".ljust(20, b"\xff") + b"b".ljust(80), "a\nb"),
        ("größe".encode().ljust(80), "größe"),
        ("größe".encode("latin-1").ljust(80), "größe"),
        (b" " * 160, ""),
        (b" " * 80 + b"x".ljust(80), "\nx"),
    ],
)
def test_titles(converted, title, read):
    assert converted(dcd([points(2)], title=title), "in.dcd").about["dcd_title"] == read


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("stated", [0, 84, 164, 404])
def test_a_title_whose_marker_is_wrong(converted, width, stated):
    data = dcd([points(3)] * 2, width=width, title="one\ntwo\nthree", title_marker=stated)
    made = converted(data, "in.dcd")
    assert made.about["dcd_title"] == "one\ntwo\nthree"
    assert made.report.frames == 2


@pytest.mark.parametrize("nset", [0, -1, 2, 5, 1])
def test_the_frames_that_are_there_count(converted, nset):
    made = converted(dcd([points(2), points(2, 1)], nset=nset), "in.dcd")
    assert made.report.frames == 2
    told = [f"in.dcd: the header counts {nset} frames, and there are 2"] if nset in (5, 1) else []
    assert made.warnings == told


def test_a_count_is_not_told_of_chosen_frames_before_the_end(converted):
    data = dcd([points(2)] * 3, nset=7)
    assert converted(data, "in.dcd", frames="0:2").warnings == []
    assert "counts 7 frames" in converted(data, "in.dcd", frames="-1").warnings[0]


def test_steps_that_stand_still(converted):
    made = converted(dcd([points(2)] * 3, istart=4, nsavc=0), "in.dcd")
    assert made.record.trajectory.step.tolist() == [0, 1, 2]
    assert [frame.meta["timestep"] for frame in made.record.trajectory] == [4, 4, 4]


# ---------------------------------------------------------------- times and units
@pytest.mark.parametrize(
    ("title", "version"),
    [(NAMD, 24), ("Created by OpenMM", 24), ("* a", 24), (CHARMM, 35), ("CREATED BY MOLREC-CONVERT, AKMA UNITS", 24)],
)
def test_times_of_programs_that_state_their_unit(converted, title, version):
    made = converted(dcd([points(2)] * 3, title=title, version=version, istart=100, nsavc=50, delta=0.5), "in.dcd")
    assert made.record.trajectory.time == pytest.approx([50 * AKMA, 75 * AKMA, 100 * AKMA], rel=1e-8)
    assert made.record.meta["units"]["time"] == "ps"
    assert made.warnings == []


@pytest.mark.parametrize(
    ("title", "version"),
    [("Created by DCD plugin", 24), ("", 24), ("REMARKS of X-PLOR", 0), ("no star", 36)],
)
def test_no_time_where_its_unit_is_not_known(converted, title, version):
    made = converted(dcd([points(2)] * 3, title=title, version=version, delta=1.0), "in.dcd")
    assert made.record.trajectory.time is None
    assert made.record.meta["units"] == {"length": "angstrom"}
    assert made.about["dcd_delta"] == 1.0
    advice = "the unit of the time step 1 is not known, so there is no time; --units akma is CHARMM's"
    assert made.warnings == [f"in.dcd: {advice}"]


def test_units_of_lammps_are_not_guessed(converted):
    data = dcd([points(2)] * 2, title="Written by LAMMPS", delta=2.0, nsavc=10)
    made = converted(data, "in.dcd")
    assert "units" not in made.record.meta
    assert made.record.trajectory.time is None
    assert made.warnings == [
        "in.dcd: LAMMPS writes its own units and does not state them: no unit is claimed, and there is no time; "
        "--units names them"
    ]
    made = converted(data, "in.dcd", units="real")
    assert made.record.meta["units"] == {"length": "angstrom", "time": "fs"}
    assert made.record.trajectory.time.tolist() == [0.0, 20.0]
    assert made.warnings == []
    made = converted(data, "in.dcd", units="si")
    assert made.record.meta["units"] == {"length": "angstrom", "time": "ps"}
    assert made.values("x", 1) == (points(2)[:, 0].astype(float) * 1e10).tolist()
    made = converted(data, "in.dcd", units="lj")
    assert made.record.meta["units"]["length"] == "sigma"
    assert made.record.trajectory.time.tolist() == [0.0, 20.0]


def test_units_that_a_person_states(converted):
    made = converted(dcd([points(2)] * 2, title="", delta=0.5), "in.dcd", units="akma")
    assert made.record.trajectory.time == pytest.approx([0.0, 0.5 * AKMA], rel=1e-8)
    with pytest.raises(mc.ConvertError, match="there is no unit style 'furlong'"):
        converted(dcd([points(2)]), "in.dcd", units="furlong")


@pytest.mark.parametrize("delta", [0.0, -1.0, math.nan, math.inf])
def test_a_time_step_that_is_none(converted, delta):
    assert converted(dcd([points(2)] * 2, delta=delta), "in.dcd").record.trajectory.time is None


def test_x_plor_has_a_time_step_in_binary64(converted):
    made = converted(dcd([points(2)] * 2, version=0, delta=0.1), "in.dcd", units="akma")
    assert made.about["dcd_delta"] == 0.1
    assert made.box() is None


def test_velocities_keep_their_numbers(converted):
    made = converted(dcd([points(3), points(3, 1)], kind=b"VELD", version=36, title=CHARMM, delta=0.5), "in.dcd")
    assert list(made.atoms()) == ["vx", "vy", "vz"]
    assert made.values("vz", 1) == points(3, 1)[:, 2].tolist()
    assert made.record.meta["units"] == {"length": "angstrom", "time": "ps", "velocity": "angstrom/akma"}


# ---------------------------------------------------------------- fixed atoms, a fourth coordinate
@pytest.mark.parametrize(("order", "width"), [("<", 4), (">", 8)])
@pytest.mark.parametrize("cells", [None, [COSINES] * 3])
@pytest.mark.parametrize("frames", [None, "1:", "-1"])
def test_fixed_atoms(converted, order, width, cells, frames):
    """Frames after the first hold the free atoms alone, in an order of their own."""
    data = dcd([points(6, k) for k in range(3)], free=[4, 1, 2], order=order, width=width, cells=cells)
    made = converted(data, "in.dcd", frames=frames)
    due = [points(6), points(6).copy(), points(6).copy()]
    for k in (1, 2):
        due[k][[1, 2, 4]] = points(6, k)[[1, 2, 4]]
    due = due[{None: slice(0, None), "1:": slice(1, None), "-1": slice(2, None)}[frames]]
    assert made.report.frames == len(due)
    for k, rows in enumerate(due):
        assert np.array_equal(positions(made, k), rows.astype(float))
        assert made.values("move_mask", k) == [False, True, True, False, True, False]
    assert "move_mask" in made.fixed


def test_all_atoms_may_be_fixed(converted):
    made = converted(dcd([points(2), points(2, 1)], free=[]), "in.dcd")
    assert np.array_equal(positions(made, 1), points(2).astype(float))


@pytest.mark.parametrize("cells", [None, [COSINES] * 2])
@pytest.mark.parametrize("free", [None, [0, 2]])
def test_a_fourth_coordinate(converted, cells, free):
    fourth = [np.float32([1.5, 2.5, 3.5]), np.float32([4.5, 5.5, 6.5])]
    made = converted(dcd([points(3), points(3, 1)], fourth=fourth, cells=cells, free=free), "in.dcd")
    assert made.values("w", 0) == [1.5, 2.5, 3.5]
    assert made.values("w", 1) == ([4.5, 5.5, 6.5] if free is None else [4.5, 2.5, 6.5])


# ---------------------------------------------------------------- cells
def test_the_six_numbers_as_cosines(converted):
    made = converted(dcd([points(2)], cells=[COSINES]), "in.dcd")
    a, b, c, *angles = made.box().parameters
    assert (a, b, c) == pytest.approx((10.0, 12.0, 14.0))
    assert [math.cos(math.radians(angle)) for angle in angles] == pytest.approx([-0.125, 0.25, 0.5])
    assert made.box().boundary.all()
    assert made.about["dcd_cell"] == COSINES
    assert made.about["dcd_cell_convention"] == "cosines"


def test_right_angles_are_exact(converted):
    for numbers in ((10.0, 0.0, 12.0, 0.0, 0.0, 14.0), (10.0, 90.0, 12.0, 90.0, 90.0, 14.0)):
        made = converted(dcd([points(2)], cells=[numbers]), "in.dcd")
        assert made.box().vectors.tolist() == np.diag([10.0, 12.0, 14.0]).tolist()


MATRIX = (30.84, 14.57, 31.78, 9.62, -2.61, 32.67)
"""What CHARMM wrote of a triclinic cell."""
HEXAGONAL = (40.0, 0.0, 40.0, 0.0, 0.0, 60.0)


@pytest.mark.parametrize(
    ("numbers", "version", "convention"),
    [
        (COSINES, 24, "cosines"),
        ((40.0, -0.5, 40.0, 0.0, 0.0, 60.0), 24, "cosines"),
        ((40.0, 120.0, 40.0, 90.0, 90.0, 60.0), 24, "degrees"),
        ((40.0, 120.0, 40.0, 90.0, 90.0, 60.0), 40, "degrees"),
        ((200.0, 90.0, 210.0, 90.0, 90.0, 220.0), 40, "degrees"),
        ((81.1, 85.0, 82.2, 80.0, 75.0, 83.3), 24, "degrees"),
        (MATRIX, 36, "matrix"),
        (MATRIX, 24, "matrix"),
        ((50.0, 12.0, 50.0, 0.0, 12.0, 50.0), 24, "matrix"),
        ((50.0, 0.5, 50.0, 0.25, 0.125, 50.0), 36, "matrix"),
        ((50.0, 0.5, 50.0, 0.25, 0.125, 50.0), 24, "cosines"),
        ((50.0, 2.0, 50.0, 3.0, 4.0, 50.0), 24, "matrix"),
        ((90.0, 70.0, 90.0, 75.0, 80.0, 90.0), 24, "degrees"),
    ],
)
def test_how_the_six_numbers_are_understood(numbers, version, convention):
    cell = read_cell(numbers, version)
    assert cell.convention == convention
    if convention == "matrix":
        xx, xy, yy, xz, yz, zz = numbers
        assert cell.vectors.tolist() == [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    else:
        assert (cell.vectors.diagonal() > 0.0).all()
        assert not np.tril(cell.vectors, -1).any()


def test_a_cell_that_may_be_either_is_told(converted):
    numbers = (90.0, 70.0, 90.0, 75.0, 80.0, 90.0)
    assert read_cell(numbers, 24).convention == "degrees"
    warnings = converted(dcd([points(2)], cells=[numbers]), "in.dcd").warnings
    assert warnings == [
        "in.dcd: the numbers 90 70 90 75 80 90 of the cell are taken for angles in degrees, "
        "and may be a symmetric matrix"
    ]


@pytest.mark.parametrize("numbers", [(0.0,) * 6, (0.0, 90.0, 0.0, 90.0, 90.0, 0.0)])
def test_zeros_are_no_cell(converted, numbers):
    made = converted(dcd([points(2)], cells=[numbers]), "in.dcd")
    assert made.box() is None
    assert made.warnings == []


@pytest.mark.parametrize(
    "numbers",
    [
        (10.0, 0.0, 0.0, 0.0, 0.0, 10.0),
        (10.0, 0.0, -1.0, 0.0, 0.0, 10.0),
        (10.0, math.nan, 10.0, 0.0, 0.0, 10.0),
        (math.inf, 0.0, 10.0, 0.0, 0.0, 10.0),
        (10.0, 1.0, 10.0, 0.0, 0.0, 10.0),
        (10.0, 150.0, 10.0, 150.0, 150.0, 10.0),
    ],
)
def test_numbers_that_make_no_cell_are_told(converted, numbers):
    made = converted(dcd([points(2)], cells=[numbers]), "in.dcd")
    assert made.box() is None
    spelled = " ".join(f"{number:g}" for number in numbers)
    assert made.warnings == [f"in.dcd: the numbers {spelled} make no cell"]
    assert repr(made.about["dcd_cell"]) == repr(numbers)


def test_cells_that_come_and_change(converted):
    cells = [(0.0,) * 6, (10.0, 0.0, 10.0, 0.0, 0.0, 10.0), (11.0, 0.0, 10.0, 0.0, 0.0, 10.0)]
    made = converted(dcd([points(2)] * 3, cells=cells), "in.dcd")
    frames = list(made.record.trajectory)
    assert frames[0].box is None or not frames[0].meta["cell_defined"]
    assert [made.box(k).vectors[0, 0] for k in (1, 2)] == [10.0, 11.0]


@pytest.mark.parametrize("flag", [True, False])
def test_the_first_record_tells_whether_there_are_cells(converted, flag):
    """The flag of the header may lie, and is asked only where a cell is as long as the positions of all atoms."""
    for cells in (None, [COSINES] * 2):
        made = converted(dcd([points(5)] * 2, cells=cells, cell_flag=flag), "in.dcd")
        assert (made.box() is None) == (cells is None)
        assert np.array_equal(positions(made, 1), points(5).astype(float))
    made = converted(dcd([points(12)] * 2, cells=[COSINES] * 2), "in.dcd")
    assert made.box() is not None
    made = converted(dcd([points(12)] * 2), "in.dcd")
    assert made.box() is None


def test_orientation_of_a_matrix(converted):
    made = converted(dcd([points(2)], cells=[MATRIX], version=36, title=CHARMM), "in.dcd")
    assert np.array_equal(made.box().vectors, made.box().vectors.T)
    assert isinstance(made.box(), Box)


# ---------------------------------------------------------------- how it is found, and read in part
def test_it_is_known_by_its_content(tmp_path, converted):
    for order, width, kind in itertools.product("<>", (4, 8), (b"CORD", b"VELD")):
        made = converted(dcd([points(2)], order=order, width=width, kind=kind), "no-name")
        assert made.report.source_format == "dcd"
    source_of(tmp_path, b"\x54\0\0\0CORE" + bytes(100), "no-name")
    with pytest.raises(UnknownFormatError):
        mc.convert(tmp_path / "no-name", tmp_path / "out.h5", force=True)


def test_frames_of_a_stream(tmp_path):
    data = dcd([points(3, k) for k in range(5)], free=[1], cells=[COSINES] * 5)
    path = source_of(tmp_path, data, "in.dcd")
    with path.open("rb") as stream:
        mc.convert(stream, tmp_path / "out.h5", frames="1:4:2")
    with mc.open(tmp_path / "out.h5") as record:
        assert [frame["atoms"]["x"][1] for frame in record.trajectory] == [points(3, k)[1, 0] for k in (1, 3)]


# ---------------------------------------------------------------- real files
def test_fixed_atoms_of_charmm(sample_data, converted):
    made = converted((sample_data / "dcd" / "fixed_atoms.dcd").read_bytes(), "in.dcd")
    assert made.record.trajectory.step.tolist() == list(range(10, 101, 10))
    assert made.record.trajectory.time[-1] == pytest.approx(100 * 0.00020454828336369246 * AKMA, rel=1e-7)
    assert positions(made, 9)[-1].tolist() == [3.963728427886963, -1.0333921909332275, 10.0]
    assert positions(made, 9).sum(axis=0) == pytest.approx([-0.0003153085708618164, 0.0005152225494384766, 60.0])
    free = np.array(made.values("move_mask"))
    assert free.sum() == 6
    assert (positions(made, 0) == positions(made, 9)).all(axis=1).tolist() == (~free).tolist()


def test_another_byte_order(sample_data, converted):
    made = converted((sample_data / "dcd" / "big_endian.dcd").read_bytes(), "in.dcd")
    assert made.report.frames == 50
    assert positions(made, 49)[-1].tolist() == [-2.91054368019104, -1.365830898284912, 0.6289071440696716]


def test_a_tilted_cell_of_lammps(sample_data, converted):
    made = converted((sample_data / "dcd" / "triclinic_lammps.dcd").read_bytes(), "in.dcd", units="metal")
    due = (12.15, 12.476366658606983, 12.423667936644152, 97.4176852608793, 82.50750797175957, 76.86597769360368)
    assert made.box(6).parameters == pytest.approx(due)
    assert not np.tril(made.box().vectors, -1).any()
    assert made.record.trajectory.step.tolist() == list(range(0, 61, 10))
    assert made.record.trajectory.time.tolist() == [step * float(np.float32(0.002)) for step in range(0, 61, 10)]
    assert made.record.meta["units"] == {"length": "angstrom", "time": "ps"}
