"""Writing PDB files: models, cells, text and bonds around the atom lines.

Reference: wwPDB format 3.3. Positions and lengths of a cell have three decimals, its angles, occupancies and B factors
two: that is the format, and digits that do not come back are a loss that is named. A cell fixes the orientation; one of
another is turned into it together with the positions, which is named, too. Frames of several are models, each with its
cell, for readers look for it there; bonds of all models stand once behind the last. No END follows models: several
programs take it for one frame more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.loss import Loss
from molrec_convert.mapping.units import SYSTEMS, factor
from molrec_convert.model import Block, Box, Column, Meta
from molrec_convert.options import Options
from molrec_convert.stack import Stack, part_of, repeats
from molrec_convert.text.decimals import as_printed

from ._digits import LostDigits
from ._pdb_bonds import bond_lines
from ._pdb_cell import Placed, cell_record, lost_of_cell, no_cell_record, placed
from ._pdb_lines import POSITION_DECIMALS, LinePrinter, foreign_columns
from ._pdb_serials import Serials, serials_of
from ._pdb_text import OF_THE_CELL, moment_of

Array = np.ndarray[Any, Any]

HIGHEST_ORDER = 6
"""How often a bond is repeated at most."""
MOVING = frozenset(("x", "y", "z", "occupancy", "b_factor"))
"""Columns that are printed anew in every frame."""
META = frozenset(("pdb_header", "pdb_remarks", "pdb_model", "pdb_cryst1", "space_group", "z_value"))
"""What of a frame's meta is written."""


class Before:
    """Whether a frame before has something, though frames are printed at once and in any order."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._told: set[int] = set()
        self._next = 0
        self._first: int | None = None

    def tell(self, ordinal: int, has: bool) -> bool:
        """Say whether a frame has it; learn whether one before has, which is waited for where it is needed."""
        with self._turn:
            self._told.add(ordinal)
            while self._next in self._told:
                self._told.remove(self._next)
                self._next += 1
            if has and (self._first is None or ordinal < self._first):
                self._first = ordinal
            self._turn.notify_all()
            self._turn.wait_for(lambda: has or self._next > ordinal)
            return self._first is not None and self._first < ordinal


class Printed(NamedTuple):
    """The text of a frame.

    Parameters
    ----------
    cell, remarks, title, atoms
        In the order of a model: its cell, lines of the source, a title that is made for the time, and the atoms.
    bonds
        What follows the last frame.
    """

    cell: bytes
    remarks: bytes
    title: bytes
    atoms: bytes
    bonds: bytes


PICOSECONDS = {"time": "ps"}


def in_picoseconds(snapshot: Snapshot) -> float | None:
    """The time of a frame in the unit of titles; None where its own is not known."""
    if snapshot.time is None or snapshot.units is None:
        return None
    scale = factor("time", snapshot.units, PICOSECONDS)
    if scale is None:
        return None
    return snapshot.time if scale == 1.0 else snapshot.time * scale


class PdbExporter:
    """Writes a PDB file; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        del options  # the format fixes all that they could choose
        self._path = path
        self._lost = LostDigits()
        self._printer = LinePrinter(path, self._note, self._lost)
        self._first = threading.Event()
        self._cells = Before()
        self._waiting: Printed | None = None
        self._bonds = b""
        self.notes: list[Note] = []

    @property
    def losses(self) -> list[Loss]:
        """The digits that the frames showed to be lost."""
        return self._lost.losses

    def head(self, first: Snapshot) -> bytes:
        """The text of the source, without what no longer holds for the cell."""
        header = first.about.get("pdb_header", "")
        if not header:
            return b""
        lines = header.split("\n")
        if any(line[:6] in OF_THE_CELL for line in lines) and not self._keeps_cell(first):
            lines = [line for line in lines if line[:6] not in OF_THE_CELL]
        return _joined(lines)

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """One frame; the first one waits for a second, unless it is a model anyway."""
        try:
            printed = self._frame(snapshot, ordinal)
            if not ordinal:
                self._bonds = printed.bonds
                if "pdb_model" not in snapshot.about and _has_atoms(snapshot):
                    self._waiting = printed
                    return b""
                return _model(snapshot, 0, printed, b"")
        finally:
            if not ordinal:
                self._first.set()
        self._first.wait()
        before = b""
        if ordinal == 1 and self._waiting is not None:
            before, self._waiting = _model(Snapshot(snapshot.frame), 0, self._waiting, b""), None
        own = b"" if printed.bonds == self._bonds else printed.bonds or _NO_BONDS
        return before + _model(snapshot, ordinal, printed, own)

    def encode_stack(self, stack: Stack, first: int) -> bytes | None:
        """Models together; see `molrec_convert.stack.StackExporter`."""
        frames, atoms, bonds = len(stack), stack.blocks.get("atoms"), stack.blocks.get("bonds")
        columns = {} if atoms is None else dict(atoms.columns)
        still = [column for name, column in columns.items() if name not in MOVING]
        still += [] if bonds is None else bonds.columns.values()
        if atoms is None or not atoms.count or "anisou" in columns or not {"x", "y", "z"} <= columns.keys():
            return None
        if not all(repeats(column, frames) for column in still) or any(
            each.valid is not None for each in columns.values()
        ):
            return None
        for name in foreign_columns(columns):
            del columns[name]
        atoms, bonds = Block.of(columns, atoms.count), None if bonds is None else part_of(bonds, 0, frames)
        one, heads = part_of(atoms, 0, frames), [stack.head(k) for k in range(frames)]
        scale = _in_angstrom(heads[0])
        self._first.wait()
        try:
            cells = self._cell_lines(heads, first, scale)
            if cells is None:
                return None
            positions = self._positions(atoms, scale)
            self._check_positions(atoms, positions, scale)
            serials = serials_of(one, bonds, self._path, first)
            texts = self._printer.stacked_lines(one, atoms, positions, serials, None, first)
        except FormatError:
            return None  # which each frame tells of itself
        if serials.note is not None:
            self._note(serials.note)
        records = _bond_records(bonds, serials)
        own = b"" if records == self._bonds else records or _NO_BONDS
        found: list[bytes] = []
        for k, (head, cell, text) in enumerate(zip(heads, cells, texts, strict=True)):
            remarks = head.about.get("pdb_remarks", "")
            title = _joined(self._title(head, first + k, remarks))
            kept = _joined(remarks.split("\n") if remarks else [])
            found.append(_model(head, first + k, Printed(cell, kept, title, text, records), own))
        return b"".join(found)

    def _cell_lines(self, heads: Sequence[Snapshot], first: int, scale: float) -> list[bytes] | None:
        """The record of the cell of many frames; None where one is turned."""
        found: list[bytes] = []
        last: tuple[Any, ...] | None = None
        record = b""
        for k, head in enumerate(heads):
            box, about = head.frame.box, head.about
            box = None if box is None or not box.defined else box
            if box is not None and scale != 1.0:
                return None
            had_cell = self._cells.tell(first + k, box is not None)
            kept = tuple(map(about.get, ("pdb_cryst1", "space_group", "z_value")))
            if box is None:
                record = _joined([no_cell_record()] if had_cell else [])
                last = None
            elif last is None or box is not last[0] or kept != last[1]:
                cell = self._cell(box, about)
                if cell.rotation is not None:
                    return None
                record, last = _joined([self._cell_record(cell, box, head, first + k)]), (box, kept)
            found.append(record)
        return found

    def tail(self) -> bytes:
        """The bonds of all models; or a frame that stayed alone, its bonds, and the end."""
        if (alone := self._waiting) is None:
            return self._bonds
        before, behind = alone.remarks + alone.title, b""
        if not alone.title:  # what stands before all atoms is read as the header
            before, behind = behind, before
        return b"".join((alone.cell, before, alone.atoms, behind, self._bonds, b"END\n"))

    # ------------------------------------------------------------ one frame
    def _frame(self, snapshot: Snapshot, ordinal: int) -> Printed:
        """Cell, text, atoms and bonds of a frame."""
        atoms = snapshot.frame["atoms"] if "atoms" in snapshot.frame else Block(count=0)
        if foreign := foreign_columns(atoms.columns):
            columns = {name: column for name, column in atoms.columns.items() if name not in foreign}
            atoms = Block.of(columns, atoms.count)
        scale = _in_angstrom(snapshot)
        box = snapshot.frame.box
        box = None if box is None or not box.defined else _scaled(box, scale)
        had_cell = self._cells.tell(ordinal, box is not None)
        cell = None if box is None else self._cell(box, snapshot.about)
        lines = [] if box is None or cell is None else [self._cell_record(cell, box, snapshot, ordinal)]
        lines += [no_cell_record()] if cell is None and had_cell else []
        remarks = snapshot.about.get("pdb_remarks", "")
        rotation = None if cell is None else cell.rotation
        positions = self._positions(atoms, scale)
        if rotation is not None:
            positions = rotation @ positions
        else:
            self._check_positions(atoms, positions, scale)
        bonds = snapshot.frame.get("bonds")
        serials = serials_of(atoms, bonds, self._path, ordinal)
        if serials.note is not None:
            self._note(serials.note)
        text = self._printer.atom_lines(atoms, positions, serials, rotation, ordinal)
        title = self._title(snapshot, ordinal, remarks)
        kept = _joined(remarks.split("\n") if remarks else [])
        return Printed(_joined(lines), kept, _joined(title), text, _bond_records(bonds, serials))

    def _positions(self, atoms: Block, scale: float) -> Array:
        """Positions in Å: three rows."""
        if not all(name in atoms for name in "xyz"):
            if atoms.count:
                raise FormatError("the atoms have no positions", path=self._path)
            return np.zeros((3, 0))
        for name in "xyz":
            valid = atoms.column(name).valid
            if valid is not None:
                row = int(np.flatnonzero(~valid)[0])
                raise FormatError(f"atom {row + 1} has no {name}", path=self._path)
        found = np.stack([atoms[name] for name in "xyz"])
        return found if scale == 1.0 else found * scale

    def _check_positions(self, atoms: Block, positions: Array, scale: float) -> None:
        for name, values in zip("xyz", positions, strict=True):
            if name in atoms:
                column = atoms.column(name)
                read = partial(_as_read, values, column.values, scale)
                self._lost.check(f"atoms.{name}", column, read, "positions have three decimals")

    def _cell(self, box: Box, about: Meta) -> Placed:
        cell = placed(box, about.get("pdb_cryst1"))
        if cell.reversed:
            self._note("the cell is left-handed; its third vector is written reversed, which spans the same lattice")
        return cell

    def _cell_record(self, cell: Placed, box: Box, snapshot: Snapshot, ordinal: int) -> str:
        about = snapshot.about
        kept = cell.numbers is about.get("pdb_cryst1")
        group, copies = (about.get("space_group", ""), about.get("z_value")) if kept else ("P 1", 1)
        try:
            record = cell_record(cell.numbers, group, copies, kept=kept)
            loss = lost_of_cell(record, cell, box, exact=box is snapshot.frame.box)
        except ValueError as error:
            raise FormatError(f"CRYST1: {error}", path=self._path, frame=ordinal) from None
        if loss is not None:
            self._lost.add(loss)
        return record

    def _keeps_cell(self, snapshot: Snapshot) -> bool:
        box, kept = snapshot.frame.box, snapshot.about.get("pdb_cryst1")
        if box is None or not box.defined:
            return kept is None
        return kept is not None and placed(_scaled(box, _in_angstrom(snapshot)), kept).numbers is kept

    def _title(self, snapshot: Snapshot, ordinal: int, remarks: str) -> list[str]:
        """The time of the frame and its step, unless lines of the source tell them."""
        time, step = in_picoseconds(snapshot), snapshot.step
        counted = step in (None, ordinal)
        if time is None and (counted or "pdb_model" in snapshot.about):  # frames are numbered by their models
            return []
        told = moment_of(remarks, "" if ordinal else snapshot.about.get("pdb_header", ""))
        if told.time == time and (told.step == step or (told.step is None and counted)):
            return []
        words = ([] if time is None else [f"t= {time!r}"]) + ([] if step is None else [f"step= {step}"])
        return [f"TITLE     {' '.join(words)}"]

    def _note(self, message: str) -> None:
        if all(note.message != message for note in self.notes):
            self.notes.append(Note(message))


def _in_angstrom(snapshot: Snapshot) -> float:
    """By what lengths are multiplied to be in Å; those whose unit is not known are."""
    scale = factor("length", snapshot.units, SYSTEMS["molrec"]) if snapshot.units is not None else None
    return scale or 1.0


def _scaled(box: Box, scale: float) -> Box:
    return box if scale == 1.0 else Box.of(box.vectors * scale, box.origin * scale, box.boundary)


def _as_read(printed: Array, values: Array, scale: float) -> Array:
    """What a reader makes of positions in Å, in the unit of a record: divided, or multiplied as ``--to-units`` does."""
    read = as_printed(printed, POSITION_DECIMALS)
    return read if scale == 1.0 else np.where(read / scale == values, values, read * (1.0 / scale))


_NO_BONDS = b"CONECT\n"
"""What says that a model has no bonds where others have: it binds nothing."""


def _has_atoms(snapshot: Snapshot) -> bool:
    """Whether a frame can be told without MODEL: it has some atom."""
    return "atoms" in snapshot.frame and snapshot.frame["atoms"].count > 0


def _model(snapshot: Snapshot, ordinal: int, printed: Printed, bonds: bytes) -> bytes:
    number = snapshot.about.get("pdb_model", ordinal + 1)
    return b"MODEL %8d\n%b%bENDMDL\n" % (number, b"".join(printed[:4]), bonds)


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _bond_records(bonds: Block | None, serials: Serials) -> bytes:
    if bonds is None or not bonds.count:
        return b""
    one, other = (bonds[name].astype(np.int64) for name in ("atomi", "atomj"))
    orders = _orders(bonds)
    return _joined(bond_lines(one, other, orders, serials.word))


def _orders(bonds: Block) -> Array:
    column: Column | None = bonds.columns.get("bond_number")
    if column is None:
        return np.ones(bonds.count, np.int64)
    orders = np.clip(column.values, 1, HIGHEST_ORDER).astype(np.int64)
    return orders if column.valid is None else np.where(column.valid, orders, 1)
