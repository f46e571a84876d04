"""Everything that a record can hold, a thing at a time: what to write, by its name."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Adapter
from molrec_convert.model import Block, Box, Column, Frame, Meta, Record
from molrec_convert.model.dtypes import CANONICAL, DTYPES, ENDPOINTS
from molrec_convert.model.meta import PER_STEP_F64, TAGS
from molrec_convert.model.trajectory import MemoryTrajectory

from .frames import ROTATED, TRICLINIC, bonds, fitted, frame, grid, text, u64

Array = np.ndarray[Any, Any]
Change = Callable[[Frame], Any]


class Item(NamedTuple):
    """Frames that differ from plain ones in one thing.

    Parameters
    ----------
    frames
        How each frame is changed; one change makes a single frame.
    step, time
        Of the frames.
    record
        What makes a record of the frames, where they alone are not all.
    """

    frames: Sequence[Change]
    step: Sequence[int] | None = None
    time: Sequence[float] | None = None
    record: Callable[[Record], Record] | None = None

    def data(self, adapter: Adapter) -> Any:
        """What to write."""
        made = []
        for change in self.frames:
            plain = fitted(frame(3, box=Box.orthogonal((6.0, 7.0, 8.0))), adapter)
            made.append(change(plain) or plain)
        if self.record is not None:
            return self.record(Record(trajectory=MemoryTrajectory(made, step=self.step, time=self.time)))
        return made[0] if len(made) == 1 and self.step is None and self.time is None else made

    @property
    def options(self) -> dict[str, Any]:
        """What to write it with."""
        found = {"step": self.step, "time": self.time}
        return {} if self.record is not None else {key: value for key, value in found.items() if value is not None}


def nothing(made: Frame) -> None:
    """A plain frame."""
    del made


# ---------------------------------------------------------------- columns of atoms
BY_DTYPE: Mapping[str, Sequence[Any]] = {
    "f64": [0.25, -1.5, 2.75],
    "bool": [True, True, False],
    "c64": [1 + 2j, 0.5, -1j],
    "c128": [1 + 2j, 0.5, -1j],
}
BY_NAME: Mapping[str, Sequence[Any]] = {
    "element": ["O", "H", "C"],
    "mass": [15.999, 1.008, 12.011],
    "atomic_number": [8, 1, 6],
    "formal_charge": [-1, 0, 2],
}


def values_of(name: str, dtype: str) -> Array:
    """Three values that fit a column, others for each name."""
    shift = sum(map(ord, name)) % 17
    if name in BY_NAME:
        values = BY_NAME[name]
    elif dtype == "string":
        values = [chr(ord("A") + shift + k) for k in range(3)]
    else:
        values = BY_DTYPE.get(dtype, [5, 7, 9] if dtype[0] == "u" else [-1, 0, 2])
        values = values if dtype == "bool" else [value + shift for value in values]
    return np.array(values, DTYPES[dtype])


def column(name: str, dtype: str, *, valid: Array | None = None) -> Change:
    """A column of atoms."""

    def change(made: Frame) -> None:
        made["atoms"][name] = Column(values_of(name, dtype), valid=valid)

    return change


def in_all(names, numbers):
    """The same column under several names."""

    def change(made):
        for name in names:
            made["atoms"][name] = numbers

    return change


def values(name: str, array: Any) -> Change:
    """A column of atoms of these values."""

    def change(made: Frame) -> None:
        made["atoms"][name] = array

    return change


def without(name: str) -> Change:
    """Atoms without a column."""

    def change(made: Frame) -> None:
        del made["atoms"][name]

    return change


SECOND = np.array([True, False, True])
OF_ATOMS = {name: dtype for name, dtype in CANONICAL.items() if name not in ENDPOINTS}
COLUMNS = {
    **{f"atoms.{name}": Item([column(name, dtype)]) for name, dtype in OF_ATOMS.items()},
    **{f"a column of {dtype}": Item([column("my_own", dtype)]) for dtype in DTYPES},
    "f64[N][3]": Item([values("my_vector", np.arange(9.0).reshape(3, 3) / 7.0)]),
    "i64[N][3]": Item([values("my_vector", np.arange(9).reshape(3, 3))]),
    "bool[N][3]": Item([values("my_vector", np.arange(9).reshape(3, 3) % 2 == 0)]),
    "string[N][2]": Item([values("my_vector", text(*"abcdef").reshape(3, 2))]),
    "f64[N][1]": Item([values("my_vector", np.arange(3.0).reshape(3, 1))]),
    "f64[N][3][3]": Item([values("my_tensor", np.arange(27.0).reshape(3, 3, 3))]),
    "f64[N][0]": Item([values("my_nothing", np.zeros((3, 0)))]),
    "i64[N][6]": Item([values("anisou", np.arange(18).reshape(3, 6))]),
    "no elements": Item([without("element")]),
    "elements of no table": Item([values("element", text("Foo", "H", "C"))]),
    "elements that masses contradict": Item([lambda made: made["atoms"].__setitem__("mass", [10.0, 3.024, 12.011])]),
    "x as an unknown element": Item([values("element", text("X", "H", "C"))]),
    "no reals": Item([values("my_own", [np.nan, np.inf, -np.inf])]),
    "ids out of order": Item([values("id", u64(3, 1, 2))]),
    "ids that repeat": Item([values("id", u64(1, 1, 2))]),
    "a blank in a name": Item([values("odd name", [0.25, -1.5, 2.75])]),
    "a colon in a name": Item([values("odd:name", [0.25, -1.5, 2.75])]),
    "a name of no ASCII": Item([values("größe", [0.25, -1.5, 2.75])]),
    "labels that are numbers": Item([values("type", text("1", "10", "2"))]),
    "labels of which some are numbers": Item([values("type", text("1", "C", "2"))]),
    "words that are numbers": Item([values("my_own", text("1", "10", "2"))]),
    "words of which some are numbers": Item([values("my_own", text("1", "C", "2"))]),
    "the name of another": Item([values("q", [0.25, -1.5, 2.75])]),
    "the property of another": Item([values("forces", [0.25, -1.5, 2.75])]),
    "the species of another": Item([values("species", text("a", "b", "c"))]),
    "the positions of another": Item([values("pos", [0.25, -1.5, 2.75])]),
    "scaled positions": Item([values("xs", [0.25, 0.5, 0.75])]),
    "digits of positions": Item([values("x", [1 / 3, 0.25, -2e-7])]),
    "digits of one position": Item([values("z", [0.5, 0.1 + 0.2, 0.0])]),
    "positions to a precision": Item([values("y", Column([0.37, 1.28, -0.01], precision=1e-2))]),
    "digits of velocities": Item([values("vx", [1 / 3, 0.0, 0.25]), in_all(("vx", "vy", "vz"), [1 / 3, 0.5, 0.0])]),
    "digits of factors": Item([in_all(("occupancy", "b_factor", "nuclear_charge"), [1 / 3, 0.5, 0.25])]),
}  # fmt: skip
NULLS = {
    **{f"nulls of atoms.{name}": Item([column(name, dtype, valid=SECOND)]) for name, dtype in OF_ATOMS.items()},
    **{f"nulls of {dtype}": Item([column("my_own", dtype, valid=SECOND)]) for dtype in DTYPES},
    "nulls of anisou": Item([values("anisou", Column(np.ones((3, 6), "i8"), valid=SECOND))]),
}


# ---------------------------------------------------------------- blocks
def block(name: str, made: Callable[[], Block]) -> Item:
    """A block beside the atoms."""
    return Item([lambda plain: plain.__setitem__(name, made())])


def relation(name: str, ends: int) -> Item:
    """One relation of so many atoms."""
    rows = {end: u64((2 * k + 1) % 3) for k, end in enumerate(ENDPOINTS[:ends])}
    return block(name, lambda: Block(rows))


BLOCKS = {
    "bonds": block("bonds", lambda: bonds((0, 1), (1, 2))),
    **{
        f"bonds.{name}": block("bonds", partial(bonds, (0, 1), (1, 2), **{name: array}))
        for name, array in {
            "bond_type": u64(2, 3),
            "bond_number": u64(2, 3),
            "type_id": u64(2, 1),
            "type": text("C-C", "C-H"),
            "id": u64(4, 7),
            "style": text("a", "b"),
            "is_14": np.array([True, False]),
            "length": np.array([1.5, 1.25]),
        }.items()
    },
    "bonds of a high order": block("bonds", lambda: bonds((0, 1), (1, 2), bond_number=u64(9, 1))),
    "bonds of no order": block("bonds", lambda: bonds((0, 1), (1, 2), bond_number=u64(0, 1))),
    "bonds whose ends are swapped": block("bonds", lambda: bonds((1, 0), (2, 1))),
    "bonds out of order": block("bonds", lambda: bonds((1, 2), (0, 1))),
    "no bonds": block("bonds", lambda: Block({"atomi": u64(), "atomj": u64()})),
    "angles": relation("angles", 3),
    "dihedrals": relation("dihedrals", 4),
    "impropers": relation("impropers", 4),
    "cmaps": relation("cmaps", 5),
    "pairs": block("pairs", lambda: bonds((0, 2), exclude_14=np.array([True]))),
    "residues": block("residues", lambda: Block({"res_name": text("ALA"), "res_id": u64(4)})),
    "a grid": block("grid", grid),
    "digits of a grid": block("grid", lambda: Block({"density": np.arange(24) / 7.0}, shape=(2, 3, 4))),
    "orbitals": block("grid", lambda: Block({"mo_3": np.arange(8.0), "mo_4": -np.arange(8.0)}, shape=(2, 2, 2))),
    "fields": block("grid", lambda: Block({"up": np.arange(8.0), "down": -np.arange(8.0)}, shape=(2, 2, 2))),
}


# ---------------------------------------------------------------- values of a frame
def meta(key: str, value: Any, tag: str | None = None) -> Item:
    """A value of a frame."""
    return Item([lambda made: made.meta.set(key, value, tag=tag)])


OF_TAG: Mapping[str, Any] = {
    "bool": True,
    "i32": -(2**31),
    "i64": 2**53 + 1,
    "u32": 2**32 - 1,
    "u64": 2**64 - 1,
    "f64": 1.0 / 3.0,
    "string": "a text",
    "json": {"a": [1, None, {"b": "c d"}], "e": 0.5},
    "bool3": (True, False, True),
}


def value_of(tag: str) -> Any:
    """A value of a tag."""
    if tag in OF_TAG:
        return OF_TAG[tag]
    dtype, length = TAGS[tag]
    assert length is not None
    return tuple(float(k) / 3.0 if dtype == "f64" else k + 2 for k in range(length))


META = {
    **{f"meta {key}": meta(key, -1.5 + k) for k, key in enumerate(sorted(PER_STEP_F64))},
    **{f"meta of {tag}": meta("my_value", value_of(tag), tag) for tag in TAGS},
    "a comment": meta("comment", "one line"),
    "a comment of two lines": meta("comment", "one\ntwo"),
    "a comment of three lines": meta("comment", "one\ntwo\nthree"),
    "a text like a number": meta("my_value", "0012"),
    "a text like a flag": meta("my_value", "T"),
    "a text of nothing": meta("my_value", ""),
    "a text of two lines": meta("my_value", "a\nb"),
    "a text of quotes": meta("my_value", 'say "a\\b" {c} [d]'),
    "a number that is none": meta("my_value", float("nan")),
    "a list of nothing": meta("my_value", []),
    "a key of blanks": meta("my own=value", 1.5),
    "a key of a program": meta("energy", 1.5),
    "a key of the format": meta("Lattice", "1 0 0 0 1 0 0 0 1"),
    "a key of columns": meta("Properties", "species:S:1"),
    "a key of axes": meta("pbc", "T F T"),
    "a key of steps": meta("step", 7),
}


# ---------------------------------------------------------------- cells
def cell(box: Box | None) -> Item:
    """A cell, or none."""
    return Item([lambda made: setattr(made, "box", box)])


FLAGS = np.array([True, False, True])
CELLS = {
    "box": cell(Box.orthogonal((4.0, 5.0, 6.0))),
    "a small cell": cell(Box.orthogonal((0.4, 0.5, 0.6))),
    "a triclinic cell": cell(Box.from_rows(TRICLINIC)),
    "a rotated cell": cell(Box.from_rows(ROTATED)),
    "a turned cell": cell(Box.from_rows([[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [7.0, 0.0, 0.0]])),
    "a left-handed cell": cell(Box.from_rows([[0.0, 5.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 6.0]])),
    "an origin": cell(Box.orthogonal((4.0, 5.0, 6.0), origin=(1.0, -2.0, 0.5))),
    "mixed axes": cell(Box.orthogonal((4.0, 5.0, 6.0), boundary=FLAGS)),
    "open axes": cell(Box.orthogonal((4.0, 5.0, 6.0), boundary=np.zeros(3, bool))),
    "no cell": cell(None),
    "a cell of many digits": cell(Box.orthogonal((27.371366, 27.371367, 20 / 3), origin=(1 / 3, 0.0, 0.0))),
    "a hexagonal cell": cell(Box.from_rows([[4.0, 0.0, 0.0], [-2.0, 12.0**0.5, 0.0], [0.0, 0.0, 5.0]])),
    "an undefined cell": cell(Box.undefined()),
    "an undefined cell and an origin": cell(Box.undefined((1.0, -2.0, 0.5))),
}


# ---------------------------------------------------------------- frames
def moved(made: Frame) -> None:
    """Another frame than the plain one."""
    made["atoms"]["x"] = made["atoms"]["x"] + 0.25


def fewer(made: Frame) -> Frame:
    """A frame of two of the atoms."""
    made["atoms"] = made["atoms"].rows(np.arange(2))
    return made


def boxless(made: Frame) -> None:
    """A frame without a cell."""
    made.box = None


def described(record: Record) -> Record:
    """A record that says something of itself."""
    return Record(meta={"title": "three atoms", "tags": ["a", "b"]}, trajectory=record.trajectory)


def of_a_system(record: Record) -> Record:
    """A record whose system has meta of its own."""
    return Record(system=Frame({"atoms": {"my_flag": [True, False, True]}}, meta=Meta({"my_fact": "b c"})),
                  trajectory=record.trajectory)  # fmt: skip


SERIES = {
    "nothing": Item([nothing]),
    "two frames": Item([nothing, moved]),
    "step": Item([nothing, moved], step=[5, 15]),
    "a large step": Item([nothing], step=[2**60 + 1]),
    "time": Item([nothing, moved], step=[5, 15], time=[0.5, 4.0 / 3.0]),
    "a moment": Item([lambda made: made.meta.update({"timestep": 17, "time": 0.125})]),
    "a changing number": Item([nothing, fewer]),
    "a column that comes": Item([nothing, column("charge", "f64")]),
    "a column that goes": Item([column("charge", "f64"), nothing]),
    "a value that comes": Item([nothing, lambda made: made.meta.set("pe", -1.5)]),
    "a cell that comes": Item([boxless, nothing]),
    "a cell that goes": Item([nothing, boxless]),
    "a record": Item([nothing, moved], record=described),
    "a system": Item([nothing, moved], record=of_a_system),
    "atoms of a shape": Item([lambda made: Frame.of({**made, "atoms": Block(dict(made["atoms"].columns), shape=(3, 1))},
                                                    made.box, made.meta)]),
}  # fmt: skip
ITEMS: Mapping[str, Item] = {**COLUMNS, **NULLS, **BLOCKS, **META, **CELLS, **SERIES}
