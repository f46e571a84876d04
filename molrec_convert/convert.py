"""The pipeline: index → decode in threads → lay out → encode → commit; and the same for any pair of formats."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from . import __version__, registry
from .ahead import Transform
from .combine import open_inputs
from .cores import usable_cores
from .errors import FormatError, LossError, OptionError
from .foreign import ForeignOutput, foreign_output
from .forms import FORM_NAMES, is_url, location
from .frames import Frames, FrameSelection
from .headstart import HeadStart
from .inputs import Input, RecordInput, stacks
from .options import Options, checked_guesses
from .outputs import RecordOutput
from .part import PartFile
from .report import Notes, Report
from .sniff import is_replaceable, record_form, target_adapter
from .stack import Stack
from .steps import Precision, Steps, declare_fixed_decimals
from .steps import to_units as to_units_step
from .steps import unwrap as unwrap_step

MOST_THREADS = 4
"""More of them wait for the one that lays frames out."""

Output = RecordOutput | ForeignOutput

Progress = Callable[[int, int | None, int], None]
"""Called with how much was read, of how much (None where unknown), and the frames so far."""


def convert(
    source: str | Path | BinaryIO,
    target: str | Path | BinaryIO,
    *,
    topology: str | Path | None = None,
    trajectory: str | Path | None = None,
    from_format: str | None = None,
    to_format: str | None = None,
    frames: Frames = None,
    units: str | None = None,
    to_units: str | None = None,
    atom_style: str | None = None,
    type_map: Mapping[str, str] | None = None,
    guess: Collection[str] = (),
    keep_order: bool = False,
    unwrap: bool = False,
    precision: float | str | Mapping[str, float] | None = None,
    decimals: int | None = None,
    plain: bool = False,
    strict: bool = False,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    checksum: HeadStart | None = None,
    sync: bool = True,
) -> Report:
    """Convert one file to another.

    Parameters
    ----------
    source
        A foreign file (perhaps compressed), a record or the address of one; or an open binary stream.
    target
        A record (``*.h5``, ``*.mrec``, ``*.mrec.zip``) or a foreign file; or an open binary stream, for a foreign
        format.
    topology
        Another file whose first frame says what the source does not: bonds, masses, names, charges.
    trajectory
        Another file that has the frames; the source is their topology then.
    from_format, to_format
        The names of the formats of source and target, where content and name do not tell.
    frames
        Which frames: ``0:100:10`` or ``0,5,-1`` as text, or a number, a slice, a sequence of numbers; by default all.
    units
        The unit style of a file that does not state it, such as ``real``; of a target, the style to write.
    to_units
        Convert all known quantities to this unit system.
    atom_style
        The columns of a file that does not state them: a style such as ``full``, or names such as ``id type x y z``.
    type_map
        The element of every type, as ``{"1": "Si"}``.
    guess
        What may be guessed where the source does not say: ``["elements"]``, from the names of atoms.
    keep_order
        Keep the rows in the file's order where the format's order means nothing; by default they are sorted by id.
    unwrap
        Add the periodic images to the positions.
    precision
        An absolute tolerance in the column's own unit for all moving reals of atoms, or one for each column by name;
        ``"auto"``: from the decimals of the source. By default numbers are kept exactly.
    decimals
        Decimals of the reals in a text target; by default the fewest digits that read back exactly.
    plain
        Write the simplest form of a text target that has several.
    strict
        Refuse what would be left out or repaired with a warning.
    force
        Replace a target that exists.
    threads
        How many threads decode and encode; by default one for each core, up to four.
    progress
        Called after every frame, or after several small ones.
    checksum
        The checksum of the source, where it was begun before this was called.
    sync
        Wait until the target is on the disk.

    Returns
    -------
    Report
        With the frames written, the warnings and the losses.

    Raises
    ------
    ConvertError
        With file, line and frame. Nothing is left at the target then.
    """
    started = time.perf_counter()
    selection = FrameSelection.of_frames(frames)
    asked = frames if isinstance(frames, str) else str(selection) or None
    options = Options(
        units=units,
        atom_style=atom_style,
        type_map=dict(type_map or {}),
        guess=checked_guesses(guess),
        keep_order=keep_order,
        unwrap=unwrap,
        strict=strict,
        decimals=decimals,
        plain=plain,
        sample_decimals=precision == "auto",
    )
    path, stream = _opened(source)
    _refuse_itself(target, source, topology, trajectory)
    with ThreadPoolExecutor(max_workers=threads or min(usable_cores(), MOST_THREADS)) as executor, ExitStack() as stack:
        part, name, out_stream = _part_of(target, to_format, force=force, sync=sync)
        if part is not None:
            stack.enter_context(part)
        found = open_inputs(
            path,
            stream,
            topology=topology,
            trajectory=trajectory,
            format_name=from_format,
            options=options,
            checksum=checksum,
        )
        try:
            output = _output(part, out_stream, name, to_format, found, options, executor, whole=selection.everything)
            _check_options(found, output, options)
            transform = _transform(found, to_units=to_units, unwrap=unwrap, precision=precision)
            report = Report(found.name, name, found.format, _format_of(output))
            if isinstance(output, ForeignOutput):
                report.losses = output.report
            notes = Notes(found.name)
            try:
                if isinstance(output, RecordOutput) and _is_copied(found, selection, transform):
                    return _copied(found, output, part, report, progress, started)
                for taken in stacks(found, selection, executor, transform):
                    for note in taken.notes:
                        notes.add(note, output.frames, count=len(taken) if isinstance(taken, Stack) else 1)
                    report.provenance["units"] = None if taken.units is None else dict(taken.units)
                    output.add(taken)
                    if progress is not None:
                        progress(*found.progress(), output.frames)
                if not output.frames:
                    raise FormatError("there is no frame in it", path=found.name)
                for note in found.notes if isinstance(output, ForeignOutput) else (*found.notes, *output.notes):
                    notes.add(note)
                report.frames, report.warnings = output.frames, notes.texts()
                report.left_out = notes.texts(losses=True)
                document = _document(found, report, options, to_units, precision, asked)
                output.finish(document)
                if part is not None:
                    part.commit()
            except BaseException as error:
                output.discard()
                if isinstance(error, LossError):
                    error.report = report.as_json()
                raise
        finally:
            found.close()
    if isinstance(output, ForeignOutput):
        for note in output.notes:
            notes.add(note)
        report.warnings = notes.texts()
    report.provenance, report.seconds = document, time.perf_counter() - started
    return report


def _is_copied(found: Input, selection: FrameSelection, transform: Transform | None) -> TypeGuard[RecordInput]:
    """Whether a record is only to have another form."""
    return isinstance(found, RecordInput) and selection.everything and transform is None


def _copied(
    found: RecordInput,
    output: RecordOutput,
    part: PartFile | None,
    report: Report,
    progress: Progress | None,
    started: float,
) -> Report:
    total = len(found.record)
    output.copy(found.record, lambda done: progress is not None and progress(done, total, done))
    assert part is not None
    part.commit()
    report.frames, report.provenance = output.frames, found.provenance()
    report.seconds = time.perf_counter() - started
    return report


def _opened(source: str | Path | BinaryIO) -> tuple[Path | str | None, BinaryIO | None]:
    return (location(source), None) if isinstance(source, str | Path) else (None, source)


def _refuse_itself(target: str | Path | BinaryIO, *sources: str | Path | BinaryIO | None) -> None:
    """Refuse a foreign file as the target of its own conversion, under whatever name; a record may be replaced so."""
    if not isinstance(target, str | Path) or not Path(target).exists():
        return
    for source in sources:
        if not isinstance(source, str | Path) or not Path(source).exists() or not Path(source).samefile(target):
            continue
        if not is_replaceable(Path(target)):
            raise OptionError("the target is the source itself", path=Path(target).name)


def _part_of(
    target: str | Path | BinaryIO, to_format: str | None, *, force: bool, sync: bool
) -> tuple[PartFile | None, str, BinaryIO | None]:
    if not isinstance(target, str | Path):
        if to_format is None or to_format in FORM_NAMES:
            raise OptionError("a stream takes a foreign format: say --to; a record needs a file")
        return None, "standard output", target
    if is_url(target):
        raise OptionError("a target is a file or a folder here, not an address", path=target)
    path = Path(target)
    form = record_form(path, to_format)
    part = PartFile(path, force=force, replaceable=None if form is None else is_replaceable, form=form, sync=sync)
    return part, path.name, None


def _output(
    part: PartFile | None,
    stream: BinaryIO | None,
    name: str,
    to_format: str | None,
    found: Input,
    options: Options,
    executor: ThreadPoolExecutor,
    *,
    whole: bool,
) -> Output:
    if part is not None and part.form is not None:
        carry = found.carry if isinstance(found, RecordInput) and whole else None
        return RecordOutput(part, series=found.series, executor=executor, carry=carry)
    adapter = registry.by_name(to_format) if to_format is not None else target_adapter(name)
    document = found.provenance()
    return foreign_output(part, stream, adapter, name=name, options=options, executor=executor, document=document)


def _check_options(found: Input, output: Output, options: Options) -> None:
    """Refuse options that mean nothing to the target, or to either side."""
    given, target = options.given(), _format_of(output)
    for option in ("decimals", "plain"):
        if option in given and option not in output.takes:
            raise OptionError(f"--{option} means nothing to {target}")
    if "units" in given and "units" not in found.takes | output.takes:
        raise OptionError(f"--units means nothing to {' or '.join(dict.fromkeys((found.format, target)))}")


def _format_of(output: Output) -> str:
    return output.form.name if isinstance(output, RecordOutput) else output.report.target


def _transform(
    found: Input, *, to_units: str | None, unwrap: bool, precision: float | str | Mapping[str, float] | None
) -> Transform | None:
    steps: list[Transform] = []
    if unwrap and not found.unwraps:
        steps.append(unwrap_step)
    if to_units is not None:
        steps.append(to_units_step(to_units))
    if precision == "auto":
        steps.append(declare_fixed_decimals)
    elif precision is not None:
        given = precision if isinstance(precision, Mapping) else {"*": float(precision)}
        steps.append(Precision(given))
    return Steps(steps) if steps else None


def _document(
    found: Input,
    report: Report,
    options: Options,
    to_units: str | None,
    precision: Any,
    frames: str | None,
) -> dict[str, Any]:
    """The ``meta`` document of a record: where it comes from and how it was made."""
    asked = {**options.given(), "to_units": to_units, "precision": precision, "frames": frames}
    document: dict[str, Any] = found.provenance()
    if report.provenance.get("units"):
        document["units"] = dict(report.provenance["units"])
    document["creator"] = {"name": "molrec-convert", "version": __version__}
    document["convert"] = {
        "options": {
            key: sorted(value) if isinstance(value, frozenset) else value
            for key, value in asked.items()
            if value not in (None, False, {})
        },
        "warnings": report.warnings,
    }
    with suppress(KeyError):
        document["convert"]["options"]["type_map"] = dict(options.given()["type_map"])  # type: ignore[call-overload]
    return document
