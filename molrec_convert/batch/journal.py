"""The journal of a migration: an SQLite database with one row a source.

One process writes it, in transactions that are on the disk when they end; others may read meanwhile. What a run was
killed in is undone by SQLite, and what it had not noted yet is done again by the next: records come into being whole
under their names, and the same source gives the same bytes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from molrec_convert.errors import ConvertError, RecordError, TargetError

from .journal_tables import DOCUMENTS, LISTS, NOTES, RESULTS, TABLES

VERSION = "1"
NAME = "journal"
SUFFIX = ".sqlite"
STALE = "the record of what it held before is still there"
FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)

Row = sqlite3.Row


class Journal:
    """The database of a migration.

    Parameters
    ----------
    path
        The file; None for a temporary one that nobody else sees.
    writable
        Whether this process is the one that writes it.
    """

    def __init__(self, path: Path | None, *, writable: bool) -> None:
        self.path = path
        self._is_writable = writable and path is not None
        try:
            if path is None:
                self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            elif writable:
                self._db = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
            else:
                self._db = _opened_to_read(path)
            self._db.row_factory = Row
            self._prepare(writable=writable or path is None)
        except sqlite3.Error as error:
            raise trouble(error, path) from None

    def _prepare(self, *, writable: bool) -> None:
        if writable:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
        known = self._db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'about'").fetchone()[0]
        if not known and not writable:
            raise RecordError("this is no journal of a migration", path=self.path)
        if not known:
            with self.changing():
                for statement in TABLES.split(";\n"):
                    self._db.execute(statement)
                self.tell("journal", VERSION)
        elif (found := self.told("journal")) != VERSION:
            raise RecordError(f"the journal is of version {found}, this program knows {VERSION}", path=self.path)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One transaction, which is on the disk at its end or has not been."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise trouble(error, self.path) from None

    def copy_to(self, other: Journal) -> None:
        """Copy all of it."""
        self._db.backup(other._db)

    def close(self) -> None:
        """Close the database; the one who wrote it leaves a single file."""
        if self._is_writable:
            with suppress(sqlite3.Error):  # somebody reads it
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ what holds for all files
    def tell(self, key: str, value: str) -> None:
        """Note something about the migration."""
        self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def told(self, key: str) -> str | None:
        """What was noted."""
        row = self._db.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def rows(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[Row]:
        """Rows of a query, as they come."""
        try:
            yield from self._db.execute(query, parameters)
        except sqlite3.Error as error:
            raise trouble(error, self.path) from None

    def row(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        """The first row of a query."""
        return next(self.rows(query, parameters), None)

    def change(self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> int:
        """Change rows within a transaction; give how many."""
        return self._db.execute(statement, parameters).rowcount

    # ------------------------------------------------------------ files
    def put(self, row: Mapping[str, Any]) -> None:
        """Note a source as it was found; what was known of another content of it is forgotten, but not its output."""
        names = list(row)
        forgotten = ", ".join(f"{name} = NULL" for name in RESULTS if name not in row)
        updates = ", ".join(f"{name} = excluded.{name}" for name in names)
        self._db.execute(
            f"INSERT INTO files ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            f"ON CONFLICT (source) DO UPDATE SET {updates}, {forgotten}",
            [_stored(value) for value in row.values()],
        )

    def finish(self, source: str, results: Mapping[str, Any]) -> None:
        """Note how a file went."""
        names = ", ".join(f"{name} = ?" for name in results)
        values = [_stored(value) for value in results.values()]
        counted = "attempts = attempts + 1, written = max(written, state = 'done')"
        self._db.execute(f"UPDATE files SET {names} WHERE source = ?", [*values, source])
        self._db.execute(f"UPDATE files SET {counted} WHERE source = ?", (source,))

    def counts(self) -> dict[str, tuple[int, int]]:
        """How many files there are of every state, and their bytes."""
        query = "SELECT state, count(*), coalesce(sum(size), 0) FROM files WHERE state <> 'other' GROUP BY state"
        found = self.rows(query)
        return {state: (files, size) for state, files, size in found}


def _opened_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, even where the folder cannot be written."""
    address = path.absolute().as_uri()
    for mode in ("mode=ro", "immutable=1"):
        db = sqlite3.connect(f"{address}?{mode}", uri=True, isolation_level=None, timeout=60, check_same_thread=False)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db.close()
            if mode != "mode=ro":
                raise
        else:
            return db
    raise AssertionError


def _stored(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | tuple) else value


def plain(row: Row, names: Iterable[str]) -> dict[str, Any]:
    """Columns of a row as plain data."""
    return {name: _plain(row, name) for name in names}


def _plain(row: Row, name: str) -> Any:
    if name == "notes":
        notes = [row[each] for each in NOTES if row[each] is not None]
        return [*notes, f"{STALE}: {row['output']}"] if _is_stale(row) else notes
    value = row[name]
    if name == "output" and row["state"] != "done":
        return None
    if name in LISTS:
        return [] if value is None else json.loads(value)
    return json.loads(value) if name in DOCUMENTS and value is not None else value


def _is_stale(row: Row) -> bool:
    """Whether the record of a source is one of an earlier content, since the present one gave none."""
    return bool(row["written"]) and row["state"] in ("failed", "skipped")


def trouble(error: sqlite3.Error, path: Path | None) -> ConvertError:
    """What to say where the database cannot be used."""
    what = "the disk is full" if error.sqlite_errorcode in FULL else str(error)
    return TargetError(f"the journal cannot be used: {what}", path=path)


def journal_name(shard: tuple[int, int] | None) -> str:
    """The name of the journal of a part of a migration, or of all of it."""
    return NAME + SUFFIX if shard is None else f"{NAME}-{shard[0]}-of-{shard[1]}{SUFFIX}"


def journals_in(out: Path) -> list[Path]:
    """The journals of a folder: one, or one for each part."""
    found = sorted(out.glob(f"{NAME}*{SUFFIX}")) if out.is_dir() else []
    if not found:
        raise RecordError("there is no migration here: no journal", path=out)
    return found
