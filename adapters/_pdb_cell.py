"""CRYST1: six cell parameters that fix the orientation, the space group, and placeholders for no cell.

Reference: wwPDB format 3.3, "CRYST1". Structures without a crystal carry a cell of 1 Å, other programs write zeros.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import FormatError, RecordError
from molrec_convert.loss import Loss
from molrec_convert.model import Box
from molrec_convert.text.faults import quote
from molrec_convert.text.lines import decoded
from molrec_convert.text.numbers import parse_real

Array = np.ndarray[Any, Any]

PARAMETERS = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
GROUP, COPIES = (55, 66), (66, 70)
DUMMY = (1.0, 1.0, 1.0, 90.0, 90.0, 90.0)
ROUNDING = 1e-9
"""Relative size of what counts as zero in a vector of a cell in the standard orientation."""


class Cell(NamedTuple):
    """What a CRYST1 record says.

    Parameters
    ----------
    numbers
        a, b, c and α, β, γ as written.
    box
        The cell; None where there is none.
    group, copies
        The space group and the number Z.
    note
        Why there is no cell.
    """

    numbers: tuple[float, ...]
    box: Box | None
    group: str = ""
    copies: int | None = None
    note: str = ""


def read_cell(record: bytes, *, path: str, line: int) -> Cell:
    """Read a CRYST1 record.

    Raises
    ------
    FormatError
        Where it holds no six numbers, or angles of no cell.
    """
    words = [record[start:stop].strip() for start, stop in PARAMETERS]
    if not all(map(_is_number, words)) and all(map(_is_number, free := record[6:].split()[:6])) and len(free) == 6:
        words = free  # not in the columns of the format
    if not any(words):
        return Cell((), None, note="CRYST1 is blank: there is no cell")
    for word, name in zip(words, ("a", "b", "c", "alpha", "beta", "gamma"), strict=True):
        if not _is_number(word):
            what = f"{quote(decoded(word))} is not a number" if word else "is blank"
            raise FormatError(f"CRYST1: {name} {what}", path=path, line=line)
    numbers = tuple(parse_real(word) for word in words)
    copies = record[slice(*COPIES)].strip()
    group, count = decoded(record[slice(*GROUP)]).strip(), int(copies) if copies.isdigit() else None
    spelled = " ".join(map(decoded, words))
    if numbers == DUMMY:
        return Cell(numbers, None, group, count, f"CRYST1 {spelled} stands for no cell")
    if not all(map(math.isfinite, numbers)) or not all(length > 0.0 for length in numbers[:3]):
        return Cell(numbers, None, group, count, f"CRYST1 {spelled} is no cell")
    box = _box_of(numbers)
    if box is None:
        raise FormatError(f"CRYST1: {spelled} spans no cell", path=path, line=line)
    return Cell(numbers, box, group, count)


def _box_of(numbers: Sequence[float]) -> Box | None:
    """The cell of six parameters; None where they span none."""
    try:
        return Box.from_parameters(numbers)
    except (RecordError, np.linalg.LinAlgError):
        return None


def _is_number(word: bytes) -> bool:
    try:
        parse_real(word)
    except ValueError:
        return False
    return True


class Placed(NamedTuple):
    """A cell as the format states it.

    Parameters
    ----------
    numbers
        a, b, c and α, β, γ.
    rotation
        What turns vectors of the frame into the orientation that the numbers imply; None where they are in it.
    reversed
        Whether the third vector is written reversed, since the cell is left-handed.
    """

    numbers: Sequence[float]
    rotation: Array | None = None
    reversed: bool = False


def placed(box: Box, kept: Sequence[float] | None) -> Placed:
    """How to write a cell: the source's own numbers where they still give it to the bit, else its parameters."""
    if kept is not None and _still_holds(kept, box):
        return Placed(kept)
    vectors = box.vectors
    mirrored = bool(np.linalg.det(vectors) < 0.0)
    if mirrored:
        vectors = vectors * np.array([1.0, 1.0, -1.0])
    numbers = Box.of(vectors, box.origin, box.boundary).parameters
    if _is_standard(vectors):
        return Placed(numbers, None, mirrored)
    rotation = Box.from_parameters(numbers).vectors @ np.linalg.inv(vectors)
    return Placed(numbers, rotation, mirrored)


def _still_holds(kept: Sequence[float], box: Box) -> bool:
    derived = _box_of(kept)
    return derived is not None and np.array_equal(derived.vectors, box.vectors)


def _is_standard(vectors: Array) -> bool:
    """Whether a lies along x, b in the xy plane with y above 0, and c above it."""
    below = np.array([vectors[1, 0], vectors[2, 0], vectors[2, 1]])
    size = np.abs(vectors).max()
    return bool((np.abs(below) <= ROUNDING * size).all() and (vectors.diagonal() > 0.0).all())


def lost_of_cell(record: str, cell: Placed, box: Box, *, exact: bool) -> Loss | None:
    """What a CRYST1 record does not give back of a cell in Å.

    Parameters
    ----------
    record
        Its text.
    cell, box
        What it states.
    exact
        Whether every bit counts; where the cell was turned, or converted from another unit, the last ones do not.
    """
    try:
        read = read_cell(record.encode(), path="", line=0)
    except FormatError as error:
        raise ValueError(error.message.removeprefix("CRYST1: ")) from None
    if read.box is None:
        return Loss("box", "its numbers stand for no cell in the format")
    if exact and cell.rotation is None and not cell.reversed:
        same = np.array_equal(read.box.vectors, box.vectors)
    else:
        same = np.allclose(read.numbers, cell.numbers, rtol=ROUNDING, atol=0.0)
    return None if same else Loss("digits of box", "lengths have three decimals, angles two")


def no_cell_record() -> str:
    """The record of a frame without a cell, among others that have one."""
    return cell_record(DUMMY, "P 1", 1)


def cell_record(numbers: Sequence[float], group: str, copies: int | None, *, kept: bool = False) -> str:
    """The text of a CRYST1 record; ValueError with the number that does not fit.

    Parameters
    ----------
    numbers
        a, b, c and α, β, γ.
    group, copies
        The space group and the number Z.
    kept
        Whether the numbers are those of a source, which may have filled its columns with more decimals.
    """
    places = [(9, 3)] * 3 + [(7, 2)] * 3
    fields = [_number(value, *place, kept=kept) for value, place in zip(numbers, places, strict=True)]
    count = "" if copies is None else f"{copies:4d}"
    return f"CRYST1{''.join(fields)} {group:<11.11}{count}".rstrip()


def _number(value: float, width: int, decimals: int, *, kept: bool) -> str:
    """A number in its columns."""
    text = f"{value:{width}.{decimals}f}"
    exact = repr(value)
    if kept and float(text) != value and len(exact) <= width and "e" not in exact:
        text = exact.rjust(width)
    if len(text) > width:
        raise ValueError(f"{value!r} does not fit {width} columns")
    return text
