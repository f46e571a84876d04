"""PDB: serials and residue numbers beyond their columns, and lines that numbers have shifted."""

import pytest

from molrec_convert.adapters._pdb_numbers import hybrid36

from ..pdbs import atom, model, text


class TestRead:
    @pytest.fixture
    def read(self, converted):
        return lambda data, **options: converted(data, "in.pdb", **options)

    def test_hybrid36(self, read):
        made = read(text(*(atom(hybrid36(99998 + k, 5), number=hybrid36(9999 + k, 4)) for k in range(4))))
        assert made.values("id") == [99998, 99999, 100000, 100001]
        assert made.values("res_id") == [9999, 10000, 10001, 10002]
        assert made.warnings == []

    def test_stars_are_null(self, read):
        made = read(text(atom(99999), atom("*****"), atom("*****", number="****")))
        assert made.values("id") == [99999, None, None]
        assert made.values("res_id") == [1, 1, None]
        assert made.warnings == ["in.pdb: 2 atoms without a serial", "in.pdb: 1 atom without a residue number"]

    def test_numbers_that_begin_again_stay(self, read):
        made = read(text(atom(99999, number=9999), atom(0, number=0), atom(1, number=1)))
        assert made.values("id") == [99999, 0, 1]
        assert made.values("res_id") == [9999, 0, 1]

    def test_negative_serials(self, read):
        made = read(text(atom(-1), atom(2)))
        assert made.values("id") == [None, 2]
        assert made.values("atom_id") == [-1, 2]

    def test_six_digits_of_a_serial(self, read):
        made = read(
            text(atom(99999), atom(100000).replace("100000 ", "100000"), atom(100001).replace("100001 ", "100001"))
        )
        assert made.values("id") == [99999, 100000, 100001]
        assert made.values("name") == ["CA"] * 3

    def test_five_digits_of_a_residue_number(self, read):
        made = read(text(*(atom(k, residue="TIP3", chain="", number=9999 + k)[:31] + atom()[31:] for k in range(1))))
        assert made.values("res_id") == [9999]
        line = atom(1, residue="TIP3", chain="", number=1000)
        made = read(
            text(
                line[:26] + "0" + line[27:], line[:22] + "-100" + "5" + line[27:], line[:22] + "  10" + "5" + line[27:]
            )
        )
        assert made.values("res_seq") == [10000, -1005, 10]
        assert made.values("icode") == ["", "", "5"]
        assert made.warnings == [
            "in.pdb: the residue numbers (resid) of 2 atoms have five digits, the last in column 27"
        ]

    def test_the_spelling_of_later_frames(self, read):
        made = read(
            model(1, atom(1)) + model(2, atom("A0000")) + model(3, atom(3)) + model(4, atom("*****", element=""))
        )
        assert [made.values("id", k) for k in range(4)] == [[1], [100000], [3], [None]]


# a line, what is read of it, and the number of columns that it is shifted
SHIFTED = [
    (atom(1, (12345.678, 8, 0)), {"x": 12345.678, "y": 8, "z": 0, "element": "C", "occupancy": 1}),
    (atom(1, (1, -1000.123, -9999.5)), {"x": 1, "y": -1000.123, "z": -9999.5, "element": "C"}),
    (atom(1, (12345.678, 1234.567, 1234.567)), {"x": 12345.678, "y": 1234.567, "z": 1234.567}),
    (atom(1, (-12345.678, -1234.567, 99999.125)), {"x": -12345.678, "y": -1234.567, "z": 99999.125}),
    (atom(100000, (1, 2, 3), number=12), {"id": 100000, "name": "CA", "chain": "A", "res_id": 12, "element": "C"}),
    (atom(12345678, (1, -2000.5, 3), number=12), {"id": 12345678, "name": "CA", "res_id": 12, "y": -2000.5, "z": 3}),
    (atom(1, (5, 6, 7), number=10000), {"res_id": 10000, "x": 5, "y": 6, "z": 7, "b_factor": 0, "element": "C"}),
    (atom(1, (5, 6, 7), number=123456, icode="B"), {"res_id": 123456, "icode": "B", "x": 5, "z": 7}),
    (atom(1, (5, 6, 7), number="A000", icode="B", occupancy="10000.00"), None),
    (atom(1, (1234.5, 1234.5, 1234.5), number=10000), {"res_id": 10000, "x": 1234.5, "y": 1234.5, "z": 1234.5}),
]  # fmt: skip


class TestShifted:
    @pytest.fixture
    def read(self, converted):
        return lambda data, **options: converted(data, "in.pdb", **options)

    @pytest.mark.parametrize(("line", "values"), [case for case in SHIFTED if case[1] is not None])
    def test_lines(self, read, line, values):
        made = read(text("REMARK", atom(0), line))
        assert {name: made.values(name)[1] for name in values} == values
        assert made.warnings == [
            "in.pdb:3 (frame 0): the columns of 1 atom are shifted by a number that outgrew its own"
        ]

    @pytest.mark.parametrize(
        ("number", "field", "values"),
        [
            ("   1", "   -1000.000", {"res_id": 1, "x": -1000, "z": 3}),
            ("   1", "   12345.678", {"res_id": 1, "x": 12345.678, "z": 3}),
            ("   1", "B  -1000.000", {"res_id": 1, "icode": "B", "x": -1000}),
            ("9999", " -123456.789", {"res_id": 9999, "x": -123456.789}),
            ("1234", "567    1.250", {"res_id": 1234567, "x": 1.25}),
        ],
    )
    def test_numbers_in_the_blank_columns(self, read, number, field, values):
        """They grew to the left, so that the rest of the line keeps to its columns."""
        line = atom(1, (0, 2, 3))
        made = read(text(atom(0), line[:22] + number + field + line[38:]))
        assert {name: made.values(name)[1] for name in values} == values
        assert made.warnings == [
            "in.pdb:2 (frame 0): the columns of 1 atom are shifted by a number that outgrew its own"
        ]

    def test_serials_from_column_5_on(self, read):
        made = read(text(atom(99999), "ATOM1234567" + atom()[11:], "ATOM 123456" + atom()[11:]))
        assert made.values("id") == [99999, 1234567, 123456]
        assert made.values("record_type") == ["ATOM"] * 3

    def test_fewer_decimals_are_no_shift(self, read):
        line = atom(1, (1, 2, 3))
        made = read(text(line[:30] + "12345.67-1234.56-12345.6" + line[54:]))
        assert [made.values(name) for name in "xyz"] == [[12345.67], [-1234.56], [-12345.6]]
        assert made.warnings == []

    def test_a_large_factor(self, read):
        made = read(text(atom(1, b_factor="100.00"), atom(2)[:60] + "1234.56" + atom()[67:]))
        assert made.values("b_factor") == [100, 1234.56]

    def test_stars_of_a_factor(self, read):
        made = read(text(atom(1), atom(2, b_factor="******")))
        assert made.values("b_factor") == [0, None]
        assert made.warnings == ["in.pdb: b_factor: stars stand for the number of 1 atom"]
