"""MDAnalysis universes: attributes, residues, segments and connections to a record, and back."""

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysisTests import datafiles

from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.mda_universe import snapshot_of, static_part, to_topology, to_universe
from molrec_convert.errors import RecordError
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT
from molrec_convert.model import Block, Column, Frame

from ..frames import text, u64

QUIET = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
"""MDAnalysis warns of what it does not find in its own test files."""


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned here."""


FILES = {
    "psf": (datafiles.PSF, datafiles.DCD),
    "tpr": (datafiles.TPR, datafiles.XTC),
    "gro": (datafiles.GRO,),
    "prmtop": (datafiles.PRM, datafiles.TRJ),
    "data": (datafiles.LAMMPSdata,),
    "mol2": (datafiles.mol2_molecule,),
    "pdb": (datafiles.PDB_full,),
    "pqr": (datafiles.PQR,),
    "crd": (datafiles.CRD,),
    "dms": (datafiles.DMS,),
}


def universe(count=4, **attributes):
    """Atoms in residues of two, in segments of one residue."""
    residues = (count + 1) // 2
    made = mda.Universe.empty(
        count, residues, residues, atom_resindex=np.arange(count) // 2, residue_segindex=range(residues),
        trajectory=True,
    )  # fmt: skip
    for name, values in attributes.items():
        made.add_TopologyAttr(name, values)
    return made


def columns(made, **options):
    found = static_part(made, **options)
    return {name: column.values.tolist() for name, column in found.frame["atoms"].columns.items()}


def topology(**given):
    return to_topology(Snapshot(Frame({"atoms": Block(given)})))


# ---------------------------------------------------------------- real files
@QUIET
@pytest.mark.parametrize("name", FILES)
def test_real_files_go_there_and_back(name):
    """A universe of what was read has the same attributes, residues, segments and connections, and gives the same."""
    before = mda.Universe(*FILES[name], to_guess=())
    static = static_part(before)
    made = snapshot_of(before.trajectory.ts, static=static)
    after = to_universe(made)
    found = static_part(after).frame
    assert {name: list(block) for name, block in found.items()} == {
        name: list(block) for name, block in static.frame.items()
    }
    for name, block in found.items():
        assert all(column.same(made.frame[name].column(key)) for key, column in block.columns.items())
    assert [len(after.residues), len(after.segments)] == [len(before.residues), len(before.segments)]
    assert after.residues.resids.tolist() == before.residues.resids.tolist()
    assert after.segments.segids.tolist() == before.segments.segids.tolist()
    for attribute in ("names", "types", "masses", "charges", "resnames"):
        if hasattr(before.atoms, attribute):
            assert list(getattr(after.atoms, attribute)) == list(getattr(before.atoms, attribute))
    assert np.array_equal(after.atoms.positions, before.atoms.positions)
    assert snapshot_of(after.trajectory.ts, static=static_part(after)).frame.same(made.frame)


@QUIET
def test_a_protein_and_its_frames():
    """Known numbers of the CHARMM test system of MDAnalysis."""
    made = static_part(mda.Universe(datafiles.PSF, datafiles.DCD)).frame
    assert {name: block.count for name, block in made.items()} == {
        "atoms": 3341, "bonds": 3365, "angles": 6123, "dihedrals": 8921, "impropers": 541,
    }  # fmt: skip
    atoms = made["atoms"]
    assert atoms["name"][:4].tolist() == ["N", "HT1", "HT2", "HT3"]
    assert (atoms["mass"].dtype, atoms["mass"][0]) == (np.float64, 14.007)
    assert set(atoms["segid"].tolist()) == {"4AKE"}
    assert made["bonds"]["atomi"].dtype == np.uint64


# ---------------------------------------------------------------- attributes to columns
@QUIET
def test_what_was_guessed_is_left_out_and_named():
    made = mda.Universe(datafiles.GRO)
    assert {attribute.attrname for attribute in made._topology.guessed_attributes} >= {"masses", "types"}
    found = static_part(made)
    assert list(found.frame["atoms"]) == ["id", "name", "res_id", "res_name"]
    assert [note.message for note in found.notes] == ["guessed by MDAnalysis and left out: masses, types"]
    assert {"mass", "type"} <= static_part(made, guessed=True).frame["atoms"].keys()


def test_what_parsers_make_up_is_left_out():
    """One segment SYSTEM, residues of number 1, numbers that repeat the ids."""
    made = universe(4, segids=["SYSTEM"] * 2, resids=[1, 1], resnums=[1, 1], names=list("ABCD"))
    assert columns(made) == {"name": list("ABCD"), "mda_residue": [0, 0, 1, 1]}
    made = universe(4, segids=["P", "Q"], resids=[1, 1], resnames=["X", "Y"], resnums=[7, 8])
    assert columns(made) == {
        "res_id": [1] * 4, "res_name": ["X", "X", "Y", "Y"], "resnum": [7, 7, 8, 8], "segid": ["P", "P", "Q", "Q"],
    }  # fmt: skip


def test_segments_that_repeat_the_chains_are_left_out():
    made = universe(4, segids=["A", "B"], chainIDs=["A", "A", "B", "B"])
    assert columns(made) == {"chain": ["A", "A", "B", "B"]}


def test_negative_numbers_stand_beside_the_unsigned():
    found = static_part(universe(4, resids=[-3, 5], resnames=["X", "Y"])).frame["atoms"]
    assert found["res_seq"].tolist() == [-3, -3, 5, 5]
    assert found["res_id"].tolist() == [0, 0, 5, 5]
    assert found.column("res_id").valid.tolist() == [False, False, True, True]


def test_numbers_of_types_are_numbers_as_well():
    assert columns(universe(4, types=["1", "2", "1", "10"])) == {
        "type": ["1", "2", "1", "10"],
        "type_id": [1, 2, 1, 10],
        "mda_residue": [0, 0, 1, 1],
    }
    assert "type_id" not in columns(universe(4, types=["1", "02", "C", "C"]))


def test_empty_elements_are_null_and_empty_letters_no_column():
    found = static_part(universe(4, elements=["C", "", "O", ""], altLocs=[""] * 4, icodes=["", "A"])).frame["atoms"]
    assert found.column("element").valid.tolist() == [True, False, True, False]
    assert "altloc" not in found
    assert found["icode"].tolist() == ["", "", "A", "A"]


def test_other_attributes_have_columns_of_their_own_names():
    made = universe(2, radii=[0.5, 1.5], gbscreens=[0.25, 0.75], aromaticities=[True, False], nbindices=[3, -4])
    found = static_part(made).frame["atoms"]
    assert {name: column.dtype for name, column in found.columns.items()} == {
        "radius": "f64", "is_aromatic": "bool", "gbscreens": "f64", "nbindices": "i64",
    }  # fmt: skip
    assert columns(to_universe(snapshot_of(made.trajectory.ts, static=static_part(made)))) == columns(made)


def test_ratios_are_no_amu():
    made = universe(2, masses=[1.0, 2.0], charges=[0.5, -0.5])
    assert columns(made, units=DIMENSIONLESS_DOCUMENT) == {"mass_lj": [1.0, 2.0], "charge_lj": [0.5, -0.5]}
    found = to_topology(Snapshot(Frame({"atoms": {"mass_lj": [1.0, 2.0]}})))
    assert found.masses.values.tolist() == [1.0, 2.0]


# ---------------------------------------------------------------- some atoms
def bonded():
    made = universe(6, names=list("ABCDEF"), ids=[4, 5, 6, 7, 8, 9])
    made.add_TopologyAttr("bonds", [(0, 1), (3, 4), (5, 4)])
    made.add_TopologyAttr("angles", [(0, 1, 2), (5, 4, 3)])
    return made


def test_connections_of_some_atoms_are_rows_of_them():
    """Reports R-01: numbers of the whole system would join other atoms."""
    found = static_part(bonded().atoms[3:6]).frame
    assert found["atoms"]["name"].tolist() == list("DEF")
    assert [found["bonds"][end].tolist() for end in ("atomi", "atomj")] == [[0, 1], [1, 2]]
    assert [found["angles"][end].tolist() for end in ("atomi", "atomj", "atomk")] == [[0], [1], [2]]


def test_atoms_keep_the_order_of_the_group():
    group = bonded().atoms[[5, 0, 4]]
    found = static_part(group).frame
    assert found["atoms"]["id"].tolist() == [9, 4, 8]
    assert [found["bonds"][end].tolist() for end in ("atomi", "atomj")] == [[2], [0]]


def test_no_atoms_at_all():
    found = static_part(bonded().atoms[:0]).frame
    assert (found["atoms"].count, found["bonds"].count) == (0, 0)
    assert to_topology(Snapshot(found)).n_atoms == 0


# ---------------------------------------------------------------- connections
def test_types_and_orders_of_bonds():
    made = universe(4)
    made.add_TopologyAttr("bonds", [(0, 1), (1, 2), (2, 3)])
    bonds = made._topology.bonds
    bonds.types, bonds.order = ["1", "2", "1"], [1, 2, None]
    block = static_part(made).frame["bonds"]
    assert (block["type"].tolist(), block["type_id"].tolist()) == (["1", "2", "1"], [1, 2, 1])
    assert block.column("bond_number").values.tolist()[:2] == [1, 2]
    assert block.column("bond_number").valid.tolist() == [True, True, False]
    bonds.types, bonds.order = [("C", "N"), None, "x"], [1.0, 1.5, 2.0]
    block = static_part(made).frame["bonds"]
    assert (block["type"].tolist(), block.column("type").valid.tolist()) == (["C N", "", "x"], [True, False, True])
    assert block["order"].tolist() == [1.0, 1.5, 2.0]
    bonds.types, bonds.order = None, None
    bonds.types, bonds.order = [None] * 3, ["1", "ar", "2"]
    assert static_part(made).frame["bonds"]["order"].tolist() == ["1", "ar", "2"]


@pytest.mark.parametrize(
    ("given", "types", "orders"),
    [
        ({"bond_number": u64(2, 1)}, [None, None], [2, 1]),
        ({"order": [1.5, 2.0], "type": text("a", "b")}, ["a", "b"], [1.5, 2.0]),
        ({"type_id": u64(3, 4)}, ["3", "4"], [None, None]),
        ({"bond_type": u64(3, 4)}, ["3", "4"], [None, None]),
        ({"bond_number": Column(u64(2, 1), valid=np.array([True, False]))}, [None, None], [2, None]),
    ],
)
def test_types_and_orders_come_back(given, types, orders):
    bonds = {"atomi": u64(0, 1), "atomj": u64(2, 2), **given}
    made = to_topology(Snapshot(Frame({"atoms": Block(count=3), "bonds": bonds})))
    assert (list(made.bonds.values), made.bonds.types, made.bonds.order) == ([(0, 2), (1, 2)], types, orders)
    assert made.bonds.is_guessed == [False, False]


def test_guessed_bonds_are_left_out_and_counted():
    made = bonded()
    made.add_bonds([(1, 2)], guessed=True)
    found = static_part(made)
    assert found.frame["bonds"].count == 3
    assert "guessed by MDAnalysis and left out: 1 bonds" in [note.message for note in found.notes]
    assert static_part(made, guessed=True).frame["bonds"].count == 4


def test_a_bond_to_nowhere_is_no_bond():
    ends = Column(u64(0, 1), valid=np.array([True, False]))
    made = to_topology(Snapshot(Frame({"atoms": Block(count=3), "bonds": {"atomi": ends, "atomj": u64(2, 2)}})))
    assert list(made.bonds.values) == [(0, 2)]


# ---------------------------------------------------------------- residues and segments
def residues_of(made):
    return made.tt.atoms2residues(np.arange(made.n_atoms)).tolist()


@pytest.mark.parametrize(
    "given",
    [
        {"res_id": u64(1, 1, 2, 1)},
        {"res_id": u64(5, 5, 5, 5), "res_name": text("A", "A", "B", "A")},
        {"res_id": u64(5, 5, 5, 5), "icode": text("", "", "A", "")},
        {"res_id": u64(5, 5, 5, 5), "chain": text("A", "A", "B", "A")},
        {"res_id": u64(5, 5, 5, 5), "segid": text("A", "A", "B", "A")},
        {"res_id": u64(5, 5, 5, 5), "mol_id": u64(1, 1, 2, 1)},
        {"res_seq": np.array([-1, -1, 0, -1])},
    ],
)
def test_a_residue_ends_where_anything_of_it_changes(given):
    assert residues_of(topology(**given)) == [0, 0, 1, 2]


def test_molecules_are_residues_where_there_are_no_others():
    made = topology(mol_id=u64(7, 3, 7, 3))
    assert residues_of(made) == [1, 0, 1, 0]
    assert (made.resids.values.tolist(), made.molnums.values.tolist()) == ([3, 7], [3, 7])
    assert made.resids.is_guessed
    assert not made.molnums.is_guessed


@pytest.mark.parametrize(("name", "guessed"), [("segid", False), ("chain", True)])
def test_segments_come_from_segid_or_else_from_the_chain(name, guessed):
    made = topology(**{name: text("A", "A", "B", "B")})
    assert (made.segids.values.tolist(), made.segids.is_guessed) == (["A", "B"], guessed)
    both = topology(segid=text("P", "P", "P", "Q"), chain=text("A", "A", "B", "B"))
    assert (both.n_residues, both.segids.values.tolist()) == (3, ["P", "Q"])


def test_what_a_record_does_not_say_is_marked_as_guessed():
    made = topology(element=text("O", "H"))
    guessed = {attribute.attrname for attribute in made.guessed_attributes}
    assert guessed == {"ids", "names", "resids", "resnums", "segids"}
    assert made.names.values.tolist() == ["O", "H"]
    assert [made.ids.values.tolist(), made.resids.values.tolist(), made.segids.values.tolist()] == [
        [1, 2],
        [1],
        ["SYSTEM"],
    ]


# ---------------------------------------------------------------- columns to attributes
def test_nulls_are_what_mdanalysis_has_for_nothing():
    some = np.array([True, False])
    made = topology(
        element=Column(text("O", "x"), valid=some),
        mass=Column([16.0, 5.0], valid=some),
        formal_charge=Column(np.array([1, 5]), valid=some),
    )
    assert made.elements.values.tolist() == ["O", ""]
    assert made.masses.values[0] == 16.0
    assert np.isnan(made.masses.values[1])
    assert made.formalcharges.values.tolist() == [1, 0]


def test_elements_from_atomic_numbers_and_types_from_their_numbers():
    made = topology(atomic_number=u64(8, 1, 0, 200), type_id=u64(1, 2, 2, 1))
    assert made.elements.values.tolist() == ["O", "H", "X", "X"]
    assert made.types.values.tolist() == ["1", "2", "2", "1"]


def test_signed_numbers_are_preferred():
    valid = np.array([False, True])
    made = topology(res_id=Column(u64(0, 4), valid=valid), res_seq=np.array([-2, 4]))
    assert made.resids.values.tolist() == [-2, 4]


def test_what_cannot_be():
    with pytest.raises(RecordError, match="there are no atoms in it"):
        to_topology(Snapshot(Frame({"grid": {"density": [1.0]}})))
    with pytest.raises(RecordError, match="id 9223372036854775808 is beyond what MDAnalysis holds"):
        topology(id=u64(1, 2**63))


# ---------------------------------------------------------------- residues that attributes do not tell apart
@pytest.mark.parametrize(
    ("residues", "attributes", "stated"),
    [
        ([0, 0, 0, 1, 1, 1], {"resnames": ["A", "A"]}, True),
        ([0, 0, 0, 1, 1, 1], {"resnames": ["A", "B"]}, False),
        ([0, 1, 0, 1, 0, 1], {"resids": [1, 2]}, True),
        ([1, 1, 0, 0, 1, 0], {}, True),
        ([0, 1, 0, 1, 0, 1], {"molnums": [0, 1]}, False),
    ],
)
def test_residues_are_those_that_were(residues, attributes, stated):
    made = mda.Universe.empty(6, n_residues=2, atom_resindex=residues)
    for name, values in attributes.items():
        made.add_TopologyAttr(name, values)
    static = static_part(made)
    assert ("mda_residue" in static.frame["atoms"]) is stated
    again = mda.Universe(to_topology(static), to_guess=())
    assert again.atoms.resindices.tolist() == residues
    assert len(again.residues) == 2


def test_attributes_can_be_set():
    """Also where the column is read-only, and one of several attributes that came of one column."""
    made = to_universe(Snapshot(Frame({"atoms": {"charge": [1.0, 2.0], "res_id": u64(5, 6)}})))
    made.atoms.charges = [3.0, 4.0]
    made.residues.resids = [7, 8]
    assert made.atoms.charges.tolist() == [3.0, 4.0]
    assert made.residues.resnums.tolist() == [5, 6]
