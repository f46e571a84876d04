"""Single tokens: the same bits as float(), and what is refused."""

import math
import random
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from molrec_convert.text.numbers import parse_integer, parse_real
from molrec_convert.text.table import FORTRAN, MATHEMATICA, ScanError, scan_numbers, scan_table

from .engines import both, lead, thorough

DIGITS = "0123456789"


def bits(value):
    return struct.pack("<d", value)


def through_table(twin, token, dialect=0):
    """Read the token in the middle of a line, at its end, and where the data ends.

    All that in the first lines, and in lines that come later.
    """
    values = []
    for before, rows in ((b"", 0), lead("dd")):
        data = before + token + b" " + token + b"\r\n" + token + b" 1"
        (first, second), _, _ = twin.scan_table(data, "dd", rows + 2, dialect)
        values += [first[rows], second[rows], first[rows + 1]]
    return values


def agrees(twin, text):
    token = text.encode()
    want = bits(float(text))
    values = [twin.parse_real(token, 0), *through_table(twin, token)]
    values += twin.scan_numbers(token + b"\n" + token, 0, -1)[0].tolist()
    # The fast path of free layout needs room behind the token.
    values += twin.scan_numbers(token + b" " * 40, 0, -1)[0].tolist()
    values += twin.scan_numbers(b" " * 40 + b"1 " + token + b"\r" + token, 0, -1)[0].tolist()[1:]
    assert [bits(value) for value in values] == [want] * 12, text


ADVERSARIAL = [
    "0", "-0", "+0", "0.0", "-0.0", ".5", "5.", "-.5", "+5.", "00012", "007.250", "1e5", "1E+05",
    "1e-05", "1e0000005", "1e-0000000000000000000000000000000000000000000005", "5.e3", ".5e-3",
    "nan", "NaN", "+nan", "-nan", "inf", "Inf", "-inf", "+INF", "infinity", "-Infinity",
    "1e400", "-1e400", "1e-400", "-1e-400", "1e99999999999999999999", "1e-99999999999999999999",
    "0e99999999999999999999", "-0e400", "0.000e-999",
    "2.2250738585072014e-308", "2.2250738585072011e-308", "2.2250738585072012e-308",
    "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "5e-324",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
    "179769313486231580793728971405301e276", "9007199254740991", "9007199254740992",
    "9007199254740993", "9007199254740993.0", "9007199254740993.00000000000000000000000000001",
    "9007199254740994.999", "0.1", "0.3", "1.1", "123456789.123456789", "12345678.12345678",
    "1234567.123456789012", "1234567.1234567890123", "99999999", "999999999999999",
    "9999999999999999", "18446744073709551615", "18446744073709551616", "1e22", "1e23", "1e-22",
    "1e-23", "9007199254740992e22", "9007199254740993e-22", "3.14159265358979323846264338327950288",
    "0.000000000000000000000000000000000000000000000000000000000000000000000001",
    "0." + "0" * 330 + "1", "0." + "0" * 330 + "1e330", "1" + "0" * 400, "1" + "0" * 400 + "e-400",
    "9" * 400, "0." + "9" * 400, "1" * 400 + "." + "1" * 400 + "e-399",
    "1." + "0" * 15 + "11102230246251565404236316680908203125",
    "1." + "0" * 15 + "111022302462515654042363166809082031250000000000000000000000001",
    "1." + "0" * 15 + "111022302462515654042363166809082031249999999999999999999999999",
]  # fmt: skip


@both
@pytest.mark.parametrize("text", ADVERSARIAL, ids=lambda text: text[:30])
def test_adversarial_tokens_read_as_float_reads_them(twin, text):
    agrees(twin, text)


@both
def test_decimals_of_random_doubles_read_as_float_reads_them(twin):
    rng = random.Random(1)
    for _ in range(3000):
        value = struct.unpack("<d", rng.randbytes(8))[0]
        form = rng.choice(["%.17g", "%.16g", "%.15e", "%.18e", "%.6g", "%r", "%.25e"])
        agrees(twin, form % value)
        agrees(twin, f"{rng.uniform(-1000, 1000):.{rng.randrange(20)}f}")


@both
def test_halfway_cases_round_to_even(twin):
    rng = random.Random(2)
    for _ in range(500):
        mantissa = rng.getrandbits(53) | 1 << 52
        power = rng.randrange(-60, 60)
        exact = (2 * mantissa + 1) * 2**power if power >= 0 else None
        if exact is not None:
            for text in (str(exact), f"{exact}.0", f"{exact - 1}", f"{exact}.0000001"):
                agrees(twin, text)
        else:
            scaled = (2 * mantissa + 1) * 5**-power
            for text in (f"{scaled}e{power}", f"{scaled}1e{power - 1}", f"{scaled - 1}e{power}"):
                agrees(twin, text)


@both
@thorough
@given(
    sign=st.sampled_from(["", "-", "+"]),
    whole=st.text(DIGITS, max_size=25),
    fraction=st.none() | st.text(DIGITS, max_size=25),
    exponent=st.none() | st.tuples(st.sampled_from("eE"), st.integers(-400, 400)),
)
def test_any_decimal_reads_as_float_reads_it(twin, sign, whole, fraction, exponent):
    text = sign + whole + ("" if fraction is None else "." + fraction)
    if not whole and not fraction:
        text += "1"
    if exponent is not None:
        text += "{}{}".format(*exponent)
    agrees(twin, text)


@both
@thorough
@given(st.text(st.sampled_from("0123456789.+-eEdD_*^,xnaif\r\v\x00"), min_size=1, max_size=8))
@example("1_000")
@example("\x1c1")
def test_what_float_refuses_is_refused(twin, text):
    token = text.encode()
    try:
        want = float(text)
    except ValueError:
        want = None
    if "_" in text or text.strip() != text or "\r" in text:
        want = None
    if want is None:
        with pytest.raises(ValueError, match="not a number"):
            twin.parse_real(token, 0)
        for before, rows in ((b"", 0), lead("dd")):
            with pytest.raises(ScanError):
                twin.scan_table(before + token + b" 1\n", "dd", rows + 1, 0)
    else:
        agrees(twin, text)


REFUSED = [
    "", "*", "****", "********", "1,5", "1_000", "0x1p3", "0x10", "12.3-45.6", "1.0D+02", "1d2",
    "1.0-101", "1.5*^-5", "e5", ".", "-", "+", "-.", "1e", "1e+", "1.2.3", "--1", "+-1", "1e5.0",
    "1 2", "nan(1)", "1.#QNAN", "1.#INF", "infin", "in", "na", "T", "\u0661", "1\x00",
]  # fmt: skip


@both
@pytest.mark.parametrize("text", REFUSED)
def test_refused(twin, text):
    with pytest.raises(ValueError, match="not a number"):
        twin.parse_real(text.encode(), 0)


DIALECTS = [
    (FORTRAN, "1.0D+02", 100.0),
    (FORTRAN, "1.0d2", 100.0),
    (FORTRAN, "-1.5D-3", -1.5e-3),
    (FORTRAN, "1.0-101", 1e-101),
    (FORTRAN, "0.33+101", 0.33e101),
    (FORTRAN, "-.5+100", -0.5e100),
    (FORTRAN, "1.0E+02", 100.0),
    (FORTRAN, "1.0D+400", math.inf),
    (FORTRAN, "1.0D-400", 0.0),
    (MATHEMATICA, "1.5*^-5", 1.5e-5),
    (MATHEMATICA, "2*^3", 2000.0),
    (MATHEMATICA, "-2.*^+3", -2000.0),
    (FORTRAN | MATHEMATICA, "1.5*^-5", 1.5e-5),
    (FORTRAN | MATHEMATICA, "1.0-101", 1e-101),
]


@both
@pytest.mark.parametrize(("dialect", "text", "value"), DIALECTS)
def test_dialects(twin, dialect, text, value):
    token = text.encode()
    values = [twin.parse_real(token, dialect), *through_table(twin, token, dialect)]
    assert [bits(found) for found in values] == [bits(value)] * 7


@both
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (FORTRAN, "12.3-45.6"),
        (FORTRAN, "1.0-10"),
        (FORTRAN, "1.0-1010"),
        (FORTRAN, "1.0+1a1"),
        (FORTRAN, "D5"),
        (FORTRAN, "1D"),
        (FORTRAN, "1.5*^-5"),
        (FORTRAN, "1D+-5"),
        (MATHEMATICA, "1.5D3"),
        (MATHEMATICA, "1.5*5"),
        (MATHEMATICA, "1.5*^"),
        (MATHEMATICA, "1.5*^+"),
        (MATHEMATICA, "*^5"),
    ],
)
def test_a_dialect_refuses_the_rest(twin, dialect, text):
    with pytest.raises(ValueError, match="not a number"):
        twin.parse_real(text.encode(), dialect)


@both
@thorough
@given(st.integers(-(2**64), 2**65), st.sampled_from(["", "0", "000"]))
@example(2**63 - 1, "")
@example(-(2**63), "")
@example(2**64 - 1, "")
def test_integers(twin, value, zeros):
    text = f"{'-' if value < 0 else ''}{zeros}{abs(value)}".encode()
    if -(2**63) <= value < 2**63:
        assert twin.parse_integer(text) == value
        for before, rows in ((b"", 0), lead("i")):
            assert twin.scan_table(before + text, "i", rows + 1, 0)[0][0][rows] == value
            data = before + text + b"\n"
            assert twin.scan_table(data, "i", rows + 1, 0)[0][0][rows] == value
    else:
        with pytest.raises(OverflowError):
            twin.parse_integer(text)
    if 0 <= value < 2**64:
        for before, rows in ((b"", 0), lead("u")):
            data = before + text + b"\n"
            assert twin.scan_table(data, "u", rows + 1, 0)[0][0][rows] == value


@pytest.mark.usefixtures("each_engine")
def test_clauses():
    assert parse_real("1.5") == 1.5
    assert parse_real(b"1D2", FORTRAN) == 100
    assert parse_integer("-12") == -12
    with pytest.raises(ValueError, match=r"^'abc' is not a number$"):
        parse_real("abc")
    with pytest.raises(ValueError, match=r"^'1\.5' is not an integer$"):
        parse_integer(b"1.5")
    with pytest.raises(ValueError, match=r"^'9{19}' does not fit a signed 64-bit integer$"):
        parse_integer("9" * 19)
    with pytest.raises(ValueError, match=r"^'x{40}…' is not a number$"):
        parse_real("x" * 5000)


@pytest.mark.usefixtures("each_engine")
def test_results_are_writable_arrays():
    for array in (*scan_table(b"1 2 3\n", "diu", 1).columns, scan_numbers(b"1 2")[0]):
        assert array.flags.writeable
        array[0] = 7
        assert np.asarray(array)[0] == 7


# ---------------------------------------------------------------- rounding
REALS = st.floats(width=64) | st.floats(-1e3, 1e3) | st.integers(-(2**54), 2**54).map(lambda whole: whole / 2.0)


@both
@thorough
@given(values=st.lists(REALS, max_size=24), power=st.integers(-1000, 999) | st.integers(-12, 12))
def test_rounding_to_multiples(twin, values, power):
    """Half to even by Python's own rounding; what is large or no number stays, and -0.0 keeps its sign."""
    step = 2.0**power
    stored, largest = twin.quantize(np.array(values, float), step, 1)
    for value, found in zip(values, stored.tolist(), strict=True):
        quanta = value / step if math.isfinite(value) else value
        due = value
        if math.isfinite(quanta) and abs(quanta) < 2.0**52:
            due = math.copysign(round(quanta) * step, value)
        assert np.float64(found).tobytes() == np.float64(due).tobytes()
    assert largest.tolist() == [max((abs(value) for value in values if math.isfinite(value)), default=0.0)]


@both
def test_rounding_in_groups(twin):
    values = np.array([0.26, -3.0, math.nan, 0.1, math.inf, -0.0])
    stored, largest = twin.quantize(values, 0.25, 3)
    assert stored.tobytes() == np.array([0.25, -3.0, math.nan, 0.0, math.inf, -0.0]).tobytes()
    assert largest.tolist() == [3.0, 0.1, 0.0]
    with pytest.raises(ValueError, match="the groups are not even"):
        twin.quantize(values, 0.25, 4)
