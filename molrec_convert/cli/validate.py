"""``molrec-convert validate FILE…``: whether records keep the rules of MolRec."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from molrec_convert.errors import ConvertError

from .trouble import tell

if TYPE_CHECKING:
    from molrec_convert.records.validation import Finding


def command(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Records.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON: an object for one file, a list of them for several.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules by number, and look at no file.")] = False,
) -> None:
    """Check records, all of their values included; the status is 1 if a reader would refuse one."""
    if rules == bool(files):
        raise typer.BadParameter("files to look at are due, or --rules alone", param_hint="FILE")
    if rules:
        _list_rules(as_json=as_json)
        return
    documents: list[dict[str, Any]] = []
    failed = False
    for name in files or ():
        found = _looked_at(name)
        errors = 0 if found is None else sum(finding.severity == "error" for finding in found)
        failed = failed or found is None or errors > 0
        if found is not None and as_json:
            documents.append(_document(name, found, errors))
        elif found is not None:
            _show(name, found, errors)
    if as_json and documents:
        many = len(files or ()) > 1
        typer.echo(json.dumps(documents if many else documents[0], indent=2, ensure_ascii=False))
    if failed:
        raise typer.Exit(1)


def _looked_at(name: str) -> list[Finding] | None:
    """What was found; None, and a line on standard error, for a file that cannot be read at all."""
    from molrec_convert.records.validation import validate

    try:
        return validate(name)
    except (ConvertError, OSError) as error:
        tell(error)
        return None


def _document(name: str, found: list[Finding], errors: int) -> dict[str, Any]:
    return {
        "file": name,
        "valid": not errors,
        "errors": errors,
        "warnings": len(found) - errors,
        "findings": [finding.as_json() for finding in found],
    }


def _show(name: str, found: list[Finding], errors: int) -> None:
    for finding in found:
        typer.echo(f"{name}: {finding}")
    counts = [(errors, "error"), (len(found) - errors, "warning")]
    told = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n)
    typer.echo(f"{name}: {'not valid' if errors else 'valid'}{f' ({told})' if told else ''}")


def _list_rules(*, as_json: bool) -> None:
    from molrec_convert.rules import RULES

    if as_json:
        typer.echo(json.dumps([rule._asdict() for rule in RULES], indent=2, ensure_ascii=False))
        return
    for rule in RULES:
        typer.echo(f"{rule.number:2}  {rule.text} [{rule.chapter}]")
        for severity, what in (("error", rule.refused), ("warning", rule.warned)):
            if what:
                typer.echo(f"    {severity}: {what}")
        if not rule.refused and not rule.warned:
            typer.echo("    no store shows whether it was kept")
