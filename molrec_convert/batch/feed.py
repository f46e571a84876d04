"""The jobs of a migration, in order, as they are asked for: no more of the archives is unpacked than is bounded.

A file on its own is read where it is. A member of an archive is first written to a folder for what is temporary,
under its own name alone, and removed when it is done. An archive is read once from its beginning to its end; once
more before, where topologies of its members are in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Condition
from typing import BinaryIO

from molrec_convert.errors import ConvertError

from .archives import FAULTS, Member, members
from .failures import Failure, failure_of
from .job import Job, Outcome
from .journal import Journal, Row
from .names import INSIDE, printable
from .remote import RemoteFolder, address_of
from .settings import Limits, Settings

AT_ONCE = 200
"""Rows of the journal that are looked at together."""
PIECE = 1 << 20

Fed = Job | Outcome
"""What there is to do, or why it cannot be done."""


class StoppedError(Exception):
    """The work was ended while a member waited for room."""


class Feed:
    """Gives the jobs of all sources that wait for their turn.

    Parameters
    ----------
    journal
        A connection of this feed's own.
    scratch
        The folder for what is temporary.
    settings, verify, limits
        As for `Job`.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        scratch: Path,
        settings: Settings,
        verify: str,
        limits: Limits,
    ) -> None:
        self._journal, self._scratch = journal, scratch
        self._settings, self._verify, self._limits = settings.as_json(), verify, limits
        self._roots = {row["name"]: row["path"] for row in journal.rows("SELECT name, path FROM roots")}
        self._number = 0
        self._used = 0
        self._room: dict[str, tuple[Path, int]] = {}
        self._lent: dict[str, Path] = {}
        self._returned: set[Path] = set()
        self._changed = Condition()
        self._is_stopped = False

    def __iter__(self) -> Iterator[Fed]:
        yield from self._files()
        for row in self._archives():
            yield from self._of_archive(row)

    def done(self, source: str) -> None:
        """Free what was unpacked for a source."""
        with self._changed:
            folder, size = self._room.pop(source, (None, 0))
            self._used -= size
            lent = self._lent.pop(source, None)
            self._changed.notify_all()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if lent is not None:
            self._remove_unused(lent)

    def stop(self) -> None:
        """Let nothing wait for room any more."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    # ------------------------------------------------------------ files on their own
    def _files(self) -> Iterator[Fed]:
        """The largest first, so that none is left over at the end; those that need a member of an archive later."""
        query = (
            "SELECT * FROM files WHERE state = 'pending' AND archive IS NULL "
            f"AND (size, id) < (?, ?) ORDER BY size DESC, id DESC LIMIT {AT_ONCE}"
        )
        last = (1 << 62, 1 << 62)
        while rows := list(self._journal.rows(query, last)):
            last = (rows[-1]["size"] or 0, rows[-1]["id"])
            for row in rows:
                yield self._job(row, self._address(row), self._topology(row, {}))

    def _address(self, row: Row) -> str:
        root, place = self._roots[row["root"]], row["place"]
        if "://" in root:
            return address_of(root, place)
        return os.fsdecode(os.path.join(os.fsencode(root), place))

    def _topology(self, row: Row, unpacked: dict[str, Path]) -> str | None:
        source = row["topology"]
        if source is None:
            return None
        if source in unpacked:
            with self._changed:
                self._lent[row["source"]] = unpacked[source]
            return str(unpacked[source])
        found = self._journal.row("SELECT * FROM files WHERE source = ?", (source,))
        return None if found is None or found["archive"] is not None else self._address(found)

    def _job(self, row: Row, path: str, topology: str | None) -> Fed:
        if row["topology"] is not None and topology is None and row["topology_given"]:
            text = f"{row['source']}: its topology {row['topology']} lies in another archive: unpack it first"
            return _failed(row, Failure("option", text))
        name = os.path.basename(path)
        limits = self._limits
        return Job(
            source=row["source"],
            path=path,
            name=None if printable(name) == name or "://" in path else printable(name).replace("\\", "_"),
            format=row["format"],
            doubtful=bool(row["doubtful"]),
            size=row["size"] or 0,
            topology=topology,
            topology_name=row["topology"],
            topology_given=bool(row["topology_given"]),
            scratch=str(self._scratch),
            settings=self._settings,
            verify=self._verify,
            timeout=limits.seconds_for(row["size"] or 0),
            ratio=limits.ratio,
        )

    # ------------------------------------------------------------ archives
    def _archives(self) -> Iterator[Row]:
        """One row for each archive that lies on its own and has members that wait."""
        query = (
            "SELECT root, place, min(source) AS source FROM files WHERE archive IS NOT NULL AND state = 'pending' "
            "GROUP BY root, place HAVING min(source) > ? ORDER BY min(source) LIMIT 1"
        )
        last = ""
        while (row := self._journal.row(query, (last,))) is not None:
            yield row
            last = row["source"].partition(INSIDE)[0] + INSIDE[:-1] + chr(ord(INSIDE[-1]) + 1)

    def _of_archive(self, row: Row) -> Iterator[Fed]:
        archive = row["source"].partition(INSIDE)[0]
        unpacked: dict[str, Path] = {}
        try:
            wanted = self._topologies_in(archive)
            if wanted:
                with suppress(ConvertError, OSError):  # told in its turn; the members before a fault serve
                    self._search(self._opened(row), archive, wanted, unpacked)
            yield from self._level(lambda: self._opened(row), archive, unpacked)
        finally:
            self._return(unpacked)

    def _opened(self, row: Row) -> BinaryIO:
        root, place = self._roots[row["root"]], row["place"]
        if "://" in root:
            return next(opened for entry, opened in RemoteFolder(root).entries() if entry.place == place)()
        return open(os.path.join(os.fsencode(root), place), "rb", buffering=0)

    def _level(self, opened: Callable[[], BinaryIO], archive: str, unpacked: dict[str, Path]) -> Iterator[Fed]:
        """The jobs of an archive, those of archives in it included."""
        last = -1
        try:
            with opened() as file:
                for member in _members(file, archive, self._limits):
                    yield from self._of_member(member, archive, unpacked)
                    last = member.ordinal
        except (ConvertError, OSError) as error:
            yield from self._rest_failed(archive, last, failure_of(error))

    def _of_member(self, member: Member, archive: str, unpacked: dict[str, Path]) -> Iterator[Fed]:
        query = "SELECT * FROM files WHERE archive = ? AND ordinal = ? AND state = 'pending'"
        row = self._journal.row(query, (archive, member.ordinal))
        if row is not None:
            yield self._of_row(row, member, unpacked)
        inner = None if row is not None else self._inner(archive, member)
        if inner is not None:
            path = self._unpacked(member, inner)
            yield from self._level(lambda: path.open("rb"), inner, unpacked)
            self.done(inner)

    def _inner(self, archive: str, member: Member) -> str | None:
        """The source of an archive that is a member and has members that wait."""
        source = f"{archive}{INSIDE}{member.key}"
        query = "SELECT 1 FROM files WHERE state = 'pending' AND source >= ? AND source < ? LIMIT 1"
        first = source + INSIDE
        return None if self._journal.row(query, (first, first[:-1] + "0")) is None else source

    def _of_row(self, row: Row, member: Member, unpacked: dict[str, Path]) -> Fed:
        try:
            path = self._unpacked(member, row["source"])
        except FAULTS as error:
            said = " ".join(str(error).split())
            return _failed(row, Failure("format", f"{row['source']}: it cannot be unpacked: {said}"))
        except OSError as error:
            return _failed(row, failure_of(error))
        return self._job(row, str(path), self._topology(row, unpacked))

    def _unpacked(self, member: Member, source: str, *, counted: bool = True) -> Path:
        """Write a member to a folder of its own, when there is room for it."""
        size = member.size if counted else 0
        with self._changed:
            free = self._limits.scratch
            self._changed.wait_for(lambda: self._is_stopped or not self._used or self._used + size <= free)
            if self._is_stopped:
                raise StoppedError
            self._number += 1
            folder = self._scratch / f"member-{self._number}"
            self._used += size
            self._room[source] = folder, size
        try:
            folder.mkdir(parents=True)
            path = folder / _safe(member.place.rpartition("/")[2])
            with member.opened() as packed, path.open("wb") as target:
                shutil.copyfileobj(packed, target, PIECE)
        except BaseException:
            self.done(source)
            raise
        return path

    # ------------------------------------------------------------ topologies in archives
    def _topologies_in(self, archive: str) -> set[str]:
        """The members of an archive, and of archives in it, that are topologies of others that wait."""
        query = "SELECT DISTINCT topology FROM files WHERE state = 'pending' AND topology >= ? AND topology < ?"
        first = archive + INSIDE
        return {row["topology"] for row in self._journal.rows(query, (first, first[:-1] + "0"))}

    def _search(self, file: BinaryIO, archive: str, wanted: set[str], unpacked: dict[str, Path]) -> None:
        """Unpack the topologies of an archive; they stay until the archive is done."""
        with file:
            for member in _members(file, archive, self._limits):
                source = f"{archive}{INSIDE}{member.key}"
                if source in wanted:
                    unpacked[source] = self._unpacked(member, f"{source}\0", counted=False)
                elif any(each.startswith(source + INSIDE) for each in wanted):
                    path = self._unpacked(member, source)
                    self._search(path.open("rb"), source, wanted, unpacked)
                    self.done(source)
                if len(unpacked) == len(wanted):
                    return

    def _return(self, unpacked: dict[str, Path]) -> None:
        """Let topologies go when the last job that reads them is done."""
        self._returned.update(unpacked.values())
        for path in unpacked.values():
            self._remove_unused(path)

    def _remove_unused(self, topology: Path) -> None:
        with self._changed:
            used = topology not in self._returned or topology in self._lent.values()
        if not used:
            shutil.rmtree(topology.parent, ignore_errors=True)

    def _rest_failed(self, archive: str, last: int, failure: Failure) -> Iterator[Outcome]:
        """The members behind a place at which an archive cannot be read on."""
        query = (
            "SELECT * FROM files WHERE archive = ? AND state = 'pending' AND ordinal > ? "
            f"ORDER BY ordinal LIMIT {AT_ONCE}"
        )
        while rows := list(self._journal.rows(query, (archive, last))):
            last = rows[-1]["ordinal"]
            for row in rows:
                yield _failed(row, failure._replace(text=f"{row['source']}: {failure.text}"))


def _members(file: BinaryIO, archive: str, limits: Limits) -> Iterator[Member]:
    name = archive.rpartition("/")[2]
    kind = "zip" if name.lower().endswith(".zip") else "tar"
    return members(kind, file, name, limits)


def _safe(name: str) -> str:
    """The name of a member as the name of a file: its end tells the format, so that is what is kept of a long one."""
    plain = name.replace("\\", "_").replace("/", "_")
    data = plain.encode()
    return plain if len(data) <= 200 else data[-200:].decode("utf-8", "ignore")


def _failed(row: Row, failure: Failure) -> Outcome:
    return Outcome(
        source=row["source"], state="failed", error=failure.text, error_kind=failure.kind, error_line=failure.line,
        error_frame=failure.frame,
    )  # fmt: skip
