"""``molrec-convert diff A B``: whether two files mean the same."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from molrec_convert.errors import ConvertError, OptionError

from .arguments import STREAM, source_of, words_of
from .convert import pairs_of
from .titles import show
from .trouble import tell

DIFFERENT, TROUBLE = 1, 2
"""The status of files that differ, and of what went wrong, as those of diff(1)."""


def command(
    a: Annotated[str, typer.Argument(metavar="A", help="A record or a foreign file; - for standard input.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    tol: Annotated[float, typer.Option(help="How far reals may be apart; by default bit for bit.")] = 0,
    rtol: Annotated[float, typer.Option(help="The same, in parts of the larger of the two.")] = 0,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Leave out: bonds, atoms.vx, 'atoms.v*', pe, box.origin, step, units; may be repeated."),
    ] = None,
    provenance: Annotated[
        bool, typer.Option("--provenance", help="Compare source, creator and options of records, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    format_a: Annotated[str | None, typer.Option("--from-a", help="Format of A.")] = None,
    format_b: Annotated[str | None, typer.Option("--from-b", help="Format of B.")] = None,
    units: Annotated[str | None, typer.Option(help="Unit style of a file that does not say.")] = None,
    atom_style: Annotated[str | None, typer.Option(help="Columns of the atoms of a file that does not say.")] = None,
    type_map: Annotated[str | None, typer.Option(help="Elements of the types of a foreign file: 1=Si,2=C.")] = None,
    guess: Annotated[str | None, typer.Option(help="What may be guessed where a file does not say: elements.")] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not sort atoms by id.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit status tells.")] = False,
) -> None:
    """Compare what two files mean, however they lie on disk: exit status 0 the same, 1 different, 2 trouble."""
    from molrec_convert.comparison import comparison_text, diff

    try:
        if a == b == STREAM:
            raise OptionError("standard input can be one of the files, not both")
        found = diff(
            source_of(a),
            source_of(b),
            tol=tol,
            rtol=rtol,
            ignore=[name for text in ignore or () for name in text.split(",")],
            provenance=provenance,
            format_a=format_a,
            format_b=format_b,
            units=units,
            atom_style=atom_style,
            type_map=pairs_of(type_map, "--type-map"),
            guess=words_of(guess),
            keep_order=keep_order,
        )
    except (ConvertError, OSError, MemoryError) as error:
        tell(error)
        raise typer.Exit(TROUBLE) from None
    if not quiet:
        for text in found.warnings:
            sys.stderr.write(f"warning: {text}\n")
        if as_json:
            typer.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False, allow_nan=False))
        else:
            show(comparison_text(found))
    if not found.same:
        raise typer.Exit(DIFFERENT)
