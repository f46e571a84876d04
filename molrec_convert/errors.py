"""The errors and warnings of the project: each names the file, the line or place, and what was due."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any


class ConvertError(Exception):
    """The root of all errors that a bad input, a bad record or an impossible request causes.

    Parameters
    ----------
    message
        One lower-case clause without a full stop: what was found and what was due.
    path
        The file concerned.
    line
        1-based line of a text file.
    frame
        0-based ordinal of the frame concerned.
    place
        Place in the tree of a record, such as ``/trajectory/atoms/x``.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        frame: int | None = None,
        place: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.frame = frame
        self.place = place

    def __str__(self) -> str:
        """``water.dump:17 (frame 3): an atom line has 5 columns, this one 4``."""
        return located(self.message, path=self.path, line=self.line, frame=self.frame, place=self.place)


def located(
    message: str,
    *,
    path: str | Path | None = None,
    line: int | None = None,
    frame: int | None = None,
    place: str | None = None,
) -> str:
    """Put the place of a fault in front of its message."""
    where = "" if path is None else str(path)
    if line is not None:
        where = f"{where}:{line}" if where else f"line {line}"
    if place is not None:
        where = f"{where}: {place}" if where else place
    if frame is not None:
        where = f"{where} (frame {frame})" if where else f"frame {frame}"
    return f"{where}: {message}" if where else message


class FormatError(ConvertError, ValueError):
    """A file breaks the rules of its format."""


class TruncatedError(FormatError):
    """A file ends inside a frame; the frames before it are whole."""


class UnknownFormatError(ConvertError, LookupError):
    """No adapter goes by this name, or none recognises this file."""


class OptionError(ConvertError, ValueError):
    """An option does not fit, or two options contradict each other."""


class LossError(ConvertError, ValueError):
    """The target cannot hold what the source has, and no loss was allowed.

    `report` is that of the conversion as plain data, as far as it had come; empty where there is none.
    """

    report: Mapping[str, Any] = MappingProxyType({})


class RecordError(ConvertError, ValueError):
    """A record, or what is to become one, breaks a rule of MolRec.

    Parameters
    ----------
    message, path, line, frame, place
        As for `ConvertError`.
    rule
        The number of the rule in `molrec_convert.rules`, where one is known.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        frame: int | None = None,
        place: str | None = None,
        rule: int | None = None,
    ) -> None:
        super().__init__(message, path=path, line=line, frame=frame, place=place)
        self.rule = rule


class MissingExtraError(ConvertError):
    """An optional library is needed and not installed; the message has the line that installs it."""


class TargetError(ConvertError, OSError):
    """The target exists, or cannot be written."""


class ConvertWarning(UserWarning):
    """Something was noticed that a person should know; nothing was lost."""


class LossWarning(ConvertWarning):
    """The target cannot hold a part of the source, and it was left out."""
