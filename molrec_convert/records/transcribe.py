"""A record in another form: the same sections, declaration, frames and unknown parts, nothing laid out anew."""

from __future__ import annotations

from collections.abc import Callable

from . import layout
from .stored import StoredRecord
from .unknown import copy_unknown
from .writer import RecordWriter


def transcribe(record: StoredRecord, writer: RecordWriter, done: Callable[[int], object] | None = None) -> int:
    """Write all that a record holds to a new one; give the number of its frames.

    Parameters
    ----------
    record
        The record that is read.
    writer
        The record that is written, which has nothing yet but perhaps a document.
    done
        Called after every frame with the number of frames so far.
    """
    writer.set_meta(record.meta)
    for name, section in ((layout.SYSTEM, record.system), (layout.FRAME, record.frame)):
        if section is not None:
            writer.set_section(name, section)
    stored = record.trajectory
    if stored is not None:
        trajectory = writer.begin_trajectory(stored.schema, expected_frames=len(stored))
        times = stored.time
        for index, step in enumerate(stored.step.tolist()):
            time = None if times is None else float(times[index])
            trajectory.append(stored.stored_frame(index), step=step, time=time)
            if done is not None:
                done(index + 1)
    copy_unknown(record, writer)
    return len(record)
