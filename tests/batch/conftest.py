"""What the tests of migrations share."""

import sys
from concurrent.futures import Future

import pytest

from molrec_convert.batch.job import perform


class Inline:
    """Does jobs at once, in this process."""

    slots = 2

    def __init__(self, workers, held=()):
        self.jobs = []

    def submit(self, job, began):
        began(job)
        done = Future()
        done.set_result(perform(job))
        return done

    def stop(self):
        pass

    def close(self):
        pass


@pytest.fixture
def inline(monkeypatch):
    """Do without processes, whose start takes the time of a hundred small files."""
    monkeypatch.setattr(sys.modules["molrec_convert.batch.migrate"], "LocalEngine", Inline)
