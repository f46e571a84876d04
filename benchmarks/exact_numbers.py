"""Whether numbers are read and printed as Python does: ``python benchmarks/exact_numbers.py [millions]``.

Numbers of every kind that is hard are written as text, scanned, and compared with `float`: random bits in their
shortest form and with 1 to 20 digits, fixed decimals, places half-way between two doubles and next to them, numbers
that are too small or too large, long mantissas, and zeros before and after. What was read is printed again, in the
shortest form and with fixed decimals, and compared with `repr` and `format`.
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np

from molrec_convert.text.table import format_table, scan_table

BATCH = 250_000


def bits(rng: random.Random) -> float:
    """A finite double of random bits."""
    while True:
        value: float = struct.unpack("<d", rng.randbytes(8))[0]
        if value - value == 0.0:
            return value


def shortest(rng: random.Random) -> str:
    """The shortest text that reads back."""
    return repr(bits(rng))


def digits(rng: random.Random) -> str:
    """From 1 to 20 digits."""
    return f"{bits(rng):.{rng.randrange(20)}e}"


def decimals(rng: random.Random) -> str:
    """Coordinates, with the decimals that programs print."""
    return f"{rng.uniform(-1, 1) * 10 ** rng.randrange(7):.{rng.randrange(1, 17)}f}"


def general(rng: random.Random) -> str:
    """What ``%g`` gives for numbers around one."""
    return f"{rng.gauss(0, 1) * 10 ** rng.randrange(-9, 9):.{rng.randrange(3, 18)}g}"


def halfway(rng: random.Random) -> str:
    """Half-way between two neighbours, in full, cut somewhere, or with another digit behind."""
    value = abs(bits(rng))
    with localcontext() as context:
        context.prec = 1200
        middle = (Decimal(value) + Decimal(np.nextafter(value, 0.0))) / 2
    text = f"{middle:e}"
    mantissa, _, power = text.partition("e")
    kept = mantissa[: rng.choice((18, 20, 25, 40, 100, len(mantissa)))]
    return f"{kept}{rng.choice(('', '0', '1', '00000000000000000001'))}e{power}"


def extreme(rng: random.Random) -> str:
    """Around the smallest and the largest doubles, and beyond."""
    power = rng.choice((rng.randrange(-345, -300), rng.randrange(300, 312)))
    return f"{rng.randrange(1, 10 ** rng.randrange(1, 25))}e{power - rng.randrange(20)}"


def padded(rng: random.Random) -> str:
    """Zeros before and after, and signs."""
    sign, before, after = rng.choice(("", "-", "+")), "0" * rng.randrange(30), "0" * rng.randrange(30)
    return f"{sign}{before}{rng.randrange(10 ** rng.randrange(1, 20))}.{rng.randrange(10**9):09d}{after}"


KINDS: tuple[tuple[Callable[[random.Random], str], int], ...] = (
    (shortest, 30),
    (digits, 20),
    (decimals, 20),
    (general, 20),
    (padded, 8),
    (extreme, 1),
    (halfway, 1),
)
"""Each kind, and how many of a hundred numbers are of it."""


def wrong(kind: Callable[[random.Random], str], count: int, seed: int) -> list[str]:
    """The numbers of a kind that are read, or then printed, otherwise than Python does."""
    rng = random.Random(f"{kind.__name__} {seed}")
    tokens = [kind(rng) for _ in range(count)]
    found = scan_table("\n".join([*tokens, ""]).encode(), "d", count).columns[0]
    due = np.array(list(map(float, tokens)))
    misread = np.flatnonzero(found.view(np.uint64) != due.view(np.uint64))
    decimals = rng.randrange(17)
    printed = format_table([due, due], ["r", decimals]).decode().splitlines()
    wanted = [f"{value!r} {value:.{decimals}f}" for value in due.tolist()]
    misprinted = [text for text, right in zip(printed, wanted, strict=True) if text != right]
    return [*(tokens[k] for k in misread), *misprinted]


def main() -> None:
    """Compare, and print what was found."""
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    start, total = time.perf_counter(), 0
    faults: list[str] = []
    for kind, share in KINDS:
        left, seed = round(millions * 1e4 * share), 0
        while left > 0:
            count = min(left, BATCH)
            faults += wrong(kind, count, seed)
            left, seed, total = left - count, seed + 1, total + count
        print(f"{kind.__name__}: {total:,} numbers so far, {len(faults)} wrong, {time.perf_counter() - start:.0f} s")
    print(*faults[:20], sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
