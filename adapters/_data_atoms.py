"""The atoms and velocities of a LAMMPS data file: from the lines of their sections to the columns of a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.errors import FormatError, OptionError
from molrec_convert.mapping.names import REDUCED
from molrec_convert.model import Column
from molrec_convert.model.dtypes import STRING
from molrec_convert.options import Options
from molrec_convert.text.lines import decoded

from ._data_header import TOPOLOGY, Header
from ._data_infer import candidates
from ._data_sections import ColumnError, Lines, Parts, Section
from ._data_styles import IMAGES, NAMES, VELOCITIES, AtomStyle, row_of, styles_hinted, styles_named
from ._data_topology import Ids
from ._data_types import Types, as_text
from ._dump_columns import SIGNED, Row
from ._lammps import Style

Array = np.ndarray[Any, Any]

WITH_IMAGES = "write_data"
"""In the title of a file whose atom lines end in images, whatever stands before them."""
I32 = np.iinfo(np.int32)


class AtomsReader:
    """Reads the sections ``Atoms`` and ``Velocities`` of one file."""

    def __init__(
        self,
        parts: Parts,
        header: Header,
        sections: dict[str, Section],
        units: Style,
        types: Types,
        options: Options,
        notes: list[Note],
    ) -> None:
        self._parts = parts
        self._header = header
        self._sections = sections
        self._units = units
        self._types = types
        self._options = options
        self._notes = notes
        self.style = AtomStyle("", ())

    # ------------------------------------------------------------ the style
    def _choose(self, section: Section, lines: Lines) -> bool:
        """Find the style and whether images follow its columns."""
        width = len(lines.first_row())
        given = self._options.atom_style
        if given is not None:
            styles = styles_named(given) or styles_named(given.lower())
            if not styles:
                raise OptionError(f"there is no atom style {given!r}; they are {', '.join(NAMES)}, a hybrid of these "
                                  "such as 'hybrid sphere bond', or the columns such as 'id type x y z'")  # fmt: skip
        else:
            styles = styles_hinted(section.hint)
        for style in styles:
            images = self._fit(style, width, lines)
            if images is not None:
                self.style = style.widened(width - 3 * images)
                return images
        found = self._candidates(lines)
        if given is None and not styles and len(found) == 1:
            self.style = self._usual(found[0])
            self._notes.append(Note(f"the section Atoms does not say its atom style; only {self.style.name} fits its "
                                    "lines, --atom-style says another", line=section.line))  # fmt: skip
            return width > len(self.style.columns)
        raise self._unknown(section, lines, styles, [self._usual(each).name for each in found])

    def _fit(self, style: AtomStyle, width: int, lines: Lines) -> bool | None:
        """Whether a style's lines have images, where they are so wide; None where its lines are of another width."""
        count = len(style.columns)
        if style.further is None:
            return {count: False, count + 3: True}.get(width)
        if width < count:
            return None
        ends = all(token.lstrip(b"+-").isdigit() for token in lines.first_row()[-3:])
        return width >= count + 3 and ends and WITH_IMAGES in self._header.title

    def _candidates(self, lines: Lines) -> list[AtomStyle]:
        there = (name for name in TOPOLOGY if name.capitalize() in self._sections)
        blocks = frozenset(name for name in there if self._header.count(name))
        return candidates(lines, self._header, labels=bool(self._types.labels), blocks=blocks)

    def _usual(self, style: AtomStyle) -> AtomStyle:
        """The style of the same columns that holds all kinds of topology."""
        if style.topology == ("bonds",) and style.name == "bond":
            return styles_named("molecular")[0]
        return style

    def _unknown(
        self, section: Section, lines: Lines, styles: tuple[AtomStyle, ...], found: list[str]
    ) -> FormatError | OptionError:
        width = len(lines.first_row())
        if styles:
            counts = " or ".join(str(len(style.columns)) for style in styles)
            message = (
                f"a line of atom style {styles[0].name} has {counts} columns, or 3 more with images, this one {width}"
            )
            if self._options.atom_style is not None:
                return OptionError(message, path=self._parts.path, line=lines.number(0))
            hint = f"; {' and '.join(found)} have as many: say --atom-style" if found else ""
            return FormatError(message + hint, path=self._parts.path, line=lines.number(0))
        if found:
            said = f"says {section.hint!r}, which is no atom style" if section.hint else "does not say its atom style"
            message = f"the section Atoms {said}, its lines may be of {' or '.join(found)}: say --atom-style"
        else:
            message = f"no atom style has such lines of {width} columns: say --atom-style, or name the columns there"
        return FormatError(message, path=self._parts.path, line=section.line)

    # ------------------------------------------------------------ the columns
    def columns(self, section: Section) -> dict[str, Column]:
        """The columns of atoms, their rows in the order of the file."""
        lines = self._parts.lines(section, self._header.count("atoms"))
        images = self._choose(section, lines)
        rows = [*self.style.rows, *(row_of(name) for name in IMAGES if images)]
        found, rows, lines = self._scan(lines, rows)
        columns: dict[str, Column] = {}
        for row, values in zip(rows, found, strict=True):
            columns[self._target(row)] = self._column(row, values, lines)
        if (signed := SIGNED["mol"]) in columns:
            values = columns[signed].values
            columns["mol_id"] = Column.of(np.where(values < 0, 0, values).astype(np.uint64), values >= 0)
        if lines.comments is not None:
            columns["comment"] = Column.of(np.array(lines.comments, dtype=STRING))
        return columns

    def add_labels(self, columns: dict[str, Column]) -> None:
        """Add the labels of the types, where they have some."""
        numbers = columns["type_id"].values
        labels = self._types.column(numbers, always=False)
        if labels is not None:
            columns["type"] = labels
            if self._types.numbered:
                columns["label"] = as_text(numbers)

    def _scan(self, lines: Lines, rows: list[Row]) -> tuple[list[Any], list[Row], Lines]:
        names = tuple(row.source for row in rows)
        kinds = "".join(row.kind for row in rows)
        place = names.index("type")
        try:
            found, lines = self._types.scan(self._parts, lines, kinds, place, names)
        except ColumnError as error:
            fault = error.fault
            if fault.letter != "u" or fault.kind != "number" or fault.token[:1] != "-" or names[fault.column] != "mol":
                raise
            rows[fault.column] = Row("mol", SIGNED["mol"], "i")
            return self._scan(lines, rows)
        return found, rows, lines

    def _target(self, row: Row) -> str:
        return REDUCED.get(row.target, row.target) if self._units.dimensionless else row.target

    def _column(self, row: Row, values: Any, lines: Lines) -> Column:
        if row.kind == "s":
            codes, words = values
            texts = np.array([decoded(word) for word in words], dtype=STRING)
            return Column.of(texts[codes] if len(words) else np.zeros(0, dtype=STRING))
        if row.source in IMAGES:
            wide = (values < I32.min) | (values > I32.max)
            if wide.any():
                place = int(np.argmax(wide))
                raise self._parts.error(f"the image {values[place]} does not fit 32 bits", lines.number(place))
            return Column.of(values.astype(np.int32))
        scale = self._units.factor(row.quantity)
        return Column.of(values if scale == 1.0 or values.dtype.kind != "f" else values * scale)

    # ------------------------------------------------------------ velocities
    def velocities(self, section: Section, ids: Ids) -> dict[str, Column]:
        """The columns of the section ``Velocities``, each row that of the atom of its id."""
        count = self._header.count("atoms")
        lines = self._parts.lines(section, count)
        width = len(lines.first_row())
        names = (*VELOCITIES, *self._spin(width - 4))
        if width not in (4, 1 + len(names)):
            due = f"4 columns or {1 + len(names)}" if len(names) > 3 else "4 columns"
            message = f"a line of Velocities has {due}, this one {width}"
            raise self._parts.error(message, lines.number(0) if lines.count else section.line)
        names = names[: width - 1]
        (numbers, *found), lines = self._parts.scan(lines, "u" + "d" * len(names), ("id", *names))
        rows, known = ids.rows(numbers)
        if not known.all():
            place = int(np.argmin(known))
            raise self._parts.error(f"there is no atom of id {numbers[place]}", lines.number(place))
        if not (np.bincount(rows.astype(np.intp), minlength=count) == 1).all():
            ranked = np.sort(numbers)
            twice = ranked[1:][ranked[1:] == ranked[:-1]][0]
            place = int(np.nonzero(numbers == twice)[0][1])
            raise self._parts.error(f"the atom of id {twice} has two velocities", lines.number(place))
        order = None if (rows[1:] > rows[:-1]).all() else np.argsort(rows)
        columns = {}
        for name, values in zip(names, found, strict=True):
            scale = self._units.factor(row_of(name).quantity)
            sorted_ = values if order is None else values[order]
            columns[name] = Column.of(sorted_ if scale == 1.0 else sorted_ * scale)
        if lines.comments is not None:
            self._notes.append(Note("the comments of the section Velocities are left out", line=section.line))
        return columns

    def _spin(self, width: int) -> tuple[str, ...]:
        """What follows the velocities, of which there are so many columns."""
        if self.style.spin is not None:
            return self.style.spin
        if width == 3 and "Ellipsoids" in self._sections:
            return ("angmomx", "angmomy", "angmomz")
        return tuple(f"velocity_{k + 4}" for k in range(max(0, width)))
