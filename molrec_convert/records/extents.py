"""How large the chunks of a trajectory are, which every binding decides for itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Growth:
    """What is known of a block when its arrays are made.

    Parameters
    ----------
    each
        Rows of its first update.
    updates, rows
        How many there are so far.
    frames
        How many frames there are so far.
    is_regular
        Whether each frame so far has an update of as many rows.
    row_bytes
        The bytes of a row of every column.
    is_quantized
        Whether a column declares a precision, so that its chunks are compressed reals.
    """

    each: int
    updates: int
    rows: int
    frames: int
    is_regular: bool
    row_bytes: tuple[int, ...]
    is_quantized: bool = False


class Extents(Protocol):
    """Chooses the extents of chunks."""

    def frames_in_chunk(self, blocks: Sequence[Growth], frames: int | None) -> int:
        """How many frames go into a chunk of the blocks that change with each; `frames` in all, if that is known."""

    def rows_in_chunk(self, block: Growth, frames: int, *, final: bool) -> int:
        """The rows in a chunk of a block, where so many frames go into one; `final`: nothing will be added."""
