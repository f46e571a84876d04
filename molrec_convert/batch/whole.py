"""What only a whole archive tells: links that lead nowhere, and records that are folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from molrec_convert.forms import DOCUMENT
from molrec_convert.records.layout import SECTIONS

from .journal import Journal
from .names import INSIDE

Failed = tuple[str, str, str]
"""A source, its error, and the kind of that."""


def settle(journal: Journal, archive: str, links: Iterable[tuple[str, str]]) -> Iterator[Failed]:
    """Look at an archive whose members are all noted, within a transaction; give what fails.

    Parameters
    ----------
    journal
        Where they are noted.
    archive
        The archive, as a source.
    links
        Its links that were skipped, each with the path in the archive to which it leads.
    """
    for source, target in links:
        if target != "." and not _is_there(journal, f"{archive}{INSIDE}{target}"):
            yield from _failed(journal, source, f"a link that leads nowhere: there is no {target} in the archive")
    for folder in _records(journal, archive):
        first = f"{folder}/"
        name = folder.removeprefix(f"{archive}{INSIDE[:1]}").lstrip("/") or "."
        journal.change(
            "UPDATE files SET state = 'skipped', reason = ?, format = NULL, error = NULL, error_kind = NULL "
            "WHERE source >= ? AND source < ? AND state <> 'other'",
            (f"a part of the record {name}", first, f"{folder}0"),
        )
        message = "a record that is a folder, in an archive: unpack it first, or pack it as *.mrec.zip"
        yield from _failed(journal, f"{first}{DOCUMENT}", message)


def _is_there(journal: Journal, target: str) -> bool:
    """Whether there is a member of this name, or one in a folder or an archive of this name."""
    query = "SELECT 1 FROM files WHERE source = ? OR (source >= ? AND source < ?) OR (source >= ? AND source < ?)"
    inside = f"{target}{INSIDE}"
    return journal.row(query, (target, f"{target}/", f"{target}0", inside, f"{inside[:-1]}0")) is not None


def _records(journal: Journal, archive: str) -> list[str]:
    """The folders in an archive that are records, since a folder of theirs is a section; others are parts of these."""
    query = "SELECT source FROM files WHERE archive = ? AND name = ?"
    groups = {row["source"].removesuffix(f"/{DOCUMENT}") for row in journal.rows(query, (archive, DOCUMENT))}
    found: list[str] = []
    for folder in sorted(groups, key=len):
        if any(f"{folder}/{name}" in groups for name in SECTIONS) and not folder.startswith(
            tuple(f"{each}/" for each in found)
        ):
            found.append(folder)
    return found


def _failed(journal: Journal, source: str, message: str) -> Iterator[Failed]:
    error, kind = f"{source}: {message}", "refused"
    change = "state = 'failed', reason = NULL, error = ?, error_kind = ?"
    if journal.change(f"UPDATE files SET {change} WHERE source = ? AND state <> 'other'", (error, kind, source)):
        yield source, error, kind
