"""What the comment line of an XYZ frame says: the source's own as long as it still holds, else a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import RecordError
from molrec_convert.mapping.names import META_QUANTITIES
from molrec_convert.model import Box, Meta
from molrec_convert.model.meta import same_value
from molrec_convert.model.schema import promoted

from ._xyz_cell import box_of_vectors
from ._xyz_columns import properties_text
from ._xyz_dialects import units_of
from ._xyz_header import ENERGY, OWN, PREFIX, RENAMED, Header, is_special
from ._xyz_layout import Written
from ._xyz_scales import Scales
from ._xyz_values import key_text, value_text

Array = np.ndarray[Any, Any]

KEYS = {target: key for key, target in ENERGY.items()}
MATRICES = ("stress", "virial")
"""Keys that other programs take for nine numbers only."""
VOIGT = (0, 5, 4, 5, 1, 3, 4, 3, 2)
"""Which of xx, yy, zz, yz, xz and xy the nine components of a symmetric matrix are."""


# ---------------------------------------------------------------- whether the source's comment line still holds
class Agreement:
    """Whether the comment lines of a source say what frames say; of a cell that stays it is found out once."""

    def __init__(self) -> None:
        self._last: tuple[Box | None, Box | None, bool] = None, None, True

    def holds(self, source: Header, snapshot: Snapshot) -> bool:
        """Whether a line says what a frame says."""
        box = source.box
        if box is None and (vectors := snapshot.about.get("xyz_vec")):
            box = box_of_vectors(vectors)[0]
        units = units_of(source)
        return (
            source.step in (None, snapshot.step)
            and same_value(source.time, snapshot.time)
            and self._same_box(box, snapshot.frame.box)
            and all(units.get(quantity, unit) == unit for quantity, unit in (snapshot.units or {}).items())
            and _same_meta(source, snapshot.frame.meta)
        )

    def _same_box(self, one: Box | None, other: Box | None) -> bool:
        last = self._last
        if last[0] is not one or last[1] is not other:
            last = self._last = one, other, _same_box(one, other)
        return last[2]


def _same_box(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        found = one if one is not None else other
        return found is None or (not found.defined and not found.origin.any())
    return one is other or one.same(other)


def _same_meta(source: Header, meta: Meta) -> bool:
    if source.values.keys() != {key for key in meta if key not in OWN}:
        return False
    return all(_same(value, source.tags[key], meta[key], meta.tag(key), key) for key, value in source.values.items())


def _same(value: Any, tag: str, other: Any, other_tag: str, key: str) -> bool:
    if tag != other_tag:
        try:
            value = promoted(value, tag, other_tag, key)
        except RecordError:
            return False
    return same_value(value, other)


# ---------------------------------------------------------------- a new comment line
def extended_comment(layout: Sequence[Written], snapshot: Snapshot, source: Header | None, scales: Scales) -> str:
    """A comment line of keys and values for a frame: its cell, its columns, its moment and its values."""
    box, meta = snapshot.frame.box, snapshot.frame.meta
    parts = []
    if box is not None and box.defined:
        parts.append(f'Lattice="{_numbers(box.vectors.T.ravel() * scales.of("length"))}"')
    if box is not None and box.origin.any():
        parts.append(f'Origin="{_numbers(box.origin * scales.of("length"))}"')
    parts.append(f"Properties={properties_text([written.property for written in layout])}")
    if snapshot.step is not None and (source is None or source.step is not None):
        parts.append(f"step={snapshot.step}")
    if snapshot.time is not None:
        parts.append(f"time={value_text(float(snapshot.time))}")
        unit = (snapshot.units or {}).get("time")
        parts += [f"time-unit={value_text(unit)}"] if unit is not None else []
    for key, value in meta.items():
        if key in OWN or value is None:
            continue
        if key in MATRICES and isinstance(value, tuple) and len(value) == len(set(VOIGT)):
            value = tuple(value[place] for place in VOIGT)
        text = value_text(_scaled(value, scales.of(META_QUANTITIES.get(key))))
        name = KEYS.get(key, RENAMED.get(key, key))
        is_flags = name == "pbc" and isinstance(value, tuple) and (box is None or not box.defined)
        taken = is_special(name, text.strip('"')) and not is_flags
        parts.append(f"{key_text(PREFIX + name if taken else name)}={text}")
    if source is not None and source.properties is None and not source.extended and "comment" not in meta:
        parts += [f"comment={value_text(source.comment)}"] if source.comment.strip() else []
    if box is not None and box.defined:
        parts.append(f'pbc="{" ".join("T" if flag else "F" for flag in box.boundary.tolist())}"')
    return " ".join(parts)


def _scaled(value: Any, by: float) -> Any:
    """A real, or a vector of reals, in another unit; any other value as it is."""
    items = value if isinstance(value, tuple) else (value,)
    if by == 1.0 or not all(isinstance(item, float) for item in items):
        return value
    return tuple(item * by for item in items) if isinstance(value, tuple) else value * by


def _numbers(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)


def vector_lines(snapshot: Snapshot) -> bytes:
    """The cell vectors behind the atoms, as the source had them."""
    vectors = snapshot.about.get("xyz_vec") or []
    lines = [f"VEC{k + 1} {' '.join(repr(float(value)) for value in vector)}\n" for k, vector in enumerate(vectors)]
    return "".join(lines).encode()
