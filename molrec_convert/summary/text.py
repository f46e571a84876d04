"""The facts of a file for people: compact, aligned, on 80 columns where the names allow it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from molrec_convert.plain import plain_json

from .facts import BlockFacts, CellFacts, ColumnFacts, Course, Extent, Info, SectionFacts, ValueFacts

WIDTH = 80
LABEL = 10
MOST_KINDS = 12
"""How many elements or types are listed."""
SIZES = ("B", "kB", "MB", "GB", "TB")
TITLES = {"frame": "frame", "system": "system: what holds for all frames", "trajectory": "trajectory"}
FIRST = "the first frame, as a record holds it"


def info_text(info: Info) -> str:
    """What `info` gives, as lines; those that begin without a blank are titles."""
    size = "" if info.size is None else f", {bytes_text(info.size)}"
    lines = [f"{info.file}: {info.format}{size}"]
    for label, text in _summary(info):
        lines += _labelled(label, text)
    for section in info.sections:
        lines += ["", TITLES[section.name] if info.record else FIRST]
        for block in section.blocks:
            lines += _block(block, static=section.name != "trajectory")
        lines += _meta(section)
    if info.unknown:
        lines += ["", "not of MolRec, and carried as it is", *_wrapped(", ".join(info.unknown), "  ")]
    return "\n".join(lines)


# ---------------------------------------------------------------- what the whole file is
def _summary(info: Info) -> Iterator[tuple[str, str]]:
    yield "frames", _frames(info)
    if info.atoms is not None:
        yield "atoms", _atoms(info)
    yield "cell", "none" if info.cell is None else _cell(info.cell, info.units.get("length"))
    if info.units:
        yield "units", ", ".join(f"{quantity} {unit}" for quantity, unit in info.units.items())
    yield from _origin(info.document)
    for note in info.notes:
        yield "note", note


def _frames(info: Info) -> str:
    parts = [f"{info.frames:,}" if info.exact else f"about {_rounded(info.frames):,} (--count counts them)"]
    if info.step is not None:
        parts.append(_course("step", info.step))
    if info.time is not None:
        unit = info.units.get("time")
        parts.append(_course("time", info.time) + ("" if unit is None else f" {unit}"))
    return ", ".join(parts)


def _rounded(count: int) -> int:
    """Two digits of a number that is not known better."""
    scale: int = 10 ** max(0, len(str(count)) - 2)
    return round(count / scale) * scale


def _course(name: str, course: Course) -> str:
    first, last, stride = (_number(value) for value in (course.first, course.last, course.stride))
    text = f"{name} {first}" if course.last in (None, course.first) else f"{name} {first} to {last}"
    return text if course.stride is None else f"{text} by {stride}"


def _number(value: float | None) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _atoms(info: Info) -> str:
    assert info.atoms is not None
    kinds = info.elements if info.elements is not None else info.types
    text = extent_text(info.atoms)
    if _varies(info.atoms) and not info.record:
        text += " in the first two frames and the last"
    if not kinds:
        return text
    word = "" if info.elements is not None else "type "
    listed = [f"{word}{name or repr(name)} {count:,}" for name, count in kinds.items()]
    more = f" and {len(listed) - MOST_KINDS} more" if len(listed) > MOST_KINDS else ""
    return f"{text}: {', '.join(listed[:MOST_KINDS])}{more}" + (" in the first" if _varies(info.atoms) else "")


def _varies(extent: Extent) -> bool:
    return extent.least != extent.most


def extent_text(extent: Extent) -> str:
    """``10,000``, or ``98 to 100``."""
    return f"{extent.least:,} to {extent.most:,}" if _varies(extent) else f"{extent.least:,}"


def _cell(cell: CellFacts, unit: str | None) -> str:
    origin = "" if not any(cell.origin) else ", origin " + " ".join(f"{value:.6g}" for value in cell.origin)
    if not cell.defined:
        return f"none{origin}"
    text = " × ".join(f"{length:.6g}" for length in cell.lengths) + ("" if unit is None else f" {unit}")
    if any(abs(angle - 90.0) > 1e-9 for angle in cell.angles):
        text += ", " + " ".join(f"{angle:.6g}°" for angle in cell.angles)
    text += origin
    axes = [axis for axis, flag in zip("abc", cell.boundary, strict=True) if flag]
    text += ", periodic" + (" along " + " ".join(axes) if 0 < len(axes) < 3 else "" if axes else " nowhere")
    if cell.changes and cell.shortest is not None and cell.longest is not None:
        pairs = zip(cell.shortest, cell.longest, strict=True)
        spans = [f"{least:.6g} to {most:.6g}" if least != most else f"{least:.6g}" for least, most in pairs]
        text += f"; it changes: {' × '.join(spans)}"
    return text if cell.always else text + "; some frames have none"


def _origin(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where a record comes from, and what it says besides."""
    for name in ("source", "topology"):
        if isinstance(source := document.get(name), dict):
            yield name, _source(source)
    convert = document.get("convert")
    convert = convert if isinstance(convert, dict) else {}
    if isinstance(creator := document.get("creator"), dict):
        yield "creator", " ".join(str(creator[key]) for key in ("name", "version") if key in creator)
    if isinstance(options := convert.get("options"), dict) and options:
        yield "options", ", ".join(f"{key}={_shown(value)}" for key, value in options.items())
    warnings = convert.get("warnings")
    for warning in warnings if isinstance(warnings, list) else ():
        yield "warning", str(warning)
    for key in document:
        if key not in ("source", "topology", "creator", "convert", "units"):
            yield key, _shown(document[key])


def _source(source: Mapping[str, Any]) -> str:
    parts = [str(source.get("name")), str(source.get("format"))]
    if isinstance(size := source.get("size"), int):
        parts.append(bytes_text(size))
    if isinstance(digest := source.get("sha256"), str):
        parts.append(f"sha256 {digest[:12]}…")
    return ", ".join(part for part in parts if part != "None")


# ---------------------------------------------------------------- blocks
def _block(block: BlockFacts, *, static: bool) -> list[str]:
    rows = "never set" if block.rows is None else f"{extent_text(block.rows)} {_rows(block.rows)}"
    parts = [rows if block.shape is None else f"{rows} as {' × '.join(map(str, block.shape))}"]
    if not static and block.rows is not None:
        parts.append("set once" if block.updates == 1 else f"set {block.updates:,} times")
    if block.aligned_with is not None:
        parts.append(f"aligned with {block.aligned_with}")
    table = [_cells(column) for column in block.columns]
    widths = [max(len(row[k]) for row in table) for k in range(4)] if table else []
    lines = [f"  {block.name}: {', '.join(parts)}"]
    for name, dtype, stored, ratio, note in table:
        line = f"    {name:{widths[0]}}  {dtype:{widths[1]}}"
        line += f"  {stored:>{widths[2]}}" if widths[2] else ""
        line += f"  {ratio:>{widths[3]}}" if widths[3] else ""
        lines.append(f"{line}  {note}".rstrip())
    return lines


def _rows(rows: Extent) -> str:
    return "row" if rows.least == rows.most == 1 else "rows"


def _cells(column: ColumnFacts) -> tuple[str, str, str, str, str]:
    notes = [] if column.unit is None else [column.unit]
    if column.target is not None:
        notes.append(f"rows of {column.target}")
    if column.nullable:
        notes.append("some null")
    if column.precision is not None:
        notes.append(f"to {column.precision:g}")
    stored = "" if column.stored is None else bytes_text(column.stored)
    ratio = "" if column.ratio is None else f"{column.ratio:{'.1f' if column.ratio >= 1.0 else '.2g'}}:1"
    return column.name, type_text(column), stored, ratio, ", ".join(notes)


def type_text(column: ColumnFacts) -> str:
    """``f64``, ``f64[3]``."""
    return column.dtype + "".join(f"[{n}]" for n in column.trailing)


def _meta(section: SectionFacts) -> list[str]:
    if not section.meta:
        return []
    per_frame = [value for value in section.meta if value.per_frame]
    rest = [value for value in section.meta if not value.per_frame]
    lines = [f"  values{' of every frame' if per_frame else ''}"]
    width = max(len(value.key) for value in section.meta)
    tags = max(len(value.tag) for value in section.meta)
    for value in (*per_frame, *rest):
        text = (value.unit or "") if value.per_frame else _value(value)
        lines.append(_clipped(f"    {value.key:{width}}  {value.tag:{tags}}  {text}".rstrip()))
    return lines


def _value(value: ValueFacts) -> str:
    return _shown(value.value) + ("" if value.unit is None else f" {value.unit}")


# ---------------------------------------------------------------- lines
def bytes_text(size: int) -> str:
    """``390.4 MB``."""
    value, power = float(size), 0
    while value >= 999.95 and power < len(SIZES) - 1:
        value, power = value / 1000.0, power + 1
    return f"{size} B" if not power else f"{value:.1f} {SIZES[power]}"


def _shown(value: Any) -> str:
    return json.dumps(plain_json(value), ensure_ascii=False) if not isinstance(value, str) else json_string(value)


def json_string(text: str) -> str:
    """Text as one line: in quotes where it holds blanks or line ends, or none at all."""
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)


def _clipped(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _labelled(label: str, text: str) -> list[str]:
    head = f"  {label:{LABEL}}"
    return _wrapped(text, head if len(label) < LABEL else f"  {label} ", " " * (LABEL + 2))


def _wrapped(text: str, first: str, rest: str | None = None) -> list[str]:
    indent = first if rest is None else rest
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    ) or [first]
