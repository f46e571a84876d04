"""Writing the page: a frame of HTML, the groups as HTML, and the rows as data that a script shows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TextIO

from molrec_convert.batch.journal import Journal, journals_in, plain
from molrec_convert.batch.journal_tables import SHOWN
from molrec_convert.batch.status import STATES, rows_of
from molrec_convert.errors import TargetError

from .totals import Format, Group, Totals, sorted_groups

NAME = "report.html"
PICTURES = 8 << 20
"""Bytes of pictures in a page."""
COLUMNS = (
    "source", "state", "format", "frames", "atoms", "size", "output", "output_size", "seconds", "verified", "topology",
    "finished", "sha256", "output_sha256",
)  # fmt: skip
"""What a row of the page has of a row of the journal, in this order; then its texts, and its picture."""
ROWS = "<!-- rows -->"


def write_report(out: str | Path) -> Path:
    """Write the report of a migration, beside its records.

    Raises
    ------
    TargetError
        Where it cannot be written.
    """
    folder = Path(out)
    totals = Totals()
    for row in rows_of(folder):
        totals.add(row)
    path = folder / NAME
    part = path.with_name(f".{NAME}.{os.getpid()}")  # parts of a migration write it, each when it ends
    head, tail = _page(folder, totals).split(ROWS)
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(head)
            _write_rows(file, folder)
            file.write(tail)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise TargetError(
            f"the report cannot be written: {(error.strerror or str(error)).lower()}", path=path
        ) from None
    return path


def _write_rows(file: TextIO, folder: Path) -> None:
    left = PICTURES
    first = True
    for journal_path in journals_in(folder):
        with Journal(journal_path, writable=False) as journal:
            for row in journal.rows("SELECT * FROM files WHERE state <> 'other' ORDER BY source"):
                picture = row["picture"] if row["picture"] is not None and len(row["picture"]) <= left else None
                left -= len(picture or "")
                values = plain(row, SHOWN)
                texts = [*filter(None, (values["error"], values["reason"])), *values["loss"]]
                texts += [text for text in (*values["warnings"], *values["notes"]) if text not in texts]
                made = [*(values[name] for name in COLUMNS), texts, None if picture is None else json.loads(picture)]
                # A closing tag within a text would end the data.
                text = json.dumps(made, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
                file.write(("" if first else ",\n") + text)
                first = False


def _page(folder: Path, totals: Totals) -> str:
    here = files(__package__)
    page = Template(here.joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(folder.resolve().name),
        style=here.joinpath("page.css").read_text(encoding="utf-8"),
        script=here.joinpath("page.js").read_text(encoding="utf-8"),
        columns=json.dumps(COLUMNS),
        when=escape(_when(totals)),
        tiles="".join(_tiles(totals)),
        facts="".join(_facts(totals)),
        formats=_formats(totals.formats),
        failures=_groups("failures", "What failed, and why", sorted_groups(totals.failures)),
        losses=_groups("losses", "What was left out", sorted_groups(totals.losses)),
        skipped=_groups("skipped", "What was skipped", sorted_groups(totals.skipped)),
        warnings=_groups("warnings", "What was noticed", sorted_groups(totals.warnings)),
        rows=ROWS,
    )


def _when(totals: Totals) -> str:
    if not totals.last:
        return "nothing was migrated yet"
    first, last = (text.replace("T", " ").partition("+")[0] for text in (totals.first, totals.last))
    return f"{first} – {last} UTC" if first != last else f"{last} UTC"


def _tiles(totals: Totals) -> Iterator[str]:
    for state in STATES:
        count = totals.states.get(state, 0)
        yield (
            f'<button class="tile {state}{"" if count else " none"}" data-state="{state}" aria-pressed="false">'
            f"<b>{count:,}</b> {state}</button>"
        )


def _facts(totals: Totals) -> Iterator[str]:
    verified = ", ".join(
        f"{count:,} {what}"
        for how, what in (("full", "in every frame"), ("sample", "in a few frames"), ("not", "not"))
        if (count := totals.verified.get(how))
    )
    seconds = totals.seconds
    for name, value in (
        ("frames", f"{totals.frames:,}"),
        ("bytes read", size_text(totals.size)),
        ("bytes of records", size_text(totals.output_size)),
        ("work", duration_text(seconds)),
        ("rate of a worker", f"{size_text(totals.size / seconds)}/s" if seconds else "–"),
        ("read back and compared", verified or "–"),
        ("options", "; ".join(totals.options) or "none"),
        ("version", ", ".join(totals.versions) or "–"),
    ):
        yield f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>"


def _formats(formats: dict[str, Format]) -> str:
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{each.done:,}</td><td>{each.failed or '–'}</td><td>{each.frames:,}</td>"
        f"<td>{size_text(each.size)}</td><td>{size_text(each.output_size)}</td><td>{duration_text(each.seconds)}</td></tr>"
        for name, each in sorted(formats.items())
    )
    heads = "".join(f"<th>{name}</th>" for name in ("format", "done", "failed", "frames", "read", "written", "work"))
    return f'<div class="wide"><table class="small"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _groups(name: str, title: str, groups: list[Group]) -> str:
    if not groups:
        return ""
    kinds: dict[str, list[Group]] = {}
    for group in groups:
        kinds.setdefault(group.kind, []).append(group)
    total = sum(group.count for group in groups)
    inner = "".join(_kind(kind, inside) for kind, inside in sorted(kinds.items(), key=lambda item: -_sum(item[1])))
    return f'<section id="{name}"><h2>{title} <small>{total:,}</small></h2>{inner}</section>'


def _sum(groups: list[Group]) -> int:
    return sum(group.count for group in groups)


def _kind(kind: str, groups: list[Group]) -> str:
    head = f"<h3>{escape(kind)} <small>{_sum(groups):,}</small></h3>" if kind else ""
    return head + "".join(map(_group, groups))


def _group(group: Group) -> str:
    lines = "".join(f"<li><code>{escape(source)}</code> {escape(text)}</li>" for source, text in group.examples)
    more = f"<li>… and {group.count - len(group.examples):,} more</li>" if group.count > len(group.examples) else ""
    summary = f"<summary><b>{group.count:,} ×</b> {escape(group.text)}</summary>"
    return f"<details>{summary}<ul>{lines}{more}</ul></details>"


def size_text(size: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def duration_text(seconds: float) -> str:
    """A time for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
