"""Tables: columns, faults with their exact attributes, free layout."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.text.lines import count_lines, skip_lines
from molrec_convert.text.table import ScanError, scan_numbers, scan_table

from .engines import ENGINES, both, built, lead, thorough


def fault(twin, data, kinds, rows, dialect=0):
    with pytest.raises(ScanError) as caught:
        twin.scan_table(data, kinds, rows, dialect)
    return caught.value


@pytest.mark.usefixtures("each_engine")
class TestTable:
    def test_columns_of_every_kind(self):
        text = b"  1\t-2 Si 1.5 skipped\r\n+3 4 O\t-1e3 x  \n5 6 Si nan ** \nnot looked at"
        columns, end, terminated = scan_table(text, "uisd-", 3)
        natural, integer, (codes, words), real, skipped = columns
        assert natural.dtype == np.uint64
        assert natural.tolist() == [1, 3, 5]
        assert integer.dtype == np.int64
        assert integer.tolist() == [-2, 4, 6]
        assert codes.dtype == np.int32
        assert codes.tolist() == [0, 1, 0]
        assert words == [b"Si", b"O"]
        assert real.dtype == np.float64
        np.testing.assert_array_equal(real, [1.5, -1000, np.nan])
        assert skipped is None
        assert text[end:] == b"not looked at"
        assert terminated

    @pytest.mark.parametrize("tail", [b"", b" ", b"\t ", b"\r"])
    def test_the_end_of_the_data_ends_the_last_row(self, tail):
        text = b"1 2\n3 4" + tail
        columns, end, terminated = scan_table(text, "id", 2)
        assert [column.tolist() for column in columns] == [[1, 3], [2, 4]]
        assert end == len(text)
        assert not terminated

    def test_no_rows(self):
        columns, end, terminated = scan_table(b"anything", "ds-", 0)
        assert len(columns[0]) == 0
        assert columns[1][1] == []
        assert (end, terminated) == (0, True)

    def test_no_columns(self):
        assert scan_table(b"\n \r\n x", "", 2) == ([], 4, True)

    def test_a_claim_of_many_rows_costs_nothing(self):
        with pytest.raises(ScanError) as caught:
            scan_table(b"1 2\n" * 5, "dd", 10**15)
        assert (caught.value.kind, caught.value.row, caught.value.due) == ("end", 5, 10**15)

    def test_any_buffer(self):
        for data in (bytearray(b"1\n"), memoryview(b"x1\n")[1:]):
            assert scan_table(data, "i", 1).columns[0].tolist() == [1]
            assert scan_numbers(data)[0].tolist() == [1]
            assert skip_lines(data, 0, 5) == (1, 2)
            assert count_lines(data) == 1

    def test_many_distinct_words(self):
        names = [b"w%d" % (i * i % 5003) for i in range(20000)]
        codes, words = scan_table(b"\n".join(names), "s", len(names)).columns[0]
        assert [words[code] for code in codes] == names
        assert words == list(dict.fromkeys(names))

    def test_words_keep_odd_bytes(self):
        text = b"a\rb \x0b\x0c \xff\x00\n\r\r\n" + b"c\x1cd e f\r"
        columns, _, _ = scan_table(text.replace(b"\n\r\r\n", b" \r\r\n"), "ssss", 1)
        assert [words for _, words in columns] == [[b"a\rb"], [b"\x0b\x0c"], [b"\xff\x00"], [b"\r"]]

    @pytest.mark.parametrize(("kinds", "rows"), [("dx", 1), ("d", -1), ("D", 1)])
    def test_bad_requests(self, kinds, rows):
        with pytest.raises(ValueError, match=r"kind|rows"):
            scan_table(b"1\n", kinds, rows)


# data, kinds, rows, and what is wrong: kind, row, column, found, due, letter, token, clause
FAULTS = [
    (b"1 2\n3\n", "dd", 2, "columns", 1, -1, 1, 2, " ", "", "a row has 2 columns, this one 1"),
    (b"1 2\n3 4 5\n", "dd", 2, "columns", 1, -1, 3, 2, " ", "", "a row has 2 columns, this one 3"),
    (b"1 2\n3 4 5", "dd", 2, "columns", 1, -1, 3, 2, " ", "", "a row has 2 columns, this one 3"),
    (b"1\n2 3\n", "d", 2, "columns", 1, -1, 2, 1, " ", "", "a row has 1 column, this one 2"),
    (b"1 2\n\n", "dd", 2, "columns", 1, -1, 0, 2, " ", "", "a row has 2 columns, this one 0"),
    (b"a b c\n", "dd", 1, "columns", 0, -1, 3, 2, " ", "", "a row has 2 columns, this one 3"),
    (b"a\n", "", 1, "columns", 0, -1, 1, 0, " ", "", "a row has 0 columns, this one 1"),
    (b"1 abc\n", "dd", 1, "number", 0, 1, 2, 2, "d", "abc", "'abc' is not a number"),
    (b"1 2\n3 -", "dd", 2, "number", 1, 1, 2, 2, "d", "-", "'-' is not a number"),
    (b"x y\n", "-d", 1, "number", 0, 1, 2, 2, "d", "y", "'y' is not a number"),
    (b"1 2\n**** 4", "dd", 2, "number", 1, 0, 2, 2, "d", "****", "'****' is not a number"),
    (b"1.0\n", "i", 1, "number", 0, 0, 1, 1, "i", "1.0", "'1.0' is not an integer"),
    (b"1e3\n", "i", 1, "number", 0, 0, 1, 1, "i", "1e3", "'1e3' is not an integer"),
    (b"-3\n", "u", 1, "number", 0, 0, 1, 1, "u", "-3", "'-3' is not an unsigned integer"),
    (b"-0\n", "u", 1, "number", 0, 0, 1, 1, "u", "-0", "'-0' is not an unsigned integer"),
    (b"1_0\n", "i", 1, "number", 0, 0, 1, 1, "i", "1_0", "'1_0' is not an integer"),
    (b"1_0\n", "d", 1, "number", 0, 0, 1, 1, "d", "1_0", "'1_0' is not a number"),
    (b"1\r2\n", "d", 1, "number", 0, 0, 1, 1, "d", "1\r2", "'1\\r2' is not a number"),
    (b"1\x0c\n", "d", 1, "number", 0, 0, 1, 1, "d", "1\x0c", "'1\\x0c' is not a number"),
    (b"\xff\n", "d", 1, "number", 0, 0, 1, 1, "d", "\\xff", "'\\\\xff' is not a number"),
    (b"9223372036854775808\n", "i", 1, "range", 0, 0, 1, 1, "i", "9223372036854775808",
     "'9223372036854775808' does not fit a signed 64-bit integer"),
    (b"1 18446744073709551616\n", "du", 1, "range", 0, 1, 2, 2, "u", "18446744073709551616",
     "'18446744073709551616' does not fit an unsigned 64-bit integer"),
    (b"9" * 5000, "i", 1, "range", 0, 0, 1, 1, "i", "9" * 5000,
     f"'{'9' * 40}…' does not fit a signed 64-bit integer"),
    (b"1 2\n3 4\n", "dd", 3, "end", 2, -1, 0, 3, " ", "", "the file ends after 2 of 3 rows"),
    (b"1 2\n3 4", "dd", 3, "end", 2, -1, 0, 3, " ", "", "the file ends after 2 of 3 rows"),
    (b"1 2\n3", "dd", 3, "end", 1, -1, 1, 3, " ", "", "the file ends after 1 of 3 rows"),
    (b"1 2\nabc", "dd", 2, "end", 1, -1, 1, 2, " ", "", "the file ends after 1 of 2 rows"),
    (b"1 2\n \r", "dd", 2, "end", 1, -1, 0, 2, " ", "", "the file ends after 1 of 2 rows"),
    (b"", "dd", 1, "end", 0, -1, 0, 1, " ", "", "the file ends after 0 of 1 row"),
    (b"1 x\n3", "dd", 3, "number", 0, 1, 2, 2, "d", "x", "'x' is not a number"),
]  # fmt: skip


@both
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: repr(case[0][:12]))
def test_faults(twin, case):
    data, kinds, rows, kind, row, column, found, due, letter, token, clause = case
    error = fault(twin, data, kinds, rows)
    assert error.kind == kind
    assert (error.row, error.column) == (row, column)
    assert (error.found, error.due) == (found, due)
    assert (error.letter, error.token) == (letter, token)
    assert error.describe("a row") == clause


@both
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: repr(case[0][:12]))
def test_faults_in_later_rows(twin, case):
    data, kinds, rows, kind, row, column, found, due, letter, token, _ = case
    before, more = lead(kinds)
    error = fault(twin, before + data, kinds, more + rows)
    assert error.kind == kind
    assert (error.row, error.column) == (more + row, column)
    assert (error.found, error.due) == (found, more + due if kind == "end" else due)
    assert (error.letter, error.token) == (letter, token)


def outcome(twin, data, kinds, rows, dialect):
    try:
        columns, end, terminated = twin.scan_table(data, kinds, rows, dialect)
    except ScanError as error:
        return vars(error)
    plain: list[object] = []
    for column in columns:
        if isinstance(column, tuple):
            plain.append((column[0].tolist(), column[1]))
        else:
            plain.append(None if column is None else column.tobytes())
    return plain, end, terminated


TOKENS = st.sampled_from(["1", "-2", "3.5", "1e5", "1.0D2", "1.0-101", "nan", "-", "x", "1_0", "9" * 20, "+7", "2*^3"])
GLUE = st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\n", " \n", "\r", ""])


@built
@thorough
@given(
    pieces=st.lists(st.tuples(TOKENS, GLUE), max_size=14),
    kinds=st.text("dius-", max_size=4),
    rows=st.integers(0, 6),
    dialect=st.integers(0, 3),
    later=st.booleans(),
)
def test_the_engines_agree(pieces, kinds, rows, dialect, later):
    data = "".join(token + glue for token, glue in pieces).encode()
    if later:
        before, more = lead(kinds)
        data, rows = before + data, more + rows
    engines: list[Any] = [param.values[0] for param in ENGINES]
    tables = [outcome(twin, data, kinds, rows, dialect) for twin in engines]
    assert tables[0] == tables[1] == tables[2]
    for limit in (-1, 2, 20):
        results: list[object] = []
        for twin in engines:
            try:
                numbers, end = twin.scan_numbers(data, dialect, limit)
                results.append((numbers.tobytes(), end))
            except ScanError as error:
                results.append(vars(error))
        assert results[0] == results[1] == results[2]


def test_the_clause_names_what_a_row_is():
    error = ScanError("columns", row=0, due=5, found=4)
    assert error.describe("an atom line") == "an atom line has 5 columns, this one 4"
    error = ScanError("end", row=2, due=3)
    assert error.describe("an atom line") == "the file ends after 2 of 3 atom lines"
    assert str(error) == "the file ends after 2 of 3 lines"


@pytest.mark.usefixtures("each_engine")
class TestNumbers:
    def test_free_layout(self):
        text = b" 1 2.5\t-3\r\n\n 4e2 \n5"
        numbers, end = scan_numbers(text)
        assert numbers.tolist() == [1, 2.5, -3, 400, 5]
        assert end == len(text)

    def test_a_limit_stops_just_behind_the_number(self):
        text = b"1 2\n3 4\nrest"
        numbers, end = scan_numbers(text, limit=3)
        assert numbers.tolist() == [1, 2, 3]
        assert text[end:] == b" 4\nrest"
        assert scan_numbers(text, limit=0)[1] == 0
        assert scan_numbers(b" \n")[1] == 0
        assert len(scan_numbers(b"")[0]) == 0
        with pytest.raises(ValueError, match="negative"):
            scan_numbers(text, limit=-1)

    def test_fewer_than_the_limit(self):
        assert scan_numbers(b"1 2 \n", limit=9)[0].tolist() == [1, 2]
        assert scan_numbers(b"1 2 \n", limit=9)[1] == 3

    def test_a_bad_token_tells_its_line(self):
        with pytest.raises(ScanError) as caught:
            scan_numbers(b"1 2\n\r\n3 4 five 6\n")
        error = caught.value
        assert (error.kind, error.row, error.column, error.token) == ("number", 2, 2, "five")
        assert error.describe() == "'five' is not a number"

    def test_many(self):
        values = np.random.default_rng(3).normal(size=5000)
        text = "\n".join(map(repr, values.tolist())).encode()
        np.testing.assert_array_equal(scan_numbers(text)[0], values)


@both
def test_skip_lines_against_a_plain_loop(twin):
    rng = random.Random(4)
    for _ in range(60):
        length = rng.choice([0, 1, 50, 9000, 70000])
        data = bytes(rng.choices(b"ab\n", weights=[50, 50, rng.choice([1, 30, 200])], k=length))
        start = rng.randrange(length + 1)
        count = rng.choice([0, 1, 2, 100, 8192, 10**12])
        lines, position = 0, start
        while lines < count and (found := data.find(b"\n", position)) >= 0:
            lines, position = lines + 1, found + 1
        assert twin.skip_lines(data, start, count) == (lines, position)
        assert twin.count_lines(data) == data.count(b"\n")
    with pytest.raises(ValueError, match="start"):
        twin.skip_lines(b"ab", 3, 1)
