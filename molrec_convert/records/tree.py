"""What a store is to the encoder and the decoder: a tree of groups, arrays and attributes.

A binding (HDF5, Zarr) implements these protocols; everything else in this package knows MolRec and no binding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from molrec_convert.errors import RecordError
from molrec_convert.forms import Form
from molrec_convert.model.dtypes import Array

from .extents import Extents


@runtime_checkable
class Node(Protocol):
    """A group or an array."""

    @property
    def place(self) -> str:
        """The path from the root, such as ``/trajectory/atoms``."""

    @property
    def attributes(self) -> Attributes:
        """The attributes."""

    def error(self, message: str, name: str | None = None) -> RecordError:
        """An error that names the store and this place, or the place of a child."""


class Attributes(Protocol):
    """The attributes of a node. Getters refuse another form than the one that is asked for."""

    def __contains__(self, name: str) -> bool: ...

    def names(self) -> list[str]:
        """The names, in the order of their creation where the store keeps it."""

    def scalar(self, name: str, dtype: str) -> Any:
        """A bool, i64 or f64, as a Python scalar."""

    def text(self, name: str) -> str:
        """Text."""

    def document(self, name: str) -> Any:
        """JSON, where the layout says that the attribute is JSON."""

    def plain(self, name: str) -> Any:
        """A member of a plain document, whose form follows its value."""

    def counts(self, name: str) -> tuple[int, ...]:
        """A list of integers that is not empty, none negative."""

    def tagged(self, name: str, tag: str) -> Any:
        """A member of a typed document."""

    def untagged(self, name: str) -> str:
        """The tag of a member of a typed document for which none is stated; an error where the store demands one."""

    def values(self, name: str, dtype: str, shape: tuple[int, ...]) -> Array:
        """An array of exactly this type and shape."""

    def as_json(self, name: str) -> Any:
        """An attribute in whatever form as JSON, for a store that has no other."""

    def set_scalar(self, name: str, value: Any, dtype: str) -> None:
        """Set a bool, i64 or f64."""

    def set_text(self, name: str, value: str) -> None:
        """Set text."""

    def set_document(self, name: str, value: Any) -> None:
        """Set JSON, where the layout says that the attribute is JSON."""

    def set_plain(self, members: Mapping[str, Any]) -> None:
        """Set members of a plain document."""

    def set_tagged(self, name: str, value: Any, tag: str) -> None:
        """Set a member of a typed document."""

    def set_values(self, name: str, values: Array) -> None:
        """Set an array."""

    def delete(self, name: str) -> None:
        """Remove an attribute, if there is one of this name."""

    def adopt(self, name: str, source: Attributes) -> None:
        """Copy an attribute as it stands, in whatever form."""


class StoredArray(Node, Protocol):
    """An array on disk."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of every axis."""

    @property
    def dtype(self) -> str:
        """The MolRec name of the element type; another type is refused."""

    @property
    def stored_bytes(self) -> int | None:
        """The bytes that its values take in the store; None where the store does not tell, as for text there."""

    def read(self, first: int, end: int) -> Array:
        """Rows of the first axis as a new array; text becomes `StringDType`."""

    def whole(self) -> Array:
        """All values, of whatever type and with whatever axes."""


class GrowingArray(StoredArray, Protocol):
    """An array to which rows are added. Its chunks are written whole, but for the last."""

    @property
    def takes_parts(self) -> bool:
        """Whether rows are written wherever they end, and none twice; else each chunk is written as a whole."""

    @property
    def chunk_rows(self) -> int:
        """Rows in a chunk."""

    @property
    def is_compressed(self) -> bool:
        """Whether chunks pass through a compressor, which is worth a thread."""

    def encode(self, pieces: Sequence[Array], rows: int, *, plain: bool) -> Any:
        """Make a chunk of `rows` rows from its pieces; any thread may do so.

        A `plain` chunk has the size of a full one and is not compressed, so that it can be rewritten in place.
        """

    def write(self, first: int, rows: int, payload: Any) -> None:
        """Write an encoded chunk that begins at row `first`; the array then has at least `first + rows` rows."""

    def make_plain(self, rows: int) -> bool:
        """Rewrite the chunk in which `rows` end without compression, unless they fill it; True if that was due.

        The store is then to be opened anew before anything else is done with the array, and so after `settle`.
        """

    def settle(self, rows: int) -> bool:
        """Cut an array to `rows`, so that it can grow again; True if that was due."""

    def has_plain_tail(self, rows: int) -> bool:
        """Whether the chunk in which `rows` end is one that is rewritten in place."""


class Group(Node, Protocol):
    """A group of groups and arrays."""

    def names(self) -> list[str]:
        """The names of the children, in the order of their creation where the store keeps it."""

    def child(self, name: str) -> Group | StoredArray | None:
        """A child, None if there is none."""

    def group(self, name: str) -> Group | None:
        """A child that is a group; None if there is none, an error if it is an array."""

    def array(self, name: str) -> StoredArray | None:
        """A child that is an array; None if there is none, an error if it is a group."""

    def create_group(self, name: str, *, hidden: bool = False) -> Group:
        """Make a group. A hidden one is reached only through what is returned, until it is published."""

    def create_array(self, name: str, values: Array, *, quantized: bool = False) -> StoredArray:
        """Write an array at once; `quantized` reals keep a declared precision and are worth compressing."""

    def create_growing(
        self, name: str, dtype: str, trailing: tuple[int, ...], chunk_rows: int, *, quantized: bool = False
    ) -> GrowingArray:
        """Make a hidden array that has no rows yet."""

    def create_dense(self, name: str, dtype: str, trailing: tuple[int, ...], expected: int | None) -> GrowingArray:
        """Make a hidden array with a short entry a frame or an update, of which so many will come if that is known."""

    def growing(self, name: str) -> GrowingArray | None:
        """An array of this group, to go on with; None if there is none."""

    def publish(self, name: str, node: Node) -> None:
        """Give a hidden child its name; another of that name is replaced."""

    def delete(self, name: str) -> None:
        """Remove a child, if there is one of this name."""

    def adopt(self, name: str, source: Node) -> None:
        """Copy a child of another tree with all that it holds, of whatever type."""


class Store(Protocol):
    """An open store."""

    @property
    def extents(self) -> Extents:
        """How large it has the chunks of a trajectory."""

    @property
    def form(self) -> Form:
        """The form of the record."""

    @property
    def own_attributes(self) -> frozenset[str]:
        """The attributes of the root that are the binding's own, and no part of the record."""

    @property
    def root(self) -> Group:
        """The root group."""

    @property
    def own_children(self) -> frozenset[str]:
        """The children of the root that are the binding's own, and no part of the record."""

    @property
    def is_closed(self) -> bool:
        """Whether the store was closed; what fails then fails for that reason."""

    def remarks(self) -> Iterator[tuple[int, str, str]]:
        """What other programs stumble over, though this one reads it: a rule, a place and a message."""

    def flush(self) -> None:
        """Hand everything that was written to the operating system, in order with what follows."""

    def close(self) -> None:
        """Close the store; a second time does nothing."""


Child: TypeAlias = "Group | StoredArray"


class within:  # noqa: N801 - reads as a word of the language: `with within(node):`
    """Gives the place of a node, or of its child `name`, to errors that have none."""

    __slots__ = ("_name", "_node")

    def __init__(self, node: Node, name: str | None = None) -> None:
        self._node, self._name = node, name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and error.place is None:
            placed = self._node.error(error.message, self._name)
            error.path, error.place = placed.path, placed.place


def attribute_error(node: Node, name: str, message: str, rule: int | None = None) -> RecordError:
    """An error at an attribute of a node."""
    error = node.error(message)
    error.place, error.rule = f"{error.place}@{name}", rule
    return error


def copy_by_value(group: Group, name: str, source: Any) -> None:
    """Copy a group or an array of another binding, with all that it holds."""
    if is_group(source):
        made: Any = group.create_group(name)
        for child in source.names():
            copy_by_value(made, child, source.child(child))
    else:
        made = group.create_array(name, source.whole())
    for attribute in source.attributes.names():
        made.attributes.adopt(attribute, source.attributes)


def is_group(node: Node) -> bool:
    """Whether a node is a group."""
    return hasattr(node, "create_group")


def groups_of(group: Group) -> dict[str, Group]:
    """The children that are groups."""
    return {name: node for name in group.names() if (node := _if_group(group, name)) is not None}


def arrays_of(group: Group) -> dict[str, StoredArray]:
    """The children that are arrays."""
    found: dict[str, StoredArray] = {}
    for name in group.names():
        node = group.child(name)
        if node is not None and not is_group(node):
            found[name] = node  # type: ignore[assignment]
    return found


def _if_group(group: Group, name: str) -> Group | None:
    node = group.child(name)
    return node if node is not None and is_group(node) else None  # type: ignore[return-value]


def due_array(group: Group, name: str, dtype: str, trailing: tuple[int, ...] = ()) -> StoredArray:
    """The array of this name; an error unless it has the element type and the axes after the first that are due."""
    array = group.array(name)
    axes = "".join(f"[{n}]" for n in trailing)
    if array is None:
        raise group.error(f"an array {dtype}[N]{axes} is due, there is none", name)
    if not array.shape or array.dtype != dtype or array.shape[1:] != trailing:
        raise array.error(f"{dtype}[N]{axes} is due, found {array.dtype} of shape {list(array.shape)}")
    return array


def due_rows(array: StoredArray, rows: int) -> StoredArray:
    """The array itself; an error if it has fewer rows than are due."""
    if array.shape[0] < rows:
        raise array.error(f"{rows} rows are due, found {array.shape[0]}")
    return array
