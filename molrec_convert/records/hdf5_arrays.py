"""Arrays of an HDF5 file: how they are read, how they grow, and which types, chunks and filters they get."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import h5py  # noqa: TID253 - imported by the HDF5 tree alone
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z  # noqa: TID253

from molrec_convert.model.dtypes import DTYPES, STRING, Array
from molrec_convert.rules import rule

from .chunks import LEVEL, gathered
from .hdf5_attributes import HDF5_CLASS
from .hdf5_chunks import DirectChunks, encoded, stored_uncompressed
from .hdf5_node import H5PY_ERRORS, Hdf5Node
from .memory import affordable
from .text import checked_text_array, has_inner_nul, is_wasteful, octets_of, text_of

if TYPE_CHECKING:
    from .hdf5 import Hdf5Store

CONTIGUOUS = 512 << 10
MANY_ROWS = 1 << 20
"""So many rows are looked at before memory is asked for: a file may claim any number."""
SECTION_CHUNK = 1 << 20

_NAMES = {dtype: name for name, dtype in DTYPES.items() if name != "string"}


class Hdf5Array(Hdf5Node):
    """An HDF5 dataset."""

    def __init__(self, node: h5py.Dataset, store: Hdf5Store, place: str) -> None:
        super().__init__(node, store, place)
        self._id = node.id
        self._dtype: str | None = None
        self._direct: DirectChunks | None = None
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
                self._direct = DirectChunks.of(self)
        return self._dtype

    @property
    def stored_bytes(self) -> int | None:
        """The bytes of the chunks, or of the one piece; None for text of any length, which lies elsewhere."""
        string = h5py.check_string_dtype(self.attempt(lambda: self.node.dtype))
        if string is not None and string.length is None:
            return None
        size: int = self.attempt(lambda: self._id.get_storage_size())
        return size

    @rule(39)
    def read(self, first: int, end: int) -> Array:
        """Rows `first` to `end` as a new array."""
        dtype = self.dtype
        if end - first > MANY_ROWS:
            size = (end - first) * math.prod(self.shape[1:]) * DTYPES[dtype].itemsize
            try:
                affordable(size)
            except ValueError as error:
                raise self.error(str(error)) from None
        if dtype == "string":
            return self._read_text(first, end)
        if self._direct is not None:
            rows = self._direct.read(first, end)
            if rows is not None:
                return rows
        return self._read_slab(first, end)

    def whole(self) -> Array:
        """All values; text of variable length as `StringDType`, every other type as h5py has it."""
        string = h5py.check_string_dtype(self.attempt(lambda: self.node.dtype))
        if string is not None and string.encoding == "utf-8" and self.shape:
            return self._read_text(0, self.shape[0])
        values = np.asarray(self.attempt(lambda: self.node[()]))
        if string is None or (string.encoding != "utf-8" and string.length is not None):
            return values
        text: Array = self.attempt(lambda: np.vectorize(bytes.decode, [object])(values).astype(STRING))
        return text

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
                with rule(37):
                    raise self.error("a string with a NUL")
            values: Array = self.attempt(lambda: text_of(octets))
            return values
        values = self.attempt(lambda: np.asarray(self.text_node.astype("T")[first:end]))
        self.attempt(lambda: checked_text_array(values))
        return values

    def _found_dtype(self) -> str:
        dtype, form = self.attempt(lambda: (self.node.dtype, self._id.get_type().get_class()))
        plan = self.attempt(self._id.get_create_plist)
        if plan.get_layout() == h5d.VIRTUAL or plan.get_external_count():
            with rule(38):
                raise self.error("an array whose values stand in another file: one file is one record")
        string = h5py.check_string_dtype(dtype)
        if string is not None:
            if string.encoding != "utf-8":
                with rule(10):
                    raise self.error("strings are UTF-8, found ASCII")
            return "string"
        name = _NAMES.get(dtype)
        if name is None or form != HDF5_CLASS[dtype.kind]:
            hint = ": floats are f64, a narrower one is never widened" if dtype.kind == "f" else ""
            with rule(2 if dtype.kind == "f" else 1):
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
    def takes_parts(self) -> bool:
        """Text is written piece by piece: what is written anew would leave its old text behind."""
        return self._is_text

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
        return encoded(pieces, self.chunk_rows, self.is_compressed and not plain, skipped=self.is_compressed and plain)

    def write(self, first: int, rows: int, payload: Any) -> None:
        """Write a chunk that begins at row `first`."""
        try:
            if first + rows > self._rows:
                self._rows = first + rows
                self._id.set_extent((self._rows, *self._rest))
            if self._is_text:
                write_slab(self.node, first, payload)
            elif 0 not in self._rest:
                self._id.write_direct_chunk((first,) + (0,) * len(self._rest), *payload)
        except H5PY_ERRORS as error:
            raise self.error(f"writing failed ({error})") from None

    def make_plain(self, rows: int) -> bool:
        """Rewrite the last chunk plain, elsewhere in the file: with the stage made, nothing behind it is free."""
        first = rows - rows % self.chunk_rows
        if not self.has_plain_tail(rows) or self._chunk_info(first).filter_mask:
            return False
        tail = self._plain_chunk(first)
        assert self.store.stage is not None
        self._replace_chunk(first, tail)
        self.store.flush()
        return True

    def settle(self, rows: int) -> bool:
        """Cut to `rows`; the last chunk is written once more, in place of what the library would make of it."""
        first = rows - rows % self.chunk_rows
        forgot = self._is_text and rows > first and self._forget_text(first, rows - first)
        if rows == self._rows:
            return forgot
        tail = self._plain_chunk(first) if self.has_plain_tail(rows) else None
        self._rows = rows
        self._id.set_extent((rows, *self._rest))
        if tail is not None:
            self._replace_chunk(first, tail)
        self.store.flush()
        return True

    def _replace_chunk(self, first: int, tail: tuple[Array, int]) -> None:
        """Write a plain chunk over one that is perhaps compressed.

        Where both are of one size the library leaves the old filter mask in its index, so that the chunk could not be
        read: a larger form of the same rows goes between.
        """
        place = (first,) + (0,) * len(self._rest)
        self._id.write_direct_chunk(place, *stored_uncompressed(tail[0]))
        self._id.write_direct_chunk(place, *tail)

    def has_plain_tail(self, rows: int) -> bool:
        """Whether the chunk in which `rows` end has filters that it did not pass, if the array can grow again."""
        return self.is_compressed and rows % self.chunk_rows > 0 and 0 not in self._rest

    def _plain_chunk(self, first: int) -> Any:
        """The chunk with all rows that it has: until the cut is on disk, an index ends with the rows behind it."""
        return self.encode([self.read(first, min(first + self.chunk_rows, self._rows))], self.chunk_rows, plain=True)

    def _chunk_info(self, first: int) -> Any:
        return self._id.get_chunk_info_by_coord((first,) + (0,) * len(self._rest))

    def _forget_text(self, first: int, rows: int) -> bool:
        """Clear the references of a chunk after its first rows.

        A killed writer may have left some to text that never reached the file, and the library would follow them when
        they are overwritten.
        """
        try:
            stream = bytearray(self._id.read_direct_chunk((first,) + (0,) * len(self._rest))[1])
        except (OSError, ValueError, RuntimeError):
            return False
        end = len(stream) // self.chunk_rows * rows
        if not any(stream[end:]):
            return False
        stream[end:] = bytes(len(stream) - end)
        self._id.write_direct_chunk((first,) + (0,) * len(self._rest), bytes(stream))
        self.store.flush()
        return True


# ---------------------------------------------------------------- forms of arrays
def hdf5_type(dtype: str) -> h5t.TypeID:
    """The HDF5 type of a MolRec type; text is of variable length."""
    if dtype == "string":
        return h5t.py_create(h5py.string_dtype(), logical=True)
    return h5t.py_create(DTYPES[dtype], logical=True)


def stored_form(values: Array) -> tuple[h5t.TypeID, Array]:
    """The HDF5 type of an array of a section, and its data: text is of fixed width, unless that is a waste."""
    if values.dtype != STRING:
        return h5t.py_create(values.dtype, logical=True), np.ascontiguousarray(values).reshape(values.shape)
    if is_wasteful(values):
        return hdf5_type("string"), values
    octets = octets_of(values)
    return h5t.py_create(h5py.string_dtype("utf-8", octets.dtype.itemsize), logical=True), octets


def section_chunk(data: Array) -> int | None:
    """Rows in a chunk of an array that is written at once; None for one piece."""
    if data.ndim == 0 or data.nbytes <= CONTIGUOUS or not data.size:
        return None
    return min(len(data), max(1, SECTION_CHUNK // max(1, data.nbytes // len(data))))


def is_compressed(dtype: np.dtype[Any], *, quantized: bool) -> bool:
    """Whether an array of this type is worth compressing: integers, flags, text, and reals of a declared precision."""
    return dtype.kind in "iubS" or quantized


def creation_plan(chunk: tuple[int, ...] | None, *, compressed: bool) -> h5p.PropDCID:
    """How an array is laid out: in one piece, or in chunks that may be compressed."""
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


def write_slab(dataset: h5py.Dataset, first: int, data: Array) -> None:
    """Write rows by way of the library."""
    dataset[first : first + len(data)] = data
