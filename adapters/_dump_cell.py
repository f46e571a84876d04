"""The cell in the header of a dump: many of them read at once, and printed as the source wrote them where they hold.

Reference: https://docs.lammps.org/dump.html, https://docs.lammps.org/Howto_triclinic.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from molrec_convert.mapping.inverse import undone
from molrec_convert.model import Box
from molrec_convert.model.box import surely_regular

from ._lammps import boundary_flags, bounding_to_bounds, bounds_to_bounding, cell_of_bounds, is_restricted

if TYPE_CHECKING:
    from ._dump_header import Header

NUMBER = rb"[-+]?[0-9]++\.?[0-9]*+(?:[eE][-+]?[0-9]++)?+"
"""How nearly all numbers are spelled."""
BOUNDS = {
    width: re.compile((rb"[ \t]*+" + rb"[ \t]++".join([b"(" + NUMBER + b")"] * width) + rb"[ \t\r]*+\n") * 3)
    for width in (2, 3)
}
"""The lines of bounds, without tilts and with them."""


# ---------------------------------------------------------------- reading
def bounds_of(text: bytes, width: int) -> tuple[tuple[float, ...], ...] | None:
    """The numbers of three lines of bounds; None where they are spelled in another way than nearly all are."""
    match = BOUNDS[width].fullmatch(text)
    if match is None:
        return None
    numbers = [float(word) for word in match.groups()]
    return tuple(tuple(numbers[k : k + width]) for k in range(0, 3 * width, width))


def boxes_of(headers: Sequence[Header]) -> list[Box] | None:
    """The cells of many headers at once; None where one is not as most are."""
    letters, tilted = headers[0].letters, headers[0].tilted
    if any(header.general or header.letters != letters or header.tilted is not tilted for header in headers):
        return None
    bounds = np.array([header.bounds for header in headers])
    lows, highs = bounds[:, :, 0].copy(), bounds[:, :, 1]
    vectors = np.zeros((len(bounds), 3, 3))
    if tilted:
        tilts = bounds[:, :, 2]
        own = [bounding_to_bounds(*rows) for rows in zip(lows.tolist(), highs.tolist(), tilts.tolist(), strict=True)]
        lows, highs = np.array([lo for lo, _ in own]), np.array([hi for _, hi in own])
        vectors[:, [0, 0, 1], [1, 2, 2]] = tilts
    vectors[:, [0, 1, 2], [0, 1, 2]] = highs - lows
    if not surely_regular(vectors).all() or not (highs > lows).all() or not np.isfinite(lows).all():
        return None
    flags = boundary_flags(letters)
    return [Box.of(*each, flags) for each in zip(vectors, lows, strict=True)]


# ---------------------------------------------------------------- writing
def kept_rows(kept: Sequence[float | str] | None) -> list[list[float]] | None:
    """The bounds that a source wrote, a row for each axis: lo, hi and, in a tilted cell, the tilt."""
    if kept is None or len(kept) not in (6, 9):
        return None
    width = len(kept) // 3
    return [[float(value) for value in kept[k : k + width]] for k in range(0, len(kept), width)]


def encloses(rows: list[list[float]]) -> bool:
    return all(0.0 < row[1] - row[0] < np.inf for row in rows)


FORMS_OF_CELL = {2: "", 3: "xy xz yz", 4: "abc origin"}
"""What the header says of a cell, by the numbers in a row."""


def item_of(rows: list[list[float]], letters: str) -> list[str]:
    words = ("ITEM: BOX BOUNDS", FORMS_OF_CELL[len(rows[0])], letters)
    return [" ".join(word for word in words if word), *map(_exact, rows)]


def bounds_lines(box: Box, kept: list[list[float]] | None, letters: str, scale: float) -> list[str]:
    """The item of the cell: as the source wrote it, else orthogonal, restricted or general, as simple as it can be."""
    vectors, origin = undone(box.vectors, scale), undone(box.origin, scale)
    if not is_restricted(box.vectors):
        return item_of([[*vectors[:, k], origin[k]] for k in range(3)], letters)
    if kept is not None and _still_holds(kept, box, scale):
        return item_of(kept, letters)
    tilt = [float(vectors[0, 1]), float(vectors[0, 2]), float(vectors[1, 2])]
    lo = origin.tolist()
    hi = [low + float(edge) for low, edge in zip(lo, vectors.diagonal(), strict=True)]
    if not any(tilt):
        return item_of([[a, b] for a, b in zip(lo, hi, strict=True)], letters)
    low, high = bounds_to_bounding(lo, hi, tilt)
    return item_of([[a, b, t] for a, b, t in zip(low, high, tilt, strict=True)], letters)


def _still_holds(rows: list[list[float]], box: Box, scale: float) -> bool:
    """Whether bounds as the source wrote them give the cell to the bit."""
    lo, hi, tilt = ([(*row, 0.0)[k] for row in rows] for k in range(3))
    if any(tilt):
        lo, hi = bounding_to_bounds(lo, hi, tilt)
    vectors, origin = cell_of_bounds(lo, hi, tilt)
    if scale != 1.0:
        vectors, origin = vectors * scale, origin * scale
    return np.array_equal(vectors, box.vectors) and np.array_equal(origin, box.origin)


def _exact(numbers: Sequence[float]) -> str:
    return " ".join(f"{float(number):.16e}" for number in numbers)
