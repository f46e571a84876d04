"""Long tables, which the native scanner reads in pieces: the same as token by token."""

import random
from typing import Any

import numpy as np
import pytest

from molrec_convert.text.table import ScanError

from .engines import NATIVE, both, built

FORMS = ["%.6g", "%.8f", "%.16f", "%.3e", "%.10E", "%r", "%.17g", "%.0f", "%+.2f", "%.25f", "%d"]
LETTERS = "CHONSi*+_#0123456789"


def make_token(rng, kind):
    """Return a token and what it must be read as."""
    if kind == "d":
        text = rng.choice(FORMS) % (rng.uniform(-1, 1) * 10 ** rng.uniform(-12, 12))
        return text, float(text)
    if kind == "s":
        text = "".join(rng.choices(LETTERS, k=rng.choice([1, 1, 2, 7, 8, 9, 40])))
        return text, text.encode()
    value = rng.getrandbits(rng.randrange(1, 63))
    if kind == "i" and rng.random() < 0.5:
        value = -value
    return str(value), value


def make_table(rng, kinds, rows, ends):
    wanted: list[list[Any]] = [[] for _ in kinds]
    lines = []
    for _ in range(rows):
        line = rng.choice(["", "", " ", "\t  "])
        for kind, column in zip(kinds, wanted, strict=True):
            text, value = make_token(rng, kind if kind != "-" else "s")
            column.append(value)
            line += text + rng.choice([" ", " ", "  ", "\t", " " * rng.randrange(1, 90)])
        lines.append(line.rstrip() + rng.choice(["", " ", "\t"]) + rng.choice(ends))
    return "".join(lines).encode(), wanted


def read(twin, data, kinds, rows):
    columns, end, terminated = twin.scan_table(data, kinds, rows, 0)
    plain: list[list[Any] | None] = []
    for column in columns:
        if isinstance(column, tuple):
            plain.append([column[1][code] for code in column[0]])
        else:
            plain.append(None if column is None else column[:rows].tolist())
    return plain, end, terminated


@both
@pytest.mark.parametrize("kinds", ["d", "iddd", "sddd", "udi-s", "s", "dddddddddddddddd"])
@pytest.mark.parametrize("ends", [["\n"], ["\r\n"], ["\n", "\r\n"]], ids=["lf", "crlf", "mixed"])
def test_every_row(twin, kinds, ends):
    rng = random.Random(f"{kinds}{ends}")
    data, wanted = make_table(rng, kinds, 1500, ends)
    wanted = [None if kind == "-" else column for kind, column in zip(kinds, wanted, strict=True)]
    columns, end, terminated = read(twin, data, kinds, 1500)
    assert columns == wanted
    assert (end, terminated) == (len(data), True)
    # Fewer rows than the text has, and text that starts and ends anywhere in memory.
    shifted = memoryview(b"9" * 7 + data)[7:]
    columns, end, _ = read(twin, shifted, kinds, 1234)
    assert columns == [column and column[:1234] for column in wanted]
    assert data[:end].count(b"\n") == 1234


@both
def test_numbers_in_free_layout(twin):
    rng = random.Random(6)
    data, (wanted,) = make_table(rng, "d", 6000, ["\n", "\r\n", "\r", " \n\n"])
    numbers, end = twin.scan_numbers(data, 0, -1)
    assert numbers.tolist() == wanted
    assert end == len(data.rstrip())
    for limit in (1, 7, 3000, 5999):
        numbers, end = twin.scan_numbers(data, 0, limit)
        assert numbers.tolist() == wanted[:limit]
        assert data[:end].split()[-1] == data.split()[limit - 1]


@both
def test_lines_and_tokens_longer_than_a_piece(twin):
    wide = " ".join(["1.5"] * 9000) + "\n"
    data = ("2.5 " * 8999 + "2.5\n" + wide * 3).encode()
    columns, _, _ = twin.scan_table(data, "d" * 9000, 4, 0)
    assert all(column.tolist() == [2.5, 1.5, 1.5, 1.5] for column in columns)
    long = b"0" * 20000 + b"7"
    data = b"\n".join([b"1 2"] * 20 + [long + b" " + b"\t" * 30000 + long] * 3) + b"\n"
    columns, _, _ = twin.scan_table(data, "di", 23, 0)
    assert columns[0].tolist() == [1] * 20 + [7] * 3
    assert columns[1].tolist() == [2] * 20 + [7] * 3
    assert twin.scan_numbers(data, 0, -1)[0].tolist() == [1, 2] * 20 + [7, 7] * 3


@both
def test_a_return_inside_a_word(twin):
    rows = [b"a%d x" % k for k in range(300)]
    rows[77] = b"a\rb x"
    rows[78] = b"a\r\r x"
    rows[200] = b"a\r x\r"
    (codes, words), _ = twin.scan_table(b"\n".join(rows) + b"\n", "s-", 300, 0)[0]
    assert [words[code] for code in codes] == [row.split(b" ")[0] for row in rows]


@both
def test_words_that_differ_in_what_a_short_key_may_miss(twin):
    names = [b"a", b"a\x00", b"\x00a", b"\x00", b"a\x00\x00", b"abcdefgh", b"abcdefghi", b"bcdefghi"]
    rows = [names[k % 8] for k in range(400)]
    (codes, words), *_ = twin.scan_table(b"\n".join(rows) + b"\n", "s", 400, 0)[0]
    assert [words[code] for code in codes] == rows
    assert words == names


@both
def test_the_first_faulty_row_counts(twin):
    rows = [b"%d %d.5 w" % (k, k) for k in range(2000)]
    for place, row, kind, column in (
        (1500, b"1500 1.5x w", "number", 1),
        (1499, b"1.0 1.5 w", "number", 0),
        (1490, b"1 1.5", "columns", -1),
        (800, b"1 1.5 w w", "columns", -1),
        (799, b"99999999999999999999 1.5 w", "range", 0),
        (798, b"\r 1.5 w", "number", 0),
        (700, b"", "columns", -1),
    ):
        rows[place] = row
        with pytest.raises(ScanError) as caught:
            twin.scan_table(b"\n".join(rows) + b"\n", "ids", 2000, 0)
        error = caught.value
        assert (error.kind, error.row, error.column) == (kind, place, column)


@built
def test_a_damaged_table_reads_the_same_on_every_level():
    rng = random.Random(8)
    data, _ = make_table(rng, "idsud", 120, ["\n"])
    best = NATIVE._set_simd(0)
    try:
        for _ in range(400):
            broken = bytearray(data)
            for _ in range(rng.randrange(1, 4)):
                broken[rng.randrange(len(data))] = rng.choice(b" \t\r\n-+.eE0159x\x00\xff")
            results = []
            for level in (0, best):
                NATIVE._set_simd(level)
                try:
                    results.append(read(NATIVE, bytes(broken), "idsud", 120))
                except ScanError as error:
                    results.append(vars(error))
            assert results[0] == results[1]
    finally:
        NATIVE._set_simd(best)


@built
def test_levels():
    best = NATIVE._set_simd(0)
    assert NATIVE._set_simd(99) == 0
    assert NATIVE._set_simd(-5) == best
    assert NATIVE._set_simd(best) == 0


@both
def test_rounding_at_the_edge(twin):
    """Decimals of 17 to 19 digits next to the middle between two doubles."""
    rng = np.random.default_rng(9)
    tokens = []
    for value in rng.uniform(-100, 100, 4000).tolist() + rng.normal(0, 1e-7, 4000).tolist():
        middle = np.longdouble(value) + np.longdouble(np.spacing(value)) / 2
        for digits in (16, 17, 18):
            text = np.format_float_scientific(middle, precision=digits, exp_digits=2, unique=False)
            tokens += [text, text[:-5] + str(rng.integers(10)) + text[-4:]]
            tokens.append(np.format_float_positional(middle, precision=digits - 1, unique=False))
    data = " ".join(tokens).encode()
    wanted = np.array([float(token) for token in tokens])
    np.testing.assert_array_equal(twin.scan_numbers(data, 0, -1)[0], wanted)
