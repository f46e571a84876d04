"""Records whose atoms come, go or change places: MDAnalysis holds the same atoms in the same order in every frame."""

import MDAnalysis as mda
import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, LossError
from molrec_convert.integrations.mdanalysis import MolRecReader
from molrec_convert.model import Block, Box, Frame

from ..converting import source_of
from ..dumps import snapshots
from ..frames import text
from .universes import UNITS, moved, record

ORDER = [5, 3, 8, 1]


def places(ids, frame):
    """Atoms whose x tells their id and frame."""
    ids = np.asarray(ids)
    x = ids + frame / 8.0
    columns = {"id": ids.astype("u8"), "element": text(*["C"] * len(ids)), "mass": [12.0] * len(ids)}
    return Block(columns | {"x": x, "y": x * 2, "z": x * 4, "vx": x, "vy": -x, "vz": x})


def written(path, *lists, bonds=None):
    frames = [Frame({"atoms": places(ids, k)}, box=Box.orthogonal(50.0)) for k, ids in enumerate(lists)]
    for each, ids in zip(frames, lists, strict=True):
        if bonds is not None:
            rows = [[list(ids).index(end) for end in bond] for bond in bonds if set(bond) <= set(ids)]
            ends = np.array(rows, "u8").reshape(-1, 2)
            each["bonds"] = Block({"atomi": ends[:, 0].copy(), "atomj": ends[:, 1].copy()})
    mc.write(path, frames, units=UNITS, time=np.arange(len(lists)) * 1.0)
    return str(path)


def ids_in(made):
    """The ids of the atoms, by their places in every frame."""
    return [(ts.positions[:, 0] - ts.frame / 8.0).tolist() for ts in made.trajectory]


# ---------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (([1, 2, 3], [1, 2, 3], [1, 2]), r"\(frame 2\): 2 atoms, 3 in frame 0: .*select='common'"),
        (([1, 2], [1, 2, 3]), r"\(frame 1\): 3 atoms, 2 in frame 0"),
        (([1, 2], [], [1, 2]), r"\(frame 1\): 0 atoms, 2 in frame 0"),
    ],
)
def test_a_changing_number_of_atoms_is_refused_with_the_frame(tmp_path, lists, message):
    with pytest.raises(LossError, match=r"a\.h5 " + message):
        MolRecReader(written(tmp_path / "a.h5", *lists))
    with pytest.raises(ValueError, match=message):
        mda.Universe(tmp_path / "a.h5")


def test_other_atoms_of_the_same_number_are_refused_where_they_are_met(tmp_path):
    made = mda.Universe(written(tmp_path / "a.h5", [1, 2, 3], [1, 2, 3], [1, 2, 4]))
    made.trajectory[1]
    with pytest.raises(LossError, match=r"a\.h5 \(frame 2\): there is no atom of id 3"):
        made.trajectory[2]


# ---------------------------------------------------------------- selected
def test_the_atoms_that_all_frames_have(tmp_path):
    path = written(tmp_path / "a.h5", [9, 4, 2, 7], [2, 7, 9], [7, 3, 9, 4, 2], bonds=[(9, 2), (4, 2), (7, 9)])
    with pytest.warns(ConvertWarning, match="bonds change between frames; those of frame 0 are taken"):
        made = mda.Universe(path, select="common")
    assert made.atoms.ids.tolist() == [9, 2, 7]
    assert ids_in(made) == [[9.0, 2.0, 7.0]] * 3
    assert made.trajectory[1].velocities[:, 1].tolist() == [-9.125, -2.125, -7.125]
    assert sorted(bond.indices.tolist() for bond in made.bonds) == [[0, 1], [0, 2]]
    assert np.array_equal(made.trajectory.timeseries(), [ts.positions.copy() for ts in made.trajectory])
    only = made.select_atoms("id 7")
    assert made.trajectory.timeseries(atomgroup=only)[:, 0, 0].tolist() == [7.0, 7.125, 7.25]


def test_atoms_by_their_ids_in_the_order_given(tmp_path):
    made = mda.Universe(written(tmp_path / "a.h5", [1, 2, 3], [3, 2, 1, 4]), select=[3, 1])
    assert made.atoms.ids.tolist() == [3, 1]
    assert ids_in(made) == [[3.0, 1.0]] * 2


@pytest.mark.parametrize(
    ("lists", "select", "message"),
    [
        (([1, 2], [3, 4]), "common", "no atom is in all frames"),
        (([1, 2], [1, 2, 3]), [3], r"a\.h5 \(frame 0\): there is no atom of id 3"),
        (([1, 2], [1, 2, 2]), "common", r"a\.h5 \(frame 1\): a selection needs the ids of atoms, each its own"),
        (([1, 2], [1, 2]), "all", "select is 'common' or ids of atoms, not 'all'"),
        (([1, 2], [1, 2]), [-1], r"select is 'common' or ids of atoms, not \[-1\]"),
        (([1, 2], [1, 2]), [1.5], r"select is 'common' or ids of atoms, not \[1.5\]"),
    ],
)
def test_selections_that_cannot_be(tmp_path, lists, select, message):
    with pytest.raises(ValueError, match=message):
        mda.Universe(written(tmp_path / "a.h5", *lists), select=select)


def test_a_selection_without_ids(tmp_path):
    frames = [Frame({"atoms": {name: np.ones(count) for name in "xyz"}}) for count in (2, 3)]
    mc.write(tmp_path / "a.h5", frames, units=UNITS)
    with pytest.raises(ValueError, match="a selection needs the ids of atoms"):
        mda.Universe(tmp_path / "a.h5", select="common")


def test_a_selection_of_atoms_that_stay(tmp_path):
    made = mda.Universe(record(tmp_path / "a.h5", moved()), select=[22, 11, 21])
    assert made.atoms.names.tolist() == ["HW1", "OW", "OW"]
    assert [bond.indices.tolist() for bond in made.bonds] == [[0, 2]]
    assert len(made.trajectory) == 5


# ---------------------------------------------------------------- in their places
def test_atoms_that_change_places_keep_their_rows(tmp_path):
    made = mda.Universe(written(tmp_path / "a.h5", ORDER, sorted(ORDER), ORDER[::-1]))
    assert made.atoms.ids.tolist() == ORDER
    assert ids_in(made) == [[5.0, 3.0, 8.0, 1.0]] * 3
    assert [ts.velocities[0, 0] for ts in made.trajectory] == [5.0, 5.125, 5.25]
    assert np.array_equal(made.trajectory.timeseries(), [ts.positions.copy() for ts in made.trajectory])
    some = made.select_atoms("id 8 1")
    assert made.trajectory.timeseries(atomgroup=some)[1, :, 0].tolist() == [8.125, 1.125]


@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")  # of units that the dump does not state
@pytest.mark.parametrize("keep_order", [False, True])
def test_a_dump_in_the_order_of_its_file(tmp_path, keep_order):
    """Rows of a dump mean nothing: whether they are kept or sorted, an atom is one atom."""
    text = snapshots([["2 1 2 0 0", "1 1 1 0 0"], ["1 1 1.5 0 0", "2 1 2.5 0 0"]], columns="id type x y z")
    mc.convert(source_of(tmp_path, text, "in.dump"), tmp_path / "out.h5", keep_order=keep_order, units="real")
    made = mda.Universe(tmp_path / "out.h5", to_guess=())
    assert made.atoms.ids.tolist() == ([2, 1] if keep_order else [1, 2])
    one = made.select_atoms("id 2")
    assert [one.positions[0, 0] for _ in made.trajectory] == [2.0, 2.5]


def test_ids_that_are_not_their_own_tell_nothing(tmp_path):
    """Atoms of one id, as in files whose numbers wrap, stay in their order as long as nothing tells otherwise."""
    made = mda.Universe(written(tmp_path / "a.h5", [1, 1, 2], [1, 1, 2]))
    assert ids_in(made) == [[1.0, 1.0, 2.0]] * 2
    assert made.atoms.ids.tolist() == [1, 1, 2]
