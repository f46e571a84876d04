"""The numbers of atoms as a PDB file prints them: ids as serials, in hybrid-36 where they are large.

Reference: wwPDB format 3.3, "Coordinate Section"; http://cci.lbl.gov/hybrid_36/
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from molrec_convert.errors import FormatError
from molrec_convert.model import Block, Column
from molrec_convert.text.table import format_table

from ._pdb_numbers import hybrid36

Array = np.ndarray[Any, Any]
Table = Array
"""u8[N][width]: the characters of a field of all rows."""

SERIALS = -9999, 10**5 + 2 * 26 * 36**4 - 1
"""The least and the greatest number that five columns hold, in hybrid-36."""


class Serials(NamedTuple):
    """The numbers under which atoms stand in the file.

    Parameters
    ----------
    values, valid
        By row; None where all are there.
    table
        As they are printed.
    note
        Why they are not those of the frame.
    """

    values: Array
    valid: Array | None
    table: Table
    note: str | None = None

    def word(self, row: int) -> str:
        """A serial as it is printed."""
        word: bytes = self.table[row].tobytes()
        return word.decode()


def serials_of(atoms: Block, bonds: Block | None, path: str, frame: int) -> Serials:
    """The ids of atoms as serials, or serials from 1 on where bonds could not be stated by ids."""
    count = atoms.count
    ids = atoms.columns.get("atom_id") or atoms.columns.get("id")
    plain = np.arange(1, count + 1, dtype=np.int64)
    note = None if ids is None else unfit_ids(ids, bonds)
    if ids is None or note is not None:
        return Serials(plain, None, number_table(plain, None, 5, "serial", path, frame), note)
    values = ids.values.astype(np.int64)
    return Serials(values, ids.valid, number_table(values, ids.valid, 5, "serial", path, frame, null=b"*"))


def unfit_ids(ids: Column, bonds: Block | None) -> str | None:
    """Why ids cannot be serials; None where they can."""
    there = ids.values if ids.valid is None else ids.values[ids.valid]
    if there.size and not SERIALS[0] <= int(there.min()) <= int(there.max()) <= SERIALS[1]:
        return "ids are too large to be serials; the atoms are numbered from 1"
    if bonds is not None and bonds.count and (row := _ambiguous(ids, bonds)) is not None:
        return f"the id of atom {row + 1}, which has bonds, is not its own; the atoms are numbered from 1"
    return None


def _ambiguous(ids: Column, bonds: Block) -> int | None:
    """A row with bonds whose id is null or was met before."""
    rows = np.unique(np.concatenate([bonds["atomi"], bonds["atomj"]]).astype(np.int64))
    if ids.valid is not None and not ids.valid[rows].all():
        return int(rows[~ids.valid[rows]][0])
    there = np.arange(len(ids)) if ids.valid is None else np.flatnonzero(ids.valid)
    _, first, inverse = np.unique(ids.values[there], return_index=True, return_inverse=True)
    owner = np.full(len(ids), -1)
    owner[there] = there[first][inverse]
    later = rows[owner[rows] != rows]
    return int(later[0]) if len(later) else None


def number_table(
    values: Array, valid: Array | None, width: int, name: str, path: str, frame: int, *, null: bytes = b" "
) -> Table:
    """Integers in so many columns, in hybrid-36 where they are larger; `FormatError` where even that is too small."""
    whole = values if valid is None else np.where(valid, values, 0)
    text = format_table([whole], separator=b"", terminator=b"", widths=[width])
    if len(text) != width * len(whole):
        words = []
        for row, value in enumerate(whole.tolist()):
            try:
                words.append(hybrid36(value, width))
            except ValueError as error:
                raise FormatError(f"atom {row + 1}: {name} {error}", path=path, frame=frame) from None
        text = "".join(words).encode()
    table = np.frombuffer(text, np.uint8).reshape(len(whole), width)
    return table if valid is None else np.where(valid[:, None], table, np.uint8(ord(null)))
