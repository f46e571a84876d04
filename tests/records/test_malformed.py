# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: E501 - a row of a table is a line
"""A store that breaks a rule is refused, with the file, the place and what was due."""

from contextlib import suppress

import h5py
import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Frame
from molrec_convert.records import open_record

from .breakable import breakable
from .builders import write

UTF8 = h5py.string_dtype()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A record in which every rule can be broken."""
    return breakable(tmp_path_factory.mktemp("good") / "good.h5")


def replace(file, place, values, **options):
    """Put another array in the place of one, with its attributes."""
    attributes = dict(file[place].attrs) if place in file else {}
    if place in file:
        del file[place]
    if values is not None and getattr(values, "dtype", None) is not None and values.dtype.kind == "S" and options:
        made = file.create_dataset(place, values.shape, **options)
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, values.astype(made.dtype), mtype=made.id.get_type())
    else:
        made = file.create_dataset(place, data=values, track_order=True, **options)
    made.attrs.update(attributes)


def cut(place, rows):
    def change(file):
        file[place].resize(rows, axis=0)

    return change


def array(place, values, **options):
    return lambda file: replace(file, place, values, **options)


def attribute(place, name, value):
    def change(file):
        file[place].attrs[name] = value

    return change


def no_attribute(place, *names):
    def change(file):
        for name in names:
            del file[place].attrs[name]

    return change


def gone(place):
    def change(file):
        del file[place]

    return change


def schema_says(old, new):
    def change(file):
        text = file["trajectory"].attrs["sequence_schema"]
        assert old in text
        file["trajectory"].attrs["sequence_schema"] = text.replace(old, new)

    return change


def both(*changes):
    def change(file):
        for one in changes:
            one(file)

    return change


F, T = "frame", "trajectory"
BROKEN = [
    # the root
    (no_attribute("/", "molrec_hdf5"), "/: the attribute molrec_hdf5 = 1 is due: no record"),
    (attribute("/", "molrec_hdf5", np.int64(2)), "/: the attribute molrec_hdf5 = 1 is due: no record"),
    (both(gone("frame"), gone("system"), gone("trajectory")),
     "/: one of the sections frame, system, trajectory, forcefield, status is due, there is none"),
    (attribute("meta", "bad", np.float32(1)), "/meta@bad: float32 is not a native form of an attribute"),
    (attribute("meta", "bad", np.nan), "/meta@bad: a document holds bool, int64, uint64 and finite float64, not float64 nan"),
    (attribute("meta", "list", "[NaN]"), "/meta@list: NaN is not finite JSON"),
    (attribute("meta", "list", "[1"), "/meta@list: text that does not parse as JSON (Expecting ',' delimiter: line 1 column 3 (char 2))"),
    (attribute("meta", "_json", '["nothing"]'), "/meta@_json: a list of names of attributes is due"),
    # columns and blocks of a section
    (array(f"{F}/atoms/x", np.zeros(2, "f4")), "/frame/atoms/x: float32 is not a MolRec dtype: floats are f64, a narrower one is never widened"),
    (array(f"{F}/atoms/x", np.zeros(2, "f2")), "/frame/atoms/x: float16 is not a MolRec dtype: floats are f64, a narrower one is never widened"),
    (array(f"{F}/atoms/x", np.zeros(2, ">f8")), "/frame/atoms/x: >f8 is not a MolRec dtype: floats are f64, a narrower one is never widened"),
    (array(f"{F}/atoms/x", np.zeros((2, 3))), "/frame/atoms/x: x is f64[N], not f64[N][3]"),
    (array(f"{F}/atoms/x", np.zeros(2, "i8")), "/frame/atoms/x: x is f64[N], not i64[N]"),
    (array(f"{F}/atoms/id", np.zeros(2, "u4")), "/frame/atoms/id: id is u64[N], not u32[N]"),
    (array(f"{F}/atoms/ix", np.zeros(2, "i8")), "/frame/atoms/ix: ix is i32[N], not i64[N]"),
    (array(f"{F}/atoms/x", np.zeros(3)), "/frame/atoms/x: 2 rows are due, found shape [3]"),
    (array(f"{F}/atoms/x", 1.0), "/frame/atoms/x: 2 rows are due, found shape []"),
    (array(f"{F}/atoms/name", np.array([b"a", b"b"])), "/frame/atoms/name: strings are UTF-8, found ASCII"),
    (array(f"{F}/atoms/name", np.array([b"a", b"\xff"]), dtype=h5py.string_dtype("utf-8", 1)), "/frame/atoms/name: a string that is not UTF-8"),
    (array(f"{F}/atoms/name", np.array([b"a\0b", b"c"]), dtype=h5py.string_dtype("utf-8", 3)), "/frame/atoms/name: a string with a NUL"),
    (array(f"{F}/atoms/name", np.array([b"a", b"\xff"], object), dtype=UTF8), "/frame/atoms/name: a string that is not UTF-8"),
    (array(f"{F}/atoms/name", np.zeros(2, "V4")), "/frame/atoms/name: |V4 is not a MolRec dtype"),
    (no_attribute(f"{F}/atoms", "count"), "/frame/atoms@count: the attribute is missing"),
    (attribute(f"{F}/atoms", "count", 2.0), "/frame/atoms@count: i64 is due, found float64 2.0"),
    (attribute(f"{F}/atoms", "count", "2"), "/frame/atoms@count: i64 is due, found '2'"),
    (attribute(f"{F}/atoms", "count", -1), "/frame/atoms: the count is -1, at least 0 is due"),
    (attribute(f"{F}/atoms", "count", 3), "/frame/atoms/_validity/q: 3 flags are due, found 2"),
    (attribute(f"{F}/grid", "structural_shape", np.array([2, 3])), "/frame/grid: the structural shape [2, 3] does not hold 4 rows"),
    (attribute(f"{F}/grid", "structural_shape", np.array([2.0, 2.0])), "/frame/grid@structural_shape: a list of counts is due, found [2.0, 2.0]"),
    (attribute(f"{F}/atoms/x", "precision", 0.0), "/frame/atoms/x: the precision of a column lies within 2^-1000 … 2^1000, not at 0.0"),
    (attribute(f"{F}/atoms/x", "precision", "1"), "/frame/atoms/x@precision: f64 is due, found '1'"),
    (attribute(f"{F}/atoms/id", "precision", 0.1), "/frame/atoms/id: a precision on u64, only f64 has one"),
    (array(f"{F}/atoms/_validity/q", np.zeros(2, "u1")), "/frame/atoms/_validity/q: bool[N] is due, found u8 of shape [2]"),
    (array(f"{F}/atoms/_validity/q", np.zeros(3, bool)), "/frame/atoms/_validity/q: 2 flags are due, found 3"),
    (array(f"{F}/atoms/_validity/q", np.zeros((2, 1), bool)), "/frame/atoms/_validity/q: bool[N] is due, found bool of shape [2, 1]"),
    (array(f"{F}/atoms/_validity/none", np.zeros(2, bool)), "/frame/atoms/_validity/none: a mask of no column, or of one that is not nullable"),
    (both(gone(f"{F}/atoms/_validity"), array(f"{F}/atoms/_validity", np.zeros(2))), "/frame/atoms/_validity: _validity is a group of masks, not a column"),
    (array(f"{F}/atoms/__x", np.zeros(2)), "/frame/atoms/__x: a column cannot be called '__x'"),
    # references of a section
    (array(f"{F}/bonds/atomj", np.array([2], "u8")), "/frame/bonds/atomj: row 2 of 'atoms', which has 2 rows"),
    (gone(f"{F}/atoms"), "/frame/bonds/atomi: the block 'atoms' that it refers to is missing"),
    (array(f"{F}/marks/row", np.array([2], "u8")), "/frame/marks/row: row 2 of '/system/atoms', which has 2 rows"),
    (attribute(f"{F}/marks", "targets", '{"row": "/system/none"}'), "/frame/marks/row: the block '/system/none' that it refers to is missing"),
    (attribute(f"{F}/marks", "targets", '{"row": "a/b"}'), "/frame/marks: the target 'a/b' is neither <block> nor /<section>/<block>"),
    (attribute(f"{F}/marks", "targets", '{"row": "/trajectory/atoms"}'), "/frame/marks: the target '/trajectory/atoms' is a block of the trajectory"),
    (attribute(f"{F}/marks", "targets", '{"none": "atoms"}'), "/frame/marks: targets names 'none', which is no u64 column of the block"),
    (attribute(f"{F}/marks", "targets", "[]"), "/frame/marks: targets is a map from column to target, not []"),
    # the box of a section
    (gone(f"{F}/box/vectors"), "/frame/box/vectors: an array f64[3][3] is due, there is none"),
    (array(f"{F}/box/vectors", np.eye(3, dtype="f4")), "/frame/box/vectors: float32 is not a MolRec dtype: floats are f64, a narrower one is never widened"),
    (array(f"{F}/box/vectors", np.eye(2)), "/frame/box/vectors: f64[3][3] is due, found f64 of shape [2, 2]"),
    (array(f"{F}/box/vectors", np.zeros((3, 3))), "/frame/box: the cell vectors are singular or not finite: [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    (array(f"{F}/box/origin", np.zeros(2)), "/frame/box/origin: f64[3] is due, found f64 of shape [2]"),
    (array(f"{F}/box/boundary", np.zeros(3, "u1")), "/frame/box/boundary: bool[3] is due, found u8 of shape [3]"),
    (attribute(f"{F}/box", "cell_defined", np.False_), "/frame/box: an undefined cell is periodic on no axis, found [True, True, False]"),
    (attribute(f"{F}/box", "cell_defined", "false"), "/frame/box@cell_defined: bool is due, found 'false'"),
    (attribute(f"{F}/box", "boundary", np.zeros(3, bool)), "/frame/box: boundary is an array on a frame, never an attribute"),
    (both(gone(f"{F}/box"), array(f"{F}/box", np.eye(3))), "/frame/box: a group is due, found an array"),
    # the meta document of a section
    (attribute(F, "n", 1.5), "/frame@n: i64 is due, found float64 1.5"),
    (attribute(F, "n", "abc"), "/frame@n: i64 is due, found 'abc'"),
    (attribute(F, "pe", np.True_), "/frame@pe: f64 is due, found bool True"),
    (attribute(F, "v", np.zeros(4)), "/frame@v: f64x3 is due, found float64 [0.0, 0.0, 0.0, 0.0]"),
    (attribute(F, "more", 1), "/frame@more: the meta key 'more' has no tag in _meta_types"),
    (attribute(F, "_meta_types", '{"pe":"f64","n":"f32","v":"f64x3","j":"json"}'), "/frame@n: meta 'n': 'f32' is not a meta tag"),
    (attribute(F, "_meta_types", '{"pe":"i64","n":"i64","v":"f64x3","j":"json"}'), "/frame@pe: meta 'pe' is f64, not i64"),
    (attribute(F, "_meta_types", "[]"), "/frame@_meta_types: a JSON object is due, found []"),
    (attribute(F, "j", "{"), "/frame@j: text that does not parse as JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    # the declaration
    (schema_says('"k":{"dtype":"i32"', '"k":{"dtype":"f32"'), "/trajectory/few/k: sequence_schema: 'f32' is not a MolRec dtype"),
    (schema_says('"k":{"dtype":"i32"', '"k":{"dtype":"i64"'), "/trajectory/few/k: i64[N] is due, found i32 of shape [6]"),
    (schema_says('"k":{"dtype":"i32","trailing":[]', '"k":{"dtype":"i32","trailing":[2]'), "/trajectory/few/k: i32[N][2] is due, found i32 of shape [6]"),
    (schema_says('"k":{"dtype":"i32"', '"k":{"precision":0.1,"dtype":"i32"'), "/trajectory/few/k: sequence_schema: a precision on i32, only f64 has one"),
    (schema_says('"atomi":{"dtype":"u64"', '"atomi":{"dtype":"u32"'), "/trajectory/bonds/atomi: sequence_schema: atomi is u64[N], not u32[N]"),
    (schema_says('"k":{', '"step_index":{'), "/trajectory/few/step_index: sequence_schema: a column cannot be called 'step_index': the name is reserved"),
    (schema_says('"few":{"col', '"step":{"col'), "/trajectory/step: sequence_schema: a block cannot be called 'step': the name is reserved"),
    (schema_says('"pe":{"dtype":"f64"', '"pe":{"dtype":"c64"'), "/trajectory/meta/pe: sequence_schema: meta 'pe': 'c64' is not a meta tag"),
    (schema_says('"pe":{"dtype":"f64"', '"pe":{"fill":true,"dtype":"f64"'), "/trajectory/meta/pe: sequence_schema: the fill: f64 is due, found True"),
    (schema_says('"pe":{"dtype":"f64"', '"pe":{"dtype":"i64"'), "/trajectory/meta/pe: sequence_schema: meta 'pe' is f64, not i64"),
    (schema_says('"aligned_with":"few"', '"aligned_with":"types"'), "/trajectory/types: sequence_schema: it is aligned with 'types': another declared block, not aligned itself, is due"),
    (schema_says('"structural_shape":[2,2]', '"structural_shape":[]'), "/trajectory/grid: sequence_schema: a structural shape is a list of counts, not []"),
    (schema_says('"structural_shape":[2,2]', '"structural_shape":[4]'), "/trajectory/grid: structural_shape [2, 2], in the schema (4,)"),
    (attribute(T, "sequence_schema", "[]"), "/trajectory: sequence_schema: a JSON object is due, found []"),
    (attribute(T, "sequence_schema", "{"), "/trajectory@sequence_schema: text that does not parse as JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    # steps, times, meta
    (attribute(T, "nstep", -1), "/trajectory: nstep is -1, at least 0 is due"),
    (attribute(T, "nstep", 4.0), "/trajectory@nstep: i64 is due, found float64 4.0"),
    (attribute(T, "nstep", "4"), "/trajectory@nstep: i64 is due, found '4'"),
    (attribute(T, "nstep", 9), "/trajectory/step: 9 rows are due, found 4"),
    (both(attribute(T, "step_progression", '{"start":0,"stride":1}'), no_attribute(T, "nstep")), "/trajectory: a progression without nstep"),
    (gone(f"{T}/step"), "/trajectory: neither step nor step_progression"),
    (attribute(T, "step_progression", '{"start":0}'), "/trajectory: step_progression: a start is due, and a stride from the second frame on, found {'start': 0}"),
    (attribute(T, "step_progression", '{"start":0.0,"stride":1}'), "/trajectory: step_progression: i64 is due, found 0.0"),
    (attribute(T, "step_progression", '{"start":0,"stride":0}'), "/trajectory: step_progression: steps increase, the stride is 0"),
    (attribute(T, "step_progression", '{"start":0,"stride":-1}'), "/trajectory: step_progression: steps increase, the stride is -1"),
    (attribute(T, "step_progression", '{"start":9223372036854775807,"stride":1}'), "/trajectory: step_progression: the last step is beyond i64"),
    (attribute(T, "time_progression", '{"start":"NaN","stride":1.0}'), "/trajectory: time_progression: a progression is finite, found (nan, 1.0)"),
    (array(f"{T}/step", np.array([0, 10, 10, 20])), "/trajectory/step (frame 2): steps increase strictly, found 10 after 10"),
    (array(f"{T}/step", np.arange(4, dtype="u8")), "/trajectory/step: i64[N] is due, found u64 of shape [4]"),
    (array(f"{T}/time", np.zeros(4, "i8")), "/trajectory/time: f64[N] is due, found i64 of shape [4]"),
    (cut(f"{T}/time", 3), "/trajectory/time: 4 rows are due, found 3"),
    (no_attribute(f"{T}/meta/pe", "meta_dtype"), "/trajectory/meta/pe@meta_dtype: the attribute is missing"),
    (attribute(f"{T}/meta/pe", "meta_dtype", "i64"), "/trajectory/meta/pe: meta_dtype is 'i64', in the schema 'f64'"),
    (array(f"{T}/meta/pe", np.zeros(4, "i8")), "/trajectory/meta/pe: f64[N] is due, found i64 of shape [4]"),
    (array(f"{T}/meta/v", np.zeros((4, 2))), "/trajectory/meta/v: f64[N][3] is due, found f64 of shape [4, 2]"),
    (cut(f"{T}/meta/v", 3), "/trajectory/meta/v: 4 rows are due, found 3"),
    (gone(f"{T}/meta/pe"), "/trajectory/meta/pe: a declared key without its array"),
    (array(f"{T}/meta/j", np.array(["{}", "{", "1", "2"], object), dtype=UTF8), "/trajectory/meta/j (frame 1): text that does not parse as JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    # blocks and their index
    (gone(f"{T}/few/k"), "/trajectory/few/k: an array i32[N] is due, there is none"),
    (cut(f"{T}/few/k", 5), "/trajectory/few/k: 6 rows are due, found 5"),
    (cut(f"{T}/atoms/_validity/q", 7), "/trajectory/atoms/_validity/q: 8 rows are due, found 7"),
    (array(f"{T}/atoms/_validity/q", np.ones(8, "u1")), "/trajectory/atoms/_validity/q: bool[N] is due, found u8 of shape [8]"),
    (array(f"{T}/atoms/_validity/x", np.ones(8, bool)), "/trajectory/atoms/_validity/x: a mask of no column, or of one that is not nullable"),
    (array(f"{T}/few/offset", np.array([0, 1, 3, 2, 6], "u8")), "/trajectory/few/offset: offsets never decrease, found 2 after 3"),
    (array(f"{T}/few/offset", np.array([1, 1, 3, 4, 6], "u8")), "/trajectory/few/offset: the first offset is 1, not 0"),
    (array(f"{T}/few/offset", np.array([0, 1, 3, 4, 7], "u8")), "/trajectory/few/k: 7 rows are due, found 6"),
    (array(f"{T}/few/offset", np.array([0, 1, 3, 4, 2**63], "u8")), "/trajectory/few/offset: an offset of 9223372036854775808, beyond all data"),
    (array(f"{T}/few/offset", np.array([0, 1, 3, 4], "u8")), "/trajectory/few/offset: 5 offsets are due, found 4"),
    (array(f"{T}/few/offset", np.array([0, 1, 3, 4, 6], "i8")), "/trajectory/few/offset: u64[N] is due, found i64 of shape [5]"),
    (array(f"{T}/few/step_index", np.array([0, 1, 1, 3], "u8")), "/trajectory/few/step_index: the frames of the updates ascend strictly, found 1 after 1"),
    (gone(f"{T}/few/offset"), "/trajectory/few: step_index and offset go together, there is only step_index"),
    (both(gone(f"{T}/few/offset"), gone(f"{T}/few/step_index")), "/trajectory/few: 6 rows without an index and without markers"),
    (no_attribute(f"{T}/atoms", "dense_updates"), "/trajectory/atoms: uniform_rows and dense_updates go together, there is only uniform_rows"),
    (attribute(f"{T}/atoms", "uniform_rows", 0), "/trajectory/atoms: uniform_rows is 0, at least 1 is due"),
    (attribute(f"{T}/atoms", "uniform_rows", 2.0), "/trajectory/atoms@uniform_rows: i64 is due, found float64 2.0"),
    (attribute(f"{T}/atoms", "dense_updates", np.False_), "/trajectory/atoms: dense_updates is false, true is due"),
    (attribute(f"{T}/atoms", "uniform_rows", 1), "/trajectory/atoms (frame 0): 1 rows, the block of that name in /system has 2"),
    (attribute(f"{T}/grid", "uniform_rows", 2), "/trajectory/grid (frame 0): 2 rows for the structural shape [2, 2]"),
    (attribute(f"{T}/solvent", "uniform_rows", 2), "/trajectory/solvent (frame 0): 2 rows, the block of that name in /system has 1"),
    (array(f"{T}/types/offset", np.array([0, 2, 3, 4, 6], "u8")), "/trajectory/types (frame 0): 2 rows, 'few', with which it is aligned, has 1"),
    (gone(f"{T}/few"), "/trajectory/types (frame 0): 1 rows, 'few', with which it is aligned, is absent"),
    (array(f"{T}/bonds/atomj", np.array([2], "u8")), "/trajectory/bonds/atomj (frame 0): row 2 of 'atoms', which has 2 rows"),
    (gone(f"{T}/atoms"), "/trajectory/bonds/atomi (frame 0): the block 'atoms' that it refers to is missing"),
    # the cell
    (gone(f"{T}/box/vectors"), "/trajectory/box: an array or an attribute of vectors is due, there is none"),
    (gone(f"{T}/box/step_index"), "/trajectory/box: 2 updates of the cell without step_index"),
    (array(f"{T}/box/step_index", np.array([2, 2], "u8")), "/trajectory/box/step_index: the frames of the updates ascend strictly, found 2 after 2"),
    (array(f"{T}/box/vectors", np.zeros((2, 3, 3))), "/trajectory/box (frame 0): the cell vectors are singular or not finite: [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    (array(f"{T}/box/vectors", np.zeros((2, 2, 2))), "/trajectory/box/vectors: f64[N][3][3] is due, found f64 of shape [2, 2, 2]"),
    (array(f"{T}/box/vectors", np.eye(3)[None]), "/trajectory/box/vectors: 2 rows are due, found 1"),
    (both(attribute(f"{T}/box", "cell_defined", np.False_), array(f"{T}/box/boundary", np.ones((2, 3), bool))),
     "/trajectory/box (frame 0): an undefined cell is periodic on no axis, found [True, True, True]"),
    (both(gone(f"{T}/box/vectors"), attribute(f"{T}/box", "vectors", np.eye(2))), "/trajectory/box@vectors: float64 of shape [3, 3] is due, found"),
]  # fmt: skip


def read_all(path):
    with open_record(path) as record:
        assert [record.meta, record.frame, record.system]
        if record.trajectory is not None:
            list(record.trajectory)


def test_the_good_record_reads(good):
    read_all(good)


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[message[:70] for _, message in BROKEN])
def test_broken(tmp_path, good, change, message):
    path = tmp_path / "out.h5"
    path.write_bytes(good.read_bytes())
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(RecordError) as caught:
        read_all(path)
    if "float64 of shape [3, 3]" in message:
        message = message.replace("float64 of shape", "f64 of shape")
        assert str(caught.value).startswith(f"{path}: {message}")
    else:
        assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize("place", ["frame/bonds/atomj", "trajectory/bonds/atomj"])
def test_references_are_not_checked_if_not_strict(tmp_path, good, place):
    path = tmp_path / "out.h5"
    path.write_bytes(good.read_bytes())
    with h5py.File(path, "r+") as file:
        replace(file, place, np.array([9], "u8"))
    with open_record(path, strict=False) as record:
        assert record.frame is not None
        assert len(list(record.trajectory)) == 4


def test_what_is_no_record(tmp_path):
    path = tmp_path / "x.h5"
    with pytest.raises(FileNotFoundError):
        open_record(path)
    with pytest.raises(RecordError, match=r"no record: there is no zarr\.json in it"):
        open_record(tmp_path)
    for content in (b"", b"some text\n" * 100, b"\x89HDF\r\n\x1a\n" + bytes(60)):
        path.write_bytes(content)
        with pytest.raises(RecordError, match=r"x\.h5: not a readable HDF5 file"):
            open_record(path)
    with h5py.File(path, "w") as file:
        file["a"] = 1
    with pytest.raises(RecordError, match=r"x\.h5: /: the attribute molrec_hdf5 = 1 is due: no record"):
        open_record(path)


def test_a_file_cut_anywhere_or_with_a_flipped_bit_raises_record_errors_alone(tmp_path, good):
    content = good.read_bytes()
    path = tmp_path / "out.h5"
    rng = np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(content)
        for at in rng.integers(48, len(content), 3):
            changed[at] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(changed)
        with suppress(RecordError):
            read_all(path)
    for size in np.linspace(60, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:size])
        with pytest.raises(RecordError):
            read_all(path)


def test_what_claims_to_be_huge_costs_nothing(tmp_path):
    path = write(tmp_path / "out.h5", [Frame({"a": {"v": [1.0]}})] * 3)
    with h5py.File(path, "r+") as file:
        file["trajectory"].attrs["nstep"] = 10**12
        block = file.create_group("frame/a")
        block.attrs["count"] = 10**12
        block.create_dataset("v", shape=(10**12,), dtype="f8", chunks=(1000,))
        file["a"] = file["frame"]
        del file["frame"]
    with open_record(path) as record, pytest.raises(RecordError, match=r"/trajectory: nstep is 10{12}: .* at once"):
        assert record.trajectory
    with h5py.File(path, "r+") as file:
        file["frame"] = file["a"]
    with open_record(path) as record, pytest.raises(RecordError, match=r"/frame/a/v: 8000000000000 bytes at once"):
        assert record.frame


def test_a_damaged_chunk_is_named(tmp_path):
    frames = [Frame({"a": Block({"k": np.arange(9) * i})}) for i in range(3)]
    path = write(tmp_path / "out.h5", frames)
    with h5py.File(path) as file:
        at = file["trajectory/a/k"].id.get_chunk_info(0).byte_offset
    content = bytearray(path.read_bytes())
    content[at : at + 4] = b"\xff" * 4
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"out\.h5: /trajectory/a/k: a chunk that does not inflate"):
        read_all(path)


def test_without_a_declaration_the_groups_are_the_declaration(tmp_path, good):
    path = tmp_path / "out.h5"
    path.write_bytes(good.read_bytes())
    with h5py.File(path, "r+") as file:
        del file["trajectory"].attrs["sequence_schema"]
    with open_record(path) as derived, open_record(good) as declared:
        for mine, theirs in zip(derived.trajectory, declared.trajectory, strict=True):
            assert mine["atoms"]["p"].tolist() == theirs["atoms"]["p"].tolist()
            del mine["atoms"]["p"], theirs["atoms"]["p"]  # a precision is declared, or not known
            assert mine.same(theirs)
