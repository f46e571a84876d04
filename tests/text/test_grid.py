"""Printed grids: the digits of C's ``%E``, fields that never run together, rows that begin lines."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.text.grid import format_grid
from molrec_convert.text.table import scan_numbers

from .engines import both, thorough
from .test_format import every_kind_of_double


def printed(twin, values, decimals):
    text = twin.format_grid([np.array(values, np.float64)], 1, 1, 0, decimals, b"")
    return text.decode().splitlines()


def due(value, decimals):
    return f"{value:.{decimals}E}" if math.isfinite(value) else repr(value)


def near_halves(decimals, count):
    """Numbers that lie on, just below and just above the middle of two printed ones."""
    rng = random.Random(decimals)
    for _ in range(count):
        digits = rng.randrange(10**decimals, 10 ** (decimals + 1))
        middle = float(f"{digits}5e{rng.randrange(-300, 290)}")
        yield from (middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf))


@both
@pytest.mark.parametrize("decimals", [0, 1, 5, 6, 9, 10, 14, 16, 17, 30])
def test_the_digits_are_those_of_python(twin, decimals):
    values = [*every_kind_of_double(), *near_halves(min(decimals, 15), 500)]
    values += [0.5, 1.5, 2.5, 0.125, 1000005.0, 1000015.0, 123456.5, 1234565.0, 9.999995, 9.9999949999]
    values += [9.999995e99, 9.999994e99, 9.9999951e-100, 1e99, 1e-99, 1e-100, 1e280, 1e-280]
    values += [-value for value in values]
    assert printed(twin, values, decimals) == [due(value, decimals) for value in values]


@both
@thorough
@given(st.lists(st.floats(), max_size=30), st.integers(0, 20))
def test_any_doubles(twin, values, decimals):
    assert printed(twin, values, decimals) == [due(value, decimals) for value in values]


@pytest.mark.usefixtures("each_engine")
class TestGrid:
    def test_rows_begin_lines(self):
        text = format_grid([np.arange(8.0)], 4, per_line=3, decimals=1)
        assert text == (
            b"  0.0E+00  1.0E+00  2.0E+00\n  3.0E+00\n"
            b"  4.0E+00  5.0E+00  6.0E+00\n  7.0E+00\n"
        )  # fmt: skip

    def test_a_full_last_line_of_a_row_is_followed_by_one_line_end(self):
        assert format_grid([np.arange(4.0)], 2, per_line=2, decimals=0, width=6) == b" 0E+00 1E+00\n 2E+00 3E+00\n"

    def test_fields_of_a_point_stand_side_by_side(self):
        text = format_grid([np.array([1.0, 2]), np.array([-1.0, -2]), np.array([7.0, 8])], 2, per_line=4, decimals=0)
        assert text == b"   1E+00  -1E+00   7E+00   2E+00\n  -2E+00   8E+00\n"

    def test_the_columns_of_gaussian(self):
        values = np.array([3.48890e-24, -8.63846e-24, 0, 5.05411e23, -1, 1e6, 1])
        assert format_grid([values], 7) == (
            b"  3.48890E-24 -8.63846E-24  0.00000E+00  5.05411E+23 -1.00000E+00  1.00000E+06\n  1.00000E+00\n"
        )

    def test_a_number_that_fills_its_field_is_set_off_by_a_blank(self):
        values = np.array([-1e-101, -1e101, 1e101, -1, -1e100, 1])
        text = format_grid([values], 6, per_line=5)
        assert text == b"-1.00000E-101 -1.00000E+101 1.00000E+101 -1.00000E+00 -1.00000E+100\n  1.00000E+00\n"
        assert scan_numbers(text)[0].tolist() == values.tolist()
        narrow = format_grid([values], 3, width=3, decimals=0)
        assert narrow == b"-1E-101 -1E+101 1E+101\n-1E+00 -1E+100 1E+00\n"

    def test_all_numbers_are_wide(self):
        values = np.full(1000, -1.25e-200)
        assert scan_numbers(format_grid([values, values], 10))[0].tolist() == [-1.25e-200] * 2000

    def test_a_head_stands_first(self):
        assert format_grid([np.zeros(1)], 1, head=b"head\n") == b"head\n  0.00000E+00\n"
        assert format_grid([np.zeros(0)], 0, head=b"head\n") == b"head\n"
        assert format_grid([], 3) == b""

    def test_strides_byte_order_and_other_types(self):
        table = np.arange(6.0).reshape(3, 2)
        assert format_grid([table[::-1, 1]], 3, decimals=0) == b"   5E+00   3E+00   1E+00\n"
        for values in (np.arange(2, dtype=">f8"), np.arange(2), np.arange(2, dtype="f4")):
            assert format_grid([values], 2, decimals=0) == b"   0E+00   1E+00\n"
        fixed = np.ones(1)
        fixed.flags.writeable = False
        assert format_grid([fixed], 1, decimals=0) == b"   1E+00\n"

    def test_six_digits_are_printed_as_they_were_read(self):
        rng = np.random.default_rng(3)
        texts = [f"{value:.5E}" for value in (rng.normal(size=20000) * 10.0 ** rng.integers(-40, 40, 20000)).tolist()]
        assert format_grid([np.array(texts, dtype=np.float64)], 20000).split() == [text.encode() for text in texts]

    def test_refused(self):
        for fields, row, message in (
            ([np.zeros(4)], 3, "whole rows"),
            ([np.zeros(4)], 0, "whole rows"),
            ([np.zeros(4), np.zeros(2)], 2, "differ in length"),
            ([np.zeros((2, 2))], 2, "one axis"),
        ):
            with pytest.raises(ValueError, match=message):
                format_grid(fields, row)
        for decimals in (-1, 1001):
            with pytest.raises(ValueError, match="decimals"):
                format_grid([np.zeros(1)], 1, decimals=decimals)
        with pytest.raises(ValueError, match="at least one"):
            format_grid([np.zeros(1)], 1, per_line=0)
