"""LAMMPS dump: what a record holds of every item and column of a snapshot."""

import re

import numpy as np
import pytest

from molrec_convert.errors import FormatError

from ..dumps import THREE, snapshot, snapshots

TYPES_NOTE = "in.dump: the types are no elements; --type-map 1=Si,2=O names them"
ONE_TYPE_NOTE = "in.dump: the types are no elements; --type-map 1=Si names them"


def test_a_snapshot(converted):
    made = converted(snapshot("1 2 0.5 -1e-3 7", step=40))
    atoms = made.atoms()
    assert {name: column.describe() for name, column in atoms.columns.items()} == {
        "id": "u64[N]", "type_id": "u64[N]", "x": "f64[N]", "y": "f64[N]", "z": "f64[N]",
    }  # fmt: skip
    assert [made.values(name) for name in atoms] == [[1], [2], [0.5], [-0.001], [7.0]]
    assert made.fixed == ["id", "type_id"]
    assert made.record.trajectory.step.tolist() == [40]
    assert made.record.trajectory.time is None
    assert dict(made.about) == {"lammps_columns": ["id", "type", "x", "y", "z"], "lammps_boundary": "pp pp pp"}
    assert made.record.meta.keys() == {"source", "creator", "convert"}
    assert made.warnings == [ONE_TYPE_NOTE.replace("1=", "2=")]


def test_units_and_time(converted):
    made = converted(
        snapshot("1 1 1 2 3", step=0, time="0", units="metal") + snapshot("1 1 1 2 4", step=50, time="0.05")
    )
    assert made.record.trajectory.step.tolist() == [0, 50]
    assert made.record.trajectory.time.tolist() == [0.0, 0.05]
    assert made.about["lammps_units"] == "metal"
    assert made.record.meta["units"] == {
        "length": "angstrom", "time": "ps", "mass": "amu", "energy": "eV", "charge": "e", "pressure": "bar",
        "temperature": "K", "velocity": "angstrom/ps", "force": "eV/angstrom",
    }  # fmt: skip


def test_units_in_every_snapshot(converted):
    made = converted(snapshots(["1 1 1 2 3"] * 2, units="metal"))
    assert made.about["lammps_units"] == "metal"


@pytest.mark.parametrize("step", [-5, 0, 5_000_000_000, 2**63 - 1])
def test_steps(converted, step):
    assert converted(snapshot("1 1 1 2 3", step=step)).record.trajectory.step.tolist() == [step]


def test_steps_that_repeat_or_go_back(converted):
    made = converted("".join(snapshot(f"1 1 {x} 2 3", step=step) for x, step in enumerate([0, 100, 100, 50])))
    assert made.record.trajectory.step.tolist() == [0, 1, 2, 3]
    assert made.record.trajectory.meta("timestep") == [0, 100, 100, 50]
    assert [made.values("x", k) for k in range(4)] == [[0.0], [1.0], [2.0], [3.0]]
    assert made.warnings[1:] == [
        "in.dump (frame 2): step 100 comes after step 100: frames are counted, and the steps kept as 'timestep'"
    ]


def test_order_of_columns(converted):
    made = converted(snapshot("3 0.5 2 1 1 42", columns="z q y x type id"))
    assert [made.values(name) for name in ("id", "type_id", "charge", "x", "y", "z")] == [
        [42], [1], [0.5], [1.0], [2.0], [3.0],
    ]  # fmt: skip


def test_every_known_column(converted):
    columns = "id type element mol q mass x y z ix iy iz vx vy vz fx fy fz proc procp1"
    made = converted(snapshot("3 1 Si 7 -0.5 28.0855 1 2 3 -1 0 2 4 5 6 7 8 9 0 1", columns=columns))
    atoms = made.atoms()
    assert {name: (column.dtype, column.values[0]) for name, column in atoms.columns.items()} == {
        "id": ("u64", 3), "type_id": ("u64", 1), "element": ("string", "Si"), "mol_id": ("u64", 7),
        "charge": ("f64", -0.5), "mass": ("f64", 28.0855), "x": ("f64", 1), "y": ("f64", 2), "z": ("f64", 3),
        "ix": ("i32", -1), "iy": ("i32", 0), "iz": ("i32", 2), "vx": ("f64", 4), "vy": ("f64", 5), "vz": ("f64", 6),
        "fx": ("f64", 7), "fy": ("f64", 8), "fz": ("f64", 9), "proc": ("i64", 0), "procp1": ("i64", 1),
    }  # fmt: skip
    assert made.warnings == []


def test_columns_of_computes_fixes_and_variables(converted):
    columns = "id x y z c_pe v_q f_ave[1] c_st[6] i_tag i2_pair[2] d_a v_word"
    made = converted(snapshot("1 0 0 0 -3.25 8 7 2.5e+10 -4 9007199254740993 3 a_b", columns=columns))
    found = {name: (made.atoms().column(name).dtype, made.values(name)[0]) for name in columns.split()[4:]}
    assert found == {
        "c_pe": ("f64", -3.25), "v_q": ("f64", 8.0), "f_ave[1]": ("f64", 7.0), "c_st[6]": ("f64", 2.5e10),
        "i_tag": ("i64", -4), "i2_pair[2]": ("i64", 9007199254740993), "d_a": ("f64", 3.0), "v_word": ("string", "a_b"),
    }  # fmt: skip


def test_the_type_of_a_column_does_not_depend_on_its_values(converted):
    made = converted(snapshots(["1 0 0 0 1; 2 0 0 0 2", "1 0 0 0 0.5; 2 0 0 0 1"], columns="id x y z v_n"))
    assert [made.values("v_n", k) for k in (0, 1)] == [[1.0, 2.0], [0.5, 1.0]]
    assert made.atoms().column("v_n").dtype == "f64"


def test_type_labels(converted):
    made = converted(snapshot("1 C_R 0 0 0; 2 H_ 1 0 0"), type_map={"C_R": "C", "H_": "H"})
    assert made.values("type") == ["C_R", "H_"]
    assert made.values("element") == ["C", "H"]
    assert "type_id" not in made.atoms()


def test_type_labels_beside_numbers(converted):
    made = converted(snapshot("1 C 2 0 0 0", columns="id typelabel type x y z"))
    assert (made.values("type"), made.values("type_id")) == (["C"], [2])


def test_a_column_that_held_words_is_of_text(converted):
    made = converted(snapshots(["1 0 0 0 a; 2 0 0 0 1", "1 0 0 0 2; 2 0 0 0 03"], columns="id x y z tag"))
    assert [made.values("tag", k) for k in (0, 1)] == [["a", "1"], ["2", "03"]]


def test_a_mark_of_byte_order(converted):
    assert converted(b"\xef\xbb\xbf" + THREE.encode()).report.frames == 3


def test_a_number_then_a_label(converted):
    """A type that is a number in one frame and a label in the next stands in two columns, each with its nulls."""
    made = converted(snapshots(["1 1 0 0 0", "1 C 0 0 0"]))
    assert [made.values("type_id", k) for k in (0, 1)] == [[1], [None]]
    assert [made.values("type", k) for k in (0, 1)] == [[None], ["C"]]


def test_words_after_a_number(converted):
    """Names and residues are text whatever they look like; another column is one of words where it holds one."""
    columns = "id x y z name chain res_name tag"
    made = converted(snapshot("1 0 0 0 1 2 3 7; 2 0 0 0 C A ALA 7b; 3 0 0 0 1e3 nan 4 8", columns=columns))
    found = {name: made.values(name) for name in columns.split()[4:]}
    assert found == {
        "name": ["1", "C", "1e3"], "chain": ["2", "A", "nan"], "res_name": ["3", "ALA", "4"], "tag": ["7", "7b", "8"],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["c_pe", "v_n", "f_1[2]", "d_a", "i_a", "i2_a[1]", "vx", "radius", "q", "xs", "quatw"])
def test_no_words_among_numbers_of_lammps(converted, name):
    with pytest.raises(FormatError, match=rf"in.dump:11 \(frame 0\): column {re.escape(name)}: 'C' is not a"):
        converted(snapshot("1 0 0 0 1; 2 0 0 0 C", columns=f"id x y z {name}"))


def test_type_map(converted):
    made = converted(snapshot("1 1 0 0 0; 2 2 0 0 0; 3 1 0 0 0"), type_map={"1": "Si", "2": "O"})
    assert made.values("element") == ["Si", "O", "Si"]
    assert made.values("type_id") == [1, 2, 1]
    assert made.warnings == []
    assert made.record.meta["convert"]["options"] == {"type_map": {"1": "Si", "2": "O"}}


def test_a_column_of_elements_wins(converted):
    made = converted(snapshot("1 1 Si 0 0 0", columns="id type element x y z"), type_map={"1": "C"})
    assert made.values("element") == ["Si"]


def test_latin_1_and_utf_8(converted):
    assert converted(snapshot("1 é 0 0 0").encode("latin-1")).values("type") == ["é"]
    assert converted(snapshot("1 漢 0 0 0").encode()).values("type") == ["漢"]


@pytest.mark.parametrize("blank", ["\r\n", " \n", "\t\n"])
def test_line_ends_and_trailing_blanks(converted, blank):
    plain = converted(THREE)
    frames = [plain.record.trajectory[k] for k in range(3)]
    made = converted(THREE.replace("\n", blank))
    assert all(made.record.trajectory[k].same(frames[k]) for k in range(3))


def test_blank_lines_between_snapshots(converted):
    text = snapshot("1 1 0 0 0")
    assert converted(f"\n\n{text}\n \n{text.replace('0', '1', 1)}\n\n").report.frames == 2


def test_numbers_as_they_are(converted):
    made = converted(snapshot("1 0.1 1e-320 -0; 2 +1.5 .5 5.; 3 nan inf -Infinity", columns="id x y z"))
    columns = [np.array(made.values(name)) for name in "xyz"]
    assert [column[:2].tolist() for column in columns] == [[0.1, 1.5], [1e-320, 0.5], [0.0, 5.0]]
    assert np.signbit(columns[2][0])
    assert np.isnan(columns[0][2])
    assert [columns[1][2], columns[2][2]] == [np.inf, -np.inf]


def test_rows_are_sorted_by_id(converted):
    text = snapshots(["3 1 3 0 0; 1 2 1 0 0; 2 1 2 0 0", "2 1 2.5 0 0; 3 1 3.5 0 0; 1 2 1.5 0 0"])
    made = converted(text)
    assert [made.values("id", k) for k in (0, 1)] == [[1, 2, 3]] * 2
    assert [made.values("x", k) for k in (0, 1)] == [[1.0, 2.0, 3.0], [1.5, 2.5, 3.5]]
    assert made.fixed == ["id", "type_id"]
    kept = converted(text, keep_order=True)
    assert [kept.values("id", k) for k in (0, 1)] == [[3, 1, 2], [2, 3, 1]]
    assert [kept.values("x", k) for k in (0, 1)] == [[3.0, 1.0, 2.0], [2.5, 3.5, 1.5]]
    assert kept.fixed == []


def test_large_ids(converted):
    made = converted(snapshot("18446744073709551615 1 1 0 0; 3000000001 1 2 0 0"))
    assert made.values("id") == [3000000001, 18446744073709551615]
    assert made.values("x") == [2.0, 1.0]


def test_repeated_ids_keep_the_order_of_the_file(converted):
    made = converted(snapshot("2 1 1 0 0; 1 1 2 0 0; 2 1 3 0 0"))
    assert made.values("id") == [2, 1, 2]
    assert made.warnings == [ONE_TYPE_NOTE, "in.dump: several atoms have the id 2; the rows keep the file's order"]


def test_no_ids(converted):
    made = converted(snapshot("2 1 0 0; 1 2 0 0", columns="type x y z"))
    assert made.values("type_id") == [2, 1]
    assert "id" not in made.atoms()
    assert made.warnings == [
        TYPES_NOTE, "in.dump: the atoms have no ids, their order may differ between snapshots",
    ]  # fmt: skip


def test_negative_ids_molecules_and_types(converted):
    """A canonical column holds no negative number: it is null there, and the number stands beside it."""
    made = converted(snapshot("-1 -2 3 0 0 0; 4 1 -5 0 0 0", columns="id type mol x y z"))
    assert (made.values("id"), made.values("atom_id")) == ([None, 4], [-1, 4])
    assert (made.values("type_id"), made.values("type_number")) == ([None, 1], [-2, 1])
    assert (made.values("mol_id"), made.values("molecule")) == ([3, None], [3, -5])


def test_the_number_of_atoms_varies(converted):
    made = converted(snapshots(["1 1 1 0 0", "1 1 2 0 0; 2 1 3 0 0", "", "2 2 4 0 0"]))
    assert [made.atoms(k).count for k in range(4)] == [1, 2, 0, 1]
    assert [made.values("id", k) for k in range(4)] == [[1], [1, 2], [], [2]]
    assert [made.values("x", k) for k in range(4)] == [[1.0], [2.0, 3.0], [], [4.0]]
    assert made.fixed == []


@pytest.mark.parametrize("columns", ["id type x y z", ""])
def test_only_empty_snapshots(converted, columns):
    made = converted(snapshots(["", ""], columns=columns))
    assert [made.atoms(k).count for k in (0, 1)] == [0, 0]
    assert made.record.trajectory.step.tolist() == [0, 10]
    assert made.box(1).parameters[:3] == (10.0, 10.0, 10.0)


def test_columns_come_and_go(converted):
    made = converted(
        snapshot("1 1 0 0 0")
        + snapshot("1 1 0 0 0 0.5 ab", step=1, columns="id type x y z v_q v_w")
        + snapshot("0 0 0 1", step=2, columns="x y z id")
    )
    assert [made.values("v_q", k) for k in range(3)] == [[None], [0.5], [None]]
    assert [made.values("v_w", k) for k in range(3)] == [[None], ["ab"], [None]]
    assert [made.values("type_id", k) for k in range(3)] == [[1], [1], [None]]
    assert made.record.trajectory.meta("lammps_columns") == [
        ["id", "type", "x", "y", "z"], ["id", "type", "x", "y", "z", "v_q", "v_w"], ["x", "y", "z", "id"],
    ]  # fmt: skip


def test_names_that_a_record_cannot_hold(converted):
    """No slash and no leading double underscore; a name that MolRec fixes at another type gets a suffix."""
    columns = "id x y z a/b __c _validity free chain v_a v_a x"
    made = converted(snapshot("1 1 2 3 4 5 6 7 8 9 10 11", columns=columns))
    assert {name: made.values(name)[0] for name in made.atoms()} == {
        "id": 1, "x": 1.0, "y": 2.0, "z": 3.0, "a|b": 4.0, "dump__c": 5.0, "dump_validity": 6.0, "free#2": 7.0,
        "chain": "8", "v_a": 9.0, "v_a#2": 10.0, "x#2": 11.0,
    }  # fmt: skip
    assert made.about["lammps_columns"] == columns.split()
