"""How containers show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .block import Block
    from .frame import Frame
    from .record import Record


def _table(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{body}</table>"


def block_html(block: Block, name: str = "block") -> str:
    """A table of the columns: name, type and shape, first values."""
    rows = [
        (key, column.describe(), " ".join(str(value) for value in column.values[:3].tolist()))
        for key, column in block.columns.items()
    ]
    return _table(f"{name}: {block.count} rows", rows)


def frame_html(frame: Frame) -> str:
    """The tables of a frame's blocks, its box and its meta document."""
    parts = [block_html(block, name) for name, block in frame.items()]
    if frame.box is not None:
        parts.append(f"<p>{escape(repr(frame.box))}</p>")
    if frame.meta:
        rows = [(key, frame.meta.tag(key), str(value)[:80]) for key, value in frame.meta.items()]
        parts.append(_table("meta", rows))
    return "".join(parts) or "<p>an empty frame</p>"


def record_html(record: Record) -> str:
    """What a record holds, without a look at the data of its trajectory."""
    rows = [(key, str(value)[:80]) for key, value in record.meta.items()]
    parts = [_table("record", rows)]
    for name, frame in (("frame", record.frame), ("system", record.system)):
        if frame is not None:
            parts.append(f"<h4>{name}</h4>{frame_html(frame)}")
    if record.trajectory is not None:
        parts.append(f"<h4>trajectory</h4><p>{escape(repr(record.trajectory))}</p>")
    return "".join(parts)
