"""The files that are measured: made of random numbers with fixed seeds, the same bytes on every machine."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import zstandard

EDGE = 100.0
"""Edge of the cubic cell, ångström."""
Positions = np.ndarray


def walk(atoms: int, frames: int) -> Iterator[tuple[int, Positions, Positions]]:
    """Frame number, positions and velocities of a random walk in a periodic cube."""
    rng = np.random.default_rng(1)
    positions = rng.uniform(0.0, EDGE, (atoms, 3))
    for frame in range(frames):
        positions = (positions + rng.normal(0.0, 0.05, positions.shape)) % EDGE
        yield frame, positions, rng.normal(0.0, 0.01, positions.shape)


def dump(path: Path, *, atoms: int, frames: int) -> None:
    """A LAMMPS dump with ids, types, positions and velocities as LAMMPS prints them."""
    types = np.random.default_rng(2).integers(1, 4, atoms).tolist()
    bounds = f"0.0000000000000000e+00 {EDGE:.16e}\n" * 3
    with path.open("w") as out:
        for frame, positions, velocities in walk(atoms, frames):
            out.write(f"ITEM: TIMESTEP\n{frame * 100}\nITEM: NUMBER OF ATOMS\n{atoms}\n")
            out.write(f"ITEM: BOX BOUNDS pp pp pp\n{bounds}ITEM: ATOMS id type x y z vx vy vz\n")
            p, v = positions.tolist(), velocities.tolist()
            out.writelines("%d %d %g %g %g %g %g %g \n" % (i + 1, types[i], *p[i], *v[i]) for i in range(atoms))


def xyz(path: Path, *, atoms: int, frames: int, forces: bool = False) -> None:
    """An extended XYZ trajectory with eight decimals, and with forces if they are asked for."""
    elements = np.array(["C", "H", "O"])[np.random.default_rng(3).integers(0, 3, atoms)].tolist()
    cell = f"{EDGE} 0.0 0.0 0.0 {EDGE} 0.0 0.0 0.0 {EDGE}"
    columns = "species:S:1:pos:R:3" + (":forces:R:3" if forces else "")
    with path.open("w") as out:
        for frame, positions, more in walk(atoms, frames):
            energy = f" energy={-frame / 3!r}" if forces else ""
            out.write(f'{atoms}\nLattice="{cell}" Properties={columns} time={frame * 0.1:g}{energy} pbc="T T T"\n')
            p, f = positions.tolist(), more.tolist()
            if forces:
                out.writelines(
                    "%-2s %16.8f %16.8f %16.8f %16.8f %16.8f %16.8f\n" % (elements[i], *p[i], *f[i])
                    for i in range(atoms)
                )
            else:
                out.writelines("%-2s %16.8f %16.8f %16.8f\n" % (elements[i], *p[i]) for i in range(atoms))


def pdb(path: Path, *, atoms: int, frames: int) -> None:
    """A PDB file of models of alanine."""
    names, elements = ("N", "CA", "C", "O", "CB"), "NCCOC"
    with path.open("w") as out:
        out.write(f"CRYST1{EDGE:9.3f}{EDGE:9.3f}{EDGE:9.3f}  90.00  90.00  90.00 P 1           1\n")
        for frame, positions, _ in walk(atoms, frames):
            out.write(f"MODEL     {frame + 1:4d}\n")
            p = positions.tolist()
            out.writelines(
                "ATOM  %5d  %-3s ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00          %2s  \n"
                % ((i + 1) % 100000, names[i % 5], (i // 5 + 1) % 10000, *p[i], elements[i % 5])
                for i in range(atoms)
            )
            out.write("ENDMDL\n")
        out.write("END\n")


def cube(path: Path, *, points: int) -> None:
    """A Gaussian CUBE file of a density on a cubic grid."""
    values = np.random.default_rng(4).normal(0.0, 0.1, (points, points, points))
    with path.open("w") as out:
        out.write("density\nOUTER LOOP: X, MIDDLE LOOP: Y, INNER LOOP: Z\n    1    0.000000    0.000000    0.000000\n")
        for axis in range(3):
            step = [0.2 if axis == k else 0.0 for k in range(3)]
            out.write("%5d%12.6f%12.6f%12.6f\n" % (points, *step))
        out.write("    8    8.000000    1.000000    1.000000    1.000000\n")
        for row in values.reshape(-1, points):
            numbers = ["%13.5E" % value for value in row]
            out.writelines("".join(numbers[k : k + 6]) + "\n" for k in range(0, points, 6))


def gzipped(path: Path, *, source: Path) -> None:
    """The same file, compressed as gzip does by default."""
    with source.open("rb") as plain, gzip.open(path, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)


def made(path: Path, make: Callable[[Path], None]) -> Path:
    """The file, made unless it is there: under its name only when it is complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        make(part)
        part.rename(path)
    return path


def packed(path: Path, source: Path, kind: str) -> None:
    """A file compressed as ``zst``, ``bz2`` or ``xz``."""
    data = source.read_bytes()
    if kind == "zst":
        path.write_bytes(zstandard.ZstdCompressor().compress(data))
    else:
        path.write_bytes({"bz2": bz2, "xz": lzma}[kind].compress(data))
