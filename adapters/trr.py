"""TRR: GROMACS's positions, velocities and forces at full precision, in binary32 or binary64.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#trr

Decisions: nm, nm/ps and kJ/mol/nm become Å, Å/ps and eV/Å; numbers in binary32 are widened first, which
``trr_numbers`` says. What a frame lacks is absent there, null where others have it. λ is the meta key ``lambda`` where
it is not 0; virial (kJ/mol) and pressure (bar) keep GROMACS's numbers. A cell of zeros is none; the rows of the file's
matrix are a, b and c. A file of several that were joined is one trajectory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import TruncatedError
from molrec_convert.mapping.units import document, factor, stored_system
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.box import is_regular
from molrec_convert.options import Options
from molrec_convert.text.window import Window

from ._trr_header import VECTORS, Header, is_trr, read_header
from ._trr_numbers import inverse, ulps_off
from ._trr_writer import FACTS, GROMACS, MOMENT, ROUNDING, TRIPLES, TrrExporter, lost
from ._vectors import widened

Array = np.ndarray[Any, Any]

STORED = stored_system(GROMACS)
UNITS = {name: unit for name, unit in document(STORED).items() if name in ("length", "time", "velocity", "force")}
FACTORS = {quantity: factor(quantity, GROMACS, STORED) or 1.0 for quantity in ("length", "velocity", "force")}
NUMBERS = {4: "binary32", 8: "binary64"}
"""What numbers of a width are called."""


class TrrImporter:
    """Reads a TRR file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        del options  # the file says all that they could
        self._path = path

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames; see `molrec_convert.adapter.Importer.index`."""
        ordinal = 0
        while not window.at_end():
            header = read_header(window, self._path, ordinal)
            start = window.offset
            if keep:
                window.mark()
            found = window.skip(header.size)
            if found < header.size:
                message = f"the file ends after {found} of the {header.size} bytes of a frame's numbers"
                raise TruncatedError(message, path=self._path, frame=ordinal)
            yield Span(ordinal, 0, start, header.size, header, window.take() if keep else None)
            ordinal += 1

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        header: Header = span.context
        data = span.data or b""
        snapshot = Snapshot(Frame(), header.step, header.time, units=UNITS)
        meta: dict[str, Any] = {"lambda": header.coupling} if header.coupling else {}
        for name, key in MOMENT.items():
            if header.sizes[name]:
                meta[key] = tuple(_numbers(data, header, name).tolist())
        about: dict[str, Any] = {"trr_numbers": NUMBERS[header.width]}
        about |= {"trr_nre": header.nre} if header.nre else {}
        box = None
        if header.sizes["box"]:
            rows = _numbers(data, header, "box")
            box = _box_of(rows, span, snapshot)
            if rows.any() if box is None else _is_needed(rows, box):
                about["trr_box"] = tuple(rows.tolist())
        else:
            about["trr_no_box"] = True
        snapshot.frame = Frame.of(_blocks(data, header), box, Meta(meta))
        snapshot.about = Meta(about)
        return snapshot


def _numbers(data: bytes, header: Header, block: str) -> Array:
    """The numbers of a block, as they are."""
    kind, size = (">f4" if header.width == 4 else ">f8"), header.sizes[block] // header.width
    return widened(np.frombuffer(data, kind, size, header.place(block)))


def _blocks(data: bytes, header: Header) -> dict[str, Block]:
    """The atoms, and what rounding has taken from numbers in binary64."""
    columns: dict[str, Column] = {}
    kind, double = (">f8", True) if header.width == 8 else (">f4", False)
    there = [place for place, block in enumerate(VECTORS) if header.sizes[block]]
    ulps = np.zeros((header.atoms if double and there else 0, 3 * len(VECTORS)), np.int8)
    for place in there:
        quantity, names = TRIPLES[place]
        scale = FACTORS[quantity]
        vectors = np.frombuffer(data, kind, 3 * header.atoms, header.place(VECTORS[place])).reshape(-1, 3)
        for axis, name in enumerate(names):
            source = widened(vectors[:, axis])
            values = widened(source, scale)
            columns[name] = Column.of(values)
            if double:
                ulps[:, 3 * place + axis] = ulps_off(source, values, scale)
    blocks = {"atoms": Block.of(columns, header.atoms)}
    if double and there:
        blocks[ROUNDING] = Block.of({"ulps": Column.of(ulps)}, header.atoms)
    return blocks


def _box_of(rows: Array, span: Span, snapshot: Snapshot) -> Box | None:
    """The cell of a matrix of rows in nm; None where it spans none."""
    if not rows.any():
        return None
    vectors = np.ascontiguousarray(rows.reshape(3, 3).T) * FACTORS["length"]
    if not is_regular(vectors):
        spelled = " ".join(f"{number:g}" for number in rows)
        snapshot.notes.append(Note(f"the vectors {spelled} (nm) make no cell", frame=span.ordinal))
        return None
    return Box.of(vectors, np.zeros(3), np.ones(3, np.bool_))


def _is_needed(rows: Array, box: Box) -> bool:
    """Whether the cell alone does not tell the numbers of the file, or not that they are written so."""
    found = inverse(box.vectors, FACTORS["length"]).T.ravel()
    return bool(rows[[1, 2, 5]].any()) or not np.array_equal(found, rows)


FORMAT = Adapter(
    name="trr",
    summary="TRR, GROMACS's trajectory at full precision",
    reference="https://manual.gromacs.org/current/reference-manual/file-formats.html#trr",
    patterns=("*.trr",),
    sniff=is_trr,
    carries=Carries(
        columns=frozenset(name for _, names in TRIPLES for name in names),
        blocks=frozenset((ROUNDING,)),
        meta=FACTS | {"lambda", *MOMENT.values()},
        box=True,
        no_box=True,
        step=True,
        time=True,
        frames=True,
        varying=True,
    ),
    lost=lost,
    layout=FACTS | {ROUNDING},
    importer=TrrImporter,
    exporter=TrrExporter,
    role="trajectory",
)
