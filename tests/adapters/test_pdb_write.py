"""PDB: what is written."""

import re

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertWarning, FormatError, LossError, LossWarning
from molrec_convert.model import Block, Box, Column, Frame

from ..pdbs import CUBE, THREE, atom, model, pair, text

TURNED = np.array([[0.0, 4.0, 4.0], [4.0, 0.0, 4.0], [4.0, 4.0, 0.0]])


def atoms(count=3, **columns):
    """Carbon atoms on a line along x."""
    zeros = np.zeros(count)
    return {"x": np.arange(count, dtype="f8"), "y": zeros, "z": zeros, "element": ["C"] * count, **columns}


@pytest.fixture
def written(tmp_path):
    def written(data, **options):
        mc.write(tmp_path / "out.pdb", data, force=True, **options)
        return (tmp_path / "out.pdb").read_text()

    return written


@pytest.fixture
def again(converted, text_of):
    """A text that was made a record and written."""
    return lambda data, **options: text_of(converted(data, "in.pdb"), "back.pdb", **options)


class TestLines:
    @pytest.mark.filterwarnings("ignore:not carried by pdb. digits of")
    def test_a_line(self, written):
        frame = Frame(
            {
                "atoms": {
                    "record_type": ["ATOM", "HETATM"], "id": np.array([1, 99999], "u8"), "name": ["CA", "CA"],
                    "altloc": ["", "B"], "res_name": ["ALA", "CA"], "chain": ["A", ""], "icode": ["", "C"],
                    "x": [1.0, -999.999], "y": [-0.0004, 9999.999], "z": [0.0625, 3.0],
                    "res_id": np.array([1, 12], "u8"), "occupancy": [1.0, 0.255], "b_factor": [12.345, -1.0],
                    "segid": ["", "WT4"], "element": ["C", "Ca"],
                    "formal_charge": np.array([-1, 2]),
                }
            }
        )  # fmt: skip
        assert written(frame) == text(
            "ATOM      1  CA  ALA A   1       1.000  -0.000   0.062  1.00 12.35           C1-",
            "HETATM99999 CA  B CA    12C   -999.9999999.999   3.000  0.26 -1.00      WT4 CA2+",
            "END",
        )

    def test_the_source_again(self, again):
        data = text(
            "HEADER    A PROTEIN",
            CUBE,
            atom(1, (1428.327, -130.277, -624.974), name=" N  ", element="N", charge="1+"),
            atom(2, name="CA  ", residue="LIG", record="HETATM", altloc="A", occupancy="", b_factor="", segid="S"),
            "ANISOU    2 CA  ALIG A   1     2406   1892   1614    198    519   -328  S    C  ",
            "TER       3      LIG A   1",
            atom(9, residue="TIP3", chain="", number=-12, icode="B", element="", name=" Q  ", b_factor="999.99"),
            atom("*****", number="", chain="", element="X", name="Q1  "),
            "END",
        )
        assert again(data) == data

    def test_numbers_beyond_the_columns(self, written):
        ids = np.array([99999, 100000, 43770016], "u8")
        found = written(Frame({"atoms": atoms(id=ids, res_id=np.array([9999, 10000, 1223056], "u8"))}))
        assert [line[6:11] + line[22:26] for line in found.splitlines()[:3]] == ["999999999", "A0000A000", "a0000a000"]

    def test_other_sources(self, written):
        plain = {name: values for name, values in atoms(2).items() if name != "element"}
        frame = Frame({"atoms": {**plain, "type": ["OW", "HW"], "atomic_number": np.array([8, 1], "u8")}})
        with pytest.warns(LossWarning, match=r"not carried by pdb: name of atoms\.type$"):
            found = written(frame)
        assert found == text(
            "ATOM      1  OW  UNK     1       0.000   0.000   0.000  1.00  0.00           O  ",
            "ATOM      2  HW  UNK     1       1.000   0.000   0.000  1.00  0.00           H  ",
            "END",
        )
        assert written(Frame({"atoms": plain})).startswith("ATOM      1  X   UNK     1 ")
        assert written(Frame({"atoms": atoms(1, element=["Fe"])})).startswith("ATOM      1 FE   UNK     1 ")

    def test_types_that_are_no_names(self, written):
        frame = Frame({"atoms": atoms(2, type=["C", "carbon"])})
        with (
            pytest.warns(ConvertWarning, match="types are no names of up to 4 characters; atoms are called by their"),
            pytest.warns(LossWarning, match=r"not carried by pdb: atoms\.type$"),
        ):
            assert written(frame).startswith("ATOM      1  C   UNK ")

    def test_no_atoms(self, written):
        none = Frame({"atoms": {"x": np.zeros(0), "y": np.zeros(0), "z": np.zeros(0)}}, box=Box.orthogonal(10.0))
        assert written(none) == model(1, CUBE)
        assert written(Frame()) == model(1)

    def test_units(self, written):
        found = written([Frame({"atoms": atoms(2)})], units={"length": "nm"})
        assert found.splitlines()[1][30:38] == "  10.000"

    @pytest.mark.filterwarnings("ignore:not carried by pdb. digits of")
    def test_factors_that_are_too_large(self, written):
        found = written(Frame({"atoms": atoms(3, b_factor=[1234.56, 99999.5, -123.456])}))
        assert [line[60:66] for line in found.splitlines()[:3]] == ["1234.6", "100000", "-123.5"]


# columns of one atom, and why they are refused
REFUSED = [
    ({"x": [12345.678]}, "atom 1: x = 12345.678 does not fit the 8 columns of a position"),
    ({"y": [9999.9996]}, "atom 1: y = 9999.9996 does not fit the 8 columns of a position"),
    ({"z": [-1000.0]}, "atom 1: z = -1000.0 does not fit the 8 columns of a position"),
    ({"b_factor": [1e7]}, "atom 1: b_factor = 10000000.0 does not fit 6 columns"),
    ({"name": ["ABCDE"]}, "atom 1: name 'ABCDE' does not fit the 4 columns of the format"),
    ({"res_name": ["LIGND"]}, "atom 1: res_name 'LIGND' does not fit the 4 columns of the format"),
    ({"chain": ["AA"]}, "atom 1: chain 'AA' does not fit the 1 columns of the format"),
    ({"segid": ["Å"]}, "atom 1: segid 'Å' does not fit ASCII"),
    ({"formal_charge": np.array([10])}, "atom 1: formal_charge '10+' does not fit the 2 columns of the format"),
    ({"res_id": np.array([2436112], "u8")}, "atom 1: res_id 2436112 does not fit 4 columns"),
    ({"res_seq": np.array([-1000])}, "atom 1: res_id -1000 does not fit 4 columns"),
    ({"anisou": np.full((1, 6), 10**8)}, "atom 1: anisou does not fit"),
    ({"x": Column([0.0], valid=[False])}, "atom 1 has no x"),
]


@pytest.mark.parametrize(("columns", "message"), REFUSED)
def test_what_does_not_fit(tmp_path, columns, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        mc.write(tmp_path / "out.pdb", Frame({"atoms": {**atoms(1), **columns}}))
    assert list(tmp_path.iterdir()) == []


def test_atoms_without_positions(tmp_path):
    with pytest.raises(FormatError, match="the atoms have no positions"):
        mc.write(tmp_path / "out.pdb", Frame({"atoms": {"name": ["CA"]}}))


class TestModels:
    def test_every_frame_is_a_model(self, again, written):
        """R-03: n frames are n pairs of MODEL and ENDMDL."""
        assert again(THREE) == THREE.removesuffix("END\n")
        for count in (2, 3, 7):
            found = written([Frame({"atoms": atoms()}) for _ in range(count)])
            assert re.findall(r"^MODEL +(\d+)$", found, re.MULTILINE) == [str(k + 1) for k in range(count)]
            assert found.count("\nENDMDL\n") == count
            assert "\nEND\n" not in found

    def test_one_frame_is_a_model_where_it_was_one(self, again):
        assert again(text(*pair(), "END")) == text(*pair(), "END")
        assert again(model(4, *pair()) + "END\n") == model(4, *pair())
        assert again(THREE, frames="1") == model(2, *pair(0.5))

    def test_text_of_models(self, again):
        data = "TITLE     T\n" + model(1, "COMPND    one", *pair()) + model(2, "COMPND    two", *pair(1))
        assert again(data) == data

    def test_text_among_the_atoms_of_one_frame(self, again):
        """It is not read as the header, wherever it stood."""
        one, other = pair()
        expected = text("TITLE     T", one, other, "REMARK    within", "REMARK    behind", "END")
        assert again(text("TITLE     T", one, "REMARK    within", other, "REMARK    behind", "END")) == expected
        assert again(expected) == expected

    def test_models_of_other_sizes(self, again):
        data = model(1, *pair()) + model(2) + model(3, atom(9))
        assert again(data) == data

    def test_times(self, written, again):
        frames = [Frame({"atoms": atoms(1)}) for _ in range(2)]
        found = written(frames, step=[0, 500], time=[0.0, 0.125], units={"time": "ps"})
        assert re.findall("^TITLE.*", found, re.MULTILINE) == [
            "TITLE     t= 0.0 step= 0",
            "TITLE     t= 0.125 step= 500",
        ]
        assert again(found) == found
        assert "t= 0.125 step= 500" in written(frames, step=[0, 500], time=[0.0, 125.0], units={"time": "fs"})
        found = written(frames, step=[7, 8])
        assert re.findall("^TITLE.*", found, re.MULTILINE) == ["TITLE     step= 7", "TITLE     step= 8"]
        assert "TITLE" not in written(frames, step=[0, 1])

    def test_times_of_the_source_stay_as_they_are(self, again):
        data = "".join(model(k + 1, f"TITLE     Water t={k:10.5f} step= {10 * k}", *pair()) for k in range(3))
        assert again(data) == data
        data = "".join(model(k + 1, f"REMARK    Step {k}, time = {k / 2:.3f}, E = -17.1", *pair()) for k in range(3))
        assert again(data) == data


class TestCells:
    def test_numbers_of_the_source(self, again):
        cell = "CRYST1   27.240   31.870   34.230  88.52 108.53 111.89 P 21 21 2     4"
        assert again(text(cell, *pair(), "END")) == text(cell, *pair(), "END")
        bare = "CRYST1   27.240   31.870   34.230  88.52 108.53 111.89"
        assert again(text(bare, *pair(), "END")) == text(bare, *pair(), "END")
        exact = "CRYST1 27.24012 31.87001   34.230 88.523108.531 111.89 P 1"
        assert again(text(exact, *pair(), "END")) == text(exact, *pair(), "END")

    def test_cells_of_models(self, again):
        data = "".join(model(k + 1, f"CRYST1{8 - k:9.3f}{CUBE[15:]}", *pair()) for k in range(3))
        assert again(data) == data

    def test_a_changed_cell(self, converted, written):
        made = converted(text("SCALE1      0.100000  0.000000  0.000000        0.00000", CUBE, *pair()), "in.pdb")
        frame = made.record.frame
        assert written(frame).splitlines()[0].startswith("SCALE1")
        frame.box = Box.orthogonal([20.0, 10.0, 10.0])
        assert (
            written(frame).splitlines()[0] == "CRYST1   20.000   10.000   10.000  90.00  90.00  90.00 P 1           1"
        )

    @pytest.mark.filterwarnings("ignore:not carried by pdb. digits of")
    def test_a_cell_of_another_source(self, written):
        frame = Frame({"atoms": atoms(1)}, box=Box(np.array([[10.0, -5, 0], [0, 75**0.5, 0], [0, 0, 15]])))
        assert (
            written(frame).splitlines()[0] == "CRYST1   10.000   10.000   15.000  90.00  90.00 120.00 P 1           1"
        )

    def test_no_cell(self, again, written):
        dummy = "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1"
        assert again(text(dummy, *pair(), "END")) == text(*pair(), "END")
        frames = [Frame({"atoms": atoms(1)}, box=box) for box in (None, Box.orthogonal([3.0] * 3), None)]
        cells = re.findall("^(MODEL|CRYST1 +[0-9.]+)", written(frames), re.MULTILINE)
        assert cells == ["MODEL", "MODEL", "CRYST1    3.000", "MODEL", "CRYST1    1.000"]

    def test_a_turned_cell(self, tmp_path):
        tensors = np.array([[100, 200, 300, 10, 20, 30]] * 2)
        elements = ["C", "O"]
        positions = np.array([[0.5, 1.0, 2.0], [3.0, -1.0, 2.5]])
        columns = {name: positions[:, k].copy() for k, name in enumerate("xyz")}
        frame = Frame({"atoms": {**columns, "anisou": tensors, "element": elements}}, box=Box(TURNED))
        with pytest.warns(LossWarning, match=r"not carried by pdb: orientation of the cell, digits of box$"):
            mc.write(tmp_path / "out.pdb", frame)
        found = mc.read(tmp_path / "out.pdb").frame
        np.testing.assert_allclose(found.box.parameters, [32**0.5] * 3 + [60.0] * 3, rtol=1e-4)
        turned = np.stack([found["atoms"][name] for name in "xyz"], axis=1)
        scaled = [np.linalg.solve(box.vectors, rows.T) for box, rows in ((frame.box, positions), (found.box, turned))]
        np.testing.assert_allclose(scaled[0], scaled[1], atol=1e-3)
        np.testing.assert_allclose(found["atoms"]["anisou"][:, :3].sum(axis=1), [600, 600], atol=2)
        with pytest.raises(
            LossError, match="pdb cannot hold orientation of the cell: the format fixes it; the cell is"
        ):
            mc.write(tmp_path / "strict.pdb", frame, strict=True)

    def test_a_left_handed_cell(self, tmp_path):
        frame = Frame({"atoms": atoms(1)}, box=Box(np.diag([4.0, 5.0, -6.0])))
        with (
            pytest.warns(ConvertWarning, match="the cell is left-handed; its third vector is written reversed"),
            pytest.warns(LossWarning, match=r"not carried by pdb: orientation of the cell$"),
        ):
            mc.write(tmp_path / "out.pdb", frame)
        np.testing.assert_array_equal(mc.read(tmp_path / "out.pdb").frame.box.vectors, np.diag([4.0, 5.0, 6.0]))

    def test_a_cell_of_many_decimals(self, converted, written):
        """Other programs look for three and two of them; only a source of the same format may have had more."""
        frame = Frame({"atoms": atoms(1)}, box=Box.orthogonal([27.371366, 27.371367, 27.371]))
        with pytest.warns(LossWarning, match=r"not carried by pdb: digits of box$"):
            found = written(frame)
        assert found.splitlines()[0] == "CRYST1   27.371   27.371   27.371  90.00  90.00  90.00 P 1           1"
        made = converted(text("CRYST127.37136627.371367   27.371  90.00  90.00  90.00", *pair()), "in.pdb")
        frame = made.record.frame
        assert written(frame).startswith("CRYST127.37136627.371367   27.371  90.00  90.00  90.00\n")
        frame.box = Box.orthogonal([20.1234, 10.0, 10.0])
        with pytest.warns(LossWarning, match=r"not carried by pdb: digits of box$"):
            assert written(frame).startswith("CRYST1   20.123   10.000   10.000")

    def test_a_cell_in_other_units(self, written):
        cell = Frame({"atoms": atoms(1)}, box=Box.orthogonal([2.7371, 3.0, 4.0]))
        assert written([cell], units={"length": "nm"}).splitlines()[0].startswith("CRYST1   27.371   30.000   40.000")

    @pytest.mark.parametrize("edge", [1.0, 1.0004])
    def test_a_cell_that_stands_for_none(self, written, edge):
        with pytest.warns(LossWarning, match=r"not carried by pdb: box$"):
            written(Frame({"atoms": atoms(1)}, box=Box.orthogonal(edge)))

    def test_angles_of_no_cell(self, tmp_path):
        flat = Box.from_parameters([10.0, 10.0, 10.0, 90.0, 90.0, 179.999])
        with pytest.raises(FormatError, match=re.escape("out.pdb (frame 0): CRYST1: 10.000 10.000 10.000")):
            mc.write(tmp_path / "out.pdb", Frame({"atoms": atoms(1)}, box=flat))
        assert list(tmp_path.iterdir()) == []

    def test_a_cell_that_is_too_large(self, tmp_path):
        with pytest.raises(FormatError, match=re.escape("CRYST1: 123456.0 does not fit 9 columns")):
            mc.write(tmp_path / "out.pdb", Frame({"atoms": atoms(1)}, box=Box.orthogonal(123456.0)))


def bonded(pairs, orders=None, **columns):
    one, other = (np.array([pair[k] for pair in pairs], "u8") for k in (0, 1))
    numbers = {} if orders is None else {"bond_number": np.array(orders, "u8")}
    return Frame({"atoms": atoms(6, **columns), "bonds": {"atomi": one, "atomj": other, **numbers}})


def conect(found):
    return [line for line in found.splitlines() if line.startswith("CONECT")]


class TestBonds:
    def test_serials_are_those_of_the_file(self, tmp_path, written):
        """R-01: bonds of a part of a system end at the atoms that are written."""
        whole = bonded([(3, 4)], id=np.arange(1, 7, dtype="u8"))
        part = Frame({"atoms": whole["atoms"].rows(slice(3, 6)), "bonds": {"atomi": np.array([0], "u8"),
                                                                          "atomj": np.array([1], "u8")}})  # fmt: skip
        found = written(part)
        assert conect(found) == ["CONECT    4    5", "CONECT    5    4"]
        bonds = mc.read(tmp_path / "out.pdb").frame["bonds"]
        assert (bonds["atomi"].tolist(), bonds["atomj"].tolist()) == ([0], [1])
        del part["atoms"]["id"]
        assert conect(written(part)) == ["CONECT    1    2", "CONECT    2    1"]

    def test_orders_are_repeated(self, written):
        found = written(bonded([(0, 1), (0, 2), (0, 3), (0, 4)], [2, 1, 1, 1]))
        assert conect(found) == [
            "CONECT    1    2    2    3    4", "CONECT    1    5", "CONECT    2    1    1", "CONECT    3    1",
            "CONECT    4    1", "CONECT    5    1",
        ]  # fmt: skip
        assert found.endswith("CONECT    5    1\nEND\n")

    def test_serials_beyond_the_columns(self, tmp_path, written):
        found = written(bonded([(0, 1)], id=np.arange(99999, 100005, dtype="u8")))
        assert conect(found) == ["CONECT99999A0000", "CONECTA000099999"]
        assert mc.read(tmp_path / "out.pdb").frame["bonds"]["atomj"].tolist() == [1]

    @pytest.mark.parametrize(
        ("ids", "message"),
        [([1, 2, 2, 3, 4, 5], "the id of atom 3, which has bonds, is not its own; the atoms are numbered from 1"),
         (Column(np.array([1, 2, 0, 3, 4, 5], "u8"), valid=[True, True, False, True, True, True]),
          "the id of atom 3, which has bonds, is not its own; the atoms are numbered from 1"),
         ([1, 2, 3, 4, 5, 2**63], "ids are too large to be serials; the atoms are numbered from 1"),
         ([1, 2, 3, 4, 5, 87440032], "ids are too large to be serials; the atoms are numbered from 1")],
    )  # fmt: skip
    def test_ids_that_are_no_serials(self, tmp_path, ids, message):
        ids = ids if isinstance(ids, Column) else np.array(ids, "u8")
        lost = pytest.warns(LossWarning, match=r"not carried by pdb: atoms\.id")
        with lost, pytest.warns(ConvertWarning, match=re.escape(message)):
            mc.write(tmp_path / "out.pdb", bonded([(2, 3)], id=ids))
        found = mc.read(tmp_path / "out.pdb").frame
        assert found["atoms"]["id"].tolist() == [1, 2, 3, 4, 5, 6]
        assert found["bonds"]["atomi"].tolist() == [2]

    def test_bonds_of_all_models_stand_once(self, again):
        bonds = text("CONECT    1    2", "CONECT    2    1")
        data = THREE.removesuffix("END\n") + bonds
        assert again(data) == data
        assert again(THREE.replace("ENDMDL", f"{bonds}ENDMDL")) == data

    def test_bonds_that_change(self, again):
        bonds, twice = (
            text("CONECT    1    2", "CONECT    2    1"),
            text("CONECT    1    2    2", "CONECT    2    1    1"),
        )
        one, two, three = (model(k, *pair()) for k in (1, 2, 3))
        data = one + two.replace("ENDMDL", f"{twice}ENDMDL") + three.replace("ENDMDL", "CONECT\nENDMDL") + bonds
        assert again(data) == data

    def test_what_bonds_have_besides_is_a_loss(self, tmp_path):
        frame = bonded([(0, 1)])
        frame["bonds"]["type"] = ["1"]
        with pytest.warns(LossWarning, match=re.escape("not carried by pdb: bonds.type")):
            mc.write(tmp_path / "out.pdb", frame)


def test_losses(tmp_path):
    frame = Frame({"atoms": atoms(2, charge=[0.5, -0.5], mass=[1.0, 2.0])}, box=Box.orthogonal(3.0, origin=[1.0, 0, 0]))
    frame.meta["pe"] = 1.5
    with pytest.warns(LossWarning, match=r"not carried by pdb: atoms.charge, atoms.mass, pe, box.origin$"):
        mc.write(tmp_path / "out.pdb", frame)


@pytest.mark.filterwarnings("ignore:not carried by pdb. digits of")
def test_threads_keep_the_order(tmp_path):
    rng = np.random.default_rng(3)
    counts = [50 * (k % 3 + 1) for k in range(40)]
    frames = [
        Frame({"atoms": Block({**{name: rng.normal(size=count) for name in "xyz"}, "element": ["N"] * count})})
        for count in counts
    ]
    mc.write(tmp_path / "out.pdb", frames)
    record = mc.read(tmp_path / "out.pdb")
    for frame, found in zip(frames, record.trajectory, strict=True):
        np.testing.assert_allclose(found["atoms"]["x"], frame["atoms"]["x"], atol=6e-4)
