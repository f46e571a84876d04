"""How a chunk of a Zarr array becomes bytes and an array again: the list ``codecs`` of its metadata.

First come transpositions, then what makes bytes of the array (its numbers, its text, or a shard of smaller chunks with
an index), then codecs from bytes to bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import STRING, Array

from .zarr_codecs import BYTE_CODECS, ByteCodec, Crc32c, Octets
from .zarr_text import decoded_text, encoded_text

Shape = tuple[int, ...]
Endian = Literal["<", ">"]
ABSENT = np.uint64(2**64 - 1)
"""Place and size of a chunk that a shard does not hold."""
SLACK = 64 << 10
"""Bytes by which a codec may lengthen a chunk."""
DEEPEST = 4
"""How often a shard may lie within a shard."""
GZIP_RATIO = 1100
"""DEFLATE shortens nothing by more than this."""


class Serializer(Protocol):
    """What makes bytes of an array."""

    def encode(self, values: Array) -> Octets:
        """Encode a chunk in C order."""

    def decode(self, octets: Octets, shape: Shape) -> Array:
        """Decode a chunk of this shape."""

    def limit(self, octets: Octets, shape: Shape) -> int:
        """How many bytes these bytes can stand for, if they are of a chunk of this shape."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The codec ``bytes``: the numbers one after another."""

    stored: np.dtype[Any]
    """In the byte order of the store."""

    def encode(self, values: Array) -> Octets:
        """The bytes of the numbers."""
        return np.ascontiguousarray(values.astype(self.stored, copy=False)).reshape(-1).view(np.uint8)

    def decode(self, octets: Octets, shape: Shape) -> Array:
        """The numbers; a view where the byte order is the machine's."""
        due = math.prod(shape) * self.stored.itemsize
        if len(octets) != due:
            raise ValueError(f"a chunk of {len(octets)} bytes, {due} are due")
        data = np.frombuffer(octets, np.uint8) if isinstance(octets, bytes) else octets
        if self.stored.kind == "b" and due and int(data.max()) > 1:
            raise ValueError("a bool that is neither 0 nor 1")
        values: Array = data.view(self.stored).reshape(shape)
        return values if self.stored.isnative else values.astype(self.stored.newbyteorder("="))

    def limit(self, octets: Octets, shape: Shape) -> int:
        """Some more than the chunk itself."""
        return 2 * math.prod(shape) * self.stored.itemsize + SLACK


@dataclass(frozen=True, slots=True)
class Text:
    """The codec ``vlen-utf8``."""

    def encode(self, values: Array) -> Octets:
        """Each string after its length."""
        return encoded_text(values)

    def decode(self, octets: Octets, shape: Shape) -> Array:
        """The strings."""
        return decoded_text(bytes(octets), math.prod(shape)).reshape(shape)

    def limit(self, octets: Octets, shape: Shape) -> int:
        """What DEFLATE can make of them, or some 64 bytes for each string."""
        return max(GZIP_RATIO * len(octets), 64 * math.prod(shape)) + SLACK


@dataclass(frozen=True, slots=True)
class Shards:
    """The codec ``sharding_indexed``: smaller chunks, and an index of their places at the start or the end."""

    inner: Pipeline
    at_start: bool
    has_checksum: bool
    endian: Endian

    def parts(self, shape: Shape) -> Shape:
        """How many inner chunks a shard of this shape has along each axis."""
        return tuple(n // each for n, each in zip(shape, self.inner.shape, strict=True))

    def index_size(self, shape: Shape) -> int:
        """The bytes of the index."""
        return 16 * math.prod(self.parts(shape)) + Crc32c.SIZE * self.has_checksum

    def index(self, octets: Octets, shape: Shape) -> Array:
        """Place and size of every inner chunk, u64[n][2]."""
        if len(octets) != self.index_size(shape):
            raise ValueError("a shard that is shorter than its index")
        if self.has_checksum:
            octets = Crc32c().decode(octets, 0)
        data = np.frombuffer(octets, np.uint8) if isinstance(octets, bytes) else octets
        return np.ascontiguousarray(data).view(f"{self.endian}u8").astype(np.uint64).reshape(-1, 2)

    def encode(self, values: Array) -> Octets:
        """The chunks that hold more than the fill value, and the index after or before them."""
        index = np.full((math.prod(self.parts(values.shape)), 2), ABSENT)
        size = self.index_size(values.shape)
        place, pieces = size * self.at_start, []
        for number, region in enumerate(regions(self.parts(values.shape), self.inner.shape)):
            octets = self.inner.encode(values[region])
            if octets is not None:
                index[number] = place, len(octets)
                place += len(octets)
                pieces.append(bytes(octets))
        head: Octets = index.astype(f"{self.endian}u8").tobytes()
        head = bytes(Crc32c().encode(head) if self.has_checksum else head)
        return b"".join([head, *pieces] if self.at_start else [*pieces, head])

    def decode(self, octets: Octets, shape: Shape) -> Array:
        """A whole shard."""
        size = self.index_size(shape)
        index = self.index(octets[:size] if self.at_start else octets[max(len(octets) - size, 0) :], shape)
        values = self.inner.filled(shape)
        for (place, length), region in zip(index.tolist(), regions(self.parts(shape), self.inner.shape), strict=True):
            if (place, length) != (int(ABSENT), int(ABSENT)):
                if place + length > len(octets):
                    raise ValueError("a shard that is cut short")
                values[region] = self.inner.decode(octets[place : place + length])
        return values

    def limit(self, octets: Octets, shape: Shape) -> int:
        """Some more than the chunks and the index."""
        inner = self.inner.serializer.limit(octets, self.inner.shape)
        return math.prod(self.parts(shape)) * inner + self.index_size(shape)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The codecs of chunks of one shape."""

    shape: Shape
    dtype: np.dtype[Any]
    fill: Any
    order: Shape | None
    """The axes in the order in which they are stored; None for their own."""
    serializer: Serializer
    filters: tuple[ByteCodec, ...]

    @property
    def is_plain(self) -> bool:
        """Whether what is stored is the chunk itself, perhaps with a checksum."""
        return self.order is None and all(isinstance(codec, Crc32c) for codec in self.filters)

    def filled(self, shape: Shape) -> Array:
        """An array of the fill value; memory that is never touched costs nothing where that is 0."""
        if is_zero(self.fill, self.dtype):
            return np.zeros(shape, self.dtype)
        return np.full(shape, self.fill, self.dtype)

    def encode(self, values: Array) -> Octets | None:
        """The bytes of a chunk of the whole shape; None where it holds nothing but the fill value, which is zero."""
        if is_blank(values):
            return None
        octets = self.serializer.encode(values if self.order is None else values.transpose(self.order))
        for codec in self.filters:
            octets = codec.encode(octets)
        return octets

    def decode(self, octets: Octets) -> Array:
        """The chunk; ValueError where the bytes are of none."""
        shape = self.shape if self.order is None else tuple(self.shape[axis] for axis in self.order)
        limit = self.serializer.limit(octets, shape)
        for codec in reversed(self.filters):
            octets = codec.decode(octets, limit)
        values = self.serializer.decode(octets, shape)
        return values if self.order is None else values.transpose(np.argsort(self.order))


def regions(parts: Shape, each: Shape) -> Iterator[tuple[slice, ...]]:
    """Where the parts of an array lie, in C order."""
    for place in np.ndindex(*parts):
        yield tuple(slice(k * n, (k + 1) * n) for k, n in zip(place, each, strict=True))


def is_zero(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a fill value is the empty text, or all bits 0."""
    if dtype == STRING:
        return bool(value == "")
    return not np.array(value, dtype).tobytes().strip(b"\0")


def is_blank(values: Array) -> bool:
    """Whether an array holds nothing but empty text, or bits that are 0."""
    if values.dtype == STRING:
        return not np.strings.str_len(values).any()
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return not (flat[:8].any() or flat[-8:].any() or flat.any())


# ---------------------------------------------------------------- from the metadata
def parsed_codecs(documents: Any, shape: Shape, dtype: np.dtype[Any], fill: Any, *, depth: int = 0) -> Pipeline:
    """The pipeline that a list of codecs stands for.

    Raises
    ------
    ValueError
        For a list in which codecs do not follow one another.
    RecordError
        For a codec that records do not use.
    """
    if not isinstance(documents, list):
        raise ValueError(f"a list of codecs is due, found {documents!r}")
    if depth > DEEPEST:
        raise ValueError("shards within shards without an end")
    named = [_named(document) for document in documents]
    order: Shape | None = None
    while named and named[0][0] == "transpose":
        order = _transposed(order, named.pop(0)[1], len(shape))
    if not named:
        raise ValueError("there is no codec that makes bytes of the array")
    stored = shape if order is None else tuple(shape[axis] for axis in order)
    name, configuration = named[0]
    if name == "sharding_indexed":
        serializer: Serializer = _shards(configuration, stored, dtype, fill, depth)
    else:
        serializer = _serializer(name, configuration, dtype)
    return Pipeline(shape, dtype, fill, order, serializer, tuple(_byte_codec(*pair) for pair in named[1:]))


def _named(document: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(document, str):
        return document, {}
    if isinstance(document, dict) and isinstance(document.get("name"), str):
        configuration = document.get("configuration") or {}
        if isinstance(configuration, dict):
            return document["name"], configuration
    raise ValueError(f"a codec with a name is due, found {document!r}")


def _transposed(order: Shape | None, configuration: Mapping[str, Any], axes: int) -> Shape:
    stated = configuration.get("order")
    if not isinstance(stated, list) or sorted(map(repr, stated)) != sorted(map(repr, range(axes))):
        raise ValueError(f"an order of {axes} axes is due, found {stated!r}")
    return tuple(stated) if order is None else tuple(order[axis] for axis in stated)


def _serializer(name: str, configuration: Mapping[str, Any], dtype: np.dtype[Any]) -> Serializer:
    if name == "vlen-utf8" and dtype == STRING:
        return Text()
    if name == "bytes" and dtype != STRING:
        return Numbers(dtype.newbyteorder(_endian(configuration, needed=dtype.itemsize > 1)))
    if name in ("vlen-utf8", "bytes") or name in BYTE_CODECS:
        raise ValueError(f"the codec {name!r} does not make bytes of {'string' if dtype == STRING else dtype}")
    raise RecordError(f"the codec {name!r} is none that a record uses", rule=34)


def _endian(configuration: Mapping[str, Any], *, needed: bool) -> Endian:
    stated = configuration.get("endian", None if needed else "little")
    if stated not in ("little", "big"):
        raise ValueError(f"the byte order is little or big, found {stated!r}")
    return "<" if stated == "little" else ">"


def _shards(configuration: Mapping[str, Any], shape: Shape, dtype: np.dtype[Any], fill: Any, depth: int) -> Shards:
    inner = counts(configuration.get("chunk_shape"), "the shape of the chunks of a shard")
    if len(inner) != len(shape) or any(n % each for n, each in zip(shape, inner, strict=True)):
        raise ValueError(f"chunks of {list(inner)} do not divide a shard of {list(shape)}")
    location = configuration.get("index_location", "end")
    if location not in ("start", "end"):
        raise ValueError(f"the index of a shard lies at the start or the end, found {location!r}")
    pipeline = parsed_codecs(configuration.get("codecs"), inner, dtype, fill, depth=depth + 1)
    index = [_named(document) for document in configuration.get("index_codecs", ())]
    if [name for name, _ in index] not in (["bytes"], ["bytes", "crc32c"]):
        raise ValueError(f"the codecs of an index are bytes and crc32c, found {[name for name, _ in index]}")
    return Shards(pipeline, location == "start", len(index) == 2, _endian(index[0][1], needed=True))


def _byte_codec(name: str, configuration: Mapping[str, Any]) -> ByteCodec:
    if name not in BYTE_CODECS:
        raise RecordError(f"the codec {name!r} is none that a record uses", rule=34)
    return BYTE_CODECS[name](configuration)


def counts(value: Any, what: str, least: int = 1) -> Shape:
    """A list of integers, none below `least`."""
    if not isinstance(value, list) or not all(type(n) is int and least <= n < 2**63 for n in value):
        raise ValueError(f"{what} is a list of integers from {least}, found {value!r}")
    return tuple(value)


def chunk_documents(dtype: np.dtype[Any], filters: Sequence[str]) -> list[dict[str, Any]]:
    """The codecs of a chunk of this type, in the metadata: numbers or text, then these filters."""
    first = {"name": "vlen-utf8"} if dtype == STRING else {"name": "bytes", "configuration": {"endian": "little"}}
    return [first, *(CONFIGURED[name](dtype) for name in filters)]


CONFIGURED: Mapping[str, Any] = {
    "crc32c": lambda dtype: {"name": "crc32c"},
    "gzip": lambda dtype: {"name": "gzip", "configuration": {"level": 1}},
    "zstd": lambda dtype: {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
    "shuffle": lambda dtype: {"name": "numcodecs.shuffle", "configuration": {"elementsize": dtype.itemsize}},
}
