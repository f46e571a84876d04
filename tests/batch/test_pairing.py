"""Which files belong together."""

import pytest

import molrec_convert as mc
from molrec_convert.batch import migrate
from molrec_convert.batch.pairing import Pair
from molrec_convert.batch.plan import Plan
from molrec_convert.errors import OptionError

from .trees import DATA, atoms, by_source, dump, packed, put, states, tar

PSF = "PSF\n\n       1 !NTITLE\n REMARKS none\n\n       2 !NATOM\n" + "".join(
    f"{k:8} A    1    WAT  O    O     -0.800000       15.9990           0\n" for k in (1, 2)
)


def pairs(folder, *given, sources=None):
    """The topology of every file that has one, by the files' names."""
    with Plan(sources or [folder], folder.parent / "out", pairs=given) as plan:
        return {
            each.source.rpartition("/")[2]: each.topology.partition("/")[2]
            for each in plan
            if each.topology is not None
        }


def remarks(folder, name):
    """What is told of a file."""
    with Plan([folder], folder.parent / "out") as plan:
        return next(each.remark for each in plan if each.source.endswith(name))


def test_the_same_stem(tmp_path):
    tree = put(tmp_path / "in", {"a.dump": dump(), "a.data": DATA, "b.dump": dump(), "b.data": DATA})
    assert pairs(tree) == {"a.dump": "a.data", "b.dump": "b.data"}


def test_the_same_stem_whatever_its_case_and_compression(tmp_path):
    tree = put(tmp_path / "in", {"Run.dump": dump(), "run.data": DATA, "other.data": DATA})
    assert pairs(tree) == {"Run.dump": "run.data"}


def test_the_only_one_of_a_folder(tmp_path):
    tree = put(tmp_path / "in", {"a/1.dump": dump(), "a/2.dump": dump(), "a/system.data": DATA, "b/3.dump": dump()})
    assert pairs(tree) == {"1.dump": "a/system.data", "2.dump": "a/system.data"}


def test_a_topology_comes_before_a_structure(tmp_path):
    tree = put(tmp_path / "in", {"a.dump": dump(), "a.data": DATA, "a.psf": PSF, "b.dump": dump()})
    assert pairs(tree) == {"a.dump": "a.psf", "b.dump": "a.psf"}


def test_several_that_fit_are_told_and_none_is_taken(tmp_path):
    tree = put(tmp_path / "in", {"run.dump": dump(), "1.data": DATA, "2.data": DATA})
    assert pairs(tree) == {}
    told = "several files of its folder may be its topology (1.data, 2.data): --pair chooses one"
    assert remarks(tree, "run.dump") == told


def test_what_stands_alone_is_not_paired(tmp_path):
    tree = put(tmp_path / "in", {"run.xyz": atoms(), "run.data": DATA})
    assert pairs(tree) == {}


@pytest.mark.parametrize(
    ("given", "due"),
    [
        (["run.dump=2.data"], {"run.dump": "sub/2.data"}),
        (["*.dump=1.data"], {"run.dump": "sub/1.data"}),
        (["sub/*=1.data", "run.dump=2.data"], {"run.dump": "sub/2.data", "2.data": "sub/1.data"}),
        (["run.dump=../top.data"], {"run.dump": "top.data"}),
        (["run.dump=top.data"], {"run.dump": "top.data"}),  # of a folder above
        (["run.dump=none"], {}),
    ],
)
def test_what_a_person_says(tmp_path, given, due):
    tree = put(tmp_path / "in", {"sub/run.dump": dump(), "sub/1.data": DATA, "sub/2.data": DATA, "top.data": DATA})
    assert pairs(tree, *given) == due


def test_a_person_may_say_none(tmp_path):
    tree = put(tmp_path / "in", {"run.dump": dump(), "run.data": DATA})
    assert pairs(tree, "*.dump=none") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.dump", "--pair takes TRAJECTORY=TOPOLOGY, the second perhaps 'none', not 'a.dump'"),
        ("=a", "--pair takes TRAJECTORY=TOPOLOGY, the second perhaps 'none', not '=a'"),
    ],
)
def test_what_is_no_pair(text, message):
    with pytest.raises(OptionError, match=f"^{message}$"):
        Pair.parse(text)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("run.dump=gone.data", "--pair names 'gone.data', which is none of the sources near in/run.dump"),
        ("gone.dump=run.data", "--pair gone.dump=… fits no source"),
    ],
)
def test_pairs_of_what_is_not_there(tmp_path, given, message):
    tree = put(tmp_path / "in", {"run.dump": dump(), "run.data": DATA})
    with pytest.raises(OptionError) as error:
        pairs(tree, given)
    assert str(error.value) == message


# ---------------------------------------------------------------- what comes of it
def bonds(path):
    """How many bonds a record has."""
    with mc.open(path) as record:
        frame = record.trajectory[0] if record.trajectory is not None else record.frame
        return frame["bonds"].count if "bonds" in frame else 0


@pytest.mark.parametrize("form", ["folder", "tar", "zip", "nested"])
def test_the_record_says_what_the_topology_says(tmp_path, inline, form):
    files = {"z/a.data": DATA, "z/a.dump": dump(), "y.dump": dump()}
    if form == "folder":
        source = put(tmp_path / "in", files)
    elif form == "tar":  # in which the topology comes after what needs it
        source = tar(tmp_path / "in.tar.gz", dict(sorted(files.items(), reverse=True)))
    elif form == "zip":
        (source := tmp_path / "in.zip").write_bytes(packed(files))
    else:
        source = tar(tmp_path / "in.tar", {"inner.zip": packed(files), "after.dump": dump()}, mode="w:")
    migrate([source], tmp_path / "out", verify="full")
    assert set(states(tmp_path / "out").values()) == {"done"}
    at = tmp_path / "out" / ("inner.zip" if form == "nested" else "")
    assert (bonds(at / "z/a.dump.h5"), bonds(at / "z/a.data.h5"), bonds(at / "y.h5")) == (1, 1, 0)
    row = next(row for source, row in by_source(tmp_path / "out").items() if source.endswith("z/a.dump"))
    assert row["topology"].endswith("z/a.data")


def test_a_topology_that_does_not_fit_is_left_and_told(tmp_path, inline):
    tree = put(tmp_path / "in", {"a.dump": dump(), "a.data": DATA.replace("2 atoms", "3 atoms")})
    migrate([tree], tmp_path / "out")
    row = by_source(tmp_path / "out")["a.dump"]
    assert (row["state"], row["topology"]) == ("done", "in/a.data")
    assert row["warnings"][0].startswith("converted without the topology in/a.data, which does not fit: a.data:")


def test_a_topology_that_was_asked_for_has_to_fit(tmp_path, inline):
    tree = put(tmp_path / "in", {"a.dump": dump(), "a.data": DATA.replace("2 atoms", "3 atoms")})
    migrate([tree], tmp_path / "out", pairs=["a.dump=a.data"])
    row = by_source(tmp_path / "out")["a.dump"]
    assert (row["state"], row["error_kind"]) == ("failed", "format")
    assert row["error"].startswith("a.data:")
