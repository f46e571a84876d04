"""Broken records of every form: each is read rightly, or refused with its place; no traceback, no hang, no crash.

What is read differs from what was written only where a mutation touched it, and the validator agrees with the reader.
A thousand of each are tried by ``python -m tests.records.fuzzing 1000``.
"""

import pytest

from .fuzzing import run
from .trees import FORMS

COUNT = 17
"""Of each form and kind, so that about a hundred are tried."""


@pytest.mark.parametrize("octets", [False, True], ids=["tree", "bytes"])
@pytest.mark.parametrize("form", FORMS)
def test_broken_records(form, octets):
    results = run(form, COUNT, octets=octets)
    assert [(result["seed"], result.get("what"), result["problem"]) for result in results if result["problem"]] == []
    assert [result["seed"] for result in results] == list(range(COUNT))
    assert sum(result["outcome"] == "refused" for result in results) > COUNT // 3


def test_a_process_that_dies_or_hangs_is_noticed(monkeypatch):
    """The harness tells a crash and a hang from a result."""
    from . import fuzzing

    monkeypatch.setattr(fuzzing, "PATIENCE", 10.0)
    monkeypatch.setenv("FUZZ_FAULT", "1=crash,2=hang")
    results = fuzzing.run("h5", 4, octets=False)
    assert [result["outcome"] for result in results] == [results[0]["outcome"], "died", "died", results[3]["outcome"]]
    assert "Segmentation fault" in results[1]["problem"]
    assert results[2]["problem"] == "no answer in 10.0 s"
