"""The header of a TRR frame, in XDR: 1993, a version text, the sizes of the blocks, and the moment.

Reference: ``trrio.cpp`` of GROMACS and its manual, "trr". Everything is big-endian. The blocks follow in the order of
their sizes: cell, virial, pressure, positions, velocities, forces, each of binary32 or binary64 throughout a frame.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.window import Window

MAGIC = 1993
VERSION = b"GMX_trn_file"
LONGEST_VERSION = 1 << 10
LEAD = struct.Struct(">3i")
"""The magic number, and the length of the version text with and without a NUL."""
NAMES = ("ir", "energy", "box", "virial", "pressure", "topology", "symbols", "x", "v", "f", "atoms", "step", "nre")
INTEGERS = struct.Struct(f">{len(NAMES)}i")
TENSORS, VECTORS = ("box", "virial", "pressure"), ("x", "v", "f")
BLOCKS = (*TENSORS, *VECTORS)
"""The blocks in their order."""


class Header(NamedTuple):
    """What stands before the numbers of a frame.

    Parameters
    ----------
    width
        The bytes of a number.
    sizes
        The bytes of every block.
    atoms
        How many there are.
    step, time
        The moment; time in ps.
    coupling
        The coupling parameter λ.
    nre
        A number of energies, which is 0.
    """

    width: int
    sizes: Mapping[str, int]
    atoms: int
    step: int
    time: float
    coupling: float
    nre: int = 0

    @property
    def size(self) -> int:
        """The bytes of all blocks."""
        return sum(self.sizes.values())

    def place(self, block: str) -> int:
        """Where a block begins."""
        return sum(self.sizes[name] for name in BLOCKS[: BLOCKS.index(block)])


def read_header(window: Window, path: str, ordinal: int) -> Header:
    """Pass the header of a frame.

    Raises
    ------
    TruncatedError
        Where the file ends inside it.
    FormatError
        Where it is none, or its sizes do not agree.
    """
    lead = window.peek(LEAD.size)
    if len(lead) < LEAD.size:
        raise _short(path, ordinal)
    magic, _, length = LEAD.unpack(lead)
    if magic != MAGIC:
        message = f"{magic} stands where a frame begins with {MAGIC}, at byte {window.offset}"
        raise FormatError(message, path=path, frame=ordinal)
    if not 0 <= length <= LONGEST_VERSION:
        raise FormatError(f"a version text of {length} bytes cannot be", path=path, frame=ordinal)
    integers = LEAD.size + length + -length % 4
    reals = integers + INTEGERS.size
    head = window.peek(reals + 2 * 8)
    if len(head) < reals:
        raise _short(path, ordinal)
    numbers = dict(zip(NAMES, INTEGERS.unpack_from(head, integers), strict=True))
    try:
        width = _width(numbers)
    except ValueError as error:
        raise FormatError(str(error), path=path, frame=ordinal) from None
    if len(head) < reals + 2 * width:
        raise _short(path, ordinal)
    time, coupling = struct.unpack_from(">2f" if width == 4 else ">2d", head, reals)
    window.skip(reals + 2 * width)
    sizes = {name: numbers[name] for name in BLOCKS}
    return Header(width, sizes, numbers["atoms"], numbers["step"], time, coupling, numbers["nre"])


def _short(path: str, ordinal: int) -> TruncatedError:
    return TruncatedError("the file ends inside the header of a frame", path=path, frame=ordinal)


def _width(numbers: Mapping[str, int]) -> int:
    """The bytes of a number, which all blocks agree on; ValueError where they do not."""
    atoms = numbers["atoms"]
    if atoms < 0:
        raise ValueError(f"{atoms} atoms cannot be")
    for name in ("ir", "energy", "topology", "symbols"):
        if numbers[name]:
            raise ValueError(f"a block of {numbers[name]} bytes ({name}) is stated, which no program writes")
    counts = {name: 9 if name in TENSORS else 3 * atoms for name in BLOCKS if numbers[name]}
    if not counts:
        raise ValueError("the frame has no numbers, so their width is not known")
    for name, count in counts.items():
        if numbers[name] not in (4 * count, 8 * count):
            message = f"a block of {numbers[name]} bytes ({name}) is stated, and {4 * count} or {8 * count} are due"
            raise ValueError(message)
    widths = {numbers[name] // count for name, count in counts.items()}
    if len(widths) > 1:
        raise ValueError("the blocks of the frame differ in the width of their numbers")
    return widths.pop()


def header_bytes(header: Header) -> bytes:
    """The header of a frame."""
    numbers = {**dict.fromkeys(NAMES, 0), **header.sizes, "atoms": header.atoms, "step": header.step, "nre": header.nre}
    return b"".join(
        (
            LEAD.pack(MAGIC, len(VERSION) + 1, len(VERSION)),
            VERSION,
            INTEGERS.pack(*(numbers[name] for name in NAMES)),
            struct.pack(">2f" if header.width == 4 else ">2d", header.time, header.coupling),
        )
    )


def is_trr(head: bytes) -> bool:
    """Whether a file begins with a frame."""
    return head.startswith(struct.pack(">i", MAGIC)) and head[LEAD.size :].startswith(VERSION)
