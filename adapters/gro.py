"""GROMACS GRO: a title, the number of atoms, a line of fixed columns an atom, the box; frame after frame.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#gro

Decisions: one structure makes a record of one frame, several a trajectory. Nanometres become ångström, each number
rounded once from its decimals, so that its text is restored. The columns of positions and velocities are told by their
points; lines that do not keep to them are mended by blanks and decimals, and said so. Atom and residue numbers that
begin again at 0 behind 99999 are counted on; negative residue numbers stand in ``res_seq``; stars and blanks are null.
Lines without velocities are null in them. A box of zeros is no cell; a cell is periodic on all axes. A time and step in
the title are those of the frame. Elements are not told by the format: they come from the names of a standard residue's
atoms, of water and of ions, and with ``--guess elements`` from any name; both are said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError
from molrec_convert.model import Block, Frame, Meta
from molrec_convert.options import Options
from molrec_convert.text.lines import decoded
from molrec_convert.text.window import Window

from ._gro_atoms import AtomLines, AtomReader
from ._gro_box import BoxLine, kept_box, read_box
from ._gro_columns import ColumnMaker
from ._gro_index import COUNT, FrameFinder, Place, is_cut
from ._gro_layout import POSITIONS, VELOCITIES
from ._gro_lines import COLUMNS
from ._gro_lost import lost
from ._gro_title import kept_title, moment_of
from ._gro_writer import BESIDES, BOX, DECIMALS, META, TITLE, VELOCITY_DECIMALS, WIDTH, GroExporter

UNITS = {"length": "angstrom", "time": "ps", "velocity": "angstrom/ps"}
ATOM_LINE = re.compile(
    rb"[ 0-9*-]{4}[ 0-9*].{10}[ 0-9*-]{4}[ 0-9*][ 0-9-]*\.[0-9]+ *-?[0-9]*\.[0-9]+ *-?[0-9]*\.[0-9]+", re.DOTALL
)


class GroImporter:
    """Reads a GRO file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._sample = options.sample_decimals
        self._atoms = AtomReader(path)
        self._columns = ColumnMaker(options)
        self._last_box: tuple[bytes, BoxLine, str | None] | None = None

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames; see `molrec_convert.adapter.Importer.index`."""
        return FrameFinder(window, self._path, keep=keep).spans()

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        place: Place = span.context
        data, notes = self._checked(span)
        atoms = self._atoms.read(data, place.count, span.line, span.ordinal)
        columns = self._columns.columns(atoms)
        box, kept = self._box(place, span.ordinal)
        moment = moment_of(place.title)
        about = _about(place, atoms, kept)
        if (title := kept_title(place.title, moment)) is not None:
            about[TITLE] = title
        snapshot = Snapshot(
            Frame.of({"atoms": Block.of(columns, place.count)}, box.box, Meta()),
            moment.step,
            moment.time,
            about=Meta(about),
            units=UNITS,
        )
        snapshot.notes = [*notes, *atoms.notes]
        if box.note:
            snapshot.notes.append(Note(box.note, line=place.box_line))
        if not place.ended and is_cut(place.box, b""):
            what = "the last line has no line end, its last number may be cut short"
            snapshot.notes.append(Note(what, line=place.box_line, frame=span.ordinal))
        if self._sample:
            snapshot.decimals = _decimals(atoms)
        return snapshot

    def _checked(self, span: Span) -> tuple[bytes, list[Note]]:
        """The bytes of a frame, tabs made blanks."""
        data = span.data or b""
        if b"\0" in data:
            line = span.line + data.count(b"\n", 0, data.index(b"\0"))
            raise FormatError("a NUL stands in the text", path=self._path, line=line, frame=span.ordinal)
        if b"\t" not in data:
            return data, []
        note = Note("tabs are taken for blanks up to the next eighth column", frame=span.ordinal)
        return b"\n".join(line.expandtabs(8) for line in data.split(b"\n")), [note]

    def _box(self, place: Place, frame: int) -> tuple[BoxLine, str | None]:
        last = self._last_box
        if last is None or last[0] != place.box:
            try:
                found = read_box(place.box)
            except ValueError as error:
                message = str(error)
                if ATOM_LINE.match(place.box):
                    message = f"the box is due, not an atom line: there are more than {place.count} of them"
                raise FormatError(message, path=self._path, line=place.box_line, frame=frame) from None
            last = self._last_box = place.box, found, kept_box(decoded(place.box), found.box)
        return last[1:]


def _about(place: Place, atoms: AtomLines, box: str | None) -> dict[str, Any]:
    """What the exporter restores."""
    about: dict[str, Any] = {} if box is None else {BOX: box}
    if atoms.layout is None:
        return about
    positions, velocities = atoms.layout.positions, atoms.layout.velocities
    about[DECIMALS] = positions.decimals
    if velocities is not None:
        about[VELOCITY_DECIMALS] = velocities.decimals
    if positions.width != positions.decimals + BESIDES:
        about[WIDTH] = positions.width
    return about


def _decimals(atoms: AtomLines) -> dict[str, int]:
    """The decimals of the numbers in ångström: one less than in nanometres."""
    triples = [] if atoms.layout is None else atoms.layout.triples
    return {
        name: triple.decimals - 1
        for triple, names in zip(triples, (POSITIONS, VELOCITIES), strict=False)
        for name in names
        if triple.decimals
    }


def _looks_like_gro(head: bytes) -> bool:
    """Whether a number of atoms follows the first line, and then an atom line; or a box where there are no atoms."""
    lines = [line.rstrip(b"\r") for line in head.split(b"\n", 4)[:4]]
    if len(lines) < 3 or b"\0" in head:
        return False
    found = COUNT.fullmatch(lines[1])
    if found is None:
        return False
    if int(found[1]):
        return ATOM_LINE.match(lines[2]) is not None
    try:
        read_box(lines[2])
    except ValueError:
        return False
    return True


FORMAT = Adapter(
    name="gro",
    summary="GROMACS GRO, one structure or frames",
    reference="https://manual.gromacs.org/current/reference-manual/file-formats.html#gro",
    patterns=("*.gro",),
    sniff=_looks_like_gro,
    series=False,
    carries=Carries(
        columns=COLUMNS,
        meta=META,
        box=True,
        no_box=True,
        step=True,
        time=True,
        frames=True,
        varying=True,
        nulls=True,
    ),
    lost=lost,
    layout=META - {TITLE},
    importer=GroImporter,
    exporter=GroExporter,
    options=frozenset(("guess", "type_map")),
    export_options=frozenset(("decimals",)),
    role="structure",
)
