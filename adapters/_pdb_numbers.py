"""Serials and residue numbers that have outgrown their columns: hybrid-36, two kinds of hexadecimal, stars.

References: hybrid-36, http://cci.lbl.gov/hybrid_36/ (99999 is followed by A0000, ZZZZZ by a0000); VMD prints the number
itself in hexadecimal (99999, 186a0); OpenMM goes on at the hexadecimal A0000 and begins again at 0 after FFFFF.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Word = bytes

DECIMAL = re.compile(rb"[+-]?[0-9]{1,18}")
STARS = re.compile(rb"\*+")
HEXADECIMAL = re.compile(rb"[0-9A-Fa-f]+")
HYBRID = re.compile(rb"(?:[A-Z][0-9A-Z]+|[a-z][0-9a-z]+)")

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Decoded(NamedTuple):
    """Numbers of a field, row by row."""

    values: Array
    """i64; 0 where there is none."""
    valid: Array
    bad: list[Word]
    """What is no number in any spelling."""
    style: str
    """How numbers beyond the columns are spelled: ``hybrid-36``, ``hexadecimal``, or nothing."""


def hybrid36(value: int, width: int) -> str:
    """Spell a number in `width` columns; ValueError where even hybrid-36 has no room.

    >>> hybrid36(99999, 5), hybrid36(100000, 5), hybrid36(-12, 4), hybrid36(43770016, 5)
    ('99999', 'A0000', ' -12', 'a0000')
    """
    plain = f"{value:{width}d}"
    if len(plain) == width:
        return plain
    over, block = value - 10**width, 26 * 36 ** (width - 1)
    if not 0 <= over < 2 * block:
        raise ValueError(f"{value} does not fit {width} columns")
    small, over = divmod(over, block)
    number, digits = over + 10 * 36 ** (width - 1), ""
    while number:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits.lower() if small else digits


def decode_hybrid36(word: Word, width: int) -> int | None:
    """The number of a word that begins with a letter, or None."""
    if len(word) != width or not HYBRID.fullmatch(word):
        return None
    place: int = 36 ** (width - 1)
    beyond: int = 10**width
    return int(word, 36) - 10 * place + beyond + (26 * place if word[:1].islower() else 0)


def decode_word(word: Word, width: int, style: str) -> int | None:
    """The number of a word by itself, where the style of the file is known; None where it is none."""
    if DECIMAL.fullmatch(word):
        return int(word)
    if style != "hexadecimal":
        return decode_hybrid36(word, width)
    if not HEXADECIMAL.fullmatch(word):
        return None
    return int(word, 16) if word[:1].isdigit() else _shifted(word, width)


def _shifted(word: Word, width: int) -> int:
    """The number that lies as far above 1000… as the hexadecimal one lies above A00…."""
    start: int = 10 * 16 ** (width - 1)
    beyond: int = 10**width
    return int(word, 16) - start + beyond


def decode_column(codes: Array, words: Sequence[Word], width: int) -> Decoded:
    """The numbers of a field whose words repeat: one code a row.

    Which hexadecimal it is, or none, is told by the words and by their order: numbers go on from row to row.
    """
    plain = [int(word) if DECIMAL.fullmatch(word) else None for word in words]
    odd = [k for k, word in enumerate(words) if plain[k] is None and word and not STARS.fullmatch(word)]
    bad = [words[k] for k in odd if not words[k].isalnum()]
    if bad or not odd:
        return _looked_up(codes, plain, bad, "")
    overflowing = np.flatnonzero(np.isin(codes, odd))
    first = words[codes[overflowing[0]]]
    if _is_hybrid([words[k] for k in odd], [words[codes[row]] for row in overflowing.tolist()], width):
        for k in odd:
            plain[k] = decode_hybrid36(words[k], width)
        return _looked_up(codes, plain, [words[k] for k in odd if plain[k] is None], "hybrid-36")
    step = _next_hexadecimal if first[:1].isdigit() else _next_shifted
    if len(first) != width:
        return _looked_up(codes, plain, [first], "")
    return _in_order(codes, words, plain, int(overflowing[0]), width, step)


def _looked_up(codes: Array, numbers: Sequence[int | None], bad: list[Word], style: str) -> Decoded:
    table = np.array([0 if number is None else number for number in numbers], np.int64)
    known = np.array([number is not None for number in numbers], np.bool_)
    if not len(table):
        return Decoded(np.zeros(len(codes), np.int64), np.zeros(len(codes), np.bool_), bad, style)
    return Decoded(table[codes], known[codes], bad, style)


def _is_hybrid(distinct: Sequence[Word], in_order: Sequence[Word], width: int) -> bool:
    """Whether words are hybrid-36: by a letter after F, else by which spelling makes them go on from row to row."""
    if in_order[0][:1].isdigit():
        return False
    if any(not HEXADECIMAL.fullmatch(word) for word in distinct):
        return True
    hybrid = hexadecimal = 0
    for one, other in pairwise(in_order):
        if one != other and len(one) == len(other) == width:
            low, high = decode_hybrid36(one, width), decode_hybrid36(other, width)
            hybrid += low is not None and high is not None and high - low == 1
            hexadecimal += int(other, 16) - int(one, 16) == 1
    return hybrid >= hexadecimal and all(len(word) == width for word in distinct)


Step = Callable[[Word, "int | None", int, int], "int | None"]
"""The number of a word after a number, in so many columns."""


def _in_order(
    codes: Array, words: Sequence[Word], plain: list[int | None], first: int, width: int, step: Step
) -> Decoded:
    """Numbers of rows that follow each other, from where decimal ends."""
    if step is _next_hexadecimal:
        first = _first_hexadecimal(codes, words, first, width)
    decimal = _looked_up(codes, plain, [], "hexadecimal")
    values, valid, bad = decimal.values, decimal.valid, []
    last: int | None = int(values[first - 1]) if first and valid[first - 1] else None
    for row, word in enumerate(_words(codes[first:], words), first):
        number = step(word, last, width, 16**width)
        if number is None and word and not STARS.fullmatch(word):
            bad.append(word)
        values[row], valid[row] = number or 0, number is not None
        last = number if number is not None else last
    return decimal._replace(bad=bad)


def _words(codes: Array, words: Sequence[Word]) -> Iterator[Word]:
    return (words[code] for code in codes.tolist())


def _first_hexadecimal(codes: Array, words: Sequence[Word], row: int, width: int) -> int:
    """Where hexadecimal numbers begin; the first ones may have no letter, as 2710 for 10000."""
    while row:
        word, after = words[codes[row - 1]], words[codes[row]]
        if not HEXADECIMAL.fullmatch(word) or not HEXADECIMAL.fullmatch(after) or len(word) != width:
            break
        number = int(word, 16)
        if number < 10**width or not 0 <= int(after, 16) - number <= 1:
            break
        row -= 1
    return row


def _next_hexadecimal(word: Word, last: int | None, width: int, period: int) -> int | None:
    """A number spelled in hexadecimal, or in decimal where that is nearer to the last one."""
    del period
    decimal = int(word) if DECIMAL.fullmatch(word) else None
    number = int(word, 16) if len(word) == width and HEXADECIMAL.fullmatch(word) else None
    if number is None or number < 10**width:
        return decimal
    if decimal is None or last is None:
        return number
    return number if abs(number - last) <= abs(decimal - last) else decimal


def _next_shifted(word: Word, last: int | None, width: int, period: int) -> int | None:
    """A number spelled from A00… on, and again from 0 after FFF…; in decimal where that does not follow the last."""
    decimal = int(word) if DECIMAL.fullmatch(word) else None
    if not HEXADECIMAL.fullmatch(word):
        return decimal
    number = _shifted(word, width)
    if number < 10**width:
        number += period
    if last is not None and last - number >= period // 2:
        number += (last - number + period // 2) // period * period
    if decimal is None:
        return number
    return number if last is not None and number - last in (0, 1) else decimal
