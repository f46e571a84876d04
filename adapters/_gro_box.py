"""The box line of a GRO frame: three numbers of an orthogonal cell, or nine, in nanometres.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#gro: the numbers are ``v1(x) v2(y)
v3(z) v1(y) v1(z) v2(x) v2(z) v3(x) v3(y)`` in free format, and GROMACS takes only cells whose v1(y), v1(z) and v2(z)
are 0. Fields of ``%10.5f`` run together where they are full; their decimals tell them apart.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Box
from molrec_convert.model.box import is_regular
from molrec_convert.text.faults import quote
from molrec_convert.text.lines import decoded
from molrec_convert.text.numbers import parse_real

Array = np.ndarray[Any, Any]

ORDER = ((0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2))
"""Where the numbers stand in the matrix whose columns are the vectors."""
COUNTS = (3, len(ORDER))
DECIMALS, WIDTH = 5, 10
PADDED = re.compile(rb"[-+]?0[0-9]")
"""A number that no program writes: it is cut at the wrong place."""
PER_NM = 10.0
"""Ångström in a nanometre."""
ROUNDING = 1e-9
"""Relative size of what counts as zero in a vector of a cell in the orientation of the format."""


class BoxLine(NamedTuple):
    """What a box line says.

    Parameters
    ----------
    box
        The cell, in ångström; None where there is none.
    note
        Why there is none, or what of the line is left out.
    """

    box: Box | None
    note: str = ""


def read_box(line: bytes) -> BoxLine:
    """Read a box line; ValueError says in a clause what is wrong with it."""
    words = [part for word in line.split() for part in _parted(word)]
    numbers: list[float] = []
    for word in words:
        try:
            numbers.append(tenfold(word))
        except ValueError as error:
            if len(numbers) in COUNTS:
                break
            raise ValueError(f"the box line: {error}") from None
    if len(numbers) not in COUNTS:
        raise ValueError(f"a box line has 3 or 9 numbers, this one {len(numbers)}")
    behind = b" ".join(words[len(numbers) :])
    note = f"{quote(decoded(behind))} behind the box is left out" if behind else ""
    if not any(numbers):
        return BoxLine(None, note)
    vectors = np.zeros((3, 3))
    for place, number in zip(ORDER, numbers, strict=False):
        vectors[place] = number
    if not is_regular(vectors):
        return BoxLine(None, f"the box {decoded(line.strip())} is no cell")
    return BoxLine(Box.of(vectors, np.zeros(3), np.ones(3, dtype=bool)), note)


def _parted(word: bytes) -> list[bytes]:
    """The numbers of a word in which full fields run together: all have as many decimals as the last one."""
    if word.count(b".") < 2:
        return [word]
    decimals = len(word) - 1 - word.rindex(b".")
    found = re.findall(rb"[-+]?[0-9]*\.[0-9]{%d}" % decimals, word)
    whole = b"".join(found) == word and not any(PADDED.match(part) for part in found)
    return found if whole else [word]


def tenfold(token: bytes) -> float:
    """Ten times the number that a token spells, rounded once; ValueError where it spells none.

    >>> tenfold(b"0.556"), 0.556 * 10, tenfold(b"-1e-3")
    (5.56, 5.5600000000000005, -0.01)
    """
    value = parse_real(token)
    if not math.isfinite(value):
        return value
    mantissa, _, exponent = token.lower().partition(b"e")
    return float(b"%be%d" % (mantissa, int(exponent or b"0") + 1))


class Placed(NamedTuple):
    """A cell as the format states it.

    Parameters
    ----------
    vectors
        Columns a, b, c, with nothing below the diagonal; or those of the source.
    kept
        The line of the source, where it still says the same.
    rotation
        What turns vectors of the frame into the orientation of the format; None where they are in it.
    reversed
        Whether the third vector is written reversed, since the cell is left-handed.
    """

    vectors: Array
    kept: str | None = None
    rotation: Array | None = None
    reversed: bool = False


def placed(box: Box, kept: Any) -> Placed:
    """How to write a cell: the source's own line where it still gives it to the bit, else in the format's orientation.

    Parameters
    ----------
    box
        A cell that is defined, in ångström.
    kept
        The line of the source; None where there is none.
    """
    if isinstance(kept, str) and says(kept, box):
        return Placed(box.vectors, kept)
    vectors = box.vectors
    if _is_standard(vectors):
        return Placed(np.triu(vectors))
    mirrored = bool(np.linalg.det(vectors) < 0.0)
    if mirrored:
        vectors = vectors * np.array([1.0, 1.0, -1.0])
    if _is_standard(vectors):
        return Placed(np.triu(vectors), None, None, mirrored)
    standard = _turned(vectors)
    return Placed(standard, None, standard @ np.linalg.inv(vectors), mirrored)


def kept_box(line: str, box: Box | None) -> str | None:
    """The line of a source, where the same would not be written anyhow."""
    if box is None:
        return None if line == box_line(None) else line
    made = placed(box, None)
    plain = made.rotation is None and not made.reversed and line == box_line(made.vectors)
    return None if plain else line


def says(line: str, box: Box | None) -> bool:
    """Whether a line of a source still gives a cell to the bit, or still none."""
    try:
        found = read_box(line.encode()).box
    except (ValueError, RecordError):
        return False
    if found is None or box is None:
        return found is box
    return np.array_equal(found.vectors, box.vectors)


def _is_standard(vectors: Array) -> bool:
    """Whether a lies along x, b in the xy plane with y above 0, and c above it."""
    below = np.array([vectors[1, 0], vectors[2, 0], vectors[2, 1]])
    size = np.abs(vectors).max()
    return bool((np.abs(below) <= ROUNDING * size).all() and (vectors.diagonal() > 0.0).all())


def _turned(vectors: Array) -> Array:
    """A right-handed cell turned so that a lies along x and b in the xy plane."""
    a, b, c = vectors.T
    ax = np.linalg.norm(a)
    along = a / ax
    normal = np.cross(a, b)
    bx, cx = b @ along, c @ along
    by = np.linalg.norm(normal) / ax
    return np.array([[ax, bx, cx], [0.0, by, (b @ c - bx * cx) / by], [0.0, 0.0, c @ normal / np.linalg.norm(normal)]])


def box_line(vectors: Array | None, per_nm: float = PER_NM) -> str:
    """The text of a box line, of numbers that read back exactly; zeros for no cell.

    Parameters
    ----------
    vectors
        Columns a, b, c.
    per_nm
        The length of a nanometre in their unit.
    """
    numbers = [0.0] * 9 if vectors is None else [float(vectors[place]) for place in ORDER]
    count = COUNTS[1] if any(numbers[3:]) else COUNTS[0]
    words = [_in_nm(number, per_nm) for number in numbers[:count]]
    return "".join(word.rjust(max(WIDTH, len(word) + 1)) for word in words)


def _in_nm(number: float, per_nm: float) -> str:
    if per_nm == PER_NM:
        text = format(Decimal(repr(number)).scaleb(-1), "f")
    else:
        text = format(Decimal(repr(number / per_nm)), "f")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(DECIMALS, '0')}"
