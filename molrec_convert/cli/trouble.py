"""What a person is told of an error: one line on standard error."""

from __future__ import annotations

import sys

from molrec_convert.errors import ConvertError


def tell(error: ConvertError | OSError | MemoryError) -> None:
    """Say what went wrong, and where."""
    if isinstance(error, ConvertError):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = "out of memory"
    else:
        name = "" if error.filename is None else f"{error.filename}: "
        text = f"{name}{(error.strerror or str(error)).lower()}"
    sys.stderr.write(f"molrec-convert: {text}\n")
