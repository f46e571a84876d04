"""Columns: the thirteen types, masks, precision."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Column
from molrec_convert.model.dtypes import CANONICAL, DTYPES, STRING, same_bits


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], "i64"),
        ([1.0, 2], "f64"),
        ([True, False], "bool"),
        (["a", ""], "string"),
        ([1j, 2], "c128"),
        ([2**63], "u64"),
        ([2**63, 1], "u64"),
        ([], "f64"),
        ([[]], "f64"),
        ((1, 2), "i64"),
        (range(3), "i64"),
        (np.array(["a", "bc"]), "string"),
        (np.array(["a", "b"], dtype=object), "string"),
        (np.array([1, 2], ">i4"), "i32"),
        (np.array([1.0], ">f8"), "f64"),
        (np.zeros(0, "i2"), "i16"),
        *((np.zeros(2, dtype), name) for name, dtype in DTYPES.items()),
    ],
)
def test_types(values, dtype):
    column = Column(values)
    assert column.dtype == dtype
    assert column.values.dtype == DTYPES[dtype]
    assert column.values.flags.c_contiguous
    assert column.values.tolist() == np.asarray(values).tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(2, "f4"), "a column cannot be float32: floats are f64, and a narrower one is never widened silently"),
        (np.zeros(2, "f2"), "a column cannot be float16: floats are f64, and a narrower one is never widened silently"),
        (np.array([b"a"]), "a column cannot be |S1"),
        (np.array(["2024"], "M8[Y]"), "a column cannot be datetime64[Y]"),
        ([object()], "a column cannot hold objects of type object"),
        (["a", None], "a column cannot hold objects of type NoneType, str"),
        ([-1, 2**63], "a column holds an integer outside i64 and u64"),
        ([2**64], "a column holds an integer outside i64 and u64"),
        (["a\0b"], "a column 'a\\x00b' holds a NUL or a lone surrogate"),
        (["\ud800"], "a column '\\ud800' holds a NUL or a lone surrogate"),
        (np.array(["a\0b"], STRING), "a column holds a string with a NUL"),
        (1.5, "a column has one value a row, not a single value"),
        ("abc", "a column has one value a row, not a single value"),
    ],
)
def test_what_is_no_column(values, message):
    with pytest.raises(RecordError) as caught:
        Column(values)
    assert str(caught.value) == message


def test_axes_after_the_first():
    column = Column(np.zeros((4, 3, 0)))
    assert (len(column), column.trailing) == (4, (3, 0))
    assert column.describe() == "f64[N][3][0]"
    assert Column(np.asfortranarray(np.arange(6.0).reshape(2, 3))).values.flags.c_contiguous


def test_a_mask():
    column = Column([1, 2, 3], valid=[True, False, True])
    assert column.valid.tolist() == [True, False, True]
    assert column.describe() == "i64[N], 1 null"
    assert Column([1, 2], valid=[True, True]).valid is None
    for valid in ([True], [1, 0, 1], [[True], [False], [True]]):
        with pytest.raises(RecordError, match=r"a mask is bool\[3\], not "):
            Column([1, 2, 3], valid=valid)


def test_precision_is_for_reals():
    assert Column([1.0], precision=1e-3).precision == 1e-3
    with pytest.raises(RecordError, match="only an f64 column declares a precision, not i64"):
        Column([1], precision=1e-3)
    with pytest.raises(RecordError, match="only an f64 column declares a precision, not c128"):
        Column([1j], precision=1e-3)


def test_the_source_is_not_rounded_in_place():
    values = np.array([0.3, 0.7])
    column = Column(values, precision=0.5)
    assert column.values.tolist() == [0.5, 0.5]
    assert values.tolist() == [0.3, 0.7]


def test_rows():
    column = Column([1.0, 2.0, 3.0], valid=[True, False, True], precision=0.5)
    picked = column.rows(np.array([2, 1]))
    assert (picked.values.tolist(), picked.valid.tolist(), picked.precision) == ([3.0, 2.0], [True, False], 0.5)
    assert column.rows(slice(0, 1)).valid is None
    assert len(column.rows(np.array([], int))) == 0


def test_same():
    assert Column([np.nan, -0.0]).same(Column([np.nan, -0.0]))
    assert not Column([0.0]).same(Column([-0.0]))
    assert not Column([1]).same(Column([1.0]))
    assert not Column([1.0]).same(Column([1.0], precision=1.0))
    assert not Column([1, 2]).same(Column([1, 2], valid=[True, False]))
    assert not Column([1, 2], valid=[False, True]).same(Column([1, 2], valid=[True, False]))
    assert not Column([1, 2]).same(Column([1, 2, 3]))
    assert Column(["a"]).same(Column(np.array(["a"])))


def test_same_bits_of_complex_numbers():
    assert same_bits(np.array([complex(np.nan, -0.0)]), np.array([complex(np.nan, -0.0)]))
    assert not same_bits(np.array([0j]), np.array([-0j]))
    one = np.array([1 + 2j], "c8")
    assert same_bits(one, one.copy())


def test_repr():
    assert repr(Column([1.5, 2, 3, 4, 5], precision=1e-3)) == "Column(f64[N], precision 0.001: 1.5 2.0 3.0 4.0 …)"
    assert repr(Column(["a"])) == "Column(string[N]: a)"
    assert repr(Column([])) == "Column(f64[N]: )"


def test_canonical_names_have_types_that_exist():
    assert set(CANONICAL.values()) <= set(DTYPES)
    assert CANONICAL["id"] == "u64"
    assert CANONICAL["ix"] == "i32"
