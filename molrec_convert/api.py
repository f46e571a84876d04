"""Reading and writing from Python: `open`, `read`, `write`."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, registry
from .adapter import Snapshot
from .errors import ConvertError, ConvertWarning, FormatError, LossWarning, OptionError, RecordError
from .foreign import ForeignOutput, foreign_output
from .forms import FORM_NAMES, HDF5_SIGNATURE, form_of_name, is_url, location
from .frames import Frames, FrameSelection
from .inputs import Input, open_input
from .mapping.units import DIMENSIONLESS_DOCUMENT, size, stated
from .model import Frame, Meta, Record
from .model.origin import Origin, declared_units
from .model.trajectory import MemoryTrajectory, Trajectory
from .options import Options, checked_guesses
from .outputs import RecordOutput
from .part import PartFile
from .placement import CELL_KEY, STEP_KEY, Placement
from .placer import Placer
from .record_frames import record_snapshots, with_system
from .report import Notes
from .sniff import is_replaceable, record_form, target_adapter

if TYPE_CHECKING:
    from .records import StoredRecord

Contents = tuple[dict[str, Any], Iterator[Snapshot], bool]
"""What is written: the document of the record, the frames, and whether they are a series."""


def open(path: str | Path, *, strict: bool = True) -> StoredRecord:  # noqa: A001 - mc.open is what people look for
    """Open a record; its frames are read when they are asked for.

    Parameters
    ----------
    path
        A record, or its address, such as ``https://…/run.mrec.zip``.
    strict
        Whether row references of endpoints by convention are checked, too.

    Returns
    -------
    StoredRecord
        With ``meta``, ``frame``, ``system`` and ``trajectory``; a context manager. ``trajectory[i]`` is a `Frame`,
        ``trajectory[i]["atoms"]["x"]`` an array f64[N] in the unit that ``meta["units"]["length"]`` names.

    Raises
    ------
    RecordError
        With the place in the file where the record breaks MolRec.
    """
    from .records import open_record

    place = location(path)
    try:
        return open_record(place, strict=strict)
    except RecordError as error:
        raise _no_record(place) or error from None


def _no_record(path: Path | str) -> RecordError | None:
    """What to say of a file of another format; None where it is of no known one, or only its name says so."""
    if isinstance(path, str) or path.is_dir():
        return None
    with path.open("rb") as file:
        is_hdf5 = file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE
    if form_of_name(path) is not None and not is_hdf5:
        return None
    try:
        found = open_input(path, stream=None, format_name=None, options=Options())
    except ConvertError:
        return None
    found.close()
    if found.format in FORM_NAMES:
        return None
    return RecordError(f"a file of the format {found.format}, and no record: mc.read reads it", path=path)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    frames: Frames = None,
    units: str | None = None,
    atom_style: str | None = None,
    type_map: dict[str, str] | None = None,
    guess: Collection[str] = (),
    keep_order: bool = False,
    strict: bool = False,
) -> Record:
    """Read a file of any known format into memory.

    Parameters
    ----------
    path
        A record or a foreign file, perhaps compressed.
    format
        Its format, where content and name do not tell.
    frames
        Which frames: ``0:100:10`` or ``0,5,-1`` as text, or a number, a slice, a sequence of numbers; by default all.
    units, atom_style, type_map, guess, keep_order, strict
        As `convert` takes them.

    Returns
    -------
    Record
        With a ``trajectory`` in memory, or a ``frame`` where the format holds one.

    Raises
    ------
    ConvertError
        With file, line and frame.

    Warns
    -----
    ConvertWarning
        For everything that a person should know, such as a file that is cut short.
    """
    options = Options(
        units=units,
        atom_style=atom_style,
        type_map=type_map or {},
        guess=checked_guesses(guess),
        keep_order=keep_order,
        strict=strict,
    )
    selection = FrameSelection.of_frames(frames)
    found = open_input(location(path), stream=None, format_name=format, options=options)
    notes = Notes(found.name)
    placement, snapshots, meta = _learned(found, selection, notes)
    for text in notes.texts():
        warnings.warn(text, ConvertWarning, stacklevel=2)
    return in_memory(placement, snapshots, meta, series=found.series)


def _learned(found: Input, selection: FrameSelection, notes: Notes) -> tuple[Placement, list[Snapshot], dict[str, Any]]:
    """Read the frames that are chosen: where their columns belong, the frames, and the document of a record of them."""
    placement = Placement()
    snapshots: list[Snapshot] = []
    with ThreadPoolExecutor(max_workers=2) as executor:
        try:
            for snapshot in found.snapshots(selection, executor, None):
                for note in snapshot.notes:
                    notes.add(note, len(snapshots))
                placement.learn(snapshot)
                snapshots.append(snapshot)
            meta = found.provenance()
        finally:
            found.close()
    if not snapshots:
        raise FormatError("there is no frame in it", path=found.name)
    for note in (*found.notes, *placement.notes):
        notes.add(note)
    if snapshots[0].units:
        meta["units"] = dict(snapshots[0].units)
    return placement, snapshots, meta


def in_memory(placement: Placement, snapshots: list[Snapshot], meta: dict[str, Any], *, series: bool) -> Record:
    """A record of frames that a placement has learned: of one frame alone, unless it is one of a series."""
    units = declared_units(meta)
    if not series and len(snapshots) == 1:
        frame = placement.alone(snapshots[0])
        frame.origin = Origin(units=units)
        return Record(meta=meta, frame=frame)
    placer = Placer(placement)
    return Record(meta=meta, system=placer.system, trajectory=_trajectory(placer, snapshots, units))


def _trajectory(placer: Placer, snapshots: list[Snapshot], units: dict[str, str] | None) -> MemoryTrajectory:
    """Whole frames, laid out as a record of them gives them."""
    about = Meta() if placer.system is None else placer.system.meta
    frames: list[Frame] = []
    steps: list[int] = []
    times: list[float | None] = []
    for snapshot in snapshots:
        moving, step, time = placer.place(snapshot)
        moving.meta.pop(CELL_KEY, None)
        frames.append(with_system(moving, placer.system, len(frames)))
        frames[-1].origin = Origin(step, time, about, units)
        steps.append(step)
        times.append(time)
    timed = None not in times
    return MemoryTrajectory(frames, step=steps, time=times if timed else None, fills=placer.schema.meta)


def write(
    path: str | Path,
    data: Record | Trajectory | Frame | Sequence[Frame],
    *,
    format: str | None = None,
    step: Sequence[int] | None = None,
    time: Sequence[float] | None = None,
    units: str | Mapping[str, str] | None = None,
    decimals: int | None = None,
    strict: bool = False,
    force: bool = False,
) -> None:
    """Write a record, a trajectory, frames or one frame to a file.

    Parameters
    ----------
    path
        A record (``*.h5``, ``*.mrec``, ``*.mrec.zip``) or a foreign file.
    data
        What to write. One frame becomes the ``frame`` section of a record.
    format
        The format, where the name does not tell.
    step, time
        Of every frame, where `data` is a sequence of frames; steps increase strictly. By default those that the frames
        had where they come from, else 0, 1, 2, ….
    units
        The unit of every quantity, as ``{"length": "angstrom"}``, or the name of a system such as ``real``; by default
        those of the record or the file that the frames come from. A `Record` names its own.
    decimals, strict, force
        As `convert` takes them.

    Raises
    ------
    ConvertError
        Where the format cannot hold the frames, or the target exists.

    Warns
    -----
    LossWarning
        For what the format cannot hold and was left out.
    ConvertWarning
        For everything else that a person should know, such as steps that go back, and units that are not known.
    """
    if is_url(path):
        raise OptionError("a target is a file or a folder here, not an address", path=path)
    target, given = Path(path), stated(units)
    for quantity, unit in ({} if given is None else given).items():
        if size(quantity, given or {}) is None and DIMENSIONLESS_DOCUMENT.get(quantity) != unit:
            text = f"nothing is known of the unit {unit!r} of {quantity}: such numbers are never converted"
            warnings.warn(f"{target.name}: {text}", ConvertWarning, stacklevel=2)
    output = _written(
        target, _contents(data, step, time, given), format, Options(decimals=decimals, strict=strict), force
    )
    # A record of repeating steps has them among its values already: that is nothing new.
    for note in () if isinstance(data, Record) and isinstance(output, RecordOutput) else output.notes:
        warnings.warn(f"{target.name}: {note.message}", ConvertWarning, stacklevel=2)
    if isinstance(output, ForeignOutput) and output.report:
        warnings.warn(str(output.report), LossWarning, stacklevel=2)


def _written(
    target: Path, contents: Contents, format_name: str | None, options: Options, force: bool
) -> RecordOutput | ForeignOutput:
    """Write a file, and give what wrote it, for what it has to tell."""
    document, snapshots, series = contents
    form = record_form(target, format_name)
    part = PartFile(target, force=force, replaceable=None if form is None else is_replaceable, form=form)
    with ThreadPoolExecutor(max_workers=2) as executor, part:
        output: RecordOutput | ForeignOutput
        if form is not None:
            output = RecordOutput(part, series=series, executor=executor)
        else:
            adapter = target_adapter(target) if format_name is None else registry.by_name(format_name)
            output = foreign_output(
                part, None, adapter, name=target.name, options=options, executor=executor, document=document
            )
        if options.decimals is not None and "decimals" not in output.takes:
            raise OptionError("decimals mean nothing to this format", path=target)
        try:
            for snapshot in snapshots:
                output.add(snapshot)
            if not output.frames:
                raise OptionError("there is no frame to write", path=target)
            output.finish({**document, "creator": {"name": "molrec-convert", "version": __version__}})
            part.commit()
        except BaseException:
            output.discard()
            raise
    return output


def _contents(
    data: Record | Trajectory | Frame | Sequence[Frame], step: Any, time: Any, units: Mapping[str, str] | None
) -> Contents:
    """What there is to write; frames alone have the units, steps and facts of where they come from."""
    if isinstance(data, Record | Trajectory | Frame):
        if step is not None or time is not None:
            raise OptionError(f"step and time are those of a sequence of frames; a {type(data).__name__} has its own")
        frames = [data] if isinstance(data, Frame) else []
    else:
        frames = _frames(data)
    if isinstance(data, Record):
        record = data
        if units is not None and record.meta.get("units", units) != units:
            raise OptionError("the record names other units than those given")
    elif isinstance(data, Trajectory):
        origin = (data[0].origin if len(data) else None) or Origin()
        record = Record(system=Frame(meta=origin.about) if origin.about else None, trajectory=data)
        units = origin.units if units is None else units
    else:
        one = isinstance(data, Frame)
        record = Record(frame=frames[0]) if one else Record(trajectory=MemoryTrajectory(frames, step=step, time=time))
        units = _units_of(frames) if units is None else units
    if units is not None:
        meta = {**record.meta, "units": dict(units)}
        record = Record(meta=meta, frame=record.frame, system=record.system, trajectory=record.trajectory)
    snapshots = record_snapshots(record, list(range(len(record))))
    if frames:
        snapshots = _with_origins(snapshots, frames, is_numbered=step is not None)
    return record.meta, snapshots, record.trajectory is not None


def _frames(data: object) -> list[Frame]:
    """The frames of a sequence."""
    several = list(data) if isinstance(data, Iterable) and not isinstance(data, Mapping) else [data]
    frames = [each for each in several if isinstance(each, Frame)]
    if len(frames) < len(several):
        others = [each for each in several if not isinstance(each, Frame)] if isinstance(data, list | tuple) else [data]
        due = "a Record, a Trajectory, a Frame or several Frames are due"
        raise OptionError(f"{due}, not {type(others[0]).__name__}: from_ase and from_mdanalysis make a Record")
    return frames


def _units_of(frames: Sequence[Frame]) -> Mapping[str, str] | None:
    """The units that frames have where they come from; None where they are not known."""
    known = [None if frame.origin is None else frame.origin.units for frame in frames]
    for ordinal, units in enumerate(known):
        if units != known[0]:
            raise OptionError("the units of the frame are not those of the first: say units", frame=ordinal)
    return known[0] if known else None


def _with_origins(snapshots: Iterator[Snapshot], frames: Sequence[Frame], *, is_numbered: bool) -> Iterator[Snapshot]:
    """Give frames the steps, times and facts that they have where they come from, unless they state their own."""
    origins = [frame.origin or Origin() for frame in frames]
    is_stepped = not is_numbered and any(origin.step is not None for origin in origins)
    for snapshot, frame, origin in zip(snapshots, frames, origins, strict=True):
        if is_stepped and STEP_KEY not in frame.meta:
            snapshot.step = origin.step
        snapshot.time = origin.time if snapshot.time is None else snapshot.time
        snapshot.about = origin.about
        yield snapshot
