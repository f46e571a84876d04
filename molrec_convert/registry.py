"""Which formats there are: entry points of installed distributions, loaded when they are asked for."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from .adapter import Adapter
from .errors import ConvertError, UnknownFormatError

GROUP = "molrec_convert.adapters"
SUFFIXES = "molrec_convert.suffixes"
"""Entry points from the last part of a file's name to the adapter to try first: they spare the import of the others."""
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


@cache
def by_name(name: str) -> Adapter:
    """The adapter of a name.

    Raises
    ------
    UnknownFormatError
        With the nearest names, where there is none.
    """
    entry = _entries().get(name)
    if entry is None:
        near = get_close_matches(name, names(), n=3)
        hint = f", did you mean {' or '.join(map(repr, near))}?" if near else f"; known are {', '.join(names())}"
        raise UnknownFormatError(f"there is no format {name!r}{hint}")
    adapter = _loaded(entry)
    if adapter.name != name:
        raise ConvertError(f"the entry point {name!r} of {GROUP} is no adapter of this name: {entry.value}")
    return adapter


def _loaded(entry: EntryPoint) -> Adapter:
    try:
        adapter = entry.load()
    except ImportError as error:
        raise ConvertError(f"the format {entry.name!r} cannot be loaded from {entry.value}: {error}") from error
    if not isinstance(adapter, Adapter):
        raise ConvertError(f"the entry point {entry.name!r} of {entry.group} is no adapter of this name: {entry.value}")
    return adapter


def names() -> list[str]:
    """The names of all adapters, without loading one."""
    return list(_entries())


def adapters() -> list[Adapter]:
    """All adapters, by name."""
    return [by_name(name) for name in names()]


def by_content(head: bytes) -> list[Adapter]:
    """The adapters that recognise the first bytes of a decompressed file."""
    return [adapter for adapter in adapters() if adapter.sniff is not None and adapter.sniff(head)]


def by_suffix(path: str | Path) -> Adapter | None:
    """The adapter to try first for a file of this name, without loading another."""
    suffix = _plain_name(path).rpartition(".")[2]
    found = next(iter(entry_points(group=SUFFIXES, name=suffix)), None)
    return None if found is None else _loaded(found)


def _plain_name(path: str | Path) -> str:
    name = Path(path).name.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name


def by_file_name(path: str | Path) -> list[Adapter]:
    """The adapters whose patterns match a file name, a compression's suffix aside."""
    name = _plain_name(path)
    return [adapter for adapter in adapters() if any(fnmatch(name, pattern) for pattern in adapter.patterns)]
