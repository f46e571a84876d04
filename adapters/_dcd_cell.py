"""The cell of a DCD frame: six numbers that programs fill in three ways.

``A, cos γ, B, cos β, cos α, C`` (NAMD, LAMMPS, OpenMM, VMD), the same with angles in degrees (old NAMD, MDAnalysis),
or the symmetric matrix of vectors ``XX, XY, YY, XZ, YZ, ZZ`` (CHARMM). Nothing in a file says which.

Decisions: CHARMM states its version, above 25 for many years, while other programs state 24: a version above 25 means
a matrix, unless the numbers make none. Otherwise three numbers from -1 to 1 are cosines, else angles where they are
those of a cell, none below 30°, else a matrix. Lengths and angles put a along x and b in the xy plane; a matrix has
its own orientation. Zeros are no cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.model import Box, Meta
from molrec_convert.model.box import is_regular

from ._pdb_cell import placed

Array = np.ndarray[Any, Any]
Six = tuple[float, ...]

COSINES, DEGREES, MATRIX = "cosines", "degrees", "matrix"
MATRIX_ABOVE = 25
"""The versions of CHARMM above this are those of CHARMM itself, and it writes a matrix."""
SHARPEST = 30.0
"""Angles below this are none of a cell, where the numbers also make a matrix."""
NONE: Six = (0.0,) * 6


class Cell(NamedTuple):
    """What the six numbers say.

    Parameters
    ----------
    vectors
        f64[3][3], columns a, b, c; None where there is no cell.
    convention
        How the numbers were understood.
    note
        What a person should know about that.
    """

    vectors: Array | None
    convention: str | None = None
    note: str | None = None


def read_cell(numbers: Six, version: int) -> Cell:
    """Understand the six numbers of a frame, in a file of a version of CHARMM."""
    lengths, angles = (numbers[0], numbers[2], numbers[5]), (numbers[4], numbers[3], numbers[1])
    if not any(lengths):
        return Cell(None)
    spelled = " ".join(f"{number:g}" for number in numbers)
    if not all(map(math.isfinite, numbers)) or not all(length > 0.0 for length in lengths):
        return Cell(None, None, f"the numbers {spelled} make no cell")
    found = {
        MATRIX: _of_matrix(numbers),
        COSINES: _of_cosines(lengths, angles),
        DEGREES: _of_cosines(lengths, tuple(map(_cosine, angles))) if all(0.0 < a < 180.0 for a in angles) else None,
    }
    order = [DEGREES, MATRIX] if min(angles) >= SHARPEST else [MATRIX, DEGREES]
    if version > MATRIX_ABOVE and 90.0 not in angles:
        order = [MATRIX, COSINES, DEGREES]
    elif all(abs(angle) <= 1.0 for angle in angles):
        order = [COSINES]
    convention = next((name for name in order if found[name] is not None), None)
    if convention is None:
        return Cell(None, None, f"the numbers {spelled} make no cell")
    note = None
    if convention == DEGREES and found[MATRIX] is not None:
        note = f"the numbers {spelled} of the cell are taken for angles in degrees, and may be a symmetric matrix"
    return Cell(found[convention], convention, note)


def _of_matrix(numbers: Six) -> Array | None:
    """The vectors of a symmetric matrix, which stretches along every direction."""
    xx, xy, yy, xz, yz, zz = numbers
    minors = (xx * yy - xy * xy, xx * zz - xz * xz, yy * zz - yz * yz)
    volume = xx * minors[2] - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    vectors = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return vectors if min(*minors, volume) > 0.0 and is_regular(vectors) else None


def _of_cosines(lengths: Sequence[float], cosines: Sequence[float]) -> Array | None:
    (a, b, c), (cos_alpha, cos_beta, cos_gamma) = lengths, cosines
    if not all(abs(cosine) < 1.0 for cosine in cosines):
        return None
    sin_gamma = math.sqrt(1.0 - cos_gamma * cos_gamma)
    cy = (cos_alpha - cos_beta * cos_gamma) / sin_gamma
    height = 1.0 - cos_beta * cos_beta - cy * cy
    if height <= 0.0:
        return None
    vectors = np.array(
        [[a, b * cos_gamma, c * cos_beta], [0.0, b * sin_gamma, c * cy], [0.0, 0.0, c * math.sqrt(height)]]
    )
    return vectors if is_regular(vectors) else None


def _cosine(degrees: float) -> float:
    return 0.0 if degrees == 90.0 else math.cos(math.radians(degrees))


class Written(NamedTuple):
    """A cell as it is written.

    Parameters
    ----------
    numbers
        The six numbers.
    rotation
        What turns vectors of the frame into the orientation that they imply; None where they are in it.
    reversed
        Whether the third vector is written reversed, since the cell is left-handed.
    """

    numbers: Six
    rotation: Array | None = None
    reversed: bool = False


def cell_to_write(box: Box | None, about: Meta, scale: float = 1.0) -> Written:
    """How to write the cell of a frame: the source's numbers as long as they give it, else in the way of the version.

    Parameters
    ----------
    box
        The cell, None where there is none.
    about
        Facts about the source.
    scale
        By what lengths of the file are multiplied to be those of the box.
    """
    version, kept = about.get("dcd_version", 0), about.get("dcd_cell")
    numbers: Six = kept if isinstance(kept, tuple) and len(kept) == 6 else NONE
    known = read_cell(numbers, version).vectors
    if box is None or not box.defined:
        return Written(NONE if known is not None else numbers)
    if known is not None and np.array_equal(known if scale == 1.0 else known * scale, box.vectors):
        return Written(numbers)
    vectors = box.vectors if scale == 1.0 else box.vectors / scale
    if version > MATRIX_ABOVE:
        return _as_matrix(vectors)
    cell = placed(Box.of(vectors, box.origin, box.boundary), None)
    a, b, c, *angles = cell.numbers
    cos_alpha, cos_beta, cos_gamma = map(_cosine, angles)
    return Written((a, cos_gamma, b, cos_beta, cos_alpha, c), cell.rotation, cell.reversed)


def _as_matrix(vectors: Array) -> Written:
    mirrored = bool(np.linalg.det(vectors) < 0.0)
    if mirrored:
        vectors = vectors * np.array([1.0, 1.0, -1.0])
    if np.array_equal(vectors, vectors.T) and _of_matrix(_six(vectors)) is not None:
        return Written(_six(vectors), None, mirrored)
    sizes, axes = np.linalg.eigh(vectors.T @ vectors)
    symmetric = (axes * np.sqrt(sizes)) @ axes.T
    return Written(_six(symmetric), symmetric @ np.linalg.inv(vectors), mirrored)


def _six(matrix: Array) -> Six:
    return tuple(float(matrix[row, column]) for row, column in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))
