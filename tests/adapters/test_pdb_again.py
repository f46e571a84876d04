"""Models one after another: read beside the one before, each says what it says by itself."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molrec_convert.adapters._pdb_atoms import AtomReader
from molrec_convert.errors import FormatError

from ..pdbs import atom, text

WORDS = st.sampled_from(
    [
        *("   1.000", "  -1.000", "1234.567", "  12.5  ", "9999.999", "10000.00", "-1000.00", " -999.99", " " * 8),
        *("   x.000", "     1e1", "+   1.00", "\t  1.000", "  1.0000", "     nan", "   -.500", "     12.", "*" * 8),
    ]
)
FIELDS = st.sampled_from([30, 38, 46, 34])
TENSOR = "ANISOU    1  CA  ALA A   1      100    200    300"
LINES = st.one_of(
    st.sampled_from(
        [
            *(atom(1), atom(1, (1.5, -2.0, 3.25)), atom(1, occupancy="0.50"), atom(1, occupancy="")),
            *(atom(1, b_factor="99.99"), atom(1, b_factor="999999"), atom(1, name=" CB "), atom(2), atom("A0000")),
            *(atom(100000), atom(1, number="A000"), atom(1, number=1234, icode="5"), atom(1, residue="A B")),
            *(atom(1, charge="2-"), atom(1).lower(), atom(1)[:54], atom(1)[:40], atom(1) + "\r"),
            *("TER", TENSOR, "REMARK 1"),
        ]
    ),
    st.tuples(FIELDS, WORDS).map(lambda pair: atom(1)[: pair[0]] + pair[1] + atom(1)[pair[0] + 8 :]),
)
FRAMES = st.lists(LINES, min_size=1, max_size=4)


def told(reader, frame):
    """All that a reader finds in a frame."""
    try:
        atoms = reader.read(frame, 7, 3)
    except FormatError as error:
        return str(error)
    words = {name: [words[code] for code in codes.tolist()] for name, (codes, words) in atoms.text.items()}
    numbers = {name: values.tobytes() for name, values in atoms.numbers.items()}
    valid = {name: None if mask is None else mask.tolist() for name, mask in atoms.valid.items()}
    styles = {name: style for name, style in atoms.styles.items() if style}
    return atoms.rows, words, numbers, valid, atoms.others.tolist(), styles, atoms.notes


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(FRAMES, min_size=1, max_size=4), st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_models_one_after_another(pool, order):
    reader = AtomReader("in.pdb")
    for k in order:
        frame = text(*pool[k % len(pool)]).encode()[: -1 if k == 3 else None]
        assert told(reader, frame) == told(AtomReader("in.pdb"), frame)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"position": (1.5, 2.5, -3.5)}),
        ({"occupancy": ""}, {"occupancy": "0.75"}),
        ({"occupancy": "0.75"}, {"occupancy": ""}),
        ({}, {"b_factor": "12.50"}),
        ({"number": 1234, "icode": "5"}, {"number": 1234, "icode": "5", "position": (1.0, 0.0, 0.0)}),
        ({"serial": "A0000"}, {"serial": "A0000", "position": (1.0, 0.0, 0.0)}),
        ({"serial": "*****"}, {"serial": "*****", "position": (1.0, 0.0, 0.0)}),
        ({}, {"position": (9999.0, 0.0, -999.0)}),
    ],
)
@pytest.mark.parametrize("frames", [1, 3])
def test_what_moves(first, then, frames):
    reader = AtomReader("in.pdb")
    one, other = (text(atom(2), atom(**{"serial": 1, **words}), "TER").encode() for words in (first, then))
    for frame in itertools.chain.from_iterable([one, other] for _ in range(frames)):
        assert told(reader, frame) == told(AtomReader("in.pdb"), frame)


def test_what_stays_is_the_same_object():
    reader = AtomReader("in.pdb")
    found = [reader.read(text(atom(1, (k, 0.0, 0.0)), atom(2)).encode(), 1, k) for k in range(3)]
    assert [atoms.numbers["x"].tolist() for atoms in found] == [[0, 0], [1, 0], [2, 0]]
    assert found[1].text["name"][0] is found[2].text["name"][0]
    assert found[1].numbers["occupancy"] is found[2].numbers["occupancy"]
    assert found[1].notes is not found[2].notes


def test_a_model_whose_last_line_has_no_end():
    reader = AtomReader("in.pdb")
    cut = text(atom(1), atom(2, name=" CB "))[:-1].encode()
    for frame in (cut, text(atom(1), atom(1)).encode(), cut, text(atom(1)).encode()):
        assert told(reader, frame) == told(AtomReader("in.pdb"), frame)


def test_many_models_at_once():
    reader = AtomReader("in.pdb")
    frames = [text(atom(1, (k, 0.0, 0.0)), "TER", atom(2)).encode() for k in range(5)]
    whole = AtomReader("in.pdb").read_stack(b"".join(frames), 5)
    reader.read(frames[0], 1, 0)
    again = reader.read_stack(b"".join(frames), 5)
    assert whole is not None
    assert again is not None
    assert again[1]["x"].tolist() == whole[1]["x"].tolist() == [0, 0, 1, 0, 2, 0, 3, 0, 4, 0]
    assert set(again[1]) == {"x", "y", "z"}
    assert again[2].tolist() == whole[2].tolist()
    assert np.array_equal(again[0].numbers["serial"], whole[0].numbers["serial"])
    assert reader.read_stack(b"".join(frames), 4) is None
