"""What the words on the command line stand for."""

import pytest

from molrec_convert.batch.roots import roots_of
from molrec_convert.errors import OptionError

from .trees import put


@pytest.fixture
def here(tmp_path, monkeypatch):
    put(tmp_path, {"a/b/one.xyz": "", "a/two.xyz": "", "c/three.xyz": ""})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_all_that_is_in_it(here):
    (root,) = roots_of(["a"])
    assert (root.path, root.name, root.patterns) == (str(here / "a"), "a", None)
    assert root.means("b/one.xyz")


def test_files_of_a_folder_are_one_root(here):
    (root,) = roots_of(["a/two.xyz", here / "a" / "b"])[:1]
    assert root.names == {"two.xyz"}
    assert (root.means("two.xyz"), root.means("one.xyz")) == (True, False)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("a/*.xyz", ["two.xyz"]),
        ("a/**/*.xyz", ["b/one.xyz", "two.xyz"]),
        ("a/b*", ["b/one.xyz"]),  # all that is in a folder that fits
        ("a/?wo.*", ["two.xyz"]),
        ("a/[o-t]*", ["two.xyz"]),
        ("a/*/one.xyz", ["b/one.xyz"]),
    ],
)
def test_patterns(here, pattern, meant):
    (root,) = roots_of([pattern])
    assert root.path == str(here / "a")
    assert [place for place in ("b/one.xyz", "two.xyz") if root.means(place)] == meant


def test_a_pattern_of_folders_begins_where_it_is_one(here):
    (root,) = roots_of(["*/*.xyz"])
    assert root.path == str(here)
    assert [place for place in ("a/two.xyz", "a/b/one.xyz", "c/three.xyz") if root.means(place)] == [
        "a/two.xyz",
        "c/three.xyz",
    ]


def test_an_address_is_kept(here):
    (root,) = roots_of(["s3://bucket/runs/"])
    assert (root.path, root.name, root.is_remote) == ("s3://bucket/runs", "runs", True)


def test_what_is_meant_outlives_its_text(here):
    for root in roots_of(["a/**/*.xyz", "c/three.xyz"]):
        assert type(root).of_text(root.path, root.as_text()) == root


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["nothing"], "nothing: there is no such file or folder"),
        (["nothing/*.xyz"], "nothing/*.xyz: there is no such file or folder"),
        (["a", "a/b"], "{here}/a/b: it lies in {here}/a, so that its files would be migrated twice"),
        (["a/**/*.xyz", "a/b"], "{here}/a/b: it lies in {here}/a, so that its files would be migrated twice"),
    ],
)
def test_what_is_refused(here, sources, message):
    with pytest.raises(OptionError) as error:
        roots_of(sources)
    assert str(error.value) == message.format(here=here)
