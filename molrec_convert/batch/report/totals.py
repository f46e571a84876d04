"""The numbers of a report: totals, and what failed, was left out, warned of or skipped, in groups of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from molrec_convert.batch.failures import KINDS

MOST = 400
"""Groups that are kept apart; what comes then is counted together."""
EXAMPLES = 5
_PLACE = re.compile(r"^[^:]*(?::\d+)?(?: \(frame \d+\))?: (?=\S)")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")


@dataclass(slots=True)
class Group:
    """Things of one kind.

    Parameters
    ----------
    kind
        Of which kind, in a few words.
    text
        What is told of them, without what is different in each.
    count
        How many there are.
    examples
        The first sources, each with its own text.
    """

    kind: str
    text: str
    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Format:
    """The files of one format."""

    done: int = 0
    failed: int = 0
    frames: int = 0
    size: int = 0
    output_size: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Totals:
    """What all rows amount to."""

    states: dict[str, int] = field(default_factory=dict)
    size: int = 0
    frames: int = 0
    output_size: int = 0
    seconds: float = 0.0
    first: str = ""
    last: str = ""
    verified: dict[str, int] = field(default_factory=dict)
    versions: dict[str, None] = field(default_factory=dict)
    options: dict[str, None] = field(default_factory=dict)
    formats: dict[str, Format] = field(default_factory=dict)
    failures: dict[str, Group] = field(default_factory=dict)
    losses: dict[str, Group] = field(default_factory=dict)
    warnings: dict[str, Group] = field(default_factory=dict)
    skipped: dict[str, Group] = field(default_factory=dict)

    def add(self, row: dict[str, Any]) -> None:
        """Count a row."""
        state, source = row["state"], row["source"]
        self.states[state] = self.states.get(state, 0) + 1
        if state == "skipped":
            _count(self.skipped, "", [(source, row["reason"] or "")])
            return
        self._count_format(row)
        if row["finished"]:
            self.first = min(filter(None, (self.first, row["finished"])))
            self.last = max(self.last, row["finished"])
        if state == "failed":
            kind = KINDS.get(row["error_kind"] or "", KINDS["error"])
            _count(self.failures, kind, [(source, row["error"] or "")])
        elif state == "done":
            self._count_done(row)
        _count(self.losses, "", [(source, text) for text in row["loss"]])
        _count(self.warnings, "", [(source, text) for text in row["warnings"] if text not in row["loss"]])

    def _count_done(self, row: dict[str, Any]) -> None:
        self.size += row["size"] or 0
        self.frames += row["frames"] or 0
        self.output_size += row["output_size"] or 0
        self.seconds += row["seconds"] or 0.0
        how = row["verified"] or "not"
        how = how if how in ("full", "not") else "sample"
        self.verified[how] = self.verified.get(how, 0) + 1
        self.versions[row["version"]] = None
        if row["options"]:
            self.options[", ".join(f"{name} = {value}" for name, value in row["options"].items())] = None

    def _count_format(self, row: dict[str, Any]) -> None:
        if row["format"] is None:
            return
        found = self.formats.setdefault(row["format"], Format())
        if row["state"] == "failed":
            found.failed += 1
        elif row["state"] == "done":
            found.done += 1
            found.frames += row["frames"] or 0
            found.size += row["size"] or 0
            found.output_size += row["output_size"] or 0
            found.seconds += row["seconds"] or 0.0


def _count(groups: dict[str, Group], kind: str, told: Iterable[tuple[str, str]]) -> None:
    for source, text in told:
        plain = general(text)
        key = f"{kind}\0{plain}"
        if key not in groups and len(groups) >= MOST:
            key, plain = f"{kind}\0…", "others"
        group = groups.setdefault(key, Group(kind, plain))
        group.count += 1
        if len(group.examples) < EXAMPLES:
            group.examples.append((source, text))


def general(text: str) -> str:
    """A message without its place, its numbers and what it quotes, so that those of one kind are the same.

    >>> general("a/in.dump:17 (frame 3): an atom line has 5 columns, this one 4")
    'an atom line has … columns, this one …'
    """
    return _NUMBER.sub("…", _QUOTED.sub("…", _PLACE.sub("", text)))


def sorted_groups(groups: dict[str, Group]) -> list[Group]:
    """The largest first."""
    return sorted(groups.values(), key=lambda group: (-group.count, group.kind, group.text))
