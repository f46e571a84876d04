"""Elements that no source states: told by masses and standard residues wherever they come from, else on request."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapters._elements import MassElements, elements_of
from molrec_convert.convert import convert
from molrec_convert.model import Column

from ..dumps import snapshot
from ..gros import THREE, atom, gro

MASSES = "the elements are told by the masses: "
STATED = "no element is stated for {} of standard residues, water or ions; the names tell it"
UNKNOWN = "{} without an element: --guess elements takes it from the name"


def told(names, residues=None, masses=None, *, given=None, guess=False):
    """The elements of atoms, None where none is told, and what is said."""
    codes = np.arange(len(names), dtype=np.int32)
    found = elements_of(
        (codes, names),
        None if residues is None else (codes, residues),
        None if masses is None else (codes, masses),
        given=given or {},
        guess=guess,
    )
    if found.column is None:
        return [None] * len(names), [note.message for note in found.notes]
    valid = np.ones(len(names), bool) if found.column.valid is None else found.column.valid
    values = [value if there else None for value, there in zip(found.column.values.tolist(), valid, strict=True)]
    return values, [note.message for note in found.notes]


class TestRule:
    @pytest.mark.parametrize(
        ("name", "residue", "mass", "guess", "symbol"),
        [
            ("X1", "LIG", 12.0107, False, "C"),
            ("X1", "LIG", 12.0, False, None),  # a whole number is as often that of a bead
            ("C1", "LIG", 12.0, False, "C"),
            ("OW", "LIG", 16.0, False, "O"),
            ("X1", "LIG", 14.0266, False, None),
            ("CH2", "LIG", 14.0266, False, None),
            ("CA", "ALA", 13.019, False, "C"),
            ("CA", "ALA", 40.078, False, "Ca"),
            ("CA", "ALA", 0.0, False, "C"),
            ("H", "LIG", 0.0, False, None),
            ("MW", "SOL", 0.0, False, None),
            ("BB", "ALA", 72.0, False, None),
            ("C1", "LIG", 0.0, False, None),
            ("C1", "LIG", 0.0, True, "C"),
            ("CH2", "LIG", 14.0266, True, "C"),
            ("XX", "LIG", 35.5, True, "Cl"),
            ("MW", "SOL", 0.0, True, None),
            ("C1", "LIG", float("nan"), False, None),
            ("H1", "LIG", -1.008, False, None),
        ],
    )
    def test_of_an_atom(self, name, residue, mass, guess, symbol):
        assert told([name], [residue], [mass], guess=guess)[0] == [symbol]

    def test_what_is_said(self):
        names, residues = ["C1", "O", "C9", "Q", "OW"], ["LIG", "LIG", "LIG", "LIG", "SOL"]
        masses = [12.011, 15.9994, 0.0, 0.0, 0.0]
        assert told(names, residues, masses) == (
            ["C", "O", None, None, "O"],
            [f"{MASSES}C 1, O 1", STATED.format("1 atom"), UNKNOWN.format("2 atoms")],
        )
        assert told(names, residues, masses, guess=True) == (
            ["C", "O", "C", None, "O"],
            [f"{MASSES}C 1, O 1", STATED.format("1 atom"), "the element of 1 atom is guessed from the name: C 1",
             "1 atom without an element: the name suggests none"],
        )  # fmt: skip
        assert told(names, residues, masses, given={"Q": "S", "C1": "N"})[0] == ["N", "O", None, "S", "O"]

    def test_no_atoms(self):
        assert told([]) == ([], [])

    def test_masses_alone(self):
        table = MassElements()
        for masses in ([12.011, 1.008], [1.008, 1.008], [15.999, 1.008], [np.nan, 1.008], [5.0, 5.0], []):
            found = table.of(Column(np.array(masses, "f8"))).column
            due = {12.011: "C", 1.008: "H", 15.999: "O"}
            known = [due.get(mass) for mass in masses]
            if found is None:
                assert not any(known)
                continue
            valid = [True] * len(known) if found.valid is None else found.valid.tolist()
            values = zip(found.values.tolist(), valid, strict=True)
            assert [symbol if there else None for symbol, there in values] == known


class TestDump:
    ROWS = "1 1 28.0855 0 0 0; 2 2 15.9994 1 0 0; 3 1 28.0855 2 0 0"
    COLUMNS = "id type mass x y z"

    def test_known_masses_tell(self, tmp_path):
        text = snapshot(self.ROWS, columns=self.COLUMNS, units="real")
        text += snapshot("3 1 28.0855 0 0 0; 2 2 15.9994 1 0 0; 1 1 28.0855 2 0 0", columns=self.COLUMNS, step=1)
        (tmp_path / "in.dump").write_text(text)
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5")
        assert report.warnings == [f"in.dump: {MASSES}Si 2, O 1 (in 2 frames)"]
        assert mc.open(tmp_path / "out.h5").system["atoms"]["element"].tolist() == ["Si", "O", "Si"]
        convert(tmp_path / "out.h5", tmp_path / "back.dump", strict=True)
        assert "ITEM: ATOMS id type mass x y z" in (tmp_path / "back.dump").read_text()

    def test_all_or_none(self, tmp_path):
        """A dump could not be written again with the elements of some."""
        rows = "1 1 28.0855 0 0 0; 2 2 14.027 1 0 0"
        (tmp_path / "in.dump").write_text(snapshot(rows, columns=self.COLUMNS, units="metal"))
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5")
        assert report.warnings == ["in.dump: the types are no elements; --type-map 1=Si,2=O names them"]

    @pytest.mark.parametrize("options", [{}, {"units": "lj"}])
    def test_masses_of_unknown_unit_do_not(self, tmp_path, options):
        (tmp_path / "in.dump").write_text(snapshot(self.ROWS, columns=self.COLUMNS))
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5", **options)
        assert report.warnings == ["in.dump: the types are no elements; --type-map 1=Si,2=O names them"]
        assert "element" not in mc.open(tmp_path / "out.h5").system["atoms"]

    def test_masses_of_another_unit_do(self, tmp_path):
        rows = "1 1 4.66370658657e-26 0 0 0"
        (tmp_path / "in.dump").write_text(snapshot(rows, columns=self.COLUMNS, units="si"))
        report = convert(tmp_path / "in.dump", tmp_path / "out.h5")
        assert report.warnings == [f"in.dump: {MASSES}Si 1"]

    def test_a_changed_element_is_written(self, tmp_path):
        (tmp_path / "in.dump").write_text(snapshot(self.ROWS, columns=self.COLUMNS, units="real"))
        convert(tmp_path / "in.dump", tmp_path / "out.h5", type_map={"1": "Al", "2": "O"})
        convert(tmp_path / "out.h5", tmp_path / "back.dump", strict=True)
        assert "ITEM: ATOMS id type mass x y z element" in (tmp_path / "back.dump").read_text()


class TestGro:
    LINES = (
        atom(1, name="OW"), atom(2, name="HW1"), atom(3, name="CA", residue="ALA"), atom(4, name="CA", residue="CA"),
        atom(5, name="MW"), atom(6, name="CL-", residue="CL-"),
    )  # fmt: skip

    @pytest.fixture
    def read(self, converted):
        return lambda data, **options: converted(data, "in.gro", **options)

    def test_standard_residues_tell_them(self, read):
        made = read(gro(*self.LINES, atom(7, name="C1", residue="LIG")))
        assert made.values("element") == ["O", "H", "C", "Ca", None, "Cl", None]
        assert made.warnings == [
            "in.gro: no element is stated for 5 atoms of standard residues, water or ions; the names tell it",
            "in.gro: 2 atoms without an element: --guess elements takes it from the name",
        ]

    def test_names_of_others_are_not_guessed_unasked(self, read):
        made = read(gro(atom(1, name="C1", residue="LIG"), atom(2, name="W", residue="W")))
        assert "element" not in made.atoms()
        assert made.warnings == ["in.gro: 2 atoms without an element: --guess elements takes it from the name"]

    def test_on_request(self, read):
        made = read(gro(*self.LINES, atom(7, name="C1", residue="LIG")), guess=["elements"])
        assert made.values("element") == ["O", "H", "C", "Ca", None, "Cl", "C"]
        assert made.warnings == [
            "in.gro: no element is stated for 5 atoms of standard residues, water or ions; the names tell it",
            "in.gro: the element of 1 atom is guessed from the name: C 1",
            "in.gro: 1 atom without an element: the name suggests none",
        ]

    def test_given(self, read):
        made = read(gro(*self.LINES), type_map={"OW": "S", "MW": "X"})
        assert made.values("element") == ["S", "H", "C", "Ca", "X", "Cl"]
        assert [text.partition(": ")[2] for text in made.warnings] == [
            "no element is stated for 4 atoms of standard residues, water or ions; the names tell it"
        ]

    def test_they_are_no_loss_where_names_tell_them(self, read, tmp_path):
        made = read(THREE)
        assert not convert(made.path, tmp_path / "same.gro", strict=True).losses
        made = read(gro(*self.LINES, atom(7, name="C1", residue="LIG")), guess=["elements"])
        assert set(convert(made.path, tmp_path / "other.gro").losses.losses) == {"atoms.element"}
        made = read(gro(*self.LINES), type_map={"OW": "S"})
        assert set(convert(made.path, tmp_path / "third.gro").losses.losses) == {"atoms.element"}
