"""XYZ and extended XYZ: a number of atoms, a comment line, a line an atom; frame after frame.

References: https://en.wikipedia.org/wiki/XYZ_file_format, https://github.com/libAtoms/extxyz

Decisions: what the comment line means is told in `_xyz_header`, what labels are in `_xyz_labels`, which column is which
in `_xyz_columns`, what may stand between frames in `_xyz_frames`. Columns that nothing declares are kept as ``col_5``
and so on: reals where the first line has a number, else text. The comment line itself is kept, and written back as long
as it says what the frame says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError, OptionError
from molrec_convert.model import Block, Box, Frame, Meta
from molrec_convert.moments import Moment, Moments
from molrec_convert.options import Options
from molrec_convert.stack import Stack, rows_repeat, text_of
from molrec_convert.text.lines import BOM, decoded
from molrec_convert.text.table import FORTRAN, MATHEMATICA, ScanError, scan_table
from molrec_convert.text.window import Window

from ._lammps import Style
from ._xyz_again import HeaderReader
from ._xyz_cell import box_of_vectors
from ._xyz_columns import PLAIN, ROWS, SPECIES, Plan, Property, plan_of, properties_text
from ._xyz_dialects import units_of
from ._xyz_frames import FrameText, FrameWalk, begins_frame, ends_alike, head_of, is_origin
from ._xyz_header import OWN, Header
from ._xyz_labels import TextReader
from ._xyz_lost import lost
from ._xyz_numbers import Spelling, fixed_only, spellings_of
from ._xyz_rows import REST, RowError, are_alike, base_properties, columns_of, plain_properties, split_ragged, width_of
from ._xyz_writer import XyzExporter

ROW = "an atom line"
DIALECT = FORTRAN | MATHEMATICA


@dataclass(slots=True)
class Lines:
    """A frame before its lines are scanned: its text, its comment line, its columns and how their reals are spelled."""

    text: FrameText
    header: Header
    plan: Plan
    numbers: dict[str, Spelling] = field(default_factory=dict)


class XyzImporter:
    """Reads an XYZ file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self._texts = TextReader(options.type_map, path)
        self._style = Style(options.units) if options.units is not None else None
        if self._style is not None and self._style.factor("length") != 1.0:
            raise OptionError(f"an XYZ file is in angstrom, which {options.units} is not", path=path)
        self._units: dict[str, str] | None = None
        self._headers = HeaderReader()
        self._last_numbers: tuple[dict[str, Spelling], Meta] | None = None
        self._plans: dict[tuple[Property, ...], Plan] = {}
        self._widths: dict[str, int] = {}
        self._spellings: dict[str, Spelling | None] = {}
        self._spelled: dict[Plan, dict[str, Spelling]] = {}

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the frames; see `molrec_convert.adapter.Importer.index`."""
        for frame in FrameWalk(window, self._path, self._least_width, strict=self._options.strict).frames():
            data, frame.data = frame.data, b""
            lines = self._lines(frame, data)
            if self._units is None:
                self._units = units_of(lines.header) if self._style is None else dict(self._style.units or {})
            self._sample(lines, data)
            yield Span(frame.ordinal, frame.line, frame.offset, frame.size, lines, data if keep else None)

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a span."""
        lines: Lines = span.context
        text, header = lines.text, lines.header
        data = span.data or b""
        try:
            found, plan = self._scan(lines, data)
            columns, notes, labels = columns_of(plan, found, self._texts, header)
        except RowError as error:
            raise self._error(str(error), text, error.row) from None
        except ScanError as fault:
            raise self._fault(fault, lines, data) from None
        except OptionError:
            raise
        except ValueError as error:
            raise self._error(str(error), text, 0) from None
        snapshot = Snapshot(Frame(), header.step, header.time, units=self._units)
        snapshot.notes = [*map(Note, (*header.notes, *notes)), *text.notes]
        snapshot.about = self._about(replace(lines, plan=plan), labels)
        if not columns.keys() >= {"x", "y", "z"} and text.count:
            snapshot.notes.append(Note("the frame has no positions", line=span.line - 1))
        if REST in plan.properties:
            snapshot.notes.append(Note("the atom lines differ in length; what follows the positions is kept as text"))
        if not text.terminated and not ends_alike(data):
            snapshot.notes.append(Note("the last line has no line end, its last number may be cut short",
                                       line=span.line + text.count - 1, frame=span.ordinal))  # fmt: skip
        box = header.box if header.box is not None or not text.vectors else self._vector_box(text, snapshot)
        meta = Meta.of(dict(header.values), dict(header.tags))
        snapshot.frame = Frame.of({"atoms": Block.of(columns, text.count)}, box, meta)
        if lines.numbers:
            snapshot.about.set("xyz_numbers", lines.numbers, tag="json")
            if self._options.sample_decimals:
                snapshot.decimals = fixed_only(lines.numbers)
        return snapshot

    # ------------------------------------------------------------ small frames together
    def kind(self, span: Span) -> object:
        """Which frames are decoded together; see `molrec_convert.stack.StackImporter`."""
        lines: Lines = span.context
        text, header = lines.text, lines.header
        if not text.count or not text.terminated or text.title or text.vectors or text.notes or header.notes:
            return None
        return lines.plan, text.count, header.properties is None, header.triple, header.scale, header.tags

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """Decode frames together; see `molrec_convert.stack.StackImporter`."""
        lines: Lines = spans[0].context
        frames, count, plan, header = len(spans), lines.text.count, lines.plan, lines.header
        data = text_of(spans)
        found = scan_table(data, plan.kinds, frames * count, dialect=DIALECT).columns
        species = [field.start for field in plan.fields if field.targets[0] == SPECIES]
        if not all(rows_repeat(found[place][0], frames) for place in species):
            return None
        columns, notes, labels = columns_of(plan, found, self._texts, header)
        if not columns.keys() >= {"x", "y", "z"} or not are_alike(plan, columns, frames):
            return None
        first = self._about(lines, labels)
        if lines.numbers:
            first = first.joined(self._numbers_of(lines))
        moments: list[Moment] = []
        about = first
        for span in spans:
            each: Header = span.context.header
            if each.comment != about["xyz_comment"]:
                about = first.joined(Meta.of({"xyz_comment": each.comment}, {"xyz_comment": "string"}))
            moments.append(Moment(each.step, each.time, each.box, Meta.of(each.values, each.tags), about))
        decimals = fixed_only(lines.numbers) if self._options.sample_decimals else {}
        atoms = Block.of(columns, frames * count)
        return Stack({"atoms": atoms}, Moments.of(moments), self._units, [Note(note) for note in notes], decimals)

    def _numbers_of(self, lines: Lines) -> Meta:
        """How the reals are spelled; the same document for the same columns."""
        last = self._last_numbers
        if last is None or last[0] is not lines.numbers:
            last = self._last_numbers = lines.numbers, Meta()
            last[1].set("xyz_numbers", lines.numbers, tag="json")
        return last[1]

    def _about(self, lines: Lines, labels: str | None) -> Meta:
        """What the exporter restores."""
        text, header, plan = lines.text, lines.header, lines.plan
        about = {"xyz_comment": header.comment}
        if labels is not None:
            about["xyz_species"] = labels
        if header.properties is None and plan.properties != base_properties(header.triple):
            about["xyz_columns"] = properties_text(plan.properties)
        if text.title:
            about["xyz_title"] = text.title
        return Meta.of(dict(about), dict.fromkeys(about, "string"))

    # ------------------------------------------------------------ the comment line
    def _header(self, comment: bytes) -> Header:
        """What a comment line states; ValueError where it cannot be read."""
        return self._headers.read(decoded(comment))

    def _vector_box(self, text: FrameText, snapshot: Snapshot) -> Box | None:
        """The cell of the vectors behind the atoms."""
        box, note = box_of_vectors(text.vectors)
        if note is not None:
            snapshot.notes.append(Note(note))
        snapshot.about.set("xyz_vec", [list(vector) for vector in text.vectors], tag="json")
        return box

    # ------------------------------------------------------------ the atom lines
    def _lines(self, text: FrameText, data: bytes) -> Lines:
        """What is known of a frame before its lines are scanned."""
        try:
            header = self._header(text.comment)
        except ValueError as error:
            raise self._error(str(error), text, -1) from None
        properties = header.properties
        if properties is None and text.count:
            properties = plain_properties(header.triple, data)
        return Lines(text, header, self._plan(properties or base_properties(header.triple)))

    def _plan(self, properties: tuple[Property, ...]) -> Plan:
        plan = self._plans.get(properties)
        if plan is None:
            plan = self._plans[properties] = plan_of(properties, self._widths)
        return plan

    def _scan(self, lines: Lines, data: bytes) -> tuple[list[Any], Plan]:
        """The columns of the atom lines; where they are not declared, what the first line tells may be mended."""
        count, declared, plan = lines.text.count, lines.header.properties is not None, lines.plan
        properties, kinds = plan.properties, plan.kinds
        base = base_properties(lines.header.triple, properties)
        least = width_of(base)
        while True:
            try:
                return scan_table(data, kinds, count, dialect=DIALECT).columns, plan
            except ScanError as fault:
                if fault.kind == "range" and kinds[fault.column] == "i":
                    kinds = f"{kinds[: fault.column]}u{kinds[fault.column + 1 :]}"
                elif declared or fault.kind not in ("number", "columns") or 0 <= fault.column < least:
                    raise
                elif fault.kind == "columns":
                    heads, rest = split_ragged(data, count, least)
                    plan = self._plan((*base, REST))
                    return [*scan_table(heads, plan.kinds[:-1], count, dialect=DIALECT).columns, rest], plan
                else:
                    place = len(properties) - len(kinds) + fault.column
                    text = Property(properties[place].name, "S", 1)
                    properties = (*properties[:place], text, *properties[place + 1 :])
                    plan = self._plan(properties)
                    kinds = plan.kinds

    def _least_width(self, frame: FrameText) -> int:
        try:
            properties = self._header(frame.comment).properties
        except ValueError:
            properties = None
        return width_of(properties or PLAIN)

    def _sample(self, lines: Lines, data: bytes) -> None:
        """Look how the reals are spelled, once for each column."""
        plan = lines.plan
        if lines.text.count and plan not in self._spelled:
            found = {} if lines.header.scale != 1.0 else spellings_of(plan, data)
            targets = [target for each in plan.fields if each.letter == "R" for target in each.targets]
            for target in targets:
                self._spellings.setdefault(target, found.get(target))
            known = {target: self._spellings[target] for target in targets}
            self._spelled[plan] = {target: spelling for target, spelling in known.items() if spelling is not None}
        lines.numbers = self._spelled.get(plan, {})

    # ------------------------------------------------------------ what is wrong
    def _fault(self, fault: ScanError, lines: Lines, data: bytes) -> FormatError:
        text = lines.text
        line = data.split(b"\n", fault.row + 1)[fault.row] if fault.row < text.count else b""
        if fault.kind == "columns" and len(line.split()) == 1 and head_of(line) is not None:
            return self._error(f"the frame has {fault.row} of {text.count} atom lines", text, fault.row)
        message = fault.describe(ROW)
        if fault.kind in ("number", "range"):
            message = f"column {lines.plan.name_of(fault.column)}: {message}"
        return self._error(message, text, fault.row)

    def _error(self, message: str, text: FrameText, row: int) -> FormatError:
        return FormatError(message, path=self._path, line=text.line + row, frame=text.ordinal)


def _looks_like_xyz(head: bytes) -> bool:
    """Whether a file begins with a number of atoms, a comment line and atom lines."""
    lines = head.removeprefix(BOM).lstrip(b" \t\r\n")
    first, _, rest = lines.partition(b"\n")
    found = head_of(first)
    if found is None or b"\0" in head or is_origin(found):
        return False
    return begins_frame(rest, found)


FORMAT = Adapter(
    name="xyz",
    summary="XYZ and extended XYZ",
    reference="https://github.com/libAtoms/extxyz",
    patterns=("*.xyz", "*.extxyz", "*.exyz"),
    not_patterns=("*.arc", "*.gen", "*.txyz"),
    sniff=_looks_like_xyz,
    carries=Carries(
        columns=frozenset(target for row in ROWS for target in row.targets if target != SPECIES) | {"element"},
        other_columns=frozenset(("f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "string")),
        vectors=True,
        meta=OWN,
        other_meta=True,
        box=True,
        origin=True,
        boundary=True,
        no_box=True,
        step=True,
        time=True,
        frames=True,
        varying=True,
    ),
    lost=lost,
    layout=OWN - {"xyz_comment", "xyz_title"},
    importer=XyzImporter,
    exporter=XyzExporter,
    options=frozenset(("type_map", "units")),
    export_options=frozenset(("decimals", "plain")),
)
