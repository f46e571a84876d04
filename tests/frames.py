"""Frames by name, each with something that formats stumble over."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter
from molrec_convert.model import Block, Box, Column, Frame, Meta

ELEMENTS = ("O", "H", "C", "N")
TRICLINIC = ((10.0, 0.0, 0.0), (2.5, 9.0, 0.0), (-1.25, 3.5, 8.0))
ROTATED = ((0.0, 4.0, 4.0), (4.0, 0.0, 4.0), (4.0, 4.0, 0.0))
"""An fcc cell, whose vectors lie along no axis; right-handed, as its rows are."""


def u64(*values: int) -> np.ndarray[Any, Any]:
    """Row numbers and ids."""
    return np.array(values, "u8")


def text(*values: str) -> np.ndarray[Any, Any]:
    """A column of text, which may have no rows."""
    return np.array(values, np.dtypes.StringDType())


def atoms(count: int = 3, **columns: Any) -> Block:
    """Atoms with elements and positions that three decimals hold, and other columns."""
    rows = np.arange(count, dtype=np.float64) % 100
    made = {
        "element": text(*(ELEMENTS[k % len(ELEMENTS)] for k in range(count))),
        "x": 0.5 + rows,
        "y": -1.25 * rows,
        "z": rows * rows / 8.0,
    }
    return Block(made | columns)


def frame(count: int = 3, *, box: Box | None = None, meta: Mapping[str, Any] | None = None, **columns: Any) -> Frame:
    """A frame of such atoms."""
    return Frame({"atoms": atoms(count, **columns)}, box=box, meta=meta)


def bonds(*pairs: tuple[int, int], **columns: Any) -> Block:
    """Bonds among rows."""
    first, second = zip(*pairs, strict=True)
    return Block({"atomi": u64(*first), "atomj": u64(*second), **columns})


def grid(shape: tuple[int, int, int] = (2, 3, 4)) -> Block:
    """A field on a grid, of values that five digits hold."""
    count = shape[0] * shape[1] * shape[2]
    return Block({"density": np.arange(count) / 8.0 - 1.0}, shape=shape)


def _empty() -> Frame:
    return frame(0, box=Box.orthogonal(5.0))


def _one_atom() -> Frame:
    return frame(1, box=Box.orthogonal(5.0))


def _no_cell() -> Frame:
    return frame(3)


def _triclinic() -> Frame:
    return frame(3, box=Box.from_rows(TRICLINIC))


def _rotated() -> Frame:
    return frame(3, box=Box.from_rows(ROTATED), vx=[0.5, 0.0, -0.25], vy=[0.0, 1.0, 0.0], vz=[0.0, 0.0, 2.0])


def _mixed() -> Frame:
    return frame(3, box=Box.orthogonal((4.0, 5.0, 60.0), boundary=(True, True, False)))


def _origin() -> Frame:
    return frame(3, box=Box.orthogonal((4.0, 5.0, 6.0), origin=(-2.0, 0.5, 1.0 / 3.0)))


def _thirds() -> Frame:
    thirds = np.arange(1.0, 4.0) / 3.0
    columns: dict[str, Any] = {"x": thirds, "y": -thirds * 1e-7, "z": thirds * 1e3, "charge": thirds - 1.0}
    return frame(3, box=Box.orthogonal(tuple(thirds * 30.0)), **columns)


def _extreme() -> Frame:
    return frame(3, charge=[5e-324, -1.7976931348623157e308, -0.0], my_value=[1e22, 123456789.0, 0.1])


def _long_names() -> Frame:
    label = "a-rather-long-label-of-an-atom-type"
    return frame(3, name=text("CA1234", "HB-first", "αβγ"), type=text(label, f"{label}2", "X#1"))


def _moving() -> Frame:
    names = ("vx", "vy", "vz", "fx", "fy", "fz")
    columns: dict[str, Any] = {name: [0.1 + k, -0.2, 1e-3 / 3] for k, name in enumerate(names)}
    return frame(3, box=Box.orthogonal(5.0), **columns)


def _charged() -> Frame:
    columns: dict[str, Any] = {"id": u64(11, 12, 19), "type_id": u64(2, 1, 3), "mol_id": u64(7, 7, 8)}
    return frame(3, box=Box.orthogonal(5.0), mass=[15.999, 1.008, 12.011], charge=[-0.8, 0.4, 0.4], **columns)


def _residues() -> Frame:
    return frame(
        3,
        box=Box.orthogonal(5.0),
        id=u64(1, 2, 3),
        name=text("O", "HA", "CA"),
        res_name=text("ALA", "ALA", "GLY"),
        res_id=u64(4, 4, 5),
        chain=text("A", "A", "B"),
        occupancy=[1.0, 0.5, 0.25],
        b_factor=[0.0, 12.5, 99.0],
        formal_charge=np.array([-1, 0, 2]),
    )


def _empty_words() -> Frame:
    return frame(3, box=Box.orthogonal(5.0), icode=text("", "A", ""), chain=text("", "", ""))


def _bonded() -> Frame:
    made = frame(4, box=Box.orthogonal(5.0), id=u64(4, 7, 9, 11))
    made["bonds"] = bonds((0, 1), (1, 2), (2, 3))
    made["angles"] = Block({"atomi": u64(0, 1), "atomj": u64(1, 2), "atomk": u64(2, 3)})
    made["dihedrals"] = Block({"atomi": u64(0), "atomj": u64(1), "atomk": u64(2), "atoml": u64(3)})
    return made


def _images() -> Frame:
    columns: dict[str, Any] = {name: np.array([0, -1, 2], "i4") for name in ("ix", "iy", "iz")}
    return frame(3, box=Box.orthogonal(5.0), id=u64(1, 2, 3), **columns)


def _extras() -> Frame:
    columns: dict[str, Any] = {
        "my_real": [0.25, -1.5, 1e10],
        "my_integer": np.array([-5, 0, 2**40]),
        "my_text": text("one", "two", "three"),
        "my_flag": np.array([True, False, True]),
        "my_vector": np.arange(9.0).reshape(3, 3) / 7.0,
    }
    return frame(3, box=Box.orthogonal(5.0), **columns)


def _nulls() -> Frame:
    columns: dict[str, Any] = {
        "charge": Column([0.5, 0.0, -0.5], valid=np.array([True, False, True])),
        "my_integer": Column(np.array([5, 77, 6]), valid=np.array([True, False, True])),
        "my_text": Column(text("one", "hidden", "three"), valid=np.array([True, False, True])),
    }
    return frame(3, box=Box.orthogonal(5.0), **columns)


def _described() -> Frame:
    meta = Meta({"pe": -1.0 / 3.0, "temp": 300.0, "note": "a b", "count": 3, "pull": (0.0, 0.0, 0.5), "done": True})
    return frame(3, box=Box.orthogonal(5.0), meta=meta)


FRAMES: Mapping[str, Callable[[], Frame]] = {
    "empty": _empty,
    "one atom": _one_atom,
    "no cell": _no_cell,
    "triclinic": _triclinic,
    "rotated": _rotated,
    "mixed periodicity": _mixed,
    "origin": _origin,
    "thirds": _thirds,
    "extreme numbers": _extreme,
    "long names": _long_names,
    "velocities and forces": _moving,
    "masses and charges": _charged,
    "residues": _residues,
    "empty words": _empty_words,
    "bonds": _bonded,
    "images": _images,
    "other columns": _extras,
    "nulls": _nulls,
    "values of a frame": _described,
}
"""Builders by name; each call makes a frame of its own."""


def fitted(made: Frame, adapter: Adapter) -> Frame:
    """The frame with what a format cannot do without: one of grids needs a grid, and a cell for it."""
    if "grid" in adapter.carries.blocks:
        made["grid"] = grid()
        if made.box is None or not made.box.defined:
            made.box = Box.orthogonal((4.0, 6.0, 8.0), boundary=np.zeros(3, bool))
    return made
