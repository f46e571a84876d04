"""Cases of frame-shaped sections."""

import pytest

from . import frame_blocks, frame_columns, frame_documents

CASES = {**frame_columns.CASES, **frame_documents.CASES, **frame_blocks.CASES}


@pytest.mark.parametrize("case", CASES)
def test_case(bench, case):
    CASES[case](bench)
