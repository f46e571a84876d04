# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of frame-shaped sections: row references, blocks and shapes, the box, what MolRec does not know."""

import math

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Column, Frame
from molrec_convert.model.dtypes import DTYPES
from molrec_convert.records import copy_unknown, create

from ..frames import TRICLINIC, atoms, text, u64
from ..records.builders import values_of
from ..records.trees import path_of
from .bench import cases_of

NAN = math.nan


# ---------------------------------------------------------------- row references
def topology():
    return {
        "atoms": atoms(5),
        "bonds": Block({"atomi": u64(0, 1), "atomj": u64(1, 2), "type": text("a", "b")}),
        "angles": Block({"atomi": u64(0), "atomj": u64(1), "atomk": u64(2)}),
        "dihedrals": Block({"atomi": u64(0), "atomj": u64(1), "atomk": u64(2), "atoml": u64(3)}),
        "cmaps": Block({"atomi": u64(0), "atomj": u64(1), "atomk": u64(2), "atoml": u64(3), "atomm": u64(4)}),
    }


def case_canonical_topology(bench):
    bench.comes_back(Frame(topology()))
    bench.comes_back(Frame({"bonds": Block({"atomi": u64(), "atomj": u64()})}))  # without rows nothing is referred to


def marks(*rows, target="sites", valid=None):
    return Block({"row": Column(u64(*rows), valid=valid)}, targets={"row": target})


def case_targets_declared(bench):
    found = bench.comes_back(Frame({"sites": Block({"v": [1.0, 2.0]}), "marks": marks(1, 0, 1)}))
    assert found["marks"].targets == {"row": "sites"}
    bench.comes_back(Frame({"sites": Block({"v": [1.0]}), "marks": marks(0, 99, valid=[True, False])}))
    bonds = Block({"atomi": u64(1), "atomj": u64(0)}, targets={"atomi": "sites", "atomj": "sites"})
    bench.comes_back(Frame({"sites": Block({"v": [1.0, 2.0]}), "bonds": bonds}))
    bench.comes_back(Frame({"b": Block({"handle": u64(2**64 - 1)})}))  # an undeclared number refers to nothing


def case_reject_target_out_of_range(bench):
    frame = Frame({"sites": Block({"v": [1.0, 2.0]}), "marks": marks(2)})
    bench.writer_refuses("row 2 of 'sites', which has 2 rows", frame=frame)
    bench.write(frame=Frame({"sites": Block({"v": [1.0, 2.0]}), "marks": marks(1)}))
    with bench.change() as tree:
        tree.put("frame/marks/row", u64(2**63))
    bench.is_refused("of 'sites', which has 2 rows", "/frame/marks/row")
    bench.write(frame=Frame(topology()))
    with bench.change() as tree:
        tree.put("frame/bonds/atomj", u64(1, 5))
    bench.is_refused("row 5 of 'atoms', which has 5 rows", "/frame/bonds/atomj")


def case_reject_target_missing_block(bench):
    bench.writer_refuses("the block 'sites' that it refers to is missing", frame=Frame({"marks": marks(0)}))
    bench.write(frame=Frame({"sites": Block({"v": [1.0]}), "marks": marks(0)}))
    with bench.change() as tree:
        tree.delete("frame/sites")
    bench.is_refused("the block 'sites' that it refers to is missing", "/frame/marks/row")


def case_reject_target_not_u64(bench):
    bad = Block({"row": [0, 1]}, targets={"row": "sites"})
    bench.writer_refuses("no u64 column", frame=Frame({"sites": Block({"v": [1.0, 2.0]}), "marks": bad}))
    bench.write(frame=Frame({"sites": Block({"v": [1.0, 2.0]}), "marks": marks(0, 1)}))
    with bench.change() as tree:
        tree.put("frame/marks/row", np.array([0, 1]))
    bench.is_refused("targets names 'row', which is no u64 column of the block", "/frame/marks")


# ---------------------------------------------------------------- blocks and shapes
def case_empty_frame(bench):
    bench.comes_back(Frame())


def case_reject_block_named_box(bench):
    with pytest.raises(RecordError, match="a block cannot be called 'box'"):
        Frame({"box": Block({"v": [1.0]})})
    bench.write(frame=Frame({"atoms": atoms(1)}))
    with bench.change() as tree:  # a group of that name is the cell, whatever is in it
        tree.group("frame/box")
        tree.set("frame/box", "count", 1)
        tree.put("frame/box/v", np.array([1.0]))
    bench.is_refused("an array f64[3][3] is due, there is none", "/frame/box/vectors")


def case_trailing_axis(bench):
    columns = {f"{name}{''.join(map(str, axes))}": values_of(name, 4, trailing=axes)
               for name in DTYPES for axes in ((3,), (2, 2), (1,))}  # fmt: skip
    bench.comes_back(Frame({"b": Block(columns)}))


def case_structural_shape(bench):
    grid = Block({"rho": np.arange(24.0), "v": np.arange(72.0).reshape(24, 3)}, shape=(2, 3, 4))
    flat, none = Block({"v": np.arange(3.0)}, shape=(3,)), Block({"v": np.zeros(0)}, shape=(0, 5))
    found = bench.comes_back(Frame({"grid": grid, "flat": flat, "none": none}))
    assert found["grid"].shape == (2, 3, 4)
    with bench.change() as tree:
        tree.set("frame/grid", "structural_shape", [2, 3, 5])
    bench.is_refused("the structural shape [2, 3, 5] does not hold 24 rows", "/frame/grid")


def case_block_without_columns(bench):
    found = bench.comes_back(Frame({"seats": Block(count=7), "none": Block(count=0)}))
    assert found["seats"].count == 7


def case_independent_block_counts(bench):
    bench.comes_back(Frame({f"b{n}": Block({"v": np.arange(float(n))}) for n in (0, 1, 2, 100)}))


def case_reject_row_count_mismatch(bench):
    with pytest.raises(RecordError, match="has 1 rows, its block 2"):
        Block({"a": [1.0, 2.0], "b": [1.0]})
    bench.write(frame=Frame({"b": Block({"a": [1.0, 2.0], "b": [1.0, 2.0]})}))
    with bench.change() as tree:
        tree.put("frame/b/b", np.array([1.0]))
    bench.is_refused("2 rows are due, found shape [1]", "/frame/b/b")


# ---------------------------------------------------------------- the box
def case_triclinic_box(bench):
    box = Box.from_rows(TRICLINIC, origin=[1.0, -0.0, 1 / 3], boundary=[True, False, True])
    bench.comes_back(Frame({"atoms": atoms(1)}, box=box))
    with bench.change() as tree:  # columns are lattice vectors
        assert tree.values("frame/box/vectors")[:, 1].tolist() == list(TRICLINIC[1])


def case_undefined_cell(bench):
    found = bench.comes_back(Frame({"atoms": atoms(1)}, box=Box.undefined([1.0, 2.0, 3.0]))).box
    assert not found.defined
    assert not found.boundary.any()
    with bench.change() as tree:
        assert tree.get("frame/box", "cell_defined") is False
        assert tree.values("frame/box/vectors").tolist() == np.eye(3).tolist()
        assert tree.values("frame/box/boundary").tolist() == [False] * 3
        tree.delete("frame/box/boundary")  # it is periodic on no axis by default
    with bench.reading() as record:
        assert record.frame.box.same(Box.undefined([1.0, 2.0, 3.0]))


def case_undefined_cell_ignores_vectors(bench):
    for vectors in (np.zeros((3, 3)), np.full((3, 3), NAN), np.diag([1.0, 2.0, 3.0])):
        bench.write(frame=Frame(box=Box.undefined()))
        with bench.change() as tree:
            tree.put("frame/box/vectors", vectors)
        with bench.reading() as record:
            assert record.frame.box.same(Box.undefined())


# ---------------------------------------------------------------- what MolRec does not know
def case_unknown_names_preserved(bench):
    frame = Frame({"x-lab": Block({"my value": [1.0], "é": [2]}, attributes={"colour": "red", "n": [1, 2]})})
    bench.comes_back(frame)
    with bench.change() as tree:
        tree.group("frame/x-lab/deep")
        tree.put("frame/x-lab/deep/array", np.arange(3))
        tree.group("observables")
        tree.put("observables/rdf", np.arange(4.0))
        tree.set("observables", "note", "kept")
        tree.set("/", "producer", "x")
    other = path_of(bench.folder, bench.form, "copy")
    with bench.reading() as record:
        assert record.frame.same(frame)
        with create(other, meta=record.meta) as writer:
            writer.set_section("frame", record.frame)
            copy_unknown(record, writer)
    bench.path = other
    with bench.change() as tree:
        assert tree.values("frame/x-lab/deep/array").tolist() == [0, 1, 2]
        assert tree.values("observables/rdf").tolist() == [0.0, 1.0, 2.0, 3.0]
        assert tree.get("observables", "note") == "kept"
        assert tree.get("/", "producer") == "x"


CASES = cases_of(globals())
