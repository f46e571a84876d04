"""Which files belong together: a trajectory gets what its atoms are from a topology that lies beside it.

The rules, in this order; the first that gives one file decides:

1. What a person says: ``--pair TRAJECTORY=TOPOLOGY``, in which the first may be a pattern and the second ``none``.
2. The topologies, else the structures, of the same folder and the same stem.
3. The topologies, else the structures, of the same folder, where there is one.

Where a rule gives several files, none is taken, and that is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import NamedTuple

from molrec_convert.errors import OptionError

from .journal import Journal, Row
from .names import INSIDE

NONE = "none"
WAITING = (
    "SELECT id, source, name, folder, stem, role FROM files "
    "WHERE state IN ('pending', 'other') AND id > ? ORDER BY id LIMIT 500"
)


class Pair(NamedTuple):
    """What a person says: a pattern of trajectories, and their topology, None for none."""

    trajectory: str
    topology: str | None

    @classmethod
    def parse(cls, text: str) -> Pair:
        """Read ``runs/*.dcd=system.psf``; `OptionError` for anything else."""
        trajectory, equal, topology = text.partition("=")
        if not equal or not trajectory or not topology:
            raise OptionError(f"--pair takes TRAJECTORY=TOPOLOGY, the second perhaps {NONE!r}, not {text!r}")
        return cls(trajectory, None if topology == NONE else topology)


class Choice(NamedTuple):
    """The topology of a trajectory, whether a person gave it, and what there is to say."""

    topology: str | None
    given: bool = False
    note: str | None = None


def pair(journal: Journal, pairs: Sequence[Pair]) -> None:
    """Note the topology of every trajectory that waits for its turn.

    Raises
    ------
    OptionError
        Where a person names a topology that is none of the sources.
    """
    unused = dict.fromkeys(each.trajectory for each in pairs)
    last = 0
    while rows := list(journal.rows(WAITING, (last,))):
        last = rows[-1]["id"]
        chosen = [(row["id"], _choice(journal, row, pairs, unused)) for row in rows]
        with journal.changing():
            for number, choice in chosen:
                statement = "UPDATE files SET topology = ?, topology_given = ?, pairing = ? WHERE id = ?"
                journal.change(statement, (choice.topology, int(choice.given), choice.note, number))
    if unused and journal.row("SELECT 1 FROM files WHERE state = 'done'") is None:
        raise OptionError(f"--pair {next(iter(unused))}=… fits no source")


def _choice(journal: Journal, row: Row, pairs: Sequence[Pair], unused: dict[str, None]) -> Choice:
    said = _said(journal, row, pairs)
    if said is not None:
        unused.pop(said[0], None)
        return said[1]
    return _beside(journal, row) if row["role"] == "trajectory" else Choice(None)


def _said(journal: Journal, row: Row, pairs: Sequence[Pair]) -> tuple[str, Choice] | None:
    """What a person says of a file; the last word on it counts."""
    for each in reversed(pairs):
        if not _fits(row["source"], each.trajectory):
            continue
        if each.topology is None:
            return each.trajectory, Choice(None, given=True)
        topology = _named(journal, row, each.topology)
        if topology is None:
            raise OptionError(f"--pair names {each.topology!r}, which is none of the sources near {row['source']}")
        return None if topology == row["source"] else (each.trajectory, Choice(topology, given=True))
    return None


def _fits(source: str, pattern: str) -> bool:
    """Whether a pattern is that of a source, with or without its first folders."""
    parts = source.split("/")
    return any(fnmatchcase("/".join(parts[k:]), pattern) for k in range(len(parts)))


def _named(journal: Journal, row: Row, name: str) -> str | None:
    """The source of a name: seen from the folder of the trajectory, else from any folder above it."""
    archive, inside, member = row["source"].rpartition(INSIDE)
    folder = member.rpartition("/")[0] if inside else row["source"].rpartition("/")[0]
    base = archive + inside
    while True:
        place = normpath(f"{folder}/{name}" if folder else name)
        found = journal.row("SELECT source FROM files WHERE source = ?", (base + place,))
        if found is not None or not folder:
            return None if found is None else str(found["source"])
        folder = folder.rpartition("/")[0]


def _beside(journal: Journal, row: Row) -> Choice:
    """What lies beside a trajectory."""
    same = "stem = :stem COLLATE NOCASE AND "
    for what, condition in ((f"the stem {row['stem']!r}", same), ("its folder", "")):
        for role in ("topology", "structure"):
            query = (
                f"SELECT source, name FROM files WHERE folder = :folder AND {condition} role = :role "
                "AND state <> 'skipped' AND id <> :id ORDER BY source LIMIT 4"
            )
            found = list(
                journal.rows(query, {"folder": row["folder"], "stem": row["stem"], "role": role, "id": row["id"]})
            )
            if len(found) == 1:
                return Choice(found[0]["source"])
            if found:
                names = ", ".join(each["name"] for each in found[:3]) + (" …" if len(found) > 3 else "")
                return Choice(None, note=f"several files of {what} may be its topology ({names}): --pair chooses one")
    return Choice(None)
