"""Arrays, values and constraints of any kind, as ASE Atoms hold them."""

import warnings
from collections import OrderedDict

import numpy as np
import pytest
from ase.build import molecule
from ase.constraints import FixAtoms, FixConstraint
from ase.spacegroup import crystal

from molrec_convert.adapters.ase_atoms import from_atoms, to_atoms

from ..atoms import assert_same_atoms, difference, losses, round_trip, water


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned here."""


# ---------------------------------------------------------------- arrays of any kind
@pytest.mark.parametrize("name", ["foo", "a/b", "", ".", "__x", "offset", "_validity", "x", "charge", "nul\0", "é x"])
def test_arrays_of_any_name(name):
    atoms = water()
    atoms.arrays[name] = np.array([1.5, 2.5, 3.5])
    round_trip(atoms)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.arange(3, dtype="i1"), "i8"),
        (np.arange(3, dtype="u4"), "u32"),
        (np.array([1, 2, 2**63], dtype="u8"), "u64"),
        (np.array([True, False, True]), "bool"),
        (np.array([0.1, np.nan, -0.0], dtype="f4"), "f64"),
        (np.array([1, 2, 3], dtype=">f8"), "f64"),
        (np.array([1 + 2j, 0, 1j], dtype="c8"), "c64"),
        (np.array(["a", "", "two words"]), "string"),
        (np.array(["a\0b", "\ud800", ""]), "string"),
        (np.array([b"a", b"\xff", b""]), "string"),
        (np.array(["a", None, [1, (2,)]], dtype=object), "string"),
        (np.array(["2020-01-01", "NaT", "1969-12-31"], dtype="M8[D]"), "i64"),
        (np.arange(27.0).reshape(3, 3, 3), "f64"),
        (np.zeros((3, 0)), "f64"),
        (np.zeros((3, 0), "U3"), "string"),
        (np.array(["ab", "c", ""], dtype=">U3"), "string"),
        (np.array(["ab", "c\0d", ""], dtype=">U3"), "string"),
    ],
)
def test_arrays_of_any_type(array, dtype):
    atoms = water()
    atoms.arrays["foo"] = array
    assert round_trip(atoms).frame["atoms"].column("foo").dtype == dtype


def test_narrow_reals_are_told():
    atoms = water()
    atoms.arrays["foo"] = np.zeros(3, "f4")
    messages = [note.message for note in from_atoms(atoms).notes]
    assert messages == ["the array 'foo' of binary32 is widened to f64; as Atoms it is binary32 again"]


def test_names_of_readers_of_ase_are_canonical_columns():
    atoms = water()
    atoms.arrays["residuenames"] = np.array(["SOL"] * 3)
    atoms.arrays["residuenumbers"] = np.array([7, 7, 7])
    atoms.arrays["atomtypes"] = np.array(["OW", "HW1", "HW2"])
    atoms.arrays["id"] = np.array([3, 2, 1])
    atoms.arrays["type"] = np.array([2, 1, 1])
    block = round_trip(atoms).frame["atoms"]
    assert block["res_name"].tolist() == ["SOL"] * 3
    assert block["res_id"].tolist() == [7, 7, 7]
    assert block["name"].tolist() == ["OW", "HW1", "HW2"]
    assert block["id"].tolist() == [3, 2, 1]
    assert block["type_id"].tolist() == [2, 1, 1]


def test_negative_numbers_under_a_canonical_name():
    atoms = water()
    atoms.arrays["id"] = np.array([-1, 2, 3])
    atoms.arrays["residuenumbers"] = np.array([-5, 2, 3])
    block = round_trip(atoms).frame["atoms"]
    assert block["id#2"].tolist() == [-1, 2, 3]
    assert block["residuenumbers"].tolist() == [-5, 2, 3]


# ---------------------------------------------------------------- info
@pytest.mark.parametrize(
    ("value", "tag"),
    [
        (True, "bool"), (5, "i64"), (2**63, "u64"), (2**70, "json"), (0.1, "f64"), (float("nan"), "f64"),
        ("", "string"), ("0012", "string"), ("a\nb", "string"), ("a\0b", "json"), (None, "json"),
        ([0.0, 1.0, 2.0], "f64x3"), ((1, 2, 3), "i64x3"), ([True, False, True], "bool3"), ([1, 2.0], "json"),
        (np.float32(0.1), "f64"), (np.int32(5), "i64"), (np.array(2.5), "f64"), (np.eye(3), "f64x9"),
        (np.arange(3, dtype="i4"), "i32x3"), (np.arange(4.0), "json"), (np.array(["a", "b"]), "json"),
        (1 + 2j, "json"), (b"\0", "json"), ({1: "a", None: (1,)}, "json"), ({"$tuple": []}, "json"),
        ({"a": {"b": [1, {"c": np.float16(0.1)}]}}, "json"), ({1, 2}, "json"), ((), "json"), ({}, "json"),
    ],
)  # fmt: skip
def test_info_of_any_kind(value, tag):
    atoms = water()
    atoms.info["key"] = value
    assert round_trip(atoms).frame.meta.tag("key") == tag


@pytest.mark.parametrize(
    "key", ["", "a/b", "__x", "_meta_types", "timestep", "cell_defined", "ase_map", 5, None, (1, "a")]
)
def test_keys_of_any_kind(key):
    atoms = water()
    atoms.info[key] = 1.5
    round_trip(atoms)


def test_order_of_info_is_kept():
    atoms = water()
    atoms.info.update(b=1, a=[2], time=3.0, c=None, pe="text")
    assert list(to_atoms(from_atoms(atoms)).info) == ["b", "a", "time", "c", "pe"]


def test_time_in_info_is_the_time():
    atoms = water()
    atoms.info["time"] = 3
    snapshot = round_trip(atoms)
    assert snapshot.time == 3.0
    assert "time" not in snapshot.frame.meta


def test_objects_of_ase_in_info():
    made = crystal("Na", [(0, 0, 0)], spacegroup=229, cellpar=[4.29, 4.29, 4.29, 90, 90, 90])
    made.info["cell"] = made.cell
    made.info["atoms"] = molecule("H2")
    again = to_atoms(from_atoms(made)).info
    assert again["spacegroup"] == made.info["spacegroup"]
    assert difference(np.array(again["cell"]), np.array(made.cell)) is None
    assert_same_atoms(again["atoms"], made.info["atoms"])


def test_functions_are_left_out_and_named():
    atoms = water()
    atoms.info["f"] = test_functions_are_left_out_and_named
    atoms.info["deep"] = {"a": [warnings]}
    atoms.info["kept"] = 1
    snapshot = from_atoms(atoms)
    assert losses(snapshot) == [
        "info 'f' is not kept: it is, or holds, a function",
        "info 'deep' is not kept: it is, or holds, a module",
    ]
    assert to_atoms(snapshot).info == {"kept": 1}


def test_arrays_of_what_no_record_holds_are_left_out_and_named():
    atoms = water()
    atoms.arrays["f"] = np.array([len, len, len])
    atoms.arrays["s"] = np.zeros(3, dtype=[("a", "i4")])
    snapshot = from_atoms(atoms)
    assert losses(snapshot) == [
        "the array 'f' is not kept: it is, or holds, a builtin_function_or_method",
        "the array 's' is not kept: it is an array of [('a', '<i4')]",
    ]
    assert list(to_atoms(snapshot).arrays) == ["numbers", "positions"]


class Text(str):
    """Text of somebody."""


@pytest.mark.parametrize("value", [Text("a"), OrderedDict(a=1), [{"a": Text("b")}], np.ma.array([1.0, 2.0, 3.0])])
def test_types_that_come_back_plainer_are_named(value):
    atoms = water()
    atoms.info["key"] = value
    kind = "Text" if isinstance(value, str | list) else type(value).__name__
    assert [note.message for note in from_atoms(atoms).notes] == [
        f"info 'key' comes back without its own types: {kind}"
    ]


def test_masks_are_named():
    atoms = water()
    atoms.info["key"] = atoms.arrays["foo"] = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    snapshot = from_atoms(atoms)
    assert losses(snapshot) == ["the mask of the array 'foo' is not kept", "the mask of info 'key' is not kept"]
    assert to_atoms(snapshot).info["key"].tolist() == to_atoms(snapshot).arrays["foo"].tolist() == [1.0, 2.0, 3.0]


def test_what_holds_itself_is_left_out():
    atoms = water()
    atoms.info["self"] = atoms.info
    assert losses(from_atoms(atoms)) == ["info 'self' is not kept: it is nested more than 100 deep"]


# ---------------------------------------------------------------- constraints
def test_constraints_of_no_known_class_are_left_out_and_named():
    class Mine(FixConstraint):
        def todict(self):
            return {"name": "Mine", "kwargs": {}}

    class Silent(FixConstraint):
        pass

    atoms = water()
    atoms.set_constraint([Mine(), FixAtoms([1]), Silent()])
    snapshot = from_atoms(atoms)
    assert losses(snapshot) == [
        "the constraint Mine is not kept: ASE cannot make it again (ValueError)",
        "the constraint Silent is not kept: its todict does not say what it is",
    ]
    assert [type(each).__name__ for each in to_atoms(snapshot).constraints] == ["FixAtoms"]


def test_a_constraint_of_a_derived_class_is_named():
    class Mine(FixAtoms):
        pass

    atoms = water()
    atoms.set_constraint(Mine([1]))
    assert losses(from_atoms(atoms)) == ["the constraint Mine comes back as FixAtoms"]
