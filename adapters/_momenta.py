"""Momenta as ASE has them, in √(eV·amu), and velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MOMENTUM = 98.22694788464064
"""ASE's unit of velocity, √(eV/amu), in Å/ps by the constants of ASE."""


def velocities_of(momenta: Array, masses: Array) -> Array:
    """Velocities [N][3] in Å/ps of momenta in √(eV·amu) and masses in amu; not finite where a mass is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        velocities: Array = momenta / masses[:, None] * MOMENTUM
    return velocities


def momenta_of(velocities: Array, masses: Array) -> Array:
    """Momenta [N][3] of velocities in Å/ps; not the inverse of `velocities_of` to the last digit."""
    momenta: Array = velocities / MOMENTUM * masses[:, None]
    return momenta
