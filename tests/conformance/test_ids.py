"""Each case of the suite is a test of its own."""

import pytest

from . import ids, test_frame, test_record, test_trajectory


@pytest.mark.parametrize(
    ("due", "module"), [(ids.FRAME, test_frame), (ids.RECORD, test_record), (ids.TRAJECTORY, test_trajectory)]
)
def test_every_id_is_a_test(due, module):
    assert sorted(module.CASES) == sorted(due)
    assert len(set(due)) == len(due)
