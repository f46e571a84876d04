"""Cells of any orientation and the six numbers that MDAnalysis has of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import RecordError
from molrec_convert.model import Box
from molrec_convert.model.dtypes import Array

ORIGIN, BOUNDARY = "box_origin", "box_boundary"
"""Keys of ``Timestep.data`` for what the six numbers do not tell."""
FLAT = 1e-10
"""How far, relatively, a component may be off 0 for a cell not to be turned: 600 times less than binary32 tells."""


class Cell(NamedTuple):
    """A cell as MDAnalysis has it.

    Parameters
    ----------
    dimensions
        f64[6]: a, b, c and α, β, γ in degrees; None where no cell is defined.
    rotation
        f64[3][3], by which positions, velocities and forces are to be turned; None where they stay.
    data
        What else there is: an origin that is not 0, periodic axes that are not all three.
    """

    dimensions: Array | None
    rotation: Array | None
    data: dict[str, Any]


NO_CELL = Cell(None, None, {})


def cell_of(box: Box | None, *, by: float = 1.0) -> Cell:
    """What MDAnalysis has of a box, its lengths multiplied by a factor."""
    if box is None:
        return NO_CELL
    origin, rotation, dimensions = box.origin * by, None, None
    data: dict[str, Any] = {}
    if box.defined:
        vectors = box.vectors * by
        if np.cross(vectors[:, 0], vectors[:, 1]) @ vectors[:, 2] < 0.0:  # a, b and -c span the lattice, right-handed
            origin = origin + vectors[:, 2]
            vectors = vectors * (1.0, 1.0, -1.0)
        rotation = rotation_of(vectors)
        dimensions = np.array(Box.of(vectors, origin, box.boundary).parameters)
        if not box.boundary.all():
            data[BOUNDARY] = box.boundary.copy()
    if rotation is not None:
        origin = rotation @ origin
    if origin.any():
        data[ORIGIN] = origin
    return Cell(dimensions, rotation, data)


def rotation_of(vectors: Array) -> Array | None:
    """What turns a right-handed cell so that a lies along x and b in the xy plane; None where it does.

    Parameters
    ----------
    vectors
        f64[3][3], whose columns are a, b, c.
    """
    a, b, _ = vectors.T
    low = max(abs(vectors[1, 0]), abs(vectors[2, 0]), abs(vectors[2, 1]))
    if low <= FLAT * np.abs(vectors).max() and (vectors.diagonal() > 0.0).all():
        return None
    x = a / np.linalg.norm(a)
    z = np.cross(a, b)
    z /= np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z])


def box_of(dimensions: Array | None, data: Mapping[str, Any], notes: list[Note]) -> Box | None:
    """The box of six numbers; None where there are none, or they make no cell, which is noted."""
    origin, boundary = data.get(ORIGIN), data.get(BOUNDARY)
    if not isinstance(origin, np.ndarray) or origin.shape != (3,):
        origin = None
    if dimensions is None:
        return None if origin is None else Box.undefined(origin)
    if not isinstance(boundary, np.ndarray) or boundary.shape != (3,) or boundary.dtype != bool:
        boundary = None
    numbers = np.asarray(dimensions, dtype=np.float64).tolist()
    try:
        if not (min(numbers[:3]) > 0.0 and min(numbers[3:]) > 0.0 and max(numbers[3:]) < 180.0):
            raise ValueError("a length or an angle that is none")
        return Box.from_parameters(numbers, origin=origin, boundary=boundary)
    except (RecordError, ValueError):
        made = [round(number, 6) for number in numbers]
        notes.append(Note(f"{made} make no cell: the frame has none", loss=True))
        return None
