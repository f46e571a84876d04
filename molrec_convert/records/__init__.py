"""A record on disk: one encoder and one decoder of the MolRec layout, over a tree of groups, arrays and attributes."""

from .append import open_for_append
from .repair import repair
from .report import RepairReport
from .store import create, load, open_record
from .stored import StoredRecord
from .trajectory_reader import StoredTrajectory
from .trajectory_writer import TrajectoryWriter
from .transcribe import transcribe
from .unknown import Unknown, copy_unknown, unknown_parts
from .writer import RecordWriter

__all__ = [
    "RecordWriter",
    "RepairReport",
    "StoredRecord",
    "StoredTrajectory",
    "TrajectoryWriter",
    "Unknown",
    "copy_unknown",
    "create",
    "load",
    "open_for_append",
    "open_record",
    "repair",
    "transcribe",
    "unknown_parts",
]
