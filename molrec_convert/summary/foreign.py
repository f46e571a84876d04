"""The facts of a file that is no record: from its first frames and its last.

A file is counted to its end, unless more lies behind its first frames than a person would wait for: then the number
of frames is reckoned from the part of the file that they take.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot, Span
from molrec_convert.errors import FormatError, located
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import ForeignInput, Input
from molrec_convert.library import LibraryInput
from molrec_convert.model import Block, Box
from molrec_convert.model.dtypes import Array

from .contents import cell_facts, elements_of, frame_facts, types_of
from .facts import CellFacts, Course, Extent, Info

MOST_BYTES = 64 << 20
MOST_FRAMES = 10_000
"""How much of a file is looked at where its frames need not be counted: some tenths of a second's worth."""


@dataclass(slots=True)
class Look:
    """What was seen of a file.

    Parameters
    ----------
    frames
        How many frames there are.
    exact
        Whether they were counted.
    seen
        The first two; and the last, where all were counted.
    """

    frames: int = 0
    exact: bool = True
    seen: list[Snapshot] = field(default_factory=list)


def foreign_info(found: Input, *, file: str, size: int | None, count: bool) -> Info:
    """What a file holds.

    Parameters
    ----------
    found
        The file, opened.
    file, size
        Its name and size.
    count
        Whether to count its frames however many there are.
    """
    look = _spans_seen(found, count=count) if isinstance(found, ForeignInput) else _frames_seen(found)
    if not look.seen:
        raise FormatError("there is no frame in it", path=found.name)
    first = look.seen[0]
    units = dict(first.units or {})
    atoms = first.frame.get("atoms")
    counts = [snapshot.frame["atoms"].count for snapshot in look.seen if "atoms" in snapshot.frame]
    return Info(
        file=file,
        format=found.format,
        record=False,
        size=size,
        frames=look.frames,
        exact=look.exact,
        step=_course(look, [snapshot.step for snapshot in look.seen]),
        time=_course(look, [snapshot.time for snapshot in look.seen]),
        atoms=Extent(min(counts), max(counts)) if counts else None,
        elements=None if atoms is None else elements_of(lambda name: _values(atoms, name)),
        types=None if atoms is None else types_of(lambda name: _values(atoms, name)),
        cell=_cell_of([snapshot.frame.box for snapshot in look.seen]),
        units=units,
        sections=(frame_facts("frame", first.frame, first.about, units),),
        notes=tuple(_notes(found, look)),
    )


# ---------------------------------------------------------------- looking
def _spans_seen(found: ForeignInput, *, count: bool) -> Look:
    """Look at a file whose frames are found without being decoded."""
    look, spans = Look(), found.spans()
    last: Span | None = None
    for span in spans:
        look.frames, last = span.ordinal + 1, span
        if len(look.seen) < 2:
            look.seen.append(found.decode(span))
        enough = look.frames >= MOST_FRAMES or span.offset + span.size >= MOST_BYTES
        if enough and not count and (part := found.part_before(span)) is not None and part < 1.0:
            look.exact = False
            look.frames = max(look.frames + 1, round(look.frames / part))
            break
    if look.exact and last is not None and last.ordinal > 1:
        look.seen.append(found.decode(last))
    return look


def _frames_seen(found: Input) -> Look:
    """Look at a file that is read by another library, which may know how many frames there are."""
    look, last = Look(), None
    frames = found.snapshots(FrameSelection(), _Idle(), None)
    for snapshot in frames:
        look.frames, last = look.frames + 1, snapshot
        if len(look.seen) < 2:
            look.seen.append(snapshot)
        elif isinstance(found, LibraryInput) and found.frames is not None:
            look.frames, last = found.frames, found.frame(found.frames - 1)
            break
    if last is not None and look.frames > 2:
        look.seen.append(last)
    return look


class _Idle(Executor):
    """Leaves what it is given undone: nobody asks for the checksum of a file that is looked at."""

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        """Promise what is never done."""
        del function, args, options
        return Future()


# ---------------------------------------------------------------- facts
def _values(block: Block, name: str) -> Array | None:
    return block.get(name)


def _course(look: Look, values: list[int | None] | list[float | None]) -> Course | None:
    """The course of steps or times, from those of the first two frames and the last."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    first, last = known[0], known[-1] if look.exact else None
    if len(known) < 2:
        return Course(first, last, None)
    stride = known[1] - first
    if not stride:
        return Course(first, last, None)
    if last is not None and not np.isclose(last - first, stride * (look.frames - 1), rtol=1e-6, atol=0.0):
        return Course(first, last, None)
    return Course(first, last, stride if isinstance(stride, int) else float(f"{stride:.9g}"))


def _cell_of(boxes: list[Box | None]) -> CellFacts | None:
    there = [box for box in boxes if box is not None]
    if not there:
        return None
    changes = not all(box.same(there[0]) for box in there)
    lengths = np.array([box.parameters[:3] for box in there]) if changes else None
    return cell_facts(there[0], always=len(there) == len(boxes), changes=changes, lengths=lengths)


def _notes(found: Input, look: Look) -> list[str]:
    notes = dict.fromkeys((*look.seen[0].notes, *found.notes))
    return [located(note.message, path=note.path, line=note.line, frame=note.frame) for note in notes]
