"""Why a file failed, as data: what a person is told, where it is, and of what kind it is."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from molrec_convert import errors

FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
FULL_TEXTS = ("no space left on device", "disk quota exceeded", "the disk is full")

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "format": "the file breaks its format",
        "truncated": "the file is cut short",
        "unknown": "the format is not recognised",
        "record": "what it holds breaks a rule of MolRec",
        "option": "an option does not fit it",
        "library": "a library is missing",
        "target": "the record cannot be written",
        "system": "the file cannot be read",
        "memory": "the memory does not suffice",
        "crash": "the worker died",
        "timeout": "it took too long",
        "lost": "the machine was lost",
        "verification": "the record is not what the source says",
        "refused": "it was refused before it was read",
        "gone": "the source has gone",
        "space": "the disk is full",
        "internal": "a fault of this program",
        "error": "another error",
    }
)
"""What kinds of failures there are."""


class MismatchError(errors.ConvertError):
    """A record does not say what its source says."""


_OF_ERRORS: tuple[tuple[type[BaseException], str], ...] = (
    (MismatchError, "verification"),
    (errors.TruncatedError, "truncated"),
    (errors.FormatError, "format"),
    (errors.UnknownFormatError, "unknown"),
    (errors.OptionError, "option"),
    (errors.LossError, "option"),
    (errors.RecordError, "record"),
    (errors.MissingExtraError, "library"),
    (errors.TargetError, "target"),
    (errors.ConvertError, "error"),
    (MemoryError, "memory"),
    (OSError, "system"),
)


class Failure(NamedTuple):
    """Why a file failed."""

    kind: str
    text: str
    line: int | None = None
    frame: int | None = None
    message: str = ""
    """The text without the place."""


def failure_of(error: BaseException) -> Failure:
    """What to tell of an error."""
    if any(_is_full(each) for each in _chain(error)):
        return Failure("space", "the disk is full")
    kind = next((kind for each, kind in _OF_ERRORS if isinstance(error, each)), "internal")
    if isinstance(error, errors.ConvertError):
        return Failure(kind, str(error), error.line, error.frame, error.message)
    if kind == "memory":
        return Failure(kind, "out of memory")
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return Failure(kind, f"{name}{(error.strerror or str(error)).lower()}")
    where = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" at {each.filename.rpartition('/')[2]}:{each.lineno}" for each in where)
    return Failure(kind, f"{type(error).__name__}{place}: {' '.join(str(error).split())}")


def without_source(source: str, text: str) -> str:
    """What is told of a source, where the source itself stands before it already."""
    return text.removeprefix(f"{source}: ")


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    return isinstance(error, OSError | errors.ConvertError) and any(text in str(error).lower() for text in FULL_TEXTS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
