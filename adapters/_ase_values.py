"""Python values as values of a frame's meta, and back to the last bit and type.

A value that a tag of MolRec holds stands under it, whatever its type in Python was: its *form* says that, and is kept
apart. Any other value is a JSON document in which an object of one key, such as ``{"$tuple": […]}``, stands for what
JSON does not have; this is form ``json``.

A form is a text, or a list of an element's form and how its elements come: ``"int"``, ``"<f4"`` (a numpy scalar),
``["<f8", [3, 3]]`` (an array), ``["float", "tuple", 3]``. A ``?`` behind it says that the value is NaN, which a record
cannot tell from a value that a frame lacks; neither can it tell None, whose form is ``none``.
"""

from __future__ import annotations

import base64
import datetime
import json
import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES, EXACT, checked_text
from molrec_convert.model.meta import TAGS

Array = np.ndarray[Any, Any]
Form = Any
Coded = Any

JSON, NONE = "json", "none"
MISSING: Any = object()
"""In the place of a value that a frame does not have."""
DEEPEST = 100
MOST_ITEMS = 9
"""Items of the longest vector that has a tag."""
REALS = ("NaN", "Infinity", "-Infinity")
"""How MolRec spells the reals that JSON lacks; `float` reads them."""
WIDTHS: Mapping[str, str] = {"i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64"}
"""The tags of integers in vectors; narrower ones are i64."""


class UnsupportedError(ValueError):
    """A value that no record can hold; the message says what it is."""


# ---------------------------------------------------------------- under a tag
def encoded(value: Any) -> tuple[Any, str, Form]:
    """A value as a record holds it, its tag, and its form.

    Raises
    ------
    UnsupportedError
        For what neither a tag nor a JSON document holds: functions, arrays of such, and the like.
    """
    if value is None:
        return None, JSON, NONE
    found = _tagged(value)
    return (coded(value), JSON, JSON) if found is None else found


def _tagged(value: Any) -> tuple[Any, str, Form] | None:
    kind = type(value)
    if kind in PLAIN:
        return _tagged_scalar(value, kind)
    if isinstance(value, np.ndarray | np.generic):
        return _tagged_numpy(value)
    if kind in (list, tuple) and value and type(value[0]) in (bool, int, float):
        element = type(value[0])
        tag = f"{VECTORS[element]}x{len(value)}".replace("boolx", "bool")
        if tag in TAGS and all(type(item) is element for item in value) and _fits(value, element):
            missing = element is float and all(map(math.isnan, value))
            return tuple(value), tag, [element.__name__ + "?" * missing, kind.__name__, len(value)]
    return None


PLAIN = (bool, int, float, str)
VECTORS: Mapping[type, str] = {bool: "bool", int: "i64", float: "f64"}


def _fits(values: Any, element: type) -> bool:
    return element is not int or all(-(2**63) <= value < 2**63 for value in values)


def _tagged_scalar(value: Any, kind: type) -> tuple[Any, str, Form] | None:
    if kind is int:
        if not -(2**63) <= value < 2**64:
            return None
        return value, "i64" if value < 2**63 else "u64", "int"
    if kind is str:
        return (value, "string", "str") if is_clean(value) else None
    if kind is float:
        return value, "f64", "float?" if value != value else "float"
    return value, "bool", "bool"


def _tagged_numpy(value: Any) -> tuple[Any, str, Form] | None:
    value = np.asarray(value) if isinstance(value, np.ndarray) else value
    dtype, shape = value.dtype, value.shape
    if dtype.kind not in "biufU" or value.size > MOST_ITEMS or (dtype.kind == "f" and dtype.itemsize > 8):
        return None
    form: Form = dtype.str
    if value.size and dtype.kind == "f" and np.isnan(value).all():
        form += "?"
    if not isinstance(value, np.ndarray) or not shape:
        found = _tagged_scalar(item := value.item(), type(item))
        form = [form, []] if isinstance(value, np.ndarray) else form
        return None if found is None else (found[0], found[1], form)
    name = {"b": "bool", "f": "f64x"}.get(dtype.kind, f"{WIDTHS.get(dtype.str[1:], 'i64')}x")
    tag = f"{name}{value.size}"
    if dtype.kind == "U" or tag not in TAGS or not (len(shape) == 1 or shape == (3, 3)):
        return None
    return tuple(value.ravel().tolist()), tag, [form, list(shape)]


def decoded(value: Any, form: Form) -> Any:
    """The value of a form, from what a record holds now; `MISSING` where it was taken out of the record.

    A schema may have widened the type meanwhile, which is undone. A value that is not of the form any more was changed
    in the record, and is given as it is.
    """
    element = form[0] if isinstance(form, list) else form
    if value is MISSING or value is None:
        if element == NONE:
            return None
        if not element.endswith("?"):
            return MISSING
        value = math.nan
    try:
        return _restored(value, form, element.rstrip("?"))
    except (TypeError, ValueError, OverflowError):
        return value


def _restored(value: Any, form: Form, element: str) -> Any:
    if element == JSON:
        return uncoded(value)
    if not isinstance(form, list):
        return NATIVE[element](value) if element in NATIVE else _numpy(value, element)[()]
    if isinstance(form[1], str):
        items = value if isinstance(value, tuple | list) else [value] * form[2]
        return SEQUENCES[form[1]](map(NATIVE[element], items))
    if isinstance(value, tuple | list):
        return _numpy(value, element).reshape(form[1])
    return np.full(form[1], _numpy(value, element))


def _numpy(value: Any, dtype: str) -> Array:
    due = np.dtype(dtype)
    found = np.array(value, dtype=due)
    if due.kind in "iub" and not np.array_equal(found, np.asarray(value)):
        raise ValueError("changed")
    if due.kind == "f" and not np.array_equal(found.astype(np.float64), np.array(value, np.float64), equal_nan=True):
        raise ValueError("changed")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool | str) or int(value) != value:
        raise ValueError("changed")
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("changed")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("changed")
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or (isinstance(value, str) and value not in REALS):
        raise TypeError("changed")
    return float(value)


NATIVE: Mapping[str, Callable[[Any], Any]] = {"bool": _flag, "int": _whole, "float": _real, "str": _text}
SEQUENCES: Mapping[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple}


# ---------------------------------------------------------------- as a document
def coded(value: Any, depth: int = 0) -> Coded:
    """A value as a finite JSON document from which `uncoded` makes it again."""
    if depth > DEEPEST:
        raise UnsupportedError(f"it is nested more than {DEEPEST} deep")
    if isinstance(value, np.generic):
        return {"$scalar": _coded_array(np.asarray(value), depth)}
    if isinstance(value, np.ndarray):
        return {"$array": _coded_array(np.asarray(value), depth)}
    if value is None or isinstance(value, bool):
        return value
    for kind, code in CODERS:
        if isinstance(value, kind):
            return code(value, depth + 1)
    return _coded_object(value, depth + 1)


def is_clean(text: str) -> bool:
    """Whether a record can hold a text: no NUL, no lone surrogate."""
    try:
        checked_text(text, "")
    except RecordError:
        return False
    return True


def _coded_text(value: str, depth: int) -> Coded:
    del depth
    return str(value) if is_clean(value) else {"$text": json.dumps(value)}


def _coded_int(value: int, depth: int) -> Coded:
    del depth
    return int(value) if -(2**63) <= value < 2**64 else {"$int": str(int(value))}


def _coded_float(value: float, depth: int) -> Coded:
    del depth
    return float(value) if math.isfinite(value) else {"$float": _spelled(value)}


def _spelled(value: float) -> str:
    return REALS[0] if math.isnan(value) else REALS[1] if value > 0 else REALS[2]


def _coded_dict(value: Mapping[Any, Any], depth: int) -> Coded:
    if all(type(key) is str and not key.startswith("$") and is_clean(key) for key in value):
        return {key: coded(item, depth) for key, item in value.items()}
    return {"$dict": [[coded(key, depth), coded(item, depth)] for key, item in value.items()]}


def _sequence(mark: str) -> Callable[[Any, int], Coded]:
    return lambda value, depth: {mark: [coded(item, depth) for item in value]}


CODERS: tuple[tuple[type, Callable[[Any, int], Coded]], ...] = (
    (str, _coded_text),
    (int, _coded_int),
    (float, _coded_float),
    (list, lambda value, depth: [coded(item, depth) for item in value]),
    (dict, _coded_dict),
    (tuple, _sequence("$tuple")),
    (complex, lambda value, depth: {"$complex": [_coded_float(part, depth) for part in (value.real, value.imag)]}),
    (bytes, lambda value, _: {"$bytes": base64.b64encode(value).decode()}),
    (set, _sequence("$set")),
    (frozenset, _sequence("$frozenset")),
    (datetime.datetime, lambda value, _: {"$datetime": value.isoformat()}),
    (datetime.date, lambda value, _: {"$date": value.isoformat()}),
)


def _coded_array(array: Array, depth: int) -> Coded:
    """The element type, the shape, and the elements: numbers and texts as they are, others as bytes."""
    dtype, shape = array.dtype, list(array.shape)
    if dtype.kind == "O":
        return ["O", shape, [coded(item, depth + 1) for item in array.ravel()]]
    if dtype.kind == "T":
        return ["T", shape, [coded(item, depth + 1) for item in array.ravel().tolist()]]
    if dtype.kind == "V":
        raise UnsupportedError(f"it holds a numpy array of {dtype}")
    plain = dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize <= 8 and bool(np.isfinite(array).all()))
    if plain or (dtype.kind == "U" and all(map(is_clean, array.ravel().tolist()))):
        return [dtype.str, shape, array.ravel().tolist()]
    return [dtype.str, shape, base64.b64encode(array.tobytes()).decode()]


def _coded_object(value: Any, depth: int) -> Coded:
    """Objects of ASE that it can make again from a dictionary."""
    if type(value).__module__ == "ase.spacegroup.spacegroup":
        return {"$spacegroup": [int(value.no), int(value.setting)]}
    kind = getattr(type(value), "ase_objtype", None)
    if isinstance(kind, str) and hasattr(value, "todict"):
        return {"$ase": [kind, coded(value.todict(), depth)]}
    raise UnsupportedError(f"it is, or holds, a {type(value).__name__}")


def uncoded(document: Coded) -> Any:
    """The value of a document."""
    if isinstance(document, list | tuple):
        return [uncoded(item) for item in document]
    if not isinstance(document, dict):
        return document
    if len(document) == 1:
        mark, content = next(iter(document.items()))
        if mark in DECODERS:
            return DECODERS[mark](content)
    return {key: uncoded(item) for key, item in document.items()}


def _array_of(content: Coded) -> Array:
    dtype, shape, data = content
    if dtype == "O":
        found = np.empty(len(data), dtype=object)
        found[:] = [uncoded(item) for item in data]
        return found.reshape(shape)
    if dtype == "T":
        return np.array([uncoded(item) for item in data], dtype=DTYPES["string"]).reshape(shape)
    if isinstance(data, str):
        return np.frombuffer(base64.b64decode(data), dtype=dtype).reshape(shape).copy()
    return np.array(data, dtype=dtype).reshape(shape)


@lru_cache(maxsize=64)
def _spacegroup(number: int, setting: int) -> Any:
    """A space group of ASE, which reads a table for each."""
    from ase.spacegroup import Spacegroup

    return Spacegroup(number, setting)


def _object_of(content: Coded) -> Any:
    from ase.io.jsonio import create_ase_object

    return create_ase_object(content[0], uncoded(content[1]))  # type: ignore[no-untyped-call]


DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "$scalar": lambda content: _array_of(content)[()],
    "$array": _array_of,
    "$text": json.loads,
    "$int": int,
    "$float": float,
    "$dict": lambda content: {uncoded(key): uncoded(item) for key, item in content},
    "$tuple": lambda content: tuple(map(uncoded, content)),
    "$complex": lambda content: complex(*map(uncoded, content)),
    "$bytes": base64.b64decode,
    "$set": lambda content: set(map(uncoded, content)),
    "$frozenset": lambda content: frozenset(map(uncoded, content)),
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$ase": _object_of,
    "$spacegroup": lambda content: _spacegroup(*content),
}


BASES = (np.ndarray, *(kind for kind, _ in CODERS))


def kinds_lost(value: Any) -> Iterator[str]:
    """The types in a value that come back as the plainer ones that they derive from."""
    kind = type(value)
    if isinstance(value, BASES) and kind not in (*BASES, bool, np.float64, np.str_, np.bytes_, np.complex128):
        yield kind.__name__
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        for item in value if not isinstance(value, np.ndarray) else np.asarray(value).ravel():
            yield from kinds_lost(item)


def is_beyond_reals(value: Any) -> bool:
    """Whether an integer has no equal among the reals."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT
