"""Arrays of a Zarr tree: how they are read, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from molrec_convert.model.dtypes import Array
from molrec_convert.rules import rule

from .chunks import gathered
from .zarr_chunks import ChunkReader
from .zarr_codecs import Blosc, Octets
from .zarr_files import below
from .zarr_metadata import DATA_TYPES, ArrayLayout, parsed_array, parsed_shape, type_name
from .zarr_node import ZarrNode
from .zarr_pipeline import Numbers, Pipeline, Shards, Text, is_zero
from .zarr_shards import ShardFile

if TYPE_CHECKING:
    from .zarr_store import ZarrStore


TEXT_TYPES = ("fixed_length", "null_terminated", "variable_length")
"""How the names of types begin that are other forms of text."""


class ZarrArray(ZarrNode):
    """An array."""

    @cached_property
    @rule(38)
    def shape(self) -> tuple[int, ...]:
        """The extent of every axis."""
        return self.attempt(lambda: parsed_shape(self.document))

    @cached_property
    def dtype(self) -> str:
        """The MolRec name of the element type."""
        name = type_name(self.document)
        if name not in DATA_TYPES:
            is_float, is_text = name.startswith("float"), name.startswith(TEXT_TYPES)
            hint = ": floats are f64, a narrower one is never widened" if is_float else ""
            with rule(2 if is_float else 10 if is_text else 1):
                raise self.error(f"{name} is not a MolRec dtype{hint}")
        return DATA_TYPES[name]

    @cached_property
    @rule(38)
    def layout(self) -> ArrayLayout:
        """What the metadata say of the chunks."""
        return self.attempt(lambda: parsed_array(self.document))

    @cached_property
    def _reader(self) -> ChunkReader:
        return ChunkReader(self.store.files, self.key, self.layout)

    @property
    def stored_bytes(self) -> int | None:
        """The bytes of its files, without the metadata."""
        return self.attempt(lambda: self.store.files.size(self.key))

    @rule(39)
    def read(self, first: int, end: int) -> Array:
        """Rows `first` to `end` as a new array."""
        assert self.dtype
        return self.attempt(lambda: self._reader.read(first, end))

    def whole(self) -> Array:
        """All values, of whatever type."""
        if type_name(self.document) in DATA_TYPES:
            return self.attempt(lambda: self._reader.whole())
        from .zarr_foreign import read_foreign  # zarr is heavy

        return self.attempt(lambda: read_foreign(self.store.files, self.key))


class ZarrGrowing(ZarrArray):
    """An array in shards to which rows are added; its chunks are whole rows.

    A chunk that is not full is written, and written anew elsewhere in its shard when it has more rows. The index of a
    shard fits a page of the file and is written at once, so that a writer that is killed leaves the old or the new.
    """

    takes_parts = False

    def __init__(self, store: ZarrStore, parent: ZarrNode, name: str, document: dict[str, Any]) -> None:
        super().__init__(store, parent, name, document)
        layout = self.layout
        serializer = layout.pipeline.serializer
        if not isinstance(serializer, Shards) or not _is_own(layout, serializer):
            raise self.error("an array that cannot grow: its chunks are not in shards as a record has them")
        self._chunks: Pipeline = serializer.inner
        self._sharding = serializer
        self._rows, self._rest = layout.shape[0], layout.shape[1:]
        self.chunk_rows = self._chunks.shape[0]
        self._slots = layout.chunk[0] // self.chunk_rows
        self._shard: tuple[int, ShardFile] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of every axis, now."""
        return (self._rows, *self._rest)

    @property
    def is_compressed(self) -> bool:
        """Whether its chunks are compressed."""
        return not self._chunks.is_plain

    def read(self, first: int, end: int) -> Array:
        """Rows as they were when the array was opened."""
        return self.attempt(lambda: ChunkReader(self.store.files, self.key, self.layout).read(first, end))

    def encode(self, pieces: Sequence[Array], rows: int, *, plain: bool) -> Octets | None:
        """Make a chunk, filled up with the fill value; None where it holds nothing else."""
        del rows, plain
        return None if 0 in self._rest else self._chunks.encode(gathered(pieces, self.chunk_rows))

    def write(self, first: int, rows: int, payload: Any) -> None:
        """Write a chunk that begins at row `first`."""
        self.attempt(lambda: self._write(first // self.chunk_rows, payload))
        if first + rows > self._rows:
            self._rows = first + rows
            self.change(lambda document: document.__setitem__("shape", [self._rows, *self._rest]))

    def _write(self, chunk: int, payload: Octets | None) -> None:
        number, slot = divmod(chunk, self._slots)
        if payload is None and not self._has_shard(number):
            return
        self._opened(number).put(slot, payload)

    def _has_shard(self, number: int) -> bool:
        if self._shard is not None and self._shard[0] == number:
            return True
        return self.store.writer.exists(self._shard_key(number))

    def _shard_key(self, number: int) -> str:
        return below(self.key, self.layout.key((number,) + (0,) * len(self._rest)))

    def _opened(self, number: int) -> ShardFile:
        if self._shard is None or self._shard[0] != number:
            self.release()
            path = self.store.writer.prepared(self._shard_key(number))
            self._shard = (number, ShardFile(path, self._sharding, self.layout.chunk))
        self.store.hold(self)
        return self._shard[1]

    def save(self) -> None:
        """Write the index of the shard that is open."""
        if self._shard is not None:
            self.attempt(partial(self._shard[1].save, sync=self.store.is_synced))

    def release(self) -> None:
        """Close the shard that is open."""
        if self._shard is not None:
            self.save()
            self._shard[1].close()
            self._shard = None

    def make_plain(self, rows: int) -> bool:
        """Nothing: every chunk can be written anew."""
        del rows
        return False

    def settle(self, rows: int) -> bool:
        """Cut to `rows`: chunks behind them are taken out, so that none shows when the array grows."""
        used = -(-rows // self.chunk_rows)
        shards = -(-used // self._slots)
        self.attempt(lambda: self._drop_shards(shards))
        if shards and self._has_shard(shards - 1):
            self.attempt(lambda: self._opened(shards - 1).cut(used - (shards - 1) * self._slots))
        if rows == self._rows:
            return False
        self._rows = rows
        self.change(lambda document: document.__setitem__("shape", [rows, *self._rest]))
        return True

    def _drop_shards(self, number: int) -> None:
        """Remove the shards from a number on."""
        folder = below(self.key, self.layout.prefix)
        for name in self.store.writer.names(folder):
            if name.isdecimal() and int(name) >= number:
                self.store.writer.remove(below(folder, name))

    def has_plain_tail(self, rows: int) -> bool:
        """No: the last chunk is compressed as all others."""
        del rows
        return False


def _is_own(layout: ArrayLayout, shards: Shards) -> bool:
    """Whether this package can write chunks of this array."""
    pipeline = shards.inner
    whole = tuple(max(1, n) for n in layout.shape[1:])
    return (
        layout.pipeline.order is None
        and not layout.pipeline.filters
        and shards.at_start
        and shards.has_checksum
        and layout.prefix == "c"
        and layout.separator == "/"
        and layout.chunk[1:] == whole == pipeline.shape[1:]
        and pipeline.order is None
        and isinstance(pipeline.serializer, Numbers | Text)
        and not any(isinstance(codec, Blosc) for codec in pipeline.filters)
        and is_zero(pipeline.fill, pipeline.dtype)
    )
