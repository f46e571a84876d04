"""Where the frames of a PDB file lie: between MODEL and ENDMDL, or parted by END, or the whole file.

A model that lacks its ENDMDL ends where the next begins. Bonds that follow the last ENDMDL are those of all models, so
they are looked up before the first one is given: at the end of a file that can be read anywhere, else by holding models
back, up to a limit.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from molrec_convert.adapter import Note, Span
from molrec_convert.errors import FormatError, TruncatedError
from molrec_convert.text.lines import find_line
from molrec_convert.text.window import Window

LONGEST_HEADER = 64 << 20
"""Bytes before the first atom; a file with more is no PDB."""
HELD_BACK = 64 << 20
"""Bytes of models that are held back until the bonds at the end of a stream are known."""
TAIL = PIECE = 1 << 16
"""Bytes that are looked at at once, at the end of a file and at its beginning."""

BEFORE = [b"ATOM", b"HETATM", b"MODEL", b"END", b"CRYST1", b"CONECT"]
FIRST = [b"ATOM", b"HETATM", b"MODEL"]
ATOMS = (b"ATOM  ", b"HETATM")
INSIDE = [b"MODEL", b"END", b"CRYST1"]
END = b"END"
BEHIND = frozenset((b"", b"CONECT", b"MASTER", b"TER"))
"""Records that may follow the last model."""
CELL, BONDS = (re.compile(rb"^%b.*" % word, re.IGNORECASE | re.MULTILINE) for word in (b"CRYST1", b"CONECT"))
POSITION_END, NUMBER_ENDS = 54, (60, 66)
"""Where the positions of an atom line end, and the numbers that follow them."""


@dataclass(slots=True)
class Place:
    """What the frame of a span needs besides its bytes.

    Parameters
    ----------
    model
        The number of its MODEL; of a file of several frames without MODEL, which one it is.
    header
        The text before the first frame.
    cell
        The CRYST1 record that stands before it, and its line.
    bonds
        The CONECT records that follow its ENDMDL.
    shared_bonds
        Those that follow the last ENDMDL, or stand before all atoms.
    tail
        Other text after the last frame.
    notes
        What was noticed.
    """

    model: int | None = None
    header: bytes = b""
    cell: tuple[bytes, int] | None = None
    bonds: bytes = b""
    shared_bonds: bytes = b""
    tail: bytes = b""
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """A frame that was found: its bytes, and what is known of it so far."""

    line: int
    offset: int
    cell: tuple[bytes, int] | None
    in_model: bool = False
    number: int | None = None
    atoms: bool = False
    closed: bool = False
    lines: int = 0
    size: int = 0
    data: bytes | None = None
    bonds_before: list[bytes] = field(default_factory=list)


class FrameFinder:
    """Finds the frames of a source, one after the other."""

    def __init__(self, window: Window, path: str, *, keep: bool) -> None:
        self._window, self._path, self._keep = window, path, keep
        self._cell: tuple[bytes, int] | None = None
        self._modelled = False
        self._bonds_before = b""
        self._last_lines = 0, 0
        """The lines of the last frame, where that was a whole model, and those of them that were passed unseen."""

    def spans(self) -> Iterator[Span]:
        """The frames in order; see `molrec_convert.adapter.Importer.index`."""
        header = self._header()
        held: deque[Span] = deque()
        known: bytes | None = None
        ordinal, held_bytes = 0, 0
        previous: Draft | None = None
        while (draft := self._next()) is not None and (draft.atoms or draft.in_model):
            place = Place(draft.number, header, draft.cell)
            if previous is not None:
                held[-1].context.bonds = b"\n".join(draft.bonds_before)
            try:
                self._check_end(draft, previous, ordinal, place)
            except TruncatedError:
                yield from self._last(held, None, known)
                raise
            known = self._bonds_at_end() if not ordinal and draft.closed and draft.in_model else known
            held.append(Span(ordinal, draft.line, draft.offset, draft.size, place, draft.data))
            held_bytes += draft.size
            while len(held) > 1 and (known is not None or not self._modelled or held_bytes > HELD_BACK):
                held_bytes -= held[0].size
                yield self._ready(held.popleft(), known or b"", alone=False)
            previous, ordinal = draft, ordinal + 1
        if not held:
            raise FormatError("there is no ATOM or HETATM record", path=self._path, line=self._window.line - 1 or 1)
        yield from self._last(held, draft, known)

    def _ready(self, span: Span, shared: bytes, *, alone: bool) -> Span:
        place: Place = span.context
        place.shared_bonds = shared if not self._bonds_before else self._bonds_before + b"\n" + shared
        if place.model is None and not (alone and not self._modelled):
            place.model = span.ordinal + 1
        return span

    def _last(self, held: deque[Span], end: Draft | None, known: bytes | None) -> Iterator[Span]:
        """The frames held back, with what follows the last of them."""
        alone = len(held) == 1 and not held[0].ordinal
        if end is None:
            for span in held:
                yield self._ready(span, known or b"", alone=alone)
            return
        shared, tail = b"\n".join(end.bonds_before), self._end_of(end)
        line = self._window.line - 1
        self._refuse_nul(tail, line)
        records = {text[:6].upper().rstrip() for text in tail.splitlines()} - BEHIND
        whole = not self._modelled or not records or END in records
        last: Place = held[-1].context
        last.tail = tail if whole else b""
        if shared and known is None and held[0].ordinal:
            what = f"bonds behind the last model of a stream are left out of the first {held[0].ordinal} models"
            last.notes.append(Note(what, line=line))
        for span in held:
            yield self._ready(span, shared, alone=alone)
        if not whole:
            raise TruncatedError("the file ends before a model", path=self._path, line=line, frame=held[-1].ordinal + 1)

    # ------------------------------------------------------------ before the frames
    def _header(self) -> bytes:
        """The text before the first model or atom; its last CRYST1 is the cell."""
        window, first, parts, size = self._window, self._window.line, [], 0
        while piece := window.peek(PIECE):
            passed, place = find_line(piece, 0, FIRST)
            parts.append(piece[:place])
            window.skip_lines(passed)
            if window.begins(FIRST):
                break
            if not passed:  # a long line, or the last one, which has no end
                parts.append((window.next_line() or b"") + b"\n")
            size += len(parts[-1])
            if size > LONGEST_HEADER:
                raise FormatError("there is no ATOM or HETATM record", path=self._path, line=window.line - 1)
        header = b"".join(parts)
        if b"\0" in header:
            self._refuse_nul(header, first + header.count(b"\n", 0, header.index(b"\0")))
        self._bonds_before = b"\n".join(BONDS.findall(header))
        last = deque(CELL.finditer(header), maxlen=1)
        if last:
            self._cell = (last[0][0].rstrip(b"\r"), first + header.count(b"\n", 0, last[0].start()))
        return header

    def _refuse_nul(self, text: bytes, line: int) -> None:
        if b"\0" in text:
            raise FormatError("a NUL stands in the text", path=self._path, line=line)

    def _bonds_at_end(self) -> bytes | None:
        """The bonds behind the last model; None where the end cannot be read yet."""
        stream = self._window.stream
        if not stream.seekable or stream.size is None:
            return None
        size = TAIL
        while True:
            start = max(self._window.offset, stream.size - size)
            text = stream.read_at(start, stream.size - start).upper()
            marks = [text.rfind(b"\n" + mark) for mark in (b"ENDMDL", b"ATOM", b"HETATM")]
            if max(marks) >= 0 or start == self._window.offset:
                break
            size *= 8
        if max(marks[1:]) > marks[0]:
            return b""
        tail = text[max(marks[0], 0) :].splitlines()
        return b"\n".join(line for line in tail if line.startswith(b"CONECT"))

    # ------------------------------------------------------------ one frame
    def _again(self) -> Draft | None:
        """The next frame where it is a model of as many lines as the last one, and in memory as a whole."""
        window, (lines, counted) = self._window, self._last_lines
        found = next(window.runs(1, lines - 1), None) if lines and self._keep else None
        if found is None:
            return None
        model, body = found
        digits = model[5:].strip()
        is_model = model[:5] == b"MODEL" and digits.isdigit() and len(digits) < 19
        if not is_model or not body.startswith(ATOMS) or body[find_line(body, 0, INSIDE)[1] :].rstrip() != b"ENDMDL":
            return None
        draft = Draft(window.line, window.offset, self._cell, True, int(digits), True, True, counted)
        draft.size, draft.data = len(model) + len(body), model + body
        window.skip_looked_at(draft.size, lines)
        return draft

    def _next(self) -> Draft | None:
        """The next frame; at the end of the source one without atoms that holds what is left, or None."""
        window = self._window
        if (draft := self._again()) is not None:
            return draft
        if window.at_end():
            return None
        draft = Draft(window.line, window.offset, self._cell)
        if self._keep:
            window.mark()
        while not draft.closed:
            draft.lines += window.skip_until(INSIDE if draft.atoms else BEFORE)
            if window.at_end() or not self._event(draft):
                break
        self._modelled |= draft.in_model
        is_whole = draft.in_model and draft.atoms and draft.closed
        self._last_lines = (window.line - draft.line if is_whole else 0), draft.lines
        draft.size = window.offset - draft.offset
        draft.data = window.take() if self._keep else None
        return draft

    def _event(self, draft: Draft) -> bool:
        """Take in the line at the cursor; False where it belongs to the next frame."""
        window = self._window
        word = window.peek(6).upper().split(b"\n")[0].rstrip()
        if word[:4] == b"ATOM" or word == b"HETATM":
            draft.atoms = True
            return True
        if word[:5] == b"MODEL" and (draft.atoms or draft.in_model):
            return False
        number = window.line
        line = window.next_line() or b""
        if word == b"CRYST1":
            self._cell = (line, number)
        elif word == b"CONECT":
            draft.bonds_before += [] if draft.in_model else [line]
        elif word[:5] == b"MODEL":
            draft.in_model = True
            digits = line[5:].strip()
            draft.number = int(digits) if digits.isdigit() and len(digits) < 19 else None
        elif word in (b"ENDMDL", b"END"):
            draft.closed = draft.atoms or draft.in_model
        return True

    def _check_end(self, draft: Draft, previous: Draft | None, ordinal: int, place: Place) -> None:
        """Where the source ends inside a frame: refuse what is cut short for certain, or after whole frames."""
        window = self._window
        if draft.closed or not window.at_end():
            return
        line = window.line - 1
        cut = not window.terminated and _is_cut(self._end_of(draft))
        complete = previous is None or (draft.lines == previous.lines and draft.atoms)
        if not cut and complete and not draft.in_model:
            return
        what = f"MODEL {draft.number}" if draft.number is not None else "a frame"
        if cut or not complete or not draft.atoms:
            where = "inside an atom line" if cut else f"inside {what}"
            raise TruncatedError(f"the file ends {where}", path=self._path, line=line, frame=ordinal)
        place.notes.append(Note(f"the file ends inside {what}: there is no ENDMDL", line=line, frame=ordinal))

    def _end_of(self, draft: Draft) -> bytes:
        """The bytes of what ends with the source, or the last of them."""
        stream = self._window.stream
        if draft.data is not None or not stream.seekable:
            return draft.data or b""
        size = min(draft.size, TAIL)
        return stream.read_at(draft.offset + draft.size - size, size)


def _is_cut(data: bytes) -> bool:
    """Whether the last line of a text is an atom line that is cut inside a number, or before its position."""
    *before, last = data.rsplit(b"\n", 2)[-2:]
    if last[:6].upper() not in (b"ATOM  ", b"HETATM"):
        return bool(last) and (b"ATOM  ".startswith(last[:6].upper()) or b"HETATM".startswith(last[:6].upper()))
    size = len(last)
    longer = not before or before[0][:4].upper() not in (b"ATOM", b"HETA") or len(before[0].rstrip(b"\r")) > size
    return size < POSITION_END or (longer and any(end - 6 < size < end for end in NUMBER_ENDS))
