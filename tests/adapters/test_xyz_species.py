"""The species column of an XYZ file: never numbers that programs would take for atomic ones."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertWarning, LossError
from molrec_convert.model import Column, Frame

from ..dumps import snapshot

SPECIES = "Properties=species:S:1:pos:R:3"
TYPES = "the types are numbers and no elements; X stands in their place"
NAMES = "the names are numbers and no elements; X stands in their place"


def atoms(**columns):
    return Frame({"atoms": {**columns, "x": [0.0, 1.0], "y": [0.0, 1.0], "z": [0.0, 1.0]}})


def written(folder, data, **options):
    """The lines of a file, and what was said of it."""
    mc.write(folder / "in.h5", data, force=True)
    report = convert(folder / "in.h5", folder / "out.xyz", force=True, **options)
    assert not report.losses
    return (folder / "out.xyz").read_text().split("\n")[1:-1], [text.partition(": ")[2] for text in report.warnings]


@pytest.mark.parametrize(
    ("columns", "properties", "rows", "notes"),
    [
        ({"type": ["56", "3"]}, f"{SPECIES}:type:S:1", ["X 56", "X 3"], [TYPES]),
        ({"type": ["56", "OW"]}, f"{SPECIES}:type:S:1", ["X 56", "X OW"], [TYPES]),
        ({"type": ["1", "2"], "name": ["OW", "HW"]}, f"{SPECIES}:type:S:1:name:S:1", ["OW 1 OW", "HW 2 HW"], []),
        ({"name": ["7", "8"]}, f"{SPECIES}:name:S:1", ["X 7", "X 8"], [NAMES]),
        ({"type": ["1", "2"], "element": ["O", "H"]}, f"{SPECIES}:type:S:1", ["O 1", "H 2"], []),
        ({"type": ["1", "2"], "atomic_number": np.array([8, 1], "u8")}, f"{SPECIES}:Z:I:1:type:S:1",
         ["O 8 1", "H 1 2"], []),
        ({"type": ["1", "2"], "element": Column(["O", ""], valid=[True, False])}, f"{SPECIES}:type:S:1:element:S:1",
         ["O 1 O", "X 2 ?"], []),
        ({"type": ["OW", "H1"]}, SPECIES, ["OW", "H1"], []),
        ({"type": ["+1", "1.5"]}, f"{SPECIES}:type:S:1", ["X +1", "X 1.5"], [TYPES]),
        ({"type": ["1A", "-"]}, SPECIES, ["1A", "-"], []),
        ({"type_id": np.array([56, 3], "u8")}, f"{SPECIES}:type_id:I:1", ["X 56", "X 3"], []),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:out.xyz. the labels")
def test_labels(tmp_path, columns, properties, rows, notes):
    mc.write(tmp_path / "in.h5", atoms(**columns))
    report = convert(tmp_path / "in.h5", tmp_path / "out.xyz")
    lines = (tmp_path / "out.xyz").read_text().split("\n")
    assert lines[1] == properties
    words = [line.split() for line in lines[2:-1]]
    assert [" ".join((word[0], *word[4:])) for word in words] == rows
    assert [text.partition(": ")[2] for text in report.warnings] == notes
    again = mc.read(tmp_path / "out.xyz").trajectory[0]["atoms"]
    assert all(again[name].tolist() == values for name, values in columns.items() if name == "type")


def test_it_is_said_once(tmp_path):
    with pytest.warns(ConvertWarning) as caught:
        mc.write(tmp_path / "out.xyz", [atoms(type=["1", "2"])] * 3)
    assert [str(each.message) for each in caught] == [f"out.xyz: {TYPES}"]


def test_numbers_of_the_source_stay(tmp_path):
    """As long as they are those of an XYZ file, whose comment line may have changed."""
    text = "2\n Atoms. Timestep: 0\n1 0.5 0.5 0.5\n2 1.5 1.5 1.5\n"
    (tmp_path / "in.xyz").write_text(text)
    convert(tmp_path / "in.xyz", tmp_path / "made.h5")
    convert(tmp_path / "made.h5", tmp_path / "same.xyz", strict=True)
    assert (tmp_path / "same.xyz").read_text() == text
    convert(tmp_path / "made.h5", tmp_path / "plain.xyz", plain=True, strict=True)
    assert (tmp_path / "plain.xyz").read_text() == text
    record = mc.read(tmp_path / "made.h5")
    frame = record.trajectory[0]
    frame["atoms"]["charge"] = [0.5, -0.5]
    frame.meta.update(record.system.meta)
    mc.write(tmp_path / "more.xyz", Frame({"atoms": {**dict(record.system["atoms"]), **dict(frame["atoms"])}},
                                          meta=frame.meta))  # fmt: skip
    lines = (tmp_path / "more.xyz").read_text().split("\n")
    assert [line.split()[0] for line in lines[2:-1]] == ["1", "2"]


def test_plain_says_what_it_leaves_out(tmp_path):
    lines, notes = written(tmp_path, atoms(type=["1", "2"]), plain=True)
    assert [line.split()[0] for line in lines[1:]] == ["X", "X"]
    assert notes == [TYPES, "plain XYZ leaves out atoms.type"]
    with pytest.raises(LossError, match=r"plain XYZ cannot hold atoms\.type"):
        convert(tmp_path / "in.h5", tmp_path / "strict.xyz", plain=True, strict=True)


def test_types_of_a_dump(tmp_path):
    """Its types are numbers in a column of their own, and the note of the dump stands for both."""
    (tmp_path / "in.dump").write_text(snapshot("1 3 0 0 0; 2 5 1 0 0"))
    report = convert(tmp_path / "in.dump", tmp_path / "out.xyz")
    assert report.warnings == ["in.dump: the types are no elements; --type-map 3=Si,5=O names them"]
    assert (tmp_path / "out.xyz").read_text().split("\n")[2:4] == ["X 0.0 0.0 0.0 1 3", "X 1.0 0.0 0.0 2 5"]


@pytest.mark.parametrize(
    ("labels", "hint"),
    [
        (("7", "1"), "the labels 7, 1 are no elements; --type-map 7=N,… names them"),
        (("118", "1"), "the labels 118, 1 are no elements; --type-map 118=Og,… names them"),
        (("119", "1"), "the labels 119, 1 are no elements; --type-map 119=C,… names them"),
        (("0", "1"), "the labels 0, 1 are no elements; --type-map 0=C,… names them"),
        (("07", "1"), "the labels 07, 1 are no elements; --type-map 07=C,… names them"),
        (("C", "14"), "the labels 14 are no elements; --type-map 14=Si,… names them"),
        (("CB", "1"), "the labels CB, 1 are no elements; --type-map CB=C,… names them"),
    ],
)
def test_the_hint_of_a_type_map_fits_the_label(tmp_path, labels, hint):
    (tmp_path / "in.xyz").write_text("2\n\n" + "".join(f"{label} 0 0 0\n" for label in labels))
    assert convert(tmp_path / "in.xyz", tmp_path / "out.h5").warnings == [f"in.xyz: {hint}"]


@pytest.mark.parametrize(
    ("rows", "columns", "example"),
    [
        ("1 4 0 0 0; 2 4 1 0 0", "id type x y z", "4=Si"),
        ("1 12 0 0 0; 2 3 1 0 0; 3 7 0 0 0", "id type x y z", "3=Si,7=O"),
        ("1 b 0 0 0; 2 aa 1 0 0; 3 a 0 0 0", "id type x y z", "a=Si,b=O"),
        ("9 1 0 0 0", "type id x y z", "9=Si"),
    ],
)
def test_the_hint_of_a_dump_names_types_that_there_are(tmp_path, rows, columns, example):
    (tmp_path / "in.dump").write_text(
        snapshot(rows, columns=columns) + snapshot(rows.split(";")[0], columns=columns, step=9)
    )
    report = convert(tmp_path / "in.dump", tmp_path / "out.h5")
    note = f"in.dump: the types are no elements; --type-map {example} names them"
    assert [text for text in report.warnings if "no elements" in text] == [f"{note} (in 2 frames)"]


def test_the_hint_of_a_data_file_names_types_that_there_are(tmp_path):
    (tmp_path / "in.data").write_text("t\n\n2 atoms\n7 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n"
                                      "Atoms # atomic\n\n1 3 0 0 0\n2 7 1 1 1\n")  # fmt: skip
    report = convert(tmp_path / "in.data", tmp_path / "out.h5")
    assert report.warnings == ["in.data: the types are no elements; --type-map 3=Si,7=O names them"]
