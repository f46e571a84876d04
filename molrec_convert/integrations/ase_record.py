"""Records of ASE Atoms and Atoms of records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from molrec_convert import __version__
from molrec_convert.adapter import Note, Snapshot
from molrec_convert.adapters.ase_atoms import UNITS, ColumnNames, from_atoms, to_atoms
from molrec_convert.api import in_memory
from molrec_convert.errors import LossError, OptionError
from molrec_convert.frames import Frames, FrameSelection
from molrec_convert.mapping.units import stated
from molrec_convert.model import Frame, Record
from molrec_convert.placement import Placement
from molrec_convert.record_frames import record_snapshots

from .user_warnings import warn_of

if TYPE_CHECKING:
    from ase import Atoms

FORMAT = "ase:atoms"
"""The format of a record's source where that was no file."""
NUMBER = re.compile(r" \(\d+\)")
"""How many there are of what is lost, which may differ from frame to frame."""


def from_ase(atoms: Atoms | Iterable[Atoms], *, strict: bool = False) -> Record:
    """Make a record of ASE Atoms, from which `Record.to_ase` makes the same Atoms to the last bit.

    Parameters
    ----------
    atoms
        One Atoms: a record of one frame. Several, as a list or any other iterable: a record with a trajectory, whose
        steps count them; whatever stays the same in all of them stands in ``system``.
    strict
        Refuse what a record cannot hold, such as a function in ``info``; else it is left out with a warning.

    Returns
    -------
    Record
        In memory; `molrec_convert.write` takes it. ``meta["units"]`` names the units of ASE (Å, eV, eV/Å, amu, e,
        eV/Å³; velocities, which derive from momenta, are in Å/ps). Results of a calculator are taken where it has
        them and they belong to these atoms: ``pe``, ``fx fy fz``, ``stress`` and others under their own names.

    Raises
    ------
    OptionError
        For no Atoms, or something else among them.
    LossError
        Where something would be left out, if that is not allowed.

    Warns
    -----
    LossWarning
        For all that was left out.
    ConvertWarning
        For what a person should know, such as results that are out of date.
    """
    single = hasattr(atoms, "arrays") and hasattr(atoms, "cell")
    images: Iterable[Any] = [atoms] if single else atoms
    told = Told()
    placement = Placement()
    snapshots = []
    for snapshot in snapshots_of(images, told, strict=strict):
        placement.learn(snapshot)
        snapshots.append(snapshot)
    if not snapshots:
        raise OptionError("there are no ASE Atoms to make a record of")
    told.add(placement.notes)
    told.warn()
    return in_memory(placement, snapshots, document_of(told), series=not single)


def snapshots_of(
    images: Iterable[Atoms], told: Told, *, strict: bool = False, names: ColumnNames | None = None
) -> Iterator[Snapshot]:
    """The snapshots of several Atoms; `LossError` for what a record cannot hold, where `strict`."""
    names = names or ColumnNames()
    for ordinal, image in enumerate(images):
        try:
            snapshot = from_atoms(image, names=names)
        except OptionError as error:
            error.frame = ordinal
            raise
        for note in snapshot.notes:
            if strict and note.loss:
                raise LossError(note.message, frame=ordinal)
        told.add(snapshot.notes)
        yield snapshot


def document_of(told: Told) -> dict[str, Any]:
    """The document of a record of Atoms."""
    made: dict[str, Any] = {
        "source": {"format": FORMAT, "library": {"name": "ase", "version": version("ase")}},
        "units": dict(UNITS),
        "creator": {"name": "molrec-convert", "version": __version__},
    }
    if told:
        made["convert"] = {"warnings": told.texts()}
    return made


class Told:
    """What a person is told of several frames, each once.

    Parameters
    ----------
    who
        What stands before each message: the name of a file.
    """

    def __init__(self, who: str = "") -> None:
        self._who = who
        self._notes: dict[str, tuple[Note, int]] = {}
        self._warned = 0

    def add(self, notes: Iterable[Note]) -> None:
        """Take the notes of a frame."""
        for note in notes:
            kind = NUMBER.sub("", note.message)
            first, count = self._notes.get(kind, (note, 0))
            self._notes[kind] = (first, count + 1)

    def __bool__(self) -> bool:
        return bool(self._notes)

    def texts(self) -> list[str]:
        """The messages, each with its number."""
        return [note.message for note in self._told()]

    def _told(self) -> list[Note]:
        return [
            Note(note.message + (f" (in {count} frames)" if count > 1 else ""), loss=note.loss)
            for note, count in self._notes.values()
        ]

    def warn(self) -> None:
        """Warn of what was not warned of before, of all losses at once."""
        warn_of(self._told()[self._warned :], who=self._who)
        self._warned = len(self._notes)


# ---------------------------------------------------------------- Atoms of records
def atoms_of(record: Record, chosen: Iterable[int], *, who: str = "") -> Iterator[Atoms]:
    """The Atoms of frames of a record, each made when it is asked for.

    Warns
    -----
    LossWarning
        For what Atoms cannot hold, once for all frames.
    """
    told = Told(who)
    for snapshot in record_snapshots(record, list(chosen)):
        yield told_atoms(snapshot, told)


def told_atoms(snapshot: Snapshot, told: Told) -> Atoms:
    """The Atoms of a snapshot; warns of what is new."""
    made: Atoms = to_atoms(snapshot)
    if snapshot.notes:
        told.add(snapshot.notes)
        told.warn()
    return made


def record_to_ase(record: Record, index: Frames) -> Atoms | list[Atoms]:
    """The Atoms of a record; see `Record.to_ase`."""
    chosen = _chosen(record, index)
    if isinstance(chosen, int):
        return next(atoms_of(record, [chosen]))
    if index is None and record.trajectory is None:
        if not len(record):
            raise OptionError("there is no frame to make ASE Atoms of")
        return next(atoms_of(record, [0]))
    return list(atoms_of(record, chosen))


def iterated(record: Record, index: Frames) -> Iterator[Atoms]:
    """The Atoms of a record, each when it is asked for; see `Record.iter_ase`."""
    chosen = _chosen(record, index)
    return atoms_of(record, [chosen] if isinstance(chosen, int) else chosen)


def _chosen(record: Record, index: Frames) -> int | Sequence[int]:
    """The ordinal of the one frame that a number chooses, or those of some, of a slice in its own order."""
    total, selection = len(record), FrameSelection.of_frames(index)
    is_sequence = not isinstance(index, str | slice) and hasattr(index, "__iter__")
    if len(selection.parts) != 1 or is_sequence:
        return selection.of(total)
    part = selection.parts[0]
    if isinstance(part, slice):
        return range(total)[part]
    if not -total <= part < total:
        raise IndexError(f"frame {part} of {total}")
    return part % total


def frame_to_ase(frame: Frame, units: str | Mapping[str, str] | None) -> Atoms:
    """The Atoms of a frame; see `Frame.to_ase`."""
    origin = frame.origin
    given = stated(units)
    snapshot = Snapshot(Frame.of(dict(frame.items()), frame.box, frame.meta), units=given)
    if origin is not None:
        snapshot.step, snapshot.time, snapshot.about = origin.step, origin.time, origin.about
        snapshot.units = origin.units if given is None else given
    return told_atoms(snapshot, Told())
