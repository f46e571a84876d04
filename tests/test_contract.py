"""What every adapter keeps to: written frames come back, and no input does harm."""

import warnings

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError, OptionError
from molrec_convert.model import Block, Box, Frame
from molrec_convert.model.dtypes import CANONICAL, DTYPES
from molrec_convert.options import Options
from molrec_convert.sniff import HEAD, source_adapter

from .converting import left_behind, source_of
from .frames import FRAMES, fitted, frame, text
from .round_trips import SLACK, UNITS, Slack, differences, target_of, trip

ADAPTERS = registry.adapters()
WRITERS = [adapter for adapter in ADAPTERS if adapter.exporter is not None]
READERS = [adapter for adapter in ADAPTERS if adapter.importer is not None]
BOTH = [adapter for adapter in WRITERS if adapter.importer is not None]
SERIES = [adapter for adapter in BOTH if adapter.carries.frames]


def by_adapter(adapters):
    return pytest.mark.parametrize("adapter", adapters, ids=lambda adapter: adapter.name)


BINARY = ("dcd", "trr")
"""Formats without lines: their errors name the frame, where there is one."""

REFUSED = {
    ("gro", "long names"): "atom 1: name 'CA1234' does not fit the 5 columns of the format",
    ("pdb", "long names"): "atom 1: name 'CA1234' does not fit the 4 columns of the format",
}
"""Frames that a format cannot take at all, with the reason."""


# ---------------------------------------------------------------- round trips
@by_adapter(BOTH)
@pytest.mark.parametrize("name", FRAMES)
def test_frames_come_back(adapter, name, tmp_path):
    """All is kept to the bit, or as far as the format's digits go, but for what the report names."""
    made = fitted(FRAMES[name](), adapter)
    refusal = REFUSED.get((adapter.name, name))
    if refusal is not None:
        with pytest.raises(ConvertError, match=refusal):
            trip(tmp_path, adapter, made)
        assert not list(tmp_path.iterdir())
        return
    there = trip(tmp_path, adapter, made)
    assert len(there.after) == 1
    assert differences(there, SLACK.get(adapter.name, Slack())) == there.named


@by_adapter(SERIES)
def test_two_frames_stay_two(adapter, tmp_path):
    frames = [fitted(frame(3, box=Box.orthogonal(5.0 + k)), adapter) for k in range(2)]
    frames[1]["atoms"]["x"] = frames[1]["atoms"]["x"] + 0.25
    there = trip(tmp_path, adapter, frames)
    assert len(there.after) == 2
    assert differences(there, SLACK.get(adapter.name, Slack())) == there.named


@by_adapter(SERIES)
def test_the_same_frame_twice_is_two_frames(adapter, tmp_path):
    there = trip(tmp_path, adapter, [fitted(frame(2, box=Box.orthogonal(5.0)), adapter) for _ in range(2)])
    assert len(there.after) == 2


@by_adapter([adapter for adapter in SERIES if adapter.carries.varying])
def test_numbers_of_atoms_may_change(adapter, tmp_path):
    frames = [fitted(frame(count, box=Box.orthogonal(5.0)), adapter) for count in (2, 4, 0, 1)]
    there = trip(tmp_path, adapter, frames)
    assert [snapshot.frame["atoms"].count for snapshot in there.after] == [2, 4, 0, 1]
    assert differences(there, SLACK.get(adapter.name, Slack())) == there.named


@by_adapter(WRITERS)
@pytest.mark.parametrize("name", FRAMES)
def test_the_input_is_untouched(adapter, name, tmp_path):
    made, before = (fitted(FRAMES[name](), adapter) for _ in range(2))
    for block in made.values():
        for column in block.columns.values():
            column.values.flags.writeable = False
    if made.box is not None:
        made.box.vectors.flags.writeable = made.box.origin.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mc.write(target_of(tmp_path, adapter), made, format=adapter.name, units=UNITS)
        except ConvertError:
            assert (adapter.name, name) in REFUSED
    assert made.same(before)


@by_adapter(BOTH)
@pytest.mark.parametrize("name", FRAMES)
def test_arrays_are_ordinary(adapter, name, tmp_path):
    """Writable, contiguous, and of the type that MolRec fixes for their name."""
    if (adapter.name, name) in REFUSED:
        return
    for snapshot in trip(tmp_path, adapter, fitted(FRAMES[name](), adapter)).after:
        for block in snapshot.frame.values():
            for key, column in block.columns.items():
                assert column.values.flags.writeable, key
                assert column.values.flags.c_contiguous, key
                assert column.dtype == CANONICAL.get(key, column.dtype), key
                assert len(column) == block.count
        box = snapshot.frame.box
        assert box is None or (box.vectors.flags.writeable and box.origin.flags.writeable)


@by_adapter(WRITERS)
def test_text_in_columns_is_kept_or_refused(adapter, tmp_path):
    """Words with blanks, none, or line ends do not shift the columns of others."""
    for word in ("two words", "", "a\nb", "#", "\u00e9\u00e8", '"', "tab\there"):
        made = fitted(frame(3, box=Box.orthogonal(5.0), type=text("A", word, "B"), name=text("C", word, "D")), adapter)
        try:
            there = trip(tmp_path, adapter, made)
        except ConvertError:
            continue
        assert differences(there, SLACK.get(adapter.name, Slack())) == there.named, word


@by_adapter(WRITERS)
def test_atoms_without_columns_are_not_forgotten(adapter, tmp_path):
    made = fitted(Frame({"atoms": Block(count=2)}, box=Box.orthogonal(5.0)), adapter)
    try:
        there = trip(tmp_path, adapter, made)
    except ConvertError:
        assert not list(tmp_path.iterdir())
    else:
        assert there.after[0].frame["atoms"].count == 2


@by_adapter(WRITERS)
def test_no_frame_is_no_file(adapter, tmp_path):
    with pytest.raises(OptionError, match="there is no frame to write"):
        mc.write(target_of(tmp_path, adapter), [], format=adapter.name)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- files that are cut short
def two_frames(adapter, folder):
    """A file of two frames, or of the one that the format holds, and what it holds."""
    cell = Box.orthogonal((11.0, 12.0, 13.0))
    frames = [fitted(frame(3, box=cell, id=np.array([1, 2, 3], "u8")), adapter) for _ in range(2)]
    frames[1]["atoms"]["x"] = frames[1]["atoms"]["x"] + 0.25
    there = trip(folder, adapter, frames if adapter.carries.frames else frames[0])
    return there.path.read_bytes(), [snapshot.frame for snapshot in there.after]


@by_adapter(BOTH)
def test_a_file_cut_short(adapter, tmp_path):
    """Cut anywhere, it gives an error with its place, or whole frames with a warning; and nothing stays behind."""
    data, frames = two_frames(adapter, tmp_path)
    cuts = sorted({*np.linspace(1, len(data) - 1, 40, dtype=int).tolist(), len(data) - 2, len(data) - 1})
    for cut in cuts:
        source = source_of(tmp_path, data[:cut], f"cut{adapter.patterns[0].removeprefix('*')}")
        target = tmp_path / "cut.h5"
        error = report = None
        try:
            report = mc.convert(source, target, from_format=adapter.name, force=True)
        except ConvertError as caught:
            error = caught
        if error is not None:
            assert error.path is not None, cut
            if adapter.name in BINARY:
                assert error.line is None, f"{cut}: {error}"
            else:
                assert error.line is not None, f"{cut}: {error}"
                assert 1 <= error.line <= data[:cut].count(b"\n") + 2, f"{cut}: {error}"
            assert not target.exists(), cut
        else:
            whole = _read(source, adapter)
            assert 1 <= len(whole) <= len(frames)
            sure = whole[:-1] if report.warnings else whole
            assert all(map(_agrees, sure, frames)), f"{cut}: {report.warnings}"
            assert report.warnings or _ends(data[cut:], len(frames) - len(whole), adapter, tmp_path), cut
            target.unlink()
        assert left_behind(tmp_path) == []


def _read(source, adapter):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = mc.read(source, format=adapter.name)
    return [record.frame] if record.trajectory is None else list(record.trajectory)


def _agrees(one, other):
    """Whether the frames hold the same atoms and fields; their meta may tell that there is one frame more."""
    same_box = one.box.same(other.box) if one.box is not None and other.box is not None else one.box is other.box
    return same_box and one.keys() == other.keys() and all(block.same(other[name]) for name, block in one.items())


def _ends(rest, left, adapter, folder):
    """Whether a file may well end before such a rest: nothing but a mark of the end, or the frames that are left."""
    if not left:
        return not rest.replace(b"END", b"").strip()
    return len(_read(source_of(folder, rest, "rest"), adapter)) == left


# ---------------------------------------------------------------- descriptions
@by_adapter(ADAPTERS)
def test_the_description(adapter):
    assert adapter.summary == adapter.summary.strip().rstrip(".")
    assert adapter.summary
    assert adapter.reference.startswith("https://")
    assert adapter.importer is not None or adapter.exporter is not None
    assert adapter.patterns[0].startswith("*.")
    assert len(set(adapter.patterns)) == len(adapter.patterns)
    assert all(pattern == pattern.lower() for pattern in adapter.patterns)
    assert adapter.options | adapter.export_options <= {*Options.__dataclass_fields__}
    assert "atoms" not in adapter.carries.blocks
    for name in adapter.carries.columns:
        Block(count=0)[name] = np.zeros(0, DTYPES[CANONICAL.get(name, "f64")])


def test_patterns_are_of_one_format():
    patterns = [pattern for adapter in ADAPTERS for pattern in adapter.patterns]
    assert len(set(patterns)) == len(patterns)


@by_adapter(BOTH)
@pytest.mark.parametrize("name", FRAMES)
def test_what_is_written_is_recognised(adapter, name, tmp_path):
    """By its content, and as no other format."""
    if (adapter.name, name) in REFUSED:
        return
    path = trip(tmp_path, adapter, fitted(FRAMES[name](), adapter)).path
    head = path.read_bytes()[:HEAD]
    assert adapter.sniff is None or adapter.sniff(head)
    assert [found.name for found in registry.by_content(head)] == [adapter.name]
    assert source_adapter("no-name", head) is adapter
    assert source_adapter(path.name, head) is adapter


ASKED = {"atom_style": "full", "type_map": {"1": "H"}, "guess": ["elements"], "keep_order": True, "units": "real"}


@by_adapter(BOTH)
@pytest.mark.parametrize("option", ASKED)
def test_options_of_a_source(adapter, option, tmp_path):
    """Those that mean nothing to its format are refused."""
    if option in adapter.options:
        return
    source = trip(tmp_path, adapter, fitted(frame(2, box=Box.orthogonal(5.0)), adapter)).path
    with pytest.raises(OptionError, match=f"--{option.replace('_', '-')} means nothing to {adapter.name}"):
        mc.convert(source, tmp_path / "out.h5", from_format=adapter.name, **{option: ASKED[option]})
    assert not (tmp_path / "out.h5").exists()


@by_adapter(BOTH)
@pytest.mark.parametrize("option", ["decimals", "plain", "units"])
def test_options_of_a_target(adapter, option, tmp_path):
    if option in adapter.export_options:
        return
    mc.write(tmp_path / "in.h5", fitted(frame(2, box=Box.orthogonal(5.0)), adapter))
    asked = {"decimals": 3, "plain": True, "units": "real"}[option]
    with pytest.raises(OptionError, match=f"--{option} means nothing to (molrec-h5 or )?{adapter.name}"):
        mc.convert(tmp_path / "in.h5", tmp_path / "out", to_format=adapter.name, **{option: asked})
    with pytest.raises(OptionError, match=f"--{option} means nothing to molrec-h5"):
        mc.convert(tmp_path / "in.h5", tmp_path / "out.h5", **{option: asked})
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]
