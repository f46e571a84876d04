"""Steps and times of frames as the header of a DCD file states them: a first step, a stride, a time step."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator

from molrec_convert.loss import Loss

LARGEST = 2**31 - 1
CLOSE = 1e-6
"""How far times may be off, relatively, where a time step in binary32 stands for them."""

Moment = tuple[int, float | None]
"""The step and the time of a frame."""

EXACT, NEAR, OFF = range(3)
REASONS = {
    NEAR: "the format has a time step in binary32, which gives the times to some seven digits",
    OFF: "the format has a time step alone, which does not give the times of all frames",
}


class Moments:
    """Finds the three numbers from the first two frames, and whether they give the steps and times of all.

    Frames come in any order, for they are encoded in threads; they are kept until the first two are there.

    Parameters
    ----------
    stride
        The stride that the source had, for a single frame.
    delta
        The time step that the source had: written again where it gives the times, or where there are none.
    factor
        By what a time of the file is multiplied to be one of the frames; None where that is not known.
    """

    def __init__(self, *, stride: int, delta: float, factor: float | None) -> None:
        self.frames = 0
        self.start = 0
        self.stride = stride
        self.delta = single(delta)
        self._kept = delta
        self._factor = factor
        self._lock = threading.Lock()
        self._waiting: dict[int, Moment] = {}
        self._settled = False
        self._timed = False
        self._even = True
        self._times = EXACT

    def take(self, ordinal: int, step: int, time: float | None) -> None:
        """Take the moment of a frame."""
        with self._lock:
            self.frames = max(self.frames, ordinal + 1)
            self._waiting[ordinal] = step, time
            if not self._settled and 0 in self._waiting and 1 in self._waiting:
                self._settle()
            if self._settled:
                self._check()

    def finish(self) -> Iterator[Loss]:
        """Take it that there are no more frames; what the three numbers do not say of them."""
        if not self._settled and self._waiting:
            self._settle()
            self._check()
        if not fits(self.start, self.stride):
            yield Loss("step", "the format has a first step and a stride of 32 bits")
        elif not self._even:
            yield Loss("step", f"the format counts evenly: from {self.start} by {self.stride}")
        if self._times != EXACT:
            unknown = self._factor is None
            yield Loss("time", "the unit of the times is not known" if unknown else REASONS[self._times])
        if not self._timed and self.delta != self._kept and self._kept == self._kept:
            yield Loss("dcd_delta", "the format has a time step in binary32")

    def numbers(self, moments: list[Moment]) -> tuple[int, int, float]:
        """The first step, the stride and the time step that the first frame or the first two tell."""
        start = moments[0][0]
        stride = self.stride if len(moments) == 1 else moments[1][0] - start
        candidates = [self.delta, *self._deltas(moments)]
        return start, stride, min(candidates, key=lambda delta: max(self._off(delta, *moment) for moment in moments))

    def _settle(self) -> None:
        self._settled = True
        moments = [self._waiting[ordinal] for ordinal in (0, 1) if ordinal in self._waiting]
        self.start, self.stride, self.delta = self.numbers(moments)

    def _deltas(self, moments: list[Moment]) -> Iterator[float]:
        """The time step that the times give."""
        if self._factor is None:
            return
        (step, time), (later, end) = moments[0], moments[-1]
        if time is not None and end is not None and later != step:
            yield single((end - time) / (later - step) / self._factor)
        elif time is not None and step:
            yield single(time / step / self._factor)

    def _off(self, delta: float, step: int, time: float | None) -> int:
        """How well a time step gives a time."""
        if time is None:
            return EXACT
        if self._factor is None or not delta > 0.0:
            return OFF
        found = step * delta * self._factor
        return EXACT if found == time else NEAR if abs(found - time) <= CLOSE * abs(time) else OFF

    def _check(self) -> None:
        for ordinal, (step, time) in self._waiting.items():
            self._even &= step == self.start + ordinal * self.stride
            self._timed |= time is not None
            self._times = max(self._times, self._off(self.delta, step, time))
        self._waiting.clear()


def single(value: float) -> float:
    """A number as binary32 holds it; 0 where it is beyond that."""
    try:
        found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return 0.0
    return found


def fits(*numbers: int) -> bool:
    """Whether numbers are integers of 32 bits."""
    return all(-LARGEST - 1 <= number <= LARGEST for number in numbers)
