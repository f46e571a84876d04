"""The cell of an XYZ file, also where it is periodic on fewer axes than three and states fewer vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from molrec_convert.model import Box
from molrec_convert.model.box import is_regular

Array = np.ndarray[Any, Any]


def box_of(
    rows: Sequence[Sequence[float]], origin: Sequence[float] | None, flags: Sequence[bool]
) -> tuple[Box | None, str | None]:
    """The cell of three vectors, and a note where they do not make one.

    Vectors of zeros, as programs write them for an axis without a period, become unit vectors at right angles to the
    others, on which nothing is periodic. Three of them are no cell.
    """
    vectors = np.array(rows, dtype=np.float64)
    given: Array = (vectors != 0.0).any(axis=1)
    if not given.any():
        return (None if origin is None else Box.undefined(origin)), None
    if not given.all():
        vectors = _completed(vectors, given)
        flags = [flag and bool(known) for flag, known in zip(flags, given, strict=True)]
    if not is_regular(vectors.T):
        note = f"the lattice {np.array(rows).tolist()} encloses no volume, so there is no cell"
        return (None if origin is None else Box.undefined(origin)), note
    place = np.zeros(3) if origin is None else np.array(origin, dtype=np.float64)
    return Box.of(np.ascontiguousarray(vectors.T), place, np.array(flags, dtype=bool)), None


def usual_box(numbers: Sequence[float], like: Box) -> Box | None:
    """The cell of nine numbers, with the origin and the periodic axes of another; None where `box_of` has to look."""
    if len(numbers) != 9 or not all(any(numbers[k : k + 3]) for k in (0, 3, 6)):
        return None
    vectors = np.array((numbers[0::3], numbers[1::3], numbers[2::3]))
    return Box.of(vectors, like.origin.copy(), like.boundary.copy()) if is_regular(vectors) else None


def box_of_vectors(vectors: Sequence[Sequence[float]]) -> tuple[Box | None, str | None]:
    """The cell of up to three vectors, periodic along these alone, and a note where they do not make one."""
    missing = [(0.0, 0.0, 0.0)] * (3 - len(vectors))
    return box_of([*vectors, *missing], None, [k < len(vectors) for k in range(3)])


def _completed(vectors: Array, given: Array) -> Array:
    """The vectors, unit vectors at right angles to the given ones in the place of zeros."""
    found = vectors.copy()
    basis = [vector / size for vector in vectors[given] if np.isfinite(size := np.linalg.norm(vector))]
    for axis in np.flatnonzero(~given):
        if len(basis) == 2:
            third = np.cross(found[(axis + 1) % 3], found[(axis + 2) % 3])
        else:
            seeds = np.roll(np.eye(3), -int(axis), axis=0)
            third = max((_rejected(seed, basis) for seed in seeds), key=lambda each: float(each @ each))
        size = np.linalg.norm(third)
        found[axis] = third / size if size else third
        basis.append(found[axis])
    return found


def _rejected(vector: Array, basis: Sequence[Array]) -> Array:
    """The part of a vector at right angles to others."""
    for other in basis:
        vector = vector - (vector @ other) * other
    return vector
