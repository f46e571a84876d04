"""The kinds of work that are measured: what is read, what we run for it, and what others would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import inputs
import peers
from peers import Scripts


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of work.

    Parameters
    ----------
    name, group
        As the table calls it, and under which heading.
    source
        What is read.
    ours
        Our commands by name, the first of which is what others are compared with: arguments of ``molrec-convert``, or a
        script where there is one text.
    peers
        Scripts of other libraries.
    size
        The bytes that speeds are told by; by default those of the source.
    """

    name: str
    group: str
    source: Path
    ours: Mapping[str, Sequence[str]]
    peers: Scripts = field(default_factory=dict)
    size: int | None = None

    @property
    def megabytes(self) -> float:
        """What speeds are told by."""
        return (self.source.stat().st_size if self.size is None else self.size) / 1e6


OURS, MREC = "molrec-convert", "molrec-convert → mrec"
RECORDS = {OURS: ("SOURCE", "FOLDER/out.h5"), MREC: ("SOURCE", "FOLDER/out.mrec")}
COPY = {"file copy": peers.COPY}
ATOMS, FRAMES = 10_000, 600
SHAPES = ((100, 100_000), (1_000, 10_000), (10_000, 1_000), (100_000, 100), (1_000_000, 10))
"""Atoms and frames of files of one size."""


def cases(
    folder: Path,
    convert: Callable[[Path, Path], None],
    prepare: Callable[[str, str, Path, Path], None],
    *,
    scale: float = 1.0,
) -> Iterator[Case]:
    """All kinds of work; their inputs are made in the folder as they come.

    Parameters
    ----------
    folder
        Where inputs stand, and stay for the next time.
    convert
        Makes a record of a file.
    prepare
        Makes what a library, by its name and script, makes of a file: what it exports is read from there.
    scale
        How large the inputs are, of the full size.
    """

    def sized(name: str, make: Callable[[Path], None]) -> Path:
        return inputs.made(folder / f"{scale:g}" / name, make)

    frames = max(2, round(FRAMES * scale))
    dump = sized("run.lammpstrj", lambda path: inputs.dump(path, atoms=ATOMS, frames=frames))
    precise = {OURS: ("SOURCE", "FOLDER/out.h5", "--precision", "1e-3")}
    yield Case("LAMMPS dump", "Import", dump, RECORDS, {**peers.IMPORTS["dump"], **COPY})
    yield Case("LAMMPS dump, --precision 1e-3", "Import", dump, precise)
    packed = sized("run.lammpstrj.gz", lambda path: inputs.gzipped(path, source=dump))
    yield Case("LAMMPS dump, gzip", "Import", packed, {OURS: RECORDS[OURS]}, _unpack("gzip"), dump.stat().st_size)
    yield from _compressed(sized, scale)
    xyz = sized("run.xyz", lambda path: inputs.xyz(path, atoms=ATOMS, frames=frames))
    yield Case("XYZ", "Import", xyz, RECORDS, {**peers.IMPORTS["xyz"], **COPY})
    forces = sized("forces.xyz", lambda path: inputs.xyz(path, atoms=ATOMS, frames=frames, forces=True))
    yield Case("extended XYZ with forces", "Import", forces, RECORDS, {**peers.IMPORTS["extxyz"], **COPY})
    pdb = sized("models.pdb", lambda path: inputs.pdb(path, atoms=ATOMS, frames=frames))
    yield Case("PDB", "Import", pdb, RECORDS, {**peers.IMPORTS["pdb"], **COPY})
    points = max(20, round(200 * scale ** (1 / 3)))
    cube = sized("density.cube", lambda path: inputs.cube(path, points=points))
    yield Case("CUBE", "Import", cube, RECORDS, {**peers.IMPORTS["cube"], **COPY})
    yield from _exports({"dump": dump, "xyz": xyz, "pdb": pdb, "cube": cube}, convert, prepare)
    yield from _reading(folder, dump, frames, convert)
    yield from _small(sized, convert, prepare, scale)
    for atoms, count in SHAPES:
        many = max(1, round(count * scale))
        shaped = sized(f"{atoms}x{many}.lammpstrj", lambda path, a=atoms, n=many: inputs.dump(path, atoms=a, frames=n))  # type: ignore[misc]
        yield Case(f"{atoms:,} atoms × {many:,} frames", "Size of frames", shaped, {OURS: RECORDS[OURS]})
    for threads in (1, 2, 3, 4):
        script = f"import molrec_convert as mc; mc.convert(source, target + '.h5', threads={threads})"
        yield Case(f"{threads} threads", "Threads", dump, {OURS: (peers.START + script,)})


Sized = Callable[[str, Callable[[Path], None]], Path]


def _unpack(tool: str) -> Scripts:
    """What only unpacks a file."""
    script = f"import subprocess\nsubprocess.run(['{tool}', '-dc', source], stdout=-3, check=True)\n"
    return {f"{tool} -dc": peers.START + script}


def _compressed(sized: Sized, scale: float) -> Iterator[Case]:
    """A shorter dump, since some of these take long."""
    frames = max(2, round(60 * scale))
    plain = sized("short.lammpstrj", lambda path: inputs.dump(path, atoms=ATOMS, frames=frames))
    for name, tool in (("zst", "zstd"), ("bz2", "bzip2"), ("xz", "xz")):
        packed = sized(f"short.lammpstrj.{name}", lambda path, name=name: inputs.packed(path, plain, name))  # type: ignore[misc]
        yield Case(f"LAMMPS dump, {tool}", "Import", packed, {OURS: RECORDS[OURS]}, _unpack(tool), plain.stat().st_size)


FEW = 100
"""Atoms of small frames."""


def _small(
    sized: Sized,
    convert: Callable[[Path, Path], None],
    prepare: Callable[[str, str, Path, Path], None],
    scale: float,
) -> Iterator[Case]:
    """Many small frames, into records and back."""
    frames = max(2, round(SHAPES[0][1] * scale))
    name = f"{FEW}x{frames}"
    made = {
        "dump": sized(f"{name}.lammpstrj", lambda path: inputs.dump(path, atoms=FEW, frames=frames)),
        "xyz": sized(f"{name}.xyz", lambda path: inputs.xyz(path, atoms=FEW, frames=frames, forces=True)),
        "pdb": sized(f"{name}.pdb", lambda path: inputs.pdb(path, atoms=FEW, frames=frames)),
    }
    for kind, source in made.items():
        others = {tool: script for tool, script in peers.IMPORTS[kind].items() if tool.split()[0] in QUICK}
        title = f"{kind.upper()}, {FEW} atoms × {frames:,} frames"
        yield Case(f"{title}, import", "Small frames", source, {OURS: RECORDS[OURS]}, others)
    for case in _exports(made, convert, prepare):
        title = f"{case.name}, {FEW} atoms × {frames:,} frames, export"
        quick = {tool: script for tool, script in case.peers.items() if tool.split()[0] in QUICK}
        yield Case(title, "Small frames", case.source, case.ours, quick, case.size)


QUICK = ("chemfiles", "ovito", "gemmi", "libatoms")
"""Libraries that are asked for small frames: with others a round takes a minute."""

SUFFIXES = {"dump": "lammpstrj", "xyz": "xyz", "pdb": "pdb", "cube": "cube"}


def _exports(
    sources: Mapping[str, Path],
    convert: Callable[[Path, Path], None],
    prepare: Callable[[str, str, Path, Path], None],
) -> Iterator[Case]:
    for kind, source in sources.items():
        record = inputs.made(source.with_suffix(f".{kind}.h5"), lambda path, source=source: convert(source, path))  # type: ignore[misc]
        ours = {OURS: ("SOURCE", f"FOLDER/out.{SUFFIXES[kind]}")}
        others = peers.EXPORTS.get(kind, {})
        for name in others:
            if not record.with_name(record.name + peers.KEPT[name]).exists():
                prepare(name, peers.IMPORTS[kind][name], source, record)
        yield Case(f"{kind.upper()}", "Export", record, ours, others, source.stat().st_size)


FRAME = ATOMS * 8 * 8
"""Bytes of a frame's columns: id, type, positions and velocities."""

RANDOM = """
import molrec_convert as mc, random
random.seed(1)
with mc.open(source) as record:
    frames = record.trajectory
    for _ in range(1000): [column.values for column in frames[random.randrange(len(frames))]["atoms"].columns.values()]
"""
ONE_ATOM = """
import molrec_convert as mc
with mc.open(source) as record: [frame["atoms"]["x"][5] for frame in record.trajectory]
"""


def _reading(folder: Path, dump: Path, frames: int, convert: Callable[[Path, Path], None]) -> Iterator[Case]:
    record = inputs.made(dump.with_suffix(".dump.h5"), lambda path: convert(dump, path))
    yield Case("every hundredth frame of a dump", "Parts", dump, {OURS: (*RECORDS[OURS], "--frames", "::100")})
    yield Case("every hundredth frame of a record", "Parts", record, {OURS: (*RECORDS[OURS], "--frames", "::100")})
    yield Case("info of a record", "Parts", record, {OURS: ("info", "SOURCE")})
    one = inputs.made(folder / "one.lammpstrj", lambda path: inputs.dump(path, atoms=10, frames=1))
    yield Case("one frame of ten atoms", "Parts", one, {OURS: RECORDS[OURS]})
    yield Case(
        "1000 frames at random, all columns", "Parts", record, {OURS: (peers.START + RANDOM,)}, size=1000 * FRAME
    )
    yield Case("one atom in all frames", "Parts", record, {OURS: (peers.START + ONE_ATOM,)}, size=frames * FRAME)
