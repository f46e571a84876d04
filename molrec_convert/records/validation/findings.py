"""What a validator found, and how it goes on after each fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from molrec_convert.errors import RecordError, located

P = ParamSpec("P")
R = TypeVar("R")
ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a store.

    Parameters
    ----------
    rule
        The number of the rule in `molrec_convert.rules.RULES`.
    severity
        ``error`` where a reader refuses the record, ``warning`` where it reads it though its writer broke the rule.
    place
        The place in the tree, such as ``/trajectory/atoms/x``; an attribute follows an ``@``.
    message
        What was found, and what was due.
    frame
        The ordinal of the frame, where one frame is at fault.
    """

    rule: int
    severity: str
    place: str
    message: str
    frame: int | None = None

    def __str__(self) -> str:
        """``/frame/atoms/id: error: id is u64[N], not u32[N] (rule 18)``."""
        return located(f"{self.severity}: {self.message} (rule {self.rule})", frame=self.frame, place=self.place)

    def as_json(self) -> dict[str, Any]:
        """A document of the finding."""
        return {name: getattr(self, name) for name in ("rule", "severity", "place", "frame", "message")}


class Findings:
    """Collects faults; what a reader would refuse with an exception is noted, and the next check goes on."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self._seen: set[Finding] = set()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Note the error of a check that a reader would refuse the record for."""
        if not isinstance(error, RecordError):
            return False
        self._add(Finding(error.rule or 39, ERROR, error.place or "/", error.message, error.frame))
        return True

    def tried(self, check: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """What a check gives; None, and its error noted, where it refuses."""
        with self:
            return check(*args, **kwargs)
        return None

    def warn(self, rule: int, place: str, message: str, frame: int | None = None) -> None:
        """Note what a reader takes, though the rule was broken."""
        self._add(Finding(rule, WARNING, place, message, frame))

    def _add(self, finding: Finding) -> None:
        if finding not in self._seen:
            self._seen.add(finding)
            self.found.append(finding)
