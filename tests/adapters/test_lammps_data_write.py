"""LAMMPS data: what is written, and that a file comes back as it was."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapter import Snapshot
from molrec_convert.adapters._data_styles import KINDS
from molrec_convert.convert import convert
from molrec_convert.errors import FormatError, LossError, LossWarning
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.records import open_record

from ..converting import left_behind
from ..datafiles import WATER, data_file, decoded, encoded
from ..dumps import snapshot

XYZ = {"x": [1.0, 4.0], "y": [2.0, 5.0], "z": [3.0, 6.0]}
ROW = {key: [0.0, 1.0, 2.0] for key in "xyz"}
PARAMETERS = [0.1, 1 / 3, 1e-300]


def frame_of(columns=None, box=None, **blocks):
    atoms = {name: np.array(values, dtype=np.float64) for name, values in XYZ.items()}
    made = Frame({"atoms": {**atoms, **(columns or {})}, **blocks})
    made.box = Box.orthogonal(10.0) if box is None else box
    return made


def u64(*values):
    return np.array(values, dtype=np.uint64)


def written(frame, about=None, **options):
    return encoded(Snapshot(frame, about=Meta(about or {})), **options)


def section(text, name):
    """The rows of a section."""
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if line.split(" #")[0] == name) + 2
    stop = next(k for k in range(first, len(lines)) if not lines[k])
    return lines[first:stop]


def headline(text, name):
    """The keyword line of a section."""
    return next(line for line in text.split("\n") if line.split(" #")[0] == name)


class TestFromAFile:
    def test_a_file_of_nearly_all_that_there_is(self, converted, text_of):
        text = text_of(converted(WATER, "in.data"), "back.data")
        assert text == "\n".join(
            [
                "LAMMPS data file via write_data, version 22 Jul 2025, timestep = 70, units = real",
                "", "3 atoms", "3 atom types", "2 bonds", "1 bond types", "1 angles", "2 angle types",
                "2 extra bond per atom", "", "0 10 xlo xhi", "0 10 ylo yhi", "0 10 zlo zhi",
                "", "Atom Type Labels", "", "1 OW", "2 HW", "3 Na+",
                "", "Bond Type Labels", "", "1 O-H",
                "", "Masses", "", "1 15.9994", "2 1.008 # light", "3 22.98",
                "", "Pair Coeffs # lj/cut", "", "1 0.1 3.4", "2 0.0 0.0", "3 1 2",
                "", "Bond Coeffs # harmonic", "", "O-H 300.0 1.5",
                "", "Atoms # full", "", "1 7 1 -0.8 1 2 3 0 -1 0", "2 7 2 0.4 1.5 2 3 0 0 0", "3 7 2 0.4 1 2.5 3 0 0 1",
                "", "Velocities", "", "1 0.1 0.2 0.3", "2 4 5 6", "3 -1 -2 -3",
                "", "Bonds", "", "1 1 1 2", "2 1 1 3 # the other",
                "", "Angles", "", "1 2 2 1 3",
                "", "CMAP", "", "1 1 8 10 12 18 20", "",
            ]
        )  # fmt: skip

    def test_record_and_file_are_the_same(self, tmp_path, converted):
        made = converted(WATER, "in.data")
        report = convert(made.path, tmp_path / "back.data")
        assert not report.losses
        convert(tmp_path / "back.data", tmp_path / "again.h5")
        with open_record(tmp_path / "again.h5") as again:
            assert again.frame is not None
            assert again.frame.same(made.record.frame)
            assert again.meta["units"] == made.record.meta["units"]

    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.name} {len(kind.columns.split())}")
    def test_every_style(self, kind):
        numbers = {"type": "1", "mol": "7", "bodyflag": "1", "ellipsoidflag": "0", "lineflag": "1", "triangleflag": "0"}
        line = " ".join(numbers.get(name, str(k + 1)) for k, name in enumerate(kind.columns.split()))
        stated = "tdpd 0" if kind.name == "tdpd" else kind.name
        spin = " ".join(str(k + 4) for k in range(len(kind.spin.split())))
        text = data_file(f"{line} 1 2 -3", style=stated, sections={"Velocities": f"1 1 2 3 {spin}".strip()})
        made = decoded(text)
        again = encoded(made.snapshot)
        assert headline(again, "Atoms") == f"Atoms # {stated}"
        assert section(again, "Atoms") == [f"{line} 1 2 -3"]
        assert section(again, "Velocities") == [f"1 1 2 3 {spin}".strip()]
        assert decoded(again).frame.same(made.frame)

    @pytest.mark.parametrize("style", ["hybrid", "hybrid sphere bond", "dielectric: id mol type x y z normx", "tdpd"])
    def test_other_layouts(self, style):
        line = {"hybrid sphere bond": "1 1 1 2 3 0.5 7 9"}.get(style, "1 1 1 2 3 0.5 7")
        made = decoded(data_file(line, style=style))
        assert section(encoded(made.snapshot), "Atoms") == [line]
        assert decoded(encoded(made.snapshot)).frame.same(made.frame)

    def test_labels_stand_in_the_lines_that_had_them(self):
        made = decoded(data_file("1 C 1 2 3", before={"Atom Type Labels": "1 C"}))
        assert section(encoded(made.snapshot), "Atoms") == ["1 C 1 2 3"]

    @pytest.mark.parametrize(
        ("title", "units", "due"),
        [
            ("x, timestep = 5, units = metal", None, "x, timestep = 5, units = metal"),
            ("x", "real", "x, units = real"),
            ("", None, "LAMMPS data file written by molrec-convert"),
            ("restart: timestep = 5, procs = 1", None, "restart: timestep = 5, procs = 1"),
        ],
    )
    def test_titles(self, title, units, due):
        made = decoded(data_file(title=title), units=units)
        assert encoded(made.snapshot).split("\n")[0] == due
        again = decoded(encoded(made.snapshot))
        assert again.about.same(made.about)
        assert again.snapshot.step == made.snapshot.step

    def test_a_new_step_is_told(self):
        made = decoded(data_file(title="restart: timestep = 5, procs = 1"))
        made.snapshot.step = 99
        assert encoded(made.snapshot).startswith("restart: timestep = 99, procs = 1\n")


class TestCells:
    @pytest.mark.parametrize(
        "box",
        [
            ["0.1 0.7 xlo xhi", "-3 -0.9 ylo yhi", "0 1 zlo zhi"],
            ["0 10 xlo xhi", "0 10 ylo yhi", "0 10 zlo zhi", "0 0 0 xy xz yz"],
            ["-1 9 xlo xhi", "0 9 ylo yhi", "0.5 8 zlo zhi", "2 1 -1.5 xy xz yz"],
            ["0 4 4.1 avec", "4 0 4 bvec", "4 4 0 cvec", "1 2 3 abc origin"],
            ["0 0 xlo xhi", "0 0 ylo yhi", "0 0 zlo zhi"],
        ],
    )
    def test_every_form_comes_back(self, box):
        made = decoded(data_file(box="\n".join(box) + "\n"))
        again = encoded(made.snapshot)
        assert [line for line in again.split("\n") if line.endswith(("hi", "yz", "vec", "origin"))] == box
        assert decoded(again).frame.same(made.frame)

    def test_a_general_cell_is_not_turned(self, converted, text_of):
        """R-05: a cell in no special orientation comes back as it was, with its atoms."""
        text = snapshot(
            "1 1 0.5 1 2 0.1 0.2 0.3",
            columns="id type x y z fx fy fz",
            box="BOX BOUNDS abc origin pp pp pp",
            bounds=("0 4 4 0", "4 0 4 0", "4 4 0 0"),
        )
        made = converted(text)
        again = decoded(text_of(made, "back.data"))
        assert again.box.same(made.box())
        assert [again.values(name) for name in "xyz"] == [made.values(name) for name in "xyz"]
        assert "fx" not in again.atoms

    def test_a_left_handed_cell_is_refused(self, tmp_path, converted):
        text = snapshot("1 1 0.5 1 2", box="BOX BOUNDS abc origin pp pp pp", bounds=("4 0 4 0", "0 4 4 0", "4 4 0 0"))
        with pytest.raises(FormatError, match=r"^back\.data \(frame 0\): the cell is left-handed"):
            convert(converted(text).path, tmp_path / "back.data")
        assert left_behind(tmp_path) == []

    def test_no_cell(self):
        text = written(frame_of(box=Box.undefined()))
        assert "1 4 xlo xhi\n2 5 ylo yhi\n3 6 zlo zhi\n" in text

    def test_edges_come_back_to_the_bit(self):
        rng = np.random.default_rng(1)
        for _ in range(200):
            origin = rng.normal(size=3) * 10
            box = Box(np.diag(rng.random(3) * 10 + 1), origin=origin)
            again = decoded(written(frame_of(box=box))).box
            assert np.array_equal(again.origin, origin)
            assert np.allclose(again.vectors, box.vectors, rtol=4e-16, atol=4e-15)


class TestFromElsewhere:
    @pytest.mark.parametrize(
        ("columns", "blocks", "style", "row"),
        [
            ({}, {}, "atomic", "1 1 1 2 3"),
            ({"charge": PARAMETERS[:2]}, {}, "charge", "1 1 0.1 1 2 3"),
            ({"mol_id": u64(7, 8)}, {}, "bond", "1 7 1 1 2 3"),
            ({"mol_id": u64(7, 8), "charge": [1.0, 2.0]}, {}, "full", "1 7 1 1 1 2 3"),
            ({}, {"bonds": 2}, "bond", "1 0 1 1 2 3"),
            ({}, {"bonds": 2, "angles": 3}, "angle", "1 0 1 1 2 3"),
            ({}, {"impropers": 4}, "molecular", "1 0 1 1 2 3"),
            ({"charge": [1.0, 2.0]}, {"bonds": 2}, "full", "1 0 1 1 1 2 3"),
            ({"diameter": [1.0, 2.0], "density": [3.0, 4.0]}, {}, "sphere", "1 1 1 3 1 2 3"),
            ({"diameter": [1.0, 2.0]}, {}, "atomic", "1 1 1 2 3"),
            (
                {"diameter": [1.0, 2.0], "density": [3.0, 4.0], "charge": [5.0, 6.0]}, {},
                "hybrid sphere charge", "1 1 1 2 3 1 3 5",
            ),
            ({"mux": [1.0, 2.0], "muy": [1.0, 2.0], "muz": [1.0, 2.0], "charge": [5.0, 6.0]}, {}, "dipole",
             "1 1 5 1 2 3 1 1 1"),
            ({"id": u64(30, 10)}, {}, "atomic", "30 1 1 2 3"),
            ({"type_id": u64(2, 1)}, {}, "atomic", "1 2 1 2 3"),
            ({"type": ["C", "N"]}, {}, "atomic", "1 1 1 2 3"),
            ({"type": ["5", "3"]}, {}, "atomic", "1 5 1 2 3"),
            ({name: np.array([1, -2], dtype=np.int32) for name in ("ix", "iy", "iz")}, {}, "atomic", "1 1 1 2 3 1 1 1"),
        ],
    )  # fmt: skip
    def test_the_smallest_style_that_holds_it(self, columns, blocks, style, row):
        ends = ("atomi", "atomj", "atomk", "atoml")
        relations = {name: {end: u64(0) for end in ends[:count]} for name, count in blocks.items()}
        text = written(frame_of(columns, **relations))
        assert headline(text, "Atoms") == f"Atoms # {style}"
        assert section(text, "Atoms")[0] == row

    def test_relations(self):
        relation = {"atomi": u64(1, 0), "atomj": u64(0, 1), "type": ["single", "double"]}
        text = written(frame_of({"id": u64(30, 10)}, bonds=relation))
        assert section(text, "Bonds") == ["1 1 10 30", "2 2 30 10"]
        assert section(text, "Bond Type Labels") == ["1 single", "2 double"]
        assert "2 bonds\n2 bond types\n" in text

    def test_elements_become_types_with_labels(self):
        text = written(frame_of({"element": ["O", "H"], "mass": [15.999, 1.008]}))
        assert section(text, "Atom Type Labels") == ["1 O", "2 H"]
        assert section(text, "Masses") == ["1 15.999", "2 1.008"]
        assert decoded(text).values("element") == ["O", "H"]
        text = written(frame_of({"element": ["O", "H"]}))
        assert "Masses" not in text
        assert decoded(text).values("element") == ["O", "H"]
        text = written(frame_of({"atomic_number": u64(8, 1)}))
        assert section(text, "Atom Type Labels") == ["1 O", "2 H"]

    def test_an_element_that_its_mass_does_not_tell_stands_beside_it(self):
        text = written(frame_of({"type_id": u64(1, 2), "element": ["H", "O"], "mass": [2.014, 16.0]}))
        assert section(text, "Masses") == ["1 2.014 # H", "2 16 # O"]
        assert decoded(text).values("element") == ["H", "O"]

    def test_types_that_no_atom_has(self):
        text = written(frame_of({"type_id": u64(1, 3), "mass": [1.0, 2.0]}))
        assert section(text, "Masses") == ["1 1", "2 1", "3 2"]
        assert "3 atom types\n" in text

    def test_velocities(self):
        moving = {name: np.array([k, 1 / 3]) for k, name in enumerate(("vx", "vy", "vz"), 1)}
        text = written(frame_of(moving))
        assert section(text, "Velocities") == ["1 1 2 3", "2 " + " ".join(["0.3333333333333333"] * 3)]
        text = written(frame_of({**moving, "diameter": [1.0, 1.0], "density": [1.0, 1.0]}))
        assert section(text, "Velocities")[0] == "1 1 2 3 0 0 0"

    def test_decimals(self):
        text = written(frame_of({"charge": [1 / 3, 1]}), decimals=3)
        assert section(text, "Atoms")[0] == "1 1 0.333 1.000 2.000 3.000"

    def test_a_declared_precision(self):
        frame = frame_of()
        frame["atoms"]["x"] = Column([1.2345, 2.0], precision=1e-2)
        assert section(written(frame), "Atoms")[0] == "1 1 1.23 2 3"

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"type_id": u64(1, 1), "mass": [1.0, 2.0]},
             "atoms of type 1 have the masses 1.0 and 2.0; a data file has one a type"),
            ({"type_id": u64(0, 1)}, "there are atom types of number 0, and LAMMPS's types begin at 1"),
            ({"type_id": u64(1, 10**12)}, "atom types go up to 1000000000000, and a data file lists all of them"),
            ({"type": ["a", "b"], "type_id": u64(1, 1)}, "atom types of one number have several labels"),
        ],
    )  # fmt: skip
    def test_what_no_file_holds(self, columns, message):
        with pytest.raises(FormatError) as caught:
            written(frame_of(columns))
        assert caught.value.message == message

    def test_no_positions(self):
        with pytest.raises(FormatError, match="the atoms have no column x"):
            written(Frame({"atoms": Block(count=1)}))


class TestUnits:
    def test_another_style_is_undone(self):
        text = data_file("1 1 1e-10 2e-10 3.3e-10", box="0 1.7e-9 xlo xhi\n0 1e-9 ylo yhi\n0 1e-9 zlo zhi\n",
                         sections={"Velocities": "1 0.3 0.7 1"}, before={"Masses": "1 1.67e-27"})  # fmt: skip
        again = encoded(decoded(text, units="si").snapshot)
        assert again.startswith("title, units = si\n")
        assert section(again, "Atoms") == ["1 1 1e-10 2e-10 3.3e-10"]
        assert section(again, "Velocities") == ["1 0.3 0.7 1"]
        assert section(again, "Masses") == ["1 1.67e-27"]
        assert "0 1.7e-09 xlo xhi" in again

    def test_reduced(self):
        text = data_file("1 1 -1 1 2 3", style="charge", before={"Masses": "1 2.5"}, title="x, units = lj")
        again = encoded(decoded(text).snapshot)
        assert [section(again, name) for name in ("Atoms", "Masses")] == [["1 1 -1 1 2 3"], ["1 2.5"]]


class TestLosses:
    def test_what_no_style_holds_is_told(self, tmp_path, converted):
        made = converted(snapshot("1 1 0 0 0 1 2 3 4", columns="id type x y z fx fy fz diameter", time="1"))
        report = convert(made.path, tmp_path / "back.data")
        lost = "time, atoms.diameter, atoms.fx, atoms.fy, atoms.fz"
        assert sorted(report.losses.losses) == sorted(lost.split(", "))
        with pytest.raises(LossError, match=r"lammps-data cannot hold (atoms\.\w+|time)"):
            convert(made.path, tmp_path / "strict.data", strict=True)
        assert not (tmp_path / "strict.data").exists()

    @pytest.mark.parametrize(
        ("words", "types", "labels"),
        [(["1", "C", "2"], [1, 2, 3], ["1 atom_1", "2 C", "3 atom_3"]),
         (["a b", "C", "C"], [1, 2, 2], ["1 atom_1", "2 C"]), (["#", "*", "8x"], [1, 2, 3], []),
         (["2", "1", "2"], [2, 1, 2], [])],
    )  # fmt: skip
    def test_labels_that_lammps_does_not_take(self, tmp_path, words, types, labels):
        mc.write(tmp_path / "in.h5", Frame({"atoms": {"type": words, **ROW}}))
        assert "atoms.type" in convert(tmp_path / "in.h5", tmp_path / "out.data").losses.losses
        text = (tmp_path / "out.data").read_text()
        assert [int(row.split()[1]) for row in section(text, "Atoms")] == types
        assert (section(text, "Atom Type Labels") if "Labels" in text else []) == labels

    def test_labels_of_bonds_that_lammps_does_not_take(self, tmp_path):
        bonds = {"atomi": u64(0, 1), "atomj": u64(1, 2), "type": ["1", "C-C"]}
        with pytest.warns(LossWarning, match=r"bonds\.type"):
            mc.write(tmp_path / "out.data", Frame({"atoms": ROW, "bonds": bonds}))
        assert section((tmp_path / "out.data").read_text(), "Bond Type Labels") == ["1 bond_1", "2 C-C"]

    def test_what_is_held_is_no_loss(self, tmp_path, converted):
        text = data_file("1 4 1 -1 1 2 3 0.5 6 # a comment", style="dielectric: id mol type q x y z normx ed",
                         before={"Masses": "1 12.011"})  # fmt: skip
        assert not convert(converted(text, "in.data").path, tmp_path / "back.data").losses

    def test_later_frames(self, tmp_path, converted):
        made = converted(snapshot("1 1 0 0 0") + snapshot("1 1 1 0 0", step=1))
        report = convert(made.path, tmp_path / "back.data")
        assert list(report.losses.losses) == ["frames after the first"]
        assert decoded((tmp_path / "back.data").read_text()).values("x") == [0]


class TestPeers:
    """What other programs read of a file that we wrote."""

    @pytest.fixture
    def path(self, tmp_path):
        text = encoded(decoded(WATER).snapshot)
        for name in ("Atom Type Labels", "Bond Type Labels"):  # not all of them know labels
            text = text.replace("\n".join([name, "", *section(text, name), "", ""]), "")
        text = text.partition("\nCMAP")[0]  # nor the sections of others
        (tmp_path / "water.data").write_text(text.replace("O-H 300", "1 300"))
        return tmp_path / "water.data"

    def test_ase(self, path):
        import ase.io

        atoms: Any = ase.io.read(path, format="lammps-data", units="real")
        assert atoms.arrays["id"].tolist() == [1, 2, 3]
        assert atoms.get_initial_charges().tolist() == [-0.8, 0.4, 0.4]
        assert atoms.get_chemical_symbols() == ["O", "H", "H"]
        assert atoms.cell.lengths().tolist() == [10, 10, 10]

    def test_mdanalysis(self, path):
        import MDAnalysis

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            universe = MDAnalysis.Universe(path, topology_format="DATA", format="DATA")
        assert universe.atoms.ids.tolist() == [1, 2, 3]
        assert universe.atoms.positions[:, 1].tolist() == [2, 2, 2.5]
        assert universe.atoms.velocities[:, 0] / 1000 == pytest.approx([0.1, 4, -1])
        assert universe.atoms.masses == pytest.approx([15.9994, 1.008, 1.008])
        assert sorted(map(tuple, universe.bonds.indices.tolist())) == [(0, 1), (0, 2)]
        assert universe.angles.indices.tolist() == [[1, 0, 2]]

    def test_chemfiles(self, path):
        chemfiles = pytest.importorskip("chemfiles")
        with chemfiles.Trajectory(str(path), format="LAMMPS Data") as file:
            frame = file.read()
            assert frame.positions.copy()[:, 0].tolist() == [1, 1.5, 1]
            assert sorted(map(tuple, frame.topology.bonds.tolist())) == [(0, 1), (0, 2)]


def test_every_real_file_comes_back(shared, tmp_path):
    """A record of a real file is the same after a round trip through text."""
    count = 0
    for path in sorted((shared / "corpus" / "lammpsdata").iterdir()):
        expect = json.loads((shared / "corpus" / "expect" / "lammpsdata" / f"{path.name}.json").read_text())
        style = expect["expect"]["first"]["extra"]["style"]
        stated = (expect["expect"]["first"]["extra"]["style_hint"] or "").split()[:1]
        if style == "mesont" or expect["kind"] == "contradictory-style":
            continue
        convert(path, tmp_path / "a.h5", force=True, atom_style=None if stated in ([style], [f"{style}:"]) else style)
        report = convert(tmp_path / "a.h5", tmp_path / "b.data", force=True)
        assert not report.losses, (path.name, str(report.losses))
        convert(tmp_path / "b.data", tmp_path / "c.h5", force=True)
        with open_record(tmp_path / "a.h5") as one, open_record(tmp_path / "c.h5") as other:
            assert one.frame is not None
            assert other.frame is not None
            assert one.frame.same(other.frame), path.name
        count += 1
    assert count > 30
