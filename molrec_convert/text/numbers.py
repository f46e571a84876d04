"""Single numbers of a header line, by the grammar of the tables."""

from __future__ import annotations

from . import engine
from .faults import NOUNS, RANGES, quote


def parse_real(text: bytes | str, dialect: int = 0) -> float:
    """Return the real a token spells; ValueError says in a clause that it is none."""
    token = encode(text)
    try:
        return engine.active.parse_real(token, dialect)
    except ValueError:
        raise ValueError(f"{quote(decode(token))} is not {NOUNS['d']}") from None


def parse_integer(text: bytes | str) -> int:
    """Return the integer a token spells; ValueError says in a clause what is wrong."""
    token = encode(text)
    try:
        return engine.active.parse_integer(token)
    except OverflowError:
        raise ValueError(f"{quote(decode(token))} does not fit {RANGES['i']}") from None
    except ValueError:
        raise ValueError(f"{quote(decode(token))} is not {NOUNS['i']}") from None


def encode(text: bytes | str) -> bytes:
    """Return the token as bytes; what is not ASCII is no number in either form."""
    return text.encode("utf-8", "backslashreplace") if isinstance(text, str) else bytes(text)


def decode(token: bytes) -> str:
    """Return the token for a message."""
    return token.decode("utf-8", "backslashreplace")
