"""The page that tells what was measured: tables and a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from cases import Case
from measure import Measured

HEAD = "| | s | MB/s | peak MB | × ours |\n|---|---|---|---|---|\n"
SLOWEST = 30.0
"""Where bars of the plot end."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one tool took for one kind of work; None where it is not installed."""

    case: Case
    tool: str
    measured: Measured | None

    @property
    def is_ours(self) -> bool:
        """Whether others are compared with it."""
        return self.tool == next(iter(self.case.ours))


def as_markdown(rows: Sequence[Row]) -> str:
    """A table for each kind of work."""
    parts = []
    for case, group in groupby(rows, key=lambda row: row.case):
        mine = list(group)
        ours = next((row.measured.median for row in mine if row.is_ours and _ran(row)), None)  # type: ignore[union-attr]
        lines = "".join(_line(row, ours) for row in mine)
        parts.append(f"### {case.name}: {case.megabytes:.0f} MB\n\n{HEAD}{lines}")
    return "\n".join(parts)


def _ran(row: Row) -> bool:
    return row.measured is not None and bool(row.measured.seconds)


def _line(row: Row, ours: float | None) -> str:
    found = row.measured
    if found is None:
        return f"| {row.tool} | not installed | | | |\n"
    if not found.seconds:
        return f"| {row.tool} | fails: {(found.failed or '')[:60].replace('|', '/')} | | | |\n"
    ratio = "" if ours is None else f"{found.median / ours:.2f}"
    speed = row.case.megabytes / found.median
    return f"| {row.tool} | {found.median:.2f} | {speed:.0f} | {found.peak:.0f} | {ratio} |\n"


def write(rows: Sequence[Row], folder: Path, machine: str, versions: Iterable[str]) -> None:
    """Write ``performance.md`` and its plot."""
    folder.mkdir(exist_ok=True)
    draw(rows, folder / "performance.png")
    text = [
        "# Speed and memory\n",
        "Made by `python benchmarks/run.py --write`: whole processes, run alternately, the median of the rounds. "
        "The last column tells how many times as long as ours a tool took. A file copy is the physical limit.\n",
        f"{datetime.now(UTC):%Y-%m-%d} · {machine} · {', '.join(versions)}\n",
        "![How long others take, beside ours](performance.png)\n",
    ]
    for group, mine in groupby(rows, key=lambda row: row.case.group):
        text.append(f"## {group}\n")
        text.append(as_markdown(list(mine)))
    text.append((Path(__file__).parent / "notes.md").read_text(encoding="utf-8"))
    (folder / "performance.md").write_text("\n".join(text), encoding="utf-8")


def draw(rows: Sequence[Row], path: Path) -> None:
    """A bar for each tool and kind of work: how long it took, beside ours."""
    import matplotlib.pyplot as plt

    bars: list[tuple[str, float, bool]] = []
    for case, group in groupby(rows, key=lambda row: row.case):
        mine = [row for row in group if _ran(row)]
        ours = next((row.measured.median for row in mine if row.is_ours and row.measured), None)
        if ours is None or len(mine) < 2:
            continue
        bars += [
            (f"{case.group.lower()}, {case.name}: {row.tool}", row.measured.median / ours, row.is_ours)
            for row in mine
            if row.measured
        ]
    figure, axes = plt.subplots(figsize=(9, 0.22 * len(bars) + 1))
    places = range(len(bars))[::-1]
    colours = ["#1b6ca8" if ours else "#c0c0c0" for _, _, ours in bars]
    axes.barh(places, [min(ratio, SLOWEST) for _, ratio, _ in bars], color=colours)
    for place, (_, ratio, _) in zip(places, bars, strict=True):
        axes.text(min(ratio, SLOWEST), place, f" {ratio:.1f}", va="center", fontsize=7)
    axes.set_yticks(places, [label for label, _, _ in bars], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("time, as a multiple of ours")
    figure.tight_layout()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
