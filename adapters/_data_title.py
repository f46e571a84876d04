"""The first line of a LAMMPS data file, which may state the step and the unit style."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._lammps import STYLES

TITLE = "LAMMPS data file written by molrec-convert"
"""The title of a file whose source had none."""
STEP = re.compile(r"\btimestep = (\d{1,19})\b")
UNITS = re.compile(rf"\bunits = ({'|'.join(STYLES)})\b")
STATED = re.compile(rf"(?:, timestep = \d{{1,19}})?(?:, units = (?:{'|'.join(STYLES)}))?$")
"""How a title ends that states both, as LAMMPS writes it."""


def step_in(title: str) -> int | None:
    """The step that a title states."""
    found = STEP.search(title)
    return None if found is None or int(found[1]) >= 2**63 else int(found[1])


def units_in(title: str) -> str | None:
    """The unit style that a title states."""
    found = UNITS.search(title)
    return None if found is None else found[1]


def kept_title(title: str) -> str:
    """What a record keeps of a title: all but the step and units at its end; nothing of our own."""
    kept = STATED.sub("", title, count=1)
    return "" if kept == TITLE else kept


def title_of(about: Mapping[str, Any], step: int | None, style: str | None) -> str:
    """The first line: the source's own, with the step and the units as they are now."""
    title = str(about.get("lammps_title", "")).split("\n", 1)[0] or TITLE
    for pattern, key, value in ((STEP, "timestep", step), (UNITS, "units", style)):
        if value is None:
            continue
        found = pattern.search(title)
        if found is None:
            title += f", {key} = {value}"
        else:
            title = title[: found.start(1)] + str(value) + title[found.end(1) :]
    return title
