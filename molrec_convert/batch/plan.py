"""What a migration would do, found out without writing anything where the records would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from molrec_convert.registry import COMPRESSIONS

from .journal import Journal, Row, journal_name
from .migrate import apart_from
from .naming import name_records
from .pairing import Pair, pair
from .roots import roots_of
from .scan import Scan
from .settings import Limits, Settings
from .shards import Shard

BYTES_A_SECOND, SECONDS_A_FILE = 25e6, 0.015
"""What a worker does of text, reading a few frames of it once more, where nothing was measured yet."""
EXPANDED = 4
"""How many times its size a compressed file is as text, roughly."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What is planned for a source.

    Parameters
    ----------
    source, format, size, state
        As the journal has them.
    topology, output
        The file that says what its atoms are, and its record.
    remark
        Why it is skipped or refused; how its record is called, and why.
    """

    source: str
    format: str | None
    size: int | None
    state: str
    topology: str | None
    output: str | None
    remark: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be expected of the sources that wait.

    Parameters
    ----------
    files, bytes
        How many there are, and their bytes.
    output
        Bytes of their records, roughly.
    seconds
        How long one worker takes, roughly.
    measured
        Whether files of the same formats that are done already were the measure.
    """

    files: int
    bytes: int
    output: int
    seconds: float
    measured: bool


class Plan:
    """What a migration would do; a context manager.

    Parameters
    ----------
    sources, out, settings, limits, pairs, shard
        As for `migrate`. Where `out` holds a migration, it is what would be done next.
    """

    def __init__(
        self,
        sources: Sequence[str | Path],
        out: str | Path,
        *,
        settings: Settings | None = None,
        limits: Limits | None = None,
        pairs: Sequence[str] = (),
        shard: Shard | None = None,
    ) -> None:
        settings, limits = settings or Settings(), limits or Limits()
        settings.check()
        roots = apart_from(roots_of(sources), Path(out))
        self._journal = Journal(None, writable=True)
        known = Path(out) / journal_name(shard)
        if known.is_file():
            with Journal(known, writable=False) as journal:
                journal.copy_to(self._journal)
        with TemporaryDirectory(prefix="molrec-convert-") as scratch:
            scan = Scan(self._journal, scratch=Path(scratch), limits=limits, besides=Path(out), shard=shard)
            scan.look(roots)
        pair(self._journal, [Pair.parse(text) for text in pairs])
        name_records(self._journal, settings.suffix)

    def __enter__(self) -> Plan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._journal.close()

    def __iter__(self) -> Iterator[Planned]:
        """The sources in order."""
        for row in self._journal.rows("SELECT * FROM files WHERE state <> 'other' ORDER BY source"):
            yield Planned(
                row["source"], row["format"], row["size"], row["state"], row["topology"],
                row["output"] if row["state"] in ("pending", "done") else None, _remark(row),
            )  # fmt: skip

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many sources there are of every state, and their bytes."""
        return self._journal.counts()

    @property
    def estimate(self) -> Estimate:
        """What is to be expected."""
        done = {
            row["format"]: (row["seconds"] / row["files"], row["output_size"] / max(1, row["size"]), row["size"])
            for row in self._journal.rows(
                "SELECT format, count(*) AS files, sum(seconds) AS seconds, sum(size) AS size, "
                "sum(output_size) AS output_size FROM files WHERE state = 'done' GROUP BY format"
            )
        }
        files = size = 0
        output = seconds = 0.0
        for row in self._journal.rows("SELECT name, format, size FROM files WHERE state = 'pending'"):
            files, size = files + 1, size + (row["size"] or 0)
            text = (row["size"] or 0) * (EXPANDED if row["name"].lower().endswith(COMPRESSIONS) else 1)
            known = done.get(row["format"])
            output += (row["size"] or 0) * known[1] if known else text
            seconds += known[0] if known else SECONDS_A_FILE + text / BYTES_A_SECOND
        return Estimate(files, size, int(output), seconds, bool(done))


def _remark(row: Row) -> str:
    error = (row["error"] or "").removeprefix(f"{row['source']}: ") if row["state"] == "failed" else ""
    return "; ".join(filter(None, (row["reason"], error, row["pairing"], row["naming"])))
