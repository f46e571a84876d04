"""The extents of chunks in HDF5: about half a MiB, measured.

Smaller chunks cost time for each (25 µs), larger ones make reading one frame slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from .extents import Growth

CHUNK_BYTES = 512 << 10
"""An f64 column has this many bytes in a chunk, if frames are small enough."""
QUANTIZED_BYTES = 256 << 10
"""One of a block whose reals are compressed has so many, since undoing that takes 1 ms a MiB; with half of it, making a
record takes a tenth longer."""
FRAME_BYTES = 32 << 20
"""The f64 columns of all blocks together have this many bytes in their chunks, if frames are small enough."""
FEWEST_ROWS = 4096


class Hdf5Extents:
    """All blocks that change with each frame have the same frames in a chunk."""

    def frames_in_chunk(self, blocks: Sequence[Growth], frames: int | None) -> int:
        """The common number of frames in a chunk of every block that changes with each frame."""
        regular = [block for block in blocks if block.each and (block.updates > 1 or block.frames == 1)]
        widest = max((block.each for block in regular), default=1)
        row_bytes = sum(8 * block.each * max(1, len(block.row_bytes)) for block in regular)
        most = QUANTIZED_BYTES if any(block.is_quantized for block in regular) else CHUNK_BYTES
        found = max(1, min(most // (8 * widest), FRAME_BYTES // max(1, row_bytes)))
        return found if not frames else evenly(frames, found)

    def rows_in_chunk(self, block: Growth, frames: int, *, final: bool) -> int:
        """The rows in a chunk."""
        if block.is_regular and block.updates > 1 and block.updates >= block.frames - 1:
            return frames * block.each
        mean = block.rows / block.updates
        rows = int(mean * max(1, -(-frames * block.updates // block.frames)) + 0.5)
        if final:
            return evenly(block.rows, max(rows, CHUNK_BYTES // 8))
        return max(rows, FEWEST_ROWS) if block.updates > 1 or not block.is_regular else max(rows, 1)


def evenly(total: int, most: int) -> int:
    """Divide a total into parts of at most `most`, as equal as can be."""
    return max(1, -(-total // max(1, -(-total // most))))
