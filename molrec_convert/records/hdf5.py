"""A record in HDF5: the tree of groups, arrays and attributes over h5py.

Chunks are encoded and decoded here, not by the filters of the HDF5 library, and written and read as they stand: the
same file, several times as fast. Decisions that keep a killed writer's file whole: the v110 file format, whole
chunks, hidden objects that get their name when their data is on disk, and last chunks that are rewritten in place.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import h5py
from h5py import h5d, h5g, h5p, h5s

from molrec_convert.errors import RecordError
from molrec_convert.forms import HDF5
from molrec_convert.model.dtypes import DTYPES, STRING, Array
from molrec_convert.rules import rule

from .hdf5_arrays import (
    Hdf5Array,
    Hdf5Growing,
    creation_plan,
    hdf5_type,
    is_compressed,
    section_chunk,
    stored_form,
    write_slab,
)
from .hdf5_chunks import encoded
from .hdf5_extents import Hdf5Extents
from .hdf5_guard import GuardedText
from .hdf5_node import Hdf5Node
from .hdf5_remarks import MARKER, remarks
from .layout import DENSE_ROWS, joined
from .superblock import is_marked_open
from .tree import Node, copy_by_value

VERSION = 1
STAGE = "_unfinished"
"""HDF5 has anonymous objects, which would do for a stage; but its version 2.0 loses data with them (found by trial)."""
T = TypeVar("T")


class Hdf5Store:
    """An HDF5 file that holds one record."""

    own_attributes = frozenset((MARKER,))
    own_children = frozenset((STAGE,))
    extents = Hdf5Extents()
    form = HDF5

    def __init__(self, file: h5py.File, path: str) -> None:
        self._file = file
        self._text = GuardedText(path) if file.mode == "r" else None
        self._stage: h5g.GroupID | None = None
        self._made = 0
        self.path = path
        self.root = Hdf5Group(file, self, "/")

    @classmethod
    def create(cls, path: str | Path) -> Hdf5Store:
        """Make a file at `path`, its marker the first thing written."""
        store = cls._opened(path, "w", libver=("v110", "v110"), track_order=True)
        store.root.attributes.set_scalar(MARKER, VERSION, "i64")
        store.flush()
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Hdf5Store:
        """Open the file at `path`; `RecordError` if it is no record, or was not closed."""
        os.stat(path)  # FileNotFoundError and its kin speak for themselves
        if is_marked_open(path) and (writable or not _opens(path)):
            raise RecordError(
                "the file was not closed: its writer was killed, or still runs; "
                f"`molrec-convert repair {path}` mends it",
                path=path,
                rule=39,
            )
        libver = ("v110", "v110") if writable else None
        store = cls._opened(path, "r+" if writable else "r", libver=libver)
        try:
            if MARKER not in store.root.attributes or store.root.attributes.scalar(MARKER, "i64") != VERSION:
                message = f"the attribute {MARKER} = {VERSION} is due: no record"
                raise RecordError(message, path=path, place="/", rule=38)
        except RecordError:
            store.close()
            raise
        return store

    @classmethod
    def _opened(cls, path: str | Path, mode: Literal["r", "r+", "w"], **options: Any) -> Hdf5Store:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        try:
            return cls(h5py.File(path, mode, **options), str(path))
        except OSError as error:
            raise _translated(error, path) from None

    @property
    def text_file(self) -> h5py.File | None:
        """Where text of any length is read in a file that does not change: a handle that looks at its heaps."""
        return None if self._text is None else self._text.file

    @property
    def stage(self) -> h5g.GroupID:
        """Where objects stand until they are published: a killed writer leaves it, `close` and `repair` remove it."""
        if self._stage is None:
            name = STAGE.encode()
            self._stage = h5g.open(self._file.id, name) if STAGE in self._file else _new_group(self._file.id, name)
            self.flush()
        return self._stage

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """What other programs stumble over."""
        return remarks(self._file, self.path)

    def drop_stage(self) -> bool:
        """Take away the stage that a killed writer left; True if there was one.

        A link to itself keeps the group, out of reach: what it holds may be half written, or have its place already.
        """
        if STAGE not in self._file:
            return False
        try:
            left = h5g.open(self._file.id, STAGE.encode())
            left.links.create_hard(b"kept", left, b".")
            del self._file[STAGE]
        except (OSError, RuntimeError, KeyError):
            return False
        return True

    def staged(self, make: Callable[[h5g.GroupID, bytes], T]) -> tuple[T, bytes]:
        """Make an object on the stage, and give its name there."""
        stage = self.stage
        self._made += 1
        key = str(self._made).encode()
        return make(stage, key), key

    @property
    def is_closed(self) -> bool:
        """Whether the file was closed, so that whatever fails fails for that reason."""
        return not self._file

    def flush(self) -> None:
        """Hand everything to the operating system."""
        try:
            self._file.flush()
        except (OSError, RuntimeError) as error:
            raise RecordError(f"writing failed ({error})", path=self.path) from None

    def close(self) -> None:
        """Close the file."""
        try:
            if self._text is not None:
                self._text.close()
            if self._stage is not None and self._file:
                self._stage = None
                del self._file[STAGE]
            self._file.close()
        except (OSError, RuntimeError) as error:
            raise RecordError(f"closing failed ({error})", path=self.path) from None


def _opens(path: str | Path) -> bool:
    """Whether the library takes a file that is marked as open."""
    try:
        h5py.File(path, "r").close()
    except OSError:
        return False
    return True


def _translated(error: OSError, path: str | Path) -> Exception:
    text = str(error)
    if error.errno in (errno.EAGAIN, errno.EACCES) and "lock" in text:
        return RecordError(
            "another program has the file open, or its file system has no locks: the environment variable "
            "HDF5_USE_FILE_LOCKING=FALSE opens it without",
            path=path,
            rule=39,
        )
    if error.errno in (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EROFS, errno.ENOSPC):
        return type(error)(error.errno, os.strerror(error.errno), str(path))
    return RecordError(f"not a readable HDF5 file ({text})", path=path, rule=39)


class Hdf5Group(Hdf5Node):
    """An HDF5 group."""

    def names(self) -> list[str]:
        """The names of the children."""
        names: list[str] = self.attempt(lambda: list(self.node))
        return names

    @rule(38)
    def child(self, name: str) -> Hdf5Group | Hdf5Array | None:
        """A child; links that lead out of the file or nowhere are refused."""
        link = self.attempt(lambda: self.node.get(name, getlink=True, default=None))
        if link is None:
            return None
        if isinstance(link, h5py.ExternalLink):
            raise self.error(f"a link into another file, {link.filename!r}: one file is one record", name)
        if isinstance(link, h5py.SoftLink) and self.attempt(lambda: self.node.get(name), name) is None:
            raise self.error("a link that leads nowhere", name)
        node = self.attempt(lambda: self.node[name], name)
        place = joined(self._place, name)
        if isinstance(node, h5py.Group):
            return Hdf5Group(node, self.store, place)
        if isinstance(node, h5py.Dataset):
            return Hdf5Array(node, self.store, place)
        raise self.error("neither a group nor an array", name)

    def group(self, name: str) -> Hdf5Group | None:
        """A child that is a group."""
        node = self.child(name)
        if isinstance(node, Hdf5Array):
            raise node.error("a group is due, found an array")
        return node

    def array(self, name: str) -> Hdf5Array | None:
        """A child that is an array."""
        node = self.child(name)
        if isinstance(node, Hdf5Group):
            raise node.error("an array is due, found a group")
        return node

    def create_group(self, name: str, *, hidden: bool = False) -> Hdf5Group:
        """Make a group that keeps the order of its members."""
        if hidden:
            made, staged = self.store.staged(_new_group)
            group = Hdf5Group(h5py.Group(made), self.store, joined(self._place, name))
            group.staged = staged
            return group
        made = _new_group(self.node.id, name.encode())
        return Hdf5Group(h5py.Group(made), self.store, joined(self._place, name))

    def create_array(self, name: str, values: Array, *, quantized: bool = False) -> Hdf5Array:
        """Write an array: in one piece if it is small, else in chunks, compressed if that is worth it."""
        kind, data = stored_form(values)
        chunk = section_chunk(data)
        compressed = chunk is not None and is_compressed(data.dtype, quantized=quantized)
        plan = creation_plan(None if chunk is None else (chunk, *data.shape[1:]), compressed=compressed)
        made = h5d.create(self.node.id, name.encode(), kind, h5s.create_simple(data.shape), plan)
        array = Hdf5Array(h5py.Dataset(made), self.store, joined(self._place, name))
        if data.dtype == STRING:
            write_slab(array.node, 0, data)
        elif chunk is None and data.size:
            made.write(h5s.ALL, h5s.ALL, data, mtype=kind)
        if chunk is None or data.dtype == STRING:
            return array
        for first in range(0, len(data), chunk):
            piece = data[first : first + chunk]
            made.write_direct_chunk((first,) + (0,) * (data.ndim - 1), *encoded([piece], chunk, compressed))
        return array

    def create_growing(
        self, name: str, dtype: str, trailing: tuple[int, ...], chunk_rows: int, *, quantized: bool = False
    ) -> Hdf5Growing:
        """Make a hidden array without rows."""
        compressed = dtype != "string" and is_compressed(DTYPES[dtype], quantized=quantized)
        plan = creation_plan((chunk_rows, *(max(n, 1) for n in trailing)), compressed=compressed)
        space = h5s.create_simple((0, *trailing), (h5s.UNLIMITED, *trailing))
        kind = hdf5_type(dtype)
        made, staged = self.store.staged(lambda stage, key: h5d.create(stage, key, kind, space, plan))
        array = Hdf5Growing(h5py.Dataset(made), self.store, joined(self._place, name))
        array.staged = staged
        return array

    def create_dense(self, name: str, dtype: str, trailing: tuple[int, ...], expected: int | None) -> Hdf5Growing:
        """Make a hidden array with a short entry a frame or an update, its chunk as long as the array at most."""
        return self.create_growing(name, dtype, trailing, max(1, min(DENSE_ROWS, expected or DENSE_ROWS)))

    def growing(self, name: str) -> Hdf5Growing | None:
        """An array of this group, to go on with."""
        array = self.array(name)
        if array is None:
            return None
        grown = Hdf5Growing(array.node, self.store, array.place)
        if array.node.chunks is None or array.node.maxshape[0] is not None or not grown.has_own_filters:
            raise array.error("an array that cannot grow, or with filters that are not ours")
        return grown

    def publish(self, name: str, node: Node) -> None:
        """Move a hidden child to its place."""
        assert isinstance(node, Hdf5Node)
        assert node.staged is not None
        self.delete(name)
        self.store.stage.links.move(node.staged, self.node.id, name.encode())
        node.staged = None

    def delete(self, name: str) -> None:
        """Unlink a child."""
        if name in self.node:
            del self.node[name]

    def adopt(self, name: str, source: Node) -> None:
        """Copy a child: within HDF5 as it is, from elsewhere by its values."""
        if isinstance(source, Hdf5Node):
            text_node = source.text_node
            text_node.file.copy(text_node, self.node, name)
            return
        self.attempt(lambda: copy_by_value(self, name, source), name)


def _new_group(parent: h5g.GroupID, name: bytes) -> h5g.GroupID:
    plan = h5p.create(h5p.GROUP_CREATE)
    plan.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    plan.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    plan.set_obj_track_times(False)  # the same input gives the same bytes, whenever that is
    return h5g.create(parent, name, gcpl=plan)
