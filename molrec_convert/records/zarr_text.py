"""Text in a Zarr chunk: the codec vlen-utf8.

A chunk is the number of strings, and for each string its length and its UTF-8; numbers are u32, little-endian.
"""

from __future__ import annotations

import struct

import numpy as np

from molrec_convert.model.dtypes import STRING, Array

from .text import is_wasteful, octets_of, text_of

COUNT = struct.Struct("<I")
LONGEST = 2**32 - 1
NUL = "a string with a NUL"


def encoded_text(values: Array) -> bytes:
    """The chunk of an array of text.

    Raises
    ------
    ValueError
        For more strings than a chunk counts.
    """
    if values.size > LONGEST:
        raise ValueError(f"a chunk of {values.size} strings, {LONGEST} are the most")
    head = COUNT.pack(values.size)
    if not values.size or is_wasteful(values):
        pieces = [text.encode() for text in values.ravel().tolist()]
        return b"".join((head, *(part for piece in pieces for part in (COUNT.pack(len(piece)), piece))))
    octets = octets_of(values.reshape(-1))
    width = octets.dtype.itemsize
    lengths = np.strings.str_len(octets).astype("<u4")
    table = np.empty((octets.size, COUNT.size + width), np.uint8)
    table[:, : COUNT.size] = lengths.view(np.uint8).reshape(-1, COUNT.size)
    table[:, COUNT.size :] = octets.view(np.uint8).reshape(-1, width)
    used = np.arange(COUNT.size + width) < (lengths[:, None] + COUNT.size)
    return head + table[used].tobytes()


def decoded_text(octets: bytes, count: int) -> Array:
    """The text of a chunk of `count` strings, with one axis.

    Raises
    ------
    ValueError
        For a chunk of another number of strings, one that is cut short, text that is not UTF-8 or that holds a NUL.
    """
    if len(octets) < COUNT.size or COUNT.unpack_from(octets)[0] != count:
        raise ValueError(f"a chunk that does not hold {count} strings")
    if (same := _of_one_length(octets, count)) is not None:
        if (same == 0).any():
            raise ValueError(NUL)
        return _checked(same.view(f"S{same.shape[1]}")[:, 0])
    texts = _texts(octets, count)
    if b"\0" in b"".join(texts):
        raise ValueError(NUL)
    return _checked(texts)


def _checked(texts: Array | list[bytes]) -> Array:
    try:
        if isinstance(texts, list):
            return np.array([text.decode() for text in texts], STRING)
        return text_of(texts)
    except UnicodeDecodeError:
        raise ValueError("a string that is not UTF-8") from None


def _of_one_length(octets: bytes, count: int) -> Array | None:
    """The bytes of the strings where all have one length, as names of elements often have; None elsewhere."""
    each, rest = divmod(len(octets) - COUNT.size, count) if count else (0, 0)
    if rest or each <= COUNT.size:
        return None
    table = np.frombuffer(octets, np.uint8, offset=COUNT.size).reshape(count, each)
    lengths = np.ascontiguousarray(table[:, : COUNT.size]).view("<u4")
    return None if (lengths != each - COUNT.size).any() else np.ascontiguousarray(table[:, COUNT.size :])


def _texts(octets: bytes, count: int) -> list[bytes]:
    found: list[bytes] = []
    place, end, size = COUNT.size, len(octets), COUNT.size
    length_at = COUNT.unpack_from
    for _ in range(count):
        if place + size > end:
            raise ValueError("a chunk of strings that is cut short")
        first = place + size
        place = first + length_at(octets, place)[0]
        found.append(octets[first:place])
    if place != end:
        raise ValueError("a chunk of strings that is cut short, or goes on after the last")
    return found
