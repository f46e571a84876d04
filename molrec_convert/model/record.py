"""A record: the sections of a MolRec store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .frame import Frame
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ase import Atoms
    from MDAnalysis import Universe

    from molrec_convert.frames import Frames


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

    def to_ase(self, index: Frames = None) -> Atoms | list[Atoms]:
        """Make ASE Atoms of the frames, as `Frame.to_ase` does.

        Parameters
        ----------
        index
            One frame, or some; by default all: a number, a slice, a sequence of numbers, or text such as ``"::2"``
            and ``"0,5,-1"``.

        Returns
        -------
        Atoms or list of Atoms
            One Atoms for one frame: of a number, or of a record without a trajectory. Else a list.

        Raises
        ------
        OptionError
            For anything else.
        IndexError
            For the number of a frame that is not there.
        """
        from molrec_convert.integrations.ase_record import record_to_ase

        return record_to_ase(self, index)

    def iter_ase(self, index: Frames = None) -> Iterator[Atoms]:
        """Make ASE Atoms of the frames, or of some, as `to_ase` takes them, each when it is asked for."""
        from molrec_convert.integrations.ase_record import iterated

        return iterated(self, index)

    def to_mdanalysis(
        self,
        *,
        select: str | Iterable[int] | None = None,
        convert_units: bool = True,
        to_guess: Collection[str] = ("types", "masses"),
    ) -> Universe:
        """Make a universe of MDAnalysis, whose frames are read when they are asked for.

        Parameters
        ----------
        select
            ``"common"`` for the atoms that are in all frames, or ids of atoms; by default all atoms, which must be the
            same in every frame.
        convert_units
            False to hand all numbers through as they stand in the record.
        to_guess
            What MDAnalysis may guess where the record does not say it, and marks as guessed.

        Raises
        ------
        LossError
            With the frame, if the atoms are not the same in every frame and nothing is selected.
        """
        from molrec_convert.integrations.mda_record import to_mdanalysis

        return to_mdanalysis(self, select=select, convert_units=convert_units, to_guess=to_guess)

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
