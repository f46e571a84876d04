# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Cases of whole records."""

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Block, Box, Frame, Meta

from ..frames import atoms, u64
from .bench import cases_of

DOCUMENT = {
    "id": "0190f6c4-0000-7000-8000-000000000001", "name": "water, é", "version": 3, "tags": ["a", "b"], "public": False,
    "created": "2024-05-01T12:00:00Z", "none": None, "authors": [{"name": "A", "share": 0.5}],
}  # fmt: skip


def case_system_and_frame(bench):
    system = Frame({"atoms": Block({"id": u64(5, 6, 7), "mass": [1.0, 2.0, 3.0]})})
    frame = Frame({"atoms": atoms(2)}, box=Box.orthogonal(4.0))
    bench.write(system=system, frame=frame)
    with bench.reading() as record:
        assert record.system.same(system)
        assert record.frame.same(frame)
        assert record.trajectory is None


def case_meta_identity_preserved(bench):
    bench.write(frame=Frame(), meta=DOCUMENT)
    with bench.reading() as record:
        assert record.meta == DOCUMENT
        assert {key: type(value) for key, value in record.meta.items()} == {
            key: type(value) for key, value in DOCUMENT.items()
        }


def case_meta_unknown_keys_preserved(bench):
    document = {"units": {"length": "angstrom"}, "x-lab": {"deep": [[1, 2], {"é": None}]}, "big": 2**63, "empty": {}}
    bench.write(frame=Frame(), meta=document)
    with bench.reading() as record:
        assert record.meta == document
        again = record.meta
    bench.write(frame=Frame(), meta=again)
    with bench.reading() as record:
        assert record.meta == document


def case_reject_narrow_float(bench):
    bench.write(system=Frame({"atoms": Block({"mass": [1.0, 2.0]})}))
    with bench.change() as tree:
        tree.put("system/atoms/mass", np.array([1.0, 2.0], "f4"))
    bench.is_refused("float32 is not a MolRec dtype", "/system/atoms/mass")
    with pytest.raises(RecordError, match=r"mass.*float32"):
        Block({"mass": np.array([1.0, 2.0], "f4")})


def case_system_typed_meta(bench):
    meta = Meta({"n": 3, "x": 3.0, "seed": np.uint32(7), "v": [1.0, 2.0, 3.0], "doc": {"a": [None]}, "name": "é"})
    system = Frame({"atoms": atoms(1)}, meta=meta)
    bench.write(system=system)
    with bench.reading() as record:
        assert record.system.same(system)
        assert dict(record.system.meta.tags) == {"n": "i64", "x": "f64", "seed": "u32", "v": "f64x3", "doc": "json",
                                                 "name": "string"}  # fmt: skip


def pointing(*rows, target="/system/atoms"):
    return Frame({"marks": Block({"row": u64(*rows)}, targets={"row": target})})


def case_targets_absolute(bench):
    system = Frame({"atoms": atoms(3)})
    bench.write(system=system, frame=pointing(0, 2))
    with bench.reading() as record:
        assert record.frame.same(pointing(0, 2))
    bench.write(frame=pointing(0, 99))  # a section that is absent is not looked at
    with bench.reading() as record:
        assert record.frame["marks"]["row"].tolist() == [0, 99]


def case_reject_target_absolute_out_of_range(bench):
    system = Frame({"atoms": atoms(3)})
    bench.writer_refuses("row 3 of '/system/atoms', which has 3 rows", system=system, frame=pointing(0, 3))
    bench.write(system=system, frame=pointing(0, 2))
    with bench.change() as tree:
        tree.put("frame/marks/row", u64(0, 3))
    bench.is_refused("row 3 of '/system/atoms', which has 3 rows", "/frame/marks/row")


def case_reject_target_into_trajectory(bench):
    bench.writer_refuses("is a block of the trajectory", frame=pointing(0, target="/trajectory/atoms"))
    bench.write(frame=pointing(0))
    with bench.change() as tree:
        tree.set_document("frame/marks", "targets", {"row": "/trajectory/atoms"})
    bench.is_refused("is a block of the trajectory", "/frame/marks")


def case_record_with_box(bench):
    box = Box(np.array([[4.0, 1, 0], [0, 5, 2], [0, 0, 6]]), origin=[0.5, -0.0, 1], boundary=[True, False, True])
    system, frame = Frame({"atoms": atoms(1)}, box=Box.orthogonal(9.0)), Frame(box=box)
    bench.write(system=system, frame=frame)
    with bench.reading() as record:
        assert record.frame.box.same(box)
        assert record.system.box.same(Box.orthogonal(9.0))


CASES = cases_of(globals())


@pytest.mark.parametrize("case", CASES)
def test_case(bench, case):
    CASES[case](bench)
