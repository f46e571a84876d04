"""XTC: the integers of its positions, and its cell, through the reader that MDAnalysis is built on.

MDAnalysis itself hands out binary32 and cell parameters, and leaves a file of offsets beside the source. The format
holds positions as whole numbers of ``1 / precision`` nm, which are found again here, so that 2.763 nm is 27.63 Å.

Reference: https://manual.gromacs.org/current/reference-manual/file-formats.html#xtc
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.mapping.units import SYSTEMS, document, factor
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.box import is_regular
from molrec_convert.model.dtypes import Array
from molrec_convert.options import Options

from .mda_universe import FLOATS

FINER = 1000.0
"""How many times finer the declared precision is than the file's own: it costs less than binary32 does, text of three
more decimals is that of the file's numbers, and two thirds of a position compress away."""
SMALL = 9
"""Frames of so few atoms hold binary32 as they are."""
PLAIN, HEAD = 56, 92
"""The bytes of a frame before its positions: of few atoms, and of compressed ones."""
LARGE_MAGIC = 2023
"""Begins frames whose size takes eight bytes."""
LENGTH = float(factor("length", SYSTEMS["gromacs"], SYSTEMS["molrec"]) or 1.0)
ATOMS = "atoms"
LARGEST = 2**31 - 2
PRECISION_OF_GROMACS = 1000.0
PRECISION = "xtc_precision"
"""The key of `Snapshot.about` that says how many parts of a nm the file counts in."""


class XtcImporter:
    """Reads an XTC file; see `molrec_convert.adapter.FileImporter`."""

    def __init__(self, options: Options) -> None:
        del options
        self._file: Any = None
        self._count, self._cut = 0, False

    def open(self, path: Path, *, atoms: int | None = None) -> int | None:
        """Open the file and find its frames."""
        from MDAnalysis.lib.formats.libmdaxdr import XTCFile

        del atoms
        self._file = XTCFile(str(path))
        try:
            self._count = len(self._file)
        except OSError:
            return None  # the file ends inside a header: its frames are read one after another
        self._cut = bool(self._count) and end_of_frame(path, int(self._file.offsets[-1])) != path.stat().st_size
        return self._count

    def frames(self, ordinals: Sequence[int] | None) -> Iterator[Snapshot]:
        """The frames of these numbers, or all."""
        if ordinals is None:
            self._file.seek(0)
            while (found := self._next()) is not None:
                yield snapshot_of_xtc(found)
            if self._cut:
                raise TruncatedError("the file ends inside the frame", frame=self._count)
            return
        place = -1
        for ordinal in ordinals:
            if ordinal != place + 1:
                self._file.seek(ordinal)
            place = ordinal
            if (found := self._next()) is None:
                raise TruncatedError("the file ends inside the frame", frame=ordinal)
            yield snapshot_of_xtc(found)
        if self._cut and place == self._count - 1:
            raise TruncatedError("the file ends inside the frame", frame=self._count)

    def _next(self) -> Any:
        try:
            return self._file.read()
        except StopIteration:
            return None
        except OSError as error:
            raise TruncatedError(f"the file ends inside the frame, or the frame is broken ({error})") from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class XtcExporter:
    """Writes an XTC file; see `molrec_convert.adapter.FileExporter`."""

    def __init__(self, options: Options) -> None:
        del options
        self.notes: list[Note] = []
        self._file: Any = None
        self._precision = PRECISION_OF_GROMACS
        self._count = self._frames = 0

    def open(self, path: Path, first: Snapshot) -> None:
        """Make the file, in as fine parts of a nm as the source counted in."""
        from MDAnalysis.lib.formats.libmdaxdr import XTCFile

        self._precision = float(first.about.get(PRECISION, PRECISION_OF_GROMACS))
        self._count = first.frame[ATOMS].count if ATOMS in first.frame else 0
        if first.units is None or factor("length", first.units, SYSTEMS["gromacs"]) is None:
            self.notes.append(Note("the unit of length is not known, and is taken for ångström"))
        self._file = XTCFile(str(path), mode="w")

    def add(self, snapshot: Snapshot) -> None:
        """Write a frame."""
        count = snapshot.frame[ATOMS].count if ATOMS in snapshot.frame else 0
        if count != self._count or not count:
            before = f", {self._count} before" if self._frames else ""
            raise FormatError(f"the format holds the same number of atoms in every frame, not 0: {count}{before}")
        atoms = snapshot.frame[ATOMS]
        if not {"x", "y", "z"} <= atoms.keys():
            raise FormatError("there are no positions x, y, z")
        to_nm = factor("length", snapshot.units or SYSTEMS["molrec"], SYSTEMS["gromacs"]) or 1 / LENGTH
        nm = np.stack([atoms[axis] for axis in "xyz"], axis=1) * to_nm
        whole = np.rint(nm * self._precision)
        box, rows = snapshot.frame.box, np.zeros((3, 3), dtype=np.float32)
        if box is not None and box.defined:
            rows = (box.vectors.T * to_nm).astype(np.float32)
        step = self._frames if snapshot.step is None else snapshot.step
        if not np.isfinite(whole).all() or np.abs(whole).max() > LARGEST or not -LARGEST <= step <= LARGEST:
            raise FormatError(f"a position or the step {step} is beyond what 32 bits hold")
        if count > SMALL:  # binary32 may lie half a last bit off, which the format's own rounding undoes
            nm = whole / self._precision
        time = 0.0 if snapshot.time is None else snapshot.time
        self._file.write(nm.astype(np.float32), rows, step, time, self._precision)
        self._frames += 1

    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def snapshot_of_xtc(found: Any) -> Snapshot:
    """The frame that the library has read: positions nm [N][3], cell with rows a, b, c in nm, step, time in ps."""
    notes: list[Note] = []
    whole = None if len(found.x) <= SMALL else whole_numbers(found.x, found.prec)
    if whole is None:
        positions, precision = found.x.astype(np.float64) * LENGTH, None
    else:
        positions, precision = whole * LENGTH / float(found.prec), LENGTH / (float(found.prec) * FINER)
    columns = {name: Column(np.ascontiguousarray(positions[:, k]), precision=precision) for k, name in enumerate("xyz")}
    box = box_of(found.box)
    if box is None and found.box.any():
        notes.append(Note(f"the cell {found.box.tolist()} spans no volume: left out"))
    about = Meta({FLOATS: "binary32"})
    if precision is not None:
        about.set(PRECISION, float(found.prec))
    frame = Frame.of({"atoms": Block.of(columns, len(positions))}, box, Meta())
    return Snapshot(frame, int(found.step), float(found.time), about, document(SYSTEMS["molrec"]), notes)


def end_of_frame(path: Path, offset: int) -> int:
    """Where the frame that begins at a place of the file ends; the library takes what is cut off for the end."""
    with path.open("rb") as file:
        file.seek(offset)
        head = file.read(HEAD + 4)
    magic, atoms = (int.from_bytes(head[k : k + 4], "big") for k in (0, 4))
    if atoms <= SMALL:
        return offset + PLAIN + 12 * atoms
    wide = 4 if magic == LARGE_MAGIC else 0
    size = int.from_bytes(head[HEAD - 4 : HEAD + wide], "big")
    return offset + HEAD + wide + (size + 3) // 4 * 4


def whole_numbers(x: Array, precision: float) -> Array | None:
    """The integers that positions were stored as; None where binary32 has lost them."""
    unit = np.float32(1.0) / np.float32(precision)
    found: Array = np.rint(x.astype(np.float64) * float(precision))
    if not np.array_equal(found.astype(np.float32) * unit, x):
        return None
    return found


def box_of(rows: Array) -> Box | None:
    """The cell of a matrix of rows in nm; None where it spans no volume."""
    vectors = rows.astype(np.float64).T * LENGTH
    return Box(vectors) if is_regular(vectors) else None
