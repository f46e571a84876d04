"""A LAMMPS data file taken apart: its header, and its sections with the bytes of their lines.

Reference: https://docs.lammps.org/read_data.html

Decisions: a section goes as far as the header's counts say, and else to the next keyword, which is a name of the
manual, or a line of words between blank lines. Blank lines after a keyword, and comments there, are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.text.lines import count_lines, skip_lines
from molrec_convert.text.numbers import parse_integer, parse_real
from molrec_convert.text.table import ScanError, scan_table

TOPOLOGY = ("bonds", "angles", "dihedrals", "impropers")
PLURALS = {"atom": "atoms", "bond": "bonds", "angle": "angles", "dihedral": "dihedrals", "improper": "impropers"}
COUNTED = (*PLURALS.values(), *(f"{name} types" for name in PLURALS))
"""Header lines of one count that the reader looks at; others are kept."""
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
COMMENT = re.compile(rb"(?:^|(?<=[ \t]))#([^\r\n]*)", re.MULTILINE)
"""A comment, which begins a line or follows a blank: a label may hold ``#``."""
PADDED_COMMENT = re.compile(rb"[ \t]*(?:^|(?<=[ \t]))#[^\r\n]*", re.MULTILINE)
LONGEST = 4096
"""No line of a header is longer."""
NUMBER = re.compile(rb"[-+.\d]")
BOUNDS = {b"xlo xhi": 0, b"ylo yhi": 1, b"zlo zhi": 2}
TILT, ORIGIN = b"xy xz yz", b"abc origin"
VECTORS = {b"avec": 0, b"bvec": 1, b"cvec": 2}
PHRASES = frozenset((*BOUNDS, *VECTORS, TILT, ORIGIN, *(name.encode() for name in COUNTED)))
"""How the header lines end that the reader looks at."""


@dataclass(slots=True)
class Header:
    """What stands before the first section."""

    title: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    other: list[str] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=lambda: [(-0.5, 0.5)] * 3)
    tilt: tuple[float, float, float] | None = None
    vectors: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    origin: tuple[float, float, float] | None = None
    line: int = 1

    def count(self, name: str) -> int:
        """A count of the header, 0 where it does not state it."""
        return self.counts.get(name, 0)


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


class Parts:
    """The parts of a file, found as they are read.

    Parameters
    ----------
    data
        The file.
    path
        Its name, for errors.

    Raises
    ------
    FormatError
        Where it holds a NUL, as no text does.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path
        self._position = 0
        self._line = 1
        if (place := data.find(b"\0")) >= 0:
            raise self.error("a NUL byte: this is no text", 1 + data.count(b"\n", 0, place))

    def error(self, message: str, line: int) -> FormatError:
        """An error at a line."""
        return FormatError(message, path=self.path, line=line)

    # ------------------------------------------------------------ lines
    def _next(self) -> bytes | None:
        """Pass a line and give it without its end; None at the end."""
        if self._position >= len(self.data):
            return None
        end = self.data.find(b"\n", self._position)
        end = len(self.data) if end < 0 else end
        line = self.data[self._position : end]
        self._position, self._line = min(end + 1, len(self.data)), self._line + 1
        return line.removesuffix(b"\r")

    def _skip_blanks(self) -> bool:
        """Pass blank lines and comments; whether there is something after them."""
        while True:
            position, number = self._position, self._line
            line = self._next()
            if line is None:
                return False
            if not is_blank(line):
                self._position, self._line = position, number
                return True

    # ------------------------------------------------------------ the header
    def header(self) -> Header:
        """Read the header; the first section comes next."""
        header = Header(title_of(self._next() or b""))
        while self._skip_blanks():
            line = self.data[self._position : self._position + LONGEST].split(b"\n", 1)[0]
            words = COMMENT.sub(b"", line).split()
            if not NUMBER.match(words[0]) and _phrase_of(words) is None:
                break
            self._next()
            self._header_line(header, words, self._line - 1)
        header.line = self._line
        if "atoms" not in header.counts:
            what = "a line such as '100 atoms' is due in the header"
            if re.fullmatch(r"\s*\d+\s+atoms\s*", header.title):
                what = "the first line is a title and counts for nothing: " + what
            raise self.error(what, min(self._line, 1 + count_lines(self.data)))
        return header

    def _header_line(self, header: Header, words: list[bytes], line: int) -> None:
        name = _phrase_of(words)
        if name is None:
            header.other.append(b" ".join(words).decode("utf-8", "backslashreplace"))
            return
        numbers = len(words) - name.count(b" ") - 1
        key = name.decode()
        if key in COUNTED:
            if numbers != 1:
                raise self.error(f"one number of {key} is due, not {numbers}", line)
            if key in header.counts:
                raise self.error(f"the number of {key} comes twice", line)
            header.counts[key] = self._integer(words[0], f"the number of {key}", line)
        elif name in BOUNDS:
            lo, hi = self._reals(words[:numbers], 2, key, line)
            if hi < lo:
                raise self.error(f"{key}: the upper bound {hi!r} is below the lower {lo!r}", line)
            header.bounds[BOUNDS[name]] = (lo, hi)
        elif name == TILT:
            xy, xz, yz = self._reals(words[:numbers], 3, key, line)
            header.tilt = (xy, xz, yz)
        else:
            x, y, z = self._reals(words[:numbers], 3, key, line)
            if name in VECTORS:
                header.vectors[VECTORS[name]] = (x, y, z)
            else:
                header.origin = (x, y, z)

    def _integer(self, token: bytes, what: str, line: int) -> int:
        try:
            value = parse_integer(token)
        except ValueError as error:
            raise self.error(f"{what}: {error}", line) from None
        if value < 0:
            raise self.error(f"{what} is {value}", line)
        return value

    def _reals(self, tokens: list[bytes], due: int, what: str, line: int) -> list[float]:
        if len(tokens) != due:
            raise self.error(f"{due} numbers are due before {what}, not {len(tokens)}", line)
        try:
            values = [parse_real(token) for token in tokens]
        except ValueError as error:
            raise self.error(f"{what}: {error}", line) from None
        if not np.isfinite(values).all():
            raise self.error(f"{what}: {values} are not finite", line)
        return values

    # ------------------------------------------------------------ the sections
    def sections(self, header: Header) -> Iterator[Section]:
        """Go through the sections in their order."""
        while self._skip_blanks():
            number, start = self._line, self._position
            line = self._next() or b""
            if not line.strip()[:1].isalpha():
                raise self.error(f"the name of a section is due, not {quoted(line)}", number)
            words = COMMENT.sub(b"", line).split()
            found = COMMENT.search(line)
            hint = "" if found is None else text_of(found[1]).strip()
            name = text_of(b" ".join(words))
            if not KNOWN.fullmatch(b" ".join(words)) and not self._stands_alone(start, self._position - 1):
                raise self.error(f"{quoted(line)} is neither a line of the header nor the name of a section", number)
            self._skip_blanks()
            section = Section(name, hint, number, self._line, self._position, self._position)
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
        self._position, self._line = end, section.first + lines
        if self._skip_blanks() and not self.data[self._position : self._position + LONGEST].lstrip()[:1].isalpha():
            return False
        section.stop, section.rows = end, lines
        return True

    def _pass_to_keyword(self, section: Section) -> None:
        end = self._end_of(section)
        section.stop = section.start + len(self.data[section.start : end].rstrip())
        if section.stop < len(self.data) and section.stop > section.start:
            section.stop = self.data.index(b"\n", section.stop) + 1 if b"\n" in self.data[section.stop : end] else end
        self._line = section.first + count_lines(memoryview(self.data)[section.start : end])
        self._position = end

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


def _phrase_of(words: list[bytes]) -> bytes | None:
    """What a header line states, by its last words."""
    for count in (1, 2, 3):
        phrase = b" ".join(words[-count:])
        if phrase in PHRASES:
            return phrase
    return None


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but perhaps a comment."""
    text = line.strip()
    return not text or text.startswith(b"#")


def title_of(line: bytes) -> str:
    """The first line as text."""
    return text_of(line).rstrip()


def text_of(raw: bytes) -> str:
    """Bytes as UTF-8, else as Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def quoted(raw: bytes) -> str:
    """A line for a message."""
    text = raw.decode("utf-8", "backslashreplace").strip()
    return repr(text if len(text) <= 40 else text[:40] + "…")


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
    return "" if found is None else text_of(found[1]).strip()
