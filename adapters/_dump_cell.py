"""The cell in the header of a dump: as the source wrote it where that still gives the cell, else in the simplest form.

Reference: https://docs.lammps.org/dump.html, https://docs.lammps.org/Howto_triclinic.html
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molrec_convert.mapping.inverse import undone
from molrec_convert.model import Box

from ._lammps import bounding_to_bounds, bounds_to_bounding, cell_of_bounds, is_restricted


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
