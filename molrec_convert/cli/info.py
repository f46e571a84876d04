"""``molrec-convert info FILE…``: what files hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from molrec_convert.errors import ConvertError, OptionError

from .arguments import STREAM, source_of
from .titles import show
from .trouble import tell

if TYPE_CHECKING:
    from molrec_convert.summary import Info


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Records or foreign files; - for standard input.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON: an object for one file, a list of them for several.")
    ] = False,
    count: Annotated[
        bool, typer.Option("--count", help="Count the frames of a foreign file however large it is.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw energies, temperature, cell and atoms over time: *.png, *.svg, *.pdf.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of the files.")] = None,
    units: Annotated[str | None, typer.Option(help="Unit style of the files, where they do not say.")] = None,
    atom_style: Annotated[
        str | None, typer.Option(help="Columns of the atoms, where the files do not say: full, or 'id type x y z'.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the picture.")] = False,
) -> None:
    """Tell what files hold, from their headers: sections, columns, frames, cell, elements, provenance."""
    from molrec_convert.summary import info, info_text
    from molrec_convert.summary import plot as draw

    if plot is not None and (len(files) > 1 or STREAM in files):
        raise OptionError("--plot takes one file, and no stream")
    found: list[Info] = []
    failed = False
    for name in files:
        try:
            each = info(source_of(name), format=from_format, units=units, atom_style=atom_style, count=count)
        except (ConvertError, OSError) as error:
            tell(error)
            failed = True
            continue
        found.append(each)
        if not as_json:
            show(("" if len(found) == 1 else "\n") + info_text(each))
    if as_json and found:
        made = [each.as_json() for each in found]
        typer.echo(json.dumps(made if len(files) > 1 else made[0], indent=2, ensure_ascii=False, allow_nan=False))
    if plot is not None and found:
        draw(files[0], plot, format=from_format, units=units, atom_style=atom_style, force=force)
    if failed:
        raise typer.Exit(1)
