"""Declared precision: the quantum, half-even rounding, the edges of its range."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.errors import RecordError
from molrec_convert.model import Column
from molrec_convert.model.precision import checked_precision, decimals_of, quantum, rounded

PRECISIONS = st.floats(2.0**-1000, 2.0**1000)
ANY = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("precision", "due"),
    [(1.0, 1.0), (0.5, 0.5), (1e-3, 2.0**-10), (1.999, 1.0), (2.0, 2.0), (1e-9, 2.0**-30), (2.0**-1000, 2.0**-1000),
     (2.0**1000, 2.0**1000), (math.nextafter(1.0, 0.0), 0.5)],
)  # fmt: skip
def test_quantum(precision, due):
    """The largest power of two not above the precision."""
    assert quantum(precision) == due


@given(PRECISIONS)
def test_quantum_of_any(precision):
    step = quantum(precision)
    assert math.frexp(step)[0] == 0.5
    assert step <= precision < 2 * step


@pytest.mark.parametrize(
    ("value", "due"),
    [(0.3, 0.5), (0.25, 0.0), (0.75, 1.0), (1.25, 1.0), (-0.25, -0.0), (-0.3, -0.5), (-0.0, -0.0), (0.0, 0.0),
     (math.inf, math.inf), (-math.inf, -math.inf), (5e-324, 0.0), (-5e-324, -0.0)],
)  # fmt: skip
def test_half_even_multiples(value, due):
    found = rounded(np.array([value]), 0.5)[0]
    assert (found, math.copysign(1, found)) == (due, math.copysign(1, due))


def test_not_a_number_keeps_its_bits():
    values = np.array([0x7FF8000000000001, 0xFFF8DEADBEEF0000], "u8").view("f8")
    assert rounded(values, 1e-3).view("u8").tolist() == values.view("u8").tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_values_of_2_to_52_quanta_stay_as_they_are(sign):
    """From there on every value is a multiple of half a quantum or more, and is left alone."""
    edge = 2.0**52 * 2.0**-10
    below = math.nextafter(edge, 0.0)
    values = sign * np.array([edge, math.nextafter(edge, math.inf), edge * 3.1, 1e300, below])
    found = rounded(values, 1e-3)
    assert found[:4].tolist() == values[:4].tolist()
    assert found[4] == sign * edge  # half a quantum below, to even


def test_the_smallest_and_the_largest_precision():
    tiny, huge = 2.0**-1000, 2.0**1000
    assert rounded(np.array([1.7 * tiny, 1.0]), tiny).tolist() == [2 * tiny, 1.0]
    assert rounded(np.array([1.7 * huge, 1.0, 1e308]), huge).tolist()[:2] == [2 * huge, 0.0]


@given(ANY, PRECISIONS)
def test_any_value(value, precision):
    found = float(rounded(np.array([value]), precision)[0])
    step = quantum(precision)
    if not math.isfinite(value) or abs(value) >= 2.0**52 * step:
        assert math.isnan(value) or found == value
        return
    exact, unit = Fraction(value), Fraction(step)
    due = round(exact / unit) * unit
    if abs(due) >= 2**1024:  # beyond the largest real, where binary64 has no multiple
        assert math.isinf(found)
        return
    assert Fraction(found) == due
    assert abs(Fraction(found) - exact) <= unit / 2
    assert math.copysign(1, found) == math.copysign(1, value)


@given(ANY, PRECISIONS)
def test_rounding_twice_changes_nothing(value, precision):
    once = rounded(np.array([value]), precision)
    assert rounded(once, precision).view("u8").tolist() == once.view("u8").tolist()


def test_any_shape():
    values = np.arange(6.0).reshape(2, 3) / 10
    assert rounded(values, 0.5).shape == (2, 3)
    assert rounded(np.zeros(0), 0.5).shape == (0,)
    assert Column(values, precision=0.5).values.tolist() == [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, 2.0**-1001, 2.0**1001])
def test_precisions_out_of_range(value):
    with pytest.raises(RecordError, match=r"the precision of a column lies within 2\^-1000 … 2\^1000, not at"):
        checked_precision(value)


@pytest.mark.parametrize("value", [True, "1e-3", None, np.True_, 1j])
def test_precisions_that_are_no_numbers(value):
    with pytest.raises(RecordError, match="the precision of a column is a number, not"):
        checked_precision(value)


def test_precisions_of_numpy():
    assert checked_precision(np.float64(0.5)) == 0.5
    assert checked_precision(np.int64(2)) == 2.0


@given(st.integers(0, 9), st.integers(-(10**7), 10**7))
def test_decimals_come_back_from_the_rounded_value(decimals, number):
    """A precision of 10^-d keeps what was written with d decimals."""
    text = f"{number / 10**decimals:.{decimals}f}"
    precision = 10.0**-decimals
    assert decimals_of(precision) == decimals
    found = f"{rounded(np.array([float(text)]), precision)[0]:.{decimals}f}"
    assert float(found) == float(text)


@pytest.mark.parametrize(("precision", "decimals"), [(0.5, 1), (1.0, 0), (10.0, 0), (0.002, 3), (1e-12, 12)])
def test_decimals_of_other_precisions(precision, decimals):
    assert decimals_of(precision) == decimals
