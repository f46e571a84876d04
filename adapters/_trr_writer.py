"""Writing TRR files: binary32 where that holds all numbers of a frame, else binary64.

Lengths, velocities and forces are brought to nm, nm/ps and kJ/mol/nm; those of unknown unit are not written. A cell
is written as GROMACS has it, a along x and b in the xy plane; another one is turned into this orientation together
with the vectors, unless the source's own numbers give it. Zeros stand for no cell (without them MDAnalysis takes
that of the frame before), unless the source had none either; a time of 0 stands for none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.units import SYSTEMS, unit_of
from molrec_convert.model import Block, Meta
from molrec_convert.options import Options

from ._gro_box import placed
from ._trr_header import BLOCKS, VECTORS, Header, header_bytes
from ._trr_numbers import inverse, restored
from ._vectors import (
    FORCES,
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

GROMACS = SYSTEMS["gromacs"]
TRIPLES = (("length", POSITIONS), ("velocity", VELOCITIES), ("force", FORCES))
"""The quantities and columns of the blocks of vectors."""
FACTS = frozenset(("trr_numbers", "trr_box", "trr_no_box", "trr_nre"))
"""What the importer says of a source, and is restored."""
MOMENT: Mapping[str, str] = MappingProxyType({"virial": "trr_virial", "pressure": "trr_pressure"})
"""Blocks of nine numbers, and their keys in the meta of a frame."""
ROUNDING = "trr_rounding"
"""The block of what rounding has taken from numbers in binary64."""
LARGEST = 2**31 - 1
NO_TIME = "the frames have no times, and 0 is written for all"
VARYING = "the number of atoms changes, which few programs read"


class Numbers(NamedTuple):
    """A block as it is written.

    Parameters
    ----------
    double
        In binary64.
    single
        In binary32.
    exact
        Whether binary32 gives the numbers of the record.
    """

    double: Array
    single: Array
    exact: bool

    @classmethod
    def of(cls, values: Any) -> Numbers:
        """Numbers that are written as they are."""
        double = np.asarray(values, np.float64)
        single = narrowed(double)
        return cls(double, single, gives(single, double))


class TrrExporter:
    """Writes a TRR file; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        del path, options  # the format fixes all that they could choose
        self._atoms = 0
        self._found: dict[str, Loss] = {}
        self._notes: dict[str, None] = {}

    @property
    def losses(self) -> list[Loss]:
        """What the frames showed that is not held."""
        return list(self._found.values())

    @property
    def notes(self) -> list[Note]:
        """What was noticed in writing."""
        return [Note(message) for message in self._notes]

    def head(self, first: Snapshot) -> bytes:
        """Nothing stands before the first frame."""
        self._atoms = _atoms_of(first).count
        return b""

    def tail(self) -> bytes:
        """Nothing stands after the last one."""
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """The header of a frame, and its blocks."""
        atoms, cell = _atoms_of(snapshot), _cell(snapshot)
        if cell.turned:
            self._found[TURNED.item] = TURNED
        for message, told in (
            (REVERSED, cell.reversed),
            (NO_TIME, snapshot.time is None and ordinal > 0),
            (VARYING, atoms.count != self._atoms),
        ):
            self._notes |= {message: None} if told else {}
        moment = Numbers.of((_time(snapshot) or 0.0, _coupling(snapshot)))
        blocks = {**_tensors(snapshot.about), **_vectors(snapshot, atoms, cell.rotation)}
        if not blocks or cell.rows.double.any() or not snapshot.about.get("trr_no_box"):
            blocks = {"box": cell.rows, **blocks}
        exact = moment.exact and all(block.exact for block in blocks.values())
        width = 4 if exact and snapshot.about.get("trr_numbers") != "binary64" else 8
        kind = f">f{width}"
        parts = [block.single if width == 4 else block.double for block in blocks.values()]
        time, coupling = (moment.single if width == 4 else moment.double).tolist()
        header = Header(
            width=width,
            sizes={name: blocks[name].double.size * width if name in blocks else 0 for name in BLOCKS},
            atoms=atoms.count,
            step=_step(snapshot, ordinal),
            time=time,
            coupling=coupling,
            nre=snapshot.about.get("trr_nre", 0),
        )
        return header_bytes(header) + b"".join(part.astype(kind).tobytes() for part in parts)


def _atoms_of(snapshot: Snapshot) -> Block:
    return snapshot.frame.get("atoms", Block(count=0))


# ---------------------------------------------------------------- the moment
def _step(snapshot: Snapshot, ordinal: int) -> int:
    return snapshot.step if snapshot.step is not None and _fits(snapshot.step) else ordinal


def _fits(step: int) -> bool:
    return -LARGEST - 1 <= step <= LARGEST


def _time(snapshot: Snapshot) -> float | None:
    """The time in ps; None where there is none, or its unit is not known."""
    scale = scale_of("time", GROMACS, snapshot.units)
    if snapshot.time is None or scale is None:
        return None
    return float(inverse(np.array([snapshot.time]), scale)[0])


def _coupling(snapshot: Snapshot) -> float:
    value = snapshot.about.get("lambda", 0.0)
    return value if isinstance(value, float) else 0.0


def _tensors(about: Meta) -> dict[str, Numbers]:
    """Virial and pressure, where there are."""
    found = {name: about.get(key) for name, key in MOMENT.items()}
    return {name: Numbers.of(values) for name, values in found.items() if _is_tensor(values)}


def _is_tensor(values: Any) -> bool:
    return isinstance(values, tuple) and len(values) == 9


# ---------------------------------------------------------------- the cell
class Cell(NamedTuple):
    """The cell as it is written.

    Parameters
    ----------
    rows
        a, b and c in nm.
    rotation
        What turns vectors of the frame into their orientation; None where they are in it.
    reversed
        Whether c is written reversed, since the cell is left-handed.
    """

    rows: Numbers
    rotation: Array | None = None
    reversed: bool = False

    @property
    def turned(self) -> bool:
        """Whether the vectors of the cell are not those of the frame."""
        return self.rotation is not None or self.reversed


def _cell(snapshot: Snapshot) -> Cell:
    """The source's numbers as long as they give the cell, else the cell in GROMACS's orientation."""
    box, kept = snapshot.frame.box, snapshot.about.get("trr_box")
    scale = scale_of("length", GROMACS, snapshot.units) or 1.0
    rows = np.array(kept) if _is_tensor(kept) else np.zeros(9)
    if box is None or not box.defined:
        is_cell = rows.any() and bool(np.linalg.matrix_rank(rows.reshape(3, 3)) == 3)
        return Cell(Numbers.of(np.zeros(9) if is_cell else rows))
    if np.array_equal(rows.reshape(3, 3).T * scale, box.vectors):
        return Cell(Numbers.of(rows))
    cell = placed(box, None)
    return Cell(_scaled(cell.vectors.T.ravel(), scale, None), cell.rotation, cell.reversed)


# ---------------------------------------------------------------- the vectors
def _vectors(snapshot: Snapshot, atoms: Block, rotation: Array | None) -> dict[str, Numbers]:
    """Positions, velocities and forces, where there are and their unit is known."""
    found: dict[str, Numbers] = {}
    ulps = _rounding(snapshot, atoms.count)
    for k, (block, (quantity, names)) in enumerate(zip(VECTORS, TRIPLES, strict=True)):
        scale = scale_of(quantity, GROMACS, snapshot.units)
        if scale is None or not holds(atoms, names) or not atoms.count:
            continue
        values = stacked(atoms, names)
        values = values if rotation is None else rotation @ values
        found[block] = _scaled(values.T, scale, None if ulps is None else ulps[:, 3 * k : 3 * k + 3])
    return found


def _scaled(values: Array, scale: float, ulps: Array | None) -> Numbers:
    """Numbers in the unit of the file."""
    single = narrowed(values, scale)
    exact = gives(single, values, scale)
    return Numbers(
        single if exact and ulps is None else restored(np.ascontiguousarray(values), scale, ulps), single, exact
    )


def _rounding(snapshot: Snapshot, rows: int) -> Array | None:
    """What rounding has taken from the numbers of the source; None where it is not known."""
    block = snapshot.frame.get(ROUNDING)
    if block is None or block.count != rows or "ulps" not in block:
        return None
    values: Array = block["ulps"]
    return values if values.shape == (rows, 9) and values.dtype == np.int8 else None


# ---------------------------------------------------------------- what is lost
def lost(contents: Contents) -> Iterator[Loss]:
    """Vectors of fewer components or of unknown unit, and moments that there is no room for."""
    yield from incomplete(contents, [names for _, names in TRIPLES])
    for snapshot in contents.snapshots:
        atoms = _atoms_of(snapshot)
        for quantity, names in TRIPLES:
            if holds(atoms, names) and scale_of(quantity, GROMACS, snapshot.units) is None:
                reason = f"the format has {unit_of(quantity, GROMACS)}, and the unit of these is not known"
                yield from (Loss(f"atoms.{name}", reason) for name in names)
        if snapshot.time is not None and _time(snapshot) is None:
            yield Loss("time", "the format has ps, and the unit of the time is not known")
        if snapshot.step is not None and not _fits(snapshot.step):
            yield Loss("step", "the format has steps of 32 bits")
        about = snapshot.about
        if not isinstance(about.get("lambda", 0.0), float) or math.isnan(about.get("lambda", 0.0)):
            yield Loss("lambda", "the format has one number")
        yield from (Loss(key, "the format has nine numbers") for key in MOMENT.values() if not _is_held(about, key))
    if contents.frames == 1 and contents.snapshots and _cell(contents.snapshots[0]).turned:
        yield TURNED


def _is_held(about: Meta, key: str) -> bool:
    return key not in about or _is_tensor(about[key])
