"""Which atom style a section ``Atoms`` has that does not say it: only where its lines leave one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from molrec_convert.text.table import ScanError, scan_table

from ._data_header import Header
from ._data_sections import Lines
from ._data_styles import KINDS, AtomStyle, styles_named

Array = np.ndarray[Any, Any]

POSITIVE = frozenset(("density", "mass", "volume", "theta", "edpd_temp", "edpd_cv"))
"""Columns that LAMMPS refuses at 0 or below, or divides by."""
NOT_NEGATIVE = frozenset(("diameter", "eradius", "rho", "area"))
FLAGS = frozenset(("bodyflag", "ellipsoidflag", "lineflag", "triangleflag"))
SAMPLE = 1000
"""How many rows are looked at first, to save looking at all of them under every style."""


def candidates(lines: Lines, header: Header, *, labels: bool, blocks: frozenset[str]) -> list[AtomStyle]:
    """The styles that the lines may be of, each layout once under its most usual name.

    Parameters
    ----------
    lines
        The lines of the section.
    header
        For the number of atom types.
    labels
        Whether types may be labels.
    blocks
        The topology that the file has, which some styles cannot have.
    """
    width = len(lines.first_row())
    most = header.counts.get("atom types", 0)
    found: dict[tuple[str, ...], AtomStyle] = {}
    for style in _of_width(width, blocks):
        if style.columns not in found and all(
            _fits(style, lines, width, rows, most, labels=labels) for rows in {min(SAMPLE, lines.count), lines.count}
        ):
            found[style.columns] = style
    return list(found.values())


def _of_width(width: int, blocks: frozenset[str]) -> Iterator[AtomStyle]:
    for kind in KINDS:
        for style in styles_named(kind.name):
            count = len(style.columns)
            if style.further is None and width in (count, count + 3) and blocks <= set(style.topology):
                yield style


def _fits(style: AtomStyle, lines: Lines, width: int, rows: int, most: int, *, labels: bool) -> bool:
    """Whether some rows can be of a style: numbers of its types, types that there are, no atoms on one another."""
    kinds = "".join("s" if labels and row.source == "type" else row.kind for row in style.rows)
    kinds += "iii" if width > len(style.columns) else ""
    try:
        columns = dict(zip(style.columns, scan_table(lines.data, kinds, rows).columns, strict=False))
    except ScanError:
        return False
    for name, values in columns.items():
        if name == "type" and not labels and most and not ((values >= 1) & (values <= most)).all():
            return False
        if name in POSITIVE and not (values > 0).all():
            return False
        if name in NOT_NEGATIVE and not (values >= 0).all():
            return False
        if name in FLAGS and not ((values == 0) | (values == 1)).all():
            return False
    if len(np.unique(columns["id"])) < rows:
        return False
    places = np.unique(np.stack([columns[name] for name in ("x", "y", "z")], axis=1), axis=0)
    return rows < 2 or 2 * len(places) > rows
