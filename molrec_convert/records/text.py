"""Strings of a fixed width in UTF-8, as frame-shaped sections hold them in HDF5, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.dtypes import STRING, Array

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
    try:
        return octets.astype(STRING)
    except (UnicodeDecodeError, ValueError, TypeError):
        decoded: dict[bytes, Any] = {value: value.decode() for value in set(octets.ravel().tolist())}
        rows = [decoded[value] for value in octets.ravel().tolist()]
        return np.array(rows, dtype=STRING).reshape(octets.shape)


def has_inner_nul(octets: Array) -> bool:
    """Whether a NUL stands within a string, not after it."""
    bytes_of = np.ascontiguousarray(octets).reshape(-1).view(np.uint8).reshape(octets.size, -1)
    return bool(np.any((bytes_of[:, :-1] == 0) & (bytes_of[:, 1:] != 0)))
