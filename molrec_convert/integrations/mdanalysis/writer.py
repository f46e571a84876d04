"""Writes records from MDAnalysis: the topology once, and the frames."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from MDAnalysis.coordinates.base import WriterBase

from molrec_convert.adapters.mda_universe import UNIT_NAMES, UNITS, units_of
from molrec_convert.integrations.mda_record import LossNotes, document_of, moment_of
from molrec_convert.integrations.user_warnings import warn_of
from molrec_convert.outputs import RecordOutput
from molrec_convert.part import PartFile
from molrec_convert.sniff import is_replaceable
from molrec_convert.steps import Precision, Step

from ._opening import FORMATS
from ._still import Still


class MolRecWriter(WriterBase):  # type: ignore[misc] # MDAnalysis has no types
    """Writes a record: one frame as ``frame``, several as ``trajectory`` beside what stands still as ``system``.

    Attributes and connections are those at each write: what is changed in between moves with the frames.

    The record gets its name when it is complete, at the close; after an exception in a ``with`` block nothing is left.
    A record of this name is replaced, another file is not.

    Parameters
    ----------
    filename
        The path of the record.
    n_atoms
        The number of atoms.
    precision
        An absolute tolerance to which positions, velocities and forces are stored, or one for each column by name;
        by default they are stored as MDAnalysis has them, in binary32 widened to binary64.
    guessed
        Write what MDAnalysis guessed, too.
    kwargs
        Keywords of other writers, which mean nothing here.

    Raises
    ------
    TypeError
        Without the number of atoms.
    """

    format = FORMATS
    multiframe = True
    units = {quantity: names[UNITS[quantity]] for quantity, names in UNIT_NAMES.items()}  # noqa: RUF012 - their name

    def __init__(
        self,
        filename: str,
        n_atoms: int | None = None,
        *,
        precision: float | Mapping[str, float] | None = None,
        guessed: bool = False,
        **kwargs: Any,
    ) -> None:
        del kwargs
        self._output: RecordOutput | None = None
        if n_atoms is None:
            raise TypeError("a record is written of a known number of atoms: give n_atoms")
        self.filename, self.n_atoms = str(filename), n_atoms
        self._precision = _declared(precision)
        self._part: PartFile | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._still = Still(guessed=guessed)
        self._document: dict[str, Any] = {}
        self._told = LossNotes()

    def _write_next_frame(self, obj: Any) -> None:
        """Write the current frame of an AtomGroup or a Universe.

        Raises
        ------
        TypeError, ValueError
            For anything else, or another number of atoms.
        """
        try:
            atoms, trajectory = obj.atoms, obj.universe.trajectory
        except AttributeError:
            raise TypeError(f"a record is written of atoms with a trajectory, not of {type(obj).__name__}") from None
        if len(atoms) != self.n_atoms:
            raise ValueError(f"{len(atoms)} atoms, {self.n_atoms} are due")
        units = units_of(trajectory)
        static = self._still.of(atoms, units)
        made = self._still.upheld(moment_of(atoms, trajectory, static))
        self._told.add(made.notes)
        if self._output is None:
            self._begin()
            self._document = document_of(atoms, units, static.notes)
        assert self._output is not None
        try:
            self._output.add(made if self._precision is None else self._precision(made))
        except Exception as error:
            self._tell(error)
            raise

    def _tell(self, error: BaseException) -> None:
        assert self._part is not None
        self._part.tell(error)

    def _begin(self) -> None:
        self._part = PartFile(Path(self.filename), force=True, replaceable=is_replaceable)
        self._executor = ThreadPoolExecutor(max_workers=2)
        self._output = RecordOutput(self._part, series=False, executor=self._executor)

    def close(self) -> None:
        """Complete the record; without a frame there is none."""
        output, self._output = self._output, None
        if output is None:
            return
        try:
            output.finish(self._document)
            assert self._part is not None
            self._part.commit()
            warn_of(output.notes, who=self.filename)
        except BaseException as error:
            output.discard()
            self._tell(error)
            raise
        finally:
            self._end()

    def _end(self) -> None:
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._output is not None:
            output, self._output = self._output, None
            output.discard()
            self._end()
        self.close()


def _declared(precision: float | Mapping[str, float] | None) -> Step | None:
    if precision is None:
        return None
    return Precision(precision if isinstance(precision, Mapping) else {"*": float(precision)})
