"""Which formats there are: entry points of installed distributions, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from .adapter import Adapter, Family
from .errors import ConvertError, UnknownFormatError

GROUP = "molrec_convert.adapters"
FAMILIES = "molrec_convert.families"
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
    if ":" in name:
        return _of_family(name)
    entry = _entries().get(name)
    if entry is None:
        near = get_close_matches(name.lower(), names(), n=3) or list(_near_in_families(name.lower()))
        known = f"; known are {known_names()}"
        hint = f", did you mean {' or '.join(map(repr, near))}?" if near else known
        raise UnknownFormatError(f"there is no format {name!r}{hint}")
    adapter = _loaded(entry)
    if adapter.name != name:
        raise ConvertError(f"the entry point {name!r} of {GROUP} is no adapter of this name: {entry.value}")
    return adapter


def known_names(*, way: str = "reads") -> str:
    """The formats that go one way (``reads`` or ``writes``), for an error that says what can be asked for."""
    own = ", ".join(adapter.name for adapter in adapters() if getattr(adapter, way))
    others = " and ".join(f"{family.name}:…" for family in families())
    return f"{own}, or {others} (see molrec-convert formats --all)" if others else own


def _near_in_families(name: str) -> Iterator[str]:
    for family in families():
        for near in get_close_matches(name, family.formats(), n=1, cutoff=0.8):
            yield f"{family.name}:{near}"


def _loaded(entry: EntryPoint) -> Adapter:
    try:
        adapter = entry.load()
    except ImportError as error:
        raise ConvertError(f"the format {entry.name!r} cannot be loaded from {entry.value}: {error}") from error
    if not isinstance(adapter, Adapter):
        raise ConvertError(f"the entry point {entry.name!r} of {entry.group} is no adapter of this name: {entry.value}")
    return adapter


def _of_family(name: str) -> Adapter:
    family, _, format_name = name.partition(":")
    known = {each.name: each for each in families()}
    if family not in known:
        raise UnknownFormatError(f"there is no format {name!r}; before a colon stands one of {', '.join(known)}")
    adapter = known[family].adapter(format_name)
    if adapter is None:
        near = get_close_matches(format_name, known[family].formats(), n=3, cutoff=0.5)
        hint = f", did you mean {' or '.join(repr(f'{family}:{each}') for each in near)}?" if near else ""
        raise UnknownFormatError(f"{known[family].library} has no format {format_name!r}{hint}")
    return adapter


@cache
def families() -> tuple[Family, ...]:
    """The formats that go through other libraries, in the order in which they are asked about a file."""
    found: list[Family] = []
    for entry in entry_points(group=FAMILIES):
        family = entry.load()
        if not isinstance(family, Family) or family.name != entry.name:
            raise ConvertError(f"the entry point {entry.name!r} of {FAMILIES} is no family of this name: {entry.value}")
        found.append(family)
    return tuple(sorted(found, key=lambda family: (family.order, family.name)))


def family_reader(path: str | Path, head: bytes) -> Adapter | None:
    """The first adapter of a family that reads a file of this name that begins so."""
    for family in families():
        if (name := family.reads(uncompressed_name(path), head)) is not None:
            return family.adapter(name)
    return None


def family_writer(path: str | Path) -> Adapter | None:
    """The first adapter of a family that writes a file of this name."""
    for family in families():
        if (name := family.writes(Path(path).name)) is not None:
            return family.adapter(name)
    return None


def names() -> list[str]:
    """The names of all adapters but those of families, without loading one."""
    return list(_entries())


def layout_keys(formats: Iterable[object]) -> frozenset[str]:
    """The keys that only say how files of these formats were laid out; a name of no adapter says nothing."""
    asked = {name for name in formats if isinstance(name, str)}
    found = [by_name(name).layout for name in asked.intersection(names())]
    prefixes = {name.partition(":")[0] for name in asked if ":" in name}
    if prefixes:
        found += [family.layout for family in families() if family.name in prefixes]
    return frozenset[str]().union(*found)


def adapters() -> list[Adapter]:
    """All adapters but those of families, by name."""
    return [by_name(name) for name in names()]


def by_content(head: bytes, path: str | Path = "") -> list[Adapter]:
    """The adapters that recognise the first bytes of a decompressed file, unless its name says that it is another's."""
    name = _plain_name(path)
    return [
        adapter
        for adapter in adapters()
        if adapter.sniff is not None
        and adapter.sniff(head)
        and not any(fnmatch(name, pattern) for pattern in adapter.not_patterns)
    ]


def by_suffix(path: str | Path) -> Adapter | None:
    """The adapter to try first for a file of this name, without loading another."""
    return _by_suffix(_plain_name(path).rpartition(".")[2])


@cache
def _by_suffix(suffix: str) -> Adapter | None:
    found = next(iter(entry_points(group=SUFFIXES, name=suffix)), None)
    return None if found is None else _loaded(found)


def uncompressed_name(path: str | Path) -> str:
    """The name of a file without its folder and the suffixes of compressions."""
    name = Path(path).name
    for suffix in COMPRESSIONS:
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
    return name


def _plain_name(path: str | Path) -> str:
    return uncompressed_name(path).lower()


def by_file_name(path: str | Path) -> list[Adapter]:
    """The adapters whose patterns match a file name, a compression's suffix aside."""
    name = _plain_name(path)
    return [adapter for adapter in adapters() if any(fnmatch(name, pattern) for pattern in adapter.patterns)]
