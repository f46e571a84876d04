"""What all tests share."""

import pytest

from .converting import ROOT

SHARED = ROOT.parent / "shared"


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
