"""What can be wrong with text, before anyone knows which file and line it is."""

from __future__ import annotations

from typing import Literal

FaultKind = Literal["columns", "number", "range", "end"]

# What a column of this kind holds, for messages.
NOUNS = {"d": "a number", "i": "an integer", "u": "an unsigned integer"}
RANGES = {"i": "a signed 64-bit integer", "u": "an unsigned 64-bit integer"}
LONGEST_QUOTE = 40


class ScanError(ValueError):
    """Text that breaks the table or number layout asked for.

    Parameters
    ----------
    kind
        ``columns``: a line has the wrong number of tokens; ``number``: a token is no number of
        its column's kind; ``range``: an integer does not fit 64 bits; ``end``: the data ends
        before all rows are complete.
    row
        0-based row, or 0-based line where the layout is free.
    column
        0-based column, -1 where the whole line is at fault.
    found
        Tokens in the faulty line.
    due
        Tokens due in it; for ``end`` the rows due.
    letter
        Kind of the faulty column: ``d``, ``i`` or ``u``.
    token
        The faulty token.
    """

    def __init__(
        self,
        kind: FaultKind,
        *,
        row: int,
        column: int = -1,
        found: int = 0,
        due: int = 0,
        letter: str = " ",
        token: bytes = b"",
    ) -> None:
        self.kind = kind
        self.row = row
        self.column = column
        self.found = found
        self.due = due
        self.letter = letter
        self.token = token.decode("utf-8", "backslashreplace")
        super().__init__(self.describe("a line"))

    def describe(self, what: str = "a line") -> str:
        """Say in one clause what is wrong, calling a row `what`, such as ``an atom line``."""
        if self.kind == "columns":
            noun = "column" if self.due == 1 else "columns"
            return f"{what} has {self.due} {noun}, this one {self.found}"
        if self.kind == "end":
            noun, of, whole = (what.partition(" ")[2] or what).partition(" of ")
            plural = "" if self.due == 1 else "s"
            return f"the file ends after {self.row} of {self.due} {noun}{plural}{of}{whole}"
        if self.kind == "range":
            return f"{quote(self.token)} does not fit {RANGES[self.letter]}"
        return f"{quote(self.token)} is not {NOUNS[self.letter]}"


def quote(token: str) -> str:
    """Quote a token for a message, shortened when it is very long."""
    if len(token) > LONGEST_QUOTE:
        token = token[:LONGEST_QUOTE] + "…"
    return repr(token)


class StreamError(ValueError):
    """A compressed stream that cannot be read on; the message is one clause."""
