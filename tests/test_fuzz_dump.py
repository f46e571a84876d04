"""Broken dumps: an error that names its place, or right frames; never anything else, and nothing left behind."""

import random
import re

import pytest

from molrec_convert.adapters._dump_header import HeaderReader
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError
from molrec_convert.records import open_record

from .dumps import THREE, snapshot, snapshots

SMALL = (
    snapshot("2 1 Si 1 2 3 0.5; 1 2 O 4 5 6 -1", columns="id type element x y z vx", units="metal", time="0")
    + snapshot("1 2 O 4.5 5 6 0; 2 1 Si 1.5 2 3 0.25", step=10, columns="id type element x y z vx", time="0.01",
               box="BOX BOUNDS xy xz yz pp ff pp", bounds=("-1.5 12.5 2", "-1.5 9 -1", "0 8 -1.5"))
    + snapshot("2 1 Si 1.75 2 3 1e-05; 1 2 O 4.75 5 6 7", step=20, columns="id type element x y z vx", time="0.02")
)  # fmt: skip
MUTATIONS = 300
PLACE = re.compile(r"in\.dump(:\d+)?( \(frame \d+\))?: ")
OTHER_BYTES = b"0123456789 -+.eEnaI:\n\r\t\x00\xff,ATOMSxyz"


@pytest.fixture
def outcome(tmp_path):
    """Convert bytes: the error, or the frames with their steps and the warnings."""
    source, target = tmp_path / "in.dump", tmp_path / "out.h5"

    def attempt(data, **options):
        source.write_bytes(data)
        try:
            report = convert(source, target, from_format="lammps-dump", force=True, **options)
        except ConvertError as error:
            check(error, data)
            return error, [], []
        with open_record(target) as record:
            trajectory = record.trajectory
            frames = list(zip(trajectory.step.tolist(), trajectory, strict=True))
        target.unlink()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]
        return None, frames, report.warnings

    def check(error, data):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.dump"]
        assert PLACE.match(str(error)), str(error)
        if isinstance(error, FormatError) and data.strip():
            assert error.line is not None, str(error)
            assert 1 <= error.line <= data.count(b"\n") + 2

    return attempt


def same(found, due):
    return all(
        step == other and frame["atoms"].same(whole["atoms"]) and (frame.box is whole.box or frame.box.same(whole.box))
        for (step, frame), (other, whole) in zip(found, due, strict=False)
    )


def test_every_prefix(outcome):
    data = THREE.encode()
    _, due, _ = outcome(data)
    ends = [*[match.start() for match in re.finditer(rb"ITEM: TIMESTEP\n", data)][1:], len(data)]
    for size in range(len(data)):
        error, frames, warnings = outcome(data[:size])
        whole = sum(size >= end for end in ends)
        if error is not None:
            assert whole == 0, (size, str(error))
            continue
        single = size == ends[0] - 1  # one snapshot whose last line has no end is taken, with a warning
        assert len(frames) == max(whole, int(single)), (size, warnings)
        assert same(frames, due), size
        if size not in ends:
            assert any("truncated" in text or "has no line end" in text for text in warnings), (size, warnings)


def mutated(data, rng):
    """Some bytes replaced, put in, taken out; a piece repeated or moved."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place = rng.randrange(len(made))
        kind = rng.randrange(5)
        if kind == 0:
            made[place] = rng.choice(OTHER_BYTES)
        elif kind == 1:
            made.insert(place, rng.choice(OTHER_BYTES))
        elif kind == 2:
            del made[place : place + rng.choice((1, 1, 2, 8))]
        elif kind == 3:
            made[place:place] = made[place : place + rng.choice((3, 20, 80))]
        else:
            end = place + rng.choice((3, 20, 80))
            piece = made[place:end]
            del made[place:end]
            target = rng.randrange(len(made) + 1)
            made[target:target] = piece
    return bytes(made)


@pytest.mark.parametrize("seed", range(3))
def test_mutations(outcome, seed):
    """Whatever a mutation makes, the file is a dump with these numbers, or the error says where it is none."""
    rng = random.Random(seed)
    refused = 0
    for _ in range(MUTATIONS // 3):
        error, frames, _ = outcome(mutated(SMALL.encode(), rng), strict=rng.random() < 0.2)
        refused += error is not None
        assert error is not None or frames
        for _, frame in frames:
            assert all(len(column) == frame["atoms"].count for column in frame["atoms"].columns.values())
    assert refused > MUTATIONS // 20


def test_what_stands_before_a_fault_does_not_matter(outcome):
    """A fault in the last snapshot is an error of it, never a shorter record."""
    data = SMALL.encode()
    last = data.rindex(b"ITEM: TIMESTEP")
    rng = random.Random(7)
    for _ in range(60):
        place = rng.randrange(last + 20, len(data) - 1)
        error, frames, warnings = outcome(data[:place] + b"\x01" + data[place + 1 :])
        if error is not None:
            assert error.frame == 2, str(error)
        else:  # a label may hold any character
            assert len(frames) == 3
            assert not any("truncated" in text for text in warnings)


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_headers_that_repeat_mean_what_they_say(outcome, monkeypatch, ends):
    """They are compared with the last one, not read again: the outcome is that of reading each, faults included."""
    rng = random.Random(11)
    data = snapshots([f"1 1 {k} 2 3; 2 2 4 5 {k}.5" for k in range(6)]).encode().replace(b"\n", ends)
    for _ in range(MUTATIONS):
        broken = mutated(data, rng)
        error, frames, warnings = outcome(broken)
        with monkeypatch.context() as patch:
            patch.setattr(HeaderReader, "_again", lambda _: None)
            due_error, due, due_warnings = outcome(broken)
        assert str(error) == str(due_error)
        assert warnings == due_warnings
        assert len(frames) == len(due)
        assert same(frames, due)
