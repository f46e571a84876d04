"""OVITO opens records."""

from importlib.metadata import entry_points

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame

from ..frames import ROTATED, text, u64
from .universes import UNITS, bonds, frame, moved, record, water

io = pytest.importorskip("ovito.io", reason="OVITO is 500 MB and needs libraries of a desktop", exc_type=ImportError)


@pytest.fixture
def opened(tmp_path):
    """Write frames and open them."""

    def write_and_open(*frames, name="run.h5", **options):
        return io.import_file(record(tmp_path / name, list(frames), **options))

    return write_and_open


def types_of(container, name="Particle Type"):
    """The names of the types of each row."""
    return [container[name].type_by_id(number).name for number in container[name][...].tolist()]


# ---------------------------------------------------------------- found
def test_the_entry_point_is_there():
    (found,) = [each for each in entry_points(group="OVITO.FileReader") if each.dist.name == "molrec-convert"]
    assert issubclass(found.load(), io.FileReaderInterface)


def test_files_that_are_no_records_are_not_claimed(tmp_path):
    from molrec_convert.integrations.ovito import MolRecFileReader

    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert not MolRecFileReader.detect(str(tmp_path / "a.h5"))
    (tmp_path / "b.dat").write_bytes((tmp_path / record(tmp_path / "b.h5", [frame()])).read_bytes())
    assert MolRecFileReader.detect(str(tmp_path / "b.dat"))


# ---------------------------------------------------------------- frames
def test_frames_particles_and_bonds(opened):
    pipeline = opened(*moved())
    assert pipeline.source.num_frames == 5
    data = pipeline.compute(3)
    assert data.particles.count == 6
    np.testing.assert_array_equal(data.particles["Position"], np.stack([water(0.75)[axis] for axis in "xyz"], axis=1))
    assert data.particles["Particle Identifier"][...].tolist() == [11, 12, 13, 21, 22, 23]
    assert types_of(data.particles) == ["O", "H", "H"] * 2
    assert data.particles["Charge"][...].tolist() == [-0.75, 0.375, 0.375] * 2
    assert list(data.particles["name"][...]) == ["OW", "HW1", "HW2"] * 2
    assert data.particles["res_id"][...].tolist() == [1, 1, 1, 2, 2, 2]
    assert data.particles.bonds["Topology"][...].tolist() == [[0, 1], [0, 2], [3, 4], [3, 5]]
    assert (data.attributes["Timestep"], data.attributes["Time"]) == (3, 1.5)
    assert data.attributes["units"] == UNITS
    assert {kind.name: kind.mass for kind in data.particles["Particle Type"].types} == {"O": 16.0, "H": 1.0}


@pytest.mark.parametrize("name", ["run.mrec.h5", "run.mrec.zip", "run"])
def test_other_names_and_forms(tmp_path, name):
    path = record(tmp_path / "in.h5", moved())
    mc.convert(path, tmp_path / name, to_format=None if "." in name else "molrec-h5")
    assert io.import_file(str(tmp_path / name)).compute(4).particles["Position"][0, 0] == 1.0


def test_one_frame(opened):
    pipeline = opened(frame(meta={"pe": -2.5}))
    assert pipeline.source.num_frames == 1
    assert pipeline.compute().attributes["pe"] == -2.5


def test_frames_of_other_atoms_leave_nothing_behind(opened):
    moving = {name: np.ones(6) for name in ("vx", "vy", "vz")}
    small = Frame({"atoms": water().rows(slice(3))})
    pipeline = opened(frame(meta={"pe": -1.0}, **moving), small, frame(**moving), units=UNITS)
    for _ in range(2):
        first, second = pipeline.compute(0), pipeline.compute(1)
        assert {"Velocity"} <= set(first.particles.keys())
        assert first.attributes["pe"] == -1.0
        assert second.particles.count == 3
        assert "Velocity" not in second.particles
        assert "pe" not in second.attributes
        assert second.cell is None
        assert second.particles.bonds.count == 0
        assert pipeline.compute(2).particles.bonds.count == 4


def test_a_record_stays_open_until_it_is_another(tmp_path):
    from molrec_convert.integrations.ovito import MolRecFileReader

    path, reader = record(tmp_path / "a.h5", [frame()]), MolRecFileReader()
    first = reader._opened(path)
    assert reader._opened(path) is first
    mc.write(path, frame(5.0), units=UNITS, force=True)
    assert reader._opened(path).frame["atoms"]["x"][0] == 5.0


# ---------------------------------------------------------------- cells
def test_a_cell_with_its_origin_and_periodic_axes(opened):
    box = Box.from_rows(ROTATED, origin=[1.0, -2.0, 0.5], boundary=[True, False, True])
    data = opened(frame(box=box)).compute()
    np.testing.assert_array_equal(data.cell[:, :3], np.transpose(ROTATED))
    assert data.cell[:, 3].tolist() == [1.0, -2.0, 0.5]
    assert data.cell.pbc == (True, False, True)
    assert opened(frame(box=Box.undefined([1.0, 2.0, 3.0])), name="b.h5").compute().cell is None


def test_bonds_lead_to_the_nearest_image(opened):
    atoms = Block({"x": [0.5, 9.5, 5.0], "y": [0.5, 9.5, 5.0], "z": [0.5, 9.5, 5.0]})
    block = Block({"atomi": u64(0, 1, 0), "atomj": u64(1, 0, 2)})
    box = Box.orthogonal(10.0, boundary=[True, True, False])
    found = opened(Frame({"atoms": atoms, "bonds": block}, box=box)).compute().particles.bonds
    assert found["Periodic Image"][...].tolist()[:2] == [[-1, -1, 0], [1, 1, 0]]


# ---------------------------------------------------------------- columns
def test_columns_under_the_standard_names(opened):
    numbers = {name: np.arange(6.0) + k for k, name in enumerate(("vx", "vy", "vz", "fx", "fy", "fz"))}
    numbers |= {
        name: np.arange(6.0) * k for k, name in enumerate(("mux", "muy", "muz", "quatw", "quati", "quatj", "quatk"))
    }
    images = {name: np.arange(6, dtype="i4") - 2 for name in ("ix", "iy", "iz")}
    found = (
        opened(frame(radius=np.full(6, 0.5), mol_id=u64(*[1] * 3, *[2] * 3), **numbers, **images)).compute().particles
    )
    assert found["Velocity"][2].tolist() == [2, 3, 4]
    assert found["Force"][2].tolist() == [5, 6, 7]
    assert found["Dipole Orientation"][1].tolist() == [0, 1, 2]
    assert found["Orientation"][1].tolist() == [4, 5, 6, 3]
    assert found["Periodic Image"][0].tolist() == [-2, -2, -2]
    assert found["Molecule Identifier"][...].tolist() == [1, 1, 1, 2, 2, 2]
    assert found["Radius"][...].tolist() == [0.5] * 6
    assert not {"vx", "mux", "quatw", "ix", "radius", "mol_id"} & set(found.keys())


def test_all_other_columns_under_their_own_names(opened):
    given = {
        "flag": np.array([True, False] * 3),
        "small": np.arange(6, dtype="i1"),
        "large": np.array([2**40, -1, 0, 1, 2, 3]),
        "count": u64(*range(6)),
        "vector": np.arange(18.0).reshape(6, 3),
        "tensor": np.arange(54.0).reshape(6, 3, 3),
        "wave": np.arange(6) * (1 + 2j),
        "c_1.5": np.arange(6.0),
        "Color": np.ones((6, 3)) * 0.5,
        "Structure Type": np.arange(6.0) / 2,
        "Position": np.arange(6.0),
        "gap": Column([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], valid=np.array([True] * 5 + [False])),
    }
    found = opened(frame(**given)).compute().particles
    assert found["flag"][...].tolist() == [1, 0] * 3
    assert found["large"][0] == 2**40
    assert found["count"].dtype == np.int64
    assert found["vector"][1].tolist() == [3, 4, 5]
    assert found["tensor"].shape == (6, 9)
    assert found["wave"][3].tolist() == [3, 6]
    assert found["c_1_5"][...].tolist() == list(range(6))
    assert found["Color"].dtype == np.float32
    assert found["Structure Type column"][...].tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert found["Position"].shape == (6, 3)
    assert found["Position column"][...].tolist() == list(range(6))
    assert np.isnan(found["gap"][5])


@pytest.mark.parametrize(
    ("given", "names", "numbers"),
    [
        ({"element": text("C", "O", "C")}, ["C", "O", "C"], [6, 8, 6]),
        ({"type": text("b", "a", "b")}, ["b", "a", "b"], None),
        ({"type_id": u64(3, 1, 3), "type": text("3", "1", "3")}, ["", "", ""], [3, 1, 3]),
        ({"type_id": u64(3, 1, 3), "type": text("b", "a", "b")}, ["b", "a", "b"], [3, 1, 3]),
        (
            {"type_id": u64(3, 1, 3), "element": text("C", "O", "C"), "type": text("b", "a", "b")},
            ["C", "O", "C"],
            [3, 1, 3],
        ),
        ({"element": text("C", "Xx", "C")}, ["C", "Xx", "C"], None),
        ({"name": text("OW", "HW1", "HW2")}, ["OW", "HW1", "HW2"], None),
        ({"name": text("N", "C", "N")}, ["N", "C", "N"], [2, 1, 2]),  # names are no elements
        ({"type": text("b", "a", "b"), "name": text("OW", "HW1", "HW2")}, ["b", "a", "b"], None),
        ({"type_id": u64(3, 1, 3), "name": text("C", "O", "C")}, ["C", "O", "C"], [3, 1, 3]),
        ({"type_id": u64(3, 1, 3), "name": text("C1", "O", "C2")}, ["", "O", ""], [3, 1, 3]),
    ],
)
def test_types_of_particles(opened, given, names, numbers):
    made = Frame({"atoms": {"x": np.zeros(3), "y": np.zeros(3), "z": np.zeros(3), **given}})
    found = opened(made).compute().particles
    assert types_of(found) == names
    assert numbers is None or found["Particle Type"][...].tolist() == numbers


def test_types_are_the_same_in_every_frame(opened):
    frames = [Frame({"atoms": {"element": text(*words), "x": np.zeros(len(words)), "y": np.zeros(len(words)),
                               "z": np.zeros(len(words))}}) for words in ("OH", "CHO", "H")]  # fmt: skip
    pipeline = opened(*frames)
    assert [types_of(pipeline.compute(k).particles) for k in (0, 1, 2, 0)] == [
        ["O", "H"],
        ["C", "H", "O"],
        ["H"],
        ["O", "H"],
    ]


def test_connections_with_their_types(opened):
    made = frame()
    made["bonds"] = Block({**bonds().columns, "type": text("OH", "OH", "HO", "HO"), "bond_number": u64(1, 1, 1, 2)})
    made["angles"] = Block({"atomi": u64(1, 4), "atomj": u64(0, 3), "atomk": u64(2, 5), "type_id": u64(1, 1)})
    made["dihedrals"] = Block({end: u64(k) for k, end in enumerate(("atomi", "atomj", "atomk", "atoml"))})
    found = opened(made).compute().particles
    assert types_of(found.bonds, "Bond Type") == ["OH", "OH", "HO", "HO"]
    assert found.bonds["bond_number"][...].tolist() == [1, 1, 1, 2]
    assert found.angles["Topology"][...].tolist() == [[1, 0, 2], [4, 3, 5]]
    assert found.angles["Angle Type"][...].tolist() == [1, 1]
    assert found.dihedrals["Topology"][...].tolist() == [[0, 1, 2, 3]]


# ---------------------------------------------------------------- grids
def test_a_field_is_where_ovito_itself_puts_it(tmp_path, sample_data):
    source = sample_data / "cube" / "silicon_density.cube"
    mc.convert(source, tmp_path / "out.h5")
    own = next(iter(io.import_file(str(source)).compute().grids.values()))
    found = io.import_file(str(tmp_path / "out.h5")).compute().grids["grid"]
    assert (tuple(found.shape), found.grid_type) == (tuple(own.shape), own.grid_type)
    steps = [np.array(grid.shape) - (not any(grid.domain.pbc)) for grid in (found, own)]  # an open axis ends at a point
    np.testing.assert_allclose(found.domain[:, :3] / steps[0], own.domain[:, :3] / steps[1], rtol=1e-6)
    np.testing.assert_allclose(found.domain[:, 3], own.domain[:, 3], rtol=1e-6)
    values = found[next(iter(found.keys()))][...]
    theirs = own[next(iter(own.keys()))][...]
    np.testing.assert_allclose(
        values / values[0], theirs / theirs[0], rtol=1e-4
    )  # they scale them, R-33 of the reports
