"""The page on `info` and `diff` names the keys that there are, and its commands run."""

import re
import shlex
from dataclasses import fields

import pytest

import molrec_convert as mc
from molrec_convert.comparison import Difference
from molrec_convert.summary import BlockFacts, CellFacts, ColumnFacts, Info, SectionFacts, ValueFacts

from .changes import put
from .converting import ROOT, run, source_of
from .dumps import THREE
from .water import single, trajectory

PAGE = (ROOT / "docs" / "info-and-diff.md").read_text(encoding="utf-8")


def keys_of(title):
    """The keys that a table names."""
    found = re.search(rf"\| key of {re.escape(title)} \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)
    assert found is not None, title
    rows = [row.split("|")[1] for row in found[1].splitlines()]
    return [key for row in rows for key in re.findall(r"`(\w+)`", row)]


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("a file", Info),
        ("`cell`", CellFacts),
        ("a section", SectionFacts),
        ("a block", BlockFacts),
        ("a column", ColumnFacts),
        ("a difference", Difference),
    ],
)
def test_every_key_is_told(title, kind):
    assert sorted(keys_of(title)) == sorted(each.name for each in fields(kind))


def test_the_keys_of_the_result(tmp_path):
    mc.write(tmp_path / "a.h5", single())
    assert keys_of("the result") == list(mc.diff(tmp_path / "a.h5", tmp_path / "a.h5").as_json())


def test_the_keys_of_a_value():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `meta`"))
    told = re.findall(r"`(\w+)`", row)[1:]
    assert told == [each.name for each in fields(ValueFacts)]


def test_the_kinds_of_differences():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `what`"))
    doc = re.search(r"what\n +How they differ: (.*?)\n +frame, step", Difference.__doc__, re.DOTALL)
    assert re.findall(r"`(\w+)`", row)[1:] == re.findall(r"``(\w+)``", doc[1])


def test_the_commands_run(tmp_path):
    source_of(tmp_path, THREE, "run.lammpstrj")
    assert run("run.lammpstrj", "run.h5", "-q", cwd=tmp_path).status == 0
    mc.write(tmp_path / "run2.h5", trajectory())
    mc.write(tmp_path / "a.h5", trajectory())
    mc.write(tmp_path / "b.h5", trajectory(change=lambda frame, k: put("y", 0, 1e-9)(frame)))
    commands = re.findall(r"^molrec-convert (.*?)(?:\s+#.*)?$", PAGE, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        words = shlex.split(command.replace("*.h5", "run.h5 run2.h5"))
        if "--plot" in words:
            words[1] = "run2.h5"
        done = run(*words, cwd=tmp_path)
        assert done.status == 0, (command, done.stderr)
