"""Migrations that go on, are retried, or cannot be run."""

import json
import time

import pytest

import molrec_convert as mc
from molrec_convert.batch import Settings, migrate, retry
from molrec_convert.errors import OptionError, RecordError, TargetError

from .trees import (
    BAD,
    assert_same,
    atoms,
    by_source,
    dump,
    put,
    states,
    tar,
    tree,
)


@pytest.fixture(autouse=True)
def _inline(inline):
    """Without processes."""


# ---------------------------------------------------------------- once more
def test_the_same_command_does_only_what_is_left(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": BAD})
    migrate([source], tmp_path / "out")
    before = by_source(tmp_path / "out")
    put(source, {"c.xyz": atoms(5)})
    found = migrate([source], tmp_path / "out")
    after = by_source(tmp_path / "out")
    assert {name: after[name] for name in before} == before
    assert (found.done, found.failed, after["c.xyz"]["atoms"]) == (2, 1, 5)


def test_a_source_that_changed_is_done_again(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    migrate([source], tmp_path / "out")
    put(source, {"a.xyz": atoms(3)})
    migrate([source], tmp_path / "out")
    row = by_source(tmp_path / "out")["a.xyz"]
    assert (row["state"], row["atoms"], row["attempts"]) == ("done", 3, 2)
    assert_same(source / "a.xyz", tmp_path / "out" / "a.h5")


def test_an_archive_that_grew_is_looked_at_again(tmp_path):
    path = tar(tmp_path / "a.tar", {"1.xyz": atoms()}, mode="w:")
    migrate([path], tmp_path / "out")
    tar(path, {"0.xyz": atoms(3), "1.xyz": atoms()}, mode="w:")
    migrate([path], tmp_path / "out")
    rows = by_source(tmp_path / "out")
    assert {name: (row["atoms"], row["attempts"]) for name, row in rows.items()} == {
        "a.tar!/0.xyz": (3, 1),
        "a.tar!/1.xyz": (2, 1),
    }


def test_a_record_that_is_gone_is_made_again(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    migrate([source], tmp_path / "out")
    content = (tmp_path / "out" / "a.h5").read_bytes()
    (tmp_path / "out" / "a.h5").unlink()
    migrate([source], tmp_path / "out")
    assert (tmp_path / "out" / "a.h5").read_bytes() == content


def test_a_source_that_went_before_its_turn_is_told(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": BAD})
    migrate([source], tmp_path / "out")
    (source / "b.xyz").unlink()
    retry(tmp_path / "out")
    row = by_source(tmp_path / "out")["b.xyz"]
    assert (row["state"], row["error_kind"], row["error"]) == ("failed", "gone", "in/b.xyz: the source has gone")


def test_what_somebody_else_wrote_is_not_replaced(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": atoms()})
    put(tmp_path / "out", {"a.h5": "a thesis", "journal.txt": ""})
    mc.convert(source / "a.xyz", tmp_path / "out" / "b.h5")
    migrate([source], tmp_path / "out")
    rows = by_source(tmp_path / "out")
    assert (tmp_path / "out" / "a.h5").read_text() == "a thesis"
    for name in ("a", "b"):
        path = tmp_path / "out" / f"{name}.h5"
        assert rows[f"{name}.xyz"]["error"] == f"{path}: something else is there already, and is not replaced"


def test_a_record_whose_run_was_killed_before_it_was_noted_is_taken(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    (tmp_path / "out").mkdir()
    mc.convert(source / "a.xyz", tmp_path / "out" / "a.h5")
    migrate([source], tmp_path / "out")
    assert states(tmp_path / "out") == {"a.xyz": "done"}


def test_other_options_need_another_folder(tmp_path):
    source = put(tmp_path / "in", {"a.dump": dump()})
    migrate([source], tmp_path / "out", settings=Settings(units="metal"))
    with pytest.raises(OptionError, match="this migration was begun with other options"):
        migrate([source], tmp_path / "out", settings=Settings(units="real"))


def test_other_options_as_long_as_there_is_no_record(tmp_path):
    """A wrong option fails all; the right one need not begin elsewhere."""
    source = put(tmp_path / "in", {"a.dump": dump(), "b.dump": dump()})
    migrate([source], tmp_path / "out", settings=Settings(units="meter"))
    assert states(tmp_path / "out") == {"a.dump": "failed", "b.dump": "failed"}
    migrate([source], tmp_path / "out", settings=Settings(units="metal"))
    assert states(tmp_path / "out") == {"a.dump": "done", "b.dump": "done"}


def test_a_root_that_is_not_mounted_fails_no_file(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    other = put(tmp_path / "more", {"b.xyz": atoms()})
    migrate([source], tmp_path / "out")
    source.rename(tmp_path / "away")
    with pytest.raises(OptionError, match="a folder of this migration is not there any more"):
        migrate([other], tmp_path / "out")
    assert states(tmp_path / "out") == {"a.xyz": "done"}


# ---------------------------------------------------------------- retry
def test_retry_with_another_option(tmp_path):
    head = "text\n\n1 atoms\n1 atom types\n\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n"
    source = put(tmp_path / "in", {"a.data": f"{head}Atoms\n\n1 1 0.25 0 0 0\n", "b.xyz": BAD, "c.xyz": atoms()})
    migrate([source], tmp_path / "out")
    assert states(tmp_path / "out") == {"a.data": "failed", "b.xyz": "failed", "c.xyz": "done"}
    found = retry(tmp_path / "out", matching=["a.data"], changes={"atom_style": "charge"})
    assert (found.done, found.failed) == (2, 1)
    rows = by_source(tmp_path / "out")
    assert (rows["a.data"]["options"], rows["a.data"]["attempts"]) == ({"atom_style": "charge"}, 2)
    assert (rows["b.xyz"]["attempts"], rows["c.xyz"]["attempts"]) == (1, 1)


def test_retry_of_what_was_mended(tmp_path):
    source = put(tmp_path / "in", {"b.xyz": BAD})
    tar(source / "a.tar", {"1.xyz": BAD, "2.xyz": atoms()}, mode="w:")
    migrate([source], tmp_path / "out")
    put(source, {"b.xyz": atoms()})
    found = retry(tmp_path / "out")
    assert (found.done, found.failed) == (2, 1)
    assert by_source(tmp_path / "out")["a.tar!/1.xyz"]["attempts"] == 2


# ---------------------------------------------------------------- what cannot be run
def test_what_is_no_migration(tmp_path):
    with pytest.raises(RecordError, match="there is no migration here: no journal"):
        retry(tmp_path)


@pytest.mark.parametrize("inside", ["", "sub"])
def test_sources_in_the_folder_of_the_records(tmp_path, inside):
    put(tmp_path / "out" / "sub", {"a.xyz": atoms()})
    with pytest.raises(OptionError, match="a source lies in the folder of the records"):
        migrate([tmp_path / "out" / inside], tmp_path / "out")


def test_the_records_may_lie_in_the_sources(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    for _ in range(2):
        migrate([source], source / "records")
        assert states(source / "records") == {"a.xyz": "done"}


def test_a_folder_that_cannot_be_made(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    put(tmp_path, {"file": ""})
    with pytest.raises(TargetError, match="the folder of the records cannot be written: not a directory"):
        migrate([source], tmp_path / "file" / "out")


def test_two_runs_at_once(tmp_path, monkeypatch):
    import molrec_convert.batch.place as module

    monkeypatch.setattr(module, "PATIENCE", 0.1)
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    with (
        module.Place(tmp_path / "out", None),
        pytest.raises(TargetError, match="another run is at work in this folder"),
    ):
        migrate([source], tmp_path / "out")


def test_a_journal_of_another_program(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    put(tmp_path / "out", {"journal.sqlite": "no database at all, but text"})
    with pytest.raises(TargetError, match="the journal cannot be used: file is not a database"):
        migrate([source], tmp_path / "out")


def test_the_log_of_outcomes_is_plain(tmp_path):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": BAD})
    seen = []
    migrate([source], tmp_path / "out", watch=lambda progress, outcome: seen.append((progress.stage, outcome)))
    assert seen[0][0] == "looking"
    assert seen[-1][0] == "reporting"
    ended = [outcome for _, outcome in seen if outcome is not None]
    assert sorted(outcome.state for outcome in ended) == ["done", "failed"]
    assert json.loads(ended[0].encode())["source"].startswith("in/")


def test_a_second_later_the_same_source_gives_the_same_record(tmp_path):
    """Files in HDF5 may hold times."""
    source = put(tmp_path / "in", {"a.dump": dump(), "b.xyz": atoms()})
    migrate([source], tmp_path / "one")
    time.sleep(1.1)
    migrate([source], tmp_path / "two")
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
