# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""Changes by which the record of `breakable` breaks one rule each, in whatever form it is stored."""

from typing import Any, NamedTuple

import numpy as np

F, S, T = "frame", "system", "trajectory"


# ---------------------------------------------------------------- changes
def put(place, values):
    return lambda tree: tree.put(place, values)


def sets(place, name, value):
    return lambda tree: tree.set(place, name, value)


def says(place, name, value):
    """JSON in an attribute that the layout says is JSON."""
    return lambda tree: tree.set_document(place, name, value)


def drops(place, *names):
    return lambda tree: tree.drop(place, *names)


def gone(*places):
    def change(tree):
        for place in places:
            tree.delete(place)

    return change


def cut(place, rows):
    return lambda tree: tree.cut(place, rows)


def group(place):
    return lambda tree: tree.group(place)


def both(*changes):
    def change(tree):
        for one in changes:
            one(tree)

    return change


def declares(path, value):
    """Another value in the declaration, at a path of keys; None takes the key away."""

    def change(tree):
        document = tree.document(T, "sequence_schema")
        entry, keys = document, path.split(".")
        for key in keys[:-1]:
            entry = entry[key]
        entry[keys[-1]] = value
        if value is None:
            del entry[keys[-1]]
        tree.set_document(T, "sequence_schema", document)

    return change


def tags(**changed):
    def change(tree):
        tree.set_document(F, "_meta_types", {**tree.document(F, "_meta_types"), **changed})

    return change


def fixed_cell(**values):
    """A cell of attributes in the place of its updates."""
    return both(gone(f"{T}/box"), group(f"{T}/box"), lambda tree: tree.set_box(values))


def undefined(*changes):
    """A frame without a cell: the identity, periodic on no axis, before the changes."""
    return both(sets(f"{F}/box", "cell_defined", False), put(f"{F}/box/vectors", np.eye(3)),
                put(f"{F}/box/boundary", np.zeros(3, bool)), *changes)  # fmt: skip


def regular(start, stride):
    return both(gone(f"{T}/step"), says(T, "step_progression", {"start": start, "stride": stride}))


class Row(NamedTuple):
    """A rule, a change that breaks it, the place of the fault, and words of the message."""

    rule: int
    change: Any
    place: str
    words: str
    forms: tuple[str, ...] = ("h5", "mrec", "zip")


ZARR = ("mrec", "zip")
DUE = "is due, found"
INDEX = np.array([0, 1, 2, 3], "u8")


# ---------------------------------------------------------------- what a reader refuses
REFUSED = {
    # types, columns, blocks
    "a foreign type": Row(1, put(f"{F}/atoms/x", np.zeros(2, "V4")), "/frame/atoms/x", "is not a MolRec dtype", ("h5",)),
    "a foreign type declared": Row(1, declares("blocks.few.columns.k.dtype", "f128"), "/trajectory/few/k", "'f128' is not a MolRec dtype"),
    "binary32": Row(2, put(f"{F}/atoms/x", np.zeros(2, "f4")), "/frame/atoms/x", "float32 is not a MolRec dtype"),
    "binary16": Row(2, put(f"{F}/atoms/p", np.zeros(2, "f2")), "/frame/atoms/p", "float16 is not a MolRec dtype"),
    "binary32 of mass": Row(2, put(f"{S}/atoms/mass", np.zeros(2, "f4")), "/system/atoms/mass", "float32"),
    "binary32 of vectors": Row(2, put(f"{F}/box/vectors", np.eye(3, dtype="f4")), "/frame/box/vectors", "float32"),
    "binary32 in a trajectory": Row(2, put(f"{T}/grid/rho", np.zeros(16, "f4")), "/trajectory/grid/rho", "float32"),
    "binary32 declared": Row(2, declares("blocks.few.columns.k.dtype", "f32"), "/trajectory/few/k", "'f32' is not a MolRec dtype"),
    "json as a type": Row(3, declares("blocks.few.columns.k.dtype", "json"), "/trajectory/few/k", "'json' is not a MolRec dtype"),
    "no count": Row(4, drops(f"{F}/atoms", "count"), "/frame/atoms@count", "missing"),
    "a real count": Row(4, sets(f"{F}/atoms", "count", 2.5), "/frame/atoms@count", "i64 is due"),
    "a count of text": Row(4, sets(f"{F}/atoms", "count", "2"), "/frame/atoms@count", "i64 is due"),
    "a count below 0": Row(4, sets(f"{F}/grid", "count", -1), "/frame/grid", "the count is -1, at least 0 is due"),
    "a short column": Row(4, put(f"{F}/atoms/x", np.zeros(1)), "/frame/atoms/x", "2 rows are due, found shape [1]"),
    "a long column": Row(4, put(f"{F}/atoms/x", np.zeros(3)), "/frame/atoms/x", "2 rows are due, found shape [3]"),
    "a single value": Row(4, put(f"{F}/grid/rho", np.array(1.0)), "/frame/grid/rho", "4 rows are due, found shape []"),
    "a shape of other rows": Row(5, sets(f"{F}/grid", "structural_shape", [2, 3]), "/frame/grid", "the structural shape [2, 3] does not hold 4 rows"),
    "a shape of reals": Row(5, sets(f"{F}/grid", "structural_shape", [2.5, 1.6]), "/frame/grid@structural_shape", "a list of counts is due"),
    "an empty shape": Row(5, sets(f"{F}/grid", "structural_shape", []), "/frame/grid@structural_shape", "a list of counts is due"),
    "an empty shape declared": Row(5, declares("blocks.grid.structural_shape", []), "/trajectory/grid", "a list of counts, not []"),
    "a box that is an array": Row(7, both(gone(f"{F}/box"), put(f"{F}/box", np.eye(3))), "/frame/box", "a group is due, found an array"),
    # the meta document of a frame
    "a real for an integer": Row(8, sets(F, "n", 1.5), "/frame@n", "i64"),
    "a bool for a real": Row(8, sets(F, "pe", True), "/frame@pe", "f64"),
    "text for an integer": Row(8, sets(F, "n", "abc"), "/frame@n", "i64"),
    "a vector of another length": Row(8, sets(F, "v", [0.0, 1.0]), "/frame@v", "f64x3"),
    "an unknown tag": Row(8, tags(n="f32"), "/frame@n", "'f32' is not a meta tag"),
    "a tag of a column": Row(8, tags(n="c128"), "/frame@n", "'c128' is not a meta tag"),
    "a tag that is no text": Row(8, tags(n=1), "/frame@n", "1 is not a meta tag"),
    "tags that are no map": Row(8, says(F, "_meta_types", ["n"]), "/frame@_meta_types", "a JSON object is due"),
    "out of range": Row(8, both(tags(n="u32"), sets(F, "n", -1)), "/frame@n", "u32"),
    "no tag in HDF5": Row(8, sets(F, "more", 1), "/frame@more", "has no tag in _meta_types", ("h5",)),
    # text
    "text in ASCII": Row(10, put(f"{F}/atoms/name", np.array([b"a", b"b"])), "/frame/atoms/name", "strings are UTF-8", ("h5",)),
    # masks
    "a mask of u8": Row(12, put(f"{F}/atoms/_validity/q", np.zeros(2, "u1")), "/frame/atoms/_validity/q", "bool[N] is due, found u8 of shape [2]"),
    "a short mask": Row(12, put(f"{F}/atoms/_validity/q", np.zeros(1, bool)), "/frame/atoms/_validity/q", "2 flags are due, found 1"),
    "a mask with axes": Row(12, put(f"{F}/atoms/_validity/q", np.zeros((2, 1), bool)), "/frame/atoms/_validity/q", "bool[N] is due, found bool of shape [2, 1]"),
    "a mask of no column": Row(12, put(f"{F}/atoms/_validity/none", np.zeros(2, bool)), "/frame/atoms/_validity/none", "a mask of no column"),
    "a column _validity": Row(12, both(gone(f"{F}/atoms/_validity"), put(f"{F}/atoms/_validity", np.zeros(2))), "/frame/atoms/_validity", "a group of masks, not a column"),
    "a mask of u8 in a trajectory": Row(12, put(f"{T}/atoms/_validity/q", np.ones(8, "u1")), "/trajectory/atoms/_validity/q", "bool[N] is due, found u8 of shape [8]"),
    "a mask of what is not nullable": Row(12, put(f"{T}/atoms/_validity/x", np.ones(8, bool)), "/trajectory/atoms/_validity/x", "not nullable"),
    # precision
    "a precision of integers": Row(13, sets(f"{F}/atoms/id", "precision", 0.1), "/frame/atoms/id", "a precision on u64, only f64 has one"),
    "a precision of text": Row(13, sets(f"{F}/atoms/x", "precision", "1"), "/frame/atoms/x@precision", "f64 is due"),
    "a precision of 0": Row(13, sets(f"{F}/atoms/x", "precision", 0.0), "/frame/atoms/x", "within 2^-1000 … 2^1000"),
    "a precision below 0": Row(13, sets(f"{F}/atoms/x", "precision", -0.5), "/frame/atoms/x", "within 2^-1000 … 2^1000"),
    "a precision too large": Row(13, sets(f"{F}/atoms/x", "precision", 1e302), "/frame/atoms/x", "within 2^-1000 … 2^1000"),
    "a precision of integers declared": Row(13, declares("blocks.few.columns.k.precision", 0.1), "/trajectory/few/k", "a precision on i32, only f64 has one"),
    "a precision of 0 declared": Row(13, declares("blocks.atoms.columns.p.precision", 0.0), "/trajectory/atoms/p", "within 2^-1000 … 2^1000"),
    # references
    "an endpoint out of range": Row(14, put(f"{F}/bonds/atomj", np.array([2], "u8")), "/frame/bonds/atomj", "row 2 of 'atoms', which has 2 rows"),
    "bonds without atoms": Row(14, gone(f"{F}/atoms"), "/frame/bonds/atomi", "the block 'atoms' that it refers to is missing"),
    "a target out of range": Row(14, says(f"{F}/marks", "targets", {"row": "bonds"}), "/frame/marks/row", "row 1 of 'bonds', which has 1 rows"),
    "a target that is missing": Row(14, says(f"{F}/marks", "targets", {"row": "none"}), "/frame/marks/row", "the block 'none' that it refers to is missing"),
    "an absolute target out of range": Row(14, put(f"{F}/marks/row", np.array([2], "u8")), "/frame/marks/row", "row 2 of '/system/atoms', which has 2 rows"),
    "a target in the trajectory": Row(14, says(f"{F}/marks", "targets", {"row": "/trajectory/atoms"}), "/frame/marks", "is a block of the trajectory"),
    "a malformed target": Row(14, says(f"{F}/marks", "targets", {"row": "a/b"}), "/frame/marks", "neither <block> nor /<section>/<block>"),
    "a target that is no text": Row(14, says(f"{F}/marks", "targets", {"row": 5}), "/frame/marks", "a target is text, not 5"),
    "a target of no column": Row(14, says(f"{F}/marks", "targets", {"none": "atoms"}), "/frame/marks", "no u64 column of the block"),
    "a target of reals": Row(14, says(f"{F}/grid", "targets", {"rho": "atoms"}), "/frame/grid", "no u64 column of the block"),
    "targets that are no map": Row(14, says(f"{F}/marks", "targets", []), "/frame/marks", "a map from column to target"),
    "an endpoint out of range in a frame": Row(14, put(f"{T}/bonds/atomj", np.array([2], "u8")), "/trajectory/bonds/atomj", "row 2 of 'atoms', which has 2 rows"),
    "bonds without atoms in a frame": Row(14, gone(f"{T}/atoms"), "/trajectory/bonds/atomi", "the block 'atoms' that it refers to is missing"),
    "a malformed target declared": Row(14, declares("blocks.bonds.targets", {"atomi": "/trajectory/atoms"}), "/trajectory/bonds", "is a block of the trajectory"),
    "a target that is no text declared": Row(14, declares("blocks.bonds.targets", {"atomi": ["atoms"]}), "/trajectory/bonds", "a target is text, not ['atoms']"),
    # the box
    "no vectors": Row(15, gone(f"{F}/box/vectors"), "/frame/box/vectors", "an array f64[3][3] is due, there is none"),
    "two vectors": Row(15, put(f"{F}/box/vectors", np.eye(2)), "/frame/box/vectors", "f64[3][3] is due, found f64 of shape [2, 2]"),
    "singular vectors": Row(15, put(f"{F}/box/vectors", np.zeros((3, 3))), "/frame/box", "singular or not finite"),
    "vectors of NaN": Row(15, put(f"{F}/box/vectors", np.full((3, 3), np.nan)), "/frame/box", "singular or not finite"),
    "a short origin": Row(15, put(f"{F}/box/origin", np.zeros(2)), "/frame/box/origin", "f64[3] is due, found f64 of shape [2]"),
    "a boundary of u8": Row(15, put(f"{F}/box/boundary", np.zeros(3, "u1")), "/frame/box/boundary", "bool[3] is due, found u8 of shape [3]"),
    "a boundary as an attribute": Row(15, sets(f"{F}/box", "boundary", [False, False, False]), "/frame/box", "never an attribute"),
    "a singular cell in a frame": Row(15, put(f"{T}/box/vectors", np.array([np.eye(3), np.ones((3, 3))])), "/trajectory/box", "singular or not finite"),
    "a singular fixed cell": Row(15, fixed_cell(vectors=[[0.0] * 3] * 3), "/trajectory/box", "singular or not finite"),
    "cell_defined as text": Row(16, sets(f"{F}/box", "cell_defined", "false"), "/frame/box@cell_defined", "bool is due"),
    "cell_defined as 0": Row(16, sets(f"{F}/box", "cell_defined", 0), "/frame/box@cell_defined", "bool is due"),
    "a periodic axis without a cell": Row(16, undefined(put(f"{F}/box/boundary", np.array([False, True, False]))), "/frame/box", "periodic on no axis"),
    "a periodic axis without a cell in a frame": Row(16, both(sets(f"{T}/box", "cell_defined", False), put(f"{T}/box/boundary", np.ones((2, 3), bool))), "/trajectory/box", "periodic on no axis"),
    # canonical names
    "positions in threes": Row(17, put(f"{F}/atoms/x", np.zeros((2, 3))), "/frame/atoms/x", "x is f64[N], not f64[N][3]"),
    "an id of u32": Row(18, put(f"{F}/atoms/id", np.zeros(2, "u4")), "/frame/atoms/id", "id is u64[N], not u32[N]"),
    "an id of i64": Row(18, put(f"{F}/atoms/id", np.zeros(2, "i8")), "/frame/atoms/id", "id is u64[N], not i64[N]"),
    "an image of i64": Row(18, put(f"{F}/atoms/ix", np.zeros(2, "i8")), "/frame/atoms/ix", "ix is i32[N], not i64[N]"),
    "a narrow endpoint declared": Row(18, declares("blocks.bonds.columns.atomi.dtype", "u32"), "/trajectory/bonds/atomi", "atomi is u64[N], not u32[N]"),
    "an energy of i64": Row(18, tags(pe="i64"), "/frame@pe", "meta 'pe' is f64, not i64"),
    "an energy of i64 declared": Row(18, declares("meta.pe.dtype", "i64"), "/trajectory/meta/pe", "meta 'pe' is f64, not i64"),
    # JSON
    "JSON that does not parse": Row(19, put(f"{T}/meta/j", ["{}", "{", "1", "2"]), "/trajectory/meta/j", "does not parse as JSON"),
    "JSON with NaN": Row(19, put(f"{T}/meta/j", ["{}", "[NaN]", "1", "2"]), "/trajectory/meta/j", "not finite JSON"),
    "JSON beyond reals": Row(19, put(f"{T}/meta/j", ["{}", "1e999", "1", "2"]), "/trajectory/meta/j", "not finite JSON"),
    "an attribute of broken JSON": Row(19, sets(F, "j", "{"), "/frame@j", "does not parse as JSON", ("h5",)),
    # the declaration
    "a declaration that is no map": Row(20, says(T, "sequence_schema", []), "/trajectory", "a JSON object is due"),
    "blocks that are no map": Row(20, declares("blocks", []), "/trajectory", "blocks and meta are maps"),
    "a block without columns": Row(20, declares("blocks.few.columns", None), "/trajectory/few", "a map with columns is due"),
    "a column without a type": Row(20, declares("blocks.few.columns.k.dtype", None), "/trajectory/few/k", "a map with a dtype is due"),
    "another type than declared": Row(20, declares("blocks.few.columns.k.dtype", "i64"), "/trajectory/few/k", "i64[N] is due, found i32 of shape"),
    "other axes than declared": Row(20, declares("blocks.few.columns.k.trailing", [2]), "/trajectory/few/k", "i32[N][2] is due, found i32 of shape"),
    "axes below 0": Row(20, declares("blocks.few.columns.k.trailing", [-1]), "/trajectory/few/k", "a list of counts is due"),
    "nullable as a number": Row(20, declares("blocks.few.columns.k.nullable", 1), "/trajectory/few/k", "nullable is true or false, not 1"),
    "a declared column that is missing": Row(20, gone(f"{T}/few/k"), "/trajectory/few/k", "an array i32[N] is due, there is none"),
    "a block called step": Row(21, declares("blocks.step", {"columns": {}}), "/trajectory/step", "the name is reserved"),
    "a block called box": Row(21, declares("blocks.box", {"columns": {}}), "/trajectory/box", "the name is reserved"),
    "a column called offset": Row(21, declares("blocks.few.columns.offset", {"dtype": "u64"}), "/trajectory/few/offset", "the name is reserved"),
    "a column called _validity": Row(21, declares("blocks.few.columns._validity", {"dtype": "bool"}), "/trajectory/few/_validity", "the name is reserved"),
    # steps and times
    "nstep below 0": Row(22, sets(T, "nstep", -1), "/trajectory", "nstep is -1, at least 0 is due"),
    "a real nstep": Row(22, sets(T, "nstep", 4.5), "/trajectory@nstep", "i64 is due"),
    "nstep of text": Row(22, sets(T, "nstep", "4"), "/trajectory@nstep", "i64 is due"),
    "a progression without nstep": Row(22, both(regular(0, 10), drops(T, "nstep")), "/trajectory", "a progression without nstep"),
    "more frames than steps": Row(23, sets(T, "nstep", 5), "/trajectory/step", "5 rows are due, found 4"),
    "no steps": Row(23, gone(f"{T}/step"), "/trajectory", "neither step nor step_progression"),
    "steps that repeat": Row(23, put(f"{T}/step", np.array([0, 10, 10, 20])), "/trajectory/step", "steps increase strictly, found 10 after 10"),
    "steps that decrease": Row(23, put(f"{T}/step", np.array([0, 10, 5, 20])), "/trajectory/step", "steps increase strictly, found 5 after 10"),
    "steps of u64": Row(23, put(f"{T}/step", np.arange(4, dtype="u8")), "/trajectory/step", "i64[N] is due, found u64 of shape [4]"),
    "a stride of 0": Row(23, regular(0, 0), "/trajectory", "steps increase, the stride is 0"),
    "a stride below 0": Row(23, regular(0, -1), "/trajectory", "steps increase, the stride is -1"),
    "a real stride": Row(23, regular(0, 1.5), "/trajectory", "i64 is due, found 1.5"),
    "no stride": Row(23, both(gone(f"{T}/step"), says(T, "step_progression", {"start": 0})), "/trajectory", "a stride from the second frame on"),
    "steps beyond i64": Row(23, regular("9223372036854775807", 1), "/trajectory", "beyond i64"),
    "times of i64": Row(23, put(f"{T}/time", np.zeros(4, "i8")), "/trajectory/time", "f64[N] is due, found i64 of shape [4]"),
    "a time short": Row(23, put(f"{T}/time", np.zeros(3)), "/trajectory/time", "4 rows are due, found 3"),
    "times from NaN on": Row(23, both(gone(f"{T}/time"), says(T, "time_progression", {"start": "NaN", "stride": 1.0})), "/trajectory", "a progression is finite"),
    "frames of updates that repeat": Row(24, put(f"{T}/few/step_index", np.array([0, 1, 1, 3], "u8")), "/trajectory/few/step_index", "ascend strictly, found 1 after 1"),
    "frames of updates that descend": Row(24, put(f"{T}/box/step_index", np.array([2, 0], "u8")), "/trajectory/box/step_index", "ascend strictly, found 0 after 2"),
    "frames of updates of i64": Row(24, put(f"{T}/few/step_index", np.arange(4)), "/trajectory/few/step_index", "u64[N] is due, found i64 of shape [4]"),
    # per-step keys
    "no meta_dtype": Row(25, drops(f"{T}/meta/pe", "meta_dtype"), "/trajectory/meta/pe@meta_dtype", "missing"),
    "another meta_dtype": Row(25, sets(f"{T}/meta/v", "meta_dtype", "f64"), "/trajectory/meta/v", "meta_dtype is 'f64', in the schema 'f64x3'"),
    "values of another type": Row(25, put(f"{T}/meta/pe", np.zeros(4, "i8")), "/trajectory/meta/pe", "f64[N] is due, found i64 of shape [4]"),
    "vectors of two": Row(25, put(f"{T}/meta/v", np.zeros((4, 2))), "/trajectory/meta/v", "f64[N][3] is due, found f64 of shape [4, 2]"),
    "a value short": Row(25, put(f"{T}/meta/pe", np.zeros(3)), "/trajectory/meta/pe", "4 rows are due, found 3"),
    "a declared key that is missing": Row(25, gone(f"{T}/meta/pe"), "/trajectory/meta/pe", "a declared key without its array"),
    "no keys at all": Row(25, gone(f"{T}/meta"), "/trajectory/meta/pe", "a declared key without its array"),
    "an unknown tag declared": Row(25, declares("meta.v.dtype", "c64"), "/trajectory/meta/v", "'c64' is not a meta tag"),
    "a fill of another form": Row(25, declares("meta.v.fill", [True, 1.0, 2.0]), "/trajectory/meta/v", "the fill: f64 is due, found True"),
    "a fill of null": Row(25, declares("meta.v", {"dtype": "f64x3", "fill": None}), "/trajectory/meta/v", "the fill: f64x3 is due, found None"),
    "a fill out of range": Row(25, declares("meta.v", {"dtype": "u32", "fill": -1}), "/trajectory/meta/v", "the fill: u32 is due, found -1"),
    "a key that is no map": Row(25, declares("meta.v", "f64"), "/trajectory/meta/v", "a map with a dtype is due"),
    # updates
    "offsets that decrease": Row(26, put(f"{T}/few/offset", np.array([0, 1, 3, 2, 6], "u8")), "/trajectory/few/offset", "offsets never decrease, found 2 after 3"),
    "an offset that begins late": Row(26, put(f"{T}/few/offset", np.array([1, 1, 3, 4, 6], "u8")), "/trajectory/few/offset", "the first offset is 1, not 0"),
    "an offset beyond the data": Row(26, both(put(f"{T}/few/offset", np.array([0, 1, 3, 4, 7], "u8")), put(f"{T}/types/offset", np.array([0, 1, 3, 4, 7], "u8")), put(f"{T}/types/type", ["a"] * 7)), "/trajectory/few/k", "7 rows are due, found 6"),
    "an offset beyond all data": Row(26, put(f"{T}/few/offset", np.array([0, 1, 3, 4, 2**63], "u8")), "/trajectory/few/offset", "beyond all data"),
    "an offset short": Row(26, put(f"{T}/few/offset", np.array([0, 1, 3, 4], "u8")), "/trajectory/few/offset", "5 offsets are due, found 4"),
    "offsets of i64": Row(26, put(f"{T}/few/offset", np.array([0, 1, 3, 4, 6])), "/trajectory/few/offset", "u64[N] is due, found i64 of shape [5]"),
    "frames without offsets": Row(26, gone(f"{T}/few/offset"), "/trajectory/few", "there is only step_index"),
    "offsets without frames": Row(26, gone(f"{T}/few/step_index"), "/trajectory/few", "there is only offset"),
    "a column short of its offsets": Row(26, put(f"{T}/few/k", np.zeros(5, "i4")), "/trajectory/few/k", "6 rows are due, found 5"),
    "a mask short of its offsets": Row(26, put(f"{T}/atoms/_validity/q", np.ones(7, bool)), "/trajectory/atoms/_validity/q", "8 rows are due, found 7"),
    "rows and no index": Row(27, gone(f"{T}/few/offset", f"{T}/few/step_index"), "/trajectory/few", "6 rows without an index and without markers"),
    "one marker": Row(27, drops(f"{T}/atoms", "dense_updates"), "/trajectory/atoms", "there is only uniform_rows"),
    "the other marker": Row(27, drops(f"{T}/atoms", "uniform_rows"), "/trajectory/atoms", "there is only dense_updates"),
    "0 rows an update": Row(27, sets(f"{T}/grid", "uniform_rows", 0), "/trajectory/grid", "uniform_rows is 0, at least 1 is due"),
    "rows of a real number": Row(27, sets(f"{T}/grid", "uniform_rows", 2.5), "/trajectory/grid@uniform_rows", "i64 is due"),
    "updates that are not dense": Row(27, sets(f"{T}/grid", "dense_updates", False), "/trajectory/grid", "dense_updates is false, true is due"),
    "markers without columns": Row(27, both(declares("blocks.none", {"columns": {}}), group(f"{T}/none"), sets(f"{T}/none", "uniform_rows", 1), sets(f"{T}/none", "dense_updates", True)), "/trajectory/none", "a block without columns"),
    "an update of another shape": Row(29, sets(f"{T}/grid", "uniform_rows", 2), "/trajectory/grid", "2 rows for the structural shape [2, 2]"),
    "a shape that is not declared": Row(29, sets(f"{T}/grid", "structural_shape", [4, 1]), "/trajectory/grid", "structural_shape [4, 1], in the schema (2, 2)"),
    # between blocks
    "rows that are not aligned": Row(30, put(f"{T}/types/offset", np.array([0, 2, 3, 4, 6], "u8")), "/trajectory/types", "2 rows, 'few', with which it is aligned, has 1"),
    "aligned with what is absent": Row(30, gone(f"{T}/few"), "/trajectory/types", "is absent"),
    "aligned with what is not declared": Row(30, declares("blocks.types.aligned_with", "none"), "/trajectory/types", "another declared block"),
    "aligned with itself": Row(30, declares("blocks.types.aligned_with", "types"), "/trajectory/types", "another declared block"),
    "a chain of alignments": Row(30, declares("blocks.few.aligned_with", "bonds"), "/trajectory/types", "not aligned itself, is due"),
    "a column shared with the target": Row(30, declares("blocks.types.columns.k", {"dtype": "i32"}), "/trajectory/types", "shares the column 'k' with it"),
    "aligned with a shape": Row(30, declares("blocks.types.structural_shape", [1]), "/trajectory/types", "has a structural shape"),
    "a box without vectors": Row(31, gone(f"{T}/box/vectors"), "/trajectory/box", "vectors is due, there is none"),
    "cells without their frames": Row(31, gone(f"{T}/box/step_index"), "/trajectory/box", "2 updates of the cell without step_index"),
    "a cell short": Row(31, put(f"{T}/box/vectors", np.eye(3)[None]), "/trajectory/box/vectors", "2 rows are due, found 1"),
    "cells of two vectors": Row(31, put(f"{T}/box/vectors", np.zeros((2, 2, 2))), "/trajectory/box/vectors", "f64[N][3][3] is due, found f64 of shape [2, 2, 2]"),
    "a fixed cell of two vectors": Row(31, fixed_cell(vectors=[[1.0, 0.0], [0.0, 1.0]]), "/trajectory/box@vectors", "[3, 3] is due"),
    "other rows than in system": Row(32, both(sets(f"{T}/solvent", "uniform_rows", 2)), "/trajectory/solvent", "2 rows, the block of that name in /system has 1"),
    "other ids than in system": Row(32, put(f"{T}/solvent/id", np.array([7, 7, 8, 7], "u8")), "/trajectory/solvent/id", "the ids are not those of /system"),
    "aligned, and in system": Row(32, both(group(f"{S}/types"), sets(f"{S}/types", "count", 0)), "/trajectory/types", "an aligned block shares a name with a block of /system"),
    # the record
    "no section": Row(36, gone(F, S, T), "/", "is due, there is none"),
    "a document of NaN": Row(36, sets("meta", "bad", np.nan), "/meta@bad", "float64 nan", ("h5",)),
    "a document of binary32": Row(36, sets("meta", "bad", np.float32(1)), "/meta@bad", "float32 is not a native form", ("h5",)),
    "a name with two underscores": Row(37, put(f"{F}/atoms/__x", np.zeros(2)), "/frame/atoms/__x", "cannot be called '__x'"),
    "a block with two underscores": Row(37, both(group(f"{F}/__b"), sets(f"{F}/__b", "count", 0)), "/frame/__b", "cannot be called '__b'"),
    "a key with two underscores": Row(37, both(sets(F, "__k", 1), tags(__k="i64")), "/frame@__k", "cannot be called '__k'"),
    "a lone surrogate": Row(37, declares("meta.j.fill", "\ud800"), "/trajectory@sequence_schema", "a NUL or a lone surrogate"),
    "a NUL": Row(37, put(f"{T}/meta/j", ["{}", '"a\\u0000b"', "1", "2"]), "/trajectory/meta/j", "a NUL or a lone surrogate"),
    "a key that HDF5 uses": Row(37, both(sets(F, "_json", 1), tags(_json="i64")), "/frame@_json", "cannot be called '_json'", ZARR),
    "a key of the document that HDF5 uses": Row(37, sets("meta", "_json", 1), "/meta@_json", "cannot be called '_json'", ZARR),
    "a key of the document with a slash": Row(37, sets("meta", "a/b", 1), "/meta@a/b", "cannot be called 'a/b'"),
    "a per-step key that frames do not have": Row(37, declares("meta._meta_types", {"dtype": "i64"}), "/trajectory/meta/_meta_types", "cannot be called '_meta_types'"),
    "no marker": Row(38, drops("/", "molrec_hdf5"), "/", "molrec_hdf5 = 1 is due", ("h5",)),
    "another marker": Row(38, sets("/", "molrec_hdf5", 2), "/", "molrec_hdf5 = 1 is due", ("h5",)),
}  # fmt: skip


# ---------------------------------------------------------------- what a reader takes, though its writer should not have
TAKEN = {
    "a tag without a key": Row(8, tags(stale="i64"), "/frame@_meta_types", "a tag for 'stale', and no such key"),
    "no tag in Zarr": Row(8, sets(F, "more", 1), "/frame@more", "no tag in _meta_types", ZARR),
    "an empty _validity": Row(12, group(f"{F}/grid/_validity"), "/frame/grid/_validity", "without a mask"),
    "values off the grid": Row(13, put(f"{F}/atoms/p", np.array([0.5, 0.3])), "/frame/atoms/p", "1 value is off the grid of the precision 0.1, the first in row 1: 0.3"),
    "values of a frame off the grid": Row(13, put(f"{T}/atoms/p", np.array([0.5, 0, 0.5, 0.7, 0.5, 0.3, 0.5, 0])), "/trajectory/atoms/p", "2 values are off the grid of the precision 0.1, the first in row 3: 0.7"),
    "a precision as an attribute": Row(13, sets(f"{T}/atoms/x", "precision", 0.5), "/trajectory/atoms/x", "sequence_schema has it"),
    "targets as an attribute": Row(14, says(f"{T}/bonds", "targets", {"atomi": "few"}), "/trajectory/bonds", "sequence_schema has them"),
    "a cell that is defined": Row(16, sets(f"{F}/box", "cell_defined", True), "/frame/box", "cell_defined is true"),
    "other vectors without a cell": Row(16, undefined(put(f"{F}/box/vectors", np.zeros((3, 3)))), "/frame/box", "are the identity"),
    "no boundary without a cell": Row(16, undefined(gone(f"{F}/box/boundary")), "/frame/box", "no boundary"),
    "other vectors without a fixed cell": Row(16, fixed_cell(vectors=np.diag([1.0, 2.0, 3.0]).tolist(), cell_defined=False, boundary=[False] * 3), "/trajectory/box", "are the identity"),
    "an image alone": Row(18, gone(f"{F}/atoms/iy"), "/frame/atoms", "ix, iz without the rest"),
    "no declaration": Row(20, drops(T, "sequence_schema"), "/trajectory", "no sequence_schema"),
    "steps told twice": Row(23, says(T, "step_progression", {"start": 0, "stride": 7}), "/trajectory/step", "an array beside step_progression"),
    "times told twice": Row(23, says(T, "time_progression", {"start": 0.0, "stride": 0.1}), "/trajectory/time", "an array beside time_progression"),
    "half an update": Row(27, put(f"{T}/grid/rho", np.arange(15.0)), "/trajectory/grid/rho", "15 rows, of which 12 are updates"),
    "columns of other lengths": Row(27, put(f"{T}/atoms/x", np.zeros(6)), "/trajectory/atoms/q", "8 rows, of which 6 are updates"),
    "markers beside an index": Row(27, both(sets(f"{T}/few", "uniform_rows", 1), sets(f"{T}/few", "dense_updates", True)), "/trajectory/few", "beside step_index and offset"),
    "no document": Row(36, gone("meta"), "/", "no group meta"),
}  # fmt: skip
