"""Comment lines that differ from the last one in single numbers alone, as nearly all of a trajectory do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._xyz_cell import usual_box
from ._xyz_comment import USUAL
from ._xyz_dialects import read_header
from ._xyz_header import REAL_KEYS, STEP, TIME, Header, is_special
from ._xyz_values import REAL, scalar

LARGEST = 2**53
"""Integers below are held by every type that a header makes of them."""
NUMBERS = (int, float)
WORD, WORDS = r"([0-9.eE+-]++)", r"([0-9.eE+\- ]++)"
"""A number, and several in quotes."""
VECTORS = ("f64x3", "f64x6", "f64x9")
PATIENCE = 4
"""Lines that are unlike the one before, after which as many more are read without looking for what is alike."""

REALS = re.compile(rf"(?: *+(?:{REAL.pattern})(?=\s|$))++ *+")
"""Reals in quotes, each of which is one by its spelling."""

Put = Callable[[Header, str], bool]
"""Puts a text where that of another line was; false where it is of another kind."""


class Mould(NamedTuple):
    """What comment lines that differ in numbers alone are like: one of them, a pattern, and where its numbers go."""

    header: Header
    pattern: re.Pattern[str]
    places: tuple[Put, ...]

    def header_of(self, words: Sequence[str], comment: str) -> Header | None:
        """The header with other numbers; None where one is not of the kind that it was."""
        header = self.header.again(comment)
        for put, word in zip(self.places, words, strict=True):
            if not put(header, word):
                return None
        return header


class HeaderReader:
    """Reads comment lines one after another; raises as `read_header` does."""

    def __init__(self) -> None:
        self._last: Header | None = None
        self._mould: Mould | None = None
        self._made, self._rest = 0, 0

    def read(self, comment: str) -> Header:
        """What a comment line states; the same header for the same line."""
        last, mould = self._last, self._mould
        if last is not None and last.comment == comment:
            return last
        match = None if mould is None else mould.pattern.fullmatch(comment)
        header = None if mould is None or match is None else mould.header_of(match.groups(), comment)
        if header is None:
            header = read_header(comment)
            if match is None:
                self._mould = self._next_mould(header)
        else:
            self._made = 0
        self._last = header
        return header

    def _next_mould(self, header: Header) -> Mould | None:
        """A mould of this line, unless those of the lines before were of no use: making one takes a while."""
        if self._rest > 0:
            self._rest -= 1
            return self._mould
        self._made += 1
        if self._made > PATIENCE:
            self._rest = self._made * PATIENCE
        return _mould_of(header)


def _mould_of(header: Header) -> Mould | None:
    """What lines like this one are like; None where they are not told apart by their numbers."""
    comment, position = header.comment, 0
    parts: list[str] = []
    places: list[Put] = []
    if not header.extended or header.notes:
        return None
    special = _special_texts(comment)
    while (match := USUAL.match(comment, position)) is not None:
        key, text, word = match.groups()
        put = _array_place(header, key, text, special) if word is None else _place_of(header, key, word)
        if put is None:
            parts.append(re.escape(match[0]))
        else:
            start, end = match.span(2) if word is None else match.span(3)
            pattern = WORDS if word is None else WORD
            parts += [re.escape(comment[position:start]), pattern, re.escape(comment[end : match.end()])]
            places.append(put)
        position = match.end()
    if comment[position:].strip():
        return None
    return Mould(header, re.compile("".join(parts) + re.escape(comment[position:])), tuple(places))


def _special_texts(comment: str) -> dict[str, str]:
    """The texts of a line's items that describe the cell."""
    found, position = {}, 0
    while (match := USUAL.match(comment, position)) is not None:
        text = match[3] if match[2] is None else match[2]
        if is_special(match[1], text):
            found[match[1].lower()] = text
        position = match.end()
    return found


def _place_of(header: Header, key: str, word: str) -> Put | None:
    """Where a number goes; None for what is to stay."""
    value = scalar(word)
    name, kind = header.places.get(key), type(value)
    if kind not in NUMBERS or name is None or is_special(key, word) or not _is_held(value):
        return None
    if name == STEP:
        return _put_step
    if name == TIME:
        return _put_time
    stored = type(header.values.get(name))
    if stored not in NUMBERS:
        return None
    # What is a real whatever the line says, as in energy=-3, may be spelled either way.
    kinds = NUMBERS if key in REAL_KEYS or (stored is float and kind is int) else (kind,)

    def put(header: Header, word: str) -> bool:
        value = scalar(word)
        if type(value) not in kinds or not _is_held(value):
            return False
        header.values[name] = stored(value)
        return True

    return put


def _array_place(header: Header, key: str, text: str, special: dict[str, str]) -> Put | None:
    """Where numbers in quotes go: they are a lattice, or a vector of reals; None for what is to stay."""
    if re.fullmatch(WORDS, text) is None:
        return None
    if is_special(key, text):
        like = header.box
        if like is None or special.get("lattice") != text or usual_box(_reals_of(text), like) is None:
            return None
        last = text, like

        def put_box(header: Header, text: str) -> bool:
            nonlocal last
            known, box = last
            if text == known:
                header.box = box
                return True
            header.box = usual_box(_reals_of(text), like)
            if header.box is not None:
                last = text, header.box
            return header.box is not None

        return put_box
    name = header.places.get(key)
    if name is None or header.tags.get(name) not in VECTORS:
        return None
    count = len(header.values[name])

    def put(header: Header, text: str) -> bool:
        values = _reals_of(text) if REALS.fullmatch(text) else ()
        header.values[name] = tuple(values)
        return len(values) == count

    return put


def _reals_of(text: str) -> Sequence[float]:
    """Numbers parted by blanks; none where one of them is spelled in another way than nearly all are."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return ()


def _is_held(value: Any) -> bool:
    """Whether a number is the same in whatever type a header makes of it."""
    return isinstance(value, float) or -LARGEST < value < LARGEST


def _put_step(header: Header, word: str) -> bool:
    value = scalar(word)
    header.step = value
    return type(value) is int and _is_held(value)


def _put_time(header: Header, word: str) -> bool:
    value = scalar(word)
    if type(value) not in NUMBERS or not _is_held(value):
        return False
    header.time = float(value)
    return True
