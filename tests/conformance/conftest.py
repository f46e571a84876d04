"""A bench for every form."""

import pytest

from ..records.trees import READY
from .bench import Bench


@pytest.fixture(params=READY)
def bench(request, tmp_path):
    return Bench(tmp_path, request.param)
