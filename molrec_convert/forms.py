"""The forms of a record on disk, told apart by content and by name, without a library that reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

DOCUMENT = "zarr.json"
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HDF5_MARKER = b"molrec_hdf5"
HEAD = 4096
"""The marker of a record in HDF5 lies within so many bytes."""
ZIP_SIGNATURES = (b"PK\3\4", b"PK\5\6")


class Form(NamedTuple):
    """A form of a record: its name as a format, the ends of its file names, and a line for people."""

    name: str
    suffixes: tuple[str, ...]
    summary: str


HDF5 = Form("molrec-h5", (".h5", ".hdf5"), "MolRec record in HDF5")
ZARR = Form("molrec-zarr", (".mrec",), "MolRec record in Zarr, a folder")
ZIP = Form("molrec-zip", (".mrec.zip",), "MolRec record in Zarr, packed")
FORMS = (HDF5, ZARR, ZIP)
FORM_NAMES = tuple(form.name for form in FORMS)


def form_of_name(path: str | Path) -> Form | None:
    """The form of a record that is to have this name; None where the name does not tell."""
    name = Path(path).name.lower()
    return next((form for form in FORMS if name.endswith(form.suffixes)), None)


def form_of_head(head: bytes) -> Form | None:
    """The form of a record in a file that begins so; an archive may turn out to be none."""
    if head.startswith(HDF5_SIGNATURE) and HDF5_MARKER in head[:HEAD]:
        return HDF5
    return ZIP if head.startswith(ZIP_SIGNATURES) else None


def form_of_content(path: str | Path) -> Form | None:
    """The form of the record that is at a path; None where there is none."""
    if os.path.isdir(path):
        return ZARR if os.path.isfile(os.path.join(path, DOCUMENT)) else None
    if not os.path.isfile(path):  # a pipe gives its bytes once
        return None
    with open(path, "rb") as file:
        form = form_of_head(file.read(HEAD))
    if form is not ZIP:
        return form
    from .records.zarr_zip import is_zarr_archive  # imports what records need

    return ZIP if is_zarr_archive(path) else None


def is_url(path: object) -> bool:
    """Whether a path is an address such as ``https://…`` or ``s3://…``."""
    return isinstance(path, str) and "://" in path


def location(path: str | Path) -> Path | str:
    """A path; an address stays what it is."""
    return str(path) if is_url(path) else Path(path)
