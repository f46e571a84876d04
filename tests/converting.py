"""Conversions in the tests: from a text to a record that is read, and back to text."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from molrec_convert.convert import convert
from molrec_convert.model import Block, Box, Meta
from molrec_convert.records import StoredRecord, open_record
from molrec_convert.report import Report

from .records.builders import check_with_arbiter

ROOT = Path(__file__).resolve().parent.parent


class Converted(NamedTuple):
    """A record, and how it came about."""

    record: StoredRecord
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

    def box(self, frame: int = 0) -> Box | None:
        """The cell of a frame."""
        if self.record.trajectory is None:
            assert self.record.frame is not None
            return self.record.frame.box
        return self.record.trajectory[frame].box

    @property
    def about(self) -> Meta:
        """What holds for the whole source."""
        section = self.record.system if self.record.trajectory is not None else self.record.frame
        return Meta() if section is None else section.meta

    @property
    def fixed(self) -> list[str]:
        """The columns of atoms that stand once."""
        system = self.record.system
        return [] if system is None or "atoms" not in system else sorted(system["atoms"])


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


def to_record(folder: Path, data: str | bytes, name: str = "in.dump", **options: Any) -> Converted:
    """Convert a text and open the record, which the independent reader finds in order, where it is at hand."""
    source, target = source_of(folder, data, name), folder / "out.h5"
    report = convert(source, target, force=True, **options)
    check_with_arbiter(target, report.frames)
    return Converted(open_record(target), report, target)


def back(folder: Path, made: Converted, name: str = "back.dump", **options: Any) -> str:
    """Convert a record to text."""
    target = folder / name
    convert(made.path, target, force=True, **options)
    return target.read_text()


def command_path() -> str:
    """The installed command, beside the interpreter."""
    return str(Path(sys.executable).with_name("molrec-convert"))


def run(*words: object, stdin: bytes | None = None, cwd: Path | None = None, module: bool = False) -> Ran:
    """The command line, in a process of its own."""
    command = [sys.executable, "-P", "-m", "molrec_convert"] if module else [command_path()]
    done = subprocess.run(
        [*command, *map(str, words)],
        input=b"" if stdin is None else stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"},
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def first_x(record: StoredRecord) -> list[float]:
    """The first x of every frame."""
    assert record.trajectory is not None
    return [frame["atoms"]["x"][0] for frame in record.trajectory]


def left_behind(folder: Path) -> list[str]:
    """The files of a folder that a conversion may not leave."""
    return sorted(path.name for path in folder.iterdir() if ".part" in path.name)
