"""What a file is: by its content first, then by its name."""

from __future__ import annotations

from pathlib import Path

from . import registry
from .adapter import Adapter
from .errors import UnknownFormatError

HEAD = 1 << 16
"""How many bytes of a file the adapters look at."""

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
RECORD_MARKER = b"molrec_hdf5"
RECORD_SUFFIXES = (".h5", ".hdf5")


def is_record(head: bytes) -> bool:
    """Whether a file that begins so is a record in HDF5."""
    return head.startswith(HDF5_SIGNATURE) and RECORD_MARKER in head[:4096]


def is_replaceable(path: Path) -> bool:
    """Whether a file is a record or holds nothing: only these are replaced by a record."""
    with path.open("rb") as file:
        head = file.read(4096)
    return not head or is_record(head)


def is_record_name(path: str | Path) -> bool:
    """Whether a target of this name is to be a record in HDF5."""
    return Path(path).name.lower().endswith(RECORD_SUFFIXES)


def source_adapter(name: str, head: bytes) -> Adapter:
    """The adapter that reads a file.

    Parameters
    ----------
    name
        The file's name, which decides where the content fits several formats or none.
    head
        Its first bytes, decompressed.

    Raises
    ------
    UnknownFormatError
        Where neither content nor name tells, or both fit several formats.
    """
    likely = registry.by_suffix(name)
    if likely is not None and likely.reads and likely.sniff is not None and likely.sniff(head):
        return likely
    found = [adapter for adapter in registry.by_content(head, name) if adapter.reads]
    if len(found) == 1:
        return found[0]
    named = [adapter for adapter in registry.by_file_name(name) if adapter.reads]
    both = [adapter for adapter in found if adapter in named] or found or named
    if len(both) == 1:
        return both[0]
    if both:
        raise UnknownFormatError(f"this may be {' or '.join(each.name for each in both)}: say --from", path=name)
    if head and (other := registry.family_reader(name, head)) is not None:
        return other
    what = "an empty file" if not head else "HDF5, but no record" if head.startswith(HDF5_SIGNATURE) else "unknown"
    raise UnknownFormatError(f"the format is not recognised ({what}): say --from, one of {_readable()}", path=name)


def target_adapter(path: str | Path) -> Adapter:
    """The adapter that writes a file of this name; `UnknownFormatError` where the name does not tell."""
    likely = registry.by_suffix(path)
    if likely is not None and likely.writes:
        return likely
    named = [adapter for adapter in registry.by_file_name(path) if adapter.writes]
    if len(named) == 1:
        return named[0]
    if not named and (other := registry.family_writer(path)) is not None:
        return other
    known = ", ".join(each.name for each in named or registry.adapters() if each.writes)
    raise UnknownFormatError(
        f"the name does not tell the format: say --to, one of {known}, or end it in .h5", path=path
    )


def _readable() -> str:
    return ", ".join(adapter.name for adapter in registry.adapters() if adapter.reads)
