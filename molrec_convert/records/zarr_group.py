"""Groups of a Zarr tree: what is in them, and how it is made, published, replaced and copied."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.rules import rule

from .layout import DENSE_ROWS
from .tree import Node, copy_by_value
from .zarr_arrays import ZarrArray, ZarrGrowing
from .zarr_files import DOCUMENT, Files, below
from .zarr_folder import STAGE
from .zarr_metadata import GROUP, array_document, filters_of, group_document, section_chunks
from .zarr_node import ZarrNode
from .zarr_pipeline import regions
from .zarr_shards import chunks_in_shard

if TYPE_CHECKING:
    from .zarr_store import ZarrStore

LONGEST_NAME = 255
"""Bytes of a name, for the file systems that people use."""


class ZarrGroup(ZarrNode):
    """A group."""

    def __init__(self, store: ZarrStore, parent: ZarrNode | None, name: str, document: dict[str, Any]) -> None:
        super().__init__(store, parent, name, document)
        self._children: dict[str, ZarrGroup | ZarrArray | None] = {}
        self._folders: set[str] | None = None

    def names(self) -> list[str]:
        """The names of the children, sorted."""
        names = self.attempt(lambda: self.store.files.folders(self.key))
        return [name for name in names if not (self.parent is None and name == STAGE) and self._is_node(name)]

    def _is_node(self, name: str) -> bool:
        """Whether a folder is a node and no stranger; what is wrong with a damaged one, `child` says."""
        try:
            return self.child(name) is not None
        except RecordError:
            return True

    @rule(38)
    def child(self, name: str) -> ZarrGroup | ZarrArray | None:
        """A child; one that has lost its metadata is refused, where it takes no question to a server to know."""
        if name not in self._children:
            document = self.attempt(lambda: self.store.load(below(self.key, name)), name)
            if document is None:
                if self.store.is_written:
                    return None
                if self._is_lost(name):
                    raise self.error(f"a folder of a node without {DOCUMENT}", name)
                self._children[name] = None
            else:
                kind = ZarrGroup if document["node_type"] == GROUP else ZarrArray
                self._children[name] = kind(self.store, self, name, document)
        return self._children[name]

    def _is_lost(self, name: str) -> bool:
        """Whether there is a folder that has what a node has, but for metadata."""
        if self._folders is None:
            files = self.store.files
            self._folders = set(self.attempt(lambda: files.folders(self.key))) if files.is_near else set()
        if name not in self._folders:
            return False
        keys = self.attempt(lambda: list(self.store.files.keys(below(self.key, name))))
        return any(key.startswith("c/") or key.endswith(f"/{DOCUMENT}") for key in keys)

    def group(self, name: str) -> ZarrGroup | None:
        """A child that is a group."""
        node = self.child(name)
        if isinstance(node, ZarrArray):
            raise node.error("a group is due, found an array")
        return node

    def array(self, name: str) -> ZarrArray | None:
        """A child that is an array."""
        node = self.child(name)
        if isinstance(node, ZarrGroup):
            raise node.error("an array is due, found a group")
        return node

    # ------------------------------------------------------------ writing
    def create_group(self, name: str, *, hidden: bool = False) -> ZarrGroup:
        """Make a group."""
        made = ZarrGroup(self.store, self, self._new(name), group_document())
        self._place(made, hidden=hidden)
        return made

    def create_array(self, name: str, values: Array, *, quantized: bool = False) -> ZarrArray:
        """Write an array."""
        if values.dtype not in DTYPES.values():
            return self._create_foreign(name, values)
        chunk, shard = section_chunks(values)
        filters = filters_of(values.dtype, quantized=quantized)
        document = array_document(values.shape, values.dtype, chunk, filters, None if shard is None else (shard, "end"))
        made = ZarrArray(self.store, self, self._new(name), document)
        self._place(made, hidden=False)
        layout = made.layout
        parts = tuple(-(-n // each) for n, each in zip(values.shape, layout.chunk, strict=True))
        for place, region in zip(np.ndindex(*parts), regions(parts, layout.chunk), strict=True):
            part = padded(values[region] if region else values, layout.chunk)
            octets = made.attempt(partial(layout.pipeline.encode, part))
            if octets is not None:
                made.attempt(partial(self.store.writer.write, below(made.key, layout.key(place)), octets))
        return made

    def create_growing(
        self, name: str, dtype: str, trailing: tuple[int, ...], chunk_rows: int, *, quantized: bool = False
    ) -> ZarrGrowing:
        """Make a hidden array without rows."""
        return self._create_growing(name, dtype, trailing, chunk_rows, filters_of(DTYPES[dtype], quantized=quantized))

    def create_dense(self, name: str, dtype: str, trailing: tuple[int, ...], expected: int | None) -> ZarrGrowing:
        """Make a hidden array with one short entry a frame or an update."""
        del expected
        filters = filters_of(DTYPES[dtype], quantized=False, dense=True)
        return self._create_growing(name, dtype, trailing, DENSE_ROWS, filters)

    def _create_growing(
        self, name: str, dtype: str, trailing: tuple[int, ...], chunk_rows: int, filters: tuple[str, ...]
    ) -> ZarrGrowing:
        rest = tuple(max(1, n) for n in trailing)
        chunks = chunks_in_shard(chunk_rows * DTYPES[dtype].itemsize * math.prod(rest))
        shard = ((chunk_rows * chunks, *rest), "start")
        document = array_document((0, *trailing), DTYPES[dtype], (chunk_rows, *rest), filters, shard)
        made = ZarrGrowing(self.store, self, self._new(name), document)
        self._place(made, hidden=True)
        return made

    def growing(self, name: str) -> ZarrGrowing | None:
        """An array of this group, to go on with."""
        array = self.array(name)
        if array is not None and not isinstance(array, ZarrGrowing):
            array = self._children[name] = ZarrGrowing(self.store, self, name, array.document)
        return array

    def publish(self, name: str, node: Node) -> None:
        """Move a hidden child to its place, or have it change places with one that is there, which then goes."""
        assert isinstance(node, ZarrGroup | ZarrArray)
        assert node.stage is not None
        store, stage, place = self.store, node.stage, below(self.key, name)
        store.write_documents(node)
        old = self.child(name)
        if old is not None:
            store.forget(old)
            if not self.attempt(lambda: store.writer.exchange(stage, place), name):
                aside = store.new_stage()
                self.attempt(lambda: store.writer.move(place, aside), name)
                self.attempt(lambda: store.writer.move(stage, place), name)
                stage = aside
            self.attempt(lambda: store.writer.remove(stage))
        else:
            self.attempt(lambda: store.writer.move(stage, place), name)
        node.stage = None
        self._children[name] = node

    def delete(self, name: str) -> None:
        """Remove a child: it goes aside, where nobody finds it, before its files go."""
        node = self.child(name)
        if node is None:
            return
        self.store.forget(node)
        aside = self.store.new_stage()
        self.attempt(lambda: self.store.writer.move(node.key, aside), name)
        self._children.pop(name)
        self.attempt(lambda: self.store.writer.remove(aside))

    def adopt(self, name: str, source: Node) -> None:
        """Copy a child: from Zarr file by file, from elsewhere by its values."""
        if not isinstance(source, ZarrNode):
            copy_by_value(self, name, source)
            return
        files = source.store.files
        for key in self.attempt(lambda: list(files.keys(source.key)), name):
            target = below(below(self.key, self._new(name)), key)
            self.attempt(partial(self._copy, files, below(source.key, key), target), name)

    def _copy(self, files: Files, key: str, target: str) -> None:
        data = files.read(key)
        assert data is not None
        self.store.writer.write(target, data)

    def _create_foreign(self, name: str, values: Array) -> ZarrArray:
        from .zarr_foreign import write_foreign  # zarr is heavy

        key = below(self.key, self._new(name))
        self.attempt(lambda: write_foreign(self.store.writer.prepared(key), values), name)
        made = self.array(name)
        assert made is not None
        return made

    def _new(self, name: str) -> str:
        """The name of a child to be made; an error where a file system has none such."""
        if name == DOCUMENT or len(name.encode()) > LONGEST_NAME:
            raise self.error(f"a node of a folder cannot be called {name!r}")
        return name

    def _place(self, node: ZarrGroup | ZarrArray, *, hidden: bool) -> None:
        if hidden:
            node.stage = self.store.new_stage()
        else:
            self._children[node.name] = node
        node.attempt(lambda: self.store.writer.prepared(below(node.key, DOCUMENT)))
        self.store.touch(node)


def padded(values: Array, shape: tuple[int, ...]) -> Array:
    """An array of a chunk's shape, the fill value behind the values where they are fewer."""
    if values.shape == shape:
        return values
    whole = np.zeros(shape, values.dtype)
    whole[tuple(slice(0, n) for n in values.shape)] = values
    return whole
