"""A record on disk, read as it is used."""

from __future__ import annotations

from html import escape
from types import TracebackType
from typing import Any

from molrec_convert.errors import RecordError
from molrec_convert.forms import Form
from molrec_convert.model import Frame, Record
from molrec_convert.model.frame import check_references
from molrec_convert.model.meta import checked_key
from molrec_convert.model.origin import Origin, declared_units
from molrec_convert.rules import rule

from . import layout
from .sections import at_place, read_section
from .trajectory_reader import StoredTrajectory
from .tree import Group, Store, attribute_error

UNREAD: Any = object()


@rule(36)
def read_document(group: Group | None) -> dict[str, Any]:
    """The document of a record from its group ``meta``."""
    return {} if group is None else {name: document_value(group, name) for name in group.attributes.names()}


@rule(36)
def document_value(group: Group, name: str) -> Any:
    """One member of the document."""
    try:
        checked_key(name, "a key")
    except RecordError as error:
        raise attribute_error(group, name, error.message, error.rule) from None
    return group.attributes.plain(name)


class StoredRecord(Record):
    """A record that is read when it is asked for; a context manager.

    Parameters
    ----------
    store
        An open store of a binding.
    path
        What the store is called in errors.
    strict
        Whether row references are checked.
    """

    def __init__(self, store: Store, path: str, *, strict: bool = True) -> None:
        self._store = store
        self.path = path
        self._strict = strict
        self._meta: Any = UNREAD
        self._parts: dict[str, Any] = {}
        if not any(store.root.child(name) is not None for name in layout.SECTIONS):
            message = f"one of the sections {', '.join(layout.SECTIONS)} is due, there is none"
            raise RecordError(message, path=path, place="/", rule=36)

    @property
    def has_trajectory(self) -> bool:
        """Whether there is a trajectory, without a look at it."""
        return self.root.child(layout.TRAJECTORY) is not None

    @property
    def store(self) -> Store:
        """The store that is read."""
        return self._store

    @property
    def root(self) -> Group:
        """The tree that is read; `RecordError` once the record is closed."""
        if self._store.is_closed:
            raise RecordError("the record is closed", path=self.path)
        return self._store.root

    @property
    def form(self) -> Form:
        """The form that the record has on disk."""
        return self._store.form

    @property
    def own_attributes(self) -> frozenset[str]:
        """The attributes of the root that belong to the binding."""
        return self._store.own_attributes

    @property
    def own_children(self) -> frozenset[str]:
        """The children of the root that belong to the binding."""
        return self._store.own_children

    @property
    def meta(self) -> dict[str, Any]:  # type: ignore[override]
        """The document of the record."""
        if self._meta is UNREAD:
            self._meta = read_document(self.root.group(layout.META))
        found: dict[str, Any] = self._meta
        return found

    @property
    def frame(self) -> Frame | None:  # type: ignore[override]
        """The ``frame`` section."""
        return self._section(layout.FRAME)

    @property
    def system(self) -> Frame | None:  # type: ignore[override]
        """The ``system`` section."""
        return self._section(layout.SYSTEM)

    @property
    def trajectory(self) -> StoredTrajectory | None:  # type: ignore[override]
        """The ``trajectory`` section."""
        if layout.TRAJECTORY not in self._parts:
            group = self._section_group(layout.TRAJECTORY)
            self._parts[layout.TRAJECTORY] = (
                None
                if group is None
                else StoredTrajectory(group, self.system, self.frame, strict=self._strict, units=self._units())
            )
        found: StoredTrajectory | None = self._parts[layout.TRAJECTORY]
        return found

    def _units(self) -> dict[str, str] | None:
        try:
            return declared_units(self.meta)
        except RecordError:  # told to whoever asks for the document
            return None

    def _section(self, name: str) -> Frame | None:
        if name not in self._parts:
            group = self._section_group(name)
            self._parts[name] = None if group is None else read_section(group)
            if group is not None and self._strict:
                self._check(name)
        found: Frame | None = self._parts[name]
        if found is not None and found.origin is None:
            found.origin = Origin(units=self._units())
        return found

    @rule(36)
    def _section_group(self, name: str) -> Group | None:
        return self.root.group(name)

    def _check(self, name: str) -> None:
        sections = {key: self._parts.get(key) or self._other(key) for key in (layout.FRAME, layout.SYSTEM)}
        with at_place(f"/{name}", self.path):
            check_references(self._parts[name], sections)

    def _other(self, name: str) -> Frame | None:
        if name not in self._parts:
            group = self._section_group(name)
            self._parts[name] = None if group is None else read_section(group)
            if group is not None:
                self._check(name)
        other: Frame | None = self._parts[name]
        return other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path}, closed)" if self._store.is_closed else super().__repr__()

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>" if self._store.is_closed else super()._repr_html_()

    def close(self) -> None:
        """Close the store; what was read stays."""
        self._store.close()

    def __enter__(self) -> StoredRecord:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
