"""All engines, for tests that must hold for each."""

import threading
from typing import Any

import pytest
from hypothesis import settings

from molrec_convert.text import _fallback, engine

NATIVE: Any = engine.load_native()


class Portable:
    """The C++ module without the instructions that not every processor has."""

    # The choice holds for the whole process: no two threads may change it in turn.
    lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        function = getattr(NATIVE, name)

        def call(*args: Any, **options: Any) -> Any:
            with self.lock:
                before = NATIVE._set_simd(0)
                try:
                    return function(*args, **options)
                finally:
                    NATIVE._set_simd(before)

        return call


built = pytest.mark.skipif(NATIVE is None, reason="the C++ module was not built")
ENGINES = [
    pytest.param(NATIVE, id="native", marks=built),
    pytest.param(Portable(), id="portable", marks=built),
    pytest.param(_fallback, id="fallback"),
]
both = pytest.mark.parametrize("twin", ENGINES)

# The first example of a slow engine is no news.
thorough = settings(deadline=None, max_examples=200)


def lead(kinds: str, size: int = 40) -> tuple[bytes, int]:
    """Return rows that fill `size` bytes, and how many.

    The native scanner reads many rows at once only where it may look at bytes before them.
    """
    row = " ".join("1" * len(kinds)).encode() + b"\n"
    count = -(-size // len(row))
    return row * count, count
