"""``molrec-convert repair FILE``: mend the record of a writer that was killed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(file: Annotated[Path, typer.Argument(help="The record.")]) -> None:
    """Mend a record that its writer did not close; every frame that was committed is kept."""
    from molrec_convert.records import repair

    found = repair(file)
    frames = "1 frame" if found.frames == 1 else f"{found.frames} frames"
    if found.what:
        typer.echo(f"{file}: {'; '.join(found.what)}; {frames} kept")
    else:
        typer.echo(f"{file}: nothing to repair; it holds {frames}")
