"""Every format that MDAnalysis reads or writes, as ``mda:<format>``.

A format may hold frames, a topology, or both. What of a file with both is read stands in every frame. Where a topology
states no elements, masses and standard residues tell them, as `_elements` says.

Reference: https://userguide.mdanalysis.org/stable/formats/index.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from molrec_convert.adapter import Adapter, Carries, Family, Role, Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.model import Block, Column, Frame
from molrec_convert.options import Options

from ._mda_told import add_elements, give_own_ids
from ._mda_xtc import PRECISION, XtcExporter, XtcImporter
from .mda_universe import LAYOUT

NAME = "mda"
IN_MEMORY = frozenset(
    ("CHAIN", "CHEMFILES", "IMD", "MEMORY", "MOLREC", "MREC", "NULL", "OPENMMAPP", "OPENMMSIMULATION",
     "OPENMMTOPOLOGY", "PARMED", "RDKIT")
)  # fmt: skip
"""What is no file of a format: objects of other libraries, lists of files, streams, and records."""
SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        **{name.lower(): name for name in (
            "ARC", "COOR", "CRD", "DMS", "GMS", "GSD", "H5MD", "INPCRD", "ITP", "MDCRD", "MMTF", "MOL2", "NAMDBIN",
            "NCDF", "PARM7", "PDBQT", "PQR", "PRMTOP", "PSF", "RESTRT", "TNG", "TOP", "TPR", "TRC", "TRJ", "TRZ",
            "TXYZ", "XTC")},
        "crdbox": "MDCRD",
        "ncrst": "NCDF",
        "rst7": "INPCRD",
    }
)  # fmt: skip
"""The names that are read and written through MDAnalysis unasked; ASE is asked about all others."""
TEXT = frozenset(
    ("ARC", "CONFIG", "CRD", "CRDBOX", "DATA", "ENT", "FHIAIMS", "GMS", "GRO", "HISTORY", "IN", "INPCRD", "ITP",
     "LAMMPSDUMP", "MDCRD", "MMCIF", "MOL2", "PARM7", "PDB", "PDBQT", "PQR", "PRMTOP", "PSF", "RESTRT", "TOP", "TRC",
     "TRJ", "TXYZ", "XML", "XPDB", "XYZ")
)  # fmt: skip
ATOMS = "atoms"
MOVING = ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz")
H5MD_UNITS: Mapping[str, str] = MappingProxyType(
    {"lengthunit": "Angstrom", "timeunit": "ps", "velocityunit": "Angstrom/ps", "forceunit": "kJ/(mol*Angstrom)"}
)
"""MDAnalysis's own, which this format wants to be told."""
NETCDF, AMBER = b"CDF", b"AMBER"
WHOLE = 1 << 16
"""A file of which so many bytes were looked at may go on."""
LEAVES_OFFSETS = frozenset(("TRR", "XTC"))
"""MDAnalysis leaves a file beside the source that says where its frames lie: here beside a link to it."""
AMBER_TOPOLOGY = b"%VERSION"
"""GROMACS gives the same suffix to text that MDAnalysis reads as ITP."""
XTC_MAGIC = (1995).to_bytes(4, "big")
MMCIF = b"_atom_site."


class UniverseImporter:
    """Reads a file through MDAnalysis; see `molrec_convert.adapter.FileImporter`."""

    def __init__(self, format_name: str, options: Options) -> None:
        self._guess = "elements" in options.guess
        self._format = format_name
        self._universe: Any = None
        self._folder: TemporaryDirectory[str] | None = None
        self._has_topology = format_name in _registry().parsers
        self._has_frames = format_name in _registry().readers

    def open(self, path: Path, *, atoms: int | None = None) -> int | None:
        """Make a universe of the file alone."""
        import MDAnalysis as mda

        if self._format in LEAVES_OFFSETS:
            self._folder = TemporaryDirectory(prefix="molrec-convert-")
            link = Path(self._folder.name) / path.name
            link.symlink_to(path.resolve())
            path = link
        name = str(path)
        if not self._has_frames:
            with _registry().parsers[self._format](name) as parser:
                self._universe = mda.Universe(parser.parse(), to_guess=())
            return 1
        if self._has_topology:
            self._universe = mda.Universe(name, topology_format=self._format, format=self._format, to_guess=())
        else:
            reader = _registry().readers[self._format]
            count = atoms if atoms is not None else reader.parse_n_atoms(name)
            self._universe = mda.Universe.empty(count, trajectory=False)
            self._universe.load_new(name, format=self._format)
        return len(self._universe.trajectory)

    def frames(self, ordinals: Sequence[int] | None) -> Iterator[Snapshot]:
        """The frames of these numbers, or all."""
        from .mda_universe import snapshot_of, static_part

        is_text = self._format in TEXT
        static = static_part(self._universe) if self._has_topology else None
        if static is not None:
            if is_text:
                as_written(static.frame, list(static.frame[ATOMS]))
            give_own_ids(static.frame, self._format)
            add_elements(static, guess=self._guess)
        if not self._has_frames:
            assert static is not None
            yield static
            return
        trajectory = self._universe.trajectory
        for ordinal in range(len(trajectory)) if ordinals is None else ordinals:
            snapshot = snapshot_of(trajectory[ordinal], static=static)
            if is_text:
                as_written(snapshot.frame, MOVING)
            yield snapshot

    def close(self) -> None:
        """Close the file."""
        if self._universe is not None and self._has_frames:
            with suppress(AttributeError):  # there is no trajectory where it could not be opened
                self._universe.trajectory.close()
        self._universe = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def as_written(frame: Frame, names: Iterable[str]) -> None:
    """Give columns that MDAnalysis has read from text into binary32 the numbers that the text most likely has.

    These have the fewest digits that name the same binary32: all that were written, up to seven.
    """
    atoms = frame[ATOMS]
    columns = dict(atoms.columns)
    for name in names:
        column = columns.get(name)
        if column is None or column.values.dtype != np.float64:
            continue
        narrow = column.values.astype(np.float32)
        if np.array_equal(narrow, column.values, equal_nan=True):
            values = narrow.astype("U").astype(np.float64)
            columns[name] = Column.of(values, column.valid, column.precision)
    frame[ATOMS] = Block.of(columns, atoms.count, targets=atoms.targets, attributes=atoms.attributes)


class UniverseExporter:
    """Writes a file through MDAnalysis; see `molrec_convert.adapter.FileExporter`."""

    def __init__(self, format_name: str, options: Options) -> None:
        del options
        self._format = format_name
        self._universe: Any = None
        self._writer: Any = None
        self._count = 0

    def open(self, path: Path, first: Snapshot) -> None:
        """Make a universe of the first frame, and the writer."""
        import MDAnalysis as mda

        from .mda_universe import to_universe

        self._universe = to_universe(first)
        self._count = len(self._universe.atoms)
        several = self._format in _registry().multiframe
        units = H5MD_UNITS if self._format == "H5MD" else {}
        self._writer = mda.Writer(str(path), self._count, format=self._format, multiframe=several, **units)

    def add(self, snapshot: Snapshot) -> None:
        """Write a frame."""
        from .mda_universe import fill

        count = snapshot.frame["atoms"].count if "atoms" in snapshot.frame else 0
        if count != self._count:
            raise FormatError(
                f"the format holds the same number of atoms in every frame: {count}, {self._count} before"
            )
        timestep = self._universe.trajectory.ts
        fill(timestep, snapshot)
        for key in [key for key, value in timestep.data.items() if np.asarray(value).dtype.kind not in "biuf"]:
            del timestep.data[key]  # what a writer takes of these it takes for numbers
        self._writer.write(self._universe.atoms)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()


class _Registry:
    """The formats that MDAnalysis knows, by what it does with them."""

    def __init__(self) -> None:
        import MDAnalysis as mda

        def files(table: Mapping[str, Any]) -> dict[str, Any]:
            # Of a name with a dot, the second is the suffix of a compression.
            return {name: each for name, each in table.items() if name not in IN_MEMORY and "." not in name}

        self.readers, self.parsers = files(mda._READERS), files(mda._PARSERS)  # noqa: SLF001
        self.multiframe = files(mda._MULTIFRAME_WRITERS)  # noqa: SLF001
        self.writers = {**files(mda._SINGLEFRAME_WRITERS), **self.multiframe}  # noqa: SLF001


@cache
def _registry() -> _Registry:
    return _Registry()


def _formats() -> Sequence[str]:
    known = _registry()
    return sorted(name.lower() for name in {*known.readers, *known.parsers, *known.writers} - {"MINIMAL"})


def _adapter(name: str) -> Adapter | None:
    if name.lower() not in _formats():
        return None
    known, upper = _registry(), name.upper()
    importer, exporter = partial(UniverseImporter, upper), partial(UniverseExporter, upper)
    reads = upper in known.readers or upper in known.parsers
    parts = [part for part, table in (("topology", known.parsers), ("frames", known.readers)) if upper in table]
    return Adapter(
        name=f"{NAME}:{name.lower()}",
        summary=f"{upper}, {' and '.join(parts)}, through MDAnalysis",
        reference="https://userguide.mdanalysis.org/stable/formats/index.html",
        patterns=tuple(f"*.{suffix}" for suffix, each in SUFFIXES.items() if each == upper) or (f"*.{name.lower()}",),
        series=_is_series(upper),
        carries=Carries(frames=upper in known.multiframe),
        role=_role(parts, series=_is_series(upper)),
        file_importer=None if not reads else XtcImporter if upper == "XTC" else importer,
        file_exporter=None if upper not in known.writers else XtcExporter if upper == "XTC" else exporter,
        library="MDAnalysis",
        options=frozenset(("guess",) if upper in known.parsers else ()),
    )


def _role(parts: Sequence[str], *, series: bool) -> Role | None:
    """What files are to others, by what they hold; those of frames with a topology of their own stand alone."""
    if len(parts) == 2:
        return None if series else "structure"
    return "trajectory" if parts == ["frames"] else "topology" if parts == ["topology"] else None


def _is_series(upper: str) -> bool:
    from MDAnalysis.coordinates.base import SingleFrameReaderBase

    reader = _registry().readers.get(upper)
    return reader is not None and not issubclass(reader, SingleFrameReaderBase)


def _reads(name: str, head: bytes) -> str | None:
    if head.startswith(XTC_MAGIC):
        return "xtc"
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("cif", "mmcif", "pdbx"):
        return "mmcif" if MMCIF in head and "MMCIF" in _registry().readers else None
    if suffix == "coor" and not _is_namd(head):
        return None
    if suffix == "top" and not head.lstrip().startswith(AMBER_TOPOLOGY):
        return "itp"
    if suffix in ("nc", "netcdf"):
        return "ncdf" if head.startswith(NETCDF) and AMBER in head else None
    return _known_suffix(suffix, ("read", "parse"))


def _is_namd(head: bytes) -> bool:
    """Whether these are coordinates of NAMD: the number of atoms, and three binary64 for each."""
    counts = [int.from_bytes(head[:4], order) for order in ("little", "big")]
    return any(len(head) == 4 + 24 * count or (24 * count > WHOLE and len(head) >= WHOLE) for count in counts)


def _writes(name: str) -> str | None:
    suffix = name.rpartition(".")[2].lower()
    return "ncdf" if suffix == "nc" else _known_suffix(suffix, ("write",))


def _known_suffix(suffix: str, ways: Sequence[str]) -> str | None:
    if suffix not in SUFFIXES:  # without a look at MDAnalysis, which takes half a second to load
        return None
    known, name = _registry(), SUFFIXES[suffix]
    tables = {"read": known.readers, "parse": known.parsers, "write": known.writers}
    return name.lower() if any(name in tables[way] for way in ways) else None


FAMILY = Family(
    name=NAME,
    library="MDAnalysis",
    formats=_formats,
    adapter=_adapter,
    reads=_reads,
    writes=_writes,
    layout=LAYOUT | {PRECISION},
    order=1,
)
