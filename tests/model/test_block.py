"""Blocks: columns of one length, names, shapes, references."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Column, Frame
from molrec_convert.model.frame import check_references, checked_target


def test_a_block_is_a_mapping_of_arrays():
    block = Block({"element": ["O", "H"], "x": [0.0, 0.96]})
    assert (block.count, len(block), list(block)) == (2, 2, ["element", "x"])
    assert block["x"].tolist() == [0.0, 0.96]
    assert block.column("element").dtype == "string"
    assert "y" not in block
    with pytest.raises(KeyError):
        block["y"]
    with pytest.raises(TypeError):
        block.columns["x"] = Column([1.0])
    del block["x"]
    assert list(block) == ["element"]


def test_a_column_may_be_replaced():
    block = Block({"x": [1.0, 2.0]})
    block["x"] = [3.0, 4.0]
    assert block["x"].tolist() == [3.0, 4.0]
    with pytest.raises(RecordError, match="column 'x' has 1 rows, its block 2"):
        block["x"] = [1.0]
    assert block["x"].tolist() == [3.0, 4.0]


def test_counts():
    assert Block().count == 0
    assert Block(count=3).count == 3
    assert Block({"x": [1.0]}, count=1).count == 1
    with pytest.raises(RecordError, match="column 'x' has 1 rows, its block 2"):
        Block({"x": [1.0]}, count=2)
    for count in (-1, True):
        with pytest.raises(RecordError, match="a block has a count of rows, not"):
            Block(count=count)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("_validity", [1], "a column cannot be called '_validity': the masks are kept there"),
        ("", [1], "column '': a column cannot be called ''"),
        ("..", [1], "column '..': a column cannot be called '..'"),
        ("a/b", [1], "column 'a/b': a column cannot be called 'a/b'"),
        ("__x", [1], "column '__x': a column cannot be called '__x'"),
        ("a\0", [1], "column 'a\\x00': a column 'a\\x00' holds a NUL or a lone surrogate"),
        ("id", np.array([1]), "column 'id': id is u64[N], not i64[N]"),
        ("id", [-1], "column 'id': id is u64[N], not i64[N]"),
        ("x", np.array([1]), "column 'x': x is f64[N], not i64[N]"),
        ("x", [2**53 + 1], "column 'x': x is f64[N], not i64[N]"),
        ("x", [[1.0, 2.0]], "column 'x': x is f64[N], not f64[N][2]"),
        ("ix", np.array([1]), "column 'ix': ix is i32[N], not i64[N]"),
        ("element", [8], "column 'element': element is string[N], not i64[N]"),
        ("formal_charge", [1.0], "column 'formal_charge': formal_charge is i64[N], not f64[N]"),
    ],
)
def test_names_that_are_refused(name, values, message):
    with pytest.raises(RecordError) as caught:
        Block({name: values})
    assert str(caught.value) == message


def test_plain_integers_take_the_type_of_their_name():
    block = Block({"id": [1, 2], "x": [0, 1], "ix": [-1, 0], "formal_charge": [0, -1]})
    assert {name: column.dtype for name, column in block.columns.items()} == {
        "id": "u64", "x": "f64", "ix": "i32", "formal_charge": "i64",
    }  # fmt: skip


def test_a_structural_shape():
    assert Block({"rho": np.zeros(24)}, shape=[2, 3, 4]).shape == (2, 3, 4)
    assert Block({"rho": np.zeros(0)}, shape=[0, 3]).shape == (0, 3)
    for shape in ([2, 3], [], [-2, -12], [24, 0]):
        with pytest.raises(RecordError, match=r"the structural shape .* does not hold 24 rows"):
            Block({"rho": np.zeros(24)}, shape=shape)


def test_rows():
    block = Block({"x": [1.0, 2.0, 3.0], "n": [1, 2, 3]}, targets={"row": "atoms"}, attributes={"color": "red"})
    picked = block.rows([2, 0])
    assert (picked["x"].tolist(), picked["n"].tolist()) == ([3.0, 1.0], [3, 1])
    assert (picked.targets, picked.attributes) == ({"row": "atoms"}, {"color": "red"})
    assert Block(count=3).rows([0]).count == 0


def test_same():
    block = Block({"x": [1.0], "n": [1]}, attributes={"a": 1})
    assert block.same(Block({"n": [1], "x": [1.0]}, attributes={"a": 1}))
    assert not block.same(Block({"n": [1], "x": [1.0]}))
    assert not block.same(Block({"x": [1.0]}, attributes={"a": 1}))
    assert not Block({"x": np.zeros(4)}, shape=[2, 2]).same(Block({"x": np.zeros(4)}))
    assert not Block(count=1).same(Block(count=2))


def test_repr_and_html():
    block = Block({"x": np.zeros(24), "<b>": ["&"] * 24}, shape=[2, 3, 4])
    assert repr(block) == "Block(24 rows as 2×3×4: x, <b>)"
    assert repr(Block(count=2)) == "Block(2 rows: no columns)"
    html = block._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html.replace("<b>block: 24 rows</b>", "")
    assert "f64[N]" in html


# ---------------------------------------------------------------- references
def ids(*rows):
    return np.array(rows, "u8")


ATOMS = Block({"x": [0.0, 1.0]})


@pytest.mark.parametrize(
    "blocks",
    [
        {"atoms": ATOMS, "bonds": Block({"atomi": ids(0), "atomj": ids(1)})},
        {"atoms": ATOMS, "marks": Block({"row": ids(1)}, targets={"row": "atoms"})},
        {"atoms": ATOMS, "marks": Block({"row": Column(ids(9), valid=[False])}, targets={"row": "atoms"})},
        {"bonds": Block({"atomi": ids()})},
        {"marks": Block({"row": ids(7)}, targets={"row": "/frame/atoms"})},
    ],
)
def test_references_that_hold(blocks):
    check_references(Frame(blocks), {"system": None, "frame": None})


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"atoms": ATOMS, "bonds": Block({"atomi": ids(2)})}, "bonds/atomi: row 2 of 'atoms', which has 2 rows"),
        ({"bonds": Block({"atomi": ids(0)})}, "bonds/atomi: the block 'atoms' that it refers to is missing"),
        (
            {"atoms": ATOMS, "marks": Block({"row": [0]}, targets={"row": "atoms"})},
            "marks/row: a row reference is a u64 column of its block",
        ),
        (
            {"atoms": ATOMS, "marks": Block({"row": ids(0)}, targets={"other": "atoms"})},
            "marks/other: a row reference is a u64 column of its block",
        ),
        (
            {"marks": Block({"row": ids(5)}, targets={"row": "/system/atoms"})},
            "marks/row: row 5 of '/system/atoms', which has 2 rows",
        ),
    ],
)
def test_references_that_do_not(blocks, message):
    with pytest.raises(RecordError) as caught:
        check_references(Frame(blocks), {"system": Frame({"atoms": ATOMS}), "frame": None})
    assert str(caught.value) == message


def test_targets():
    assert checked_target("atoms", "a/b") == ("", "atoms")
    assert checked_target("/system/atoms", "a/b") == ("system", "atoms")
    for target in ("", "/", "/system", "/system/", "//atoms", "system/atoms", "/a/b/c"):
        with pytest.raises(RecordError, match=r"a/b: the target .* is neither <block> nor /<section>/<block>"):
            checked_target(target, "a/b")
    with pytest.raises(RecordError, match="a/b: the target '/trajectory/atoms' is a block of the trajectory"):
        checked_target("/trajectory/atoms", "a/b")
