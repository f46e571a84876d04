"""Whatever a format cannot hold is named, and whatever is not named is kept: every adapter, every thing."""

import re
import warnings

import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError, LossError
from molrec_convert.model import Box, Frame

from .converting import left_behind
from .frames import bonds, fitted, frame, text
from .items import ITEMS, values_of
from .round_trips import SLACK, UNITS, Slack, differences, target_of, trip

ADAPTERS = [each for each in registry.adapters() if each.importer is not None and each.exporter is not None]
REFUSED = {}
"""What a format cannot be written from at all."""


def by_adapter(adapters):
    return pytest.mark.parametrize("adapter", adapters, ids=lambda adapter: adapter.name)


@by_adapter(ADAPTERS)
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
    assert differences(there, SLACK.get(adapter.name, Slack())) == there.named
    _check_strict(tmp_path, adapter, item, there)


def _check_strict(folder, adapter, item, there):
    """With ``strict``, a loss is an error, which names it, and there is no file; without a loss there is one."""
    there.path.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mc.write(
                target_of(folder, adapter), item.data(adapter), format=adapter.name, units=UNITS, strict=True,
                **item.options,
            )  # fmt: skip
        except LossError as error:
            message = error.message
            assert any(loss in message for loss in there.named)
            assert list(folder.iterdir()) == []
        else:
            assert there.named == set()
