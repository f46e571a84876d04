"""What MDAnalysis takes for a record, and what of PDB files it finds in one."""

import h5py
import MDAnalysis as mda
import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.integrations.mdanalysis import MolRecParser, MolRecReader

from .universes import UNGUESSED, frame, moved, record


@pytest.fixture
def path(tmp_path):
    return record(tmp_path / "run.h5", moved(2))


def test_names_of_other_formats_stay_with_them(tmp_path):
    """Neither H5 nor H5MD is taken, and files of theirs are not claimed."""
    mine = {name for name, made in {**mda._READERS, **mda._PARSERS}.items() if made in (MolRecReader, MolRecParser)}
    assert mine == {"MREC", "MOLREC"}
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_group("particles")
    (tmp_path / "zarr").mkdir()
    (tmp_path / "zarr" / "zarr.json").write_text("{}")
    for thing in (
        tmp_path / "other.h5",
        tmp_path / "zarr",
        tmp_path,
        "missing.gro",
        "missing.h5md",
        "missing",
        "a\0b",
        "",
        b"x",
        5,
        None,
        [1],
        np.eye(3),
    ):
        assert MolRecReader._format_hint(thing) is False
        assert MolRecParser._format_hint(thing) is False


@pytest.mark.parametrize("name", ["missing.h5", "missing.hdf5", "missing.mrec", "missing.mrec.zip", "no/missing.h5"])
def test_a_file_that_is_not_there_is_said(path, tmp_path, monkeypatch, name):
    for names in ((name,), (path, name)):
        with pytest.raises(FileNotFoundError, match=name):
            mda.Universe(*(str(tmp_path / each) if each == name else each for each in names))
    monkeypatch.setitem(mda._READERS, name.rpartition(".")[2].upper(), type("Another", (), {}))
    assert MolRecReader._format_hint(str(tmp_path / name)) is name.endswith(".mrec")  # that name is ours


@UNGUESSED
@pytest.mark.filterwarnings("ignore:Element information is missing:UserWarning")
def test_blank_columns_of_pdb_files_are_there_to_select_by(tmp_path):
    """As MDAnalysis's own parser has them; of files that have no such columns there are none."""
    lines = [f"ATOM  {k:5}  {name:3}{alt}GLY  {k:4}       1.000   2.000   3.000" for k, (name, alt) in enumerate(
        [("N", " "), ("CA", " "), ("C", " ")], 1)]  # fmt: skip
    (tmp_path / "in.pdb").write_text("\n".join([*lines, "END", ""]))
    mc.convert(tmp_path / "in.pdb", tmp_path / "in.h5")
    own, made = mda.Universe(tmp_path / "in.pdb"), mda.Universe(tmp_path / "in.h5")
    for text in (
        "altloc A",
        "not altloc B",
        "icode A",
        "chainID A",
        "chainID ''",
        "prop occupancy < 0.5",
        "record_type ATOM",
    ):
        assert made.select_atoms(text).ids.tolist() == own.select_atoms(text).ids.tolist(), text
    for name in ("altLocs", "chainIDs", "icodes", "occupancies", "tempfactors"):
        assert getattr(made.atoms, name).tolist() == getattr(own.atoms, name).tolist()
    back = mc.from_mdanalysis(made).frame["atoms"]
    assert not {"altloc", "chain", "icode", "occupancy", "b_factor"} & back.keys()
    with pytest.raises(AttributeError):
        mda.Universe(record(tmp_path / "gro.h5", [frame()])).select_atoms("altloc A")
