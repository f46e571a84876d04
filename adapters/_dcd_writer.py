"""Writing DCD files: CHARMM's flavour, little-endian, markers of four bytes, a cell in every frame.

Numbers are narrowed to binary32, which is named unless they are binary32 anyway. A file holds positions, or where
there are none, velocities; always of the same number of atoms. A cell fixes the orientation, as `_dcd_cell` tells;
another one is turned into it together with the vectors. Zeros stand for no cell. The header's number of frames, and
what the frames say of steps and times, are written when all frames are known; a stream keeps 0 frames.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.units import Units
from molrec_convert.model import Block, Meta
from molrec_convert.options import Options

from ._dcd_cell import Written, cell_to_write
from ._dcd_header import LITTLE, Header, header_bytes, record_bytes
from ._dcd_moments import Moments, fits
from ._dcd_units import AKMA, OWN_TITLE, style_of, system_of
from ._vectors import (
    POSITIONS,
    REVERSED,
    TURNED,
    VELOCITIES,
    gives,
    holds,
    incomplete,
    narrowed,
    scale_of,
    stacked,
)

Array = np.ndarray[Any, Any]

FACTS = frozenset(
    f"dcd_{key}"
    for key in ("numbers", "title", "nsavc", "delta", "version", "ndegf", "units", "cell", "cell_convention")
)
"""What the importer says of a source, and is restored."""
VERSION = 24
"""The version of CHARMM that other programs claim."""


class DcdExporter:
    """Writes a DCD file; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._asked = options.units
        self._found: dict[str, Loss] = {}
        self.notes: list[Note] = []

    @property
    def losses(self) -> list[Loss]:
        """What the frames showed that is not held."""
        return list(self._found.values())

    # ------------------------------------------------------------ before and after the frames
    def head(self, first: Snapshot) -> bytes:
        """The records before the frames, as far as the first one tells."""
        about, atoms = first.about, first.frame.get("atoms", Block(count=0))
        style = style_to_write(self._asked, about)
        version, title = about.get("dcd_version", 0) or VERSION, about.get("dcd_title")
        if not isinstance(title, str) or style_of(title) not in (None, style):
            title = OWN_TITLE.format(style.upper())
        self._system = system_of(style)
        self._moments = Moments(
            stride=about.get("dcd_nsavc", 1),
            delta=about.get("dcd_delta", 0.0),
            factor=_scale("time", self._system, first.units),
        )
        self._header = Header(
            layout=LITTLE,
            velocities=not holds(atoms, POSITIONS) and holds(atoms, VELOCITIES),
            frames=0,
            start=0,
            stride=1,
            freedom=about.get("dcd_ndegf", 0),
            delta=0.0,
            cell=True,
            fourth=False,
            version=version,
            title=title,
            atoms=atoms.count,
            free=None,
        )
        return header_bytes(self._counted(*self._moments.numbers([(first.step or 0, first.time)])))

    def _counted(self, start: int, stride: int, delta: float, frames: int = 0) -> Header:
        """The header with its numbers of steps, as far as it has room for them."""
        if not fits(start, stride):
            start, stride = 0, 1
        return replace(self._header, start=start, stride=stride, delta=delta, frames=frames if fits(frames) else 0)

    def tail(self) -> bytes:
        """Nothing stands after the frames."""
        self._found |= {loss.item: loss for loss in self._moments.finish()}
        return b""

    def final_head(self) -> bytes:
        """The records before the frames, now that all are known."""
        moments = self._moments
        return header_bytes(self._counted(moments.start, moments.stride, moments.delta, moments.frames))

    # ------------------------------------------------------------ one frame
    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """The records of one frame."""
        header = self._header
        atoms = snapshot.frame.get("atoms", Block(count=0))
        if atoms.count != header.atoms:
            message = f"a DCD file has one number of atoms: here {header.atoms}, and the frame has {atoms.count}"
            raise FormatError(message, path=self._path, frame=ordinal)
        names = VELOCITIES if header.velocities else POSITIONS
        if atoms.count and not holds(atoms, names):
            what = "velocities, and those before have" if header.velocities else "positions"
            raise FormatError(f"the atoms have no {what}", path=self._path, frame=ordinal)
        try:
            written = written_of(snapshot, atoms, names, self._system)
        except ValueError as error:
            raise FormatError(str(error), path=self._path, frame=ordinal) from None
        self._found |= {loss.item: loss for loss in written.losses if loss.item not in self._found}
        if written.cell.reversed and all(note.message != REVERSED for note in self.notes):
            self.notes.append(Note(REVERSED))
        self._moments.take(ordinal, ordinal if snapshot.step is None else snapshot.step, snapshot.time)
        cell = struct.pack("<6d", *written.cell.numbers)
        return b"".join(map(record_bytes, (cell, *(axis.tobytes() for axis in written.vectors))))


class Vectors(NamedTuple):
    """The numbers of a frame as they are written.

    Parameters
    ----------
    cell
        The six numbers.
    vectors
        Three times N numbers in binary32, little-endian.
    losses
        What of the frame they do not give.
    """

    cell: Written
    vectors: Array
    losses: Sequence[Loss]


def written_of(snapshot: Snapshot, atoms: Block, names: Sequence[str], system: Units | None) -> Vectors:
    """The numbers of a frame in a target's units; ValueError for what is beyond binary32, or of unknown unit."""
    length, scale = (_scale(quantity, system, snapshot.units) for quantity in ("length", _QUANTITY[names[0]]))
    if scale is None and "dcd_numbers" in snapshot.about:
        scale = 1.0  # it was not known of the source either
    if scale is None:
        raise ValueError("the unit of the velocities is not known, and a DCD file has them in the unit of its time")
    cell = cell_to_write(snapshot.frame.box, snapshot.about, length or 1.0)
    if not holds(atoms, names):
        return Vectors(cell, np.zeros((3, 0), "<f4"), ())
    values = stacked(atoms, names)
    turned = cell.rotation is not None or cell.reversed
    if cell.rotation is not None:
        values = cell.rotation @ values
    vectors = narrowed(values, scale)
    beyond = np.isinf(vectors) & np.isfinite(values)
    if beyond.any():
        axis, row = np.argwhere(beyond)[0]
        raise ValueError(f"{names[axis]} of atom {row + 1}, {values[axis, row]:g}, is beyond binary32")
    losses = [TURNED] if turned else list(_digits(names, vectors, values, scale))
    return Vectors(cell, vectors.astype("<f4", copy=False), losses)


_QUANTITY = {POSITIONS[0]: "length", VELOCITIES[0]: "velocity"}


def _digits(names: Sequence[str], vectors: Array, values: Array, scale: float) -> Iterator[Loss]:
    for name, written, there in zip(names, vectors, values, strict=True):
        if not gives(written, there, scale):
            yield Loss(f"digits of atoms.{name}", "the format holds binary32, of some seven digits")


def _scale(quantity: str, system: Units | None, units: Units | None) -> float | None:
    """By what a number of the file is multiplied to be one of the record; None where that is not known."""
    return 1.0 if system is None else scale_of(quantity, system, units)


def style_to_write(asked: str | None, about: Meta) -> str:
    """The unit style of a target: the one asked for, else that of the source, else CHARMM's."""
    style = asked or about.get("dcd_units")
    return style if isinstance(style, str) else AKMA


def lost(contents: Contents) -> Iterator[Loss]:
    """Vectors of fewer components, velocities beside positions; of the first frame, what its numbers lose."""
    yield from incomplete(contents, (POSITIONS, VELOCITIES))
    for snapshot in contents.snapshots:
        atoms = snapshot.frame.get("atoms", Block(count=0))
        both = holds(atoms, POSITIONS) and holds(atoms, VELOCITIES)
        if both:
            yield from (Loss(f"atoms.{name}", "a file holds positions or velocities") for name in VELOCITIES)
    if contents.frames == 1 and contents.snapshots:
        snapshot = contents.snapshots[0]
        atoms = snapshot.frame.get("atoms", Block(count=0))
        names = POSITIONS if holds(atoms, POSITIONS) else VELOCITIES
        try:
            yield from written_of(snapshot, atoms, names, system_of(style_to_write(None, snapshot.about))).losses
        except ValueError:
            return  # writing it says what is wrong
