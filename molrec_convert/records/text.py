"""Strings of a fixed width in UTF-8, as frame-shaped sections hold them in HDF5, and back."""

from __future__ import annotations

import numpy as np

from molrec_convert.model.dtypes import STRING, Array

WIDEST = 64 << 20


def octets_of(values: Array) -> Array:
    """Text as numpy bytes of one width (at least 1), each string in UTF-8 and filled up with NUL."""
    width = max(1, int(np.strings.str_len(values).max())) if values.size else 1
    try:
        return values.astype(f"S{width}")
    except UnicodeEncodeError:
        encoded = {value: value.encode() for value in set(values.ravel().tolist())}
        rows = [encoded[value] for value in values.ravel().tolist()]
        return np.array(rows, dtype=f"S{max(map(len, encoded.values()))}").reshape(values.shape)


def is_wasteful(values: Array) -> bool:
    """Whether a fixed width would blow the text up: a few long strings among many short ones."""
    if not values.size:
        return False
    lengths = np.strings.str_len(values)
    return bool(int(lengths.max()) * values.size > max(WIDEST, 8 * int(lengths.sum())))


def text_of(octets: Array) -> Array:
    """Text from numpy bytes of one width; UnicodeDecodeError where they are not UTF-8."""
    return checked_text_array(octets.astype(STRING))


def checked_text_array(values: Array) -> Array:
    """The text itself; UnicodeDecodeError where it is not UTF-8, which neither numpy nor HDF5 looks at."""
    values.tolist()
    return values


def has_inner_nul(octets: Array) -> bool:
    """Whether a NUL stands within a string, not after it."""
    if not octets.size:
        return False
    bytes_of = np.ascontiguousarray(octets).reshape(-1).view(np.uint8).reshape(octets.size, -1)
    return bool(np.any((bytes_of[:, :-1] == 0) & (bytes_of[:, 1:] != 0)))
