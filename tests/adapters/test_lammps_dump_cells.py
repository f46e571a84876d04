"""LAMMPS dump: cells in their three forms, their boundaries, and the positions that depend on them."""

import numpy as np
import pytest

from molrec_convert.errors import FormatError, OptionError

from ..dumps import snapshot, snapshots

TILTED = ("-1.5 12.5 2", "-1.5 9 -1", "0 8 -1.5")
"""The bounding box, with xy xz yz, of a cell with edges of 11, 9 and 8 at an origin of -0.5, 0, 0."""
GENERAL = ("0 4 4 -1", "4 0 4 -2", "4 4 0 -3")


def cell_of(made, frame=0):
    """Rows a, b, c, origin and boundary."""
    box = made.box(frame)
    return box.vectors.T.tolist(), box.origin.tolist(), box.boundary.tolist()


def test_orthogonal(converted):
    made = converted(snapshot("1 1 0 0 0", bounds=("-5 5", "2 6", "0 20")))
    assert cell_of(made) == ([[10, 0, 0], [0, 4, 0], [0, 0, 20]], [-5, 2, 0], [True] * 3)


def test_restricted(converted):
    """The bounds are those of the bounding box; the cell's own lo and hi follow from them and the tilts."""
    made = converted(snapshot("1 1 0 0 0", box="BOX BOUNDS xy xz yz pp pp pp", bounds=TILTED))
    low_x, high_x = -1.5 - -1, 12.5 - 2  # min and max of 0, xy, xz, xy + xz
    low_y, high_y = -1.5 - -1.5, 9.0
    rows = [[high_x - low_x, 0, 0], [2, high_y - low_y, 0], [-1, -1.5, 8]]
    assert cell_of(made) == (rows, [low_x, low_y, 0], [True] * 3)


def test_general(converted):
    made = converted(snapshot("1 1 0 0 0", box="BOX BOUNDS abc origin pp pp pp", bounds=GENERAL))
    assert cell_of(made) == ([[0, 4, 4], [4, 0, 4], [4, 4, 0]], [-1, -2, -3], [True] * 3)


@pytest.mark.parametrize(
    ("letters", "periodic"),
    [
        ("pp pp pp", "TTT"),
        ("pp ff sm", "TFF"),
        ("ff ss pp", "FFT"),
        ("fs mm ms", "FFF"),
        ("pf pp pp", "FTT"),
        ("p p f", "TTF"),
        ("", "TTT"),
    ],
)
@pytest.mark.parametrize("form", ["", "xy xz yz", "abc origin"])
def test_boundaries(converted, form, letters, periodic):
    bounds = {"": ("0 10",) * 3, "xy xz yz": TILTED, "abc origin": GENERAL}[form]
    made = converted(snapshot("1 1 0 0 0", box=f"BOX BOUNDS {form} {letters}", bounds=bounds))
    assert cell_of(made)[2] == [letter == "T" for letter in periodic]
    assert made.about["lammps_boundary"] == letters


def test_old_files_state_a_tilt_of_an_orthogonal_cell(converted):
    made = converted(snapshot("1 1 0 0 0", box="BOX BOUNDS", bounds=("0 10 0",) * 3))
    assert cell_of(made) == ([[10, 0, 0], [0, 10, 0], [0, 0, 10]], [0, 0, 0], [True] * 3)


def test_a_cell_that_changes(converted):
    made = converted(
        snapshot("1 1 0 0 0")
        + snapshot("1 1 0 0 0", step=1, box="BOX BOUNDS xy xz yz pp ff pp", bounds=TILTED)
        + snapshot("1 1 0 0 0", step=2, box="BOX BOUNDS abc origin ff ff ff", bounds=GENERAL)
        + snapshot("1 1 0 0 0", step=3)
    )
    boxes = [cell_of(made, k) for k in range(4)]
    assert boxes[0] == boxes[3] == ([[10, 0, 0], [0, 10, 0], [0, 0, 10]], [0, 0, 0], [True] * 3)
    assert boxes[1] == ([[11, 0, 0], [2, 9, 0], [-1, -1.5, 8]], [-0.5, 0, 0], [True, False, True])
    assert boxes[2] == ([[0, 4, 4], [4, 0, 4], [4, 4, 0]], [-1, -2, -3], [False] * 3)


@pytest.mark.parametrize("bounds", ["0 0", "nan nan", "0 nan", "-inf inf"])
def test_bounds_that_enclose_no_volume(converted, text_of, bounds):
    """There is no cell then; the numbers are kept and written back."""
    made = converted(snapshot("1 1 7 8 9", bounds=("0 10", bounds, "0 10")), type_map={"1": "H"})
    assert made.box() is None or not made.box().defined
    assert made.values("x") == [7.0]
    assert made.warnings == ["in.dump:6: the bounds enclose no volume, so there is no cell"]
    lines = text_of(made).splitlines()
    assert lines[4] == "ITEM: BOX BOUNDS pp pp pp"
    np.testing.assert_array_equal([float(word) for word in lines[6].split()], [float(word) for word in bounds.split()])


def test_a_cell_that_is_lost_and_found(converted):
    made = converted("".join(snapshot("1 1 0 0 0", step=k, bounds=(f"0 {k % 2}",) * 3) for k in (1, 2, 3)))
    assert [made.box(k) is not None and bool(made.box(k).defined) for k in range(3)] == [True, False, True]


def test_scaled_positions(converted):
    """x = lo + xs (hi - lo); the source's own numbers stand beside them."""
    text = snapshot("1 1 0 0.5 0.25; 2 1 1 0.75 0.5", columns="id type xs ys zs", bounds=("-5 5", "2 6", "0 20"))
    made = converted(text)
    assert [made.values(name) for name in "xyz"] == [[-5.0, 5.0], [4.0, 5.0], [5.0, 10.0]]
    assert [made.values(name) for name in ("xs", "ys", "zs")] == [[0.0, 1.0], [0.5, 0.75], [0.25, 0.5]]
    assert made.about["lammps_coords"] == "xs"


@pytest.mark.parametrize("form", ["xs ys zs", "xsu ysu zsu"])
@pytest.mark.parametrize(
    ("box", "bounds", "position"),
    [
        ("xy xz yz pp pp pp", TILTED, [-0.5 + 11 * 0.5 + 2 * 2 - 1 * -0.25, 9 * 2 - 1.5 * -0.25, 8 * -0.25]),
        ("abc origin pp pp pp", GENERAL, [-1 + 4 * 2 + 4 * -0.25, -2 + 4 * 0.5 + 4 * -0.25, -3 + 4 * 0.5 + 4 * 2]),
    ],
)
def test_scaled_positions_in_a_tilted_cell(converted, form, box, bounds, position):
    made = converted(snapshot("1 1 0.5 2 -0.25", columns=f"id type {form}", box=f"BOX BOUNDS {box}", bounds=bounds))
    assert [made.values(name)[0] for name in "xyz"] == position
    assert made.about["lammps_coords"] == form.split()[0]


def test_unwrapped_positions_are_cartesian(converted):
    made = converted(snapshot("1 1 12.5 -3 5", columns="id type xu yu zu"))
    assert [made.values(name) for name in "xyz"] == [[12.5], [-3.0], [5.0]]
    assert "xu" not in made.atoms()
    assert made.about["lammps_coords"] == "xu"


def test_several_forms_of_positions(converted):
    """Of x, xu, xs and xsu the first is the position, and the others stay columns."""
    columns = "id type xsu ysu zsu xs ys zs xu yu zu x y z"
    made = converted(snapshot("1 1 .1 .2 .3 .4 .5 .6 7 8 9 1 2 3", columns=columns))
    assert [made.values(name)[0] for name in "xyz"] == [1.0, 2.0, 3.0]
    assert [made.values(name)[0] for name in ("xu", "ys", "zsu")] == [7.0, 0.5, 0.3]
    assert "lammps_coords" not in made.about
    second = converted(snapshot("1 1 .1 .2 .3 .4 .5 .6 7 8 9", columns=columns.removesuffix(" x y z")))
    assert [second.values(name)[0] for name in "xyz"] == [7.0, 8.0, 9.0]
    third = converted(snapshot("1 1 .1 .2 .3 .4 .5 .6", columns=columns.removesuffix(" xu yu zu x y z")))
    assert [third.values(name)[0] for name in "xyz"] == [4.0, 5.0, 6.0]


def test_capital_letters(converted):
    made = converted(snapshot("1 1 1 2 3", columns="id type X Y Z"), type_map={"1": "H"})
    assert [made.values(name)[0] for name in "xyz"] == [1.0, 2.0, 3.0]
    assert made.warnings == ["in.dump:9: the columns X Y Z are taken for the positions"]


@pytest.mark.parametrize("columns", ["id type", "id type x", "id type xs ys z"])
def test_no_positions(converted, columns):
    row = " ".join(["1"] * len(columns.split()))
    made = converted(snapshot(row, columns=columns), type_map={"1": "H"})
    assert made.warnings == ["in.dump:9: the snapshot has no columns of positions"]
    assert not set("xyz") <= set(made.atoms())


IMAGES = snapshot("1 1 9.5 5 5 0 0 0; 2 1 0.5 5 5 1 0 -1", columns="id type x y z ix iy iz")


def test_image_flags_are_kept(converted):
    made = converted(IMAGES)
    assert [made.values(name) for name in "xyz"] == [[9.5, 0.5], [5.0, 5.0], [5.0, 5.0]]
    assert [made.values(name) for name in ("ix", "iy", "iz")] == [[0, 1], [0, 0], [0, -1]]
    assert made.atoms().column("ix").dtype == "i32"


def test_unwrap(converted):
    made = converted(IMAGES, unwrap=True)
    assert [made.values(name) for name in "xyz"] == [[9.5, 10.5], [5.0, 5.0], [5.0, -5.0]]
    assert "ix" not in made.atoms()
    assert made.record.meta["convert"]["options"] == {"unwrap": True}


@pytest.mark.parametrize("keep_order", [False, True])
def test_unwrap_adds_whole_vectors(converted, keep_order):
    text = snapshot(
        "2 1 1 2 3 0 0 0; 1 1 1 2 3 1 -1 2", columns="id type x y z ix iy iz", box="BOX BOUNDS xy xz yz pp pp pp",
        bounds=TILTED,
    )  # fmt: skip
    made = converted(text, unwrap=True, keep_order=keep_order)
    row = made.values("id").index(1)
    assert [made.values(name)[row] for name in "xyz"] == [1 + 11 - 2 - 2, 2 - 9 - 3, 3 + 16]


def test_unwrap_takes_unwrapped_positions_of_the_file(converted):
    made = converted(snapshot("1 1 1 2 3 11 12 13", columns="id type x y z xu yu zu"), unwrap=True)
    assert [made.values(name)[0] for name in "xyz"] == [11.0, 12.0, 13.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (snapshot("1 1 0 0 0"), "--unwrap needs positions and their images ix, iy and iz"),
        (IMAGES.replace("0 10\n", "0 0\n", 1), "--unwrap needs a cell"),
    ],
)
def test_what_unwrap_needs(converted, text, message):
    with pytest.raises(OptionError) as caught:
        converted(text, unwrap=True)
    assert str(caught.value) == message


def test_scaled_positions_need_a_cell(converted):
    with pytest.raises(FormatError) as caught:
        converted(snapshot("1 1 .1 .2 .3", columns="id type xs ys zs", bounds=("0 0", "0 10", "0 10")))
    assert str(caught.value) == ("in.dump:6 (frame 0): scaled positions need a cell, and the bounds enclose no volume")


def test_bounds_move_while_letters_stay(converted):
    frames = [snapshot("1 1 0 0 0", step=k, bounds=(f"0 {10 + k / 10}",) * 3) for k in range(3)]
    made = converted("".join(frames))
    assert [made.box(k).vectors[0, 0] for k in range(3)] == [10.0, 10.1, 10.2]
    assert made.about["lammps_boundary"] == "pp pp pp"


def test_the_cell_is_fixed_where_it_never_changes(converted):
    made = converted(snapshots(["1 1 0 0 0"] * 3))
    assert made.record.trajectory.cell.is_fixed
