"""Both engines, for tests that must hold for either."""

import pytest
from hypothesis import settings

from molrec_convert.text import _fallback, engine

NATIVE = engine.load_native()
ENGINES = [
    pytest.param(
        NATIVE,
        id="native",
        marks=pytest.mark.skipif(NATIVE is None, reason="the C++ module was not built"),
    ),
    pytest.param(_fallback, id="fallback"),
]
both = pytest.mark.parametrize("twin", ENGINES)

# The first example of a slow engine is no news.
thorough = settings(deadline=None, max_examples=200)
