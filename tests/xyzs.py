"""Texts of XYZ files, and what is read of them."""

from pathlib import Path

import molrec_convert as mc


def frame(*rows: str, comment: str = "") -> str:
    """One frame of these lines of atoms."""
    return "\n".join([str(len(rows)), comment, *rows, ""])


def trajectory_of(path: Path) -> mc.Trajectory:
    """The frames of a file."""
    found = mc.read(path).trajectory
    assert found is not None
    return found
