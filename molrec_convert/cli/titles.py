"""Printing lines of which some are titles: bold on a terminal."""

from __future__ import annotations

import os
import sys

import typer


def show(text: str) -> None:
    """Print text on standard output; lines that do not begin with a blank are titles."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    lines = text.split("\n")
    typer.echo("\n".join(line if plain or line[:1] in ("", " ") else typer.style(line, bold=True) for line in lines))
