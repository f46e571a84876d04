"""CONECT: bonds by serials, each stated from either end, a bond of higher order as often as its order.

Reference: wwPDB format 3.3, "CONECT": four partners in columns of five. What stands behind them in old files (hydrogen
bonds, salt bridges) is no bond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from molrec_convert.adapter import Note
from molrec_convert.model import Block, Column
from molrec_convert.text.fixed import Field, ScanError, scan_fixed

from ._pdb_fields import counted
from ._pdb_numbers import decode_word

Array = np.ndarray[Any, Any]

MARK = b"CONECT"
WIDTH, PARTNERS = 5, 4
BONDS = frozenset(("atomi", "atomj", "bond_number"))
"""Columns of bonds that are read and written."""
FIELDS = [Field(6 + WIDTH * k, 6 + WIDTH * (k + 1), "i") for k in range(1 + PARTNERS)]


class Stated(NamedTuple):
    """Pairs of serials as CONECT records state them, in their order."""

    first: Array
    second: Array


class Bonds(NamedTuple):
    """The bonds of a frame, and what was noticed."""

    block: Block | None
    notes: list[Note]


def read_stated(records: bytes, ids: Column | None, style: str = "") -> Stated:
    """The pairs that CONECT records state; other lines are passed over.

    Parameters
    ----------
    records
        Lines, some of which are CONECT.
    ids
        The serials that atoms have, which tell how fields that are glued together are parted.
    style
        How serials beyond five digits are spelled.
    """
    serials = np.zeros(0, np.uint64) if ids is None else ids.values
    try:
        scan = scan_fixed(records, FIELDS, marks=[MARK])
    except ScanError:
        return _read_one_by_one(records, frozenset(serials.tolist()), style)
    columns = np.stack(scan.columns, axis=1)
    there = np.stack([np.ones(scan.rows, bool) if mask is None else mask for mask in scan.valid], axis=1)
    pairs = there[:, :1] & there[:, 1:]
    found = Stated(np.broadcast_to(columns[:, :1], pairs.shape)[pairs], columns[:, 1:][pairs])
    if serials.size and int(serials.max()) >= 10**WIDTH and not np.isin(np.concatenate(found), serials).all():
        return _read_one_by_one(records, frozenset(serials.tolist()), style)
    return found


def _read_one_by_one(records: bytes, serials: frozenset[int], style: str) -> Stated:
    first: list[int] = []
    second: list[int] = []
    for line in records.splitlines():
        if line[:6].upper() != MARK:
            continue
        found = _fields(line.rstrip(), serials, style)
        if found and found[0] is not None:
            partners = [serial for serial in found[1:] if serial is not None]
            first += [found[0]] * len(partners)
            second += partners
    return Stated(np.array(first, np.int64), np.array(second, np.int64))


def _fields(line: bytes, serials: frozenset[int], style: str) -> list[int | None]:
    """The serials of a record, in columns of five, or else as they must be parted to be serials of atoms."""
    body = line[6:]
    words = [body[k : k + WIDTH].strip() for k in range(0, WIDTH * (1 + PARTNERS), WIDTH)]
    fixed = [decode_word(word, WIDTH, style) for word in words]
    if all(serial is None or serial in serials for serial in fixed):
        return fixed
    for words in ([body[k : k + 6].strip() for k in range(0, len(body), 6)], body.split()):
        other = [decode_word(word, WIDTH, style) for word in words]
        if other and all(serial in serials for serial in other):
            return other[: 1 + PARTNERS]
    return fixed


def bonds_of(stated: Stated, ids: Column | None) -> Bonds:
    """The bonds among rows: once a pair, with how often either end states it."""
    notes: list[Note] = []
    if ids is None or not len(stated.first):
        return Bonds(None, notes)
    rows = [_rows_of(serials, ids) for serials in stated]
    known = (rows[0] >= 0) & (rows[1] >= 0)
    if not known.all():
        lost = np.concatenate([serials[row < 0] for serials, row in zip(stated, rows, strict=True)])
        left_out = counted(int(np.count_nonzero(~known)), "bond")
        notes.append(Note(f"CONECT names serials that no atom has, as {int(lost[0])}: {left_out} left out"))
    one, other = (row[known] for row in rows)
    apart = one != other
    if not apart.all():
        notes.append(Note("CONECT binds an atom to itself, which is left out"))
    one, other = one[apart], other[apart]
    if not len(one):
        return Bonds(None, notes)
    return Bonds(_merged(one, other, len(ids)), notes)


def _merged(one: Array, other: Array, count: int) -> Block:
    """Pairs of rows in order, and the greater number of times that one of the two ends states them."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys, where = np.unique(low * count + high, return_inverse=True)
    forward = np.bincount(where[one < other], minlength=len(keys))
    backward = np.bincount(where[one > other], minlength=len(keys))
    columns = {
        "atomi": (keys // count).astype(np.uint64),
        "atomj": (keys % count).astype(np.uint64),
        "bond_number": np.maximum(forward, backward).astype(np.uint64),
    }
    return Block.of({name: Column.of(values) for name, values in columns.items()}, len(keys))


def _rows_of(serials: Array, ids: Column) -> Array:
    """The first row of each serial; -1 where no atom has it."""
    values = ids.values.astype(np.int64)
    rows = np.arange(len(values)) if ids.valid is None else np.flatnonzero(ids.valid)
    order = rows[np.argsort(values[rows], kind="stable")]
    if not len(order):
        return np.full(len(serials), -1)
    place = np.minimum(np.searchsorted(values[order], serials, side="left"), len(order) - 1)
    found = order[place]
    return np.where(values[found] == serials, found, -1)


def bond_lines(one: Array, other: Array, orders: Array, spelled: Callable[[int], str]) -> Iterator[str]:
    """CONECT records of bonds among rows, each stated from both ends as often as its order says.

    Parameters
    ----------
    one, other, orders
        Rows, and orders of at least 1.
    spelled
        The serial of a row, in five columns.
    """
    ends, partners = np.concatenate([one, other]), np.concatenate([other, one])
    repeats = np.concatenate([orders, orders])
    ends, partners = np.repeat(ends, repeats), np.repeat(partners, repeats)
    order = np.lexsort((partners, ends))
    groups: dict[int, list[int]] = {}
    for end, partner in zip(ends[order].tolist(), partners[order].tolist(), strict=True):
        groups.setdefault(end, []).append(partner)
    for end, bound in groups.items():
        for k in range(0, len(bound), PARTNERS):
            yield "CONECT" + spelled(end) + "".join(map(spelled, bound[k : k + PARTNERS]))
