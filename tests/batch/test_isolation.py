"""Workers that die, hang or talk: each costs its own file, and nothing else."""

import subprocess

import pytest

from ..converting import command_path
from .misbehaving import bad, install
from .trees import atoms, by_source, put

ENDS = {
    "segfault": ("crash", "the worker was ended by SIGSEGV"),
    "exit 7": ("crash", "the worker ended with status 7: this is the end"),
    "kill": ("crash", "the worker was ended by SIGKILL (the memory may not have sufficed)"),
    "hang": ("timeout", "it took more than 3 seconds, and was given up; --timeout gives it more"),
    "memory": ("memory", "out of memory"),
    "fault": ("internal", "ValueError at misbehaving_format.py:32: what is this"),
    "recurse": ("internal", "maximum recursion depth exceeded"),
}
"""What a file does, and what is told of it."""


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """A migration by one worker, in which every other file is bad."""
    folder = tmp_path_factory.mktemp("isolation")
    files = {f"{k}-bad.bad": bad(word) for k, word in enumerate(ENDS)}
    files |= {f"{k}-good.xyz": atoms(k + 1) for k in range(len(ENDS))}
    files["talks.bad"] = bad("print")
    put(folder / "in", files)
    done = subprocess.run(
        [command_path(), "batch", "in", "out", "-j", "1", "--timeout", "3"],
        cwd=folder,
        env=install(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    return by_source(folder / "out"), done.stderr


@pytest.mark.parametrize(("number", "word"), list(enumerate(ENDS)), ids=list(ENDS))
def test_a_worker_that_ends_costs_its_file(migrated, number, word):
    row = migrated[0][f"{number}-bad.bad"]
    kind, text = ENDS[word]
    assert (row["state"], row["error_kind"]) == ("failed", kind)
    assert text in row["error"]


def test_the_files_between_are_done(migrated):
    for number in range(len(ENDS)):
        row = migrated[0][f"{number}-good.xyz"]
        assert (row["state"], row["verified"], row["atoms"]) == ("done", "full", number + 1)


def test_what_a_library_prints_is_no_answer(migrated):
    assert migrated[0]["talks.bad"]["state"] == "done"
    assert "no answer" not in migrated[1]
