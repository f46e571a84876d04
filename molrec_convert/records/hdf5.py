"""A record in HDF5: the tree of groups, arrays and attributes over h5py.

Chunks are encoded and decoded here, not by the filters of the HDF5 library, and written and read as they stand: the
same file, several times as fast. Decisions that keep a killed writer's file whole: the v110 file format, whole
chunks, hidden objects that get their name when their data is on disk, and last chunks that are rewritten in place.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
from h5py import h5d, h5g, h5o, h5p, h5s, h5t, h5z

from ..errors import RecordError
from ..model.dtypes import DTYPES, STRING, Array
from .chunks import LEVEL, deflated, gathered, inflated, shuffled, unshuffled
from .hdf5_attributes import HDF5_CLASS, Hdf5Attributes, NotedAttributes
from .layout import joined
from .superblock import is_marked_open
from .text import has_inner_nul, is_wasteful, octets_of, text_of
from .tree import GrowingArray, Node

MARKER, VERSION = "molrec_hdf5", 1
H5PY_ERRORS = (OSError, KeyError, RuntimeError, TypeError, ValueError)
CONTIGUOUS = 512 << 10
SECTION_CHUNK = 1 << 20
PLAIN = 0b11
"""The filter mask of a chunk that passed neither the shuffle nor the deflate filter."""

_NAMES = {dtype: name for name, dtype in DTYPES.items() if name != "string"}


class Hdf5Store:
    """An HDF5 file that holds one record."""

    own_attributes = frozenset((MARKER,))

    def __init__(self, file: h5py.File, path: str) -> None:
        self._file = file
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
                f"the file was not closed: its writer was killed, or still runs; `molrec-convert repair {path}` mends it",
                path=path,
            )
        libver = ("v110", "v110") if writable else None
        store = cls._opened(path, "r+" if writable else "r", libver=libver)
        try:
            if MARKER not in store.root.attributes or store.root.attributes.scalar(MARKER, "i64") != VERSION:
                raise RecordError(f"the attribute {MARKER} = {VERSION} is due: no record", path=path, place="/")
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

    def flush(self) -> None:
        """Hand everything to the operating system."""
        try:
            self._file.flush()
        except (OSError, RuntimeError) as error:
            raise RecordError(f"writing failed ({error})", path=self.path) from None

    def close(self) -> None:
        """Close the file."""
        try:
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
        )
    if error.errno in (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EROFS, errno.ENOSPC):
        return type(error)(error.errno, os.strerror(error.errno), str(path))
    return RecordError(f"not a readable HDF5 file ({text})", path=path)


class _Hdf5Node:
    """What groups and arrays share."""

    def __init__(self, node: Any, store: Hdf5Store, place: str) -> None:
        self.node = node
        self.store = store
        self._place = place

    @property
    def place(self) -> str:
        """The path from the root."""
        return self._place

    @property
    def attributes(self) -> Hdf5Attributes:
        """The attributes."""
        return Hdf5Attributes(self.node, self)

    def error(self, message: str, name: str | None = None) -> RecordError:
        """An error at this place, or at that of a child."""
        place = self._place if name is None else joined(self._place, name)
        return RecordError(message, path=self.store.path, place=place)

    def attempt(self, action: Callable[[], Any], name: str | None = None) -> Any:
        """Do something with h5py, and say where it failed."""
        try:
            return action()
        except RecordError:
            raise
        except UnicodeDecodeError:
            raise self.error("a string that is not UTF-8", name) from None
        except H5PY_ERRORS as error:
            raise self.error(f"damaged, or of a foreign type ({error})", name) from None


class Hdf5Group(_Hdf5Node):
    """An HDF5 group."""

    def names(self) -> list[str]:
        """The names of the children."""
        names: list[str] = self.attempt(lambda: list(self.node))
        return names

    def child(self, name: str) -> Hdf5Group | Hdf5Array | None:
        """A child; links that lead out of the file or nowhere are refused."""
        if name not in self.node:
            link = self.attempt(lambda: self.node.get(name, getlink=True, default=None))
            if link is not None:
                raise self.error("a link that leads nowhere", name)
            return None
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
            return HiddenGroup(self.node, self.store, joined(self._place, name))
        plan = h5p.create(h5p.GROUP_CREATE)
        plan.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
        plan.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
        made = h5g.create(self.node.id, name.encode(), gcpl=plan)
        return Hdf5Group(h5py.Group(made), self.store, joined(self._place, name))

    def create_array(self, name: str, values: Array, *, quantized: bool = False) -> Hdf5Array:
        """Write an array: in one piece if it is small, else in chunks, compressed if that is worth it."""
        kind, data = _stored_form(values)
        chunk = _section_chunk(data)
        compressed = chunk is not None and _is_compressed(data.dtype, quantized)
        plan = _creation_plan(None if chunk is None else (chunk, *data.shape[1:]), compressed)
        made = h5d.create(self.node.id, None, kind, h5s.create_simple(data.shape), plan)
        array = Hdf5Array(h5py.Dataset(made), self.store, joined(self._place, name))
        self.publish(name, array)
        if data.dtype == STRING:
            _write_slab(array.node, 0, data)
        elif chunk is None and data.size:
            made.write(h5s.ALL, h5s.ALL, data, mtype=kind)
        if chunk is None or data.dtype == STRING:
            return array
        for first in range(0, len(data), chunk):
            piece = data[first : first + chunk]
            made.write_direct_chunk((first,) + (0,) * (data.ndim - 1), *_encoded([piece], chunk, compressed))
        return array

    def create_growing(
        self, name: str, dtype: str, trailing: tuple[int, ...], chunk_rows: int, *, quantized: bool = False
    ) -> Hdf5Growing:
        """Make a hidden array without rows."""
        compressed = dtype != "string" and _is_compressed(DTYPES[dtype], quantized)
        plan = _creation_plan((chunk_rows, *(max(n, 1) for n in trailing)), compressed)
        space = h5s.create_simple((0, *trailing), (h5s.UNLIMITED, *trailing))
        made = h5d.create(self.node.id, None, _hdf5_type(dtype), space, plan)
        return Hdf5Growing(h5py.Dataset(made), self.store, joined(self._place, name))

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
        """Link a hidden child."""
        assert isinstance(node, _Hdf5Node)
        self.delete(name)
        if isinstance(node, HiddenGroup):
            node.appear(self.create_group(name))
            return
        h5o.link(node.node.id, self.node.id, name.encode())

    def delete(self, name: str) -> None:
        """Unlink a child."""
        if name in self.node:
            del self.node[name]

    def adopt(self, name: str, source: Node) -> None:
        """Copy a child: within HDF5 as it is, from elsewhere by its values."""
        if isinstance(source, _Hdf5Node):
            source.node.file.copy(source.node, self.node, name)
            return
        copy_foreign(self, name, source)


class HiddenGroup(Hdf5Group):
    """A group that is made when it gets its name; until then its attributes and children are only noted.

    HDF5 has anonymous groups. In its version 2.0 a file of the v110 format that had one is cut short when it is
    closed, while anonymous datasets do no harm (found by trial).
    """

    def __init__(self, node: Any, store: Hdf5Store, place: str) -> None:
        super().__init__(node, store, place)
        self._noted: NotedAttributes | None = NotedAttributes()
        self._children: dict[str, Node] = {}

    @property
    def attributes(self) -> Any:
        """The attributes, noted or real."""
        return super().attributes if self._noted is None else self._noted

    def publish(self, name: str, node: Node) -> None:
        """Note or link a child."""
        if self._noted is None:
            super().publish(name, node)
        else:
            self._children[name] = node

    def child(self, name: str) -> Any:
        """A child, noted or real."""
        return super().child(name) if self._noted is None else self._children.get(name)

    def names(self) -> list[str]:
        """The names of the children."""
        return super().names() if self._noted is None else list(self._children)

    def create_group(self, name: str, *, hidden: bool = False) -> Hdf5Group:
        """Make a group, hidden as this one is."""
        if self._noted is None:
            return super().create_group(name, hidden=hidden)
        made = HiddenGroup(self.node, self.store, joined(self._place, name))
        if not hidden:
            self._children[name] = made
        return made

    def appear(self, real: Hdf5Group) -> None:
        """Become a real group, with all that was noted."""
        noted, self._noted = self._noted, None
        self.node = real.node
        if noted is not None:
            noted.replay(real.attributes)
        for name, child in self._children.items():
            super().publish(name, child)
        self._children.clear()


def copy_foreign(group: Hdf5Group, name: str, source: Any) -> None:
    """Copy a group or an array of another binding, by its values."""
    if hasattr(source, "create_group"):
        made: Any = group.create_group(name)
        for child in source.names():
            copy_foreign(made, child, source.child(child))
    else:
        made = group.create_array(name, source.read(0, source.shape[0]))
    for attribute in source.attributes.names():
        made.attributes.adopt(attribute, source.attributes)


class Hdf5Array(_Hdf5Node):
    """An HDF5 dataset."""

    def __init__(self, node: h5py.Dataset, store: Hdf5Store, place: str) -> None:
        super().__init__(node, store, place)
        self._id = node.id
        self._dtype: str | None = None
        self._direct: _DirectChunks | None = None
        self._shape: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of every axis; an empty tuple for a single value."""
        if self._shape is None:
            self._shape = self.attempt(lambda: self._id.shape) or ()
        return self._shape

    @property
    def dtype(self) -> str:
        """The MolRec name of the element type."""
        if self._dtype is None:
            self._dtype = self._found_dtype()
            if self._dtype != "string" and self.node.chunks is not None:
                self._direct = _DirectChunks.of(self)
        return self._dtype

    def read(self, first: int, end: int) -> Array:
        """Rows `first` to `end` as a new array."""
        dtype = self.dtype
        if dtype == "string":
            return self._read_text(first, end)
        if self._direct is not None:
            rows = self._direct.read(first, end)
            if rows is not None:
                return rows
        return self._read_slab(first, end)

    def _read_slab(self, first: int, end: int) -> Array:
        out = np.empty((max(end - first, 0), *self.shape[1:]), DTYPES[self.dtype])
        if not out.size:
            return out
        try:
            space = h5s.create_simple(self.shape)
            space.select_hyperslab((first,) + (0,) * (out.ndim - 1), out.shape)
            self._id.read(h5s.create_simple(out.shape), space, out)
        except H5PY_ERRORS as error:
            raise self.error(f"damaged ({error})") from None
        return out

    def _read_text(self, first: int, end: int) -> Array:
        if first >= end:
            return np.empty((0, *self.shape[1:]), STRING)
        fixed = h5py.check_string_dtype(self.node.dtype).length is not None
        if fixed:
            octets = self.attempt(lambda: np.asarray(self.node[first:end]))
            if has_inner_nul(octets):
                raise self.error("a string with a NUL")
            values: Array = self.attempt(lambda: text_of(octets))
            return values
        values = self.attempt(lambda: np.asarray(self.node.astype("T")[first:end]))
        return values

    def _found_dtype(self) -> str:
        dtype, form = self.attempt(lambda: (self.node.dtype, self._id.get_type().get_class()))
        string = h5py.check_string_dtype(dtype)
        if string is not None:
            if string.encoding != "utf-8":
                raise self.error("strings are UTF-8, found ASCII")
            return "string"
        name = _NAMES.get(dtype)
        if name is None or form != HDF5_CLASS[dtype.kind]:
            hint = ": floats are f64, a narrower one is never widened" if dtype.kind == "f" else ""
            raise self.error(f"{dtype} is not a MolRec dtype{hint}")
        return name


class Hdf5Growing(Hdf5Array):
    """A chunked HDF5 dataset to which rows are added."""

    def __init__(self, node: h5py.Dataset, store: Hdf5Store, place: str) -> None:
        super().__init__(node, store, place)
        self._rows = int(self._id.shape[0])
        self._rest: tuple[int, ...] = tuple(self._id.shape[1:])
        self.chunk_rows = int(node.chunks[0]) if node.chunks else 0
        plan = self._id.get_create_plist()
        self._filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
        self._is_text = h5py.check_string_dtype(node.dtype) is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of every axis, now."""
        return (self._rows, *self._rest)

    @property
    def is_compressed(self) -> bool:
        """Whether its chunks are shuffled and deflated."""
        return bool(self._filters)

    @property
    def has_own_filters(self) -> bool:
        """Whether its filters are those of this package, and its chunks whole rows."""
        return self._filters in ([], [h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE]) and (
            tuple(self.node.chunks[1:]) == tuple(max(n, 1) for n in self._rest)
        )

    def encode(self, pieces: Sequence[Array], rows: int, *, plain: bool) -> Any:
        """Make a chunk of `rows` rows, filled up with zeros; text stays as it is."""
        if self._is_text:
            return gathered(pieces, rows)
        return _encoded(pieces, self.chunk_rows, self.is_compressed and not plain, skipped=self.is_compressed and plain)

    def write(self, first: int, rows: int, payload: Any) -> None:
        """Write a chunk that begins at row `first`."""
        try:
            if first + rows > self._rows:
                self._rows = first + rows
                self._id.set_extent((self._rows, *self._rest))
            if self._is_text:
                _write_slab(self.node, first, payload)
            elif 0 not in self._rest:
                self._id.write_direct_chunk((first,) + (0,) * len(self._rest), *payload)
        except H5PY_ERRORS as error:
            raise self.error(f"writing failed ({error})") from None

    def settle(self, rows: int) -> bool:
        """Cut to `rows`. The last chunk, if partly filled, is made plain first: cutting would rewrite it elsewhere."""
        first = rows - rows % self.chunk_rows
        plain = rows > first and self.is_compressed and 0 not in self._rest
        tail = self.encode([self.read(first, rows)], self.chunk_rows, plain=True) if plain else None
        if tail is not None and self._id.get_chunk_info_by_coord((first,) + (0,) * len(self._rest)).filter_mask == 0:
            self._id.write_direct_chunk((first,) + (0,) * len(self._rest), *tail)
            self.store.flush()
        if rows < self._rows:
            self._rows = rows
            self._id.set_extent((rows, *self._rest))
            if tail is not None:  # drops what the library would write in its place
                self._id.write_direct_chunk((first,) + (0,) * len(self._rest), *tail)
            self.store.flush()
        return tail is not None


class _DirectChunks:
    """Reads chunks as they stand, and keeps the last one decoded."""

    def __init__(self, array: Hdf5Array, chunk_rows: int, shuffles: bool, deflates: bool) -> None:
        self._id = array.node.id
        self._array = array
        self._rows = chunk_rows
        self._shuffles, self._deflates = shuffles, deflates
        self._dtype = DTYPES[array.dtype]
        self._rest: tuple[int, ...] = array.shape[1:]
        self._zeros = (0,) * len(self._rest)
        self._size = chunk_rows * int(np.prod(self._rest, dtype=np.int64)) * self._dtype.itemsize
        self._last: tuple[int, Array] | None = None

    @classmethod
    def of(cls, array: Hdf5Array) -> _DirectChunks | None:
        """A reader, or None for an array whose chunks only the library can read."""
        chunks, shape = array.node.chunks, array.shape
        plan = array.node.id.get_create_plist()
        filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
        known = ([], [h5z.FILTER_SHUFFLE], [h5z.FILTER_DEFLATE], [h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE])
        if tuple(chunks[1:]) != shape[1:] or filters not in known:
            return None
        return cls(array, int(chunks[0]), h5z.FILTER_SHUFFLE in filters, h5z.FILTER_DEFLATE in filters)

    def read(self, first: int, end: int) -> Array | None:
        """Rows as a new array; None if a chunk is not there."""
        index, start = divmod(first, self._rows)
        if first < end <= (index + 1) * self._rows:  # within one chunk
            whole = end - first == self._rows
            chunk = self._chunk(index, keep=not whole)
            if chunk is None or (whole and chunk.flags.writeable):
                return chunk
            return chunk[start : start + end - first].copy()
        out = np.empty((max(end - first, 0), *self._rest), self._dtype)
        done = first
        while done < end:
            index, start = divmod(done, self._rows)
            stop = min(end, (index + 1) * self._rows)
            chunk = self._chunk(index, keep=stop == end)
            if chunk is None:
                return None
            out[done - first : stop - first] = chunk[start : start + stop - done]
            done = stop
        return out

    def _chunk(self, index: int, *, keep: bool) -> Array | None:
        last = self._last
        if last is not None and last[0] == index:
            return last[1].view() if keep else last[1].copy()
        try:
            if not (self._shuffles or self._deflates):
                data = np.empty((self._rows, *self._rest), self._dtype)
                stream = memoryview(data).cast("B")
                read = self._id.read_direct_chunk((index * self._rows, *self._zeros), out=stream)[1]
                return None if len(read) != self._size else self._kept(index, data, keep=keep)
            mask, stream = self._id.read_direct_chunk((index * self._rows, *self._zeros))
        except (OSError, ValueError, RuntimeError):
            return None
        try:
            data = self._decoded(mask, stream)
        except ValueError as error:
            raise self._array.error(str(error)) from None
        return self._kept(index, data, keep=keep)

    def _kept(self, index: int, data: Array, *, keep: bool) -> Array:
        if keep:
            self._last = (index, data)
        return data

    def _decoded(self, mask: int, stream: bytes) -> Array:
        data = np.frombuffer(stream, np.uint8)
        deflates = self._deflates and not mask >> int(self._shuffles) & 1
        if deflates:
            data = inflated(stream, self._size)
        elif len(data) != self._size:
            raise ValueError(f"a chunk of {len(data)} bytes, {self._size} are due")
        if self._shuffles and not mask & 1:
            data = unshuffled(data, self._dtype.itemsize)
        return data.view(self._dtype).reshape(self._rows, *self._rest)


# ---------------------------------------------------------------- forms of arrays
def _hdf5_type(dtype: str) -> h5t.TypeID:
    if dtype == "string":
        return h5t.py_create(h5py.string_dtype(), logical=True)
    return h5t.py_create(DTYPES[dtype], logical=True)


def _stored_form(values: Array) -> tuple[h5t.TypeID, Array]:
    """The HDF5 type of an array of a section, and its data: text is of fixed width, unless that is a waste."""
    if values.dtype != STRING:
        return h5t.py_create(values.dtype, logical=True), np.ascontiguousarray(values)
    if is_wasteful(values):
        return _hdf5_type("string"), values
    octets = octets_of(values)
    return h5t.py_create(h5py.string_dtype("utf-8", octets.dtype.itemsize), logical=True), octets


def _section_chunk(data: Array) -> int | None:
    """Rows in a chunk of an array that is written at once; None for one piece."""
    if data.ndim == 0 or data.nbytes <= CONTIGUOUS or not data.size:
        return None
    return min(len(data), max(1, SECTION_CHUNK // max(1, data.nbytes // len(data))))


def _is_compressed(dtype: np.dtype[Any], quantized: bool) -> bool:
    return dtype.kind in "iubS" or quantized


def _creation_plan(chunk: tuple[int, ...] | None, compressed: bool) -> h5p.PropDCID:
    plan = h5p.create(h5p.DATASET_CREATE)
    plan.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    plan.set_obj_track_times(False)
    if chunk is not None:
        plan.set_chunk(chunk)
        plan.set_fill_time(h5d.FILL_TIME_IFSET)
        if compressed:
            plan.set_shuffle()
            plan.set_deflate(LEVEL)
    return plan


def _encoded(pieces: Sequence[Array], rows: int, compressed: bool, *, skipped: bool = False) -> tuple[Any, int]:
    """A chunk and its filter mask."""
    data = gathered(pieces, rows)
    if compressed:
        return deflated(shuffled(data, data.dtype.itemsize)), 0
    return data, PLAIN if skipped else 0


def _write_slab(dataset: h5py.Dataset, first: int, data: Array) -> None:
    dataset[first : first + len(data)] = data


_: type[GrowingArray] = Hdf5Growing
