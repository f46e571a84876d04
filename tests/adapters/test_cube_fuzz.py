"""CUBE: a damaged file is read right, or refused with its place."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertError, RecordError

from ..cubes import WATER, cube


def outcome(read_text, text):
    """The comment, the positions and the values of every frame; None where the text is refused with its place."""
    try:
        record = read_text(text)
    except ConvertError as error:
        fault = error
    else:
        frames = [record.frame] if record.trajectory is None else list(record.trajectory)
        return [
            (frame.meta["comment"], frame["atoms"]["z"].tolist(), [field.tolist() for field in frame["grid"].values()])
            for frame in frames
        ]
    of_shapes = isinstance(fault, RecordError) and "has the shape" in str(fault)
    assert of_shapes or (str(fault).startswith("in.cube:") and fault.line is not None), fault
    return None


@pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
class TestFuzz:
    @pytest.fixture
    def read_text(self, tmp_path):
        def read_text(text):
            path = tmp_path / "in.cube"
            path.write_bytes(text)
            return mc.read(path, format="cube")

        return read_text

    def test_every_prefix(self, read_text):
        text = (cube(comments="one\n1", atoms=WATER) + cube(range(5, -1, -1), comments="two\n2")).encode()
        whole = outcome(read_text, text)
        first = text.index(b"two")
        for size in range(len(text)):
            found = outcome(read_text, text[:size])
            assert found in (None, whole[:1], whole), size
            assert found == (whole if size >= len(text) - 1 else whole[:1] if size >= first - 1 else None), size

    def test_mutations(self, read_text):
        text = (cube(orbitals="    1    5") + cube(atoms=WATER)).encode()
        rng = np.random.default_rng(11)
        for _ in range(500):
            mutate(rng, text, read_text)

    def test_mutations_of_a_density(self, read_text):
        text = cube(atoms=WATER).encode()
        rng = np.random.default_rng(12)
        for _ in range(300):
            mutate(rng, text, read_text)


def mutate(rng, text, read_text):
    """Read a text with a few bytes changed, lost or moved: it is read, or refused with its place."""
    data = bytearray(text)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(data)))
        match rng.integers(5):
            case 0:
                data[place] = int(rng.integers(256))
            case 1:
                data[place] = int(rng.choice(list(b"0123456789 \n.-+eED*")))
            case 2:
                del data[place : place + int(rng.integers(1, 30))]
            case 3:
                data[place:place] = data[place : place + int(rng.integers(1, 30))]
            case _:
                data[place:place] = rng.choice([b"99999999999", b"\n\n", b" ", b"1e400", b"-", b"\0", b"nan"])
        if not data:
            break
    outcome(read_text, bytes(data))
