"""The comment lines of XYZ: the grammar of extended XYZ, and what programs write into plain ones."""

import math
import re

import pytest

from molrec_convert.adapters._xyz_columns import Property
from molrec_convert.adapters._xyz_comment import items_of
from molrec_convert.adapters._xyz_dialects import read_header
from molrec_convert.adapters._xyz_values import key_text, tagged_value, value_text

BOHR = 0.529177210544


def parsed(comment):
    return {item.key: item.value for item in items_of(comment).items}


class TestItems:
    @pytest.mark.parametrize(
        ("comment", "found"),
        [
            ("", {}),
            ("a=1 b=-2 c=+3 d=0", {"a": 1, "b": -2, "c": 3, "d": 0}),
            ("a=1. b=.5 c=-1.5e3 d=2D-1 e=1d5 f=1E5", {"a": 1.0, "b": 0.5, "c": -1500.0, "d": 0.2, "e": 1e5, "f": 1e5}),
            ("a=0012 b=1_000 c=0x1F d=1.2.3 e=-", {"a": "0012", "b": "1_000", "c": "0x1F", "d": "1.2.3", "e": "-"}),
            ("a=inf b=-Infinity", {"a": math.inf, "b": -math.inf}),
            ("a=T b=F c=true d=False e=TRUE f=t", {"a": True, "b": False, "c": True, "d": False, "e": True, "f": "t"}),
            ("flag other_flag x=1 last", {"flag": True, "other_flag": True, "x": 1, "last": True}),
            ("step-2=5 T[K]=300 a/b=1", {"step-2": 5, "T[K]": 300, "a/b": 1}),
            ('"my key"=1 "flag two" "q\\"k"=2', {"my key": 1, "flag two": True, 'q"k': 2}),
            ('a="P 1 21 1" b="run 7 final" c="one"', {"a": "P 1 21 1", "b": "run 7 final", "c": "one"}),
            ('a="7" b="1 2 3" c="1 2.5"', {"a": 7, "b": [1, 2, 3], "c": [1.0, 2.5]}),
            ('d="T F" e=""', {"d": [True, False], "e": ""}),
            ('a="1, 2,  3" b="10,5" c="1 x"', {"a": [1, 2, 3], "b": "10,5", "c": "1 x"}),
            ("a={1 2 3} b={x y} c={5} d={T F T}", {"a": [1, 2, 3], "b": ["x", "y"], "c": 5, "d": [True, False, True]}),
            ("a='1 2' b='x y' c=it's", {"a": [1, 2], "b": "x y", "c": "it's"}),
            ("a=[1,2,3] b=[1, 2.5] c=[T,F] d=[5]", {"a": [1, 2, 3], "b": [1.0, 2.5], "c": [True, False], "d": [5]}),
            ('a=["x y", "z"] b=["1","2"]', {"a": ["x y", "z"], "b": ["1", "2"]}),
            ("a=[[1,2],[3,4.5]] b=[[1,x]]", {"a": [[1.0, 2.0], [3.0, 4.5]], "b": [["1", "x"]]}),
            ('a="say \\"hi\\"" b="back\\\\slash"', {"a": 'say "hi"', "b": "back\\slash"}),
            ('c="two\\nlines"', {"c": "two\nlines"}),
            ("a=2024-05-05T14:23:15.005747 b=x=y=z", {"a": "2024-05-05T14:23:15.005747", "b": "x=y=z"}),
            ('cmd="a=b c=d" e=1', {"cmd": "a=b c=d", "e": 1}),
            ("note= after=5 last=x", {"note": "", "after": 5, "last": "x"}),
            ("a = 1 b= 2 c =3 d=", {"a": 1, "b": 2, "c": 3, "d": ""}),
            ("a=1, b=2; c=x,", {"a": 1, "b": 2, "c": "x,"}),
            ('a="_JSON {\\"k\\": [1, null]}" b=_JSON[1,[2]] c=_JSON{"x": "y z"}',
             {"a": {"k": [1, None]}, "b": [1, [2]], "c": {"x": "y z"}}),
            ('a="_JSON \\"12\\"" b=_JSONx', {"a": "12", "b": "_JSONx"}),
            ('a={"k": 1}', {"a": {"k": 1}}),
            ("a=[1,2 b=3", {"a": "[1,2", "b": 3}),
            ('a=99999999999999999999999 b="x', {"a": "99999999999999999999999", "b": "x"}),
        ],
    )  # fmt: skip
    def test_values(self, comment, found):
        assert parsed(comment) == found
        assert [type(value) for value in parsed(comment).values()] == [type(value) for value in found.values()]

    def test_what_is_no_item(self):
        assert items_of('=5 (a) b=1 é "').loose == ["=5", "(a)", "é", '"']

    def test_long_lines_take_no_time(self):
        for piece in ("word ", "a=1 ", "a=[ ", 'a={"', 'a="x ', "=", "a=[[1] ", "_JSON[ a=", "'"):
            items_of(piece * 20_000)
            read_header("Lattice= " + piece * 20_000)


class TestMeta:
    @pytest.mark.parametrize(
        ("value", "tag"),
        [
            (True, "bool"), (1, "i64"), (2**63, "u64"), (1.5, "f64"), ("x", "string"), ([1, 2, 3], "i64x3"),
            ([1.0, 2.0, 3.0], "f64x3"), ([0.5] * 6, "f64x6"), ([0.5] * 9, "f64x9"), ([True] * 3, "bool3"),
            ([1, 2], "json"), ([1] * 9, "json"), ([math.nan, 1.0], "json"), ({"a": None}, "json"), ([], "json"),
            (["x"], "json"), (None, "json"),
        ],
    )  # fmt: skip
    def test_tags(self, value, tag):
        assert tagged_value(value)[1] == tag

    def test_what_no_tag_holds(self):
        assert tagged_value(10**30) == (str(10**30), "string")
        assert tagged_value([math.nan, -math.inf]) == (["NaN", "-Infinity"], "json")
        assert tagged_value(["\0"]) == ('["\\u0000"]', "string")

    @pytest.mark.parametrize(
        "value",
        [
            True, 0, -5, 2**64 - 1, 1.0, -0.0, 1e-300, 1 / 3, math.inf, "x", "", " ", "a b", "12", "0012", "1.5", "T",
            "nan", "1 2", "a=b", 'q"', "back\\", "two\nlines", "tab\t", "é 水", "_JSON 1", "[1,2]", "{a}", "a,b", "x'y",
            [1, 2], [1, 2, 3], [1.5, 2.0], [True, False], [5], [], ["a", "b"], [[1, 2], [3, 4]], [1, "a", None],
            {"k": [1, {"l": "m n"}]}, None, "\u00a0", "Infinity",
        ],
    )  # fmt: skip
    def test_a_value_is_read_as_it_is_written(self, value):
        for key in ("key", "my key", 'q"k', "ü"):
            comment = f"before=1 {key_text(key)}={value_text(value)} after=2"
            found = items_of(comment)
            assert found.loose == []
            assert repr({item.key: item.value for item in found.items}) == repr({"before": 1, key: value, "after": 2})

    def test_not_a_number(self):
        assert math.isnan(parsed(f"a={value_text(math.nan)}")["a"])


class TestExtended:
    def test_what_is_stated(self):
        header = read_header('Lattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 energy=-3 step=7 time=1 n=2')
        assert header.extended
        assert header.values == {"pe": -3.0, "n": 2}
        assert header.tags == {"pe": "f64", "n": "i64"}
        assert (header.step, header.time) == (7, 1.0)
        assert header.units == {
            "length": "angstrom", "energy": "eV", "force": "eV/angstrom", "mass": "amu", "charge": "e",
        }  # fmt: skip

    @pytest.mark.parametrize(
        "comment",
        [
            "A classical XYZ file (no Lattice= comment).",
            "water",
            "E = −1.5 eV, d=2.1 Å",
            "Lattice constant = 5.4",
            "see Properties=foo for more",
            "Lattice=cubic or so",
            "energy=-1 and some text",
        ],
    )
    def test_free_text(self, comment):
        header = read_header(comment)
        assert (header.extended, header.properties, header.box, header.values) == (False, None, None, {})

    def test_nothing_but_keys_without_properties(self):
        header = read_header("energy=-1.5 charge=0 step=3")
        assert header.values == {"pe": -1.5, "charge": 0}
        assert header.step == 3
        assert header.properties is None

    @pytest.mark.parametrize(
        ("text", "step", "time", "values"),
        [
            ("step=5", 5, None, {}),
            ("Step=5 Time=0.5", 5, 0.5, {}),
            ("timestep=5", 5, None, {}),
            ("step=5 timestep=6", 5, None, {"xyz_timestep": 6}),
            ("timestep=0.5", None, None, {"xyz_timestep": 0.5}),
            ("step=5.5", None, None, {"step": 5.5}),
            ("step=T", None, None, {"step": True}),
            ("time=12:30", None, None, {"xyz_time": "12:30"}),
            ("time=2", None, 2.0, {}),
            ("step=99999999999999999999", None, None, {"step": "99999999999999999999"}),
        ],
    )
    def test_step_and_time(self, text, step, time, values):
        header = read_header(f"Properties=species:S:1:pos:R:3 {text}")
        assert (header.step, header.time, header.values) == (step, time, values)

    @pytest.mark.parametrize(
        ("text", "values", "tags"),
        [
            ("energy=-10", {"pe": -10.0}, {"pe": "f64"}),
            ("energy", {"energy": True}, {"energy": "bool"}),
            ("energy=low", {"energy": "low"}, {"energy": "string"}),
            ("energy=1 pe=2", {"pe": 2.0, "xyz_energy": 1}, {"pe": "f64", "xyz_energy": "f64"}),
            ("a/b=1 a|b=2", {"a|b": 1, "xyz_a|b": 2}, {"a|b": "i64", "xyz_a|b": "i64"}),
            ("v={'a': 1, 'b': 2}", {"v": "{'a': 1, 'b': 2}"}, {"v": "string"}),
            ("v={{1.0 0} {0 2}}", {"v": [[1.0, 0.0], [0.0, 2.0]]}, {"v": "json"}),
            ("virial={{1 2 3} {4 5 6} {7 8 9}}", {"virial": (1.0, 2, 3, 4, 5, 6, 7, 8, 9)}, {"virial": "f64x9"}),
            ("free_energy=-3", {"free_energy": -3.0}, {"free_energy": "f64"}),
            ('stress="1 2 3 2 5 6 3 6 9"', {"stress": (1.0, 2, 3, 2, 5, 6, 3, 6, 9)}, {"stress": "f64x9"}),
            ("stress=[[1,2,3],[2,5,6],[3,6,9]]", {"stress": (1.0, 2, 3, 2, 5, 6, 3, 6, 9)}, {"stress": "f64x9"}),
            ('virial="1 2 3 4 5 6"', {"virial": (1.0, 2, 3, 4, 5, 6)}, {"virial": "f64x6"}),
            ('dipole="0 0 1"', {"dipole": (0.0, 0.0, 1.0)}, {"dipole": "f64x3"}),
            ("temp=300", {"temp": 300.0}, {"temp": "f64"}),
            ("temp=high", {"xyz_temp": "high"}, {"xyz_temp": "string"}),
            ("a/b=1 cell_defined=T", {"a|b": 1, "xyz_cell_defined": True}, {"a|b": "i64", "xyz_cell_defined": "bool"}),
            ("_json=1 __x=2", {"xyz_json": 1, "xyz__x": 2}, {"xyz_json": "i64", "xyz__x": "i64"}),
            (".=3", {"xyz.": 3}, {"xyz.": "i64"}),
        ],
    )  # fmt: skip
    def test_keys(self, text, values, tags):
        header = read_header(f"Properties=species:S:1:pos:R:3 {text}")
        assert header.values == values
        assert header.tags == tags

    @pytest.mark.parametrize(
        ("text", "units"),
        [
            ("energy-unit=hartree force-unit=hartree/bohr", {"energy": "hartree", "force": "hartree/bohr"}),
            ("energy_unit=ev", {"energy": "eV", "force": "eV/angstrom"}),
            ("velocity-unit=Ang/ps time-units=FS", {"velocity": "angstrom/ps", "time": "fs", "energy": "eV"}),
            ("energy-unit=foo", {"energy": None, "force": "eV/angstrom"}),
        ],
    )
    def test_units(self, text, units):
        header = read_header(f"Properties=species:S:1:pos:R:3 {text}")
        assert {quantity: header.units.get(quantity) for quantity in units} == units
        assert (
            header.values == ({"energy-unit": "foo"} if units["energy"] is None else {}) if "energy" in units else True
        )

    def test_units_of_many(self):
        header = read_header("Properties=species:S:1:pos:R:3 forces_unit=hartree/bohr energies-units=Hartree")
        assert (header.units["force"], header.units["energy"]) == ("hartree/bohr", "hartree")
        assert "force" not in read_header("Properties=species:S:1:pos:R:3 forces_unit=foo").units

    def test_commas_between_items(self):
        header = read_header('Lattice="5 5 5", Properties=species:S:1:pos:R:3, energy=-1.5, pbc="T T F"')
        assert header.properties == (Property("species", "S", 1), Property("pos", "R", 3))
        assert header.values == {"pe": -1.5}
        assert header.box is not None
        assert header.box.boundary.tolist() == [True, True, False]

    def test_notes(self):
        header = read_header("Properties=species:S:1:pos:R:3 a=1 a=2 =x (y)")
        assert header.values == {"a": 2}
        assert header.notes == [
            "the key 'a' comes twice in a comment line, the last one holds",
            "the comment line has what is no key=value: '=x (y)'",
        ]

    @pytest.mark.parametrize(
        ("comment", "message"),
        [
            ('Lattice="1 0 0 0 1 0 0 0"', "Lattice: 9 or 3 numbers are due, not 8"),
            ('Lattice="1 0 0 0 1 0 0 0 x"', "Lattice: 'x' is not a number"),
            ("Properties=species:S:1:pos:R", "name:type:columns is due for every property, not 'species:S:1:pos:R'"),
            ("Properties=species:Q:1", "the type of property 'species' is one of R, I, S and L, not 'Q'"),
            ("Properties=species:S:0", "property 'species' has a number of columns, not '0'"),
            ("Properties=species:S:x", "property 'species' has a number of columns, not 'x'"),
            ('Lattice="1 1 1" pbc="T T"', "pbc: three of T and F are due, not 'T T'"),
            ('Lattice="1 1 1" Origin="1 2"', "Origin: 3 numbers are due, not 2"),
            ('Lattice="1 1 1" Origin="1 2 inf"', "Origin: '1 2 inf' is no place"),
            ("a\0b", "the comment line holds a NUL"),
        ],
    )
    def test_what_is_refused(self, comment, message):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            read_header(comment)


class TestDialects:
    @pytest.mark.parametrize(
        ("comment", "step", "time", "values", "units"),
        [
            (" Atoms. Timestep: 60", 60, None, {}, {}),
            (" Atoms. Timestep: 60 Time: 0.300000", 60, 0.3, {}, {}),
            (" i =       30, time =       15.000, E =    -12660.7035464635", 30, 15.0, {"pe": -12660.7035464635},
             {"time": "fs", "energy": "hartree"}),
            (" i =        3, E =       -17.1", 3, None, {"pe": -17.1}, {"time": "fs", "energy": "hartree"}),
            ("MD iter: 12", 12, None, {}, {}),
            ("Geometry Step: 4", 4, None, {}, {}),
            ("# ORCA AIMD Position Step 4, t=2.00 fs, E_Pot=-481.7 Hartree, Unit is Angstrom", 4, 2.0, {"pe": -481.7},
             {"time": "fs", "energy": "hartree"}),
            ("Iteration 7 Energy -1.12345678", 7, None, {"pe": -1.12345678}, {"energy": "hartree"}),
            ("Coordinates from ORCA-job water E -76.123", None, None, {"pe": -76.123}, {"energy": "hartree"}),
            (" energy: -5.070544440612 gnorm: 0.000054 xtb: 6.4.0 (d4b70c2)", None, None,
             {"pe": -5.070544440612, "gnorm": 5.4e-5}, {"energy": "hartree"}),
            ("Atoms. Timestep: 60 and more", None, None, {}, {}),
        ],
    )  # fmt: skip
    def test_habits(self, comment, step, time, values, units):
        header = read_header(comment)
        assert (header.step, header.time, header.values) == (step, time, values)
        assert header.units == {"length": "angstrom", **units}
        assert not header.extended

    def test_cpptraj(self):
        box = read_header("Conf 1. Box X: 19.66 0.000 0.000 Y: 1.000 19.660 0.000 Z: 0.000 0.000 19.5").box
        assert box.vectors.T.tolist() == [[19.66, 0, 0], [1, 19.66, 0], [0, 0, 19.5]]
        assert box.boundary.all()

    def test_ipi(self):
        header = read_header(
            "# CELL(abcABC):   35.23300    36.00000    37.00000    90.00000    90.00000    90.00000  "
            "Step:          20  Bead:       3 positions{atomic_unit}  cell{angstrom}"
        )
        assert header.step == 20
        assert header.values == {"bead": 3}
        assert header.box.vectors.tolist() == [[35.233, 0, 0], [0, 36, 0], [0, 0, 37]]
        assert header.scale == pytest.approx(BOHR, rel=1e-12)
        assert header.triple == "pos"

    @pytest.mark.parametrize(
        ("text", "triple", "scale", "units"),
        [
            ("positions{angstrom}", "pos", 1.0, {}),
            ("x_centroid{angstrom}", "pos", 1.0, {}),
            ("", "pos", BOHR, {}),
            ("forces{ev/ang}", "forces", 1.0, {"force": "eV/angstrom"}),
            ("forces{atomic_unit}", "forces", 1.0, {"force": "hartree/bohr"}),
            ("v_centroid{atomic_unit}", "velo", 1.0, {}),
            ("momenta{atomic_unit}", "momenta", 1.0, {}),
            ("hessian{x}", "hessian", 1.0, {}),
        ],
    )
    def test_ipi_quantities(self, text, triple, scale, units):
        header = read_header(f"# CELL{{H}}: 4 0 0 0 5 0 0 1 6 Step: 1 {text} cell{{atomic_unit}}")
        assert header.triple == triple
        assert header.scale == pytest.approx(scale, rel=1e-12)
        assert header.box.vectors[2, 1] == pytest.approx(BOHR, rel=1e-12)
        assert header.units == {"length": "angstrom", **units}

    def test_ipi_that_is_not_understood(self):
        header = read_header("# CELL(abcABC): 4 5 6 positions{furlong} cell{angstrom}")
        assert header.box is None
        assert header.notes == [
            "the cell of the comment line is not understood, so there is none",
            "the unit of length 'furlong' is not known",
        ]
