"""The header of a LAMMPS data file: counts, and the cell.

Reference: https://docs.lammps.org/read_data.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.text.lines import BOM, count_lines, decoded
from molrec_convert.text.numbers import parse_integer, parse_real

TOPOLOGY = ("bonds", "angles", "dihedrals", "impropers")
PLURALS = {"atom": "atoms", "bond": "bonds", "angle": "angles", "dihedral": "dihedrals", "improper": "impropers"}
COUNTED = (*PLURALS.values(), *(f"{name} types" for name in PLURALS))
"""Header lines of one count that the reader looks at; others are kept."""
COMMENT = re.compile(rb"(?:^|(?<=[ \t]))#([^\r\n]*)", re.MULTILINE)
"""A comment, which begins a line or follows a blank: a label may hold ``#``."""
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


class Cursor:
    """A file as it is read from its beginning, and its header.

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
        self.position = 0
        self.line = 1
        if (place := data.find(b"\0")) >= 0:
            raise self.error("a NUL byte: this is no text", 1 + data.count(b"\n", 0, place))

    def error(self, message: str, line: int) -> FormatError:
        """An error at a line."""
        return FormatError(message, path=self.path, line=line)

    # ------------------------------------------------------------ lines
    def next(self) -> bytes | None:
        """Pass a line and give it without its end; None at the end."""
        if self.position >= len(self.data):
            return None
        end = self.data.find(b"\n", self.position)
        end = len(self.data) if end < 0 else end
        line = self.data[self.position : end]
        self.position, self.line = min(end + 1, len(self.data)), self.line + 1
        return line.removesuffix(b"\r")

    def skip_blanks(self) -> bool:
        """Pass blank lines and comments; whether there is something after them."""
        while True:
            position, number = self.position, self.line
            line = self.next()
            if line is None:
                return False
            if not is_blank(line):
                self.position, self.line = position, number
                return True

    # ------------------------------------------------------------ the header
    def header(self) -> Header:
        """Read the header; the first section comes next."""
        header = Header(title_of(self.next() or b""))
        while self.skip_blanks():
            line = self.data[self.position : self.position + LONGEST].split(b"\n", 1)[0]
            words = COMMENT.sub(b"", line).split()
            if not NUMBER.match(words[0]) and _phrase_of(words) is None:
                break
            self.next()
            self._header_line(header, words, self.line - 1)
        header.line = self.line
        if "atoms" not in header.counts:
            what = "a line such as '100 atoms' is due in the header"
            if re.fullmatch(r"\s*\d+\s+atoms\s*", header.title):
                what = "the first line is a title and counts for nothing: " + what
            raise self.error(what, min(self.line, 1 + count_lines(self.data)))
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
    return decoded(line.removeprefix(BOM)).rstrip()


def quoted(raw: bytes) -> str:
    """A line for a message."""
    text = raw.decode("utf-8", "backslashreplace").strip()
    return repr(text if len(text) <= 40 else text[:40] + "…")
