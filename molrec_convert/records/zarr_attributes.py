"""Attributes in Zarr: JSON in the metadata of a node, typed where the layout says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES, Array, checked_text
from molrec_convert.model.meta import PER_STEP_F64, json_value, tag_of

from .tree import Attributes, attribute_error
from .typed_json import from_typed_json, is_counts, typed_json

if TYPE_CHECKING:
    from .zarr_node import ZarrNode

ATTRIBUTES = "attributes"


class ZarrAttributes:
    """The attributes of a group or an array."""

    def __init__(self, node: ZarrNode) -> None:
        self._node = node

    @property
    def _values(self) -> dict[str, Any]:
        found = self._node.document.get(ATTRIBUTES, {})
        if not isinstance(found, dict):
            raise self._node.error(f"attributes are a JSON object, found {found!r}")
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def names(self) -> list[str]:
        """The names, in the order of the document."""
        for name in self._values:
            self._node.attempt(partial(checked_text, name, "an attribute"))
        return list(self._values)

    # ------------------------------------------------------------ reading
    def plain(self, name: str) -> Any:
        """JSON, as it stands."""
        try:
            value = self._values[name]
        except KeyError:
            raise self._error(name, "the attribute is missing") from None
        return value if type(value) in (bool, int, float) else self._checked(name, lambda: json_value(value, "it"))

    document = plain

    def scalar(self, name: str, dtype: str) -> Any:
        """A bool, i64 or f64."""
        value = self.plain(name)
        kinds = {"bool": (bool,), "i64": (int,), "f64": (int, float)}[dtype]
        try:
            if type(value) in kinds:
                return DTYPES[dtype].type(value).item()
        except OverflowError:
            pass
        raise self._error(name, f"{dtype} is due, found {value!r}")

    def text(self, name: str) -> str:
        """Text."""
        value = self.plain(name)
        if not isinstance(value, str):
            raise self._error(name, f"text is due, found {value!r}")
        return value

    def counts(self, name: str) -> tuple[int, ...]:
        """A list of integers that is not empty, none negative."""
        value = self.plain(name)
        if not is_counts(value):
            raise self._error(name, f"a list of counts is due, found {value!r}")
        return tuple(value)

    def tagged(self, name: str, tag: str) -> Any:
        """A value in typed JSON."""
        return self._checked(name, lambda: from_typed_json(self.plain(name), tag))

    def untagged(self, name: str) -> str:
        """The tag of a value for which none is stated, from its JSON form."""
        value = self.plain(name)
        if type(value) is int and (name in PER_STEP_F64 or not -(2**63) <= value < 2**64):
            return "f64"
        return "json" if isinstance(value, list) else tag_of(value)

    def values(self, name: str, dtype: str, shape: tuple[int, ...]) -> Array:
        """Numbers or flags, in lists within lists."""
        value = self.plain(name)
        try:
            if _is_nested(value, (bool,) if dtype == "bool" else (int, float), shape):
                return np.array(value, DTYPES[dtype]).reshape(shape)
        except OverflowError:
            pass
        raise self._error(name, f"{dtype} of shape {list(shape)} is due, found {value!r}")

    def as_json(self, name: str) -> Any:
        """An attribute in whatever form, as JSON."""
        return self.plain(name)

    # ------------------------------------------------------------ writing
    def set_scalar(self, name: str, value: Any, dtype: str) -> None:
        """Set a bool, i64 or f64."""
        self._set(name, DTYPES[dtype].type(value).item())

    def set_text(self, name: str, value: str) -> None:
        """Set text."""
        self._set(name, value)

    def set_document(self, name: str, value: Any) -> None:
        """Set JSON."""
        self._set(name, self._checked(name, lambda: json_value(value, name)))

    def set_plain(self, members: Mapping[str, Any]) -> None:
        """Set members of a plain document."""
        for name, value in members.items():
            self.set_document(name, value)

    def set_tagged(self, name: str, value: Any, tag: str) -> None:
        """Set a value in typed JSON."""
        self._set(name, typed_json(value, tag))

    def set_values(self, name: str, values: Array) -> None:
        """Set numbers or flags, in lists within lists."""
        self._set(name, values.tolist())

    def delete(self, name: str) -> None:
        """Remove an attribute, if there is one of this name."""
        if name in self._values:
            self._node.change(lambda document: document[ATTRIBUTES].pop(name))

    def adopt(self, name: str, source: Attributes) -> None:
        """Copy an attribute: as it stands from Zarr, from elsewhere by its value."""
        self._set(name, source.as_json(name))

    def _set(self, name: str, value: Any) -> None:
        self._node.change(lambda document: document.setdefault(ATTRIBUTES, {}).__setitem__(name, value))

    def _checked(self, name: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except RecordError as error:
            raise attribute_error(self._node, name, error.message, error.rule) from None

    def _error(self, name: str, message: str) -> RecordError:
        return attribute_error(self._node, name, message)


def _is_nested(value: Any, kinds: tuple[type, ...], shape: tuple[int, ...]) -> bool:
    if not shape:
        return type(value) in kinds
    return isinstance(value, list) and len(value) == shape[0] and all(_is_nested(v, kinds, shape[1:]) for v in value)
