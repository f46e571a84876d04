"""Where a frame comes from: what a trajectory says of it, and the frame itself does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .meta import Meta


@dataclass(frozen=True, slots=True)
class Origin:
    """What a trajectory says of one of its frames.

    Parameters
    ----------
    step, time
        As the trajectory has them.
    about
        The meta of ``system``: facts that hold for all frames.
    units
        The unit of every quantity that is known; None where nothing is known.
    """

    step: int | None = None
    time: float | None = None
    about: Meta = field(default_factory=Meta)
    units: Mapping[str, str] | None = None


def declared_units(document: Mapping[str, Any]) -> dict[str, str] | None:
    """The unit of every quantity that the document of a record names; None where it names none."""
    units = document.get("units")
    if not isinstance(units, dict):
        return None
    return {quantity: unit for quantity, unit in units.items() if isinstance(unit, str)}
