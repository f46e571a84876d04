"""Conversions in the tests: from a text to a record that is read, and back to text."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from molrec_convert.convert import Report, convert
from molrec_convert.model import Block, Record
from molrec_convert.records import open_record

ROOT = Path(__file__).resolve().parent.parent


class Converted(NamedTuple):
    """A record, and how it came about."""

    record: Record
    report: Report
    path: Path

    @property
    def warnings(self) -> list[str]:
        """What was noticed."""
        return self.report.warnings

    def atoms(self, frame: int = 0) -> Block:
        """The atoms of a frame, fixed columns included."""
        if self.record.trajectory is None:
            assert self.record.frame is not None
            return self.record.frame["atoms"]
        return self.record.trajectory[frame]["atoms"]

    def values(self, name: str, frame: int = 0) -> list[Any]:
        """A column of atoms; None where a row is null."""
        column = self.atoms(frame).column(name)
        values: list[Any] = column.values.tolist()
        if column.valid is None:
            return values
        return [value if there else None for value, there in zip(values, column.valid, strict=True)]


class Ran(NamedTuple):
    """How a command ended."""

    status: int
    stdout: bytes
    stderr: str


def source_of(folder: Path, data: str | bytes, name: str) -> Path:
    """A file of this content."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def run(*words: object, stdin: bytes | None = None, cwd: Path | None = None, module: bool = False) -> Ran:
    """The command line, in a process of its own."""
    command = [sys.executable, "-P", "-m", "molrec_convert"] if module else [command_path()]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    done = subprocess.run(
        [*command, *map(str, words)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        cwd=cwd,
        env=environment,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def command_path() -> str:
    """The installed command, beside the interpreter."""
    return str(Path(sys.executable).with_name("molrec-convert"))


def to_record(folder: Path, data: str | bytes, name: str = "in.dump", **options: Any) -> Converted:
    """Convert a text and open the record."""
    source, target = source_of(folder, data, name), folder / "out.h5"
    report = convert(source, target, force=True, **options)
    return Converted(open_record(target), report, target)


def back(folder: Path, record: Path, name: str = "back.dump", **options: Any) -> str:
    """Convert a record to text."""
    target = folder / name
    convert(record, target, force=True, **options)
    return target.read_text()
