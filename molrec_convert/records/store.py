"""Opens records: to make one, to read one, to go on with one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from importlib import import_module
from pathlib import Path
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.forms import HDF5, ZARR, ZIP, Form, form_of_content, form_of_name, is_url

from .stored import StoredRecord
from .tree import Store
from .writer import RecordWriter


def create(
    path: str | Path,
    *,
    meta: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    durable: bool = False,
    form: Form | None = None,
) -> RecordWriter:
    """Make a record at `path`, and give what writes it.

    Parameters
    ----------
    path
        The file or folder to make; a record that is there is replaced.
    meta
        The document of the record.
    executor
        Where chunks are compressed; by default threads of the writer's own. Do not append from one of its threads.
    durable
        Commit a trajectory as it grows, so that a killed run keeps its frames; else `commit` and the close do.
    form
        The form of the record; by default that of the name, HDF5 where the name does not tell.
    """
    store = _created(path, form or form_of_name(path) or HDF5, is_synced=durable)
    writer = RecordWriter(store, executor=executor, durable=durable)
    try:
        writer.set_meta(meta or {})
    except BaseException:
        writer.close()
        raise
    return writer


def load(form: Form) -> None:
    """Load what writes records of a form. That takes a while, and is better done before threads have work."""
    import_module(".hdf5" if form is HDF5 else ".zarr_packed", __package__)


def open_record(path: str | Path, *, strict: bool = True) -> StoredRecord:
    """Open a record for reading.

    Parameters
    ----------
    path
        The record; the address of one, such as ``https://…/run.mrec.zip``, if fsspec is installed.
    strict
        Whether row references are checked; all other rules always are.

    Raises
    ------
    RecordError
        If the file is no record, breaks a rule of MolRec, or was not closed.
    """
    store = open_store(path)
    try:
        return StoredRecord(store, str(path), strict=strict)
    except BaseException:
        store.close()
        raise


def open_store(path: str | Path, *, writable: bool = False, is_synced: bool = False) -> Store:
    """Open the tree of a record, whatever form it has.

    Parameters
    ----------
    path
        The record, or its address.
    writable
        Whether it is to change.
    is_synced
        Whether what is written is to be on the disk with each flush, where the form can do that.
    """
    if is_url(path):
        if writable:
            raise RecordError("a record on the network is only read", path=path)
        from .zarr_store import ZarrStore

        return ZarrStore.remote(str(path))
    form = form_of_content(path)
    if form is None:
        form = ZARR if os.path.isdir(path) else form_of_name(path) if os.path.isfile(path) else HDF5
    if form not in (ZARR, ZIP) or (form is ZARR and not os.path.isdir(path)):
        from .hdf5 import Hdf5Store  # h5py is heavy

        return Hdf5Store.open(path, writable=writable)
    from .zarr_store import ZarrStore

    if form is ZARR:
        return ZarrStore.open(path, writable=writable, is_synced=is_synced)
    if writable:
        raise RecordError("a packed record is closed for good: convert it to .mrec or .h5 to go on with it", path=path)
    return ZarrStore.packed(path)


def _created(path: str | Path, form: Form, *, is_synced: bool) -> Store:
    if form is HDF5:
        from .hdf5 import Hdf5Store  # h5py is heavy

        return Hdf5Store.create(path)
    if form is ZARR:
        from .zarr_store import ZarrStore

        return ZarrStore.create(path, is_synced=is_synced)
    assert form is ZIP
    from .zarr_packed import PackingStore

    return PackingStore.create(path)
