"""LAMMPS data: what a record holds of a file."""

import bz2

import numpy as np
import pytest

from molrec_convert.adapters._data_styles import COLUMNS, KINDS, row_of, styles_named
from molrec_convert.model.block import check_canonical

from ..datafiles import BOX, WATER, data_file
from ..datafiles import decoded as read

TYPE_MAP = "in.data: the types are no elements; --type-map 1=Si names them"


def values(block, name):
    return block[name].tolist()


class TestWater:
    """One file of nearly all that there is."""

    @pytest.fixture
    def made(self):
        return read(WATER)

    def test_it_is_one_frame(self, made):
        assert list(made.frame) == ["atoms", "bonds", "angles"]
        assert made.snapshot.step == 70
        assert made.warnings == ["in.data: the elements are told by the masses: 1=O, 2=H"]

    def test_atoms_are_sorted_by_id(self, made):
        columns = {name: column.describe() for name, column in made.atoms.columns.items()}
        assert columns == {
            "id": "u64[N]", "mol_id": "u64[N]", "type_id": "u64[N]", "charge": "f64[N]", "x": "f64[N]", "y": "f64[N]",
            "z": "f64[N]", "ix": "i32[N]", "iy": "i32[N]", "iz": "i32[N]", "type": "string[N]", "label": "string[N]",
            "mass": "f64[N]", "element": "string[N]", "vx": "f64[N]", "vy": "f64[N]", "vz": "f64[N]",
        }  # fmt: skip
        assert made.values("id") == [1, 2, 3]
        assert made.values("mol_id") == [7, 7, 7]
        assert made.values("charge") == [-0.8, 0.4, 0.4]
        assert made.values("y") == [2, 2, 2.5]
        assert made.values("iy") == [-1, 0, 0]

    def test_types(self, made):
        assert made.values("type_id") == [1, 2, 2]
        assert made.values("type") == ["OW", "HW", "HW"]
        assert made.values("label") == ["1", "2", "2"]
        assert made.values("mass") == [15.9994, 1.008, 1.008]
        assert made.values("element") == ["O", "H", "H"]

    def test_velocities_are_paired_by_id(self, made):
        assert made.values("vx") == [0.1, 4, -1]
        assert made.values("vz") == [0.3, 6, -3]

    def test_relations_point_at_rows(self, made):
        bonds, angles = made.frame["bonds"], made.frame["angles"]
        assert {name: column.describe() for name, column in bonds.columns.items()} == {
            "id": "u64[N]", "atomi": "u64[N]", "atomj": "u64[N]", "type": "string[N]", "type_id": "u64[N]",
            "comment": "string[N]",
        }  # fmt: skip
        assert [values(bonds, name) for name in ("atomi", "atomj")] == [[0, 0], [1, 2]]
        assert values(bonds, "type") == ["O-H", "O-H"]
        assert values(bonds, "type_id") == [1, 1]
        assert values(bonds, "comment") == ["", "the other"]
        assert [values(angles, name) for name in ("atomi", "atomj", "atomk")] == [[1], [0], [2]]
        assert values(angles, "type") == ["2"]

    def test_what_an_exporter_restores(self, made):
        assert dict(made.about) == {
            "lammps_title": "LAMMPS data file via write_data, version 22 Jul 2025",
            "lammps_units": "real",
            "lammps_atom_style": "full",
            "lammps_header": {"types": {"atom": 3, "bond": 1, "angle": 2}, "other": ["2 extra bond per atom"]},
            "lammps_type_labels": {"atom": {"1": "OW", "2": "HW", "3": "Na+"}, "bond": {"1": "O-H"}},
            "lammps_type_masses": {"1": 15.9994, "2": 1.008, "3": 22.98},
            "lammps_mass_comments": {"2": "light"},
            "lammps_coeffs_text": "Pair Coeffs # lj/cut\n\n1 0.1 3.4\n2 0.0 0.0\n3 1 2\n\n"
            "Bond Coeffs # harmonic\n\nO-H 300.0 1.5\n",
            "lammps_sections_text": "CMAP\n\n1 1 8 10 12 18 20\n",
        }

    def test_the_order_of_the_file_is_kept_on_request(self):
        made = read(WATER, keep_order=True)
        assert made.values("id") == [3, 1, 2]
        assert made.values("vx") == [-1, 0.1, 4]
        bonds = made.frame["bonds"]
        assert [values(bonds, name) for name in ("atomi", "atomj")] == [[1, 1], [2, 0]]

    def test_images_are_added_on_request(self):
        made = read(WATER, unwrap=True)
        assert made.values("y") == [-8, 2, 2.5]
        assert made.values("z") == [3, 3, 13]
        assert "ix" not in made.atoms


def lines_of(style):
    """A line of a style, a number of its own in every column."""
    whole = {"u", "i"}
    return " ".join("1" if row.kind in whole else f"{k}.5" for k, row in enumerate(style.rows))


class TestStyles:
    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.name} {len(kind.columns.split())}")
    @pytest.mark.parametrize("images", ["", " 1 -2 3"])
    def test_every_style(self, kind, images):
        [style] = [each for each in styles_named(kind.name) if len(each.columns) == len(kind.columns.split())]
        stated = "tdpd 0" if kind.name == "tdpd" else kind.name
        made = read(data_file(lines_of(style) + images, style=stated), type_map={"1": "Si"})
        atoms = made.atoms
        expected = {row.target: float(k) + 0.5 if row.kind == "d" else 1 for k, row in enumerate(style.rows)}
        expected |= dict(zip(("ix", "iy", "iz"), (1, -2, 3), strict=True)) if images else {}
        assert {name: atoms[name][0] for name in atoms if name != "element"} == expected
        assert made.about["lammps_atom_style"] == stated
        assert made.warnings == []

    def test_no_column_has_a_type_that_molrec_forbids(self):
        names = {name for kind in KINDS for name in kind.columns.split()} | set(COLUMNS) | {"element", "fx", "free"}
        for name in names:
            row = row_of(name)
            dtype = (
                "i32" if name in ("ix", "iy", "iz") else {"d": "f64", "i": "i64", "u": "u64", "s": "string"}[row.kind]
            )
            check_canonical(row.target, dtype, ())

    def test_a_hybrid_has_each_column_once(self):
        made = read(data_file("1 2 1 2 3 0.5 7.5 9 4", style="hybrid sphere bond charge", types=2))
        atoms = made.atoms
        assert {name: atoms[name][0] for name in atoms} == {
            "id": 1, "type_id": 2, "x": 1, "y": 2, "z": 3, "diameter": 0.5, "density": 7.5, "mol_id": 9, "charge": 4,
        }  # fmt: skip

    def test_a_hybrid_of_unknown_parts_keeps_its_columns_by_number(self):
        made = read(data_file("1 1 1 2 3 0.5 7 0 0 0", style="hybrid", title="LAMMPS data file via write_data"))
        assert {name: made.values(name) for name in ("hybrid_1", "hybrid_2", "ix")} == {
            "hybrid_1": [0.5], "hybrid_2": [7.0], "ix": [0],
        }  # fmt: skip
        made = read(data_file("1 1 1 2 3 0.5 7 0 0 0", style="hybrid"))
        assert ("ix" in made.atoms, made.values("hybrid_5")) == (False, [0.0])

    @pytest.mark.parametrize(
        ("style", "line", "due"),
        [
            ("tdpd 2", "1 1 1 2 3 0.5 7", {"cc1": 0.5, "cc2": 7}),
            ("tdpd 2", "1 1 1 2 3 0.5 7 1 1 1", {"cc1": 0.5, "cc2": 7, "ix": 1}),
            ("tdpd", "1 1 1 2 3 0.5 7 8 1 1", {"cc1": 0.5, "cc5": 1}),
            ("dielectric: id mol type q x y z normx ed", "1 4 1 -1 1 2 3 0.5 6", {"mol_id": 4, "normx": 0.5, "ed": 6}),
            ("full/kk", "1 4 1 -1 1 2 3", {"mol_id": 4, "charge": -1}),
            ("full, as the program wrote it", "1 4 1 -1 1 2 3", {"mol_id": 4, "charge": -1}),
            ("Full: with charges", "1 4 1 -1 1 2 3", {"mol_id": 4, "charge": -1}),
        ],
    )
    def test_more_ways_to_say_it(self, style, line, due):
        atoms = read(data_file(line, style=style)).atoms
        assert {name: atoms[name][0] for name in due} == due

    @pytest.mark.parametrize(
        "given", ["full", "id mol type q x y z", "id, resid, type, charge, x, y, z", "atom-ID molecule-ID type q x y z"]
    )
    def test_the_style_asked_for_wins(self, given):
        made = read(data_file("1 4 1 -1 1 2 3", style="sphere"), atom_style=given)
        assert [made.values(name) for name in ("mol_id", "charge", "z")] == [[4], [-1], [3]]

    @pytest.mark.parametrize("style", [None, "I like comments"])
    def test_a_style_that_is_not_stated_is_found_where_there_is_one(self, style):
        made = read(data_file("1 7 1 -0.8 1 2 3; 2 7 2 0.4 4 5 6", style=style, types=2))
        assert made.values("mol_id") == [7, 7]
        assert made.values("charge") == [-0.8, 0.4]
        note = "the section Atoms does not say its atom style; only full fits its lines, --atom-style says another"
        assert made.warnings[0] == f"in.data:10: {note}"

    @pytest.mark.parametrize(
        ("atoms", "sections", "due"),
        [
            ("1 1 0 0 0; 2 1 1 1 1", {}, "atomic"),
            ("1 1 -0.5 1 2 3; 2 1 0.5 4 5 6", {}, "charge"),
            ("1 1 1 0 1 2 3; 2 1 1 0 4 5 6", {}, "full"),
            ("1 1 1 1 2 3; 2 1 1 4 5 6", {"Bonds": "1 1 1 2"}, "molecular"),
            ("1 1 1 0.0 1 2 3 0 0 0; 2 1 1 0.0 4 5 6 0 0 0", {"Bonds": "1 1 1 2"}, "full"),
        ],
    )
    def test_what_leaves_one_style(self, atoms, sections, due):
        made = read(data_file(atoms, style=None, sections=sections))
        assert made.about["lammps_atom_style"] == due


class TestCells:
    @pytest.mark.parametrize(
        ("box", "vectors", "origin"),
        [
            (BOX, np.diag([10, 10, 10]), [0, 0, 0]),
            ("-1 9 xlo xhi\n0 9 ylo yhi\n0.5 8 zlo zhi\n2 1 -1.5 xy xz yz\n", [[10, 0, 0], [2, 9, 0], [1, -1.5, 7.5]],
             [-1, 0, 0.5]),
            ("0 4 4 avec\n4 0 4 bvec\n4 4 0 cvec\n1 2 3 abc origin\n", [[0, 4, 4], [4, 0, 4], [4, 4, 0]], [1, 2, 3]),
            ("0 10 xlo xhi\n", np.diag([10, 1, 1]), [0, -0.5, -0.5]),
            ("", np.diag([1, 1, 1]), [-0.5] * 3),
        ],
    )  # fmt: skip
    def test_every_form(self, box, vectors, origin):
        made = read(data_file(box=box), type_map={"1": "Si"})
        assert made.box.vectors.T.tolist() == np.array(vectors, dtype=float).tolist()
        assert made.box.origin.tolist() == origin
        assert made.box.boundary.all()
        assert "lammps_bounds" not in made.about
        assert made.warnings == []

    def test_bounds_that_rounding_hides_are_kept(self):
        made = read(data_file(box="-3 -0.9 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n"))
        assert made.about["lammps_bounds"] == (-3, -0.9, 0, 1, 0, 1)

    def test_a_tilt_of_zero_is_kept(self):
        made = read(data_file(box=BOX + "0 0 0 xy xz yz\n"))
        assert made.about["lammps_bounds"] == (0, 10, 0, 0, 10, 0, 0, 10, 0)

    def test_a_box_without_room_is_no_cell(self):
        made = read(data_file(box=BOX.replace("10", "0")), type_map={"1": "Si"})
        assert not made.box.defined
        assert made.warnings == ["in.data:10: the bounds leave no room along some axis: there is no cell"]


class TestUnits:
    def test_a_style_in_angstrom_keeps_its_numbers(self):
        made = read(data_file(title="x, units = metal", sections={"Velocities": "1 4 5 6"}))
        assert made.units["velocity"] == "angstrom/ps"
        assert made.values("vx") == [4]

    def test_another_is_converted(self):
        text = data_file("1 1 1.602176634e-19 1e-10 2e-10 3e-10", style="charge", sections={"Velocities": "1 2 0 0"},
                         before={"Masses": "1 1.66053906892e-27"}, box=BOX.replace("10", "1e-9"))  # fmt: skip
        made = read(text, units="si", type_map={"1": "H"})
        assert made.units["force"] == "eV/angstrom"
        assert made.values("x") == [1.0]
        assert made.values("charge") == pytest.approx([1.0], rel=1e-15)
        assert made.values("mass") == [1.0]
        assert made.values("vx") == [0.02]
        assert made.box.vectors.diagonal().tolist() == [10.0] * 3

    def test_reduced_numbers_are_no_amu_and_no_e(self):
        made = read(data_file("1 1 -1 1 2 3", style="charge", before={"Masses": "1 12.011"}), units="lj")
        assert made.values("charge_lj") == [-1]
        assert made.values("mass_lj") == [12.011]
        assert {"charge", "mass", "element"}.isdisjoint(made.atoms)
        assert made.units["length"] == "sigma"

    def test_the_step_may_stand_amid_the_title(self):
        made = read(data_file(title="LAMMPS data file from restart file: timestep = 12, procs = 1"))
        assert made.snapshot.step == 12
        assert made.about["lammps_title"] == "LAMMPS data file from restart file: timestep = 12, procs = 1"


class TestElements:
    @pytest.mark.parametrize(
        ("mass", "label", "due"),
        [
            ("12.0107", "x", "C"), ("14.027", "x", None), ("45.06", "x", None), ("1.0", "x", None), ("72", "W", None),
            ("16.0", "OT", "O"), ("16.0", "CH4", None), ("14.0", "C2", None), ("2.014", "H", "H"),
            ("15.9994", "H", "O"), ("40.08", "ca", "Ca"),
            ("12.01", "ca", "C"), ("0", "x", None), ("1e-16", "M", None), ("-12.011", "x", None),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("where", ["label", "comment"])
    def test_masses_and_names(self, mass, label, due, where):
        before = {"Masses": f"1 {mass}" + (f" # {label}" if where == "comment" else "")}
        if where == "label":
            before["Atom Type Labels"] = f"1 {label}"
        made = read(data_file(before=before))
        if due is None:
            assert "element" not in made.atoms
            assert made.warnings == [TYPE_MAP]
        else:
            assert made.values("element") == [due]
            assert made.warnings == [f"in.data: the elements are told by the masses: 1={due}"]

    def test_some_types_may_tell_none(self):
        made = read(data_file("1 1 1 2 3; 2 2 4 5 6", types=2, before={"Masses": "2 14.027; 1 1.008"}))
        assert made.values("element") == ["H", None]
        assert made.values("mass") == [1.008, 14.027]
        message = "in.data: the elements are told by the masses: 1=H, those of type 2 are not known"
        assert made.warnings == [message]

    def test_labels_tell_them_where_there_are_no_masses(self):
        made = read(data_file("1 O 1 2 3; 2 H 4 5 6", types=2, before={"Atom Type Labels": "1 H; 2 O"}))
        assert made.values("element") == ["O", "H"]
        assert made.values("type_id") == [2, 1]
        assert "label" not in made.atoms
        assert made.warnings == ["in.data: the elements are told by the type labels: 1=H, 2=O"]

    @pytest.mark.parametrize(("mass", "due"), [("16", "O"), ("14.0", "N"), ("12", "C"), ("1", "H"), ("72", None)])
    def test_whole_masses_are_taken_on_request(self, mass, due):
        made = read(data_file(before={"Masses": f"1 {mass}"}), guess=frozenset(["elements"]))
        if due is None:
            assert made.warnings == [TYPE_MAP]
        else:
            assert made.values("element") == [due]
            assert made.warnings == [f"in.data: the elements are guessed from the masses: 1={due}"]

    @pytest.mark.parametrize("given", [{"1": "Si"}, {"ca": "Si"}])
    def test_a_map_wins(self, given):
        before = {"Atom Type Labels": "1 ca", "Masses": "1 12.011"}
        made = read(data_file(before=before), type_map=given)
        assert made.values("element") == ["Si"]
        assert made.warnings == []


class TestLayout:
    def test_sections_in_any_order(self):
        sections = WATER.split("\n\n")
        head = sections[:3]
        parts = ["\n\n".join(pair) for pair in zip(sections[3::2], sections[4::2], strict=True)]
        one = {name: {key: block[key].tolist() for key in block} for name, block in read(WATER).frame.items()}
        text = "\n\n".join([*head, *(part.rstrip("\n") for part in reversed(parts))]) + "\n"
        assert text != WATER
        other = read(text).frame
        assert {name: {key: block[key].tolist() for key in block} for name, block in other.items()} == one

    @pytest.mark.parametrize(
        "text",
        [
            data_file().replace("\n", "\r\n"),
            data_file().replace("\n\n", "\n"),
            data_file().replace("Atoms # atomic\n", "Atoms   #   atomic  \n\n \n# note\n"),
            data_file().replace("1 1 1 2 3", "\t1  1\t1 2 3   ") + "\n \n",
            data_file().replace("1 atoms", "  1   atoms # so many"),
        ],
        ids=["crlf", "no blank lines", "comments after the keyword", "blanks", "comment in the header"],
    )
    def test_odd_blanks(self, text):
        made = read(text, type_map={"1": "Si"})
        assert made.values("z") == [3]
        assert made.warnings == []

    def test_blank_lines_inside_a_section(self):
        text = data_file("1 1 1 2 3; 2 1 4 5 6", sections={"Velocities": "1 1 1 1; 2 2 2 2"})
        made = read(text.replace("\n2 ", "\n\n# more\n2 "), type_map={"1": "Si"})
        assert made.values("z") == [3, 6]
        assert made.values("vx") == [1, 2]

    def test_comments_of_atoms_are_a_column(self):
        made = read(data_file("2 1 1 2 3 # CA  x#y; 1 1 4 5 6"))
        assert made.values("comment") == ["", "CA  x#y"]

    def test_a_label_may_hold_a_number_sign(self):
        made = read(data_file("1 C#1 1 2 3", before={"Atom Type Labels": "1 C#1"}))
        assert made.values("type") == ["C#1"]

    def test_sections_of_others_are_kept_as_text(self):
        sections = {"Bodies": "1 1 24; 6; 3 3 6 2.7 0", "Bonds": "1 1 1 1", "My own": "a b c"}
        made = read(data_file(style="bond", atoms="1 1 1 1 2 3", sections=sections, header="1 bodies\n"))
        assert made.about["lammps_sections_text"] == "Bodies\n\n1 1 24\n6\n3 3 6 2.7 0\n\nMy own\n\na b c\n"
        assert made.about["lammps_header"] == {"types": {"atom": 1}, "other": ["1 bodies"]}

    def test_no_atoms(self):
        text = "t\n\n0 atoms\n0 atom types\n0 34 xlo xhi\n"
        made = read(text)
        assert made.atoms.count == 0
        assert made.warnings == []

    def test_relations_announced_that_do_not_come(self):
        made = read(data_file(header="3 bonds\n1 bond types\n"), type_map={"1": "Si"})
        assert made.warnings == ["in.data: the header says 3 bonds, there is no section Bonds"]

    def test_ids_with_gaps(self):
        atoms = "30 1 1 3 0 0; 10 1 1 1 0 0; 20 1 1 2 0 0; 18446744073709551615 1 1 4 0 0"
        made = read(data_file(atoms, style="bond", sections={"Bonds": "5 1 10 20; 6 1 20 18446744073709551615"}))
        assert made.values("x") == [1, 2, 3, 4]
        bonds = made.frame["bonds"]
        assert [values(bonds, name) for name in ("atomi", "atomj")] == [[0, 1], [1, 3]]

    def test_repeated_ids_keep_the_order(self):
        made = read(data_file("2 1 1 2 3; 2 1 4 5 6; 1 1 7 8 9"), type_map={"1": "Si"})
        assert made.values("id") == [2, 2, 1]
        assert made.warnings == ["in.data:10: several atoms have the id 2; the rows keep the file's order"]

    def test_a_negative_molecule(self):
        made = read(data_file("1 -1 1 1 2 3; 2 3 1 4 5 6", style="bond"))
        assert made.values("mol_id") == [None, 3]
        assert made.values("molecule") == [-1, 3]

    def test_spins_in_velocities(self):
        made = read(data_file("1 1 1 2 1 2 3", style="sphere", sections={"Velocities": "1 1 2 3 4 5 6"}))
        assert [made.values(name) for name in ("vz", "omegax", "omegaz")] == [[3], [4], [6]]
        made = read(data_file("1 1 1 2 1 2 3", style="body", sections={"Velocities": "1 1 2 3 4 5 6"}))
        assert made.values("angmomy") == [5]

    @pytest.mark.parametrize("name", ["in.data", "data.in", "in.lmp", "in.odd"])
    def test_it_is_recognised(self, converted, name):
        assert converted(data_file(), name).report.source_format == "lammps-data"

    def test_compressed(self, converted):
        made = converted(bz2.compress(WATER.encode()), "in.data.bz2")
        assert made.values("id") == [1, 2, 3]
        assert made.record.trajectory is None
        assert made.record.meta["units"]["energy"] == "kcal/mol"
        assert made.record.frame.meta["timestep"] == 70

    def test_a_last_line_without_an_end(self):
        made = read(data_file().rstrip("\n"), type_map={"1": "Si"})
        assert made.warnings == ["in.data:12: the last line has no line end, its last number may be cut short"]
