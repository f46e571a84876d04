"""What LAMMPS's dump and data files share: cells in their restricted and general form, and unit styles.

References: https://docs.lammps.org/Howto_triclinic.html, https://docs.lammps.org/units.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError, OptionError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.mapping.units import (
    DIMENSIONLESS,
    DIMENSIONLESS_DOCUMENT,
    SYSTEMS,
    Units,
    document,
    factor,
    stored_system,
)
from molrec_convert.model import Block, Box, Column
from molrec_convert.model.box import is_regular
from molrec_convert.model.dtypes import STRING

Array = np.ndarray[Any, Any]

EXAMPLES = ("Si", "O")
"""Elements that an example of a type map names: types count, and their numbers tell nothing."""

STYLES = ("real", "metal", "si", "cgs", "electron", "micro", "nano", DIMENSIONLESS)


def check_style(name: str | None) -> None:
    """Refuse a name that is no unit style."""
    if name is not None and name not in STYLES:
        raise OptionError(f"there is no LAMMPS unit style {name!r}; they are {', '.join(STYLES)}")


FLAT = 1e-9
"""An extent of atoms that is so much smaller than their largest is none."""


class Style:
    """A unit style: what its numbers are multiplied by on the way into a record, and how the record names them."""

    def __init__(self, name: str | None) -> None:
        check_style(name)
        self.name = name
        self.source: Units | None = SYSTEMS.get(name) if name is not None else None
        self.stored: Units | None = None if self.source is None else stored_system(self.source)

    @property
    def dimensionless(self) -> bool:
        """Whether the numbers are ratios, so that masses are not amu and charges not e."""
        return self.name == DIMENSIONLESS

    @property
    def units(self) -> Mapping[str, str] | None:
        """The units document of a record of this style; None where the style is not known."""
        if self.dimensionless:
            return DIMENSIONLESS_DOCUMENT
        return None if self.stored is None else document(self.stored)

    def factor(self, quantity: str | None) -> float:
        """By what a number is multiplied on the way into a record."""
        if quantity is None or self.source is None or self.stored is None:
            return 1.0
        return factor(quantity, self.source, self.stored) or 1.0


def cell_of_bounds(lo: Sequence[float], hi: Sequence[float], tilt: Sequence[float]) -> tuple[Array, Array]:
    """Vectors (columns a, b, c) and origin of an orthogonal or restricted triclinic cell."""
    xy, xz, yz = tilt
    vectors = np.array(
        [[hi[0] - lo[0], xy, xz], [0.0, hi[1] - lo[1], yz], [0.0, 0.0, hi[2] - lo[2]]],
    )
    return vectors, np.array(lo, dtype=np.float64)


def bounding_to_bounds(
    lo: Sequence[float], hi: Sequence[float], tilt: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The cell's own lo and hi, from the bounding box that a dump of a tilted cell states."""
    (x0, x1), (y0, y1) = _overhang(tilt)
    return [lo[0] - x0, lo[1] - y0, lo[2]], [hi[0] - x1, hi[1] - y1, hi[2]]


def bounds_to_bounding(
    lo: Sequence[float], hi: Sequence[float], tilt: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The bounding box that a dump of a tilted cell states."""
    (x0, x1), (y0, y1) = _overhang(tilt)
    return [lo[0] + x0, lo[1] + y0, lo[2]], [hi[0] + x1, hi[1] + y1, hi[2]]


def _overhang(tilt: Sequence[float]) -> tuple[tuple[float, float], tuple[float, float]]:
    xy, xz, yz = tilt
    corners = (0.0, xy, xz, xy + xz)
    return (min(corners), max(corners)), (min(0.0, yz), max(0.0, yz))


def is_restricted(vectors: Array) -> bool:
    """Whether a lies along +x, b in the upper xy plane, c above it: LAMMPS's restricted triclinic form."""
    below = vectors[1, 0], vectors[2, 0], vectors[2, 1]
    return not any(below) and bool((vectors.diagonal() > 0.0).all())


def checked_box(vectors: Array, origin: Array, boundary: Array, *, line: int, path: str) -> Box:
    """A cell of a file; `FormatError` where its vectors do not span space."""
    if not is_regular(vectors):
        raise FormatError(f"the cell vectors {vectors.T.tolist()} do not span space", path=path, line=line)
    return Box.of(vectors, origin, boundary)


def boundary_flags(letters: str | None) -> Array:
    """Which axes are periodic: those whose two letters are both ``p``; all where the file gives no letters."""
    if letters is None:
        return np.ones(3, dtype=bool)
    return np.array([set(pair) == {"p"} for pair in letters.split()])


def boundary_letters(boundary: Array, kept: str | None) -> str:
    """Three pairs of letters, none where the source has none; its own as long as they say the same."""
    if kept == "" and boundary.all():
        return kept
    if kept and np.array_equal(boundary_flags(kept), boundary):
        return kept
    return " ".join("pp" if flag else "ff" for flag in boundary)


def cartesian(scaled: Sequence[Array], box: Box) -> tuple[Array, Array, Array]:
    """Positions of scaled ones: origin + a·xs + b·ys + c·zs, the sum taken in this order."""
    xs, ys, zs = scaled
    a, b, c = box.vectors.T
    x, y, z = (box.origin[k] + a[k] * xs + b[k] * ys + c[k] * zs for k in range(3))
    return x, y, z


def elements_of_types(kinds: Column, given: Mapping[str, str], *, path: str) -> Column:
    """The elements of numbered or labelled types, as a person names them; `OptionError` where one is not named."""
    labels, codes = np.unique(kinds.values, return_inverse=True)
    missing = [str(label) for label in labels.tolist() if str(label) not in given]
    if missing:
        raise OptionError(f"--type-map names no element for type {', '.join(missing)}", path=path)
    chosen = [given[str(label)] for label in labels.tolist()]
    wrong = [symbol for symbol in chosen if symbol not in SYMBOLS]
    if wrong:
        raise OptionError(f"--type-map: {wrong[0]!r} is no element", path=path)
    symbols = np.array(chosen, dtype=STRING)
    return Column.of(symbols[codes] if len(labels) else np.zeros(0, dtype=STRING))


def type_map_note(labels: Iterable[object]) -> str:
    """What to say of types that are no elements, with an example for the first of them.

    >>> type_map_note([3, 5, 7])
    'the types are no elements; --type-map 3=Si,5=O names them'
    """
    names = [str(label) for label in labels]
    pairs = [(name, name if name in SYMBOLS else symbol) for name, symbol in zip(names, EXAMPLES, strict=False)]
    return f"the types are no elements; --type-map {','.join('='.join(pair) for pair in pairs)} names them"


def order_by_id(values: Array) -> tuple[Array | None, str | None]:
    """The rows sorted by id, None where they are already; or what stands against it."""
    if (values[1:] > values[:-1]).all():
        return None, None
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    repeated = ranked[1:] == ranked[:-1]
    if repeated.any():
        return None, f"several atoms have the id {ranked[1:][repeated][0]}; the rows keep the file's order"
    return order, None


def stacked_order_by_id(values: Array, frames: int) -> Array | None:
    """The rows of a stack of frames, each sorted by id; None where all are already. ValueError where ids repeat."""
    ids = values.reshape(frames, -1)
    if (ids[:, 1:] > ids[:, :-1]).all():
        return None
    order = np.argsort(ids, axis=1, kind="stable")
    ranked = np.take_along_axis(ids, order, axis=1)
    if (ranked[:, 1:] == ranked[:, :-1]).any():
        raise ValueError("several atoms have one id")
    rows: Array = (order + np.arange(frames)[:, None] * ids.shape[1]).ravel()
    return rows


def shrink_wrapped(atoms: Block | None) -> Box:
    """A cell around the atoms, for a frame without one; neither a dump nor a data file can be without."""
    lo, hi = np.zeros(3), np.ones(3)
    if atoms is not None and atoms.count and all(name in atoms for name in "xyz"):
        positions = np.stack([atoms[name] for name in "xyz"])
        positions = positions[:, np.isfinite(positions).all(axis=0)]
        if positions.size:
            lo, hi = positions.min(axis=1), positions.max(axis=1)
        flat = hi - lo <= FLAT * (hi - lo).max()
        hi = np.where(flat, lo + np.maximum(1.0, FLAT * np.abs(lo)), hi)
    return Box(np.diag(hi - lo), origin=lo, boundary=np.zeros(3, dtype=bool))


def style_to_write(wanted: str | None, known: Any, units: Units | None) -> str | None:
    """The unit style of a target: the one asked for, else that of the frame's units, else that of the source."""
    if wanted is not None:
        return wanted
    style = known if known in STYLES else None
    if units is None or (style is not None and units in _documents(style)):
        return style
    if style is None and not {"energy", "force", "velocity"} & set(units):
        return None  # nothing but lengths, of which no style needs to be claimed
    return next((name for name in STYLES if units in _documents(name)), style or "metal")


def _documents(name: str) -> tuple[Mapping[str, str], ...]:
    """The units of a record of this style: as it is stored, and as a record has them that was converted to it."""
    style = Style(name)
    asked = () if style.source is None else (document({**style.source, "mass": "amu", "charge": "e"}),)
    return (*asked, *(() if style.units is None else (style.units,)))


def scales_of(style: str | None, stored: Units | None) -> Callable[[str | None], float]:
    """By what a quantity of this style was multiplied to become that of a frame in some stored units."""
    source = SYSTEMS.get(style) if style is not None else None

    def scale(quantity: str | None) -> float:
        if quantity is None or source is None or stored is None:
            return 1.0
        return factor(quantity, source, stored) or 1.0

    return scale
