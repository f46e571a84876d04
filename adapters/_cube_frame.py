"""What a cube's header means: the cell of the grid, the names of its fields, and the keys that keep the source's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.mapping.units import SYSTEMS, Units, factor
from molrec_convert.model import Box
from molrec_convert.model.box import is_regular

Array = np.ndarray[Any, Any]

GRID = "grid"
"""The block of the values."""
COMMENT = "comment"
UNITS, ORIGIN, VOXELS = "cube_units", "cube_origin", "cube_voxels"
"""The unit of length of the file, and its origin and steps in this unit."""
ORBITALS, VALUES = "cube_mo_indices", "cube_nval"
"""The ids of the orbitals, and the number of values a point where the file states it."""
DECIMALS, ENCODING = "cube_decimals", "cube_encoding"
"""Decimals of the values, and the encoding of the comments, where they are not the usual ones."""
KEYS = frozenset((COMMENT, UNITS, ORIGIN, VOXELS, ORBITALS, VALUES, DECIMALS, ENCODING))

NUMBER = "cube_atomic_number"
"""A column of the atomic numbers as the file has them, where some are negative."""

FILE_UNITS: Mapping[str, Units] = {"bohr": SYSTEMS["atomic"], "angstrom": SYSTEMS["molrec"]}
MOLREC_LENGTH = {"length": SYSTEMS["molrec"]["length"]}

FIELD, ORBITAL, COMPONENT = "density", "mo_{}", "value_{}"
ORBITAL_NAME, COMPONENT_NAME = re.compile(r"mo_(-?\d+)"), re.compile(r"value_(\d+)")


def scale_of(file_unit: str, units: Units) -> float | None:
    """By what a length of a file is multiplied to be one of a frame; None where the frame's unit is not known."""
    return factor("length", FILE_UNITS[file_unit], units)


def grid_cell(counts: Sequence[int], voxels: Any, scale: float) -> Array:
    """The vectors of the grid's cell as columns, from the steps along its axes as rows."""
    edges: Array = np.array(voxels, dtype=np.float64) * np.array(counts, dtype=np.float64)[:, None] * scale
    return np.ascontiguousarray(edges.T)


def grid_box(counts: Sequence[int], voxels: Any, origin: Any, scale: float) -> Box:
    """The cell of a grid; none where its axes do not span space. The format knows no periodic axes."""
    vectors, corner = grid_cell(counts, voxels, scale), np.array(origin, dtype=np.float64) * scale
    if not is_regular(vectors):
        return Box.undefined(corner)
    return Box.of(vectors, corner, np.zeros(3, dtype=bool))


def field_names(count: int, orbitals: Sequence[int] | None) -> list[str]:
    """What the values of a point are called; the format names only orbitals."""
    if orbitals is not None and len(set(orbitals)) == len(orbitals):
        return [ORBITAL.format(number) for number in orbitals]
    if count == 1:
        return [FIELD]
    return [COMPONENT.format(k + 1) for k in range(count)]


def field_order(names: Sequence[str], kept: Any) -> tuple[list[str], list[int] | None]:
    """Fields in the order of a file, and the ids of the orbitals where they are such."""
    orbitals = [int(match[1]) for name in names if (match := ORBITAL_NAME.fullmatch(name))]
    listed = kept if isinstance(kept, list) and all(type(number) is int for number in kept) else None
    if len(orbitals) == len(names):
        if listed is not None and sorted(listed) == sorted(orbitals):
            orbitals = listed
        return [ORBITAL.format(number) for number in orbitals], orbitals
    components = {name: int(match[1]) for name in names if (match := COMPONENT_NAME.fullmatch(name))}
    ordered = sorted(names, key=components.__getitem__) if len(components) == len(names) else list(names)
    repeated = listed is not None and len(listed) == len(components) == len(names)
    return ordered, listed if repeated else None
