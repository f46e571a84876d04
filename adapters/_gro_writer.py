"""Writing GRO files: frame after frame, each with its title, its atoms and its box.

Decisions: numbers have the decimals of their source, where it says them, else those of GROMACS, 3 and 4; their columns
are as wide as GROMACS makes them; digits that do not come back are a loss that is named, unless a person has asked for
so many. Atom and residue numbers keep their last five digits. A box has as many decimals as it needs, for it is in free
format. A cell in another orientation is turned together with the positions and velocities, which is named as well.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError, OptionError
from molrec_convert.loss import Loss
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, SYSTEMS, factor
from molrec_convert.model import Block
from molrec_convert.model.precision import decimals_of
from molrec_convert.options import Options
from molrec_convert.text.decimals import as_printed

from ._digits import LostDigits
from ._gro_box import PER_NM, box_line, placed, says
from ._gro_layout import POSITIONS, VELOCITIES
from ._gro_lines import Digits, LinePrinter
from ._gro_title import Moment, written_title
from ._pdb_writer import in_picoseconds

Array = np.ndarray[Any, Any]

UNITS = SYSTEMS["gromacs"]
TITLE, BOX = "gro_title", "gro_box"
DECIMALS, VELOCITY_DECIMALS, WIDTH = "gro_decimals", "gro_velocity_decimals", "gro_width"
META = frozenset((TITLE, BOX, DECIMALS, VELOCITY_DECIMALS, WIDTH))
"""What of a frame's meta is written."""
USUAL_DECIMALS = 3
MOST_DECIMALS = 40
"""Decimals that a source may have; more are no numbers of positions."""
BESIDES = 5
"""Columns of a number besides its decimals: sign, three digits, point."""


class GroExporter:
    """Writes a GRO file; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        if options.decimals == 0:
            raise OptionError("--decimals is at least 1 for gro, whose readers look for the points", path=path)
        self._path = path
        self._decimals = options.decimals
        self._printer = LinePrinter(path, self._note)
        self._lost = LostDigits()
        self.notes: list[Note] = []

    @property
    def losses(self) -> list[Loss]:
        """The digits that the frames showed to be lost."""
        return self._lost.losses

    def head(self, first: Snapshot) -> bytes:
        """Nothing: each frame has a head of its own."""
        del first
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """One frame."""
        frame, about = snapshot.frame, snapshot.about
        atoms = frame["atoms"] if "atoms" in frame else Block(count=0)
        per_nm = unit_of(snapshot, "length") or PER_NM
        box = frame.box
        if box is None or not box.defined:
            kept = about.get(BOX)
            line, rotation = kept if isinstance(kept, str) and says(kept, None) else box_line(None), None
        else:
            cell = placed(box, about.get(BOX))
            line, rotation = cell.kept or box_line(cell.vectors, per_nm), cell.rotation
            if cell.reversed:
                self._note(
                    "the cell is left-handed; its third vector is written reversed, which spans the same lattice"
                )
            elif rotation is None and per_nm == PER_NM and not says(line, box):
                self._lost.add(Loss("digits of box", "what is zero but for its last digits is written as zero"))
        positions = self._positions(atoms, rotation) / per_nm
        velocities, moving = velocities_of(snapshot)
        per_speed = unit_of(snapshot, "velocity") or PER_NM
        if velocities is not None:
            if snapshot.units is None:
                self._note("the units are not known; the velocities are taken for angstrom/ps")
            velocities = velocities / per_speed
            velocities = velocities if rotation is None else rotation @ velocities
        digits = self._digits(snapshot, atoms)
        if rotation is None:
            self._check_digits(atoms, positions, POSITIONS, digits.positions, per_nm)
            self._check_digits(atoms, velocities, VELOCITIES, digits.velocities, per_speed)
        text = self._printer.atom_lines(atoms, positions, velocities, moving, digits, ordinal)
        moment = Moment(in_picoseconds(snapshot), snapshot.step)
        title = written_title(about.get(TITLE), moment, counted=snapshot.step in (None, ordinal))
        return b"%b\n%5d\n%b%b\n" % (title.encode(), atoms.count, text, line.encode())

    def tail(self) -> bytes:
        """Nothing: the last frame ends the file."""
        return b""

    def _positions(self, atoms: Block, rotation: Array | None) -> Array:
        if not all(name in atoms for name in POSITIONS):
            if atoms.count:
                raise FormatError("the atoms have no positions", path=self._path)
            return np.zeros((3, 0))
        for name in POSITIONS:
            valid = atoms.column(name).valid
            if valid is not None:
                raise FormatError(f"atom {int(np.argmin(valid)) + 1} has no {name}", path=self._path)
        found = np.stack([atoms[name] for name in POSITIONS])
        return found if rotation is None else rotation @ found

    # ------------------------------------------------------------ digits
    def _digits(self, snapshot: Snapshot, atoms: Block) -> Digits:
        """Decimals as asked for, else those of the source, else those of GROMACS."""
        about = snapshot.about
        if self._decimals is not None:
            return Digits(self._decimals, self._decimals + 1, self._decimals + BESIDES)
        positions = _number(about.get(DECIMALS)) or _declared(atoms, POSITIONS) or USUAL_DECIMALS
        velocities = _number(about.get(VELOCITY_DECIMALS)) or _declared(atoms, VELOCITIES) or positions + 1
        least = max(positions + BESIDES, velocities + BESIDES - 1)
        return Digits(positions, velocities, max(least, _number(about.get(WIDTH)) or 0))

    def _check_digits(
        self, atoms: Block, values: Array | None, names: tuple[str, ...], decimals: int, per_nm: float
    ) -> None:
        """Name columns that come back with other numbers, unless a person asks for so many decimals."""
        if values is None or self._decimals is not None:
            return
        unit = "nm" if names is POSITIONS else "nm/ps"
        for name, printed in zip(names, values, strict=True):
            if name in atoms:
                column = atoms.column(name)
                read = partial(_as_read, column.values, printed, decimals, per_nm)
                what = f"the numbers have {decimals} decimals of {unit}; --decimals writes more"
                self._lost.check(f"atoms.{name}", column, read, what)

    def _note(self, message: str) -> None:
        if all(note.message != message for note in self.notes):
            self.notes.append(Note(message))


def _as_read(values: Array, printed: Array, decimals: int, per_nm: float) -> Array:
    """What a reader makes of numbers in nm, in the unit of a record: directly, or as ``--to-units`` does of Å."""
    if per_nm == PER_NM:
        return as_printed(values, decimals - 1)
    read = as_printed(printed, decimals) * per_nm
    return np.where(read == values, values, as_printed(printed * PER_NM, decimals - 1) * (per_nm / PER_NM))


def unit_of(snapshot: Snapshot, quantity: str) -> float | None:
    """The format's unit of a quantity in that of a frame; None where that is not known.

    Numbers without dimension, or of a frame that states no units at all, are taken for ångström and ångström/ps.
    """
    if snapshot.units is None or snapshot.units == DIMENSIONLESS_DOCUMENT:
        return PER_NM
    return factor(quantity, UNITS, snapshot.units)


def velocities_of(snapshot: Snapshot) -> tuple[Array | None, Array | None]:
    """The velocities that can be written, and which atoms have them where not all have."""
    atoms = snapshot.frame.get("atoms")
    if atoms is None or not all(name in atoms for name in VELOCITIES) or unit_of(snapshot, "velocity") is None:
        return None, None
    moving = np.ones(atoms.count, bool)
    for name in VELOCITIES:
        valid = atoms.column(name).valid
        moving = moving if valid is None else moving & valid
    if not moving.any():
        return None, None
    return np.stack([atoms[name] for name in VELOCITIES]), None if moving.all() else moving


def _number(value: Any) -> int | None:
    """A number of decimals or columns that a source states; None where it is none to write."""
    return value if type(value) is int and 0 < value <= MOST_DECIMALS else None


def _declared(atoms: Block, names: tuple[str, ...]) -> int | None:
    """The decimals of a nanometre that a declared precision, in tenths of it, asks for."""
    found = [atoms.column(name).precision for name in names if name in atoms]
    if not found or None in found:
        return None
    return max(1, *(decimals_of(precision) + 1 for precision in found if precision is not None))
