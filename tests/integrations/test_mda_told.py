"""What topologies that come through MDAnalysis tell besides: the ids of their files, and elements."""

from pathlib import Path

import numpy as np
import pytest
from MDAnalysisTests import datafiles

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.errors import OptionError

MASSES = "the elements are told by the masses: "
STATED = "no element is stated for {} of standard residues, water or ions; the names tell it"
UNKNOWN = "{} without an element: --guess elements takes it from the name"


def atoms_of(folder, path, **options):
    """The atoms of a file, as far as they stand still, and what is said."""
    report = convert(path, folder / "out.h5", force=True, **options)
    record = mc.open(folder / "out.h5")
    frame = record.frame if record.system is None else record.system
    return frame["atoms"], [text.partition(": ")[2] for text in report.warnings]


# ---------------------------------------------------------------- ids
def of_lines(path, title):
    """The first integers of lines of a text, from behind a title on."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    begin = next(k for k, line in enumerate(lines) if title in line) + 1
    return [int(line.split()[0]) for line in lines[begin : begin + 5]]


@pytest.mark.parametrize(
    ("name", "format_name", "due"),
    [
        ("PSF", None, of_lines(datafiles.PSF, "!NATOM")),
        ("PSF_NAMD", None, of_lines(datafiles.PSF_NAMD, "!NATOM")),
        ("mol2_ligand", None, of_lines(datafiles.mol2_ligand, "@<TRIPOS>ATOM")),
        ("CRD", None, of_lines(datafiles.CRD, "3341")),
        ("DMS", None, [0, 1, 2, 3, 4]),  # so they stand in the file
        ("MMTF", None, [1, 2, 3, 4, 5]),
        ("TPR2016_bonded", None, [1, 2, 3, 4, 5]),  # as GROMACS counts them
        ("PRM", None, [1, 2, 3, 4, 5]),
        ("DLP_CONFIG", "mda:config", [1, 2, 3, 4, 5]),
        ("DLP_CONFIG_minimal", "mda:config", [1, 2, 3]),
        ("DLP_HISTORY_minimal", "mda:history", [1, 2, 3]),
    ],
)
def test_ids_are_those_of_the_file(tmp_path, name, format_name, due):
    atoms, _ = atoms_of(tmp_path, getattr(datafiles, name), from_format=format_name)
    assert atoms["id"][: len(due)].tolist() == due
    assert "atom_id" not in atoms
    assert len(np.unique(atoms["id"])) == atoms.count


def test_ids_of_a_part_of_a_psf(tmp_path):
    text = Path(datafiles.PSF_NAMD).read_text(encoding="utf-8")
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if "!NATOM" in line) + 1
    for k in range(first, first + 130):
        lines[k] = f"{int(lines[k].split()[0]) + 7:>8}" + lines[k][8:]
    (tmp_path / "part.psf").write_text("\n".join(lines))
    assert atoms_of(tmp_path, tmp_path / "part.psf")[0]["id"][:2].tolist() == [8, 9]


def test_no_ids_where_the_file_has_none(tmp_path):
    atoms, said = atoms_of(tmp_path, datafiles.MMTF_skinny)
    assert "id" not in atoms
    assert said[0] == "guessed by MDAnalysis and left out: ids, segids"


# ---------------------------------------------------------------- elements
def test_masses(tmp_path):
    atoms, said = atoms_of(tmp_path, datafiles.PSF)
    assert said == [f"{MASSES}H 1685, C 1040, O 320, N 289, S 7"]
    assert atoms["element"][:5].tolist() == ["N", "H", "H", "H", "C"]
    assert atoms.column("element").valid is None
    atoms, said = atoms_of(tmp_path, datafiles.PRM)
    assert said[0] == f"{MASSES}H 119, C 88, N 24, O 20, S 1"


def test_residues(tmp_path):
    atoms, said = atoms_of(tmp_path, datafiles.CRD)
    assert said == [STATED.format("3341 atoms")]
    assert atoms["element"][:5].tolist() == ["N", "H", "H", "H", "C"]


def test_names_on_request(tmp_path):
    atoms, said = atoms_of(tmp_path, datafiles.GMS_SYMOPT)
    assert "element" not in atoms
    assert said == [UNKNOWN.format("4 atoms") + " (in 8 frames)"]
    atoms, said = atoms_of(tmp_path, datafiles.GMS_SYMOPT, guess=["elements"])
    assert atoms["element"].tolist() == ["C", "C", "H", "H"]
    assert said == ["the element of 4 atoms is guessed from the name: C 2, H 2 (in 8 frames)"]


def test_beads_have_none(tmp_path):
    assert "element" not in atoms_of(tmp_path, datafiles.TPR2016_bonded)[0]


def test_stated_ones_stay(tmp_path):
    atoms, said = atoms_of(tmp_path, datafiles.PRMcs)
    assert said == []
    assert atoms["element"][:4].tolist() == ["H", "O", "C", "H"]


def test_what_is_stated_for_some_is_completed(tmp_path):
    """Dummy atoms of water stay without an element."""
    atoms, said = atoms_of(tmp_path, datafiles.TPR)
    column = atoms.column("element")
    assert column.valid is not None
    assert set(atoms["name"][~column.valid].tolist()) == {"MW"}
    assert said == [UNKNOWN.format("11084 atoms")]


def test_types_that_are_numbers_are_no_species(tmp_path):
    """Not even where a topology has nothing else: its elements come of the masses."""
    convert(datafiles.PSF, tmp_path / "out.xyz", trajectory=datafiles.DCD, frames="0")
    line = (tmp_path / "out.xyz").read_text().split("\n")[2].split()
    assert line[0] == "N"
    assert "56" in line


def test_frames_alone_have_none_to_guess(tmp_path):
    with pytest.raises(OptionError, match="--guess means nothing to mda:trz"):
        convert(datafiles.TRZ, tmp_path / "out.h5", from_format="mda:trz", guess=["elements"])
