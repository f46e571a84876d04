"""The metadata of a Zarr array, ``zarr.json``: parsed, and made for arrays of ours.

Source: the Zarr specification, version 3; types, extents and codecs of what is written are those of the reference
implementation of MolRec, molrs 0.19.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from molrec_convert.model.dtypes import DTYPES, STRING, Array

from .zarr_pipeline import Pipeline, Shape, chunk_documents, counts, parsed_codecs

FORMAT = 3
ARRAY, GROUP = "array", "group"
DATA_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "float64": "f64",
        **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
        "bool": "bool",
        "string": "string",
        "complex64": "c64",
        "complex128": "c128",
    }
)
"""MolRec's name of each type of Zarr that a column may have."""
NAMES: Mapping[str, str] = MappingProxyType({name: zarr for zarr, name in DATA_TYPES.items()})
KNOWN = frozenset(
    (
        "zarr_format", "node_type", "attributes", "consolidated_metadata", "shape", "data_type", "chunk_grid",
        "chunk_key_encoding", "fill_value", "codecs", "dimension_names", "storage_transformers",
    )
)  # fmt: skip
"""The members of metadata; others must be understood, unless they say that they need not be."""

PLAIN_CHUNK = 512 << 10
"""Bytes in a chunk of an array that is written at once."""
MOST_PLAIN = 4
"""Such an array of more chunks is a shard."""


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """What the metadata of an array say of its chunks."""

    shape: Shape
    chunk: Shape
    """The extent of a chunk that has a key of its own: a shard, where chunks lie in shards."""
    pipeline: Pipeline
    prefix: str
    separator: str

    def key(self, place: Sequence[int]) -> str:
        """The key of a chunk, below that of the array."""
        parts = self.separator.join(map(str, place))
        return f"{self.prefix}{self.separator}{parts}" if self.prefix and parts else parts or self.prefix or "0"


def checked_document(document: Any) -> dict[str, Any]:
    """The metadata of a node; ValueError where they are of none, or of another version."""
    if not isinstance(document, dict) or document.get("zarr_format") != FORMAT:
        raise ValueError(f"metadata of Zarr, version {FORMAT}, are due")
    if document.get("node_type") not in (GROUP, ARRAY):
        raise ValueError(f"a group or an array is due, found {document.get('node_type')!r}")
    for key in document.keys() - KNOWN:
        value = document[key]
        if not isinstance(value, dict) or value.get("must_understand") is not False:
            raise ValueError(f"{key!r} in the metadata, which must be understood and is not known")
    return document


def parsed_shape(document: Mapping[str, Any]) -> Shape:
    """The extent of every axis; ValueError unless it is a list of counts."""
    return counts(document.get("shape"), "a shape", 0)


def type_name(document: Mapping[str, Any]) -> str:
    """The name of the type, whatever it is."""
    stated = document.get("data_type")
    if isinstance(stated, dict) and isinstance(stated.get("name"), str):
        configuration = stated.get("configuration")
        return f"{stated['name']} {configuration}" if configuration else str(stated["name"])
    return stated if isinstance(stated, str) else repr(stated)


def parsed_array(document: Mapping[str, Any]) -> ArrayLayout:
    """The chunks of an array of a type of MolRec; ValueError where the metadata do not say it rightly."""
    if document.get("storage_transformers"):
        raise ValueError("storage transformers, of which a record has none")
    shape, name = parsed_shape(document), type_name(document)
    if name not in DATA_TYPES:
        raise ValueError(f"the type {name} is none of MolRec's")
    dtype = DTYPES[DATA_TYPES[name]]
    grid_name, grid = _named(document, "chunk_grid")
    if grid_name != "regular":
        raise ValueError(f"a regular grid of chunks is due, found {grid_name!r}")
    chunk = counts(grid.get("chunk_shape"), "the shape of a chunk")
    if len(chunk) != len(shape):
        raise ValueError(f"chunks of {len(chunk)} axes in an array of {len(shape)}")
    fill = parsed_fill(document.get("fill_value"), dtype)
    pipeline = parsed_codecs(document.get("codecs"), chunk, dtype, fill)
    return ArrayLayout(shape, chunk, pipeline, *_key_encoding(document))


def _named(document: Mapping[str, Any], key: str) -> tuple[Any, Mapping[str, Any]]:
    found = document.get(key)
    if isinstance(found, dict) and isinstance(found.get("configuration", {}), dict):
        return found.get("name"), found.get("configuration", {})
    raise ValueError(f"{key} with a name is due, found {found!r}")


def _key_encoding(document: Mapping[str, Any]) -> tuple[str, str]:
    name, configuration = _named(document, "chunk_key_encoding")
    separator = configuration.get("separator", "/" if name == "default" else ".")
    if name not in ("default", "v2") or separator not in ("/", "."):
        raise ValueError(f"keys of chunks of an encoding {name!r} with {separator!r}, which is unknown")
    return ("c" if name == "default" else ""), separator


def parsed_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value; ValueError for another form than the type's."""
    try:
        if dtype == STRING and isinstance(value, str):
            return value
        if dtype.kind == "b" and isinstance(value, bool):
            return value
        if dtype.kind in "iu" and type(value) is int:
            return dtype.type(value)
        if dtype.kind == "f":
            return _real(value, dtype)
        if dtype.kind == "c" and isinstance(value, list) and len(value) == 2:
            part = np.dtype(f"f{dtype.itemsize // 2}")
            return np.array([_real(item, part) for item in value], part).view(dtype)[0]
    except (OverflowError, ValueError):
        pass
    raise ValueError(f"a fill value of {'string' if dtype == STRING else dtype} is due, found {value!r}")


def _real(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return dtype.type(value)
    if isinstance(value, str) and value.startswith("0x") and len(value) == 2 + 2 * dtype.itemsize:
        return np.frombuffer(bytes.fromhex(value[2:]), dtype.newbyteorder(">")).astype(dtype)[0]
    if type(value) in (int, float):
        return dtype.type(value)
    raise ValueError(value)


def foreign_codecs(document: Any) -> Iterator[str]:
    """The names of codecs that not every reader of records has, wherever they stand in metadata."""
    for codec in document.get("codecs") or () if isinstance(document, dict) else ():
        name = codec.get("name") if isinstance(codec, dict) else codec
        if name not in PORTABLE:
            yield str(name)
        elif isinstance(codec, dict):
            yield from foreign_codecs(codec.get("configuration"))


PORTABLE = frozenset(
    ("bytes", "gzip", "zstd", "numcodecs.shuffle", "crc32c", "vlen-utf8", "sharding_indexed", "transpose")
)
"""The codecs that every reader of records has, and that a writer keeps to (chunking chapter of MolRec)."""


# ---------------------------------------------------------------- made
def group_document() -> dict[str, Any]:
    """The metadata of a group."""
    return {"zarr_format": FORMAT, "node_type": GROUP}


def array_document(
    shape: Shape, dtype: np.dtype[Any], chunk: Shape, filters: Sequence[str], shard: tuple[Shape, str] | None
) -> dict[str, Any]:
    """The metadata of an array.

    Parameters
    ----------
    shape
        The extent of every axis.
    dtype
        One of the thirteen types.
    chunk
        The extent of a chunk.
    filters
        The codecs from bytes to bytes.
    shard
        The extent of a shard, and where its index lies; None for chunks that are files themselves.
    """
    name = "string" if dtype == STRING else NAMES[next(key for key, value in DTYPES.items() if value == dtype)]
    codecs = chunk_documents(dtype, filters)
    if shard is not None:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        configuration = {"chunk_shape": list(chunk), "codecs": codecs, "index_codecs": index}
        codecs = [{"name": "sharding_indexed", "configuration": {**configuration, "index_location": shard[1]}}]
    return {
        "zarr_format": FORMAT,
        "node_type": ARRAY,
        "shape": list(shape),
        "data_type": name,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": list(chunk if shard is None else shard[0])},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": FILLS.get(dtype.kind, 0),
        "codecs": codecs,
    }


FILLS: Mapping[str, Any] = MappingProxyType({"f": 0.0, "c": [0.0, 0.0], "b": False, "T": ""})
"""The fill value of each kind of type; of integers it is 0."""


def filters_of(dtype: np.dtype[Any], *, quantized: bool, dense: bool = False) -> tuple[str, ...]:
    """The codecs of an array: reals are not compressed unless they keep a declared precision or are one a frame."""
    if quantized:
        return ("shuffle", "zstd", "crc32c")
    return ("crc32c",) if dtype.kind in "fc" and not dense else ("gzip", "crc32c")


def section_chunks(values: Array) -> tuple[Shape, Shape | None]:
    """The extent of a chunk, and of a shard if there is one, of an array that is written at once."""
    rest = tuple(max(1, n) for n in values.shape[1:])
    if values.ndim == 0:
        return (), None
    if values.dtype == STRING or values.dtype == np.bool_:
        return (max(1, len(values)), *rest), None
    row = max(1, values.dtype.itemsize * math.prod(rest))
    rows = max(1, min(len(values), PLAIN_CHUNK // row))
    chunks = -(-len(values) // rows)
    return (rows, *rest), None if chunks <= MOST_PLAIN else (rows * chunks, *rest)
