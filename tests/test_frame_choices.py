"""Choosing frames by text, by number, by slice, by several numbers."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import OptionError
from molrec_convert.frames import FrameSelection

from .converting import first_x

NAMED = {"type_map": {"1": "H"}}
CHOICES = [
    ("2", 2),
    ("-1", -1),
    ("2", np.int64(2)),
    ("2:5", slice(2, 5)),
    ("::3", slice(None, None, 3)),
    ("-3:", slice(-3, None)),
    (":", slice(None)),
    ("0,5,-1", [0, 5, -1]),
    ("0,5,-1", (0, 5, -1)),
    ("1,3,5", range(1, 6, 2)),
    ("4,2", np.array([4, 2])),
    ("0:10:4", slice(np.int64(0), np.int64(10), np.int64(4))),
]


@pytest.mark.parametrize(("text", "frames"), CHOICES, ids=repr)
def test_choices_mean_what_their_text_means(ten, tmp_path, text, frames):
    """In `read` and `convert`; the record says which."""
    assert FrameSelection.of_frames(frames) == FrameSelection.parse(text)
    assert str(FrameSelection.of_frames(frames)) == text
    one, other = mc.read(ten, frames=frames, **NAMED), mc.read(ten, frames=text, **NAMED)
    assert first_x(one) == first_x(other)
    mc.convert(ten, tmp_path / "out.h5", frames=frames)
    with mc.open(tmp_path / "out.h5") as record:
        assert first_x(record) == first_x(other)
        assert record.meta["convert"]["options"] == {"frames": text}


def test_all_frames(ten):
    assert FrameSelection.of_frames(None).everything
    assert len(mc.read(ten, frames=None, **NAMED)) == 10


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([], "no frames are chosen"),
        (range(0), "no frames are chosen"),
        (1.5, "frames are chosen by number, not by 1.5"),
        (True, "frames are chosen by number, not by True"),
        ([0, "1"], "frames are chosen by number, not by '1'"),
        (slice(0.5, None), "frames are chosen by number, not by 0.5"),
        (slice(None, None, 0), "a step of 0 chooses no frames: '::0'"),
        (12, "there is no frame 12 among 10"),
        ([0, -11], "there is no frame -11 among 10"),
    ],
)
def test_choices_of_no_frame(ten, frames, message):
    with pytest.raises(OptionError, match=message):
        mc.read(ten, frames=frames)
