"""The containers of MolRec, in memory: columns, blocks, frames, boxes, typed meta, trajectories, schemas."""

from .block import Block
from .box import Box
from .column import Column
from .frame import Frame
from .meta import Meta
from .record import Record
from .schema import BlockSpec, ColumnSpec, MetaSpec, Schema
from .trajectory import Trajectory

__all__ = [
    "Block",
    "BlockSpec",
    "Box",
    "Column",
    "ColumnSpec",
    "Frame",
    "Meta",
    "MetaSpec",
    "Record",
    "Schema",
    "Trajectory",
]
