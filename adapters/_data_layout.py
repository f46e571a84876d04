"""Which atom style holds a frame, and what no style holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.loss import Contents, Loss
from molrec_convert.mapping.names import REDUCED
from molrec_convert.mapping.units import DIMENSIONLESS
from molrec_convert.model import Block

from ._data_header import PLURALS, TOPOLOGY
from ._data_kinds import Kinds, elements_of, masses_of
from ._data_styles import COLUMNS, IMAGES, KINDS, OPEN, REQUIRED, VELOCITIES, AtomStyle, Kind, row_of, styles_named
from ._data_types import Masses, Types, as_text, elements_column, elements_told
from ._dump_columns import SIGNED
from ._dump_lost import lost_absence

Array = np.ndarray[Any, Any]

BY_TARGET = {row.target: source for source, row in COLUMNS.items()}
NAMES_IN_FILE = BY_TARGET | {reduced: BY_TARGET[target] for target, reduced in REDUCED.items()}
"""The name in a data file of a record's column."""
STYLED = frozenset(name for kind in KINDS for name in kind.columns.split()) - {*REQUIRED, "mass"}
"""Columns for which there are styles; masses stand in a section of their own."""
OF_ATOMS = frozenset(("type", "label", "type_id", "mass", "mass_lj", "comment", "id"))
"""Columns of atoms that every file holds in some other way than a column of its lines."""
OF_BLOCKS = frozenset(("id", "type", "type_id", "comment", "atomi", "atomj", "atomk", "atoml"))


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a file to be written.

    Parameters
    ----------
    style
        The columns of its atom lines.
    images
        Whether the images follow them.
    velocities
        The columns of its velocity lines; none without them.
    """

    style: AtomStyle
    images: bool
    velocities: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """All columns that are written."""
        return frozenset((*self.style.columns, *(IMAGES if self.images else ()), *self.velocities))


def name_in_file(column: str) -> str | None:
    """What a data file calls a column of a record; None where another column goes by this name there."""
    name = NAMES_IN_FILE.get(column, column)
    return name if column in NAMES_IN_FILE or row_of(name).target == column else None


def layout_of(columns: Collection[str], blocks: Collection[str], about: Mapping[str, Any]) -> Layout:
    """The style that the source had where it still fits, else the smallest that holds most of some columns.

    Parameters
    ----------
    columns
        Columns of the block ``atoms`` by their name in a record.
    blocks
        The blocks of topology.
    about
        What is known of the source, for ``lammps_atom_style``.
    """
    names = {name for name in map(name_in_file, columns) if name is not None} | set(REQUIRED)
    if SIGNED["mol"] in columns or blocks:
        names.add("mol")
    style = kept = _kept(str(about.get("lammps_atom_style", "")), names, blocks)
    wanted = names & STYLED - ({"mol"} if blocks and "mol_id" not in columns else set())
    if style is None or wanted - set(style.columns):
        other = _smallest(names, wanted, blocks)
        if style is None or len(wanted & set(other.columns)) > len(wanted & set(style.columns)):
            style = other
    velocities: tuple[str, ...] = ()
    if names.issuperset(VELOCITIES):
        spin = _spin(style, names)
        # A file may leave the spins out, and its record has none; where no file was, LAMMPS wants them.
        velocities = (*VELOCITIES, *(() if style is kept and names.isdisjoint(spin) else spin))
    # Images of positions that are not wrapped would be added a second time.
    wrapped = about.get("lammps_coords") not in ("xu", "xsu")
    return Layout(style, wrapped and names.issuperset(IMAGES), velocities)


def _kept(text: str, names: Collection[str], blocks: Collection[str]) -> AtomStyle | None:
    for style in styles_named(text):
        if style.further is not None:
            count = 0
            while style.further.format(count + 1) in names:
                count += 1
            style = style.widened(len(style.columns) + count)
        if set(style.columns) <= set(names) and set(blocks) <= set(style.topology):
            return style
    return None


def _smallest(names: set[str], wanted: set[str], blocks: Collection[str]) -> AtomStyle:
    """One style, or a hybrid where none holds all that several do."""
    fitting = [kind for kind in KINDS if names.issuperset(kind.columns.split()) and kind.name not in OPEN]
    bonded = [kind for kind in fitting if set(blocks) <= set(kind.topology)]
    chosen = [max(bonded, key=lambda kind: _merit(kind, wanted))]
    held = set(chosen[0].columns.split())
    while left := wanted - held:
        best = max(fitting, key=lambda kind: _merit(kind, left))
        if not left & set(best.columns.split()):
            break
        chosen.append(best)
        held |= set(best.columns.split())
    names_of = [kind.name for kind in chosen]
    return styles_named(" ".join(["hybrid", *names_of] if len(chosen) > 1 else names_of))[0]


def _merit(kind: Kind, wanted: set[str]) -> tuple[int, int, int]:
    columns = kind.columns.split()
    return (len(wanted & set(columns)), -len(columns), -len(kind.topology))


def _spin(style: AtomStyle, names: Collection[str]) -> tuple[str, ...]:
    """What stands after the velocities: of a style that does not tell, what the frame has."""
    if style.spin is not None:
        return style.spin
    for triple in (("angmomx", "angmomy", "angmomz"), ("omegax", "omegay", "omegaz"), ("ervel",)):
        if set(triple) <= set(names):
            return triple
    count = 0
    while f"velocity_{count + 4}" in names:
        count += 1
    return tuple(f"velocity_{k + 4}" for k in range(count))


def lost(contents: Contents) -> Iterator[Loss]:
    """What a data file of these contents does not hold, because no atom style has such columns."""
    blocks = contents.schema.blocks
    columns = blocks["atoms"].columns if "atoms" in blocks else {}
    layout = layout_of(columns, [name for name in TOPOLOGY if name in blocks], contents.about)
    for column, spec in columns.items():
        if column in ("element", "atomic_number", SIGNED["mol"]):
            continue
        if not _is_held(column, layout) or (column in ("comment", "label") and spec.dtype != "string"):
            yield Loss(f"atoms.{column}", f"a line of atom style {layout.style.name} has no such column")
        elif column in REDUCED.values() and contents.about.get("lammps_units") != DIMENSIONLESS:
            yield Loss(f"name of atoms.{column}", "numbers without dimension are those of a file in lj units")
        elif spec.nullable and not (column == "mol_id" and SIGNED["mol"] in columns):
            yield Loss(f"nulls of atoms.{column}", "the format marks no missing values")
    for atoms in (snapshot.frame["atoms"] for snapshot in contents.snapshots if "atoms" in snapshot.frame):
        if {"element", "atomic_number"} & atoms.keys():
            yield from _lost_elements(atoms, contents.about, layout)
        bonded = any(contents.counts.get(name) for name in TOPOLOGY)
        if "id" in atoms and ids_of(atoms, bonded=bonded) is None:
            yield Loss("atoms.id", "atoms are told apart by it, and are numbered from 1")
        if SIGNED["mol"] in atoms and not has_molecules(atoms):
            yield Loss(f"atoms.{SIGNED['mol']}", "only negative numbers of molecules stand beside the others")
        yield from _lost_labels("atom", atoms, contents.about)
    for frame in (snapshot.frame for snapshot in contents.snapshots):
        for kind, name in PLURALS.items():
            if name in TOPOLOGY and name in frame:
                yield from _lost_labels(kind, frame[name], contents.about)
    for name in TOPOLOGY:
        for column in blocks[name].columns if name in blocks else ():
            if column not in OF_BLOCKS:
                yield Loss(f"{name}.{column}", "the section has no such column")
    yield from lost_absence(contents)


def _is_held(column: str, layout: Layout) -> bool:
    return column in OF_ATOMS or name_in_file(column) in layout.names


def _lost_elements(atoms: Block, about: Mapping[str, Any], layout: Layout) -> Iterator[Loss]:
    """The elements, where the masses and labels of types do not tell them again."""
    try:
        kinds = Kinds("atom", atoms, about)
        masses = Masses() if "mass" in layout.style.columns else masses_of(kinds, atoms, about, 1.0)
        told = elements_told(Types("atom", kinds.count, kinds.table()), masses, 1.0)
    except FormatError:  # which writing the frame raises, too
        return
    found = elements_column(kinds.numbers, told)
    there = np.ones(len(found), dtype=bool) if found.valid is None else found.valid
    for name in ("element", "atomic_number"):
        column = elements_of(Block.of({name: atoms.column(name)}, atoms.count)) if name in atoms else None
        if column is None:
            continue
        known = np.ones(len(column), dtype=bool) if column.valid is None else column.valid
        if not there[known].all() or not np.array_equal(found.values[known], column.values[known]):
            yield Loss(f"atoms.{name}", "the masses and labels of types do not tell it again")
        elif not np.array_equal(there, known) and not (name == "atomic_number" and "element" in atoms):
            yield Loss(f"nulls of atoms.{name}", "the types tell an element where there is none")


def _lost_labels(kind: str, block: Block, about: Mapping[str, Any]) -> Iterator[Loss]:
    """The labels of types, where LAMMPS takes no such label, or the file has numbers alone."""
    words, numbered = block.columns.get("type"), kind == "atom" and "label" in block
    if words is None and not numbered:
        return
    try:
        kinds = Kinds(kind, block, about)
        table = kinds.table()
    except FormatError:  # which writing the frame raises, too
        return
    if numbered and not (table and block.column("label").same(as_text(kinds.numbers))):
        yield Loss("atoms.label", "it stands for numbers of types that have labels")
    if words is None or words.dtype != "string" or not len(words):
        return
    there = slice(None) if words.valid is None else words.valid
    numbers, first = np.unique(kinds.numbers[there], return_index=True)
    names = words.values[there][first].tolist()
    if kind != "atom":
        table = {number: table.get(number, str(number)) for number in numbers.tolist()}
    if any(table.get(number) != name for number, name in zip(numbers.tolist(), names, strict=True)):
        why = "a label begins with no digit, # or *, and is one word" if table else "the types have numbers alone"
        yield Loss(f"{PLURALS[kind]}.type", why)


def ids_of(atoms: Block, *, bonded: bool) -> Array | None:
    """The ids of atoms, by which bonds find them; None where they have none of their own."""
    column = atoms.columns.get("id")
    if column is None or column.valid is not None:
        return None
    repeats = bonded and len(np.unique(column.values)) < len(column)
    return None if repeats else column.values


def has_molecules(atoms: Block) -> bool:
    """Whether a column stands beside the canonical one for its negative numbers."""
    name = SIGNED["mol"]
    return name in atoms and atoms.column(name).dtype == "i64" and bool((atoms[name] < 0).any())


def target_of(name: str, atoms: Block) -> str:
    """The column of a record that is printed under a name."""
    target = row_of(name).target
    if name == "mol" and has_molecules(atoms):
        return SIGNED["mol"]
    return REDUCED[target] if target not in atoms and REDUCED.get(target) in atoms else target
