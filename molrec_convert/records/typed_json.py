"""JSON as records hold it: finite, and typed where numbers need more than JSON has.

Typed JSON (conventions chapter of MolRec) spells integers beyond 2^53 as decimal strings, and reals that JSON has no
number for as ``NaN``, ``Infinity`` and ``-Infinity``.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.model.meta import TAGS, json_value, tagged
from molrec_convert.rules import rule

SAFE = 2**53
LONGEST = 40
"""Characters of an integer that a decimal string may have, zeros in front included."""
SPELLED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@rule(19)
def parsed_json(text: str, *, with_any_text: bool = False) -> Any:
    """The value of finite JSON text; `RecordError`, without a place, for all else.

    Text that no store carries is refused, too, unless whoever calls looks at it.
    """

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise RecordError(f"{number} is not finite JSON")
        return value

    try:
        value = json.loads(text, parse_float=finite, parse_constant=finite)
        is_suspect = "\\u" in text and not with_any_text  # an escape may stand for what no store carries
        return json_value(value, "it") if is_suspect else value
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"text that does not parse as JSON ({error})") from None


def typed_json(value: Any, tag: str) -> Any:
    """A tagged value as typed JSON: wide integers are decimal strings, what JSON has no number for is a word."""
    if tag == "json" or isinstance(value, bool | str):
        return value
    if isinstance(value, tuple):
        return [typed_json(item, tag) for item in value]
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if -SAFE <= value <= SAFE else str(value)


def from_typed_json(value: Any, tag: str) -> Any:
    """A value from typed JSON; `RecordError` for another form than the tag's."""
    dtype, length = TAGS[tag]
    if tag == "json" or dtype in ("string", "bool"):
        return tagged(value, tag, what="it")
    if length is None:
        return _number(value, dtype)
    if not isinstance(value, list) or len(value) != length:
        raise RecordError(f"{tag} is due, found {value!r}")
    return tuple(_number(item, dtype) for item in value)


def _number(value: Any, dtype: str) -> Any:
    if dtype == "f64":
        if isinstance(value, str) and value in SPELLED:
            return SPELLED[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RecordError(f"f64 is due, found {value!r}")
        try:
            return float(value)
        except OverflowError:
            raise RecordError(f"f64 is due, found an integer of {len(str(value))} digits") from None
    return checked_integer(value, dtype)


def checked_integer(value: Any, dtype: str = "i64") -> int:
    """An integer of typed JSON: a number, or a decimal string."""
    if isinstance(value, str) and len(value) <= LONGEST and value.isascii() and value.removeprefix("-").isdecimal():
        value = int(value)
    limits = np.iinfo(DTYPES[dtype])
    if type(value) is not int or not int(limits.min) <= value <= int(limits.max):
        raise RecordError(f"{dtype} is due, found {value!r}")
    return value


def is_counts(value: object) -> bool:
    """Whether a value is a list of integers that is not empty, none negative."""
    return isinstance(value, list) and bool(value) and all(type(n) is int and n >= 0 for n in value)
