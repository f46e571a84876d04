"""Every test of an adapter runs with both engines of numbers, whose results are the same."""

import pytest

from molrec_convert.text import engine

from ..text.engines import ENGINES

BOTH = [each for each in ENGINES if each.id in ("native", "fallback")]
"""The others are variants of the native one, and are compared with it where the engines are tested."""


@pytest.fixture(params=BOTH, autouse=True)
def each_engine(request, monkeypatch):
    """Let the package scan and print with one engine, then with the other."""
    monkeypatch.setattr(engine, "active", request.param)
    return request.param
