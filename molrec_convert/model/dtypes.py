"""The thirteen element types of a column, and the names whose type MolRec fixes.

Source: the containers chapter of MolRec ("Data types") and its conventions chapter. Widths are explicit; binary16 and
binary32 are no column types and are refused, never widened.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule

if TYPE_CHECKING:
    from collections.abc import Mapping

Array: TypeAlias = "np.ndarray[Any, Any]"

STRING = np.dtypes.StringDType()
DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "f64": np.dtype("<f8"),
        "i8": np.dtype("i1"),
        "i16": np.dtype("<i2"),
        "i32": np.dtype("<i4"),
        "i64": np.dtype("<i8"),
        "u8": np.dtype("u1"),
        "u16": np.dtype("<u2"),
        "u32": np.dtype("<u4"),
        "u64": np.dtype("<u8"),
        "bool": np.dtype("?"),
        "string": STRING,
        "c64": np.dtype("<c8"),
        "c128": np.dtype("<c16"),
    }
)
_NAMES = {dtype: name for name, dtype in DTYPES.items() if name != "string"}

CANONICAL: Mapping[str, str] = MappingProxyType(
    {
        name: dtype
        for dtype, names in {
            "f64": "x y z vx vy vz fx fy fz charge mass quatw quati quatj quatk mux muy muz axis_x axis_y axis_z "
            "occupancy b_factor",
            "u64": "id atomic_number type_id mol_id res_id atom_map atomi atomj atomk atoml atomm ibead bond_type "
            "bond_number",
            "i64": "formal_charge",
            "i32": "ix iy iz",
            "bool": "free is_14 exclude_14",
            "string": "element type name res_name bead_type chain icode altloc style",
        }.items()
        for name in names.split()
    }
)
"""Column names with one fixed type and one value a row, whatever the block."""

EXACT = 2**53
"""Up to here every integer is a real."""

ENDPOINTS = ("atomi", "atomj", "atomk", "atoml", "atomm")
"""Relation columns that by convention hold rows of the block ``atoms``."""


def dtype_name(dtype: np.dtype[Any], *, what: str = "a column") -> str:
    """Name the MolRec type of a numpy dtype; `RecordError` for any other, binary16 and binary32 included."""
    if isinstance(dtype, np.dtypes.StringDType):
        return "string"
    name = _NAMES.get(dtype)
    if name is None:
        hint = ": floats are f64, and a narrower one is never widened silently" if dtype.kind == "f" else ""
        raise RecordError(f"{what} cannot be {dtype}{hint}")
    return name


@rule(37)
def checked_text(text: str, what: str) -> str:
    """Refuse what no store can carry: a NUL, a lone surrogate."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise RecordError(f"{what} {text!r} holds a NUL or a lone surrogate")
    return text


@rule(37)
def checked_name(name: str, what: str) -> str:
    """Refuse a name that some store cannot carry: empty, ``.``, ``..``, with ``/``, or that begins with ``__``."""
    if name in ("", ".", "..") or "/" in name or name.startswith("__"):
        raise RecordError(f"{what} cannot be called {name!r}")
    return checked_text(name, what)


def as_array(values: Any, *, what: str = "a column") -> Array:
    """Give values as an array of one of the thirteen types.

    Text becomes `numpy.dtypes.StringDType`; lists of Python numbers become i64, u64 (from 2^63), f64 or c128. Arrays
    keep their type exactly; byte order and memory order are made native and C.

    Raises
    ------
    RecordError
        For binary16, binary32, bytes, objects, dates, and text with a NUL or a lone surrogate.
    """
    given = isinstance(values, np.ndarray | np.generic)
    array = np.asarray(values, dtype=object if _begins_with_text(values) else None)
    if array.dtype.kind == "U":  # numpy turns what stands beside text into text
        array = _objects(array.astype(object) if given else np.asarray(values, dtype=object), what)
    elif array.dtype.kind == "O":
        array = _objects(array, what)
    elif isinstance(array.dtype, np.dtypes.StringDType):
        if array.dtype != STRING:  # another missing-value sentinel
            array = array.astype(STRING)
        if "\0" in "".join(array.ravel().tolist()):  # numpy.strings.find takes a NUL for an empty string
            raise RecordError(f"{what} holds a string with a NUL")
    elif not given and array.size == 0:
        array = array.astype(np.float64)
    elif not given and array.dtype.kind == "f" and (np.abs(array) >= EXACT).any():
        objects = np.asarray(values, dtype=object)
        if {type(value) for value in objects.flat} == {int}:  # numpy makes reals of integers that no type holds all of
            array = _objects(objects, what)
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    dtype_name(array.dtype, what=what)
    return np.ascontiguousarray(array).reshape(array.shape)


def _begins_with_text(values: Any) -> bool:
    """Whether the first item is text, of which numpy would make strings as wide as the longest."""
    while isinstance(values, list | tuple) and values:
        values = values[0]
    return isinstance(values, str)


def _objects(array: Array, what: str) -> Array:
    kinds = {type(value) for value in array.flat}
    if all(issubclass(kind, str) for kind in kinds):
        return _text(array, what)
    if kinds <= {int}:  # Python integers on both sides of the range of i64
        try:
            return array.astype(np.uint64 if min(array.flat) >= 0 else np.int64)
        except OverflowError:
            raise RecordError(f"{what} holds an integer outside i64 and u64") from None
    raise RecordError(f"{what} cannot hold objects of type {', '.join(sorted(kind.__name__ for kind in kinds))}")


def _text(array: Array, what: str) -> Array:
    for value in set(array.flat):
        checked_text(value, what)
    return array.astype(STRING)


SMALL = 1 << 20
"""Bytes that are compared as bytes: numpy would let other threads go first, which takes longer than the comparison."""


def same_bits(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same bits: a NaN equals itself, and -0.0 is not 0.0."""
    if one is other:
        return True
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind in "iubfc" and one.nbytes <= SMALL:
        return one.tobytes() == other.tobytes()
    if one.dtype.kind in "fc":
        return bool(np.array_equal(_words(one), _words(other)))
    return bool(np.array_equal(one, other))


def _words(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint64 if array.dtype.itemsize % 8 == 0 else np.uint32)
