"""Values that were set in a universe whose reader has some of its own for every frame, as that of PDB files does."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.mda_universe import OF_ATOMS
from molrec_convert.model import Block, Frame

if TYPE_CHECKING:
    from MDAnalysis import Universe

ATTRIBUTES = {"occupancy": "occupancies", "tempfactor": "tempfactors"}
"""The attributes of a topology that a reader gives anew with every frame, by the reader's key."""


def columns_set(universe: Universe) -> frozenset[str]:
    """The columns whose attribute is not what the file says of its first frame, where both came from one file.

    Of two files nobody can tell whether the attribute was set, or the topology had other values from the start.
    """
    reader = getattr(universe, "trajectory", None)
    if reader is None or universe.filename is None or universe.filename != getattr(reader, "filename", None):
        return frozenset()
    keys = [key for key in ATTRIBUTES if key in reader.ts.data and hasattr(universe.atoms, ATTRIBUTES[key])]
    if not keys:
        return frozenset()
    if reader.ts.frame == 0:
        first = reader.ts.data
    else:
        with reader.copy() as other:
            first = dict(other[0].data)
    return frozenset(
        OF_ATOMS[key]
        for key in keys
        if not np.array_equal(
            np.asarray(first[key], np.float32), np.asarray(getattr(universe.atoms, ATTRIBUTES[key]), np.float32)
        )
    )


def upheld(moment: Snapshot, static: Snapshot, names: Collection[str]) -> Snapshot:
    """The moment, in which these columns are what stands still, and not what the reader gave."""
    block, still = moment.frame["atoms"], static.frame["atoms"].columns
    values = {name: still[name] for name in names if name in still and block.columns[name] is not still[name]}
    if values:
        blocks = {**moment.frame, "atoms": Block.of({**block.columns, **values}, block.count)}
        moment.frame = Frame.of(blocks, moment.frame.box, moment.frame.meta)
    return moment
