"""Small frames taken together: in random files, records and exports they say what they say one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import molrec_convert as mc
from molrec_convert.model import Block, Box, Column, Frame, Meta
from molrec_convert.moments import Moment, Moments
from molrec_convert.record_frames import record_snapshots, record_stacks
from molrec_convert.records import open_record
from molrec_convert.stack import Stack, Tiled, part_of, repeats

from .binaries import dcd, points
from .compare import assert_same_records
from .dumps import snapshot
from .pdbs import CUBE, atom, model, pair, text
from .stacks import assert_same_snapshots, both_ways, converted, one_by_one

pytestmark = pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
RANDOM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

# ---------------------------------------------------------------- frames of which random files are made
ROWS = "1 1 1 2 3; 2 2 4 5 6"
DUMPS = [
    snapshot(ROWS, step=1),
    snapshot("1 1 1.5 2 3; 2 2 4.5 5 6", step=1),
    snapshot("2 2 4 5 6; 1 1 1 2 3", step=1),
    snapshot("2 2 4 5 6; 2 1 1 2 3", step=1),
    snapshot("1 1 1 2 3", step=1),
    snapshot([], step=1),
    snapshot("1 -1 1 2 3; 2 2 4 5 6", step=1),
    snapshot("1 C 1 2 3; 2 O 4 5 6", step=1),
    snapshot(ROWS, step=1, bounds=("0 11", "0 10", "0 10")),
    snapshot(ROWS, step=1, bounds=("0 0", "0 0", "0 0")),
    snapshot(ROWS, step=1, time="0.5"),
    snapshot(ROWS, step=-5),
    snapshot("1 1 .5 .25 .75; 2 2 .1 .2 .3", step=1, columns="id type xs ys zs"),
    snapshot("1 1 .5 .25 .75; 2 2 .1 .2 .3", step=1, columns="id type xs ys zs", bounds=("0 11", "0 10", "0 10")),
    snapshot("1 12.011 1 2 3 1 0 0; 2 15.999 4 5 6 0 1 0", step=1, columns="id mass x y z ix iy iz"),
    snapshot("1 15.999 1 2 3 1 0 0; 2 12.011 4 5 6 0 1 0", step=1, columns="id mass x y z ix iy iz"),
    snapshot("1 12.011 1 2 3 1 0 9999999999; 2 15.999 4 5 6 0 1 0", step=1, columns="id mass x y z ix iy iz"),
    snapshot("1 2 3; 4 5 6", step=1, columns="x y z"),
    snapshot("1 a 2 3 1; 2 b 5 6 7", step=1, columns="id c_word x y z"),
    snapshot("1 0 2 3 1; 2 b 5 6 7", step=1, columns="id c_word x y z"),
    snapshot("1 1 2 3; 2 2 5 6", step=1, columns="id type x y"),
    snapshot("1 1 1 2; 2 2 4 5 6", step=1),
    snapshot("1 1 1 2 x; 2 2 4 5 6", step=1),
    snapshot("1 1 1 2 3; ; 2 2 4 5 6", step=1),
    snapshot("1 1 nan 2 3; 2 2 4 5 6", step=1),
    snapshot("1 1 nan .25 .75; 2 2 .1 .2 .3", step=1, columns="id type xs ys zs"),
    snapshot(ROWS, step=1, bounds=("-0.0 10", "0 10", "0 10")),
    snapshot(ROWS, step=1).replace("ITEM: TIMESTEP", "ITEM: FOO"),
    snapshot("1 1 .20946 .25 .75; 2 2 .1 .3 nan", step=1, columns="id type xs ys zs"),
    snapshot("1 1 .20946 .25 .77; 2 2 .1 .8714 .3", step=1, columns="id type xs ys zs"),
    snapshot(ROWS, step=1, bounds=("0.1 10.3", "-1e-3 10", "0 1.5E1")),
    snapshot(ROWS, step=1, bounds=("nan 10", "0 10", "0 10")),
    snapshot(ROWS, step=1, bounds=("10 0", "0 10", "0 10")),
    snapshot(ROWS, step=1, box="BOX BOUNDS xy xz yz pp pp pp", bounds=("0 10 1", "0 10 0", "0 10 -.5")),
    snapshot(ROWS, step=1, box="BOX BOUNDS xy xz yz pp pp pp", bounds=("0 11 1", "0 10 0.25", "0 10 0")),
    snapshot(ROWS, step=1, box="BOX BOUNDS xy xz yz pp pp ff", bounds=("0 11 1", "0 10 0.25", "0 10 0")),
    snapshot(ROWS, step=1, box="BOX BOUNDS abc origin pp pp pp", bounds=("1 10 0 0", "0 10 0 0", "0 1 10 0")),
    snapshot(ROWS, step=1, box="BOX BOUNDS abc origin pp pp pp", bounds=("1 11 0 0", "0 10 0 0", "0 1 10 0")),
]

PLAIN = "2\n\nO 0 0 {k}\nH 0 1 1\n"
EXTENDED = "2\nProperties=species:S:1:pos:R:3:{more} energy={k} {rest}\nO 0 0 {k} {a}\nH 0 1 1 {b}\n"
XYZS = [
    PLAIN.format(k=1),
    PLAIN.format(k=2.5),
    "2\ni =  5, time = 2.5, E = -1.25\nO 0 0 1\nH 0 1 1\n",
    "2\nframe 7\nO 0 0 1\nH 0 1 1\n",
    "2\n\nH 0 0 1\nO 0 1 1\n",
    "2\n\nQ1 0 0 1\nO 0 1 1\n",
    "2\n\nq2 0 0 1\nh 0 1 1\n",
    "2 title\n\nO 0 0 1\nH 0 1 1\n",
    "2\n\nO 0 0 1\nH 0 1 1\nVEC1 5 0 0\nVEC2 0 5 0\nVEC3 0 0 5\n",
    "2\n\nO 0 0 1\nH 0 1 1\n\n",
    "2\n\nO 0 0 1\nH 0 1 1\nsome words\n",
    "2\n\nO 0 0 1 7\nH 0 1 1 8\n",
    "2\n\nO 0 0 1 7\nH 0 1 1 word\n",
    "2\n\nO 0 0 1 7\nH 0 1 1\n",
    "1\n\nO 0 0 1\n",
    "0\n\n",
    "2\n\nO 0 0 1\nH 0 x 1\n",
    "2\r\n\r\nO 0 0 1\r\nH 0 1 1\r\n",
    EXTENDED.format(more="forces:R:3", k=-3, rest="", a="1 2 3", b="4 5 6"),
    EXTENDED.format(more="forces:R:3", k=-3.5, rest="", a="1 2 4", b="4 5 6"),
    EXTENDED.format(more="forces:R:3", k=-3.5, rest="step=4 n=2", a="1 2 4", b="4 5 6"),
    EXTENDED.format(more="forces:R:3", k=-3.5, rest="step=5 n=2.5", a="1 2 4", b="4 5 6"),
    EXTENDED.format(more="forces:R:3", k=-3.5, rest='step=5 n="2 3"', a="1 2 4", b="4 5 6"),
    EXTENDED.format(more="id:I:1", k=1, rest="time=3", a="1", b="2"),
    EXTENDED.format(more="id:I:1", k=1, rest="time=3.5", a="-1", b="2"),
    EXTENDED.format(more="momenta:R:3:masses:R:1", k=1, rest="", a="1 2 3 15.999", b="1 1 1 1.008"),
    EXTENDED.format(more="momenta:R:3:masses:R:1", k=1, rest="", a="1 2 3 0", b="1 1 1 1.008"),
    EXTENDED.format(more="note:S:1", k=1, rest='Lattice="5 0 0 0 5 0 0 0 5"', a="a", b="b"),
    EXTENDED.format(more="note:S:1", k=1, rest='Lattice="6 0 0 0 5 0 0 0 5"', a="a", b="c"),
    EXTENDED.format(more="flag:L:1", k=1, rest="", a="T", b="F"),
]

PDBS = [
    model(1, *pair()),
    model(2, *pair(0.5)),
    model(30000, *pair(0.25)),
    model(3, pair()[0], "TER", pair()[1]),
    model(3, *pair(), "TER"),
    model(3, *pair()[::-1]),
    model(4, pair()[0]),
    model(4),
    model(5, CUBE, *pair()),
    model(5, CUBE.replace("10.000", "11.000"), *pair()),
    model(6, "TITLE     Water t=  12.50000 step= 25", *pair()),
    model(6, "TITLE     Water t=  13.50000 step= 30", *pair()),
    "TITLE     Water t=  14.50000 step= 35\n" + model(6, *pair()),
    CUBE + "\n" + model(6, *pair()),
    model(7, *pair(), "CONECT    1    2"),
    model(8, *pair()) + "CONECT    1    2\n",
    model(9, atom("A0000"), atom("A0001")),
    model(9, atom(1, number=-1), atom(2, number=-1)),
    model(9, atom(1, occupancy=""), atom(2)),
    model(9, atom(1, element="", name=" Q1 "), atom(2)),
    model(9, atom(1), "ANISOU    1  CA  ALA A   1      100    200    300      1      2      3       C", atom(2)),
    model(9, "REMARK    a line", *pair()),
    model(9, *pair()).lower(),
    model(9, *pair()).replace("ENDMDL", "ENDMDL   "),
]


def texts(pool, *, most=9, longest=4):
    """Files of runs of frames, since frames mostly stay alike."""
    runs = st.tuples(st.sampled_from(pool), st.integers(1, longest))
    return st.lists(runs, min_size=1, max_size=most).map(
        lambda chosen: "".join(itertools.chain.from_iterable([frame] * count for frame, count in chosen))
    )


@RANDOM
@given(texts(DUMPS), st.sampled_from([{}, {"units": "real"}, {"keep_order": True}, {"type_map": {"1": "C", "2": "O"}},
                                      {"unwrap": True}, {"sample_decimals": True}]))  # fmt: skip
def test_random_dumps(tmp_path_factory, content, options):
    path = tmp_path_factory.mktemp("dumps") / "in.dump"
    path.write_text(content)
    both_ways(path, "lammps-dump", **options)


@RANDOM
@given(texts(XYZS), st.sampled_from([{}, {"sample_decimals": True}, {"type_map": {"Q1": "C"}}, {"units": "lj"}]))
def test_random_xyz_files(tmp_path_factory, content, options):
    path = tmp_path_factory.mktemp("xyz") / "in.xyz"
    path.write_bytes(content.encode())
    both_ways(path, "xyz", **options)


@RANDOM
@given(texts(PDBS), st.booleans())
def test_random_pdb_files(tmp_path_factory, content, guess):
    path = tmp_path_factory.mktemp("pdb") / "in.pdb"
    path.write_text(text("HEADER    something") + content)
    both_ways(path, "pdb", guess=frozenset(["elements"] if guess else []))


CELLS = [(10.0, 0.0, 11.0, 0.0, 0.0, 12.0), (10.5, 0.0, 11.0, 0.0, 0.0, 12.0), (10.0, 90.0, 11.0, 90.0, 60.0, 12.0),
         (0.0,) * 6, (10.0, 0.5, 12.0, 0.25, -0.125, 14.0), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]  # fmt: skip


@RANDOM
@given(
    st.lists(st.tuples(st.sampled_from(CELLS), st.integers(1, 4)), min_size=1, max_size=5),
    st.sampled_from(["<", ">"]),
    st.sampled_from([{}, {"cells": None}, {"free": [1]}, {"nset": 3}, {"kind": b"VELD"}, {"delta": 0.5}, {"width": 8}]),
    st.integers(0, 3),
    st.sampled_from([{}, {"units": "akma"}]),
)
def test_random_dcd_files(tmp_path_factory, cells, order, options, cut, given_options):
    path = tmp_path_factory.mktemp("dcd") / "in.dcd"
    all_cells = [cell for cell, count in cells for _ in range(count)]
    frames = [points(3, frame) for frame in range(len(all_cells))]
    content = dcd(frames, order=order, **{"cells": all_cells, "nsavc": 5, **options})
    path.write_bytes(content[: len(content) - cut] if cut < 3 else content[:-9] + b"\x07" + content[-8:])
    both_ways(path, "dcd", **given_options)


@pytest.mark.parametrize(
    ("name", "content", "stacks"),
    [
        ("lammps-dump", "".join(snapshot(f"1 1 {k} 2 3; 2 2 4 5 6", step=k) for k in range(9)), 1),
        ("xyz", "".join(PLAIN.format(k=k) for k in range(9)), 1),
        ("xyz", "".join(EXTENDED.format(more="forces:R:3", k=-k / 4, rest=f"step={k}", a="1 2 3", b="4 5 6")
                        for k in range(1, 9)), 1),
        ("pdb", "".join(model(k + 1, *pair(k / 4)) for k in range(9)) + "END\n", 1),
    ],
)  # fmt: skip
def test_frames_that_are_alike_go_together(tmp_path, name, content, stacks):
    path = tmp_path / "in.file"
    path.write_text(content)
    assert both_ways(path, name).stacks == stacks


# ---------------------------------------------------------------- records and exports
def moving(name, *frames):
    """Files of few frames, most of them of one make, whose first coordinates move."""

    def moved(content):
        count = itertools.count()
        return "".join(frame.replace(" 1.000 ", f"{next(count) % 90 + 1:2d}.000 ") for frame in content)

    runs = st.lists(st.tuples(st.sampled_from(frames), st.integers(1, 9)), min_size=1, max_size=4)
    together = runs.map(lambda chosen: [frame for frame, count in chosen for _ in range(count)])
    return st.tuples(st.just(name), together.map(moved))


SOURCES = st.one_of(
    moving(
        "in.dump",
        *(DUMPS[k].replace(" 1 2 3", "  1.000 2 3") for k in (0, 2, 4, 8, 9, 10, 14, 15, 25, 26, 28, 29, 30, 33, 34)),
    ),
    moving("in.xyz", *(XYZS[k].replace("O 0 0 1", "O 0 0  1.000 ") for k in (0, 2, 3, 4, 5, 8, 11, 14))),
    moving("in.xyz", *(XYZS[k].replace("O 0 0 -3", "O 0 0  1.000 ") for k in range(18, 30))),
    moving("in.pdb", *(PDBS[k] for k in (0, 3, 5, 8, 9, 10, 11, 14, 17, 18, 20))),
)


def told_by(source, target, **options):
    """The warnings of a conversion, or what was wrong."""
    try:
        return mc.convert(source, target, **options).warnings
    except mc.ConvertError as error:
        return str(error)


@settings(RANDOM, max_examples=25)
@given(SOURCES, st.sampled_from([{}, {"precision": 1e-3}, {"precision": {"x": 0.01}}]))
def test_records_are_the_same(tmp_path_factory, source, options):
    """Whether frames were taken together or not; and so is what is read of them, and printed."""
    folder = tmp_path_factory.mktemp("records")
    path = folder / source[0]
    path.write_text(source[1])
    report = told_by(path, folder / "together.h5", **options)
    with pytest.MonkeyPatch.context() as patch:
        one_by_one(patch)
        assert told_by(path, folder / "single.h5", **options) == report
    if isinstance(report, str):
        return
    assert_same_records(folder / "together.h5", folder / "single.h5")
    with open_record(folder / "together.h5") as record:
        frames = list(range(len(record)))
        taken = list(record_stacks(record, frames))
        one = [each for part in taken for each in (part if isinstance(part, Stack) else [part])]
        assert_same_snapshots(one, list(record_snapshots(record, frames)))
    for target in ("out.dump", "out.xyz", "out.pdb", "out.gro"):
        made = converted(folder / "together.h5", folder / target)
        with pytest.MonkeyPatch.context() as patch:
            one_by_one(patch)
            assert converted(folder / "together.h5", folder / target) == made, target


# ---------------------------------------------------------------- stacks themselves
def stack_of(frames=4, rows=3):
    x = np.arange(frames * rows, dtype=float)
    kinds = Tiled(Column(np.array([7, 8, 9], np.uint64)), frames)
    block = Block.of({"x": Column.of(x), "type_id": kinds}, frames * rows)
    empty = Meta()
    moments = Moments.of([Moment(k, None, Box.orthogonal(5.0), empty, empty) for k in range(frames)])
    return Stack({"atoms": block}, moments)


def test_a_stack_is_a_sequence_of_frames():
    stack = stack_of()
    assert len(stack) == 4
    assert [snapshot.step for snapshot in stack] == [0, 1, 2, 3]
    assert stack[2].frame["atoms"]["x"].tolist() == [6.0, 7.0, 8.0]
    assert stack[2].frame["atoms"]["type_id"].tolist() == [7, 8, 9]
    assert [snapshot.frame["atoms"]["x"][0] for snapshot in stack.after(1)] == [3.0, 6.0, 9.0]
    assert isinstance(stack[0].frame, Frame)


def test_a_column_that_stays_is_kept_once():
    block = stack_of().blocks["atoms"]
    column = block.column("type_id")
    assert repeats(column, 4)
    assert part_of(block, 3, 4).column("type_id") is column.one
    assert column.values.tolist() == [7, 8, 9] * 4
    assert len(column) == 12
    assert not repeats(block.column("x"), 4)


def test_bits_tell_whether_rows_repeat():
    values = np.array([0.0, -0.0, np.nan, np.nan])
    assert not repeats(Column.of(values[:2]), 2)
    assert repeats(Column.of(values[2:]), 2)
