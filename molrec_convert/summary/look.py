"""Looking at a file: `info`."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from molrec_convert.forms import location
from molrec_convert.inputs import RecordInput, check_reading, open_input
from molrec_convert.options import Options

from .facts import Info
from .foreign import foreign_info
from .record import record_info


def info(
    source: str | Path | BinaryIO,
    *,
    format: str | None = None,
    units: str | None = None,
    atom_style: str | None = None,
    count: bool = False,
) -> Info:
    """Tell what a file holds, without reading its numbers.

    Parameters
    ----------
    source
        A record, or its address; a foreign file, perhaps compressed; or an open binary stream of a foreign file.
    format
        Its format, where content and name do not tell.
    units, atom_style
        As `convert` takes them.
    count
        Count the frames of a foreign file however large it is. By default they are reckoned from its first 64 MiB or
        10 000 frames where more follows (`Info.exact` is false then). Those of a record are always known.

    Returns
    -------
    Info
        Of a record from its headers; of a foreign file from its first two frames and its last.

    Raises
    ------
    ConvertError
        With file, line and frame.
    """
    path = location(source) if isinstance(source, str | Path) else None
    stream = None if isinstance(source, str | Path) else source
    options = Options(units=units, atom_style=atom_style)
    found = open_input(path, stream=stream, format_name=format, options=options, check=False)
    name = found.name if path is None else str(path)
    size = size_of(path) if isinstance(path, Path) else None
    try:
        check_reading(found.format, found.takes, options)
        if isinstance(found, RecordInput):
            return record_info(found.record, file=name, format=found.format, size=size)
        return foreign_info(found, file=name, size=size, count=count)
    finally:
        found.close()


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size
