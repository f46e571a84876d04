"""Whether two records are the same, however their files are laid out."""

from pathlib import Path

from molrec_convert.model import Frame, Record
from molrec_convert.model.dtypes import same_bits
from molrec_convert.records import open_record


def assert_same_frames(one: Frame | None, other: Frame | None, what: str) -> None:
    """Both are absent, or the same to the bit."""
    assert (one is None) == (other is None), f"{what}: {one!r} and {other!r}"
    if one is not None and other is not None:
        assert one.same(other), f"{what}: {one!r} is not {other!r}"


def assert_same_records(one: Path, other: Path, *, meta: bool = True) -> None:
    """Both records hold the same sections, schemas and frames."""
    with open_record(one) as first, open_record(other) as second:
        assert not meta or first.meta == second.meta
        assert_same_frames(first.frame, second.frame, "frame")
        assert_same_frames(first.system, second.system, "system")
        assert_same_trajectories(first, second)


def assert_same_trajectories(first: Record, second: Record, *, schema: bool = True) -> None:
    """Both trajectories hold the same frames, of types that are the same; the order and the fills may be, too."""
    assert (first.trajectory is None) == (second.trajectory is None)
    if first.trajectory is None or second.trajectory is None:
        return
    schemas = first.trajectory.schema, second.trajectory.schema
    assert schemas[0].blocks == schemas[1].blocks
    assert not schema or repr(schemas[0]) == repr(schemas[1])
    assert first.trajectory.step.tolist() == second.trajectory.step.tolist()
    times = first.trajectory.time, second.trajectory.time
    assert (times[0] is None) == (times[1] is None)
    assert times[0] is None or times[1] is None or same_bits(times[0], times[1])
    for k in range(len(first)):
        assert_same_frames(first.trajectory[k], second.trajectory[k], f"frame {k}")
