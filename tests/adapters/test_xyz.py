"""XYZ: what a record holds of frames, cells, columns and labels."""

import numpy as np
import pytest

from molrec_convert.errors import OptionError

from ..xyzs import frame

SPECIES = "Properties=species:S:1:pos:R:3"
LATTICE = 'Lattice="10 1 2 0 11 3 0 0 12"'
CASE_NOTE = "in.xyz: labels are taken for elements whatever their case: CL for Cl, fe for Fe"


def one(comment, row="H 0 0 0"):
    return frame(row, comment=comment)


@pytest.fixture
def read(converted):
    return lambda text, **options: converted(text, "in.xyz", **options)


def meta_of(made, number=0):
    """The values of a frame, without what describes the source's layout."""
    return {key: value for key, value in made.record.trajectory[number].meta.items() if not key.startswith("xyz_")}


def columns_of(made, number=0):
    return {name: column.describe() for name, column in made.atoms(number).columns.items()}


class TestPlain:
    def test_frames(self, read):
        made = read(frame("O 0 0.5 -1.5", "H 1e-3 .5 +2.", comment="one") + frame("O 1 2 3", "H 4 5 6", comment="two"))
        assert made.warnings == []
        assert columns_of(made) == {"element": "string[N]", "x": "f64[N]", "y": "f64[N]", "z": "f64[N]"}
        assert made.values("element") == ["O", "H"]
        assert made.values("x") == [0, 0.001]
        assert made.values("z", 1) == [3, 6]
        assert made.fixed == ["element"]
        assert [made.record.trajectory[k].meta["xyz_comment"] for k in (0, 1)] == ["one", "two"]
        assert made.record.trajectory.step.tolist() == [0, 1]
        assert made.record.trajectory.time is None
        assert made.box() is None
        assert made.record.meta["units"] == {"length": "angstrom"}

    def test_a_single_frame_is_a_series_too(self, read):
        made = read(one("title"))
        assert made.record.frame is None
        assert dict(made.about) == {
            "xyz_comment": "title", "xyz_numbers": {"x": "g", "y": "g", "z": "g"},
        }  # fmt: skip

    def test_frames_of_different_size(self, read):
        made = read(one("a", "He 1 2 3") + frame("N 0 0 0", "N 0 0 1.1") + frame() + one("b"))
        assert [made.atoms(k).count for k in range(4)] == [1, 2, 0, 1]
        assert made.values("element", 1) == ["N", "N"]

    def test_undeclared_columns(self, read):
        made = read(frame("C 0 0 0 0.5 CT 3", "O 1 1 1 -.5 OH 4"))
        assert columns_of(made) == {
            "element": "string[N]", "x": "f64[N]", "y": "f64[N]", "z": "f64[N]", "col_5": "f64[N]",
            "col_6": "string[N]", "col_7": "f64[N]",
        }  # fmt: skip
        assert made.values("col_5") == [0.5, -0.5]
        assert made.values("col_6") == ["CT", "OH"]

    def test_an_undeclared_column_that_is_not_all_numbers_is_text(self, read):
        made = read(frame("C 0 0 0 1 2", "O 1 1 1 x 3") + frame("C 0 0 0 1 2", "O 1 1 1 2 3"))
        assert made.values("col_5") == ["1", "x"]
        assert made.values("col_5", 1) == ["1.0", "2.0"]
        assert made.values("col_6") == [2, 3]

    def test_lines_of_different_length(self, read):
        made = read(frame("C 0 0 0", "O 1 1 1  # oxygen 1 ", "H 2 2 2 x"))
        assert made.values("rest") == ["", "# oxygen 1", "x"]
        assert made.values("x") == [0, 1, 2]
        assert made.warnings == ["in.xyz: the atom lines differ in length; what follows the positions is kept as text"]

    def test_atoms_with_numbers(self, read):
        made = read(frame("1 O 0 0 0 1 2 3", "2 H 1 1 1 2 1 0"))
        assert made.values("id") == [1, 2]
        assert made.values("element") == ["O", "H"]
        assert made.values("x") == [0, 1]
        assert made.values("col_6") == [1, 2]
        assert made.about["xyz_columns"] == "id:I:1:species:S:1:pos:R:3:col_6:R:1:col_7:R:1:col_8:R:1"

    def test_atoms_with_integers_that_are_no_numbers_of_them(self, read):
        made = read(frame("6 C 0 0 0", "1 H 1 1 1") + frame("7 N 0 0 0"))
        assert made.values("col_1") == [6, 1]
        assert made.values("element", 1) == ["N"]
        assert "id" not in made.atoms()
        assert read(frame("1 C 0 0 0")).values("id") == [1]

    def test_exponents_of_other_languages(self, read):
        made = read(frame("C -1.25D-01 0.5d+00 1.0-101", "O 2.0*^1 -7.5*^-6 nan"))
        assert made.values("x") == [-0.125, 20]
        assert made.values("y") == [0.5, -7.5e-6]
        assert made.values("z")[0] == 1e-101
        assert np.isnan(made.values("z")[1])

    def test_all_digits_are_kept(self, read):
        made = read(one("", "H 0.12345678901234567 -98765.432109876543 -0.0"))
        assert made.values("x") == [0.12345678901234567]
        assert made.values("y") == [-98765.432109876543]
        assert np.signbit(made.values("z")[0])


class TestLayout:
    @pytest.mark.parametrize(
        "text",
        [
            "2\r\nwater part\r\nO 0.5 0 0\r\nH 1 0 0\r\n",
            "2\nwater part\r\nO 0.5 0 0\nH 1 0 0\r\n",
            "\n \n   2  \t\nwater part\nO 0.5 0 0\nH 1 0 0\n\n  \n\t\n",
            "\ufeff2\nwater part\n\tO\t0.5\t0\t0\nH\t1  0 0  \n",
            "+2\nwater part\nO 0.5 0 0\nH 1 0 0",
        ],
        ids=["crlf", "mixed", "blank lines", "mark and tabs", "no line end"],
    )
    def test_white_space(self, read, text):
        made = read(text)
        assert made.values("element") == ["O", "H"]
        assert made.values("x") == [0.5, 1]
        assert made.about["xyz_comment"] == "water part"

    def test_text_behind_the_count(self, read):
        made = read("1 atom, water\nc\nO 0 0 0\n")
        assert made.about["xyz_title"] == "atom, water"

    def test_numbers_behind_the_count(self, read):
        made = read("1 -76.5\na\nO 0 0 0\n" * 3)
        assert made.report.frames == 3
        assert made.warnings == []

    def test_blank_lines_between_frames(self, read):
        made = read(one("a") + "\n  \n" + one("b") + "\n")
        assert made.report.frames == 2

    def test_latin_1(self, read):
        made = read("1\n2.1 Å\nO 0 0 0\n".encode("latin-1"))
        assert made.about["xyz_comment"] == "2.1 Å"

    def test_cell_vectors_behind_the_atoms(self, read):
        made = read(frame("O 0 0 0", comment="surface") + "VEC1 4 0 0\n VEC2 0 5 0\n" + one("molecule"))
        box = made.box()
        assert box.vectors.tolist() == [[4, 0, 0], [0, 5, 0], [0, 0, 1]]
        assert box.boundary.tolist() == [True, True, False]
        assert made.record.trajectory[0].meta["xyz_vec"] == [[4.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
        assert made.box(1) is None

    def test_lines_that_are_no_frame(self, read):
        tail = "1341.3\t1562.6\n[C-]#[O+]\t[C-]#[O+]\n"
        made = read(frame("C 0 0 0 .5", "O 0 0 1.2 .5") + tail)
        assert made.report.frames == 1
        assert made.warnings == ["in.xyz:5 (frame 0): 2 lines are no frame, and are left out: '1341.3\\t1562.6'"]
        made = read((frame("C 0 0 0 .5", "O 0 0 1.2 .5", comment="a") + tail) * 2)
        assert made.report.frames == 2
        assert made.warnings[0].endswith("'1341.3\\t1562.6' (in 2 frames)")


class TestLabels:
    def test_case_does_not_matter_where_all_are_elements(self, read):
        made = read(frame("CL 0 0 0", "fe 1 0 0", "O 2 0 0"))
        assert made.values("element") == ["Cl", "Fe", "O"]
        assert made.values("type") == ["CL", "fe", "O"]
        assert made.about["xyz_species"] == "type"
        assert made.warnings == [CASE_NOTE]

    def test_numbers_are_no_elements(self, read):
        made = read(frame("6 0 0 0", "1 1 0 0"))
        assert made.values("type") == ["6", "1"]
        assert "element" not in made.atoms()
        assert made.warnings == ["in.xyz: the labels 6, 1 are no elements; --type-map 6=C,… names them"]

    def test_a_type_map(self, read):
        made = read(frame("6 0 0 0", "1 1 0 0", "O 2 0 0"), type_map={"6": "C", "1": "H"})
        assert made.values("element") == ["C", "H", "O"]
        assert made.values("type") == ["6", "1", "O"]
        assert made.warnings == []

    def test_a_type_map_that_leaves_one_out(self, read):
        with pytest.raises(OptionError) as error:
            read(frame("6 0 0 0", "1 1 0 0"), type_map={"6": "C"})
        assert str(error.value) == "in.xyz: --type-map names no element for type 1"

    def test_labels_beside_elements_are_unknown(self, read):
        made = read(frame("C 0 0 0", "CB 1 0 0", "Bq 2 0 0"))
        assert made.values("element") == ["C", "X", "X"]
        assert made.values("type") == ["C", "CB", "Bq"]

    def test_isotopes(self, read):
        made = read(frame("O 0 0 0", "D 1 0 0"))
        assert made.values("element") == ["O", "H"]
        assert made.values("type") == ["O", "D"]

    def test_labels_that_change(self, read):
        made = read(one("", "C 0 0 0") + one("", "CT 0 0 0") + one("", "C 0 0 0"))
        assert [made.values(name, k) for k in range(3) for name in ("element", "type")] == [
            ["C"], [None], [None], ["CT"], ["C"], [None],
        ]  # fmt: skip


class TestCell:
    def test_vectors_come_one_after_another(self, read):
        made = read(one(f'{LATTICE} {SPECIES} pbc="T F T" Origin="-1 0 2.5"'))
        assert made.box().vectors.tolist() == [[10, 0, 0], [1, 11, 0], [2, 3, 12]]
        assert made.box().boundary.tolist() == [True, False, True]
        assert made.box().origin.tolist() == [-1, 0, 2.5]
        assert meta_of(made) == {}

    @pytest.mark.parametrize(
        "text",
        [
            'Lattice="4 0 0 0 5 0 0 0 6"',
            'lattice="4.0, 0, 0, 0, 5, 0, 0, 0, 6"',
            "Lattice={4 0 0 0 5 0 0 0 6}",
            "Lattice='4 0 0 0 5 0 0 0 6'",
            "Lattice=[[4,0,0],[0,5,0],[0,0,6]]",
            'Lattice="[[4, 0, 0], [0, 5, 0], [0, 0, 6]]"',
            "Lattice=[4, 0, 0, 0, 5, 0, 0, 0, 6]",
            'Lattice = "4 0 0 0 5 0 0 0 6.0D+00"',
            'Lattice="4 5 6"',
            "  Lattice=[4,5,6]",
        ],
    )
    def test_spellings(self, read, text):
        made = read(one(text))
        assert made.box().vectors.tolist() == np.diag([4.0, 5, 6]).tolist()
        assert made.box().boundary.all()
        assert made.values("element") == ["H"]

    def test_rows_of_a_nested_lattice_are_the_vectors(self, read):
        assert read(one("Lattice=[[4,1,2],[0,5,3],[0,0,6]]")).box().vectors.T.tolist() == [
            [4, 1, 2],
            [0, 5, 3],
            [0, 0, 6],
        ]

    @pytest.mark.parametrize(
        ("text", "flags"),
        [("", "TTT"), ('pbc="F F F"', "FFF"), ("pbc=[T,F,T]", "TFT"), ("pbc=F", "FFF"), ('PBC="1 1 0"', "TTF"),
         ('pbc="True False true"', "TFT")],
    )  # fmt: skip
    def test_periodic_axes(self, read, text, flags):
        made = read(one(f"{LATTICE} {text}"))
        assert made.box().boundary.tolist() == [flag == "T" for flag in flags]

    def test_no_lattice_is_no_cell(self, read):
        made = read(one(f'{SPECIES} pbc="T T F"') + one(f"{LATTICE} {SPECIES}") + one("free text"))
        assert made.record.trajectory[0].meta["pbc"] == [True, True, False]
        assert [made.box(k) is None for k in range(3)] == [True, False, True]

    def test_an_origin_without_a_cell(self, read):
        made = read(one(f'{SPECIES} Origin="1 2 3"'))
        assert not made.box().defined
        assert made.box().origin.tolist() == [1, 2, 3]

    def test_fewer_vectors_than_three(self, read):
        made = read(one('Lattice="3 0 0 1 4 0 0 0 0" pbc="T T T"') + one('Lattice="0 0 0 0 0 0 0 0 7"'))
        assert made.box().vectors.T.tolist() == [[3, 0, 0], [1, 4, 0], [0, 0, 1]]
        assert made.box().boundary.tolist() == [True, True, False]
        assert made.box(1).vectors.T[2].tolist() == [0, 0, 7]
        assert made.box(1).boundary.tolist() == [False, False, True]
        assert np.linalg.det(made.box(1).vectors) == pytest.approx(7)
        assert read(one('Lattice="0 0 0 0 0 0 0 0 0"')).box() is None

    def test_vectors_without_a_volume(self, read):
        made = read(one('Lattice="1 0 0 2 0 0 0 0 3"'))
        assert made.box() is None
        rows = "[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]"
        assert made.warnings == [f"in.xyz: the lattice {rows} encloses no volume, so there is no cell"]

    def test_cells_that_differ(self, read):
        made = read(one('Lattice="5 0 0 0 5 0 0 0 5"') + one('Lattice="6 0 0 0 6 0 0 0 6.5"'))
        assert [made.box(k).vectors.diagonal().tolist() for k in (0, 1)] == [[5, 5, 5], [6, 6, 6.5]]


class TestProperties:
    def test_order_and_names(self, read):
        made = read(frame("7 0.5 1.5 2.5 O -0.8", "3 3.5 4.5 5.5 H .4",
                          comment="Properties=id:I:1:pos:R:3:species:S:1:q:R:1"))  # fmt: skip
        assert made.values("id") == [7, 3]
        assert made.values("y") == [1.5, 4.5]
        assert made.values("q") == [-0.8, 0.4]

    @pytest.mark.parametrize(
        ("name", "values", "columns"),
        [
            ("Z:I:1", "8", {"atomic_number": "u64[N]"}),
            ("velo:R:3", "1 2 3", {"vx": "f64[N]", "vy": "f64[N]", "vz": "f64[N]"}),
            ("vel:R:3", "1 2 3", {"vx": "f64[N]", "vy": "f64[N]", "vz": "f64[N]"}),
            ("velocities:R:3", "1 2 3", {"vx": "f64[N]", "vy": "f64[N]", "vz": "f64[N]"}),
            ("forces:R:3", "1 2 3", {"fx": "f64[N]", "fy": "f64[N]", "fz": "f64[N]"}),
            ("force:R:3", "1 2 3", {"fx": "f64[N]", "fy": "f64[N]", "fz": "f64[N]"}),
            ("force:R:1", "1", {"force": "f64[N]"}),
            ("masses:R:1", "1", {"mass": "f64[N]"}),
            ("mass:R:1", "1", {"mass": "f64[N]"}),
            ("charge:R:1", "1", {"charge": "f64[N]"}),
            ("charges:R:1", "1", {"charge": "f64[N]"}),
            ("initial_charges:R:1", "1", {"charge": "f64[N]"}),
            ("charge:R:1:initial_charges:R:1", "1 2", {"charge": "f64[N]", "initial_charge": "f64[N]"}),
            ("initial_charges:R:1:charge:R:1", "1 2", {"initial_charge": "f64[N]", "charge": "f64[N]"}),
            ("magmoms:R:1", "1", {"magmom": "f64[N]"}),
            ("magmoms:R:3", "1 2 3", {"magmom": "f64[N][3]"}),
            ("initial_magmoms:R:3", "1 2 3", {"initial_magmom": "f64[N][3]"}),
            ("tags:I:1", "-1", {"tag": "i64[N]"}),
            ("id:I:1", "4", {"id": "u64[N]"}),
            ("id:I:1", "-4", {"atom_id": "i64[N]"}),
            ("molid:I:1:type:S:1", "2 CT", {"mol_id": "u64[N]", "type": "string[N]"}),
            ("mol:I:1:type:I:1", "2 3", {"mol_id": "u64[N]", "type_id": "u64[N]"}),
            ("resid:I:1:resname:S:1:name:S:1", "2 ALA CA",
             {"res_id": "u64[N]", "res_name": "string[N]", "name": "string[N]"}),
            ("resid:I:1", "-2", {"res_seq": "i64[N]"}),
            ("local_energy:R:1:stresses:R:9", "1 1 2 3 4 5 6 7 8 9",
             {"local_energy": "f64[N]", "stresses": "f64[N][9]"}),
            ("move_mask:L:1", "T", {"move_mask": "bool[N]"}),
            ("move_mask:L:3", "T F true", {"move_mask": "bool[N][3]"}),
            ("a:I:2:b:S:2", "1 -2 x y", {"a": "i64[N][2]", "b": "string[N][2]"}),
            ("n:I:1", "18446744073709551615", {"n": "u64[N]"}),
            ("forces:R:3:force:R:3", "1 2 3 4 5 6",
             {"fx": "f64[N]", "fy": "f64[N]", "fz": "f64[N]", "force": "f64[N][3]"}),
            ("force:R:3:forces:R:3", "4 5 6 1 2 3",
             {"force": "f64[N][3]", "fx": "f64[N]", "fy": "f64[N]", "fz": "f64[N]"}),
            ("masses:R:1:mass:R:1", "1 2", {"masses": "f64[N]", "mass": "f64[N]"}),
            ("charge:I:1", "1", {"charge": "f64[N]"}),
            ("forces:I:3:magmoms:I:1", "1 2 3 4", {"fx": "f64[N]", "fy": "f64[N]", "fz": "f64[N]", "magmom": "f64[N]"}),
            ("name:I:1", "1", {"name#2": "i64[N]"}),
            ("local:r:1:n:i:1:free:l:1", "1 2 T", {"local": "f64[N]", "n": "i64[N]", "free": "bool[N]"}),
            ("move_mask:L:3", "1 0 1", {"move_mask": "bool[N][3]"}),
            ("element:S:1", "Xe", {"element": "string[N]", "type": "string[N]"}),
            ("a/b:R:1:__c:R:1:.:R:1:_validity:R:1", "1 2 3 4",
             {"a|b": "f64[N]", "xyz__c": "f64[N]", "xyz.": "f64[N]", "xyz_validity": "f64[N]"}),
            ("a:R:1:a:R:1", "1 2", {"a": "f64[N]", "a#2": "f64[N]"}),
            ("x:R:1", "9", {"x#2": "f64[N]"}),
            ("ix:I:1:free:L:1", "-1 T", {"ix": "i32[N]", "free": "bool[N]"}),
            ("ix:I:1", "3000000000", {"ix#2": "i64[N]"}),
        ],
    )  # fmt: skip
    def test_names(self, read, name, values, columns):
        made = read(one(f"{SPECIES}:{name}", f"Og 0 0 0 {values}"))
        base = {"element": "string[N]", "x": "f64[N]", "y": "f64[N]", "z": "f64[N]"}
        assert columns_of(made) == {**base, **columns}

    def test_labels_that_are_declared_as_integers(self, read):
        made = read(frame("14 0 0 0", "8 1 1 1", comment="Properties=species:I:1:pos:R:3"))
        assert made.values("type") == ["14", "8"]
        made = read(frame("14 0 0 0", comment="Properties=species:I:1:pos:R:3"), type_map={"14": "Si"})
        assert made.values("element") == ["Si"]

    def test_species_that_are_no_labels(self, read):
        made = read(frame("a b 0 0 0", comment="Properties=species:S:2:pos:R:3"))
        assert made.values("species#2") == [["a", "b"]]
        assert read(frame("1.5 0 0 0", comment="Properties=species:R:1:pos:R:3")).values("species#2") == [1.5]

    def test_integers_in_the_place_of_reals(self, read):
        made = read(frame("O 0 0 0 -2", "H 1 1 1 1", comment="Properties=species:S:1:pos:I:3:charge:I:1"))
        assert made.values("charge") == [-2.0, 1.0]
        assert made.values("z") == [0.0, 1.0]

    def test_labels_beside_types(self, read):
        made = read(one(f"{SPECIES}:type:S:1", "OW 0 0 0 CT"))
        assert made.values("species") == ["OW"]
        assert made.values("type") == ["CT"]
        assert made.about["xyz_species"] == "species"

    def test_atomic_numbers_alone_give_elements(self, read):
        made = read(frame("0 0 0 8", "1 1 1 0", comment="Properties=pos:R:3:Z:I:1"))
        assert made.values("element") == ["O", "X"]

    def test_momenta_give_velocities(self, read):
        made = read(one(f"{SPECIES}:momenta:R:3:masses:R:1", "O 0 0 0 1 0 -2 4"))
        assert made.values("momenta") == [[1, 0, -2]]
        assert made.values("vx") == [98.22694788464064 / 4]
        assert made.values("vz") == [-98.22694788464064 / 2]
        assert made.record.meta["units"]["velocity"] == "angstrom/ps"
        assert "vx" not in read(one(f"{SPECIES}:momenta:R:3", "O 0 0 0 1 0 -2")).atoms()

    def test_no_positions(self, read):
        made = read(one("Properties=species:S:1:forces:R:3"))
        assert made.values("fx") == [0]
        assert made.warnings == ["in.xyz:2: the frame has no positions"]

    def test_columns_that_come_and_go(self, read):
        made = read(
            one(f"{SPECIES}:forces:R:3 energy=-1", "H 0 0 0 1 2 3")
            + one("classical")
            + one(f"{SPECIES}:w:R:2 energy=-2.5", "H 0 0 0 4 5")
            + one(f"{SPECIES}:w:R:1", "H 0 0 0 6")
        )
        assert [made.values("fx", k) for k in range(4)] == [[1], [None], [None], [None]]
        assert [made.values("w", k)[0] for k in range(4)] == [None, None, [4, 5], None]
        assert [made.values("w#2", k)[0] for k in range(4)] == [None, None, None, 6]
        energies = [made.record.trajectory[k].meta["pe"] for k in range(4)]
        assert energies[::2] == [-1, -2.5]
        assert np.isnan(energies[1::2]).all()
