"""The records before the frames of a DCD file: control numbers, title, number of atoms, free atoms.

Reference: the Fortran unformatted records of CHARMM (``dynio``): each stands between two markers of its size, of four
or eight bytes, in either byte order. A version of 0 means X-PLOR, whose time step is a binary64 and whose frames have
no cell.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.window import Window

Array = np.ndarray[Any, Any]

POSITIONS, VELOCITIES = b"CORD", b"VELD"
CONTROL = struct.Struct("4s20i")
LINE = 80
"""Bytes of a line of the title."""
LONGEST_TITLE = 1 << 20


class Layout(NamedTuple):
    """How records are marked.

    Parameters
    ----------
    order
        ``<`` or ``>``.
    width
        Bytes of a marker.
    """

    order: str
    width: int

    def marker(self, data: bytes, place: int = 0) -> int:
        """The marker at a place."""
        found: int = struct.unpack_from(self.order + ("I" if self.width == 4 else "Q"), data, place)[0]
        return found

    def mark(self, size: int) -> bytes:
        """The marker of a record of so many bytes."""
        return struct.pack(self.order + ("I" if self.width == 4 else "Q"), size)

    def whole(self, size: int) -> int:
        """The bytes of a record with its markers."""
        return size + 2 * self.width


LAYOUTS = tuple(Layout(order, width) for order in "<>" for width in (4, 8))
LITTLE = Layout("<", 4)
"""What is written."""


def layout_of(head: bytes) -> Layout | None:
    """The layout of a file that begins so; None where it is no DCD file."""
    for layout in LAYOUTS:
        kind = head[layout.width : layout.width + 4]
        if kind in (POSITIONS, VELOCITIES) and layout.marker(head) == CONTROL.size:
            return layout
    return None


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the frames.

    Parameters
    ----------
    layout
        How records are marked.
    velocities
        Whether the vectors are velocities, not positions.
    frames
        How many frames there are said to be.
    start, stride
        The step of the first frame, and the steps between frames.
    freedom
        Degrees of freedom; 0 where they are not stated.
    delta
        The time step, in a unit that depends on the program.
    cell, fourth
        Whether a cell and a fourth coordinate are said to be in every frame.
    version
        Of CHARMM, or what a program claims to be; 0 for X-PLOR.
    title
        Its lines.
    atoms
        How many there are.
    free
        The rows of the atoms that frames after the first hold; None for all.
    """

    layout: Layout
    velocities: bool
    frames: int
    start: int
    stride: int
    freedom: int
    delta: float
    cell: bool
    fourth: bool
    version: int
    title: str
    atoms: int
    free: Array | None


def read_header(window: Window, path: str) -> Header:
    """Read what stands before the frames.

    Raises
    ------
    TruncatedError
        Where the file ends before the frames.
    FormatError
        Where it is no DCD file, or a record is not as long as it must be.
    """
    head = window.peek(8 + CONTROL.size + 8)
    layout = layout_of(head)
    if layout is None:
        if len(head) < 12:
            raise TruncatedError(f"the file has {len(head)} bytes, less than the head of a DCD file", path=path)
        raise FormatError("no DCD file: a record of 84 bytes that begins with CORD or VELD is due", path=path)
    reader = _Records(window, layout, path)
    control = reader.record("control numbers", CONTROL.size)
    kind, *numbers = struct.unpack(layout.order + "4s20i", control)
    version = numbers[19]
    delta = struct.unpack_from(layout.order + ("f" if version else "d"), control, 40)[0]
    title = reader.title()
    atoms = struct.unpack(layout.order + "i", reader.record("number of atoms", 4))[0]
    fixed = numbers[8]
    if atoms < 0 or not 0 <= fixed <= atoms:
        raise FormatError(f"{atoms} atoms, {fixed} of them fixed, cannot be", path=path)
    free = None
    if fixed:
        free = np.frombuffer(reader.record("free atoms", 4 * (atoms - fixed)), layout.order + "i4").astype(np.int64) - 1
        if free.size and not (free.min() >= 0 and free.max() < atoms and len(np.unique(free)) == len(free)):
            raise FormatError(f"the free atoms are no distinct numbers from 1 to {atoms}", path=path)
    return Header(
        layout=layout,
        velocities=kind == VELOCITIES,
        frames=numbers[0],
        start=numbers[1],
        stride=numbers[2],
        freedom=numbers[7],
        delta=delta,
        cell=version != 0 and numbers[10] != 0,
        fourth=version != 0 and numbers[11] != 0,
        version=version,
        title=title,
        atoms=atoms,
        free=free,
    )


class _Records:
    """Passes records; each has its size before and after it."""

    def __init__(self, window: Window, layout: Layout, path: str) -> None:
        self._window, self._layout, self._path = window, layout, path

    def record(self, what: str, size: int) -> bytes:
        """The bytes of a record of a known size."""
        width = self._layout.width
        lead = self._window.peek(width)
        self._check(what, lead, size)
        whole = self._window.peek(self._layout.whole(size))
        self._check(what, whole[width + size :], size)
        self._window.skip(len(whole))
        return whole[width : width + size]

    def _check(self, what: str, marker: bytes, size: int) -> None:
        if len(marker) < self._layout.width:
            raise TruncatedError(f"the file ends before the end of the {what}", path=self._path)
        if (found := self._layout.marker(marker)) != size:
            message = f"the record of the {what} has {size} bytes, and a marker says {found}"
            raise FormatError(message, path=self._path)

    def title(self) -> str:
        """The lines of the title; where its marker is wrong, the number of lines tells its size."""
        width = self._layout.width
        head = self._window.peek(width + 4)
        if len(head) < width + 4:
            raise TruncatedError("the file ends before the title", path=self._path)
        stated = self._layout.marker(head)
        lines = struct.unpack_from(self._layout.order + "I", head, width)[0]
        sizes = dict.fromkeys((stated, 4 + LINE * lines))
        if all(size > LONGEST_TITLE for size in sizes):
            raise FormatError(f"a title of {stated} bytes cannot be", path=self._path)
        for size in sizes:
            if size <= LONGEST_TITLE and self._ends(size, (stated, size)):
                data = self._window.peek(width + size)[width:]
                self._window.skip(self._layout.whole(size))
                return _title_of(data[4:])
        due = self._layout.whole(min(stated, LONGEST_TITLE)) + width
        if len(self._window.peek(due)) < due:
            raise TruncatedError("the file ends before the number of atoms", path=self._path)
        message = f"the title of {lines} lines does not end where its marker says, after {stated} bytes"
        raise FormatError(message, path=self._path)

    def _ends(self, size: int, markers: tuple[int, ...]) -> bool:
        """Whether the record ends after so many bytes, and the number of atoms follows."""
        width = self._layout.width
        data = self._window.peek(self._layout.whole(size) + width)
        return (
            len(data) == self._layout.whole(size) + width
            and self._layout.marker(data, width + size) in markers
            and self._layout.marker(data, self._layout.whole(size)) == 4
        )


def _title_of(data: bytes) -> str:
    """The lines of a title; what follows a NUL in one is rubbish."""
    lines = [data[k : k + LINE].partition(b"\0")[0] for k in range(0, len(data), LINE)]
    return "\n".join(_text(line).rstrip() for line in lines).rstrip("\n")


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r", " ").replace("\n", " ")


def title_bytes(title: str) -> bytes:
    """The lines of a title in their width, longer ones broken; one that is blank where there is none."""
    lines = [line.encode() for line in title.split("\n")]
    parts = [line[k : k + LINE] for line in lines for k in range(0, max(len(line), 1), LINE)]
    return b"".join(part.ljust(LINE) for part in parts)


def header_bytes(header: Header) -> bytes:
    """The records before the frames, of markers of four bytes in little-endian order, for a file without fixed atoms.

    The time step is narrowed to binary32.
    """
    numbers = [0] * 20
    numbers[:4] = [header.frames, header.start, header.stride, min(header.frames * header.stride, 2**31 - 1)]
    numbers[7], numbers[10], numbers[11], numbers[19] = header.freedom, header.cell, header.fourth, header.version
    control = bytearray(struct.pack("<4s20i", VELOCITIES if header.velocities else POSITIONS, *numbers))
    struct.pack_into("<f", control, 40, header.delta)
    title = title_bytes(header.title)
    records = (bytes(control), struct.pack("<i", len(title) // LINE) + title, struct.pack("<i", header.atoms))
    return b"".join(map(record_bytes, records))


def record_bytes(data: bytes) -> bytes:
    """A record between its markers."""
    marker = struct.pack("<I", len(data))
    return b"".join((marker, data, marker))
