"""How fast MDAnalysis reads frames of a record, beside the same frames in its own formats.

Run it as ``python benchmarks/mdanalysis_read.py``. It writes all files to a temporary folder (some 700 MB for the
defaults), reads frames at random and in order, and prints the time of each format and how many times as long it takes
as the record. Rounds are interleaved, and the best of each counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import MDAnalysis as mda
import numpy as np

import molrec_convert as mc
import molrec_convert.integrations.mdanalysis

RECORD, PRECISE = "record.h5", "record-0.01.h5"


def main() -> None:
    """Write the files, read them, print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--atoms", type=int, default=10_000)
    arguments.add_argument("--frames", type=int, default=1000)
    arguments.add_argument("--reads", type=int, default=1000, help="how many frames are read at random")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    with TemporaryDirectory(prefix="molrec-convert-") as folder:
        names = write(Path(folder), atoms=given.atoms, frames=given.frames)
        order = np.random.default_rng(1).integers(0, given.frames, given.reads).tolist()
        ways: dict[str, Callable[[Any], object]] = {
            "random": lambda trajectory: [trajectory[index].positions[0, 0] for index in order],
            "in order": lambda trajectory: [ts.positions[0, 0] for ts in trajectory],
            "timeseries": lambda trajectory: trajectory.timeseries(order="fac"),
        }
        for way, read in ways.items():
            show(
                way,
                measured(
                    {name: mda.Universe(str(Path(folder) / name), to_guess=()) for name in names}, read, given.rounds
                ),
            )


def write(folder: Path, *, atoms: int, frames: int) -> list[str]:
    """Write the same frames in every format, and give the files' names."""
    universe = mda.Universe.empty(atoms, trajectory=True)
    options: dict[str, dict[str, Any]] = {
        "frames.xtc": {},
        "frames.h5md": {"lengthunit": "Angstrom", "timeunit": "ps", "velocities": False, "forces": False},
        RECORD: {"format": "MREC"},
        PRECISE: {"format": "MREC", "precision": 0.01},
    }
    for name, given in options.items():
        with mda.Writer(str(folder / name), atoms, **given) as writer:
            for _ in moving(universe, frames):
                writer.write(universe.atoms)
    return list(options)


def moving(universe: Any, frames: int) -> Iterator[None]:
    """Move the atoms of a universe about their places, the same way each time; positions are those of an XTC file."""
    rng = np.random.default_rng(0)
    edge = (len(universe.atoms) / 0.1) ** (1 / 3)  # as dense as water
    places = rng.uniform(0.0, edge, (len(universe.atoms), 3))
    for frame in range(frames):
        universe.atoms.positions = np.round(places + rng.normal(0.0, 0.5, places.shape), 2)
        universe.dimensions = [edge, edge, edge, 90.0, 90.0, 90.0]
        universe.trajectory.ts.time = float(frame)
        universe.trajectory.ts.data["step"] = frame
        yield


def measured(universes: dict[str, Any], read: Callable[[Any], object], rounds: int) -> dict[str, float]:
    """The shortest time that reading takes, in seconds."""
    best = dict.fromkeys(universes, float("inf"))
    for _ in range(rounds + 1):  # the first round fills the caches of the system
        for name, universe in universes.items():
            begun = time.perf_counter()
            read(universe.trajectory)
            best[name] = min(best[name], time.perf_counter() - begun)
    return best


def show(way: str, times: dict[str, float]) -> None:
    """Print a line for each file."""
    for name, seconds in times.items():
        print(f"{way:12} {name:16} {seconds * 1e3:9.1f} ms {seconds / times[RECORD]:7.2f} × {RECORD}")


if __name__ == "__main__":
    print(f"molrec-convert {mc.__version__}, MDAnalysis {mda.__version__}")
    main()
