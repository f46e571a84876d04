"""Reading and writing from Python: `open`, `read`, `write`."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, registry
from .adapter import Snapshot
from .convert import Notes
from .errors import ConvertError, ConvertWarning, FormatError, LossWarning, OptionError, RecordError
from .foreign import ForeignOutput, foreign_output
from .forms import FORM_NAMES, HDF5_SIGNATURE, form_of_name, location
from .frames import Frames, FrameSelection
from .inputs import open_input, record_snapshots, with_system
from .model import Frame, Meta, Record
from .model.origin import Origin, declared_units
from .model.trajectory import MemoryTrajectory, Trajectory
from .options import Options, checked_guesses
from .outputs import RecordOutput
from .part import PartFile
from .placement import CELL_KEY, Placement, Placer
from .sniff import is_replaceable, record_form, target_adapter

if TYPE_CHECKING:
    from .records import StoredRecord


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
    with ThreadPoolExecutor(max_workers=2) as executor:
        found = open_input(location(path), stream=None, format_name=format, options=options)
        notes = Notes(found.name)
        placement = Placement()
        snapshots: list[Snapshot] = []
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
    for text in notes.texts():
        warnings.warn(text, ConvertWarning, stacklevel=2)
    if snapshots[0].units:
        meta["units"] = dict(snapshots[0].units)
    return in_memory(placement, snapshots, meta, series=found.series)


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
    units: dict[str, str] | None = None,
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
        Of every frame, where `data` is a sequence of frames; steps increase strictly.
    units
        The unit of every quantity, as ``{"length": "angstrom"}``; of a `Record` its own.
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
    """
    record, single = _as_record(data, step, time, units)
    target = Path(path)
    form = record_form(target, format)
    part = PartFile(target, force=force, replaceable=None if form is None else is_replaceable, form=form)
    options = Options(decimals=decimals, strict=strict)
    with ThreadPoolExecutor(max_workers=2) as executor, part:
        output: RecordOutput | ForeignOutput
        if form is not None:
            output = RecordOutput(part, series=not single, executor=executor)
        else:
            adapter = registry.by_name(format) if format is not None else target_adapter(target)
            output = foreign_output(
                part, None, adapter, name=target.name, options=options, executor=executor, document=record.meta
            )
        if decimals is not None and "decimals" not in output.takes:
            raise OptionError("decimals mean nothing to this format", path=target)
        try:
            for snapshot in record_snapshots(record, list(range(len(record)))):
                output.add(snapshot)
            if not output.frames:
                raise OptionError("there is no frame to write", path=target)
            output.finish({**record.meta, "creator": {"name": "molrec-convert", "version": __version__}})
            part.commit()
        except BaseException:
            output.discard()
            raise
    if isinstance(output, ForeignOutput):
        for note in output.notes:
            warnings.warn(f"{target.name}: {note.message}", ConvertWarning, stacklevel=2)
        if output.report:
            warnings.warn(str(output.report), LossWarning, stacklevel=2)


def _as_record(
    data: Record | Trajectory | Frame | Sequence[Frame], step: Any, time: Any, units: dict[str, str] | None
) -> tuple[Record, bool]:
    meta = {} if units is None else {"units": units}
    if isinstance(data, Record):
        return data, data.trajectory is None
    if isinstance(data, Frame):
        return Record(meta=meta, frame=data), True
    trajectory = data if isinstance(data, Trajectory) else MemoryTrajectory(list(data), step=step, time=time)
    return Record(meta=meta, trajectory=trajectory), False
