"""How a migration stands: rows for people and programs, from all journals of a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from heapq import merge
from pathlib import Path
from typing import Any, TextIO

from molrec_convert.errors import OptionError
from molrec_convert.part import PartFile

from .contents import checksum
from .journal import Journal, journals_in, plain
from .journal_tables import SHOWN
from .progress import Summary

STATES = ("done", "failed", "skipped", "pending")


def rows_of(
    out: str | Path, *, states: Sequence[str] = STATES, columns: Sequence[str] = SHOWN
) -> Iterator[dict[str, Any]]:
    """The sources of a migration in order, each as plain data; see `journal_tables.SHOWN`.

    Raises
    ------
    RecordError
        Where the folder holds no migration.
    """
    marks = ", ".join("?" for _ in states)
    query = f"SELECT * FROM files WHERE state IN ({marks}) ORDER BY source"
    with ExitStack() as stack:
        journals = [stack.enter_context(Journal(path, writable=False)) for path in journals_in(Path(out))]
        rows = [journal.rows(query, list(states)) for journal in journals]
        for row in merge(*rows, key=lambda row: str(row["source"]).encode()):  # as SQLite orders text
            yield plain(row, columns)


def summary_of(out: str | Path) -> Summary:
    """How many sources there are of every state."""
    counts: dict[str, tuple[int, int]] = {}
    for path in journals_in(Path(out)):
        with Journal(path, writable=False) as journal:
            for state, (files, size) in journal.counts().items():
                before = counts.get(state, (0, 0))
                counts[state] = before[0] + files, before[1] + size
    return Summary.of(counts)


def write_json(out: str | Path, file: TextIO, *, states: Sequence[str] = STATES) -> None:
    """Write the rows as a JSON list, one after another."""
    first = True
    file.write("[")
    for row in rows_of(out, states=states):
        file.write(("\n" if first else ",\n") + json.dumps(row, ensure_ascii=False))
        first = False
    file.write("]\n" if first else "\n]\n")


def write_csv(out: str | Path, file: TextIO, *, states: Sequence[str] = STATES) -> None:
    """Write the rows as CSV; lists are joined by semicolons, objects are JSON."""
    writer = csv.DictWriter(file, SHOWN)
    writer.writeheader()
    for row in rows_of(out, states=states):
        writer.writerow({name: _cell(value) for name, value in row.items()})


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict) else value


def export(out: str | Path, target: str | Path, *, force: bool = False) -> None:
    """Write the journal to a file: ``*.csv`` or ``*.json``."""
    path = Path(target)
    writers = {".csv": write_csv, ".json": write_json}
    write = writers.get(path.suffix.lower())
    if write is None:
        raise OptionError(f"a journal is exported as {' or '.join(f'*{each}' for each in writers)}", path=path)
    with PartFile(path, force=force) as part:
        with part.path.open("w", encoding="utf-8", newline="") as file:
            write(out, file)
        part.commit()


def check(out: str | Path) -> Iterator[tuple[str, str]]:
    """Compare every record with its checksum; give the source and the trouble of those that are not as they were."""
    for row in rows_of(out, states=("done",), columns=("source", "output", "output_sha256")):
        path = Path(out) / row["output"]
        if not path.exists():
            yield row["source"], f"its record is not there any more: {row['output']}"
        elif checksum(path) != row["output_sha256"]:
            yield row["source"], f"its record is not as it was written: {row['output']}"
