"""A record on disk: one encoder and one decoder of the MolRec layout, over a tree of groups, arrays and attributes."""

from .store import create, open_record
from .stored import StoredRecord
from .trajectory_reader import StoredTrajectory
from .trajectory_writer import TrajectoryWriter
from .writer import RecordWriter

__all__ = [
    "RecordWriter",
    "StoredRecord",
    "StoredTrajectory",
    "TrajectoryWriter",
    "create",
    "open_record",
]
