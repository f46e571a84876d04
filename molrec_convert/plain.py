"""Facts and values as plain finite JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain_json(value: Any) -> Any:
    """Dataclasses, meta values and documents as JSON; what it has no number for is text, as MolRec spells it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_json(item) for item in value]
    if isinstance(value, complex):
        return [plain_json(value.real), plain_json(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
