"""Real files and cases of all formats, good and bad, in one migration."""

import json

import pytest

import molrec_convert as mc
from molrec_convert.batch import migrate
from molrec_convert.batch.status import rows_of

from .trees import records

COMPARED = 80
"""Files that are compared once more, by another way than that of the migration."""


@pytest.fixture(scope="module")
def migrated(shared, tmp_path_factory):
    """The folder of the shared files, that of their records, and the rows by source."""
    import sys

    from .conftest import Inline

    out = tmp_path_factory.mktemp("corpus") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["molrec_convert.batch.migrate"], "LocalEngine", Inline)
        migrate([shared / "corpus", shared / "cases"], out, verify="full")
    return shared, out, {row["source"]: row for row in rows_of(out)}


def test_every_file_has_a_row(migrated):
    shared, out, rows = migrated
    files = [path for part in ("corpus", "cases") for path in (shared / part).rglob("*") if path.is_file()]
    assert sorted(rows) == sorted(path.relative_to(shared).as_posix() for path in files)
    done = [row["output"] for row in rows.values() if row["state"] == "done"]
    assert sorted(done) == records(out)
    assert len(done) > 300


def test_all_that_is_done_is_verified(migrated):
    for source, row in migrated[2].items():
        assert row["state"] != "done" or row["verified"] == "full", source
        assert row["state"] != "skipped" or source.endswith((".json", ".md", ".tsv")), source


def test_what_failed_is_told_with_its_place(migrated):
    failed = [row for row in migrated[2].values() if row["state"] == "failed"]
    assert 0 < len(failed) < 60
    assert {row["error_kind"] for row in failed} <= {"format", "truncated", "record"}
    lined = [row for row in failed if row["error_line"] is not None]
    assert len(lined) > 0.9 * len(failed)
    assert all(f":{row['error_line']}" in row["error"] for row in lined)


def test_bad_files_are_refused_or_their_loss_is_told(migrated):
    shared, _, rows = migrated
    for path in sorted((shared / "corpus" / "expect" / "bad").glob("*.json")):
        expected = json.loads(path.read_text())["expect"]
        row = rows[f"corpus/bad/{path.name.removesuffix('.json')}"]
        if expected == "error":
            assert row["state"] == "failed" or row["loss"] or row["warnings"], path.name


def test_records_are_their_sources(migrated):
    shared, out, rows = migrated
    alone = [
        row for row in rows.values() if row["state"] == "done" and row["topology"] is None and row["size"] < 200_000
    ]
    assert len(alone) > COMPARED
    for row in alone[:: len(alone) // COMPARED]:
        found = mc.diff(shared / row["source"], out / row["output"], format_a=row["format"])
        assert found.same, (row["source"], found.first)
