"""PDB: atoms in fixed columns, one structure or several models.

Reference: https://www.wwpdb.org/documentation/file-format-content/format33/v3.3.html

Decisions: one structure makes a record of one frame, several models a trajectory. Fields are read where they stand;
lines that a number has shifted are mended by the three decimals of positions, and said so. Serials and residue numbers
beyond their columns are decoded (hybrid-36, hexadecimal); stars are null; numbers that begin again at 0 stay as they
are. Negative numbers stand in ``res_seq``. An element comes from columns 77-78; where these are blank, from the name of
a standard residue's atom, of water or of an ion, and with ``--guess elements`` from any name; both are said. Bonds are
those of CONECT records alone. A cell of 1 Å or of zeros is none. MASTER and NUMMDL, which count records, are made
for one file and are not kept; ORIGX and SCALE are kept as text and never applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.elements import NUMBERS
from molrec_convert.model import Block, BlockSpec, Column, Frame, Meta
from molrec_convert.moments import Moment, Moments
from molrec_convert.options import Options
from molrec_convert.stack import Stack, Tiled, tiled_block
from molrec_convert.text.lines import joined
from molrec_convert.text.window import Window

from ._pdb_atoms import AtomReader
from ._pdb_bonds import BONDS, Bonds, bonds_of, read_stated
from ._pdb_cell import Cell, placed, read_cell
from ._pdb_columns import UNLESS_BLANK, ColumnMaker
from ._pdb_index import FrameFinder, Place
from ._pdb_lines import COLUMNS, NAME, foreign_columns
from ._pdb_serials import unfit_ids
from ._pdb_text import Between, betweens_of, kept_text, moment_of, sorted_out, tensors_of
from ._pdb_writer import HIGHEST_ORDER, META, PdbExporter, in_picoseconds

SIGNED = ("atom_id", "res_seq")
"""Columns that stand beside canonical ones for their negative numbers."""
NO_META = Meta()
DECIMALS = (3, 4, 5, 6)
"""Numbers of decimals that positions may be written with; eight columns hold no more."""

KNOWN = frozenset(
    b"ATOM HETATM ANISOU TER HEADER TITLE REMARK CRYST1 MODEL COMPND AUTHOR SOURCE KEYWDS EXPDTA OBSLTE CAVEAT SPLIT "
    b"NUMMDL MDLTYP REVDAT SPRSDE JRNL DBREF SEQADV SEQRES MODRES HET HETNAM HETSYN FORMUL HELIX SHEET SSBOND LINK "
    b"CISPEP SITE ORIGX1 ORIGX2 ORIGX3 SCALE1 SCALE2 SCALE3 MTRIX1 MTRIX2 MTRIX3 ENDMDL END CONECT MASTER USER "
    b"DBREF1 DBREF2 TURN".split()
)
"""Records by which a file is recognised."""
ATOM_LINE = re.compile(
    rb"^(?:ATOM|HETATM).{24,26}[ 0-9A-Za-z] *[-+]?[0-9]*\.[0-9]+ *[-+]?[0-9]*\.[0-9]+ *[-+]?[0-9]*\.[0-9]+", re.M | re.I
)


class PdbImporter:
    """Reads a PDB file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self._atoms = AtomReader(path)
        self._columns = ColumnMaker(options)
        self._last_header: tuple[bytes, str] = b"", ""
        self._last_cell: tuple[tuple[bytes, int], Cell] | None = None
        self._last_about: tuple[tuple[str, str, Cell | None, bool], Meta] | None = None
        self._last_bonds: tuple[tuple[bytes, Column | None], Bonds] | None = None

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames; see `molrec_convert.adapter.Importer.index`."""
        return FrameFinder(window, self._path, keep=keep).spans()

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        place: Place = span.context
        data = self._checked(span.data or b"", span)
        atoms = self._atoms.read(data, span.line, span.ordinal)
        between = sorted_out(data, atoms.others, span.line, first=not span.ordinal)
        columns = self._columns.columns(atoms)
        if between.tensors:
            tensors, notes = tensors_of(data, atoms.others, atoms.rows, span.line)
            columns |= {} if tensors is None else {"anisou": tensors}
            atoms.notes += notes
        if between.ends:
            ends = np.zeros(atoms.rows, np.bool_)
            ends[between.ends] = True
            columns["ter_after"] = Column.of(ends)
        blocks = {"atoms": Block.of(columns, atoms.rows)}
        bonds = self._bonds(place, between, columns.get("id"), atoms.styles.get("serial", ""))
        if bonds.block is not None:
            blocks["bonds"] = bonds.block
        cell = self._cell(between.cell or place.cell)
        about = self._about(place, between, cell)
        snapshot = Snapshot(
            Frame.of(blocks, None if cell is None else cell.box, Meta()), about=about, units={"length": "angstrom"}
        )
        texts = about.get("pdb_remarks", ""), "" if span.ordinal else about.get("pdb_header", "")
        snapshot.time, snapshot.step = moment_of(*texts)
        if snapshot.time is not None:
            snapshot.units = {"length": "angstrom", "time": "ps"}
        snapshot.notes = [*place.notes, *atoms.notes, *between.notes, *bonds.notes]
        if cell is not None and cell.note:
            snapshot.notes.append(Note(cell.note))
        if self._options.sample_decimals:
            snapshot.decimals = _decimals(columns)
        return snapshot

    # ------------------------------------------------------------ small frames together
    def kind(self, span: Span) -> object:
        """Which models are decoded together; see `molrec_convert.stack.StackImporter`."""
        place: Place = span.context
        if not span.ordinal or place.model is None or place.tail or place.notes or self._options.sample_decimals:
            return None
        return place.header, place.bonds, place.shared_bonds

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """Decode models together; see `molrec_convert.stack.StackImporter`."""
        frames, texts = len(spans), [span.data or b"" for span in spans]
        data = joined(texts)
        if b"\0" in data or b"\t" in data or not all(text.endswith(b"\n") for text in texts):
            return None
        found = self._atoms.read_stack(data, frames)
        between = None if found is None else betweens_of(texts, found.others, found.one.rows)
        if found is None or between is None:
            return None
        one = found.one
        columns = self._columns.columns(one)
        moving = {name: Column.of(values) for name, values in found.moving.items() if name in columns}
        stacked = {name: moving.get(name) or Tiled(column, frames) for name, column in columns.items()}
        first = between[0]
        if first.ends:
            ends = np.zeros((frames, one.rows), np.bool_)
            ends[:, first.ends] = True
            stacked["ter_after"] = Column.of(ends.ravel())
        blocks = {"atoms": Block.of(stacked, frames * one.rows)}
        bonds = self._bonds(spans[0].context, first, columns.get("id"), "")
        if bonds.block is not None:
            blocks["bonds"] = tiled_block(bonds.block, frames)
        moments = [self._moment(span.context, each) for span, each in zip(spans, between, strict=True)]
        timed = moments[0].time is not None
        if bonds.notes or any((moment.time is not None) != timed for moment in moments):
            return None
        units = {"length": "angstrom", **({"time": "ps"} if timed else {})}
        return Stack(blocks, Moments.of(moments), units, one.notes)

    def _moment(self, place: Place, between: Between) -> Moment:
        cell = self._cell(between.cell or place.cell)
        if cell is not None and cell.note:
            raise ValueError("what is noticed of a cell is told of its own frame")
        about = self._about(place, between, cell)
        time, step = moment_of(about.get("pdb_remarks", ""))
        return Moment(step, time, None if cell is None else cell.box, NO_META, about)

    # ------------------------------------------------------------ the parts of a frame
    def _checked(self, data: bytes, span: Span) -> bytes:
        """The bytes of a frame, tabs made blanks."""
        if b"\0" in data:
            line = span.line + data.count(b"\n", 0, data.index(b"\0"))
            raise FormatError("a NUL stands in the text", path=self._path, line=line, frame=span.ordinal)
        if b"\t" not in data:
            return data
        place: Place = span.context
        place.notes.append(Note("tabs are taken for blanks up to the next eighth column", frame=span.ordinal))
        return b"\n".join(line.expandtabs(8) for line in data.split(b"\n"))

    def _bonds(self, place: Place, between: Between, ids: Column | None, style: str) -> Bonds:
        records = b"\n".join([*between.bonds, place.bonds]) if between.bonds or place.bonds else place.shared_bonds
        last = self._last_bonds
        if last is not None and last[0][0] == records and last[0][1] is ids:
            return last[1]
        bonds = bonds_of(read_stated(records, ids, style), ids) if records else Bonds(None, [])
        self._last_bonds = ((records, ids), bonds)
        return bonds

    def _cell(self, record: tuple[bytes, int] | None) -> Cell | None:
        if record is None:
            return None
        last = self._last_cell
        if last is not None and last[0][0] == record[0]:
            return last[1]
        cell = read_cell(record[0], path=self._path, line=record[1])
        self._last_cell = (record, cell)
        return cell

    def _header(self, text: bytes) -> str:
        last = self._last_header
        if last[0] is not text:
            last = self._last_header = text, kept_text(text.split(b"\n"))
        return last[1]

    def _about(self, place: Place, between: Between, cell: Cell | None) -> Meta:
        """What the exporter restores; most of it is made once for frames that say the same."""
        header, model = self._header(place.header), place.model
        remarks = kept_text([*between.kept, *place.tail.split(b"\n")])
        key = header, remarks, cell, model is None
        last = self._last_about
        if last is not None and last[0] == key:
            own = {} if model is None else {"pdb_model": model}
            return last[1].joined(Meta.of(own, dict.fromkeys(own, "i64")))
        about: dict[str, Any] = {}
        about |= {"pdb_header": header} if header else {}
        about |= {"pdb_remarks": remarks} if remarks else {}
        about |= {"pdb_model": model} if model is not None else {}
        if cell is not None and cell.box is not None:
            about["pdb_cryst1"] = cell.numbers
            about |= {"space_group": cell.group} if cell.group else {}
            about |= {"z_value": cell.copies} if cell.copies is not None else {}
        made = Meta(about)
        self._last_about = key, made
        return made


def _decimals(columns: dict[str, Column]) -> dict[str, int]:
    """The fewest decimals that give the positions as they are."""
    values = np.concatenate([columns[name].values for name in "xyz"])
    for decimals in DECIMALS:
        if np.array_equal(np.round(values, decimals), values):
            return dict.fromkeys("xyz", decimals)
    return {}


def _looks_like_pdb(head: bytes) -> bool:
    """Whether lines are records of the format: positions in an atom line, or known names before the first one."""
    if b"_atom_site." in head:
        return False
    if ATOM_LINE.search(head):
        return True
    lines = [line for line in head.split(b"\n")[:200] if line.strip()]
    known = sum(line[:6].upper().rstrip() in KNOWN for line in lines)
    return bool(lines) and lines[0][:6].upper().rstrip() in KNOWN and known >= 0.9 * len(lines)


def _lost(contents: Contents) -> Iterator[Loss]:
    """What depends on more than names: types are printed where there are no names, text only where it is not blank."""
    yield from (Loss(f"atoms.{name}", "all of it is blank") for name in UNLESS_BLANK if _is_blank(contents, name))
    if any(map(_is_turned, contents.snapshots)):
        yield Loss("orientation of the cell", "the format fixes it; the cell is turned, together with the positions")
    atoms, bonds = (contents.schema.blocks.get(name, BlockSpec()).columns for name in ("atoms", "bonds"))
    yield from (Loss(f"atoms.{name}", "the format has another column of this name") for name in foreign_columns(atoms))
    if "type" in atoms:
        written = "name" not in atoms and all(map(_types_are_names, contents.snapshots))
        yield Loss("name of atoms.type" if written else "atoms.type", "the format holds the names of atoms")
    if "element" in atoms and any(map(_has_unknown_element, contents.snapshots)):
        yield Loss("atoms.element", "some are symbols of no element")
    for name, spec in atoms.items():
        if spec.nullable and spec.dtype == "string" and name in COLUMNS - {"element", "type"}:
            yield Loss(f"nulls of atoms.{name}", "a blank field is an empty text")
    for snapshot in contents.snapshots:
        ids = snapshot.frame["atoms"].columns.get("id") if "atoms" in snapshot.frame else None
        if ids is not None and (why := unfit_ids(ids, snapshot.frame.get("bonds"))):
            yield Loss("atoms.id", why)
            if ids.valid is not None:
                yield Loss("nulls of atoms.id", why)
        for name in SIGNED:
            if "atoms" in snapshot.frame and not _has_negative(snapshot.frame["atoms"], name):
                yield Loss(f"name of atoms.{name}", "a reader takes it for the canonical one")
    if any(each.time is not None and in_picoseconds(each) is None for each in contents.snapshots):
        yield Loss("time", "the format has picoseconds, and the unit of the time is not known")
    for name in bonds:
        if name not in BONDS:
            yield Loss(f"bonds.{name}", "the format states which atoms are bound, and the order")
    if "bond_number" in bonds and any(map(_has_odd_order, contents.snapshots)):
        yield Loss("bonds.bond_number", f"bonds are stated once to {HIGHEST_ORDER} times")


def _has_negative(atoms: Block, name: str) -> bool:
    """Whether a signed column, where it is one, has need to be."""
    column = atoms.columns.get(name)
    return column is None or column.dtype != "i64" or bool((column.values < 0).any())


def _types_are_names(snapshot: Snapshot) -> bool:
    atoms = snapshot.frame.get("atoms")
    kinds = None if atoms is None else atoms.columns.get("type")
    return kinds is None or (kinds.valid is None and all(0 < len(word) <= NAME for word in set(kinds.values.tolist())))


def _has_unknown_element(snapshot: Snapshot) -> bool:
    atoms = snapshot.frame.get("atoms")
    column = None if atoms is None else atoms.columns.get("element")
    if column is None:
        return False
    words = set((column.values if column.valid is None else column.values[column.valid]).tolist())
    return not words <= NUMBERS.keys()


def _has_odd_order(snapshot: Snapshot) -> bool:
    bonds = snapshot.frame.get("bonds")
    column = None if bonds is None else bonds.columns.get("bond_number")
    return column is not None and bool(((column.values < 1) | (column.values > HIGHEST_ORDER)).any())


def _is_blank(contents: Contents, name: str) -> bool:
    """Whether a column of text is there and says nothing of any atom."""
    columns = [
        snapshot.frame["atoms"].columns.get(name) for snapshot in contents.snapshots if "atoms" in snapshot.frame
    ]
    found = [column for column in columns if column is not None and len(column)]
    return bool(found) and not any((column.values != "").any() for column in found)


def _is_turned(snapshot: Snapshot) -> bool:
    box = snapshot.frame.box
    if box is None or not box.defined:
        return False
    cell = placed(box, snapshot.about.get("pdb_cryst1"))
    return cell.rotation is not None or cell.reversed


FORMAT = Adapter(
    name="pdb",
    summary="Protein Data Bank, one structure or models",
    reference="https://www.wwpdb.org/documentation/file-format-content/format33/v3.3.html",
    patterns=("*.pdb", "*.ent", "*.pdb1", "*.brk"),
    not_patterns=("*.pqr", "*.pdbqt"),
    sniff=_looks_like_pdb,
    series=False,
    carries=Carries(
        columns=COLUMNS,
        vectors=True,
        blocks=frozenset(("bonds",)),
        meta=META,
        box=True,
        no_box=True,
        step=True,
        time=True,
        frames=True,
        varying=True,
        nulls=True,
    ),
    lost=_lost,
    layout=frozenset(("pdb_cryst1", "pdb_model")),
    importer=PdbImporter,
    exporter=PdbExporter,
    options=frozenset(("guess", "type_map")),
    role="structure",
)
