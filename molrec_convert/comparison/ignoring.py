"""What a comparison leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

PROVENANCE = frozenset(("source", "topology", "creator", "convert"))
"""What the document of a record says of its making."""


class Ignored:
    """Names that are not compared; each may be a pattern such as ``atoms.v*``.

    A name stands for all that begins with it and a dot: ``atoms`` for ``atoms.x``, ``units`` for ``units.length``.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(names, False)
        self._known: dict[str, bool] = {}

    def __contains__(self, item: str) -> bool:
        """Whether an item is left out."""
        if item not in self._known:
            hits = [name for name in self._names if any(fnmatchcase(each, name) for each in _names_of(item))]
            self._names.update(dict.fromkeys(hits, True))
            self._known[item] = bool(hits)
        return self._known[item]

    def unmatched(self) -> list[str]:
        """The names that nothing had."""
        return [name for name, hit in self._names.items() if not hit]


def _names_of(item: str) -> list[str]:
    """An item and what it is a part of; the section of a block and the ``meta`` of a key may be left away."""
    section, _, inner = item.rpartition("/")
    parts = inner.split(".")
    names = [".".join(parts[: k + 1]) for k in range(len(parts))]
    if parts[0] == "meta" and len(parts) > 1:
        names.append(".".join(parts[1:]))
    if parts[0] == "record" and parts[1:2] and parts[1] in PROVENANCE:
        names.append("provenance")
    return names + ([section, item] if section else [item])
