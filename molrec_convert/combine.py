"""A trajectory and its topology in two files, as one source."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from . import registry
from .adapter import Note, Role, Snapshot
from .ahead import Transform
from .errors import FormatError, OptionError
from .frames import FrameSelection
from .headstart import HeadStart
from .inputs import Input, RecordInput, check_options, open_input
from .merge import Merger
from .options import Options


class Combined:
    """Two sources as one: the frames of a trajectory, each with what its topology says; see `inputs.Input`."""

    def __init__(self, topology: Input, trajectory: Input) -> None:
        if topology.name == trajectory.name and topology.format == trajectory.format:
            raise OptionError(f"the topology and the trajectory are both {topology.name}")
        if (_role(topology), _role(trajectory)) == ("trajectory", "structure"):  # of which one frame would be left
            message = f"{topology.name} is a trajectory, and {trajectory.name} a structure: they are in the wrong order"
            raise OptionError(message)
        self._topology, self._trajectory = topology, trajectory
        self.name, self.format, self.series = trajectory.name, trajectory.format, trajectory.series
        self.unwraps, self.notes = trajectory.unwraps, trajectory.notes
        self.takes = topology.takes | trajectory.takes

    def snapshots(
        self, selection: FrameSelection, executor: Executor, transform: Transform | None
    ) -> Iterator[Snapshot]:
        """The chosen frames in order, joined and decoded in threads."""
        static = self._static(executor)
        merger = Merger(static, self._topology.name, self._trajectory.name)
        if hasattr(self._trajectory, "atoms"):  # another library may need to know
            self._trajectory.atoms = static.frame["atoms"].count

        def join(snapshot: Snapshot) -> Snapshot:
            merged = merger.merge(snapshot)
            return merged if transform is None else transform(merged)

        first = True
        for snapshot in self._trajectory.snapshots(selection, executor, join):
            if first:
                merger.check(snapshot)
                snapshot.notes[:0] = self._topology_notes(static)
                first = False
            yield snapshot

    def _static(self, executor: Executor) -> Snapshot:
        first = FrameSelection() if not self._topology.series else FrameSelection((0,))
        for snapshot in self._topology.snapshots(first, executor, None):
            return snapshot
        raise FormatError("there is no frame in it", path=self._topology.name)

    def _topology_notes(self, static: Snapshot) -> list[Note]:
        return [
            Note(note.message, note.line, note.frame, note.path or self._topology.name, note.lacks)
            for note in (*static.notes, *self._topology.notes)
        ]

    def provenance(self) -> dict[str, Any]:
        """Where both came from."""
        topology = self._topology.provenance()
        return {**self._trajectory.provenance(), "topology": topology.get("source", {"name": self._topology.name})}

    def progress(self) -> tuple[int, int | None]:
        """How much of the trajectory was read."""
        return self._trajectory.progress()

    def close(self) -> None:
        """Close both files."""
        self._topology.close()
        self._trajectory.close()


def _role(source: Input) -> Role | None:
    """What a file usually is beside others; None for a record, which may be either."""
    return None if isinstance(source, RecordInput) else registry.by_name(source.format).role


def open_inputs(
    path: Path | str | None,
    stream: BinaryIO | None,
    *,
    topology: str | Path | None,
    trajectory: str | Path | None,
    format_name: str | None,
    options: Options,
    checksum: HeadStart | None = None,
) -> Input:
    """Open a source, and the file that completes it where one is given.

    Raises
    ------
    OptionError
        Where both a topology and a trajectory are given, or an option means nothing to either format.
    """
    if topology is not None and trajectory is not None:
        raise OptionError("the source is the topology or the trajectory: say --topology or --trajectory, not both")
    other = topology if trajectory is None else trajectory
    if other is None:
        return open_input(path, stream=stream, format_name=format_name, options=options, checksum=checksum)
    alone = replace(options, unwrap=False, sample_decimals=False)
    opened: list[Input] = []
    try:
        given = alone if trajectory is not None else options
        opened.append(
            open_input(path, stream=stream, format_name=format_name, options=given, check=False, checksum=checksum)
        )
        given = options if trajectory is not None else alone
        opened.append(open_input(Path(other), stream=None, format_name=None, options=given, check=False))
        made = Combined(*opened) if trajectory is not None else Combined(*reversed(opened))
        check_options(" or ".join(dict.fromkeys(each.format for each in opened)), made.takes, options)
    except BaseException:
        for each in opened:
            each.close()
        raise
    return made
