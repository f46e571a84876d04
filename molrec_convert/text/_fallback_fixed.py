"""Scanning fields of fixed columns with Python's own conversions: the twin of the C++ scanner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._fallback_scan import Buffer, intern, parse_integer, parse_natural, parse_real
from .faults import ScanError

Layout = list[tuple[int, int, str]]

NUMBERS: dict[str, tuple[Callable[[bytes], Any], Any]] = {
    "d": (lambda token: parse_real(token, 0), np.float64),
    "i": (parse_integer, np.int64),
    "u": (parse_natural, np.uint64),
}


def scan_fixed(
    data: Buffer, layout: Layout, rows: int, marked: list[bytes]
) -> tuple[list[Any], list[Any], int, int, bool, NDArray[np.int64]]:
    """Scan lines into one column a field; lines without a mark are listed."""
    if rows < -1:
        raise ValueError("rows must not be negative")
    if not {kind for _, _, kind in layout} <= set("diusr"):
        raise ValueError("a field's kind is one of d, i, u, s, r")
    if any(start > stop for start, stop, _ in layout):
        raise ValueError("a field ends before it begins")
    text, marks = bytes(data), tuple(mark.upper() for mark in marked)
    lines: list[bytes] = []
    numbers: list[int] = []
    others: list[tuple[int, int, int]] = []
    place, terminated = 0, True
    while place < len(text) and len(lines) != rows:
        stop = text.find(b"\n", place)
        terminated = stop >= 0
        after = stop + 1 if terminated else len(text)
        line = text[place : stop if terminated else after].removesuffix(b"\r")
        if not marks or line.upper().startswith(marks):
            numbers.append(len(lines) + len(others))
            lines.append(line)
        else:
            others.append((len(lines) + len(others), place, place + len(line)))
        place = after
    tokens = [cut_field(lines, *field) for field in layout]
    check_fields(tokens, layout, numbers)
    if len(lines) < rows:
        raise ScanError("end", row=len(lines), due=rows)
    columns = [column_of(words, kind) for words, (_, _, kind) in zip(tokens, layout, strict=True)]
    masks = [mask_of(words, kind) for words, (_, _, kind) in zip(tokens, layout, strict=True)]
    listed = np.array(others, np.int64).reshape(-1, 3)
    return columns, masks, len(lines), place, terminated, listed


def scan_again(
    data: Buffer, like: Buffer, layout: list[tuple[int, int]], marked: list[bytes]
) -> tuple[list[NDArray[np.float64]], int, NDArray[np.int64]] | None:
    """Scan lines that are those of another text but for some fields; None where some are not."""
    starts, stops = [start for start, _ in layout], [stop for _, stop in layout]
    if any(start > stop for start, stop in layout) or starts[1:] != stops[:-1]:
        raise ValueError("a field begins where the one before it ends")
    if not layout or any(len(mark) > starts[0] for mark in marked):
        raise ValueError("fields that stand behind the marks are due")
    first, behind = starts[0], stops[-1]
    text, other, marks = bytes(data), bytes(like), tuple(mark.upper() for mark in marked)
    due = [line for line in other.split(b"\n")[:-1] if line.upper().startswith(marks)]
    if not text.endswith(b"\n") or not other.endswith(b"\n") or not due:
        return None
    rows: list[bytes] = []
    others: list[tuple[int, int, int]] = []
    place = 0
    for number, line in enumerate(text.split(b"\n")[:-1]):
        if line.upper().startswith(marks):
            same = due[len(rows) % len(due)]
            if (len(line), line[:first], line[behind:]) != (len(same), same[:first], same[behind:]) or len(
                line
            ) < behind:
                return None
            rows.append(line)
        else:
            others.append((number, place, place + len(line.removesuffix(b"\r"))))
        place += len(line) + 1
    tokens = [cut_field(rows, *place, "d") for place in layout]
    try:
        columns = [np.array([parse_real(token, 0) for token in words], np.float64) for words in tokens]
    except (ValueError, OverflowError):
        return None
    return None if len(rows) % len(due) else (columns, len(rows), np.array(others, np.int64).reshape(-1, 3))


def cut_field(lines: list[bytes], start: int, stop: int, kind: str) -> list[bytes]:
    """Return the field of every line, without the blanks around it unless it is raw."""
    if kind == "r":
        return [line[start:stop] for line in lines]
    return [line[start:stop].strip(b" \t") for line in lines]


def check_fields(tokens: list[list[bytes]], layout: Layout, numbers: list[int]) -> None:
    """Raise what is wrong with the first line that has a wrong number, at its first one."""
    faults: list[tuple[int, int, str]] = []
    for k, (words, (_, _, kind)) in enumerate(zip(tokens, layout, strict=True)):
        if kind not in NUMBERS:
            continue
        for row, word in enumerate(words):
            try:
                _ = word and NUMBERS[kind][0](word)
            except (ValueError, OverflowError) as error:
                faults.append((row, k, "range" if isinstance(error, OverflowError) else "number"))
                break
    if faults:
        row, k, fault = min(faults)
        raise ScanError(
            fault,  # type: ignore[arg-type]
            row=row,
            column=k,
            found=numbers[row],
            due=len(layout),
            letter=layout[k][2],
            token=tokens[k][row],
        )


def column_of(words: list[bytes], kind: str) -> Any:
    """Convert a field of all lines; a blank number is 0."""
    if kind not in NUMBERS:
        return intern(words, len(words))
    convert, dtype = NUMBERS[kind]
    return np.array([convert(word) if word else 0 for word in words], dtype)


def mask_of(words: list[bytes], kind: str) -> NDArray[np.bool_] | None:
    """Tell blank numbers; None where there is none."""
    if kind not in NUMBERS or all(words):
        return None
    return np.array([bool(word) for word in words], np.bool_)


def find_line(data: Buffer, start: int, marked: list[bytes]) -> tuple[int, int]:
    """Pass lines until one begins with a mark."""
    text, marks = bytes(data), tuple(mark.upper() for mark in marked)
    if start > len(text):
        raise ValueError("start lies behind the end of the data")
    longest = max(map(len, marks), default=0)
    lines, place = 0, start
    while not (marks and text[place : place + longest].upper().startswith(marks)):
        stop = text.find(b"\n", place)
        if stop < 0:
            break
        lines, place = lines + 1, stop + 1
    return lines, place
