"""Reading ahead: one thread finds the frames, others decode them, and they are taken in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from itertools import groupby
from queue import SimpleQueue

from .adapter import Importer, Note, Snapshot, Span
from .errors import ConvertError
from .stack import Stack, StackImporter

AHEAD = 24 << 20
"""Bytes of text that are read and decoded before they are taken, but always one frame beside the one being taken."""

FRAME = 8 << 10
"""Bytes that a frame takes beside its text: that of a few atoms is small, and its objects are not."""

BUNDLE, MOST = 1 << 20, 512
"""Bytes of text, and frames, that are decoded in one go: handing a task to a thread takes as long as a small frame."""
LONE = 128 << 10
"""Bytes of a frame that goes alone: to join such takes longer than it spares."""

Transform = Callable[[Snapshot], Snapshot]


class Budget:
    """A number of bytes that may be under way; what is larger than all of it goes alone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._stopped = False
        self._changed = threading.Condition()

    def take(self, size: int) -> bool:
        """Wait until so many bytes are free; false where that is not wanted any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._used or self._used + size <= self._limit)
            self._used += size
            return not self._stopped

    def give(self, size: int) -> None:
        """Give bytes back."""
        with self._changed:
            self._used -= size
            self._changed.notify()

    def stop(self) -> None:
        """Let nothing go on."""
        with self._changed:
            self._stopped = True
            self._changed.notify()


class Decoder:
    """Makes frames of spans, small ones together, and applies a step to them.

    Parameters
    ----------
    importer
        Decodes them.
    transform
        The step; one with a method ``stacked`` takes a stack of frames at once.
    """

    def __init__(self, importer: Importer, transform: Transform | None) -> None:
        self._importer = importer
        self._stacking = importer if isinstance(importer, StackImporter) else None
        self._transform = transform

    def decode(self, bundle: list[Span]) -> tuple[list[Snapshot | Stack], Exception | None]:
        """Frames up to one that cannot be decoded, and what is wrong with that."""
        found: list[Snapshot | Stack] = []
        try:
            for kind, spans in self._together(bundle):
                stack = None if kind is None or len(spans) == 1 else self._stack(spans)
                if stack is None:
                    for span in spans:
                        found.append(self._snapshot(span))  # noqa: PERF401 - those before an error are kept
                else:
                    found.append(stack)
        except Exception as error:  # noqa: BLE001 - raised in its turn, in the thread that takes the frames
            return found, error
        return found, None

    def _together(self, bundle: list[Span]) -> Iterable[tuple[object, Sequence[Span]]]:
        """Spans one after another of one kind; None where their frames go one by one."""
        takes_stacks = self._transform is None or hasattr(self._transform, "stacked")
        if self._stacking is None or not takes_stacks:
            return [(None, bundle)]
        return ((kind, list(spans)) for kind, spans in groupby(bundle, self._stacking.kind))

    def _stack(self, spans: Sequence[Span]) -> Stack | None:
        """The frames taken together; None where they go one by one, as does one that is wrong, to tell how."""
        assert self._stacking is not None
        try:
            stack = self._stacking.stacked(spans)
        except (ConvertError, ValueError):
            return None
        return None if stack is None else changed(stack, self._transform)

    def _snapshot(self, span: Span) -> Snapshot:
        snapshot = self._importer.decode(span)
        if span.ordinal and snapshot.notes:
            snapshot.notes = [_in_frame(note, span.ordinal) for note in snapshot.notes]
        if self._transform is None:
            return snapshot
        try:
            return self._transform(snapshot)
        except ConvertError as error:
            error.frame = span.ordinal if error.frame is None else error.frame
            raise


def _in_frame(note: Note, ordinal: int) -> Note:
    """The note with the frame of the source in which it was made, where it has a line there."""
    return note if note.line is None or note.frame is not None else replace(note, frame=ordinal)


def changed(stack: Stack, transform: Transform | None) -> Stack | None:
    """A stack after a step; None where that takes frames one by one, or has something to say of one of them."""
    if transform is None:
        return stack
    try:
        return transform.stacked(stack) if hasattr(transform, "stacked") else None
    except (ConvertError, ValueError):
        return None


def one_by_one(taken: Iterable[Snapshot | Stack]) -> Iterator[Snapshot]:
    """Frames one by one, however they were taken."""
    for each in taken:
        if isinstance(each, Stack):
            yield from each
        else:
            yield each


def decoded(
    importer: Importer, spans: Iterator[Span], executor: Executor, transform: Transform | None = None
) -> Iterator[Snapshot | Stack]:
    """Read ahead in one thread, decode in others, and give the frames in order, small ones together.

    An error of a frame is raised in its turn, after the frames before it; so is one of the index.
    """
    decode = Decoder(importer, transform).decode
    coming: SimpleQueue[tuple[Future[tuple[list[Snapshot | Stack], Exception | None]], int] | BaseException | None]
    coming = SimpleQueue()
    budget = Budget(AHEAD)

    def read() -> None:
        end: BaseException | None = None
        try:
            for bundle, size in bundles(spans):
                if not budget.take(size):
                    break
                coming.put((executor.submit(decode, bundle), size))
        except BaseException as error:  # noqa: BLE001 - raised in its turn, in the thread that takes the frames
            end = error
        coming.put(end)

    reader = threading.Thread(target=read, name="reader", daemon=True)
    reader.start()
    try:
        while (found := coming.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            future, size = found
            frames, error = future.result()
            budget.give(size)
            yield from frames
            if error is not None:
                raise error
    finally:
        budget.stop()
        reader.join()
        while not coming.empty():
            left = coming.get()
            if isinstance(left, tuple):
                left[0].cancel()


def bundles(spans: Iterator[Span]) -> Iterator[tuple[list[Span], int]]:
    """Spans by the bytes that they take, with those bytes; spans before an error come before it."""
    bundle: list[Span] = []
    size = text = 0
    try:
        for span in spans:
            bundle.append(span)
            size += span.size + FRAME
            text += span.size
            if text >= BUNDLE or len(bundle) >= MOST or span.size >= LONE:
                yield bundle, size
                bundle, size, text = [], 0, 0
    except Exception:
        if bundle:
            yield bundle, size
        raise
    if bundle:
        yield bundle, size
