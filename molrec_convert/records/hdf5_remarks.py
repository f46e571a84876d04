"""What programs that know HDF5, and not this one, stumble over in a file that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py  # noqa: TID253 - imported by the HDF5 tree alone
from h5py import h5z  # noqa: TID253

from .hdf5_node import H5PY_ERRORS
from .superblock import FLAGS, is_version_3

MARKER = "molrec_hdf5"
HEAD = 4096
"""The marker lies within so many bytes, where programs look that tell formats apart."""
PORTABLE = frozenset((h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32))
"""Filters that every HDF5 library has."""


def remarks(file: h5py.File, path: str) -> Iterator[tuple[int, str, str]]:
    """A rule, a place and a message, of each."""
    with Path(path).open("rb") as stream:
        head = stream.read(HEAD)
    if MARKER.encode() not in head:
        yield 38, f"/@{MARKER}", f"it is not within the first {HEAD} bytes, where programs look for it"
    if not is_version_3(head[:48]):
        yield 38, "/", f"a superblock of version {head[8]}, 3 is due (libver v110)"
    elif head[FLAGS]:
        yield 39, "/", "the file is still marked as open: `molrec-convert repair` takes the mark off"
    found: list[tuple[int, str, str]] = []

    def look(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            plan = node.id.get_create_plist()
            names = [plan.get_filter(k) for k in range(plan.get_nfilters())]
            found.extend(
                (34, f"/{name}", f"the filter {number} ({text.decode(errors='replace')}) needs a plug-in elsewhere")
                for number, _, _, text in names
                if number not in PORTABLE
            )

    try:
        file.visititems(look)
    except H5PY_ERRORS as error:
        yield 39, "/", f"damaged where the record is not read ({error})"
    yield from found
