"""What a file is: by its content first, then by its name."""

from __future__ import annotations

from pathlib import Path

from . import registry
from .adapter import Adapter
from .errors import UnknownFormatError
from .forms import FORMS, HDF5_SIGNATURE, Form, form_of_content, form_of_name

HEAD = 1 << 16
"""How many bytes of a file the adapters look at."""


def is_replaceable(path: Path) -> bool:
    """Whether a file or folder is a record and nothing else, or holds nothing: only these are replaced by a record."""
    if path.is_file():
        return path.stat().st_size == 0 or form_of_content(path) is not None
    if not any(path.iterdir()):
        return True
    if form_of_content(path) is None:
        return False
    from .records.zarr_folder import strange_file

    return strange_file(path) is None


def record_form(path: str | Path, format_name: str | None) -> Form | None:
    """The form of record that a target is to be, by the name of the format or else its own; None for a foreign one."""
    if format_name is None:
        return form_of_name(path)
    return next((form for form in FORMS if form.name == format_name), None)


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
    known = registry.known_names(way="reads")
    raise UnknownFormatError(f"the format is not recognised ({what}): say --from, one of {known}", path=name)


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
    known = ", ".join(each.name for each in named if each.writes) or registry.known_names(way="writes")
    raise UnknownFormatError(
        f"the name does not tell the format: say --to, one of {known}, or end it in .h5", path=path
    )
