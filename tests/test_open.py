"""Opening what is no record, and using a record that was closed."""

import pytest

import molrec_convert as mc
from molrec_convert.errors import RecordError

from .converting import source_of
from .dumps import THREE
from .water import SUFFIXES, trajectory


def test_a_foreign_file_is_no_record(tmp_path):
    path = source_of(tmp_path, THREE, "in.dump")
    with pytest.raises(RecordError) as caught:
        mc.open(path)
    assert str(caught.value) == f"{path}: a file of the format lammps-dump, and no record: mc.read reads it"
    assert len(mc.read(path, type_map={"1": "H", "2": "O"})) == 3


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"no format at all\n"])
def test_what_is_of_no_format(tmp_path, data):
    """The error is that of a damaged record."""
    with pytest.raises(RecordError) as caught:
        mc.open(source_of(tmp_path, data, "what.h5"))
    assert "mc.read" not in str(caught.value)


USES = {
    "a section": lambda record: record.trajectory,
    "another": lambda record: record.frame,
    "the document": lambda record: record.meta,
    "the length": len,
    "the tree": lambda record: record.root,
    "whether there is one": lambda record: record.has_trajectory,
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("use", USES)
def test_a_closed_record_says_so(tmp_path, use, suffix):
    path = tmp_path / f"water{suffix}"
    mc.write(path, trajectory())
    with mc.open(path) as record:
        pass
    with pytest.raises(RecordError) as caught:
        USES[use](record)
    assert str(caught.value) == f"{path}: the record is closed"


@pytest.mark.parametrize("suffix", [each for each in SUFFIXES if each != ".mrec"])  # a folder has nothing to close
def test_a_trajectory_of_a_closed_record(tmp_path, suffix):
    """What was read stays; what was not is refused."""
    path = tmp_path / f"water{suffix}"
    mc.write(path, trajectory())
    with mc.open(path) as record:
        series, system = record.trajectory, record.system
    assert record.system is system
    assert series.step.tolist() == [0, 10, 20]
    for use in (lambda: series[0], lambda: series.column("atoms", "y"), lambda: series.meta("pe")):
        with pytest.raises(RecordError, match="the record is closed"):
            use()
    assert repr(record) == f"StoredRecord({path}, closed)"
    assert record._repr_html_() == f"<p>StoredRecord({path}, closed)</p>"
    record.close()  # a second time does nothing
