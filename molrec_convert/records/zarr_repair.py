"""Mends a Zarr record whose writer was killed: it is read as it is, and this takes away what nobody finished.

Besides, a writer that keeps the index of a shard in more than a page, as the reference implementation does, may have
been killed while it wrote one. Its entries are old or new, and both are right: only its checksum is not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from .report import RepairReport
from .store import open_record
from .zarr_arrays import ZarrArray
from .zarr_codecs import Crc32c
from .zarr_files import DOCUMENT, PART, below
from .zarr_group import ZarrGroup
from .zarr_pipeline import ABSENT, Shards
from .zarr_store import ZarrStore


def repair_folder(path: str | Path) -> RepairReport:
    """Mend a record in a folder."""
    done: list[str] = []
    with closing(ZarrStore.open(path, writable=True)) as store:
        if store.drop_stage():
            done.append("what was not finished was taken away")
        left = [key for key in store.files.keys("") if key.endswith(PART)]
        for key in left:
            store.writer.remove(key)
        if left:
            done.append("files that were not finished were taken away")
        done += [f"the index of {place} got its checksum" for place in _mended(store.root)]
    with open_record(path, strict=False) as record:
        return RepairReport(len(record), bool(done), tuple(done))


def _mended(group: ZarrGroup) -> Iterator[str]:
    for name in group.names():
        node = group.child(name)
        if isinstance(node, ZarrGroup):
            yield from _mended(node)
        elif isinstance(node, ZarrArray) and _has_index_at_start(node):
            for key in list(node.store.files.keys(node.key)):
                if key != DOCUMENT and _is_mended(node, below(node.key, key)):
                    yield f"{node.place}/{key}"


def _has_index_at_start(array: ZarrArray) -> bool:
    try:
        serializer = array.layout.pipeline.serializer
    except ValueError:
        return False
    return isinstance(serializer, Shards) and serializer.at_start and serializer.has_checksum


def _is_mended(array: ZarrArray, key: str) -> bool:
    """Give the index of a shard its checksum if all that it names can be decoded; whether that was done."""
    shards = array.layout.pipeline.serializer
    assert isinstance(shards, Shards)
    files, size = array.store.files, shards.index_size(array.layout.chunk)
    head = files.read_part(key, 0, size)
    if head is None or len(head) < size:
        return False
    octets = np.frombuffer(bytearray(head), np.uint8)
    sealed = Crc32c.seal(octets.copy())
    if np.array_equal(octets, sealed):
        return False
    try:
        for first, length in shards.index(sealed, array.layout.chunk).tolist():
            if (first, length) != (int(ABSENT), int(ABSENT)):
                chunk = files.read_part(key, first, length)
                shards.inner.decode(b"" if chunk is None else chunk)
    except ValueError:
        return False
    with open(array.store.writer.prepared(key), "r+b") as file:
        file.write(sealed.tobytes())
        file.flush()
        os.fsync(file.fileno())
    return True
