# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of trajectories that are refused: the writer's rules when a frame comes, the reader's in a crafted store."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, BlockSpec, Box, Column, ColumnSpec, Frame, MetaSpec, Schema

from ..frames import text, u64
from .bench import cases_of

ATOMS = BlockSpec({"x": ColumnSpec("f64")})
TYPES = BlockSpec({"type": ColumnSpec("string")}, aligned_with="atoms")
ALIGNED = Schema({"atoms": ATOMS, "types": TYPES})
BONDED = Schema({"atoms": ATOMS, "bonds": BlockSpec({"atomi": ColumnSpec("u64"), "atomj": ColumnSpec("u64")})})


def atoms(*values):
    return Block({"x": np.array(values, float)})


def types(*words):
    return Block({"type": text(*words)})


def refused_after(bench, good, bad, words, *, schema, **labels):
    """The second frame is refused, the writer is as it was, and the record holds the first."""
    first, second = ({"step": 0, "time": None}, {"step": 1, "time": None, **labels})
    if "first_time" in second:
        first["time"] = second.pop("first_time")
    with bench.writing() as writer:
        trajectory = writer.begin_trajectory(schema)
        trajectory.append(good, **first)
        with pytest.raises(RecordError, match=words):
            trajectory.append(bad, **second)
        assert len(trajectory) == 1
    with bench.reading() as record:
        assert len(record) == 1
        assert record.trajectory[0].same(good)


def declaration_refused(bench, schema, words):
    with bench.writing(frame=Frame()) as writer, pytest.raises(RecordError, match=words):
        writer.begin_trajectory(schema)


def declared(bench, frames, change, words, place, schema=None):
    """A declaration that no writer takes, in a crafted store."""
    bench.write(frames=frames, schema=schema)
    with bench.change() as tree:
        document = tree.document("trajectory", "sequence_schema")
        change(document)
        tree.set_document("trajectory", "sequence_schema", document)
    bench.is_refused(words, place)


# ---------------------------------------------------------------- precision
def case_reject_frame_precision_disagrees(bench):
    schema = Schema({"atoms": BlockSpec({"x": ColumnSpec("f64", precision=0.01)})})
    good = Frame({"atoms": Block({"x": Column([1.0], precision=0.01)})})
    for column in (Column([2.0]), Column([2.0], precision=0.02)):
        bad = Frame({"atoms": Block({"x": column})})
        refused_after(bench, good, bad, "the precision is .*, declared is 0.01", schema=schema)
    bad = Frame({"atoms": Block({"x": Column([2.0], precision=0.01)})})
    refused_after(bench, Frame({"atoms": atoms(1.0)}), bad, "the precision is 0.01, declared is None",
                  schema=Schema({"atoms": ATOMS}))  # fmt: skip


# ---------------------------------------------------------------- aligned blocks
def case_reject_aligned_not_restated(bench):
    good = Frame({"atoms": atoms(1, 2), "types": types("a", "b")})
    words = "its rows are not aligned with those of 'atoms': 2, 3"
    refused_after(bench, good, Frame({"atoms": atoms(1, 2, 3)}), words, schema=ALIGNED)
    bench.write(frames=[good, Frame({"atoms": atoms(1, 2, 3), "types": types("a", "b", "c")})], schema=ALIGNED)
    with bench.change() as tree:  # the second update of the types is lost
        tree.put("trajectory/types/step_index", u64(0))
        tree.put("trajectory/types/offset", u64(0, 2))
    bench.is_refused("2 rows, 'atoms', with which it is aligned, has 3", "/trajectory/types")


def case_reject_aligned_count_mismatch(bench):
    good = Frame({"atoms": atoms(1, 2), "types": types("a", "b")})
    refused_after(
        bench, good, Frame({"types": types("a")}), "are not aligned with those of 'atoms': 1, 2", schema=ALIGNED
    )
    bench.write(frames=[good], schema=ALIGNED)
    with bench.change() as tree:
        tree.set("trajectory/types", "uniform_rows", 1)
    bench.is_refused("1 rows, 'atoms', with which it is aligned, has 2", "/trajectory/types")


def _alignment(bench, words, **blocks):
    schema = Schema({"atoms": ATOMS, **blocks})
    declaration_refused(bench, schema, words)


def case_reject_aligned_target_undeclared(bench):
    _alignment(
        bench, "aligned with 'none': another declared block", types=BlockSpec(TYPES.columns, aligned_with="none")
    )
    frames = [Frame({"atoms": atoms(1), "types": types("a")})]
    declared(bench, frames, lambda document: document["blocks"]["types"].update(aligned_with="none"),
             "another declared block", "/trajectory/types", ALIGNED)  # fmt: skip


def case_reject_aligned_chain(bench):
    more = BlockSpec({"k": ColumnSpec("i32")}, aligned_with="types")
    _alignment(bench, "aligned with 'types': another declared block, not aligned itself", types=TYPES, more=more)
    frames = [Frame({"atoms": atoms(1), "types": types("a")})]
    declared(bench, frames, lambda document: document["blocks"]["types"].update(aligned_with="types"),
             "another declared block, not aligned itself", "/trajectory/types", ALIGNED)  # fmt: skip


def case_reject_aligned_shared_column(bench):
    both = BlockSpec({"x": ColumnSpec("f64")}, aligned_with="atoms")
    _alignment(bench, "aligned with 'atoms', and shares the column 'x' with it", both=both)
    frames = [Frame({"atoms": atoms(1), "more": Block({"x": [1.0]})})]
    declared(bench, frames, lambda document: document["blocks"]["more"].update(aligned_with="atoms"),
             "shares the column 'x' with it", "/trajectory/more")  # fmt: skip


def case_reject_aligned_target_absent(bench):
    with bench.writing() as writer:
        trajectory = writer.begin_trajectory(ALIGNED)
        with pytest.raises(RecordError, match="are not aligned with those of 'atoms': 1, 0"):
            trajectory.append(Frame({"types": types("a")}), step=0)
    bench.write(frames=[Frame({"atoms": atoms(1), "types": types("a")})], schema=ALIGNED)
    with bench.change() as tree:
        tree.delete("trajectory/atoms")
    bench.is_refused("1 rows, 'atoms', with which it is aligned, is absent", "/trajectory/types")


# ---------------------------------------------------------------- row references
def case_reject_target_out_of_range_resolved(bench):
    """The bonds stay as they are when atoms go, and point at rows that are no longer there."""
    bonds = Block({"atomi": u64(0), "atomj": u64(2)})
    good = Frame({"atoms": atoms(1, 2, 3), "bonds": bonds})
    refused_after(bench, good, Frame({"atoms": atoms(1, 2)}), "row 2 of 'atoms', which has 2 rows", schema=BONDED)
    bench.write(frames=[good, Frame({"atoms": atoms(1, 2, 3, 4), "bonds": bonds})], schema=BONDED)
    with bench.change() as tree:
        tree.put("trajectory/atoms/offset", u64(0, 3, 5))
    bench.is_refused("row 2 of 'atoms', which has 2 rows", "/trajectory/bonds/atomj")


# ---------------------------------------------------------------- declarations, and frames that are not as declared
def case_reject_reserved_block_name(bench):
    for name in ("step", "time", "meta", "box"):
        declaration_refused(bench, Schema({name: ATOMS}), "the name is reserved")
        declared(bench, [Frame({"atoms": atoms(1)})],
                 lambda document, name=name: document["blocks"].update({name: {"columns": {}}}),
                 "the name is reserved", f"/trajectory/{name}")  # fmt: skip


def case_reject_reserved_column_name(bench):
    for name in ("offset", "step_index", "_validity"):
        declaration_refused(bench, Schema({"atoms": BlockSpec({name: ColumnSpec("u64")})}), "the name is reserved")
        declared(bench, [Frame({"atoms": atoms(1)})],
                 lambda document, name=name: document["blocks"]["atoms"]["columns"].update({name: {"dtype": "u64"}}),
                 "the name is reserved", f"/trajectory/atoms/{name}")  # fmt: skip


def case_reject_undeclared_block(bench):
    bad = Frame({"atoms": atoms(2), "more": atoms(1)})
    refused_after(bench, Frame({"atoms": atoms(1)}), bad, "the block is not declared", schema=Schema({"atoms": ATOMS}))


def case_reject_undeclared_column(bench):
    bad = Frame({"atoms": Block({"x": [1.0], "y": [1.0]})})
    refused_after(bench, Frame({"atoms": atoms(1)}), bad, "the column is not declared", schema=Schema({"atoms": ATOMS}))


def case_reject_mask_on_non_nullable_column(bench):
    bad = Frame({"atoms": Block({"x": Column([1.0], valid=[False])})})
    words = "null rows in a column that is not nullable"
    refused_after(bench, Frame({"atoms": atoms(1)}), bad, words, schema=Schema({"atoms": ATOMS}))
    bench.write(frames=[Frame({"atoms": atoms(1)})])
    with bench.change() as tree:
        tree.group("trajectory/atoms/_validity")
        tree.put("trajectory/atoms/_validity/x", np.array([False]))
    bench.is_refused("a mask of no column, or of one that is not nullable", "/trajectory/atoms/_validity/x")


def case_reject_undeclared_meta_key(bench):
    bad = Frame({"atoms": atoms(2)}, meta={"more": 1})
    refused_after(bench, Frame({"atoms": atoms(1)}), bad, "the key is not declared", schema=Schema({"atoms": ATOMS}))


def case_reject_omitted_meta_without_fill(bench):
    schema = Schema({"atoms": ATOMS}, {"n": MetaSpec("i64")})
    good = Frame({"atoms": atoms(1)}, meta={"n": 1})
    refused_after(bench, good, Frame({"atoms": atoms(2)}), "the key is missing, and no fill is declared", schema=schema)
    bench.write(frames=[good, good], schema=schema)
    with bench.change() as tree:
        tree.cut("trajectory/meta/n", 1)
    bench.is_refused("2 rows are due, found 1", "/trajectory/meta/n")


# ---------------------------------------------------------------- steps and times
def _steps(bench, second, stored, words):
    good, bad, schema = Frame({"atoms": atoms(1)}), Frame({"atoms": atoms(2)}), Schema({"atoms": ATOMS})
    refused_after(bench, good, bad, "steps increase strictly", schema=schema, step=second)
    bench.write(frames=[good, bad, good], steps=[0, 1, 5])
    with bench.change() as tree:
        tree.put("trajectory/step", np.array(stored))
    bench.is_refused(words, "/trajectory/step")


def case_reject_duplicate_step(bench):
    _steps(bench, 0, [0, 1, 1], "found 1 after 1")


def case_reject_decreasing_step(bench):
    _steps(bench, -1, [0, 5, 1], "found 1 after 5")


def _times(bench, **labels):
    good, bad = Frame({"atoms": atoms(1)}), Frame({"atoms": atoms(2)})
    words = "every frame has a time, or none has"
    refused_after(bench, good, bad, words, schema=Schema({"atoms": ATOMS}), **labels)
    bench.write(frames=[good, bad, good], times=[0.0, 1.0, 5.0])
    with bench.change() as tree:
        tree.cut("trajectory/time", 2)
    bench.is_refused("3 rows are due, found 2", "/trajectory/time")


def case_reject_time_gained_midway(bench):
    _times(bench, time=1.0)


def case_reject_time_dropped_midway(bench):
    _times(bench, first_time=0.0)


# ---------------------------------------------------------------- forms
def case_reject_structural_shape_row_count(bench):
    schema = Schema({"grid": BlockSpec({"rho": ColumnSpec("f64")}, shape=(2, 2))})
    good = Frame({"grid": Block({"rho": np.arange(4.0)}, shape=(2, 2))})
    bad = Frame({"grid": Block({"rho": np.arange(6.0)}, shape=(2, 3))})
    refused_after(bench, good, bad, "the structural shape is", schema=schema)
    bench.write(frames=[good], schema=schema)
    with bench.change() as tree:
        tree.set("trajectory/grid", "uniform_rows", 2)
    bench.is_refused("2 rows for the structural shape [2, 2]", "/trajectory/grid")


def case_reject_narrow_endpoint(bench):
    narrow = Schema({"atoms": ATOMS, "bonds": BlockSpec({"atomi": ColumnSpec("u32")})})
    declaration_refused(bench, narrow, "atomi is u64")
    good = Frame({"atoms": atoms(1, 2), "bonds": Block({"atomi": u64(0), "atomj": u64(1)})})
    bench.write(frames=[good])
    with bench.change() as tree:
        tree.put("trajectory/bonds/atomi", np.array([0], "u4"))
    bench.is_refused("u64[N] is due, found u32 of shape [1]", "/trajectory/bonds/atomi")


def case_reject_mask_not_bool(bench):
    bench.write(frames=[Frame({"atoms": Block({"q": Column([1.0, 2.0], valid=[True, False])})})])
    with bench.change() as tree:
        tree.put("trajectory/atoms/_validity/q", np.array([1, 0], "u1"))
    bench.is_refused("bool[N] is due, found u8 of shape [2]", "/trajectory/atoms/_validity/q")


def case_reject_narrow_float_column(bench):
    declaration_refused(bench, Schema({"atoms": BlockSpec({"v": ColumnSpec("f32")})}), "'f32' is not a MolRec dtype")
    bench.write(frames=[Frame({"atoms": atoms(1, 2)}, box=Box.orthogonal(3))])
    with bench.change() as tree:
        tree.put("trajectory/atoms/x", np.zeros(2, "f4"))
    bench.is_refused("float32 is not a MolRec dtype", "/trajectory/atoms/x")


def case_reject_non_monotonic_offset(bench):
    bench.write(frames=[Frame({"atoms": atoms(*range(n))}) for n in (2, 1, 3)])
    with bench.change() as tree:
        tree.put("trajectory/atoms/offset", u64(0, 3, 2, 6))
    bench.is_refused("offsets never decrease, found 2 after 3", "/trajectory/atoms/offset")


CASES = cases_of(globals())
