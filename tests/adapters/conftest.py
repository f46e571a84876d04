"""Every test of an adapter runs with both engines of numbers, whose results are the same."""

import pytest

from molrec_convert.text import engine

from ..text.engines import ENGINES


@pytest.fixture(params=ENGINES, autouse=True)
def each_engine(request, monkeypatch):
    """Let the package scan and print with one engine, then with the other."""
    monkeypatch.setattr(engine, "active", request.param)
    return request.param
