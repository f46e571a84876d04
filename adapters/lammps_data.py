"""LAMMPS data: one configuration with its types, topology and force-field coefficients.

Reference: https://docs.lammps.org/read_data.html, https://docs.lammps.org/write_data.html

Decisions: the atom style is that of ``--atom-style``, else the one beside ``Atoms``, else the only one that the lines
can have. Rows are sorted by id unless ``--keep-order``. Bonds point at rows. Elements are those that ``--type-map``
names, else those that the masses tell, said in a note. Types that have labels and stand as numbers in the lines keep
these as ``label``, as what the lines call them. Image flags stay columns; nothing is unwrapped unasked.
Coefficients and sections of other programs are kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter, Note, Snapshot, Span
from molrec_convert.errors import FormatError, OptionError, TruncatedError
from molrec_convert.model import Block, Column, Frame, Meta
from molrec_convert.options import Options
from molrec_convert.steps import unwrapped
from molrec_convert.text.lines import decoded
from molrec_convert.text.window import Window

from ._data_atoms import AtomsReader
from ._data_cell import box_of
from ._data_header import PLURALS, TOPOLOGY, Header
from ._data_layout import lost
from ._data_sections import LABELS, Parts, Section
from ._data_title import kept_title, step_in, units_in
from ._data_topology import Ids, read_block
from ._data_types import Masses, Types, elements_column, elements_told
from ._data_writer import CARRIES, FACTS, DataExporter
from ._lammps import Style, elements_of_types, order_by_id, type_map_note

Array = np.ndarray[Any, Any]

ALL = 1 << 62
RELATIONS = {kind: name for kind, name in PLURALS.items() if name in TOPOLOGY}
PARSED = frozenset(("Masses", "Atoms", "Velocities", *LABELS, *(name.capitalize() for name in TOPOLOGY)))
HEADER = re.compile(rb"^[ \t]*\d+[ \t]+atoms[ \t\r]*(?:#.*)?$", re.MULTILINE)
EXTENT = re.compile(rb"^[ \t]*(?:\d+[ \t]+atom[ \t]+types|[^#\n]*[ \t](?:xlo[ \t]+xhi|avec))\b", re.MULTILINE)


class DataImporter:
    """Reads a data file; see `molrec_convert.adapter.Importer`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options

    def index(self, window: Window, *, keep: bool) -> Iterator[Span]:
        """Find the one frame, which is the file."""
        if keep:
            window.mark()
        window.skip_lines(ALL)
        yield Span(0, 1, 0, window.offset, None, window.take() if keep else None)

    def decode(self, span: Span) -> Snapshot:
        """Make the frame of the file."""
        parts = Parts(span.data or b"", self._path)
        header = parts.header()
        sections = self._sections(parts, header)
        style = self._style(header)
        snapshot = Snapshot(Frame(), units=style.units)
        snapshot.step = step_in(header.title)
        types = {kind: Types.of(kind, header) for kind in PLURALS}
        for name, kind in LABELS.items():
            if name in sections:
                types[kind].read_labels(parts, sections[name])
        masses = Masses.read(parts, sections["Masses"], types["atom"]) if "Masses" in sections else Masses()
        box, bounds = box_of(header, style.factor("length"), self._path, snapshot.notes)
        about: dict[str, Any] = {}
        atoms, ids = self._atoms(parts, header, sections, style, types["atom"], masses, about, snapshot)
        if self._options.unwrap:
            atoms = unwrapped(atoms, box)
        blocks = {"atoms": atoms}
        for kind, name in RELATIONS.items():
            section = sections.get(name.capitalize())
            if section is not None:
                block = read_block(parts, section, header.counts.get(name), types[kind], ids)
                blocks |= {name: block} if block.count else {}
            elif header.count(name):
                message = f"the header says {header.count(name)} {name}, there is no section {name.capitalize()}"
                if self._options.strict:
                    raise FormatError(message, path=self._path, line=header.line)
                snapshot.notes.append(Note(message))
        about |= _facts(parts, header, sections, types, masses)
        if style.name is not None:
            about["lammps_units"] = style.name
        if bounds is not None:
            about["lammps_bounds"] = bounds
        if parts.data and not parts.data.endswith(b"\n"):
            self._note_unterminated(parts, sections, snapshot)
        snapshot.frame, snapshot.about = Frame.of(blocks, box, Meta()), Meta(about)
        return snapshot

    # ------------------------------------------------------------ the parts
    def _sections(self, parts: Parts, header: Header) -> dict[str, Section]:
        sections: dict[str, Section] = {}
        for section in parts.sections(header):
            if section.name in sections:
                raise parts.error(f"the section {section.name} comes twice", section.line)
            sections[section.name] = section
        if header.count("atoms") and "Atoms" not in sections:
            message = f"the header says {header.count('atoms')} atoms, there is no section Atoms"
            raise parts.error(message, header.line)
        return sections

    def _style(self, header: Header) -> Style:
        found, given = units_in(header.title), self._options.units
        if found is not None and given not in (None, found):
            raise OptionError(f"the file says that its units are {found}, not {given}", path=self._path, line=1)
        return Style(found or given)

    def _atoms(
        self,
        parts: Parts,
        header: Header,
        sections: dict[str, Section],
        style: Style,
        types: Types,
        masses: Masses,
        about: dict[str, Any],
        snapshot: Snapshot,
    ) -> tuple[Block, Ids]:
        """The block ``atoms``, its rows in their order, and what finds them by id."""
        section = sections.get("Atoms")
        if section is None or not header.count("atoms"):
            return Block(count=0), Ids(np.zeros(0, dtype=np.uint64))
        reader = AtomsReader(parts, header, sections, style, types, self._options, snapshot.notes)
        columns = reader.columns(section)
        about["lammps_atom_style"] = reader.style.name
        order, fault = order_by_id(columns["id"].values)
        if fault is not None:
            snapshot.notes.append(Note(fault, line=section.line))
        if order is not None and not self._options.keep_order:
            columns = {name: column.rows(order) for name, column in columns.items()}
        reader.add_labels(columns)
        numbers = columns["type_id"].values
        mass = "mass_lj" if style.dimensionless else "mass"
        if masses.values and mass not in columns:
            columns[mass] = masses.column(numbers, style.factor("mass"))
        self._add_elements(columns, types, masses, style, snapshot)
        found = Ids(columns["id"].values)
        if "Velocities" in sections:
            columns |= reader.velocities(sections["Velocities"], found)
        return Block.of(columns, len(numbers)), found

    def _add_elements(
        self, columns: dict[str, Column], types: Types, masses: Masses, style: Style, snapshot: Snapshot
    ) -> None:
        numbers = columns["type_id"]
        given = self._options.type_map
        if given:
            by_label = types.labels and not all(str(kind) in given for kind in np.unique(numbers.values).tolist())
            kinds = columns["type"] if by_label else numbers
            columns["element"] = elements_of_types(kinds, given, path=self._path)
            return
        guess = "elements" in self._options.guess
        told = {} if style.dimensionless else elements_told(types, masses, style.factor("mass"), guess=guess)
        used = np.unique(numbers.values).tolist()
        if not any(kind in told for kind in used):
            snapshot.notes.append(Note(type_map_note(used), lacks="element"))
            return
        columns["element"] = elements_column(numbers.values, told)
        source = "masses" if masses.values else "type labels"
        pairs = ", ".join(f"{kind}={told[kind]}" for kind in used if kind in told)
        missing = ", ".join(str(kind) for kind in used if kind not in told)
        rest = f", those of type {missing} are not known" if missing else ""
        how = "guessed from" if guess else "told by"
        snapshot.notes.append(Note(f"the elements are {how} the {source}: {pairs}{rest}"))

    def _note_unterminated(self, parts: Parts, sections: dict[str, Section], snapshot: Snapshot) -> None:
        last = max(sections.values(), key=lambda each: each.line, default=None)
        if last is None or last.stop < len(parts.data):
            return
        line = parts.data.count(b"\n") + 1
        if self._options.strict:
            raise TruncatedError("the last line has no line end", path=self._path, line=line)
        snapshot.notes.append(Note("the last line has no line end, its last number may be cut short", line=line))


def _facts(
    parts: Parts, header: Header, sections: dict[str, Section], types: dict[str, Types], masses: Masses
) -> dict[str, Any]:
    """What an exporter restores: the title, counts that do not follow from the atoms, sections kept as text."""
    kept = {
        "types": {kind: header.count(f"{kind} types") for kind in PLURALS if header.count(f"{kind} types")},
        "other": header.other,
    }
    texts: dict[str, list[str]] = {"lammps_coeffs_text": [], "lammps_sections_text": []}
    for section in sections.values():
        if section.name not in PARSED:
            key = "lammps_coeffs_text" if section.name.endswith("Coeffs") else "lammps_sections_text"
            texts[key].append(_section_text(parts, section))
    labels = {kind: {str(k): label for k, label in each.labels.items()} for kind, each in types.items() if each.labels}
    facts: dict[str, Any] = {
        "lammps_title": kept_title(header.title),
        "lammps_header": {key: value for key, value in kept.items() if value},
        "lammps_type_masses": {str(kind): mass for kind, mass in masses.values.items()},
        "lammps_mass_comments": {str(kind): text for kind, text in masses.comments.items()},
        "lammps_type_labels": labels,
        **{key: "\n".join(text) for key, text in texts.items()},
    }
    return {key: value for key, value in facts.items() if value}


def _section_text(parts: Parts, section: Section) -> str:
    """A section as it stands in the file, its keyword with one blank line after it."""
    hint = f" # {section.hint}" if section.hint else ""
    body = decoded(parts.data[section.start : section.stop]).replace("\r\n", "\n")
    return f"{section.name}{hint}\n\n{body.rstrip()}\n"


def _looks_like_data(head: bytes) -> bool:
    """Whether there are header lines of a data file after the first line, which may say anything."""
    rest = head.partition(b"\n")[2]
    return HEADER.search(rest) is not None and EXTENT.search(rest) is not None


FORMAT = Adapter(
    name="lammps-data",
    summary="LAMMPS data file",
    reference="https://docs.lammps.org/read_data.html",
    patterns=("*.data", "data.*", "*.lmp", "*.lammps-data", "*.lmpdat"),
    sniff=_looks_like_data,
    series=False,
    carries=CARRIES,
    lost=lost,
    layout=FACTS - {"lammps_coeffs_text", "lammps_sections_text"},
    importer=DataImporter,
    exporter=DataExporter,
    options=frozenset(("units", "atom_style", "type_map", "guess", "keep_order", "unwrap")),
    export_options=frozenset(("units", "decimals")),
    role="structure",
)
