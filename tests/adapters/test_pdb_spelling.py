"""PDB: how numbers beyond their columns are spelled."""

import numpy as np
import pytest

from molrec_convert.adapters._pdb_numbers import decode_column, decode_hybrid36, hybrid36


@pytest.fixture(autouse=True)
def each_engine():
    """The engines play no part."""


def decoded(words, width=5):
    distinct = list(dict.fromkeys(words))
    places = {word: code for code, word in enumerate(distinct)}
    codes = np.array([places[word] for word in words], np.int32)
    found = decode_column(codes, distinct, width)
    numbers = [value if there else None for value, there in zip(found.values.tolist(), found.valid, strict=True)]
    return numbers, found.style, found.bad


def cctbx(value, width):
    """As hybrid-36 spells numbers."""
    return hybrid36(value, width).strip().encode()


def openmm(value, width):
    """As OpenMM spells numbers."""
    if value < 10**width:
        return b"%d" % value
    return b"%X" % ((value - 10**width + 10 * 16 ** (width - 1)) % 16**width)


def vmd(value, width):
    """As VMD spells numbers."""
    return b"%d" % value if value < 10**width else b"%0*x" % (width, value)


class TestHybrid36:
    @pytest.mark.parametrize(
        ("value", "width", "word"),
        [(0, 5, "    0"), (-999, 4, "-999"), (99999, 5, "99999"), (100000, 5, "A0000"), (100035, 5, "A000Z"),
         (43770015, 5, "ZZZZZ"), (43770016, 5, "a0000"), (87440031, 5, "zzzzz"), (10000, 4, "A000"),
         (1223055, 4, "ZZZZ"), (1223056, 4, "a000"), (2436111, 4, "zzzz")],
    )  # fmt: skip
    def test_numbers(self, value, width, word):
        assert hybrid36(value, width) == word
        if value >= 10**width:
            assert decode_hybrid36(word.encode(), width) == value

    @pytest.mark.parametrize(("value", "width"), [(87440032, 5), (2436112, 4), (-1000, 4)])
    def test_what_does_not_fit(self, value, width):
        with pytest.raises(ValueError, match=f"{value} does not fit {width} columns"):
            hybrid36(value, width)

    @pytest.mark.parametrize("word", [b"A00", b"A0000a", b"a00A0", b"-A000", b"00A00"])
    def test_what_is_none(self, word):
        assert decode_hybrid36(word, 5) is None


class TestSpellings:
    def test_plain(self):
        assert decoded([b"1", b"-2", b"", b"*****", b"100000"]) == ([1, -2, None, None, 100000], "", [])

    @pytest.mark.parametrize("count", [1, 5, 9, 10, 11, 16, 17, 40, 100, 5000])
    @pytest.mark.parametrize(
        ("spell", "style"),
        [(cctbx, "hybrid-36"), (openmm, "hexadecimal"), (vmd, "hexadecimal")],
    )  # fmt: skip
    @pytest.mark.parametrize("width", [4, 5])
    def test_numbers_that_go_on(self, spell, style, width, count):
        values = list(range(10**width - 2, 10**width + count))
        found, told, bad = decoded([spell(value, width) for value in values], width)
        if spell is vmd and width == 4 and count <= 10:  # 2710 … 2719 look like decimal numbers
            return
        assert found == values
        assert not bad
        assert told == style or (spell is openmm and count <= 16)  # the same words so far

    def test_openmm_begins_again(self):
        values = list(range(9990, 9990 + 40000))
        assert decoded([openmm(value, 4) for value in values], 4)[0] == values

    def test_residues_repeat_and_begin_again(self):
        values = [number for number in (9999, 10000, 10001, 10010, 1, 2) for _ in range(3)]
        assert decoded([cctbx(value, 4) for value in values], 4)[0] == values
        assert decoded([vmd(value, 4) for value in [*range(9998, 10020), 1, 2]], 4)[0] == [*range(9998, 10020), 1, 2]

    @pytest.mark.parametrize("word", [b"A_", b"b!", b"12x4z9", b"0x1A", b"A0", b"1Z", b"F", b"1A"])
    def test_what_is_no_number(self, word):
        assert decoded([b"1", word])[2] == [word]
