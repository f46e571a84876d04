"""How a source spells the reals of its columns, so that they can be written as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.text.decimals import SAMPLE, fixed_decimals
from molrec_convert.text.lines import decoded

from ._xyz_columns import Plan
from ._xyz_values import number

Array = np.ndarray[Any, Any]
Spelling = int | str | list[Any]

SHORTEST = "g"
"""The spelling of reals some of which have no point, as C's ``%g`` prints them."""
MOST_EXACT = 2.0**53
"""Up to where a real holds every whole number."""
MOST_DECIMALS = 22
"""Up to where a power of ten is exactly a real."""


def spellings_of(plan: Plan, data: bytes) -> dict[str, Spelling]:
    """The number of decimals of the columns that have a fixed one, ``g`` for those without a point in some rows.

    A column of several numbers a row has a list where they are not spelled alike.
    """
    found: dict[str, Spelling] = {}
    width = len(plan.kinds)
    rows = [row for line in data.split(b"\n", SAMPLE)[:SAMPLE] if len(row := line.split()) == width]
    counts = fixed_decimals(data, width)
    for field in plan.fields:
        if field.letter != "R":
            continue
        places = range(field.start, field.start + field.source.width)
        parts = [counts[place] or _unfixed([row[place] for row in rows]) for place in places]
        if not field.scalars and len(set(parts)) > 1:
            found[field.targets[0]] = parts
            continue
        pairs = zip(field.targets, parts, strict=False)
        found |= {target: spelling for target, spelling in pairs if spelling is not None}
    return found


def _unfixed(tokens: Sequence[bytes]) -> int | str | None:
    """The spelling of numbers that do not all have the same decimals; perhaps they do once they are spelled plainly."""
    if any(token.lstrip(b"+-").isdigit() for token in tokens):
        return SHORTEST
    plain = b"\n".join(repr(number(decoded(token))).encode() for token in tokens)
    return fixed_decimals(plain, 1)[0] if tokens else None


def style_of(spelling: Any, values: Array, part: int = 0) -> int | str | None:
    """How to print reals as their source spelled them; None where that would not read back exactly.

    Parameters
    ----------
    spelling
        That of their column.
    values
        The numbers.
    part
        Which ones of a row they are.
    """
    if isinstance(spelling, list):
        spelling = spelling[part] if part < len(spelling) else None
    if spelling == SHORTEST:
        return SHORTEST
    if type(spelling) is not int or not 0 <= spelling <= MOST_DECIMALS:
        return None
    unit = 10.0**spelling
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.rint(values * unit)
        exact = bool((np.abs(scaled) < MOST_EXACT).all() and (scaled / unit == values).all())
    return spelling if exact else None


def fixed_only(spellings: Mapping[str, Spelling]) -> dict[str, int]:
    """The columns with a fixed number of decimals."""
    return {target: spelling for target, spelling in spellings.items() if isinstance(spelling, int)}
