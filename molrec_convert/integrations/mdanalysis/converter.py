"""``u.atoms.convert_to("MOLREC")``."""

from __future__ import annotations

from typing import Any

from MDAnalysis.converters.base import ConverterBase

from molrec_convert.integrations.mda_record import from_mdanalysis
from molrec_convert.model import Record


class MolRecConverter(ConverterBase):  # type: ignore[misc] # MDAnalysis has no types
    """Converts atoms to a record."""

    lib = "MOLREC"

    def convert(self, obj: Any, frames: str | None = None, guessed: bool = False) -> Record:
        """Make a record of atoms.

        Parameters
        ----------
        obj
            An AtomGroup or a Universe.
        frames
            ``"all"`` for all frames, which are read when they are asked for; by default the current one, as it stands.
        guessed
            Take what MDAnalysis guessed, too.

        Raises
        ------
        TypeError
            For another object.
        """
        return from_mdanalysis(obj, frames="current" if frames is None else frames, guessed=guessed)
