"""``molrec-convert SOURCE TARGET``: convert one file."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from molrec_convert.errors import LossError, OptionError
from molrec_convert.headstart import HeadStart

from .arguments import STREAM, source_of, target_of, words_of

if TYPE_CHECKING:
    from molrec_convert.part import PartFile


def command(
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE [TRAJECTORY] TARGET",
            help="The file to read, perhaps compressed; perhaps another with its frames; the file to write, *.h5 for a "
            "record. - is standard input and output.",
        ),
    ],
    topology: Annotated[
        str | None, typer.Option(help="A file with the bonds, masses and names that the source lacks.")
    ] = None,
    trajectory: Annotated[
        str | None, typer.Option(help="A file with the frames, of which the source is the topology.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of the source.")] = None,
    to_format: Annotated[str | None, typer.Option("--to", help="Format of the target.")] = None,
    frames: Annotated[
        str | None, typer.Option(help="Which frames, in the order of the file: 0:500:10, or 0,5,-1.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Unit style of the file, where it does not say: real, metal, lj.")
    ] = None,
    atom_style: Annotated[
        str | None, typer.Option(help="Columns of the atoms, where the file does not say: full, or 'id type x y z'.")
    ] = None,
    to_units: Annotated[str | None, typer.Option(help="Convert known quantities to this unit system.")] = None,
    type_map: Annotated[str | None, typer.Option(help="Elements of the types: 1=Si,2=C.")] = None,
    guess: Annotated[
        str | None, typer.Option(help="What may be guessed where the source does not say: elements, from names.")
    ] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not sort atoms by id.")] = False,
    unwrap: Annotated[bool, typer.Option("--unwrap", help="Add the periodic images to the positions.")] = False,
    precision: Annotated[
        str | None, typer.Option(help="Keep moving reals to this tolerance: 1e-3, or x=1e-3,vx=1e-6, or auto.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(min=0, max=17, help="Decimals of reals in a text target.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Write a text target in its simplest form.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse any loss or repair.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write a JSON report to this file, also of losses that --strict refuses.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the target.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")] = False,
) -> None:
    """Convert SOURCE to TARGET; the formats are found by content and name."""
    source, given, target = _three(files)
    checksum = _checksum(source, ctx.obj)
    from molrec_convert.convert import convert
    from molrec_convert.part import PartFile

    if given is not None and trajectory is not None:
        raise OptionError(f"there are two trajectories: {given} and {trajectory}")
    trajectory = given or trajectory
    if report is not None:
        others = (name for name in (source, target, topology, trajectory) if name is not None)
        if any(Path(name).resolve() == report.resolve() for name in others):
            raise OptionError(f"--report would replace {report}")
    written = None if report is None else PartFile(report, force=force)
    with written or nullcontext(), _progress(quiet=quiet) as progress:
        try:
            found = convert(
                source_of(source),
                target_of(target),
                topology=topology,
                trajectory=trajectory,
                from_format=from_format,
                to_format=to_format,
                frames=frames,
                units=units,
                atom_style=atom_style,
                to_units=to_units,
                type_map=pairs_of(type_map, "--type-map"),
                guess=words_of(guess),
                keep_order=keep_order,
                unwrap=unwrap,
                precision=precision_of(precision),
                decimals=decimals,
                plain=plain,
                strict=strict,
                force=force,
                progress=progress,
                checksum=checksum,
            )
        except LossError as error:
            _write_report(written, {**error.report, "error": str(error)})
            raise
    _write_report(written, found.as_json())
    if not quiet:
        for text in found.warnings:
            sys.stderr.write(f"warning: {text}\n")
        if found.losses:
            sys.stderr.write(f"{found.losses}\n")


def _checksum(source: str, begun: HeadStart | None) -> HeadStart | None:
    """The checksum of the source, unless that is a stream: the one that was begun, if it is of the same file."""
    if begun is not None and begun.path != Path(source):
        begun.drop()
        begun = None
    return begun if begun is not None or source == STREAM else HeadStart(Path(source))


def _write_report(written: PartFile | None, report: dict[str, Any]) -> None:
    if written is not None:
        written.path.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.commit()


def _three(files: list[str]) -> tuple[str, str | None, str]:
    """Source, trajectory if there is one, and target."""
    if not 2 <= len(files) <= 3:
        what = "only one is given" if len(files) == 1 else f"{len(files)} are given"
        raise typer.BadParameter(f"the files are SOURCE [TRAJECTORY] TARGET, {what}")
    return files[0], files[1] if len(files) == 3 else None, files[-1]


def pairs_of(text: str | None, option: str) -> dict[str, str]:
    """Read ``1=Si,2=C``."""
    pairs: dict[str, str] = {}
    for part in (text or "").split(","):
        key, equal, value = (word.strip() for word in part.partition("="))
        if not part and not text:
            continue
        if not equal or not key or not value:
            raise OptionError(f"{option} takes pairs such as 1=Si,2=C, not {text!r}")
        if pairs.setdefault(key, value) != value:
            raise OptionError(f"{option} names {key} twice: {text!r}")
    return pairs


def precision_of(text: str | None) -> float | str | dict[str, float] | None:
    """Read ``1e-3``, ``x=1e-3,vx=1e-6`` or ``auto``."""
    if text is None or text == "auto":
        return text
    try:
        if "=" not in text:
            return float(text)
        return {key: float(value) for key, value in pairs_of(text, "--precision").items()}
    except ValueError:
        raise OptionError(f"--precision takes 1e-3, x=1e-3,vx=1e-6 or auto, not {text!r}") from None


def _progress(*, quiet: bool) -> Any:
    """A progress bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from .progress import Bar

    return Bar()
