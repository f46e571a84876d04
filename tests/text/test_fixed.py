"""Fixed columns: fields, blanks, marks, faults with their exact attributes; the search for a marked line."""

import io
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.text import _fallback
from molrec_convert.text.fixed import Field, ScanError, line_of_row, scan_again, scan_fixed
from molrec_convert.text.streams import open_stream
from molrec_convert.text.window import Window

from .engines import NATIVE, both, built, thorough

LAYOUT = [Field(0, 6, "s"), Field(6, 11, "i"), Field(11, 16, "r"), Field(16, 24, "d"), Field(24, 32, "d")]


@pytest.mark.usefixtures("each_engine")
class TestFields:
    def test_fields_of_every_kind(self):
        text = b"ATOM      1 CA  1428.327-130.277\r\nHETATM  -12  CA    1.5e1        \nnot looked at"
        columns, valid, rows, end, terminated, others = scan_fixed(text, LAYOUT, 2)
        (codes, words), serial, (raw_codes, raw), x, y = columns
        assert words == [b"ATOM", b"HETATM"]
        assert codes.dtype == np.int32
        assert serial.dtype == np.int64
        assert serial.tolist() == [1, -12]
        assert [raw[code] for code in raw_codes] == [b" CA  ", b"  CA "]
        assert x.tolist() == [1428.327, 15.0]
        assert y.tolist() == [-130.277, 0.0]
        assert [None if mask is None else mask.tolist() for mask in valid] == [None, None, None, None, [True, False]]
        assert (rows, terminated, others.shape) == (2, True, (0, 3))
        assert text[end:] == b"not looked at"

    def test_unsigned(self):
        columns, *_ = scan_fixed(b"  7\n+8\n", [Field(0, 3, "u")])
        assert columns[0].dtype == np.uint64
        assert columns[0].tolist() == [7, 8]

    def test_a_number_ends_with_its_field(self):
        layout = [Field(0, 3, "i"), Field(3, 7, "d"), Field(7, 9, "u")]
        columns, *_ = scan_fixed(b"1232.5127e1\n", layout)
        assert [column.tolist() for column in columns] == [[123], [2.51], [27]]

    @pytest.mark.parametrize("line", [b"", b"AT", b"ATOM  ", b"ATOM\t   "])
    def test_what_a_line_is_too_short_for_is_blank(self, line):
        columns, valid, *_ = scan_fixed(line + b"\n", LAYOUT)
        assert [columns[k].tolist() for k in (1, 3, 4)] == [[0], [0.0], [0.0]]
        assert [valid[k].tolist() for k in (1, 3, 4)] == [[False]] * 3

    def test_the_last_line_needs_no_end(self):
        columns, _, rows, end, terminated, _ = scan_fixed(b" 1\n 2\r", [Field(0, 2, "i")])
        assert (columns[0].tolist(), rows, end, terminated) == ([1, 2], 2, 6, False)

    def test_no_lines(self):
        columns, _, rows, end, terminated, _ = scan_fixed(b"", LAYOUT)
        assert (rows, end, terminated, columns[0][1], len(columns[1])) == (0, 0, True, [], 0)

    def test_no_rows_of_some(self):
        assert scan_fixed(b"1\n", LAYOUT, 0)[2:5] == (0, 0, True)

    def test_a_claim_of_many_rows_costs_nothing(self):
        with pytest.raises(ScanError) as caught:
            scan_fixed(b" 1\n" * 5, [Field(0, 2, "i")], 10**15)
        assert (caught.value.kind, caught.value.row, caught.value.due) == ("end", 5, 10**15)

    def test_any_buffer(self):
        for data in (bytearray(b" 1\n"), memoryview(b"x 1\n")[1:]):
            assert scan_fixed(data, [Field(0, 2, "i")]).columns[0].tolist() == [1]

    def test_words_keep_odd_bytes(self):
        columns, *_ = scan_fixed(b" \xff\0\x0b \n \xe4\xb8\xad\n", [Field(0, 5, "s"), Field(0, 5, "r")])
        assert columns[0][1] == [b"\xff\0\x0b", b"\xe4\xb8\xad"]
        assert columns[1][1] == [b" \xff\0\x0b ", b" \xe4\xb8\xad"]

    @pytest.mark.parametrize(
        ("layout", "rows"), [([Field(0, 1, "x")], 1), ([Field(0, 1, "")], 1), ([Field(2, 1, "i")], 1), ([], -2)]
    )
    def test_bad_requests(self, layout, rows):
        with pytest.raises(ValueError, match=r"kind|rows|ends before"):
            scan_fixed(b"1\n", layout, rows)


@pytest.mark.usefixtures("each_engine")
class TestMarks:
    TEXT = b"REMARK 1\nATOM  1\nTER\r\natom  2\nATO\nHETATM3\nEND"

    def test_other_lines_are_listed(self):
        columns, _, rows, _, terminated, others = scan_fixed(
            self.TEXT, [Field(6, 7, "i")], marks=[b"ATOM  ", b"hetatm"]
        )
        assert columns[0].tolist() == [1, 2, 3]
        assert (rows, terminated) == (3, False)
        assert others.dtype == np.int64
        assert others[:, 0].tolist() == [0, 2, 4, 6]
        assert [self.TEXT[start:stop] for _, start, stop in others.tolist()] == [b"REMARK 1", b"TER", b"ATO", b"END"]
        assert [line_of_row(row, others) for row in range(3)] == [1, 3, 5]

    def test_so_many_rows_among_others(self):
        scan = scan_fixed(self.TEXT, [], 2, marks=[b"ATOM"])
        assert (scan.rows, self.TEXT[scan.end :][:3], scan.others[:, 0].tolist()) == (2, b"ATO", [0, 2])

    def test_a_fault_names_row_and_line(self):
        with pytest.raises(ScanError) as caught:
            scan_fixed(b"TER\nATOM  1\nTER\nATOM  x\n", [Field(0, 4, "s"), Field(6, 7, "i")], marks=[b"ATOM"])
        fault = caught.value
        assert (fault.kind, fault.row, fault.column, fault.found, fault.due) == ("number", 1, 1, 3, 2)
        assert (fault.letter, fault.token) == ("i", "x")
        assert str(fault) == "'x' is not an integer"


# fields, data, and what is wrong: kind, row, column, letter, token
FAULTS = [
    ([Field(0, 3, "d")], b"1.5\n1 5\n", "number", 1, 0, "d", "1 5"),
    ([Field(0, 3, "d")], b"***\n", "number", 0, 0, "d", "***"),
    ([Field(0, 3, "d"), Field(3, 6, "i")], b"1.51.5\n", "number", 0, 1, "i", "1.5"),
    ([Field(0, 3, "i"), Field(3, 6, "d")], b"  1  2\n  x  y\n", "number", 1, 0, "i", "x"),
    ([Field(0, 3, "u")], b" -1\n", "number", 0, 0, "u", "-1"),
    ([Field(0, 3, "d")], b"1_0", "number", 0, 0, "d", "1_0"),
    ([Field(0, 25, "i")], b"9223372036854775808\n", "range", 0, 0, "i", "9223372036854775808"),
]


@both
@pytest.mark.parametrize(("layout", "data", "kind", "row", "column", "letter", "token"), FAULTS)
def test_faults(twin, layout, data, kind, row, column, letter, token):
    with pytest.raises(ScanError) as caught:
        twin.scan_fixed(data, [tuple(field) for field in layout], -1, [])
    fault = caught.value
    assert (fault.kind, fault.row, fault.column, fault.letter, fault.token) == (kind, row, column, letter, token)
    assert (fault.found, fault.due) == (row, len(layout))


def outcome(twin, *arguments):
    """What a twin finds or why it stops, as plain values."""
    try:
        columns, masks, *rest, others = twin.scan_fixed(*arguments)
    except ScanError as fault:
        return fault.kind, fault.row, fault.column, fault.found, fault.due, fault.letter, fault.token
    plain = [(part[0].tolist(), part[1]) if isinstance(part, tuple) else part.tolist() for part in columns]
    return repr(plain), [None if mask is None else mask.tolist() for mask in masks], rest, others.tolist()


LINES = st.lists(
    st.sampled_from([b"A", b"a", b"B", b""]).flatmap(
        lambda mark: st.text("0123456789.-+eE \t\rx*", max_size=12).map(lambda text: mark + text.encode())
    ),
    max_size=6,
)
LAYOUTS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from("diusr")).map(
        lambda field: (min(field[:2]), max(field[:2]), field[2])
    ),
    max_size=4,
)


@built
class TestTwins:
    @thorough
    @given(LINES, st.booleans(), LAYOUTS, st.integers(-1, 6), st.sampled_from([[], [b"A"], [b"a1", b"B"]]))
    def test_the_same_of_anything(self, lines, ended, layout, rows, marks):
        data = b"\n".join(lines) + (b"\n" if ended else b"")
        native, fallback = (outcome(engine, data, layout, rows, marks) for engine in (NATIVE, _fallback))
        assert native == fallback

    def test_the_same_of_many_lines(self):
        random_ = random.Random(5)
        lines = [
            b"ATOM  %5d %-4s%8.3f%8.3f" % (k, b"C%d" % (k % 700), random_.uniform(-999, 9999), random_.uniform(-9, 9))
            for k in range(5000)
        ]
        lines[::7] = [b"TER"] * len(lines[::7])
        data = b"\n".join(lines)
        layout = [(0, 6, "s"), (6, 11, "i"), (12, 16, "r"), (16, 24, "d"), (24, 32, "d")]
        native, fallback = (outcome(engine, data, layout, -1, [b"ATOM"]) for engine in (NATIVE, _fallback))
        assert native == fallback

    @thorough
    @given(LINES, st.booleans(), st.integers(0, 5), st.sampled_from([[b"A"], [b"a1", b"B"], []]))
    def test_the_same_line_is_found(self, lines, ended, start, marks):
        data = b"\n".join(lines) + (b"\n" if ended else b"")
        start = min(start, len(data))
        native, fallback = (engine.find_line(data, start, marks) for engine in (NATIVE, _fallback))
        assert native == fallback


@both
def test_find_line(twin):
    text = b"one\ntwo\nEND\nthree"
    assert twin.find_line(text, 0, [b"end"]) == (2, 8)
    assert twin.find_line(text, 8, [b"END"]) == (0, 8)
    assert twin.find_line(text, 0, [b"x"]) == (3, 12)
    with pytest.raises(ValueError, match="behind the end"):
        twin.find_line(text, 99, [b"x"])


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("chunk", [1, 2, 5, 64])
class TestSkipUntil:
    TEXT = b"header\nATOM 1\nATOM 2\r\nend\nEN"

    def window(self, chunk, text=TEXT):
        return Window(open_stream(None, file=io.BytesIO(text)), chunk=chunk)

    def test_lines_are_passed(self, chunk):
        window = self.window(chunk)
        assert window.skip_until([b"ATOM"]) == 1
        assert (window.line, window.offset) == (2, 7)
        assert window.skip_until([b"ATOM", b"END"]) == 0
        window.mark()
        assert window.skip_until([b"END"]) == 2
        assert window.take() == b"ATOM 1\nATOM 2\r\n"
        assert window.next_line() == b"end"
        assert window.skip_until([b"END"]) == 1
        assert window.at_end()
        assert (window.line, window.terminated) == (6, False)
        assert window.skip_until([b"END"]) == 0

    def test_a_mark_at_the_end(self, chunk):
        window = self.window(chunk, b"one\nEND")
        assert window.skip_until([b"END"]) == 1
        assert window.next_line() == b"END"

    def test_nothing(self, chunk):
        assert self.window(chunk, b"").skip_until([b"END"]) == 0


AGAIN = [Field(5, 10, "d"), Field(10, 16, "d")]
ROWS = b"Atom  1.25-10.50 C\nTITLE\nATOM  2.50  0.00 N\r\nEND\n"


@pytest.mark.usefixtures("each_engine")
class TestAgain:
    def test_rows_that_differ_in_their_numbers(self):
        text = ROWS.replace(b"1.25-10.50", b"3.75   -.5").replace(b"TITLE", b"a line more\nand one\r")
        columns, rows, others = scan_again(text, ROWS, AGAIN, marks=[b"ATOM"])
        assert [column.tolist() for column in columns] == [[3.75, 2.5], [-0.5, 0.0]]
        assert (rows, others.tolist()) == (2, scan_fixed(text, AGAIN, marks=[b"atom"]).others.tolist())

    def test_the_other_text_again_and_again(self):
        columns, rows, others = scan_again(ROWS * 3, ROWS, AGAIN, marks=[b"ATOM"])
        assert (rows, columns[1].tolist(), others[:, 0].tolist()) == (6, [-10.5, 0.0] * 3, [1, 3, 5, 7, 9, 11])

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            ROWS[:-1],
            ROWS + ROWS[:19],
            ROWS.replace(b"C\n", b"D\n"),
            ROWS.replace(b"Atom", b"ATOM"),
            ROWS.replace(b"C\n", b"C \n"),
            ROWS.replace(b" C\n", b"\n"),
            ROWS.replace(b"1.25-10.50", b"1.25      "),
            ROWS.replace(b"1.25-10.50", b"1.25-10.5x"),
            ROWS.replace(b"1.25-10.50", b"1.25\n    1"),
            ROWS.replace(b"1.25-10.50", b"1.25      1"),
            ROWS[19:],
        ],
    )
    def test_others(self, text):
        assert scan_again(text, ROWS, AGAIN, marks=[b"ATOM"]) is None

    def test_a_last_line_without_its_end(self):
        assert scan_again(ROWS[:19] * 2, ROWS[:19] + ROWS[:18], AGAIN, marks=[b"ATOM"]) is None
        assert scan_again(ROWS[:19] + ROWS[:18], ROWS[:19], AGAIN, marks=[b"ATOM"]) is None

    def test_a_text_without_rows(self):
        assert scan_again(ROWS, b"END\n", AGAIN, marks=[b"ATOM"]) is None
        assert scan_again(b"ATOM  1.25-10.50\n", b"ATOM  1.25\n", AGAIN, marks=[b"ATOM"]) is None

    @pytest.mark.parametrize(
        "fields", [[], [Field(3, 6, "d")], [Field(8, 6, "d")], [Field(5, 6, "d"), Field(7, 8, "d")]]
    )
    def test_fields_that_are_refused(self, fields):
        with pytest.raises(ValueError, match=r"a field begins where|stand behind the marks"):
            scan_again(ROWS, ROWS, fields, marks=[b"ATOM"])


@built
@thorough
@given(
    st.integers(1, 10),
    st.lists(
        st.one_of(
            st.tuples(st.floats(-1e6, 1e6), st.integers(0, 6)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
            st.text(" -+.0123456789e\t\n", max_size=10),
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_fields_of_any_width(width, words, right):
    cut = [(word.rjust(width) if right else word.ljust(width))[:width].encode() for word in words]
    layout = [(4 + width * k, 4 + width * (k + 1)) for k in range(len(words))]
    like, data = b"ROW " + b"1" * width * len(words) + b";\n", b"ROW " + b"".join(cut) + b";\n"
    found, due = (twin.scan_again(data, like, layout, [b"ROW"]) for twin in (NATIVE, _fallback))
    assert (found is None) == (due is None)
    if found is not None:
        assert [column.tobytes() for column in found[0]] == [column.tobytes() for column in due[0]]
        whole = NATIVE.scan_fixed(data, [(*place, "d") for place in layout], -1, [])
        assert [column.tobytes() for column in found[0]] == [column.tobytes() for column in whole[0]]
