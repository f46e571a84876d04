"""Small frames taken together and one by one: both must say the same."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import molrec_convert as mc
from molrec_convert import ahead, record_frames, registry
from molrec_convert.adapter import Snapshot
from molrec_convert.ahead import Decoder
from molrec_convert.frames import FrameSelection
from molrec_convert.options import Options
from molrec_convert.source import Source
from molrec_convert.stack import Stack


class Told(NamedTuple):
    """What a source gave: its frames, and what was wrong behind them."""

    snapshots: list[Snapshot]
    error: str | None
    stacks: int


def told(path: Path, name: str, *, together: bool, **options: Any) -> Told:
    """The frames of a file, decoded together where they may be, or one by one."""
    source = Source(path)
    source.open()
    make = registry.by_name(name).importer
    assert make is not None
    importer = make(path.name, Options(**options))
    found: list[Snapshot | Stack] = []
    error: Exception | None = None
    try:
        spans = list(source.spans(importer, FrameSelection(), strict=False))
        for bundle in [spans] if together else [[span] for span in spans]:
            made, error = Decoder(importer, None).decode(bundle)
            found += made
            if error is not None:
                break
    except mc.ConvertError as fault:
        error = fault
    finally:
        source.close()
    stacks = sum(isinstance(each, Stack) for each in found)
    return Told(list(ahead.one_by_one(found)), None if error is None else str(error), stacks)


def assert_same_snapshots(some: list[Snapshot], others: list[Snapshot]) -> None:
    """All that two sequences of frames say is the same, to the bit and in the same order."""
    assert len(some) == len(others)
    for k, (one, other) in enumerate(zip(some, others, strict=True)):
        assert one.frame.same(other.frame), f"frame {k}: {one.frame!r} and {other.frame!r}"
        assert [*one.frame] == [*other.frame]
        for name in one.frame:
            assert [*one.frame[name]] == [*other.frame[name]], f"frame {k}: the order of columns"
        assert one.about.same(other.about), f"frame {k}: {one.about!r} and {other.about!r}"
        assert [*one.about] == [*other.about]
        assert (one.step, one.time, one.units, one.decimals) == (other.step, other.time, other.units, other.decimals)
        assert one.notes == other.notes, f"frame {k}"


def both_ways(path: Path, name: str, **options: Any) -> Told:
    """The frames of a file, which are the same however they are decoded."""
    many, one = (told(path, name, together=together, **options) for together in (True, False))
    assert_same_snapshots(many.snapshots, one.snapshots)
    assert many.error == one.error
    return many


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all frames go one by one from here on."""
    monkeypatch.setattr(Decoder, "_together", lambda self, bundle: [(None, bundle)])
    monkeypatch.setattr(record_frames, "MOST", 1)


def converted(source: Path, target: Path, **options: Any) -> tuple[bytes, Any, list[str]] | str:
    """The bytes of a text target, its losses and its warnings; or what was wrong."""
    try:
        report = mc.convert(source, target, force=True, **options)
    except mc.ConvertError as error:
        return str(error)
    return target.read_bytes(), json.loads(json.dumps(report.losses.as_json())), report.warnings
