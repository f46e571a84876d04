# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A store that breaks a rule is refused by the reader and reported by the validator, in every form."""

import pytest

import molrec_convert as mc
from molrec_convert.errors import RecordError
from molrec_convert.rules import RULES

from ..conformance.bench import read_all
from . import test_stores
from .breakable import breakable
from .broken import REFUSED, TAKEN, both
from .trees import READY, changing, copied, path_of


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A record of each form."""
    folder = tmp_path_factory.mktemp("good")
    return {form: breakable(path_of(folder, form)) for form in READY}


@pytest.fixture
def broken(good, tmp_path):
    """Break a copy of a record."""

    def apply(form, change):
        made = copied(good[form], path_of(tmp_path, form, "broken"))
        with changing(made) as tree:
            change(tree)
        return made

    return apply


def each_form(rows):
    """Every row in every form in which it can be."""
    return pytest.mark.parametrize(
        ("name", "form"), [(name, form) for name, row in rows.items() for form in row.forms if form in READY]
    )


@pytest.mark.parametrize("form", READY)
def test_what_keeps_all_rules(good, form):
    assert mc.validate(good[form]) == []


@each_form(REFUSED)
def test_what_is_refused(broken, name, form):
    row = REFUSED[name]
    path = broken(form, row.change)
    with pytest.raises(RecordError) as caught:
        read_all(path)
    error = caught.value
    assert (error.rule, error.place) == (row.rule, row.place)
    assert row.words in error.message
    assert str(error).startswith(f"{path}: {row.place}")
    found = mc.validate(path)
    assert [(one.rule, one.place, one.frame, one.message) for one in found if one.severity == "error"].count(
        (error.rule, error.place, error.frame, error.message)
    ) == 1


@each_form(TAKEN)
def test_what_is_taken(broken, name, form):
    row = TAKEN[name]
    path = broken(form, row.change)
    read_all(path)
    found = mc.validate(path)
    assert {one.severity for one in found} == {"warning"}
    assert [one for one in found if (one.rule, one.place) == (row.rule, row.place) and row.words in one.message]


def test_every_rule_has_a_row():
    refused = {row.rule for row in REFUSED.values()} | {rule for _, _, rule, _, _ in test_stores.REFUSED.values()}
    taken = {row.rule for row in TAKEN.values()} | {rule for _, _, rule, _, _ in test_stores.TAKEN.values()}
    assert refused == {rule.number for rule in RULES if rule.refused}
    assert taken == {rule.number for rule in RULES if rule.warned}
    assert [rule.number for rule in RULES] == list(range(1, len(RULES) + 1))


@pytest.mark.parametrize("form", READY)
def test_all_faults_of_a_record_are_found(broken, form):
    """Each fault alone, and the sum of them, give the same findings."""
    names = ("binary16", "a shape of reals", "a real for an integer", "a mask of u8", "an endpoint out of range",
             "a short origin", "a foreign type declared", "steps that repeat", "no meta_dtype", "one marker",
             "a cell short", "other ids than in system")  # fmt: skip
    path = broken(form, both(*(REFUSED[name].change for name in names)))
    found = {(one.rule, one.place) for one in mc.validate(path)}
    assert found == {(REFUSED[name].rule, REFUSED[name].place) for name in names}
