"""The cell of Atoms as a box and back, also where it has fewer vectors than three.

Decisions: a vector of zeros becomes a unit vector at right angles to the others, on which nothing is periodic; three of
them, or three that enclose no volume, are no cell. What the box does not say is kept beside it, and holds as long as
the box is the one that becomes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.model import Box, Meta
from molrec_convert.model.dtypes import same_bits

from ._ase_table import CELL, PBC
from ._ase_values import coded, uncoded
from ._xyz_cell import box_of

if TYPE_CHECKING:
    from ase import Atoms

Array = np.ndarray[Any, Any]


def box_of_cell(cell: Array, flags: Array, displacement: Array) -> Box | None:
    """The box of a cell whose rows are its vectors; None where there is neither a cell nor an origin."""
    origin = displacement.ravel()
    place = origin.tolist() if origin.shape == (3,) and bool(np.isfinite(origin).all()) and origin.any() else None
    if not np.isfinite(cell).all():
        return None if place is None else Box.undefined(place)
    return box_of(cell.tolist(), place, flags.tolist())[0]


def cell_of_box(box: Box | None, about: Meta) -> tuple[Array, Array]:
    """The cell and the periodic axes of a box in ångström: the ones it was made of, where it is still that box."""
    raw, flags = about.get(CELL), about.get(PBC)
    if raw is None and flags is not None:  # nine NaN, which a trajectory cannot tell from a key that a frame lacks
        raw = (np.nan,) * 9
    if isinstance(raw, tuple | list) and isinstance(flags, tuple | list):
        cell, pbc = np.array(raw, dtype=np.float64).reshape(3, 3), np.array(flags, dtype=bool)
        if _is_same(box_of_cell(cell, pbc, np.zeros(3)), box):
            return cell, pbc
    if box is None or not box.defined:
        return np.zeros((3, 3)), np.zeros(3, dtype=bool)
    return np.array(box.vectors.T, order="C"), box.boundary.copy()


def _is_same(one: Box | None, other: Box | None) -> bool:
    """Whether both are the same cell, or none, whatever their origin."""
    if one is None or other is None or not one.defined or not other.defined:
        return not (one is not None and one.defined) and not (other is not None and other.defined)
    close = np.allclose(one.vectors, other.vectors, rtol=1e-12, atol=0.0)
    return bool(close) and bool(np.array_equal(one.boundary, other.boundary))


def scaled(box: Box, by: float) -> Box:
    """A box in another unit of length."""
    vectors = box.vectors * by if box.defined else box.vectors
    return Box.of(vectors, box.origin * by, box.boundary, defined=box.defined)


def take_cell(atoms: Atoms) -> tuple[Meta, Box | None, Any]:
    """Facts that no box holds, the box, and a document of ``celldisp`` where the origin of the box is not all of it."""
    cell, flags = np.array(atoms.cell), np.array(atoms.pbc)
    displacement = atoms.get_celldisp()  # type: ignore[no-untyped-call]
    box, facts = box_of_cell(cell, flags, displacement), Meta()
    derived_cell, derived_flags = cell_of_box(box, facts)
    if not (same_bits(derived_cell, cell) and np.array_equal(derived_flags, flags)):
        facts.set(CELL, tuple(cell.ravel().tolist()), tag="f64x9")
        facts.set(PBC, tuple(flags.tolist()), tag="bool3")
    return facts, box, None if same_bits(_column(_origin(box)), displacement) else coded(displacement)


def displacement_of(box: Box | None, document: Any) -> Array:
    """The ``celldisp`` of Atoms: the one that was kept, where it is still the origin of the box."""
    origin = _origin(box)
    if document is None:
        return _column(origin)
    kept: Array = uncoded(document)
    if kept.size != 3 or not np.isfinite(kept).all() or np.array_equal(kept.ravel(), origin):
        return kept
    return origin.reshape(kept.shape)


def _origin(box: Box | None) -> Array:
    return np.zeros(3) if box is None else box.origin


def _column(origin: Array) -> Array:
    """As Atoms have it for which nobody has set it."""
    return origin.reshape(3, 1).copy()
