"""TRR: both widths, blocks that come and go, and what is refused, with which words."""

import io
import random
import struct
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertError, FormatError, UnknownFormatError
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import open_input
from molrec_convert.options import Options

from ..binaries import trr_frame
from ..converting import run, source_of, to_record


@pytest.fixture(autouse=True)
def each_engine():
    """No text is scanned, so one engine is enough."""


FORCE = 0.010364269656262174 / 10.0
"""1 kJ/mol/nm in eV/Å."""


def vectors(count, seed=0, width=4):
    """Random vectors that a width holds."""
    values = np.random.default_rng(seed).normal(0, 5, (count, 3))
    return values.astype("f4").astype("f8") if width == 4 else values


def columns(made, names, frame=0):
    return np.array([made.values(name, frame) for name in names]).T


# ---------------------------------------------------------------- numbers
@pytest.mark.parametrize("width", [4, 8])
def test_units_are_those_of_a_record(converted, width):
    x, v, f = (vectors(5, seed, width) for seed in range(3))
    made = converted(trr_frame(x, v, f, width=width, step=20, time=0.5), "in.trr")
    assert np.array_equal(columns(made, ("x", "y", "z")), x * 10.0)
    assert np.array_equal(columns(made, ("vx", "vy", "vz")), v * 10.0)
    assert columns(made, ("fx", "fy", "fz")) == pytest.approx(f * FORCE, rel=1e-12)
    assert made.box().vectors.tolist() == np.diag([20.0, 30.0, 40.0]).tolist()
    assert made.box().boundary.all()
    assert made.record.trajectory.step.tolist() == [20]
    assert made.record.trajectory.time.tolist() == [0.5]
    assert made.about["trr_numbers"] == f"binary{8 * width}"
    assert made.record.meta["units"] == {
        "length": "angstrom",
        "time": "ps",
        "velocity": "angstrom/ps",
        "force": "eV/angstrom",
    }
    assert made.warnings == []


def test_rows_of_the_matrix_are_the_vectors(converted):
    rows = [[2.0, 0.0, 0.0], [0.5, 3.0, 0.0], [0.25, -0.75, 4.0]]
    made = converted(trr_frame(vectors(2), box=rows), "in.trr")
    assert made.box().vectors.T.tolist() == (np.array(rows) * 10.0).tolist()


@pytest.mark.parametrize("box", [np.zeros((3, 3)), None])
def test_zeros_and_no_block_are_no_cell(converted, box):
    made = converted(trr_frame(vectors(2), box=box), "in.trr")
    assert made.box() is None
    assert made.warnings == []


def test_a_matrix_that_makes_no_cell_is_told(converted):
    box = np.diag([2.0, 3.0, 0.0])
    made = converted(trr_frame(vectors(2)) + trr_frame(vectors(2), box=box, step=1), "in.trr")
    assert made.warnings == ["in.trr (frame 1): the vectors 2 0 0 0 3 0 0 0 0 (nm) make no cell"]


def test_a_coupling_parameter(converted):
    made = converted(trr_frame(vectors(1), coupling=0.5), "in.trr")
    assert made.record.trajectory[0].meta["lambda"] == 0.5
    assert "lambda" not in converted(trr_frame(vectors(1)), "in.trr").record.trajectory[0].meta


def test_virial_and_pressure_keep_their_numbers(converted):
    virial, pressure = np.arange(9.0) + 0.5, -np.arange(9.0)
    x = vectors(3)
    made = converted(trr_frame(x, virial=virial, pressure=pressure, v=x), "in.trr")
    meta = made.record.trajectory[0].meta
    assert meta["trr_virial"] == tuple(virial)
    assert meta["trr_pressure"] == tuple(pressure)
    assert np.array_equal(columns(made, ("vx", "vy", "vz")), x * 10.0)


@pytest.mark.parametrize("text", [b"GMX_trn_file", b"GMX_trn_filex", b"another version"])
def test_the_version_text_has_any_length(converted, text):
    made = converted(trr_frame(vectors(2), text=text) * 2, "in.trr", from_format="trr")
    assert made.report.frames == 2


# ---------------------------------------------------------------- blocks that come and go
def test_blocks_of_some_frames(converted):
    x, v = vectors(4), vectors(4, 1)
    frames = [trr_frame(x, v, step=0), trr_frame(x, step=1), trr_frame(v=v, step=2), trr_frame(f=x, step=3)]
    made = converted(b"".join(frames), "in.trr")
    assert made.report.frames == 4
    assert made.values("x", 1) == (x[:, 0] * 10.0).tolist()
    assert made.values("vx", 2) == (v[:, 0] * 10.0).tolist()
    assert made.values("vx", 1) == made.values("x", 2) == made.values("fx", 0) == [None] * 4


def test_velocities_alone(converted):
    made = converted(trr_frame(v=vectors(3)), "in.trr")
    assert {"vx", "vy", "vz"} <= made.atoms().keys()
    assert "x" not in made.atoms()


def test_a_frame_of_a_cell_alone(converted):
    made = converted(trr_frame(atoms=3), "in.trr")
    assert made.atoms().count == 3
    assert made.box() is not None


def test_widths_that_change(converted):
    frames = [vectors(3, k, width) for k, width in enumerate((4, 8, 4))]
    data = b"".join(trr_frame(x, width=w, step=k) for k, (x, w) in enumerate(zip(frames, (4, 8, 4), strict=True)))
    made = converted(data, "in.trr")
    for k, x in enumerate(frames):
        assert np.array_equal(columns(made, ("x", "y", "z"), k), x * 10.0)
    assert [frame.meta["trr_numbers"] for frame in made.record.trajectory] == ["binary32", "binary64", "binary32"]


def test_files_that_were_joined(converted):
    part = [trr_frame(vectors(2, k), step=10 * k, time=float(k)) for k in range(3)]
    made = converted(b"".join(part + part), "in.trr")
    assert [frame.meta["timestep"] for frame in made.record.trajectory] == [0, 10, 20, 0, 10, 20]
    assert made.record.trajectory.time.tolist() == [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]
    assert made.warnings == [
        "in.trr (frame 3): step 0 comes after step 20: frames are counted, and the steps kept as 'timestep'"
    ]
    made = converted(trr_frame(vectors(2)) + trr_frame(vectors(3), step=1), "in.trr")
    assert [frame["atoms"].count for frame in made.record.trajectory] == [2, 3]


def test_it_is_known_by_its_content(tmp_path, converted):
    assert converted(trr_frame(vectors(2)), "no-name").report.source_format == "trr"
    source_of(tmp_path, struct.pack(">3i", 1992, 10, 0) + bytes(60), "other")
    with pytest.raises(UnknownFormatError):
        mc.convert(tmp_path / "other", tmp_path / "other.h5")


def test_chosen_frames(converted):
    data = b"".join(trr_frame(vectors(2, k), step=k) for k in range(6))
    made = converted(data, "in.trr", frames="1,4,-1")
    assert made.record.trajectory.step.tolist() == [1, 4, 5]
    assert made.values("x", 1) == (vectors(2, 4)[:, 0] * 10.0).tolist()


# ---------------------------------------------------------------- what is refused
FIRST = trr_frame(vectors(2))
"""92 bytes before the blocks, as of every frame here; then 36 of the cell and 24 of positions."""
FAULTS = {
    "nothing": (b"", "in.trr: there is no frame in it"),
    "another file": (
        b"a text of some kind",
        "in.trr (frame 0): 1629516901 stands where a frame begins with 1993, at byte 0",
    ),
    "another file later": (
        FIRST + bytes(100),
        f"in.trr (frame 1): 0 stands where a frame begins with 1993, at byte {len(FIRST)}",
    ),
    "half a header": (FIRST[:40], "in.trr (frame 0): the file ends inside the header of a frame"),
    "a header without a moment": (FIRST[:80], "in.trr (frame 0): the file ends inside the header of a frame"),
    "half a frame": (
        FIRST[:-10],
        "in.trr (frame 0): the file ends after 50 of the 60 bytes of a frame's numbers",
    ),
    "a long version text": (
        struct.pack(">3i", 1993, 13, 10**6) + FIRST[12:],
        "in.trr (frame 0): a version text of 1000000 bytes cannot be",
    ),
    "10^8 atoms": (
        trr_frame(vectors(2), atoms=10**8, sizes={"x": 12 * 10**8}),
        "in.trr (frame 0): the file ends after 60 of the 1200000036 bytes of a frame's numbers",
    ),
    "10^9 atoms": (
        trr_frame(vectors(2), atoms=10**9),
        "in.trr (frame 0): a block of 24 bytes (x) is stated, and 12000000000 or 24000000000 are due",
    ),
    "fewer atoms than none": (trr_frame(vectors(2), atoms=-2), "in.trr (frame 0): -2 atoms cannot be"),
    "a cell of eight numbers": (
        trr_frame(vectors(2), box=np.zeros(8)),
        "in.trr (frame 0): a block of 32 bytes (box) is stated, and 36 or 72 are due",
    ),
    "a negative size": (
        trr_frame(v=vectors(2), sizes={"x": -24}),
        "in.trr (frame 0): a block of -24 bytes (x) is stated, and 24 or 48 are due",
    ),
    "two widths": (
        trr_frame(vectors(2), box=None, v=np.zeros((4, 3)), atoms=2),
        "in.trr (frame 0): the blocks of the frame differ in the width of their numbers",
    ),
    "a block of no program": (
        trr_frame(vectors(2), sizes={"top": 8}),
        "in.trr (frame 0): a block of 8 bytes (topology) is stated, which no program writes",
    ),
    "no block": (
        trr_frame(atoms=2, box=None),
        "in.trr (frame 0): the frame has no numbers, so their width is not known",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_refused(name, tmp_path):
    data, message = FAULTS[name]
    with pytest.raises(ConvertError) as caught:
        to_record(tmp_path, data, "in.trr", from_format="trr")
    assert str(caught.value) == message
    assert [path.name for path in tmp_path.iterdir()] == ["in.trr"]


def test_the_command_says_the_same(tmp_path):
    source_of(tmp_path, FAULTS["another file later"][0], "in.trr")
    done = run("in.trr", "out.h5", cwd=tmp_path)
    assert done.status == 1
    assert FAULTS["another file later"][1] in done.stderr
    assert "Traceback" not in done.stderr


def read(data):
    """The frames of a file in memory, and what was told."""
    found = open_input(None, stream=io.BytesIO(data), format_name="trr", options=Options())
    with ThreadPoolExecutor(max_workers=1) as executor:
        frames = list(found.snapshots(FrameSelection(), executor, None))
    return frames, [*(note for frame in frames for note in frame.notes), *found.notes]


def test_cut_anywhere():
    """Whole frames are kept, and it is told; before the first one there is an error."""
    parts = [
        trr_frame(vectors(2), width=8),
        trr_frame(vectors(2), v=vectors(2), step=1),
        trr_frame(v=vectors(2), step=2),
    ]
    whole = b"".join(parts)
    ends = np.cumsum([len(part) for part in parts]).tolist()
    frames = read(whole)[0]
    for cut in range(1, len(whole)):
        kept = sum(end <= cut for end in ends)
        if not kept:
            with pytest.raises(ConvertError):
                read(whole[:cut])
            continue
        found, told = read(whole[:cut])
        assert len(found) == kept
        assert all(one.frame.same(other.frame) for one, other in zip(found, frames, strict=False))
        assert [note.frame for note in told] == ([] if cut in ends else [kept])
        assert all(note.message.startswith("truncated: the file ends ") and note.line is None for note in told)


def test_a_cut_is_an_error_where_it_must_not_be(tmp_path):
    with pytest.raises(FormatError, match=r"^in\.trr \(frame 1\): the file ends inside the header of a frame$"):
        to_record(tmp_path, FIRST + FIRST[:50], "in.trr", strict=True)


def test_mutations_do_no_harm():
    """An error with its file, or frames; never another exception, nor memory for what is not there."""
    whole = b"".join(
        trr_frame(vectors(2, k, width), vectors(2), vectors(2), width=width, step=k, virial=np.ones(9))
        for k, width in enumerate((4, 8, 4))
    )
    rng, faults = random.Random(3), set()
    tracemalloc.start()
    try:
        for _ in range(500):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 1, 2, 8))):
                place = rng.randrange(len(data))
                data[place] = rng.choice((0, 1, 255, 127, 128, rng.randrange(256)))
            if rng.random() < 0.2:
                del data[rng.randrange(len(data)) :]
            try:
                frames, _ = read(bytes(data))
            except ConvertError as error:
                faults.add((error.path, error.line))
            else:
                assert all(frame.frame["atoms"].columns for frame in frames)
        assert tracemalloc.get_traced_memory()[1] < 100e6
        assert faults == {("standard input", None)}
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- real files
def test_a_dodecahedron_in_binary64(sample_data, converted):
    made = converted((sample_data / "trr" / "dodecahedron_double.trr").read_bytes(), "in.trr")
    x, v, f = (columns(made, names) for names in (("x", "y", "z"), ("vx", "vy", "vz"), ("fx", "fy", "fz")))
    assert x[0] == pytest.approx([26.66026858269797, 30.730161059074668, 12.74025766828534])
    assert v.sum(axis=0) == pytest.approx([-69.28163462288279, 124.67679350542038, 182.80197214255588])
    assert f.sum(axis=0) / (10.0 * FORCE) == pytest.approx([5.264820225667265, -1.098881920837961, -5.508397332943261])
    rows = [[32.5918, 0.0, 0.0], [0.0, 32.5918, 0.0], [16.2959, 16.2959, 23.0459]]
    assert np.allclose(made.box().vectors.T, rows, rtol=1e-12)
    assert made.box().parameters[3:] == pytest.approx((60.0, 60.0, 90.0), abs=1e-4)


def test_shapes_of_cells(sample_data, converted):
    made = converted((sample_data / "trr" / "cell_shapes.trr").read_bytes(), "in.trr")
    assert made.box(0).parameters[:3] == pytest.approx((11.23, 22.34, 33.45))
    assert made.box(1).parameters[:3] == pytest.approx((11.23, 22.34, 33.45))
    assert made.box(1).parameters[3:] != pytest.approx((90.0, 90.0, 90.0))
    assert made.record.trajectory[2].box is None or not made.record.trajectory[2].meta["cell_defined"]
