"""What the words on the command line stand for: folders, files, patterns and addresses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from molrec_convert.errors import OptionError

MAGIC = frozenset("*?[")
REMOTE = "://"

Pattern = tuple[str, ...]
"""A pattern of paths, part by part; ``**`` stands for any folders, ``*`` for a part of one name."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, or an address, below which sources lie.

    Parameters
    ----------
    path
        The folder without a link in its path, or the address.
    patterns
        Which files below it are meant; None for all.
    names
        Files in it that are meant by name.
    """

    path: str
    patterns: tuple[Pattern, ...] | None
    names: frozenset[str] = frozenset()

    @property
    def is_remote(self) -> bool:
        """Whether it is an address."""
        return REMOTE in self.path

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.rstrip("/").rpartition("/")[2] or "root"

    @property
    def is_listed(self) -> bool:
        """Whether only files that were named are meant, so that nothing else needs to be looked at."""
        return self.patterns == ()

    def means(self, place: str) -> bool:
        """Whether a file at a place below it is meant."""
        if self.patterns is None or place in self.names:
            return True
        parts = tuple(place.split("/"))
        return any(_matches(parts, pattern) for pattern in self.patterns)

    def joined(self, others: Sequence[Root]) -> Root:
        """One root of all that this and others of the same path mean."""
        roots = [self, *others]
        if any(each.patterns is None for each in roots):
            return Root(self.path, None)
        patterns = dict.fromkeys(pattern for each in roots for pattern in each.patterns or ())
        return Root(self.path, tuple(patterns), frozenset().union(*(each.names for each in roots)))

    def as_text(self) -> str:
        """What of it is meant, as JSON."""
        return json.dumps({"patterns": self.patterns, "names": sorted(self.names)})

    @classmethod
    def of_text(cls, path: str, text: str) -> Root:
        """The root of a path of which `as_text` says what is meant."""
        document = json.loads(text)
        patterns = document["patterns"]
        return cls(path, None if patterns is None else tuple(map(tuple, patterns)), frozenset(document["names"]))


def roots_of(sources: Sequence[str | Path]) -> list[Root]:
    """The roots of some sources, by path.

    Raises
    ------
    OptionError
        Where one does not exist, or lies in another, so that its files would be migrated twice.
    """
    found: dict[str, tuple[list[Pattern] | None, set[str]]] = {}
    for source in sources:
        path, patterns, names = _understood(str(source))
        known, called = found.setdefault(path, ([], set()))
        called.update(names)
        found[path] = (None if known is None or patterns is None else [*known, *patterns]), called
    roots = [
        Root(path, None if patterns is None else tuple(patterns), frozenset(names))
        for path, (patterns, names) in sorted(found.items())
    ]
    check_apart(roots)
    return roots


def _understood(source: str) -> tuple[str, list[Pattern] | None, list[str]]:
    """The folder that a source is or lies in, and what of it is meant."""
    if REMOTE in source:
        return source.rstrip("/"), None, []
    path = Path(source)
    if path.is_dir():
        return str(path.resolve()), None, []
    if path.exists() or path.is_symlink():
        return str(path.parent.resolve()), [], [path.name]
    if not MAGIC.intersection(source):
        raise OptionError("there is no such file or folder", path=source)
    parts = path.parts
    first = next(k for k, part in enumerate(parts) if MAGIC.intersection(part))
    base = Path(*parts[:first]) if first else Path()
    if not base.is_dir():
        raise OptionError("there is no such file or folder", path=source)
    return str(base.resolve()), [parts[first:]], []


def _matches(parts: tuple[str, ...], pattern: Pattern) -> bool:
    """Whether a path, or a folder that it lies in, is of a pattern."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_matches(parts[k:], pattern[1:]) for k in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _reaches(folder: tuple[str, ...], pattern: Pattern) -> bool:
    """Whether a pattern may be that of something in a folder."""
    if not folder or not pattern or pattern[0] == "**":
        return True
    return fnmatchcase(folder[0], pattern[0]) and _reaches(folder[1:], pattern[1:])


def check_apart(roots: Sequence[Root]) -> None:
    """Two roots of which one lies in the other; what was named or matched in a folder is looked at there alone."""
    for outer in roots:
        for inner in roots:
            if inner is outer or not inner.path.startswith(outer.path.rstrip("/") + "/"):
                continue
            below = inner.path[len(outer.path.rstrip("/")) + 1 :]
            if outer.patterns is None or any(_reaches(tuple(below.split("/")), each) for each in outer.patterns):
                raise OptionError(
                    f"it lies in {outer.path}, so that its files would be migrated twice", path=inner.path
                )
