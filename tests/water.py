"""Small records of water, and what may be different about them."""

import numpy as np

from molrec_convert.forms import FORMS
from molrec_convert.model import Block, Box, Column, Frame, Record
from molrec_convert.model.trajectory import MemoryTrajectory

SUFFIXES = [form.suffixes[0] for form in FORMS]
"""Of the forms of records that can be written."""
UNITS = {"length": "angstrom", "energy": "eV", "time": "ps"}


def u64(*values):
    return np.array(values, "u8")


def water(k=0):
    """A frame that says something of every kind."""
    atoms = Block(
        {
            "id": u64(1, 2, 3),
            "element": ["O", "H", "H"],
            "x": Column([0.0 + k, 0.75, -0.75], precision=1e-3),
            "y": [0.0, 0.5, 0.5],
            "charge": [-0.8, 0.4, 0.4],
            "tag": Column(np.array([1, 2, 3]), valid=[True, False, True]),
            "tensor": np.full((3, 2), 1.0 + k),
        }
    )
    bonds = Block({"atomi": u64(0, 0), "atomj": u64(1, 2)})
    box = Box.orthogonal([10.0 + k, 10.0, 10.0], boundary=[True, True, False])
    return Frame({"atoms": atoms, "bonds": bonds}, box=box, meta={"pe": -76.5 - k, "label": f"frame {k}"})


def trajectory(frames=3, *, change=None):
    """A record of such frames; `change` is applied to each, with its number."""
    made = [water(k) for k in range(frames)]
    for k, frame in enumerate(made):
        if change is not None:
            change(frame, k)
    steps, times = [10 * k for k in range(frames)], [0.5 * k for k in range(frames)]
    return Record(meta={"units": UNITS, "title": "water"}, trajectory=MemoryTrajectory(made, step=steps, time=times))


def single(k=0):
    """A record of one frame."""
    return Record(meta={"units": UNITS}, frame=water(k))
