"""The byte shuffle of HDF5, which makes numbers compress better."""

from __future__ import annotations

from . import engine
from .engine import Buffer


def shuffle(data: Buffer, itemsize: int) -> bytes:
    """Return all first bytes of the items, then all second bytes, and so on."""
    return engine.active.shuffle(data, itemsize)


def unshuffle(data: Buffer, itemsize: int) -> bytes:
    """Undo `shuffle`."""
    return engine.active.unshuffle(data, itemsize)
