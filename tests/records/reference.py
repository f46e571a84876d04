"""The reference implementation, molrs, in a Python of its own, since it needs 3.12: found, or installed once."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PYTHON = "MOLREC_TEST_MOLRS_PYTHON"
"""An environment variable: the Python that has molrs, or in whose likeness an environment is made."""
REQUIREMENT = "molcrafts-molrs==0.19.*"
NEEDS = (3, 12)
SCRIPT = Path(__file__).with_name("molrs_dump.py")


def molrs_python():
    """A Python that imports molrs; the test is skipped, with the reason, where there is none."""
    found, reason = _found()
    if found is None:
        pytest.skip(f"molrs is not at hand: {reason}")
    return found


def read_by_molrs(*paths):
    """What molrs reads of records, in the form of the fixtures."""
    return [json.loads(line) for line in run_molrs(*paths).splitlines()]


def run_molrs(*arguments):
    """The output of the script that molrs runs."""
    command = [molrs_python(), str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def _found():
    candidates = [path for path in _candidates() if _version(path) >= NEEDS]
    for path in candidates:
        if _has_molrs(path):
            return path, ""
    if not candidates:
        return None, "there is no Python 3.12 or later"
    made = _environment(candidates[0])
    return (made, "") if _has_molrs(made) else (None, f"pip could not install {REQUIREMENT}")


def _candidates():
    named = [os.environ[PYTHON]] if PYTHON in os.environ else []
    on_path = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.1[2-9]*/bin/python")
    return [*named, sys.executable, *filter(None, on_path), *sorted(map(str, homes))]


def _version(path):
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return (0, 0)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else (0, 0)


def _has_molrs(path):
    return subprocess.run([path, "-c", "import molrs"], capture_output=True, check=False, timeout=60).returncode == 0


def _environment(python):
    """An environment in the user's cache, made where there is none yet."""
    cache_home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache_home / "molrec-convert-tests" / "molrs-0.19"
    made = folder / "bin" / "python"
    if not (made.exists() and _has_molrs(made)):
        for command in ([python, "-m", "venv", "--clear", folder], [made, "-m", "pip", "install", "-q", REQUIREMENT]):
            try:
                done = subprocess.run([*map(str, command)], capture_output=True, check=False, timeout=600)
            except (OSError, subprocess.TimeoutExpired):
                break
            if done.returncode:
                break
    return str(made) if made.exists() else python
