"""Writing XYZ: the source's own comment line and columns as long as they say what the frame says, else extended XYZ.

References: https://github.com/libAtoms/extxyz#extended-xyz-specification; what ASE, OVITO and MDAnalysis take.

Decisions: ``Lattice`` is nine numbers in quotes, a, b and c after one another. Reals have the fewest digits that read
back exactly. Known energies, forces, velocities and pressures are brought to eV, eV/Å, Å/fs and eV/Å³, which other
programs expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.errors import FormatError, LossError, RecordError
from molrec_convert.model import Block, Column, Frame, Meta
from molrec_convert.model.dtypes import STRING
from molrec_convert.model.precision import decimals_of
from molrec_convert.options import Options
from molrec_convert.stack import Stack, part_of, repeats
from molrec_convert.text.lines import joined, parts_of
from molrec_convert.text.table import format_table

from ._xyz_again import HeaderReader
from ._xyz_header import OWN, Header
from ._xyz_labels import EMPTY, listed
from ._xyz_layout import (
    VELOCITY,
    Written,
    are_numbers,
    kept_layout,
    made_layout,
    plain_layout,
    present_columns,
)
from ._xyz_rows import REST, derived_columns
from ._xyz_said import Agreement, extended_comment, vector_lines
from ._xyz_scales import Scales, Style
from ._xyz_values import CONTROL
from ._xyz_words import WordTable

Array = np.ndarray[Any, Any]
Cell = Array | tuple[Array, list[bytes]]
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
        self._agreement = Agreement()

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
        elif source is not None and layout is not None and self._agreement.holds(source, snapshot):
            comment, scales = source.comment, Scales(None, spellings, source)
            title, behind = str(snapshot.about.get("xyz_title", "")), vector_lines(snapshot)
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
        kept = [
            each is not None and self._agreement.holds(each, head) for each, head in zip(sources, heads, strict=True)
        ]
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
        tops = (b"%d\n%b\n" % (number, comment.encode()) for comment in comments)
        return joined(chain.from_iterable(zip(tops, texts, strict=True)))

    def _cells(
        self, layout: Sequence[Written], atoms: Block, stack: Stack, scales: Scales
    ) -> list[tuple[Cell, Style]] | None:
        """The columns of the file for all frames; None where the numbers of some frames may be printed otherwise."""
        whole = Snapshot(Frame.of({"atoms": atoms}, None, Meta()), about=stack.moments.abouts[0], units=stack.units)
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
        if (
            source is not None
            and source.properties is None
            and not source.extended
            and self._agreement.holds(source, snapshot)
        ):
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


def _are_alike(atoms: Block, frames: int) -> bool:
    """Whether frames are written in one way: no value is missing, and all texts stay."""
    return all(
        column.valid is None and (column.dtype != "string" or repeats(column, frames))
        for column in atoms.columns.values()
    ) and ("momenta" not in atoms or not set(VELOCITY) & atoms.keys())  # which may follow from one another
