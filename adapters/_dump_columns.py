"""Which column of a LAMMPS dump is which column of a record: one table, and the plan that it makes of a header.

Reference: https://docs.lammps.org/dump.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from molrec_convert.mapping.names import QUANTITIES, REDUCED
from molrec_convert.model.block import TAKEN_COLUMNS
from molrec_convert.model.dtypes import CANONICAL, ENDPOINTS


@dataclass(frozen=True, slots=True)
class Row:
    """A column of a dump: its name there, the record's, the type of its numbers, and the quantity that they are.

    The kind is a letter of the table scanner: ``d`` f64, ``i`` i64, ``u`` u64, ``s`` text; ``?`` is text where the
    first row has no number, else `number`.
    """

    source: str
    target: str
    kind: str = "d"
    number: str = "d"
    quantity: str | None = None


COLUMNS = (
    Row("id", "id", "u"),
    Row("type", "type_id", "?", "u"),
    Row("typelabel", "type", "s"),
    Row("element", "element", "s"),
    Row("mol", "mol_id", "u"),
    Row("q", "charge", quantity="charge"),
    Row("mass", "mass", quantity="mass"),
    *(Row(name, name, "i") for name in ("ix", "iy", "iz", "proc", "procp1")),
)
BY_SOURCE = {row.source: row for row in COLUMNS}
BY_TARGET = {row.target: row for row in COLUMNS}
LABEL = Row("type", "type", "s")
"""The column ``type`` where it holds labels."""

INTEGER_PREFIXES = ("i_", "i2_")
SIGNED = {"id": "atom_id", "mol": "molecule", "type": "type_number"}
"""Where negative numbers are kept that their canonical column cannot hold."""

SCANNED = {"d": "f64", "i": "i64", "u": "u64", "s": "string"}
WHOLE = {
    name: kind for kind in "iu" for name, due in CANONICAL.items() if due == SCANNED[kind] and name not in ENDPOINTS
}
"""The scanner's letters of integer columns by the names that MolRec fixes; endpoints would be taken for rows."""

NUMERIC = re.compile(r"[cfvid]2?_|[xyz]s?u?$|quat|shape|.*\[")
"""Names of LAMMPS's own numbers, besides those of a quantity: a word among them is a fault, no label."""

RESERVED = frozenset((".", "..", *TAKEN_COLUMNS))

FORMS = ("x", "xu", "xs", "xsu", "X")
"""The position columns, by their x, in the order of preference."""
SCALED = frozenset(("xs", "xsu"))


def triple(form: str) -> tuple[str, str, str]:
    """The three columns of a position form: of ``xsu`` they are ``xsu``, ``ysu``, ``zsu``."""
    letters = "XYZ" if form[0] == "X" else "xyz"
    return (letters[0] + form[1:], letters[1] + form[1:], letters[2] + form[1:])


@dataclass(frozen=True)
class Plan:
    """How the columns of a header become columns of a record.

    Parameters
    ----------
    names
        The header's names.
    rows
        One row for each; the target of a repeated name has a suffix ``#2``.
    form
        The position form that gives x, y and z; None where the file has no positions.
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    form: str | None

    @cached_property
    def kinds(self) -> str:
        """The scanner's letters."""
        return "".join(row.kind for row in self.rows)

    @cached_property
    def scaled(self) -> bool:
        """Whether the positions are computed from scaled ones, which stand in columns of their own."""
        return self.form in SCALED


def plan_of(names: Sequence[str], first_row: Sequence[str], *, dimensionless: bool, form: str | None = None) -> Plan:
    """Make the plan of a header.

    Parameters
    ----------
    names
        The names after ``ITEM: ATOMS``.
    first_row
        The tokens of the first atom, by which text is told from numbers; may be empty.
    dimensionless
        Whether charges and masses are ratios.
    form
        The position form to take, where it is there; else the first complete one of `FORMS`.
    """
    known = set(names)
    complete = [each for each in FORMS if known.issuperset(triple(each))]
    chosen = form if form in complete else next(iter(complete), None)
    rename: dict[str, str] = {}
    if chosen is not None and chosen not in SCALED:
        rename = dict(zip(triple(chosen), "xyz", strict=True))
    tokens = [*first_row, *[""] * len(names)]
    rows: list[Row] = []
    used: set[str] = set("xyz") if chosen is not None else set()
    for name, token in zip(names, tokens, strict=False):
        row = _row(name, token, rename, dimensionless=dimensionless)
        if rename.pop(name, None) is None:
            row = replace(row, target=_free(row.target, used, row.kind))
        used.add(row.target)
        rows.append(row)
    return Plan(tuple(names), tuple(rows), chosen)


def _row(name: str, token: str, rename: dict[str, str], *, dimensionless: bool) -> Row:
    if name in rename:
        return Row(name, rename[name], "d", quantity="length")
    row = BY_SOURCE.get(name)
    if row is None and CANONICAL.get(name) == "string":
        row = Row(name, name, "s")
    if row is None:
        kind = "i" if name.startswith(INTEGER_PREFIXES) else "?"
        number = WHOLE.get(name, "d") if token.lstrip("+-").isdigit() or not token else "d"
        row = Row(name, _legal(name), kind, number, QUANTITIES.get(name))
    if row.kind == "?":
        text = bool(token) and not is_number(token)
        row = LABEL if text and name == "type" else replace(row, kind="s" if text else row.number)
    if dimensionless and row.target in REDUCED:
        row = replace(row, target=REDUCED[row.target])
    return row


def is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return "_" not in token


def may_hold_words(name: str) -> bool:
    """Whether a column that begins with a number may go on with words."""
    return name not in BY_SOURCE and name not in CANONICAL and not NUMERIC.match(name)


def _legal(name: str) -> str:
    """A name that a record can hold: no slash, no leading double underscore, none that stands for something else."""
    name = name.replace("/", "|")
    return f"dump{name}" if name.startswith("__") or name in RESERVED else name


def widened(plan: Plan, column: int, token: str) -> Plan | None:
    """The plan of lines in which a column holds a token of another kind; None where such a token is wrong.

    An integer column may hold reals or negative numbers, and one of no known quantity words.
    """
    row = plan.rows[column]
    used = {each.target for each in plan.rows if each is not row}
    by_name = row.source in WHOLE and row.source not in BY_SOURCE
    if row.kind == "u" and token[:1] == "-":
        row = replace(row, target=SIGNED.get(row.source) or _free(row.target, used, "i"), kind="i")
    elif (by_name or (row.kind == "i" and row.target not in NARROW)) and is_number(token):
        row = replace(row, target=_free(row.target, used, "d"), kind="d")
    elif row.kind == "d" and row.quantity is None and may_hold_words(row.source) and not is_number(token):
        row = replace(row, target=_free(row.target, used, "s"), kind="s")
    else:
        return None
    return replace(plan, rows=(*plan.rows[:column], row, *plan.rows[column + 1 :]))


def unwrapped_names(plan: Plan) -> list[str]:
    """The header's names once the positions are unwrapped: ``xu yu zu`` for them, and no images."""
    positions = dict(zip(triple(plan.form or "x"), triple("xu"), strict=True))
    return [positions.get(name, name) for name in plan.names if name not in NARROW]


NARROW = frozenset(("ix", "iy", "iz"))
"""Integer columns that a record holds as i32."""


def _free(target: str, used: set[str], kind: str) -> str:
    """The name, or with a suffix where it is taken or MolRec fixes it at another type."""
    name, number = target, 1
    while name in used or (name in CANONICAL and CANONICAL[name] != ("i32" if name in NARROW else SCANNED[kind])):
        number += 1
        name = f"{target}#{number}"
    return name
