"""A trajectory and its topology in two files."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError, OptionError
from molrec_convert.inputs import open_input
from molrec_convert.merge import Merger
from molrec_convert.model import Block, Box, Frame, Meta
from molrec_convert.options import Options
from molrec_convert.placement import Placement
from molrec_convert.records import open_record

from .converting import left_behind, run
from .datafiles import WATER, data_file
from .dumps import snapshot, snapshots

SYSTEM = data_file(
    "30 7 2 0.4 1 2.5 3; 10 7 1 -0.8 1 2 3; 20 7 2 0.4 1.5 2 3",
    style="full",
    types=2,
    before={"Masses": "1 15.9994; 2 1.008"},
    sections={"Bonds": "1 1 10 20; 2 1 10 30", "Velocities": "10 1 1 1; 20 2 2 2; 30 3 3 3"},
)
RUN = snapshots(["20 2 1.5 2 3; 30 2 1 2.5 3; 10 1 1 2 3", "10 1 1 2 4; 20 2 1.5 2 4; 30 2 1 2.5 4"])
XYZ = "3\nfirst\n{0} 1 2 3\n{1} 1.5 2 3\n{1} 1 2.5 3\n3\nsecond\n{0} 1 2 4\n{1} 1.5 2 4\n{1} 1 2.5 4\n"
PDB = "".join(
    f"ATOM  {serial:5d}  {name:<3s} HOH A   1    {x:8.3f}{y:8.3f}   3.000  1.00  0.00          {name[0]:>2s}\n"
    for serial, name, x, y in ((10, "O", 1, 2), (20, "H1", 1.5, 2), (30, "H2", 1, 2.5))
) + ("CONECT   10   20   30\nEND\n")


@pytest.fixture
def combined(tmp_path):
    """Convert a source with another file beside it: ``combined("a.data", text, "b.dump", text, "trajectory")``."""
    opened = []

    def make(source, text, other, other_text, role="trajectory", **options):
        (tmp_path / source).write_text(text)
        (tmp_path / other).write_text(other_text)
        target = tmp_path / "out.h5"
        report = convert(tmp_path / source, target, force=True, **{role: tmp_path / other}, **options)
        opened.append(open_record(target))
        return opened[-1], report

    yield make
    for record in opened:
        record.close()


def column(record, name, frame=0, block="atoms"):
    return record.trajectory[frame][block][name].tolist()


class TestWhatGoesWhere:
    @pytest.fixture(params=["trajectory", "topology"])
    def record(self, request, combined):
        pair = ("system.data", SYSTEM, "run.dump", RUN)
        return combined(*(pair if request.param == "trajectory" else (*pair[2:], *pair[:2])), request.param)[0]

    def test_what_holds_for_all_frames_stands_once(self, record):
        assert sorted(record.system["atoms"]) == ["charge", "element", "id", "mass", "mol_id", "type_id"]
        assert sorted(record.trajectory[0]["atoms"]) == sorted([*record.system["atoms"], "x", "y", "z"])
        assert list(record.trajectory.schema.blocks) == ["atoms"]
        assert sorted(record.trajectory.schema.blocks["atoms"].columns) == ["x", "y", "z"]

    def test_the_frames_are_those_of_the_trajectory(self, record):
        assert record.trajectory.step.tolist() == [0, 10]
        assert column(record, "z", 0) == [3, 3, 3]
        assert column(record, "z", 1) == [4, 4, 4]

    def test_rows_are_matched_by_id(self, record):
        assert column(record, "id") == [10, 20, 30]
        assert column(record, "element") == ["O", "H", "H"]
        assert column(record, "charge") == [-0.8, 0.4, 0.4]
        assert [column(record, end, 1, "bonds") for end in ("atomi", "atomj")] == [[0, 0], [1, 2]]

    def test_where_it_comes_from(self, record):
        assert record.meta["source"]["name"] == "run.dump"
        assert record.meta["source"]["sha256"]
        assert record.meta["topology"]["name"] == "system.data"
        assert record.meta["topology"]["format"] == "lammps-data"
        assert len(record.meta["topology"]["sha256"]) == 64

    def test_what_was_noticed_names_its_file(self, record):
        assert record.meta["convert"]["warnings"] == ["system.data: the elements are told by the masses: 1=O, 2=H"]

    def test_facts_of_both_sources_are_kept(self, record):
        assert record.system.meta["lammps_atom_style"] == "full"
        assert record.system.meta["lammps_columns"] == ["id", "type", "x", "y", "z"]


class TestOrders:
    def test_the_order_of_the_trajectory_holds(self, combined):
        record, _ = combined("system.data", SYSTEM, "run.dump", RUN, keep_order=True)
        assert column(record, "id") == [20, 30, 10]
        assert column(record, "charge") == [0.4, 0.4, -0.8]
        assert [column(record, end, 0, "bonds") for end in ("atomi", "atomj")] == [[2, 2], [0, 1]]
        assert column(record, "id", 1) == [10, 20, 30]
        assert [column(record, end, 1, "bonds") for end in ("atomi", "atomj")] == [[0, 0], [1, 2]]

    def test_by_row_where_one_has_no_ids(self, combined):
        record, report = combined("system.data", SYSTEM, "run.xyz", XYZ.format("O", "H"))
        assert column(record, "id") == [10, 20, 30]
        assert column(record, "charge", 1) == [-0.8, 0.4, 0.4]
        assert record.trajectory[1].box.vectors.diagonal().tolist() == [10, 10, 10]
        message = "run.xyz: the atoms are matched with those of system.data in their order, as one side has no ids"
        assert message in report.warnings

    def test_by_row_where_ids_repeat(self, combined):
        system = data_file("10 7 1 -0.8 1 2 3; 20 7 2 0.4 1.5 2 3; 20 7 2 0.4 1 2.5 3", style="full", types=2)
        record, report = combined("system.data", system, "run.dump", RUN)
        assert column(record, "id") == [10, 20, 30]
        assert any("matched" in text for text in report.warnings)

    def test_numbers_as_types_give_way_to_labels(self, combined):
        system = SYSTEM.replace("Masses", "Atom Type Labels\n\n1 OW\n2 HW\n\nMasses")
        record, _ = combined("system.data", system, "run.xyz", XYZ.format("1", "2"))
        assert column(record, "type") == ["OW", "HW", "HW"]
        assert column(record, "type_id") == [1, 2, 2]

    def test_a_protein_data_bank_file_as_topology(self, combined):
        record, report = combined("system.pdb", PDB, "run.dump", RUN)
        assert column(record, "name") == ["O", "H1", "H2"]
        assert column(record, "element", 1) == ["O", "H", "H"]
        assert [column(record, end, 1, "bonds") for end in ("atomi", "atomj")] == [[0, 0], [1, 2]]
        assert not any("--type-map" in text for text in report.warnings)

    def test_records_as_either(self, combined, tmp_path):
        (tmp_path / "system.data").write_text(SYSTEM)
        (tmp_path / "run.dump").write_text(RUN)
        convert(tmp_path / "system.data", tmp_path / "system.h5")
        convert(tmp_path / "run.dump", tmp_path / "run.h5")
        convert(tmp_path / "system.h5", tmp_path / "both.h5", trajectory=tmp_path / "run.h5")
        with open_record(tmp_path / "both.h5") as both:
            assert column(both, "charge", 1) == [-0.8, 0.4, 0.4]
            assert both.trajectory is not None
            assert both.system is not None
            assert both.trajectory.step.tolist() == [0, 10]
            assert list(both.system) == ["atoms", "bonds"]

    def test_the_first_frame_of_a_series_is_the_topology(self, combined):
        record, _ = combined("run.dump", RUN.replace("id type", "id mol"), "more.dump", RUN, "topology")
        assert len(record.trajectory) == 2
        assert column(record, "type_id") == [1, 2, 2]
        assert record.meta["topology"]["name"] == "more.dump"


class TestOptions:
    def test_frames_are_those_of_the_trajectory(self, combined):
        record, _ = combined("system.data", SYSTEM, "run.dump", RUN, frames="1")
        assert record.trajectory.step.tolist() == [10]

    def test_an_option_of_one_side(self, combined):
        system = SYSTEM.replace("Atoms # full", "Atoms")
        record, _ = combined("system.data", system, "run.xyz", XYZ.format("O", "H"), atom_style="full")
        assert column(record, "charge") == [-0.8, 0.4, 0.4]

    def test_images_are_those_of_the_trajectory(self, combined):
        run_ = snapshots(["10 1 1 2 3 1 0 0; 20 2 1.5 2 3 0 0 0; 30 2 1 2.5 3 0 0 0"], columns="id type x y z ix iy iz")
        system = SYSTEM.replace("2.5 3\n", "2.5 3 5 5 5\n").replace(" 2 3\n", " 2 3 5 5 5\n")
        record, _ = combined("system.data", system, "run.dump", run_, unwrap=True)
        assert column(record, "x") == [11, 1.5, 1]
        assert "ix" not in record.trajectory[0]["atoms"]

    def test_units_of_the_topology_are_those_of_the_trajectory(self, combined):
        system = data_file("1 1 10 2 1 2 3", style="sphere", title="x, units = nano")
        run_ = snapshot("1 1 1 2 3", units="metal")
        record, report = combined("system.data", system, "run.dump", run_, to_units="metal")
        assert column(record, "diameter") == [100]
        assert record.meta["units"]["length"] == "angstrom"
        assert not any("units" in text for text in report.warnings)

    def test_units_that_one_side_does_not_say(self, combined):
        _, report = combined("system.data", SYSTEM, "run.dump", RUN.replace("ITEM: T", "ITEM: UNITS\nreal\nITEM: T", 1))
        message = "the units of system.data are not known, and are taken for those of run.dump: --units says them"
        assert f"run.dump: {message}" in report.warnings

    def test_a_stream_as_trajectory(self, tmp_path):
        (tmp_path / "system.data").write_text(SYSTEM)
        convert(io.BytesIO(RUN.encode()), tmp_path / "out.h5", topology=tmp_path / "system.data")
        with open_record(tmp_path / "out.h5") as record:
            assert column(record, "charge") == [-0.8, 0.4, 0.4]

    def test_the_command(self, tmp_path):
        (tmp_path / "system.data").write_text(SYSTEM)
        (tmp_path / "run.dump").write_text(RUN)
        done = run("system.data", "out.h5", "--trajectory", "run.dump", cwd=tmp_path)
        assert (done.status, done.stdout) == (0, b"")
        assert done.stderr == "warning: system.data: the elements are told by the masses: 1=O, 2=H\n"
        done = run("run.dump", "back.data", "--topology", "system.data", "-q", cwd=tmp_path)
        assert done.status == 0
        assert "\nBonds\n\n1 1 10 20\n2 1 10 30\n" in (tmp_path / "back.data").read_text()

    def test_to_text(self, tmp_path):
        (tmp_path / "system.data").write_text(SYSTEM)
        (tmp_path / "run.dump").write_text(RUN)
        report = convert(tmp_path / "run.dump", tmp_path / "out.dump", topology=tmp_path / "system.data")
        assert "ITEM: ATOMS id type x y z mol q mass element\n10 1 1 2 3 7 -0.8" in (tmp_path / "out.dump").read_text()
        assert list(report.losses.losses) == ["bonds"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"topology": "system.data", "trajectory": "run.dump"}, "the source is the topology or the trajectory: "),
            ({"trajectory": "system.data"}, "the topology and the trajectory are both system.data"),
            ({"topology": "run.dump"}, "run.dump is a trajectory, and system.data a structure: they are in the wrong"),
            ({"trajectory": "run.dump", "guess": ["elements"]}, None),
            ({"trajectory": "run.dump", "keep_order": True}, None),
            ({"trajectory": "run.dump", "units": "foo"}, "there is no LAMMPS unit style 'foo'"),
            ({"trajectory": "missing.dump"}, "missing.dump"),
        ],
    )
    def test_what_does_not_fit(self, tmp_path, monkeypatch, options, message):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "system.data").write_text(SYSTEM)
        (tmp_path / "run.dump").write_text(RUN)
        (tmp_path / "run.xyz").write_text(XYZ.format("O", "H"))
        if message is None:
            convert("system.data", "out.h5", **options)
            return
        with pytest.raises((ConvertError, OSError)) as caught:
            convert("system.data", "out.h5", **options)
        assert message in str(caught.value)
        assert not (tmp_path / "out.h5").exists()

    def test_an_option_of_neither_side(self, tmp_path):
        (tmp_path / "one.dump").write_text(RUN)
        (tmp_path / "two.dump").write_text(RUN)
        with pytest.raises(OptionError, match=r"^--atom-style means nothing to lammps-dump$"):
            convert(tmp_path / "one.dump", tmp_path / "out.h5", topology=tmp_path / "two.dump", atom_style="full")


REFUSED = {
    "another id": (
        SYSTEM,
        RUN.replace("\n10 1 1 2 3", "\n11 1 1 2 3"),
        "run.dump (frame 0): system.data has no atom of id 11",
    ),
    "another id later": (
        SYSTEM,
        RUN.replace("\n10 1 1 2 4", "\n11 1 1 2 4"),
        "run.dump (frame 1): system.data has no atom of id 11",
    ),
    "fewer atoms": (
        SYSTEM,
        snapshots(["10 1 1 2 3; 20 2 1.5 2 3"]),
        "run.dump (frame 0): 2 atoms, system.data has 3: there is no atom of id 30 in run.dump",
    ),
    "fewer without ids": (
        SYSTEM,
        snapshots(["1 1 2 3; 2 1.5 2 3"], columns="type x y z"),
        "run.dump (frame 0): 2 atoms, system.data has 3, and not all have ids to match them by",
    ),
    "another type": (
        SYSTEM,
        RUN.replace("\n20 2", "\n20 1"),
        "run.dump: the atom of id 20 has the type 1, in system.data 2",
    ),
    "another element": (
        SYSTEM,
        snapshots(["10 O 1 2 3; 20 N 1.5 2 3; 30 H 1 2.5 3"], columns="id element x y z"),
        "run.dump: the atom of id 20 has the element N, in system.data H",
    ),
    "another mass": (
        SYSTEM,
        snapshots(["10 15.9995 1 2 3; 20 1.008 1.5 2 3; 30 1.009 1 2.5 3"], columns="id mass x y z"),
        "run.dump: the atom of id 30 has the mass 1.009, in system.data 1.008",
    ),
    "another type as text": (
        SYSTEM,
        XYZ.format("1", "3"),
        "run.xyz: the atom of row 1 has the type 3, in system.data 2",
    ),
    "lj": (
        SYSTEM,
        RUN.replace("ITEM: T", "ITEM: UNITS\nlj\nITEM: T", 1),
        "run.dump (frame 0): its numbers and those of system.data are not both without dimension",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_do_not_belong_together(name, combined, tmp_path):
    system, run_, message = REFUSED[name]
    if name == "lj":
        system = system.replace("title", "title, units = real", 1)
    with pytest.raises(FormatError) as caught:
        combined("system.data", system, message.split(":")[0].split(" ")[0], run_)
    assert str(caught.value) == message
    assert left_behind(tmp_path) == []
    assert not (tmp_path / "out.h5").exists()


def test_types_may_change_later(combined):
    record, _ = combined("system.data", SYSTEM, "run.dump", RUN.replace("\n20 2 1.5 2 4", "\n20 1 1.5 2 4"))
    assert column(record, "type_id", 0) == [1, 2, 2]
    assert column(record, "type_id", 1) == [1, 1, 2]


class TestObjects:
    """What a topology gives is the same object in every frame, so that a frame costs nothing but itself."""

    @pytest.fixture
    def static(self):
        atoms = {
            "id": np.arange(1, 4, dtype=np.uint64), "mass": np.ones(3), "element": ["O", "H", "H"], "x": np.zeros(3),
            "spx": np.zeros(3),
        }  # fmt: skip
        bonds = {"atomi": np.array([0, 0], dtype=np.uint64), "atomj": np.array([1, 2], dtype=np.uint64)}
        frame = Frame({"atoms": atoms, "bonds": bonds}, box=Box.orthogonal(5.0))
        return Snapshot(frame, about=Meta({"made_by": {"a": [1, 2]}}), notes=[])

    def frames(self, ids, count=3):
        for k in range(count):
            columns = {"id": np.array(ids, dtype=np.uint64), "x": np.full(len(ids), float(k))}
            yield Snapshot(
                Frame({"atoms": columns}), step=k, notes=[Note("no elements", lacks="element"), Note("other")]
            )

    @pytest.mark.parametrize("ids", [[1, 2, 3], [3, 1, 2]])
    def test_they_are_shared(self, static, ids):
        merger = Merger(static, "a", "b")
        merged = [merger.merge(each) for each in self.frames(ids)]
        for each in merged[1:]:
            for name in ("id", "mass", "element"):
                assert each.frame["atoms"].column(name) is merged[0].frame["atoms"].column(name)
            assert each.frame["bonds"] is merged[0].frame["bonds"]
            assert each.about["made_by"] is merged[0].about["made_by"]
            assert each.frame.box is static.frame.box
            assert [note.message for note in each.notes] == ["other"]
        assert "spx" not in merged[0].frame["atoms"]

    def test_a_layout_learns_a_frame_without_a_look_at_them(self, static, monkeypatch):
        merger = Merger(static, "a", "b")
        placement = Placement()
        compared = []

        def same_bits(one, other):
            compared.append(one)
            return np.array_equal(one, other)

        monkeypatch.setattr("molrec_convert.model.column.same_bits", same_bits)
        for each in self.frames([1, 2, 3]):
            placement.learn(merger.merge(each))
        assert not compared
        system = placement.system()
        assert system is not None
        assert sorted(system["atoms"]) == ["element", "id", "mass"]

    def test_threads(self, static):
        merger = Merger(static, "a", "b")
        many = [each for _ in range(50) for each in self.frames([2, 3, 1])]
        with ThreadPoolExecutor(8) as executor:
            merged = list(executor.map(merger.merge, many))
        assert all(each.frame["atoms"].column("mass") is merged[0].frame["atoms"].column("mass") for each in merged)

    def test_a_topology_without_atoms(self):
        with pytest.raises(FormatError, match=r"^a: there are no atoms in it, so it is no topology$"):
            Merger(Snapshot(Frame()), "a", "b")
        with pytest.raises(FormatError, match=r"^b: there are no atoms in a frame$"):
            Merger(Snapshot(Frame({"atoms": Block(count=0)})), "a", "b").merge(Snapshot(Frame()))

    def test_no_atoms_on_either_side(self):
        merger = Merger(Snapshot(Frame({"atoms": Block(count=0)})), "a", "b")
        assert merger.merge(Snapshot(Frame({"atoms": Block(count=0)}))).frame["atoms"].count == 0


def test_every_option_that_an_input_takes_is_one(tmp_path):
    (tmp_path / "a.data").write_text(WATER)
    found = open_input(tmp_path / "a.data", stream=None, format_name=None, options=Options())
    try:
        assert found.takes <= {field for field in Options.__slots__}  # noqa: C416
    finally:
        found.close()
