"""The two files that are compared, as frames that can be held side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, BinaryIO

from molrec_convert.adapter import Snapshot
from molrec_convert.forms import location
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import Input, RecordInput, check_reading, open_input
from molrec_convert.model import Meta, Record
from molrec_convert.options import Options
from molrec_convert.report import Notes

Source = str | Path | BinaryIO


class Side:
    """One of the two files.

    Parameters
    ----------
    found
        The file, opened.
    name
        What to call it.
    """

    def __init__(self, found: Input, name: str) -> None:
        self.found, self.name = found, name
        self.record = found.record if isinstance(found, RecordInput) else None
        self.frames = 0
        self.units: Any = None
        self._notes = Notes(found.name)

    def snapshots(self, executor: Executor, *, raw: bool) -> Iterator[Snapshot]:
        """All frames: as a record has them where `raw`, else as any source gives them, each with a step."""
        if raw and self.record is not None:
            for snapshot in raw_snapshots(self.record):
                self.frames += 1
                yield snapshot
            return
        for snapshot in self.found.snapshots(FrameSelection(), executor, None):
            for note in snapshot.notes:
                self._notes.add(note, self.frames)
            if snapshot.step is None:
                snapshot.step = self.frames
            if not self.frames:
                self.units = snapshot.units
            self.frames += 1
            yield snapshot

    @property
    def document(self) -> dict[str, Any]:
        """What a record says of itself; of another file where it comes from, once all of it was read."""
        return self.found.provenance()

    @property
    def formats(self) -> frozenset[str]:
        """The formats that the frames come from, as far as that is known."""
        if self.record is None:
            return frozenset((self.found.format,))
        sources = (self.record.meta.get(name) for name in ("source", "topology"))
        return frozenset(str(source.get("format")) for source in sources if isinstance(source, dict))

    def warnings(self) -> list[str]:
        """What was noticed in reading."""
        for note in self.found.notes:
            self._notes.add(note)
        return self._notes.texts()


def open_sides(a: Source, b: Source, formats: tuple[str | None, str | None], options: Options) -> tuple[Side, Side]:
    """Open both files; an option has to mean something to one of them."""
    opened: list[Input] = []
    try:
        for source, format_name in zip((a, b), formats, strict=True):
            path = location(source) if isinstance(source, str | Path) else None
            stream = None if isinstance(source, str | Path) else source
            opened.append(open_input(path, stream=stream, format_name=format_name, options=options, check=False))
        takes = opened[0].takes | opened[1].takes
        check_reading(" or ".join(dict.fromkeys(each.format for each in opened)), takes, options)
    except BaseException:
        for each in opened:
            each.close()
        raise
    one, other = (
        Side(found, str(source) if isinstance(source, str | Path) else found.name)
        for found, source in zip(opened, (a, b), strict=True)
    )
    return one, other


def raw_snapshots(record: Record) -> Iterator[Snapshot]:
    """The frames of a record, resolved, with all that it has: fills and null columns, too."""
    about = Meta() if record.system is None else record.system.meta
    if record.trajectory is None:
        if record.frame is not None:
            yield Snapshot(record.frame)
        return
    times = record.trajectory.time
    for index, step in enumerate(record.trajectory.step.tolist()):
        time = None if times is None else float(times[index])
        yield Snapshot(record.trajectory[index], step, time, about)


def same_kind(a: Side, b: Side) -> bool:
    """Whether both are records of the same sections: of frames, or of one frame."""
    return a.record is not None and b.record is not None and a.record.has_trajectory == b.record.has_trajectory


def units_of(side: Side) -> Mapping[str, Any]:
    """The units that a file states, as they stand."""
    units = side.units if side.record is None else side.record.meta.get("units")
    return units if isinstance(units, Mapping) else {} if units is None else {"": units}
