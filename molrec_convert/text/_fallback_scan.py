"""Scanning numbers with Python's own conversions and numpy: the twin of the C++ scanner.

A whole block is converted column by column; only when that fails are its lines looked at one by
one for the guilty token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .faults import ScanError

Buffer = bytes | bytearray | memoryview

FORTRAN = 1
MATHEMATICA = 2

INTEGER = re.compile(rb"[+-]?[0-9]+")
NATURAL = re.compile(rb"\+?[0-9]+")
MANTISSA = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
REAL = re.compile(MANTISSA + rb"(?:[eE][+-]?[0-9]+)?")
SPECIAL = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
FORTRAN_REAL = re.compile(rb"(%s)(?:[dD]([+-]?[0-9]+)|([+-][0-9]{3}))" % MANTISSA)
MATHEMATICA_REAL = re.compile(rb"(%s)\*\^([+-]?[0-9]+)" % MANTISSA)

# bytes.split() would also part tokens at these.
ODD_BLANKS = re.compile(rb"[\v\f\x1c-\x1f]|\r(?!\n)")
TOKEN = re.compile(rb"[^ \t]+")
FREE_TOKEN = re.compile(rb"[^ \t\r\n]+")
# Digits of the longest 64-bit integer, and one more.
LONGEST = 21


def parse_real(text: bytes, dialect: int) -> float:
    """Convert one token as float() would, without underscores."""
    if REAL.fullmatch(text) or SPECIAL.fullmatch(text):
        return float(text)
    if dialect & FORTRAN and (match := FORTRAN_REAL.fullmatch(text)):
        return float(match[1] + b"e" + (match[2] or match[3]))
    if dialect & MATHEMATICA and (match := MATHEMATICA_REAL.fullmatch(text)):
        return float(match[1] + b"e" + match[2])
    raise ValueError("not a number")


def parse_integer(text: bytes) -> int:
    """Convert one token to an integer of 64 bits."""
    return parse_within(text, INTEGER, -(2**63), 2**63 - 1)


def parse_natural(text: bytes) -> int:
    """Convert one token to an unsigned integer of 64 bits."""
    return parse_within(text, NATURAL, 0, 2**64 - 1)


def parse_within(text: bytes, pattern: re.Pattern[bytes], low: int, high: int) -> int:
    """Convert a token of this pattern; OverflowError tells a number that is too large."""
    if not pattern.fullmatch(text):
        raise ValueError("not an integer")
    # int() refuses thousands of digits with a ValueError of its own.
    digits = text.lstrip(b"+-").lstrip(b"0") or b"0"
    value = int(digits[:LONGEST])
    if text.startswith(b"-"):
        value = -value
    if not low <= value <= high:
        raise OverflowError("out of range")
    return value


def scan_table(data: Buffer, kinds: str, rows: int, dialect: int) -> tuple[list[Any], int, bool]:
    """Scan exactly `rows` lines into one column a letter of `kinds`."""
    if rows < 0:
        raise ValueError("rows must not be negative")
    if not set(kinds) <= set("dius-"):
        raise ValueError("a column kind is one of d, i, u, s, -")
    text = bytes(data)
    lines, end = cut_lines(text, rows)
    terminated = len(lines) == rows and (end == 0 or text[end - 1 : end] == b"\n")
    tokens = split_block(text[:end], lines, len(kinds)) if len(lines) == rows else None
    if tokens is not None:
        try:
            return convert_columns(tokens, kinds, rows, dialect), end, terminated
        except (ValueError, OverflowError):
            pass
    convert: dict[str, Callable[[bytes], Any]] = {
        "d": lambda token: parse_real(token, dialect),
        "i": parse_integer,
        "u": parse_natural,
    }
    split_lines = [TOKEN.findall(line) for line in lines]
    for row, words in enumerate(split_lines):
        open_end = row == len(lines) - 1 and end == len(text) and not text.endswith(b"\n")
        check_line(words, kinds, row, rows, open_end, convert)
    if len(lines) < rows:
        raise ScanError("end", row=len(lines), due=rows)
    flat = [word for words in split_lines for word in words]
    return convert_columns(flat, kinds, rows, dialect), end, terminated


def cut_lines(text: bytes, rows: int) -> tuple[list[bytes], int]:
    """Return up to `rows` lines without their ends, and the offset behind them."""
    lines: list[bytes] = []
    position = 0
    while len(lines) < rows and position < len(text):
        stop = text.find(b"\n", position)
        if stop < 0:
            lines.append(text[position:].removesuffix(b"\r"))
            return lines, len(text)
        lines.append(text[position:stop].removesuffix(b"\r"))
        position = stop + 1
    return lines, position


def split_block(text: bytes, lines: list[bytes], width: int) -> list[bytes] | None:
    """Split the lines into tokens at once; None when not every line can have `width` of them."""
    if ODD_BLANKS.search(text):
        return None
    tokens: list[bytes] = []
    for line in lines:
        words = line.split()
        if len(words) != width:
            return None
        tokens += words
    return tokens


def convert_columns(tokens: list[bytes], kinds: str, rows: int, dialect: int) -> list[Any]:
    """Turn the tokens of all rows, one after the other, into columns."""
    width = len(kinds)
    columns: list[Any] = []
    for k, kind in enumerate(kinds):
        words = tokens[k::width] if width else []
        if kind == "d":
            columns.append(np.array(reals(words, dialect), np.float64))
        elif kind == "i":
            columns.append(np.array([parse_integer(word) for word in words], np.int64))
        elif kind == "u":
            columns.append(np.array([parse_natural(word) for word in words], np.uint64))
        elif kind == "s":
            columns.append(intern(words, rows))
        else:
            columns.append(None)
    return columns


def reals(words: Sequence[bytes], dialect: int) -> list[float]:
    """Convert a column; float() alone where it surely agrees."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        return [parse_real(word, dialect) for word in words]
    if any(b"_" in word for word in words):
        return [parse_real(word, dialect) for word in words]
    return values


def intern(words: Sequence[bytes], rows: int) -> tuple[NDArray[np.int32], list[bytes]]:
    """Give each distinct word a code, in order of first appearance."""
    codes: dict[bytes, int] = {}
    column = np.fromiter((codes.setdefault(word, len(codes)) for word in words), np.int32, rows)
    return column, list(codes)


def check_line(
    words: list[bytes],
    kinds: str,
    row: int,
    rows: int,
    open_end: bool,
    convert: dict[str, Callable[[bytes], Any]],
) -> None:
    """Raise what is wrong with one line: its number of tokens first, then its first bad one."""
    if open_end and len(words) < len(kinds):
        raise ScanError("end", row=row, found=len(words), due=rows)
    if len(words) != len(kinds):
        raise ScanError("columns", row=row, found=len(words), due=len(kinds))
    for column, (kind, token) in enumerate(zip(kinds, words, strict=True)):
        if kind not in convert:
            continue
        try:
            convert[kind](token)
        except (ValueError, OverflowError) as error:
            fault = "range" if isinstance(error, OverflowError) else "number"
            raise ScanError(
                fault,  # type: ignore[arg-type]
                row=row,
                column=column,
                found=len(words),
                due=len(kinds),
                letter=kind,
                token=token,
            ) from None


def scan_numbers(data: Buffer, dialect: int, limit: int) -> tuple[NDArray[np.float64], int]:
    """Scan numbers parted by blanks and line ends; return them and the end of the last one."""
    text = bytes(data)
    values: list[float] = []
    end = 0
    if limit == 0:
        return np.array([], np.float64), 0
    for match in FREE_TOKEN.finditer(text):
        try:
            values.append(parse_real(match[0], dialect))
        except ValueError:
            refuse_number(text, match)
        end = match.end()
        if len(values) == limit:
            break
    return np.array(values, np.float64), end


def refuse_number(text: bytes, match: re.Match[bytes]) -> NoReturn:
    """Raise the fault of a token, with its line and its place in it."""
    start = text.rfind(b"\n", 0, match.start()) + 1
    raise ScanError(
        "number",
        row=text.count(b"\n", 0, match.start()),
        column=len(FREE_TOKEN.findall(text, start, match.start())),
        letter="d",
        token=match[0],
    )
