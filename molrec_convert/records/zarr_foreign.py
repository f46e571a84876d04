"""Arrays of types that MolRec has not, which are carried as they are: read and written by zarr-python."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from molrec_convert.model.dtypes import Array

from .zarr_files import Files, below


def read_foreign(files: Files, key: str) -> Array:
    """All values of an array.

    Raises
    ------
    ValueError
        For an array that zarr-python does not read.
    """
    import zarr
    from zarr.core.buffer import default_buffer_prototype
    from zarr.storage import MemoryStore

    made = default_buffer_prototype().buffer.from_bytes
    read = {name: files.read(below(key, name)) for name in files.keys(key)}
    held = {name: made(bytes(octets)) for name, octets in read.items() if octets is not None}
    return np.asarray(_attempted(lambda: zarr.open_array(MemoryStore(held), mode="r")[...]))


def write_foreign(path: str, values: Array) -> None:
    """Write an array into a folder that is to be made.

    Raises
    ------
    ValueError
        For a type that zarr-python does not write.
    """
    import zarr

    if values.dtype.hasobject:
        raise ValueError(f"values of a type ({values.dtype}) that Zarr has not")
    _attempted(lambda: zarr.create_array(path, data=values, zarr_format=3))


def _attempted(action: Any) -> Any:
    """Do something with zarr-python, which warns of every type that is no part of the core of the specification."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action()
    except Exception as error:  # noqa: BLE001 - it raises what its parts raise
        raise ValueError(f"a type or a codec that cannot be carried ({error})") from None
