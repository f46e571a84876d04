"""Values of an extended XYZ comment line: what a text means, and how a value is spelled.

Reference: https://github.com/libAtoms/extxyz#extended-xyz-specification

Decisions: ``nan`` and ``inf`` are reals (programs write them). Digits with a leading zero are text. A quoted or braced
list of numbers or of logicals is an array, of one it is that number; any other quoted text is text. ``_JSON`` in front
of a document is ASE's way to write what the grammar has no form for; text that would be taken for something else is
written in it too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model.meta import TAGS, json_text, json_value
from molrec_convert.text.numbers import parse_real
from molrec_convert.text.table import FORTRAN, MATHEMATICA

INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
REAL = re.compile(
    r"[+-]?(?:(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[dDeE][+-]?[0-9]+)?|(?:0|[1-9][0-9]*)[dDeE][+-]?[0-9]+)"
)
SPECIAL = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
NUMERIC = frozenset("0123456789+-.nNiI")
"""What a number begins with."""
LOGICAL = {word: word[0] in "Tt" for word in ("T", "F", "True", "False", "TRUE", "FALSE", "true", "false")}

LONGEST_INTEGER = 20
"""Digits of the largest integer of 64 bits; a longer one stays text."""

BETWEEN = re.compile(r"\s*,\s+|\s+")
"""What parts the items of a quoted array."""

TO_BRACKETS = str.maketrans("{}", "[]")
MEMBER = re.compile(r"""\s*(["'])[^"']*\1\s*:""")
"""What an object of JSON begins with, or a dictionary of Python, which stays text."""
JSON_MARK = "_JSON"

NEW_ARRAY = re.compile(r'\s*(?:(?P<mark>[\[\],])|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s,\[\]"]+))\s*')
DEEPEST = 32
"""Brackets within brackets that are followed."""


# ---------------------------------------------------------------- reading
def scalar(word: str) -> Any:
    """The integer, real or logical that a word spells, else the word."""
    if word[:1] in NUMERIC:
        if REAL.fullmatch(word):
            return float(word.replace("d", "e").replace("D", "e"))
        if INTEGER.fullmatch(word) and len(word) <= LONGEST_INTEGER + 1:
            return int(word)
        if SPECIAL.fullmatch(word):
            return float(word)
    return LOGICAL.get(word, word)


def number(word: str) -> float | None:
    """The number that a word spells in a place where only a number is due; None where it is none."""
    try:
        return parse_real(word, FORTRAN | MATHEMATICA)
    except ValueError:
        return None


def items(words: Sequence[str]) -> list[Any]:
    """The words as values of one type: all integers, else all reals, else all logicals, else all text."""
    found = [scalar(word) for word in words]
    kinds = {type(value) for value in found}
    if len(kinds) <= 1:
        return found
    if kinds == {int, float}:
        return [float(value) for value in found]
    return list(words)


@lru_cache(maxsize=256)
def quoted(text: str) -> Any:
    """The value of a text in quotes: an array of numbers or logicals, or one, or the text itself; not to be changed."""
    if text.startswith(JSON_MARK):
        return from_json(text)
    words = [word for word in BETWEEN.split(text.strip()) if word]
    found = items(words)
    if not found or isinstance(found[0], str):
        return text
    return found[0] if len(found) == 1 else found


def braced(text: str) -> Any:
    """The value of a text in braces: as in quotes, but several words are an array of words, and braces nest."""
    if MEMBER.match(text):
        try:
            return json.loads(f"{{{text}}}")
        except ValueError:
            return f"{{{text}}}"
    if "{" in text and not isinstance(nested := bracketed(f"[{text.translate(TO_BRACKETS)}]"), str):
        return nested
    words = [word for word in BETWEEN.split(text.strip()) if word]
    found = items(words)
    return found[0] if len(found) == 1 else (found or "")


def bracketed(text: str) -> Any:
    """The value of an array in brackets, which may hold arrays; the text where it is none."""
    try:
        shape, words = _parts(text)
    except ValueError:
        return text
    flat = iter(items([word for word, _ in words]))
    if any(in_quotes for _, in_quotes in words):
        flat = iter([word for word, _ in words])
    return _filled(shape, flat)


def _parts(text: str) -> tuple[list[Any], list[tuple[str, bool]]]:
    """The nesting of an array, None in the place of every item, and the items with whether they stand in quotes."""
    stack: list[list[Any]] = []
    words: list[tuple[str, bool]] = []
    whole: list[Any] | None = None
    position = 0
    while position < len(text):
        match = NEW_ARRAY.match(text, position)
        if match is None or whole is not None:
            raise ValueError("no array")
        position = match.end()
        if match["mark"] == "[":
            deeper: list[Any] = []
            if stack:
                stack[-1].append(deeper)
            stack.append(deeper)
            if len(stack) > DEEPEST:
                raise ValueError("too deep")
        elif not stack:
            raise ValueError("no array")
        elif match["mark"] == "]":
            closed = stack.pop()
            whole = whole if stack else closed
        elif match["mark"] is None:
            stack[-1].append(None)
            word = match["bare"] if match["quoted"] is None else unescaped(match["quoted"])
            words.append((word, match["quoted"] is not None))
    if whole is None:
        raise ValueError("not closed")
    return whole, words


def _filled(shape: list[Any], flat: Any) -> list[Any]:
    return [next(flat) if item is None else _filled(item, flat) for item in shape]


def from_json(text: str) -> Any:
    """The document behind ``_JSON``; the text where it is none."""
    try:
        return json.loads(text[len(JSON_MARK) :])
    except (ValueError, RecursionError):
        return text


def unescaped(text: str) -> str:
    r"""Undo the backslashes of a quoted text: ``\n`` is a line end, any other character stands for itself."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text, flags=re.DOTALL)


# ---------------------------------------------------------------- values as meta
def tagged_value(value: Any) -> tuple[Any, str]:
    """A value with the tag of a frame's meta that holds it."""
    if isinstance(value, bool):
        return value, "bool"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return value, "f64"
    if isinstance(value, str):
        return value, "string"
    if isinstance(value, list) and value:
        kinds = {type(item) for item in value}
        if kinds == {float} and f"f64x{len(value)}" in TAGS:
            return tuple(value), f"f64x{len(value)}"
        if kinds == {bool} and len(value) == 3:
            return tuple(value), "bool3"
        if kinds == {int} and len(value) == 3 and all(-(2**63) <= item < 2**63 for item in value):
            return tuple(value), "i64x3"
    try:
        return json_value(_finite(value)), "json"
    except (RecordError, RecursionError):
        return json.dumps(value), "string"  # JSON that no store can carry: a NUL, a lone surrogate


def _integer(value: int) -> tuple[Any, str]:
    if -(2**63) <= value < 2**63:
        return value, "i64"
    return (value, "u64") if 0 <= value < 2**64 else (str(value), "string")


def _finite(value: Any) -> Any:
    """A document with the words that MolRec has for numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- writing
BARE = re.compile(r"[^\s=\"',{}\[\]\\]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def key_text(key: str) -> str:
    """A key as it stands in a comment line."""
    return key if BARE_KEY.fullmatch(key) else _in_quotes(key)


def value_text(value: Any) -> str:
    """A value as it stands in a comment line, so that it reads back as it is."""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        kinds = {type(item) for item in value}
        if len(value) > 1 and len(kinds) == 1 and kinds <= {bool, int, float}:
            return f'"{" ".join(map(value_text, value))}"'
        value = list(value)
    return _json(value)


def _text(value: str) -> str:
    if value.startswith(JSON_MARK) or CONTROL.search(value) or not isinstance(quoted(value), str):
        return _json(value)  # other readers than libAtoms' take the n of an escaped line end for the letter
    return value if BARE.fullmatch(value) else _in_quotes(value)


def _json(value: Any) -> str:
    return _in_quotes(f"{JSON_MARK} {json_text(value)}")


def _in_quotes(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
