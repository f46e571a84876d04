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
from .errors import ConvertWarning, FormatError, LossWarning, OptionError
from .frames import FrameSelection
from .inputs import RECORD_FORMAT, open_input, record_snapshots, with_system
from .model import Frame, Record
from .model.trajectory import MemoryTrajectory, Trajectory
from .options import Options, checked_guesses
from .outputs import PartFile, RecordOutput, TextOutput
from .placement import CELL_KEY, Placement, Placer
from .sniff import is_record_name, is_replaceable, target_adapter

if TYPE_CHECKING:
    from .records import StoredRecord


def open(path: str | Path, *, strict: bool = True) -> StoredRecord:  # noqa: A001 - mc.open is what people look for
    """Open a record; its frames are read when they are asked for.

    Parameters
    ----------
    path
        A record in HDF5.
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

    return open_record(Path(path), strict=strict)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    frames: str | None = None,
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
        Which frames: ``0:100:10``, ``0,5,-1``; by default all.
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
    selection = FrameSelection() if frames is None else FrameSelection.parse(frames)
    with ThreadPoolExecutor(max_workers=2) as executor:
        found = open_input(Path(path), stream=None, format_name=format, options=options)
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
    if not found.series and len(snapshots) == 1:
        return Record(meta=meta, frame=placement.alone(snapshots[0]))
    placer = Placer(placement)
    return Record(meta=meta, system=placer.system, trajectory=_trajectory(placer, snapshots))


def _trajectory(placer: Placer, snapshots: list[Snapshot]) -> MemoryTrajectory:
    """Whole frames, laid out as a record of them gives them."""
    frames: list[Frame] = []
    steps: list[int] = []
    times: list[float | None] = []
    for snapshot in snapshots:
        moving, step, time = placer.place(snapshot)
        moving.meta.pop(CELL_KEY, None)
        frames.append(with_system(moving, placer.system, len(frames)))
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
        A record (``*.h5``) or a foreign file.
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
    to_record = format == RECORD_FORMAT or (format is None and is_record_name(target))
    part = PartFile(target, force=force, replaceable=is_replaceable if to_record else None)
    options = Options(decimals=decimals, strict=strict)
    with ThreadPoolExecutor(max_workers=2) as executor, part:
        output: RecordOutput | TextOutput
        if to_record:
            output = RecordOutput(part, series=not single, executor=executor)
        else:
            adapter = registry.by_name(format) if format is not None else target_adapter(target)
            output = TextOutput(
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
    if isinstance(output, TextOutput):
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
