"""Writing XYZ: the source's own comment line and columns as long as they say what the frame says, else extended XYZ.

References: https://github.com/libAtoms/extxyz#extended-xyz-specification; what ASE, OVITO and MDAnalysis take.

Decisions: ``Lattice`` is nine numbers in quotes, a, b and c after one another. Reals have the fewest digits that read
back exactly. Known energies, forces, velocities and pressures are brought to eV, eV/Å, Å/fs and eV/Å³, which other
programs expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError, LossError, RecordError
from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.names import META_QUANTITIES, QUANTITIES
from molrec_convert.mapping.units import factor
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.dtypes import STRING
from molrec_convert.model.meta import same_value
from molrec_convert.model.precision import decimals_of
from molrec_convert.model.schema import promoted
from molrec_convert.options import Options
from molrec_convert.stack import Stack, part_of, repeats
from molrec_convert.text.lines import parts_of
from molrec_convert.text.table import format_table

from ._xyz_again import HeaderReader
from ._xyz_cell import box_of_vectors
from ._xyz_columns import properties_text
from ._xyz_dialects import units_of
from ._xyz_header import ENERGY, EXTENDED_UNITS, OWN, PREFIX, RENAMED, Header, is_special
from ._xyz_labels import EMPTY, listed
from ._xyz_layout import (
    UNKNOWN_VELOCITY,
    VELOCITY,
    Written,
    are_numbers,
    kept_layout,
    made_layout,
    plain_layout,
    present_columns,
)
from ._xyz_numbers import style_of
from ._xyz_rows import REST, derived_columns
from ._xyz_values import CONTROL, key_text, value_text
from ._xyz_words import WordTable

Array = np.ndarray[Any, Any]
Cell = Array | tuple[Array, list[bytes]]
Style = str | int | None

WRITTEN_UNITS = {**EXTENDED_UNITS, "velocity": "angstrom/fs", "pressure": "eV/angstrom^3"}
"""What the numbers of an extended file are in."""
KEYS = {target: key for key, target in ENERGY.items()}
MATRICES = ("stress", "virial")
"""Keys that other programs take for nine numbers only."""
VOIGT = (0, 5, 4, 5, 1, 3, 4, 3, 2)
"""Which of xx, yy, zz, yz, xz and xy the nine components of a symmetric matrix are."""
NULL = "?"
"""The word of a row without a value."""
UNKNOWN = "X"
"""The label of an atom that nothing names."""
LABELS = ("element", "type", "name")
"""What an atom is called by, the first that it has."""


class XyzExporter:
    """Writes XYZ; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self.notes: list[Note] = []
        self._left_out: dict[str, None] = {}
        self._words, self._words_of_one = WordTable(), WordTable()
        self._headers = HeaderReader()

    def head(self, first: Snapshot) -> bytes:
        """Nothing stands before the first frame."""
        del first
        return b""

    def tail(self) -> bytes:
        """Nothing stands after the last one."""
        if self._left_out:
            self.notes.append(Note(f"plain XYZ leaves out {listed(list(self._left_out), most=20)}"))
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """One frame."""
        atoms = snapshot.frame.get("atoms", Block(count=0))
        columns = present_columns(atoms, snapshot.about, self._words)
        source = self._source(snapshot)
        numbers = snapshot.about.get("xyz_numbers")
        spellings = numbers if isinstance(numbers, dict) else {}
        scales, title, behind = Scales(snapshot.units, spellings), "", b""
        layout = None
        if source is not None and not self._options.plain:
            layout = kept_layout(source, snapshot.about, columns, self._words)
        if self._options.plain:
            layout = plain_layout(columns)
            comment = self._free_comment(source, snapshot)
            self._leave_out(self._not_said(layout, columns, snapshot, comment))
        elif source is not None and layout is not None and _agrees(source, snapshot):
            comment, scales = source.comment, Scales(None, spellings, source)
            title, behind = str(snapshot.about.get("xyz_title", "")), _vector_lines(snapshot)
        else:
            self._check_rest(columns, ordinal)
            layout = made_layout(source, snapshot.about, columns, self._words, velocity=scales.velocity)
            comment = extended_comment(layout, snapshot, source, scales)
        head = f"{atoms.count} {title}".rstrip() + f"\n{comment}\n"
        if not atoms.count:
            return head.encode() + behind
        cells: list[Cell] = []
        styles: list[Style] = []
        for written in layout:
            for values, style in self._printed(written, columns, snapshot, scales, ordinal):
                cells.append(values)
                styles.append(style)
        return head.encode() + format_table(cells, styles) + behind

    # ------------------------------------------------------------ small frames together
    def encode_stack(self, stack: Stack, first: int) -> bytes | None:
        """Frames together; see `molrec_convert.stack.StackExporter`."""
        atoms, frames = stack.blocks.get("atoms"), len(stack)
        if atoms is None or not atoms.count or self._options.plain or not _are_alike(atoms, frames):
            return None
        heads = [stack.head(k) for k in range(frames)]
        sources = [self._source(head) for head in heads]
        source, about, numbers = sources[0], heads[0].about, heads[0].about.get("xyz_numbers")
        if any((each is None) != (source is None) for each in sources) or "xyz_vec" in about or "xyz_title" in about:
            return None
        if any(head.about.get("xyz_numbers") != numbers for head in heads):
            return None
        spellings = numbers if isinstance(numbers, dict) else {}
        one = part_of(atoms, 0, frames)
        columns = present_columns(one, about, self._words_of_one)
        kept = [each is not None and _agrees(each, head) for each, head in zip(sources, heads, strict=True)]
        layout = None if source is None else kept_layout(source, about, columns, self._words_of_one)
        if source is not None and layout is not None and all(kept):
            if not all(each is not None and source.says_same_columns(each) for each in sources):
                return None
            scales = Scales(None, spellings, source)
            comments = [each.comment for each in sources if each is not None]
        elif layout is None or not any(kept):
            if source is not None and not all(each is not None and source.says_same_columns(each) for each in sources):
                return None
            scales = Scales(stack.units, spellings)
            layout = made_layout(source, about, columns, self._words_of_one, velocity=scales.velocity)
            pairs = zip(heads, sources, strict=True)
            comments = [extended_comment(layout, head, each, scales) for head, each in pairs]
        else:
            return None
        covered = {target for written in layout for target in written.targets}
        if columns.keys() - covered - {"element", "type"} or REST.name in columns:
            return None  # what else they say depends on the numbers of each frame
        cells = self._cells(
            layout, Block.of({name: atoms.column(name) for name in columns}, atoms.count), stack, scales
        )
        if cells is None:
            return None
        number = one.count
        texts = parts_of(format_table([cell for cell, _ in cells], [style for _, style in cells]), number)
        lines = zip(comments, texts, strict=True)
        return b"".join([b"%d\n%b\n%b" % (number, comment.encode(), text) for comment, text in lines])

    def _cells(
        self, layout: Sequence[Written], atoms: Block, stack: Stack, scales: Scales
    ) -> list[tuple[Cell, Style]] | None:
        """The columns of the file for all frames; None where the numbers of some frames may be printed otherwise."""
        whole = Snapshot(Frame.of({"atoms": atoms}, None, Meta()), about=stack.moments[0].about, units=stack.units)
        columns = dict(atoms.columns)
        found: list[tuple[Cell, Style]] = []
        for written in layout:
            reals = [columns[target] for target in written.targets if columns[target].dtype == "f64"]
            if written.property.letter == "I" and reals:
                return None
            try:
                found += self._printed(written, columns, whole, scales, 0)
            except FormatError:
                return None
        return found if scales.are_kept else None

    # ------------------------------------------------------------ the source's comment line
    def _source(self, snapshot: Snapshot) -> Header | None:
        """What the source's comment line states; None where there is none that can be written again."""
        comment = snapshot.about.get("xyz_comment")
        if not isinstance(comment, str) or "\n" in comment or "\r" in comment:
            return None
        try:
            return self._headers.read(comment)
        except (ValueError, RecordError):
            return None

    def _free_comment(self, source: Header | None, snapshot: Snapshot) -> str:
        """The comment line of a plain file: the source's, else a title."""
        if source is not None and source.properties is None and not source.extended and _agrees(source, snapshot):
            return source.comment
        texts = [snapshot.about.get(key) for key in ("comment", "title")]
        return next((text for text in texts if isinstance(text, str) and not CONTROL.search(text)), "")

    def _leave_out(self, items: list[str]) -> None:
        if items and self._options.strict:
            raise LossError(f"plain XYZ cannot hold {', '.join(items)}")
        self._left_out.update(dict.fromkeys(items))

    def _not_said(
        self, layout: Sequence[Written], columns: Mapping[str, Column], snapshot: Snapshot, comment: str
    ) -> list[str]:
        """What a plain file does not say of a frame, unless its comment line is the source's."""
        about = snapshot.about
        written = {target for each in layout for target in each.targets}
        numbers = [name for name in LABELS if name in columns and self._are_numbers(name, columns[name], about)]
        labels = [name for name in LABELS if name not in numbers]
        found = [f"atoms.{name}" for name in columns if name not in written and name not in labels]
        if about.get("xyz_comment") != comment:
            found += [key for key in snapshot.frame.meta if key not in OWN and snapshot.frame.meta[key] != comment]
            found += ["time"] if snapshot.time is not None else []
            found += ["box"] if snapshot.frame.box is not None else []
        return found

    # ------------------------------------------------------------ the columns
    def _printed(
        self, written: Written, columns: dict[str, Column], snapshot: Snapshot, scales: Scales, ordinal: int
    ) -> list[tuple[Cell, Style]]:
        """The columns of the file for a property, each with its style."""
        count = snapshot.frame["atoms"].count
        if not written.targets:
            return [(self._labels(columns, snapshot.about, count), None)]
        found: list[tuple[Cell, Style]] = []
        for target in written.targets:
            column = columns[target]
            for part, values in enumerate(column.values.reshape(count, -1).T):
                found.append(self._column(written, target, column, values, scales, ordinal, part))
        return found

    def _column(
        self, written: Written, target: str, column: Column, values: Array, scales: Scales, ordinal: int, part: int
    ) -> tuple[Cell, Style]:
        valid = column.valid
        if column.dtype == "string":
            texts = values if column.trailing else column.values
            if valid is not None:
                texts = np.where(valid, texts, np.array(NULL, dtype=STRING))
            return self._text(written, target, texts), None
        if values.dtype.kind == "b":
            return (values if valid is None else values & valid), None
        if values.dtype.kind in "iu":
            if not scales.restores:
                self._check_range(target, values, ordinal)
            return (values if valid is None else np.where(valid, values, 0)), None
        if written.property.letter == "I":
            return values.astype(np.int64), None
        if valid is not None:
            values = np.where(valid, values, np.nan)
        values, own = scales.applied(target, values)
        if self._options.decimals is not None:
            return values, self._options.decimals
        if own and column.precision is not None:
            return values, decimals_of(column.precision)
        return values, scales.style(target, values, part) or "r"

    def _text(self, written: Written, target: str, values: Array) -> Cell:
        codes, words = self._words.coded(target, values)
        empty = "" if written.property == REST else EMPTY
        return codes, [(word or empty).encode() for word in words]

    def _labels(self, columns: dict[str, Column], about: Mapping[str, Any], count: int) -> Cell:
        """The labels of atoms that no column holds as they are written."""
        columns = {**derived_columns(columns), **columns}  # elements of atomic numbers
        present = [name for name in LABELS if name in columns]
        names = [name for name in present if not self._are_numbers(name, columns[name], about)]
        if present and not names:
            self._note(f"the {present[0]}s are numbers and no elements; {UNKNOWN} stands in their place")
        if not names:
            return np.zeros(count, np.int32), [UNKNOWN.encode()]
        known = [columns[name] for name in names]
        name, values = names[0], known[0].values
        if known[0].valid is not None:
            name, values = "labels", np.full(count, UNKNOWN, dtype=STRING)
            for column in reversed(known):
                there = np.ones(count, bool) if column.valid is None else column.valid
                values = np.where(there & (column.values != ""), column.values, values)
        codes, words = self._words.coded(name, values)
        return codes, [(word or UNKNOWN).encode() for word in words]

    def _are_numbers(self, name: str, column: Column, about: Mapping[str, Any]) -> bool:
        return name != LABELS[0] and are_numbers(name, column, about, self._words)

    def _note(self, message: str) -> None:
        if all(note.message != message for note in self.notes):
            self.notes.append(Note(message))

    def _check_rest(self, columns: dict[str, Column], ordinal: int) -> None:
        """Refuse a column of several words that does not stand at the end of lines any more."""
        column = columns.get(REST.name)
        if column is None or column.dtype != "string" or self._words.are_words(REST.name, column.values):
            return
        codes, words = self._words.coded(REST.name, column.values)
        wrong = next(code for code, word in enumerate(words) if word and word.split() != [word])
        row = int(np.flatnonzero(codes == wrong)[0])
        message = f"column {REST.name}: {words[wrong]!r} of atom {row + 1} is not one word, which an atom line needs"
        raise FormatError(message, path=self._path, frame=ordinal)

    def _check_range(self, name: str, values: Array, ordinal: int) -> None:
        if values.dtype == np.uint64 and values.size and values.max() >= 2**63:
            row = int(np.flatnonzero(values >= 2**63)[0])
            message = f"column {name}: {values[row]} of atom {row + 1} does not fit a signed 64-bit integer"
            raise FormatError(message, path=self._path, frame=ordinal)


class Scales:
    """By what numbers of a record are multiplied on their way into a file, or what they were multiplied by.

    Parameters
    ----------
    units
        The units of the record, where numbers are brought to those of the format.
    spellings
        How the source spells the reals of its columns.
    source
        The comment line that is written again, whose own numbers are restored.
    """

    def __init__(self, units: Any, spellings: Mapping[str, Any], source: Header | None = None) -> None:
        self._units = units
        self._spellings = spellings
        self._source = source
        self.are_kept = True
        """Whether all numbers could be spelled as the source spells them."""

    @property
    def restores(self) -> bool:
        """Whether the source's own columns are written again."""
        return self._source is not None

    @property
    def velocity(self) -> str:
        """What velocities are called: QUIP's name for Å/fs, another one where the unit is not known."""
        return UNKNOWN_VELOCITY if self._factor("velocity") is None else "velo"

    def of(self, quantity: str | None) -> float:
        """The factor of a quantity."""
        return 1.0 if quantity is None else self._factor(quantity) or 1.0

    def applied(self, target: str, values: Array) -> tuple[Array, bool]:
        """The numbers of a column as they are written, and whether they are the record's own."""
        if self._source is not None:
            scaled = self._source.scale != 1.0 and target in ("x", "y", "z")
            return (undone(values, self._source.scale), False) if scaled else (values, True)
        by = self.of(QUANTITIES.get(target))
        return (values, True) if by == 1.0 else (values * by, False)

    def style(self, target: str, values: Array, part: int) -> Style:
        """How the source spells the numbers of a column; None where it is not known, or not exact."""
        if target not in self._spellings:
            return None
        style = style_of(self._spellings[target], values, part)
        self.are_kept &= style is not None
        return style

    def _factor(self, quantity: str) -> float | None:
        return None if self._units is None else factor(quantity, self._units, WRITTEN_UNITS)


def _are_alike(atoms: Block, frames: int) -> bool:
    """Whether frames are written in one way: no value is missing, and all texts stay."""
    return all(
        column.valid is None and (column.dtype != "string" or repeats(column, frames))
        for column in atoms.columns.values()
    ) and ("momenta" not in atoms or not set(VELOCITY) & atoms.keys())  # which may follow from one another


# ---------------------------------------------------------------- whether the source's comment line still holds
def _agrees(source: Header, snapshot: Snapshot) -> bool:
    box = source.box
    if box is None and (vectors := snapshot.about.get("xyz_vec")):
        box = box_of_vectors(vectors)[0]
    units = units_of(source)
    return (
        source.step in (None, snapshot.step)
        and same_value(source.time, snapshot.time)
        and _same_box(box, snapshot.frame.box)
        and all(units.get(quantity, unit) == unit for quantity, unit in (snapshot.units or {}).items())
        and _same_meta(source, snapshot.frame.meta)
    )


def _same_box(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        found = one if one is not None else other
        return found is None or (not found.defined and not found.origin.any())
    return one is other or one.same(other)


def _same_meta(source: Header, meta: Meta) -> bool:
    if source.values.keys() != {key for key in meta if key not in OWN}:
        return False
    return all(_same(value, source.tags[key], meta[key], meta.tag(key), key) for key, value in source.values.items())


def _same(value: Any, tag: str, other: Any, other_tag: str, key: str) -> bool:
    if tag != other_tag:
        try:
            value = promoted(value, tag, other_tag, key)
        except RecordError:
            return False
    return same_value(value, other)


# ---------------------------------------------------------------- a new comment line
def extended_comment(layout: Sequence[Written], snapshot: Snapshot, source: Header | None, scales: Scales) -> str:
    """A comment line of keys and values for a frame: its cell, its columns, its moment and its values."""
    box, meta = snapshot.frame.box, snapshot.frame.meta
    parts = []
    if box is not None and box.defined:
        parts.append(f'Lattice="{_numbers(box.vectors.T.ravel() * scales.of("length"))}"')
    if box is not None and box.origin.any():
        parts.append(f'Origin="{_numbers(box.origin * scales.of("length"))}"')
    parts.append(f"Properties={properties_text([written.property for written in layout])}")
    if snapshot.step is not None and (source is None or source.step is not None):
        parts.append(f"step={snapshot.step}")
    if snapshot.time is not None:
        parts.append(f"time={value_text(float(snapshot.time))}")
        unit = (snapshot.units or {}).get("time")
        parts += [f"time-unit={value_text(unit)}"] if unit is not None else []
    for key, value in meta.items():
        if key in OWN or value is None:
            continue
        if key in MATRICES and isinstance(value, tuple) and len(value) == len(set(VOIGT)):
            value = tuple(value[place] for place in VOIGT)
        text = value_text(_scaled(value, scales.of(META_QUANTITIES.get(key))))
        name = KEYS.get(key, RENAMED.get(key, key))
        is_flags = name == "pbc" and isinstance(value, tuple) and (box is None or not box.defined)
        taken = is_special(name, text.strip('"')) and not is_flags
        parts.append(f"{key_text(PREFIX + name if taken else name)}={text}")
    if source is not None and source.properties is None and not source.extended and "comment" not in meta:
        parts += [f"comment={value_text(source.comment)}"] if source.comment.strip() else []
    if box is not None and box.defined:
        parts.append(f'pbc="{" ".join("T" if flag else "F" for flag in box.boundary.tolist())}"')
    return " ".join(parts)


def _scaled(value: Any, by: float) -> Any:
    """A real, or a vector of reals, in another unit; any other value as it is."""
    items = value if isinstance(value, tuple) else (value,)
    if by == 1.0 or not all(isinstance(item, float) for item in items):
        return value
    return tuple(item * by for item in items) if isinstance(value, tuple) else value * by


def _numbers(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)


def _vector_lines(snapshot: Snapshot) -> bytes:
    """The cell vectors behind the atoms, as the source had them."""
    vectors = snapshot.about.get("xyz_vec") or []
    lines = [f"VEC{k + 1} {' '.join(repr(float(value)) for value in vector)}\n" for k, vector in enumerate(vectors)]
    return "".join(lines).encode()
