# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of frame-shaped sections: columns, their types, masks and precisions."""

import math

import h5py
import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Column, Frame
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.precision import LARGEST, SMALLEST, quantum

from ..frames import u64
from ..records.builders import every_dtype, values_of
from .bench import cases_of

NAN, INF = math.nan, math.inf
TWO = {"atoms": Block({"x": [0.0, 1.0], "id": u64(1, 2), "q": Column([1.0, 2.0], valid=[True, False])})}


# ---------------------------------------------------------------- nullable columns
def case_nullable_columns(bench):
    valid = np.array([True, False, True])
    columns = {name: Column(values_of(name, 3), valid=valid) for name in DTYPES}
    columns["all"] = Column([1.0, 2.0, 3.0], valid=np.ones(3, bool))
    columns["none"] = Column(u64(1, 2, 3), valid=np.zeros(3, bool))
    columns["vector"] = Column(np.arange(6.0).reshape(3, 2), valid=valid)
    found = bench.comes_back(Frame({"b": Block(columns)}))["b"]
    assert found.column("all").valid is None
    assert found.column("none").valid.tolist() == [False] * 3
    with bench.change() as tree:  # the values of null rows are carried, and an all-true mask is no mask
        assert tree.values("frame/b/vector")[1].tolist() == [2.0, 3.0]
        tree.put("frame/b/_validity/u64", np.ones(3, bool))
    with bench.reading() as record:
        assert record.frame["b"].column("u64").valid is None


def _with_mask(bench, mask, words):
    bench.write(frame=Frame(TWO))
    with bench.change() as tree:
        tree.put("frame/atoms/_validity/q", mask)
    bench.is_refused(words, "/frame/atoms/_validity/q")
    with pytest.raises(RecordError, match=r"a mask is bool\[2\]"):
        Column([1.0, 2.0], valid=mask)


def case_reject_mask_length_mismatch(bench):
    _with_mask(bench, np.ones(3, bool), "2 flags are due, found 3")
    _with_mask(bench, np.ones(1, bool), "2 flags are due, found 1")
    _with_mask(bench, np.ones((2, 1), bool), "bool[N] is due, found bool of shape [2, 1]")


def case_reject_mask_not_bool(bench):
    _with_mask(bench, np.ones(2, "u1"), "bool[N] is due, found u8")


# ---------------------------------------------------------------- types and names
def _narrow(bench, values, words):
    bench.write(frame=Frame(TWO))
    with bench.change() as tree:
        tree.put("frame/atoms/id", values)
    bench.is_refused(words, "/frame/atoms/id")
    with pytest.raises(RecordError, match="id is u64"):
        Block({"id": values})


def case_reject_narrow_identifier(bench):
    _narrow(bench, np.array([1, 2], "u4"), "id is u64[N], not u32[N]")


def case_reject_signed_identifier(bench):
    _narrow(bench, np.array([1, 2], "i8"), "id is u64[N], not i64[N]")


def case_reject_fixed_length_string(bench):
    """In Zarr strings have no fixed length; in HDF5 they may, in UTF-8."""
    bench.write(frame=Frame({"atoms": Block({"name": ["a", "é"]})}))
    if bench.form == "h5":
        with h5py.File(bench.path) as file:
            assert h5py.check_string_dtype(file["frame/atoms/name"].dtype) == ("utf-8", 2)
    with bench.change() as tree:
        tree.put_fixed("frame/atoms/name", ["a", "b"])
    words = "strings are UTF-8, found ASCII" if bench.form == "h5" else "fixed_length_utf32"
    bench.is_refused(words, "/frame/atoms/name")
    assert [found.rule for found in mc.validate(bench.path)] == [10]


def case_reject_column_named_validity(bench):
    with pytest.raises(RecordError, match="a column cannot be called '_validity'"):
        Block({"_validity": [1.0]})
    bench.write(frame=Frame({"b": {"v": [1.0]}}))
    with bench.change() as tree:
        tree.put("frame/b/_validity", np.array([1.0]))
    bench.is_refused("_validity is a group of masks, not a column", "/frame/b/_validity")


def case_coordinates(bench):
    rows = np.array([[0.1, -0.0, 1e300], [NAN, INF, 5e-324], [1.0 / 3.0, -1.7976931348623157e308, 0.0]])
    bench.comes_back(Frame({"atoms": Block(dict(zip("xyz", rows, strict=True)))}))


def case_every_dtype(bench):
    found = bench.comes_back(Frame({"b": every_dtype(), "none": every_dtype(0)}))
    assert {name: found["b"].column(f"p_{name}").dtype for name in DTYPES} == {name: name for name in DTYPES}


def case_no_silent_widening(bench):
    """The edges of every width come back at that width."""
    columns = {}
    for name, dtype in DTYPES.items():
        if dtype.kind in "iu":
            columns[name] = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    columns["c64"] = np.array([1 / 3 + 1j, -0.0], "c8")
    bench.comes_back(Frame({"b": Block(columns)}))
    with bench.change() as tree:
        assert {name: tree.values(f"frame/b/{name}").dtype for name in columns} == {
            name: DTYPES[name] for name in columns
        }


# ---------------------------------------------------------------- precision
def case_precision_rounds_on_write(bench):
    values = np.array([0.1, -1e-4, 0.00048828125, 1.5, 3.0 / 1024 / 2, 1e16, NAN, INF, -INF, -0.0])
    frame = Frame({"b": Block({"v": Column(values, precision=1e-3)})})
    stored = bench.comes_back(frame)["b"]["v"]
    due = [102 / 1024, -0.0, 0.0, 1.5, 2 / 1024, 1e16, NAN, INF, -INF, -0.0]  # the quantum is 2^-10; ties go to even
    assert [value.hex() for value in stored.tolist()] == [value.hex() for value in due]
    with bench.change() as tree:
        assert tree.values("frame/b/v").tobytes() == stored.tobytes()


def case_precision_declaration_survives(bench):
    frame = Frame({"b": Block({"v": Column([0.1, 0.2], precision=1e-3), "plain": [0.1, 0.2]})})
    found = bench.comes_back(frame)
    assert found["b"].column("v").precision == 1e-3
    again = bench.comes_back(found)
    assert again["b"].column("v").precision == 1e-3
    assert again["b"].column("plain").precision is None


def case_precision_edge_values(bench):
    values = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 2.0**52, 2.0**52 + 1, NAN, INF]
    columns = {f"p{k}": Column(values, precision=p) for k, p in enumerate((SMALLEST, 0.75, 1.0, 3.0, LARGEST))}
    found = bench.comes_back(Frame({"b": Block(columns)}))["b"]
    assert found.column("p4").precision == LARGEST
    assert found["p4"].tolist()[:3] == [0.0, -0.0, 0.0]
    assert quantum(0.75) == 0.5
    assert quantum(3.0) == 2.0
    assert found["p3"].tolist()[4:6] == [2.0**52, 2.0**52]


def case_precision_shuffle_zstd_decodes(bench):
    """What is written under a precision is shuffled and compressed, and any reader decodes it."""
    values = np.random.default_rng(0).normal(size=100_000)
    stored = bench.comes_back(Frame({"b": Block({"v": Column(values, precision=1e-3)})}))["b"]["v"]
    with bench.change() as tree:
        assert tree.values("frame/b/v").tobytes() == stored.tobytes()
        assert tree.codecs("frame/b/v") == (
            ["shuffle", "gzip"] if bench.form == "h5" else ["bytes", "numcodecs.shuffle", "zstd", "crc32c"]
        )


def case_precision_reader_keeps_stored_values(bench):
    bench.write(frame=Frame({"b": Block({"v": Column([0.5, 0.25], precision=1e-3)})}))
    with bench.change() as tree:
        tree.put("frame/b/v", np.array([0.1, 0.25]))
    with bench.reading() as record:
        assert record.frame["b"]["v"].tolist() == [0.1, 0.25]
        assert record.frame["b"].column("v").precision == 1e-3
    assert [found.rule for found in mc.validate(bench.path)] == [13]


def case_reject_precision_on_non_f64(bench):
    bench.write(frame=Frame({"b": Block({"n": [1, 2], "flag": [True, False], "s": ["a", "b"]})}))
    for name, dtype in (("n", "i64"), ("flag", "bool"), ("s", "string")):
        with bench.change() as tree:
            tree.set(f"frame/b/{name}", "precision", 0.5)
        bench.is_refused(f"a precision on {dtype}, only f64 has one", f"/frame/b/{name}")
        with bench.change() as tree:
            tree.drop(f"frame/b/{name}", "precision")
    with pytest.raises(RecordError, match="only an f64 column declares a precision, not i64"):
        Column([1, 2], precision=0.5)


def _bounds(bench, *precisions):
    bench.write(frame=Frame({"b": Block({"v": [1.0, 2.0]})}))
    for precision in precisions:
        with pytest.raises(RecordError, match="within 2"):
            Column([1.0, 2.0], precision=precision)
        with bench.change() as tree:
            tree.set("frame/b/v", "precision", precision)
        words, place = ("within 2^-1000", "/frame/b/v")
        if bench.form != "h5" and not math.isfinite(precision):  # JSON has no such number
            words, place = "f64 is due", "/frame/b/v@precision"
        bench.is_refused(words, place)


def case_reject_precision_out_of_bounds(bench):
    _bounds(bench, 0.0, 2.0**-1001, 2.0**1001)


def case_reject_precision_negative(bench):
    _bounds(bench, -0.001, -0.0)


def case_reject_precision_infinite(bench):
    _bounds(bench, INF, NAN, -INF)


CASES = cases_of(globals())
