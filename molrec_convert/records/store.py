"""Opens records: to make one, to read one, to go on with one."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from .stored import StoredRecord
from .writer import RecordWriter


def create(
    path: str | Path,
    *,
    meta: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    durable: bool = False,
) -> RecordWriter:
    """Make a record at `path`, and give what writes it.

    Parameters
    ----------
    path
        The file to make; one that is there is replaced.
    meta
        The document of the record.
    executor
        Where chunks are compressed; by default threads of the writer's own. Do not append from one of its threads.
    durable
        Commit a trajectory as it grows, so that a killed run keeps its frames; else `commit` and the close do.
    """
    from .hdf5 import Hdf5Store  # h5py is heavy

    writer = RecordWriter(Hdf5Store.create(path), executor=executor, durable=durable)
    try:
        writer.set_meta(meta or {})
    except BaseException:
        writer.close()
        raise
    return writer


def open_record(path: str | Path, *, strict: bool = True) -> StoredRecord:
    """Open a record for reading.

    Parameters
    ----------
    path
        The record.
    strict
        Whether row references are checked; all other rules always are.

    Raises
    ------
    RecordError
        If the file is no record, breaks a rule of MolRec, or was not closed.
    """
    from .hdf5 import Hdf5Store  #

    store = Hdf5Store.open(path)
    try:
        return StoredRecord(store, str(path), strict=strict)
    except BaseException:
        store.close()
        raise
