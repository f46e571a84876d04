"""The command: what it prints, its exit status, and what is exported."""

import csv
import json
import sqlite3
import sys

import pytest

from molrec_convert.batch import migrate
from molrec_convert.batch.journal_tables import SHOWN
from molrec_convert.batch.plan import Plan
from molrec_convert.cli.batch_progress import Lines, head_lines, line_of

from ..converting import run
from .trees import BAD, atoms, batch, dump, put, tar


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A migration with a file of every state."""
    folder = tmp_path_factory.mktemp("status")
    put(folder / "in", {"a.xyz": atoms(), "b.xyz": BAD, "c.txt": "text"})
    told = batch("in", "out", "-j", "1", "--log", "log", cwd=folder, status=3)
    return folder, told


def test_a_line_a_file(done):
    lines = sorted(done[1].stderr.splitlines())
    assert lines[0].startswith("1 done, 1 failed, 1 skipped, 0 pending; ")
    assert lines[0].endswith("/out/report.html")
    assert lines[1].startswith("done     in/a.xyz: 1 frame, ")
    assert lines[2] == "failed   in/b.xyz: b.xyz:4 (frame 0): column y: 'zero' is not a number"
    assert len(lines) == 3
    assert done[1].stdout == b""


def test_the_log(done):
    lines = [json.loads(line) for line in (done[0] / "log").read_text().splitlines()]
    assert {line["source"]: line["state"] for line in lines} == {"in/a.xyz": "done", "in/b.xyz": "failed"}
    assert all(line["at"].startswith("20") for line in lines)


def test_status(done):
    told = batch("status", "out", cwd=done[0]).stdout.decode().splitlines()
    assert [line.split() for line in told[:4]] == [["1", "done"], ["1", "failed"], ["1", "skipped"], ["0", "pending"]]
    assert told[4:] == ["failed: in/b.xyz: b.xyz:4 (frame 0): column y: 'zero' is not a number"]


def test_status_of_a_state(done):
    told = batch("status", "out", "--state", "done", "--state", "skipped", cwd=done[0]).stdout.decode()
    assert told == "done\tin/a.xyz\ta.h5\nskipped\tin/c.txt\tthe format is not recognised (unknown)\n"
    wrong = run("batch", "status", "out", "--state", "lost", cwd=done[0])
    assert (wrong.status, wrong.stderr) == (
        1,
        "molrec-convert: a state is one of done, failed, skipped, pending, not 'lost'\n",
    )


def test_what_is_refused_unread_is_told_once(tmp_path):
    """Where it is found, in the log, and by status: its name stands there once."""
    put(tmp_path / "in", {"a.xyz": atoms(), "old.7z": b"7z\xbc\xaf\x27\x1c"})
    (tmp_path / "in" / "b.xyz").symlink_to("nothing")
    told = batch("in", "out", "--log", "log", cwd=tmp_path, status=3).stderr.splitlines()
    nowhere = "in/b.xyz: a link that leads nowhere: no such file or directory"
    packed = "in/old.7z: a 7z archive, which is not read: unpack it first"
    assert told[:2] == [f"failed   {nowhere}", f"failed   {packed}"]
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["error"] for line in log] == [nowhere, packed, None]
    lines = batch("status", "out", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[4:] == [f"failed: {nowhere}", f"failed: {packed}"]
    assert [line[:9] for line in batch("in", "out", cwd=tmp_path, status=3).stderr.splitlines()] == ["1 done, 2"]


def test_a_record_of_an_earlier_content_is_told_of(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms()})
    batch("in", "out", cwd=tmp_path)
    put(tmp_path / "in", {"a.xyz": "nothing of that kind\n"})
    batch("in", "out", cwd=tmp_path, status=3)
    lines = batch("status", "out", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[4].endswith(" (the record of what it held before is still there: a.h5)")
    (row,) = json.loads(batch("status", "out", "--json", cwd=tmp_path).stdout)
    assert (row["output"], row["notes"]) == (None, ["the record of what it held before is still there: a.h5"])
    put(tmp_path / "in", {"a.xyz": atoms(2)})
    batch("in", "out", cwd=tmp_path)
    (row,) = json.loads(batch("status", "out", "--json", cwd=tmp_path).stdout)
    assert (row["output"], row["notes"]) == ("a.h5", [])


def test_status_as_json(done):
    rows = json.loads(batch("status", "--json", "out", cwd=done[0]).stdout)
    assert [(row["source"], row["state"]) for row in rows] == [
        ("in/a.xyz", "done"),
        ("in/b.xyz", "failed"),
        ("in/c.txt", "skipped"),
    ]
    assert all(list(row) == list(SHOWN) for row in rows)


def test_export(done):
    folder = done[0]
    batch("export", "out", "journal.csv", cwd=folder)
    batch("export", "out", "journal.json", cwd=folder)
    rows = json.loads((folder / "journal.json").read_text())
    assert rows == json.loads(batch("status", "--json", "out", cwd=folder).stdout)
    with (folder / "journal.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["source"] for row in table] == [row["source"] for row in rows]
    assert table[1]["error"] == rows[1]["error"]
    again = run("batch", "export", "out", "journal.csv", cwd=folder)
    assert (again.status, again.stderr) == (
        1,
        "molrec-convert: journal.csv: the target exists; force replaces it\n",
    )
    batch("export", "out", "journal.csv", "--force", cwd=folder)
    other = run("batch", "export", "out", "journal.xls", cwd=folder)
    assert (other.status, other.stderr) == (
        1,
        "molrec-convert: journal.xls: a journal is exported as *.csv or *.json\n",
    )


def test_the_journal_is_a_plain_database(done):
    with sqlite3.connect(done[0] / "out" / "journal.sqlite") as database:
        found = dict(database.execute("SELECT source, state FROM files"))
    database.close()
    assert found == {"in/a.xyz": "done", "in/b.xyz": "failed", "in/c.txt": "skipped"}


def test_check(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": atoms(3), "c.xyz": atoms(4)})
    batch("in", "out", "-q", "-j", "1", cwd=tmp_path)
    assert batch("check", "out", cwd=tmp_path).stdout == b""
    data = bytearray((tmp_path / "out" / "a.h5").read_bytes())
    data[-100] ^= 1
    (tmp_path / "out" / "a.h5").write_bytes(data)
    (tmp_path / "out" / "b.h5").unlink()
    told = batch("check", "out", cwd=tmp_path, status=3).stdout.decode()
    assert told == (
        "in/a.xyz: its record is not as it was written: a.h5\nin/b.xyz: its record is not there any more: b.h5\n"
    )


def test_report_is_written_anew(done):
    path = done[0] / "out" / "report.html"
    before = path.read_text()
    path.unlink()
    assert batch("report", "out", cwd=done[0]).stdout.decode() == "out/report.html\n"
    assert path.read_text() == before


@pytest.mark.parametrize("command", ["status", "report", "check", "export"])
def test_what_is_no_migration(tmp_path, command):
    words = ("out", "x.csv") if command == "export" else ("out",)
    done = run("batch", command, *words, cwd=tmp_path)
    assert (done.status, done.stderr) == (1, "molrec-convert: out: there is no migration here: no journal\n")


def test_retry(tmp_path):
    put(tmp_path / "in", {"a.xyz": BAD, "b.xyz": BAD})
    batch("in", "out", "-q", "-j", "1", cwd=tmp_path, status=3)
    told = batch("retry", "out", "--source", "a.xyz", "-j", "1", cwd=tmp_path, status=3).stderr.splitlines()
    assert [line[:19] for line in told] == ["failed   in/a.xyz: ", "0 done, 2 failed, 0"]
    put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": atoms()})
    told = batch("retry", "out", "--failed", "-j", "1", cwd=tmp_path).stderr.splitlines()
    assert sorted(line[:19] for line in told) == ["2 done, 0 failed, 0", "done     in/a.xyz: ", "done     in/b.xyz: "]
    assert run("batch", "retry", "out", cwd=tmp_path).status == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gone", "out"), "gone: there is no such file or folder"),
        (("in", "out", "--shard", "3/2"), "--shard takes a part such as 2/8, from 1/8 to 8/8, not '3/2'"),
        (("in", "out", "--scratch-limit", "much"), "--scratch-limit takes a size such as 500M or 64G, not 'much'"),
        (("in", "out", "--scratch-limit", "inf"), "--scratch-limit takes a size such as 500M or 64G, not 'inf'"),
        (("in", "out", "--scratch-limit", "-5G"), "--scratch-limit takes a size such as 500M or 64G, not '-5G'"),
        (("in", "out", "--verify", "often"), "a verification is one of full, sample, none, not 'often'"),
        (("in", "out", "--to", "zip"), "a form of records is one of .h5, .mrec, .mrec.zip, not '.zip'"),
        (("in", "out", "--guess", "bonds"), "--guess takes elements, not 'bonds'"),
        (("in", "out", "--precision", "fine"), "--precision takes 1e-3, x=1e-3,vx=1e-6 or auto, not 'fine'"),
        (("in", "out", "--precision", "-1"), "the precision of column '*' lies within 2^-1000 … 2^1000, not at -1.0"),
        (("in", "out", "--to-units", "furlongs"), None),
    ],
)
def test_what_cannot_be_run(tmp_path, words, message):
    put(tmp_path / "in", {"a.xyz": atoms()})
    done = run("batch", *words, cwd=tmp_path)
    assert done.status == 1
    assert len(done.stderr.splitlines()) == 1
    assert message is None or done.stderr == f"molrec-convert: {message}\n"
    assert not list(tmp_path.glob("out/*.h5"))


def test_a_file_may_take_as_long_as_it_likes(tmp_path):
    put(tmp_path / "in", {"a.xyz": atoms()})
    batch("in", "out", "-q", "-j", "1", "--timeout", "inf", cwd=tmp_path)
    assert len(list(tmp_path.glob("out/**/*.h5"))) == 1


# ---------------------------------------------------------------- the plan
def test_a_dry_run_writes_nothing(tmp_path):
    put(tmp_path / "in", {"a.dump": dump(), "a.data": "x", "b.txt": "text", "run.xyz": atoms(), "run.extxyz": atoms()})
    tar(tmp_path / "in" / "old.tar.gz", {"c.xyz": atoms(), "../d.xyz": atoms()})
    before = sorted(tmp_path.rglob("*"))
    told = batch("in", "out", "--dry-run", "-j", "2", cwd=tmp_path).stdout.decode()
    assert sorted(tmp_path.rglob("*")) == before
    lines = [line.split() for line in told.splitlines()]
    assert lines[0] == ["state", "format", "size", "source", "record", "remark"]
    table = {line[line.index("B") + 1] if "B" in line else line[2]: line for line in lines[1:-3]}
    assert table["in/a.dump"][:3] == ["migrate", "lammps-dump", str(len(dump()))]
    assert table["in/a.dump"][5:7] == ["+", "in/a.data"]
    assert table["in/b.txt"][0] == "skip"
    assert table["in/old.tar.gz!/../d.xyz"][-7:] == ["a", "path", "with", "..", "in", "an", "archive"]
    assert table["in/old.tar.gz!/c.xyz"][5] == "old.tar.gz/c.h5"
    assert "its record is called run.xyz.h5, since run.extxyz would have the same name" in told
    assert "5 to migrate, 1 to refuse, 1 to skip" in told
    assert told.rstrip().endswith("with 2 workers (a rough guess)")


def test_a_dry_run_of_what_was_begun(tmp_path, inline):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": BAD})
    migrate([source], tmp_path / "out")
    put(source, {"c.xyz": atoms(5)})
    journal = (tmp_path / "out" / "journal.sqlite").read_bytes()
    with Plan([source], tmp_path / "out") as plan:
        assert {each.source: each.state for each in plan} == {
            "in/a.xyz": "done",
            "in/b.xyz": "failed",
            "in/c.xyz": "pending",
        }
        expected = plan.estimate
    assert (expected.files, expected.bytes, expected.measured) == (1, len(atoms(5)), True)
    assert expected.output > 0
    assert expected.seconds > 0
    assert (tmp_path / "out" / "journal.sqlite").read_bytes() == journal


# ---------------------------------------------------------------- what a person sees
def test_help_names_all_commands():
    text = run("batch", "--help").stdout.decode()
    for name in ("run", "retry", "status", "export", "report", "check"):
        assert name in text
    assert "batch" in run("--help").stdout.decode()


def test_progress(tmp_path, inline, capsys):
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.dump": dump(), "c.xyz": BAD})
    lines, heads = [], []

    def watch(progress, outcome):
        heads.append("; ".join(head_lines(progress)))
        if outcome is not None:
            lines.append(line_of(outcome).split(",")[0])
            Lines()(progress, outcome)

    migrate([source], tmp_path / "out", watch=watch)
    assert sorted(lines) == [
        "done     in/a.xyz: 1 frame",
        "done     in/b.dump: 3 frames",
        "failed   in/c.xyz: c.xyz:4 (frame 0): column y: 'zero' is not a number",
    ]
    assert sorted(capsys.readouterr().err.splitlines())[2] == max(lines)
    assert heads[0] == "looking for sources: 0"
    assert heads[-1] == "writing the report"
    assert any(head.startswith("3 of 3 files, 1 failed, ") and head.endswith(" 0.0 s left") for head in heads)


def test_the_live_display(tmp_path, inline, monkeypatch):
    from io import StringIO

    import rich.console

    from molrec_convert.cli.batch_progress import Live

    screen = StringIO()
    console = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda **_: console(file=screen, force_terminal=True, width=100, color_system=None)
    )
    monkeypatch.setattr(sys.modules["molrec_convert.cli.batch_progress"], "INTERVAL", 0.0)
    source = put(tmp_path / "in", {"a.xyz": atoms(), "c.xyz": BAD})
    with Live() as live:
        migrate([source], tmp_path / "out", watch=live)
    shown = screen.getvalue()
    assert "2 of 2 files, 1 failed" in shown
    assert "c.xyz:4 (frame 0): column y: 'zero' is not a number" in shown
