"""Gaussian CUBE: atoms and the values of fields on a grid, several cubes in a file perhaps.

Reference: https://gaussian.com/cubegen/, https://paulbourke.net/dataformats/cube/,
https://h5cube-spec.readthedocs.io/en/latest/cubeformat.html

Decisions: the cell of the frame is that of the grid, N·v along each axis, with the first point as its origin, and
periodic on no axis, since the format does not tell. Negative counts of points say that lengths are in ångström, and
this is noted. Values are those of the file, never rescaled. The number beside the atomic number is the nuclear charge,
not a charge. The first axis is the outermost, whatever a comment says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.mapping.elements import SYMBOLS
from molrec_convert.model import Block, Column, Frame, Meta
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options
from molrec_convert.text.window import Window

from ._cube_frame import (
    COMMENT,
    DECIMALS,
    ENCODING,
    GRID,
    KEYS,
    MOLREC_LENGTH,
    NUMBER,
    ORBITALS,
    ORIGIN,
    UNITS,
    VALUES,
    VOXELS,
    field_names,
    grid_box,
    scale_of,
)
from ._cube_header import (
    HEAD_LINES,
    Header,
    HeaderReader,
    are_numbers,
    looks_like_a_cube,
    may_become_a_cube,
    quoted,
)
from ._cube_values import FEWEST, SAMPLE, ValueReader, decimals_of, values_of
from ._cube_writer import CubeExporter, lost

Array = np.ndarray[Any, Any]

AHEAD = 1 << 16
"""How much of what follows a grid is looked at to tell what it is."""
BLANK_COMMENTS = 2
"""How many blank lines may be the comments of a cube."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the index has learned of a cube.

    Parameters
    ----------
    header
        Its header.
    size
        Bytes of the header.
    values, sample
        The values and the first lines of them; None where they are to be read again.
    doubtful_line
        The last line, where it has no line end.
    """

    header: Header
    size: int
    values: Array | None
    sample: bytes
    doubtful_line: int | None


class CubeImporter:
    """Reads a cube; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        del options
        self._path = path

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the cubes; see `molrec_convert.adapter.Importer.index`.

        Only the values tell where a cube ends, so that the index reads them, piece by piece: the text of a large grid
        is never in memory.
        """
        ordinal, total = 0, 0
        while not ordinal or self._follows(window, ordinal, total):
            line, start = window.line, window.offset
            header = HeaderReader(window, self._path, ordinal).read()
            size, total = window.offset - start, header.total
            reader = ValueReader(window, total, self._path, ordinal)
            values = reader.read()
            if reader.in_doubt and ordinal:
                raise TruncatedError("the last line has no line end", line=window.line - 1, frame=ordinal)
            doubtful = window.line - 1 if reader.in_doubt else None
            found = Found(header, size, values if keep else None, reader.sample, doubtful)
            yield Span(ordinal, line, start, window.offset - start, found, b"" if keep else None)
            ordinal += 1

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a cube."""
        found: Found = span.context
        header = found.header
        values = found.values
        if values is None:
            values = values_of((span.data or b"")[found.size :], header.total)
        unit = "angstrom" if header.angstrom else "bohr"
        scale = scale_of(unit, MOLREC_LENGTH) or 1.0
        box = grid_box(header.counts, header.voxels, header.origin, scale)
        notes = []
        if header.angstrom:
            notes.append(Note("the numbers of points are negative: lengths are taken for ångström", span.line + 3))
        if not box.defined:
            notes.append(Note("the axes of the grid do not span space: there is no cell", span.line + 3))
        if found.doubtful_line is not None:
            notes.append(Note("the last line has no line end, its last number may be cut short", found.doubtful_line))
        about = _about(header, unit, decimals_of(found.sample[:SAMPLE], values))
        blocks = {"atoms": _atoms(header, scale), GRID: _grid(header, values)}
        frame = Frame.of(blocks, box, Meta({COMMENT: "\n".join(header.comments).removesuffix("\n")}))
        return Snapshot(frame, about=about, units=MOLREC_LENGTH, notes=notes)

    def _follows(self, window: Window, ordinal: int, total: int) -> bool:
        """Whether another cube follows, the window put at its first line; its first comment may be blank."""
        while True:
            ahead = window.peek(AHEAD)
            lines = ahead.split(b"\n")
            blanks = next((k for k, line in enumerate(lines) if line.strip()), len(lines))
            if blanks < len(lines):
                break
            if not window.skip_lines(max(len(lines) - 1 - BLANK_COMMENTS, 1)):
                return False
        for skipped in range(max(blanks - BLANK_COMMENTS, 0), blanks + 1):
            if looks_like_a_cube(lines[skipped : skipped + HEAD_LINES]):
                window.skip_lines(skipped)
                return True
        line, at = lines[blanks], window.line + blanks
        if are_numbers(line):
            message = f"the grid has {total} values, and {quoted(line)} follows the last one"
        elif len(ahead) < AHEAD and may_become_a_cube(lines[blanks:]):
            raise TruncatedError("the file ends inside the header of another cube", line=at, frame=ordinal)
        else:
            message = f"another cube or the end of the file is due after a grid, not {quoted(line)}"
        raise FormatError(message, path=self._path, line=at, frame=ordinal - 1)


def _about(header: Header, unit: str, decimals: int) -> Meta:
    """What restores the text."""
    about = Meta()
    about.set(UNITS, unit, tag="string")
    about.set(ORIGIN, header.origin, tag="f64x3")
    about.set(VOXELS, [number for vector in header.voxels for number in vector], tag="f64x9")
    if header.orbitals is not None:
        about.set(ORBITALS, list(header.orbitals), tag="json")
    if header.values is not None:
        about.set(VALUES, header.values, tag="i64")
    if decimals != FEWEST:
        about.set(DECIMALS, decimals, tag="i64")
    if header.encoding != "utf-8":
        about.set(ENCODING, header.encoding, tag="string")
    return about


def _atoms(header: Header, scale: float) -> Block:
    numbers = header.numbers
    known = (numbers >= 0) & (numbers < len(SYMBOLS))
    symbols = np.array(SYMBOLS, dtype=STRING)[np.where(known, numbers, 0)]
    columns: dict[str, Column] = {}
    columns["atomic_number"] = Column.of(np.maximum(numbers, 0).astype(np.uint64))
    if (numbers < 0).any():
        columns[NUMBER] = Column.of(numbers)
    columns["element"] = Column.of(symbols)
    columns["nuclear_charge"] = Column.of(header.charges)
    for name, values in zip("xyz", header.positions, strict=True):
        columns[name] = Column.of(values if scale == 1.0 else values * scale)
    return Block.of(columns, len(numbers))


def _grid(header: Header, values: Array) -> Block:
    names = field_names(header.fields, header.orbitals)
    points = len(values) // len(names)
    table = values.reshape(points, len(names))
    columns = {name: Column.of(np.ascontiguousarray(table[:, k])) for k, name in enumerate(names)}
    return Block.of(columns, points, shape=header.counts)


def _is_cube(head: bytes) -> bool:
    return looks_like_a_cube(head.split(b"\n", HEAD_LINES)[:HEAD_LINES])


FORMAT = Adapter(
    name="cube",
    summary="Gaussian CUBE, fields on a grid",
    reference="https://gaussian.com/cubegen/",
    patterns=("*.cube", "*.cub"),
    sniff=_is_cube,
    series=False,
    carries=Carries(
        columns=frozenset(("x", "y", "z", "atomic_number", "element", "nuclear_charge", NUMBER)),
        blocks=frozenset((GRID,)),
        meta=KEYS,
        box=True,
        origin=True,
        boundary=True,  # those of axes that are not periodic; see `lost`
        no_box=True,  # a plane
        frames=True,
        varying=True,
    ),
    importer=CubeImporter,
    exporter=CubeExporter,
    lost=lost,
    layout=KEYS - {COMMENT},
    export_options=frozenset(("decimals",)),
)
