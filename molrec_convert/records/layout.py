"""The names of the MolRec layout, the same in every binding."""

from __future__ import annotations

META, FRAME, SYSTEM, TRAJECTORY = "meta", "frame", "system", "trajectory"
SECTIONS = (FRAME, SYSTEM, TRAJECTORY, "forcefield", "status")
"""A record has at least one of these."""

# frame-shaped sections
BOX = "box"
VALIDITY = "_validity"
META_TYPES = "_meta_types"
COUNT = "count"
SHAPE = "structural_shape"
TARGETS = "targets"
PRECISION = "precision"

# the cell
VECTORS, ORIGIN, BOUNDARY, CELL_DEFINED = "vectors", "origin", "boundary", "cell_defined"

# the trajectory
SCHEMA = "sequence_schema"
NSTEP = "nstep"
STEP, TIME = "step", "time"
STEP_PROGRESSION, TIME_PROGRESSION = "step_progression", "time_progression"
STEP_INDEX, OFFSET = "step_index", "offset"
UNIFORM_ROWS, DENSE_UPDATES = "uniform_rows", "dense_updates"
META_DTYPE = "meta_dtype"

RESERVED_BLOCKS = frozenset((STEP, TIME, META, BOX))
RESERVED_COLUMNS = frozenset((OFFSET, STEP_INDEX, VALIDITY))

BLOCK_ATTRIBUTES = frozenset((COUNT, SHAPE, TARGETS))
UPDATE_ATTRIBUTES = frozenset((SHAPE, TARGETS, UNIFORM_ROWS, DENSE_UPDATES))
BOX_PARTS = frozenset((VECTORS, ORIGIN, BOUNDARY, CELL_DEFINED, STEP_INDEX))
TRAJECTORY_ATTRIBUTES = frozenset((SCHEMA, NSTEP, STEP_PROGRESSION, TIME_PROGRESSION))

DENSE_ROWS = 1024
"""Rows in a chunk of an array with one short entry a frame or an update: steps, meta, index, cell."""


def joined(place: str, name: str) -> str:
    """The place of a child."""
    return f"/{name}" if place == "/" else f"{place}/{name}"
