"""Atoms of all kinds go through a record file and come back the same to the last bit."""

import warnings

import ase.build
import numpy as np
import pytest
from ase.build import bulk, molecule
from ase.collections import dcdft, g2, s22
from ase.data import chemical_symbols, reference_states
from hypothesis import given, settings
from hypothesis import strategies as st

import molrec_convert as mc
from molrec_convert.adapters.ase_atoms import from_atoms, to_atoms

from ..atoms import assert_same_atoms, random_atoms
from ..records.builders import check_with_arbiter

pytestmark = pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
SEEDS, TOGETHER = 240, 4


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned here."""


def assert_through_a_file(folder, atoms):
    """One Atoms as a frame, several as a trajectory: from memory, from the file, and from each frame alone."""
    several = atoms if isinstance(atoms, list) else [atoms]
    made, target = mc.from_ase(atoms), folder / "out.h5"
    mc.write(target, made, force=True)
    if isinstance(atoms, list):
        check_with_arbiter(target)
    with mc.open(target) as record:
        for source in (made, record):
            frames = [source.frame] if source.trajectory is None else list(source.trajectory)
            for way, found in (("together", source.to_ase(slice(None))), ("alone", [each.to_ase() for each in frames])):
                for k, (one, other) in enumerate(zip(several, found, strict=True)):
                    assert_same_atoms(one, other, f"{way} {k}")


@pytest.mark.parametrize("seed", range(0, SEEDS, TOGETHER))
def test_random_atoms(tmp_path, seed):
    """Each alone, and then together in a trajectory, where their columns, types and keys differ."""
    images = [random_atoms(seed + k) for k in range(TOGETHER)]
    for image in images:
        assert_through_a_file(tmp_path, image)
    assert_through_a_file(tmp_path, images)


def test_frames_of_one_system(tmp_path):
    """As a run makes them: the same atoms, which move."""
    rng = np.random.default_rng(7)
    first = random_atoms(35)
    images = [first.copy() for _ in range(30)]
    for k, image in enumerate(images):
        image.positions += rng.normal(size=image.positions.shape)
        image.info["k"] = k
    assert_through_a_file(tmp_path, images)
    with mc.open(tmp_path / "out.h5") as record:
        assert set(record.trajectory.schema.blocks["atoms"].columns) <= {"x", "y", "z", "vx", "vy", "vz", "momenta"} | {
            name for name, column in record.trajectory[0]["atoms"].columns.items() if column.dtype[0] in "fc"
        }


# ---------------------------------------------------------------- all that ASE makes
@pytest.mark.parametrize("collection", [g2, s22, dcdft], ids=lambda collection: collection.name)
def test_collections(tmp_path, collection):
    images = list(collection)
    assert len(images) > 20
    assert_through_a_file(tmp_path, images)


def elements():
    found = []
    for symbol, state in zip(chemical_symbols[1:], reference_states[1:], strict=False):
        if state is not None and state.get("symmetry") in ("fcc", "bcc", "hcp", "sc", "diamond", "bct", "rhombohedral"):
            try:
                found.append(bulk(symbol))
            except (ValueError, RuntimeError):  # a structure of several atoms
                continue
    return found


def surfaces():
    names = [name for name in dir(ase.build) if name.startswith(("fcc", "bcc", "hcp", "diamond"))]
    symbols = {"fcc": "Cu", "bcc": "Fe", "hcp": "Mg", "dia": "Si"}
    sizes = {"fcc211": (3, 2, 2), "hcp10m10": (2, 2, 2), "bcc111_root": 3, "fcc111_root": 3, "hcp0001_root": 3}
    made = []
    for name in names:
        size = sizes.get(name, (2, 2, 2))
        arguments = (size, (1, 1, 2)) if isinstance(size, int) else (size,)
        made.append(getattr(ase.build, name)(symbols[name[:3]], *arguments, vacuum=4.0))
    slab = ase.build.fcc111("Cu", (2, 2, 2), vacuum=5.0)
    ase.build.add_adsorbate(slab, "O", 1.0, "fcc")
    return [*made, slab, ase.build.surface(bulk("Cu", cubic=True), (2, 1, 1), 3, vacuum=5.0)]


def others():
    return [
        ase.build.nanotube(3, 3, length=2),
        ase.build.graphene_nanoribbon(2, 3, saturated=True, vacuum=3.0),
        ase.build.graphene(size=(2, 2, 1), vacuum=5.0),
        ase.build.mx2("MoS2", size=(2, 2, 1), vacuum=5.0),
        ase.build.make_supercell(bulk("Si"), [[1, 1, 0], [0, 1, 1], [1, 0, 1]]),
        ase.build.bulk("NaCl", "rocksalt", a=5.6, cubic=True),
        ase.build.cut(bulk("Cu", cubic=True), (1, 1, 0), (0, 1, 0), nlayers=2),
        ase.build.stack(bulk("Cu", cubic=True), bulk("Ag", cubic=True), maxstrain=None),
        molecule("C60"),
    ]


@pytest.mark.parametrize("make", [elements, surfaces, others])
def test_what_ase_builds(tmp_path, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ASE itself
        images = make()
    for image in images:
        assert_through_a_file(tmp_path, image)
    assert_through_a_file(tmp_path, images)


# ---------------------------------------------------------------- any value
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=4)
        | st.tuples(inner, inner, inner)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.text() | st.integers(), VALUES, max_size=4))
def test_any_info(info):
    atoms = molecule("H2")
    atoms.info = info
    snapshot = from_atoms(atoms)
    assert snapshot.notes == []
    assert_same_atoms(atoms, to_atoms(snapshot))
