"""Comment lines that differ from the last one in single numbers alone, as nearly all of a trajectory do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._xyz_comment import USUAL
from ._xyz_dialects import read_header
from ._xyz_header import REAL_KEYS, STEP, TIME, Header, is_special
from ._xyz_values import scalar

LARGEST = 2**53
"""Integers below are held by every type that a header makes of them."""
NUMBERS = (int, float)
WORD = r"([0-9.eE+-]++)"


class Place(NamedTuple):
    """Where a number of a comment line stands in the header.

    Parameters
    ----------
    kinds
        How the line may spell it: as an integer, as a real.
    put
        Puts another number there.
    """

    kinds: tuple[type, ...]
    put: Callable[[Header, Any], None]


class Mould(NamedTuple):
    """What comment lines that differ in numbers alone are like: one of them, a pattern, and where its numbers go."""

    header: Header
    pattern: re.Pattern[str]
    places: tuple[Place, ...]

    def header_of(self, words: Sequence[str], comment: str) -> Header | None:
        """The header with other numbers; None where one is not spelled as it was."""
        header = self.header.again(comment)
        for (kinds, put), word in zip(self.places, words, strict=True):
            value = scalar(word)
            if type(value) not in kinds or not _is_held(value):
                return None
            put(header, value)
        return header


class HeaderReader:
    """Reads comment lines one after another; raises as `read_header` does."""

    def __init__(self) -> None:
        self._last: Header | None = None
        self._mould: Mould | None = None

    def read(self, comment: str) -> Header:
        """What a comment line states; the same header for the same line."""
        last, mould = self._last, self._mould
        if last is not None and last.comment == comment:
            return last
        match = None if mould is None else mould.pattern.fullmatch(comment)
        header = None if mould is None or match is None else mould.header_of(match.groups(), comment)
        if header is None:
            header = read_header(comment)
            self._mould = mould if match is not None else _mould_of(header)
        self._last = header
        return header


def _mould_of(header: Header) -> Mould | None:
    """What lines like this one are like; None where they are not told apart by their numbers."""
    comment, position = header.comment, 0
    parts: list[str] = []
    places: list[Place] = []
    if not header.extended or header.notes:
        return None
    while (match := USUAL.match(comment, position)) is not None:
        key, word = match[1], match[3]
        place = None if word is None or is_special(key, word) else _place_of(header, key, scalar(word))
        if place is None:
            parts.append(re.escape(match[0]))
        else:
            parts += [re.escape(comment[position : match.start(3)]), WORD]
            places.append(place)
        position = match.end()
    if comment[position:].strip():
        return None
    return Mould(header, re.compile("".join(parts) + re.escape(comment[position:])), tuple(places))


def _place_of(header: Header, key: str, value: Any) -> Place | None:
    name, kind = header.places.get(key), type(value)
    if kind not in NUMBERS or name is None or not _is_held(value):
        return None
    if name == STEP:
        return Place((int,), _put_step)
    if name == TIME:
        return Place(NUMBERS, _put_time)
    stored = type(header.values.get(name))
    if stored not in NUMBERS:
        return None

    def put(header: Header, value: Any) -> None:
        header.values[name] = stored(value)

    is_real = stored is float and kind is int  # whatever the line says, as in energy=-3
    return Place(NUMBERS if is_real or key in REAL_KEYS else (kind,), put)


def _is_held(value: Any) -> bool:
    """Whether a number is the same in whatever type a header makes of it."""
    return isinstance(value, float) or -LARGEST < value < LARGEST


def _put_step(header: Header, value: Any) -> None:
    header.step = value


def _put_time(header: Header, value: Any) -> None:
    header.time = float(value)
