"""What programs write into the comment line of plain XYZ: steps, times, energies, cells, as tables.

References: LAMMPS ``dump xyz`` (https://docs.lammps.org/dump.html), CP2K (https://manual.cp2k.org), i-PI
(https://ipi-code.org), cpptraj (https://github.com/Amber-MD/cpptraj), DFTB+, ORCA, geomeTRIC, xtb.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.mapping.units import factor
from molrec_convert.model import Box

from ._xyz_cell import box_of
from ._xyz_columns import BY_TARGET
from ._xyz_header import Header, read_extended, read_keys
from ._xyz_values import number

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][-+]?[0-9]+)?"


@dataclass(frozen=True, slots=True)
class Habit:
    """A line as a program writes it: the groups of its pattern are a step, a time, an energy, a bead.

    Parameters
    ----------
    pattern
        The whole line.
    units
        The units of its numbers.
    """

    pattern: re.Pattern[str]
    units: Mapping[str, str] = field(default_factory=dict)


def _habit(pattern: str, **units: str) -> Habit:
    spelled = pattern.replace("<int>", r"[-+]?[0-9]{1,18}").replace("<real>", NUMBER)
    return Habit(re.compile(rf"\s*{spelled}\s*"), units)


HABITS = (
    _habit(r"Atoms\. Timestep: (?P<step><int>)(?: Time: (?P<time><real>))?"),
    _habit(
        r"i =\s*(?P<step><int>)(?:, time =\s*(?P<time><real>))?(?:, E =\s*(?P<energy><real>))?",
        time="fs",
        energy="hartree",
    ),
    _habit(r"(?:MD iter|Geometry Step): (?P<step><int>)"),
    _habit(r"Coordinates from ORCA-job .*? E (?P<energy><real>)", energy="hartree"),
    _habit(
        r"# ORCA AIMD Position Step (?P<step><int>), t=\s*(?P<time><real>) fs, E_Pot=\s*(?P<energy><real>) Hartree,"
        r" Unit is Angstrom",
        time="fs",
        energy="hartree",
    ),
    _habit(r"Iteration (?P<step><int>) Energy\s+(?P<energy><real>)", energy="hartree"),
    _habit(r"energy: (?P<energy><real>) gnorm: (?P<gnorm><real>) xtb: .*", energy="hartree"),
)

VECTOR = rf"\s*({NUMBER})\s+({NUMBER})\s+({NUMBER})"
CPPTRAJ_BOX = re.compile(rf".*?\bBox X:{VECTOR}\s+Y:{VECTOR}\s+Z:{VECTOR}\s*")

IPI_CELL = re.compile(rf"CELL[(\[{{](abcABC|H|GENH)[)\]}}]:((?:\s+{NUMBER})+)")
IPI_COUNTER = re.compile(r"\b(Step|Bead):\s*([0-9]{1,18})\b")
IPI_QUANTITY = re.compile(r"(\w+)\{([^{}]*)\}")
IPI_PROPERTIES = {
    **dict.fromkeys(("positions", "x_centroid"), "pos"),
    **dict.fromkeys(("velocities", "v_centroid"), "velo"),
    **dict.fromkeys(("forces", "f_centroid"), "forces"),
    **dict.fromkeys(("momenta", "p_centroid"), "momenta"),
}
"""What property the three columns of an i-PI file are, by the word before the unit."""
IPI_LENGTHS = {"atomic_unit": "bohr", "angstrom": "angstrom", "nanometer": "nm"}
IPI_UNITS = {
    "velo": ("velocity", {"angstrom/ps": "angstrom/ps"}),
    "forces": ("force", {"atomic_unit": "hartree/bohr", "ev/ang": "eV/angstrom"}),
}


def read_header(comment: str) -> Header:
    """The header of a comment line, extended or free.

    Raises
    ------
    ValueError
        Where an extended line is broken, or no record can hold it; the message is a clause.
    """
    if "\0" in comment:
        raise ValueError("the comment line holds a NUL")
    if (header := read_extended(comment)) is not None:
        return header
    return _read_habits(comment) or read_keys(comment) or Header(comment)


def units_of(header: Header) -> dict[str, str]:
    """The units that a header states, with those of the velocities that its columns give."""
    names = {each.name for each in header.properties or ()}
    if "velo" in names:
        return {"velocity": "angstrom/fs", **header.units}
    if "momenta" in names and not names & VELOCITIES:
        return {"velocity": "angstrom/ps", **header.units}
    return header.units


VELOCITIES = frozenset(BY_TARGET["vx"].names)


def _read_habits(comment: str) -> Header | None:
    """The header of a line that some program writes so; None where none is known to."""
    header = Header(comment)
    for habit in HABITS:
        if (match := habit.pattern.fullmatch(comment)) is not None:
            _take_groups(header, match.groupdict(), habit.units)
            return header
    return header if any(take(header, comment) for take in (_take_cpptraj, _take_ipi)) else None


def _take_groups(header: Header, groups: Mapping[str, str | None], units: Mapping[str, str]) -> None:
    taken = {key: text for key, text in groups.items() if text is not None}
    if (step := taken.pop("step", None)) is not None:
        header.step = int(step)
    if (time := taken.pop("time", None)) is not None:
        header.time = number(time)
    for key, text in taken.items():
        header.set("pe" if key == "energy" else key, number(text))
    header.units.update(units)


def _take_cpptraj(header: Header, comment: str) -> bool:
    match = CPPTRAJ_BOX.fullmatch(comment) if "Box X:" in comment else None
    if match is None:
        return False
    numbers = [number(text) or 0.0 for text in match.groups()]
    header.box, note = box_of([numbers[k : k + 3] for k in (0, 3, 6)], None, (True, True, True))
    header.notes += [note] if note else []
    return True


def _take_ipi(header: Header, comment: str) -> bool:
    match = IPI_CELL.search(comment) if "CELL" in comment else None
    if match is None:
        return False
    units = dict(IPI_QUANTITY.findall(comment[match.end() :]))
    numbers = [number(text) or 0.0 for text in match[2].split()]
    scale = factor("length", {"length": IPI_LENGTHS.get(units.pop("cell", "atomic_unit"), "")}, header.units)
    make, due = CELLS[match[1]]
    if len(numbers) < due or scale is None:
        header.notes.append("the cell of the comment line is not understood, so there is none")
    else:
        header.box = _scaled(make(numbers[:due]), scale)
        header.notes += [] if header.box is not None else ["the cell of the comment line encloses no volume"]
    for word, count in IPI_COUNTER.findall(comment):
        if word == "Step":
            header.step = int(count)
        else:
            header.set("bead", int(count))
    _take_quantity(header, *next(iter(units.items()), ("positions", "atomic_unit")))
    return True


def _take_quantity(header: Header, name: str, unit: str) -> None:
    """Take the meaning and the unit of the three columns after the label."""
    header.triple = IPI_PROPERTIES.get(name, name)
    if header.triple in IPI_UNITS:
        quantity, known = IPI_UNITS[header.triple]
        if unit in known:
            header.units[quantity] = known[unit]
    elif header.triple == "pos":
        scale = factor("length", {"length": IPI_LENGTHS.get(unit, "")}, header.units)
        if scale is None:
            header.notes.append(f"the unit of length {unit!r} is not known")
            del header.units["length"]
        else:
            header.scale = scale


def _of_parameters(numbers: Sequence[float]) -> Box | None:
    try:
        return Box.from_parameters(numbers)
    except RecordError:
        return None


def _of_columns(numbers: Sequence[float]) -> Box | None:
    """A cell of a matrix whose columns are the vectors."""
    return box_of(np.array(numbers).reshape(3, 3).T.tolist(), None, (True, True, True))[0]


CELLS: Mapping[str, tuple[Callable[[Sequence[float]], Box | None], int]] = {
    "abcABC": (_of_parameters, 6),
    "H": (_of_columns, 9),
    "GENH": (_of_columns, 9),
}
"""How an i-PI cell is made of its numbers, and how many there are."""


def _scaled(box: Box | None, scale: float) -> Box | None:
    if box is None or scale == 1.0:
        return box
    return Box.of(box.vectors * scale, box.origin * scale, box.boundary)
