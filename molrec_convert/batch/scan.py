"""Finding the sources: every file and every member of an archive gets a row in the journal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from molrec_convert.errors import ConvertError
from molrec_convert.forms import ZARR

from .archives import FAULTS, Member, members
from .journal import Journal
from .names import INSIDE, printable, stem_of
from .recognise import Kind, recognised
from .registered import Registered, register
from .remote import RemoteFolder
from .roots import Root
from .settings import Limits
from .shards import Shard, is_of_shard
from .walk import Entry, Walk, said
from .whole import settle

BATCH = 500
"""Sources that are noted in one transaction."""
DEEPEST = 4
"""Archives in archives in archives that are opened."""

Told = Callable[[int], None]
"""Called with the number of sources found so far."""
Refused = Callable[[str, str, str], None]
"""Called with a source that fails unread, the error, and its kind; once it is noted."""


class Scan:
    """One look at all sources.

    Parameters
    ----------
    journal
        Where they are noted.
    scratch
        A folder for archives that lie in archives.
    limits
        What archives may expand to.
    besides
        A folder that is left out.
    shard
        The part of all sources that is migrated here; the others are noted, too, since names depend on them.
    told
        Called now and then.
    refused
        Called for each source that is found to be none that can be read.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        scratch: Path,
        limits: Limits,
        besides: Path | None = None,
        shard: Shard | None = None,
        told: Told | None = None,
        refused: Refused | None = None,
    ) -> None:
        self._journal, self._limits, self._told, self._refused = journal, limits, told, refused
        self._scratch, self._shard = scratch, shard
        self._besides = None if besides is None else os.fsencode(besides)
        self._number = int(journal.told("scans") or 0) + 1
        self._waiting: list[Callable[[], object]] = []
        self._failed: list[tuple[str, str, str]] = []
        self._found = 0
        self._inner = count()

    def look(self, roots: Sequence[Root]) -> None:
        """Look at these roots and at those that were known before, and note what has gone."""
        for known in register(self._journal, roots):
            for entry, opened in _entries(known.root, self._besides):
                if known.root.means(printable(entry.place)):
                    self._entry(known, entry, opened)
        self._note(lambda: self._journal.tell("scans", str(self._number)))
        self._flush()
        self._note_gone()

    def _note_gone(self) -> None:
        """Fail what waits and is not there any more."""
        where = "WHERE state = 'pending' AND seen < ?"
        gone = [row["source"] for row in self._journal.rows(f"SELECT source FROM files {where}", (self._number,))]
        change = "UPDATE files SET state = 'failed', error = source || ': the source has gone', error_kind = 'gone'"
        self._note(lambda: self._journal.change(f"{change} {where}", (self._number,)))
        self._failed += [(source, f"{source}: the source has gone", "gone") for source in gone]
        self._flush()

    # ------------------------------------------------------------ files
    def _entry(self, known: Registered, entry: Entry, opened: Callable[[], BinaryIO]) -> None:
        place = printable(entry.place)
        source = f"{known.name}/{place}"
        folder, _, own = f"{known.prefix}/{place}".strip("/").rpartition("/")
        row = {
            "source": source, "root": known.name, "place": entry.place, "archive": None, "ordinal": None, "name": own,
            "folder": folder, "size": entry.size, "modified": entry.modified,
        }  # fmt: skip
        if self._is_known(source, entry.size, entry.modified):
            return
        kind = self._kind_of(entry, own, opened)
        if kind.archive is None:
            self._put(row, kind)
            return
        inner = known.prefix if known.bare == own else f"{folder}/{own}".strip("/")
        self._archive({**row, "folder": inner}, kind.archive, opened, depth=1)

    def _kind_of(self, entry: Entry, name: str, opened: Callable[[], BinaryIO]) -> Kind:
        if entry.refused is not None or entry.skipped is not None:
            return Kind(refused=entry.refused, skipped=entry.skipped)
        if entry.is_folder:
            return Kind(format=ZARR.name)
        try:
            with opened() as file:
                return recognised(file, name)
        except OSError as error:
            return Kind(refused=said(error))

    def _is_known(self, source: str, size: int | None, modified: int | None) -> bool:
        """Whether a source was noted before, as it is now; then it, and what it holds, is noted as seen."""
        there = "size IS ? AND modified IS ?"
        if self._journal.row(f"SELECT 1 FROM scanned WHERE archive = ? AND {there}", (source, size, modified)):
            self._seen("source = ? OR (source >= ? AND source < ?)", (source, *_within(source)))
            return True
        row = self._journal.row(f"SELECT id FROM files WHERE source = ? AND {there}", (source, size, modified))
        if row is not None:
            self._seen("id = ?", (row["id"],))
        return row is not None

    def _seen(self, which: str, values: tuple[Any, ...]) -> None:
        statement = f"UPDATE files SET seen = ? WHERE {which}"
        self._note(lambda: self._journal.change(statement, (self._number, *values)))

    # ------------------------------------------------------------ archives
    def _archive(self, row: dict[str, Any], kind: str, opened: Callable[[], BinaryIO], *, depth: int) -> None:
        """Note the members of an archive, and the archive itself where something is wrong with it."""
        source = row["source"]
        self._note(lambda: self._journal.change("DELETE FROM files WHERE source = ?", (source,)))
        if depth > DEEPEST:
            self._put(row, Kind(refused="an archive within archives within archives: unpack them first"))
            return
        links: list[tuple[str, str]] = []
        try:
            with opened() as file:
                for member in members(kind, file, row["name"], self._limits):
                    self._member(row, member, depth)
                    if member.target is not None:
                        links.append((f"{source}{INSIDE}{member.key}", member.target))
        except OSError as error:
            self._put(row, Kind(refused=said(error)))
        except ConvertError as error:
            self._put(row, Kind(refused=error.message))
        self._note(lambda: self._failed.extend(settle(self._journal, source, links)))
        size, modified = row["size"], row["modified"]
        self._note(
            lambda: self._journal.change("INSERT OR REPLACE INTO scanned VALUES (?, ?, ?)", (source, size, modified))
        )

    def _member(self, archive: dict[str, Any], member: Member, depth: int) -> None:
        folder, _, own = f"{archive['folder']}/{member.place}".strip("/").rpartition("/")
        row = {
            **archive, "source": f"{archive['source']}{INSIDE}{member.key}", "archive": archive["source"],
            "ordinal": member.ordinal, "name": own, "folder": folder, "size": member.size,
            "modified": member.modified,
        }  # fmt: skip
        if self._is_known(row["source"], member.size, member.modified):
            number, known = member.ordinal, row["source"]
            self._note(lambda: self._journal.change("UPDATE files SET ordinal = ? WHERE source = ?", (number, known)))
            return
        kind = self._kind_of_member(member, own)
        if kind.archive is None:
            self._put(row, kind)
            return
        with self._unpacked(member) as path:
            self._archive({**row, "folder": f"{folder}/{own}"}, kind.archive, lambda: path.open("rb"), depth=depth + 1)

    def _kind_of_member(self, member: Member, name: str) -> Kind:
        if member.refused is not None or member.skipped is not None:
            return Kind(refused=member.refused, skipped=member.skipped)
        if member.size > self._limits.scratch:
            message = f"{member.size} bytes when unpacked, beyond the {self._limits.scratch} of --scratch-limit"
            return Kind(refused=message)
        try:
            with member.opened() as file:
                return recognised(file, name)
        except FAULTS as error:
            return Kind(refused=f"it cannot be unpacked: {error}")

    @contextmanager
    def _unpacked(self, member: Member) -> Iterator[Path]:
        self._scratch.mkdir(parents=True, exist_ok=True)
        path = self._scratch / f"inner-{next(self._inner)}"
        try:
            with member.opened() as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            yield path
        finally:
            path.unlink(missing_ok=True)

    # ------------------------------------------------------------ rows
    def _put(self, row: dict[str, Any], kind: Kind) -> None:
        what, reason = ("skipped", kind.skipped) if kind.skipped is not None else ("failed", kind.refused)
        state = "pending" if reason is None else what
        if self._shard is not None and not is_of_shard(row["source"], self._shard):
            state = "other"
        found = {
            **row, "stem": stem_of(row["name"]), "format": kind.format, "role": kind.role, "state": state,
            "doubtful": int(kind.doubtful), "reason": reason if state == "skipped" else None, "seen": self._number,
        }  # fmt: skip
        if state == "failed":
            found |= {"error": f"{row['source']}: {reason}", "error_kind": "refused"}
            self._failed.append((row["source"], found["error"], found["error_kind"]))
        self._note(lambda: self._journal.put(found))

    def _note(self, change: Callable[[], object]) -> None:
        self._waiting.append(change)
        self._found += 1
        if len(self._waiting) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        with self._journal.changing():
            for change in self._waiting:
                change()
        self._waiting.clear()
        if self._refused is not None:
            for failed in self._failed:
                self._refused(*failed)
        self._failed.clear()
        if self._told is not None:
            self._told(self._found)


def _within(source: str) -> tuple[str, str]:
    """The range of the sources in an archive."""
    first = source + INSIDE
    return first, first[:-1] + chr(ord(first[-1]) + 1)


def _entries(root: Root, besides: bytes | None) -> Iterator[tuple[Entry, Callable[[], BinaryIO]]]:
    """The files below a root, each with what opens it."""
    if root.is_remote:
        yield from RemoteFolder(root.path).entries()
        return
    base = os.fsencode(root.path)
    walk = Walk(base, besides=besides)
    listed = sorted(map(os.fsencode, root.names)) if root.is_listed else None
    for entry in walk if listed is None else (found for place in listed for found in walk.named(place)):
        yield entry, _opener(os.path.join(base, entry.place))


def _opener(path: bytes) -> Callable[[], BinaryIO]:
    return lambda: open(path, "rb", buffering=0)
