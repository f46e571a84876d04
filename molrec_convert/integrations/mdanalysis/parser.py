"""The topology of a record."""

from __future__ import annotations

from typing import Any

from MDAnalysis.core.topology import Topology
from MDAnalysis.topology.base import TopologyReaderBase

from molrec_convert.adapter import Snapshot
from molrec_convert.adapters.mda_universe import CONNECTIONS, to_topology
from molrec_convert.integrations.user_warnings import warn

from ._atoms import Select
from ._frames import Frames
from ._opening import FORMATS, is_source, opened


class MolRecParser(TopologyReaderBase):  # type: ignore[misc] # MDAnalysis has no types
    """Reads the topology of a record: all attributes and connections that it has.

    What moves with the frames (charges, bonds) is that of the first frame.
    """

    format = FORMATS

    @staticmethod
    def _format_hint(thing: Any) -> bool:
        """Whether this is a record, whatever its name."""
        return is_source(thing)

    def parse(self, select: Select = None, **kwargs: Any) -> Topology:
        """Make the topology.

        Parameters
        ----------
        select
            As `MolRecReader` takes it.
        kwargs
            Keywords of readers.

        Raises
        ------
        RecordError
            If there are no atoms, or the file breaks MolRec.
        """
        del kwargs
        with opened(self.filename) as record:
            frames = Frames(record, select=select)
            if changing := [name for name in CONNECTIONS if frames.changing(name)]:
                warn(f"{self.filename}: {', '.join(changing)} change between frames; those of frame 0 are taken")
            return to_topology(Snapshot(frames.first()))
