"""``molrec-convert formats``: what can be read and written."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    table: Annotated[bool, typer.Option("--table", help="What each format carries, as Markdown.")] = False,
) -> None:
    """List the formats."""
    from molrec_convert import registry
    from molrec_convert.inputs import RECORD_FORMAT

    if table:
        from molrec_convert.carried import carried_table

        typer.echo(carried_table(registry.adapters()), nl=False)
        return
    rows = [(RECORD_FORMAT, "rw", "*.h5", "MolRec record in HDF5")]
    rows += [
        (
            each.name,
            ("r" if each.importer else "") + ("w" if each.exporter else ""),
            " ".join(each.patterns),
            each.summary,
        )
        for each in registry.adapters()
    ]
    if as_json:
        keys = ("name", "ways", "patterns", "summary")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for name, ways, patterns, summary in rows:
        typer.echo(f"{name:{widths[0]}}  {ways:{widths[1]}}  {patterns:{widths[2]}}  {summary}")
