"""The table of what each format carries, made from what the adapters declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .adapter import Adapter, Carries

YES, NO = "yes", "–"

ITEMS: tuple[tuple[str, Callable[[Carries], bool]], ...] = (
    ("positions", lambda carries: _holds(carries, "x")),
    ("velocities", lambda carries: _holds(carries, "vx")),
    ("forces", lambda carries: _holds(carries, "fx")),
    ("charges", lambda carries: _holds(carries, "charge")),
    ("masses", lambda carries: _holds(carries, "mass")),
    ("ids", lambda carries: _holds(carries, "id", "u64")),
    ("names, residues", lambda carries: _holds(carries, "res_name", "string")),
    ("other columns", lambda carries: bool(carries.other_columns)),
    ("bonds", lambda carries: "bonds" in carries.blocks),
    ("angles", lambda carries: "angles" in carries.blocks),
    ("grids", lambda carries: "grid" in carries.blocks),
    ("values of a frame", lambda carries: carries.other_meta),
    ("cell", lambda carries: carries.box),
    ("origin", lambda carries: carries.origin),
    ("periodic axes", lambda carries: carries.boundary),
    ("no cell", lambda carries: bool(carries.no_box) or not carries.box),
    ("step", lambda carries: carries.step),
    ("time", lambda carries: carries.time),
    ("several frames", lambda carries: carries.frames),
    ("changing number", lambda carries: carries.varying),
    ("missing values", lambda carries: carries.nulls),
)
"""What a person asks of a format, and how its declaration answers."""


def _holds(carries: Carries, column: str, dtype: str = "f64") -> bool:
    return column in carries.columns or dtype in carries.other_columns


def carried_table(adapters: Iterable[Adapter]) -> str:
    """Markdown: one row an item, one column a format."""
    shown = list(adapters)
    lines = [
        "| | " + " | ".join(adapter.name for adapter in shown) + " |",
        "|---|" + "---|" * len(shown),
        "| ways | " + " | ".join(_ways(adapter) for adapter in shown) + " |",
    ]
    for item, holds in ITEMS:
        cells = (YES if holds(adapter.carries) else NO for adapter in shown)
        lines.append(f"| {item} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _ways(adapter: Adapter) -> str:
    words = [word for word, way in (("read", adapter.reads), ("write", adapter.writes)) if way]
    return ", ".join(words)
