"""Every format that ASE reads or writes, as ``ase:<format>``.

Reference: https://ase-lib.org/ase/io/io.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molrec_convert.adapter import Adapter, Carries, Family, Snapshot
from molrec_convert.options import Options

from ._ase_table import CELL, MAP, PBC

if TYPE_CHECKING:
    from ase import Atoms
    from ase.io.formats import IOFormat

NAME = "ase"
LAYOUT = frozenset((MAP, CELL, PBC))
"""What says how Atoms keep the same facts."""
NO_FILES = frozenset(("molrec", "h5", "mysql", "postgresql", "db", "aselmdb", "bundletrajectory"))
"""What is no file of another format: records, databases, folders."""
SEVERAL_FILES = frozenset(("xtd",))
"""What is written as several files, of which one alone cannot be read."""
TRAJECTORIES = frozenset(
    ("castep-md", "cp2k-dcd", "dlp-history", "lammps-dump-binary", "lammps-dump-text",
     "netcdftrajectory", "traj", "vasp-xdatcar")
)  # fmt: skip
"""Formats that are sequences of frames even where there is one."""


class AtomsImporter:
    """Reads a file through `ase.io`; see `molrec_convert.adapter.FileImporter`."""

    def __init__(self, format_name: str, options: Options) -> None:
        del options
        self._format = format_name
        self._path = Path()

    def open(self, path: Path, *, atoms: int | None = None) -> None:
        """Take the path; how many images it holds is known at its end."""
        del atoms
        self._path = path

    def frames(self, ordinals: Sequence[int] | None) -> Iterator[Snapshot]:
        """The images of these numbers, or all: ASE reads them one after another."""
        from ase.io import iread

        from .ase_atoms import ColumnNames, from_atoms

        names = ColumnNames()
        wanted = None if ordinals is None else set(ordinals)
        last = None if ordinals is None else max(ordinals, default=-1)
        # A number or a slice at the end of the name, after an @, is no part of it to ASE.
        images = iread(self._path, index=":", format=self._format, do_not_split_by_at_sign=True)
        for ordinal, atoms in enumerate(images):
            if wanted is None or ordinal in wanted:
                yield from_atoms(atoms, names=names)
            if ordinal == last:
                return

    def close(self) -> None:
        """Nothing is open."""


class AtomsExporter:
    """Writes a file through `ase.io`; see `molrec_convert.adapter.FileExporter`."""

    def __init__(self, format_name: str, options: Options) -> None:
        del options
        self._format = format_name
        self._path = Path()
        self._waiting: list[Atoms] = []
        self._trajectory: Any = None

    def open(self, path: Path, first: Snapshot) -> None:
        """Take the path."""
        del first
        self._path = path
        if self._format == "traj":
            from ase.io.trajectory import TrajectoryWriter

            self._trajectory = TrajectoryWriter(path)  # type: ignore[no-untyped-call]

    def add(self, snapshot: Snapshot) -> None:
        """Write a frame where the format takes one after another; else keep it."""
        from ase.io import write

        from .ase_atoms import to_atoms

        atoms = to_atoms(snapshot)
        if self._trajectory is not None:
            self._trajectory.write(atoms)
        elif _appends(self._format):
            write(self._path, atoms, format=self._format, append=True)
        else:
            self._waiting.append(atoms)

    def close(self) -> None:
        """Write what was kept."""
        from ase.io import write

        if self._trajectory is not None:
            self._trajectory.close()
        elif self._waiting:
            images = self._waiting if not _known()[self._format].single else self._waiting[0]
            write(self._path, images, format=self._format)


@cache
def _known() -> dict[str, IOFormat]:
    from ase.io.formats import ioformats

    return {name: each for name, each in sorted(ioformats.items()) if name not in NO_FILES}


def _can(way: str, name: str) -> bool:
    """Whether a format goes one way, as far as this installation can tell."""
    try:
        return bool(getattr(_known()[name], f"can_{way}"))
    except (ImportError, AttributeError):  # AttributeError: ASE looks into functions that may be partial ones
        return False


def _appends(name: str) -> bool:
    return not _known()[name].single and _can("append", name)


def _formats() -> Sequence[str]:
    return list(_known())


def _adapter(name: str) -> Adapter | None:
    if name not in _known() or not (_can("read", name) or _can("write", name)):
        return None
    found = _known()[name]
    return Adapter(
        name=f"{NAME}:{name}",
        summary=f"{found.description}, through ASE",
        reference="https://ase-lib.org/ase/io/io.html",
        patterns=tuple(found.globs) + tuple(f"*.{each}" for each in found.extensions) or (f"*.{name}",),
        series=name in TRAJECTORIES,
        carries=Carries(frames=not found.single, varying=True),
        file_importer=partial(AtomsImporter, name) if _can("read", name) else None,
        file_exporter=partial(AtomsExporter, name) if _can("write", name) and name not in SEVERAL_FILES else None,
        library="ASE",
    )


def _named(name: str) -> str | None:
    """The format of a name: of its pattern first, then of its last part, as ASE has it."""
    for key, each in _known().items():
        if any(fnmatchcase(name, pattern) for pattern in each.globs):
            return key
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    for key, each in _known().items():
        if suffix and suffix in (extension.lower() for extension in each.extensions):
            return key
    return suffix if suffix in _known() else None


def _reads(name: str, head: bytes) -> str | None:
    found = [key for key, each in _known().items() if (each.magic or each.magic_regex) and each.match_magic(head)]
    named = _named(name)
    chosen = found[0] if found and named not in found else named
    return chosen if chosen is not None and _can("read", chosen) else None


def _writes(name: str) -> str | None:
    """The format of a name; pictures and the like, which are not read again, have to be asked for."""
    found = _named(name)
    works = found is not None and found not in SEVERAL_FILES and _can("write", found) and _can("read", found)
    return found if works else None


FAMILY = Family(
    name=NAME, library="ASE", formats=_formats, adapter=_adapter, reads=_reads, writes=_writes, layout=LAYOUT, order=2
)  # fmt: skip
