"""Whether a record says what its source says: both are read once more, and compared frame by frame.

The source is read by its importer as if nothing had been written; what the record does not hold cannot hide.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from molrec_convert.adapter import Snapshot
from molrec_convert.ahead import Transform
from molrec_convert.comparison import Difference, diff
from molrec_convert.comparison.differences import Log
from molrec_convert.comparison.frames import FrameComparer
from molrec_convert.comparison.ignoring import Ignored
from molrec_convert.comparison.values import EXACT
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import ForeignInput, Input
from molrec_convert.model import Block, Column, Frame, Record
from molrec_convert.model.precision import rounded
from molrec_convert.record_frames import record_snapshots
from molrec_convert.steps import to_units

from .failures import MismatchError

SAMPLE = 5
"""Frames that are compared where not all are."""


def sample_of(total: int) -> list[int]:
    """The first, the last, and some between."""
    if total <= SAMPLE:
        return list(range(total))
    return sorted({round(k * (total - 1) / (SAMPLE - 1)) for k in range(SAMPLE)})


def check_frames(source: Input, record: Record, *, whole: bool, units: str | None, name: str) -> int:
    """Compare a source, just opened, with its record; give the number of frames that were compared.

    Parameters
    ----------
    source
        The source.
    record
        Its record.
    whole
        Whether all frames are compared, or a few.
    units
        The unit system that the record was converted to.
    name
        What to call the record.

    Raises
    ------
    MismatchError
        With the first frame that differs, and how.
    """
    total = len(record)
    chosen = list(range(total)) if whole else sample_of(total)
    transform = None if units is None else to_units(units)
    log = Log(Ignored(()))
    comparer = FrameComparer(log, EXACT, loose=True)
    pairs = zip_longest(_snapshots(source, chosen, total, transform), record_snapshots(record, chosen))
    for count, (due, found) in enumerate(pairs):
        if due is None or found is None:
            what = "fewer" if due is None else "more"
            raise MismatchError(f"the record has {total} frames, its source {what}", path=name)
        log.frame = chosen[count]
        for snapshot in (due, found):
            snapshot.step = log.frame if snapshot.step is None else snapshot.step
        comparer.compare(_as_stored(due, found), found)
        if not count and due.units != found.units:
            log.add("units", "value", due.units, found.units)
        for difference in log:
            raise MismatchError(_told(difference), path=name, frame=difference.frame)
    return len(chosen)


def _snapshots(source: Input, chosen: list[int], total: int, transform: Transform | None) -> Iterator[Snapshot]:
    """The chosen frames of a source, and one more where all were chosen and there are more."""
    if isinstance(source, ForeignInput):
        found = _decoded(source, set(chosen), len(chosen) == total)
    else:
        selection = FrameSelection() if len(chosen) == total else FrameSelection(tuple(chosen))
        with ThreadPoolExecutor(max_workers=1) as executor:
            yield from source.snapshots(selection, executor, transform)
        return
    for snapshot in found:
        yield snapshot if transform is None else transform(snapshot)


def _decoded(source: ForeignInput, chosen: set[int], everything: bool) -> Iterator[Snapshot]:
    """Frames decoded where they are asked for: threads cost more than a small file."""
    last = max(chosen, default=-1)
    for span in source.spans():
        if everything or span.ordinal in chosen:
            yield source.decode(span)
        if not everything and span.ordinal >= last:
            return


def check_copy(source: Path, target: Path, name: str) -> None:
    """Compare two records as a whole; `MismatchError` where they differ."""
    found = diff(source, target, provenance=True)
    if found.first is not None:
        raise MismatchError(_told(found.first), path=name, frame=found.first.frame)


def _told(difference: Difference) -> str:
    place = "" if difference.row is None else f", row {difference.row}"
    return (
        f"the record is not its source: {difference.item} ({difference.what}{place}) is {difference.b!r}, "
        f"due is {difference.a!r}"
    )


def _as_stored(due: Snapshot, found: Snapshot) -> Snapshot:
    """A frame of the source, rounded as the columns of the record say that they are."""
    blocks = {name: _rounded(block, found.frame.get(name)) for name, block in due.frame.items()}
    if all(block is due.frame[name] for name, block in blocks.items()):
        return due
    return replace(due, frame=Frame.of(blocks, due.frame.box, due.frame.meta))


def _rounded(block: Block, stored: Block | None) -> Block:
    columns = dict(block.columns)
    for name, precision in _precisions(stored):
        column = columns.get(name)
        if column is not None and column.dtype == "f64" and column.precision != precision:
            columns[name] = Column.of(rounded(column.values, precision), column.valid, precision)
    if all(column is block.columns[name] for name, column in columns.items()):
        return block
    return Block.of(columns, block.count, shape=block.shape, targets=block.targets, attributes=block.attributes)


def _precisions(block: Block | None) -> Iterator[tuple[str, float]]:
    for name, column in ({} if block is None else block.columns).items():
        if column.precision is not None:
            yield name, column.precision
