"""What groups and arrays of an HDF5 file share: their place, their attributes, and errors that name both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule

from .hdf5_attributes import Hdf5Attributes
from .layout import joined

if TYPE_CHECKING:
    from .hdf5 import Hdf5Store

H5PY_ERRORS = (OSError, KeyError, RuntimeError, TypeError, ValueError)


class Hdf5Node:
    """What groups and arrays share."""

    def __init__(self, node: Any, store: Hdf5Store, place: str) -> None:
        self.node = node
        self.store = store
        self._place = place
        self.staged: bytes | None = None

    @property
    def text_node(self) -> Any:
        """The same node, for text of any length."""
        file = self.store.text_file
        return self.node if file is None else file[self._place]

    @property
    def place(self) -> str:
        """The path from the root."""
        return self._place

    @property
    def attributes(self) -> Hdf5Attributes:
        """The attributes."""
        made: Hdf5Attributes = self.attempt(lambda: Hdf5Attributes(self.node, self))
        return made

    def error(self, message: str, name: str | None = None) -> RecordError:
        """An error at this place, or at that of a child."""
        if self.store.is_closed:
            return RecordError("the record is closed", path=self.store.path)
        place = self._place if name is None else joined(self._place, name)
        return RecordError(message, path=self.store.path, place=place)

    @rule(39)
    def attempt(self, action: Callable[[], Any], name: str | None = None) -> Any:
        """Do something with h5py, and say where it failed."""
        try:
            return action()
        except RecordError:
            raise
        except UnicodeDecodeError:
            with rule(10):
                raise self.error("a string that is not UTF-8", name) from None
        except H5PY_ERRORS as error:
            raise self.error(f"damaged, or of a foreign type ({error})", name) from None
