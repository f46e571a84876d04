"""Comment lines that differ in their numbers alone: read by the last one, they say what they say by themselves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molrec_convert.adapters._xyz_again import HeaderReader
from molrec_convert.adapters._xyz_dialects import read_header

LINE = 'Lattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 {words} pbc="T T F"'
WORDS = st.sampled_from(
    ["1", "2", "-3", "0.5", "1e-3", "-2.5E+4", "1.", ".5", "007", "T", "word", "nan", "inf", '"1 2 3"', '"5"', "-", "+",
     "9007199254740993", "123456789012345678901234567890", "1d2", "1.5e", "{1 2}", "_JSON", ""]
)  # fmt: skip
KEYS = st.sampled_from(
    ["energy", "step", "time", "Time", "Step", "n", "temp", "press", "free_energy", "stress", "pe", "pbc", "cutoff",
     "energy-unit", "a/b", "a|b", "xyz_comment", "timestep"]
)  # fmt: skip
ARRAYS = st.sampled_from(
    ["5 0 0 0 5 0 0 0 5", "6.5 0 0 0 5 0 0 0 5", " 6 0 0  0 5 0 0 0 5 ", "0 0 0 0 5 0 0 0 5", "5 5 5", "1 2 3",
     "1.5 2 3", "1 2 word", "1.5 2.5", "1 2 3 4 5 6", "1 2 3 4.5 5 6", "01 2 3", "9007199254740993 1 2", "1e3 2 3", "",
     "5"]
)  # fmt: skip
COMMENTS = st.one_of(
    st.lists(st.tuples(KEYS, WORDS), max_size=3).map(
        lambda pairs: LINE.format(words=" ".join(f"{key}={word}" for key, word in pairs))
    ),
    st.tuples(st.sampled_from(["Lattice", "lattice", "Origin", "stress", "dipole", "virial", "w"]), ARRAYS).map(
        lambda pair: f'Properties=species:S:1:pos:R:3 energy=1 {pair[0]}="{pair[1]}" pbc="T T F"'
    ),
    st.sampled_from(["", "frame 3", "energy: -1.5 gnorm: 0.1 xtb: 6.4", LINE.format(words='note="a b" n=1  m=2 ')]),
)


def told(read, comment):
    try:
        return read(comment)
    except ValueError as error:
        return str(error)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(COMMENTS, min_size=2, max_size=6), st.integers(1, 3))
def test_lines_one_after_another(comments, times):
    reader = HeaderReader()
    for comment in [each for each in comments for _ in range(times)]:
        found, due = told(reader.read, comment), told(read_header, comment)
        assert repr(found) == repr(due)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.sampled_from(["Lattice", "Origin", "stress", "dipole", "w"]),
    st.lists(ARRAYS, min_size=2, max_size=8),
    st.sampled_from(["", 'pbc="T F F"', 'Origin="1 2 3"']),
)
def test_one_array_that_changes(key, texts, more):
    reader = HeaderReader()
    for text in texts:
        comment = f'Properties=species:S:1:pos:R:3 {key}="{text}" {more}'
        assert repr(told(reader.read, comment)) == repr(told(read_header, comment))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from(["energy", "step", "time", "n", "temp"]), st.lists(WORDS, min_size=2, max_size=8))
def test_one_number_that_changes(key, words):
    reader = HeaderReader()
    for word in words:
        comment = LINE.format(words=f"{key}={word}")
        assert repr(told(reader.read, comment)) == repr(told(read_header, comment))


def test_values_of_one_line_stay_when_the_next_is_read():
    reader = HeaderReader()
    headers = [reader.read(LINE.format(words=f"energy={k}.5 n={k}")) for k in range(3)]
    assert [header.values for header in headers] == [{"pe": k + 0.5, "n": k} for k in range(3)]
    assert reader.read(headers[-1].comment) is headers[-1]


def test_lines_alike_are_not_taken_apart_again(monkeypatch):
    reader = HeaderReader()
    reader.read(LINE.format(words="energy=1.5"))
    monkeypatch.setattr("molrec_convert.adapters._xyz_again.read_header", lambda comment: pytest.fail(comment))
    assert reader.read(LINE.format(words="energy=2.5")).values == {"pe": 2.5}
