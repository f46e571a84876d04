"""PDB: elements, from their columns, from names that tell them, and guessed on request."""

import pytest

from molrec_convert.adapters._pdb_elements import (
    element_guessed,
    element_of_columns,
    element_stated,
    name_field,
    seems_aligned,
)

from ..pdbs import atom, text

STATED = [
    ("CA", "ALA", "C"), ("HG11", "VAL", "H"), ("1HB", "ALA", "H"), ("NE2", "HIS", "N"), ("OXT", "GLY", "O"),
    ("OC1", "PHE", "O"), ("SG", "CYX", "S"), ("SD", "MET", "S"), ("CD1", "LEU", "C"), ("CD", "LYS", "C"),
    ("H1", "NALA", "H"), ("CH3", "ACE", "C"), ("P", "DA", "P"), ("O5'", "DG", "O"), ("O1P", "ADE", "O"),
    ("OP1", "A", "O"), ("C5M", "THY", "C"), ("H2''", "DC", "H"), ("OH2", "TIP3", "O"), ("HW1", "SOL", "H"),
    ("D1", "DOD", "H"), ("CA", "CA", "Ca"), ("ZN", "ZN", "Zn"), ("K", "K", "K"), ("Na+", "Na+", "Na"),
    ("CL-", "CL-", "Cl"), ("SOD", "SOD", "Na"), ("ca", "ca", "Ca"),
    ("BB", "ALA", None), ("SC1", "PHE", None), ("W", "W", None), ("MW", "SOL", None), ("CA", "LIG", None),
    ("CA", "DA", None), ("X", "X", None), ("", "", None), ("FE", "HEM", None), ("ZN", "ALA", None),
]  # fmt: skip
GUESSED = [
    (" CA ", "LIG", "C"), ("CA  ", "LIG", "Ca"), ("HG11", "LIG", "H"), ("HN19", "00T", "H"), ("CL15", "XXX", "Cl"),
    ("FE  ", "HEM", "Fe"), (" FE ", "HEM", "F"), ("SE  ", "MSE", "Se"), ("1HN ", "LIG", "H"), (" N19", "LIG", "N"),
    ("CA12", "LIG", "C"), ("BR2A", "LIG", "Br"), ("XE  ", "XE", "Xe"), ("T1  ", "MOL", None), (" Q  ", "MOL", None),
    ("    ", "MOL", None), (" CA ", "ALA", "C"),
]  # fmt: skip
LOOSE = [("CA  ", "C"), ("CL1 ", "Cl"), ("N   ", "N"), ("HG  ", "H"), ("NA  ", "Na"), ("CD  ", "C"), ("FE  ", "Fe")]


class TestRules:
    @pytest.fixture(autouse=True)
    def each_engine(self):
        """The engines play no part."""

    @pytest.mark.parametrize(("name", "residue", "symbol"), STATED)
    def test_names_that_tell(self, name, residue, symbol):
        assert element_stated(name, residue) == symbol

    @pytest.mark.parametrize(("field", "residue", "symbol"), GUESSED)
    def test_guesses_from_aligned_names(self, field, residue, symbol):
        assert element_guessed(field, residue, aligned=True) == symbol

    @pytest.mark.parametrize(("field", "symbol"), LOOSE)
    def test_guesses_from_names_of_any_place(self, field, symbol):
        assert element_guessed(field, "LIG", aligned=False) == symbol

    def test_alignment(self):
        assert seems_aligned([" CA ", "N   "])
        assert not seems_aligned(["CA  ", "N   ", "HG11"])
        assert seems_aligned(["HG11"])

    @pytest.mark.parametrize(
        ("columns", "found"),
        [("C", ("C", None)), ("SI", ("Si", None)), ("cl", ("Cl", None)), ("D", ("H", 2)), ("t", ("H", 3)),
         ("OW", (None, None)), ("X", (None, None)), ("A", (None, None)), ("", (None, None)), ("12", (None, None))],
    )  # fmt: skip
    def test_columns(self, columns, found):
        assert element_of_columns(columns) == found

    @pytest.mark.parametrize(
        ("name", "element", "field"),
        [("CA", "C", " CA "), ("CA", "Ca", "CA  "), ("HG11", "H", "HG11"), ("N", None, " N  "), ("CL1", "Cl", "CL1 "),
         ("D", "H", " D  "), ("HG", "C", " HG "), ("", None, "    ")],
    )  # fmt: skip
    def test_alignment_by_element(self, name, element, field):
        assert name_field(name, element) == field


class TestRead:
    @pytest.fixture
    def read(self, converted):
        return lambda *lines, **options: converted(text(*lines), "in.pdb", **options)

    def test_the_columns_decide(self, read):
        made = read(atom(name="S123", element="SI"), atom(name=" CA ", element="CA"), atom(name="CA  ", element="c"))
        assert made.values("element") == ["Si", "Ca", "C"]
        assert made.values("pdb_name") == ["S123", " CA ", "CA  "]
        assert made.warnings == []

    def test_isotopes(self, read):
        made = read(atom(name=" D1 ", residue="DOD", element="D"), atom(name=" O  ", residue="DOD", element="O"))
        assert made.values("element") == ["H", "O"]
        assert made.values("isotope") == [2, None]
        assert made.atoms().column("isotope").dtype == "u64"

    def test_names_that_tell(self, read):
        made = read(atom(name=" CA ", element=""), atom(name="CA  ", residue=" CA", element=""))
        assert made.values("element") == ["C", "Ca"]
        assert "pdb_name" not in made.atoms()
        assert made.warnings == [
            "in.pdb: columns 77-78 state no element for 2 atoms of standard residues, water or ions; the names tell it"
        ]

    def test_nothing_is_guessed_unasked(self, read):
        made = read(atom(name=" C1 ", residue="LIG", element=""), atom(name=" BB ", element=""), atom(element="C"))
        assert made.values("element") == [None, None, "C"]
        assert made.warnings == ["in.pdb: 2 atoms without an element: --guess elements takes it from the name"]

    def test_a_guess_says_what_it_did(self, read):
        lines = [atom(name=name, residue="LIG", element="") for name in (" CA ", "CA  ", " C2 ", " Q  ")]
        made = read(*lines, guess=["elements"])
        assert made.values("element") == ["C", "Ca", "C", None]
        assert made.warnings == [
            "in.pdb: the element of 3 atoms is guessed from the name: C 2, Ca 1",
            "in.pdb: 1 atom without an element: the name suggests none",
        ]
        assert made.record.meta["convert"]["options"] == {"guess": ["elements"]}

    def test_elements_that_are_given(self, read):
        lines = [
            atom(name=" W  ", residue="W", element=""),
            atom(name=" BB ", element=""),
            atom(name=" CA ", element=""),
        ]
        made = read(*lines, type_map={"W": "O", "BB": "C"})
        assert made.values("element") == ["O", "C", "C"]

    def test_what_is_no_element(self, read):
        made = read(atom(name=" OW ", residue="SOL", element="OW"), atom(element="X", residue="LIG"), atom())
        assert made.values("element") == ["O", None, "C"]
        assert made.values("pdb_element") == ["OW", "X", ""]
        assert made.warnings[0] == "in.pdb: columns 77-78 of 2 atoms hold no element, but OW 1, X 1"

    def test_line_numbers_of_old_files(self, read):
        made = read(*(f"{atom(k)[:66]}      1CRN{k:4d}" for k in (70, 1234)))
        assert made.values("segid") == ["1CRN", "1CRN"]
        assert made.values("element") == ["C", "C"]
        assert not {"formal_charge", "pdb_element"} & set(made.atoms())
