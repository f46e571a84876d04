"""PDB: what a record holds of atoms, models, cells, bonds and text."""

import gzip
import io

import numpy as np
import pytest

from molrec_convert import registry
from molrec_convert.convert import convert
from molrec_convert.errors import OptionError
from molrec_convert.records import open_record

from ..pdbs import CUBE, THREE, atom, model, pair, text


@pytest.fixture
def read(converted):
    return lambda data, name="in.pdb", **options: converted(data, name, **options)


def bonds_of(made, frame=0):
    record = made.record
    block = (record.frame if record.trajectory is None else record.trajectory[frame]).get("bonds")
    return [] if block is None else list(zip(*(block[name].tolist() for name in block), strict=True))


class TestAtoms:
    def test_one_structure(self, read):
        made = read(
            text(
                atom(1, (11.104, -6.134, 6.504), name=" N  ", element="N", b_factor="11.99"),
                atom(7, (1428.327, -130.277, -624.974), record="HETATM", name="ZN  ", residue="TIP3", chain="",
                     number=-3, icode="B", altloc="A", segid="WT4", element="ZN", charge="2+", occupancy="0.25"),
                "END",
            )
        )  # fmt: skip
        assert made.record.trajectory is None
        assert made.warnings == []
        assert {name: column.describe() for name, column in made.atoms().columns.items()} == {
            "record_type": "string[N]", "id": "u64[N]", "name": "string[N]", "altloc": "string[N]",
            "res_name": "string[N]", "chain": "string[N]", "res_id": "u64[N], 1 null", "res_seq": "i64[N]",
            "icode": "string[N]", "x": "f64[N]", "y": "f64[N]", "z": "f64[N]", "occupancy": "f64[N]",
            "b_factor": "f64[N]", "segid": "string[N]", "element": "string[N]", "formal_charge": "i64[N], 1 null",
        }  # fmt: skip
        for name, values in {
            "record_type": ["ATOM", "HETATM"], "id": [1, 7], "name": ["N", "ZN"], "altloc": ["", "A"],
            "res_name": ["ALA", "TIP3"], "chain": ["A", ""], "res_id": [1, None], "res_seq": [1, -3],
            "icode": ["", "B"], "x": [11.104, 1428.327], "y": [-6.134, -130.277], "z": [6.504, -624.974],
            "occupancy": [1, 0.25], "b_factor": [11.99, 0], "segid": ["", "WT4"], "element": ["N", "Zn"],
            "formal_charge": [None, 2],
        }.items():  # fmt: skip
            assert made.values(name) == values, name
        assert made.box() is None
        assert dict(made.about) == {}
        assert made.record.meta["units"] == {"length": "angstrom"}

    def test_what_is_blank_everywhere_is_no_column(self, read):
        made = read(text(atom(chain="", occupancy="", b_factor="", element="")[:54].rstrip()))
        assert set(made.atoms()) == {"record_type", "id", "name", "res_name", "res_id", "x", "y", "z", "element"}

    def test_blank_numbers_are_null(self, read):
        made = read(text(atom(1, occupancy="", b_factor="2.50"), atom(2, b_factor="")))
        assert made.values("occupancy") == [None, 1]
        assert made.values("b_factor") == [2.5, None]

    def test_lines_are_as_long_as_they_are(self, read):
        made = read(text(atom(1)[:54], atom(2, occupancy="0.50")[:60], atom(3, b_factor="9.50")[:66], atom(4)))
        assert made.values("occupancy") == [None, 0.5, 1, 1]
        assert made.values("b_factor") == [None, None, 9.5, 0]
        assert made.values("element") == ["C"] * 4

    @pytest.mark.parametrize("change", [str.lower, lambda data: data.replace("\n", "\r\n"), lambda data: data[:-5]])
    def test_spellings_of_the_same(self, read, change):
        made = read(change(CUBE + "\n" + text(*pair(), "END")))
        assert made.values("record_type") == ["ATOM", "ATOM"]
        assert made.values("element") == ["N", "C"]
        assert made.values("z") == [3, -6.125]
        assert np.diag(made.box().vectors).tolist() == [10, 10, 10]

    def test_tabs(self, read):
        made = read(atom(12, (1, 2, 3)).replace("ATOM     ", "ATOM\t ", 1) + "\n")
        assert (made.values("id"), made.values("x")) == ([12], [1])
        assert made.warnings == ["in.pdb (frame 0): tabs are taken for blanks up to the next eighth column"]

    def test_anisotropic_factors(self, read):
        tensor = "ANISOU    1  CA  ALA A   1     2406   1892   1614    198    519   -328       C"
        made = read(text(atom(1), tensor, "SIGATM    1  CA  ALA A   1", atom(2)))
        assert made.atoms().column("anisou").describe() == "i64[N][6], 1 null"
        assert made.values("anisou")[0] == [2406, 1892, 1614, 198, 519, -328]
        assert made.warnings == ["in.pdb: 1 record of standard deviations (SIGATM, SIGUIJ) left out"]

    def test_anisotropic_factors_that_are_none(self, read):
        tensor = "ANISOU    1  CA  ALA A   1     24x6   1892   1614    198    519   -328       C"
        made = read(text(atom(1), tensor, atom(2)))
        assert "anisou" not in made.atoms()
        assert made.warnings == ["in.pdb:2: ANISOU records are left out: '24x6' is not an integer"]

    def test_names_of_residues_with_a_blank_inside(self, read):
        made = read(text(atom(1), atom(2).replace("ATOM      2", "ATOM     2")))
        assert made.values("res_name") == ["ALA", "LA A"]
        what = "columns 18-21 hold 'LA A', a blank inside: the fields of the line may be off their columns"
        assert made.warnings == [f"in.pdb:2 (frame 0): {what}"]

    def test_ends_of_chains(self, read):
        made = read(text(atom(1), atom(2), "TER       3      ALA A   1", atom(4), "TER"))
        assert made.values("ter_after") == [False, True, True]

    def test_charges(self, read):
        words = ["1+", "2-", "+1", "-2", "", "0", " 0", "1", "x2"]
        made = read(text(*(atom(k, charge=word) for k, word in enumerate(words))))
        assert made.values("formal_charge") == [1, -2, 1, -2, None, 0, 0, None, None]
        assert made.warnings == ["in.pdb: columns 79-80 hold '1', which is no charge"]

    def test_precision_from_the_decimals(self, read):
        made = read(text(*pair()), precision="auto")
        assert [made.atoms().column(name).precision for name in "xyz"] == [1e-3] * 3
        assert [round(x, 3) for x in made.values("x")] == [1, 4.5]


class TestModels:
    def test_models_are_frames(self, read):
        made = read(THREE)
        assert len(made.record) == 3
        assert [made.values("x", k) for k in range(3)] == [[1, 4.5], [1.5, 5], [1.75, 5.25]]
        assert [made.record.trajectory[k].meta["pdb_model"] for k in range(3)] == [1, 2, 3]
        assert {"id", "name", "element", "occupancy", "b_factor"} <= set(made.fixed)

    def test_one_model_is_one_frame(self, read):
        made = read(model(4, *pair()))
        assert made.record.trajectory is None
        assert made.about["pdb_model"] == 4

    def test_frames_parted_by_end(self, read):
        made = read(text(*pair(), "END", *pair(1), "END", *pair(2), "END"))
        assert [made.values("x", k)[0] for k in range(3)] == [1, 2, 3]
        assert [made.record.trajectory[k].meta["pdb_model"] for k in range(3)] == [1, 2, 3]

    def test_models_of_other_sizes(self, read):
        made = read(model(1, *pair()) + model(2) + model(3, atom(9)))
        assert [made.atoms(k).count for k in range(3)] == [2, 0, 1]
        assert made.values("id", 2) == [9]

    def test_a_model_without_its_end(self, read):
        made = read(text("MODEL        1", *pair(), "MODEL        2", *pair(1), "ENDMDL", "END", "END"))
        assert [made.values("x", k)[0] for k in range(2)] == [1, 2]

    def test_models_without_numbers(self, read):
        made = read(text("MODEL", *pair(), "ENDMDL", "MODEL", *pair(1), "ENDMDL"))
        assert [made.record.trajectory[k].meta["pdb_model"] for k in range(2)] == [1, 2]

    @pytest.mark.parametrize(("frames", "numbers"), [("1", [2]), ("-1", [3]), ("0,2", [1, 3]), ("::-1", [1, 2, 3])])
    def test_chosen_frames(self, tmp_path, read, frames, numbers):
        made = read("TITLE     T\n" + THREE + text("CONECT    1    2", "END"), frames=frames)
        assert len(made.record) == len(numbers)
        last = made.record.frame if made.record.trajectory is None else made.record.trajectory[-1]
        found = last.meta.get("pdb_model", made.about.get("pdb_model"))
        assert found == numbers[-1]
        assert made.about["pdb_header"] == "TITLE     T"
        assert bonds_of(made, len(numbers) - 1) == [(0, 1, 1)]

    def test_times_of_titles(self, read):
        def frame(number, title):
            return text(f"TITLE     {title}", CUBE) + model(number, *pair())

        made = read(frame(1, "Water t=   0.00000 step= 0") + frame(2, "Water t=   2.50000 step= 1250"))
        assert made.record.trajectory.time.tolist() == [0, 2.5]
        assert made.record.trajectory.step.tolist() == [0, 1250]
        assert made.record.meta["units"] == {"length": "angstrom", "time": "ps"}

    @pytest.mark.parametrize("record", ["REMARK", "TITLE "])
    def test_times_of_cp2k(self, read, record):
        """They are in fs, as in its other trajectories."""
        titles = (f"{record}    Step {step}, time = {step / 2:.3f}, E = -17.1643447508" for step in (5, 10))
        made = read("".join(text(title, CUBE, *pair(), "END") for title in titles))
        assert made.record.trajectory.step.tolist() == [5, 10]
        assert made.record.trajectory.time.tolist() == [0.0025, 0.005]
        assert made.record.meta["units"] == {"length": "angstrom", "time": "ps"}
        made = read("".join(text(f"{record}    Step {step}, E = -17.1", *pair(), "END") for step in (5, 10)))
        assert made.record.trajectory.step.tolist() == [5, 10]
        assert made.record.trajectory.time is None

    @pytest.mark.parametrize("title", ["MEASURED AT t= 300 K", "t=", "x=1 beat= 4", "t= 1-2", "step=x"])
    def test_titles_without_a_time(self, read, title):
        made = read(f"TITLE     {title}\n" + THREE)
        assert made.record.trajectory.time is None

    def test_streams(self, tmp_path):
        data = THREE.removesuffix("END\n") + text("CONECT    1    2    2", "END")
        for k, source in enumerate((io.BytesIO(data.encode()), tmp_path / "in.pdb.gz")):
            if k:
                source.write_bytes(gzip.compress(data.encode()))
            convert(source, tmp_path / f"{k}.h5")
            with open_record(tmp_path / f"{k}.h5") as record:
                assert [record.trajectory[k]["atoms"]["x"][0] for k in range(3)] == [1, 1.5, 1.75]
                bonds = record.trajectory[0]["bonds"]
                assert [bonds[name].tolist() for name in bonds] == [[0], [1], [2]]

    def test_models_are_not_held_back_for_ever(self, tmp_path, monkeypatch):
        monkeypatch.setattr("molrec_convert.adapters._pdb_index.HELD_BACK", 100)
        report = convert(io.BytesIO((THREE + text("CONECT    1    2")).encode()), tmp_path / "out.h5")
        assert report.warnings == [
            "standard input:14 (frame 2): bonds behind the last model of a stream are left out of the first 2 models"
        ]


class TestCells:
    @pytest.mark.parametrize(
        "data",
        [
            CUBE + "\n" + THREE,
            THREE.replace("MODEL        1\n", f"MODEL        1\n{CUBE}\n"),
            THREE.replace("MODEL        1\n", f"MODEL        1\n{CUBE}\n").replace("MODEL ", "REMARK\nMODEL "),
        ],
    )
    def test_a_cell_holds_for_what_follows(self, read, data):
        made = read(data)
        assert [np.diag(made.box(k).vectors).tolist() for k in range(3)] == [[10, 10, 10]] * 3
        assert made.box().boundary.all()

    def test_a_cell_of_each_model(self, read):
        made = read("".join(f"CRYST1{8 - k:9.3f}{CUBE[15:]}\n{model(k + 1, *pair())}" for k in range(3)))
        assert [made.box(k).vectors[0, 0] for k in range(3)] == [8, 7, 6]

    def test_numbers_of_a_cell_are_kept(self, read):
        made = read("CRYST1   27.240   31.870   34.230  88.52 108.53 111.89 P 21 21 2     4\n" + text(*pair()))
        assert dict(made.about) == {
            "pdb_cryst1": (27.24, 31.87, 34.23, 88.52, 108.53, 111.89), "space_group": "P 21 21 2", "z_value": 4,
        }  # fmt: skip
        assert made.about.tag("pdb_cryst1") == "f64x6"
        np.testing.assert_allclose(made.box().parameters, made.about["pdb_cryst1"], rtol=1e-12)

    def test_right_angles_are_exact(self, read):
        made = read("CRYST1   10.000   10.000   15.000  90.00  90.00 120.00\n" + text(*pair()))
        np.testing.assert_allclose(made.box().vectors.T, [[10, 0, 0], [-5, 75**0.5, 0], [0, 0, 15]], rtol=1e-15)
        assert made.box().vectors[2, 0] == made.box().vectors[0, 2] == 0

    @pytest.mark.parametrize(
        ("record", "note"),
        [
            ("CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1",
             "CRYST1 1.000 1.000 1.000 90.00 90.00 90.00 stands for no cell"),
            ("CRYST1    0.000    0.000    0.000   0.00   0.00   0.00 P 1           1",
             "CRYST1 0.000 0.000 0.000 0.00 0.00 0.00 is no cell"),
            ("CRYST1      nan   10.000   10.000  90.00  90.00  90.00",
             "CRYST1 nan 10.000 10.000 90.00 90.00 90.00 is no cell"),
            ("CRYST1", "CRYST1 is blank: there is no cell"),
        ],
    )  # fmt: skip
    def test_what_is_no_cell(self, read, record, note):
        made = read(text(record, *pair()))
        assert made.box() is None
        assert made.warnings == [f"in.pdb: {note}"]

    @pytest.mark.parametrize(
        "record", ["CRYST1 80 81.5 82 90 90 60", "CRYST1   80.000  81.500 82.000 90.0 90 60.0 P 1"]
    )
    def test_numbers_that_stand_elsewhere(self, read, record):
        assert read(text(record, *pair())).about["pdb_cryst1"] == (80, 81.5, 82, 90, 90, 60)


class TestBonds:
    def test_bonds_are_stated_from_both_ends(self, read):
        records = ["CONECT    4    5    2", "CONECT    5    4", "CONECT    1    2    2", "CONECT    2    1    1    4"]
        made = read(text(*(atom(serial) for serial in (1, 2, 4, 5)), "TER       3", *records))
        assert bonds_of(made) == [(0, 1, 2), (1, 2, 1), (2, 3, 1)]
        assert made.record.frame["bonds"].column("atomi").dtype == "u64"

    def test_one_end_is_enough(self, read):
        assert bonds_of(read(text(*pair(), "CONECT    2    1"))) == [(0, 1, 1)]

    def test_fields_without_blanks(self, read):
        made = read(
            text(*(atom(serial) for serial in (10000, 10001, 10002)), "CONECT1000010001", "CONECT100011000010002")
        )
        assert bonds_of(made) == [(0, 1, 1), (1, 2, 1)]

    @pytest.mark.parametrize(
        "records",
        [["CONECTA000099999", "CONECTA0000A0001"], ["CONECT 99999100000", "CONECT100000100001"],
         ["CONECT 99999 100000", "CONECT 100000 100001"]],
    )  # fmt: skip
    def test_serials_beyond_five_digits(self, read, records):
        made = read(text(*(atom(serial) for serial in (99999, "A0000", "A0001")), *records))
        assert bonds_of(made) == [(0, 1, 1), (1, 2, 1)]

    def test_what_is_no_bond(self, read):
        made = read(text(*pair(), "CONECT    2", "CONECT    1    1", "CONECT    1    9", "CONECT",
                         "CONECT    1                        2    2"))  # fmt: skip
        assert bonds_of(made) == []
        assert made.warnings == [
            "in.pdb: CONECT names serials that no atom has, as 9: 1 bond left out",
            "in.pdb: CONECT binds an atom to itself, which is left out",
        ]

    def test_bonds_of_the_file_alone(self, read):
        """R-38: a residue's own bonds are not added."""
        made = read(text(*pair()))
        assert bonds_of(made) == []
        assert bonds_of(read(text(*pair(), "CONECT    1    2"))) == [(0, 1, 1)]

    def test_bonds_of_each_model(self, read):
        made = read(model(1, *pair(), "CONECT    1    2") + model(2, *pair()) + text("CONECT    1    2    2", "END"))
        assert [bonds_of(made, k) for k in range(2)] == [[(0, 1, 1)], [(0, 1, 2)]]

    def test_bonds_between_models_are_of_the_one_before(self, read):
        one, two, three = (model(k, *pair()) for k in (1, 2, 3))
        made = read(one + "CONECT    1    2\n" + two + three + "CONECT    1    2    2\nEND\n")
        assert [bonds_of(made, k) for k in range(3)] == [[(0, 1, 1)], [(0, 1, 2)], [(0, 1, 2)]]

    def test_bonds_before_the_atoms(self, read):
        made = read(text("CONECT    1    2", "REMARK", *pair(), "END"))
        assert bonds_of(made) == [(0, 1, 1)]
        assert made.about["pdb_header"] == "REMARK"

    def test_bonds_that_hold_for_all_stand_once(self, read):
        made = read(THREE + "CONECT    1    2\n")
        assert list(made.record.system["bonds"]) == ["atomi", "atomj", "bond_number"]


class TestText:
    def test_text_is_kept(self, read):
        made = read(
            text("HEADER    A PROTEIN", "REMARK   2 \u00c5", "NUMMDL    3", "", "HELIX    1")
            + THREE
            + text("MASTER", "END")
        )
        assert made.about["pdb_header"] == "HEADER    A PROTEIN\nREMARK   2 \u00c5\nHELIX    1"
        assert "pdb_remarks" not in made.about

    def test_text_of_frames(self, read):
        made = read(model(1, "COMPND    one", *pair()) + "REMARK    between\n" + model(2, "COMPND    two", *pair()))
        texts = [made.record.trajectory[k].meta["pdb_remarks"] for k in range(2)]
        assert texts == ["COMPND    one", "REMARK    between\nCOMPND    two"]

    def test_text_behind_the_atoms(self, read):
        made = read(text(*pair(), "REMARK    late", "CONECT    1    2", "END", "REMARK    later"))
        assert made.about["pdb_remarks"] == "REMARK    late\nREMARK    later"

    def test_latin(self, read):
        made = read(b"REMARK    \xc5ngstr\xf6m\n" + text(*pair()).encode())
        assert made.about["pdb_header"] == "REMARK    Ångström"

    def test_positions_are_not_transformed(self, read):
        origx = "ORIGX1      0.963457  0.136613  0.230424       16.61000"
        assert read(text(origx, *pair())).values("x") == [1, 4.5]


HEADS = [
    THREE,
    text(*pair()),
    text(*pair()).lower(),
    "HEADER    X\nREMARK   1\n",
    "TITEL x\n" + text(*pair()),
    CUBE + "\n",
    "MODEL\nATOM  1      OH2 TIP3 10000    -50.081 -29.767  34.409  1.00  0.00      TIP3\n",
]
OTHERS = [
    "",
    "2\nATOM\nC 0 0 0\nC 1 1 1\n",
    "ITEM: ATOMS id type x y z\n1 1 0.5 0.5 0.5\n",
    "END\nof a story about atoms\n",
    "data_1\nloop_\n_atom_site.id\nATOM   1    N  N   . MET A 1 1   ? 27.340 24.430 2.614  1.00 9.67 ? 1\n",
    "ATOMIC UNITS\n0.1 0.2 0.3\n",
]


class TestRecognised:
    @pytest.mark.parametrize("head", HEADS)
    def test_by_content(self, head):
        assert [each.name for each in registry.by_content(head.encode())] == ["pdb"]

    @pytest.mark.parametrize("head", OTHERS)
    def test_what_is_none(self, head):
        assert "pdb" not in [each.name for each in registry.by_content(head.encode())]

    @pytest.mark.parametrize("name", ["a.pdb", "pdb1abc.ent", "1abc.pdb1", "A.PDB.gz"])
    def test_by_name(self, name):
        assert [each.name for each in registry.by_file_name(name)] == ["pdb"]

    def test_options(self, read):
        with pytest.raises(OptionError, match="--keep-order means nothing to pdb"):
            read(THREE, keep_order=True)
        with pytest.raises(OptionError, match="--guess takes elements, not 'bonds'"):
            read(THREE, guess=["bonds"])
