"""The course of a file as a picture: energies, temperature, pressure, cell and number of atoms over time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.errors import OptionError
from molrec_convert.forms import location
from molrec_convert.inputs import Input, RecordInput, check_reading, open_input
from molrec_convert.mapping.names import META_QUANTITIES
from molrec_convert.mapping.units import unit_of
from molrec_convert.model.dtypes import Array
from molrec_convert.options import Options
from molrec_convert.part import PartFile

from .track import Track, foreign_track, record_track

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
WIDTH, HEIGHT = 8.0, 1.9
"""Of a picture of one panel, in inches; each further panel adds as much to the height."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines that share an axis."""

    label: str
    lines: dict[str, Array]


def plot(
    source: str | Path,
    target: str | Path,
    *,
    format: str | None = None,
    units: str | None = None,
    atom_style: str | None = None,
    force: bool = False,
) -> list[str]:
    """Draw the course of a file: its energies, temperature and pressure, and what changes of its cell and atoms.

    Parameters
    ----------
    source
        A record or a foreign file.
    target
        The picture: ``*.png``, ``*.svg`` or ``*.pdf``.
    format, units, atom_style
        As `info` takes them.
    force
        Replace a target that exists.

    Returns
    -------
    list of str
        What the panels show.

    Raises
    ------
    ConvertError
        Where there is nothing to draw, a file cannot be read, or the target exists.
    """
    path, picture = location(source), Path(target)
    if picture.suffix.lower() not in SUFFIXES:
        raise OptionError(f"a picture is written as {', '.join(SUFFIXES)}", path=picture)
    with PartFile(picture, force=force) as part:
        options = Options(units=units, atom_style=atom_style)
        found = open_input(path, stream=None, format_name=format, options=options, check=False)
        try:
            check_reading(found.format, found.takes, options)
            panels, track = _drawn(found)
        finally:
            found.close()
        figure = _figure(panels, track, found.name)
        figure.savefig(part.path, format=picture.suffix.lower().lstrip("."))
        part.commit()
    return [panel.label for panel in panels]


def _drawn(found: Input) -> tuple[list[Panel], Track]:
    """What there is to draw; `OptionError` where that is nothing."""
    track = record_track(found.record) if isinstance(found, RecordInput) else foreign_track(found)
    if len(track.step) < 2:
        raise OptionError("there is nothing to plot: it takes two frames", path=found.name)
    panels = list(panels_of(track))
    if not panels:
        message = "there is nothing to plot: no energy, temperature or pressure, and cell and atoms do not change"
        raise OptionError(message, path=found.name)
    return panels, track


def panels_of(track: Track) -> Iterator[Panel]:
    """What is worth a panel: values of a known quantity, and what changes of the cell and the number of atoms."""
    for quantity in dict.fromkeys(META_QUANTITIES.values()):
        lines = {key: values for key, values in track.values.items() if META_QUANTITIES.get(key) == quantity}
        if any(np.isfinite(values).any() for values in lines.values()):
            yield Panel(_with_unit(quantity, unit_of(quantity, track.units)), lines)
    length = track.units.get("length")
    if _changes(track.lengths):
        yield Panel(_with_unit("cell", length), dict(zip("abc", track.lengths.T, strict=True)))
    if _changes(track.volume):
        yield Panel(_with_unit("volume", None if length is None else f"{length}^3"), {"": track.volume})
    if _changes(track.atoms):
        yield Panel("atoms", {"": track.atoms})


def _changes(values: Array) -> bool:
    """Whether what the frames have is not always the same."""
    there = values[np.isfinite(values).reshape(len(values), math.prod(values.shape[1:])).all(axis=1)]
    return bool(len(there) and (there != there[0]).any())


def _with_unit(label: str, unit: str | None) -> str:
    return label if unit is None else f"{label} / {unit}"


def _figure(panels: list[Panel], track: Track, title: str) -> Figure:
    from matplotlib.figure import Figure  # heavy

    figure = Figure(figsize=(WIDTH, HEIGHT * len(panels) + 0.6), layout="constrained")
    figure.suptitle(title)
    axes: Any = figure.subplots(len(panels), sharex=True, squeeze=False)
    across = track.step if track.time is None else track.time
    for panel, axis in zip(panels, axes[:, 0], strict=True):
        for name, values in panel.lines.items():
            axis.plot(across, values, label=name or None, linewidth=1.0)
        axis.set_ylabel(panel.label)
        if len(panel.lines) > 1 or "" not in panel.lines:
            axis.legend(loc="upper right", fontsize="small")
    axes[-1, 0].set_xlabel("step" if track.time is None else _with_unit("time", track.units.get("time")))
    return figure
