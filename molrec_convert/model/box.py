"""The simulation cell: three lattice vectors, an origin, and which axes are periodic.

Source: the containers chapter of MolRec, "Simulation box". Its defaults are normative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError

from .dtypes import Array, same_bits


class Box:
    """A triclinic cell.

    Parameters
    ----------
    vectors
        f64[3][3], in the length unit of the frame. **Columns are lattice vectors** a, b, c; `Box.from_rows` takes rows.
    origin
        f64[3]; by default the coordinate origin.
    boundary
        bool[3]: which axes are periodic; by default all.
    defined
        False for a system with an origin but without a cell: the vectors are the identity then, and no axis is
        periodic.

    Raises
    ------
    RecordError
        If the vectors are singular or not finite, or an undefined cell is periodic.
    """

    __slots__ = ("boundary", "defined", "origin", "vectors")

    def __init__(self, vectors: Any, *, origin: Any = None, boundary: Any = None, defined: bool = True) -> None:
        self.defined = defined
        self.vectors: Array = _reals(vectors, (3, 3), "vectors") if defined else np.eye(3)
        self.origin: Array = np.zeros(3) if origin is None else _reals(origin, (3,), "an origin")
        self.boundary: Array = np.full(3, defined) if boundary is None else _flags(boundary)
        if not defined and self.boundary.any():
            message = f"an undefined cell is periodic on no axis, found {self.boundary.tolist()}"
            raise RecordError(message, rule=16)
        if defined and not is_regular(self.vectors):
            message = f"the cell vectors are singular or not finite: {self.vectors.T.tolist()}"
            raise RecordError(message, rule=15)

    @classmethod
    def of(cls, vectors: Array, origin: Array, boundary: Array, *, defined: bool = True) -> Box:
        """Wrap arrays that are known to be right."""
        made = object.__new__(cls)
        made.vectors, made.origin, made.boundary, made.defined = vectors, origin, boundary, defined
        return made

    @classmethod
    def from_rows(cls, rows: Any, *, origin: Any = None, boundary: Any = None) -> Box:
        """A cell from a matrix whose rows are the lattice vectors."""
        return cls(np.asarray(rows, dtype=np.float64).T, origin=origin, boundary=boundary)

    @classmethod
    def orthogonal(cls, lengths: Any, *, origin: Any = None, boundary: Any = None) -> Box:
        """A cell with edges along x, y and z; one length makes all edges equal."""
        edges = np.broadcast_to(np.asarray(lengths, dtype=np.float64), (3,))
        return cls(np.diag(edges), origin=origin, boundary=boundary)

    @classmethod
    def from_parameters(cls, parameters: Sequence[float], *, origin: Any = None, boundary: Any = None) -> Box:
        """A cell from a, b, c and α, β, γ in degrees: a along x, b in the xy plane; 90° gives exact zeros."""
        a, b, c = (float(length) for length in parameters[:3])
        cos_alpha, cos_beta, cos_gamma = (_cosine(float(angle)) for angle in parameters[3:])
        sin_gamma = 1.0 if cos_gamma == 0.0 else math.sin(math.radians(float(parameters[5])))
        cy = (cos_alpha - cos_beta * cos_gamma) / sin_gamma if sin_gamma else math.nan
        height = 1.0 - cos_beta * cos_beta - cy * cy
        cz = math.sqrt(height) if height > 0.0 else math.nan
        rows = ((a, 0.0, 0.0), (b * cos_gamma, b * sin_gamma, 0.0), (c * cos_beta, c * cy, c * cz))
        return cls.from_rows(rows, origin=origin, boundary=boundary)

    @classmethod
    def undefined(cls, origin: Any = None) -> Box:
        """No cell, but an origin: a molecule in vacuum with a reference point."""
        return cls(np.eye(3), origin=origin, defined=False)

    @property
    def parameters(self) -> tuple[float, float, float, float, float, float]:
        """a, b, c and α, β, γ in degrees; the orientation is not among them."""
        a, b, c = self.vectors.T
        lengths = [float(np.linalg.norm(vector)) for vector in (a, b, c)]
        alpha, beta, gamma = (_angle(u, v) for u, v in ((b, c), (a, c), (a, b)))
        return (lengths[0], lengths[1], lengths[2], alpha, beta, gamma)

    @property
    def volume(self) -> float:
        """The volume, in the third power of the length unit; 0 without a cell."""
        return abs(float(np.linalg.det(self.vectors))) if self.defined else 0.0

    def same(self, other: Box) -> bool:
        """Whether both are the same cell to the bit."""
        return (
            self.defined == other.defined
            and same_bits(self.vectors, other.vectors)
            and same_bits(self.origin, other.origin)
            and bool(np.array_equal(self.boundary, other.boundary))
        )

    def __repr__(self) -> str:
        origin = f", origin {self.origin.tolist()}" if self.origin.any() else ""
        if not self.defined:
            return f"Box(no cell{origin})"
        lengths, angles = self.parameters[:3], self.parameters[3:]
        shape = " × ".join(f"{length:.6g}" for length in lengths)
        if any(abs(angle - 90.0) > 1e-9 for angle in angles):
            shape += ", " + " ".join(f"{angle:.6g}°" for angle in angles)
        axes = "".join(axis for axis, flag in zip("abc", self.boundary, strict=True) if flag)
        return f"Box({shape}{origin}, periodic {axes or 'nowhere'})"


def is_regular(vectors: Array) -> bool:
    """Whether three vectors are finite and span space."""
    a, b, c = ((float(x), float(y), float(z)) for x, y, z in vectors.T.tolist())
    lengths = [math.hypot(*vector) for vector in (a, b, c)]
    longest, shortest = max(lengths), min(lengths)
    if not all(map(math.isfinite, lengths)) or shortest == 0.0:
        return False
    # The common case is decided without LAPACK, whose threads spin for a while once they were called.
    volume = (
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    if abs(volume) > 1e-6 * math.prod(lengths) and longest < 1e6 * shortest:
        return True
    return bool(np.linalg.matrix_rank(vectors) == 3)


def surely_regular(vectors: Array) -> Array:
    """Which cells of f64[n][3][3] are as far from singular as most are; of the others `is_regular` tells."""
    with np.errstate(all="ignore"):
        a, b, c = (vectors[:, :, k] for k in range(3))
        lengths = np.sqrt((vectors * vectors).sum(axis=1))
        volume = np.abs((a * np.cross(b, c)).sum(axis=1))
        regular: Array = (
            np.isfinite(lengths).all(axis=1)
            & (volume > 1e-6 * lengths.prod(axis=1))
            & (lengths.max(axis=1, initial=0.0) < 1e6 * lengths.min(axis=1, initial=math.inf))
        )
    return regular


def _cosine(degrees: float) -> float:
    return 0.0 if degrees == 90.0 else math.cos(math.radians(degrees))


def _angle(u: Array, v: Array) -> float:
    return math.degrees(math.atan2(float(np.linalg.norm(np.cross(u, v))), float(np.dot(u, v))))


def _reals(values: Any, shape: tuple[int, ...], what: str) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or array.dtype in (np.float32, np.float16) or array.shape != shape:
        raise RecordError(f"{what} of a box: f64 of shape {list(shape)} is due, not {array.dtype} {list(array.shape)}")
    return np.array(array, dtype=np.float64, order="C")


def _flags(values: Any) -> Array:
    array = np.asarray(values)
    if array.dtype != np.bool_ or array.shape != (3,):
        raise RecordError(f"a boundary is bool[3], not {array.dtype} of shape {list(array.shape)}")
    return array.copy()
