"""LAMMPS dump: what is written, and that a dump comes back as it was."""

import json
import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, LossError, LossWarning
from molrec_convert.model import Block, Box, Column, Frame

from ..converting import left_behind
from ..dumps import snapshot, snapshots

EDGE = "0.0000000000000000e+00 1.0000000000000000e+01"
EXACT = (EDGE, EDGE, EDGE)
TILTED = (
    "-1.5000000000000000e+00 1.2345678899999999e+01 2.0000000000000000e+00",
    "-1.5000000000000000e+00 9.0999999999999996e+00 -1.0000000000000000e+00",
    "0.0000000000000000e+00 8.3000000000000007e+00 -1.5000000000000000e+00",
)
GENERAL = (
    "0.0000000000000000e+00 4.0999999999999996e+00 4.0000000000000000e+00 -1.0000000000000000e+00",
    "4.0000000000000000e+00 0.0000000000000000e+00 4.0000000000000000e+00 -2.0000000000000000e+00",
    "4.0000000000000000e+00 4.0000000000000000e+00 0.0000000000000000e+00 -3.0000000000000000e+00",
)


def written(rows, **options):
    """A snapshot as LAMMPS prints it."""
    return snapshot(rows, **{"bounds": EXACT, **options})


SAME = {
    "plain": written("1 1 1 2 3; 2 1 -0.5 1e-05 2.5e+10"),
    "another order of rows": written("3 1 1 2 3; 1 2 1 2 3; 2 1 4 5 6"),
    "another order of columns": written("3 0.5 2 1 1 42", columns="z q y x type id"),
    "letters": written("1 1 1 2 3", box="BOX BOUNDS pp fs mm"),
    "no letters": written("1 1 1 2 3", box="BOX BOUNDS"),
    "bounds that round": written("1 1 1 2 3", bounds=(EDGE, "-1.1000000000000001e+00 2.2999999999999998e+00", EDGE)),
    "tilted": written("1 1 1 2 3", box="BOX BOUNDS xy xz yz pp pp pp", bounds=TILTED),
    "tilted by nothing": written(
        "1 1 1 2 3", box="BOX BOUNDS xy xz yz pp ff pp", bounds=[f"{EDGE} 0.0000000000000000e+00"] * 3
    ),
    "general": written("1 1 1 2 3", box="BOX BOUNDS abc origin pp ff pp", bounds=GENERAL),
    "units and time": written("1 1 1 2 3", units="real", time="1.5") + written("1 1 1 2 4", step=1, time="2.25"),
    "scaled": written("1 1 0.1 0.2 0.3; 2 1 0.123457 0.7 -0.2", columns="id type xs ys zs",
                      box="BOX BOUNDS xy xz yz pp pp pp", bounds=TILTED),
    "scaled and unwrapped": written("1 1 0.1 3.2 -0.3", columns="id type xsu ysu zsu"),
    "unwrapped": written("1 1 12.5 -3 5", columns="id type xu yu zu"),
    "all positions": written("1 1 1 2 3 0.1 0.2 0.3 11 12 13", columns="id type x y z xs ys zs xu yu zu"),
    "capital letters": written("1 1 1 2 3", columns="id type X Y Z"),
    "images": written("1 1 1 2 3 -1 0 2", columns="id type x y z ix iy iz"),
    "all kinds": written("1 0.25 28.0855 7 0 1 1 2 3 Si", columns="id q mass mol proc procp1 x y z element"),
    "custom": written("1 0 0 0 -3 8 7 2.5e-10 -4 9007199254740993 a_b",
                      columns="id x y z c_pe v_q f_ave[1] c_st[6] i_tag i2_pair[2] v_word"),
    "odd names": written("1 1 2 3 4 5 6 7 8 9 10 11", columns="id x y z a/b __c _validity free chain v_a v_a x"),
    "labels": written("1 C_R 1 2 3; 2 H_ 1 2 4"),
    "labels beside numbers": written("1 C 2 1 2 3", columns="id typelabel type x y z"),
    "labels alone": written("1 C 1 2 3", columns="id typelabel x y z"),
    "no numbers": written("1 1 nan inf -inf"),
    "no positions": written("1 1", columns="id type"),
    "no ids": written("2 1 2 3; 1 1 2 3", columns="type x y z"),
    "repeated ids": written("2 1 1 2 3; 2 1 4 5 6; 1 1 1 1 1"),
    "negative": written("-1 -2 3 0.5 2 3; 4 1 -5 1 2 3", columns="id type mol x y z"),
    "large": written("3000000001 1 1 2 3; 18446744073709551615 1 1 2 3", step=5_000_000_000),
    "no atoms": written(""),
    "no atoms in between": snapshots(["1 1 1 2 3", "", "1 1 1 2 3"], bounds=EXACT),
    "varying": snapshots(["1 1 1 2 3", "1 1 1 2 3; 2 2 1 2 4", "2 2 1 2 3"], bounds=EXACT),
    "steps that go back": "".join(written(f"1 1 {k} 2 3", step=step) for k, step in enumerate((7, 7, 3))),
    "times of some": written("1 1 1 2 3", time="0.5") + written("1 1 1 2 3", step=1)
                     + written("1 1 1 2 3", step=2, time="0.75"),
    "columns that come and go": written("1 1 1 2 3") + written("1 1 1 2 3 0.5 ab", step=1,
                                columns="id type x y z v_q v_w") + written("1 2 3 1", step=2, columns="x y z id"),
    "a label after a number": written("1 1 1 2 3") + written("1 C 1 2 3", step=1),
    "a cell that changes": written("1 1 1 2 3")
                           + written("1 1 1 2 3", step=1, box="BOX BOUNDS xy xz yz pp pp pp", bounds=TILTED)
                           + written("1 1 1 2 3", step=2, box="BOX BOUNDS abc origin ff pp pp", bounds=GENERAL)
                           + written("1 1 1 2 3", step=3, box="BOX BOUNDS"),
    "bounds that change": "".join(
        written("1 1 1 2 3", step=k, bounds=(f"0.0000000000000000e+00 1.000000000000000{k}e+01", EDGE, EDGE))
        for k in (2, 4)
    ),
    "no volume": written("1 1 1 2 3", bounds=(EDGE, "0.0000000000000000e+00 0.0000000000000000e+00", EDGE)),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_a_dump_comes_back(converted, text_of, name):
    assert text_of(converted(SAME[name], keep_order=True)) == SAME[name]


@pytest.mark.parametrize("name", SAME)
def test_a_dump_that_was_read_into_memory_comes_back(tmp_path, name):
    (tmp_path / "in.dump").write_text(SAME[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of elements, of the absence of a cell: not the matter here
        record = mc.read(tmp_path / "in.dump", keep_order=True)
        mc.write(tmp_path / "back.dump", record)
    assert (tmp_path / "back.dump").read_text() == SAME[name]


@pytest.mark.parametrize("name", [name for name in SAME if name not in ("negative", "no volume")])
def test_nothing_is_lost(converted, tmp_path, name):
    made = converted(SAME[name])
    assert not mc.convert(made.path, tmp_path / "back.dump", strict=True).losses


@pytest.mark.parametrize(
    "name",
    ["aluminium_triclinic.lammpstrj", "dipoles.lammpstrj", "general_triclinic.lammpstrj", "scaled.lammpstrj"],
)
def test_files_of_lammps_come_back_to_the_byte(sample_data, tmp_path, name):
    source = sample_data / "lammps-dump" / name
    mc.convert(source, tmp_path / "out.h5", keep_order=True)
    mc.convert(tmp_path / "out.h5", tmp_path / name)
    assert (tmp_path / name).read_bytes() == source.read_bytes()


def tokens(path):
    return sorted(line.split() for line in path.read_text().splitlines())


def test_sorted_rows_are_the_same_rows(sample_data, tmp_path):
    source = sample_data / "lammps-dump" / "scaled.lammpstrj"
    mc.convert(source, tmp_path / "out.h5")
    mc.convert(tmp_path / "out.h5", tmp_path / "back.dump")
    assert tokens(tmp_path / "back.dump") == tokens(source)


def test_an_upper_triangular_general_cell_is_written_as_restricted(converted, text_of):
    """Few programs read the general form; the numbers are the same."""
    rows = ("4 0 0 -1", "1 4 0 -2", "1 1 4 -3")
    made = converted(snapshot("1 1 1 2 3", box="BOX BOUNDS abc origin pp ff pp", bounds=rows))
    lines = text_of(made).splitlines()
    assert lines[4] == "ITEM: BOX BOUNDS xy xz yz pp ff pp"
    assert [[float(word) for word in line.split()] for line in lines[5:8]] == [[-1, 5, 1], [-2, 3, 1], [-3, 1, 1]]


def test_unwrapped_positions_are_named_so(converted, text_of):
    made = converted(written("1 1 1 2 3 -1 0 2", columns="id type x y z ix iy iz"), unwrap=True)
    assert text_of(made).splitlines()[-2:] == ["ITEM: ATOMS id type xu yu zu", "1 1 -9 2 23"]


def test_elements_that_were_named_are_added(converted, text_of):
    made = converted(written("1 1 1 2 3"), type_map={"1": "Si"})
    assert text_of(made).splitlines()[-2:] == ["ITEM: ATOMS id type x y z element", "1 1 1 2 3 Si"]


def test_decimals(converted, text_of):
    made = converted(written("1 1 1.23456 2 3e-9"))
    assert text_of(made, decimals=3).splitlines()[-1] == "1 1 1.235 2.000 0.000"
    made = converted(written("1 1 1.25 2 3"), precision=1e-3)
    assert text_of(made).splitlines()[-1] == "1 1 1.250 2.000 3.000"


@pytest.fixture
def scaled(tmp_path):
    """A record in memory whose positions come from scaled ones."""
    (tmp_path / "in.dump").write_text(SAME["scaled"])
    with pytest.warns(ConvertWarning):
        return mc.read(tmp_path / "in.dump")


def test_changed_positions_are_scaled_anew(scaled, tmp_path):
    frame = scaled.trajectory[0]
    frame["atoms"]["x"] = frame["atoms"]["x"] + 1.0
    mc.write(tmp_path / "out.dump", scaled)
    rows = [line.split() for line in (tmp_path / "out.dump").read_text().splitlines()[-2:]]
    length = frame.box.vectors[0, 0]
    assert [float(row[2]) for row in rows] == pytest.approx([0.1 + 1 / length, 0.123457 + 1 / length], rel=1e-13)
    assert [[float(word) for word in row[3:]] for row in rows] == [
        pytest.approx([0.2, 0.3]),
        pytest.approx([0.7, -0.2]),
    ]


def test_a_changed_cell_is_written_anew(scaled, tmp_path):
    frame = scaled.trajectory[0]
    frame.box = Box.orthogonal([20, 30, 40], origin=[1, 2, 3], boundary=[True, False, True])
    mc.write(tmp_path / "out.dump", scaled)
    lines = (tmp_path / "out.dump").read_text().splitlines()
    assert lines[4] == "ITEM: BOX BOUNDS pp ff pp"
    assert [[float(word) for word in line.split()] for line in lines[5:8]] == [[1, 21], [2, 32], [3, 43]]
    assert [float(word) for word in lines[9].split()[2:]] == pytest.approx(
        [(frame["atoms"][name][0] - origin) / edge for name, origin, edge in (("x", 1, 20), ("y", 2, 30), ("z", 3, 40))]
    )


def test_a_frame_of_any_source(tmp_path):
    """Columns in the usual order, vectors as components, truth as 0 and 1."""
    atoms = {
        "c_s": np.arange(6.0).reshape(2, 3), "element": ["O", "H"], "x": [0.0, 1.0], "y": [0.0, 2.0], "z": [0.5, 0.5],
        "flag": [True, False], "charge": [-1.0, 1.0], "mol_id": np.array([1, 2], "u8"), "id": np.array([7, 5], "u8"),
    }  # fmt: skip
    frame = Frame({"atoms": atoms}, box=Box.orthogonal(3))
    with pytest.warns(LossWarning, match=r"not carried by lammps-dump: axes of atoms\.c_s"):
        mc.write(tmp_path / "out.dump", frame)
    assert (tmp_path / "out.dump").read_text().splitlines() == [
        "ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", "2", "ITEM: BOX BOUNDS pp pp pp",
        *["0.0000000000000000e+00 3.0000000000000000e+00"] * 3,
        "ITEM: ATOMS id element mol q x y z c_s[1] c_s[2] c_s[3] flag",
        "7 O 1 -1 0 0 0.5 0 1 2 1", "5 H 2 1 1 2 0.5 3 4 5 0",
    ]  # fmt: skip


def test_a_frame_without_a_cell_is_shrink_wrapped(tmp_path):
    frame = Frame({"atoms": {"x": [0.0, 1.5], "y": [2.0, 2.0], "z": [-1.0, 4.0]}})
    with pytest.warns(LossWarning, match="not carried by lammps-dump: absence of a cell"):
        mc.write(tmp_path / "out.dump", frame)
    lines = (tmp_path / "out.dump").read_text().splitlines()
    assert lines[4] == "ITEM: BOX BOUNDS ss ss ss"
    assert [[float(word) for word in line.split()] for line in lines[5:8]] == [[0, 1.5], [2, 3], [-1, 4]]
    flat = Frame({"atoms": {"id": np.array([1, 2], "u8"), "x": [0.0, 2e5], "y": [1e12, 1e12], "z": [0.0, 1e-300]}})
    with pytest.warns(LossWarning):
        mc.write(tmp_path / "flat.dump", flat)
    assert mc.read(tmp_path / "flat.dump").trajectory[0].box.vectors.diagonal().tolist() == [2e5, 1e3, 1.0]
    with pytest.warns(LossWarning):
        mc.write(tmp_path / "none.dump", Frame())
    assert "ITEM: NUMBER OF ATOMS\n0\n" in (tmp_path / "none.dump").read_text()


def rich():
    """A frame of which a dump cannot hold everything."""
    return Frame(
        {
            "atoms": {"x": [0.0, 1.0], "y": [0.0, 1.0], "z": [0.0, 1.0], "phase": np.array([1j, 2]),
                      "k": Column([1.0, 2.0], valid=[True, False]),
                      "word": Column(["a", ""], valid=[True, False])},
            "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")},
        },
        box=Box.orthogonal(3),
        meta={"pe": -1.5},
    )  # fmt: skip


def test_losses(tmp_path):
    with pytest.warns(LossWarning):
        mc.write(tmp_path / "direct.dump", rich())
    mc.write(tmp_path / "in.h5", rich())
    report = mc.convert(tmp_path / "in.h5", tmp_path / "out.dump")
    assert str(report.losses) == (
        "not carried by lammps-dump: atoms.phase, nulls of atoms.k, nulls of atoms.word, bonds (1), pe"
    )
    assert (tmp_path / "out.dump").read_text() == (tmp_path / "direct.dump").read_text()
    assert (tmp_path / "out.dump").read_text().splitlines()[-3:] == [
        "ITEM: ATOMS x y z k word", "0 0 0 1 a", "1 1 1 nan ?",
    ]  # fmt: skip
    assert report.losses.as_json()[0] == {
        "item": "atoms.phase", "reason": "the format holds no c128 column of this name", "count": None,
    }  # fmt: skip


def test_strict_refuses_losses(tmp_path):
    mc.write(tmp_path / "in.h5", rich())
    message = "lammps-dump cannot hold atoms.phase, nulls of atoms.k, nulls of atoms.word, bonds (1), pe"
    with pytest.raises(LossError) as caught:
        mc.convert(tmp_path / "in.h5", tmp_path / "out.dump", strict=True)
    assert str(caught.value) == message
    with pytest.raises(LossError):
        mc.write(tmp_path / "out.dump", rich(), strict=True)
    assert not (tmp_path / "out.dump").exists()
    assert not left_behind(tmp_path)


@pytest.mark.parametrize(
    ("name", "words", "written", "lost"),
    [
        ("type", ["1", "C", "2"], "typelabel", ""),
        ("type", ["C", "1", "2"], "type", ""),
        ("type", ["01", "2", "2"], "typelabel", ""),
        ("type", ["-1", "2", "2.5"], "typelabel", ""),
        ("type", ["1", "10", "2"], "type", "atoms.type"),
        ("name", ["1", "C", "2"], "name", ""),
        ("chain", ["1", "2", "2"], "chain", ""),
        ("element", ["1", "C", "2"], "element", ""),
        ("number", ["1", "C", "2"], "number", ""),
        ("number", ["C", "1", "2"], "number", ""),
        ("number", ["1", "2", "1e3"], "number", "atoms.number"),
    ],
)
def test_words_that_look_like_numbers(tmp_path, name, words, written, lost):
    """They come back, under a name that says that they are labels, or the report names them."""
    frame = Frame({"atoms": {"x": [0.0, 1, 2], "y": [0.0] * 3, "z": [0.0] * 3, name: words}}, box=Box.orthogonal(3))
    mc.write(tmp_path / "in.h5", frame)
    report = mc.convert(tmp_path / "in.h5", tmp_path / "out.dump")
    assert list(report.losses.losses) == ([lost] if lost else [])
    assert written in (tmp_path / "out.dump").read_text().split("ITEM: ATOMS ")[1].split("\n")[0].split()
    mc.convert(tmp_path / "out.dump", tmp_path / "back.h5")
    back = mc.open(tmp_path / "back.h5").trajectory[0]["atoms"]
    if not lost:
        assert back[name].tolist() == words
    elif name == "type":
        assert back["type_id"].tolist() == [1, 10, 2]
    else:
        assert back[name].tolist() == [1.0, 2.0, 1000.0]


@pytest.mark.parametrize(
    ("text", "word"), [("a b", "a_b"), ("", "?"), (" ", "?"), ("a\tb", "a_b"), ("a\nb ", "a_b"), ("c\u00a0d", "c_d")]
)
def test_a_text_that_is_not_one_word(tmp_path, text, word):
    """It is written as one, and the report says that it is not the same."""
    frame = Frame({"atoms": {"name": ["c", text], "x": [0.0, 1], "y": [0.0, 1], "z": [0.0, 1]}}, box=Box.orthogonal(3))
    with pytest.warns(LossWarning, match=r"not carried by lammps-dump: atoms\.name$"):
        mc.write(tmp_path / "out.dump", [frame])
    assert (tmp_path / "out.dump").read_text().splitlines()[-2:] == ["0 0 0 c", f"1 1 1 {word}"]
    with pytest.raises(LossError, match=r"atoms\.name: '.*' is not one word, and blanks part the columns"):
        mc.write(tmp_path / "strict.dump", [frame], strict=True)


def test_a_frame_without_atoms_has_columns_of_vectors_all_the_same(tmp_path):
    ids = np.arange(1, 3, dtype=np.uint64)
    rows = {"id": ids, "tensor": np.arange(6.0).reshape(2, 3), **dict.fromkeys("xyz", np.zeros(2))}
    counts = [2, 0, 1]
    blocks = [{"atoms": Block({key: values[:count] for key, values in rows.items()})} for count in counts]
    with pytest.warns(LossWarning, match=r"axes of atoms\.tensor"):
        mc.write(tmp_path / "out.dump", [Frame(block, box=Box.orthogonal(9.0)) for block in blocks])
    found = list(mc.read(tmp_path / "out.dump").trajectory)
    assert [frame["atoms"].count for frame in found] == counts
    assert found[0]["atoms"]["tensor[3]"].tolist() == [2.0, 5.0]


def test_the_report_of_a_refusal_is_plain_data(tmp_path):
    """Where units are those of Lennard-Jones, and what is lost shows only in a later frame."""
    (tmp_path / "in.dump").write_text(written("1 1 1 2 3") + written("1 1 1 2 3", step=1, box="BOX BOUNDS ff ff ff"))
    with pytest.raises(LossError) as caught:
        mc.convert(tmp_path / "in.dump", tmp_path / "out.gro", units="lj", strict=True)
    assert json.loads(json.dumps(caught.value.report))["losses"]
