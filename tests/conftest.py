"""What all tests share."""

import os
import signal
from functools import partial

import pytest

from .converting import ROOT, back, source_of, to_record
from .dumps import TEN

SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def no_sync():
    """Do not wait for disks: the files of tests need not outlive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Programs that a job in the background starts ignore Ctrl-C; those that the tests interrupt must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared():
    """The folder of cases and real files beside the project; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("there is no folder of shared cases and files")
    return SHARED


@pytest.fixture(scope="session")
def sample_data():
    """The small real files of the project."""
    return ROOT / "sample_data"


@pytest.fixture
def converted(tmp_path):
    """Convert a text to a record and read it: ``converted(text, "in.xyz", units="real").values("x")``."""
    made = []

    def convert_text(*arguments, **options):
        made.append(to_record(tmp_path, *arguments, **options))
        return made[-1]

    yield convert_text
    for each in made:
        each.record.close()


@pytest.fixture
def text_of(tmp_path):
    """Convert a record to text: ``text_of(converted(text), "back.xyz")``."""
    return partial(back, tmp_path)


@pytest.fixture
def ten(tmp_path):
    """A dump of ten snapshots."""
    return source_of(tmp_path, TEN, "in.dump")
