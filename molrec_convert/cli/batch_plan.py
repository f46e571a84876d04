"""The table of ``molrec-convert batch --dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from molrec_convert.batch.report.page import duration_text, size_text

if TYPE_CHECKING:
    from molrec_convert.batch.plan import Plan, Planned

HEAD = ("state", "format", "size", "source", "record", "remark")
STATES = {"pending": "migrate", "done": "done", "failed": "refuse", "skipped": "skip"}
"""What is planned for a source of each state."""
ROWS = 500
"""Rows whose widths are looked at together."""


def show_plan(plan: Plan, *, workers: int) -> None:
    """Print the sources as a table, and what is to be expected."""
    waiting: list[tuple[str, ...]] = []
    for each in plan:
        waiting.append(_row(each))
        if len(waiting) == ROWS:
            _print(waiting)
    if waiting:
        _print(waiting)
    counts = plan.counts
    told = [f"{counts[state][0]} to {word}" for state, word in STATES.items() if state != "done" and state in counts]
    if "done" in counts:
        told.append(f"{counts['done'][0]} done before")
    expected = plan.estimate
    basis = "from what is done" if expected.measured else "a rough guess"
    typer.echo(f"\n{', '.join(told) or 'nothing was found'}")
    typer.echo(
        f"{size_text(expected.bytes)} to read, about {size_text(expected.output)} of records, "
        f"about {duration_text(expected.seconds / workers)} with {workers} workers ({basis})"
    )


def _row(each: Planned) -> tuple[str, ...]:
    source = each.source + (f"  + {each.topology}" if each.topology else "")
    size = "" if each.size is None else size_text(each.size)
    return STATES[each.state], each.format or "–", size, source, each.output or "–", each.remark


def _print(rows: list[tuple[str, ...]]) -> None:
    table = [HEAD, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(HEAD) - 1)]
    for row in table:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        typer.echo("  ".join((*cells, row[-1])).rstrip())
    rows.clear()
