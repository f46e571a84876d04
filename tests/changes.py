"""Changes to frames and records, each of which a comparison is to find."""

import math

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Record
from molrec_convert.model.trajectory import MemoryTrajectory

NAN, INFINITY = math.nan, math.inf


def put(name, row, value, *, block="atoms", index=()):
    """Change one value of a column, its mask and precision kept."""

    def change(frame):
        column = frame[block].column(name)
        values = column.values.copy()
        values[(row, *index)] = value
        frame[block] = with_column(frame[block], name, Column.of(values, column.valid, column.precision))

    return change


def swap(name, column, *, block="atoms"):
    """Replace a column; None takes it away."""

    def change(frame):
        frame[block] = with_column(frame[block], name, column)

    return change


def with_column(block, name, column):
    columns = {**block.columns, name: column}
    if column is None:
        del columns[name]
    return Block(columns, shape=block.shape, targets=block.targets, attributes=block.attributes)


def key(name, value, tag=None):
    """Set a value of the frame; None takes it away."""

    def change(frame):
        if value is None:
            del frame.meta[name]
        else:
            frame.meta.set(name, value, tag=tag)

    return change


def cell(**parts):
    """Change a part of the box."""

    def change(frame):
        box = frame.box
        given = {"vectors": box.vectors, "origin": box.origin, "boundary": box.boundary} | parts
        frame.box = Box(given["vectors"], origin=given["origin"], boundary=given["boundary"])

    return change


def drop(name):
    """Take a block away."""

    def change(frame):
        del frame[name]

    return change


def add(name, block):
    def change(frame):
        frame[name] = block

    return change


def attributes(frame):
    frame["bonds"].attributes["hint"] = "ionic"


def change_step(record):
    return Record(meta=record.meta, trajectory=MemoryTrajectory(list(record.trajectory), step=[0, 10, 21],
                                                                time=record.trajectory.time))  # fmt: skip


def change_time(record):
    return Record(meta=record.meta, trajectory=MemoryTrajectory(list(record.trajectory), step=record.trajectory.step,
                                                                time=[0.0, 0.5, 1.25]))  # fmt: skip


def without_time(record):
    return Record(meta=record.meta, trajectory=MemoryTrajectory(list(record.trajectory), step=record.trajectory.step))


def shorter(record):
    return Record(meta=record.meta, trajectory=record.trajectory[:2])


def in_nm(record):
    return Record(meta={**record.meta, "units": {**record.meta["units"], "length": "nm"}}, trajectory=record.trajectory)


def retitled(record):
    return Record(meta={**record.meta, "title": "ice"}, trajectory=record.trajectory)


def untitled(record):
    return Record(meta={"units": record.meta["units"]}, trajectory=record.trajectory)


def compared(tmp_path, one, other, suffix=".h5", **options):
    for name, record in (("a", one), ("b", other)):
        mc.write(tmp_path / f"{name}{suffix}", record, force=True)
    return mc.diff(tmp_path / f"a{suffix}", tmp_path / f"b{suffix}", **options)
