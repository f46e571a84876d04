"""Attributes in HDF5: native forms, and JSON text where no native form would do.

A group's attribute ``_json`` lists the members of a plain document that are JSON text. What the layout itself says is
JSON (a schema, targets, progressions, tags) needs no such entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import h5py  # noqa: TID253 - imported by the HDF5 tree alone
import numpy as np
from h5py import h5a, h5t  # noqa: TID253

from molrec_convert.errors import RecordError
from molrec_convert.model.dtypes import DTYPES, Array
from molrec_convert.model.meta import TAGS, json_text

from . import layout
from .tree import Attributes, attribute_error
from .typed_json import is_counts, parsed_json, typed_json

if TYPE_CHECKING:
    from .hdf5_node import Hdf5Node

JSON_NAMES = "_json"
NATIVE = {DTYPES[name]: name for name in ("bool", "i32", "i64", "u32", "u64", "f64")}
READ_ERRORS = (OSError, TypeError, ValueError, RuntimeError, KeyError)
HDF5_CLASS = {"f": h5t.FLOAT, "i": h5t.INTEGER, "u": h5t.INTEGER, "b": h5t.ENUM, "c": h5t.COMPOUND}
LONGEST_LIST = 2048
"""A longer list is JSON text: HDF5 keeps no attribute array above 64 KiB."""


class Hdf5Attributes:
    """The attributes of an HDF5 group or dataset."""

    def __init__(self, node: Any, owner: Hdf5Node) -> None:
        self.attrs: h5py.AttributeManager = node.attrs
        self._node = node
        self._owner = owner

    def __contains__(self, name: str) -> bool:
        try:
            return name in self.attrs
        except (OSError, RuntimeError, KeyError) as error:
            raise self._error(name, f"an attribute that cannot be read ({error})") from None

    def names(self) -> list[str]:
        """The names, without the list of those that are JSON text."""
        try:
            return [name for name in self.attrs if name != JSON_NAMES]
        except (OSError, RuntimeError, KeyError, UnicodeDecodeError) as error:
            raise self._owner.error(f"attributes that cannot be read ({error})") from None

    # ------------------------------------------------------------ reading
    def scalar(self, name: str, dtype: str) -> Any:
        """A bool, i64 or f64."""
        value = self._native(name)
        if isinstance(value, str) or value.shape != () or value.dtype != DTYPES[dtype]:
            raise self._error(name, f"{dtype} is due, found {_shown(value)}")
        return value.item()

    def text(self, name: str) -> str:
        """Text."""
        value = self._native(name)
        if not isinstance(value, str):
            raise self._error(name, f"text is due, found {_shown(value)}")
        return value

    def document(self, name: str) -> Any:
        """JSON text."""
        text = self.text(name)
        try:
            return parsed_json(text)
        except RecordError as error:
            raise attribute_error(self._owner, name, error.message, error.rule) from None

    def plain(self, name: str) -> Any:
        """A native form, or JSON text if ``_json`` has the name."""
        if name in self.json_names():
            return self.document(name)
        value = self._native(name)
        if isinstance(value, str):
            return value
        if value.dtype in (np.int32, np.uint32) or not np.all(np.isfinite(value)):
            raise self._error(name, f"a document holds bool, int64, uint64 and finite float64, not {_shown(value)}")
        return value.tolist()

    def counts(self, name: str) -> tuple[int, ...]:
        """A list of integers that is not empty, none negative."""
        value = self.plain(name)
        if not is_counts(value):
            raise self._error(name, f"a list of counts is due, found {value!r}")
        return tuple(value)

    def tagged(self, name: str, tag: str) -> Any:
        """A value at the native type of its tag."""
        dtype, length = TAGS[tag]
        value = self.document(name) if tag == "json" else self._native(name)
        if tag == "json":
            return value
        if isinstance(value, str) != (dtype == "string"):
            raise self._error(name, f"{tag} is due, found {_shown(value)}")
        if isinstance(value, str):
            return value
        if value.dtype != DTYPES[dtype] or value.shape != (() if length is None else (length,)):
            raise self._error(name, f"{tag} is due, found {_shown(value)}")
        return value.item() if length is None else tuple(value.tolist())

    def untagged(self, name: str) -> str:
        """Refuse: in HDF5 every member of a typed document has a tag."""
        raise self._error(name, f"the meta key {name!r} has no tag in {layout.META_TYPES}")

    def as_json(self, name: str) -> Any:
        """An attribute in whatever form as JSON; numbers that JSON has not are spelled."""
        if name in self.json_names():
            return self.document(name)
        try:
            value = self.text_value(name)
            return None if isinstance(value, h5py.Empty) else _json_form(np.asarray(value).tolist())
        except (*READ_ERRORS, UnicodeDecodeError) as error:
            raise self._error(name, f"an attribute that has no form in JSON ({error})") from None

    def values(self, name: str, dtype: str, shape: tuple[int, ...]) -> Array:
        """A native array, or a list in JSON text."""
        if name in self.json_names():
            value = _array_of(self.document(name))
            fits = value.dtype.kind in ("b" if dtype == "bool" else "if") and value.dtype != object
        else:
            value = np.asarray(self._native(name))
            fits = value.dtype == DTYPES[dtype]
        if not fits or value.shape != shape:
            raise self._error(name, f"{dtype} of shape {list(shape)} is due, found {_shown(value)}")
        return value.astype(DTYPES[dtype])

    # ------------------------------------------------------------ writing
    def set_scalar(self, name: str, value: Any, dtype: str) -> None:
        """Set a scalar; one that is there already is rewritten in place."""
        data = np.array(value, DTYPES[dtype])
        if name in self.attrs:
            present = self.attrs.get_id(name)
            if present.shape == () and present.dtype == data.dtype:
                present.write(data)
                return
        self.attrs.create(name, data)

    def set_text(self, name: str, value: str) -> None:
        """Set text."""
        self.attrs.create(name, value, dtype=h5py.string_dtype())

    def set_document(self, name: str, value: Any) -> None:
        """Set JSON text."""
        self.set_text(name, json_text(value))

    def set_plain(self, members: Mapping[str, Any]) -> None:
        """Set members, those without a native form as JSON text that ``_json`` lists."""
        listed = [name for name in self.json_names() if name not in members]
        for name, value in members.items():
            native = _native_form(value)
            if native is None:
                self.set_document(name, value)
                listed.append(name)
            elif isinstance(native, str):
                self.set_text(name, native)
            else:
                self.attrs.create(name, native)
        self._list_json(listed)

    def set_tagged(self, name: str, value: Any, tag: str) -> None:
        """Set a value at the native type of its tag."""
        dtype, _ = TAGS[tag]
        if tag == "json":
            self.set_document(name, value)
        elif dtype == "string":
            self.set_text(name, value)
        else:
            self.attrs.create(name, np.array(value, DTYPES[dtype]))

    def set_values(self, name: str, values: Array) -> None:
        """Set a native array."""
        self.attrs.create(name, values)

    def delete(self, name: str) -> None:
        """Remove an attribute, if there is one of this name."""
        if name not in self.attrs:
            return
        listed = self.json_names()
        if name in listed:
            self._list_json([other for other in listed if other != name])
        if name in self.attrs:
            del self.attrs[name]

    def adopt(self, name: str, source: Attributes) -> None:
        """Copy an attribute: in its own type from HDF5, as a member of a plain document from elsewhere."""
        if not isinstance(source, Hdf5Attributes):
            self.set_plain({name: source.plain(name)})
            return
        if name in source.json_names():
            self.set_plain({name: source.document(name)})
            return
        kept = source.attrs.get_id(name)
        kind = kept.get_type()
        if kind.detect_class(h5t.VLEN) or (kind.get_class() == h5t.STRING and kind.is_variable_str()):
            self.attrs.create(name, source.text_value(name), dtype=kept.dtype)
            return
        octets = np.empty(kept.get_space().get_simple_extent_npoints() * kind.get_size(), np.uint8)
        kept.read(octets, mtype=kind)
        self.delete(name)
        h5a.create(self._node.id, name.encode(), kind, kept.get_space()).write(octets, mtype=kind)

    # ------------------------------------------------------------ forms
    def _native(self, name: str) -> Any:
        if name not in self:
            raise self._error(name, "the attribute is missing")
        try:
            kind = self.attrs.get_id(name)
            dtype, form = kind.dtype, kind.get_type().get_class()
            text = h5py.check_string_dtype(dtype)
            if text is None and (dtype not in NATIVE or form != HDF5_CLASS[dtype.kind]):
                raise self._error(name, f"{dtype} is not a native form of an attribute")
            value = self.attrs[name] if text is None else self.text_value(name)
        except READ_ERRORS as error:
            if isinstance(error, RecordError):
                raise
            raise attribute_error(self._owner, name, f"an attribute that cannot be read ({error})", 39) from None
        if isinstance(value, h5py.Empty):
            raise self._error(name, "an attribute without a value")
        if text is not None:
            if text.length is not None or text.encoding != "utf-8" or not isinstance(value, str):
                raise self._error(name, "text is one variable-length UTF-8 string")
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise self._error(name, "text that is not UTF-8")
        return value

    def text_value(self, name: str) -> Any:
        """What h5py makes of an attribute whose values lie in a heap."""
        return self._owner.text_node.attrs[name]

    def json_names(self) -> list[str]:
        """The members of a plain document that are JSON text."""
        if JSON_NAMES not in self:
            return []
        names = self.document(JSON_NAMES)
        if not isinstance(names, list) or not all(isinstance(name, str) and name in self.attrs for name in names):
            raise self._error(JSON_NAMES, "a list of names of attributes is due")
        return names

    def _list_json(self, names: list[str]) -> None:
        if names:
            self.set_document(JSON_NAMES, names)
        elif JSON_NAMES in self.attrs:
            del self.attrs[JSON_NAMES]

    def _error(self, name: str, message: str) -> RecordError:
        return attribute_error(self._owner, name, message)


def _json_form(value: Any) -> Any:
    """A value of an attribute as JSON; TypeError where it has none."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return typed_json(value, "f64")
    if isinstance(value, complex):
        return [typed_json(part, "f64") for part in (value.real, value.imag)]
    if isinstance(value, list | tuple):
        return [_json_form(item) for item in value]
    raise TypeError(type(value).__name__)


def _array_of(document: Any) -> Array:
    """Lists within lists as an array; of objects where they do not make one."""
    try:
        return np.asarray(document)
    except ValueError:
        return np.asarray(None)


def _native_form(value: Any) -> Any:
    """A numpy value or text for a member of a plain document; None where only JSON text will do."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, int):
        return _integers(value, value, value)
    if isinstance(value, list) and 0 < len(value) <= LONGEST_LIST:
        kinds = set(map(type, value))
        if kinds == {float}:
            return np.array(value, np.float64)
        if kinds == {bool}:
            return np.array(value, np.bool_)
        if kinds == {int}:
            return _integers(value, min(value), max(value))
    return None


def _integers(value: Any, least: int, most: int) -> Any:
    if least >= -(2**63) and most < 2**63:
        return np.array(value, np.int64)
    return np.array(value, np.uint64) if least >= 0 and most < 2**64 else None


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    return f"{value.dtype} {value.tolist()!r}" if value.size <= 9 else f"{value.dtype} of shape {list(value.shape)}"
