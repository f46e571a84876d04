"""Measure all main ways beside what others do: ``python benchmarks/run.py [--only 'Import/*'] [--write]``.

All tools of one kind of work run alternately, as processes of their own; the table has the median of the rounds, the
speed, the peak memory, and how many times as long as ours each took. Libraries that are not installed are left out and
named; another interpreter that has some of them is given by ``--python``. ``--write`` puts table and plot into
``docs/performance.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from cases import Case, cases
from document import Row, as_markdown, write
from measure import Command, measure

MODULES = {
    "chemfiles": "chemfiles",
    "ovito": "ovito",
    "molrs": "molrs",
    "ase": "ase",
    "mdanalysis": "MDAnalysis",
    "mdtraj": "mdtraj",
    "gemmi": "gemmi",
    "libatoms": "extxyz",
}
"""What to import to see whether a library is there."""


def main() -> None:
    """Measure, print, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, default=Path(tempfile.gettempdir()) / "molrec-convert-benchmarks")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs, of the full size")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which a tool has no further round")
    parser.add_argument("--only", action="append", default=[], help="group/name of the work, with * and ?")
    parser.add_argument("--python", action="append", default=[], help="another interpreter with libraries")
    parser.add_argument("--cli", default=shutil.which("molrec-convert") or "molrec-convert")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and its plot")
    given = parser.parse_args()
    interpreters = _interpreters([sys.executable, *given.python])
    rows: list[Row] = []

    def convert(source: Path, target: Path) -> None:
        made = target.with_name("made.h5")
        subprocess.run([given.cli, source, made, "--force", "--quiet"], check=True)
        made.replace(target)

    def prepare(name: str, script: str, source: Path, target: Path) -> None:
        if name in interpreters:
            subprocess.run([interpreters[name], "-c", script, source, target], check=False, capture_output=True)

    for case in cases(given.inputs, convert, prepare, scale=given.scale):
        if not given.only or any(fnmatch(f"{case.group}/{case.name}", pattern) for pattern in given.only):
            rows += _measured(case, given, interpreters)
            print(as_markdown(rows[-len(case.ours) - len(case.peers) :]), flush=True)
    if given.write:
        write(rows, Path(__file__).parent.parent / "docs", _machine(), _versions(interpreters))


def _measured(case: Case, given: argparse.Namespace, interpreters: dict[str, str]) -> list[Row]:
    folder = Path(tempfile.mkdtemp(prefix="molrec-convert-"))
    work = folder / "out"
    tools: dict[str, Command] = {name: _ours(words, case, work, given.cli) for name, words in case.ours.items()}
    for name, script in case.peers.items():
        library = name.split()[0]
        if library not in MODULES or library in interpreters:
            tools[name] = [interpreters.get(library, sys.executable), "-c", script, case.source, work / "peer"]
    try:
        found = measure(tools, work, rounds=given.rounds, limit=given.limit)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [Row(case, name, found.get(name)) for name in (*case.ours, *case.peers)]


def _ours(words: Sequence[str], case: Case, folder: Path, cli: str) -> Command:
    if len(words) == 1:
        return [sys.executable, "-c", words[0], case.source, folder / "out"]
    filled = [word.replace("SOURCE", str(case.source)).replace("FOLDER", str(folder)) for word in words]
    return [cli, *filled]


def _interpreters(candidates: Sequence[str]) -> dict[str, str]:
    """The first interpreter that has each library."""
    found: dict[str, str] = {}
    for name, module in MODULES.items():
        for python in candidates:
            if not subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
                found[name] = python
                break
    return found


def _versions(interpreters: dict[str, str]) -> list[str]:
    names = {"libatoms": "extxyz", "molrs": "molcrafts-molrs", "mdanalysis": "MDAnalysis"}
    script = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    versions = []
    for name, python in interpreters.items():
        done = subprocess.run(
            [python, "-c", script, names.get(name, name)], capture_output=True, text=True, check=False
        )
        versions.append(f"{name} {done.stdout.strip() or '?'}")
    return versions


def _machine() -> str:
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as file:  # Linux names it here alone
        model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), model)
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {platform.system()}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
