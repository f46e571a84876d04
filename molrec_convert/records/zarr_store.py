"""A record in Zarr: the tree of groups, arrays and attributes over files; see `zarr_files` for where they lie.

Decisions that keep the record of a killed writer whole: the metadata of a node are replaced at once; nodes that are not
complete lie in a folder aside and get their place when they are; the shards of an array keep what they held.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.forms import ZARR, ZIP, Form
from molrec_convert.rules import rule

from .typed_json import parsed_json
from .zarr_arrays import ZarrGrowing
from .zarr_extents import ZarrExtents
from .zarr_files import DOCUMENT, Files, FolderFiles, below
from .zarr_folder import STAGE, FolderWriter, clear_folder
from .zarr_group import ZarrGroup
from .zarr_metadata import GROUP, checked_document, foreign_codecs, group_document
from .zarr_node import ZarrNode
from .zarr_zip import ZipFiles

LONGEST_DOCUMENT = 64 << 20
OLD = (".zgroup", ".zarray", ".zattrs")
"""What version 2 of Zarr has in place of ``zarr.json``."""


class ZarrStore:
    """A Zarr tree that holds one record.

    Parameters
    ----------
    files
        Where it is read.
    path
        What it is called in errors.
    writer
        Where it is written; None for one that is only read.
    """

    own_attributes: frozenset[str] = frozenset()
    own_children = frozenset((STAGE,))
    extents = ZarrExtents()
    form: Form = ZARR

    def __init__(self, files: Files, path: str, writer: FolderWriter | None = None) -> None:
        self.files = files
        self.path = path
        self.is_closed = False
        self._writer = writer
        self._changed: dict[int, ZarrNode] = {}
        self._held: dict[int, ZarrGrowing] = {}
        self._made = 0
        self.root = ZarrGroup(self, None, "", {})

    @classmethod
    def create(cls, path: str | Path, *, is_synced: bool = False) -> ZarrStore:
        """Make a tree in a folder; one that is there is replaced if it is a record and nothing else."""
        if not os.path.isdir(path):
            os.mkdir(path)
        files = FolderFiles(path)
        writer = FolderWriter(path, files, is_synced=is_synced)
        try:
            clear_folder(path)
        except BaseException:
            writer.close()
            raise
        store = cls(files, str(path), writer)
        store.root.document = group_document()
        store.touch(store.root)
        store.flush()
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False, is_synced: bool = False) -> ZarrStore:
        """Open the tree in a folder."""
        files = FolderFiles(path)
        return cls._opened(files, str(path), FolderWriter(path, files, is_synced=is_synced) if writable else None)

    @classmethod
    def packed(cls, path: str | Path) -> ZarrStore:
        """Open the tree in an archive."""
        file = open(path, "rb")  # noqa: SIM115 - the store closes it
        try:
            files = ZipFiles(file)
        except ValueError as error:
            file.close()
            raise RecordError(str(error), path=path, rule=35) from None
        return cls._opened(files, str(path))

    @classmethod
    def remote(cls, url: str) -> ZarrStore:
        """Open the tree at an address."""
        from .zarr_remote import open_remote  # fsspec is heavy

        return cls._opened(open_remote(url), url)

    @classmethod
    def _opened(cls, files: Files, path: str, writer: FolderWriter | None = None) -> ZarrStore:
        store = cls(files, path, writer)
        store.form = ZIP if isinstance(files, ZipFiles) else ZARR
        try:
            store.read_root()
        except BaseException:
            store.close()
            raise
        return store

    @rule(38)
    def read_root(self) -> None:
        """Read the metadata of the root; `RecordError` where there are none of a group."""
        document = self.root.attempt(lambda: self.load(""))
        if document is None:
            old = [name for name in OLD if self.root.attempt(lambda name=name: self.files.read(name)) is not None]  # type: ignore[misc]
            reason = "it is Zarr of version 2, a record is of version 3" if old else f"there is no {DOCUMENT} in it"
            raise RecordError(f"no record: {reason}", path=self.path)
        if document["node_type"] != GROUP:
            raise self.root.error("a group is due, found an array")
        self.root.document = document

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """What other programs stumble over."""
        yield from self.files.remarks()
        yield from _codec_remarks(self.root)

    @property
    def writer(self) -> FolderWriter:
        """Where the tree is written."""
        if self._writer is None:
            raise RecordError("the record was opened for reading", path=self.path)
        return self._writer

    @property
    def is_written(self) -> bool:
        """Whether the tree may change."""
        return self._writer is not None

    @property
    def is_synced(self) -> bool:
        """Whether a flush has everything on the disk."""
        return self._writer is not None and self._writer.is_synced

    def load(self, key: str) -> dict[str, Any] | None:
        """The metadata of a node; None where there is none, ValueError where they are of none."""
        octets = self.files.read(below(key, DOCUMENT))
        if octets is None:
            return None
        if len(octets) > LONGEST_DOCUMENT:
            raise ValueError(f"metadata of {len(octets)} bytes")
        return checked_document(parsed_json(bytes(octets).decode(), with_any_text=True))

    # ------------------------------------------------------------ writing
    def touch(self, node: ZarrNode) -> None:
        """Have the metadata of a node written with the next flush."""
        assert self.is_written
        self._changed[id(node)] = node

    def hold(self, array: ZarrGrowing) -> None:
        """Have the index of an array's shard written with each flush."""
        self._held[id(array)] = array

    def forget(self, node: ZarrNode) -> None:
        """Let go of a node that is about to be removed, and of all that is in it."""
        for array in [held for held in self._held.values() if held.is_in(node)]:
            array.release()
            del self._held[id(array)]
        self._changed = {key: other for key, other in self._changed.items() if not other.is_in(node)}

    def new_stage(self) -> str:
        """A place for a node that is not complete."""
        if not self._made:
            self.drop_stage()
        self._made += 1
        return f"{STAGE}/{self._made}"

    def drop_stage(self) -> bool:
        """Take away what a killed writer left unfinished; True if there was something."""
        if not self.writer.exists(STAGE):
            return False
        self.writer.remove(STAGE)
        return True

    def flush(self) -> None:
        """Hand everything to the operating system: chunks, then indices, then arrays, then groups from below."""
        if self._writer is None:
            return
        for array in self._held.values():
            array.save()
        for node in sorted(self._changed.values(), key=lambda node: (isinstance(node, ZarrGroup), -node.depth)):
            self.write_document(node)
        self._changed.clear()
        self.root.attempt(self._writer.settle)

    def write_documents(self, node: ZarrNode) -> None:
        """Write the metadata of a node and of all that is in it, as far as they changed."""
        for key, other in list(self._changed.items()):
            if other.is_in(node):
                self.write_document(other)
                del self._changed[key]

    def write_document(self, node: ZarrNode) -> None:
        """Write the metadata of a node."""
        data = json.dumps(node.document, ensure_ascii=False, allow_nan=False, indent=2).encode()
        node.attempt(lambda: self.writer.write(below(node.key, DOCUMENT), data))

    def close(self) -> None:
        """Write what is left, and close the store; a second time does nothing."""
        if self.is_closed:
            return
        try:
            if self._writer is not None:
                self.flush()
                for array in self._held.values():
                    array.release()
                if self.root.document:
                    self.root.attempt(self.drop_stage)
        finally:
            self.is_closed = True
            self.files.close()
            if self._writer is not None:
                self._writer.close()


def _codec_remarks(group: ZarrGroup) -> Iterator[tuple[int, str, str]]:
    for name in group.names():
        node = group.child(name)
        if isinstance(node, ZarrGroup):
            yield from _codec_remarks(node)
        elif node is not None:
            for codec in foreign_codecs(node.document):
                yield 34, node.place, f"the codec {codec!r} is none that every reader has"
