"""A record: the sections of a MolRec store."""

from __future__ import annotations

from typing import Any

from .frame import Frame
from .trajectory import Trajectory


class Record:
    """The sections of a record.

    Parameters
    ----------
    meta
        A document of plain finite JSON about the whole record.
    frame
        The ``frame`` section: one snapshot.
    system
        The ``system`` section: what holds for every frame of the trajectory.
    trajectory
        The ``trajectory`` section.
    """

    def __init__(
        self,
        *,
        meta: dict[str, Any] | None = None,
        frame: Frame | None = None,
        system: Frame | None = None,
        trajectory: Trajectory | None = None,
    ) -> None:
        self.meta = meta or {}
        self.frame = frame
        self.system = system
        self.trajectory = trajectory

    def __len__(self) -> int:
        """The number of frames: of the trajectory, or 1 for a record of one frame."""
        return len(self.trajectory) if self.trajectory is not None else int(self.frame is not None)

    def __repr__(self) -> str:
        parts = [f"{name}: {part!r}" for name, part in self._sections() if part is not None]
        return f"{type(self).__name__}(" + "; ".join(parts) + ")"

    def _sections(self) -> list[tuple[str, Any]]:
        return [
            ("meta", list(self.meta) or None),
            ("frame", self.frame),
            ("system", self.system),
            ("trajectory", self.trajectory),
        ]

    def _repr_html_(self) -> str:
        from .view import record_html

        return record_html(self)
