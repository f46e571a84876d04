"""How fast `ase.io.iread` gives the frames of a record, beside extended XYZ and ASE's own trajectories.

Run it as ``python benchmarks/ase_read.py [frames] [atoms]``. All files hold the same frames: positions, momenta,
forces, an energy, a cell. Each is read several times, in turns; the best time of each counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from ase.io import iread, write

FILES = ("frames.h5", "frames.extxyz", "frames.traj")
ROUNDS = 3


def frames_of(count: int, atoms: int) -> list[Atoms]:
    """Frames of the same atoms, which move."""
    rng = np.random.default_rng(1)
    numbers = rng.integers(1, 20, atoms)
    made = []
    for k in range(count):
        image = Atoms(numbers=numbers, positions=rng.random((atoms, 3)) * 50.0, cell=[50.0, 50.0, 50.0], pbc=True)
        image.set_momenta(rng.normal(size=(atoms, 3)))
        image.calc = SinglePointCalculator(image, energy=-float(k), forces=rng.normal(size=(atoms, 3)))
        made.append(image)
    return made


def seconds_to_read(path: Path) -> float:
    """How long it takes to make the Atoms of all frames."""
    begun = time.perf_counter()
    for _ in iread(path, ":"):
        pass
    return time.perf_counter() - begun


def main() -> None:
    """Write the files, read them, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frames", type=int, nargs="?", default=100)
    parser.add_argument("atoms", type=int, nargs="?", default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in FILES]
        images = frames_of(asked.frames, asked.atoms)
        for path in paths:
            begun = time.perf_counter()
            write(path, images)
            wrote = (time.perf_counter() - begun) / asked.frames * 1e3
            print(f"{path.name:14} written in {wrote:8.3f} ms a frame, {path.stat().st_size / 1e6:8.1f} MB")
        times = [[seconds_to_read(path) for path in paths] for _ in range(ROUNDS)]
        best = dict(zip(FILES, map(min, zip(*times, strict=True)), strict=True))
    for name, taken in best.items():
        per_frame, ratio = taken / asked.frames * 1e3, taken / best[FILES[0]]
        print(f"{name:14} read in {per_frame:8.3f} ms a frame, {ratio:6.2f} × the record")


if __name__ == "__main__":
    main()
