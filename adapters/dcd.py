"""DCD: positions or velocities in binary32, as CHARMM, X-PLOR, NAMD, LAMMPS, OpenMM and VMD write them.

Reference: https://www.ks.uiuc.edu/Research/vmd/plugins/molfile/dcdplugin.html, https://docs.lammps.org/dump.html,
https://docs.mdanalysis.org/stable/documentation_pages/coordinates/DCD.html

Decisions: numbers are widened exactly, which ``dcd_numbers`` says; no precision is claimed for them. The frames that
are there count, not the number in the header, which ``--strict`` refuses where it is another. Steps are those that the
header counts. There is a time only where the program is known to state its unit (`_dcd_units`), or ``--units`` does.
Fixed atoms, which only the first frame has, stand in every frame, and ``move_mask`` tells the others; a fourth
coordinate is the column ``w``. How the six numbers of a cell are understood is told in `_dcd_cell`; they are kept, and
written again as long as they give the cell.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.moments import Moment, Moments
from molrec_convert.options import Options
from molrec_convert.stack import Stack, text_of
from molrec_convert.text.window import Window

from ._dcd_cell import Cell, Six, read_cell
from ._dcd_header import Header, layout_of, read_header
from ._dcd_units import Scales, is_of_lammps, style_of
from ._dcd_writer import FACTS, DcdExporter, lost
from ._vectors import POSITIONS, VELOCITIES, widened

Array = np.ndarray[Any, Any]

CELL = struct.Struct("6d")
NO_META = Meta()
LAMMPS_NOTE = (
    "LAMMPS writes its own units and does not state them: no unit is claimed, and there is no time; --units names them"
)
TIME_NOTE = "the unit of the time step {:g} is not known, so there is no time; --units akma is CHARMM's"


class Place(NamedTuple):
    """What `decode` needs of a frame besides its bytes.

    Parameters
    ----------
    header
        What stands before the frames.
    cell
        Whether the frame has a cell.
    rows
        How many atoms it holds.
    first
        The positions of all atoms in the first frame, where this one holds only those that are free.
    note
        What was noticed at its end.
    """

    header: Header
    cell: bool
    rows: int
    first: list[Array] | None = None
    note: Note | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the coordinates of an atom are called."""
        return (*(VELOCITIES if self.header.velocities else POSITIONS), *(("w",) if self.header.fourth else ()))

    @property
    def size(self) -> int:
        """The bytes of the frame."""
        layout = self.header.layout
        return (layout.whole(CELL.size) if self.cell else 0) + len(self.names) * layout.whole(4 * self.rows)

    @property
    def lead(self) -> int:
        """The bytes of its first record."""
        return CELL.size if self.cell else 4 * self.rows


class DcdImporter:
    """Reads a DCD file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._given = options.units
        self._strict = options.strict
        self._scales = Scales(options.units)
        self._units: Mapping[str, str] | None = None
        self._advice: Note | None = None
        self._told, self._is_told = itertools.count(), False  # of several threads one gives the advice
        self._last_cell: tuple[Six, Cell, Box | None] | None = None
        self._last_about: tuple[Six | None, Meta] | None = None

    # ------------------------------------------------------------ index
    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames; see `molrec_convert.adapter.Importer.index`."""
        header = read_header(window, self._path)
        self._take_units(header)
        place = Place(header, self._has_cell(window, header), header.atoms)
        ordinal = 0
        while not window.at_end():
            start = window.offset
            data = self._pass(window, place, ordinal, keep=keep or (not ordinal and header.free is not None))
            found = ordinal + 1
            if window.at_end() and header.frames > 0 and header.frames != found:
                message = f"the header counts {header.frames} frames, and there are {found}"
                if self._strict:
                    raise FormatError(message, path=self._path)
                place = place._replace(note=Note(message))
            yield Span(ordinal, 0, start, place.size, place, data)
            if not ordinal and header.free is not None and data is not None:
                place = place._replace(rows=len(header.free), first=self._vectors(data, place, ordinal)[1])
            ordinal += 1

    def _pass(self, window: Window, place: Place, ordinal: int, *, keep: bool) -> bytes | None:
        """Pass a frame; its bytes where they are to be kept."""
        layout = place.header.layout
        lead = window.peek(layout.width)
        if len(lead) == layout.width and (marker := layout.marker(lead)) != place.lead:
            message = f"a record of {marker} bytes stands where one of {place.lead} is due, at byte {window.offset}"
            raise FormatError(message, path=self._path, frame=ordinal)
        if keep:
            window.mark()
        found = window.skip(place.size)
        if found < place.size:
            message = f"the file ends after {found} of the {place.size} bytes of a frame"
            raise TruncatedError(message, path=self._path, frame=ordinal)
        return window.take() if keep else None

    def _has_cell(self, window: Window, header: Header) -> bool:
        """Whether frames begin with a cell: their first record tells, or the header where it could be either."""
        layout = header.layout
        lead = window.peek(layout.width)
        if len(lead) < layout.width or header.atoms * 4 == CELL.size:
            return header.cell
        return layout.marker(lead) == CELL.size

    def _take_units(self, header: Header) -> None:
        of_lammps = is_of_lammps(header.title)
        if self._given is None:
            self._scales = Scales(style_of(header.title), lengths=not of_lammps)
        self._units = self._scales.units_of("velocity" if header.velocities else "length")
        if self._scales.timed:
            return
        if of_lammps:
            self._advice = Note(LAMMPS_NOTE)
        elif header.delta:
            self._advice = Note(TIME_NOTE.format(header.delta))

    # ------------------------------------------------------------ decode
    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        place: Place = span.context
        header = place.header
        numbers, vectors = self._vectors(span.data or b"", place, span.ordinal)
        columns: dict[str, Column] = {}
        scale = self._scales.of("velocity" if header.velocities else "length")
        for name, values in zip(place.names, self._all(vectors, place), strict=True):
            columns[name] = Column.of(values if scale == 1.0 else values * scale)
        if header.free is not None:
            mask = np.zeros(header.atoms, np.bool_)
            mask[header.free] = True
            columns["move_mask"] = Column.of(mask)
        notes = [] if place.note is None else [place.note]
        if self._advice is not None and not next(self._told):
            notes.append(self._advice)
            self._is_told = True
        box = None if numbers is None else self._box(numbers, header.version, notes)
        frame = Frame.of({"atoms": Block.of(columns, header.atoms)}, box, Meta())
        step = header.start + span.ordinal * header.stride
        return Snapshot(frame, step, self._time(header, step), self._about(header, numbers), self._units, notes)

    # ------------------------------------------------------------ small frames together
    def kind(self, span: Span) -> object:
        """Which frames are decoded together; see `molrec_convert.stack.StackImporter`."""
        place: Place = span.context
        if self._advice is not None and not self._is_told:
            return None
        if not place.rows or place.note is not None or place.header.free is not None:
            return None
        return place.cell, place.rows, id(place.header)

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """Decode frames together; see `molrec_convert.stack.StackImporter`."""
        place: Place = spans[0].context
        header, frames = place.header, len(spans)
        layout, rows, at = header.layout, place.rows, 0
        octets = np.frombuffer(text_of(spans), np.uint8).reshape(frames, place.size)
        marker = np.frombuffer(layout.mark(4 * rows), np.uint8)
        numbers: list[Six | None] = [None] * frames
        if place.cell:
            ends = np.frombuffer(layout.mark(CELL.size), np.uint8)
            at = layout.whole(CELL.size)
            if not _is_marked(octets[:, :at], ends):
                return None
            cells = octets[:, layout.width : at - layout.width].tobytes()
            numbers = list(struct.Struct(layout.order + "6d").iter_unpack(cells))
        columns: dict[str, Column] = {}
        scale = self._scales.of("velocity" if header.velocities else "length")
        for name in place.names:
            record = octets[:, at : at + layout.whole(4 * rows)]
            if not _is_marked(record, marker):
                return None
            values = widened(np.frombuffer(record[:, layout.width : -layout.width].tobytes(), layout.order + "f4"))
            columns[name] = Column.of(values if scale == 1.0 else values * scale)
            at += layout.whole(4 * rows)
        notes: list[Note] = []
        moments = []
        for span, six in zip(spans, numbers, strict=True):
            box = None if six is None else self._box(six, header.version, notes)
            step = header.start + span.ordinal * header.stride
            moments.append(Moment(step, self._time(header, step), box, NO_META, self._about(header, six)))
        if notes:
            return None
        return Stack({"atoms": Block.of(columns, frames * rows)}, Moments.of(moments), self._units)

    # ------------------------------------------------------------ the parts of a frame
    def _vectors(self, data: bytes, place: Place, ordinal: int) -> tuple[Six | None, list[Array]]:
        """The numbers of the cell, and the coordinates of the atoms that the frame holds."""
        layout, at = place.header.layout, 0
        records: list[int] = []
        for size in [*([CELL.size] if place.cell else []), *[4 * place.rows] * len(place.names)]:
            for marker in (layout.marker(data, at), layout.marker(data, at + layout.width + size)):
                if marker != size:
                    message = f"a marker says {marker} where a record of the frame has {size} bytes"
                    raise FormatError(message, path=self._path, frame=ordinal)
            records.append(at + layout.width)
            at += layout.whole(size)
        numbers = struct.unpack_from(layout.order + "6d", data, records.pop(0)) if place.cell else None
        kind = layout.order + "f4"
        return numbers, [widened(np.frombuffer(data, kind, place.rows, start)) for start in records]

    def _all(self, vectors: list[Array], place: Place) -> list[Array]:
        """The coordinates of all atoms, those that are fixed from the first frame."""
        if place.first is None:
            return vectors
        whole = [values.copy() for values in place.first]
        for values, free in zip(whole, vectors, strict=True):
            values[place.header.free] = free
        return whole

    def _box(self, numbers: Six, version: int, notes: list[Note]) -> Box | None:
        last = self._last_cell
        if last is None or last[0] != numbers:
            cell = read_cell(numbers, version)
            box = None
            if cell.vectors is not None:
                vectors = cell.vectors * self._scales.of("length")
                box = Box.of(vectors, np.zeros(3), np.ones(3, np.bool_))
            self._last_cell = last = numbers, cell, box
        if last[1].note is not None:
            notes.append(Note(last[1].note))
        return last[2]

    def _time(self, header: Header, step: int) -> float | None:
        if not self._scales.timed or not math.isfinite(header.delta) or header.delta <= 0.0:
            return None
        return step * header.delta * self._scales.of("time")

    def _about(self, header: Header, numbers: Six | None) -> Meta:
        """What the exporter restores; the same object for frames of the same cell."""
        last = self._last_about
        if last is not None and last[0] == numbers:
            return last[1]
        about: dict[str, Any] = {
            "dcd_numbers": "binary32",
            "dcd_title": header.title,
            "dcd_nsavc": header.stride,
            "dcd_delta": header.delta,
            "dcd_version": header.version,
        }
        about |= {"dcd_ndegf": header.freedom} if header.freedom else {}
        about |= {"dcd_units": self._given} if self._given is not None else {}
        if numbers is not None and any(numbers):
            about["dcd_cell"] = tuple(numbers)
            convention = read_cell(numbers, header.version).convention
            about |= {"dcd_cell_convention": convention} if convention is not None else {}
        meta = Meta(about)
        self._last_about = numbers, meta
        return meta


def _is_marked(records: Array, marker: Array) -> bool:
    """Whether all records begin and end with a marker."""
    width = len(marker)
    return bool((records[:, :width] == marker).all() and (records[:, -width:] == marker).all())


FORMAT = Adapter(
    name="dcd",
    summary="DCD, positions or velocities of CHARMM, NAMD, LAMMPS and others",
    reference="https://www.ks.uiuc.edu/Research/vmd/plugins/molfile/dcdplugin.html",
    patterns=("*.dcd", "*.veldcd"),
    sniff=lambda head: layout_of(head) is not None,
    carries=Carries(
        columns=frozenset((*POSITIONS, *VELOCITIES)),
        meta=FACTS,
        box=True,
        no_box=True,
        step=True,
        time=True,
        frames=True,
    ),
    lost=lost,
    layout=FACTS - {"dcd_title"},
    importer=DcdImporter,
    exporter=DcdExporter,
    options=frozenset(("units",)),
    export_options=frozenset(("units",)),
    role="trajectory",
)
