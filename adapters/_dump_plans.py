"""Which plan the atom lines of a snapshot have: by the names in its header, and by what stands in its first line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from molrec_convert.text.lines import decoded
from molrec_convert.text.window import Window

from ._dump_cell import NUMBER
from ._dump_columns import BY_SOURCE, Plan, may_hold_words, plan_of
from ._dump_header import Header

WORD = "word"
"""What stands for the first token of a column of text."""


class NamedColumns(NamedTuple):
    """The names in a header's line of columns.

    Parameters
    ----------
    names
        The names.
    doubtful
        The places of those that may be of text.
    of_numbers
        What an atom line is like in which those hold numbers.
    """

    names: list[bytes]
    doubtful: list[int]
    of_numbers: re.Pattern[bytes]


class Plans:
    """The plans of a file; a column that once held words is of text from then on.

    Parameters
    ----------
    form
        The position form to take where it is there.
    """

    def __init__(self, *, form: str | None) -> None:
        self._form = form
        self._names: dict[bytes, NamedColumns] = {}
        self._words: set[bytes] = set()
        self._plans: dict[tuple[bytes, tuple[int, ...]], Plan] = {}
        self._last: Plan | None = None

    def of(self, header: Header, window: Window, *, dimensionless: bool) -> Plan:
        """The plan of the atom lines behind a header, at which the window stands."""
        columns = self._names.get(header.columns)
        if columns is None:
            columns = self._names[header.columns] = named_columns(header.columns)
        names, doubtful, _ = columns
        row: list[bytes] = []
        if header.atoms:
            row = window.peek(64 * len(names) + 256).split(b"\n", 1)[0].split()[: len(names)]
        elif self._last is not None and list(self._last.names) == [decoded(name) for name in names]:
            return self._last
        held = [k for k in doubtful if k < len(row) and (names[k] in self._words or not _is_plain_number(row[k]))]
        key = (header.columns, tuple(held))
        plan = self._plans.get(key)
        if plan is None:
            self._words |= {names[k] for k in held if may_hold_words(decoded(names[k]))}
            plan = plan_of(
                [decoded(name) for name in names],
                [WORD if k in held else decoded(token) for k, token in enumerate(row)],
                dimensionless=dimensionless,
                form=self._form,
            )
            self._plans[key] = plan
        self._last = plan
        return plan

    def first_row(self, header: Header, plan: Plan) -> Callable[[bytes], Any] | None:
        """Tells whether atom lines begin with one of this plan; None where each has to be looked at closely."""
        if self._words or self._plans.get((header.columns, ())) is not plan:
            return None
        return self._names[header.columns].of_numbers.match


def named_columns(text: bytes) -> NamedColumns:
    """The names after ``ITEM: ATOMS``."""
    names = text.split()
    doubtful = [k for k, name in enumerate(names) if _may_be_text(name)]
    tokens = [NUMBER if k in doubtful else rb"\S++" for k in range(max(doubtful, default=-1) + 1)]
    pattern = rb"[ \t]*+" + rb"[ \t]++".join(tokens) + rb"[ \t\r\n]" if tokens else b""
    return NamedColumns(names, doubtful, re.compile(pattern))


def _may_be_text(name: bytes) -> bool:
    row = BY_SOURCE.get(decoded(name))
    return row is None or row.kind == "?"


def _is_plain_number(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
