"""The one place that chooses who scans and prints: the C++ module, or its numpy twin.

Both give the same results and raise the same errors. Everything in this package calls through
``engine.active``; a test puts the other one there.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Buffer = bytes | bytearray | memoryview
Words = tuple[NDArray[np.int32], list[bytes]]
"""A column of repeated words: codes into the list of the distinct ones."""
Column = NDArray[Any] | Words
Style = str | int | None


class Engine(Protocol):
    """What either module offers; arguments are checked and converted by the callers."""

    def scan_table(self, data: Buffer, kinds: str, rows: int, dialect: int) -> tuple[list[Any], int, bool]:
        """Scan lines of tokens into columns."""

    def scan_numbers(self, data: Buffer, dialect: int, limit: int) -> tuple[NDArray[np.float64], int]:
        """Scan numbers in free layout."""

    def scan_fixed(
        self, data: Buffer, layout: list[tuple[int, int, str]], rows: int, marked: list[bytes]
    ) -> tuple[list[Any], list[Any], int, int, bool, NDArray[np.int64]]:
        """Scan lines of fields in fixed columns."""

    def scan_again(
        self, data: Buffer, like: Buffer, layout: list[tuple[int, int]], marked: list[bytes]
    ) -> tuple[list[NDArray[np.float64]], int, NDArray[np.int64]] | None:
        """Scan lines that are those of another text but for some fields."""

    def find_line(self, data: Buffer, start: int, marked: list[bytes]) -> tuple[int, int]:
        """Advance to a line that begins with a mark."""

    def skip_lines(self, data: Buffer, start: int, count: int) -> tuple[int, int]:
        """Advance over line ends."""

    def find_runs(self, data: Buffer, start: int, head: int, body: int, most: int) -> list[tuple[int, int]]:
        """Find where runs of so many lines, and so many more, end."""

    def count_lines(self, data: Buffer) -> int:
        """Count line ends."""

    def format_table(
        self,
        columns: list[Column],
        styles: list[Style],
        separator: bytes,
        terminator: bytes,
        widths: list[int] = ...,
    ) -> bytes:
        """Print columns as lines."""

    def format_grid(
        self,
        fields: list[NDArray[np.float64]],
        row: int,
        per_line: int,
        width: int,
        decimals: int,
        head: bytes,
    ) -> bytes:
        """Print the values of a grid as lines of fields."""

    def join(self, pieces: list[bytes]) -> bytes:
        """Put pieces one behind the other."""

    def shuffle(self, data: Buffer, itemsize: int) -> bytes:
        """Put the first bytes of all items first, and so on."""

    def unshuffle(self, data: Buffer, itemsize: int) -> bytes:
        """Undo `shuffle`."""

    def quantize(
        self, values: NDArray[np.float64], step: float, groups: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Round to multiples of a power of two; and the largest finite size in each of so many groups."""

    def parse_real(self, text: bytes, dialect: int) -> float:
        """Convert one token."""

    def parse_integer(self, text: bytes) -> int:
        """Convert one token."""


def load_native() -> Engine | None:
    """Return the C++ module, None where it was not built."""
    try:
        from molrec_convert import _native
    except ImportError:
        return None
    return _native


def choose() -> Engine:
    """Return the fastest engine there is."""
    native = load_native()
    if native is not None:
        return native
    from . import _fallback

    return _fallback


active: Engine = choose()
