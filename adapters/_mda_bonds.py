"""Bonds, angles, dihedrals, impropers and their kin: from the connections of a topology to blocks, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model import Block, Column
from molrec_convert.model.dtypes import ENDPOINTS, STRING, Array

from ._mda_columns import numbers_of
from ._mda_names import CONNECTIONS, attribute_classes

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup


# ---------------------------------------------------------------- to blocks
def blocks_of(atoms: AtomGroup, *, guessed: bool, notes: list[Note]) -> dict[str, Block]:
    """A block for each kind of connection that the topology has, of those whose atoms are all among these.

    Parameters
    ----------
    atoms
        The atoms, in the order of the rows that the blocks refer to; of one that stands there twice, the first row.
    guessed
        Take connections that MDAnalysis guessed, too.
    notes
        Where to name what was left out.
    """
    topology = atoms.universe._topology  # noqa: SLF001 - AtomGroup.bonds makes an object of every bond
    rows = np.full(topology.n_atoms, -1, np.int64)
    rows[atoms.ix[::-1]] = np.arange(len(atoms))[::-1]
    blocks: dict[str, Block] = {}
    for attribute in topology.attrs:
        if attribute.attrname in CONNECTIONS:
            block = _block(attribute, rows, guessed=guessed, notes=notes)
            if block is not None:
                blocks[attribute.attrname] = block
    return {name: blocks[name] for name in CONNECTIONS if name in blocks}


def _block(attribute: Any, rows: Array, *, guessed: bool, notes: list[Note]) -> Block | None:
    name, members = attribute.attrname, CONNECTIONS[attribute.attrname]
    ends = rows[np.array(list(attribute.values), dtype=np.int64).reshape(-1, members)]
    guesses = np.fromiter(map(bool, attribute.is_guessed), bool, len(ends))
    if guesses.any() and not guessed:
        notes.append(Note(f"guessed by MDAnalysis and left out: {np.count_nonzero(guesses)} {name}"))
        if guesses.all():
            return None
    kept = np.flatnonzero((ends >= 0).all(axis=1) & (~guesses | guessed))
    columns = {end: Column.of(ends[kept, k].astype(np.uint64)) for k, end in enumerate(ENDPOINTS[:members])}
    columns |= _types([attribute.types[k] for k in kept], name, notes)
    columns |= _orders([attribute.order[k] for k in kept], name, notes)
    return Block.of(columns, len(kept))


def _types(types: Sequence[Any], name: str, notes: list[Note]) -> dict[str, Column]:
    if all(given is None for given in types):
        return {}
    texts = [_type_text(given) for given in types]
    if any(text is None and given is not None for text, given in zip(texts, types, strict=True)):
        notes.append(Note(f"types of {name} are objects: left out", loss=True))
    if not any(text is not None for text in texts):
        return {}
    column = _text_column(texts)
    numbers = numbers_of(column)
    return {"type": column} if numbers is None else {"type": column, "type_id": numbers}


def _type_text(given: Any) -> str | None:
    """The type of a connection as text; several parameters are parted by blanks."""
    if isinstance(given, str):
        return str(given)
    if isinstance(given, int | float | np.integer | np.floating):
        return str(given)
    if isinstance(given, tuple | list) and given:
        parts = [_type_text(part) for part in given]
        return None if None in parts else " ".join(str(part) for part in parts)
    return None


def _orders(orders: Sequence[Any], name: str, notes: list[Note]) -> dict[str, Column]:
    """Whole orders as ``bond_number``; others, such as 1.5 and ``ar``, as ``order``."""
    given = [order for order in orders if order is not None]
    if not given:
        return {}
    valid = np.array([order is not None for order in orders]) if len(given) < len(orders) else None
    numbers = [_number(order) for order in orders]
    if all(number is not None for number, order in zip(numbers, orders, strict=True) if order is not None):
        values = np.array([number or 0.0 for number in numbers])
        if ((values >= 0) & (values == np.rint(values))).all():
            return {"bond_number": Column.of(values.astype(np.uint64), valid)}
        return {"order": Column.of(values, valid)}
    if all(isinstance(order, str) for order in given):
        return {"order": _text_column(list(orders))}
    notes.append(Note(f"orders of {name} are neither numbers nor text: left out", loss=True))
    return {}


def _number(order: Any) -> float | None:
    if isinstance(order, str):
        return float(order) if order.isascii() and order.isdecimal() else None
    return float(order) if isinstance(order, int | float | np.integer | np.floating) else None


def _text_column(texts: Sequence[str | None]) -> Column:
    valid = np.array([text is not None for text in texts], bool)
    return Column(np.array([text or "" for text in texts], dtype=STRING), valid=valid)


# ---------------------------------------------------------------- to connections
def connections_of(blocks: Mapping[str, Block]) -> list[Any]:
    """The connections of a topology that stand in these blocks; rows with an end that is null are left out."""
    found = []
    for name, members in CONNECTIONS.items():
        block, ends = blocks.get(name), ENDPOINTS[:members]
        if block is None or not all(end in block for end in ends):
            continue
        there = np.ones(block.count, bool)
        for end in ends:
            if (valid := block.column(end).valid) is not None:
                there &= valid
        joined = np.stack([block[end][there] for end in ends], axis=1).tolist()
        types, orders = _types_given(block, there), _orders_given(block, there)
        found.append(attribute_classes()[name]([tuple(each) for each in joined], types=types, order=orders))
    return found


def _types_given(block: Block, there: Array) -> list[Any] | None:
    for name in ("type", "type_id", "bond_type"):
        if name in block:
            values = _values(block.column(name), there)
            return [None if value is None else str(value) for value in values]
    return None


def _orders_given(block: Block, there: Array) -> list[Any] | None:
    for name in ("bond_number", "order"):
        if name in block and not block.column(name).trailing:
            return _values(block.column(name), there)
    return None


def _values(column: Column, there: Array) -> list[Any]:
    values: list[Any] = column.values[there].tolist()
    if column.valid is None:
        return values
    return [value if valid else None for value, valid in zip(values, column.valid[there].tolist(), strict=True)]
