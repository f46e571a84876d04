"""Goes on with a record that was closed: the writer picks up where ``nstep`` says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path

from molrec_convert.model import Frame

from . import layout
from .store import open_record, open_store
from .stored import StoredRecord
from .trajectory_writer import TrajectoryWriter
from .tree import Group, Store
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
    with open_record(path) as record:  # all checks before anything is touched
        trajectory = record.trajectory
        has_trajectory = trajectory is not None
        extents = [] if trajectory is None else trajectory.extents()
    cut_arrays(path, extents)
    store = open_store(path, writable=True, is_synced=durable)
    try:
        return _resumed(store, str(path), executor=executor, durable=durable, has_trajectory=has_trajectory)
    except BaseException:
        store.close()
        raise


def cut_arrays(path: str | Path, extents: Iterable[tuple[str, str, int]]) -> None:
    """Cut arrays, each named by the place of its group and its own name, to so many rows."""
    extents = list(extents)
    # The library keeps a stale notion of a chunk that was rewritten, so the file is opened anew after each pass.
    for prepare in ("make_plain", "settle"):
        with closing(open_store(path, writable=True)) as store:
            for place, name, rows in extents:
                array = _group_at(store.root, place).growing(name)
                if array is not None:
                    getattr(array, prepare)(rows)


def _group_at(root: Group, place: str) -> Group:
    group = root
    for name in place.strip("/").split("/"):
        child = group.group(name)
        assert child is not None
        group = child
    return group


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
