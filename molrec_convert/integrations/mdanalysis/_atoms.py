"""Which atoms of a frame are wanted: by their ids, in the same order in every frame."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from molrec_convert.errors import LossError
from molrec_convert.merge import distinct_ids
from molrec_convert.model import Block, Column, Frame, Trajectory
from molrec_convert.model.dtypes import Array
from molrec_convert.model.frame import references

ATOMS, ID = "atoms", "id"
COMMON = "common"
"""The selection of the atoms that are in all frames."""
Select = str | Iterable[int] | None


def ids_of(trajectory: Trajectory, index: int) -> Array | None:
    """The ids of the atoms of a frame; None where they have none, or not each its own."""
    frame = trajectory.part(index, {ATOMS: (ID,)})
    return distinct_ids(frame[ATOMS].columns) if ATOMS in frame else None


def selected_ids(trajectory: Trajectory, select: Select) -> Array | None:
    """The ids that are selected; None where nothing is.

    Raises
    ------
    LossError
        If a frame has no ids, or no atom is in all frames.
    """
    if select is None:
        return None
    if not isinstance(select, str):
        ids = np.array(list(select))
        if ids.size and (ids.ndim != 1 or ids.dtype.kind not in "iu" or ids.min() < 0):
            raise LossError(f"select is {COMMON!r} or ids of atoms, not {select!r}")
        return ids.astype(np.uint64)
    if select != COMMON:
        raise LossError(f"select is {COMMON!r} or ids of atoms, not {select!r}")
    first = common = _due_ids(trajectory, 0)
    for index in range(1, len(trajectory)):
        ids = _due_ids(trajectory, index)
        if not np.array_equal(ids, common):
            common = np.intersect1d(common, ids, assume_unique=True)
    if not len(common):
        raise LossError("no atom is in all frames")
    return first[np.isin(first, common)]


def _due_ids(trajectory: Trajectory, index: int) -> Array:
    ids = ids_of(trajectory, index)
    if ids is None:
        raise LossError("a selection needs the ids of atoms, each its own", frame=index)
    return ids


def rows_of(wanted: Array, ids: Array, frame: int) -> Array | None:
    """The row of every id that is wanted; None where these are all rows in their order.

    Raises
    ------
    LossError
        If there is no atom of an id.
    """
    if np.array_equal(wanted, ids):
        return None
    order = np.argsort(ids)
    places = np.searchsorted(ids[order], wanted).clip(max=max(len(ids) - 1, 0))
    rows: Array = order[places] if len(ids) else np.zeros(0, np.intp)
    here = ids[rows] == wanted if len(ids) else np.zeros(len(wanted), bool)
    if not here.all():
        raise LossError(f"there is no atom of id {wanted[int(np.argmin(here))]}", frame=frame)
    return rows


def chosen(frame: Frame, rows: Array) -> Frame:
    """A frame of some atoms, in this order, with the relations among them.

    Parameters
    ----------
    frame
        The frame.
    rows
        The rows of ``atoms``, each once.
    """
    place = np.full(frame[ATOMS].count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    blocks = {name: block if name != ATOMS else block.rows(rows) for name, block in frame.items()}
    for name, block in blocks.items():
        ends = [end for end, target in references(block.columns, block.targets).items() if target.endswith(ATOMS)]
        if name != ATOMS and ends:
            blocks[name] = _renumbered(block, ends, place)
    return Frame.of(blocks, frame.box, frame.meta)


def _renumbered(block: Block, ends: list[str], place: Array) -> Block:
    found = {end: place[block[end].astype(np.intp)] for end in ends}
    kept = np.logical_and.reduce([rows >= 0 for rows in found.values()])
    made = block.rows(kept)
    for end, rows in found.items():
        made[end] = Column.of(rows[kept].astype(np.uint64), made.column(end).valid)
    return made
