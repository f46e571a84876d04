"""Migrating archives: `migrate` and `retry`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from molrec_convert.cores import usable_cores
from molrec_convert.errors import OptionError

from .engines import DaskEngine, Engine, LocalEngine
from .feed import Feed
from .job import Outcome
from .journal import Journal, journals_in
from .keeping import Keeper
from .naming import name_records
from .pairing import Pair, pair
from .place import Place
from .progress import Progress, Summary, Watch, unwatched
from .registered import settings_told
from .report import write_report
from .roots import Root, roots_of
from .run import Run
from .scan import Scan
from .settings import VERIFY, Limits, Settings, Verify
from .shards import Shard, shard_of

ENGINES = ("local", "dask")


def migrate(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    settings: Settings | None = None,
    verify: Verify = "sample",
    limits: Limits | None = None,
    pairs: Sequence[str] = (),
    workers: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    shard: Shard | None = None,
    watch: Watch = unwatched,
) -> Summary:
    """Migrate folders, archives and files to records; the same call goes on where one was stopped.

    Parameters
    ----------
    sources
        Folders, files, archives, patterns such as ``runs/**/*.dump``, addresses. Nothing in them is changed.
    out
        The folder of the records, of the journal and of the report.
    settings
        How every file is converted.
    verify
        Which frames are read back and compared with the source: ``full`` for all, ``sample`` for a few, ``none``.
    limits
        What one file may take.
    pairs
        Which topology a trajectory has, as ``TRAJECTORY=TOPOLOGY``; see `batch.pairing`.
    workers
        How many processes work on this machine; by default one a core.
    engine, scheduler
        ``local``; or ``dask`` with the address of its scheduler.
    shard
        Which part of all sources, from 1, and of how many; each part has a journal of its own.
    watch
        Called with the progress, and with the outcome of a file where one has ended.

    Returns
    -------
    Summary
        How many are done, failed, skipped.

    Raises
    ------
    ConvertError
        Where the migration cannot be run; a file that fails is told in the journal instead.
    """
    if verify not in VERIFY:
        raise OptionError(f"a verification is one of {', '.join(VERIFY)}, not {verify!r}")
    roots = apart_from(roots_of(sources), Path(out))
    understood = [Pair.parse(text) for text in pairs]
    settings, limits = settings or Settings(), limits or Limits()
    settings.check()
    with Place(Path(out), shard) as place:
        _note_settings(place.journal, settings, pairs)
        progress = Progress()
        _look(place, roots, settings, limits, understood, shard, progress, watch)
        return _work(place, settings, verify, limits, _engine(engine, scheduler, workers), progress, watch)


def retry(
    out: str | Path,
    *,
    matching: Sequence[str] = (),
    changes: Mapping[str, object] | None = None,
    verify: Verify = "sample",
    limits: Limits | None = None,
    pairs: Sequence[str] | None = None,
    workers: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watch: Watch = unwatched,
) -> Summary:
    """Do again what failed, and go on with what waits.

    Parameters
    ----------
    out
        The folder of a migration.
    matching
        Only failed sources that contain one of these texts.
    changes
        Settings by name that are to be others for these files.
    verify, limits, workers, engine, scheduler, watch
        As for `migrate`.
    pairs
        Pairs besides those that were given before.

    Returns
    -------
    Summary
        Of all parts of the migration.
    """
    limits = limits or Limits()
    counts: dict[str, tuple[int, int]] = {}
    begun, report = time.monotonic(), None
    for path in journals_in(Path(out)):
        shard = shard_of(path.stem)
        with Place(Path(out), shard) as place:
            journal = place.journal
            settings = Settings.from_json({**settings_told(journal), **(changes or {})})
            settings.check()
            known = [*json.loads(journal.told("pairs") or "[]"), *(pairs or ())]
            _reset(journal, matching)
            progress = Progress()
            _look(place, [], settings, limits, [Pair.parse(text) for text in known], shard, progress, watch)
            made = _work(place, settings, verify, limits, _engine(engine, scheduler, workers), progress, watch)
            report = made.report
            for state, (files, size) in journal.counts().items():
                before = counts.get(state, (0, 0))
                counts[state] = before[0] + files, before[1] + size
    return Summary.of(counts, seconds=time.monotonic() - begun, report=report)


# ---------------------------------------------------------------- before
def apart_from(roots: list[Root], out: Path) -> list[Root]:
    """The roots, none of which is or lies in the folder of the records."""
    target = str(out.resolve())
    for root in roots:
        if root.path == target or root.path.startswith(target + os.sep):
            raise OptionError("a source lies in the folder of the records", path=root.path)
    return roots


def _note_settings(journal: Journal, settings: Settings, pairs: Sequence[str]) -> None:
    """Note how files are converted; one folder holds records that were all made in one way.

    While there is none, as where all failed for a wrong option, another way is as good.
    """
    known, asked = journal.told("settings"), json.dumps(settings.as_json(), sort_keys=True)
    is_other = known is not None and known != asked
    if is_other and journal.row("SELECT 1 FROM files WHERE written") is not None:
        message = f"this migration was begun with other options ({known}, not {asked}): go on with these, or elsewhere"
        raise OptionError(message, path=journal.path)
    if is_other:
        _reset(journal, ())
    with journal.changing():
        journal.tell("settings", asked)
        journal.tell("pairs", json.dumps(list(pairs)))


def _reset(journal: Journal, matching: Sequence[str]) -> None:
    """Let failed sources wait for their turn again; they are recognised anew."""
    which = " OR ".join("instr(source, ?)" for _ in matching) or "1"
    with journal.changing():
        journal.change(
            f"UPDATE files SET state = 'pending', modified = -1, error = NULL, error_kind = NULL, error_line = NULL, "
            f"error_frame = NULL WHERE state = 'failed' AND ({which})",
            list(matching),
        )
        journal.change(
            "DELETE FROM scanned WHERE EXISTS (SELECT 1 FROM files WHERE modified = -1 AND "
            "(source = scanned.archive OR (source >= scanned.archive || '!/' AND source < scanned.archive || '!0')))"
        )


def _look(
    place: Place,
    roots: list[Root],
    settings: Settings,
    limits: Limits,
    pairs: Sequence[Pair],
    shard: Shard | None,
    progress: Progress,
    watch: Watch,
) -> None:
    """Find the sources, pair them, and name their records."""

    def told(found: int) -> None:
        progress.files = found
        watch(progress, None)

    def refused(source: str, error: str, kind: str) -> None:
        watch(progress, Outcome(source=source, state="failed", error=error, error_kind=kind))

    watch(progress, None)
    Scan(
        place.journal,
        scratch=place.scratch,
        limits=limits,
        besides=place.out,
        shard=shard,
        told=told,
        refused=refused,
    ).look(roots)
    _look_for_records(place)
    pair(place.journal, pairs)
    name_records(place.journal, settings.suffix)


def _look_for_records(place: Place) -> None:
    """Do again what was done, where its record is not there any more or is not as large."""
    query = "SELECT id, output, output_size FROM files WHERE state = 'done' AND id > ? ORDER BY id LIMIT 500"
    last = 0
    while rows := list(place.journal.rows(query, (last,))):
        last = rows[-1]["id"]
        lost = [row["id"] for row in rows if not _is_there(place.out / row["output"], row["output_size"])]
        if lost:
            with place.journal.changing():
                for number in lost:
                    place.journal.change("UPDATE files SET state = 'pending' WHERE id = ?", (number,))


def _is_there(path: Path, size: int | None) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return path.is_dir() or size is None or found.st_size == size


def _engine(engine: str, scheduler: str | None, workers: int | None) -> Callable[[Sequence[int]], Engine]:
    """What makes the engine that is asked for, given the descriptors that its workers keep open."""
    if engine not in ENGINES:
        raise OptionError(f"an engine is one of {', '.join(ENGINES)}, not {engine!r}")
    if (engine == "dask") != (scheduler is not None):
        raise OptionError("--engine dask and --scheduler tcp://… go together")
    if scheduler is not None:
        return lambda held: DaskEngine(scheduler)
    count = workers if workers is not None else usable_cores()
    return lambda held: LocalEngine(count, held)


# ---------------------------------------------------------------- work
def _work(
    place: Place,
    settings: Settings,
    verify: Verify,
    limits: Limits,
    make: Callable[[Sequence[int]], Engine],
    progress: Progress,
    watch: Watch,
) -> Summary:
    begun = time.monotonic()
    journal = place.journal
    progress.start(journal.counts())
    watch(progress, None)
    if journal.row("SELECT 1 FROM files WHERE state = 'pending'") is not None:
        with ExitStack() as stack:
            engine = make((place.lock,))
            stack.callback(engine.close)
            assert journal.path is not None
            reading = stack.enter_context(Journal(journal.path, writable=False))
            feed = Feed(reading, scratch=place.scratch, settings=settings, verify=verify, limits=limits)
            keeper = stack.enter_context(Keeper(place.out))
            Run(journal, feed, engine, keeper, progress=progress, watch=watch).go()
    progress.stage = "reporting"
    watch(progress, None)
    report = write_report(place.out)
    return Summary.of(journal.counts(), seconds=time.monotonic() - begun, report=str(report))
