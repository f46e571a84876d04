"""LAMMPS dump: text snapshots of atoms, in any order, with any columns.

Reference: https://docs.lammps.org/dump.html, https://docs.lammps.org/read_dump.html

Decisions: rows are sorted by id unless ``--keep-order`` (their order in the file means nothing). Positions come from
``x``, else ``xu``, ``xs`` or ``xsu``; every other form stays as columns of its own. Scaled numbers are kept beside the
positions that they give. Types are never taken for elements; masses tell them where their unit is known. Nothing is
unwrapped unasked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Note, Snapshot, Span
from molrec_convert.errors import FormatError, OptionError, TruncatedError
from molrec_convert.model import Block, Box, Frame, Meta
from molrec_convert.moments import Kept, Moments, distinct, kept, mapped
from molrec_convert.options import Options
from molrec_convert.stack import Stack, text_of
from molrec_convert.text.decimals import SAMPLE, fixed_decimals
from molrec_convert.text.lines import BOM, decoded
from molrec_convert.text.table import ScanError, TableScan, scan_table
from molrec_convert.text.window import Window

from ._dump_atoms import FIRST_TYPES, AtomColumns
from ._dump_cell import boxes_of
from ._dump_columns import BY_SOURCE, Plan, unwrapped_names, widened
from ._dump_header import ITEM, Header, HeaderReader
from ._dump_lost import lost
from ._dump_plans import Plans
from ._dump_writer import FACTS, DumpExporter
from ._lammps import Style, type_map_note

Array = np.ndarray[Any, Any]

ROW = "an atom line"
NO_FRAME, NO_META = Frame(), Meta()
"""What stands in a snapshot until it has its own."""


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


class DumpImporter:
    """Reads a dump; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        self._style = Style(options.units)
        self._styleless = False
        self._plans = Plans(form="xu" if options.unwrap else None)
        self._decimals: dict[Plan, dict[str, int]] = {}
        self._atoms = AtomColumns(path, options)
        self._last_box: tuple[Any, Box] | None = None
        self._last_about: tuple[Any, Meta] | None = None

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the snapshots; see `molrec_convert.adapter.Importer.index`."""
        headers = HeaderReader(window, self._path)
        ordinal = 0
        while (header := headers.next()) is not None:
            self._take_units(header)
            plan = self._plans.of(header, window, dimensionless=self._style.dimensionless)
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
                self._atoms.type_map_note = type_map_note(_types_in(plan, data) or FIRST_TYPES)
            if self._options.sample_decimals and data and plan not in self._decimals:
                self._decimals[plan] = self._sampled(plan, data)
            yield Span(
                ordinal, line, start, window.offset - start, Place(header, header.step, plan, window.terminated), data
            )
            ordinal += 1
            if keep and (first_row := self._plans.first_row(header, plan)) is not None:
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
            columns = self._atoms.scanned(plan, scan, header, box, self._style)
        except FormatError as error:
            error.frame = span.ordinal
            raise
        self._note_layout(plan, header, box, snapshot)
        snapshot.notes += self._atoms.add_elements(columns, self._style)
        columns, notes = self._atoms.sorted_by_id(columns)
        snapshot.notes += notes
        atoms = self._atoms.unwrapped(Block.of(columns, header.atoms), plan, box)
        if self._decimals:
            snapshot.decimals = self._decimals.get(plan, {})
        snapshot.frame, snapshot.about = Frame.of({"atoms": atoms}, box, Meta()), self._about(header, plan)
        return snapshot

    def kind(self, span: Span) -> object:
        """Which snapshots are decoded together; see `molrec_convert.stack.StackImporter`."""
        header, _, plan, terminated = span.context
        if not header.atoms or not terminated or plan.form in (None, "X"):
            return None
        return plan, header.atoms, header.cell if plan.scaled or self._options.unwrap else None

    def stacked(self, spans: Sequence[Span]) -> Stack | None:
        """Decode snapshots together; see `molrec_convert.stack.StackImporter`."""
        header, _, plan, _ = spans[0].context
        frames, rows = len(spans), header.atoms
        moments = self._moments(spans, plan)
        if moments is None:
            return None
        box = moments.boxes[0]
        assert box is not None
        scan = scan_table(text_of(spans), plan.kinds, frames * rows)
        columns = self._atoms.scanned(plan, scan, header, box, self._style)
        notes = self._atoms.add_stacked_elements(columns, self._style, frames)
        if notes is None:
            return None
        columns, more = self._atoms.stack_sorted_by_id(columns, frames)
        atoms = self._atoms.unwrapped(Block.of(columns, frames * rows), plan, box)
        return Stack({"atoms": atoms}, moments, self._style.units, [*notes, *more], self._decimals.get(plan, {}))

    def _moments(self, spans: Sequence[Span], plan: Plan) -> Moments | None:
        """What snapshots have for their own; None where some have no cell, which is told of each."""
        places: list[Place] = [span.context for span in spans]
        headers = kept([place.header for place in places])
        changed = [header for k, header in enumerate(distinct(headers)) if not k or header is not headers[k - 1]]
        boxes = self._boxes(changed)
        if boxes is None:
            return None
        per_time = self._style.factor("time")
        own = {
            id(header): (box, None if header.time is None else header.time * per_time, self._about(header, plan))
            for header, box in zip(changed, boxes, strict=True)
        }
        found = mapped(lambda header: own[id(header)], headers)
        return Moments(
            [place.step for place in places],
            kept(mapped(itemgetter(1), found)),
            mapped(itemgetter(0), found),
            Kept(NO_META, len(places)),
            kept(mapped(itemgetter(2), found)),
        )

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

    def _box(self, header: Header) -> Box:
        key = header.cell
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
        key = (header.letters, header.tilted, None if bounds is None else header.cell, plan)
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

    def _note_layout(self, plan: Plan, header: Header, box: Box, snapshot: Snapshot) -> None:
        if plan.form is None:
            snapshot.notes.append(Note("the snapshot has no columns of positions", line=header.columns_line))
        elif plan.form[0] == "X":
            snapshot.notes.append(Note("the columns X Y Z are taken for the positions", line=header.columns_line))
        if not box.defined:
            message = "the bounds enclose no volume, so there is no cell"
            snapshot.notes.append(Note(message, line=header.bounds_line))


def kept_bounds(header: Header) -> tuple[float, ...] | None:
    """The bounds as written, lo and hi of every axis and its tilt if it has one, where the vectors do not tell them."""
    if header.general:
        return None
    if not header.tilted and all(lo < hi and lo + (hi - lo) == hi for lo, hi in header.bounds):
        return None
    return tuple(value for row in header.bounds for value in row)


def _types_in(plan: Plan, data: bytes) -> list[str]:
    """The types of the first atom lines, in their order."""
    place = next((k for k, row in enumerate(plan.rows) if row.target in ("type_id", "type")), None)
    lines = [line.split() for line in data.split(b"\n", SAMPLE)[:SAMPLE]]
    found = set() if place is None else {decoded(tokens[place]) for tokens in lines if len(tokens) > place}
    return sorted(found, key=lambda label: (len(label), label))


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
