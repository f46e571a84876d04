"""Reading ahead: one thread finds the frames, others decode them, and they are taken in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from queue import SimpleQueue

from .adapter import Importer, Note, Snapshot, Span
from .errors import ConvertError

AHEAD = 24 << 20
"""Bytes of text that are read and decoded before they are taken, but always one frame beside the one being taken."""

FRAME = 8 << 10
"""Bytes that a frame takes beside its text: that of a few atoms is small, and its objects are not."""

BUNDLE = 256 << 10
"""Bytes of frames that are decoded in one go: handing a task to a thread takes as long as decoding a small frame."""

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


def _in_frame(note: Note, ordinal: int) -> Note:
    """The note with the frame of the source in which it was made, where it has a line there."""
    return note if note.line is None or note.frame is not None else replace(note, frame=ordinal)


def decoded(
    importer: Importer, spans: Iterator[Span], executor: Executor, transform: Transform | None = None
) -> Iterator[Snapshot]:
    """Read ahead in one thread, decode in others, and give the frames in order.

    An error of a frame is raised in its turn, after the frames before it; so is one of the index.
    """

    def decode(span: Span) -> Snapshot:
        snapshot = importer.decode(span)
        if span.ordinal and snapshot.notes:
            snapshot.notes = [_in_frame(note, span.ordinal) for note in snapshot.notes]
        if transform is None:
            return snapshot
        try:
            return transform(snapshot)
        except ConvertError as error:
            error.frame = span.ordinal if error.frame is None else error.frame
            raise

    def decode_all(bundle: list[Span]) -> tuple[list[Snapshot], Exception | None]:
        """Frames up to one that cannot be decoded, and what is wrong with that."""
        found: list[Snapshot] = []
        try:
            for span in bundle:
                found.append(decode(span))  # noqa: PERF401 - those before an error are kept
        except Exception as error:  # noqa: BLE001 - raised in its turn, in the thread that takes the frames
            return found, error
        return found, None

    coming: SimpleQueue[tuple[Future[tuple[list[Snapshot], Exception | None]], int] | BaseException | None]
    coming = SimpleQueue()
    budget = Budget(AHEAD)

    def read() -> None:
        end: BaseException | None = None
        try:
            for bundle, size in bundles(spans):
                if not budget.take(size):
                    break
                coming.put((executor.submit(decode_all, bundle), size))
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
            snapshots, error = future.result()
            budget.give(size)
            yield from snapshots
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
    size = 0
    try:
        for span in spans:
            bundle.append(span)
            size += span.size + FRAME
            if size >= BUNDLE:
                yield bundle, size
                bundle, size = [], 0
    except Exception:
        if bundle:
            yield bundle, size
        raise
    if bundle:
        yield bundle, size
