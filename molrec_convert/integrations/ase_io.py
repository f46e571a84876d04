"""The plug-in of `ase.io`: ``ase.io.read("x.h5", ":")``, ``ase.io.write("x.mrec.h5", atoms)``.

Reference: https://ase-lib.org/ase/io/io.html, and ``ase.io.formats``, which loads this module with ASE itself.

Decisions: no extension is claimed. Two plug-ins that claim one make ASE drop the second, and ``h5`` is that of others,
too: a record in ``x.h5`` is found by its content. To write one under such a name, the format ``h5`` is offered, which
ASE takes for the extension where no other plug-in claims it; ``format="molrec"`` is taken in any case. A folder is for
ASE a format of its own, whatever its name, so that a record in a folder needs ``format="molrec"`` for reading, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ase.utils.plugins import ExternalIOFormat

if TYPE_CHECKING:
    from ase import Atoms

GLOBS = ["*.mrec.h5", "*.mrec.hdf5", "*.mrec.zip"]
MODULE = "molrec_convert.integrations.ase_io"

molrec = ExternalIOFormat(
    desc="MolRec record",
    code="+S",
    module=MODULE,
    glob=GLOBS,
    magic_regex=rb"\x89HDF\r\n\x1a\n.{0,4096}molrec_hdf5",
)
h5 = ExternalIOFormat(desc="MolRec record, by the extension h5", code="+S", module=MODULE)


def read_molrec(filename: str, index: int | slice = -1, *, prefix: str | None = None) -> Iterator[Atoms]:
    """Read Atoms from a record, each when it is asked for; called by `ase.io.read` and `ase.io.iread`.

    Parameters
    ----------
    filename
        The record.
    index
        One frame, or some.
    prefix
        Copy the results of the calculator to ``info`` and ``arrays``, too, with this before their names: ``REF_``
        makes ``REF_energy``, ``REF_forces``, ``REF_stress``.
    """
    from .ase_reading import read_atoms

    yield from read_atoms(filename, index, prefix=prefix)


def write_molrec(filename: str, images: Iterable[Atoms], append: bool = False, *, strict: bool = False) -> None:
    """Write Atoms to a record; called by `ase.io.write`.

    One Atoms becomes a record of one frame, several a trajectory. The file gets its name when it is complete; it
    replaces a record of this name, but no other file.

    Parameters
    ----------
    filename
        The record.
    images
        What to write.
    append
        Add the Atoms to those of the record; one that does not exist is begun as a trajectory.
    strict
        Refuse what a record cannot hold; else it is left out with a warning.
    """
    from .ase_writing import append_atoms, write_atoms

    if append:
        append_atoms(Path(filename), images, strict=strict)
    else:
        write_atoms(Path(filename), images, strict=strict)


read_h5, write_h5 = read_molrec, write_molrec
