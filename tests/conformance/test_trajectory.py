# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of trajectories: frames, updates, cells, per-step values."""

import math

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.meta import TAGS

from ..frames import TRICLINIC, text, u64
from ..records.builders import ALL_TAGS
from . import trajectory_refusals
from .bench import cases_of

NAN = math.nan


def xs(*values, **others):
    return Block({"x": list(values), **others})


def of(*blocks, name="atoms", **others):
    """Frames with one block each."""
    return [Frame({name: block}, **others) for block in blocks]


# ---------------------------------------------------------------- updates
def case_ragged_frames(bench):
    frames = of(*(xs(*np.arange(float(n)), element=text(*"CHO"[:n])) for n in (3, 1, 0, 2, 3)))
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert tree.values("trajectory/atoms/offset").tolist() == [0, 3, 4, 4, 6, 9]
        assert tree.values("trajectory/atoms/step_index").tolist() == [0, 1, 2, 3, 4]
        assert "uniform_rows" not in tree.attributes("trajectory/atoms")


def case_constant_block(bench):
    """A block that does not change is stored once."""
    frames = [Frame({"atoms": xs(float(i)), "names": Block({"name": ["a", "b"]})}) for i in range(4)]
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert len(tree.values("trajectory/names/name")) == 2
        assert tree.values("trajectory/atoms/x").tolist() == [0.0, 1.0, 2.0, 3.0]
        assert tree.get("trajectory/atoms", "uniform_rows") == 1
        assert tree.get("trajectory/atoms", "dense_updates") is True


def case_block_appears_late(bench):
    frames = [Frame({"atoms": xs(float(i))}) for i in range(4)]
    for frame in frames[2:]:
        frame["late"] = Block({"k": np.array([1], "i4")})
    bench.trajectory_comes_back(frames, schema=Schema.of(frames))
    with bench.change() as tree:
        assert tree.values("trajectory/late/step_index").tolist() == [2]
        assert tree.values("trajectory/late/offset").tolist() == [0, 1]


def case_omitted_block_carries_forward(bench):
    frames = [Frame({"atoms": xs(1.0, 2.0)}), Frame(), Frame({"atoms": xs(3.0)}), Frame()]
    due = [frames[0], frames[0], frames[2], frames[2]]
    bench.trajectory_comes_back(frames, due, schema=Schema.of(frames[:1]))


def case_zero_row_update_is_present_and_empty(bench):
    frames = of(xs(1.0), Block({"x": np.zeros(0)}), xs(2.0))
    bench.trajectory_comes_back(frames)
    with bench.reading() as record:
        assert record.trajectory[1]["atoms"].count == 0
        assert record.trajectory[1]["atoms"].column("x").dtype == "f64"


def case_nullable_column(bench):
    q = [Column([1.0, 9.0], valid=[True, False]), Column([2.0, 3.0]), Column([NAN, 4.0], valid=[False, True])]
    frames = of(*(Block({"q": column}) for column in q))
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert tree.values("trajectory/atoms/_validity/q").tolist() == [True, False, True, True, False, True]
        assert tree.values("trajectory/atoms/q")[1] == 9.0


def case_structural_shape_block(bench):
    grids = [Block({"rho": np.arange(6.0) + i, "v": np.ones((6, 3)) * i}, shape=(1, 2, 3)) for i in range(3)]
    bench.trajectory_comes_back(of(*grids, name="grid"))
    with bench.change() as tree:
        assert tree.get("trajectory/grid", "structural_shape") == [1, 2, 3]


# ---------------------------------------------------------------- cells
def case_fixed_cell(bench):
    box = Box.from_rows(TRICLINIC, origin=[1.0, 0.0, -2.0], boundary=[True, True, False])
    bench.trajectory_comes_back(of(xs(1.0), xs(2.0), xs(3.0), box=box))
    with bench.change() as tree:
        assert tree.names("trajectory/box") == []
        assert set(tree.attributes("trajectory/box")) == {"vectors", "origin", "boundary"}


def case_undefined_cell(bench):
    bench.trajectory_comes_back(of(xs(1.0), xs(2.0), box=Box.undefined([1.0, 2.0, 3.0])))
    with bench.change() as tree:
        assert tree.get("trajectory/box", "cell_defined") is False
    boxes = [Box.undefined([float(i), 0.0, 0.0]) for i in range(3)]
    bench.trajectory_comes_back([Frame({"atoms": xs(1.0)}, box=box) for box in boxes])


# ---------------------------------------------------------------- per-step values
def per_step(*documents, schema=None, bench):
    frames = [Frame({"atoms": xs(float(i))}, meta=Meta(document)) for i, document in enumerate(documents)]
    bench.trajectory_comes_back(frames, schema=schema)


def case_per_step_meta(bench):
    per_step(
        {"pe": -1.0, "n": 1, "ok": True, "label": "é"}, {"pe": NAN, "n": -2, "ok": False, "label": ""}, bench=bench
    )
    with bench.change() as tree:
        assert tree.get("trajectory/meta/n", "meta_dtype") == "i64"
        assert tree.values("trajectory/meta/n").tolist() == [1, -2]


def case_vector_meta(bench):
    per_step({"dipole": (0.0, -0.0, NAN), "virial": (1.0,) * 6, "axes": (1, 2, 3), "on": (True, False, True)},
             {"dipole": (1.0, 2.0, 3.0), "virial": (0.5,) * 6, "axes": (-1, 0, 2**62), "on": (False,) * 3},
             bench=bench)  # fmt: skip
    with bench.change() as tree:
        assert tree.values("trajectory/meta/virial").shape == (2, 6)


def case_every_meta_tag(bench):
    document = Meta({f"k_{tag}": value for tag, value in ALL_TAGS.items()}, tags={f"k_{tag}": tag for tag in TAGS})
    frames = [Frame(meta=Meta(document)) for _ in range(3)]
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert {tag: tree.get(f"trajectory/meta/k_{tag}", "meta_dtype") for tag in TAGS} == {tag: tag for tag in TAGS}


def case_json_null_fill(bench):
    schema = Schema({}, {"note": MetaSpec("json", None), "n": MetaSpec("i64", -1)})
    frames = [Frame(meta=Meta({"note": {"a": 1}, "n": 1}, tags={"note": "json", "n": "i64"})), Frame()]
    due = [frames[0], Frame(meta=Meta({"note": None, "n": -1}, tags={"note": "json", "n": "i64"}))]
    bench.trajectory_comes_back(frames, due, schema=schema)
    with bench.change() as tree:
        assert tree.values("trajectory/meta/note")[1] == "null"
        assert tree.document("trajectory", "sequence_schema")["meta"]["note"] == {"dtype": "json", "fill": None}


def case_json_meta(bench):
    documents = [{"z": [1, None, 2.5, "é", True], "a": {}}, [], "text", 7, None, {"big": 2**70, "deep": [[[]]]}]
    frames = [Frame(meta=Meta({"doc": each}, tags={"doc": "json"})) for each in documents]
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert tree.values("trajectory/meta/doc")[0] == '{"z":[1,null,2.5,"é",true],"a":{}}'


def case_step_numbers_and_times(bench):
    frames = of(*(xs(float(i)) for i in range(5)))
    tenths = [0.1 * i for i in range(5)]
    cases = (
        (range(5), None, {"start": 0, "stride": 1}, None),
        (range(-100, 400, 100), tenths, {"start": -100, "stride": 100}, {"start": 0.0, "stride": 0.1}),
        ([0, 1, 5, 2**53 + 1, 2**62], [0.0, 0.1, 0.2, 0.3, 0.5], None, None),
        ([7, 9, 11, 13, 15], [0.0, NAN, -0.0, 1e300, -1.0], {"start": 7, "stride": 2}, None),
    )
    for steps, times, step_rule, time_rule in cases:
        bench.write(frames=frames, steps=list(steps), times=times)
        with bench.reading() as record:
            assert record.trajectory.step.tolist() == list(steps)
            found = record.trajectory.time
            assert (found is None) == (times is None)
            assert times is None or [t.hex() for t in found.tolist()] == [float(t).hex() for t in times]
        with bench.change() as tree:
            for name, rule in (("step", step_rule), ("time", time_rule)):
                attribute = f"{name}_progression"
                told = attribute in tree.attributes("trajectory")
                assert (tree.document("trajectory", attribute) if told else None) == rule
            assert ("step" in tree.names("trajectory")) == (step_rule is None)


# ---------------------------------------------------------------- precision
def case_precision_in_sequence_schema(bench):
    frames = of(*(Block({"x": Column([0.1 + i, -1e-4], precision=1e-3)}) for i in range(3)))
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert tree.document("trajectory", "sequence_schema")["blocks"]["atoms"]["columns"]["x"]["precision"] == 1e-3
        assert "precision" not in tree.attributes("trajectory/atoms/x")
        assert tree.values("trajectory/atoms/x")[0] == 102 / 1024


def case_precision_sub_quantum_carries_forward(bench):
    """Values that are the same once they are rounded are no update."""
    frames = of(*(Block({"x": Column([1.0 + i * 1e-6], precision=1e-3)}) for i in range(5)))
    bench.trajectory_comes_back(frames)
    with bench.change() as tree:
        assert tree.values("trajectory/atoms/x").tolist() == [1.0]


# ---------------------------------------------------------------- aligned blocks, row references
ALIGNED = Schema({"atoms": BlockSpec({"x": ColumnSpec("f64")}),
                  "types": BlockSpec({"type": ColumnSpec("string")}, aligned_with="atoms")})  # fmt: skip


def aligned(rows=None, types=None):
    blocks = {}
    if rows is not None:
        blocks["atoms"] = Block({"x": np.arange(float(rows)) + rows})
    if types is not None:
        blocks["types"] = Block({"type": text(*["a"] * types)})
    return Frame(blocks)


def case_aligned_carries_forward(bench):
    frames = [aligned(2, 2), Frame({"atoms": xs(5.0, 6.0)}), Frame()]
    due = [frames[0], *[Frame({"atoms": xs(5.0, 6.0), "types": frames[0]["types"]})] * 2]
    bench.trajectory_comes_back(frames, due, schema=ALIGNED)


def case_aligned_restated_on_growth(bench):
    bench.trajectory_comes_back([aligned(2, 2), aligned(3, 3), aligned(1, 1)], schema=ALIGNED)


def case_aligned_absent_then_present(bench):
    frames = [aligned(2), aligned(3), aligned(3, 3)]
    bench.trajectory_comes_back(frames, schema=ALIGNED)
    with bench.reading() as record:
        assert "types" not in record.trajectory[1]


def case_aligned_empty_target(bench):
    bench.trajectory_comes_back([aligned(0, 0), aligned(2, 2), aligned(0, 0)], schema=ALIGNED)


def case_targets_pinned(bench):
    """The declaration has the targets, and a frame gets them back."""
    marks = BlockSpec({"row": ColumnSpec("u64", nullable=True)}, targets={"row": "sites"})
    schema = Schema({"sites": BlockSpec({"v": ColumnSpec("f64")}), "marks": marks})
    sites = Block({"v": [1.0, 2.0]})
    stating = Block({"row": u64(2, 1)}, targets={"row": "sites"})
    frames = [
        Frame({"sites": sites, "marks": Block({"row": Column(u64(0, 9), valid=[True, False])})}),
        Frame({"sites": Block({"v": [1.0, 2.0, 3.0]}), "marks": stating}),
    ]
    bench.write(frames=frames, schema=schema)
    with bench.reading() as record:
        assert [frame["marks"].targets for frame in record.trajectory] == [{"row": "sites"}] * 2
        assert record.trajectory[0]["marks"].column("row").valid.tolist() == [True, False]
    with bench.change() as tree:
        assert tree.document("trajectory", "sequence_schema")["blocks"]["marks"]["targets"] == {"row": "sites"}
        assert "targets" not in tree.attributes("trajectory/marks")
    other = Frame({"sites": sites, "marks": Block({"row": u64(0)}, targets={"row": "atoms"})})
    with pytest.raises(RecordError, match=r"declared are \{'row': 'sites'\}"):
        bench.write(frames=[other], schema=schema)


CASES = {**cases_of(globals()), **trajectory_refusals.CASES}


@pytest.mark.parametrize("case", CASES)
def test_case(bench, case):
    CASES[case](bench)
