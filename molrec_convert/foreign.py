"""Foreign files as targets: what they cannot hold is told, the rest is written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any, BinaryIO

from . import registry
from .adapter import Adapter, Exporter, Note, Snapshot
from .ahead import one_by_one
from .alike import LastFrame
from .errors import LossError, OptionError
from .loss import OF_THE_SERIES, Contents, Loss, LossReport, condensed, losses, record_losses
from .model import Meta
from .moments import mapped
from .options import Options
from .part import PartFile
from .stack import Stack, StackExporter

PENDING = 4
"""How many frames are printed at once."""


class ForeignOutput:
    """A foreign file: the frames go to `_put`, after what it cannot hold of them was noted or refused."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        options: Options,
        contents: Contents | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> None:
        self._adapter, self.takes = adapter, adapter.export_options
        self._options, self._strict = options, options.strict
        self._known = contents
        self._document = document or {}
        self._layout: frozenset[str] | None = None
        self._own_layout = registry.layout_keys([adapter.name])
        self._first_count: int | None = None
        self._last = LastFrame()
        self.frames = 0
        self.notes: list[Note] = []
        self.report = LossReport(adapter.name)

    def add(self, taken: Snapshot | Stack) -> None:
        """Take the next frame, or frames."""
        for snapshot in one_by_one([taken]):
            self._add(snapshot)

    def _add(self, snapshot: Snapshot) -> None:
        snapshot.about = snapshot.frame.meta.joined(snapshot.about)
        self._note_losses(snapshot)
        snapshot.frame.meta = self._without_layout(snapshot.frame.meta)
        if not self.frames:
            self._begin(snapshot)
        if not self.frames or self._adapter.carries.frames:
            self._put(snapshot)
        self.frames += 1

    def _without_layout(self, meta: Meta) -> Meta:
        """The values of a frame alone: not the facts of a file of one frame."""
        facts = {key for key in meta if self._is_layout(key) and key not in self._own_layout}
        if not facts:
            return meta
        return meta.picked(key for key in meta if key not in facts)

    def _begin(self, first: Snapshot) -> None:
        raise NotImplementedError

    def _put(self, snapshot: Snapshot) -> None:
        raise NotImplementedError

    def finish(self, document: dict[str, Any]) -> None:
        """Complete the file."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove what was written."""
        raise NotImplementedError

    def _measured(self, snapshot: Snapshot) -> Iterator[Loss]:
        """What trying it out shows that the frame loses."""
        del snapshot
        return iter(())

    def _note_losses(self, snapshot: Snapshot) -> None:
        found = [] if self._last.is_like(snapshot, self.frames) else list(self._found(snapshot))
        found += self._measured(snapshot)
        self._tell(condensed(found))

    def _tell(self, found: Sequence[Loss]) -> None:
        """Add losses to the report, and refuse them where none is allowed."""
        for loss in found:
            self.report.add(loss)
        if found and self._strict:
            reason = f": {found[0].reason}" if len(found) == 1 else ""
            raise LossError(f"{self._adapter.name} cannot hold {', '.join(map(str, found))}{reason}")

    def _found(self, snapshot: Snapshot) -> Iterator[Loss]:
        if self._known is not None:
            if not self.frames:
                yield from self._lost(self._known)
            return
        contents = Contents.of([snapshot], self.frames)
        count = contents.counts.get("atoms", 0)
        self._first_count = count if self._first_count is None else self._first_count
        contents.frames = self.frames + 1
        contents.varying = count != self._first_count
        left_out = self.frames and not self._adapter.carries.frames
        for loss in self._lost(contents):
            if not left_out or loss.item in OF_THE_SERIES:
                yield loss
        if not self.frames:
            yield from record_losses(self._document)

    def _lost(self, contents: Contents) -> Iterator[Loss]:
        yield from losses(contents, self._adapter.carries, self._is_layout)
        if self._adapter.lost is not None:
            yield from self._adapter.lost(contents)

    def _is_layout(self, key: str) -> bool:
        """Whether a key only says how a file was laid out that the frames came from."""
        if self._layout is None:  # looked up late, since it may load an adapter
            sources = (self._document.get(name) for name in ("source", "topology"))
            self._layout = registry.layout_keys(source.get("format") for source in sources if isinstance(source, dict))
        return key in self._layout


class TextOutput(ForeignOutput):
    """A foreign file whose frames are printed in threads."""

    def __init__(
        self,
        part: PartFile | None,
        stream: BinaryIO | None,
        adapter: Adapter,
        *,
        name: str,
        options: Options,
        executor: Executor,
        contents: Contents | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(adapter, options=options, contents=contents, document=document)
        assert adapter.exporter is not None
        self._part, self._stream = part, stream
        self._executor = executor
        self._exporter: Exporter = adapter.exporter(name, options)
        self._pending: deque[Future[bytes]] = deque()
        self._file: BinaryIO | None = None

    def _begin(self, first: Snapshot) -> None:
        self._file = self._opened()
        self._file.write(self._exporter.head(first))

    def _put(self, snapshot: Snapshot) -> None:
        self._pend(self._exporter.encode, snapshot, self.frames)

    def _pend(self, encode: Callable[..., bytes], *given: Any) -> None:
        self._pending.append(self._executor.submit(encode, *given))
        if len(self._pending) > PENDING:
            self._write_next()

    def add(self, taken: Snapshot | Stack) -> None:
        """Take the next frame, or frames."""
        if isinstance(taken, Stack):
            while self.frames < 2 and len(taken):  # after which nothing depends on how many there are
                self._add(taken[0])
                taken = taken.after(1)
            if not len(taken):
                return
            own = taken.moments
            abouts = mapped(Meta.joined, own.metas, own.abouts)
            stack = Stack(taken.blocks, replace(own, abouts=abouts), taken.units)
            if self._adapter.carries.frames and self._last.are_like(stack, self.frames):
                stack.moments.metas = mapped(self._without_layout, own.metas)
                self._pend(self._encoded, stack, self.frames)
                self.frames += len(stack)
                return
        super().add(taken)

    def _encoded(self, stack: Stack, first: int) -> bytes:
        """Frames of a stack, the first of which has this number."""
        text = self._exporter.encode_stack(stack, first) if isinstance(self._exporter, StackExporter) else None
        if text is not None:
            return text
        return b"".join(self._exporter.encode(snapshot, first + k) for k, snapshot in enumerate(stack))

    def finish(self, document: dict[str, Any]) -> None:
        """Write what is left and close the file."""
        del document
        while self._pending:
            self._write_next()
        assert self._file is not None
        self._file.write(self._exporter.tail())
        self.notes += getattr(self._exporter, "notes", ())
        self._tell(getattr(self._exporter, "losses", ()))
        if self._part is not None and (final_head := getattr(self._exporter, "final_head", None)) is not None:
            self._file.seek(0)
            self._file.write(final_head())
        self._file.flush()
        if self._part is not None:
            self._file.close()

    def discard(self) -> None:
        """Close the file and remove it."""
        for future in self._pending:
            future.cancel()
        if self._part is not None:
            if self._file is not None:
                self._file.close()
            self._part.discard()

    def _opened(self) -> BinaryIO:
        if self._part is None:
            assert self._stream is not None
            return self._stream
        file = self._part.path.open("wb")
        self._part.grows()
        return file

    def _write_next(self) -> None:
        assert self._file is not None
        self._file.write(self._pending.popleft().result())


def foreign_output(
    part: PartFile | None,
    stream: BinaryIO | None,
    adapter: Adapter,
    *,
    name: str,
    options: Options,
    executor: Executor,
    document: Mapping[str, Any] | None = None,
) -> ForeignOutput:
    """The target of an adapter, in whichever way it writes; `OptionError` where the format is only read."""
    if not adapter.writes:
        raise OptionError(f"{adapter.name} can be read, not written")
    if adapter.file_exporter is not None:
        from .library_output import LibraryOutput

        return LibraryOutput(part, adapter, name=name, options=options, document=document)
    return TextOutput(part, stream, adapter, name=name, options=options, executor=executor, document=document)
