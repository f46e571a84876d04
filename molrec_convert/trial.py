"""Finding out what a file of some format keeps of a frame: by writing one, and reading it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from .adapter import Adapter, Note, Snapshot
from .errors import ConvertError
from .library import Guard
from .loss import Loss
from .mapping.names import POSITIONS
from .model import Block, Box, Column, Frame, Meta
from .model.dtypes import ENDPOINTS, Array
from .model.meta import same_value
from .options import Options
from .steps import converted

ATOMS = "atoms"
ROWS, RELATIONS = 200, 10
"""How many atoms, and relations of a kind, are tried out."""
EXACT = 1e-12
"""How far reals may move, relatively, before a person is told: conversions of units cost the last bits."""
ROUNDED = 1e-2
"""How far they move where it is digits that are lost, and not the values."""


def sample(snapshot: Snapshot) -> Snapshot:
    """The same frame with fewer atoms and relations, so that trying it out costs little however large it is."""
    frame = snapshot.frame
    if ATOMS not in frame or frame[ATOMS].count <= ROWS:
        return snapshot
    relations = {name: block for name, block in frame.items() if any(end in block for end in ENDPOINTS)}
    kept = [np.arange(ROWS, dtype=np.uint64)]
    kept += [block[end][:RELATIONS] for block in relations.values() for end in ENDPOINTS if end in block]
    rows = np.unique(np.concatenate(kept))
    rows = rows[rows < frame[ATOMS].count].astype(np.int64)
    blocks = dict(frame.items())
    blocks[ATOMS] = _rows_of(frame[ATOMS], rows)
    for name, block in relations.items():
        part = _rows_of(block, np.arange(min(RELATIONS, block.count)))
        columns = dict(part.columns)
        for end in ENDPOINTS:
            if end in columns:
                columns[end] = Column.of(
                    np.searchsorted(rows, columns[end].values).astype(np.uint64), columns[end].valid
                )
        blocks[name] = Block.of(columns, part.count, targets=part.targets)
    return replace(snapshot, frame=Frame.of(blocks, frame.box, frame.meta), notes=[])


def _rows_of(block: Block, rows: Array) -> Block:
    columns = {
        key: Column.of(column.values[rows], None if column.valid is None else column.valid[rows], column.precision)
        for key, column in block.columns.items()
    }
    return Block.of(columns, len(rows), targets=block.targets, attributes=block.attributes)


def read_back(
    adapter: Adapter, snapshots: Sequence[Snapshot], path: Path, options: Options, *, frame: int
) -> Snapshot | None:
    """Write frames to a file and read the last of them, whose number is given; None where the library cannot read it.

    Raises
    ------
    ConvertError
        Where they cannot be written.
    """
    assert adapter.file_exporter is not None
    path.parent.mkdir()
    ignored: list[Note] = []
    with Guard(adapter, "write", path.name, ignored) as guard:
        guard.path, guard.frame = path, frame
        exporter = adapter.file_exporter(options)
        exporter.open(path, snapshots[0])
        for snapshot in snapshots:
            exporter.add(snapshot)
        exporter.close()
    if adapter.file_importer is None:
        return None
    importer = adapter.file_importer(Options())
    found = None
    try:
        with Guard(adapter, "read", path.name, ignored):
            first = snapshots[0].frame
            importer.open(path, atoms=first[ATOMS].count if ATOMS in first else 0)
            for found in importer.frames(None):  # noqa: B007 - the last is wanted
                pass
    except ConvertError:
        return None  # written in a form that this library does not read; that is no loss
    finally:
        with suppress(Exception):
            importer.close()
    return found


def changes(first: Snapshot, back: Snapshot, is_layout: Callable[[str], bool] = lambda _: False) -> Iterator[Loss]:
    """What a frame has lost on the way.

    Parameters
    ----------
    first
        The frame as it was, whose `about` holds its meta, too.
    back
        The frame as it was read again.
    is_layout
        Whether a key only says how a file of some format is laid out.
    """
    if first.units is not None and back.units is not None and dict(first.units) != dict(back.units):
        back = converted(back, back.units, first.units)
    turned = _turned_back(first.frame, back.frame)
    if turned is not None:
        yield Loss("orientation of the cell", "the cell is turned, and the atoms with it, when the file is read again")
        back = replace(back, frame=turned)
    shifted = _shifted_back(first.frame, back.frame)
    if shifted is not None:
        yield Loss("images of atoms", "atoms are moved by whole vectors of the cell when the file is read again")
        back = replace(back, frame=shifted)
    yield from _block_changes(first, back)
    yield from _box_changes(first.frame.box, back.frame.box)
    kept = Meta({**back.about, **back.frame.meta})
    for key, value in first.about.items():
        if value in ("", [], {}) or is_layout(key):
            continue
        if key not in kept:
            yield Loss(key, "not there when the file is read again")
        elif not (same_value(value, kept[key]) or _is_close(np.asarray(value), np.asarray(kept[key]))):
            yield Loss(key, f"{kept[key]!r} when the file is read again")
    for name, value, found in (("step", first.step or None, back.step), ("time", first.time, back.time)):
        if value is not None and (found is None or not _is_close(np.asarray(value), np.asarray(found))):
            yield Loss(name, "not there when the file is read again")


def _turned_back(ours: Frame, theirs: Frame) -> Frame | None:
    """The frame that was read again, turned into the orientation of ours; None where it has that or is another cell."""
    here, there = ours.box, theirs.box
    if here is None or there is None or not (here.defined and there.defined) or ATOMS not in theirs:
        return None
    if _is_close(here.vectors, there.vectors, ROUNDED):
        return None
    if not _is_close(here.vectors.T @ here.vectors, there.vectors.T @ there.vectors, ROUNDED):
        return None
    turn = here.vectors @ np.linalg.inv(there.vectors)
    atoms = theirs[ATOMS]
    columns = dict(atoms.columns)
    for names in (("x", "y", "z"), ("vx", "vy", "vz"), ("fx", "fy", "fz")):
        if all(name in columns for name in names):
            is_place = names[0] == "x"
            vectors = np.stack([columns[name].values for name in names]) - (there.origin[:, None] if is_place else 0.0)
            moved = turn @ vectors + (here.origin[:, None] if is_place else 0.0)
            columns |= {name: Column.of(moved[k], columns[name].valid) for k, name in enumerate(names)}
    blocks = {**dict(theirs.items()), ATOMS: Block.of(columns, atoms.count)}
    return Frame.of(blocks, Box.of(turn @ there.vectors, here.origin, there.boundary), theirs.meta)


def _shifted_back(ours: Frame, theirs: Frame) -> Frame | None:
    """The frame that was read again, with its atoms in the images of ours; None where they are, or are elsewhere."""
    box = ours.box
    if (
        box is None
        or not box.defined
        or any(name not in frame.get(ATOMS, ()) for frame in (ours, theirs) for name in POSITIONS)
    ):
        return None
    here, there = (np.stack([frame[ATOMS][name] for name in POSITIONS]) for frame in (ours, theirs))
    if here.shape != there.shape or not np.isfinite([here, there]).all():
        return None
    vectors = np.round(np.linalg.solve(box.vectors, here - there))
    shifted = there + box.vectors @ vectors
    if not vectors.any() or vectors[~box.boundary].any() or not _is_close(here, shifted, ROUNDED):
        return None
    atoms = theirs[ATOMS]
    moved = {name: Column.of(values, atoms.column(name).valid) for name, values in zip(POSITIONS, shifted, strict=True)}
    blocks = {**dict(theirs.items()), ATOMS: Block.of({**atoms.columns, **moved}, atoms.count)}
    return Frame.of(blocks, theirs.box, theirs.meta)


def _block_changes(first: Snapshot, back: Snapshot) -> Iterator[Loss]:
    for name, block in first.frame.items():
        if name not in back.frame:
            if block.count:
                yield Loss(name, "not there when the file is read again", block.count)
        elif block.count != back.frame[name].count:
            yield Loss(name, f"{back.frame[name].count} when the file is read again", block.count)
        elif name == ATOMS:
            yield from _column_changes(block, back.frame[name])


def _column_changes(block: Block, back: Block) -> Iterator[Loss]:
    for key, column in block.columns.items():
        item = f"{ATOMS}.{key}"
        if key not in back:
            yield Loss(item, "not there when the file is read again")
            continue
        found = back.column(key)
        if column.valid is not None and found.valid is None:
            yield Loss(f"nulls of {item}", "have values when the file is read again")
        elif not _is_same(column, found):
            yield Loss(f"digits of {item}" if _is_near(column, found) else item, _difference(column, found))


def _is_same(column: Column, found: Column) -> bool:
    rows = slice(None) if column.valid is None else column.valid
    ours, theirs = column.values[rows], found.values[rows]
    if ours.shape != theirs.shape:
        return False
    if ours.dtype.kind == "f" and theirs.dtype.kind == "f":
        return _is_close(ours, theirs)
    return bool(np.array_equal(ours, theirs))


def _is_near(column: Column, found: Column) -> bool:
    return column.values.dtype.kind == "f" and _is_close(column.values, found.values, ROUNDED)


def _is_close(ours: Array, theirs: Array, tolerance: float = EXACT) -> bool:
    if ours.shape != theirs.shape or ours.dtype.kind not in "fiu" or theirs.dtype.kind not in "fiu":
        return False
    size = float(np.abs(ours[np.isfinite(ours)]).max(initial=0.0))
    return bool(np.allclose(ours, theirs, rtol=0.0, atol=tolerance * size, equal_nan=True))


def _difference(column: Column, found: Column) -> str:
    ours, theirs = column.values, found.values
    if ours.shape == theirs.shape and ours.dtype.kind == "f" and theirs.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            off = float(np.nanmax(np.abs(ours - theirs), initial=0.0))
        return f"up to {off:.1e} off when the file is read again"
    return "has other values when the file is read again"


def _box_changes(ours: Box | None, theirs: Box | None) -> Iterator[Loss]:
    if ours is None or not ours.defined:
        if theirs is not None and theirs.defined:
            yield Loss("absence of a cell", "there is a cell when the file is read again")
        return
    if theirs is None or not theirs.defined:
        yield Loss("box", "not there when the file is read again")
        return
    if not _is_close(ours.vectors, theirs.vectors):
        off = float(np.abs(ours.vectors - theirs.vectors).max())
        yield Loss("digits of box", f"up to {off:.1e} off when the file is read again")
    if not _is_close(ours.origin, theirs.origin):
        yield Loss("box.origin", "another when the file is read again")
    if not np.array_equal(ours.boundary, theirs.boundary):
        yield Loss("box.boundary", "another when the file is read again")
