"""Writes a record: its document, its sections, its trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from types import TracebackType
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.model import Frame, Schema
from molrec_convert.model.meta import checked_key, json_value

from . import layout
from .chunks import ChunkQueue
from .schema_json import checked_schema, schema_document
from .sections import at_place, write_section
from .trajectory_writer import TrajectoryWriter
from .tree import Group, Store


class RecordWriter:
    """Writes the sections of one record; a context manager.

    Leaving the ``with`` block closes the record. After an exception it closes with the frames that were committed.

    Parameters
    ----------
    store
        An open store of a binding.
    executor
        Where chunks are compressed; by default threads of the writer's own.
    durable
        Whether trajectories are committed as they grow.
    """

    def __init__(self, store: Store, *, executor: Executor | None = None, durable: bool = False) -> None:
        self._store = store
        self._durable = durable
        self._queue = ChunkQueue(executor)
        self._sections: dict[str, Frame | None] = {layout.FRAME: None, layout.SYSTEM: None}
        self._is_open = True
        self.trajectory: TrajectoryWriter | None = None

    @property
    def root(self) -> Group:
        """The tree that is written to."""
        return self._store.root

    def set_meta(self, document: Mapping[str, Any]) -> None:
        """Write the document of the record, in place of an earlier one; plain finite JSON."""
        with at_place("/meta"):
            members = {key: json_value(value, f"{key!r}") for key, value in document.items()}
            for key in members:
                checked_key(key, "a key")
        group = self.root.group(layout.META) or self.root.create_group(layout.META)
        for name in group.attributes.names():
            group.attributes.delete(name)
        group.attributes.set_plain(members)

    def set_section(self, name: str, frame: Frame) -> None:
        """Write the section ``frame`` or ``system``, in place of an earlier one."""
        if name not in (layout.FRAME, layout.SYSTEM):
            raise RecordError("a frame-shaped section is 'frame' or 'system'", place=f"/{name}")
        if name == layout.SYSTEM and self.trajectory is not None:
            self.trajectory.check_system(frame)
        write_section(self.root, name, frame, self._sections)
        self._sections[name] = frame

    def begin_trajectory(
        self, schema: Schema, *, expected_frames: int | None = None, durable: bool | None = None
    ) -> TrajectoryWriter:
        """Declare the trajectory, and give what appends its frames.

        Parameters
        ----------
        schema
            What the frames hold; it stays.
        expected_frames
            How many will come, if that is known.
        durable
            Whether frames are committed as they come; by default as the writer was made.
        """
        if self.trajectory is not None:
            raise RecordError("the record has a trajectory", place="/trajectory")
        with at_place("/trajectory"):
            checked_schema(schema)
        group = self.root.create_group(layout.TRAJECTORY)
        group.attributes.set_document(layout.SCHEMA, schema_document(schema))
        writer = TrajectoryWriter(
            self._store,
            group,
            schema,
            self._queue,
            lambda: self.sections,
            expected_frames=expected_frames,
            durable=self._durable if durable is None else durable,
        )
        if (system := self._sections[layout.SYSTEM]) is not None:
            writer.check_system(system)
        self.trajectory = writer
        return writer

    def resume(self, sections: Mapping[str, Frame | None], trajectory: TrajectoryWriter | None) -> None:
        """Go on with a record that has these sections."""
        self._sections.update(sections)
        self.trajectory = trajectory

    @property
    def sections(self) -> Mapping[str, Frame | None]:
        """The sections ``frame`` and ``system``, as they stand."""
        return self._sections

    @property
    def queue(self) -> ChunkQueue:
        """Where chunks are compressed."""
        return self._queue

    def close(self) -> None:
        """Write what is left, and close the store."""
        self._close(complete=True)

    def _close(self, *, complete: bool) -> None:
        if not self._is_open:
            return
        self._is_open = False
        try:
            if complete and self.trajectory is not None:
                self.trajectory.close()
        finally:
            self._queue.close()
            self._store.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(complete=error is None)
