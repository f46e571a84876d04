"""Migrations: what is done, what fails, and what is told of it."""

import gzip
import hashlib

import pytest

import molrec_convert as mc
from molrec_convert.batch import Limits, Settings, migrate

from .trees import (
    BAD,
    CUT,
    DATA,
    assert_same,
    atoms,
    by_source,
    dump,
    mixed,
    packed,
    put,
    records,
    states,
    tar,
    tree,
)


@pytest.fixture(autouse=True)
def _inline(inline):
    """Without processes."""


def test_a_row_says_all(tmp_path):
    source = put(tmp_path / "in", {"sub/run.dump": dump(7)})
    found = migrate([source], tmp_path / "out", settings=Settings(units="metal"))
    assert (found.done, found.failed, found.skipped, found.pending, found.complete) == (1, 0, 0, 0, True)
    row = by_source(tmp_path / "out")["sub/run.dump"]
    assert row["seconds"] > 0
    assert row["finished"].startswith("20")
    record = tmp_path / "out" / "sub" / "run.h5"
    data = (source / "sub/run.dump").read_bytes()
    known = {key: row[key] for key in row if key not in ("seconds", "finished", "warnings")}
    assert known == {
        "source": "in/sub/run.dump", "format": "lammps-dump", "state": "done", "output": "sub/run.h5", "frames": 7,
        "atoms": 2, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "loss": [], "notes": [],
        "error": None, "error_kind": None, "error_line": None, "error_frame": None, "reason": None, "topology": None,
        "verified": "5 of 7 frames", "output_size": record.stat().st_size,
        "output_sha256": hashlib.sha256(record.read_bytes()).hexdigest(), "version": mc.__version__,
        "options": {"units": "metal"}, "attempts": 1,
    }  # fmt: skip
    assert len(row["warnings"]) == 1
    assert_same(source / "sub/run.dump", record, units="metal")


def test_what_fails_is_told_with_its_line(tmp_path):
    source = put(tmp_path / "in", {"bad.xyz": BAD, "cut.xyz": CUT, "good.xyz": atoms(), "empty.xyz": ""})
    found = migrate([source], tmp_path / "out")
    assert (found.done, found.failed) == (1, 3)
    rows = by_source(tmp_path / "out")
    told = {name: (row["error_kind"], row["error_line"], row["error_frame"]) for name, row in rows.items()}
    assert told == {
        "bad.xyz": ("format", 4, 0),
        "cut.xyz": ("truncated", 3, 0),
        "empty.xyz": ("format", None, None),
        "good.xyz": (None, None, None),
    }
    assert rows["bad.xyz"]["error"] == "bad.xyz:4 (frame 0): column y: 'zero' is not a number"
    assert rows["bad.xyz"]["sha256"] == hashlib.sha256(BAD.encode()).hexdigest()
    assert records(tmp_path / "out") == ["good.h5"]


def test_what_is_cut_short_is_done_and_its_loss_is_told(tmp_path):
    source = put(tmp_path / "in", {"run.dump": dump(3)[:-30]})
    migrate([source], tmp_path / "out")
    row = by_source(tmp_path / "out")["run.dump"]
    assert (row["state"], row["frames"], len(row["loss"])) == ("done", 2, 1)
    assert "the 2 whole frames before are kept" in row["loss"][0]


def test_what_is_of_no_format_is_skipped(tmp_path):
    source = put(tmp_path / "in", {"a.txt": "text\n", "b.json": "{}", "c": "", "d.docx": packed({"x": ""})})
    assert migrate([source], tmp_path / "out").complete
    reasons = {name: row["reason"] for name, row in by_source(tmp_path / "out").items()}
    assert reasons["a.txt"] == "the format is not recognised (unknown)"
    assert reasons["b.json"].startswith("the format is not recognised; the name is that of ase:json, but: ASE cannot")
    assert reasons["c"] == "the format is not recognised (an empty file)"
    assert set(states(tmp_path / "out").values()) == {"skipped"}
    assert records(tmp_path / "out") == []


def test_a_format_that_stumbles_in_recognising_a_file_stops_nothing(tmp_path, monkeypatch):
    import molrec_convert.batch.recognise as module

    def stumbling(name, head):
        if name == "a.xyz":
            raise ValueError("what  is\nthis")
        return source_adapter(name, head)

    source_adapter = module.source_adapter
    monkeypatch.setattr(module, "source_adapter", stumbling)
    source = put(tmp_path / "in", {"a.xyz": atoms(), "b.xyz": atoms()})
    migrate([source], tmp_path / "out")
    rows = by_source(tmp_path / "out")
    told = "in/a.xyz: a fault of this program, or of a format's, in recognising it: ValueError: what is this"
    assert (rows["a.xyz"]["error"], rows["b.xyz"]["state"]) == (told, "done")


def test_an_archive_of_all_kinds(tmp_path):
    source = mixed(tmp_path / "in", 60)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in source.rglob("*") if path.is_file()}
    migrate([source], tmp_path / "out", verify="full")
    rows = by_source(tmp_path / "out")
    assert len(rows) == 60
    for name, row in rows.items():
        due = "failed" if "/bad" in name else "skipped" if "/notes" in name else "done"
        assert (name, row["state"]) == (name, due)
        assert row["verified"] == ("full" if due == "done" else None)
    assert sorted(row["output"] for row in rows.values() if row["output"]) == records(tmp_path / "out")
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in source.rglob("*") if path.is_file()}
    assert after == before


def test_members_are_what_the_files_are(tmp_path):
    files = {f"{k}/run.xyz": atoms(k + 1) for k in range(5)}
    put(tmp_path / "in", files)
    tar(tmp_path / "a.tar.xz", files, mode="w:xz")
    (tmp_path / "a.zip").write_bytes(packed(files))
    for source in ("in", "a.tar.xz", "a.zip"):
        migrate([tmp_path / source], tmp_path / f"out-{source}", limits=Limits(scratch=400))
    assert tree(tmp_path / "out-in") == tree(tmp_path / "out-a.tar.xz") == tree(tmp_path / "out-a.zip")
    assert list((tmp_path / "out-a.zip" / ".batch").iterdir()) == [tmp_path / "out-a.zip" / ".batch" / "lock-all"]


def test_archives_within_archives(tmp_path):
    inner = packed({"x.xyz": atoms()})
    middle = tar(tmp_path / "middle.tar", {"inner.zip": inner, "y.xyz": atoms(3)}, mode="w:").read_bytes()
    tar(tmp_path / "outer.tar.gz", {"a/middle.tar": middle, "z.xyz": atoms(4)})
    migrate([tmp_path / "outer.tar.gz"], tmp_path / "out")
    assert records(tmp_path / "out") == ["a/middle.tar/inner.zip/x.h5", "a/middle.tar/y.h5", "z.h5"]
    assert set(by_source(tmp_path / "out")) == {
        "outer.tar.gz!/a/middle.tar!/inner.zip!/x.xyz",
        "outer.tar.gz!/a/middle.tar!/y.xyz",
        "outer.tar.gz!/z.xyz",
    }


def test_a_member_beyond_the_bound_is_refused(tmp_path):
    path = tar(tmp_path / "a.tar", {"big.xyz": atoms(50), "small.xyz": atoms()}, mode="w:")
    migrate([path], tmp_path / "out", limits=Limits(scratch=500))
    rows = by_source(tmp_path / "out")
    assert rows["a.tar!/small.xyz"]["state"] == "done"
    size = len(atoms(50))
    told = f"{size} bytes when unpacked, beyond the 500 of --scratch-limit"
    assert rows["a.tar!/big.xyz"]["error"].endswith(told)


def test_a_damaged_archive_gives_what_is_whole(tmp_path):
    path = tar(tmp_path / "a.tar", {"1.xyz": atoms(), "2.xyz": atoms(40)}, mode="w:")
    path.write_bytes(path.read_bytes()[: 1024 + 512 + 100])
    found = migrate([path], tmp_path / "out")
    rows = {name.removeprefix("a.tar"): row for name, row in by_source(tmp_path / "out").items()}
    assert {name: row["state"] for name, row in rows.items()} == {"": "failed", "!/1.xyz": "done", "!/2.xyz": "failed"}
    assert "the archive is damaged or cut short" in rows[""]["error"]
    assert "it cannot be unpacked: unexpected end of data" in rows["!/2.xyz"]["error"]
    assert (found.done, found.failed) == (1, 2)


def test_refused_members_are_reported_and_written_nowhere(tmp_path):
    path = tar(tmp_path / "in.tar", {"../../x.xyz": atoms(), "/tmp/molrec-absolute.xyz": atoms(), "ok.xyz": atoms()})
    migrate([path], tmp_path / "a" / "b" / "out")
    assert records(tmp_path) == ["a/b/out/ok.h5"]
    errors = {row["error"] for row in by_source(tmp_path / "a/b/out").values()} - {None}
    assert {text.rpartition(": ")[2] for text in errors} == {
        "a path with .. in an archive",
        "an absolute path in an archive",
    }


def test_a_compressed_bomb_for_a_library_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Limits, "SMALL", 1 << 20)
    source = put(tmp_path / "in", {"zeros.cif.gz": gzip.compress(bytes(8 << 20))})
    migrate([source], tmp_path / "out", limits=Limits(ratio=50.0))
    told = "zeros.cif.gz: it expands to more than 50 times its size, as a bomb does; --max-ratio allows it"
    assert by_source(tmp_path / "out")["zeros.cif.gz"]["error"] == told


def test_records_are_copied(tmp_path):
    source = put(tmp_path / "in", {})
    source.mkdir()
    (tmp_path / "run.dump").write_text(dump())
    mc.convert(tmp_path / "run.dump", source / "run.h5")
    mc.convert(tmp_path / "run.dump", source / "packed.mrec.zip")
    mc.convert(tmp_path / "run.dump", source / "tree.mrec")
    migrate([source], tmp_path / "out")
    assert set(states(tmp_path / "out").values()) == {"done"}
    assert records(tmp_path / "out") == ["packed.h5", "run.h5", "tree.h5"]
    row = by_source(tmp_path / "out")["run.h5"]
    assert (row["format"], row["verified"]) == ("molrec-h5", "full")
    assert row["sha256"] == hashlib.sha256((source / "run.h5").read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".mrec", ".mrec.zip"])
def test_other_forms_of_records(tmp_path, suffix):
    source = put(tmp_path / "in", {"run.dump": dump(3), "one.xyz": atoms()})
    for _ in range(2):
        found = migrate([source], tmp_path / "out", settings=Settings(suffix=suffix), verify="full")
        assert (found.done, found.failed) == (2, 0)
    assert_same(source / "run.dump", tmp_path / "out" / f"run{suffix}")


def test_options_go_to_the_formats_that_take_them(tmp_path):
    source = put(tmp_path / "in", {"run.dump": dump(), "one.xyz": atoms(), "sys.data": DATA})
    settings = Settings(
        units="metal", type_map={"1": "Si"}, guess=("elements",), precision={"x": 1e-3}, to_units="real"
    )
    migrate([source], tmp_path / "out", settings=settings, verify="full")
    assert set(states(tmp_path / "out").values()) == {"done"}
    with mc.open(tmp_path / "out" / "run.h5") as record:
        assert record.trajectory[0]["atoms"]["element"].tolist() == ["Si", "Si"]
        assert record.trajectory[0]["atoms"].column("x").precision == 1e-3


def test_a_record_that_is_not_its_source_has_no_name(tmp_path, monkeypatch):
    import molrec_convert.batch.job as module

    def wrong(source, target, **options):
        report = mc.convert(source, target, **options)
        text = source.read_text().replace("0.125", "0.126")
        changed = target.with_name("changed.xyz")
        changed.write_text(text)
        mc.convert(changed, target, force=True, from_format=options["from_format"])
        changed.unlink()
        return report

    monkeypatch.setattr(module, "convert", wrong)
    source = put(tmp_path / "in", {"one.xyz": atoms()})
    migrate([source], tmp_path / "out")
    row = by_source(tmp_path / "out")["one.xyz"]
    assert (row["state"], row["error_kind"], row["error_frame"]) == ("failed", "verification", 0)
    told = "in/one.xyz (frame 0): the record is not its source: atoms.z (value, row 0) is 0.126, due is 0.125"
    assert row["error"] == told
    assert records(tmp_path / "out") == []
    migrate([source], tmp_path / "other", verify="none")
    assert records(tmp_path / "other") == ["one.h5"]
