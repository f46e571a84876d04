"""What an XYZ file does not hold: text that is no word, and names that mean something else in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from molrec_convert.adapter import Snapshot
from molrec_convert.loss import Contents, Loss
from molrec_convert.model import Column
from molrec_convert.model.dtypes import DTYPES

from ._xyz_columns import plan_of
from ._xyz_dialects import read_header
from ._xyz_header import ENERGY, SPECIAL, STEP_KEYS, TIME_KEYS, UNIT_KEY
from ._xyz_layout import lost as lost_text
from ._xyz_layout import made_layout, source_layout
from ._xyz_said import extended_comment
from ._xyz_scales import Scales
from ._xyz_words import WordTable

DOUBTFUL = frozenset((*SPECIAL, *ENERGY, *STEP_KEYS, *TIME_KEYS))
Signature = tuple[tuple[str, str, tuple[int, ...]], ...]


def lost(contents: Contents) -> Iterator[Loss]:
    """Columns of text that is no word, and the names of columns and keys that are read as others."""
    yield from lost_text(contents)
    for snapshot in contents.snapshots:
        yield from _columns(snapshot)
        yield from _keys(snapshot)


def _columns(snapshot: Snapshot) -> Iterator[Loss]:
    if "atoms" not in snapshot.frame:
        return
    columns = snapshot.frame["atoms"].columns
    renamed = _renamed(tuple((name, column.dtype, column.trailing) for name, column in columns.items()))
    if not renamed:
        return
    restored = _restored(snapshot.about, columns)
    for name, read in renamed:
        if name not in restored:
            yield Loss(f"name of atoms.{name}", f"a reader takes it for {read}")


@lru_cache(maxsize=64)
def _renamed(signature: Signature) -> tuple[tuple[str, str], ...]:
    """The columns that are read under another name, with that name."""
    columns = {
        name: Column.of(np.zeros((0, *trailing), DTYPES[dtype])) for name, dtype, trailing in signature
    }  # fmt: skip
    layout = made_layout(None, {}, columns, WordTable(), velocity="velo")
    fields = plan_of([written.property for written in layout]).fields
    pairs = zip(layout, fields, strict=True)
    return tuple(
        (written.targets[0], field.targets[0])
        for written, field in pairs
        if written.targets and written.targets != field.targets
    )


def _restored(about: Mapping[str, Any], columns: Mapping[str, Column]) -> frozenset[str]:
    """The columns that are written under the names of the source."""
    comment = about.get("xyz_comment")
    if not isinstance(comment, str):
        return frozenset()
    try:
        layout = source_layout(read_header(comment), about, columns)
    except ValueError:
        return frozenset()
    return frozenset(target for written in layout if written is not None for target in written.targets)


def _keys(snapshot: Snapshot) -> Iterator[Loss]:
    meta = snapshot.frame.meta
    doubtful = [key for key in meta if key.lower() in DOUBTFUL or key in DOUBTFUL or UNIT_KEY.fullmatch(key)]
    if not doubtful:
        return
    found = read_header(extended_comment([], snapshot, None, Scales(None, {}))).values
    for key in doubtful:
        if repr(found.get(key)) != repr(meta[key]):
            yield Loss(key, "the key means something else in the format")
