"""The extents of chunks in Zarr: those of the reference implementation, molrs 0.19."""

from __future__ import annotations

from collections.abc import Sequence

from .extents import Growth

LEAST_BYTES = 16 << 10
"""A chunk of the narrowest column has no fewer bytes."""


class ZarrExtents:
    """A chunk is the smallest that is not too small; of a block that changes with each frame it holds whole frames."""

    def frames_in_chunk(self, blocks: Sequence[Growth], frames: int | None) -> int:
        """The frames in the smallest chunk."""
        del frames
        found = (self.rows_in_chunk(block, 1, final=False) // block.each for block in blocks if block.each)
        return max(1, min(found, default=1))

    def rows_in_chunk(self, block: Growth, frames: int, *, final: bool) -> int:
        """The rows in a chunk."""
        del frames, final
        each = block.each if block.is_regular and block.updates == block.frames else 1
        narrowest = min((size for size in block.row_bytes if size), default=1)
        return -(-max(1, LEAST_BYTES // narrowest) // each) * each
