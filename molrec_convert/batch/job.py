"""One file of a migration: what a worker is told, what it does, and what it tells.

A record is made in a folder for what is temporary, and read back; whoever keeps the journal gives it its name. Whatever
ends a worker leaves nothing under that name.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from molrec_convert import __version__
from molrec_convert.convert import convert
from molrec_convert.errors import (
    FormatError,
    OptionError,
    RecordError,
    UnknownFormatError,
)
from molrec_convert.forms import FORM_NAMES
from molrec_convert.report import Report
from molrec_convert.text.faults import StreamError
from molrec_convert.text.streams import open_stream

from .contents import checksum, extent, remove
from .failures import Failure, failure_of
from .settings import OF_FORMATS, Limits, Settings

READ = 1 << 20
UNFIT = (FormatError, OptionError, RecordError, UnknownFormatError)
"""What a topology raises that is that of something else, or none."""


def plain_fields(made: Any) -> dict[str, Any]:
    """The fields of an object as they are; `asdict` copies all that is in them."""
    return {each.name: getattr(made, each.name) for each in fields(made)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A file to migrate.

    Parameters
    ----------
    source
        What the journal calls it.
    path
        Where it is: a path, or an address.
    name
        What its file is to be called, where the path has a name that no record can hold.
    format, doubtful
        Its format, and whether it may well be of none; see `recognise.Kind`.
    size
        Its bytes.
    topology, topology_name, topology_given
        The file that says what its atoms are; what the journal calls it; whether a person chose it.
    scratch
        A folder for what is temporary.
    settings
        How it is converted, as `Settings.as_json` gives it.
    verify
        See `settings.Verify`.
    timeout
        Seconds that it may take.
    ratio
        How many times its size a compressed file may expand to, where it has to be unpacked; 0 for any.
    """

    source: str
    path: str
    name: str | None = None
    format: str
    doubtful: bool = False
    size: int = 0
    topology: str | None = None
    topology_name: str | None = None
    topology_given: bool = False
    scratch: str
    settings: dict[str, Any] = field(default_factory=dict)
    verify: str = "sample"
    timeout: float | None = None
    ratio: float = 0.0

    def encode(self) -> bytes:
        """The job as one line."""
        return json.dumps(plain_fields(self)).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Job:
        """Read a line that `encode` made."""
        return cls(**json.loads(line))


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How a job went; the names of its fields are those of the journal."""

    source: str
    state: str
    frames: int | None = None
    atoms: int | None = None
    sha256: str | None = None
    loss: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    error_kind: str | None = None
    error_line: int | None = None
    error_frame: int | None = None
    seconds: float = 0.0
    verified: str | None = None
    output_size: int | None = None
    output_sha256: str | None = None
    picture: dict[str, Any] | None = None
    version: str = __version__
    options: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    made: str | None = None
    """Where its record is until it has its name."""

    def encode(self) -> bytes:
        """The outcome as one line."""
        return json.dumps(plain_fields(self)).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Outcome:
        """Read a line that `encode` made."""
        return cls(**json.loads(line))

    @classmethod
    def failed(cls, job: Job, failure: Failure, seconds: float = 0.0) -> Outcome:
        """A failure."""
        return cls(
            source=job.source, state="failed", error=failure.text, error_kind=failure.kind, error_line=failure.line,
            error_frame=failure.frame, seconds=seconds, options=job.settings,
        )  # fmt: skip


def prepare() -> None:
    """Import what every job needs, so that the first is no slower than the others."""
    from molrec_convert import records

    from . import thumbnail, verify

    del records, thumbnail, verify


def perform(job: Job) -> Outcome:
    """Migrate one file; whatever is wrong with it is a part of the outcome."""
    begun = time.perf_counter()
    try:
        with _folder(job) as folder:
            outcome = _migrated(job, folder)
    except Exception as error:  # noqa: BLE001 - one file never stops the rest
        outcome = _failed(job, failure_of(error))
        outcome.sha256 = _checksum_of_source(job)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _failed(job: Job, failure: Failure) -> Outcome:
    """A failure; of a file that merely has the name of a format, that it is not recognised."""
    if job.doubtful and failure.kind == "format" and not failure.frame:
        reason = f"the format is not recognised; the name is that of {job.format}, but: {failure.message}"
        return Outcome(source=job.source, state="skipped", reason=reason, options=job.settings)
    return Outcome.failed(job, failure)


_NUMBERS = itertools.count()
_OWN = f"work-{uuid.uuid4().hex}"
"""The folder of this process; to make and remove one for each file costs as much as to write a small record."""


@contextmanager
def _folder(job: Job) -> Iterator[Path]:
    """A folder of this process's own, where libraries put what is temporary, too; empty before and after."""
    folder = Path(job.scratch, _OWN)
    folder.mkdir(parents=True, exist_ok=True)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        for entry in os.scandir(folder):
            remove(Path(entry.path))


def _migrated(job: Job, folder: Path) -> Outcome:
    settings = Settings.from_json(job.settings)
    source = _local(job.path, job.name, folder)
    topology = None if job.topology is None else _local(job.topology, None, folder)
    _check_expansion(source, job)
    made = folder / f"record{settings.suffix}"
    remarks: list[str] = []
    try:
        report = _converted(job, source, topology, made, settings)
    except UNFIT as error:
        if topology is None or job.topology_given:
            raise
        # A topology that merely lies beside it may be that of something else.
        report = _converted(job, source, None, made, settings)
        remarks.append(f"converted without the topology {job.topology_name}, which does not fit: {error}")
        topology = None
    outcome = Outcome(
        source=job.source, state="done", frames=report.frames, loss=report.left_out, options=job.settings,
        warnings=[*remarks, *report.warnings], sha256=_stated_checksum(report) or checksum(source),
    )  # fmt: skip
    _look_back(job, source, topology, made, settings, outcome)
    outcome.output_sha256, outcome.output_size = checksum(made), extent(made)
    outcome.made = str(_kept(made, job))
    return outcome


def _kept(made: Path, job: Job) -> Path:
    """Keep a record for the one who gives it its name."""
    kept = Path(job.scratch, f"{_OWN}-{next(_NUMBERS)}{made.name.removeprefix('record')}")
    return made.replace(kept)


def _local(path: str, name: str | None, folder: Path) -> Path:
    """A file by a path on this machine, under a name that a record can hold."""
    if "://" in path:
        from .remote import fetch

        fetched = folder / "source" / path.rpartition("/")[2]
        fetched.parent.mkdir(exist_ok=True)
        fetch(path, fetched)
        return fetched
    if name is None:
        return Path(path)
    link = folder / "source" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(os.path.abspath(path))
    return link


def _check_expansion(source: Path, job: Job) -> None:
    """Refuse a bomb, where a library wants a file that is not compressed; adapters read streams of any length."""
    from molrec_convert import registry

    from .archives import Watched

    if not job.ratio or job.format in FORM_NAMES or registry.by_name(job.format).file_importer is None:
        return
    with open_stream(source) as stream:
        watched = Watched(stream, source.name, Limits(ratio=job.ratio))
        with suppress(StreamError):  # reading it says what is wrong, and where
            while stream.compression is not None and watched.read(READ):
                pass


def taken_options(settings: Settings, format_name: str) -> dict[str, Any]:
    """The options that a format takes, of those that mean nothing to others."""
    from molrec_convert import registry

    takes = frozenset() if format_name in FORM_NAMES else registry.by_name(format_name).options
    given = {name: getattr(settings, name) for name in OF_FORMATS}
    return {name: value for name, value in given.items() if value and name in takes}


def _converted(job: Job, source: Path, topology: Path | None, target: Path, settings: Settings) -> Report:
    return convert(
        source,
        target,
        topology=topology,
        from_format=None if job.format in FORM_NAMES else job.format,
        to_units=settings.to_units,
        precision=settings.precision,
        strict=settings.strict,
        threads=1,  # the machine's cores are for workers
        force=True,
        sync=False,  # whoever names it waits for many at once
        **taken_options(settings, job.format),
    )


def _stated_checksum(report: Report) -> str | None:
    """The checksum that was found on the way; a record states that of its own source."""
    stated = report.provenance.get("source")
    known = isinstance(stated, dict) and report.source_format not in FORM_NAMES
    return stated.get("sha256") if known else None  # type: ignore[union-attr]


def _look_back(job: Job, source: Path, topology: Path | None, made: Path, settings: Settings, outcome: Outcome) -> None:
    """Read the record, and compare it with its source."""
    from molrec_convert.records import open_record

    from .thumbnail import thumbnail
    from .verify import check_copy, check_frames

    with open_record(made) as record:
        first = record.frame if record.trajectory is None else record.trajectory[0] if len(record) else None
        outcome.atoms = None if first is None or "atoms" not in first else first["atoms"].count
        outcome.picture = thumbnail(record)
        if job.verify == "none":
            return
        copied = job.format in FORM_NAMES and settings.to_units is None and settings.precision is None
        if copied:
            check_copy(source, made, job.source)
            outcome.verified = "full"
            return
        found = _opened(job, source, topology, settings)
        try:
            whole = job.verify == "full"
            checked = check_frames(found, record, whole=whole, units=settings.to_units, name=job.source)
        finally:
            found.close()
        outcome.verified = "full" if checked == len(record) else f"{checked} of {len(record)} frames"


def _opened(job: Job, source: Path, topology: Path | None, settings: Settings) -> Any:
    from molrec_convert.combine import open_inputs
    from molrec_convert.options import Options, checked_guesses

    taken = taken_options(settings, job.format)
    options = Options(**{**taken, "guess": checked_guesses(taken.get("guess", ()))}, strict=settings.strict)
    name = None if job.format in FORM_NAMES else job.format
    return open_inputs(source, None, topology=topology, trajectory=None, format_name=name, options=options)


def _checksum_of_source(job: Job) -> str | None:
    if "://" in job.path:
        return None
    try:
        return checksum(Path(job.path))
    except OSError:
        return None
