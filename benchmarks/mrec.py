"""The Zarr form beside HDF5 and the reference implementation: ``python benchmarks/mrec.py --python python3.12 [DUMP]``.

Two ratios, each of runs that alternate: how long a LAMMPS dump takes to become a record, as whole processes; and how
long 500 frames of 20 000 atoms take that are read at random, from the same record, without the start of the process.
``--python`` is an interpreter that has molrs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import dump
from measure import measure
from peers import IMPORTS

FRAMES, ATOMS, PICKED, ROUNDS = 1000, 20_000, 500, 5

WRITE = f"""
import sys, numpy as np
from molrec_convert.model import Frame, Schema
from molrec_convert.records import create
values = np.random.default_rng(0)
def frame(): return Frame({{"atoms": {{name: values.normal(size={ATOMS}) for name in "xyz"}}}})
with create(sys.argv[1]) as writer:
    trajectory = writer.begin_trajectory(Schema.of([frame()]))
    for step in range({FRAMES}): trajectory.append(frame(), step=step)
"""
READ = f"""
import random, sys, time
from pathlib import Path
{{opened}}
picked = random.Random(0).choices(range({FRAMES}), k={PICKED})
best = float("inf")
for _ in range({ROUNDS}):
    start = time.perf_counter()
    for k in picked:
        atoms = frames[k]["atoms"]
        atoms["x"][0], atoms["y"][0], atoms["z"][0]
    best = min(best, time.perf_counter() - start)
print(best)
"""
OURS = "import molrec_convert as mc; frames = mc.open(sys.argv[1]).trajectory"
THEIRS = "from molrs.io import mrec; frames = mrec.MrecReader(Path(sys.argv[1]))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path, nargs="?", help="a LAMMPS dump; by default one is made")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has molrs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cli", default=shutil.which("molrec-convert") or "molrec-convert")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="molrec-convert-mrec-") as folder:
        source = given.dump or Path(folder) / "made.lammpstrj"
        if given.dump is None:
            dump(source, atoms=10_000, frames=600)
        _write(source, Path(folder) / "out", given.cli, given.python, given.rounds)
        _read(Path(folder), given.python)


def _write(source: Path, folder: Path, cli: str, python: str, rounds: int) -> None:
    targets = {"dump to .h5": "t.h5", "dump to .mrec": "t.mrec", "dump to .mrec.zip": "t.mrec.zip"}
    tools = {name: [cli, "--quiet", source, folder / target] for name, target in targets.items()}
    tools["dump to .mrec by molrs"] = [python, "-c", IMPORTS["dump"]["molrs"], source, folder / "theirs"]
    found = measure(tools, folder, rounds=rounds, limit=60.0)
    megabytes = source.stat().st_size / 1e6
    ours = found["dump to .mrec"]
    for name, each in found.items():
        if each.failed is not None:
            print(f"{name:28s} failed: {each.failed}")
            continue
        rate, ratio = megabytes / each.median, each.median / ours.median
        print(
            f"{name:28s} {each.median:7.2f} s {rate:7.0f} MB/s {each.peak:6.0f} MB   {ratio:5.2f} x the time of .mrec"
        )


def _read(folder: Path, python: str) -> None:
    times: dict[str, float] = {}
    for suffix in (".h5", ".mrec", ".mrec.zip"):
        path = folder / f"random{suffix}"
        subprocess.run([sys.executable, "-c", WRITE, path], check=True)
        times[f"random frames of {suffix}"] = _timed(sys.executable, OURS, path)
    times["random frames of .mrec by molrs"] = _timed(python, THEIRS, folder / "random.mrec")
    for name, seconds in times.items():
        print(f"{name:32s} {seconds:7.3f} s   {seconds / times['random frames of .mrec']:5.2f} x the time of .mrec")


def _timed(python: str, opened: str, path: Path) -> float:
    command = [python, "-c", READ.format(opened=opened), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else float("nan")


if __name__ == "__main__":
    main()
