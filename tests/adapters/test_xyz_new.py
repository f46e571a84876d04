"""Writing XYZ: frames that come from no file."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import FormatError, LossError, LossWarning
from molrec_convert.model import Box, Column, Frame, Meta

from ..xyzs import frame, trajectory_of

LATTICE = 'Lattice="4.0 0.0 0.0 0.5 5.0 0.0 0.0 0.0 6.0"'
SPECIES = "Properties=species:S:1:pos:R:3"


def one(comment, row="H 0.5 0.0 -1.25"):
    return frame(row, comment=comment)


def written(tmp_path, data, **options):
    mc.write(tmp_path / "new.xyz", data, force=True, **options)
    return (tmp_path / "new.xyz").read_text()


ATOMS = {"element": ["O", "H"], "x": [0.0, 1 / 3], "y": [1.0, -0.0], "z": [1e-9, 2e20]}


class TestNew:
    def test_a_frame(self, tmp_path):
        assert written(tmp_path, Frame({"atoms": ATOMS})) == (
            f"2\n{SPECIES}\nO 0.0 1.0 1e-09\nH 0.3333333333333333 -0.0 2e+20\n"
        )

    def test_steps_and_times(self, tmp_path):
        text = written(tmp_path, [Frame({"atoms": ATOMS})] * 2, step=[5, 10], time=[0.5, 1.0], units={"time": "ps"})
        assert [line for line in text.split("\n") if "Prop" in line] == [
            f"{SPECIES} step=5 time=0.5 time-unit=ps", f"{SPECIES} step=10 time=1.0 time-unit=ps",
        ]  # fmt: skip

    def test_every_column(self, tmp_path):
        atoms = {
            **ATOMS, "id": np.array([3, 4], "u8"), "vx": [1.0, 2], "vy": [3.0, 4], "vz": [5.0, 6], "fx": [1.5, 2.5],
            "fy": [3.5, 4.5], "fz": [5.5, 6.5], "mass": [15.999, 1.008], "charge": [-0.8, 0.4],
            "atomic_number": np.array([8, 1], "u8"), "mol_id": np.array([1, 1], "u8"), "res_id": np.array([7, 8], "u8"),
            "res_name": ["SOL", "SOL"], "name": ["OW", "HW1"], "type": ["OT", "HT"], "type_id": np.array([1, 2], "u8"),
            "tag": [-1, 2], "magmom": [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]], "ix": np.array([0, -1], "i4"),
            "free": [True, False], "mask": [[True, False], [False, True]], "small": np.array([1, 255], "u1"),
            "words": np.array([["a", "b"], ["c", "d"]], dtype=object), "formal_charge": np.array([-2, 1], "i8"),
        }  # fmt: skip
        text = written(tmp_path, Frame({"atoms": atoms}))
        assert text.split("\n")[1:3] == [
            f"{SPECIES}:Z:I:1:vel:R:3:forces:R:3:mass:R:1:charge:R:1:magmoms:R:3:tags:I:1:id:I:1:molid:I:1:resid:I:1:"
            "resname:S:1:type:S:1:type_id:I:1:name:S:1:ix:I:1:free:L:1:mask:L:2:small:I:1:words:S:2:formal_charge:I:1",
            "O 0.0 1.0 1e-09 8 1.0 3.0 5.0 1.5 3.5 5.5 15.999 -0.8 0.0 0.5 1.0 -1 3 1 7 SOL OT 1 OW 0 T T F 1 a b -2",
        ]
        again = trajectory_of(tmp_path / "new.xyz")[0]["atoms"]
        narrow = {"small": np.array([1, 255], "i8")}
        assert again.same(Frame({"atoms": {**atoms, **narrow}})["atoms"])

    def test_every_value(self, tmp_path):
        meta = {
            "pe": -1.5, "flag": True, "n": 7, "big": 2**63, "v": [1.0, 2.0, 3.0], "w": [1, 2, 3], "six": [0.5] * 6,
            "b": [True, False, True], "nine": [0.25] * 9, "s": "0012", "e": "", "nl": "a\nb", "q": 'say "x"',
            "num": "12", "two words": "a b", "doc": {"k": [1, None]}, "list": [1, 2], "nan": float("nan"),
            "back": "a\\b", "temp": 300.0,
        }  # fmt: skip
        written(tmp_path, Frame({"atoms": ATOMS}, meta=meta))
        again = trajectory_of(tmp_path / "new.xyz")[0].meta
        assert Meta({key: again[key] for key in meta}, tags=again.tags).same(Meta(meta))

    def test_keys_that_mean_something(self, tmp_path):
        meta = {"Lattice": "1 2 3", "Properties": "a:b", "origin": "PBE", "pbc": [True, True, False], "xyz_time": "now"}
        with pytest.warns(LossWarning, match="not carried by xyz: Lattice, Properties, pbc"):
            text = written(tmp_path, Frame({"atoms": ATOMS}, meta=meta, box=Box.orthogonal(2.0)))
        assert text.split("\n")[1].split(f"{SPECIES} ")[1] == (
            'xyz_Lattice="_JSON \\"1 2 3\\"" xyz_Properties=a:b origin=PBE xyz_pbc="T T F" time=now pbc="T T T"'
        )
        again = trajectory_of(tmp_path / "new.xyz")[0]
        assert again.meta["xyz_time"] == "now"
        assert again.meta["origin"] == "PBE"
        assert 'pbc="T T F"' in written(tmp_path, Frame({"atoms": ATOMS}, meta={"pbc": [True, True, False]}))

    def test_velocities_and_energies_in_known_units(self, tmp_path):
        atoms = {**ATOMS, **{name: [1.0, 2.0] for name in ("vx", "vy", "vz", "fx", "fy", "fz")}}
        real = {"length": "angstrom", "energy": "kcal/mol", "force": "kcal/mol/angstrom", "velocity": "angstrom/ps"}
        text = written(tmp_path, Frame({"atoms": atoms}, meta={"pe": 100.0, "ke": 1.0, "temp": 300.0}), units=real)
        assert text.split("\n")[1] == (
            f"{SPECIES}:velo:R:3:forces:R:3 energy=4.336410424180094 ke=0.043364104241800934 temp=300.0"
        )
        assert text.split("\n")[2].split()[4:] == ["0.001"] * 3 + ["0.043364104241800934"] * 3
        lengths = written(tmp_path, Frame({"atoms": ATOMS}, box=Box.orthogonal(2.0)), units={"length": "nm"})
        assert 'Lattice="20.0 0.0' in lengths
        reduced = written(tmp_path, Frame({"atoms": atoms}), units={"length": "sigma", "velocity": "sigma/tau"})
        assert "vel:R:3" in reduced

    @pytest.mark.parametrize(
        ("names", "columns", "first"),
        [
            ({}, SPECIES, "X"),
            ({"name": ["CA", "CB"]}, f"{SPECIES}:name:S:1", "CA"),
            ({"type": ["CA", "CB"]}, SPECIES, "CA"),
            ({"type": ["C", "H"]}, f"{SPECIES}:type:S:1", "C"),
            ({"type": ["a", "b"], "name": ["c", "d"]}, f"{SPECIES}:name:S:1", "a"),
            ({"element": ["C", "H"], "type": ["a", "b"]}, f"{SPECIES}:type:S:1", "C"),
            ({"element": ["", "H"], "type": ["a", "b"]}, f"{SPECIES}:type:S:1:element:S:1", "X"),
            ({"icode": ["", "A"]}, f"{SPECIES}:icode:S:1", "X"),
            ({"type_id": np.array([1, 2], "u8")}, f"{SPECIES}:type_id:I:1", "X"),
            ({"atomic_number": np.array([6, 1], "u8")}, f"{SPECIES}:Z:I:1", "C"),
        ],
    )  # fmt: skip
    @pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
    def test_labels(self, tmp_path, names, columns, first):
        data = Frame({"atoms": {**names, "x": [0.0, 1.0], "y": [0.0, 1.0], "z": [0.0, 1.0]}})
        lines = written(tmp_path, data).split("\n")
        assert lines[1] == columns
        assert lines[2].split()[0] == first
        again = trajectory_of(tmp_path / "new.xyz")[0]["atoms"]
        for name in set(names) - {"type"} | {"x"}:
            assert again[name].tolist() == data["atoms"][name].tolist()

    def test_nulls(self, tmp_path):
        valid = np.array([True, False])
        atoms = {
            **ATOMS, "element": Column(["O", "H"], valid=valid), "type": ["OT", "HT"],
            "a": Column([1.0, 2.0], valid=valid), "n": Column([1, 2], valid=valid),
            "f": Column([True, True], valid=valid), "w": Column(["u", "v"], valid=valid),
        }  # fmt: skip
        with pytest.warns(LossWarning, match=r"nulls of atoms\.a"):
            text = written(tmp_path, Frame({"atoms": atoms}))
        assert text.split("\n")[2:4] == [
            "O 0.0 1.0 1e-09 OT O 1.0 1 T u", "HT 0.3333333333333333 -0.0 2e+20 HT ? nan 0 F ?",
        ]  # fmt: skip

    def test_decimals(self, tmp_path):
        assert written(tmp_path, Frame({"atoms": ATOMS}), decimals=3).split("\n")[2:4] == [
            "O 0.000 1.000 0.000", "H 0.333 -0.000 200000000000000000000.000",
        ]  # fmt: skip

    def test_what_is_lost(self, tmp_path):
        data = Frame(
            {
                "atoms": {**ATOMS, "c": np.array([1j, 2j])},
                "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")},
            }
        )
        with pytest.warns(LossWarning, match=r"not carried by xyz: atoms\.c, bonds \(1\)"):
            text = written(tmp_path, data)
        assert text.split("\n")[1] == SPECIES
        with pytest.raises(LossError, match=r"xyz cannot hold atoms\.c"):
            written(tmp_path, data, strict=True)

    def test_texts_that_are_no_words(self, tmp_path):
        atoms = {**ATOMS, "name": ["C A", "CB"], "type": ["a", "b\nc"], "icode": ["", "A"]}
        with pytest.warns(LossWarning, match=r"not carried by xyz: atoms\.name, atoms\.type$"):
            text = written(tmp_path, Frame({"atoms": atoms}))
        assert text.split("\n")[1:3] == [f"{SPECIES}:icode:S:1", 'O 0.0 1.0 1e-09 ""']
        with pytest.warns(LossWarning, match=r"not carried by xyz: atoms\.element$"):
            text = written(tmp_path, Frame({"atoms": {**ATOMS, "element": ["O", "H 1"], "name": ["a", "b"]}}))
        assert text.split("\n")[2].startswith("a ")

    def test_what_is_refused(self, tmp_path):
        with pytest.raises(FormatError) as error:
            written(tmp_path, [Frame({"atoms": ATOMS}), Frame({"atoms": {**ATOMS, "id": np.array([1, 2**63], "u8")}})])
        message = "column id: 9223372036854775808 of atom 2 does not fit a signed 64-bit integer"
        assert str(error.value) == f"new.xyz (frame 1): {message}"
        assert list(tmp_path.iterdir()) == []

    def test_the_rest_of_lines(self, converted, text_of, tmp_path):
        text = frame("C 0.5 0.5 0.5", "O 1.5 1.5 1.5 # an oxygen")
        made = converted(text, "in.xyz")
        assert text_of(made, "back.xyz").replace(" \n", "\n") == text
        new = Frame(dict(made.record.trajectory[0].items()))
        new.meta.set("xyz_columns", made.about["xyz_columns"])
        with pytest.raises(FormatError) as error:
            written(tmp_path, new)
        assert str(error.value) == (
            "new.xyz (frame 0): column rest: '# an oxygen' of atom 2 is not one word, which an atom line needs"
        )

    def test_names_that_the_grammar_does_not_allow(self, tmp_path):
        data = Frame({"atoms": {**ATOMS, "a:b": [1.0, 2.0], "a b": [1.0, 2.0], "c": np.zeros((2, 0))}})
        with pytest.warns(LossWarning, match=r"not carried by xyz: atoms\.c"):
            text = written(tmp_path, data)
        assert text.split("\n")[1] == f"{SPECIES}:a_b:R:1:a_b_2:R:1"
