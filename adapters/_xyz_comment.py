"""The comment line of extended XYZ, taken apart into keys and values.

Reference: https://github.com/libAtoms/extxyz#extended-xyz-specification

Decisions: nothing in a line makes the rest of it unread. A key without a value is true. ``key=`` before a blank and
another ``key=`` is an empty text (ASE writes it so). A bare value reaches to the next blank, whatever is in it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ._xyz_values import DEEPEST, JSON_MARK, braced, bracketed, quoted, scalar, unescaped

USUAL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_-]*)=(?:"([^"\\]*)"|([^\s=",;{}\[\]\'\\]+))(?=\s|$)')
"""An item as nearly all are spelled."""
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
SINGLE = re.compile(r"'([^']*)'(?=[\s,;]|$)")
WORD = re.compile(r"[^\s=]+")
FLAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
EQUALS = re.compile(r"\s*=")
BLANKS = re.compile(r"[\s,;]*")
SPACE = re.compile(r"\s*")
REST = re.compile(r"\S+")
BARE_WORDS = re.compile(r"""[\s,;\[\]{}"']+""")
"""What parts the words of an array, however it is written."""
KEY_FOLLOWS = re.compile(r"""[^\s="'{}\[\]]+\s*=""")
BRACKETS = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Item:
    """A key with its value.

    Parameters
    ----------
    key, value
        The key, and the value in its type: a number, a logical, text, a list of them, a document.
    text
        The value as written, without its quotes or braces; None of a key without a value.
    form
        How it is written: ``w`` a word, ``q`` in quotes, ``a`` an array in braces or brackets, empty without a value.
    """

    key: str
    value: Any
    text: str | None
    form: str


@dataclass(slots=True)
class Items:
    """All items of a line, and what is none."""

    items: list[Item] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)


def items_of(comment: str) -> Items:
    """Take a comment line apart."""
    found = Items()
    position = 0
    while True:
        match = USUAL.match(comment, position)
        if match is None:
            position = BLANKS.match(comment, position).end()  # type: ignore[union-attr]
            if position == len(comment):
                return found
            position = _item(comment, position, found)
            continue
        key, in_quotes, word = match.groups()
        if in_quotes is None and word.startswith(JSON_MARK):
            position = _item(comment, match.start(1), found)
            continue
        item = Item(key, scalar(word), word, "w") if in_quotes is None else Item(key, quoted(in_quotes), in_quotes, "q")
        found.items.append(item)
        position = match.end()


def _item(comment: str, position: int, found: Items) -> int:
    """Take the next item, spelled in whatever way; the place behind it."""
    match = QUOTED.match(comment, position)
    if match is not None:
        key, bare = unescaped(match[1]), False
    else:
        match, bare = WORD.match(comment, position), True
        if match is None:  # it begins with an equals sign
            word = _rest(comment, position)
            found.loose.append(word)
            return position + len(word)
        key = match[0]
    equals = EQUALS.match(comment, match.end())
    if equals is None:
        if bare and not FLAG.fullmatch(key):
            found.loose.append(key)
        else:
            found.items.append(Item(key, True, None, ""))
        return match.end()
    item, end = _value(comment, equals.end(), key, found)
    found.items.append(item)
    return end


def _value(comment: str, position: int, key: str, found: Items) -> tuple[Item, int]:
    start = _behind_space(comment, position)
    if start == len(comment) or (start > position and KEY_FOLLOWS.match(comment, start)):
        return Item(key, "", "", "q"), position
    first = comment[start]
    if first == '"':
        return _quoted_value(comment, start, key, found)
    if first == "'" and (match := SINGLE.match(comment, start)):
        return Item(key, quoted(match[1]), match[1], "q"), match.end()
    if first in BRACKETS and (end := _closing(comment, start)):
        inner = comment[start + 1 : end - 1]
        value = braced(inner) if first == "{" else bracketed(comment[start:end])
        return Item(key, value, inner, "a"), end
    if comment.startswith(JSON_MARK, start) and (found_end := _json_end(comment, start)):
        text = comment[start:found_end]
        return Item(key, quoted(text), text, "q"), found_end
    word = _rest(comment, start)
    value = scalar(word)
    if word[-1] in ",;" and not isinstance(plain := scalar(word[:-1]), str):
        value = plain
    return Item(key, value, word, "w"), start + len(word)


def _quoted_value(comment: str, start: int, key: str, found: Items) -> tuple[Item, int]:
    match = QUOTED.match(comment, start)
    if match is None:
        found.loose.append('"')
        return Item(key, comment[start + 1 :], comment[start + 1 :], "q"), len(comment)
    text = unescaped(match[1])
    value = text if "\\" in match[1] and not text.startswith(JSON_MARK) else quoted(text)
    return Item(key, value, text, "q"), match.end()


def _closing(comment: str, start: int) -> int | None:
    """The place behind the bracket that closes the one at `start`; None where none does."""
    opened, closed = comment[start], BRACKETS[comment[start]]
    depth, position = 0, start
    while position < len(comment):
        character = comment[position]
        if character == '"' and (match := QUOTED.match(comment, position)):
            position = match.end()
            continue
        depth += (character == opened) - (character == closed)
        position += 1
        if not depth:
            return position
        if depth > DEEPEST:
            break
    return None


def _rest(comment: str, position: int) -> str:
    """What stands from here to the next blank."""
    match = REST.match(comment, position)
    return match[0] if match else ""


def _behind_space(comment: str, position: int) -> int:
    match = SPACE.match(comment, position)
    return match.end() if match else position


def _json_end(comment: str, start: int) -> int | None:
    """The place behind an unquoted ``_JSON`` document; None where it is none."""
    try:
        return json.JSONDecoder().raw_decode(comment, _behind_space(comment, start + len(JSON_MARK)))[1]
    except (ValueError, RecursionError):
        return None
