"""LAMMPS dump: text snapshots of atoms, in any order, with any columns.

Reference: https://docs.lammps.org/dump.html, https://docs.lammps.org/read_dump.html

Decisions: rows are sorted by id unless ``--keep-order`` (their order in the file means nothing). Positions come from
``x``, else ``xu``, ``xs`` or ``xsu``; every other form stays as columns of its own. Scaled numbers are kept beside the
positions that they give. Types are never taken for elements; masses tell them where their unit is known. Nothing is
unwrapped unasked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError, OptionError, TruncatedError
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options
from molrec_convert.stack import Moment, Stack, Tiled, repeats
from molrec_convert.steps import unwrapped
from molrec_convert.text.decimals import SAMPLE, fixed_decimals
from molrec_convert.text.lines import BOM
from molrec_convert.text.table import ScanError, TableScan, scan_table
from molrec_convert.text.window import Window

from ._dump_columns import BY_SOURCE, NARROW, SIGNED, Plan, may_hold_words, plan_of, triple, unwrapped_names, widened
from ._dump_header import ITEM, NUMBER, Header, HeaderReader, boxes_of
from ._dump_lost import lost
from ._dump_writer import FACTS, DumpExporter
from ._elements import MassElements
from ._lammps import Style, cartesian, elements_of_types, order_by_id, stacked_order_by_id, type_map_note

Array = np.ndarray[Any, Any]

ROW = "an atom line"
NO_FRAME, NO_META = Frame(), Meta()
"""What stands in a snapshot until it has its own."""
WORD = "word"
"""What stands for the first token of a column of text."""
TELLING = frozenset(("type_id", "type", "mass"))
"""The columns that may tell elements."""
FIRST_TYPES = (1, 2)
"""The types of an example where no atom line shows any."""


class Place(NamedTuple):
    """What is known of a snapshot before its atom lines are scanned.

    Parameters
    ----------
    header
        Its header, or one that says the same but for the step, and stands elsewhere.
    step
        Its own step.
    plan
        Its columns.
    terminated
        Whether its last line has a line end.
    """

    header: Header
    step: int | None
    plan: Plan
    terminated: bool


class NamedColumns(NamedTuple):
    """The names in a header's line of columns.

    Parameters
    ----------
    names
        The names.
    doubtful
        The places of those that may be of text.
    of_numbers
        What an atom line is like in which those hold numbers.
    """

    names: list[bytes]
    doubtful: list[int]
    of_numbers: re.Pattern[bytes]


class DumpImporter:
    """Reads a dump; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self._style = Style(options.units)
        self._styleless = False
        self._names: dict[bytes, NamedColumns] = {}
        self._words: set[bytes] = set()
        """The columns that held words, and are of text from then on."""
        self._plans: dict[tuple[bytes, tuple[int, ...]], Plan] = {}
        self._last_plan: Plan | None = None
        self._decimals: dict[Plan, dict[str, int]] = {}
        self._type_map_note = type_map_note(FIRST_TYPES)
        self._masses = MassElements()
        self._last_box: tuple[Any, Box] | None = None
        self._last_about: tuple[Any, Meta] | None = None

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the snapshots; see `molrec_convert.adapter.Importer.index`."""
        headers = HeaderReader(window, self._path)
        ordinal = 0
        while (header := headers.next()) is not None:
            self._take_units(header)
            plan = self._plan(header, window)
            line, start = window.line, window.offset
            kept = keep or not ordinal  # of the first, `_check_unterminated` looks at the lines
            if kept:
                window.mark()
            found = window.skip_lines(header.atoms)
            if found < header.atoms:
                raise TruncatedError(
                    f"the file ends after {found} of {header.atoms} atom lines", line=line + found, frame=ordinal
                )
            data = window.take() if kept else None
            if header.atoms and not window.terminated:
                self._check_unterminated(data, header, ordinal, window)
            if data and not ordinal:  # once, so that all frames say the same
                self._type_map_note = type_map_note(_types_in(plan, data) or FIRST_TYPES)
            if self._options.sample_decimals and data and plan not in self._decimals:
                self._decimals[plan] = self._sampled(plan, data)
            yield Span(
                ordinal, line, start, window.offset - start, Place(header, header.step, plan, window.terminated), data
            )
            ordinal += 1
            if keep and (first_row := self._first_row(header, plan)) is not None:
                for like, step, head, atoms in headers.repeats():
                    if first_row(atoms) is None:
                        break
                    place, below = Place(like, step, plan, True), like.columns_line - like.line + 1
                    yield Span(ordinal, window.line + below, window.offset + len(head), len(atoms), place, atoms)
                    ordinal += 1

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of a snapshot."""
        place: Place = span.context
        plan, terminated = place.plan, place.terminated
        header = place.header.again(place.step, span.line - 1 - place.header.columns_line)
        scan, plan = self._scan(span, header, plan)
        snapshot = Snapshot(NO_FRAME, header.step, header.time, NO_META, self._style.units)
        if header.time is not None:
            snapshot.time = header.time * self._style.factor("time")
        if not terminated and header.atoms:
            snapshot.notes.append(Note("the last line has no line end, its last number may be cut short",
                                       line=span.line + header.atoms - 1, frame=span.ordinal))  # fmt: skip
        try:
            box = self._box(header)
            columns = self._columns(plan, scan, header, box)
        except FormatError as error:
            error.frame = span.ordinal
            raise
        self._note_layout(plan, header, box, snapshot)
        self._add_elements(columns, snapshot)
        atoms = Block.of(columns, header.atoms)
        order = None if self._options.keep_order else self._order(columns.get("id"), snapshot)
        if order is not None:
            atoms = Block.of({name: column.rows(order) for name, column in columns.items()}, header.atoms)
        atoms = self._unwrapped(atoms, plan, box)
        if self._decimals:
            snapshot.decimals = self._decimals.get(plan, {})
        snapshot.frame, snapshot.about = Frame.of({"atoms": atoms}, box, Meta()), self._about(header, plan)
        return snapshot

    def kind(self, span: Span) -> object:
        """Which snapshots are decoded together; see `molrec_convert.stack.StackImporter`."""
        header, _, plan, terminated = span.context
        if not header.atoms or not terminated or plan.form in (None, "X"):
            return None
        of_cell = (header.bounds, header.letters, header.tilted, header.general)
        return plan, header.atoms, of_cell if plan.scaled or self._options.unwrap else None

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """Decode snapshots together; see `molrec_convert.stack.StackImporter`."""
        header, _, plan, _ = spans[0].context
        frames, rows = len(spans), header.atoms
        moments = self._moments(spans, plan)
        if moments is None:
            return None
        box = moments[0].box
        assert box is not None
        scan = scan_table(b"".join(span.data or b"" for span in spans), plan.kinds, frames * rows)
        columns = self._columns(plan, scan, header, box)
        first = Snapshot(NO_FRAME)
        if "element" not in columns:
            telling = {name: columns[name].rows(slice(rows)) for name in TELLING & columns.keys()}
            kept = all(repeats(columns[name], frames) for name in telling)
            self._add_elements(telling, first)
            if not kept and ("mass" in telling or "element" in telling):
                return None
            if "element" in telling:
                columns["element"] = Tiled(telling["element"], frames)
        ids = None if self._options.keep_order else columns.get("id")
        if ids is not None:
            order = stacked_order_by_id(ids.values, frames)
            if order is not None:
                columns = {name: column.rows(order) for name, column in columns.items()}
        elif not self._options.keep_order:
            self._order(None, first)
        atoms = self._unwrapped(Block.of(columns, frames * rows), plan, box)
        return Stack({"atoms": atoms}, moments, self._style.units, first.notes, self._decimals.get(plan, {}))

    def _moments(self, spans: Sequence[Span], plan: Plan) -> list[Moment] | None:
        """What snapshots have for their own; None where some have no cell, which is told of each."""
        places: list[Place] = [span.context for span in spans]
        headers = [place.header for k, place in enumerate(places) if not k or place.header is not places[k - 1].header]
        boxes = iter(self._boxes(headers) or ())
        moments: list[Moment] = []
        header: Header | None = None
        per_time = self._style.factor("time")
        for place in places:
            if place.header is not header:
                header, box = place.header, next(boxes, None)
                if box is None:
                    return None
                about = self._about(header, plan)
                time = None if header.time is None else header.time * per_time
            moments.append(Moment(place.step, time, box, NO_META, about))
        return moments

    def _boxes(self, headers: Sequence[Header]) -> Sequence[Box] | None:
        """The cells of headers; None where one has none."""
        boxes = boxes_of(headers) if len(headers) > 1 else None
        if boxes is None:
            boxes = [self._box(header) for header in headers]
            return boxes if all(box.defined for box in boxes) else None
        scale = self._style.factor("length")
        if scale != 1.0:
            boxes = [Box.of(box.vectors * scale, box.origin * scale, box.boundary) for box in boxes]
        return boxes

    def _unwrapped(self, atoms: Block, plan: Plan, box: Box) -> Block:
        """The atoms with their images added to the positions, where that is wanted."""
        if not self._options.unwrap or plan.form == "xu":
            return atoms
        atoms = unwrapped(atoms, box)
        if plan.form is not None and plan.scaled:  # the scaled numbers are of the wrapped positions
            left = {name: column for name, column in atoms.columns.items() if name not in triple(plan.form)}
            atoms = Block.of(left, atoms.count)
        return atoms

    def _sampled(self, plan: Plan, data: bytes) -> dict[str, int]:
        found = zip(plan.rows, fixed_decimals(data, len(plan.rows)), strict=True)
        plain = self._style.source is None or self._style.factor("length") == 1.0
        return {row.target: count for row, count in found if row.kind == "d" and count is not None and plain}

    # ------------------------------------------------------------ what the header gives
    def _take_units(self, header: Header) -> None:
        if header.units is None or header.units == self._style.name:
            self._styleless |= self._style.name is None
            return
        if self._styleless:
            raise OptionError(
                f"the units are {header.units} here, and unknown before: say --units", path=self._path, line=header.line
            )
        if self._style.name is not None:
            raise OptionError(
                f"the file says that its units are {header.units}, not {self._style.name}",
                path=self._path,
                line=header.line,
            )
        self._style = Style(header.units)

    def _plan(self, header: Header, window: Window) -> Plan:
        columns = self._names.get(header.columns)
        if columns is None:
            columns = self._names[header.columns] = named_columns(header.columns)
        names, doubtful, _ = columns
        row: list[bytes] = []
        if header.atoms:
            row = window.peek(64 * len(names) + 256).split(b"\n", 1)[0].split()[: len(names)]
        elif self._last_plan is not None and list(self._last_plan.names) == [_text(name) for name in names]:
            return self._last_plan
        held = [k for k in doubtful if k < len(row) and (names[k] in self._words or not _is_plain_number(row[k]))]
        key = (header.columns, tuple(held))
        plan = self._plans.get(key)
        if plan is None:
            self._words |= {names[k] for k in held if may_hold_words(_text(names[k]))}
            plan = plan_of(
                [_text(name) for name in names],
                [WORD if k in held else _text(token) for k, token in enumerate(row)],
                dimensionless=self._style.dimensionless,
                form="xu" if self._options.unwrap else None,
            )
            self._plans[key] = plan
        self._last_plan = plan
        return plan

    def _first_row(self, header: Header, plan: Plan) -> Callable[[bytes], Any] | None:
        """Tells whether atom lines begin with one of this plan; None where each has to be looked at closely."""
        if self._words or self._plans.get((header.columns, ())) is not plan:
            return None
        return self._names[header.columns].of_numbers.match

    def _box(self, header: Header) -> Box:
        key = (header.bounds, header.letters, header.tilted, header.general)
        last = self._last_box
        if last is not None and last[0] == key:
            return last[1]
        box = header.box(self._path)
        if (scale := self._style.factor("length")) != 1.0:
            vectors = box.vectors * scale if box.defined else box.vectors
            box = Box.of(vectors, box.origin * scale, box.boundary, defined=box.defined)
        self._last_box = (key, box)
        return box

    def _about(self, header: Header, plan: Plan) -> Meta:
        """What the exporter restores; the same object for headers that say the same."""
        bounds = kept_bounds(header)
        key = (header.letters, header.tilted, bounds, plan)
        last = self._last_about
        if last is not None and last[0] == key:
            return last[1]
        about: dict[str, Any] = {"lammps_columns": list(plan.names), "lammps_boundary": header.letters or ""}
        if self._style.name is not None:
            about["lammps_units"] = self._style.name
        if bounds is not None:
            about["lammps_bounds"] = bounds
        if plan.form not in (None, "x"):
            about["lammps_coords"] = plan.form
        if self._options.unwrap and plan.form != "xu":
            about["lammps_columns"], about["lammps_coords"] = unwrapped_names(plan), "xu"
        meta = Meta(about)
        self._last_about = (key, meta)
        return meta

    # ------------------------------------------------------------ the atom lines
    def _scan(self, span: Span, header: Header, plan: Plan) -> tuple[TableScan, Plan]:
        data = span.data or b""
        try:
            return scan_table(data, plan.kinds, header.atoms), plan
        except ScanError as fault:
            wider = widened(plan, fault.column, fault.token) if fault.kind == "number" else None
            if wider is not None:
                return self._scan(span, header, wider)
            raise self._fault(fault, span, header, plan, data) from None

    def _fault(self, fault: ScanError, span: Span, header: Header, plan: Plan, data: bytes) -> FormatError:
        line = span.line + fault.row
        text = data.split(b"\n", fault.row + 1)[fault.row] if fault.row < header.atoms else b""
        if text.lstrip().startswith(ITEM):
            message = f"the snapshot has {fault.row} of {header.atoms} atom lines"
        elif fault.kind == "columns":
            message = fault.describe(ROW)
        else:
            message = f"column {plan.names[fault.column]}: {fault.describe(ROW)}"
        return FormatError(message, path=self._path, line=line, frame=span.ordinal)

    def _check_unterminated(self, data: bytes | None, header: Header, ordinal: int, window: Window) -> None:
        """Refuse a last line that is cut short for certain or after whole snapshots, since a number may be cut too."""
        line = window.line - 1
        lines = (data or b"").split(b"\n")
        last = lines[-1].split()
        width = len(header.columns.split())
        cut = ordinal > 0 or len(last) < width or self._options.strict
        if not cut and len(lines) > 1:
            decimals = {len(row.split()[-1].partition(b".")[2]) for row in lines[:-1] if row.strip()}
            blank = all(row.rstrip(b"\r").endswith(b" ") for row in lines[:-1])
            fewer = len(decimals) == 1 and len(last[-1].partition(b".")[2]) < min(decimals)
            cut = (fewer and len(lines) > 2) or (blank and not lines[-1].endswith(b" "))
        if cut:
            raise TruncatedError(
                f"the file ends inside the last of {header.atoms} atom lines", line=line, frame=ordinal
            )

    def _columns(self, plan: Plan, scan: TableScan, header: Header, box: Box) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        for row, found in zip(plan.rows, scan.columns, strict=True):
            columns[row.target] = self._column(row.source, row.target, row.kind, row.quantity, found, header)
        for source, target in SIGNED.items():
            if target in columns:
                values = columns[target].values
                whole = np.where(values < 0, 0, values).astype(np.uint64)
                columns[BY_SOURCE[source].target] = Column(whole, valid=values >= 0)
        if plan.form is not None and plan.scaled:
            if not box.defined:
                message = "scaled positions need a cell, and the bounds enclose no volume"
                raise FormatError(message, path=self._path, line=header.bounds_line)
            parts = [columns[name].values for name in triple(plan.form)]
            for name, values in zip("xyz", cartesian(parts, box), strict=True):
                columns[name] = Column.of(values)
        return columns

    def _note_layout(self, plan: Plan, header: Header, box: Box, snapshot: Snapshot) -> None:
        if plan.form is None:
            snapshot.notes.append(Note("the snapshot has no columns of positions", line=header.columns_line))
        elif plan.form[0] == "X":
            snapshot.notes.append(Note("the columns X Y Z are taken for the positions", line=header.columns_line))
        if not box.defined:
            message = "the bounds enclose no volume, so there is no cell"
            snapshot.notes.append(Note(message, line=header.bounds_line))

    def _column(self, source: str, target: str, kind: str, quantity: str | None, found: Any, header: Header) -> Column:
        if kind == "s":
            codes, words = found
            for code, word in enumerate(words):
                if b"\0" in word:
                    line = header.columns_line + 1 + int(np.argmax(codes == code))
                    raise FormatError(f"column {source}: {_text(word)!r} holds a NUL", path=self._path, line=line)
            labels = np.array([_text(word) for word in words], dtype=STRING)
            return Column.of(labels[codes] if len(words) else np.zeros(0, dtype=STRING))
        values: Array = found
        if target in NARROW:
            narrow = values.astype(np.int32)
            if not np.array_equal(narrow, values):
                row = int(np.argmax(narrow != values))
                message = f"column {source}: an image flag is a 32-bit integer, not {values[row]}"
                raise FormatError(message, path=self._path, line=header.columns_line + 1 + row)
            return Column.of(narrow)
        if (scale := self._style.factor(quantity)) != 1.0:
            values = values * scale
        return Column.of(values)

    def _add_elements(self, columns: dict[str, Column], snapshot: Snapshot) -> None:
        if "element" in columns:
            return
        kinds = columns.get("type_id") or columns.get("type")
        given: Mapping[str, str] = self._options.type_map
        if kinds is not None and given:
            columns["element"] = elements_of_types(kinds, given, path=self._path)
            return
        if "mass" in columns and self._style.name is not None:  # else the unit of masses is not known
            told = self._masses.of(columns["mass"])
            if told.column is not None and told.column.valid is None:  # a dump marks no missing values
                columns["element"] = told.column
                snapshot.notes += told.notes
                return
        if kinds is not None:
            snapshot.notes.append(Note(self._type_map_note, lacks="element"))

    def _order(self, ids: Column | None, snapshot: Snapshot) -> Array | None:
        """The rows sorted by id, or None where they are, or have no distinct ids."""
        if ids is None:
            snapshot.notes.append(Note("the atoms have no ids, their order may differ between snapshots"))
            return None
        if ids.valid is not None:
            return None
        order, fault = order_by_id(ids.values)
        if fault is not None:
            snapshot.notes.append(Note(fault))
        return order


def kept_bounds(header: Header) -> tuple[float, ...] | None:
    """The bounds as written, lo and hi of every axis and its tilt if it has one, where the vectors do not tell them."""
    if header.general:
        return None
    if not header.tilted and all(lo < hi and lo + (hi - lo) == hi for lo, hi in header.bounds):
        return None
    return tuple(value for row in header.bounds for value in row)


def named_columns(text: bytes) -> NamedColumns:
    """The names after ``ITEM: ATOMS``."""
    names = text.split()
    doubtful = [k for k, name in enumerate(names) if _may_be_text(name)]
    tokens = [NUMBER if k in doubtful else rb"\S++" for k in range(len(names))]
    return NamedColumns(names, doubtful, re.compile(rb"[ \t]*+" + rb"[ \t]++".join(tokens) + rb"[ \t\r\n]"))


def _types_in(plan: Plan, data: bytes) -> list[str]:
    """The types of the first atom lines, in their order."""
    place = next((k for k, row in enumerate(plan.rows) if row.target in ("type_id", "type")), None)
    lines = [line.split() for line in data.split(b"\n", SAMPLE)[:SAMPLE]]
    found = set() if place is None else {_text(tokens[place]) for tokens in lines if len(tokens) > place}
    return sorted(found, key=lambda label: (len(label), label))


def _may_be_text(name: bytes) -> bool:
    row = BY_SOURCE.get(_text(name))
    return row is None or row.kind == "?"


def _is_plain_number(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _looks_like_a_dump(head: bytes) -> bool:
    start = head.removeprefix(BOM).lstrip()
    return start.startswith((b"ITEM: TIMESTEP", b"ITEM: UNITS", b"ITEM: TIME")) or (
        start.startswith(ITEM) and b"ITEM: NUMBER OF ATOMS" in head
    )


FORMAT = Adapter(
    name="lammps-dump",
    summary="LAMMPS text dump of atoms",
    reference="https://docs.lammps.org/dump.html",
    patterns=("*.lammpstrj", "*.dump", "dump.*", "*.lammpsdump", "*.dump.*"),
    sniff=_looks_like_a_dump,
    carries=Carries(
        columns=frozenset(row.target for row in BY_SOURCE.values()) | set("xyz"),
        other_columns=frozenset(("f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "string")),
        vectors=True,
        meta=FACTS,
        box=True,
        ratios=True,
        origin=True,
        boundary=True,
        no_box=None,  # a dump has always bounds; see `lost`
        step=True,
        time=True,
        frames=True,
        varying=True,
    ),
    importer=DumpImporter,
    exporter=DumpExporter,
    lost=lost,
    layout=FACTS,
    options=frozenset(("units", "type_map", "keep_order", "unwrap")),
    export_options=frozenset(("units", "decimals")),
    role="trajectory",
)
