"""Whatever a format cannot hold is named, and whatever is not named is kept: every adapter, every thing."""

import random
import re
import warnings

import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError, LossError
from molrec_convert.model.dtypes import CANONICAL, DTYPES

from .frames import FRAMES, fitted
from .items import BLOCKS, CELLS, COLUMNS, ITEMS, META, NULLS, Item, column, values_of
from .round_trips import SLACK, UNITS, Slack, differences, target_of, trip

ADAPTERS = [each for each in registry.adapters() if each.importer is not None and each.exporter is not None]
NO_BOX = "a cube needs the cell of its grid, and "
REFUSED = {
    ("cube", "no elements"): "a cube needs the elements of its atoms, and they have neither atomic_number nor element",
    ("cube", "elements of no table"): "a cube needs atomic numbers, and 'Foo' of row 0 is no element",
    ("cube", "no cell"): f"{NO_BOX}the frame has no box",
    ("cube", "a cell that comes"): f"{NO_BOX}the frame has no box",
    ("cube", "a cell that goes"): f"{NO_BOX}the frame has no box",
    ("cube", "an undefined cell"): f"{NO_BOX}the box of the frame is not defined",
    ("cube", "an undefined cell and an origin"): f"{NO_BOX}the box of the frame is not defined",
    **{("gro", f"nulls of atoms.{axis}"): f"atom 2 has no {axis}" for axis in "xyz"},
    ("dcd", "a changing number"): "a DCD file has one number of atoms: here 3, and the frame has 2",
    ("lammps-data", "a left-handed cell"): "the cell is left-handed, which LAMMPS does not take",
    ("pdb", "elements of no table"): "atom 1: element 'FOO' does not fit the 2 columns of the format",
    **{("pdb", f"nulls of atoms.{axis}"): f"atom 2 has no {axis}" for axis in "xyz"},
}
"""What a format cannot be written from at all."""

by_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)


def lost(adapter, there):
    """What is not kept, which is what was named."""
    found = differences(there, SLACK.get(adapter.name, Slack()))
    assert found == there.named
    return found


@by_adapter
@pytest.mark.parametrize("name", ITEMS)
def test_kept_or_named(adapter, name, tmp_path):
    item = ITEMS[name]
    refusal = REFUSED.get((adapter.name, name))
    if refusal is not None:
        with pytest.raises(ConvertError, match=re.escape(refusal)):
            trip(tmp_path, adapter, item.data(adapter), **item.options)
        assert list(tmp_path.iterdir()) == []
        return
    there = trip(tmp_path, adapter, item.data(adapter), **item.options)
    assert_strict(tmp_path, adapter, item, lost(adapter, there))


def assert_strict(folder, adapter, item, losses):
    """With ``strict``, a loss is an error, which names it, and there is no file; without a loss there is one."""
    target = target_of(folder, adapter)
    target.unlink()
    options = {"format": adapter.name, "units": UNITS, "strict": True, **item.options}
    if not losses:
        mc.write(target, item.data(adapter), **options)
        return
    with pytest.raises(LossError) as caught:
        mc.write(target, item.data(adapter), **options)
    assert any(loss in caught.value.message for loss in losses)
    assert list(folder.iterdir()) == []


SINGLE = {**COLUMNS, **NULLS, **BLOCKS, **META, **CELLS}


@by_adapter
@pytest.mark.parametrize("seed", range(40))
def test_several_things_at_once(adapter, seed, tmp_path):
    """Each is kept or named beside the others, too."""
    single = [name for name in SINGLE if (adapter.name, name) not in REFUSED and " of another" not in name]
    names = random.Random(seed).sample(single, 4)

    def change(made):
        for name in names:
            made = SINGLE[name].frames[0](made) or made
        return made

    try:
        there = trip(tmp_path, adapter, Item([change]).data(adapter))
    except ConvertError as error:
        pytest.skip(f"{names} together: {error}")
    assert differences(there, SLACK.get(adapter.name, Slack())) == there.named, names


@by_adapter
@pytest.mark.parametrize("dtype", ["f64", "i64"])
def test_declared_columns(adapter, dtype, tmp_path):
    """What an adapter says that it carries is carried or named, whatever type it has where MolRec fixes none."""
    for name in sorted(adapter.carries.columns - CANONICAL.keys()):
        lost(adapter, trip(tmp_path, adapter, Item([column(name, dtype)]).data(adapter)))


SELDOM = {
    *(("dcd", name) for name in ("vx", "vy", "vz")),
    *(("gro", name) for name in ("vx", "vy", "vz", "type", "element")),
    *(("lammps-data", name) for name in ("ix", "iy", "iz", "vx", "vy", "vz", "mux", "muy", "muz")),
    ("pdb", "type"),
    *(("trr", name) for name in ("vx", "vy", "vz", "fx", "fy", "fz")),
}
"""Columns that are carried beside others only, or by other names."""


@by_adapter
def test_declared_canonical_columns(adapter, tmp_path):
    for name in sorted(adapter.carries.columns & CANONICAL.keys()):
        there = trip(tmp_path, adapter, Item([column(name, CANONICAL[name])]).data(adapter))
        kept = f"atoms.{name}" not in lost(adapter, there)
        assert kept or (adapter.name, name) in SELDOM, name


@by_adapter
def test_other_columns_are_of_declared_types(adapter, tmp_path):
    for dtype in DTYPES:
        there = trip(tmp_path, adapter, Item([column("my_own", dtype)]).data(adapter))
        if dtype not in adapter.carries.other_columns:
            assert "atoms.my_own" in there.named
        lost(adapter, there)
        assert len(values_of("my_own", dtype)) == 3


# ---------------------------------------------------------------- through a record on disk
@by_adapter
@pytest.mark.parametrize("name", FRAMES)
def test_a_record_loses_the_same(adapter, name, tmp_path):
    """The command names what `molrec_convert.write` does, refuses it with ``strict``, and then leaves nothing."""
    made = fitted(FRAMES[name](), adapter)
    mc.write(tmp_path / "in.h5", made, units=UNITS)
    target = target_of(tmp_path, adapter)
    try:
        named = trip(tmp_path, adapter, made).named
    except ConvertError:
        with pytest.raises(ConvertError):
            mc.convert(tmp_path / "in.h5", target, to_format=adapter.name)
    else:
        target.unlink()
        report = mc.convert(tmp_path / "in.h5", target, to_format=adapter.name)
        assert set(report.losses.losses) == named
        assert [loss["item"] for loss in report.as_json()["losses"]] == list(report.losses.losses)
        assert all(loss.reason and loss.reason == loss.reason.strip(". ") for loss in report.losses.losses.values())
        target.unlink()
    if not named_without_error(tmp_path, adapter, made):
        with pytest.raises(ConvertError):
            mc.convert(tmp_path / "in.h5", target, to_format=adapter.name, strict=True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def named_without_error(folder, adapter, made):
    """Whether the frame is written with nothing lost, and the file gone again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mc.write(target_of(folder, adapter), made, format=adapter.name, units=UNITS, strict=True)
        except ConvertError:
            return False
    target_of(folder, adapter).unlink()
    return True
