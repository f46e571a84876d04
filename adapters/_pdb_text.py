"""The lines of a PDB frame that are no atoms: what each is, and what of its text is kept.

Reference: wwPDB format 3.3. Times in titles are those that GROMACS writes, in ps: ``TITLE     Water t=  12.50000 step=
25``, and CP2K, in fs: ``REMARK    Step 25, time = 12.500, E = -17.16``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.mapping.units import factor
from molrec_convert.model import Column
from molrec_convert.text.fixed import Field, ScanError, scan_fixed
from molrec_convert.text.lines import decoded

from ._pdb_fields import BOOKKEEPING, counted

Array = np.ndarray[Any, Any]

ANISOU = b"ANISOU"
TENSOR = [Field(28 + 7 * k, 35 + 7 * k, "i") for k in range(6)]
UNCERTAIN = frozenset((b"SIGATM", b"SIGUIJ"))
"""Standard deviations of old files."""
OF_THE_CELL = frozenset(("SCALE1", "SCALE2", "SCALE3", "ORIGX1", "ORIGX2", "ORIGX3"))
"""Records that say how positions and cell belong together; wrong where the cell has changed."""
TIME = re.compile(r"^TITLE\b.*?(?:\bt=\s*(?P<time>[-+]?[0-9][-+.0-9eE]*))?(?:\s*\bstep=\s*(?P<step>[0-9]{1,19}))?\s*$")

CP2K_TIME = re.compile(
    r"^(?:TITLE|REMARK) +Step (?P<step>[0-9]{1,19})(?:, time = *(?P<time>[-+]?[0-9][-+.0-9eE]*))?, E = *[-+.0-9eE]+\s*$"
)
PATTERNS = ((TIME, 1.0), (CP2K_TIME, factor("time", {"time": "fs"}, {"time": "ps"}) or 1.0))
"""The lines that say when a frame is, and by what their times are multiplied to be in ps."""


@dataclass(slots=True)
class Between:
    """What stands between the atom lines of a frame.

    Parameters
    ----------
    cell
        The CRYST1 record, and its line.
    ends
        Atoms that a TER follows.
    tensors
        How many ANISOU records there are.
    bonds
        CONECT records.
    kept
        Other lines.
    notes
        What was noticed.
    """

    cell: tuple[bytes, int] | None = None
    ends: list[int] = field(default_factory=list)
    tensors: int = 0
    bonds: list[bytes] = field(default_factory=list)
    kept: list[bytes] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def sorted_out(data: bytes, others: Array, line: int, *, first: bool) -> Between:
    """Tell the lines of a frame that are no atoms.

    Parameters
    ----------
    data, others
        The text of the frame, and where in it the lines lie.
    line
        The line of the file at which it begins.
    first
        Whether it is the first frame; the bonds before the atoms of another belong to the frame before it.
    """
    found = Between()
    uncertain = 0
    for k, (number, start, stop) in enumerate(others.tolist()):
        record = data[start : start + 6].upper().split(b"\n")[0].rstrip()
        row = number - k - 1
        if record == ANISOU:
            found.tensors += 1
        elif record == b"TER" or (record[:3] == b"TER" and record[3:].strip().isdigit()):
            found.ends += [row] if row >= 0 else []
        elif record == b"CONECT":
            found.bonds += [data[start:stop]] if first or row >= 0 else []
        elif record == b"CRYST1":
            found.cell = (data[start:stop], line + number)
        elif record in UNCERTAIN:
            uncertain += 1
        elif record and record[:5] not in BOOKKEEPING and record not in BOOKKEEPING:
            found.kept.append(data[start:stop])
    if uncertain:
        found.notes.append(Note(f"{counted(uncertain, 'record')} of standard deviations (SIGATM, SIGUIJ) left out"))
    return found


def betweens_of(texts: Sequence[bytes], others: Array, rows: int) -> list[Between] | None:
    """What stands between the atom lines of many frames after the first; None where they have to be looked at closely.

    Parameters
    ----------
    texts
        The frames.
    others
        Where in all of them, one after another, the lines lie that are no atoms.
    rows
        How many atoms each is to have.
    """
    found: list[Between] = []
    last: list[tuple[int, bytes]] = []
    sizes = list(accumulate(map(len, texts), initial=0))
    ends = np.searchsorted(others[:, 1], sizes).tolist()
    line = 0
    for k, text in enumerate(texts):
        own = others[ends[k] : ends[k + 1]] - (line, sizes[k], sizes[k])
        line += rows + len(own)
        if not len(own) or own[-1].tolist()[0] != rows + len(own) - 1:  # the last line, which says where a frame ends
            return None
        said = [
            (number, text[start:stop]) for number, start, stop in own.tolist() if text[start : start + 5] != b"MODEL"
        ]
        if said != last or not found:
            last = said
            found.append(sorted_out(text, own, 0, first=False))
        else:
            found.append(found[-1])
        if found[-1].notes or found[-1].tensors or (found[-1].ends, found[-1].bonds) != (found[0].ends, found[0].bonds):
            return None
    return found


def tensors_of(data: bytes, others: Array, rows: int, line: int) -> tuple[Column | None, list[Note]]:
    """The anisotropic temperature factors of the atoms that ANISOU records follow, in 1e-4 Å².

    Parameters
    ----------
    data, others, line
        As for `sorted_out`.
    rows
        The number of atoms.
    """
    starts = [start for _, start, _ in others.tolist()]
    marked = np.array([data[start : start + 6].upper() == ANISOU for start in starts], np.bool_)
    try:
        scan = scan_fixed(data, TENSOR, marks=[ANISOU])
    except ScanError as fault:
        at = line + int(others[marked, 0][fault.row])
        return None, [Note(f"ANISOU records are left out: {fault.describe('a record')}", line=at)]
    where = (others[:, 0] - np.arange(len(others)) - 1)[marked]
    values, valid = np.zeros((rows, 6), np.int64), np.zeros(rows, np.bool_)
    there = where >= 0
    values[where[there]] = np.stack(scan.columns, axis=1)[there]
    valid[where[there]] = True
    if not valid.any():
        return None, []
    return Column.of(values, None if valid.all() else valid), []


def kept_text(lines: Iterable[bytes]) -> str:
    """Lines as one text, without those that frame or count the records of a file."""
    words = (line.rstrip() for line in lines)
    return "\n".join(decoded(line) for line in words if line and line[:6].upper().rstrip() not in BOOKKEEPING)


class Moment(NamedTuple):
    """When a frame is, as its title says."""

    time: float | None = None
    step: int | None = None


def moment_of(*texts: str) -> Moment:
    """The time and step that a title ends with: the last title with a time, of the first text that has one.

    >>> moment_of("", "TITLE     Water t=  12.50000 step= 25")
    Moment(time=12.5, step=25)
    """
    for line in (line for text in texts for line in reversed(text.split("\n"))):
        for pattern, scale in PATTERNS:
            match = pattern.match(line)
            if match is None or not (match["time"] or match["step"]):
                continue
            try:
                time = None if match["time"] is None else float(match["time"]) * scale
            except ValueError:
                continue
            step = None if match["step"] is None else int(match["step"])
            return Moment(time, step if step is None or step < 2**63 else None)
    return Moment()
