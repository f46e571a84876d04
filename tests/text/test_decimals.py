"""Numbers as they are read back where they are printed with so many decimals."""

import numpy as np
import pytest

from molrec_convert.text.decimals import as_printed


def printed(values, decimals):
    return np.array([float(f"{value:.{decimals}f}") for value in values.tolist()])


def same(one, other):
    """To the bit; a NaN is the same as another."""
    return bool(((one.view("u8") == other.view("u8")) | (np.isnan(one) & np.isnan(other))).all())


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 6, 15, 22, 23, 40])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4, 1e9, 1e16, 1e300])
def test_any_numbers(decimals, size):
    values = np.random.default_rng(decimals).normal(size=500) * size
    assert same(as_printed(values, decimals), printed(values, decimals))


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 6, 15])
def test_numbers_of_so_many_decimals_stay(decimals):
    values = np.round(np.random.default_rng(1).normal(size=5000) * 1000, decimals)
    values = np.array([float(f"{value:.{decimals}f}") for value in values.tolist()])
    assert same(as_printed(values, decimals), values)
    neighbours = np.nextafter(values, np.inf)
    assert same(as_printed(neighbours, decimals), printed(neighbours, decimals))


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_halves(decimals):
    """A number near a half of the last decimal, and what lies beside it."""
    halves = (np.arange(-2000, 2000) + 0.5) / 10.0**decimals
    for values in (halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)):
        assert same(as_printed(values, decimals), printed(values, decimals))


def test_odd_numbers():
    values = np.array([0.0, -0.0, -0.0004, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308])
    found = as_printed(values, 3)
    assert same(found, printed(values, 3))
    assert np.signbit(found[:3]).tolist() == [False, True, True]
    assert as_printed(np.zeros(0), 3).size == 0
