"""A comparison for people."""

from __future__ import annotations

import json
import math
from typing import Any

from molrec_convert.plain import plain_json

from .differences import Comparison, Difference

MOST, BEFORE = 28, 6
"""Characters of a value that are shown, and of those before the first that differs."""
WHAT = {
    "type": "of type",
    "shape": "of shape",
    "rows": "rows",
    "precision": "kept to",
    "target": "refers to",
    "alignment": "aligned with",
}


def comparison_text(found: Comparison) -> str:
    """What came of a comparison, as lines; those that begin without a blank are titles."""
    names = _names(found)
    first = found.first
    if first is None:
        counts = "1 frame" if found.a.frames == 1 else f"{found.a.frames:,} frames"
        within = _within(found)
        return f"the same{within}: {counts}"
    place = f": {first.item}" if first.frame is None else f", first in {_frame_of(first)}, {first.item}{_row_of(first)}"
    lines = [f"{names[0]} and {names[1]} differ{_within(found)}{place}: {_pair(first, names)}"]
    width = max(len(each.item) for each in found.differences)
    for each in found.differences:
        lines.append(f"  {each.item:{width}}  {_how(each, names)}")
        if each.what == "value" and each.values:
            where = _frame_of(each) + _row_of(each)
            lines.append(f"  {'':{width}}  {where.removeprefix(', ')}: {_pair(each, names)}".rstrip())
    return "\n".join(lines)


def _names(found: Comparison) -> tuple[str, str]:
    """What to call the files."""
    a, b = found.a.file, found.b.file
    return (a, b) if a != b else (f"{a} (first)", f"{b} (second)")


def _within(found: Comparison) -> str:
    parts = [f"{found.tol:g}"] if found.tol else []
    parts += [f"{found.rtol:g} of their size"] if found.rtol else []
    return f" within {' or '.join(parts)}" if parts else ""


def _frame_of(each: Difference) -> str:
    if each.frame is None:
        return ""
    return f"frame {each.frame}" + ("" if each.step in (None, each.frame) else f" (step {each.step})")


def _row_of(each: Difference) -> str:
    if each.row is None:
        return ""
    return f", row {each.row}" + "".join(f"[{k}]" for k in each.index)


def _pair(each: Difference, names: tuple[str, str]) -> str:
    if each.what == "missing":
        return f"only in {names[0] if each.b is None else names[1]}"
    return " and ".join(shown(each.a, each.b))


def _how(each: Difference, names: tuple[str, str]) -> str:
    frames = "" if each.frames < 1 else f" in {_counted(each.frames, 'frame')}"
    if each.what == "value" and each.values:
        most = "" if not each.largest else f", by at most {each.largest:.6g}{_where_most(each)}"
        return f"{_counted(each.values, 'value')} in {_counted(each.frames, 'frame')}{most}"
    if each.what in ("value", "missing"):
        return f"{_pair(each, names)}{frames}"
    if each.what == "rows":
        return f"{_pair(each, names)} rows{frames}"
    return f"{WHAT[each.what]} {_pair(each, names)}{frames}"


def _where_most(each: Difference) -> str:
    place = (each.largest_frame, each.largest_row)
    if place == (each.frame, each.row):
        return ""
    frame = "" if each.largest_frame is None else f"frame {each.largest_frame}"
    return f" ({frame}{'' if each.largest_row is None else f', row {each.largest_row}'})"


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"


def shown(a: Any, b: Any) -> tuple[str, str]:
    """Two values on a few characters each, among them the first in which they differ; reals to the last bit."""
    texts = [_text(value) for value in (a, b)]
    if max(map(len, texts)) <= MOST:
        return texts[0], texts[1]
    pairs = zip(*texts, strict=False)
    same = next((k for k, pair in enumerate(pairs) if pair[0] != pair[1]), min(map(len, texts)))
    first = max(0, same - BEFORE) if same > MOST - BEFORE else 0
    return _cut(texts[0], first), _cut(texts[1], first)


def _cut(text: str, first: int) -> str:
    rest = text[first:]
    end = rest if len(rest) <= MOST else f"{rest[: MOST - 1]}…"
    return f"…{end}" if first else end


def _text(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return "null" if value is None else json.dumps(plain_json(value), ensure_ascii=False)
