"""The sections of a LAMMPS data file, and the lines that they have.

Reference: https://docs.lammps.org/read_data.html

Decisions: a section goes as far as the header's counts say, and else to the next keyword, which is a name of the
manual, or a line of words between blank lines. Blank lines after a keyword, and comments there, are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from molrec_convert.errors import FormatError
from molrec_convert.text.lines import count_lines, decoded, skip_lines
from molrec_convert.text.table import ScanError, scan_table

from ._data_header import COMMENT, LONGEST, PLURALS, TOPOLOGY, Cursor, Header, is_blank, quoted

LABELS = {f"{name.capitalize()} Type Labels": name for name in PLURALS}
LENGTHS = {
    "Masses": "atom types",
    "Atoms": "atoms",
    "Velocities": "atoms",
    **{name.capitalize(): name for name in TOPOLOGY},
    **{section: f"{name} types" for section, name in LABELS.items()},
}
"""The header's count that says how many lines a section has."""

KNOWN = re.compile(
    rb"(Masses|Atoms|Velocities|Bonds|Angles|Dihedrals|Impropers|Ellipsoids|Lines|Triangles|Bodies"
    rb"|(Atom|Bond|Angle|Dihedral|Improper) +Type +Labels|[A-Z][A-Za-z]+ +Coeffs)"
)
WORDED = re.compile(rb"^[ \t]*[A-Za-z][^\n]*", re.MULTILINE)
PADDED_COMMENT = re.compile(rb"[ \t]*(?:^|(?<=[ \t]))#[^\r\n]*", re.MULTILINE)


@dataclass(slots=True)
class Section:
    """A section of the file.

    Parameters
    ----------
    name, hint
        Its keyword, and the comment beside it.
    line
        1-based line of the keyword.
    first
        1-based line of the first line of data.
    start, stop
        Where its lines of data lie, without the blank lines after them.
    rows
        How many lines of data these are where the header says so and nothing else follows them; else None.
    """

    name: str
    hint: str
    line: int
    first: int
    start: int
    stop: int
    rows: int | None = None


class Parts(Cursor):
    """The parts of a file, found as they are read."""

    def sections(self, header: Header) -> Iterator[Section]:
        """Go through the sections in their order."""
        while self.skip_blanks():
            number, start = self.line, self.position
            line = self.next() or b""
            if not line.strip()[:1].isalpha():
                raise self.error(f"the name of a section is due, not {quoted(line)}", number)
            words = COMMENT.sub(b"", line).split()
            found = COMMENT.search(line)
            hint = "" if found is None else decoded(found[1]).strip()
            name = decoded(b" ".join(words))
            if not KNOWN.fullmatch(b" ".join(words)) and not self._stands_alone(start, self.position - 1):
                raise self.error(f"{quoted(line)} is neither a line of the header nor the name of a section", number)
            self.skip_blanks()
            section = Section(name, hint, number, self.line, self.position, self.position)
            due = header.counts.get(LENGTHS[name]) if name in LENGTHS else None
            if due is None or not self._pass(section, due):
                self._pass_to_keyword(section)
            yield section

    def _pass(self, section: Section, lines: int) -> bool:
        """Pass as many lines; whether the section ends there."""
        passed, end = skip_lines(self.data, section.start, lines)
        if passed < lines:
            if passed + 1 < lines or end >= len(self.data):
                return False
            end = len(self.data)
        self.position, self.line = end, section.first + lines
        if self.skip_blanks() and not self.data[self.position : self.position + LONGEST].lstrip()[:1].isalpha():
            return False
        section.stop, section.rows = end, lines
        return True

    def _pass_to_keyword(self, section: Section) -> None:
        end = self._end_of(section)
        section.stop = section.start + len(self.data[section.start : end].rstrip())
        if section.stop < len(self.data) and section.stop > section.start:
            section.stop = self.data.index(b"\n", section.stop) + 1 if b"\n" in self.data[section.stop : end] else end
        self.line = section.first + count_lines(memoryview(self.data)[section.start : end])
        self.position = end

    def _end_of(self, section: Section) -> int:
        """Where the lines of a section end: at the next keyword."""
        for found in WORDED.finditer(self.data, section.start):
            name = COMMENT.sub(b"", found[0]).strip()
            if KNOWN.fullmatch(name):
                return found.start()
            if found.start() > section.start and self._stands_alone(found.start(), found.end()):
                return found.start()
        return len(self.data)

    def _stands_alone(self, start: int, end: int) -> bool:
        """Whether there is a blank line before and after."""
        before = self.data[self.data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start]
        after = self.data[end + 1 : end + 1 + LONGEST].split(b"\n", 1)[0]
        return not before.strip() and is_blank(after)

    # ------------------------------------------------------------ the lines of a section
    def lines(self, section: Section, due: int | None) -> Lines:
        """The lines of a section, of which so many are due.

        Raises
        ------
        FormatError
            With the line of the keyword, where there are more or fewer.
        """
        if section.rows is None:
            return self._filtered(section, due)
        data = memoryview(self.data)[section.start : section.stop]
        if self.data.find(b"#", section.start, section.stop) < 0:
            return Lines(section, data, section.rows)
        plain = bytes(data)
        comments = [_comment(line) for line in plain.split(b"\n")[: section.rows]]
        plain = PADDED_COMMENT.sub(b"", plain)
        return Lines(section, plain, section.rows, None, comments if any(comments) else None)

    def _filtered(self, section: Section, due: int | None) -> Lines:
        """The same without blank lines and comments of their own, up to the next keyword."""
        rows, numbers, comments = [], [], []
        stop = section.stop if section.rows is None else self._end_of(section)
        for number, line in enumerate(self.data[section.start : stop].split(b"\n"), section.first):
            if not is_blank(line):
                rows.append(PADDED_COMMENT.sub(b"", line))
                numbers.append(number)
                comments.append(_comment(line))
        if due is not None and len(rows) != due:
            message = f"the header says {due} {LENGTHS[section.name]}, the section {section.name} has {len(rows)}"
            raise self.error(message, section.line)
        return Lines(section, b"\n".join(rows), len(rows), numbers, comments if any(comments) else None)

    def scan(self, lines: Lines, kinds: str, names: Sequence[str]) -> tuple[list[Any], Lines]:
        """The columns of the lines of a section, by the letters of `scan_table`; and the lines, mended where due.

        Raises
        ------
        FormatError
            With the line that has other columns.
        """
        try:
            return scan_table(lines.data, kinds, lines.count).columns, lines
        except ScanError as error:
            fault = error
        if lines.numbers is None:
            filtered = self._filtered(lines.section, lines.count)
            if filtered.numbers != list(range(lines.section.first, lines.section.first + lines.count)):
                return self.scan(filtered, kinds, names)
        raise ColumnError(fault, names, lines, self.path)


class ColumnError(FormatError):
    """A line of a section that does not hold what it should."""

    def __init__(self, fault: ScanError, names: Sequence[str], lines: Lines, path: str) -> None:
        row = f"a line of {lines.section.name}"
        where = "" if fault.column < 0 or fault.kind == "columns" else f"column {names[fault.column]}: "
        super().__init__(where + fault.describe(row), path=path, line=lines.number(fault.row))
        self.fault = fault


@dataclass(slots=True)
class Lines:
    """The lines of data of a section, without their comments.

    Parameters
    ----------
    section
        Where they stand.
    data
        Their text.
    count
        How many there are.
    numbers
        The 1-based number of each in the file; None where they follow each other.
    comments
        The comment of each, without ``#``; None where there is none.
    """

    section: Section
    data: bytes | memoryview
    count: int
    numbers: list[int] | None = None
    comments: list[str] | None = None

    def number(self, row: int) -> int:
        """The line of the file that a row is."""
        return self.section.first + row if self.numbers is None else self.numbers[row]

    def first_row(self) -> list[bytes]:
        """The tokens of the first row."""
        return bytes(self.data[:LONGEST]).split(b"\n", 1)[0].split() if self.count else []


def _comment(line: bytes) -> str:
    found = COMMENT.search(line)
    return "" if found is None else decoded(found[1]).strip()
