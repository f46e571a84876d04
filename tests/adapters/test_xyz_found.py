"""XYZ: how it is recognised, and what options do to it."""

import pytest

from molrec_convert import registry
from molrec_convert.adapters.xyz import FORMAT
from molrec_convert.convert import convert
from molrec_convert.errors import OptionError
from molrec_convert.sniff import source_adapter

from ..xyzs import frame


def one(comment, row="H 0 0 0"):
    return frame(row, comment=comment)


@pytest.fixture
def read(converted):
    return lambda text, **options: converted(text, "in.xyz", **options)


class TestFound:
    ROWS = b"O 0 0 0\nH 0 0 1\n"

    @pytest.mark.parametrize(
        ("head", "found"),
        [
            (b"2\n\n" + ROWS, True),
            (b"2 -76.5\n\n" + ROWS, True),
            (b"\n\n 2 0.0 0.0 0.0\n 2 0.3 0.0 0.0\n 3 0.0 0.0 0.3\n 8 8.0 0.0 0.0 0.2\n", False),
            (b"\xef\xbb\xbf\n 2 atoms\r\nc\r\nO 0 0 0\r\nH 0 0 1\r\n", True),
            (b"2\nProperties=pos:R:3:species:S:1\n0 0 0 O\n", True),
            (b"1\nblown up\nH 1 ***** 3\n", True),
            (b"1\ntinker\n1 O 0 0 0 1 2\n", True),
            (b"0\nnothing\n", True),
            (b"0\nnothing\n0\nnothing\n", True),
            (b"ITEM: TIMESTEP\n0\n", False),
            (b"3\n4\n5\n6\n", False),
            (b"title\n 2\nO 0 0 0\n", False),
            (b"12 lines of prose\nthat go on and on\nfor 3 4 5 lines\n", False),
            (b"2\n\nO 0 0\n", False),
            (b"", False),
            (b"2", False),
            (b"2\n\0\n" + ROWS, False),
        ],
    )
    def test_sniff(self, head, found):
        assert FORMAT.sniff is not None
        assert FORMAT.sniff(head) is found

    def test_any_name(self, tmp_path):
        (tmp_path / "run.dat").write_text(frame("O 0 0 0", comment="x"))
        assert convert(tmp_path / "run.dat", tmp_path / "a.h5").source_format == "xyz"

    def test_a_dump_of_this_name(self):
        assert source_adapter("a.xyz", b"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n").name == "lammps-dump"

    @pytest.mark.parametrize("name", ["a.xyz", "a.XYZ.gz", "b.extxyz", "c.exyz"])
    def test_names(self, name):
        assert [adapter.name for adapter in registry.by_file_name(name)] == ["xyz"]


class TestOptions:
    def test_units(self, read):
        assert read(one("a"), units="real").record.meta["units"]["force"] == "kcal/mol/angstrom"
        assert read(one("a"), units="lj").record.meta["units"]["length"] == "sigma"
        with pytest.raises(OptionError) as error:
            read(one("a"), units="si")
        assert str(error.value) == "in.xyz: an XYZ file is in angstrom, which si is not"

    def test_chosen_frames(self, read):
        made = read("".join(one(f"step={k}", f"H {k} 0 0") for k in range(10)), frames="2:9:3,-1")
        assert made.record.trajectory.step.tolist() == [2, 5, 8, 9]
        assert [made.values("x", k) for k in range(4)] == [[2], [5], [8], [9]]

    def test_precision_from_decimals(self, read):
        made = read(frame("H 0.125 1.00 2.5", "H 0.250 3.25 2"), precision="auto")
        columns = made.atoms().columns
        assert {name: columns[name].precision for name in "xyz"} == {"x": 1e-3, "y": 1e-2, "z": None}
