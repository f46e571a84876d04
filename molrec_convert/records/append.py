"""Goes on with a record that was closed: the writer picks up where ``nstep`` says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path

from ..model import Frame
from . import layout
from .stored import StoredRecord
from .trajectory_writer import TrajectoryWriter
from .tree import Store
from .writer import RecordWriter


def open_for_append(path: str | Path, *, executor: Executor | None = None, durable: bool = False) -> RecordWriter:
    """Open a record whose trajectory, if it has one, goes on: the writer's `trajectory` appends to it.

    Parameters
    ----------
    path
        The record.
    executor
        Where chunks are compressed.
    durable
        Commit frames as they come.

    Raises
    ------
    RecordError
        If the file was not closed, breaks a rule, or has arrays that cannot grow.
    """
    from .hdf5 import Hdf5Store  # noqa: PLC0415 - h5py is heavy

    with StoredRecord(Hdf5Store.open(path), str(path)) as record:  # all checks before anything is touched
        has_trajectory = record.trajectory is not None
    store = Hdf5Store.open(path, writable=True)
    try:
        return _resumed(store, str(path), executor=executor, durable=durable, has_trajectory=has_trajectory)
    except BaseException:
        store.close()
        raise


def _resumed(
    store: Store, path: str, *, executor: Executor | None, durable: bool, has_trajectory: bool
) -> RecordWriter:
    record = StoredRecord(store, path)
    writer = RecordWriter(store, executor=executor, durable=durable)
    sections: Mapping[str, Frame | None] = {layout.FRAME: record.frame, layout.SYSTEM: record.system}
    trajectory = None
    stored = record.trajectory if has_trajectory else None
    if stored is not None:
        trajectory = TrajectoryWriter(
            store, stored.group, stored.schema, writer.queue, lambda: writer.sections, durable=durable
        )
        trajectory.resume(stored)
    writer.resume(sections, trajectory)
    return writer


