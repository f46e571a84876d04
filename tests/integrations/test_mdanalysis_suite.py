# mypy: disable-error-code="misc"
"""The tests that MDAnalysis has for every reader, writer and parser, on ours."""

import numpy as np
import pytest
from MDAnalysisTests.coordinates.base import BaseReference, BaseWriterTest, MultiframeReaderTest
from MDAnalysisTests.topology.base import ParserBase

import molrec_convert as mc
from molrec_convert.integrations.mdanalysis import MolRecParser, MolRecReader, MolRecWriter
from molrec_convert.model import Block, Box, Frame
from molrec_convert.records import create

CELL = (81.1, 82.2, 83.3, 75.0, 80.0, 85.0)
UNITS = {"length": "angstrom", "time": "ps"}

pytestmark = [
    # Time steps that the tests make themselves have no time.
    pytest.mark.filterwarnings("ignore:Reader has no dt information:UserWarning"),
    # An argument that the tests try as well.
    pytest.mark.filterwarnings("ignore:asel argument to timeseries:DeprecationWarning"),
]


def write_reference(path):
    """Five atoms in five frames, the positions of each twice those of the one before."""
    start = np.arange(15.0).reshape(5, 3)
    still = {"element": ["C"] * 5, "mass": [12.011] * 5}
    frames = [
        Frame(
            {"atoms": Block({**still, **{name: 2.0**i * start[:, k] for k, name in enumerate("xyz")}})},
            box=Box.from_parameters([edge + (i == 1) * (1.0 if k < 3 else 0.1) for k, edge in enumerate(CELL)]),
        )
        for i in range(5)
    ]
    mc.write(path, frames, time=[0.0, 1.0, 2.0, 3.0, 4.0], units=UNITS)


class Reference(BaseReference):
    """What the tests are to find."""

    def __init__(self, path):
        super().__init__()
        self.trajectory = self.topology = str(path)
        self.reader, self.writer = MolRecReader, MolRecWriter
        self.ext = "mrec"
        self.changing_dimensions = True


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("suite") / "reference.h5"
    write_reference(made)
    return made


class TestReader(MultiframeReaderTest):
    @pytest.fixture
    def ref(self, path):
        return Reference(path)


@pytest.mark.filterwarnings("ignore:Unknown masses are set:UserWarning")  # of universes made to have none
class TestWriter(BaseWriterTest):
    @pytest.fixture
    def ref(self, path):
        return Reference(path)


def write_everything(path):
    """Six atoms of three residues in two chains, with all that a topology can say."""
    rows = np.arange(6)
    atoms = {
        "id": np.array([2, 3, 5, 7, 11, 13], "u8"),
        "name": ["N", "CA", "N", "CA", "O", "H"],
        "type": ["NH1", "CT1", "NH1", "CT1", "OT", "HT"],
        "element": ["N", "C", "N", "C", "O", "H"],
        "mass": [14.0, 12.0, 14.0, 12.0, 16.0, 1.0],
        "charge": [-0.5, 0.5, -0.5, 0.5, -0.8, 0.4],
        "formal_charge": np.array([0, 0, 1, 0, -1, 0]),
        "record_type": ["ATOM"] * 4 + ["HETATM"] * 2,
        "chain": ["A"] * 4 + ["W"] * 2,
        "altloc": ["", "", "A", "B", "", ""],
        "b_factor": rows * 1.5,
        "occupancy": 1.0 - rows * 0.1,
        "radius": rows + 0.5,
        "is_aromatic": np.array([False] * 5 + [True]),
        "res_id": np.array([1, 1, 2, 2, 1, 1], "u8"),
        "res_name": ["ALA", "ALA", "GLY", "GLY", "SOL", "SOL"],
        "icode": ["", "", "A", "A", "", ""],
        "resnum": np.array([10, 10, 20, 20, 1, 1]),
        "mol_id": np.array([1, 1, 1, 1, 2, 2], "u8"),
        "mol_type": ["protein"] * 4 + ["water"] * 2,
        "segid": ["PROT"] * 4 + ["WAT"] * 2,
        "gbscreens": rows * 0.1,
        **dict.fromkeys(("x", "y", "z"), rows + 0.25),
    }
    ends = [np.array(column, "u8") for column in ([0, 2, 4], [1, 3, 5], [2, 0, 0], [3, 5, 1])]
    relations = {
        "bonds": {"atomi": ends[0], "atomj": ends[1], "bond_number": np.array([1, 2, 1], "u8")},
        "angles": {"atomi": ends[0], "atomj": ends[1], "atomk": ends[2], "type": ["a", "b", "c"]},
        "dihedrals": {"atomi": ends[0], "atomj": ends[1], "atomk": ends[2], "atoml": ends[3]},
        "impropers": {"atomi": ends[0], "atomj": ends[1], "atomk": ends[2], "atoml": ends[3]},
    }
    mc.write(path, Frame({"atoms": atoms, **relations}, box=Box.orthogonal(9.0)), units=UNITS)


EVERYTHING = [
    "names", "types", "elements", "masses", "charges", "formalcharges", "record_types", "chainIDs", "altLocs",
    "tempfactors", "occupancies", "radii", "aromaticities", "resnames", "icodes", "molnums", "moltypes", "gbscreens",
    "bonds", "angles", "dihedrals", "impropers",
]  # fmt: skip
OF_FRAMES, GUESSED = ["elements", "masses", "names"], ["types"]
OF_MOLECULES = ["types", "masses", "charges", "names", "molnums", "bonds"]


class TestParser(ParserBase):
    """A record that says everything."""

    parser = MolRecParser
    expected_attrs = EVERYTHING
    expected_n_atoms, expected_n_residues, expected_n_segments = 6, 3, 2

    @pytest.fixture
    def filename(self, tmp_path):
        write_everything(tmp_path / "everything.h5")
        return str(tmp_path / "everything.h5")


class TestParserOfFrames(ParserBase):
    """A record of frames whose atoms have elements and masses."""

    parser = MolRecParser
    expected_attrs = OF_FRAMES
    guessed_attrs = GUESSED
    expected_n_atoms, expected_n_residues, expected_n_segments = 5, 1, 1

    @pytest.fixture
    def filename(self, path):
        return str(path)


class TestParserOfTopology(ParserBase):
    """A record without frames."""

    parser = MolRecParser
    expected_attrs = OF_MOLECULES
    expected_n_atoms, expected_n_residues, expected_n_segments = 4, 2, 1

    @pytest.fixture
    def filename(self, tmp_path):
        with create(tmp_path / "topology.h5", meta={"units": UNITS}) as writer:
            writer.set_section("system", Frame({"atoms": MOLECULES, "bonds": BONDS}))
        return str(tmp_path / "topology.h5")


MOLECULES = {
    "type": ["1", "2", "1", "2"],
    "mass": [16.0, 1.0, 16.0, 1.0],
    "charge": [-1.0, 1.0, -1.0, 1.0],
    "mol_id": np.array([1, 1, 2, 2], "u8"),
}
BONDS = {"atomi": np.array([0, 2], "u8"), "atomj": np.array([1, 3], "u8")}
