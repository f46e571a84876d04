"""Atom lines that do not keep to the columns: a number that outgrew its field has pushed the rest to the right.

Positions have three decimals wherever they stand, so their last digits tell how far a line is shifted. A number may
also have grown into the blank columns 28-30, which shifts nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from molrec_convert.text.faults import quote
from molrec_convert.text.numbers import parse_real

from ._pdb_fields import FIELDS, LARGEST, POSITIONS, RECORDS, SMALLEST, columns_of
from ._pdb_numbers import STARS

SERIAL = re.compile(rb" *([0-9]+)")
FROM_RESIDUE = re.compile(
    rb"(?P<res_seq> *-?[0-9]+| {4}|[*]{4}|[A-Za-z][0-9A-Za-z]{3})(?P<icode>[A-Za-z]?) *"
    rb"(?P<x>[-+]?[0-9]+\.[0-9]{3}) *(?P<y>[-+]?[0-9]+\.[0-9]{3}) *(?P<z>[-+]?[0-9]+\.[0-9]{3})(?![0-9])"
)
LETTER = re.compile(rb"[A-Za-z]")
FARTHEST = 12
"""How many columns a line may be shifted; more is another layout."""

Cut = dict[str, bytes]
"""The text of every field of a line."""


class OddLineError(Exception):
    """A line that cannot be read; the message is one clause."""


class Mended(NamedTuple):
    """The fields of a line, and whether some number of it stands outside its columns."""

    cut: Cut
    shifted: bool


def cut_line(line: bytes, left: int = 0, right: int = 0) -> Cut:
    """The fields of a line, those up to the residue's number `left` columns and those after `right` columns off."""
    fields: Cut = {}
    for name, place in FIELDS.items():
        shift = right if place.start >= 26 else left if place.start >= 12 else 0
        text = line[max(place.start + shift, 0) : max(place.stop + shift, 0)]
        fields[name] = text if place.kind == "r" else text.strip(b" ")
    return fields


def is_odd(cut: Cut) -> bool:
    """Whether a line may not keep to the columns, or holds no proper numbers."""
    if cut["record"].upper() not in RECORDS or cut["gap"] or LETTER.search(cut["charge"]):
        return True
    for name in POSITIONS:
        value = _number(cut[name])
        if value is None or value >= LARGEST or value <= SMALLEST:
            return True
    return any(_bad_real(cut[name]) for name in ("occupancy", "b_factor"))


def mended(line: bytes) -> Mended:
    """The fields of an odd line.

    Raises
    ------
    OddLineError
        Where it neither keeps to the columns nor is shifted as a whole.
    """
    for left in _left_shifts(line):
        found = FROM_RESIDUE.match(line, 22 + left)
        if found is None:
            continue
        shift = found.end() - 54
        in_gap = left == 0 and (found.start("x") < FIELDS["x"].start or found.end("res_seq") > FIELDS["gap"].start)
        if abs(shift) > FARTHEST or not (shift or in_gap):
            continue
        cut = cut_line(line, left, shift)
        cut |= {name: text.strip(b" ") for name, text in found.groupdict().items()}
        cut["serial"] = line[6 : 12 + max(left - 1, 0)].strip(b" ")
        if not any(_bad_real(cut[name]) for name in ("occupancy", "b_factor")):
            return Mended(_with_record(cut, line), shifted=True)
    cut = _with_record(cut_line(line), line)
    _check(cut, line)
    return Mended(cut, shifted=False)


def _left_shifts(line: bytes) -> list[int]:
    """How far names may be shifted: by a serial of six digits or more, but for the blank in column 12 that it takes."""
    digits = SERIAL.match(line, 6)
    if digits is None or len(digits[1]) < 6 or digits.end() < 12:
        return [0]
    return [digits.end() - 11, 0] if digits.end() == 12 else [digits.end() - 11]


def _with_record(cut: Cut, line: bytes) -> Cut:
    """A serial of seven digits or more may begin right behind ATOM."""
    record = cut["record"].upper()
    if record not in RECORDS and record[:4] == b"ATOM" and line[4:6].strip(b" ").isdigit():
        cut["serial"] = line[4:6].strip(b" ") + line[6:12].rstrip(b" ")
        record = b"ATOM"
    cut["record"] = record
    return cut


def _check(cut: Cut, line: bytes) -> None:
    """Say what is wrong with a line that keeps to the columns."""
    for name in POSITIONS:
        if _number(cut[name]) is not None:
            continue
        if len(line.rstrip()) <= FIELDS[name].start:
            raise OddLineError(f"the line ends after {len(line.rstrip())} columns, the position needs 54")
        if not cut[name]:
            raise OddLineError(f"{name} is blank: {columns_of(name)} hold it")
        raise OddLineError(f"{name} in {columns_of(name)}: {_quoted(cut[name])} is not a number")
    for name in ("occupancy", "b_factor"):
        if _bad_real(cut[name]):
            raise OddLineError(f"{name} in {columns_of(name)}: {_quoted(cut[name])} is not a number")


def _number(word: bytes) -> float | None:
    try:
        return parse_real(word)
    except ValueError:
        return None


def _bad_real(word: bytes) -> bool:
    return bool(word) and _number(word) is None and not STARS.fullmatch(word)


def _quoted(word: bytes) -> str:
    return quote(word.decode("utf-8", "backslashreplace"))
