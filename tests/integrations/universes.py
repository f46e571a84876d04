"""Records and universes that tests of MDAnalysis share."""

import numpy as np
import pytest

import molrec_convert as mc
import molrec_convert.integrations.mdanalysis
from molrec_convert.model import Block, Box, Frame

from ..frames import text, u64

UNITS = {"length": "angstrom", "time": "ps", "velocity": "angstrom/ps", "force": "kJ/mol/angstrom"}
UNGUESSED = pytest.mark.filterwarnings(
    "ignore:there is no reference attributes:UserWarning", "ignore:Unknown masses are set:UserWarning"
)
"""MDAnalysis warns where it cannot guess."""
UNTIMED = pytest.mark.filterwarnings("ignore:Reader has no dt information:UserWarning")
"""MDAnalysis warns where it counts frames."""


def water(shift=0.0, **columns):
    """Two molecules of water, with all that a topology needs, at short decimals that binary32 holds."""
    x = np.arange(6.0) * 0.5 + shift
    atoms = {
        "id": u64(11, 12, 13, 21, 22, 23),
        "name": text("OW", "HW1", "HW2", "OW", "HW1", "HW2"),
        "element": text("O", "H", "H", "O", "H", "H"),
        "mass": [16.0, 1.0, 1.0] * 2,
        "charge": [-0.75, 0.375, 0.375] * 2,
        "res_id": u64(1, 1, 1, 2, 2, 2),
        "res_name": text(*["SOL"] * 6),
        "x": x,
        "y": -x,
        "z": x * 2.0,
    }
    return Block(atoms | columns)


def bonds():
    """The four bonds of the two molecules."""
    return Block({"atomi": u64(0, 0, 3, 3), "atomj": u64(1, 2, 4, 5)})


def frame(shift=0.0, box=None, meta=None, **columns):
    """Two molecules in a cell."""
    box = Box.orthogonal([10.0, 11.0, 12.0]) if box is None else box
    return Frame({"atoms": water(shift, **columns), "bonds": bonds()}, box=box, meta=meta)


def record(path, frames, *, units=UNITS, time=True, step=None):
    """Write frames to a record; one alone becomes a ``frame``."""
    if len(frames) == 1:
        mc.write(path, frames[0], units=units)
    else:
        mc.write(path, frames, units=units, step=step, time=np.arange(len(frames)) * 0.5 if time else None)
    return str(path)


def moved(count=5):
    """Frames whose atoms move along."""
    return [frame(0.25 * k) for k in range(count)]


def rows(block, names="xyz"):
    """Columns side by side."""
    return np.stack([block[name] for name in names], axis=1)
