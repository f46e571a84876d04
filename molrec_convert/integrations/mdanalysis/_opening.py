"""What a universe is made from: a record by its path, or one that is there already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from molrec_convert.errors import ConvertError
from molrec_convert.forms import DOCUMENT, ZARR, form_of_content, form_of_name, is_url
from molrec_convert.model import Record
from molrec_convert.records import StoredRecord, layout, open_record

FORMATS = ["MREC", "MOLREC"]
"""What MDAnalysis calls a record."""


class RecordSource:
    """A record in memory, as MDAnalysis takes it: what has a length is a list of files to it, and records have one."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __repr__(self) -> str:
        return repr(self.record)


def source_of(record: Record) -> RecordSource | str:
    """What a universe of a record is made from: the path of one on disk, so that the universe has it for itself."""
    return record.path if isinstance(record, StoredRecord) else RecordSource(record)


def is_source(thing: Any) -> bool:
    """Whether something is a record, or the path or the address of one; cheap, and never an error.

    So is a path at which there is nothing, where it has the name of a record and no other reader of MDAnalysis takes
    such names: opening it says that there is no such file.
    """
    if isinstance(thing, RecordSource):
        return True
    if not isinstance(thing, str | os.PathLike):
        return False
    try:
        path = os.fspath(thing)
        if not isinstance(path, str):
            return False
        if is_url(path) or not (os.path.lexists(path) or _is_of_others(path)):
            return form_of_name(path) is not None
        return is_record_at(path)
    except Exception:  # noqa: BLE001 - MDAnalysis asks this of everything that it is to open
        return False


def _is_of_others(path: str) -> bool:
    """Whether another reader or parser goes by the extension of this name."""
    from MDAnalysis import _PARSERS, _READERS

    extension = os.path.splitext(path)[1][1:].upper()
    return extension not in FORMATS and (extension in _READERS or extension in _PARSERS)


def is_record_at(path: str) -> bool:
    """Whether a record lies at a path; other stores in Zarr are none."""
    form = form_of_content(path)
    if form is not ZARR:
        return form is not None
    return any(os.path.isfile(os.path.join(path, name, DOCUMENT)) for name in layout.SECTIONS)


def open_source(source: Any) -> Record:
    """The record; one that was opened here is closed by its `close`."""
    return source.record if isinstance(source, RecordSource) else open_record(source)


def close_source(source: Any, record: Record) -> None:
    """Close a record that was opened here."""
    if not isinstance(source, RecordSource):
        record.close()  # type: ignore[attr-defined] # a StoredRecord


@contextmanager
def opened(source: Any) -> Iterator[Record]:
    """The record, closed at the end where it was opened here; errors name its path."""
    record = open_source(source)
    try:
        with told(source):
            yield record
    finally:
        close_source(source, record)


@contextmanager
def told(source: Any) -> Iterator[None]:
    """Name the path in errors that do not."""
    try:
        yield
    except ConvertError as error:
        if error.path is None and not isinstance(source, RecordSource):
            error.path = str(source)
        raise
