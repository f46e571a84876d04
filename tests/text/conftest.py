import pytest

from molrec_convert.text import engine

from .engines import ENGINES


@pytest.fixture(params=ENGINES)
def each_engine(request, monkeypatch):
    """Let the package scan and print with one engine, then with the other."""
    monkeypatch.setattr(engine, "active", request.param)
    return request.param
