"""What repeats from frame to frame is made once.

A column whose fields are those of the frame before is the same object, which is also how the writer of a record finds
fast that it has not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from molrec_convert.model.dtypes import same_bits


class Repeats:
    """Keeps what was made last under each name; several threads may ask."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def once(self, name: str, key: tuple[Any, ...], make: Callable[..., Any]) -> Any:
        """What was made of the same arrays and words the last time, or anew."""
        last = self._made.get(name)
        if last is not None and all(map(_same, last[0], key)):
            return last[1]
        made = make(*key)
        self._made[name] = (key, made)
        return made


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return same_bits(one, other)
    return bool(one == other) if isinstance(one, list) else one is other
