"""``molrec-convert formats``: what can be read and written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from molrec_convert.adapter import Adapter


def command(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    table: Annotated[bool, typer.Option("--table", help="What each format carries, as Markdown.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Those of ASE and MDAnalysis one by one, too.")] = False,
) -> None:
    """List the formats."""
    from molrec_convert import registry
    from molrec_convert.forms import FORMS

    if table:
        from molrec_convert.carried import carried_table

        typer.echo(carried_table(registry.adapters()), nl=False)
        return
    rows = [(form.name, "rw", f"*{form.suffixes[0]}", form.summary) for form in FORMS]
    rows += [_row(each) for each in registry.adapters()]
    for family in registry.families():
        if everything:
            found = (family.adapter(name) for name in family.formats())
            rows += [_row(each) for each in found if each is not None]
        else:
            summary = f"what {family.library} reads or writes: see molrec-convert formats --all"
            rows.append((f"{family.name}:…", "rw", "", summary))
    if as_json:
        keys = ("name", "ways", "patterns", "summary")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for name, ways, patterns, summary in rows:
        typer.echo(f"{name:{widths[0]}}  {ways:{widths[1]}}  {patterns:{widths[2]}}  {summary}")


def _row(adapter: Adapter) -> tuple[str, str, str, str]:
    ways = ("r" if adapter.reads else "") + ("w" if adapter.writes else "")
    return adapter.name, ways, " ".join(adapter.patterns), adapter.summary
