"""The meta document of a frame: values that are typed by one of sixteen tags.

Source: the containers chapter of MolRec ("Column, block and frame") and its conventions chapter (typed JSON).
"""

from __future__ import annotations

import json
import math
from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule

from .dtypes import DTYPES, checked_name, checked_text

PER_STEP_F64 = frozenset(("pe", "ke", "etotal", "temp", "press", "volume"))
"""Meta keys that are f64 by convention."""

RESERVED_KEYS = frozenset(("_meta_types", "_json"))


class Tag(NamedTuple):
    """The element type of a tagged value, and its length where it is a vector."""

    dtype: str
    length: int | None


TAGS: Mapping[str, Tag] = MappingProxyType(
    {
        **{name: Tag(name, None) for name in ("bool", "i32", "i64", "u32", "u64", "f64", "string")},
        "json": Tag("string", None),
        "bool3": Tag("bool", 3),
        **{f"{name}x3": Tag(name, 3) for name in ("i32", "i64", "u32", "u64", "f64")},
        "f64x6": Tag("f64", 6),
        "f64x9": Tag("f64", 9),
    }
)


class Meta(MutableMapping[str, Any]):
    """A document of typed values: scalars, short tuples of one type, or JSON.

    A plain assignment finds the tag: bool, i64 (u64 from 2^63), f64 and string for Python and numpy scalars, the
    vector tags for three booleans, three integers, or three, six or nine reals, json for the rest.
    `set` takes the tag as well.

    Examples
    --------
    >>> meta = Meta({"pe": -1.5, "dipole": [0.0, 0.0, 1.0]})
    >>> meta.tag("dipole"), meta["dipole"]
    ('f64x3', (0.0, 0.0, 1.0))
    """

    __slots__ = ("_tags", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None, *, tags: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, Any] = {}
        self._tags: dict[str, str] = {}
        if not values:
            return
        known: Mapping[str, str] = tags if tags is not None else getattr(values, "tags", {})
        for key, value in values.items():
            self.set(key, value, tag=known.get(key))

    @classmethod
    def of(cls, values: dict[str, Any], tags: dict[str, str]) -> Meta:
        """Wrap values that are known to have these tags, without a look at them."""
        made = object.__new__(cls)
        made._values, made._tags = values, tags
        return made

    def copy(self) -> Meta:
        """The same values in another document."""
        return Meta.of(self._values.copy(), self._tags.copy())

    def joined(self, other: Meta) -> Meta:
        """A document of the values of both; where both have a key, of the other's."""
        return Meta.of({**self._values, **other._values}, {**self._tags, **other._tags})

    def picked(self, keys: Iterable[str]) -> Meta:
        """A document of some of the values."""
        names = list(keys)
        return Meta.of({key: self._values[key] for key in names}, {key: self._tags[key] for key in names})

    def same_keys(self, other: Meta) -> bool:
        """Whether both have the same keys under the same tags."""
        return self is other or self._tags == other._tags

    @property
    def tags(self) -> Mapping[str, str]:
        """The tag of every key; read-only."""
        return MappingProxyType(self._tags)

    def tag(self, key: str) -> str:
        """The tag of a key."""
        return self._tags[key]

    def set(self, key: str, value: Any, *, tag: str | None = None) -> None:
        """Set a value under a tag, or under the one that fits it.

        Raises
        ------
        RecordError
            For an unknown tag, a value that its tag cannot hold exactly, JSON that is not finite.
        """
        checked_key(key, "a meta key")
        if tag is None:
            tag = "f64" if key in PER_STEP_F64 else tag_of(value)
        self._values[key] = tagged(value, checked_tag(tag, key), what=f"meta {key!r}")
        self._tags[key] = tag

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        del self._values[key]
        del self._tags[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def items(self) -> ItemsView[str, Any]:
        """Keys and values, as those of a dictionary."""
        return self._values.items()

    def values(self) -> ValuesView[Any]:
        """The values, as those of a dictionary."""
        return self._values.values()

    def same(self, other: Meta) -> bool:
        """Whether both hold the same values, to the bit, under the same tags."""
        return self._tags == other._tags and all(
            same_value(value, other._values[key]) for key, value in self._values.items()
        )

    def __repr__(self) -> str:
        return "Meta(" + ", ".join(f"{key}: {self._tags[key]} = {value!r}" for key, value in self.items()) + ")"


@rule(37)
def checked_key(key: str, what: str) -> str:
    """Refuse a key of a document that some store cannot carry, or uses itself."""
    if key in RESERVED_KEYS:
        raise RecordError(f"{what} cannot be called {key!r}")
    return checked_name(key, what)


def checked_tag(tag: Any, key: str) -> str:
    """Give a tag; `RecordError` for an unknown one, or one that the key's convention forbids."""
    if not isinstance(tag, str) or tag not in TAGS:
        raise RecordError(f"meta {key!r}: {tag!r} is not a meta tag")
    if key in PER_STEP_F64 and tag != "f64":
        raise RecordError(f"meta {key!r} is f64, not {tag}", rule=18)
    return tag


def tag_of(value: Any) -> str:
    """The tag that a value gets when none is given."""
    if isinstance(value, np.ndarray):
        return _array_tag(value)
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, np.int32 | np.uint32):
        return "i32" if isinstance(value, np.int32) else "u32"
    if isinstance(value, int | np.integer):
        return "u64" if int(value) >= 2**63 or isinstance(value, np.uint64) else "i64"
    if isinstance(value, float | np.floating):
        return "f64"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list | tuple) and value:
        return _sequence_tag(list(value))
    return "json"


def _array_tag(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return tag_of(array[()])
    name = {"b": "bool", "f": "f64"}.get(array.dtype.kind, array.dtype.name.replace("uint", "u").replace("int", "i"))
    tag = f"{name}{'' if name == 'bool' else 'x'}{len(array)}"
    return tag if array.ndim == 1 and tag in TAGS else "json"


def _sequence_tag(values: list[Any]) -> str:
    tags = {tag_of(value) for value in values}
    if tags == {"bool"} and len(values) == 3:
        return "bool3"
    if tags == {"f64"} and len(values) in (3, 6, 9):
        return f"f64x{len(values)}"
    if len(tags) == 1 and len(values) == 3 and tags <= {"i32", "i64", "u32", "u64"}:
        return f"{tags.pop()}x3"
    return "json"


def tagged(value: Any, tag: str, *, what: str = "a meta value") -> Any:
    """Give a value in the Python form of its tag: a scalar, a tuple, or a JSON document.

    Raises
    ------
    RecordError
        If the tag cannot hold the value exactly: a real where an integer is due, a boolean where a number is due, a
        number out of range, another length, JSON that is not finite.
    """
    if tag == "json":
        return json_value(value, what)
    dtype, length = TAGS[tag]
    if length is None:
        return _scalar(value, dtype, what)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != length:
        raise RecordError(f"{what} is {tag}: {length} values are due, not {value!r}")
    return tuple(_scalar(item, dtype, what) for item in value)


def _scalar(value: Any, dtype: str, what: str) -> Any:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if dtype == "string":
        if not isinstance(value, str):
            raise RecordError(f"{what} is text, not {value!r}")
        return checked_text(value, what)
    if dtype == "bool":
        if not isinstance(value, bool):
            raise RecordError(f"{what} is bool, not {value!r}")
        return value
    if dtype == "f64":
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_exact(value):
            raise RecordError(f"{what} is f64, and {value!r} is not exactly one")
        return float(value)
    limits = np.iinfo(DTYPES[dtype])
    if isinstance(value, bool) or not isinstance(value, int) or not limits.min <= value <= limits.max:
        raise RecordError(f"{what} is {dtype}, not {value!r}")
    return value


def _is_exact(value: float) -> bool:
    try:
        return not isinstance(value, int) or int(float(value)) == value
    except OverflowError:
        return False


def json_value(value: Any, what: str = "a document") -> Any:
    """Give a value as plain finite JSON: numpy scalars and arrays as numbers and lists, tuples as lists."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return checked_text(value, what)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RecordError(f"{what} is JSON, which has no {value!r}")
        return value
    if isinstance(value, list | tuple):
        return [json_value(item, what) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise RecordError(f"{what} is JSON, whose keys are text: {list(value)!r}")
        return {checked_text(key, what): json_value(item, what) for key, item in value.items()}
    raise RecordError(f"{what} is JSON, which cannot hold a {type(value).__name__}")


def json_text(value: Any) -> str:
    """The compact text of a JSON value; keys keep their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def same_value(one: Any, other: Any) -> bool:
    """Whether two meta values are the same, to the bit; 1, 1.0 and True differ."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one.hex() == float(other).hex()
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_value(item, other[key]) for key, item in one.items())
    return bool(one == other)
