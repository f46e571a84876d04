"""The names of the records: the tree of the sources, mirrored; the same sources get the same names each time.

A record is called like its source, with its own suffix instead of that of the format. Where two sources of a folder
would get the same name, or names that some file systems take for the same, each keeps its full name; where that is
not enough, it gets a mark that comes from the source alone. A record that was written keeps its name. Files whose
format is doubtful always keep their full names, and take none from others.
"""

from __future__ import annotations

from .journal import Journal, Row
from .names import candidates

RESERVED = frozenset((".batch", "report.html"))
"""What a migration itself puts beside the records."""
AT_ONCE = 500
"""Records that are named in one transaction."""


def name_records(journal: Journal, suffix: str) -> None:
    """Name the record of every source that has none yet."""
    waiting = (
        "SELECT id, source, name, folder, stem, doubtful FROM files "
        f"WHERE state IN ('pending', 'other') AND output IS NULL AND source > ? ORDER BY source LIMIT {AT_ONCE}"
    )
    last = ""
    while rows := list(journal.rows(waiting, (last,))):
        last = rows[-1]["source"]
        with journal.changing():
            for row in rows:
                _name(journal, row, suffix)


def _name(journal: Journal, row: Row, suffix: str) -> None:
    rival = _rival(journal, row)
    for name in candidates(row["source"], row["name"], suffix, alone=rival is None and not row["doubtful"]):
        output = "/".join(filter(None, (_mirrored(row["folder"]), name)))
        if not _is_taken(journal, output):
            break
    note = None
    if rival is not None or (name != candidates(row["source"], row["name"], suffix, alone=not row["doubtful"])[0]):
        why = f"{rival} would have the same name" if rival is not None else "its name is taken"
        note = f"its record is called {name}, since {why}"
    statement = "UPDATE files SET output = ?, output_key = ?, naming = ? WHERE id = ?"
    journal.change(statement, (output, output.casefold(), note, row["id"]))


def _rival(journal: Journal, row: Row) -> str | None:
    """Another source of the folder whose record would be called the same."""
    query = (
        "SELECT name FROM files WHERE folder = ? AND stem = ? COLLATE NOCASE AND id <> ? "
        "AND state <> 'skipped' AND NOT doubtful AND format IS NOT NULL ORDER BY source LIMIT 1"
    )
    found = journal.row(query, (row["folder"], row["stem"], row["id"]))
    return None if found is None else str(found["name"])


def _is_taken(journal: Journal, output: str) -> bool:
    """Whether a record has the name, or a folder of the tree needs it."""
    key = output.casefold()
    if journal.row("SELECT 1 FROM files WHERE output_key = ?", (key,)) is not None:
        return True
    folders = "SELECT 1 FROM files WHERE folder = ? OR (folder >= ? AND folder < ?) LIMIT 1"
    return journal.row(folders, (output, output + "/", output + "0")) is not None


def _mirrored(folder: str) -> str:
    """The folder of the records of a folder."""
    first, slash, rest = folder.partition("/")
    return f"{first}_{slash}{rest}" if first in RESERVED else folder
