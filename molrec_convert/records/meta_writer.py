"""The per-step meta of a trajectory on its way to the store: one array for each declared key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model import Meta, Schema
from molrec_convert.model.meta import TAGS, json_text
from molrec_convert.model.schema import NO_FILL
from molrec_convert.moments import Kept, distinct

from . import layout
from .cells import CELL_KEY
from .chunks import ChunkQueue
from .rows import ValuesWriter
from .tree import Group, Node


class MetaWriter:
    """What frames have for each key.

    Parameters
    ----------
    schema
        The declaration of the trajectory.
    mixed
        Whether the key ``cell_defined`` tells frames without a cell from others.
    error
        Makes an error from a message and a place in the trajectory.
    """

    def __init__(self, schema: Schema, *, mixed: bool, error: Callable[[str, str], RecordError]) -> None:
        self._schema, self._mixed, self._error = schema, mixed, error
        self._keys = [
            (key, spec, ValuesWriter(key, TAGS[spec.tag].dtype, _trailing(spec.tag)))
            for key, spec in schema.meta.items()
        ]
        self._group: Group | None = None

    def values_of(self, meta: Meta, *, has_cell: bool) -> list[Any]:
        """The values of all keys of a frame.

        Raises
        ------
        RecordError
            For a key that is not declared, one of another tag, a missing one that has no fill.
        """
        values: list[Any] = []
        found = 0
        for key, spec, _ in self._keys:
            value = meta.get(key, NO_FILL)
            if value is not NO_FILL:
                found += 1
                if meta.tag(key) != spec.tag:
                    raise self._error(f"the tag is {meta.tag(key)}, declared is {spec.tag}", f"meta/{key}")
            if self._mixed and key == CELL_KEY:
                if value is not NO_FILL and value is not has_cell:
                    raise self._error(f"{value} contradicts the box of the frame", f"meta/{key}")
                value = has_cell
            elif value is NO_FILL:
                value = spec.fill
                if value is NO_FILL:
                    raise self._error("the key is missing, and no fill is declared", f"meta/{key}")
            values.append(json_text(value) if spec.tag == "json" else value)
        if found != len(meta):
            undeclared = next(key for key in meta if key not in self._schema.meta)
            raise self._error("the key is not declared", f"meta/{undeclared}")
        return values

    def rows_of(self, metas: Sequence[Meta], *, has_cell: bool) -> list[list[Any]]:
        """The values of each key of many frames; raises as `values_of`, and where they do not have the same keys."""
        first = self.values_of(metas[0], has_cell=has_cell)
        if not all(meta.same_keys(metas[0]) for meta in distinct(metas)):
            raise RecordError("the frames have other keys")
        rows: list[list[Any]] = []
        for (key, spec, _), value in zip(self._keys, first, strict=True):
            if key not in metas[0] or isinstance(metas, Kept) or (self._mixed and key == CELL_KEY):
                rows.append([value] * len(metas))
            elif spec.tag == "json":
                rows.append([json_text(meta[key]) for meta in metas])
            else:
                rows.append([meta[key] for meta in metas])
        return rows

    def push(self, rows: Sequence[Sequence[Any]]) -> None:
        """Take the values of each key."""
        for (_, _, writer), values in zip(self._keys, rows, strict=True):
            writer.extend(values)

    def attach(self, parent: Group, hidden: list[tuple[Group, str, Node]], *, final: bool) -> None:
        """Give the values their place in the store; what is new waits in `hidden`."""
        if self._keys and self._group is None:
            self._group = parent.create_group(layout.META, hidden=True)
            hidden.append((parent, layout.META, self._group))
        for key, spec, writer in self._keys:
            if writer.array is None and self._group is not None:
                array = writer.open_dense(self._group, final=final)
                array.attributes.set_text(layout.META_DTYPE, spec.tag)
                self._group.publish(key, array)

    def drain(self, queue: ChunkQueue) -> None:
        """Write the chunks that are full."""
        for _, _, writer in self._keys:
            writer.drain(queue)

    def write_tails(self, queue: ChunkQueue, *, final: bool) -> None:
        """Write also those that are not."""
        for _, _, writer in self._keys:
            writer.write_tail(queue, final=final)

    def resume(self, parent: Group, count: int) -> None:
        """Go on with the values of the frames that are there."""
        self._group = parent.group(layout.META)
        for key, _, writer in self._keys:
            array = None if self._group is None else self._group.growing(key)
            if array is not None:
                writer.resume(array, count)


def _trailing(tag: str) -> tuple[int, ...]:
    length = TAGS[tag].length
    return () if length is None else (length,)
