"""What groups and arrays of a Zarr tree share: their place, their metadata, and errors that name where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from molrec_convert.errors import RecordError

from .layout import joined
from .tree import within
from .zarr_attributes import ZarrAttributes
from .zarr_files import below

if TYPE_CHECKING:
    from .zarr_store import ZarrStore

T = TypeVar("T")


class ZarrNode:
    """A node of the tree.

    Parameters
    ----------
    store
        The store.
    parent
        The group that the node is in; None for the root.
    name
        Its name there.
    document
        Its metadata, as ``zarr.json`` has them.
    """

    def __init__(self, store: ZarrStore, parent: ZarrNode | None, name: str, document: dict[str, Any]) -> None:
        self.store = store
        self.document = document
        self.parent = parent
        self.name = name
        self.stage: str | None = None
        """Where the node lies while it is hidden."""

    @property
    def key(self) -> str:
        """Where the folder of the node lies."""
        if self.stage is not None:
            return self.stage
        return "" if self.parent is None else below(self.parent.key, self.name)

    @property
    def place(self) -> str:
        """The path from the root, which a hidden node has once it is published."""
        return "/" if self.parent is None else joined(self.parent.place, self.name)

    @property
    def attributes(self) -> ZarrAttributes:
        """The attributes."""
        return ZarrAttributes(self)

    @property
    def depth(self) -> int:
        """How many groups the node is in."""
        return 0 if self.parent is None else self.parent.depth + 1

    def is_in(self, node: ZarrNode) -> bool:
        """Whether this is a node or something in it."""
        return self is node or (self.parent is not None and self.parent.is_in(node))

    def change(self, edit: Callable[[dict[str, Any]], Any]) -> None:
        """Change the metadata; they are written with the next flush."""
        edit(self.document)
        self.store.touch(self)

    def error(self, message: str, name: str | None = None) -> RecordError:
        """An error at this place, or at that of a child."""
        if self.store.is_closed:
            return RecordError("the record is closed", path=self.store.path)
        place = self.place if name is None else joined(self.place, name)
        return RecordError(message, path=self.store.path, place=place)

    def attempt(self, action: Callable[[], T], name: str | None = None) -> T:
        """Do something with files, and say where it failed."""
        try:
            with within(self, name):
                return action()
        except RecordError:
            raise
        except MemoryError:
            raise self.error("more than fits into memory", name) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise self.error(f"a file that cannot be read or written ({reason})", name) from None
        except ValueError as error:
            raise self.error(str(error), name) from None
