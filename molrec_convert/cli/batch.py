"""``molrec-convert batch SOURCE… OUT``: migrate archives; and how a migration stands."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from molrec_convert.errors import OptionError

from .arguments import TextCommand, TextGroup, words_of
from .convert import pairs_of, precision_of

if TYPE_CHECKING:
    from molrec_convert.batch import Limits, Settings

DEFAULT = "run"
SOME_FAILED = 3
INTERRUPTED = 130

Units = Annotated[str | None, typer.Option(help="Unit style of the files that do not say, where it means something.")]
AtomStyle = Annotated[str | None, typer.Option(help="Columns of the atoms of the files that do not say.")]
TypeMap = Annotated[str | None, typer.Option(help="Elements of the types: 1=Si,2=C.")]
Guess = Annotated[str | None, typer.Option(help="What may be guessed where a file does not say: elements, from names.")]
Verify = Annotated[str, typer.Option(help="Frames that are read back and compared: full (all), sample (a few), none.")]
Jobs = Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Worker processes; by default one a core.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds after which a file is given up; 0 for never. By default 600, or 1 a megabyte."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pair", help="TRAJECTORY=TOPOLOGY: the first may be a pattern, the second none; may be repeated."),
]
Engine = Annotated[str, typer.Option(help="What works: local, or dask.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask scheduler: tcp://host:8786.")]
Scratch = Annotated[
    str, typer.Option("--scratch-limit", help="Room for unpacked members of archives at any moment: 500M, 64G.")
]
Ratio = Annotated[
    float, typer.Option("--max-ratio", min=0, help="How many times its size an archive may expand to; 0 for any.")
]
LogFile = Annotated[Path | None, typer.Option("--log", help="Append every outcome to this file, as lines of JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; errors alone.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The folder of a migration.")]


class BatchGroup(TextGroup):
    """Commands by name, and a migration where the first word is none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=BatchGroup,
    help="Migrate folders and archives to records: molrec-convert batch SOURCE… OUT; the same command goes on where "
    "one was stopped. Exit status 0: all done, 3: some failed, 1: it could not run.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(DEFAULT, cls=TextCommand)
def run(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE… OUT",
            help="Folders, files, archives (zip, tar, tar.gz …), quoted patterns (runs/**/*.dump), addresses; and the "
            "folder of the records. Sources are never written to.",
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and write nothing.")] = False,
    jobs: Jobs = None,
    verify: Verify = "sample",
    timeout: Timeout = None,
    pair: Pairs = None,
    form: Annotated[str, typer.Option("--to", help="Form of the records: h5, mrec, mrec.zip.")] = "h5",
    units: Units = None,
    atom_style: AtomStyle = None,
    type_map: TypeMap = None,
    guess: Guess = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not sort atoms by id.")] = False,
    to_units: Annotated[str | None, typer.Option(help="Convert known quantities to this unit system.")] = None,
    precision: Annotated[
        str | None, typer.Option(help="Keep moving reals to this tolerance: 1e-3, or x=1e-3,vx=1e-6, or auto.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A file that needs a repair fails.")] = False,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    shard: Annotated[str | None, typer.Option(help="The part of all sources that is done here: 2/8.")] = None,
    scratch_limit: Scratch = "64G",
    max_ratio: Ratio = 200.0,
    log: LogFile = None,
    quiet: Quiet = False,
) -> None:
    """Migrate all that is found in SOURCE… to records in OUT."""
    from molrec_convert.batch import Settings
    from molrec_convert.batch.shards import parse_shard

    if len(words) < 2:
        raise typer.BadParameter("sources are due, and the folder of the records")
    *sources, out = words
    settings = Settings(
        units=units,
        atom_style=atom_style,
        type_map=pairs_of(type_map, "--type-map"),
        guess=tuple(words_of(guess)),
        keep_order=keep_order,
        to_units=to_units,
        precision=precision_of(precision),
        strict=strict,
        suffix=f".{form.lstrip('.')}",
    )
    limits = limits_of(timeout, scratch_limit, max_ratio)
    part = None if shard is None else parse_shard(shard)
    if dry_run:
        _show_plan(sources, out, settings, limits, pair or (), part, jobs)
        return

    def work(watch: Any) -> Any:
        from molrec_convert.batch import migrate

        return migrate(
            sources,
            out,
            settings=settings,
            verify=verify,  # type: ignore[arg-type]
            limits=limits,
            pairs=pair or (),
            workers=jobs,
            engine=engine,
            scheduler=scheduler,
            shard=part,
            watch=watch,
        )

    _watched(work, out, log=log, quiet=quiet)


@app.command("retry", cls=TextCommand)
def retry(
    out: Out,
    failed: Annotated[bool, typer.Option("--failed", help="All that failed.")] = False,
    source: Annotated[
        list[str] | None, typer.Option(help="What failed and has this in its name; may be repeated.")
    ] = None,
    jobs: Jobs = None,
    verify: Verify = "sample",
    timeout: Timeout = None,
    pair: Pairs = None,
    units: Units = None,
    atom_style: AtomStyle = None,
    type_map: TypeMap = None,
    guess: Guess = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    scratch_limit: Scratch = "64G",
    max_ratio: Ratio = 200.0,
    log: LogFile = None,
    quiet: Quiet = False,
) -> None:
    """Do again what failed, perhaps with other options."""
    if failed == bool(source):
        raise typer.BadParameter("say --failed for all that failed, or --source for some of it")
    changes: dict[str, object] = {
        "units": units,
        "atom_style": atom_style,
        "type_map": pairs_of(type_map, "--type-map"),
        "guess": tuple(words_of(guess)),
    }

    def work(watch: Any) -> Any:
        from molrec_convert.batch import retry as again

        return again(
            out,
            matching=source or (),
            changes={name: value for name, value in changes.items() if value},
            verify=verify,  # type: ignore[arg-type]
            limits=limits_of(timeout, scratch_limit, max_ratio),
            pairs=pair,
            workers=jobs,
            engine=engine,
            scheduler=scheduler,
            watch=watch,
        )

    _watched(work, str(out), log=log, quiet=quiet)


@app.command("status", cls=TextCommand)
def status(
    out: Out,
    as_json: Annotated[bool, typer.Option("--json", help="Every source, as a JSON list.")] = False,
    state: Annotated[
        list[str] | None, typer.Option(help="Only sources of this state: done, failed, skipped, pending.")
    ] = None,
) -> None:
    """Tell how a migration stands."""
    from molrec_convert.batch.failures import without_source
    from molrec_convert.batch.journal import STALE
    from molrec_convert.batch.status import STATES, rows_of, summary_of, write_json

    states = tuple(state or ())
    if unknown := set(states) - set(STATES):
        raise OptionError(f"a state is one of {', '.join(STATES)}, not {min(unknown)!r}")
    if as_json:
        write_json(out, sys.stdout, states=states or STATES)
        return
    if states:
        for row in rows_of(out, states=states):
            told = without_source(row["source"], row["error"] or row["reason"] or row["output"] or "")
            typer.echo("\t".join(filter(None, (row["state"], row["source"], told))))
        return
    found = summary_of(out)
    for name in STATES:
        typer.echo(f"{getattr(found, name):10,} {name}")
    for row in rows_of(out, states=("failed",)):
        notes = "".join(f" ({note})" for note in row["notes"] if note.startswith(STALE))
        typer.echo(f"failed: {row['source']}: {without_source(row['source'], row['error'])}{notes}")


@app.command("export", cls=TextCommand)
def export(
    out: Out,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write: *.csv or *.json.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write the journal to a CSV or JSON file."""
    from molrec_convert.batch.status import export as write

    write(out, target, force=force)


@app.command("report", cls=TextCommand)
def report(out: Out) -> None:
    """Write the report anew, and tell where it is."""
    from molrec_convert.batch.report import write_report

    typer.echo(str(write_report(out)))


@app.command("check", cls=TextCommand)
def check(out: Out) -> None:
    """Compare every record with the checksum in the journal; the status is 3 if one is not as it was written."""
    from molrec_convert.batch.status import check as look

    found = list(look(out))
    for source, text in found:
        typer.echo(f"{source}: {text}")
    if found:
        raise typer.Exit(SOME_FAILED)


# ---------------------------------------------------------------- what commands share
def limits_of(timeout: float | None, scratch: str, ratio: float) -> Limits:
    """What one file may take."""
    from molrec_convert.batch import Limits

    units = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
    text = scratch.strip().upper().removesuffix("B")
    number, unit = (text[:-1], text[-1]) if text[-1:] in units and text[-1:] else (text, "")
    try:
        size = int(float(number) * units[unit])
    except (ValueError, OverflowError):  # OverflowError: inf
        size = -1
    if size < 0:
        raise OptionError(f"--scratch-limit takes a size such as 500M or 64G, not {scratch!r}")
    if timeout is not None and math.isinf(timeout):
        timeout = 0
    return Limits(timeout=timeout, scratch=size, ratio=ratio)


def _watched(work: Any, out: str, *, log: Path | None, quiet: bool) -> None:
    """Do the work, and show how it goes."""
    from .batch_progress import Log, watcher

    with watcher(quiet=quiet) as shown, Log(log) if log is not None else nullcontext() as logged:

        def watch(progress: Any, outcome: Any) -> None:
            if outcome is not None and logged is not None:
                logged.add(outcome)
            shown(progress, outcome)

        try:
            found = work(watch)
        except KeyboardInterrupt:
            shown.stop()
            sys.stderr.write(f"molrec-convert: stopped; the same command goes on. {out} has what was done so far\n")
            raise typer.Exit(INTERRUPTED) from None
    if not quiet:
        counts = ", ".join(f"{getattr(found, name)} {name}" for name in ("done", "failed", "skipped", "pending"))
        sys.stderr.write(f"{counts}; {found.report}\n")
    if not found.complete:
        raise typer.Exit(SOME_FAILED)


def _show_plan(
    sources: list[str], out: str, settings: Settings, limits: Limits, pairs: Any, shard: Any, jobs: int | None
) -> None:
    from molrec_convert.batch.plan import Plan
    from molrec_convert.cores import usable_cores

    from .batch_plan import show_plan

    with Plan(sources, out, settings=settings, limits=limits, pairs=pairs, shard=shard) as plan:
        show_plan(plan, workers=jobs or usable_cores())
