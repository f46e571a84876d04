"""Writes Atoms to a record for `ase.io`, and adds them to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molrec_convert import api
from molrec_convert.adapter import Note, Snapshot
from molrec_convert.adapters.ase_atoms import KEYS, UNITS, ColumnNames
from molrec_convert.errors import OptionError, RecordError
from molrec_convert.forms import HDF5, form_of_content, form_of_name
from molrec_convert.frames import FrameSelection
from molrec_convert.inputs import RecordInput
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT
from molrec_convert.model import Meta
from molrec_convert.model.origin import declared_units
from molrec_convert.outputs import Carry, RecordOutput
from molrec_convert.part import PartFile
from molrec_convert.records import open_for_append
from molrec_convert.sniff import is_replaceable
from molrec_convert.steps import converted

from .ase_fitting import Fitted, fitted
from .ase_record import Told, document_of, snapshots_of

if TYPE_CHECKING:
    from ase import Atoms


def write_atoms(path: Path, images: Iterable[Atoms], *, strict: bool, series: bool = False) -> None:
    """Write Atoms, one as a frame, unless it begins a series, several as a trajectory; see `ase_io.write_molrec`."""
    several, told = list(images), Told()
    if not several:
        raise OptionError("there are no ASE Atoms to make a record of", path=path)
    snapshots = snapshots_of(several, told, strict=strict)
    _write(path, snapshots, told, lambda: document_of(told), series=series or len(several) > 1)
    told.warn()


def append_atoms(path: Path, images: Iterable[Atoms], *, strict: bool) -> None:
    """Add Atoms to a record; begin one as a trajectory where there is none.

    Frames that fit the declaration of its trajectory are added to the record as it is. Others, which bring a new
    column or another number of atoms, make it anew under a wider declaration.
    """
    if not path.exists():
        write_atoms(path, images, strict=strict, series=True)
        return
    told = Told(path.name)
    with api.open(path) as record:
        names, units = ColumnNames.of_record(record), declared_units(record.meta)
        snapshots = [_in_units(each, units, told) for each in snapshots_of(images, told, strict=strict, names=names)]
        if not snapshots:
            raise OptionError("there are no ASE Atoms to add", path=path)
        fitting = fitted(record, snapshots)
    if fitting is None or not _is_appended(path, fitting):
        _write_anew(path, snapshots, told)
    told.warn()


def _write(
    path: Path,
    snapshots: Iterable[Snapshot],
    told: Told,
    document: Callable[[], Mapping[str, Any]],
    *,
    series: bool,
    carry: Carry | None = None,
) -> None:
    """Write a record, which gets its name when it is complete; the document is asked for after the last frame."""
    form = (form_of_content(path) if path.exists() else None) or form_of_name(path) or HDF5
    part = PartFile(path, force=True, replaceable=is_replaceable, form=form)
    with ThreadPoolExecutor(max_workers=2) as executor, part:
        output = RecordOutput(part, series=series, executor=executor, carry=carry)
        try:
            for snapshot in snapshots:
                output.add(snapshot)
            told.add(output.notes)
            output.finish(dict(document()))
            part.commit()
        except BaseException:
            output.discard()
            raise


def _write_anew(path: Path, snapshots: Sequence[Snapshot], told: Told) -> None:
    """Write the frames of a record and others to a new one in its place."""
    found = RecordInput(path)
    try:
        _write(path, _continued(found, snapshots), told, found.provenance, series=True, carry=found.carry)
    finally:
        found.close()


def _continued(found: RecordInput, snapshots: Sequence[Snapshot]) -> Iterator[Snapshot]:
    """The frames of a record, and then the others, whose steps go on by one."""
    last: int | None = None
    with ThreadPoolExecutor(max_workers=1) as executor:
        for snapshot in found.snapshots(FrameSelection(), executor, None):
            last = snapshot.step
            _set_apart(snapshot)
            yield snapshot
    for snapshot in snapshots:
        last = None if last is None else last + 1
        snapshot.step = last
        yield snapshot


def _set_apart(snapshot: Snapshot) -> None:
    """Put facts about Atoms, which a frame alone has among its values, where a trajectory keeps them once."""
    meta, about = snapshot.frame.meta, Meta(snapshot.about)
    for key in KEYS & meta.keys():
        about.set(key, meta[key], tag=meta.tag(key))
        del meta[key]
    snapshot.about = about


def _in_units(snapshot: Snapshot, units: Mapping[str, str] | None, told: Told) -> Snapshot:
    """The snapshot in the units of the record."""
    if units == UNITS:
        return snapshot
    if units is None:
        told.add([Note("the units of the record are not known, and are taken for those of ASE")])
        return snapshot
    if units == DIMENSIONLESS_DOCUMENT:
        raise OptionError("the numbers of the record have no dimension, those of ASE Atoms do")
    snapshot = converted(snapshot, UNITS, units)
    snapshot.units = units
    return snapshot


def _is_appended(path: Path, frames: Sequence[Fitted]) -> bool:
    """Whether the frames were added to the record as it is, which then has all of them; else it has none."""
    try:
        with open_for_append(path) as writer:
            trajectory = writer.trajectory
            assert trajectory is not None
            for frame, step, time in frames:
                trajectory.append(frame, step=step, time=time)
    except RecordError:  # a record that other programs wrote need not be one that grows
        return False
    return True
