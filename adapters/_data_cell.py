"""The cell of a LAMMPS data file: orthogonal, restricted triclinic, or by three general vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError
from molrec_convert.mapping.inverse import undone
from molrec_convert.model import Block, Box
from molrec_convert.model.box import is_regular
from molrec_convert.text.table import format_table

from ._data_header import Header
from ._dump_cell import kept_rows
from ._lammps import cell_of_bounds, checked_box, is_restricted, shrink_wrapped

Array = np.ndarray[Any, Any]
PERIODIC = np.ones(3, dtype=bool)


def box_of(header: Header, scale: float, path: str, notes: list[Note]) -> tuple[Box, tuple[float, ...] | None]:
    """The cell, and its bounds as written (lo, hi and tilt of every axis) where rounding hides them in the vectors.

    A cell without extent along some axis, as some programs write where they have none, is no cell.

    Raises
    ------
    FormatError
        For vectors that do not span space, or are not three.
    """
    if header.vectors:
        if len(header.vectors) < 3 or header.origin is None:
            missing = [name for k, name in enumerate(("avec", "bvec", "cvec")) if k not in header.vectors]
            what = (missing or ["abc origin"])[0]
            raise FormatError(f"the header has no line of {what}", path=path, line=header.line)
        vectors = np.array([header.vectors[k] for k in range(3)]).T.copy()
        box = checked_box(vectors, np.array(header.origin), PERIODIC, line=header.line, path=path)
        return (box if scale == 1.0 else Box.of(box.vectors * scale, box.origin * scale, PERIODIC)), None
    lo, hi = [pair[0] for pair in header.bounds], [pair[1] for pair in header.bounds]
    vectors, origin = cell_of_bounds(lo, hi, header.tilt or (0.0, 0.0, 0.0))
    rows = zip(lo, hi, strict=True) if header.tilt is None else zip(lo, hi, header.tilt, strict=True)
    kept = tuple(value for row in rows for value in row)
    if not is_regular(vectors):
        notes.append(Note("the bounds leave no room along some axis: there is no cell", line=header.line))
        return Box.undefined(origin * scale), kept
    told = all(low + (high - low) == high for low, high in zip(lo, hi, strict=True)) and (
        header.tilt is None or any(header.tilt)
    )
    box = Box.of(vectors * scale, origin * scale, PERIODIC) if scale != 1.0 else Box.of(vectors, origin, PERIODIC)
    return box, None if told else kept


def cell_lines(box: Box | None, atoms: Block, kept: Any, scale: float) -> list[str]:
    """The header lines of a cell, in the form that needs no rotation.

    Bounds as a source wrote them are restored where they give the cell to the bit. A frame without a cell gets bounds
    around its atoms.
    """
    rows = kept_rows(kept)
    if box is None or not box.defined:
        if rows is None or is_regular(cell_of_bounds(*_split(rows))[0]):
            around = shrink_wrapped(atoms)
            bounds = np.stack([around.origin, around.origin + around.vectors.diagonal()], axis=1)
            rows = undone(bounds, scale).tolist()
        return _bounds_lines(rows)
    if not is_restricted(box.vectors):
        if np.linalg.det(box.vectors) < 0.0:
            raise FormatError("the cell is left-handed, which LAMMPS does not take: swap two of its vectors")
        vectors = [*undone(box.vectors, scale).T, undone(box.origin, scale)]
        names = ("avec", "bvec", "cvec", "abc origin")
        return [f"{_reals(row)} {name}" for row, name in zip(vectors, names, strict=True)]
    if rows is not None:
        kept_vectors, kept_origin = cell_of_bounds(*_split(rows))
        if np.array_equal(kept_vectors * scale, box.vectors) and np.array_equal(kept_origin * scale, box.origin):
            return _bounds_lines(rows)
    matrix, origin = undone(box.vectors, scale), undone(box.origin, scale)
    tilt = [float(matrix[0, 1]), float(matrix[0, 2]), float(matrix[1, 2])]
    rows = [[low, upper(low, edge)] for low, edge in zip(origin.tolist(), matrix.diagonal().tolist(), strict=True)]
    return _bounds_lines([[*row, slant] for row, slant in zip(rows, tilt, strict=True)] if any(tilt) else rows)


def _split(rows: list[list[float]]) -> tuple[list[float], list[float], list[float]]:
    lo, hi, tilt = ([(*row, 0.0)[k] for row in rows] for k in range(3))
    return lo, hi, tilt


def _bounds_lines(rows: list[list[float]]) -> list[str]:
    lines = [f"{_reals(row[:2])} {axis}lo {axis}hi" for row, axis in zip(rows, "xyz", strict=True)]
    return [*lines, f"{_reals(row[2] for row in rows)} xy xz yz"] if len(rows[0]) == 3 else lines


def upper(low: float, edge: float) -> float:
    """The upper bound which, less the lower one, gives an edge to the bit, where there is one."""
    high = low + edge
    for tried in (high, np.nextafter(high, np.inf), np.nextafter(high, -np.inf)):
        if float(tried) - low == edge:
            return float(tried)
    return high


def _reals(values: Any) -> str:
    """Numbers with the fewest digits that read back exactly."""
    columns = [np.array([value], dtype=np.float64) for value in values]
    return format_table(columns, ["g"] * len(columns)).decode().strip()
