"""Atom lines of an XYZ file: what undeclared ones hold, and the columns of a record that scanned ones become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from molrec_convert.model import Column
from molrec_convert.model.dtypes import CANONICAL, STRING
from molrec_convert.stack import repeats
from molrec_convert.text.faults import ScanError
from molrec_convert.text.lines import decoded

from ._momenta import velocities_of
from ._xyz_columns import COUNTED, NUMBERED, PLAIN, SIGNED, SPECIES, Field, Plan, Property, extra_name
from ._xyz_frames import is_numbered
from ._xyz_header import Header
from ._xyz_labels import TextReader, Words, cells_of, elements_of_numbers, text_column
from ._xyz_values import number

Array = np.ndarray[Any, Any]

REST = Property("rest", "S", 1)
"""What follows the positions in lines of different lengths, as text."""

FLAGS = {b"t": True, b"true": True, b"1": True, b"f": False, b"false": False, b"0": False}
"""How logicals are spelled in columns, in any case."""


class RowError(ValueError):
    """A row that cannot be read; the message is a clause."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


# ---------------------------------------------------------------- undeclared columns
def plain_properties(triple: str, data: bytes) -> tuple[Property, ...]:
    """The properties of lines that nothing declares, by the first ones."""
    tokens, second = ([*line.split(), b""] for line in [*data.split(b"\n", 2)[:2], b""][:2])
    base: tuple[Property, ...] = PLAIN
    if is_numbered(tokens):
        follows = second[0].isdigit() and int(second[0]) == int(tokens[0]) + 1
        base = NUMBERED if follows or (len(second) == 1 and tokens[0] == b"1") else COUNTED
    base = _of_triple(base, triple)
    extras = [
        Property(extra_name(column), "S" if number(decoded(token)) is None else "R", 1)
        for column, token in enumerate(tokens[width_of(base) : -1], width_of(base))
    ]
    return (*base, *extras)


def base_properties(triple: str, properties: Sequence[Property] = PLAIN) -> tuple[Property, ...]:
    """A label and three numbers, behind an integer where other properties of such lines begin with one."""
    return _of_triple((*properties[:1], *PLAIN) if properties[0].letter == "I" else PLAIN, triple)


def _of_triple(base: tuple[Property, ...], triple: str) -> tuple[Property, ...]:
    return base if triple == "pos" else (*base[:-1], Property(triple, "R", 3))


def width_of(properties: Sequence[Property]) -> int:
    """How many columns of the file properties take."""
    return sum(each.width for each in properties)


def split_ragged(data: bytes, count: int, width: int) -> tuple[bytes, Words]:
    """Lines cut behind their first columns, and the rest of each as a column of words.

    Raises
    ------
    ScanError
        For a line that has fewer columns.
    """
    heads: list[bytes] = []
    rests: list[int] = []
    codes: dict[bytes, int] = {}
    for row, line in enumerate(data.split(b"\n")[:count]):
        parts = line.split(None, width)
        if len(parts) < width:
            raise ScanError("columns", row=row, found=len(parts), due=width)
        heads.append(b" ".join(parts[:width]))
        rest = parts[width].rstrip() if len(parts) > width else b""
        rests.append(codes.setdefault(rest, len(codes)))
    return b"\n".join([*heads, b""]), (np.array(rests, dtype=np.int32), list(codes))


# ---------------------------------------------------------------- columns of a record
def columns_of(
    plan: Plan, arrays: Sequence[Any], texts: TextReader, header: Header
) -> tuple[dict[str, Column], list[str], str | None]:
    """The columns of a record, what a person should know of them, and under which name the labels stand.

    Raises
    ------
    RowError
        For a value that its column cannot hold.
    """
    columns: dict[str, Column] = {}
    notes: list[str] = []
    labels: str | None = None
    taken = {target for field in plan.fields for target in field.targets}
    for field in plan.fields:
        found = arrays[field.start : field.start + field.source.width]
        if field.targets[0] == SPECIES:
            made = texts.labels(*found[0])
            if made.element is not None and "element" not in taken:
                columns["element"] = made.element
            if made.type is not None or "element" in taken:
                labels = "type" if "type" not in taken else SPECIES
                columns[labels] = made.type if made.type is not None else texts.texts(SPECIES, *found[0])
            notes += [made.note] if made.note else []
        elif field.letter == "R" and header.scale != 1.0 and field.source.name == header.triple:
            columns.update(_reals(field, [values * header.scale for values in found]))
        else:
            columns.update(MAKERS[field.letter](field, found, texts))
    columns.update(derived_columns(columns, texts))
    return columns, notes, labels


def are_alike(plan: Plan, columns: Mapping[str, Column], frames: int) -> bool:
    """Whether the rows of many frames, taken for those of one, became the columns that each frame has by itself."""
    integers = [field.targets[0] for field in plan.fields if field.letter == "I" and field.scalars]
    if any(name not in columns for name in integers):  # some hold what their canonical column cannot
        return False
    telling = ["atomic_number", *(("mass", "masses") if "momenta" in columns else ())]
    return all(repeats(columns[name], frames) for name in telling if name in columns)


def derived_columns(columns: Mapping[str, Column], texts: TextReader | None = None) -> dict[str, Column]:
    """What follows from columns of the file: elements of atomic numbers, velocities of momenta."""
    found: dict[str, Column] = {}
    if "element" not in columns and "atomic_number" in columns:
        numbers = columns["atomic_number"].values
        element = elements_of_numbers(numbers) if texts is None else texts.elements(numbers)
        if element is not None:
            found["element"] = element
    if not {"vx", "vy", "vz"} & columns.keys():
        found |= _velocities(columns.get("momenta"), columns.get("masses", columns.get("mass")))
    return found


def _velocities(momenta: Column | None, mass: Column | None) -> dict[str, Column]:
    """The velocities of momenta, in Å/ps."""
    if momenta is None or mass is None or not momenta.dtype == mass.dtype == "f64":
        return {}
    if momenta.trailing != (3,) or mass.trailing or not (mass.values > 0.0).all():
        return {}
    parts = zip(("vx", "vy", "vz"), velocities_of(momenta.values, mass.values).T, strict=True)
    return {name: Column.of(np.ascontiguousarray(values)) for name, values in parts}


def _reals(field: Field, found: Sequence[Array], texts: TextReader | None = None) -> dict[str, Column]:
    del texts
    if field.scalars:
        return {target: Column.of(values) for target, values in zip(field.targets, found, strict=True)}
    return {field.targets[0]: Column.of(np.stack(found, axis=1))}


def _integers(field: Field, found: Sequence[Array], texts: TextReader) -> dict[str, Column]:
    del texts
    target = field.targets[0]
    if not field.scalars:
        return {target: Column.of(np.stack(found, axis=1))}
    values, due = found[0], CANONICAL.get(target)
    if due == "u64":
        if values.dtype.kind == "i" and values.size and values.min() < 0:
            return {SIGNED.get(target, f"{target}#2"): Column.of(values)}
        return {target: Column.of(values.astype(np.uint64))}
    if due == "i32":
        narrow = values.astype(np.int32)
        return {target: Column.of(narrow)} if np.array_equal(narrow, values) else {f"{target}#2": Column.of(values)}
    return {target: Column.of(values)}


def _logicals(field: Field, found: Sequence[Any], texts: TextReader) -> dict[str, Column]:
    del texts
    flags = []
    for k, (codes, words) in enumerate(found):
        known = [FLAGS.get(word.lower()) for word in words]
        if None in known:
            wrong = known.index(None)
            row = int(np.flatnonzero(codes == wrong)[0])
            raise RowError(f"column {field.name_of(field.start + k)}: {decoded(words[wrong])!r} is not T or F", row)
        flags.append(np.array(known, dtype=bool)[codes] if known else np.zeros(0, bool))
    return {field.targets[0]: Column.of(flags[0] if field.scalars else np.stack(flags, axis=1))}


def _texts(field: Field, found: Sequence[Any], texts: TextReader) -> dict[str, Column]:
    target = field.targets[0]
    if field.scalars:
        return {target: texts.texts(target, *found[0])}
    columns = [text_column(cells_of(words), codes).values for codes, words in found]
    together = np.zeros((len(columns[0]), len(columns)), dtype=STRING)
    for k, values in enumerate(columns):
        together[:, k] = values
    return {target: Column.of(together)}


MAKERS = {"R": _reals, "I": _integers, "L": _logicals, "S": _texts}
