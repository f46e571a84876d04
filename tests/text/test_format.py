"""Printed numbers: the digits of repr, the layout of C, fixed decimals as Python rounds them."""

import math
import random
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.text.shuffle import shuffle, unshuffle
from molrec_convert.text.table import format_table, scan_table

from .engines import both, thorough


def lines(twin, values, style):
    text = twin.format_table([np.array(values, np.float64)], [style], b" ", b"\n")
    return text.decode().splitlines()


def random_doubles(seed, count):
    rng = random.Random(seed)
    return [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(count)]


def powers_of_two():
    return [math.ldexp(1, power) for power in range(-1074, 1024)]


def every_kind_of_double():
    rng = random.Random(5)
    values = random_doubles(6, 3000) + powers_of_two()
    values += [math.nextafter(value, math.inf) for value in powers_of_two()]
    values += [math.nextafter(value, 0) for value in powers_of_two()]
    values += [rng.uniform(-100, 100) for _ in range(2000)]
    values += [round(rng.uniform(-1000, 1000), rng.randrange(16)) for _ in range(4000)]
    values += [float(10**k) for k in range(23)] + [float(f"1e{k}") for k in range(-330, 309)]
    values += [float(rng.getrandbits(k)) for k in range(64)]
    values += [9007199254740993.0, 999999999999999.0, 99999999999999.9, 123456.0, 1234567.0, 0.0]
    return [*values, -0.0, math.inf, -math.inf, math.nan]


@both
def test_style_r_is_repr(twin):
    values = every_kind_of_double()
    assert lines(twin, values, "r") == [repr(value) for value in values]


@both
def test_style_g_reads_back_exactly_and_has_the_digits_of_repr(twin):
    values = every_kind_of_double()
    for value, text in zip(values, lines(twin, values, "g"), strict=True):
        assert repr(float(text)) == repr(value)
        mantissa = text.partition("e")[0]
        assert not (mantissa.endswith("0") and "." in mantissa)
        if math.isfinite(value) and value:
            wanted = repr(abs(value)).partition("e")[0].replace(".", "").strip("0")
            found = mantissa.lstrip("-").replace(".", "").strip("0")
            assert found == wanted
            # C's %g with that many digits, at least six, lays it out the same way; at a power
            # of two its nearest decimal may not read back.
            printed = f"{value:.{max(6, len(wanted))}g}"
            if abs(value) > 1e-300 and float(printed) == value:
                assert text == printed


@both
def test_six_digits_are_printed_as_c_prints_them(twin):
    rng = random.Random(7)
    texts = ["%.6g" % (rng.uniform(-10, 10) * 10 ** rng.randrange(-12, 12)) for _ in range(5000)]
    assert lines(twin, [float(text) for text in texts], "g") == texts


@both
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "-0"),
        (0.0, "0"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (1234567.0, "1234567"),
        (12345670.0, "1.234567e+07"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5e-100, "1.5e-100"),
        (5e-324, "5e-324"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_layout(twin, value, text):
    assert lines(twin, [value], "g") == [text]


@both
@pytest.mark.parametrize("decimals", [0, 1, 3, 6, 8, 15, 17, 18, 30, 400])
def test_fixed_decimals_are_those_of_python(twin, decimals):
    values = every_kind_of_double()[::7]
    values += [0.5, 1.5, 2.5, 0.125, 0.375, -0.0001, 0.0005, 1.0005, 2.675, 1e15, 1e16, 1e17, 1e22]
    values += [k / 16 for k in range(-40, 40)] + [-0.0, math.inf, math.nan, 1.7e308, 5e-324]
    assert lines(twin, values, decimals) == [f"{value:.{decimals}f}" for value in values]


@both
@thorough
@given(st.lists(st.floats(), max_size=30), st.integers(0, 20))
def test_any_doubles(twin, values, decimals):
    assert lines(twin, values, "r") == [repr(value) for value in values]
    assert lines(twin, values, decimals) == [f"{value:.{decimals}f}" for value in values]
    assert list(map(float, lines(twin, values, "g"))) == pytest.approx(values, rel=0, nan_ok=True)


@both
def test_a_column_that_changes_its_decimals(twin):
    values = [0.1, 1 / 3, 0.25, 2 / 3, 1e-9] * 30 + [0.1] * 30 + [1e9 + 0.5]
    assert lines(twin, values, "r") == [repr(value) for value in values]


@pytest.mark.usefixtures("each_engine")
class TestTable:
    def test_columns_of_every_kind(self):
        words = (np.array([1, 0, 1], np.int32), [b"O", b"Si"])
        columns: list[Any] = [
            words,
            np.array([1.5, -2, 1e-7]),
            np.array([-(2**63), 0, 2**63 - 1]),
            np.array([0, 9, 2**64 - 1], np.uint64),
            np.array([-(2**31), -1, 99], np.int32),
            np.array([True, False, True]),
        ]
        text = format_table(columns, [None, 2, None, None, None, None])
        assert text == (
            b"Si 1.50 -9223372036854775808 0 -2147483648 T\n"
            b"O -2.00 0 9 -1 F\n"
            b"Si 0.00 9223372036854775807 18446744073709551615 99 T\n"
        )

    def test_separator_and_terminator(self):
        column = np.arange(2)
        assert format_table([column, column], separator=b", ", terminator=b"\r\n") == (b"0, 0\r\n1, 1\r\n")
        assert format_table([column], terminator=b"") == b"01"

    def test_nothing(self):
        assert format_table([]) == b""
        assert format_table([np.array([])]) == b""

    def test_strides_byte_order_and_other_widths(self):
        table = np.arange(6.0).reshape(3, 2)
        assert format_table([table[:, 1], table[::-1, 0]]) == b"1 4\n3 2\n5 0\n"
        swapped = [np.arange(2, dtype=">f8"), np.arange(2, dtype=">i4"), np.arange(2, dtype=">u8")]
        assert format_table(swapped) == b"0 0 0\n1 1 1\n"
        narrow = [np.array([1], kind) for kind in ("i1", "u1", "i2", "u2", "u4", "f4", "f2")]
        assert format_table(narrow) == b"1 1 1 1 1 1 1\n"
        assert format_table([(np.array([0], ">i4"), [b"x"])]) == b"x\n"
        readonly = np.arange(2.0)
        readonly.flags.writeable = False
        assert format_table([readonly]) == b"0\n1\n"

    def test_long_words(self):
        word = b"w" * 1000
        assert format_table([(np.zeros(50, np.int32), [word])]) == (word + b"\n") * 50

    def test_refused(self):
        with pytest.raises(ValueError, match="differ in length"):
            format_table([np.arange(2), np.arange(3)])
        with pytest.raises(ValueError, match="one style"):
            format_table([np.arange(2)], [])
        with pytest.raises(ValueError, match="a style is"):
            format_table([np.arange(2.0)], ["x"])
        with pytest.raises(ValueError, match="decimals"):
            format_table([np.arange(2.0)], [-1])
        with pytest.raises(TypeError, match="a column is"):
            format_table([np.array([1j])])
        with pytest.raises(TypeError, match="int32"):
            format_table([(np.array([0]), [b"x"])])
        for codes in ([-1], [1]):
            with pytest.raises(IndexError, match="no word"):
                format_table([(np.array(codes, np.int32), [b"x"])])

    def test_what_is_printed_is_read_back(self):
        rng = np.random.default_rng(8)
        columns = [rng.normal(size=500), rng.integers(-(10**18), 10**18, 500)]
        again = scan_table(format_table(columns), "di", 500).columns
        for column, found in zip(columns, again, strict=True):
            np.testing.assert_array_equal(column, found)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 64, 65, 1000, 4103])
def test_shuffle(itemsize, length):
    data = np.random.default_rng(9).bytes(length)
    items = length // itemsize
    wanted = b"".join(data[k : items * itemsize : itemsize] for k in range(itemsize))
    shuffled = shuffle(data, itemsize)
    assert shuffled == wanted + data[items * itemsize :]
    assert unshuffle(shuffled, itemsize) == data


@pytest.mark.usefixtures("each_engine")
def test_shuffle_needs_an_item():
    for turn in (shuffle, unshuffle):
        with pytest.raises(ValueError, match="itemsize"):
            turn(b"abc", 0)


@both
class TestWidths:
    def test_columns_are_filled_up_on_the_left(self, twin):
        columns = [
            np.array([1, -22], np.int64),
            np.array([0.5, -1000.25]),
            (np.array([1, 0], np.int32), [b"a", b"bcd"]),
        ]
        text = twin.format_table(columns, [None, 3, None], b"|", b"\n", [4, 9, 2])
        assert text == b"   1|    0.500|bcd\n -22|-1000.250| a\n"

    def test_what_is_wider_is_not_cut(self, twin):
        assert twin.format_table([np.array([12345, 1], np.int64)], [None], b"", b"", [3]) == b"12345  1"

    def test_a_width_wider_than_any_number(self, twin):
        assert twin.format_table([np.array([1.5])], ["g"], b"", b"\n", [400]) == b"1.5".rjust(400) + b"\n"

    def test_each_column_needs_one(self, twin):
        with pytest.raises(ValueError, match="each column needs one width"):
            twin.format_table([np.array([1.5])], ["g"], b"", b"", [1, 2])
