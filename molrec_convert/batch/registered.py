"""The roots of a migration: what was given once belongs to it for good, under a name and a folder that stay."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from molrec_convert.errors import OptionError

from .journal import Journal
from .names import printable
from .roots import Root, check_apart


class Registered(NamedTuple):
    """A root, its name, the folder of its records, and the archive that it stands for where that is all of it."""

    root: Root
    name: str
    prefix: str
    bare: str | None


def register(journal: Journal, roots: Sequence[Root]) -> list[Registered]:
    """Note roots, and give all that the journal knows.

    Raises
    ------
    OptionError
        Where one of them is not there any more, or lies in another.
    """
    known = known_roots(journal)
    paths = {each.root.path for each in known}
    alone = len(roots) == 1 and not known
    with journal.changing():
        for root in roots:
            if root.path not in paths:
                _add(journal, root, alone=alone)
        for each in known:
            joined = each.root.joined([root for root in roots if root.path == each.root.path])
            journal.change("UPDATE roots SET given = ? WHERE path = ?", (joined.as_text(), joined.path))
    found = known_roots(journal)
    check_apart([each.root for each in found])
    for each in found:
        if not each.root.is_remote and not os.path.isdir(each.root.path):
            raise OptionError("a folder of this migration is not there any more", path=each.root.path)
    return found


def known_roots(journal: Journal) -> list[Registered]:
    """The roots that a journal knows."""
    return [
        Registered(Root.of_text(row["path"], row["given"]), row["name"], row["prefix"], row["bare"])
        for row in journal.rows("SELECT * FROM roots ORDER BY name")
    ]


def _add(journal: Journal, root: Root, *, alone: bool) -> None:
    taken = {row["name"] for row in journal.rows("SELECT name FROM roots")}
    name = base = printable(root.name)
    number = 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    bare = printable(next(iter(root.names))) if alone and root.is_listed and len(root.names) == 1 else None
    values = (name, root.path, "" if alone else name, bare, root.as_text())
    journal.change("INSERT INTO roots VALUES (?, ?, ?, ?, ?)", values)


def settings_told(journal: Journal) -> dict[str, object]:
    """The settings of a migration."""
    found: dict[str, object] = json.loads(journal.told("settings") or "{}")
    return found
