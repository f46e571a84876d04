"""GRO atom lines that do not keep to the columns of the others: edited by hand, or shifted by a number too long.

The numbers of such a line are told by the blanks between them, or by their decimals where they touch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from molrec_convert.text.faults import quote
from molrec_convert.text.lines import decoded

from ._gro_layout import LEFT, POSITIONS, START, VELOCITIES, WIDTH, Layout, Triple, is_real

NAMES = (*POSITIONS, *VELOCITIES)
INTEGER = re.compile(rb"-?[0-9]{1,18}|\*+|")
"""A residue or atom number, or what stands in the place of one that is not known."""
CALLED = {"res_seq": "residue number", "number": "atom number"}
DIGITS = re.compile(rb" *([0-9]{1,18})")
MOST_BOX = 9


class OddLineError(Exception):
    """A line that cannot be read; the message is one clause."""


@dataclass(slots=True)
class Cut:
    """The fields of a line.

    Parameters
    ----------
    left
        Those before the positions, by name.
    numbers
        Three positions, or these and three velocities.
    rest
        What stands behind them.
    odd
        Whether they stand in other columns than those of the other lines.
    """

    left: dict[str, bytes]
    numbers: list[bytes]
    rest: bytes = b""
    odd: bool = False


def cut_line(line: bytes, layout: Layout | None) -> Cut:
    """The fields of a line.

    Parameters
    ----------
    line
        Its text.
    layout
        Where the numbers of the other lines stand; None where none told.

    Raises
    ------
    OddLineError
        Where it is no atom line, or ends too early.
    """
    if _is_box(line):
        raise OddLineError("an atom line is due, not a box: the number of atoms is wrong")
    if layout is not None and _has_points(line, layout.positions):
        return _in_columns(line, layout)
    found = list(_out_of_columns(line, layout))
    if len(found) == 1:
        return found[0]
    if found:
        raise OddLineError("the atom line can be read in several ways, as numbers have outgrown their columns")
    raise OddLineError(_fault(line, layout))


def _has_points(line: bytes, triple: Triple) -> bool:
    """Whether a line has points where three numbers have theirs, as far as it goes."""
    points = [column for column in triple.points if column < len(line)]
    return bool(points) and all(line[column : column + 1] == b"." for column in points)


def _in_columns(line: bytes, layout: Layout) -> Cut:
    left = {name: line[place.start : place.stop].strip() for name, place in LEFT.items()}
    _check_left(left)
    if len(line) < layout.positions.end:
        raise OddLineError(_too_short(line, layout.positions, "positions"))
    numbers = _numbers(line, layout.positions, POSITIONS)
    rest = line[layout.positions.end :]
    velocities = layout.velocities
    if velocities is not None and len(line) > layout.positions.end and _has_points(line, velocities):
        if len(line) < velocities.end:
            raise OddLineError(_too_short(line, velocities, "velocities"))
        return Cut(left, numbers + _numbers(line, velocities, VELOCITIES), line[velocities.end :].strip())
    words = rest.split()
    count = next((k for k, word in enumerate(words) if not is_real(word)), len(words))
    if 0 < count < len(VELOCITIES):
        raise OddLineError(f"an atom has 3 velocities or none, this one {count}")
    return Cut(left, numbers + words[: min(count, 3)], b" ".join(words[min(count, 3) :]), odd=count > 0)


def _check_left(left: dict[str, bytes]) -> None:
    for name, what in CALLED.items():
        if not INTEGER.fullmatch(left[name]):
            place = LEFT[name]
            where = f"columns {place.start + 1}-{place.stop}"
            raise OddLineError(f"{what} in {where}: {quote(decoded(left[name]))} is not an integer")


def _numbers(line: bytes, triple: Triple, names: tuple[str, ...]) -> list[bytes]:
    words = [line[field.start : field.stop].strip() for field in triple.fields()]
    for name, word, field in zip(names, words, triple.fields(), strict=True):
        if not is_real(word):
            what = f"{quote(decoded(word))} is not a number" if word else "is blank"
            raise OddLineError(f"{name} in columns {field.start + 1}-{field.stop}: {what}")
    return words


def _out_of_columns(line: bytes, layout: Layout | None) -> Iterator[Cut]:
    """The ways to read a line in which residue and atom number may be longer than their columns."""
    for longer in range(WIDTH):
        head = line[: WIDTH + longer]
        if longer and not head.isdigit():
            return
        digits = DIGITS.match(line, 3 * WIDTH + longer)
        end = START + longer
        if digits is not None and digits.end() > end and len(digits[1]) > WIDTH:
            end = digits.end()
        left = {
            "res_seq": head.strip(),
            "res_name": line[WIDTH + longer : 2 * WIDTH + longer].strip(),
            "name": line[2 * WIDTH + longer : 3 * WIDTH + longer].strip(),
            "number": line[3 * WIDTH + longer : end].strip(),
        }
        words = _words(line[end:], layout)
        if words and all(INTEGER.fullmatch(left[name]) for name in CALLED):
            yield Cut(left, words, odd=True)


def _words(text: bytes, layout: Layout | None) -> list[bytes]:
    """Three or six numbers, parted by blanks or else by their decimals; none where there are others."""
    words = text.split()
    if len(words) in (3, 6) and _are_reals(words):
        return words
    if layout is None:
        return []
    found: list[bytes] = []
    place = 0
    for triple in layout.triples:
        match = re.compile(rb"\s*([-+]?[0-9]+\.[0-9]{%d})" % triple.decimals * 3).match(text, place)
        if match is None:
            break
        found += match.groups()
        place = match.end()
    return [] if text[place:].strip() else found


def _fault(line: bytes, layout: Layout | None) -> str:
    """What is wrong with a line that cannot be read at all."""
    length = len(line.rstrip())
    if length <= START:
        return f"the line ends after {length} columns, and positions begin in column {START + 1}"
    left = {name: line[place.start : place.stop].strip() for name, place in LEFT.items()}
    try:
        _check_left(left)
        if layout is not None and length >= layout.positions.end:
            _numbers(line, layout.positions, POSITIONS)
    except OddLineError as error:
        return str(error)
    words = line[START:].split()
    wrong = next((word for word in words if not is_real(word)), None)
    if wrong is not None:
        return f"{quote(decoded(wrong))} is not a number"
    if layout is not None and len(words) < len(POSITIONS):
        return _too_short(line, layout.positions, "positions")
    return f"an atom line has 3 positions, or 3 positions and 3 velocities, this one {len(words)} numbers"


def _too_short(line: bytes, triple: Triple, what: str) -> str:
    return f"the line ends after {len(line.rstrip())} columns, the {what} need {triple.end}"


def _is_box(line: bytes) -> bool:
    words = line.split()
    return 3 <= len(words) <= MOST_BOX and b"." in words[0] and _are_reals(words)


def _are_reals(words: list[bytes]) -> bool:
    return bool(words) and all(map(is_real, words))
