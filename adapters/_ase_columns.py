"""Arrays of numpy as columns of a record, and back at the type that they had.

Decisions: binary16 and binary32 are widened, which their type in ``ase_map`` undoes. Text of fixed width becomes text;
bytes are taken as Latin-1, dates as their integers, objects as JSON. Where frames differ in the axes of a column, or
in a type that no schema joins exactly, the later one gets a column of another name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.mapping.names import may_be_fixed
from molrec_convert.model import BlockSpec, Column, ColumnSpec, Meta, Record
from molrec_convert.model.block import TAKEN_COLUMNS
from molrec_convert.model.dtypes import CANONICAL, DTYPES, EXACT, STRING, checked_name, dtype_name
from molrec_convert.model.meta import json_text

from ._ase_table import ATOMS, TAKEN
from ._ase_values import UnsupportedError, coded, is_beyond_reals, is_clean, uncoded

Array = np.ndarray[Any, Any]

ESCAPED = "json"
"""Before the type of an array each of whose items stands as JSON, since a record cannot hold them as they are."""
WIDEST = ("i64", "u64")
"""Integers that need not be reals."""
OBJECTS = "O"
"""The type of an array of objects."""


def values_of(array: Array) -> tuple[Array, str]:
    """An array of a type that a record holds, which shares no memory with the given one, and what its type was.

    Raises
    ------
    UnsupportedError
        Where a record does not hold it exactly.
    """
    dtype = array.dtype
    if dtype.kind in "biufc":
        return _numbers(array), dtype.str
    if dtype.kind in "Mm":
        return np.array(array).view(np.int64).astype("<i8"), dtype.str
    if dtype.kind == "U":
        return _texts(array)
    if dtype.kind == "S":
        values, _ = _texts(np.strings.decode(array, "latin-1"))
        return values, dtype.str
    if dtype.kind in "OT":
        return _written(array, dtype.kind)
    raise UnsupportedError(f"it is an array of {dtype}")


def _numbers(array: Array) -> Array:
    dtype = array.dtype
    due = np.dtype(np.float64) if dtype.kind == "f" else dtype.newbyteorder("=")
    values = np.array(array, dtype=due, order="C")
    wide = (dtype.kind == "f" and dtype.itemsize > 8) or (dtype.kind == "c" and dtype.itemsize > 16)
    if wide:
        values = np.array(array, dtype=np.float64 if dtype.kind == "f" else np.complex128, order="C")
        if not np.array_equal(values, array, equal_nan=True):
            raise UnsupportedError(f"it is an array of {dtype}, whose digits f64 does not hold")
    return values


def _texts(array: Array) -> tuple[Array, str]:
    """Text of fixed width, which numpy makes text of any width only in the byte order of the machine."""
    dtype, array = array.dtype.str, array.astype(array.dtype.newbyteorder("="), copy=False)
    return (array.astype(STRING), dtype) if _is_clean(array) else _escaped(array, dtype)


def _written(array: Array, kind: str) -> tuple[Array, str]:
    """Text of any width, or objects."""
    texts: list[Any] = array.ravel().tolist()
    if not all(type(text) is str and is_clean(text) for text in texts):
        return _escaped(array, kind)
    return np.array(texts, dtype=STRING).reshape(array.shape), kind


def _escaped(array: Array, dtype: str) -> tuple[Array, str]:
    texts = [json.dumps(coded(item)) for item in array.ravel().tolist()]
    return np.array(texts, dtype=STRING).reshape(array.shape), f"{ESCAPED}:{dtype}"


def _is_clean(array: Array) -> bool:
    """Whether a record can hold the texts: no NUL inside, no lone surrogate."""
    width = array.dtype.itemsize // 4
    if not array.size or not width:
        return True
    codes = np.array(array, order="C").view(np.uint32).reshape(-1, width)
    inside = (codes[:, :-1] == 0) & (codes[:, 1:] != 0)
    return not inside.any() and not (codes >> 11 == 0xD800 >> 11).any()


def array_of(values: Array, dtype: str) -> Array:
    """The array of this type that became a column, and shares no memory with it.

    Where the column holds other values now, which the type cannot, the array has the column's own type.
    """
    mark, _, name = dtype.rpartition(":")
    if isinstance(values.dtype, np.dtypes.StringDType):
        return _text_array(values, name, escaped=mark == ESCAPED)
    if name in (OBJECTS, "T") or (due := np.dtype(name)).kind in "US":
        return values.copy()
    if due.kind in "Mm":
        return values.astype(np.int64).view(due)
    if due.kind == "b" and values.dtype.kind != "b":
        return values.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        found = values.astype(due)
    exact = due == values.dtype or np.array_equal(
        found, values, equal_nan=due.kind in "fc" and values.dtype.kind in "fc"
    )
    return found if exact else values.copy()


def _text_array(values: Array, name: str, *, escaped: bool) -> Array:
    if escaped:
        texts = np.empty(values.size, dtype=object)
        texts[:] = [uncoded(json.loads(text)) for text in values.ravel().tolist()]
        texts = texts.reshape(values.shape)
        return texts if name == OBJECTS else texts.astype(STRING if name == "T" else np.dtype(name))
    if name == "T":
        return values.astype(STRING)
    if name == OBJECTS:
        return values.astype(object)
    due = np.dtype(name)
    letters = due.itemsize // np.dtype(f"{due.kind}1").itemsize if due.kind in "US" else 0
    plain = fixed_width(values, letters)
    return (
        np.strings.encode(plain, "latin-1").astype(due)
        if due.kind == "S"
        else plain.astype(plain.dtype.newbyteorder(due.byteorder))
    )


def fixed_width(texts: Array, least: int = 0) -> Array:
    """Text as numpy has it of old, which ASE expects: as wide as the longest, or more."""
    longest = int(np.strings.str_len(texts).max(initial=1))
    return texts.astype(f"U{max(longest, least)}")


class ColumnNames:
    """What columns are called, over the frames of one record.

    A column of a record has one set of axes and one type, which all frames share. A column that does not change is the
    same object in all of them, so that no later step looks at it twice.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, ...], str, bool]] = {}
        self._last: dict[str, Column] = {}
        self._facts = ("", Meta())
        self._large: set[str] = set()
        self._reals: set[str] = set()

    @classmethod
    def of_record(cls, record: Record) -> ColumnNames:
        """What is known from the frames of a record."""
        made = cls()
        specs: dict[str, ColumnSpec] = {}
        tags: dict[str, str] = {} if record.frame is None else dict(record.frame.meta.tags)
        for part in (record.system, record.frame):
            if part is not None and ATOMS in part:
                specs |= BlockSpec.of(part[ATOMS]).columns
        if record.trajectory is not None:
            schema = record.trajectory.schema
            specs |= schema.blocks[ATOMS].columns if ATOMS in schema.blocks else {}
            tags = {key: declared.tag for key, declared in schema.meta.items()}
        for name, spec in specs.items():
            made._known[name] = (spec.trailing, spec.dtype, spec.dtype in WIDEST)
        made._reals |= {key for key, tag in tags.items() if tag.startswith("f64")}
        made._large |= {key for key, tag in tags.items() if tag.startswith(WIDEST)}
        return made

    def kept(self, name: str, column: Column) -> Column:
        """The column of the frame before, where it is the same to the bit."""
        last = self._last.get(name)
        if last is not None and last.same(column):
            return last
        self._last[name] = column
        return column

    def kept_facts(self, documents: dict[str, Any], others: Meta) -> Meta:
        """Facts, the same object as in the frame before where they are the same documents and nothing else."""
        text = json_text(documents) if not others else ""
        if not text or text != self._facts[0]:
            tags = {**others.tags, **dict.fromkeys(documents, "json")}
            self._facts = text, Meta.of({**others, **documents}, tags)
        return self._facts[1]

    def mixes(self, key: str, value: Any) -> bool:
        """Whether a schema could not hold a value exactly: an integer that no real equals, where others are reals."""
        items = value if isinstance(value, tuple) else (value,)
        if any(isinstance(item, float) for item in items):
            self._reals.add(key)
            return key in self._large
        if any(map(is_beyond_reals, items)):
            self._large.add(key)
            return key in self._reals
        return False

    def column(self, name: str, array: Array, used: Mapping[str, Any]) -> tuple[str, Column, str]:
        """A column for an array of this name: what it is called, its values, and which type the array has.

        Parameters
        ----------
        used
            The columns that the frame has already.

        Raises
        ------
        UnsupportedError
            Where a record does not hold the array exactly.
        """
        values, dtype = values_of(array)
        base = legal_name(name)
        found, number = base, 1
        while found in used or found in TAKEN or (fitted := self.fitted(found, values)) is None:
            number += 1
            found = f"{base}#{number}"
        made = Column.of(fitted)
        return found, self.kept(found, made) if may_be_fixed(found, made.dtype) else made, dtype

    def fitted(self, name: str, values: Array) -> Array | None:
        """The values of a column of this name at the type that MolRec fixes for it; None where it cannot hold them."""
        due = CANONICAL.get(name)
        if due is not None and due != dtype_name(values.dtype):
            converted = _converted(values, due)
            if converted is None:
                return None
            values = converted
        if due is not None and values.ndim > 1:
            return None
        return values if self._joins(name, values) else None

    def _joins(self, name: str, values: Array) -> bool:
        """Whether a schema holds the values beside those of the frames before; they are remembered then."""
        axes, dtype, large = values.shape[1:], dtype_name(values.dtype), _has_large(values)
        known = self._known.get(name)
        if known is not None and known != (axes, dtype, large):
            if axes != known[0]:
                return False
            large = large or known[2]
            joined = _joined(dtype, known[1], large=large)
            if joined is None:
                return False
            dtype = joined
        self._known[name] = (axes, dtype, large)
        return True


def _converted(values: Array, due: str) -> Array | None:
    """Integers at another width, where that is exact."""
    if values.dtype.kind not in "iu" or DTYPES[due].kind not in "iu":
        return None
    limits = np.iinfo(DTYPES[due])
    if values.size and not (limits.min <= int(values.min()) and int(values.max()) <= limits.max):
        return None
    return values.astype(DTYPES[due])


def _has_large(values: Array) -> bool:
    """Whether there are integers that are no reals."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > EXACT or int(values.min()) < -EXACT


def _joined(one: str, other: str, *, large: bool) -> str | None:
    """The type that a schema has for both, where it holds the values of either exactly."""
    if one == other:
        return one
    kinds = {DTYPES[one].kind, DTYPES[other].kind}
    wide = np.promote_types(DTYPES[one], DTYPES[other]) if kinds <= {"i", "u", "f"} else None
    if wide is None or ("f" not in kinds and wide.kind == "f") or ("f" in kinds and large):
        return None
    return dtype_name(wide) if "f" not in kinds else "f64"


def legal_name(name: str, others: Sequence[str] = tuple(TAKEN_COLUMNS)) -> str:
    """A name that every store can carry, and the layout does not need for itself."""
    try:
        checked_name(name, "")
    except RecordError:
        name = "".join(letter if letter.isprintable() and letter != "/" else "|" for letter in name)
        name = f"ase{name}" if name in ("", ".", "..") or name.startswith("__") else name
    return f"ase{name}" if name in others else name
